"""The spectral embedding: the leading eigenvectors of the normalised weights.

Small graphs are solved exactly, large ones in single precision by a bounded number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from grada.graph._ball import into_unit_ball
from grada.graph._types import Array, Floats, Weights

# Up to this size all pairs of domains fit into memory and time, and nothing needs sampling.
DENSE_LIMIT = 300
# Keeps the leading direction from drowning the others.
_COMMUTE_SOFTENING = 0.03
# Higher degrees gain more a round but overflow the precision of single floats.
_FILTER_DEGREE = 8
# Eigenvalues below this are zero, rounded.
_ZERO = 1e-5


def spectral(weights: Weights, dim: int, generator: np.random.Generator) -> Floats:
    """Place domains by the leading eigenvectors; see `spectral_coordinates`."""
    # Large graphs are solved in single precision.
    rounding = 1e-10 if weights.shape[0] <= DENSE_LIMIT else 1e-5
    return into_unit_ball(spectral_coordinates(weights, dim, generator), rounding=rounding)


def spectral_coordinates(weights: Weights, dim: int, generator: np.random.Generator) -> Floats:
    r"""Take the leading eigenvectors of the normalised weights.

    .. math:: u_{ik} = v_{ik} \, (1 + \epsilon - \lambda_k / \lambda_1)^{-1/2} / \sqrt{d_i + t}

    with :math:`\lambda_k, v_k` the eigenpairs of the regularised normalised weights [1]_, their
    trivial one left out, :math:`d_i` the degree and :math:`t` the mean degree. The factor is that
    of the commute time [2]_: distances follow how far apart two domains are in the graph, and not
    only whether they are neighbours. Where a graph has fewer than `dim` directions with
    :math:`\lambda_k > 0`, those with :math:`\lambda_k < 0` follow. Directions with
    :math:`\lambda_k = 0` only tell domains with the very same neighbours apart and are left out.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    dim : int
        Number of eigenvectors; columns past the last one are zero.
    generator : Generator
        Start of the iteration on graphs above 300 domains; smaller ones are solved exactly.

    Returns
    -------
    ndarray of shape (n_domains, dim)

    References
    ----------
    .. [1] T. Qin, K. Rohe. Regularized Spectral Clustering under the Degree-Corrected Stochastic
       Blockmodel. NeurIPS 2013.
    .. [2] F. Fouss, A. Pirotte, J.-M. Renders, M. Saerens. Random-walk computation of similarities
       between nodes of a graph. IEEE TKDE 19(3), 2007.
    """
    n_domains = int(weights.shape[0])
    coordinates = np.zeros((n_domains, dim))
    if not weights.nnz:
        return coordinates
    root, values, vectors = _eigenpairs(weights, dim, generator)
    kept = np.flatnonzero(np.abs(values) > _ZERO)
    # Smooth directions first, from the smoothest on; then those in which neighbours differ most.
    kept = kept[np.lexsort((-np.abs(values[kept]), values[kept] < 0))][:dim]
    if not len(kept):
        return coordinates
    values, vectors = values[kept], _fix_signs(vectors[:, kept])
    leading = values[0] if values[0] > 0 else 1.0
    length = 1 / np.sqrt(1 + _COMMUTE_SOFTENING - values / leading)
    coordinates[:, : len(kept)] = vectors * length / root
    return coordinates


def _fix_signs(vectors: Floats) -> Floats:
    """Give each column the sign that makes its first large entry positive."""
    size = np.abs(vectors)
    # "Large" leaves room for rounding: mirrored graphs have entries of one size and both signs.
    first = np.argmax(size >= (1 - 1e-3) * size.max(axis=0), axis=0)
    signed: Floats = vectors * np.sign(vectors[first, np.arange(vectors.shape[1])])
    return signed


class _Smoother:
    r"""The regularised normalised weights, without their trivial eigenvector.

    .. math:: S = D_t^{-1/2} (A + t/N \; 1 1^\top) D_t^{-1/2} - v v^\top, \quad D_t = D + t I

    with :math:`t` the mean degree and :math:`v \propto D_t^{1/2} 1`. Every pair of domains is
    joined a little: so only one trivial vector is left, known in closed form, however many parts
    the graph has; and parts of two or three domains cannot claim the leading eigenvectors.
    """

    def __init__(self, weights: Weights, dtype: type[np.floating[Any]]) -> None:
        # Relative to the largest weight, since products of very small ones would vanish.
        data = weights.data / weights.data.max()
        row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        degree = np.bincount(row, data, minlength=weights.shape[0])
        shift = float(degree.mean())
        root = np.sqrt(degree + shift)
        self.root = root[:, None]
        flat, trivial = math.sqrt(shift / len(root)) / root, root / np.linalg.norm(root)
        self.left = np.column_stack([flat, -trivial]).astype(dtype)
        self.right = np.vstack([flat, trivial]).astype(dtype)
        # No eigenvalue lies below: S without its last term has the row sums of a random walk.
        self.lowest = -float(np.max(degree / root**2))
        scaled = (data / (root[row] * root[weights.indices])).astype(dtype)
        self.inner = sparse.csr_array(
            (scaled, weights.indices, weights.indptr), shape=weights.shape
        )

    def __call__(self, block: Array) -> Array:
        """Apply S to a block of shape (n_domains, width)."""
        smoothed: Array = self.inner @ block + self.left @ (self.right @ block)
        return smoothed


def _eigenpairs(
    weights: Weights, dim: int, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return the roots of the degrees and eigenpairs: all of them, or the leading of a large S."""
    n_domains = int(weights.shape[0])
    if n_domains <= DENSE_LIMIT:
        smoother = _Smoother(weights, np.float64)
        return smoother.root, *np.linalg.eigh(smoother(np.eye(n_domains)))
    smoother = _Smoother(weights, np.float32)
    start = generator.standard_normal((n_domains, min(dim + 4, n_domains)), dtype=np.float32)
    values, vectors = _leading_pairs(smoother, smoother.lowest, start, dim)
    if len(values) < dim:  # as in a star: fewer smooth directions than asked for
        others = _leading_pairs(lambda block: -smoother(block), -1.0, start, dim)
        values = np.concatenate([values, -others[0]])
        vectors = np.hstack([vectors, others[1]])
    return smoother.root, values, vectors


