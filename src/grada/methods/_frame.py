"""Mean and spread of every domain: a frame of its own to see its rows in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._steady import settle, steady
from grada.nn.extension import spread_outward

Floats = NDArray[np.float64]

#: So many rows of the average domain are added to each spread, so that one row is not blown up.
_PRIOR_ROWS = 3.0
_SMALLEST_SPREAD = 1e-3
#: Variance of the log of a squared spread, for a single row: that of normal rows.
_LOG_UNIT = 2.0


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
    mean_worth, spread_worth : arrays of shape (n_features,)
        How many rows of a new domain weigh as much as what its neighbours say of it.
    """

    mean: Floats
    spread: Floats
    count: Floats
    own_spread: bool
    mean_worth: Floats
    spread_worth: Floats

    @classmethod
    def still(cls, n_domains: int, n_features: int) -> Self:
        """A frame that moves nothing."""
        shape, none = (n_domains, n_features), np.zeros(n_features)
        return cls(np.zeros(shape), np.ones(shape), np.zeros(n_domains), False, none, none)

    @classmethod
    def of(cls, data: DomainData, how: Literal["nothing", "center", "standardize"]) -> Self:
        """The frame of each domain of the data; domains without rows borrow from neighbours.

        Means and spreads that differ by no more than chance are drawn together, see
        :func:`grada.methods._steady.steady`.
        """
        X = np.asarray(data.X).reshape(len(data.X), -1).astype(np.float64)
        n_domains = data.graph.n_domains
        if how == "nothing":
            return cls.still(n_domains, X.shape[1])
        mean, variance, count = _measure(X, data.codes, n_domains)
        present = count > 0
        several = max(float(count.sum() - present.sum()), 1.0)
        unit = (count @ variance) / several
        usual = variance[present].mean(axis=0)
        means = steady(mean, count, unit, data.graph.weights)
        mean = fill(means.values, present, data.graph)
        if how == "center":
            spread = np.tile(_no_dwarfs(np.sqrt(usual)), (n_domains, 1))
            return cls(mean, spread, count, False, means.worth, np.zeros(len(usual)))
        share = (count / (count + _PRIOR_ROWS))[:, None]
        square = np.maximum(share * variance + (1 - share) * usual, _SMALLEST_SPREAD**2)
        squares = steady(np.log(square), count, np.full(len(usual), _LOG_UNIT), data.graph.weights)
        spread = np.exp(fill(squares.values, present, data.graph) / 2)
        spread = np.where(usual < _SMALLEST_SPREAD**2, 1.0, spread)
        return cls(mean, spread, count, True, means.worth, squares.worth)

    def transform(self, X: Floats, codes: NDArray[np.int64]) -> Floats:
        """Rows as seen from the middle of their domain."""
        return (X - self.mean[codes]) / self.spread[codes]

    def extend(self, graph: DomainGraph, X: Floats, codes: NDArray[np.int64]) -> Self:
        """The same for a graph with further domains, some of them with rows."""
        if not self.count.any():  # a frame that moves nothing moves no new domain either
            return self.still(graph.n_domains, self.mean.shape[1])
        known, seen = len(self.mean), self.count > 0
        mean = spread_outward(self.mean, graph.weights, self.mean[seen].mean(axis=0))
        spread = spread_outward(self.spread, graph.weights, self.spread[seen].mean(axis=0))
        own_mean, own_variance, count = _measure(X, codes, graph.n_domains)
        new = np.flatnonzero(count > 0)
        new = new[new >= known]
        rows, usual = count[new, None], spread[new] ** 2
        mean[new] = settle(mean[new], own_mean[new], rows, usual, self.mean_worth)
        if self.own_spread:
            share = rows / (rows + _PRIOR_ROWS)
            square = share * own_variance[new] + (1 - share) * usual
            unit = np.full(square.shape, _LOG_UNIT)
            square = settle(np.log(usual), np.log(square), rows, unit, self.spread_worth)
            spread[new] = _no_dwarfs(np.exp(square / 2))
        count[:known] = self.count
        return replace(self, mean=mean, spread=spread, count=count)


def _measure(X: Floats, codes: NDArray[np.int64], n_domains: int) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and number of the rows of each domain, zero where there are none."""
    ones = np.ones(len(codes))
    rows_of = sparse.csr_array((ones, (codes, np.arange(len(ones)))), shape=(n_domains, len(ones)))
    count = np.bincount(codes, minlength=n_domains).astype(np.float64)
    several = np.maximum(count, 1)[:, None]
    mean = rows_of @ X / several
    return mean, rows_of @ (X - mean[codes]) ** 2 / several, count


def _no_dwarfs(spread: Floats) -> Floats:
    return np.where(spread < _SMALLEST_SPREAD, 1.0, spread)


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
