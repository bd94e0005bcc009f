"""Graphs whose edges are given: as tuples, as a table, as a matrix or by networkx.

Every function returns the names and the weights of a `DomainGraph`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from grada.graph._names import as_names, factorise, listed, normalise_name, positions_of
from grada.graph._types import Codes, Floats, Name, Parts
from grada.graph._weights import numbers_of, weights_from_pairs


def edges_to_graph(edges: Any, names: object) -> Parts:
    """Read edges, tuples of two or three or an array; ``names`` fixes the order of the domains."""
    if names is None and isinstance(edges, Set):
        raise TypeError("edges in a set come in no order of their own: pass sorted(edges)")
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in (2, 3):
            raise ValueError(f"edges must have shape (n, 2) or (n, 3), got {edges.shape}")
        weight = numbers_of(edges[:, 2]) if edges.shape[1] == 3 else None
        return _columns_to_graph(edges[:, 0], edges[:, 1], weight, names)
    rows = _checked_tuples(edges)
    first, second = [edge[0] for edge in rows], [edge[1] for edge in rows]
    weight = numbers_of([edge[2] if len(edge) == 3 else 1.0 for edge in rows])
    return _columns_to_graph(first, second, weight, names)


def _checked_tuples(edges: Any) -> list[Any]:
    if isinstance(edges, str | Mapping) or not isinstance(edges, Iterable):
        raise TypeError(
            "edges must be a list of pairs such as [('OH', 'PA')] or of triples with a weight, "
            f"got {type(edges).__name__}"
        )
    rows = list(edges)
    for edge in rows:
        if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray):
            raise TypeError(f"an edge is a pair or a triple of names and a weight, got {edge!r}")
        if len(edge) not in (2, 3):
            raise ValueError(f"an edge is a pair or a triple, got {edge!r}")
    return rows


def frame_to_graph(
    frame: pd.DataFrame, source: str, target: str, weight: str | None, names: object
) -> Parts:
    """Read a table with one edge a row; a missing column is named."""
    if weight is None and "weight" in frame.columns:
        weight = "weight"
    for column in (source, target, weight):
        if column is not None and column not in frame.columns:
            raise ValueError(
                f"the frame has no column {column!r}, only {', '.join(map(repr, frame.columns))}: "
                "say source=, target= and weight= for the columns of the two ends and the weight"
            )
    values = None if weight is None else numbers_of(frame[weight])
    return _columns_to_graph(frame[source], frame[target], values, names)


def networkx_to_graph(graph: Any, weight: str | None) -> Parts:
    """Read nodes and edges of a networkx graph; directed edges must agree both ways."""
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"graph must be a networkx graph, got {type(graph).__name__}")
    names = as_names(list(graph.nodes), what="the nodes of the graph")
    if graph.is_directed():
        for start, end in graph.edges():
            if not graph.has_edge(end, start):
                raise ValueError(
                    f"the edge from {normalise_name(start)!r} to {normalise_name(end)!r} has no "
                    "counterpart, but edges between domains have no direction: "
                    "pass graph.to_undirected()"
                )
    edges = list(graph.edges(data=weight or False, default=1.0))
    return edges_to_graph(edges, names)


def matrix_to_graph(matrix: Any, names: Any) -> tuple[Any, Any]:
    """Read a matrix of weights, whose names come beside it or, in a frame, with it."""
    if isinstance(matrix, pd.DataFrame):
        if names is not None:
            raise ValueError(
                "the frame already names its domains: leave names out, "
                "or pass frame.to_numpy() with names"
            )
        return _labelled_matrix(matrix)
    if names is None:
        names = range(matrix.shape[0] if hasattr(matrix, "shape") else len(matrix))
    return names, matrix


def _labelled_matrix(frame: pd.DataFrame) -> tuple[tuple[Name, ...], Floats]:
    """Read a frame whose index and columns both name the domains, in any order."""
    rows, columns = as_names(frame.index), as_names(frame.columns)
    known, places = positions_of(rows), positions_of(columns)
    for side, labels, others in (("index", rows, places), ("columns", columns, known)):
        lone = next((name for name in labels if name not in others), None)
        if lone is not None:
            raise ValueError(
                "index and columns of the frame must name the same domains, but "
                f"{lone!r} ({type(lone).__name__}) is in the {side} only"
            )
    order = [places[name] for name in rows]
    return rows, numbers_of(frame.to_numpy()[:, order])


def _columns_to_graph(first: object, second: object, weight: Floats | None, names: object) -> Parts:
    """Build a graph from two columns of names; ``names`` fixes the order and adds domains."""
    codes, mentioned = _factorise_ends(first, second)
    every = mentioned if names is None else as_names(names)
    if not every:
        raise ValueError("a graph needs at least one domain: give edges or names")
    positions = positions_of(every)
    unknown = [name for name in mentioned if name not in positions]
    if unknown:
        raise ValueError(
            f"the edges mention {listed(unknown)}, but names leaves "
            f"{'it' if len(unknown) == 1 else 'them'} out: add to names, or drop the edges"
        )
    ends = _lookup(positions, mentioned)[codes]
    return every, weights_from_pairs(every, ends[:, 0], ends[:, 1], weight)


def _factorise_ends(first: object, second: object) -> tuple[Codes, tuple[Name, ...]]:
    """Code both ends of each edge, shape (n_edges, 2), and list the names edge by edge."""
    first_codes, first_names = factorise(first, what="the first end of the edges")
    second_codes, second_names = factorise(second, what="the second end of the edges")
    shared = list(dict.fromkeys(first_names + second_names))
    places = positions_of(shared)
    ends = np.column_stack(
        [_lookup(places, first_names)[first_codes], _lookup(places, second_names)[second_codes]]
    )
    codes, order = pd.factorize(ends.ravel())
    return codes.reshape(-1, 2), tuple(shared[place] for place in order.tolist())


def _lookup(positions: Mapping[Name, int], names: Sequence[Name]) -> Codes:
    return np.array([positions[name] for name in names], dtype=np.int64)
