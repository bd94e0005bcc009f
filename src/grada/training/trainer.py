"""The only training loop: every method is a game that this trainer plays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from grada.training.callbacks import Callback, Callbacks
from grada.training.checkpoint import Kept
from grada.training.diagnostics import (
    AdaptationWarning,
    aligned,
    check_finite,
    fooled,
    plateaued,
    review_game,
    settled,
    warn,
)
from grada.training.history import History
from grada.training.players import Player
from grada.training.resuming import Training
from grada.training.schedules import (
    LearningRateSchedule,
    StrengthSchedule,
    learning_rate_factor,
    strength_factor,
)


class Game(Protocol):
    """What a method gives the trainer."""

    @property
    def players(self) -> Sequence[Player]:
        """In the order of their updates within a step."""

    @property
    def adversarial(self) -> bool:
        """Whether there is a discriminator with a bound and a probe."""

    def begin(self, rng: np.random.Generator) -> None:
        """Prepare before the first epoch."""

    def deal(self, rng: np.random.Generator, strength_factor: float) -> Any:
        """Draw a batch, encode it, and return the step that all losses look at."""

    def measure(self, step: Any) -> dict[str, torch.Tensor]:
        """Further figures of a step, averaged over the epoch."""

    def conclude(self, figures: dict[str, float]) -> dict[str, float]:
        """Figures of an epoch from the averages of its steps."""

    def probe(self, rng: np.random.Generator) -> float:
        """Loss that a fresh discriminator reaches on the encodings as they are now."""

    def examine(self, rng: np.random.Generator) -> float:
        """The same for the strongest discriminator there is, asked once in the end."""

    def revive(self) -> None:
        """Go on against the discriminator of the last probe."""

    def state(self) -> dict[str, Any]:
        """All that changes in the game, its networks included: what a checkpoint holds."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state; a game made anew plays on as the one that was kept."""


class SoloGame:
    """What a game without a discriminator has nothing to say about."""

    adversarial = False

    def begin(self, rng: np.random.Generator) -> None:
        """Nothing to prepare."""

    def conclude(self, figures: dict[str, float]) -> dict[str, float]:
        """Nothing to add."""
        return figures

    def probe(self, rng: np.random.Generator) -> float:
        """There is no discriminator to retrain."""
        raise RuntimeError("This game has no discriminator.")

    def examine(self, rng: np.random.Generator) -> float:
        """There is no discriminator to retrain."""
        raise RuntimeError("This game has no discriminator.")

    def revive(self) -> None:
        """There is no discriminator to replace."""


@dataclass(frozen=True)
class Trainer:
    """Play a game for some epochs.

    In each step a batch is dealt and encoded once; then every player in turn takes a gradient
    step on its own loss. The discriminator comes first, so that the encoder answers the
    discriminator as it is now.

    Parameters
    ----------
    epochs, steps_per_epoch : int
    learning_rate_schedule : {"constant", "cosine", "halving"}
    strength_schedule : {"constant", "linear", "sigmoid"}
    warmup : float
        Share of the training over which the ``linear`` schedule rises.
    early_stopping : bool
        End when the prediction loss no longer falls and, in an adversarial game, the
        discriminator sits at its bound and a retrained one cannot beat it.
    patience : int
        Epochs without progress in the prediction loss before the training may end.
    tolerance : float
        What counts as progress. It should follow the learning rate: who takes small steps makes
        small progress.
    probe_every : int
        Every so many epochs, a discriminator at its bound is put to the test: a fresh one is
        retrained for a moment on frozen encodings. If that one beats the bound, the old one was
        dead, not fooled, and the game goes on against the fresh one. 0: never.
    callbacks : tuple of Callback
    checkpoint : Kept, optional
        Where the state of the training is kept, and taken up again.
    """

    epochs: int
    steps_per_epoch: int
    learning_rate_schedule: LearningRateSchedule = "constant"
    strength_schedule: StrengthSchedule = "constant"
    warmup: float = 0.2
    early_stopping: bool = True
    patience: int = 10
    tolerance: float = 1e-3
    probe_every: int = 0
    callbacks: tuple[Callback, ...] = ()
    checkpoint: Kept | None = None

    def train(self, game: Game, rng: np.random.Generator) -> History:
        """Play to the end and return what happened."""
        history = History()
        history.stopped = f"all {self.epochs} epochs done"
        training = Training(self.checkpoint, game, rng, history)
        if training.resume():
            for message in history.messages:
                warnings.warn(message, AdaptationWarning, stacklevel=2)
            return history
        with Callbacks(self.callbacks, history, self.epochs) as callbacks:
            if not history.n_epochs:
                game.begin(rng)
            for epoch in range(history.n_epochs, self.epochs):
                history.append(self._epoch(game, epoch, rng))
                callbacks.epoch_end(epoch)
                if self._converged(game, history, rng) and self.early_stopping:
                    history.stopped = f"converged after {epoch + 1} of {self.epochs} epochs"
                    break
                training.epoch_end()
        if game.adversarial:
            history.note(probe_loss=game.examine(rng))
            problem = review_game(history)
            if problem is not None:
                warn(history, problem)
        training.finish()
        return history

    def _epoch(self, game: Game, epoch: int, rng: np.random.Generator) -> dict[str, float]:
        rate = learning_rate_factor(self.learning_rate_schedule, epoch, self.epochs)
        for player in game.players:
            player.scale_learning_rate(rate)
        sums: dict[str, torch.Tensor] = {}
        for index in range(self.steps_per_epoch):
            progress = (epoch + index / self.steps_per_epoch) / self.epochs
            factor = strength_factor(self.strength_schedule, progress, self.warmup)
            step = game.deal(rng, factor)
            figures = {f"{player.name}_loss": player.update(step) for player in game.players}
            figures |= game.measure(step)
            for name, value in figures.items():
                sums[name] = sums[name] + value if name in sums else value
        means = {name: float(total) / self.steps_per_epoch for name, total in sums.items()}
        check_finite(means, epoch)
        return game.conclude(means) | {"strength_factor": factor, "learning_rate_factor": rate}

    def _converged(self, game: Game, history: History, rng: np.random.Generator) -> bool:
        learned = plateaued(history["prediction_loss"], self.patience, self.tolerance)
        if not game.adversarial:
            return learned
        if not self.probe_every or history.n_epochs % self.probe_every:
            return False
        if not fooled(history, self.probe_every):
            return False
        probe = game.probe(rng)
        history.note(probe_loss=probe)
        if aligned(probe, history["discriminator_bound"][-1]):
            rests = settled(history, self.probe_every, probe)
            return learned and rests and history["strength_factor"][-1] > 0.99
        game.revive()
        return False
