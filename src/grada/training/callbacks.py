"""Looking on while the trainer works."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from grada.training.history import History


class Callback:
    """Base of all callbacks: every hook does nothing."""

    def on_trial(self, number: int, total: int, name: str) -> None:
        """Before each candidate that is tried, and once more, with number = total, at the end."""

    def on_start(self, n_epochs: int) -> None:
        """Before the first epoch."""

    def on_epoch_end(self, epoch: int, history: History) -> None:
        """After each epoch; its figures are the last of the history."""

    def on_end(self, history: History) -> None:
        """After the last epoch, also when the training stopped early or failed."""


class Progress(Callback):
    """Progress bars with the time left, on standard error.

    Parameters
    ----------
    title : str
        What is being trained.
    """

    def __init__(self, title: str = "training"):
        self.title = title
        self._bar: RichProgress | None = None
        self._training: TaskID | None = None
        self._trials: TaskID | None = None

    def on_trial(self, number: int, total: int, name: str) -> None:
        """Advance the bar of the candidates; close it after the last."""
        bar = self._opened()
        if self._trials is None:
            self._trials = bar.add_task(self.title, total=total, unit="candidates")
        bar.update(self._trials, completed=number, description=f"{self.title}: {name}")
        if number == total:
            self._trials = None
            self._close()

    def on_start(self, n_epochs: int) -> None:
        """Open the bar of a training."""
        self._training = self._opened().add_task(self.title, total=n_epochs, unit="epochs")

    def on_epoch_end(self, epoch: int, history: History) -> None:
        """Advance the bar of a training."""
        if self._training is not None:
            self._opened().update(self._training, completed=epoch + 1)

    def on_end(self, history: History) -> None:
        """Close the bar of a training."""
        if self._training is not None:
            self._opened().remove_task(self._training)
            self._training = None
        if self._trials is None:
            self._close()

    def _opened(self) -> RichProgress:
        if self._bar is None:
            self._bar = RichProgress(
                TextColumn("{task.description:<24}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total} {task.fields[unit]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self._bar

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class Callbacks:
    """Several callbacks as one; ``on_end`` is called even when the training fails."""

    def __init__(self, callbacks: tuple[Callback, ...], history: History, n_epochs: int):
        self._callbacks = callbacks
        self._history = history
        self._n_epochs = n_epochs

    def __enter__(self) -> Self:
        for callback in self._callbacks:
            callback.on_start(self._n_epochs)
        return self

    def epoch_end(self, epoch: int) -> None:
        """Tell all that an epoch is over."""
        for callback in self._callbacks:
            callback.on_epoch_end(epoch, self._history)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for callback in self._callbacks:
            callback.on_end(self._history)
