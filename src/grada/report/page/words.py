"""The top of a page: a verdict in words, and the three figures that matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from grada.report.page.data import Headline, clean, finite
from grada.report.page.facts import Facts
from grada.report.page.rows import Bools, Floats
from grada.report.page.scores import Scores, mean


def figure(value: float | None, metric: str) -> str:
    """A score as it is printed.

    Examples
    --------
    >>> figure(0.9312, "accuracy"), figure(0.5, "squared error"), figure(None, "accuracy")
    ('93.1 %', '0.5', 'unknown')
    """
    if value is None:
        return "unknown"
    return f"{100 * value:.1f} %" if metric == "accuracy" else f"{value:.3g}"


def verdict(
    method: str, metric: str, report: Any, scores: Scores, targets: Bools, *, truth: bool
) -> str:
    """What came out, in one to three sentences."""
    said = [] if report is None else [_sentence(clean(report.verdict))]
    if not targets.any():
        return " ".join([*said, "Every domain has labels: there is nothing to adapt to."])
    measured, plain = mean(scores.measured[targets]), mean(scores.plain[targets])
    if measured is not None:
        said.append(
            f"Measured on true labels, {method} reaches {_amount(measured, metric)} on average "
            f"over the target domains{_against(measured, plain, metric)}."
        )
        if plain is not None:
            said.append(_harmed(scores, targets, metric))
    elif report is None:
        why = "the true labels given are none of target rows" if truth else "no true labels there"
        said.append(
            f"{method} was fitted, but how well it does in the target domains is not known: {why}. "
            'Fit with method="auto" for an estimate, or give the truth where you have it.'
        )
    return " ".join(said)


def headlines(facts: Facts, scores: Scores) -> tuple[Headline, ...]:
    """The three figures that matter most of those that are known."""
    found = []
    metric, report, targets, hops = facts.metric, facts.report, facts.targets, facts.hops
    measured, plain = mean(scores.measured[targets]), mean(scores.plain[targets])
    expected = None if report is None else finite(report.estimate)
    if measured is not None:
        note = "mean over targets" + _in_units(measured, facts.scale)
        found.append(Headline(f"measured {metric}", figure(measured, metric), note))
    if expected is not None:
        low, high = (figure(finite(end), metric) for end in (report.low, report.high))
        found.append(
            Headline(
                f"expected {metric}", figure(expected, metric), f"90 % interval {low} to {high}"
            )
        )
    if plain is not None:
        found.append(Headline("plain model", figure(plain, metric), "measured, without adaptation"))
    elif expected is not None and (guess := _plain_estimate(report)) is not None:
        found.append(Headline("plain model", figure(guess, metric), "expected, without adaptation"))
    known = scores.measured if measured is not None else scores.estimate
    worst = _worst(np.where(targets, known, np.nan), metric)
    if worst is not None and len(found) < 3:
        found.append(
            Headline(
                "weakest target",
                figure(finite(known[worst]), metric),
                f"domain {facts.names[worst]}",
            )
        )
    if len(found) < 3:
        found.append(
            Headline("domains without labels", f"{int(targets.sum()):,}", f"of {len(targets):,}")
        )
    seen = mean(scores.seen)
    if len(found) < 3 and seen is not None:
        found.append(
            Headline(f"{metric} on labels seen", figure(seen, metric), "in the fit itself")
        )
    far = hops[targets & np.isfinite(hops)]
    if len(found) < 3 and len(far):
        found.append(Headline("farthest target", f"{int(far.max())}", "hops from a source"))
    if len(found) < 3:
        found.append(Headline("rows", f"{len(facts.all_rows):,}", "in all domains"))
    return tuple(found[:3])


def _worst(known: Floats, metric: str) -> int | None:
    if not np.isfinite(known).any():
        return None
    return int(np.nanargmin(known) if metric == "accuracy" else np.nanargmax(known))


def _plain_estimate(report: Any) -> float | None:
    """What is expected of the plain model in the targets, in the terms of the estimate."""
    ratio = finite(getattr(report, "ratio", None))
    if report.metric != "accuracy":
        expected = finite(report.estimate)
        return expected / ratio if ratio and expected is not None else None
    found = [each.estimate for each in report.candidates if each.name == "plain"]
    return finite(found[0]) if found else None


def _in_units(error: float, scale: Floats | None) -> str:
    """The root of a squared error in the unit of the label, if there is one label."""
    if scale is None or len(scale) > 1:
        return ""
    return f"; RMSE {np.sqrt(error) * scale[0]:.3g} in the unit of the label"


def _amount(value: float, metric: str) -> str:
    said = figure(value, metric)
    return f"{said} accuracy" if metric == "accuracy" else f"a squared error of {said}"


def _against(measured: float, plain: float | None, metric: str) -> str:
    if plain is None:
        return ""
    told = figure(plain, metric)
    if figure(measured, metric) == told:
        return f", just as the plain model ({told})"
    better = measured > plain if metric == "accuracy" else measured < plain
    return f", {'better' if better else 'worse'} than the plain model ({told})"


def _harmed(scores: Scores, targets: Bools, metric: str) -> str:
    """In how many domains the plain model would have been better: a mean may hide it."""
    both = targets & np.isfinite(scores.measured) & np.isfinite(scores.plain)
    gain = scores.measured[both] - scores.plain[both]
    worse = int(((gain if metric == "accuracy" else -gain) < 0).sum())
    many = "none" if worse == 0 else f"{worse:,}"
    return f"It is worse than the plain model in {many} of the {int(both.sum()):,} targets."


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
