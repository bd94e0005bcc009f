"""Several seeds of a method in one row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grada.benchmark._jobs import Record
from grada.graph import Name


@dataclass(frozen=True)
class Summary:
    """One method on one task over several seeds: means, and the deviation of the mean score.

    ``warned`` counts the runs in which the method itself warned that something was wrong.
    """

    method: str
    metric: str
    mean: float
    std: float
    worst: float
    levels: dict[str, float]
    domains: dict[Name, float]
    seconds: float
    seeds: int
    warned: int
    rmse: float | None = None
    unit: str = ""

    @classmethod
    def of(cls, records: Sequence[Record]) -> Summary:
        """Summarise the runs of one method."""
        first = records[0]
        rmse = [record.rmse for record in records if record.rmse is not None]
        return cls(
            method=first.method,
            metric=first.metric,
            mean=_mean(record.mean for record in records),
            std=float(np.std([record.mean for record in records])),
            worst=_mean(record.worst for record in records),
            levels={
                level: _mean(record.levels[level] for record in records) for level in first.levels
            },
            domains={
                name: _mean(
                    record.per_domain[name] for record in records if name in record.per_domain
                )
                for name in first.per_domain
            },
            seconds=_mean(record.seconds for record in records),
            seeds=len(records),
            warned=sum(bool(record.notes) for record in records),
            rmse=_mean(rmse) if rmse else None,
            unit=first.unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        figures: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("mean", "std", "worst", "levels", "seconds", "seeds")
        }
        if self.rmse is not None:
            figures |= {"rmse": self.rmse, "unit": self.unit}
        return figures


def summarize(records: Iterable[Record]) -> list[Summary]:
    """One summary a method, in the order in which the methods first appear."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    return [Summary.of(group) for group in groups.values()]


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
