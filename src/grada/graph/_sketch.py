"""Sketches of domains: vectors whose Euclidean distances are distances between distributions.

Nearest neighbours among vectors need no matrix of all pairs, so thousands of domains cost little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.decomposition import PCA
from sklearn.utils import check_array

from grada.graph._types import Codes, Floats

DISTANCES = ("sliced-wasserstein", "energy", "mmd")
_N_DIRECTIONS = 64
_N_LEVELS = 16
_MOST_AXES = 32
# A domain of one row and so many more has half its own shape, and half that of all domains.
_SHAPE_ROWS = 2.0
# Sampling variance of a quantile, averaged over the levels, in units of variance / rows.
_QUANTILE_NOISE = 2.0


def read_rows(X: Any) -> Floats:
    """Read a table as numbers: categories become columns of 0 and 1, images become vectors."""
    if isinstance(X, pd.DataFrame):
        return _read_frame(X)
    array = np.asarray(check_array(X, dtype="numeric", ensure_all_finite=False, allow_nd=True))
    numbers: Floats = array.reshape(len(array), -1).astype(np.float64)
    _refuse_gaps(numbers, range(numbers.shape[1]))
    return numbers


def _read_frame(frame: pd.DataFrame) -> Floats:
    gaps = frame.isna().to_numpy()
    if gaps.any():
        row, column = np.argwhere(gaps)[0].tolist()
        raise ValueError(
            f"Input X contains NaN: column {frame.columns[column]!r} has no value in row {row}. "
            "Fill the gap or drop the row."
        )
    coded = pd.get_dummies(frame.infer_objects(), dtype=float)
    if not coded.shape[1]:
        raise ValueError("X has no feature column: 0 feature(s), at least 1 is required.")
    numbers: Floats = coded.to_numpy(dtype=np.float64)
    _refuse_gaps(numbers, coded.columns)
    return numbers


def _refuse_gaps(numbers: Floats, columns: Any) -> None:
    finite = np.isfinite(numbers)
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        what = "NaN" if np.isnan(numbers[row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {what}: column {columns[column]!r}, row {row}. "
            "Fill the gap or drop the row."
        )


def sketch(rows: Floats, codes: Codes, distance: str, generator: np.random.Generator) -> Floats:
    r"""Turn the rows of each domain into a vector.

    .. math:: |s_i - s_j|^2 \approx \sum_l r_l \, D(\theta_l^\top X_i, \theta_l^\top X_j)^2

    over random directions :math:`\theta_l` and the axes, with :math:`D` between distributions on
    the line: of their quantiles (``"sliced-wasserstein"``), of their distribution functions
    (``"energy"``), or of their characteristic functions (``"mmd"``, Gaussian kernel with random
    features). :math:`r_l` is the share of the differences between domains, along a direction, that
    is not explained by the draw of the rows: columns of noise do not count.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
    codes : ndarray of int64, shape (n_rows,)
        Domain of each row: every number from 0 on has at least one row.
    distance : {"sliced-wasserstein", "energy", "mmd"}
    generator : Generator
        Source of the directions.

    Returns
    -------
    ndarray of shape (n_domains, n_directions * n_levels)
    """
    counts = np.bincount(codes)
    axes = _axes(_standardised(rows), codes, counts, generator)
    n_random = max(_N_DIRECTIONS - axes.shape[1], _N_DIRECTIONS // 2) if axes.shape[1] > 1 else 0
    turns = generator.standard_normal((axes.shape[1], n_random))
    directions = np.hstack([np.eye(axes.shape[1]), turns / np.linalg.norm(turns, axis=0)])
    order = np.argsort(codes, kind="stable")
    axes, codes = axes[order], codes[order]
    blocks, signal = [], []
    for direction in directions.T:
        values = axes @ direction
        block, noise = _BLOCKS[distance](values, codes, counts)
        between = float(block.var(axis=0).sum())
        blocks.append(block)
        signal.append(max(0.0, 1 - noise / between) if between > 0 else 0.0)
    # Where nothing stands out from the noise, all directions count the same.
    share = np.array(signal) if any(signal) else np.ones(len(signal))
    return np.hstack(np.sqrt(share / share.sum())[:, None, None] * np.stack(blocks))


def _standardised(rows: Floats) -> Floats:
    """Columns of median 0 and deviation about 1, blind to a few wild values."""
    low, middle, high = np.quantile(rows, [0.05, 0.5, 0.95], axis=0)
    # Of a normal distribution, 3.29 deviations lie between the two.
    spread = (high - low) / 3.29
    spread = np.where(spread > 0, spread, rows.std(axis=0))
    scaled: Floats = np.clip((rows - middle) / np.where(spread > 0, spread, 1.0), -10, 10)
    return scaled


def _axes(rows: Floats, codes: Codes, counts: Codes, generator: np.random.Generator) -> Floats:
    """The columns; of many, the main directions of the rows and of the means of the domains."""
    if rows.shape[1] <= _MOST_AXES:
        return rows
    seed = int(generator.integers(2**31))
    parts = []
    for table in (rows, _sums(rows, codes, len(counts)) / counts[:, None]):
        width = min(_MOST_AXES // 2, *table.shape)
        model = PCA(width, svd_solver="randomized", random_state=seed).fit(table)
        parts.append(model.transform(rows))
    return _standardised(np.hstack(parts))


def _sums(rows: Floats, codes: Codes, n_domains: int) -> Floats:
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_domains))
    total: Floats = np.add.reduceat(rows[order], starts, axis=0)
    return total


def _moments(values: Floats, codes: Codes, counts: Codes) -> tuple[Floats, float]:
    """Mean of each domain, and the variance within domains."""
    mean = np.bincount(codes, values) / counts
    within = float(((values - mean[codes]) ** 2).sum()) / max(len(values) - len(counts), 1)
    return mean, within


def _quantile_block(values: Floats, codes: Codes, counts: Codes) -> tuple[Floats, float]:
    """Quantiles of each domain at equal levels, and their sampling variance."""
    lowest, width = float(values.min()), float(np.ptp(values)) + 1.0
    # Codes are sorted, so one sort of all values, domain after domain, sorts each.
    ranked = np.sort(codes * width + (values - lowest)) - codes * width + lowest
    levels = (np.arange(_N_LEVELS) + 0.5) / _N_LEVELS
    place = np.clip(levels * counts[:, None] - 0.5, 0, counts[:, None] - 1)
    start = (np.cumsum(counts) - counts)[:, None]
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, counts[:, None] - 1)
    part = place - below
    found = (1 - part) * ranked[start + below] + part * ranked[start + above]
    mean, within = _moments(values, codes, counts)
    shape = found - mean[:, None]
    own = ((counts - 1) / (counts - 1 + _SHAPE_ROWS))[:, None]
    shape = own * shape + (1 - own) * np.average(shape, axis=0, weights=counts)
    noise = _QUANTILE_NOISE * within * float(np.mean(1 / counts))
    return (mean[:, None] + shape) / np.sqrt(_N_LEVELS), noise


def _mean_block(features: Floats, codes: Codes, counts: Codes) -> tuple[Floats, float]:
    """Means of features of the rows in each domain, and their sampling variance."""
    parts = [_moments(column, codes, counts) for column in features.T]
    noise = sum(within for _, within in parts) * float(np.mean(1 / counts))
    return np.column_stack([mean for mean, _ in parts]), noise


def _step_block(values: Floats, codes: Codes, counts: Codes) -> tuple[Floats, float]:
    """Smoothed distribution function of each domain, at quantiles of all rows."""
    places = np.quantile(values, (np.arange(_N_LEVELS) + 0.5) / _N_LEVELS)
    width = max(float(np.ptp(places)), 1e-12) / _N_LEVELS
    return _mean_block(ndtr((places - values[:, None]) / width), codes, counts)


def _wave_block(values: Floats, codes: Codes, counts: Codes) -> tuple[Floats, float]:
    """Characteristic function of each domain at fixed frequencies, those of a normal kernel."""
    frequency = np.linspace(0.2, 2.0, _N_LEVELS // 2)
    waves = values[:, None] * frequency
    return _mean_block(np.hstack([np.cos(waves), np.sin(waves)]), codes, counts)


_BLOCKS = {"sliced-wasserstein": _quantile_block, "energy": _step_block, "mmd": _wave_block}
