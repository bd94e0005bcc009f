"""The last step of an embedding: every point into the unit ball."""

from __future__ import annotations

import numpy as np

from grada.graph._types import Floats


def into_unit_ball(raw: Floats, *, rounding: float = 1e-10) -> Floats:
    r"""Centre, scale by the median norm and squash every point into the unit ball.

    .. math:: z_i = \tanh(r_i) \, x_i / r_i, \quad x_i = (u_i - c) / m, \quad r_i = |x_i|

    where :math:`c` is the median of each coordinate and :math:`m` the median of the norms. Medians
    are blind to a few far nodes, and the squashing bounds them: an outlier ends near the sphere,
    where the rest lies around 0.76.

    Parameters
    ----------
    raw : ndarray of shape (n_domains, dim)
    rounding : float, default=1e-10
        Distances below this share of the largest coordinate are rounding and stay small.

    Returns
    -------
    ndarray of shape (n_domains, dim)
        Rows of norm at most 1; all zero where all rows of `raw` are the same.

    Examples
    --------
    >>> into_unit_ball(np.array([[-1.0], [0.0], [1.0]])).round(2).tolist()
    [[-0.76], [0.0], [0.76]]
    """
    centred = raw - np.median(raw, axis=0)
    radius = np.linalg.norm(centred, axis=1, keepdims=True)
    # What is left of equal rows after centring is rounding, which must not be blown up.
    spread = radius > rounding * np.abs(raw).max()
    if not spread.any():
        return np.zeros_like(raw)
    middle = np.median(radius[spread])
    # A hair below 1, or rounding would carry the farthest points out of the ball.
    squashed = np.minimum(np.tanh(radius / middle), 1 - 1e-9)
    factor = np.divide(squashed, radius, where=spread, out=np.full_like(radius, 1 / middle))
    bounded: Floats = centred * factor
    return bounded
