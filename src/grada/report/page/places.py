"""Where the domains stand in the drawing, and which edges are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from grada.graph import DomainGraph
from grada.report._layout import layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Up to here springs over all pairs take a second or two.
_SMALL = 150
_PIVOTS = 40
_MAX_EDGES = 6000


def places(graph: DomainGraph, kept: Codes) -> Floats:
    """Places of some domains in the unit square, neighbours together; the same every time.

    Parameters
    ----------
    graph : DomainGraph
    kept : int array
        Positions of the domains to draw.

    Returns
    -------
    array of shape (n_kept, 2)
        The longer side from 0 to 1, the shorter one in proportion around one half.
    """
    if graph.n_domains <= _SMALL:
        with np.errstate(divide="ignore", invalid="ignore"):  # domains that start in one place
            found = layout(graph)[kept]
    else:
        inner = graph.weights[kept][:, kept].tocoo()
        ends = inner.row.astype(np.int64), inner.col.astype(np.int64)
        found = _relaxed(_by_hops(graph)[kept], *ends)
    low, span = found.min(axis=0), np.ptp(found, axis=0)
    scaled: Floats = 0.5 + (found - low - span / 2) / max(float(span.max()), 1e-9)
    return scaled


def drawn_edges(graph: DomainGraph, kept: Codes) -> tuple[tuple[int, int, float], ...]:
    """Edges between kept domains, by their places in ``kept``; the heaviest if there are many."""
    inner = graph.weights[kept][:, kept].tocoo()
    upper = inner.row < inner.col
    one, other, weight = inner.row[upper], inner.col[upper], inner.data[upper]
    order = np.argsort(-weight, kind="stable")[:_MAX_EDGES]
    triples = zip(one[order].tolist(), other[order].tolist(), weight[order].tolist(), strict=True)
    return tuple((int(i), int(j), round(float(w), 4)) for i, j, w in triples)


def _by_hops(graph: DomainGraph) -> Floats:
    """Classical scaling of the hops to some domains that lie far from each other."""
    columns: list[Floats] = []
    nearest = np.full(graph.n_domains, np.inf)
    pivot = 0
    for _ in range(min(_PIVOTS, graph.n_domains)):
        hops = graph.hops_from(np.array([pivot]))
        reached = np.isfinite(hops)
        hops[~reached] = hops[reached].max() + 3
        columns.append(hops)
        nearest = np.minimum(nearest, hops)
        pivot = int(nearest.argmax())
    squares = np.stack(columns, axis=1) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    found: Floats = left[:, :2] * np.sqrt(size[:2])
    return found


def _relaxed(start: Floats, one: Codes, other: Codes) -> Floats:
    """Springs along edges, all pairs pushing each other off; small steps from a good start."""
    n = len(start)
    rng = np.random.default_rng(0)  # domains in the very same place need a direction to go
    scale = max(float(start.std()), 1e-9)
    # A few domains far out, as of a star, would leave the others a dot in the middle.
    inner = np.clip((start - start.mean(axis=0)) / scale, -2, 2)
    at = (inner + rng.normal(scale=0.05, size=start.shape)).astype(np.float32)
    length = 3.0 / np.sqrt(n)
    steps = 60 if n <= 1000 else 25
    for step in range(steps):
        apart = at[:, None] - at
        square = np.einsum("ijk,ijk->ij", apart, apart) + 1e-6
        push = np.einsum("ijk,ij->ik", apart, length**3 / (square * np.sqrt(square)))
        pull = at[one] - at[other]
        pull *= np.hypot(pull[:, 0], pull[:, 1])[:, None] / length
        move = push - 0.01 * at
        for axis in range(2):
            move[:, axis] -= np.bincount(one, pull[:, axis], minlength=n)
        reach = np.hypot(move[:, 0], move[:, 1])[:, None] + 1e-9
        at += move / reach * np.minimum(reach, 0.15 * (1 - step / steps))
    relaxed: Floats = at.astype(np.float64)
    return relaxed
