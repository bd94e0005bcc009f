"""What happened during training, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd


class History(Mapping[str, list[float]]):
    """Measured figures by name, one value per epoch, and how the training ended.

    Attributes
    ----------
    stopped : str
        Why the training ended, in words.
    messages : list of str
        Warnings given on the way.

    Examples
    --------
    >>> history = History()
    >>> history.append({"prediction_loss": 0.7})
    >>> history.append({"prediction_loss": 0.5, "probe_loss": 0.6})
    >>> history["prediction_loss"]
    [0.7, 0.5]
    >>> history["probe_loss"]
    [nan, 0.6]
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[float]] = {}
        self.n_epochs = 0
        self.stopped = ""
        self.messages: list[str] = []

    def append(self, figures: Mapping[str, float]) -> None:
        """Add the figures of one epoch; a figure that is not measured every epoch is NaN."""
        for name, column in self._columns.items():
            column.append(float(figures.get(name, float("nan"))))
        for name in figures:
            if name not in self._columns:
                gap = [float("nan")] * self.n_epochs
                self._columns[name] = [*gap, float(figures[name])]
        self.n_epochs += 1

    def note(self, **figures: float) -> None:
        """Set figures of the last epoch that are measured after it."""
        for name, value in figures.items():
            column = self._columns.setdefault(name, [float("nan")] * self.n_epochs)
            column[-1] = float(value)

    def preceded_by(self, earlier: History) -> History:
        """Both stretches of training in one history, the earlier one first."""
        joined = History()
        for part in (earlier, self):
            for epoch in range(part.n_epochs):
                joined.append({name: column[epoch] for name, column in part.items()})
            joined.messages += part.messages
        joined.stopped = self.stopped
        return joined

    def state(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "columns": {name: list(column) for name, column in self.items()},
            "n_epochs": self.n_epochs,
            "stopped": self.stopped,
            "messages": list(self.messages),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Become the history that said this."""
        self._columns = {name: list(column) for name, column in state["columns"].items()}
        self.n_epochs, self.stopped = state["n_epochs"], state["stopped"]
        self.messages = list(state["messages"])

    def to_frame(self) -> pd.DataFrame:
        """One row per epoch, one column per figure."""
        return pd.DataFrame(self._columns, index=pd.RangeIndex(self.n_epochs, name="epoch"))

    def __getitem__(self, name: str) -> list[float]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        names = ", ".join(self._columns)
        return f"History({self.n_epochs} epochs: {names}; {self.stopped})"
