"""The node2vec embedding: domains that random walks meet together lie together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grada.graph._ball import into_unit_ball
from grada.graph._skipgram import DrawPairs, EdgeSampler, random_start, skip_gram
from grada.graph._types import Codes, Floats, Weights

_WALKS_PER_DOMAIN = 10
_WALK_LENGTH = 20
_WINDOW = 5


def node2vec(
    weights: Weights,
    dim: int,
    generator: np.random.Generator,
    *,
    return_parameter: float = 1.0,
    in_out_parameter: float = 0.5,
) -> Floats:
    r"""Embed domains by biased random walks and skip-gram with negative sampling.

    .. math::

        P(x \mid t, v) \propto A_{vx} \cdot \begin{cases}
            1 / p & x = t \\ 1 & A_{tx} > 0 \\ 1 / q & \text{otherwise} \end{cases}

    A walk that came from :math:`t` to :math:`v` goes on to :math:`x` [1]_. Domains at most five
    steps apart on a walk are the pairs of the skip-gram, near ones more often; see
    `grada.graph._skipgram.skip_gram`.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    dim : int
    generator : Generator
        Walks, pairs, noise and the start.
    return_parameter : float, default=1.0
        :math:`p`; large values keep walks from stepping straight back.
    in_out_parameter : float, default=0.5
        :math:`q`; below 1 walks move away from where they came from, above 1 they stay around.

    Returns
    -------
    ndarray of shape (n_domains, dim)
        In the unit ball.

    References
    ----------
    .. [1] A. Grover, J. Leskovec. node2vec: Scalable Feature Learning for Networks. KDD 2016.
    """
    if not (return_parameter > 0 and in_out_parameter > 0):
        raise ValueError("return_parameter and in_out_parameter must be above 0")
    if not weights.nnz:
        return into_unit_ball(random_start(weights.shape[0], dim, generator))
    edges = EdgeSampler(weights, generator)
    walks = biased_walks(edges, return_parameter, in_out_parameter)
    frequency = np.bincount(walks.ravel(), minlength=edges.n_domains).astype(np.float64)
    return into_unit_ball(skip_gram(_pairs_of(walks, generator), frequency, dim, generator))


def biased_walks(
    edges: EdgeSampler, return_parameter: float, in_out_parameter: float
) -> npt.NDArray[np.int32]:
    """Walk from every domain that has an edge, all walks at once.

    The bias is met by rejection: a neighbour is drawn by weight alone and accepted in proportion
    to its bias, so that no table of biases for every edge is needed.

    Returns
    -------
    ndarray of int32, shape (walk_length, n_walks)
    """
    back, far = 1 / return_parameter, 1 / in_out_parameter
    highest = max(back, 1.0, far)
    start = np.tile(np.flatnonzero(edges.degree), _WALKS_PER_DOMAIN)
    walks = np.empty((_WALK_LENGTH, len(start)), dtype=np.int32)
    before, at = start, edges.neighbours(start)
    walks[0], walks[1] = before, at
    for time in range(2, _WALK_LENGTH):
        after, open_walks = np.empty_like(at), np.arange(len(start))
        while len(open_walks):
            origin, found = before[open_walks], edges.neighbours(at[open_walks])
            bias = np.where(edges.weight_between(origin, found) > 0, 1.0, far)
            bias[found == origin] = back
            accepted = edges.generator.random(len(found)) * highest < bias
            after[open_walks[accepted]] = found[accepted]
            open_walks = open_walks[~accepted]
        before, at = at, after
        walks[time] = at
    return walks


def _pairs_of(walks: npt.NDArray[np.int32], generator: np.random.Generator) -> DrawPairs:
    """Draw pairs within the window of a walk, in place of listing them all."""
    length, n_walks = walks.shape
    # A window of random size, as in word2vec: a distance of 1 falls into all of them.
    distances = np.repeat(np.arange(1, _WINDOW + 1), np.arange(_WINDOW, 0, -1))

    def draw(size: int) -> tuple[Codes, Codes]:
        distance = distances[generator.integers(len(distances), size=size)]
        walk, time = generator.integers(n_walks, size=size), generator.integers(length - distance)
        early, late = walks[time, walk], walks[time + distance, walk]
        forward = generator.random(size) < 0.5
        first, second = np.where(forward, early, late), np.where(forward, late, early)
        return first.astype(np.int64), second.astype(np.int64)

    return draw
