"""What ``method="auto"`` tried, what it scored, why this one, and what to expect of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import pandas as pd

from grada.graph import Name
from grada.selection.choice import Choice
from grada.selection.scores import LabelFree
from grada.selection.trials import Trial


@dataclass(frozen=True)
class CandidateReport:
    """One candidate: what it was judged by.

    Attributes
    ----------
    name : str
    share : float
        Its share of the predictions.
    estimate : float, optional
        What it was ranked by: estimated accuracy in the targets (0 to 1), or squared error on
        hidden sources (in standard units).
    hidden : float, optional
        Accuracy, or squared error, on sources whose labels were hidden.
    scores : dict of str to float
        Label-free scores, means over the targets.
    seconds : float
    problem : str, optional
        Why it was left out.
    notes : tuple of str
        What it warned of.
    """

    name: str
    share: float
    estimate: float | None
    hidden: float | None
    scores: dict[str, float]
    seconds: float
    problem: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class DomainReport:
    """What to expect in one target: accuracy (0 to 1) or squared error, with a 90 % interval.

    Hops are infinite where no path leads to a source.
    """

    domain: Name
    hops: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Report:
    """How the choice was made; ``print`` it, or see ``candidates_frame`` and ``domains_frame``.

    Attributes
    ----------
    verdict : str
        In words.
    adapted : bool
        False: the plain model was kept.
    metric : {"accuracy", "squared error"}
        Accuracy from 0 to 1; squared error summed over the outputs, each in standard deviations
        of its visible labels.
    estimate, low, high : float
        Mean over the targets, with a 90 % interval.
    candidates : tuple of CandidateReport
    domains : tuple of DomainReport
        All targets, or a sample of 200.
    seconds : float
    ratio : float, optional
        For values: the expected error as a multiple of the plain model's. What candidates were
        ranked by, the error on hidden sources, says nothing about how far the targets are.
    """

    verdict: str
    adapted: bool
    metric: Literal["accuracy", "squared error"]
    estimate: float
    low: float
    high: float
    candidates: tuple[CandidateReport, ...]
    domains: tuple[DomainReport, ...]
    seconds: float
    ratio: float | None = None

    @classmethod
    def of(
        cls, choice: Choice, trials: Sequence[Trial], lens: LabelFree, *, seconds: float
    ) -> Report:
        """Write down a choice."""
        candidates = tuple(_candidate(trial, choice, lens) for trial in trials)
        graph, estimate = lens.data.graph, choice.estimate
        hops = graph.hops_from(lens.data.sources)
        rows = zip(lens.targets, estimate.mean, estimate.low, estimate.high, strict=True)
        return cls(
            verdict=choice.why,
            adapted=choice.adapted,
            metric="accuracy" if lens.data.kind == "classification" else "squared error",
            estimate=estimate.overall,
            low=estimate.overall_low,
            high=estimate.overall_high,
            candidates=candidates,
            domains=tuple(
                DomainReport(
                    graph.names[code], float(hops[code]), float(mean), float(low), float(high)
                )
                for code, mean, low, high in rows
            ),
            seconds=seconds,
            ratio=choice.ratio if lens.data.kind == "regression" else None,
        )

    @property
    def candidates_frame(self) -> pd.DataFrame:
        """One row a candidate, the best first."""
        rows = [{**asdict(each), **each.scores} for each in self.candidates]
        frame = pd.DataFrame(rows).drop(columns="scores").set_index("name")
        return frame.sort_values("estimate", ascending=self.metric != "accuracy")

    @property
    def domains_frame(self) -> pd.DataFrame:
        """One row a target."""
        columns = [field.name for field in fields(DomainReport)]
        return pd.DataFrame([asdict(each) for each in self.domains], columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not known, or infinite, is None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def __str__(self) -> str:
        lines = [self.verdict, f"Expected {self.metric} in the targets: {self._expected()}.", ""]
        for each in sorted(self.candidates, key=self._order):
            if each.problem is not None:
                said = f"left out: {each.problem}"
            else:
                said = f"estimate {self._figure(each.estimate)}, hidden sources "
                said += f"{self._figure(each.hidden)}, {each.seconds:.1f} s"
            mark = f"{100 * each.share:3.0f} %" if each.share else "     "
            lines.append(f"{mark}  {each.name:<24} {said}")
        return "\n".join(lines)

    def _order(self, each: CandidateReport) -> tuple[bool, float]:
        if each.estimate is None:
            return True, 0.0
        return False, -each.estimate if self.metric == "accuracy" else each.estimate

    def _expected(self) -> str:
        if not self.domains:
            return "unknown, as there is none"
        if np.isnan(self.estimate):
            return "unknown, as no source could be hidden"
        low, high = self._figure(self.low), self._figure(self.high)
        return f"{self._figure(self.estimate)} (90 % interval {low} to {high})"

    def _figure(self, value: float | None) -> str:
        if value is None or np.isnan(value):
            return "unknown"
        return f"{100 * value:.0f} %" if self.metric == "accuracy" else f"{value:.3g}"


def _candidate(trial: Trial, choice: Choice, lens: LabelFree) -> CandidateReport:
    scores = {} if trial.output is None else lens.scores(trial.output)
    return CandidateReport(
        name=trial.name,
        share=float(choice.shares.get(trial.name, 0.0)),
        estimate=choice.rank.get(trial.name),
        hidden=None if trial.held_out is None else float(trial.held_out.score.mean()),
        scores={name: float(score.mean()) for name, score in scores.items() if len(score)},
        seconds=trial.seconds,
        problem=trial.problem,
        notes=tuple(trial.notes),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
