"""What all benchmarks share: interleaved timing, required ratios, and results as JSON."""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

RESULTS = Path(__file__).parent / "results"


class Skipped(Exception):
    """What a benchmark needs is not installed; results of earlier runs stay as they are."""


@dataclass(frozen=True)
class Ratio:
    """Median of the ratios of all rounds, and the quartiles around it."""

    median: float
    quartiles: tuple[float, float]

    @classmethod
    def of(cls, above: Sequence[float], below: Sequence[float]) -> Ratio:
        """Ratio of two sides timed in the same rounds.

        Taken round by round: when the machine gets busy half-way, both sides of a round feel it,
        while medians of each side alone may come from different halves.
        """
        low, middle, high = np.quantile(np.divide(above, below), [0.25, 0.5, 0.75])
        return cls(float(middle), (float(low), float(high)))

    @classmethod
    def exact(cls, value: float) -> Ratio:
        """A ratio that was not measured in rounds."""
        return cls(value, (value, value))


@dataclass(frozen=True)
class Requirement:
    """A ratio that must stay on its side of a limit."""

    what: str
    ratio: Ratio
    bound: Literal["at least", "at most"]
    limit: float

    @property
    def met(self) -> bool:
        """Whether the ratio is within the limit."""
        if self.bound == "at least":
            return self.ratio.median >= self.limit
        return self.ratio.median <= self.limit


@dataclass(frozen=True)
class Result:
    """What one benchmark found: settings, figures, and the ratios it has to keep."""

    name: str
    summary: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    requirements: list[Requirement] = field(default_factory=list)

    def write(self, folder: Path = RESULTS) -> None:
        """Write ``<name>.json``."""
        folder.mkdir(exist_ok=True)
        content = {
            "benchmark": self.name,
            "environment": environment(),
            "settings": self.settings,
            "figures": self.figures,
            "requirements": [asdict(one) | {"met": one.met} for one in self.requirements],
        }
        text = json.dumps(_rounded(content), indent=2, sort_keys=True)
        (folder / f"{self.name}.json").write_text(text + "\n")


def interleave(
    sides: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    warmup: int,
    before: Callable[[str], object] | None = None,
) -> dict[str, list[float]]:
    """Seconds of each side in each round: A, B, A, B, ..., so that noise hits all sides.

    ``before`` is called with the name of a side ahead of its turn, and is not timed. Ahead of
    every turn, not of every round: it leaves cold caches to whoever comes next.
    """
    gc.collect()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(warmup + rounds):
        for name, play in sides.items():
            if before is not None:
                before(name)
            start = time.perf_counter()
            play()
            seconds[name].append(time.perf_counter() - start)
    return {name: values[warmup:] for name, values in seconds.items()}


def milliseconds(seconds: Sequence[float], per: int = 1) -> float:
    """Median time of one of ``per`` things done in a round."""
    return 1e3 * float(np.median(seconds)) / per


def environment() -> dict[str, Any]:
    """Versions and sizes that figures depend on; nothing that names the machine or its user."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
    }


def _rounded(value: Any) -> Any:
    """Four digits: more would be noise."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value
