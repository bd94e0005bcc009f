"""Random graphs in which every domain keeps its number of neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from grada.graph._types import Codes, Weights

_ROUNDS = 200
_SWAPS_PER_EDGE = 10


def rewire(weights: Weights, rng: np.random.Generator) -> Weights:
    r"""Swap the ends of random pairs of edges until little is left of the old graph.

    .. math:: (a, b), (c, d) \to (a, d), (c, b)

    A swap that would join a domain to itself or to a neighbour is left out, so that every domain
    keeps its number of neighbours, and the graph its weights. All pairs of a round are swapped at
    once.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    rng : Generator

    Returns
    -------
    csr_array of shape (n_domains, n_domains)
        The same graph where no swap is possible, as in a clique or a star.
    """
    n_domains = int(weights.shape[0])
    above = sparse.triu(weights, 1, format="coo")
    first, second = above.row.astype(np.int64), above.col.astype(np.int64)
    n_pairs, done = len(first) // 2, 0
    for _ in range(_ROUNDS):
        if done >= _SWAPS_PER_EDGE * n_pairs:
            break
        order = rng.permutation(len(first))
        one, other = order[:n_pairs], order[n_pairs : 2 * n_pairs]
        flip = rng.random(len(first)) < 0.5  # an edge has no direction
        first, second = np.where(flip, second, first), np.where(flip, first, second)
        straight = _keys(first[one], second[other], n_domains)
        crossed = _keys(first[other], second[one], n_domains)
        proposed = np.concatenate([straight, crossed])
        _, place, count = np.unique(proposed, return_inverse=True, return_counts=True)
        free = (count[place] == 1) & ~np.isin(proposed, _keys(first, second, n_domains))
        free &= proposed >= 0
        swap = free[:n_pairs] & free[n_pairs:]
        one, other = one[swap], other[swap]
        second[one], second[other] = second[other], second[one]
        done += int(swap.sum())
    ends = (np.concatenate([first, second]), np.concatenate([second, first]))
    data = np.concatenate([above.data, above.data])
    return sparse.csr_array((data, ends), shape=weights.shape)


def _keys(first: Codes, second: Codes, n_domains: int) -> Codes:
    """One number an edge, the same both ways; -1 for a domain with itself."""
    keys = np.minimum(first, second) * n_domains + np.maximum(first, second)
    return np.where(first == second, -1, keys)
