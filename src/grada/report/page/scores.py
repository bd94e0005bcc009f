"""Scores of the domains of a page: measured, estimated, of the plain model; and by hop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grada.report.page.data import Level, finite
from grada.report.page.rows import Bools, Codes, Column, Floats, Rows

#: Hops from here on share a bar.
_FAR = 10


@dataclass(frozen=True)
class Scores:
    """One figure a domain, NaN where there is none; accuracy from 0 to 1, or squared error."""

    estimate: Floats
    low: Floats
    high: Floats
    measured: Floats
    plain: Floats
    seen: Floats


def losses(predicted: NDArray[Any], labels: Column, scale: Floats | None) -> Floats:
    """Score of each row with a label: 1 or 0 for classes, squared error in standard units.

    Parameters
    ----------
    predicted : array of shape (n_rows,) or (n_rows, n_outputs)
    labels : Column
    scale : array of shape (n_outputs,), optional
        Deviation of the visible labels; None for classes.
    """
    found = np.full(len(predicted), np.nan)
    known = labels.known
    if not known.any():
        return found
    given, told = predicted[known], labels.values[known]
    if told.shape != given.shape:
        raise ValueError(
            f"true labels have shape {labels.values.shape}, but predictions {predicted.shape}."
        )
    if scale is None:
        found[known] = given.astype(object) == told.astype(object)
        return found
    told = _numbers(told)
    errors = (given - told).reshape(len(given), -1) / scale
    found[known] = (errors**2).sum(axis=1)
    return found


def _numbers(values: NDArray[Any]) -> Floats:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A true label is not a number, but the model predicts numbers: {error}."
        ) from None


def label_scale(labels: Column) -> Floats:
    """Deviation of each output among the labels, 1 where they are all the same."""
    if not labels.known.any():
        return np.ones(1)
    values = _numbers(labels.values[labels.known])
    values = values.reshape(len(values), -1)
    deviation = values.std(axis=0)
    constant = deviation <= 1e-12 * np.abs(values).max(axis=0)
    return np.where(constant, 1.0, deviation)


def check_truth(truth: Column, classes: NDArray[Any]) -> None:
    """Refuse true labels none of which is a class of the model: another spelling, surely."""
    known = truth.values[truth.known]
    if len(known) and known.ndim == 1 and not set(known.tolist()) & set(classes.tolist()):
        some = ", ".join(repr(each) for each in classes.tolist()[:5])
        raise ValueError(
            f"truth holds {known.tolist()[0]!r}, but the classes of the model are {some}: give "
            "the labels in the same spelling and type."
        )


def per_domain(values: Floats, codes: Codes, chosen: Bools, n_domains: int) -> Floats:
    """Mean of some rows in each domain; NaN where there is none."""
    count = np.bincount(codes[chosen], minlength=n_domains)
    total = np.bincount(codes[chosen], weights=values[chosen], minlength=n_domains)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def scores_of(
    report: Any, rows: Rows, row_scores: Floats, plain: Floats, seen: Floats, graph: Any
) -> Scores:
    """All scores of the domains.

    Parameters
    ----------
    report : Report or None
        Of ``auto``.
    rows : Rows
    row_scores, plain : arrays of shape (n_rows,)
        Score of each row by its true label: of the model, and of the plain one.
    seen : array of shape (n_rows,)
        Score of each row by the label that the fit saw.
    graph : DomainGraph
    """
    n = graph.n_domains
    estimate, low, high = (np.full(n, np.nan) for _ in range(3))
    if report is not None and report.domains:
        codes = graph.index([each.domain for each in report.domains])
        estimate[codes] = [each.estimate for each in report.domains]
        low[codes] = [each.low for each in report.domains]
        high[codes] = [each.high for each in report.domains]
    hidden = rows.truth.known & ~rows.visible.known
    return Scores(
        estimate,
        low,
        high,
        measured=per_domain(row_scores, rows.codes, hidden, n),
        plain=per_domain(plain, rows.codes, hidden & np.isfinite(plain), n),
        seen=per_domain(seen, rows.codes, rows.visible.known, n),
    )


def mean(values: Floats) -> float | None:
    """Mean of what is known, every domain weighing the same."""
    known = values[np.isfinite(values)]
    return finite(known.mean()) if len(known) else None


def by_hop(scores: Scores, hops: Floats, has_rows: Bools) -> tuple[Level, ...]:
    """Mean scores of the domains with rows at each distance, near ones first."""
    label = np.array(
        [
            "no path" if np.isinf(hop) else str(int(hop)) if hop < _FAR else f"{_FAR}+"
            for hop in hops
        ]
    )
    found = []
    for level in [*map(str, range(_FAR)), f"{_FAR}+", "no path"]:
        own = (label == level) & has_rows
        if own.any():
            found.append(
                Level(
                    level,
                    int(own.sum()),
                    mean(scores.estimate[own]),
                    mean(scores.measured[own]),
                    mean(scores.plain[own]),
                    mean(scores.seen[own]),
                )
            )
    return tuple(found)
