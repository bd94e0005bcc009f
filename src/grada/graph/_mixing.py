"""One graph from several over the same domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from grada.graph._names import positions_of
from grada.graph._types import Floats, Parts

if TYPE_CHECKING:
    from grada.graph._graph import DomainGraph


def mix_graphs(graphs: Sequence[DomainGraph], shares: Sequence[float] | None) -> Parts:
    """Average the weights of graphs over the union of their domains."""
    graphs = list(graphs)
    if not graphs:
        raise ValueError("there is no graph to mix: give at least one")
    for at, graph in enumerate(graphs):
        if not hasattr(graph, "weights"):
            raise TypeError(f"graph {at} must be a DomainGraph, got {type(graph).__name__}")
    names = tuple(dict.fromkeys(name for graph in graphs for name in graph.names))
    positions = positions_of(names)
    total = sparse.csr_array((len(names), len(names)), dtype=np.float64)
    for graph, share in zip(graphs, checked_shares(shares, len(graphs)), strict=True):
        inner = graph.weights.tocoo()
        place = np.array([positions[name] for name in graph.names], dtype=np.int64)
        ends = (place[inner.row], place[inner.col])
        total = total + sparse.csr_array((share * inner.data, ends), shape=total.shape)
    # Rounding may leave a hair above 1 where all graphs have an edge of weight 1.
    np.minimum(total.data, 1.0, out=total.data)
    return names, total


def checked_shares(shares: Sequence[float] | None, n_graphs: int) -> Floats:
    """Shares as an array of sum 1; equal ones by default."""
    if shares is None:
        return np.full(n_graphs, 1 / n_graphs)
    given = np.asarray(shares, dtype=np.float64)
    if given.shape != (n_graphs,):
        raise ValueError(f"there are {n_graphs} graphs, but shares has shape {given.shape}")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise ValueError(f"shares must be at least 0, not all 0, got {given.tolist()}")
    scaled: Floats = given / given.sum()
    return scaled
