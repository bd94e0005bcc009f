"""Encodings of sampled rows as points in the plane."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from grada.report.page.data import Encodings, clean
from grada.report.page.facts import Facts
from grada.report.page.rows import Codes, Floats

#: t-SNE of so many points takes a few seconds.
_MAX_POINTS = 1000


def encodings(facts: Facts, kept: Codes, random_state: int) -> tuple[Encodings, list[str]]:
    """Points of a sample of rows in the kept domains, and what to say about them.

    The points are shifted and scaled to a square and rounded: no value of a row is among them.
    """
    place = np.full(len(facts.graph), -1)
    place[kept] = np.arange(len(kept))
    drawn = np.flatnonzero(place[facts.rows.codes] >= 0)
    if not len(drawn):
        return Encodings(), ["No row is in a domain that is drawn."]
    sample = facts.rows.take(drawn).sampled(_MAX_POINTS, np.random.default_rng(random_state))
    try:
        rows = facts.model.transform(sample.X, sample_domain=sample.names)
        rows = np.asarray(rows, dtype=np.float64).reshape(len(sample), -1)
    except (NotImplementedError, ValueError, TypeError) as error:
        return Encodings(), [f"No encodings: {clean(error)}"]
    if not np.isfinite(rows).all():
        return Encodings(), ["No picture of the encodings: some are not finite."]
    predicted = np.asarray(facts.model.predict(sample.X, sample_domain=sample.names))
    group: tuple[int, ...] = ()
    value: tuple[float, ...] = ()
    if facts.classes is not None:
        group = tuple(np.searchsorted(facts.classes, predicted).tolist())
    else:
        first = predicted.reshape(len(predicted), -1)[:, 0]
        value = tuple(float(f"{each:.4g}") for each in first.tolist())
    notes = []
    if len(sample) < len(facts.all_rows):
        notes.append(
            f"The picture of the encodings shows {len(sample):,} sampled rows of "
            f"{len(facts.all_rows):,}."
        )
    found = Encodings(
        pca=_points(_pca(rows)),
        tsne=_points(_tsne(rows, random_state)),
        domain=tuple(place[sample.codes].tolist()),
        group=group,
        value=value,
    )
    return found, notes


def _pca(rows: Floats) -> Floats:
    if rows.shape[1] < 2:
        rows = np.column_stack([rows, np.zeros((len(rows), 2 - rows.shape[1]))])
    if len(rows) < 2:
        return np.zeros((len(rows), 2))
    return np.asarray(PCA(2, svd_solver="full").fit_transform(rows), dtype=np.float64)


def _tsne(rows: Floats, random_state: int) -> Floats:
    """Neighbours together; nothing where there are too few rows, or all are the same."""
    if len(rows) < 10 or rows.shape[1] < 2 or not np.ptp(rows, axis=0).any():
        return np.zeros((0, 2))
    if rows.shape[1] > 30:
        # As is usual: distances along the first axes, quicker and less noisy.
        rows = np.asarray(PCA(min(30, len(rows)), svd_solver="full").fit_transform(rows))
    perplexity = min(30.0, (len(rows) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", max_iter=500, random_state=random_state)
    return np.asarray(tsne.fit_transform(rows), dtype=np.float64)


def _points(plane: Floats) -> tuple[tuple[float, float], ...]:
    if not len(plane):
        return ()
    low, span = plane.min(axis=0), np.ptp(plane, axis=0)
    scaled = 0.5 + (plane - low - span / 2) / max(float(span.max()), 1e-12)
    return tuple((round(x, 3), round(y, 3)) for x, y in scaled.tolist())