def _leading_pairs(
    operator: Callable[[Array], Array], lowest: float, start: npt.NDArray[np.float32], width: int
) -> tuple[Floats, Floats]:
    """Approach the leading positive eigenpairs of a large graph in a bounded number of steps.

    Subspace iteration with a Chebyshev filter: a polynomial of the operator that is small between
    ``lowest``, a bound below its eigenvalues, and the lowest value of interest, and grows fast
    above. On chains and random graphs the leading eigenvalues nearly touch and no solver separates
    them in reasonable time. That is no harm here, since any smooth basis of their span keeps
    neighbours together, so nothing waits for it.
    """
    block, cut = start, 0.0
    for _ in range(int(np.clip(500_000 // len(start), 5, 50))):
        middle, half = (lowest + cut) / 2, max((cut - lowest) / 2, 0.05)
        before, after = block, (operator(block) - middle * block) / half
        for _ in range(_FILTER_DEGREE - 1):
            before, after = after, (2 / half) * (operator(after) - middle * after) - before
        block = _orthonormal(after)
        inner = block.T @ operator(block)
        values, turn = np.linalg.eigh((inner + inner.T).astype(np.float64) / 2)
        # Each column becomes one eigenvector: filtered apart, none drowns in the largest.
        block = block @ turn.astype(np.float32)
        cut = max(0.0, float(values[0]))
    kept = np.flatnonzero(values > _ZERO)[-width:]
    return values[kept], block[:, kept].astype(np.float64)


def _orthonormal(block: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Span the same space with columns at right angles, by the small matrix of inner products.

    A QR decomposition of so tall a matrix takes ten times as long when other programs run.
    """
    precise = block.astype(np.float64)
    precise /= np.linalg.norm(precise, axis=0) + np.finfo(np.float64).tiny
    sizes, turn = np.linalg.eigh(precise.T @ precise)
    kept = sizes > 1e-13 * sizes[-1]
    turned: Floats = precise @ (turn[:, kept] / np.sqrt(sizes[kept]))
    return turned.astype(np.float32)
