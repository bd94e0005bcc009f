"""Looking on while the trainer works."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from grada.training.history import History


class Callback:
    """Base of all callbacks: every hook does nothing."""

    def on_start(self, n_epochs: int) -> None:
        """Before the first epoch."""

    def on_epoch_end(self, epoch: int, history: History) -> None:
        """After each epoch; its figures are the last of the history."""

    def on_end(self, history: History) -> None:
        """After the last epoch, also when the training stopped early or failed."""


class Progress(Callback):
    """A progress bar with the time left.

    Parameters
    ----------
    title : str
        What is being trained.
    """

    def __init__(self, title: str = "training"):
        self.title = title

    def on_start(self, n_epochs: int) -> None:
        """Open the bar."""
        self._bar = RichProgress(
            TextColumn("{task.description:<14}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} epochs"),
            TimeRemainingColumn(),
            transient=True,
        )
        self._task = self._bar.add_task(self.title, total=n_epochs)
        self._bar.start()

    def on_epoch_end(self, epoch: int, history: History) -> None:
        """Advance the bar."""
        self._bar.update(self._task, completed=epoch + 1)

    def on_end(self, history: History) -> None:
        """Close the bar."""
        self._bar.stop()


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
