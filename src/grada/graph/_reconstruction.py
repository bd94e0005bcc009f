"""The reconstruction embedding: points from which the edges can be read off.

Small graphs are fitted on all pairs of domains, large ones on pairs drawn anew in every step.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse, special

from grada.graph._adam import Adam
from grada.graph._ball import into_unit_ball
from grada.graph._spectral import DENSE_LIMIT, spectral_coordinates
from grada.graph._types import Array, Codes, Floats, Weights

# Noise of the start, as a share of the median norm.
_START_NOISE = 0.2
# Pull towards the start, and the largest scale of the inner product. Without these limits a graph
# that can be read off without error would push its domains apart for ever.
_PULL = 0.3
_MAX_SCALE = 10.0
# The head turns an inner product into a logit: the logarithm of the scale, and the bias.
_HEAD_START = (math.log(_MAX_SCALE / 2), 0.0)
_HEAD_LIMITS = ((0.0, math.log(_MAX_SCALE)), (-_MAX_SCALE, _MAX_SCALE))
_SAMPLED_STEPS = 100
_SAMPLED_RATE = 0.05
_TINY = 1e-300

# Pairs of one sort: the two ends, how much each pair counts, and whether they are edges.
_Draw: TypeAlias = tuple[Codes, Codes, npt.NDArray[np.float32], bool]


def reconstruction(weights: Weights, dim: int, generator: np.random.Generator) -> Floats:
    r"""Fit embeddings from which the edges can be read off.

    .. math::

        L = \tfrac12 \sum_{i \ne j} \Big[ - \frac{A_{ij}}{|A|} \log \sigma(l_{ij})
            - \frac{1 - A_{ij}}{|1 - A|} \log (1 - \sigma(l_{ij})) \Big]
            + \frac{\gamma}{N} \sum_i |u_i - u_i^0|^2,
        \qquad l_{ij} = a \, z_i^\top z_j + b, \quad z_i = u_i / \sqrt{1 + |u_i|^2}

    This is the paper's loss [1]_ with four changes. Edges and non-edges weigh the same: a domain
    has few neighbours among many, and the plain mean over all pairs is best served by calling
    nothing an edge. The scale :math:`a` and the bias :math:`b` are learned: a plain inner product
    says that two domains at right angles are neighbours with probability 1/2. The embeddings are
    bounded by construction, and a weak pull to the start keeps them finite and unique, and domains
    with the same neighbours apart. A domain is never paired with itself.

    The start is the spectral embedding with a little noise. Up to 300 domains all pairs count,
    above that every step draws edges and pairs anew.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
        Weights in [0, 1] are soft targets.
    dim : int
    generator : Generator
        Noise of the start, and the draws.

    Returns
    -------
    ndarray of shape (n_domains, dim)

    References
    ----------
    .. [1] Z. Xu, H. He, G.-H. Lee, Y. Wang, H. Wang. Graph-Relational Domain Adaptation.
       ICLR 2022, section 3.
    """
    start = spectral_coordinates(weights, dim, generator)
    radius = np.linalg.norm(start, axis=1)
    start /= np.median(radius[radius > 0]) if radius.any() else 1.0
    start += generator.normal(scale=_START_NOISE / math.sqrt(dim), size=start.shape)
    if not weights.nnz:
        return into_unit_ball(start)
    if weights.shape[0] <= DENSE_LIMIT:
        fitted = _fit_all_pairs(weights, start)
    else:
        fitted = _fit_sampled_pairs(weights, start, generator)
    return into_unit_ball(fitted)


def _fit_all_pairs(weights: Weights, start: Floats) -> Floats:
    """Minimise the reconstruction loss over all pairs with L-BFGS."""
    target = weights.toarray()
    edge, rest = _shares(target), _shares(1.0 - np.eye(len(start)) - target)
    found = optimize.minimize(
        all_pairs_loss,
        np.concatenate([start.ravel(), _HEAD_START]),
        args=(edge, rest, start),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * start.size + [*_HEAD_LIMITS],
        options={"maxiter": 60},
    )
    return _bounded(found.x[:-2].reshape(start.shape))[0]


def all_pairs_loss(flat: Floats, edge: Floats, rest: Floats, start: Floats) -> tuple[float, Floats]:
    """Compute the reconstruction loss over all pairs and its gradient.

    Parameters
    ----------
    flat : ndarray of shape (n_domains * dim + 2,)
        The free vectors, the logarithm of the scale, and the bias.
    edge, rest : ndarray of shape (n_domains, n_domains)
        How much each pair counts as an edge and as none.
    start : ndarray of shape (n_domains, dim)

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_domains * dim + 2,)
    """
    free, scale, bias = flat[:-2].reshape(start.shape), np.exp(flat[-2]), flat[-1]
    bounded, reach = _bounded(free)
    inner = bounded @ bounded.T
    logit = scale * inner + bias
    # -log s(l) = softplus(-l) = softplus(l) - l
    loss = float(np.sum((edge + rest) * np.logaddexp(0.0, logit) - edge * logit))
    slope = (edge + rest) * special.expit(logit) - edge
    step = _through_bound(2 * scale * (slope @ bounded), bounded, reach)
    pull = free - start
    loss += _PULL / len(start) * float(np.sum(pull**2))
    step += 2 * _PULL / len(start) * pull
    ends = [scale * np.sum(slope * inner), np.sum(slope)]
    return loss, np.concatenate([step.ravel(), ends])


def _shares(weight: Floats) -> Floats:
    """Scale weights so that they sum to one half; a clique has no non-edges to scale."""
    return weight / max(2 * float(weight.sum()), _TINY)


def _bounded(free: Array) -> tuple[Array, Array]:
    """Map any vectors into the unit ball; also return the divisor."""
    reach = np.sqrt(1 + np.einsum("ij,ij->i", free, free))[:, None]
    return free / reach, reach


def _through_bound(gradient: Array, bounded: Array, reach: Array) -> Array:
    """Carry a gradient from the bounded vectors back to the free ones."""
    along = np.einsum("ij,ij->i", bounded, gradient)[:, None]
    free: Array = (gradient - bounded * along) / reach
    return free


def _fit_sampled_pairs(weights: Weights, start: Floats, generator: np.random.Generator) -> Floats:
    """Minimise the reconstruction loss with Adam, on edges and pairs drawn anew in every step."""
    draw = _PairSampler(weights, generator)
    anchor = start.astype(np.float32)
    free, head = anchor.copy(), np.array(_HEAD_START)
    adam, head_adam = Adam(free), Adam(head)
    for step in range(_SAMPLED_STEPS):
        rate = _SAMPLED_RATE * (1 - step / _SAMPLED_STEPS)
        bounded, reach = _bounded(free)
        gradient, head_gradient = _sampled_gradient(draw(), bounded, head)
        gradient = _through_bound(gradient, bounded, reach) + 2 * _PULL * (free - anchor)
        free -= adam.step(gradient, rate)
        head = np.clip(head - head_adam.step(head_gradient, rate), *np.transpose(_HEAD_LIMITS))
    return _bounded(free)[0].astype(np.float64)


def _sampled_gradient(draws: list[_Draw], bounded: Array, head: Floats) -> tuple[Array, Floats]:
    """Compute the gradients of the loss by the bounded vectors, times n_domains, and by the head.

    Times n_domains, so that the step of a domain does not depend on how many there are.
    """
    n_domains = len(bounded)
    scale, bias = np.float32(np.exp(head[0])), np.float32(head[1])
    gradient, head_gradient = np.zeros_like(bounded), np.zeros(2)
    for first, second, weight, is_edge in draws:
        inner = np.einsum("ij,ij->i", bounded[first], bounded[second])
        slope = weight * (special.expit(scale * inner + bias) - np.float32(is_edge))
        head_gradient += np.array([scale * (slope @ inner), slope.sum()])
        ends = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=n_domains))])
        pairs = sparse.csr_array((slope, second, ends), shape=(n_domains, n_domains))
        gradient += pairs @ bounded
        gradient += pairs.T @ bounded
    return gradient * (scale * n_domains), head_gradient


class _PairSampler:
    """Draw edges and pairs that are no edges, each with weights that sum to 1/2."""

    def __init__(self, weights: Weights, generator: np.random.Generator) -> None:
        above = sparse.triu(weights, 1, format="csr")
        self.n_domains = int(weights.shape[0])
        self.generator = generator
        row = np.repeat(np.arange(self.n_domains), np.diff(above.indptr))
        # One sorted number for each edge: a draw looks up there whether a pair is an edge.
        self.keys = row * self.n_domains + above.indices
        self.values = above.data
        self.size = min(max(self.n_domains, 10_000), 50_000)

    def __call__(self) -> list[_Draw]:
        """Draw the edges, and then the rest."""
        keys, values = self.keys, self.values
        if len(keys) > self.size:
            # Sorted, because neighbouring rows then share memory.
            drawn = np.sort(self.generator.integers(len(keys), size=self.size))
            keys, values = keys[drawn], values[drawn]
        pairs = self._any_pairs()
        at = np.minimum(np.searchsorted(self.keys, pairs), len(self.keys) - 1)
        rest = np.where(self.keys[at] == pairs, 1 - self.values[at], 1.0)
        return [
            (*np.divmod(chosen, self.n_domains), _shares(weight).astype(np.float32), is_edge)
            for chosen, weight, is_edge in ((keys, values, True), (pairs, rest, False))
        ]

    def _any_pairs(self) -> Codes:
        first = self.generator.integers(self.n_domains, size=self.size)
        # A shift of at least one never pairs a domain with itself.
        shift = self.generator.integers(1, self.n_domains, size=self.size)
        second = (first + shift) % self.n_domains
        return np.sort(np.minimum(first, second) * self.n_domains + np.maximum(first, second))
