"""From a fitted model and its rows to the data of a page.

Only the public surface of the model is used, so that nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from grada.report.page.around import candidates, curves, settings, summary, versions, warnings
from grada.report.page.data import Domain, PageData, clean, finite
from grada.report.page.facts import Facts
from grada.report.page.places import drawn_edges, places
from grada.report.page.plane import encodings
from grada.report.page.rows import Codes
from grada.report.page.scores import Scores, by_hop
from grada.report.page.words import headlines, verdict

#: Of more domains, some are drawn and listed.
_MAX_DOMAINS = 2000


def collect(
    model: Any,
    X: Any,
    y: Any,
    sample_domain: Any = None,
    *,
    truth: Any = None,
    title: str | None = None,
    notes: Iterable[str] = (),
    checksums: Mapping[str, str] | None = None,
    command: str = "",
    random_state: int = 0,
) -> PageData:
    """Gather what a page shows of a fitted model on the rows of its fit.

    Parameters
    ----------
    model : AdaptedClassifier or AdaptedRegressor
        Fitted.
    X : array, DataFrame or LazyRows of shape (n_rows, ...)
    y : array-like of shape (n_rows,) or (n_rows, n_outputs), or None
        The labels as given to ``fit``, with gaps.
    sample_domain : array-like of shape (n_rows,), optional
        Domain of each row; not with a model that finds it in a column of X.
    truth : array-like of the shape of y, optional
        True labels, where known. Rows that have none in y are scored by them, and a plain model is
        fitted for comparison.
    title : str, optional
    notes : iterable of str
        Further remarks for the page, such as how the table was read.
    checksums : mapping of str to str, optional
        Of the files behind the model.
    command : str
        The command that makes this again.
    random_state : int
        Of the samples and of t-SNE.

    Returns
    -------
    PageData

    Examples
    --------
    >>> from grada import AdaptedClassifier
    >>> from grada.datasets import make_dg
    >>> task = make_dg(n_domains=4, n_sources=2, rows_per_domain=10, random_state=0)
    >>> X, y, domain = task.visible()
    >>> model = AdaptedClassifier("plain", task.graph).fit(X, y, sample_domain=domain)
    >>> page = collect(model, X, y, domain, truth=task.reveal())
    >>> sorted(domain.role for domain in page.domains)
    ['source', 'source', 'target', 'target']
    """
    facts = Facts.of(model, X, y, sample_domain, truth, random_state)
    kept = _kept(facts.graph.n_domains, random_state)
    scores, metric, report = facts.scores(), facts.metric, facts.report
    points, missing = encodings(facts, kept, random_state)
    edges = drawn_edges(facts.graph, kept)
    method = clean(getattr(model.method_, "name", type(model.method_).__name__))
    known = bool(facts.all_rows.truth.known.any())
    return PageData(
        title=clean(title or "Adaptation report"),
        kind=facts.kind,
        metric=metric,
        verdict=verdict(method, metric, report, scores, facts.targets, truth=known),
        method=method,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headlines=headlines(facts, scores),
        outputs=facts.output_names,
        domains=_domains(facts, scores, kept),
        n_domains=facts.graph.n_domains,
        edges=edges,
        levels=by_hop(scores, facts.hops, facts.count > 0),
        curves=curves(facts.history),
        training=clean(getattr(facts.history, "stopped", "")),
        encodings=points,
        candidates=candidates(report),
        summary=summary(facts),
        warnings=warnings(facts),
        notes=(
            *map(clean, notes),
            *facts.sampling_notes(),
            *_drawing_notes(facts, kept, len(edges)),
            *missing,
        ),
        settings=settings(model),
        versions=versions(),
        checksums={clean(name): clean(text) for name, text in (checksums or {}).items()},
        command=clean(command),
    )


def _kept(n_domains: int, random_state: int) -> Codes:
    """Domains that are drawn and listed."""
    if n_domains <= _MAX_DOMAINS:
        return np.arange(n_domains)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n_domains, _MAX_DOMAINS, replace=False))


def _drawing_notes(facts: Facts, kept: Codes, n_edges: int) -> list[str]:
    if len(kept) < facts.graph.n_domains:
        return [
            f"{len(kept):,} sampled domains out of {facts.graph.n_domains:,} are drawn and listed; "
            "means are over all."
        ]
    if n_edges < facts.graph.n_edges:
        return [f"The {n_edges:,} heaviest of {facts.graph.n_edges:,} edges are drawn."]
    return []


def _domains(facts: Facts, scores: Scores, kept: Codes) -> tuple[Domain, ...]:
    at = places(facts.graph, kept)
    values, confidence, width = facts.values(), facts.confidence(), facts.width()
    return tuple(
        Domain(
            name=facts.names[code],
            role=facts.role(code),
            hops=None if np.isinf(facts.hops[code]) else int(facts.hops[code]),
            n_rows=int(facts.count[code]),
            n_labelled=int(facts.labelled[code]),
            x=round(float(at[place, 0]), 4),
            y=round(float(at[place, 1]), 4),
            estimate=_short(scores.estimate[code]),
            low=_short(scores.low[code]),
            high=_short(scores.high[code]),
            measured=_short(scores.measured[code]),
            plain=_short(scores.plain[code]),
            seen=_short(scores.seen[code]),
            confidence=_short(confidence[code]),
            width=_short(width[code]),
            values=tuple(_short(each) or 0.0 for each in values[code]) if facts.count[code] else (),
        )
        for place, code in enumerate(kept.tolist())
    )


def _short(value: Any) -> float | None:
    """Four digits are more than a page can show."""
    number = finite(value)
    return None if number is None else float(f"{number:.4g}")
