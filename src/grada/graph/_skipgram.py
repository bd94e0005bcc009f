"""Skip-gram with negative sampling, and the draws of edges that feed it.

Shared by the embeddings that learn from drawn pairs of domains: node2vec and LINE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from grada.graph._adam import Adam
from grada.graph._types import Codes, Floats, Weights

_STEPS = 100
_RATE = 0.1
# Pairs in one step: enough that every domain of a large graph is seen, and a steady gradient on a
# small one; drawn in parts, so that memory stays small.
_PAIRS_PER_DOMAIN = 5
_LEAST_PAIRS = 2_000
_MOST_AT_ONCE = 50_000
_NEGATIVES = 3
_START_SCALE = 0.1
# Noise is drawn from the frequencies to this power, as in word2vec: rare domains a bit more often.
_NOISE_POWER = 0.75

Singles: TypeAlias = npt.NDArray[np.float32]
# Draws as many pairs as asked for: domains, and the domains met near them.
DrawPairs: TypeAlias = Callable[[int], tuple[Codes, Codes]]


class EdgeSampler:
    """Draw edges and neighbours in proportion to the weights, many at once, and look pairs up.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
        At least one edge.
    generator : Generator
    """

    def __init__(self, weights: Weights, generator: np.random.Generator) -> None:
        self.generator = generator
        self.n_domains = int(weights.shape[0])
        self.begin, self.end = weights.indptr[:-1], weights.indptr[1:]
        self.row = np.repeat(np.arange(self.n_domains), np.diff(weights.indptr))
        self.column = weights.indices.astype(np.int64)
        # Relative to the largest weight, since sums of very small ones would lose their digits.
        self.weight: Floats = weights.data / weights.data.max()
        degree = np.bincount(self.row, self.weight, minlength=self.n_domains)
        self.degree = degree.astype(np.float64)
        self.reach = np.cumsum(self.weight)
        # The probabilities of each row sum to 1, so row number i starts at i in the running sum.
        self.row_reach = np.cumsum(self.weight / self.degree[self.row])
        self.row_start = np.cumsum(self.end > self.begin) - 1.0
        # One sorted number for each edge: there a pair is looked up.
        self.keys = self.row * self.n_domains + self.column

    def draw(self, size: int) -> tuple[Codes, Codes]:
        """Draw edges, in either direction."""
        at = np.searchsorted(self.reach, self.generator.random(size) * self.reach[-1])
        at = np.minimum(at, len(self.reach) - 1)
        return self.row[at], self.column[at]

    def neighbours(self, domains: Codes) -> Codes:
        """Draw a neighbour of each domain; all of them must have one."""
        drawn = self.row_start[domains] + self.generator.random(len(domains))
        at = np.searchsorted(self.row_reach, drawn)
        # Rounding must not carry a draw into the next row.
        at = np.clip(at, self.begin[domains], self.end[domains] - 1)
        found: Codes = self.column[at]
        return found

    def weight_between(self, first: Codes, second: Codes) -> Floats:
        """Look up the weights of pairs, relative to the largest; 0 where there is no edge."""
        pairs = first * self.n_domains + second
        at = np.minimum(np.searchsorted(self.keys, pairs), len(self.keys) - 1)
        return np.where(self.keys[at] == pairs, self.weight[at], 0.0)


def skip_gram(
    draw: DrawPairs,
    frequency: Floats,
    dim: int,
    generator: np.random.Generator,
    *,
    symmetric: bool = False,
) -> Floats:
    r"""Fit vectors to drawn pairs by skip-gram with negative sampling.

    .. math::

        L = - E_{(i, j)} \Big[ \log \sigma(u_i^\top v_j)
            + \sum_{k=1}^{K} E_{n \sim P} \log \sigma(- u_i^\top v_n) \Big],
        \qquad P(n) \propto f_n^{3/4}

    with :math:`f` the frequency of a domain [1]_. Every step draws pairs and noise anew and moves
    all vectors at once with Adam.

    Parameters
    ----------
    draw : callable
        Takes a number of pairs and draws them.
    frequency : ndarray of shape (n_domains,)
        Domains of frequency 0 keep their small random start.
    dim : int
    generator : Generator
    symmetric : bool, default=False
        Use the same vectors on both sides, :math:`v = u`. A domain is then never its own noise.

    Returns
    -------
    ndarray of shape (n_domains, dim)
        The vectors :math:`u`.

    References
    ----------
    .. [1] T. Mikolov, I. Sutskever, K. Chen, G. Corrado, J. Dean. Distributed Representations of
       Words and Phrases and their Compositionality. NeurIPS 2013.
    """
    own = random_start(len(frequency), dim, generator).astype(np.float32)
    other = own if symmetric else np.zeros_like(own)
    noise = np.cumsum(frequency**_NOISE_POWER)
    own_adam, other_adam = Adam(own), Adam(other)
    size = max(_LEAST_PAIRS, _PAIRS_PER_DOMAIN * len(frequency))
    parts = -(-size // _MOST_AT_ONCE)
    for step in range(_STEPS):
        rate = _RATE * (1 - step / _STEPS)
        own_gradient, other_gradient = np.zeros_like(own), np.zeros_like(own)
        for _ in range(parts):
            slopes = _slopes(draw(size // parts), noise, own, other, generator)
            own_gradient += slopes @ other
            other_gradient += slopes.T @ own
        if symmetric:
            own -= own_adam.step((own_gradient + other_gradient) / parts, rate)
        else:
            own -= own_adam.step(own_gradient / parts, rate)
            other -= other_adam.step(other_gradient / parts, rate)
    return own.astype(np.float64)


def random_start(n_domains: int, dim: int, generator: np.random.Generator) -> Floats:
    """Small random vectors: the start, and all there is to say about domains without edges."""
    return generator.normal(scale=_START_SCALE, size=(n_domains, dim))


def _slopes(
    pairs: tuple[Codes, Codes],
    noise: Floats,
    own: Singles,
    other: Singles,
    generator: np.random.Generator,
) -> sparse.csr_array[np.float32, tuple[int, int]]:
    """Draw noise and compute the slope of the loss by each inner product, times n_domains.

    As a sparse matrix: its products with the vectors are the gradients. Times n_domains, so that
    the step of a domain does not depend on how many there are.
    """
    # Sorted, the draws are the rows of that matrix already.
    order = np.argsort(pairs[0], kind="stable")
    first, second = pairs[0][order], pairs[1][order]
    drawn = np.searchsorted(noise, generator.random((len(first), _NEGATIVES)) * noise[-1])
    met = np.column_stack([second, np.minimum(drawn, len(noise) - 1)])
    slope = special.expit(np.einsum("id,ijd->ij", own[first], other[met]))
    slope[:, 0] -= 1
    if own is other:
        slope[met == first[:, None]] = 0
    slope *= np.float32(len(own) / len(first))
    ends = np.cumsum(np.bincount(first, minlength=len(own))) * met.shape[1]
    return sparse.csr_array(
        (slope.ravel(), met.ravel(), np.concatenate([[0], ends])), shape=(len(own), len(own))
    )
