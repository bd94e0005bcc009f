"""A graph of rows in which only rows of the same or of adjacent domains are joined."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from grada.graph import DomainGraph

Floats = NDArray[np.float32]
Codes = NDArray[np.int64]

#: A domain with more rows is searched through that many of them, drawn at random, so that time
#: grows with the number of rows and not with its square.
MAX_ANCHORS = 2048
#: The same for all neighbours of a domain together.
MAX_NEIGHBOR_ANCHORS = 16384
#: Past so many local scales the weight of a link falls no further, so that it stays above 0.
FARTHEST = 60.0
#: A domain beside a gap is joined to at most so many on other sides of it.
_BRIDGES = 8
_BLOCK = 1 << 21
_MANY_ROWS = 20_000


def nearest(rows: Floats, others: Floats, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Positions of the k nearest others of each row, nearest first, and their distances.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
    others : array of shape (n_others, n_features), not empty
    k : int
        If there are fewer others, all of them are returned.

    Returns
    -------
    index, distance : arrays of shape (n_rows, min(k, n_others))
    """
    k = min(k, len(others))
    middle = others.mean(axis=0)  # near the origin fewer digits are lost below
    far = others - middle
    half = 0.5 * (far**2).sum(axis=1)
    index = np.empty((len(rows), k), dtype=np.int64)
    distance = np.empty((len(rows), k), dtype=np.float32)
    step = max(1, _BLOCK // len(others))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        score = half - (part - middle) @ far.T
        found = np.argpartition(score, k - 1, axis=1)[:, :k] if k < len(others) else None
        if found is None:
            found = np.broadcast_to(np.arange(k), (len(part), k))
        # Distances of the few that were found, from differences: equal rows are at exactly 0.
        exact = np.sqrt(((part[:, None, :] - others[found]) ** 2).sum(axis=2))
        order = np.lexsort((found, exact), axis=1)
        index[start : start + step] = np.take_along_axis(found, order, axis=1)
        distance[start : start + step] = np.take_along_axis(exact, order, axis=1)
    return index, distance


@dataclass(frozen=True)
class Rows:
    """Rows in the order of their domains, and those of each domain that searches look at.

    Attributes
    ----------
    X : float32 array of shape (n_rows, n_features)
    starts : int array of shape (n_domains + 1,)
        Rows of domain u are ``starts[u]`` to ``starts[u + 1]``.
    graph : DomainGraph
    shuffle : int array of shape (n_rows,)
        Rows of every domain in random order; its first ones are its anchors.
    """

    X: Floats
    starts: Codes
    graph: DomainGraph
    shuffle: Codes

    @classmethod
    def sort(
        cls, X: Floats, codes: Codes, graph: DomainGraph, rng: np.random.Generator
    ) -> tuple[Rows, Codes]:
        """The rows by domain, and where each of them stood before."""
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=graph.n_domains)
        starts = np.concatenate([[0], counts.cumsum()])
        shuffle = np.lexsort((rng.random(len(codes)), codes[order]))
        return cls(np.ascontiguousarray(X[order]), starts, graph, shuffle), order

    def append(self, others: Rows) -> Rows:
        """These rows and those of further domains, which the other graph has behind these."""
        n, old = len(self.X), len(self.starts) - 1
        return Rows(
            np.concatenate([self.X, others.X]),
            np.concatenate([self.starts, n + others.starts[old + 1 :]]),
            others.graph,
            np.concatenate([self.shuffle, n + others.shuffle]),
        )

    @property
    def codes(self) -> Codes:
        """Domain of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def anchors(self, domain: int, most: int = MAX_ANCHORS) -> Codes:
        """Rows of a domain to be searched: all, or as many as allowed."""
        start, stop = self.starts[domain], self.starts[domain + 1]
        if stop - start <= most:
            return np.arange(start, stop)
        return np.sort(self.shuffle[start : start + most])

    def adjacent(self, domain: int) -> list[tuple[int, float]]:
        """Adjacent domains that have rows, and the weights of the edges."""
        weights = self.graph.weights
        edges = slice(weights.indptr[domain], weights.indptr[domain + 1])
        pairs = zip(weights.indices[edges].tolist(), weights.data[edges].tolist(), strict=True)
        return [(v, w) for v, w in pairs if self.starts[v + 1] > self.starts[v] and w > 0]


def bridged(graph: DomainGraph, X: Floats, codes: Codes) -> DomainGraph:
    """The graph with edges across domains without rows, such as the inner nodes of a tree.

    The domains around such a gap are joined to those of them that have the nearest means. The
    weight is the product of the weights by which the two are joined to the gap.
    """
    counts = np.bincount(codes, minlength=graph.n_domains)
    empty = np.flatnonzero(counts == 0)
    weights = graph.weights
    if not len(empty) or not weights[empty].nnz:
        return graph
    sums = np.column_stack([np.bincount(codes, x, minlength=len(counts)) for x in X.T])
    means = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    n_gaps, gap = csgraph.connected_components(weights[empty][:, empty], directed=False)
    ends = np.bincount(gap, minlength=n_gaps).cumsum()[:-1]
    bridges = [weights]
    for members in np.split(empty[np.argsort(gap, kind="stable")], ends):
        edges = weights[members]
        around = np.unique(edges.indices[counts[edges.indices] > 0]).astype(np.int64)
        if len(around) > 1:
            bridges.append(_bridges(around, edges, means))
    joined = bridges[0]
    for bridge in bridges[1:]:
        joined = joined.maximum(bridge)
    return DomainGraph(graph.names, joined)


def _bridges(around: Codes, edges: sparse.csr_array, means: Floats) -> sparse.csr_array:
    """Edges between the domains around one gap."""
    into = edges[:, around].max(axis=0).toarray().ravel()
    index, _ = nearest(means[around], means[around], _BRIDGES + 1)
    row = np.repeat(np.arange(len(around)), index.shape[1])
    col = index.ravel()
    row, col = row[row != col], col[row != col]
    shape = (len(means), len(means))
    one_way = sparse.csr_array((into[row] * into[col], (around[row], around[col])), shape=shape)
    return sparse.csr_array(one_way.maximum(one_way.T))


@dataclass(frozen=True)
class Links:
    """For each row some of its nearest rows, as a list of pairs.

    Attributes
    ----------
    row, col : int arrays of shape (n_links,)
    distance : float32 array of shape (n_links,)
    rank : int array of shape (n_links,)
        0 for the nearest row of that domain, 1 for the next one, ...
    edge : float32 array of shape (n_links,)
        Weight of the edge between the two domains, 1 within a domain.
    """

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    distance: Floats
    rank: NDArray[np.int16]
    edge: Floats

    def first(self, k: int) -> Links:
        """Those to the k nearest rows of each domain."""
        near = self.rank < k
        if near.all():
            return self
        return Links(*(getattr(self, field.name)[near] for field in fields(self)))


def links_to(rows: Rows, X: Floats, pairs: list[tuple[int, float]], k: int) -> Links:
    """Links from any rows to their nearest ones in each of some domains.

    Parameters
    ----------
    rows : Rows
        Where to search.
    X : array of shape (n, n_features)
        Rows to search for; ``row`` of the links counts in these.
    pairs : list of (domain, weight of the edge)
    k : int
        Number of links into each of these domains.
    """
    most = max(k, min(MAX_ANCHORS, MAX_NEIGHBOR_ANCHORS // max(len(pairs), 1)))
    parts: list[Links] = []
    for other, weight in pairs:
        there = rows.anchors(other, most)
        index, distance = nearest(X, rows.X[there], k)
        n, width = index.shape
        parts.append(
            Links(
                np.repeat(np.arange(n, dtype=np.int32), width),
                there[index].astype(np.int32).ravel(),
                distance.ravel(),
                np.tile(np.arange(width, dtype=np.int16), n),
                np.full(n * width, weight, dtype=np.float32),
            )
        )
    return _joined(parts)


def _joined(parts: list[Links]) -> Links:
    if not parts:
        empty = np.empty(0, dtype=np.int32)
        none = np.empty(0, dtype=np.float32)
        return Links(empty, empty, none, np.empty(0, dtype=np.int16), none)
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Links))
    return Links(*(np.concatenate(column) for column in columns))


def own_links(rows: Rows, domain: int, k: int) -> Links:
    """The k nearest rows of its own domain for each row of a domain, without itself."""
    start, stop = int(rows.starts[domain]), int(rows.starts[domain + 1])
    found = links_to(rows, rows.X[start:stop], [(domain, 1.0)], k + 1)
    width = len(found.row) // (stop - start)
    shape = (stop - start, width)
    itself = (found.col == found.row + start).reshape(shape)
    if width > k:  # where a row did not find itself, among equal rows, leave out the last
        itself[:, -1] |= ~itself.any(axis=1)
    keep = ~itself
    rank = (keep.cumsum(axis=1) - 1).astype(np.int16)
    kept = keep.ravel()
    return Links(
        found.row[kept] + np.int32(start),
        found.col[kept],
        found.distance[kept],
        rank.ravel()[kept],
        found.edge[kept],
    )


def all_links(rows: Rows, own: int, across: int, first: int = 0) -> tuple[Links, Links]:
    """Links within the domains from number ``first`` on, and from these into adjacent ones."""

    def of(domain: int) -> tuple[Links, Links]:
        start, stop = int(rows.starts[domain]), int(rows.starts[domain + 1])
        between = links_to(rows, rows.X[start:stop], rows.adjacent(domain), across)
        return own_links(rows, domain, own), replace(between, row=between.row + np.int32(start))

    domains = first + np.flatnonzero(np.diff(rows.starts[first:]))
    # NumPy works on large arrays outside the interpreter's lock.
    threads = (os.cpu_count() or 1) if len(rows.X) > _MANY_ROWS else 1
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(of, domains.tolist()))
    return _joined([own for own, _ in parts]), _joined([across for _, across in parts])


def local_scale(links: Links, n_rows: int, size: int) -> Floats:
    """Distance of each row to the last of its ``size`` nearest rows of its own domain.

    NaN-free: equal rows, and rows that are alone in their domain, get the median scale.
    """
    scale = np.zeros(n_rows, dtype=np.float32)
    used = links.rank < size
    np.maximum.at(scale, links.row[used], links.distance[used])
    positive = scale > 0
    usual = float(np.median(scale[positive])) if positive.any() else 1.0
    return np.where(positive, scale, np.float32(usual))


def affinity(links: Links, scale: Floats) -> Floats:
    r"""Weight of each link, :math:`a_{uv} \exp(-d_{ij} / \sqrt{\sigma_i \sigma_j})`."""
    between = np.sqrt(scale[links.row] * scale[links.col])
    weight: Floats = links.edge * np.exp(-np.minimum(links.distance / between, FARTHEST))
    return weight


def symmetric(links: Links, k: int, scale: Floats, factor: float) -> sparse.csr_array:
    """Weights both ways of the links to the k nearest rows; those that both rows name count twice.

    This tempers hubs, the rows that are among the nearest of very many others.
    """
    near = links.first(k)
    weight = np.float32(factor) * affinity(near, scale)
    shape = (len(scale), len(scale))
    one_way = sparse.csr_array((weight, (near.row, near.col)), shape=shape)
    return sparse.csr_array(one_way + one_way.T)
