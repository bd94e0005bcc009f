"""Features: columns of a user's table to scaled numbers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Number
from typing import Any, NamedTuple, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_array

from grada.data._lazy import LazyRows


class Quantities(NamedTuple):
    """Columns of a table that are numbers; they come first among the features.

    Attributes
    ----------
    names : tuple of str
        As they are told to a user.
    zero : float64 array of shape (n_numbers,)
        Where zero lies after scaling.
    """

    names: tuple[str, ...]
    zero: NDArray[np.float64]


_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float", "decimal", "boolean"})


class FeatureEncoder:
    """Turn a table into scaled numbers: numeric, boolean and categorical columns.

    Numeric and boolean columns are standardised with the mean and deviation of all rows seen in
    ``fit``: features are visible in every domain. Other columns become one column per category;
    a category that was not there in ``fit`` becomes zeros. What kind a column is, is settled in
    ``fit`` and remembered.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.0, 3.0], "colour": ["red", "blue"]})
    >>> FeatureEncoder().fit(frame).transform(frame)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]], dtype=float32)
    """

    def fit(self, X: Any, *, allow_nd: bool = False) -> Self:
        """Learn kinds, scales and categories. ``allow_nd``: images and the like, left unscaled."""
        self.allow_nd = allow_nd
        self.columns: list[Any] | None = None
        self.categorical: list[int] = []
        self.scaler = self.one_hot = None
        if isinstance(X, LazyRows):
            self._check_lazy(X)
            return self
        if isinstance(X, pd.DataFrame):
            self.columns = list(X.columns)
            if len(set(self.columns)) < len(self.columns):
                twice = next(name for name in self.columns if self.columns.count(name) > 1)
                raise ValueError(f"X has more than one column {twice!r}. Rename one of them.")
            if not self.columns:
                raise ValueError("X has no feature column: 0 feature(s), at least 1 is required.")
            self.categorical = [i for i in range(X.shape[1]) if not _is_numeric(X.iloc[:, i])]
        numbers, categories = self.read(X)
        self.scaler = StandardScaler() if numbers.ndim == 2 and numbers.shape[1] else None
        if self.scaler is not None:
            self.scaler.fit(numbers)
        if categories is not None:
            self.one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self.one_hot.fit(categories)
        return self

    def begin(self, columns: Sequence[str], categorical: Sequence[int]) -> Self:
        """Get ready to `learn` a DataFrame piece by piece.

        Parameters
        ----------
        columns : sequence of str
        categorical : sequence of int
            Which of the columns are categories; all others are numbers.

        Returns
        -------
        self
        """
        self.allow_nd = False
        self.columns, self.categorical = list(columns), list(categorical)
        self.scaler = StandardScaler() if len(categorical) < len(columns) else None
        self.one_hot = None
        return self

    def learn(self, X: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """Learn the scales of the next rows, and return what was read of them."""
        numbers, categories = self.read(X)
        if self.scaler is not None:
            self.scaler.partial_fit(numbers)
        return numbers, categories

    def finish(self, categories: Sequence[Sequence[str]]) -> Self:
        """Take over all that was seen in each of the categorical columns."""
        if categories:
            longest = max(map(len, categories))
            # A table in which every category comes up at least once.
            rows = [[each[row % len(each)] for each in categories] for row in range(longest)]
            self.one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self.one_hot.fit(np.array(rows, dtype=object))
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Encode a table with the same columns; lazy rows stay what they are."""
        if isinstance(X, LazyRows):
            self._check_lazy(X)
            # Asked for rows, its shape and its length, it answers as an array does, and methods
            # with an encoder of their own ask for nothing else.
            return cast("NDArray[np.float32]", X)
        return self.encode(*self.read(X))

    def encode(
        self, numbers: NDArray[np.float64], categories: NDArray[Any] | None
    ) -> NDArray[np.float32]:
        """Encode what `read` made of a table."""
        scaled = numbers if self.scaler is None else self.scaler.transform(numbers)
        with np.errstate(over="ignore"):
            encoded = np.ascontiguousarray(scaled, dtype=np.float32)
        self._check_finite(encoded, "is too large to be used")
        if categories is not None and self.one_hot is not None:
            encoded = np.hstack([encoded, self.one_hot.transform(categories).astype(np.float32)])
        return encoded

    @property
    def quantities(self) -> Quantities | None:
        """Columns that are numbers, none for images."""
        if self.scaler is None:
            return None
        names = range(len(self.scaler.mean_)) if self.columns is None else self.columns
        numbers = [name for i, name in enumerate(names) if i not in self.categorical]
        return Quantities(tuple(map(repr, numbers)), -self.scaler.mean_ / self.scaler.scale_)

    def _check_lazy(self, X: LazyRows) -> None:
        if not self.allow_nd:
            raise ValueError(
                f"X holds rows of shape {X.shape[1:]} that are read from files when needed, which "
                "only a method with an encoder of its own can take. Compute feature vectors first, "
                "task = grada.nn.compute_features(task, encoder), or give the method an encoder, "
                "such as methods.GRDA(encoder=grada.nn.AlexNet())."
            )
        if self.columns is not None or self.scaler is not None:
            raise ValueError(
                f"The model was fitted on a table of numbers, but X holds rows of shape "
                f"{X.shape[1:]}. Give rows of the same kind."
            )

    def read(self, X: Any) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """Numeric columns as an array, categorical ones as an array of texts."""
        if self.columns is None or not isinstance(X, pd.DataFrame):
            if self.categorical:
                raise ValueError(
                    "The model was fitted on a DataFrame with categorical columns: give a "
                    "DataFrame with the same columns."
                )
            array = check_array(X, dtype="numeric", ensure_all_finite=False, allow_nd=self.allow_nd)
            array = np.asarray(array, dtype=np.float64)
            self._check_finite(array, "is no number")
            return array, None
        if list(X.columns) != self.columns:
            raise ValueError(
                f"The columns of X are {_some(X.columns)}, but the model was fitted on "
                f"{_some(self.columns)}. Give the same columns in the same order."
            )
        numeric = [i for i in range(X.shape[1]) if i not in self.categorical]
        numbers = np.empty((len(X), len(numeric)))
        for slot, i in enumerate(numeric):
            numbers[:, slot] = _to_numbers(X.iloc[:, i], self.columns[i])
        self._check_finite(numbers, "is no number")
        if not self.categorical:
            return numbers, None
        texts = [_to_texts(X.iloc[:, i], self.columns[i]) for i in self.categorical]
        return numbers, np.column_stack(texts)

    def _check_finite(self, array: NDArray[Any], complaint: str) -> None:
        finite = np.isfinite(array)
        if finite.all():
            return
        row, *place = np.argwhere(~finite)[0].tolist()
        value = array[(row, *place)]
        what = "NaN" if np.isnan(value) else "infinity"
        where = f"column {place[0]}"
        if self.columns is not None:
            numeric = [i for i in range(len(self.columns)) if i not in self.categorical]
            where = f"column {self.columns[numeric[place[0]]]!r}"
        elif len(place) > 1:
            where = f"place {tuple(place)}"
        raise ValueError(
            f"Input X contains {what}: {where}, row {row}, {complaint} "
            f"({int((~finite).sum())} such values, NaN or inf, in all). Remove these rows or fill "
            "the gaps first, for example with sklearn.impute.SimpleImputer."
        )


