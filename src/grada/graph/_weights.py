"""The matrix of weights: made from pairs, checked, and brought into one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from grada.graph._types import Codes, Floats, Name, Weights

# Weights that differ by less than this share of the largest one are the same number, rounded.
_ROUNDING = 1e-9


def checked_weights(names: tuple[Name, ...], weights: object, *, rescale: bool) -> Weights:
    """Check the weights of a graph and bring them into canonical, read-only form.

    Parameters
    ----------
    names : tuple of length n_domains
    weights : array or sparse array of shape (n_domains, n_domains)
    rescale : bool
        Divide by the largest weight.

    Returns
    -------
    csr_array of float64, shape (n_domains, n_domains)
        Symmetric, in [0, 1], zero diagonal, no stored zeros, sorted.
    """
    matrix = _as_csr(weights)
    if matrix.shape != (len(names), len(names)):
        raise ValueError(
            f"weights must have shape ({len(names)}, {len(names)}), one row and one column "
            f"a domain, got {matrix.shape}"
        )
    infinite, negative = ~np.isfinite(matrix.data), matrix.data < 0
    _refuse(infinite, names, matrix, "is not a finite number: write 0 where there is no edge")
    nearness = "weights say how near two domains are, from 0 (no edge) to 1"
    _refuse(negative, names, matrix, f"is negative: {nearness}")
    matrix.eliminate_zeros()
    _refuse_self_loops(names, np.flatnonzero(matrix.diagonal()))
    largest = float(matrix.data.max(initial=0.0))
    matrix = _symmetric(names, matrix, largest)
    if rescale and largest > 0:
        matrix.data /= largest
        matrix.eliminate_zeros()
    else:
        advice = "pass rescale=True to divide all weights by the largest"
        _refuse(matrix.data > 1 + _ROUNDING, names, matrix, f"is above 1: {advice}")
    np.minimum(matrix.data, 1.0, out=matrix.data)
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


def weights_from_pairs(
    names: Sequence[Name], first: Codes, second: Codes, weight: Floats | None = None
) -> Weights:
    """Build symmetric weights from undirected pairs, each given once, twice or both ways.

    Parameters
    ----------
    names : sequence of length n_domains
    first, second : ndarray of int64, shape (n_pairs,)
        Positions of the two ends.
    weight : ndarray of float64, shape (n_pairs,), optional
        By default 1.

    Returns
    -------
    csr_array of shape (n_domains, n_domains)
    """
    if weight is None:
        weight = np.ones(len(first))
    _refuse_self_loops(names, first[first == second])
    n_domains = len(names)
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, kept, group = np.unique(low * n_domains + high, return_index=True, return_inverse=True)
    usual = weight[kept][group]
    with np.errstate(invalid="ignore"):  # infinite weights are refused later, by name
        gap = np.abs(weight - usual)
    conflict = np.flatnonzero(gap > _ROUNDING * np.abs(weight).max(initial=0.0))
    if len(conflict):
        at = conflict[0]
        raise ValueError(
            f"the edge between {names[low[at]]!r} and {names[high[at]]!r} is given twice, "
            f"with weights {usual[at]:g} and {weight[at]:g}: keep one of them"
        )
    low, high, weight = low[kept], high[kept], weight[kept]
    ends = (np.concatenate([low, high]), np.concatenate([high, low]))
    shape = (n_domains, n_domains)
    return sparse.csr_array((np.concatenate([weight, weight]), ends), shape=shape)


def numbers_of(values: object) -> Floats:
    """Turn weights into floats; what is no number is quoted in the error."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weights must be numbers: {error}") from error


def _as_csr(weights: Any) -> Weights:
    """Copy an array or a sparse array into sorted rows of float64."""
    if isinstance(weights, pd.DataFrame):
        raise TypeError("weights come without labels here: use DomainGraph.from_adjacency(frame)")
    square: Any = weights if sparse.issparse(weights) else np.asarray(weights)
    if square.ndim != 2:
        raise ValueError(f"weights must be a square matrix, got shape {square.shape}")
    if np.issubdtype(square.dtype, np.complexfloating):
        raise TypeError("weights must be real numbers, got complex ones")
    if not sparse.issparse(square):
        square = numbers_of(square)
    matrix: Weights = sparse.csr_array(square, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _refuse(
    wrong: npt.NDArray[np.bool_], names: tuple[Name, ...], matrix: Weights, reason: str
) -> None:
    """Raise an error that names the first pair of domains whose stored weight is wrong."""
    if not wrong.any():
        return
    entry = int(np.argmax(wrong))
    row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
    pair = f"{names[row]!r} and {names[int(matrix.indices[entry])]!r}"
    raise ValueError(f"the weight {matrix.data[entry]:g} between {pair} {reason}")


def _refuse_self_loops(names: Sequence[Name], looped: Codes) -> None:
    if len(looped):
        more = len(np.unique(looped)) - 1
        raise ValueError(
            f"domain {names[looped[0]]!r} has an edge to itself"
            f"{f' (and {more} more do)' if more else ''}: "
            "leave self-loops out (in a matrix, set the diagonal to 0)"
        )


def _symmetric(names: tuple[Name, ...], matrix: Weights, largest: float) -> Weights:
    """Refuse edges that differ by direction; average away mere rounding."""
    transposed = matrix.T.tocsr()
    gap = sparse.coo_array(matrix - transposed)
    wrong = np.abs(gap.data) > _ROUNDING * largest
    if wrong.any():
        entry = int(np.argmax(wrong))
        row, column = int(gap.row[entry]), int(gap.col[entry])
        raise ValueError(
            f"the edge between {names[row]!r} and {names[column]!r} weighs "
            f"{matrix[row, column]:g} one way and {matrix[column, row]:g} the other, but edges "
            "have no direction: give both the same weight, for example (A + A.T) / 2"
        )
    if gap.count_nonzero():
        matrix = _as_csr((matrix + transposed) / 2)
    return matrix
