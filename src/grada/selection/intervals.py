r"""Intervals and calibrated probabilities from sources whose labels were hidden.

A target is like a hidden source that was as many hops away from the labels. Hidden domains weigh
by that, and by how near they are in the graph,

.. math:: w_v = \exp(-|h_u - h_v| - d(u, v) / 8),

and a value's interval is widened by the weighted quantile of their absolute errors. Rows of one
domain err together, so it is domains that count: with :math:`n = (\sum w)^2 / \sum w^2` of them the
quantile is taken at :math:`(1 + 1/n)` times the coverage, as in conformal prediction, at most nine
tenths of the way from the coverage to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.selection.trials import HeldOut, hops_from

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_FAR = 8.0


@dataclass(frozen=True)
class Calibration:
    """Errors on hidden sources, and where in the graph they were made.

    Parameters
    ----------
    held_out : HeldOut
    graph : DomainGraph
    sources : int array
        Domains with labels.
    """

    held_out: HeldOut
    graph: DomainGraph
    sources: Codes

    @classmethod
    def of(cls, held_out: HeldOut, data: DomainData) -> Calibration:
        """Calibration for the domains of this data."""
        return cls(held_out, data.graph, data.sources)

    def half_width(self, codes: Codes, coverage: float) -> Floats:
        """Half the width of the interval of each output in each of these domains.

        Parameters
        ----------
        codes : int array of shape (n,)
        coverage : float
            Between 0 and 1.

        Returns
        -------
        array of shape (n, n_outputs)
            In standard units; infinite where the hidden sources are too few for the coverage.
        """
        domains, place = np.unique(codes, return_inverse=True)
        error = np.abs(self.held_out.output - self.held_out.truth)
        hidden, member = np.unique(self.held_out.codes, return_inverse=True)
        row_share = 1 / np.bincount(member)[member]
        weights = self._weights(domains, hidden)
        many = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
        level = np.minimum(coverage * (1 + 1 / many), coverage + 0.9 * (1 - coverage))
        widths = np.stack(
            [
                _quantile(error, weight[member] * row_share, share, coverage)
                for weight, share in zip(weights, level, strict=True)
            ]
        )
        chosen: Floats = widths[place]
        return chosen

    def temperature(self, codes: Codes) -> Floats:
        """Temperature that makes the probabilities in each of these domains most likely.

        Parameters
        ----------
        codes : int array of shape (n,)

        Returns
        -------
        array of shape (n,)
            Above one: the method is too sure of itself at such a distance from the labels.
        """
        domains, place = np.unique(codes, return_inverse=True)
        hidden, member = np.unique(self.held_out.codes, return_inverse=True)
        grid = np.geomspace(0.2, 20.0, 41)
        loss = np.stack([_log_loss(self.held_out, t) for t in grid])
        count = np.bincount(member)
        per_domain = np.stack([np.bincount(member, each) / count for each in loss])
        weights = self._weights(domains, hidden)
        # Little is known with few hidden domains: stay near one.
        prior = 0.05 * np.log(grid) ** 2
        best = (weights @ per_domain.T / weights.sum(axis=1, keepdims=True) + prior).argmin(axis=1)
        chosen: Floats = grid[best][place]
        return chosen

    def _weights(self, domains: Codes, hidden: Codes) -> Floats:
        """Weight of each hidden domain for each domain asked about."""
        hops = hops_from(self.graph, self.sources)[domains]
        codes, _, hidden_hops = self.held_out.per_domain()
        hidden_hops = hidden_hops[np.searchsorted(codes, hidden)]
        distance = np.stack(
            [np.minimum(self.graph.hops_from(code), _FAR)[domains] for code in hidden],
            axis=1,
        )
        weights: Floats = np.exp(-np.abs(hops[:, None] - hidden_hops) - distance / _FAR)
        return weights


def with_temperature(proba: Floats, temperature: Floats) -> Floats:
    """Class probabilities at another temperature, one for each row; the classes stay.

    Examples
    --------
    >>> with_temperature(np.array([[0.9, 0.1]]), np.array([2.0])).round(2)
    array([[0.75, 0.25]])
    """
    powers = np.log(np.maximum(proba, 1e-12)) / temperature[:, None]
    powers -= powers.max(axis=1, keepdims=True)
    shares = np.exp(powers)
    scaled: Floats = shares / shares.sum(axis=1, keepdims=True)
    return scaled


def _log_loss(held_out: HeldOut, temperature: float) -> Floats:
    proba = with_temperature(held_out.output, np.full(len(held_out.output), temperature))
    right = proba[np.arange(len(proba)), held_out.truth.astype(np.int64)]
    loss: Floats = -np.log(np.maximum(right, 1e-12))
    return loss


def _quantile(error: Floats, weight: Floats, level: float, coverage: float) -> Floats:
    """Weighted quantile of each column, the row that is predicted being an infinite error.

    If there are too few rows for the level, but enough for the coverage, the largest error.
    """
    reach = weight.sum() + weight.max()
    widths = []
    for column in error.T:
        order = np.argsort(column)
        reached = np.cumsum(weight[order]) / reach
        place = min(int(np.searchsorted(reached, level)), len(column) - 1)
        widths.append(column[order][place] if reached[-1] >= coverage else np.inf)
    return np.array(widths)
