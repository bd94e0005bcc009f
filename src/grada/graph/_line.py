"""The LINE embedding: neighbours lie together, and so do domains with the same neighbours."""

from __future__ import annotations

import numpy as np

from grada.graph._ball import into_unit_ball
from grada.graph._skipgram import EdgeSampler, random_start, skip_gram
from grada.graph._types import Codes, Floats, Weights

# Share of the second-order pairs that reach one step further.
_EXTENDED = 0.5


def line(weights: Weights, dim: int, generator: np.random.Generator) -> Floats:
    r"""Embed domains by their first- and second-order proximity.

    .. math::

        L_1 = - \sum_{ij} A_{ij} \log \sigma(u_i^\top u_j), \qquad
        L_2 = - \sum_{ij} \bar A_{ij} \log p(v_j \mid u_i), \qquad
        z_i \propto \Big[ \frac{u_i^{(1)}}{|u_i^{(1)}|}, \frac{u_i^{(2)}}{|u_i^{(2)}|} \Big]

    both with negative sampling in place of the sum over all domains [1]_; see
    `grada.graph._skipgram.skip_gram`. Edges are drawn in proportion to their weights. Each order
    gets half of the dimensions, and the first the one that is left over; a single dimension is
    all its own.

    The second order alone tells neighbours apart where they share no neighbour, as in a chain. So
    :math:`\bar A` adds neighbours of neighbours, which the authors do for domains of low degree:
    half of the pairs go one weighted step further, which may lead back.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    dim : int
    generator : Generator
        Edges, noise and the start.

    Returns
    -------
    ndarray of shape (n_domains, dim)
        In the unit ball.

    References
    ----------
    .. [1] J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan, Q. Mei. LINE: Large-scale Information Network
       Embedding. WWW 2015.
    """
    if not weights.nnz:
        return into_unit_ball(random_start(weights.shape[0], dim, generator))
    edges = EdgeSampler(weights, generator)

    def extended(size: int) -> tuple[Codes, Codes]:
        first, second = edges.draw(size)
        further = np.flatnonzero(generator.random(size) < _EXTENDED)
        second[further] = edges.neighbours(second[further])
        return first, second

    parts = [skip_gram(edges.draw, edges.degree, dim - dim // 2, generator, symmetric=True)]
    if dim > 1:
        parts.append(skip_gram(extended, edges.degree, dim // 2, generator))
    return into_unit_ball(np.hstack([_to_length_one(part, edges.degree) for part in parts]))


def _to_length_one(vectors: Floats, degree: Floats) -> Floats:
    """Bring the vectors of all domains with an edge to length 1; others stay near the middle."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    some = degree > 0
    if vectors.shape[1] == 1:  # of a single number only the sign would be left
        length[some] = np.median(length[some])
    scaled: Floats = vectors / np.where(some[:, None], length, 1.0)
    return scaled
