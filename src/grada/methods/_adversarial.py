"""What all methods with a discriminator share: the game and its settings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from grada.data import DomainData
from grada.methods._base import Run
from grada.methods._neural import POSITIVE, POSITIVE_REAL, NeuralGame, NeuralMethod, Step
from grada.nn import DomainEncoder, Network, SmoothLayers, mlp
from grada.nn.encoders import batch_norm, standardized
from grada.sampling import Policy
from grada.training import Player, Trainer
from grada.training.batches import Dealer
from grada.training.resuming import module_state, restore_module
from grada.training.schedules import StrengthSchedule

#: A probe must not share the ills of the player it tests, so its training is always the same.
_PROBE_STEPS = 150
_PROBE_TAIL = 20
_PROBE_LEARNING_RATE = 3e-3


@dataclass(kw_only=True, eq=False, repr=False)
class AdversarialMethod(NeuralMethod):
    """Settings of the game against a discriminator.

    Encoder and predictor minimise L_f - strength * L_d, the discriminator minimises L_d. A
    method says what its discriminator is, what its loss is, and how well a discriminator can do
    that sees nothing.

    Parameters
    ----------
    strength : float
        Weight of the discriminator loss against the prediction loss.
    strength_schedule : {"linear", "constant", "sigmoid"}
    warmup : float
        Share of the training over which the linear schedule rises.
    discriminator_learning_rate : float
        It should learn faster than the encoder.
    discriminator_layers : int
    standardize : bool
        Standardise encodings before the discriminator, so that shrinking them hides nothing.
    smoothness : float
        What the discriminator pays for being steep, see :class:`grada.nn.SmoothLayers`. Its loss
        in ``history_`` includes this, and its bound is the same: a blind one is flat. 0: nothing;
        then the input of each of its layers is standardised too. The last ``probe_loss`` is that
        of a discriminator that pays nothing: what a smooth one cannot see may still be there.
    head_start : int
        Steps that the discriminator trains alone before the game begins, so that the encoder
        has a real opponent from the start.
    probe_every : int
        Every so many epochs a discriminator at its bound is tested and, if dead, replaced; see
        :class:`grada.training.Trainer`. 0: never.
    domains_per_step : int
        At most so many domains are shown to the discriminator in a step ...
    rows_per_domain : int, optional
        ... and so many rows of each; by default about 256 rows in all, 4 to 64 a domain.
    policy : {"mixture", "random", "connected"}
        How domains are drawn when they do not all fit, see :mod:`grada.sampling`.
    """

    strength: float = 1.0
    strength_schedule: StrengthSchedule = "linear"
    warmup: float = 0.2
    discriminator_learning_rate: float = 3e-3
    discriminator_layers: int = 3
    standardize: bool = True
    smoothness: float = 2.0
    head_start: int = 100
    probe_every: int = 3
    domains_per_step: int = 64
    rows_per_domain: int | None = None
    policy: Policy = "mixture"

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            **NeuralMethod.presets["paper"],
            "strength_schedule": "constant",
            "discriminator_learning_rate": 1e-4,
            "discriminator_layers": 6,
            "standardize": False,
            "smoothness": 0.0,
            "head_start": 0,
            "probe_every": 0,
            "rows_per_domain": 10,
        }
    }
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **NeuralMethod._parameter_constraints,
        "strength": [Interval(Real, 0, None, closed="left")],
        "strength_schedule": [StrOptions({"constant", "linear", "sigmoid"})],
        "warmup": [Interval(Real, 0, 1, closed="both")],
        "discriminator_learning_rate": [POSITIVE_REAL],
        "discriminator_layers": [POSITIVE],
        "standardize": ["boolean"],
        "smoothness": [Interval(Real, 0, None, closed="left")],
        "domains_per_step": [Interval(Integral, 2, None, closed="left")],
        "rows_per_domain": [POSITIVE, None],
        "head_start": [Interval(Integral, 0, None, closed="left")],
        "probe_every": [Interval(Integral, 0, None, closed="left")],
        "policy": [StrOptions({"mixture", "random", "connected"})],
    }

    @abstractmethod
    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Make a discriminator of what this encoder makes."""

    @abstractmethod
    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Loss of the discriminator on the encodings of the batch.

        ``encoding`` holds the rows of ``step.batch``, and is ``step.encoding`` or the same
        without a way back to the encoder.
        """

    @abstractmethod
    def bound(self, data: DomainData, chance: float) -> float:
        """Loss of the best blind discriminator: the most the encoder can reach."""

    @abstractmethod
    def nothing_to_align(self, data: DomainData) -> str | None:
        """Why the game cannot be played on this data, if it cannot."""

    def chance(self, step: Step) -> Tensor:
        """What must be averaged over steps to know the bound; by default nothing."""
        return step.encoding.new_zeros(())

    def domains_to_align(self, data: DomainData) -> NDArray[np.int64]:
        """Domains whose rows the discriminator is shown; by default all that have rows."""
        return np.unique(data.codes)

    def encoder_loss(self, discriminator: nn.Module, step: Step) -> Tensor:
        """What encoder and predictor minimise: L_f - strength * L_d."""
        fooled = self.discriminator_loss(discriminator, step.encoding, step)
        return step.prediction_loss - step.strength * fooled

    def discriminator_network(self, n_in: int, n_out: int, generator: torch.Generator) -> nn.Module:
        """Fully connected layers for a discriminator, as the settings say."""
        sizes = [n_in, *[n_in] * (self.discriminator_layers - 1), n_out]
        layers = mlp(sizes, generator=generator, init_std=self.init_std)
        if self.smoothness > 0:
            first = batch_norm(n_in) if self.standardize else nn.Identity()
            return SmoothLayers(layers, first, n_out)
        return standardized(layers) if self.standardize else layers

    def notices(self, data: DomainData) -> list[str]:
        """Say so when there is nothing to align."""
        reason = self.nothing_to_align(data)
        several = len(np.unique(data.codes)) > 1
        if self.strength == 0 or reason is None or not several:
            return super().notices(data)
        return [*super().notices(data), f"{reason} Training goes on without adaptation."]

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        if self.strength == 0 or self.nothing_to_align(data) is not None:
            return super()._game(network, data, run)
        domains = self.domains_to_align(data)
        n_domains = min(self.domains_per_step, len(domains))
        dealer = Dealer(
            data,
            batch_size=self.batch_size,
            device=run.device,
            domains_per_step=self.domains_per_step,
            rows_per_domain=self.rows_per_domain or int(np.clip(256 // n_domains, 4, 64)),
            policy=self.policy,
            domains=domains,
        )
        return AdversarialGame(self, network, data, dealer, run)

    def _trainer(self, data: DomainData, run: Run) -> Trainer:
        trainer = super()._trainer(data, run)
        return replace(
            trainer,
            strength_schedule=self.strength_schedule,
            warmup=self.warmup,
            probe_every=self.probe_every,
        )


class AdversarialGame(NeuralGame):
    """Encoder and predictor against a discriminator."""

    adversarial = True

    def __init__(
        self,
        method: AdversarialMethod,
        network: Network,
        data: DomainData,
        dealer: Dealer,
        run: Run,
    ):
        super().__init__(method, network, data.kind, dealer)
        self.method = method
        self.data = data
        self.strength = method.strength
        self._device = run.device
        self._generator = run.torch_generator().manual_seed(run.random_state + 1)
        self._directions = run.torch_generator().manual_seed(run.random_state + 2)
        self.discriminator, player = self._opponent(method.discriminator_learning_rate)
        self.players = [player, *self.players]

    def begin(self, rng: np.random.Generator) -> None:
        """Let the discriminator learn the encodings as they are before the encoder answers."""
        self._train_alone(self.players[0], self.method.head_start, rng)

    def encoder_loss(self, step: Step) -> Tensor:
        """What the method says."""
        return self.method.encoder_loss(self.discriminator, step)

    def measure(self, step: Step) -> dict[str, Tensor]:
        """Add what the bound is worked out from."""
        return {**super().measure(step), "chance": self.method.chance(step)}

    def conclude(self, figures: dict[str, float]) -> dict[str, float]:
        """Put the bound for the pairs actually drawn beside the loss."""
        chance = figures.pop("chance")
        return {**figures, "discriminator_bound": self.method.bound(self.data, chance)}

    def probe(self, rng: np.random.Generator) -> float:
        """Retrain a discriminator from scratch on encodings that stay as they are."""
        self._fresh = self._opponent(_PROBE_LEARNING_RATE)
        losses = self._train_alone(self._fresh[1], _PROBE_STEPS, rng)
        return float(np.mean(losses[-_PROBE_TAIL:]))

    def examine(self, rng: np.random.Generator) -> float:
        """Probe with a discriminator that may be as steep as it likes."""
        sharp = self._opponent(_PROBE_LEARNING_RATE, replace(self.method, smoothness=0.0))
        losses = self._train_alone(sharp[1], _PROBE_STEPS, rng)
        return float(np.mean(losses[-_PROBE_TAIL:]))

    def revive(self) -> None:
        """Go on with the discriminator that the last probe trained."""
        self.discriminator, player = self._fresh
        player.learning_rate = self.method.discriminator_learning_rate
        self.players = [player, *self.players[1:]]

    def state(self) -> dict[str, Any]:
        """The discriminator too, and what draws its weights and directions."""
        return {
            **super().state(),
            "discriminator": module_state(self.discriminator),
            "generator": self._generator.get_state(),
            "directions": self._directions.get_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        super().restore(state)
        restore_module(self.discriminator, state["discriminator"])
        self._generator.set_state(state["generator"])
        self._directions.set_state(state["directions"])

    def _train_alone(self, player: Player, steps: int, rng: np.random.Generator) -> list[float]:
        losses = []
        for _ in range(steps):
            with torch.no_grad():
                step = self.deal(rng, 0.0)
            losses.append(float(player.update(step)))
        return losses

    def _direction(self, step: Step, layers: SmoothLayers) -> Tensor:
        """Where this step measures steepness; drawn once, so that its loss is one number."""
        if "direction" not in step.batch.cache:
            drawn = torch.randn(layers.n_outputs, generator=self._directions)
            step.batch.cache["direction"] = drawn.to(self._device)
        direction: Tensor = step.batch.cache["direction"]
        return direction

    def _opponent(
        self, learning_rate: float, method: AdversarialMethod | None = None
    ) -> tuple[nn.Module, Player]:
        method = method or self.method
        discriminator = method.discriminator(self.data, self.network.encoder, self._generator)
        discriminator.to(self._device)

        smooth = [part for part in discriminator.modules() if isinstance(part, SmoothLayers)]

        def loss(step: Step) -> Tensor:
            found = method.discriminator_loss(discriminator, step.encoding.detach(), step)
            for layers in smooth:
                found = found + method.smoothness * layers.steepness(self._direction(step, layers))
            return found

        player = Player(
            "discriminator",
            discriminator.parameters(),
            loss,
            learning_rate=learning_rate,
            clip=method.clip,
        )
        return discriminator, player


class SourceTargetMethod(AdversarialMethod):
    """Methods that pool all sources into one domain and all targets into another.

    The labelled rows of a batch are the sources, its rows to align come from targets only.
    """

    def domains_to_align(self, data: DomainData) -> NDArray[np.int64]:
        """Domains without labels."""
        return data.targets

    def nothing_to_align(self, data: DomainData) -> str | None:
        """No domain without labels."""
        return None if len(data.targets) else "Every domain that has rows has labels."
