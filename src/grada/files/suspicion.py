"""Columns that look like identifiers, or that give the label away."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grada.files._profile import Profile
from grada.files.columns import DISTINCT_LIMIT, Column

#: Fewer rows say nothing: in a tiny table much is unique, and much fits the label by chance.
_ENOUGH = 20
_ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|key|index|idx|rowid|row)$|^(id|uuid)_", re.I)
_MANY_TEXTS = 200


def identifier(seen: Profile, column: Column) -> str | None:
    """Say why a column looks like a name of its row, if it does."""
    if seen.n_values < _ENOUGH or column.type in ("boolean", "date"):
        return None
    many = column.n_distinct >= min(seen.n_values // 2, DISTINCT_LIMIT)
    if column.type == "number" and not seen.whole:
        return None
    if column.type == "number" and seen.counts_up:
        return "counts up from row to row: it looks like an identifier"
    if seen.all_distinct:
        return "is different in every row: it looks like an identifier"
    if many and _ID_NAME.search(column.name):
        return "has the name and the many values of an identifier"
    if column.type == "text" and column.n_distinct > _MANY_TEXTS:
        return f"has {column.n_distinct:,} different texts, each a column of its own for a model"
    return None


def leak(values: pd.Series[Any], labels: pd.Series[Any], regression: bool) -> str | None:
    """Say how a column gives the label away, if it does.

    Parameters
    ----------
    values : Series of float or str
        The column in a sample of rows.
    labels : Series
        The labels of the same rows, where they may be seen.
    regression : bool

    Returns
    -------
    str or None
    """
    gone, hidden = values.isna().to_numpy(), labels.isna().to_numpy()
    known = ~gone & ~hidden
    if int(known.sum()) < _ENOUGH:
        return None
    if gone.any() and np.array_equal(gone, hidden):
        return "is missing exactly where the label is missing"
    codes, kinds = pd.factorize(values[known])
    marks, classes = pd.factorize(labels[known])
    if len(classes) < 2 or len(kinds) < 2:
        return None
    pairs = len(np.unique(codes.astype(np.int64) * len(classes) + marks))
    if len(kinds) == len(classes) == pairs and (not regression or len(kinds) * 2 <= known.sum()):
        return "says the same as the label in other words"
    if regression:
        return _correlated(values[known], labels[known])
    if len(kinds) * 5 <= known.sum() and pairs == len(kinds):
        return "tells the class without error on its own"
    if pd.api.types.is_numeric_dtype(values.dtype) and _separates(values[known], marks):
        return "tells the class without error on its own"
    return None


def _correlated(values: pd.Series[Any], labels: pd.Series[Any]) -> str | None:
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return None
    with np.errstate(all="ignore"):
        found = float(np.corrcoef(values.to_numpy(float), labels.to_numpy(float))[0, 1])
    if np.isfinite(found) and abs(found) > 0.999:
        return f"is nearly the label itself (correlation {found:.4f})"
    return None


def _separates(values: pd.Series[Any], marks: NDArray[Any]) -> bool:
    """Whether every class has a stretch of the number line of its own."""
    numbers = values.to_numpy(float)
    order = np.argsort(numbers, kind="stable")
    changes = marks[order][1:] != marks[order][:-1]
    tied = numbers[order][1:] == numbers[order][:-1]
    few = int(changes.sum()) == len(np.unique(marks)) - 1
    return few and not bool((changes & tied).any())
