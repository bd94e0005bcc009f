"""What the two methods with graph convolutions share: settings, training on the whole graph."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn

from grada.data import DomainData
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._neural import (
    POSITIVE,
    POSITIVE_REAL,
    _one_thread,
    _warn_of_explosion,
    name_some,
)
from grada.training import AdaptationWarning, History, Player, SoloGame, Trainer
from grada.training.resuming import copy_all
from grada.training.schedules import LearningRateSchedule


class GraphNetwork(nn.Module, ABC):
    """A network that holds the whole graph and the visible labels."""

    @abstractmethod
    def loss(self) -> Tensor:
        """Mean loss over the labelled rows."""

    @abstractmethod
    def fitted(self, history: History) -> FittedMethod:
        """What is needed to predict, on the CPU and in double precision."""


@dataclass(kw_only=True, eq=False, repr=False)
class GraphMethod(Method):
    """Settings of the graph convolutions and of their training.

    Parameters
    ----------
    layers : int
        Graph convolutions, with ReLU between them; the last one makes the prediction.
    width : int
        Width between them.
    learning_rate : float
    learning_rate_schedule : {"cosine", "constant", "halving"}
    epochs, steps_per_epoch : int
        Every step is a gradient step on the whole graph.
    clip : float, optional
        Largest norm of the gradient.
    early_stopping : bool
    patience : int
        See :class:`grada.training.Trainer`.
    """

    layers: int = 2
    width: int = 64
    learning_rate: float = 1e-2
    learning_rate_schedule: LearningRateSchedule = "cosine"
    epochs: int = 100
    steps_per_epoch: int = 10
    clip: float | None = 5.0
    early_stopping: bool = True
    patience: int = 10

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "layers": [POSITIVE],
        "width": [POSITIVE],
        "learning_rate": [POSITIVE_REAL],
        "learning_rate_schedule": [StrOptions({"cosine", "constant", "halving"})],
        "epochs": [POSITIVE],
        "steps_per_epoch": [POSITIVE],
        "clip": [POSITIVE_REAL, None],
        "early_stopping": ["boolean"],
        "patience": [POSITIVE],
    }

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Train on the whole graph."""
        self.check(data)
        notices = self.notices(data)
        for notice in notices:
            warnings.warn(notice, AdaptationWarning, stacklevel=4)
        with _one_thread(needed=True):
            network = self._network(data, run).to(run.device)
            history = self._trainer(run).train(GraphGame(self, network), run.rng())
            history.messages[:0] = notices
            fitted = network.fitted(history)
        _warn_of_explosion(fitted, data)
        return fitted

    def notices(self, data: DomainData) -> list[str]:
        """What the user should know about this data before training on it."""
        cut_off = np.intersect1d(data.unreachable, data.targets)
        if not len(cut_off):
            return []
        return [
            f"No path in the graph joins {name_some(data, cut_off)} to a domain with labels, so "
            "no labelled row is heard there. Add edges to the graph, or do not rely on these "
            "predictions."
        ]

    @abstractmethod
    def _network(self, data: DomainData, run: Run) -> GraphNetwork:
        """The untrained network with the whole graph in it."""

    def _sizes(self, n_features: int, n_outputs: int) -> list[int]:
        return [n_features, *[self.width] * (self.layers - 1), n_outputs]

    def _trainer(self, run: Run) -> Trainer:
        return Trainer(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch,
            learning_rate_schedule=self.learning_rate_schedule,
            early_stopping=self.early_stopping,
            patience=self.patience,
            callbacks=run.callbacks,
            checkpoint=run.checkpoint,
        )


class GraphGame(SoloGame):
    """One player, and the whole graph in every step."""

    def __init__(self, method: GraphMethod, network: GraphNetwork):
        self.network = network
        learner = Player(
            "network",
            network.parameters(),
            lambda loss: loss,
            learning_rate=method.learning_rate,
            clip=method.clip,
        )
        self.players: Sequence[Player] = [learner]

    def deal(self, rng: np.random.Generator, strength_factor: float) -> Tensor:
        """The loss of the step: there is nothing to draw."""
        return self.network.loss()

    def measure(self, step: Tensor) -> dict[str, Tensor]:
        """The loss is the prediction loss."""
        return {"prediction_loss": step.detach()}

    def state(self) -> dict[str, Any]:
        """The parameters; the buffers are the data, which do not change."""
        return {"parameters": dict(self.network.named_parameters())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        copy_all(dict(self.network.named_parameters()), state["parameters"])