def factorize_column(X: Any, column: str | int) -> NDArray[np.int64]:
    """Codes of the values of one column, for ``pair_on``."""
    if isinstance(X, pd.DataFrame):
        if column not in X.columns:
            raise ValueError(f"pair_on names column {column!r}, which X does not have.")
        values: Any = X[column]
    else:
        array = np.asarray(X)
        if array.ndim != 2 or not isinstance(column, Integral) or not 0 <= column < array.shape[1]:
            raise ValueError(
                f"pair_on={column!r}: X is an array of shape {array.shape}, so give the number of "
                "a column of a two-dimensional one."
            )
        values = array[:, int(column)]
    codes, _ = pd.factorize(values)
    return np.asarray(codes, dtype=np.int64)


def _is_numeric(column: pd.Series[Any]) -> bool:
    dtype = column.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype):
        raise ValueError(
            f"Column {column.name!r} holds dates. Turn them into numbers or categories first, such "
            "as the month or the days since a date."
        )
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return True
    return (
        pd.api.types.is_object_dtype(dtype)
        and pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS
    )


def _to_numbers(column: pd.Series[Any], name: object) -> NDArray[np.float64]:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)  # the way below takes ten times as long
    numbers = pd.to_numeric(column, errors="coerce").astype("Float64")
    broken = (numbers.isna() & column.notna()).to_numpy()
    if broken.any():
        row = int(np.argmax(broken))
        raise ValueError(
            f"Column {name!r} is numeric, but row {row} holds {column.iloc[row]!r}, which could "
            "not convert to float. Correct the value."
        )
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def _to_texts(column: pd.Series[Any], name: object) -> NDArray[Any]:
    """Categories as texts; 1 and 1.0 are the same category."""
    codes, values = pd.factorize(column)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"Input X contains NaN: column {name!r} has no value in row {row}. "
            "Fill the gap, for example with a category of its own."
        )
    plain = [
        str(float(v)) if isinstance(v, Number) and not isinstance(v, (bool, complex)) else str(v)  # type: ignore[arg-type]
        for v in values
    ]
    return np.array(plain, dtype=object)[codes]


def _some(names: Any, most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
