"""Selective entropy optimisation via committee consistency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor

from grada.data import DomainData
from grada.methods._base import Run
from grada.methods._neural import POSITIVE, POSITIVE_REAL, NeuralGame, NeuralMethod, Step
from grada.nn import Network
from grada.nn.augment import Augment, Compose
from grada.nn.committee import (
    class_imbalance,
    moment_mismatch,
    selective_entropy,
    selective_spread,
)
from grada.training import Trainer
from grada.training.batches import PooledDealer
from grada.training.schedules import StrengthSchedule

#: How much of the running mean prediction is kept from one step to the next.
_MEMORY = 0.7


@dataclass(kw_only=True, eq=False, repr=False)
class SENTRY(NeuralMethod):
    r"""Trust a target row if a committee of augmented views agrees on it, else doubt it.

    .. math::
        \min_{E, F} \; L_f(E, F) + \lambda \, \mathbb{E}^t[\, s(x) \, H(p(\tilde x)) \,]
        + \lambda \mu \, \mathbb{E}^t \Big[\sum_c p_c(x) \log q_c \Big]

    The committee are the predictions for ``n_views`` augmented views of a target row x.
    s(x) = 1 if most of them name the same class as the prediction for x itself: the entropy H of
    a view that agrees is minimised. Otherwise s(x) = -1, and the entropy of a view that disagrees
    is maximised. The last term keeps q, the running mean of the predictions p for target rows,
    close to uniform. Sources are pooled into one domain and targets into another. Classes come
    up alike among the labelled rows, and so do predicted classes among the target rows. All this
    takes it that the targets have about as many rows of each class; where they do not, it can do
    worse than no adaptation, and ``balance_targets=False`` with ``diversity=0`` is safer.

    Regression: the spread v(x) plays the part of the entropy. It is the mean squared distance of
    the committee from the prediction for x, divided by the variance of the predictions within
    the target domains: a flat function is not a consistent one. With t for ``tolerance``,
    s(x) = 1 if :math:`v < t^2`, and H becomes :math:`\min(h, 2 - h), h = v / 4 t^2`. Like an
    entropy this has a top, at views 2t apart: doubt drives the views up to it and, from beyond,
    back down, so that nothing can explode. In place of the last term stands
    :math:`m^2 + (\sigma - 1)^2`, which keeps mean and deviation of the predictions for target
    rows near those of the labels. Target rows and labelled rows are drawn uniformly.

    Parameters
    ----------
    strength : float
        Weight of both terms on target rows against the prediction loss.
    diversity : float, optional
        Weight of the last term against the selective entropy. By default 0.1, as published, and
        1 in regression.
    balance_targets : bool
        Classification only: draw target rows so that all predicted classes come up alike.
    strength_schedule : {"linear", "constant", "sigmoid"}
    warmup : float
        Share of the training over which the linear schedule rises.
    n_views : int
        Size of the committee.
    tolerance : float
        Regression only: how far views may be from the prediction for their row and still agree
        with it, in standard deviations of the predictions.
    augment : callable, optional
        Makes a view: ``(x, codes, generator) -> x``, see :mod:`grada.nn.augment`. By default
        mixing within the domain, masking and noise in random combination, made for tables; give
        your own for images.

    As many target rows as labelled rows are drawn per step (``batch_size``). Other settings: see
    NeuralMethod.

    References
    ----------
    Prabhu, Khare, Kartik, Hoffman: SENTRY: Selective Entropy Optimization via Committee
    Consistency for Unsupervised Domain Adaptation. ICCV 2021.
    """

    strength: float = 1.0
    diversity: float | None = None
    balance_targets: bool = True
    strength_schedule: StrengthSchedule = "linear"
    warmup: float = 0.2
    n_views: int = 3
    tolerance: float = 0.5
    augment: Augment | None = None

    name: ClassVar[str] = "sentry"
    citation: ClassVar[str] = (
        "Prabhu, Khare, Kartik, Hoffman: SENTRY: Selective Entropy Optimization via Committee "
        "Consistency for Unsupervised Domain Adaptation. ICCV 2021."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **NeuralMethod._parameter_constraints,
        "strength": [Interval(Real, 0, None, closed="left")],
        "diversity": [Interval(Real, 0, None, closed="left"), None],
        "balance_targets": ["boolean"],
        "strength_schedule": [StrOptions({"constant", "linear", "sigmoid"})],
        "warmup": [Interval(Real, 0, 1, closed="both")],
        "n_views": [POSITIVE],
        "tolerance": [POSITIVE_REAL],
        "augment": [callable, None],
    }

    def check(self, data: DomainData) -> None:
        """Refuse an augmentation that does not return rows like those it gets."""
        super().check(data)
        if self.augment is None:
            return
        x, codes = torch.from_numpy(data.X[:2]), torch.from_numpy(data.codes[:2])
        view = self.augment(x.clone(), codes, torch.Generator().manual_seed(0))
        if not isinstance(view, Tensor) or view.shape != x.shape or view.dtype != x.dtype:
            got = f"{view.dtype} {tuple(view.shape)}" if isinstance(view, Tensor) else type(view)
            raise ValueError(
                "augment must return a tensor like the rows it is given: "
                f"{x.dtype} {tuple(x.shape)}, not {got}."
            )

    def notices(self, data: DomainData) -> list[str]:
        """Say so when there is nothing to adapt to."""
        notices = super().notices(data)
        if self.strength > 0 and not len(data.targets) and len(data.sources) > 1:
            reason = "Every domain that has rows has labels."
            notices.append(f"{reason} Training goes on without adaptation.")
        return notices

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        if not self._adapts(data):
            return super()._game(network, data, run)
        return CommitteeGame(self, network, data, run)

    def _trainer(self, data: DomainData, run: Run) -> Trainer:
        trainer = super()._trainer(data, run)
        if not self._adapts(data):
            return trainer
        # The labelled rows may be learned long before the target rows count in full.
        rising = int(np.ceil(self.warmup * self.epochs))
        return replace(
            trainer,
            strength_schedule=self.strength_schedule,
            warmup=self.warmup,
            patience=self.patience + rising,
        )

    def _adapts(self, data: DomainData) -> bool:
        return self.strength > 0 and len(data.targets) > 0


@dataclass
class CommitteeStep(Step):
    """A step with what is predicted for target rows (n, n_outputs) and their views (k, n, ...).

    ``average`` is the running mean of the predicted probabilities.
    """

    own: Tensor
    views: Tensor
    average: Tensor


class CommitteeGame(NeuralGame):
    """Encoder and predictor learn from labelled rows and from the committee on target rows."""

    def __init__(self, method: SENTRY, network: Network, data: DomainData, run: Run):
        self.pool = PooledDealer(data, batch_size=method.batch_size, device=run.device)
        super().__init__(method, network, data.kind, self.pool)
        self.method = method
        self.strength = method.strength
        usual = 0.1 if data.kind == "classification" else 1.0
        self._diversity = usual if method.diversity is None else method.diversity
        self._augment = method.augment or Compose()
        self._generator = run.torch_generator().manual_seed(run.random_state + 1)
        self._average = torch.full((data.n_outputs,), 1.0 / data.n_outputs, device=run.device)

    def deal(self, rng: np.random.Generator, strength_factor: float) -> CommitteeStep:
        """Draw a batch, augment its target rows, and predict them all."""
        batch, n_views = self.pool.deal(rng), self.method.n_views
        x, codes = batch.x[batch.aligned], batch.aligned_codes
        views = [self._augment(x.clone(), codes, self._generator) for _ in range(n_views)]
        everything = torch.cat([batch.x, *views]), torch.cat([batch.codes, codes.repeat(n_views)])
        encoding = self.network.encoder(*everything)
        output = self.network.predictor(encoding[batch.n_labelled :]).unflatten(0, (-1, len(x)))
        own = output[0]
        if self.kind == "classification":
            if self.method.balance_targets:
                self.pool.remember(batch.row, own.argmax(dim=1))
            self._average = torch.lerp(own.detach().softmax(1).mean(0), self._average, _MEMORY)
        return CommitteeStep(
            batch,
            encoding,
            self.network,
            self.kind,
            self.strength * strength_factor,
            own=own,
            views=output[1:],
            average=self._average,
        )

    def encoder_loss(self, step: CommitteeStep) -> Tensor:  # type: ignore[override]
        """Prediction loss plus selective entropy and diversity on the target rows."""
        if step.kind == "classification":
            doubt, consistent = selective_entropy(step.views, step.own)
            sameness = class_imbalance(step.own, step.average)
        else:
            codes, tolerance = step.batch.aligned_codes, self.method.tolerance
            doubt, consistent = selective_spread(step.views, step.own, codes, tolerance)
            sameness = moment_mismatch(step.own)
        step.batch.cache["consistent"] = consistent
        return step.prediction_loss + step.strength * (doubt + self._diversity * sameness)

    def measure(self, step: CommitteeStep) -> dict[str, Tensor]:  # type: ignore[override]
        """Add the share of target rows on which the committee agreed."""
        return {**super().measure(step), "consistent": step.batch.cache["consistent"].mean()}

    def state(self) -> dict[str, Any]:
        """The running mean too, and what draws the views."""
        own = {"average": self._average, "generator": self._generator.get_state()}
        return {**super().state(), **own}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        super().restore(state)
        self._average = state["average"].to(self._average.device)
        self._generator.set_state(state["generator"])
