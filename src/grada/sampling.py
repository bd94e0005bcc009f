"""Drawing domains, and rows of each domain independently of the others.

A step costs what its batch costs: nothing here looks at all domains, rows or edges per draw.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grada.graph import DomainGraph

Policy = Literal["mixture", "random", "connected"]
Codes = NDArray[np.int64]

_WALKS_AT_ONCE = 64


class DomainRows:
    """The rows of every domain, ready to be drawn from.

    Parameters
    ----------
    codes : int array of shape (n_rows,)
        Position of each row's domain in the graph.
    n_domains : int

    Examples
    --------
    >>> rows = DomainRows(np.array([1, 0, 1, 1]), n_domains=3)
    >>> rows.present
    array([0, 1])
    >>> rows.draw(np.random.default_rng(0), np.array([0, 0]), 2)
    array([[1, 1],
           [1, 1]])
    """

    def __init__(self, codes: Codes, n_domains: int):
        self._order = np.argsort(codes, kind="stable")
        self._counts = np.bincount(codes, minlength=n_domains)
        self._starts = np.cumsum(self._counts) - self._counts
        self.present: Codes = np.flatnonzero(self._counts)

    def draw(self, rng: np.random.Generator, domains: Codes, size: int) -> Codes:
        """Draw ``size`` rows of each domain with replacement, shape (n_domains, size)."""
        offset = (rng.random((len(domains), size)) * self._counts[domains, None]).astype(np.int64)
        rows: Codes = self._order[self._starts[domains, None] + offset]
        return rows


class DomainSampler:
    """Which domains the discriminator sees in a step.

    ``random`` draws distinct domains uniformly; ``connected`` collects them along random walks
    on the graph, so that edges are seen often in a sparse graph; ``mixture`` (the paper's
    policy) picks one of the two at every step. When all domains fit into a step, all are taken.

    Parameters
    ----------
    graph : DomainGraph
    present : int array
        Domains that have rows.
    size : int
        Domains per step, at most.
    policy : {"mixture", "random", "connected"}
    """

    def __init__(
        self, graph: DomainGraph, present: Codes, size: int, policy: Policy = "mixture"
    ) -> None:
        weights = graph.weights
        self._indptr = weights.indptr.astype(np.int64, copy=False)
        self._indices = weights.indices.astype(np.int64, copy=False)
        self._data = weights.data.astype(np.float32)
        self._degree = np.diff(self._indptr)
        self._present = present
        self._has_rows = np.zeros(graph.n_domains, dtype=bool)
        self._has_rows[present] = True
        self._slot = np.full(graph.n_domains, -1, dtype=np.int64)
        self._walks: list[Codes] = []
        self.size = min(size, len(present))
        # Walks go nowhere in a graph without edges.
        self.policy: Policy = policy if len(self._indices) else "random"
        self._everything = self.adjacency(present) if self.size == len(present) else None

    def draw(self, rng: np.random.Generator) -> tuple[Codes, NDArray[np.float32]]:
        """Distinct domains (size,) and the weights between them (size, size)."""
        if self._everything is not None:
            return self._present, self._everything
        connected = self.policy == "connected" or (self.policy == "mixture" and rng.random() < 0.5)
        domains = self._connected(rng) if connected else self._random(rng, self.size)
        return domains, self.adjacency(domains)

    def state(self) -> Codes:
        """Walks that are still to be used, shape (walks, steps)."""
        return np.array(self._walks, dtype=np.int64).reshape(len(self._walks), 2 * self.size)

    def restore(self, state: Codes) -> None:
        """Go on with these walks."""
        self._walks = list(state)

    def adjacency(self, domains: Codes) -> NDArray[np.float32]:
        """Weights between the given domains, dense, read from their own edges only."""
        dense = np.zeros((len(domains), len(domains)), dtype=np.float32)
        degree = self._degree[domains]
        row = np.repeat(np.arange(len(domains)), degree)
        first = np.cumsum(degree) - degree
        entry = np.arange(len(row)) - first[row] + self._indptr[domains][row]
        self._slot[domains] = np.arange(len(domains))
        column = self._slot[self._indices[entry]]
        self._slot[domains] = -1
        inside = column >= 0
        dense[row[inside], column[inside]] = self._data[entry[inside]]
        return dense

    def _random(self, rng: np.random.Generator, size: int) -> Codes:
        return self._present[rng.choice(len(self._present), size, replace=False, shuffle=False)]

    def _connected(self, rng: np.random.Generator) -> Codes:
        """Distinct domains in the order in which one walk, then the next, came by them."""
        found = np.empty(0, dtype=np.int64)
        for _ in range(8):
            if not self._walks:
                self._walks = list(self._walk(rng))
            walk = self._walks.pop()
            found = _distinct(np.concatenate([found, walk[self._has_rows[walk]]]))
            if len(found) >= self.size:
                return found[: self.size]
        # Tiny components or domains without rows: what is missing is drawn at random.
        return _distinct(np.concatenate([found, self._random(rng, self.size)]))[: self.size]

    def _walk(self, rng: np.random.Generator) -> Codes:
        """Many random walks at once, shape (walks, steps); an isolated domain stays put."""
        here = self._present[rng.integers(len(self._present), size=_WALKS_AT_ONCE)]
        steps = np.empty((2 * self.size, _WALKS_AT_ONCE), dtype=np.int64)
        uniform = rng.random(steps.shape)
        for step, u in zip(steps, uniform, strict=True):
            step[:] = here
            degree = self._degree[here]
            entry = self._indptr[here] + (u * degree).astype(np.int64)
            neighbor = self._indices[np.minimum(entry, len(self._indices) - 1)]
            here = np.where(degree > 0, neighbor, here)
        return steps.T


def _distinct(codes: Codes) -> Codes:
    _, first = np.unique(codes, return_index=True)
    return codes[np.sort(first)]


class Passes:
    """Batches that pass over all items in a new random order each time.

    Examples
    --------
    >>> passes = Passes(np.arange(4), size=2)
    >>> rng = np.random.default_rng(0)
    >>> sorted(np.concatenate([passes.draw(rng), passes.draw(rng)]).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, items: Codes, size: int):
        self._items = items
        self.size = min(size, len(items))
        self._left: Codes = items[:0]

    def draw(self, rng: np.random.Generator) -> Codes:
        """Next ``size`` items; a pass that does not divide evenly runs into the next."""
        if len(self._left) < self.size:
            self._left = np.concatenate([self._left, rng.permutation(self._items)])
        batch, self._left = self._left[: self.size], self._left[self.size :]
        return batch

    def state(self) -> Codes:
        """What is left of the pass."""
        return self._left

    def restore(self, state: Codes) -> None:
        """Go on with such a pass."""
        self._left = state


class BalancedRows:
    """Rows drawn so that every class comes up alike, however rare it is.

    Parameters
    ----------
    rows : int array of shape (n,)
    classes : int array of shape (n,)
        Class of each of these rows, from 0.

    Examples
    --------
    >>> rows = BalancedRows(np.array([7, 8, 9]), np.array([0, 0, 1]))
    >>> drawn = rows.draw(np.random.default_rng(0), 1000)
    >>> bool(450 < (drawn == 9).sum() < 550)
    True
    """

    def __init__(self, rows: Codes, classes: Codes):
        self._rows = rows
        self._by_class = DomainRows(classes, n_domains=int(classes.max()) + 1)

    def draw(self, rng: np.random.Generator, size: int) -> Codes:
        """Draw a class and then one of its rows, ``size`` times, with replacement."""
        present = self._by_class.present
        classes = present[rng.integers(len(present), size=size)]
        drawn: Codes = self._rows[self._by_class.draw(rng, classes, 1)[:, 0]]
        return drawn
