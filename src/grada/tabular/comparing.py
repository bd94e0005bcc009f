"""Compare methods on a user's own table, without a label of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grada import methods
from grada.selection.portfolio import YARDSTICK
from grada.selection.report import Report
from grada.tabular.fitting import make_estimator
from grada.tabular.source import Reading, TableSource


@dataclass(frozen=True)
class Comparison:
    """Candidates, what they were judged by, and what to use.

    Attributes
    ----------
    report : Report
        Of ``auto`` over the candidates.
    method : str
        What to give to ``--method``.
    advice : str
        In words.
    notes : tuple of str
        About the table and the graph.
    """

    report: Report
    method: str
    advice: str
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "method": self.method,
            "advice": self.advice,
            "notes": list(self.notes),
            **self.report.to_dict(),
        }


def compare_table(
    source: TableSource,
    *,
    names: Sequence[str] | None = None,
    budget: float | None = None,
    random_state: int = 0,
    verbose: int = 0,
    reading: Reading | None = None,
) -> Comparison:
    """Try methods on hidden sources, and judge their predictions for the targets.

    Parameters
    ----------
    source : TableSource
    names : sequence of str, optional
        Methods; by default the portfolio of ``auto``. The plain model is always among them.
    budget : float, optional
        Seconds after which no further candidate is begun; None: try all.
    random_state : int
    verbose : int
        Whether to show progress.
    reading : Reading, optional
        The source, if it was read already.

    Returns
    -------
    Comparison
    """
    reading = source.read() if reading is None else reading
    reading.check_targets("auto")
    for name in names or ():
        make_estimator(reading.kind, name, None)  # refuses unknown names in words
    if names is not None and "auto" in names:
        raise ValueError("auto is what compares: name the methods that it is to choose from.")
    settings = {"budget": budget, "portfolio": None if names is None else list(names)}
    estimator = make_estimator(
        reading.kind,
        "auto",
        settings,
        graph="discover" if reading.graph is None else reading.graph,
        random_state=random_state,
        verbose=verbose,
    )
    estimator.fit(reading.X, reading.labels, sample_domain=reading.domains)
    report = estimator.report_
    if report is None:
        raise AssertionError("auto always reports")
    method, advice = _advice(report, names)
    return Comparison(report, method, advice, tuple(reading.notes))


def _advice(report: Report, names: Sequence[str] | None) -> tuple[str, str]:
    """What to give to ``--method``, and why."""
    chosen = [each.name for each in report.candidates if each.share > 0]
    if not report.adapted:
        return YARDSTICK, f"Use --method {YARDSTICK}. {report.verdict}"
    if len(chosen) == 1 and chosen[0] in methods.available():
        return chosen[0], f"Use --method {chosen[0]}. {report.verdict}"
    if names is None:
        return "auto", f"Use --method auto. {report.verdict}"
    best = max(
        (each for each in report.candidates if each.share > 0), key=lambda each: each.share
    ).name
    return best, f"Use --method {best}, the largest part of the best blend. {report.verdict}"
