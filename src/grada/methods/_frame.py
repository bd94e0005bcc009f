"""Mean and spread of every domain: a frame of its own to see its rows in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.nn.extension import spread_outward

Floats = NDArray[np.float64]

#: So many rows of the average domain are added to each, so that few rows say little.
_PRIOR_ROWS = 3.0
_SMALLEST_SPREAD = 1e-3


@dataclass(frozen=True)
class DomainFrame:
    """Where the rows of each domain lie and how far they spread.

    Attributes
    ----------
    mean, spread : arrays of shape (n_domains, n_features)
    count : array of shape (n_domains,)
        Rows that the domain was measured on.
    own_spread : bool
        False: the spread is the usual one within domains, the same for all.
    """

    mean: Floats
    spread: Floats
    count: Floats
    own_spread: bool = True

    @classmethod
    def measure(cls, X: Floats, codes: NDArray[np.int64], n_domains: int) -> Self:
        """Plain mean and spread of the rows of each domain, zero where there are none."""
        ones = np.ones(len(codes))
        rows_of = sparse.csr_array(
            (ones, (codes, np.arange(len(ones)))), shape=(n_domains, len(ones))
        )
        count = np.bincount(codes, minlength=n_domains).astype(np.float64)
        several = np.maximum(count, 1)[:, None]
        mean = rows_of @ X / several
        variance = rows_of @ (X - mean[codes]) ** 2 / several
        return cls(mean, np.sqrt(variance), count)

    @classmethod
    def of(cls, data: DomainData, how: Literal["nothing", "center", "standardize"]) -> Self:
        """The frame of each domain of the data; domains without rows borrow from neighbours."""
        X = np.asarray(data.X).reshape(len(data.X), -1).astype(np.float64)
        n_domains = data.graph.n_domains
        if how == "nothing":
            shape = (n_domains, X.shape[1])
            return cls(np.zeros(shape), np.ones(shape), np.zeros(n_domains))
        return cls.measure(X, data.codes, n_domains)._steadied(data.graph, how)

    def _steadied(self, graph: DomainGraph, how: str) -> Self:
        present = self.count > 0
        share = (self.count / (self.count + _PRIOR_ROWS))[:, None]
        usual = np.sqrt((self.spread[present] ** 2).mean(axis=0))
        spread = np.sqrt(share * self.spread**2 + (1 - share) * usual**2)
        if how == "center":
            spread = np.broadcast_to(usual, spread.shape).copy()
        spread[spread < _SMALLEST_SPREAD] = 1.0
        mean, spread = fill(self.mean, present, graph), fill(spread, present, graph)
        return type(self)(mean, spread, self.count, how == "standardize")

    def transform(self, X: Floats, codes: NDArray[np.int64]) -> Floats:
        """Rows as seen from the middle of their domain."""
        return (X - self.mean[codes]) / self.spread[codes]

    def extend(self, graph: DomainGraph, X: Floats, codes: NDArray[np.int64]) -> Self:
        """The same for a graph with further domains, some of them with rows."""
        if not self.count.any():  # a frame that moves nothing moves no new domain either
            shape = (graph.n_domains, self.mean.shape[1])
            return type(self)(np.zeros(shape), np.ones(shape), np.zeros(graph.n_domains))
        known = len(self.mean)
        usual = self.mean[self.count > 0].mean(axis=0), self.spread[self.count > 0].mean(axis=0)
        mean = spread_outward(self.mean, graph.weights, usual[0])
        spread = spread_outward(self.spread, graph.weights, usual[1])
        seen = self.measure(X, codes, graph.n_domains)
        new = np.flatnonzero(seen.count > 0)
        new = new[new >= known]
        share = (seen.count[new] / (seen.count[new] + _PRIOR_ROWS))[:, None]
        mean[new] = seen.mean[new]
        if self.own_spread:
            spread[new] = np.sqrt(share * seen.spread[new] ** 2 + (1 - share) * spread[new] ** 2)
            spread[spread < _SMALLEST_SPREAD] = 1.0
        count = seen.count
        count[:known] = self.count
        return type(self)(mean, spread, count, self.own_spread)


def fill(values: Floats, present: NDArray[np.bool_], graph: DomainGraph) -> Floats:
    """Domains without a value get the mean of their neighbours' by weight, else of all."""
    heard = graph.weights @ present.astype(np.float64)
    borrowed = (graph.weights @ np.where(present[:, None], values, 0.0)) / np.maximum(
        heard, 1e-300
    )[:, None]
    values = values.copy()
    values[~present] = np.where(
        heard[~present, None] > 0, borrowed[~present], values[present].mean(axis=0)
    )
    return values
