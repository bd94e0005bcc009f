"""Training steps of an adversarial method against a loop written by hand for this one case."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks._measure import Ratio, interleave, milliseconds
from grada.data import DomainData
from grada.methods._adversarial import AdversarialGame, AdversarialMethod
from grada.methods._base import Run
from grada.nn import Network
from grada.training import History, Trainer
from grada.training.batches import Batch

NAMES = ("ours", "bare_fused", "bare_default")
# Schedules are held constant so that both sides play the same game; the rest is default.
SETTINGS: dict[str, Any] = {
    "head_start": 0,
    "probe_every": 0,
    "early_stopping": False,
    "strength_schedule": "constant",
    "learning_rate_schedule": "constant",
}
RUN = Run(random_state=0, device=torch.device("cpu"))
SIDES = {
    "ours": "Trainer: Adam(fused=True), figures and bookkeeping of each epoch",
    "bare": "one Python loop: Adam(fused=True) and Adam(), no bookkeeping",
}


@dataclass(frozen=True)
class Comparison:
    """What was found for one method; ``faster`` is the bare loop of the two that is."""

    ratio: Ratio
    faster: str
    step: dict[str, float]
    losses: dict[str, dict[str, float]]
    rows_per_domain: int

    @property
    def summary(self) -> str:
        """Milliseconds of a step."""
        ours, bare = self.step["ours_ms"], self.step[f"{self.faster}_ms"]
        return f"a step takes {ours:.2f} ms, written by hand {bare:.2f} ms"


def compare(
    method: AdversarialMethod,
    network: Network,
    data: DomainData,
    bare: type[Bare],
    *,
    rounds: int,
    steps: int,
) -> Comparison:
    """Check that both sides do the same arithmetic, then time them."""
    _check_same(method, network, data, bare)
    sides: dict[str, Ours | Bare] = {}

    def start_again(name: str) -> None:
        # Every turn is the same stretch of training: later steps are slower, because a network
        # that is sure of its labels computes with subnormal numbers.
        ours = Ours(method, network, data)
        sides[name] = ours if name == "ours" else bare(ours, fused=name == "bare_fused")

    seconds = interleave(
        {name: lambda name=name: sides[name].play(steps) for name in NAMES},
        rounds=rounds,
        warmup=2,
        before=start_again,
    )
    ratios = {name: Ratio.of(seconds["ours"], seconds[name]) for name in NAMES[1:]}
    faster = max(ratios, key=lambda name: ratios[name].median)
    return Comparison(
        ratio=ratios[faster],
        faster=faster,
        step={f"{name}_ms": milliseconds(seconds[name], per=steps) for name in seconds},
        losses={name: side.losses() for name, side in sides.items()},
        rows_per_domain=sides["ours"].rows_per_domain,
    )


class Ours:
    """The real code path: game, players, dealer and trainer as ``adapt`` makes them."""

    def __init__(self, method: AdversarialMethod, network: Network, data: DomainData):
        self.method, self.data = method, data
        self.network = copy.deepcopy(network)
        self.game: AdversarialGame = method._game(self.network, data, RUN)
        self.trainer: Trainer = method._trainer(data, RUN)
        self.rng = RUN.rng()
        self.rows_per_domain = self.game.dealer.deal(RUN.rng(1)).rows_per_domain
        self.history = History()

    def play(self, steps: int) -> None:
        """As many epochs as make so many steps."""
        for epoch in range(steps // self.trainer.steps_per_epoch):
            self.history.append(self.trainer._epoch(self.game, epoch, self.rng))

    def losses(self) -> dict[str, float]:
        """Losses of the last epoch."""
        names = ("prediction", "encoder", "discriminator")
        return {name: self.history[f"{name}_loss"][-1] for name in names}


class Bare(ABC):
    """A method on fixed domains with nothing around it: the same arithmetic, no generality.

    It starts with a copy of the networks of the other side, and uses what it knows: all domains
    fit into a step, and all have the same number of rows.
    """

    def __init__(self, ours: Ours, *, fused: bool):
        self.method = method = ours.method
        self.network, self.discriminator = copy.deepcopy((ours.network, ours.game.discriminator))
        self.directions = ours.game._directions.clone_state()
        self.player = [p for p in self.network.parameters() if p.requires_grad]
        self.opponent = list(self.discriminator.parameters())
        how = {"fused": True} if fused else {}
        self.adam = torch.optim.Adam(self.player, lr=method.learning_rate, **how)
        rate = method.discriminator_learning_rate
        self.opponent_adam = torch.optim.Adam(self.opponent, lr=rate, **how)

        data = ours.data
        self.X, self.y = torch.from_numpy(data.X), torch.from_numpy(data.y)
        self.codes = torch.from_numpy(data.codes)
        self.labelled = np.flatnonzero(data.y >= 0)
        table = np.argsort(data.codes, kind="stable").reshape(data.graph.n_domains, -1)
        self.table = table[method.domains_to_align(data)]
        self.every = np.arange(len(self.table))[:, None]
        self.shape = (len(self.table), ours.rows_per_domain)
        self.rng = np.random.default_rng(0)

    def play(self, steps: int) -> None:
        """Sample and step."""
        for _ in range(steps):
            labelled = self.rng.choice(self.labelled, self.method.batch_size, replace=False)
            offset = self.rng.integers(self.table.shape[1], size=self.shape)
            row = torch.from_numpy(self.table[self.every, offset].ravel())
            labelled = torch.from_numpy(labelled)
            rows = torch.cat([labelled, row])
            self.last = self.step(self.X[rows], self.codes[rows], self.y[labelled], row)

    @abstractmethod
    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Discriminator, then encoder and predictor; their losses.

        ``x`` and ``codes`` hold the labelled rows, then those to align; ``row`` says which rows
        of the table the latter are.
        """

    def move_opponent(self, loss: Tensor) -> None:
        """Update the discriminator."""
        self._move(self.opponent, self.opponent_adam, loss)

    def move_player(self, loss: Tensor) -> None:
        """Update encoder and predictor."""
        self._move(self.player, self.adam, loss)

    def _move(self, parameters: list[nn.Parameter], adam: torch.optim.Adam, loss: Tensor) -> None:
        # Faster than `backward`, which adds to gradients that were just set to zero.
        gradients = torch.autograd.grad(loss, parameters)
        norm = float(nn.utils.get_total_norm(gradients))
        if norm > self.method.clip:
            gradients = [gradient * (self.method.clip / norm) for gradient in gradients]
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        adam.step()

    def losses(self) -> dict[str, float]:
        """Losses of the last step."""
        return {name: float(loss) for name, loss in self.last.items()}


def _check_same(
    method: AdversarialMethod,
    network: Network,
    data: DomainData,
    bare: type[Bare],
    steps: int = 12,  # rounding grows in a game: after twenty the two may part by a thousandth
) -> None:
    """From the same networks, on the same batches, both sides must see the same losses."""
    for fused in (True, False):
        ours = Ours(method, network, data)
        other = bare(ours, fused=fused)
        for index in range(steps):
            step = ours.game.deal(ours.rng, 1.0)
            mine = {player.name: player.update(step) for player in ours.game.players}
            mine["prediction"] = step.prediction_loss.detach()
            batch: Batch = step.batch
            theirs = other.step(batch.x, batch.codes, batch.y, batch.row)
            for name, loss in theirs.items():
                if not torch.allclose(mine[name], loss, rtol=1e-3, atol=1e-5):
                    raise RuntimeError(
                        f"{method.name}: the two loops part in step {index}: the {name} loss is "
                        f"{float(mine[name]):.6g} and {float(loss):.6g}."
                    )
