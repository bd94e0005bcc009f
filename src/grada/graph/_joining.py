"""A graph grown by further domains."""

from __future__ import annotations

from scipy import sparse

from grada.graph._graph import DomainGraph


def grown(graph: DomainGraph, other: DomainGraph) -> DomainGraph:
    """The domains of a graph in their order, then those that only the other one has.

    Edges between the first stay as they are; from the other graph come those that touch a new
    domain. So the other may be the whole new graph, or just the new domains and their edges.

    Parameters
    ----------
    graph, other : DomainGraph

    Returns
    -------
    DomainGraph

    Examples
    --------
    >>> old = DomainGraph.chain(["a", "b"])
    >>> grown(old, DomainGraph.from_edges([("c", "a", 0.5)])).neighbors("a")
    ('b', 'c')
    """
    new = [name for name in other.names if name not in graph]
    names = (*graph.names, *new)
    position = {name: place for place, name in enumerate(names)}
    edges = sparse.coo_array(other.weights)
    codes = [position[name] for name in other.names]
    touching = [
        (codes[i], codes[j], weight)
        for i, j, weight in zip(edges.row, edges.col, edges.data, strict=True)
        if max(codes[i], codes[j]) >= graph.n_domains
    ]
    kept = sparse.coo_array(graph.weights)
    row = [*kept.row.tolist(), *(i for i, _, _ in touching)]
    column = [*kept.col.tolist(), *(j for _, j, _ in touching)]
    data = [*kept.data.tolist(), *(weight for _, _, weight in touching)]
    weights = sparse.csr_array((data, (row, column)), shape=(len(names), len(names)))
    return DomainGraph(names, weights)
