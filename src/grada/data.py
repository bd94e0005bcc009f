"""From a table and a graph to numbers: features, visible labels, domain codes.

Everything a method learns from passes through :class:`DomainData`, which has no room for a
hidden label: a row without a label carries none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from grada.graph import DomainGraph

Kind = Literal["classification", "regression"]
FloatArray: TypeAlias = NDArray[np.floating[Any]]

#: Texts that NumPy and pandas make of a missing value; as labels they are surely a mistake.
_TEXT_OF_MISSING = frozenset({"nan", "NaN", "None", "<NA>", "NaT"})


@dataclass(frozen=True)
class DomainData:
    """Rows of many domains as a method sees them.

    Attributes
    ----------
    X : float32 array of shape (n_rows, ...)
        Encoded and scaled features.
    codes : int64 array of shape (n_rows,)
        Position of each row's domain in ``graph.names``.
    y : int64 array (n_rows,) of class codes, or float32 array (n_rows, n_outputs)
        Visible labels; -1 or NaN where there is none.
    weight : float32 array of shape (n_rows,)
        Weight of each label, mean one over the labelled rows, zero without a label.
    graph : DomainGraph
    kind : {"classification", "regression"}
    n_outputs : int
        Number of classes, or of values to predict.
    pair_key : int64 array of shape (n_rows,), optional
        Codes of the column named by ``pair_on``.

    Examples
    --------
    >>> graph = DomainGraph.chain(["a", "b"])
    >>> data = DomainData.from_table([[0.0], [1.0], [2.0]], ["no", "yes", None],
    ...                              ["a", "a", "b"], graph=graph, kind="classification")
    >>> data.y
    array([ 0,  1, -1])
    >>> [graph.names[code] for code in data.targets]
    ['b']
    """

    X: NDArray[np.float32]
    codes: NDArray[np.int64]
    y: NDArray[Any]
    weight: NDArray[np.float32]
    graph: DomainGraph
    kind: Kind
    n_outputs: int
    pair_key: NDArray[np.int64] | None = None

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: Any,
        sample_domain: Any,
        *,
        graph: DomainGraph,
        kind: Kind,
        missing_label: object = None,
        pair_on: str | int | None = None,
    ) -> DomainData:
        """Read a table (array or DataFrame), labels with gaps, and the domain of each row."""
        features = FeatureEncoder().fit(X)
        labels = Labels.read(y, kind=kind, missing_label=missing_label)
        coder = LabelCoder.fit(labels)
        return cls(
            X=features.transform(X),
            codes=graph.index(sample_domain),
            y=coder.encode(labels),
            weight=label_weights(labels),
            graph=graph,
            kind=kind,
            n_outputs=coder.n_outputs,
            pair_key=None if pair_on is None else factorize_column(X, pair_on),
        )

    @property
    def labelled(self) -> NDArray[np.int64]:
        """Rows that have a label of positive weight."""
        return np.flatnonzero(self.weight > 0)

    @property
    def sources(self) -> NDArray[np.int64]:
        """Domains with at least one labelled row."""
        return np.unique(self.codes[self.labelled])

    @property
    def targets(self) -> NDArray[np.int64]:
        """Domains that have rows but no label."""
        return np.setdiff1d(self.codes, self.sources)

    @property
    def unreachable(self) -> NDArray[np.int64]:
        """Domains of the graph that no path joins to a source."""
        names = [self.graph.names[code] for code in self.sources]
        return np.flatnonzero(np.isinf(self.graph.hop_array(names)))


class FeatureEncoder:
    """Turn a table into scaled numbers: numeric, boolean and categorical columns.

    Numeric and boolean columns are standardised with the mean and deviation of all rows seen in
    ``fit``: features are visible in every domain. Other columns become one column per category;
    a category that was not there in ``fit`` becomes zeros.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.0, 3.0], "colour": ["red", "blue"]})
    >>> FeatureEncoder().fit(frame).transform(frame)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]], dtype=float32)
    """

    transformer: ColumnTransformer | StandardScaler | None

    def fit(self, X: Any, *, allow_nd: bool = False) -> FeatureEncoder:
        """Learn scales and categories."""
        table = _read_features(X, allow_nd=allow_nd)
        self.allow_nd = allow_nd
        if isinstance(table, pd.DataFrame):
            numeric = [name for name in table if _is_numeric(table[name])]
            other = [name for name in table if name not in set(numeric)]
            one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts = [("numeric", StandardScaler(), numeric), ("categorical", one_hot, other)]
            self.transformer = ColumnTransformer(parts)
        else:
            # Images and the like come with an encoder of the user's, who knows their scale.
            self.transformer = StandardScaler() if table.ndim == 2 else None
        if self.transformer is not None:
            self.transformer.fit(table)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Encode a table with the same columns."""
        table = _read_features(X, allow_nd=self.allow_nd)
        if self.transformer is None:
            return np.ascontiguousarray(table, dtype=np.float32)
        encoded = self.transformer.transform(table)
        return np.ascontiguousarray(encoded, dtype=np.float32)


def _is_numeric(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def _read_features(X: Any, *, allow_nd: bool) -> Any:
    """Array of numbers, or a DataFrame if some column is not numeric; finite and complete."""
    if isinstance(X, pd.DataFrame) and not all(_is_numeric(X[name]) for name in X):
        frame = X.copy(deep=False)
        for name in frame:
            column = frame[name]
            if _is_numeric(column):
                frame[name] = column.astype(np.float64)
                if not np.isfinite(frame[name]).all():
                    raise ValueError(_not_finite(frame[name].to_numpy(), f"column {name!r}"))
            elif column.isna().any():
                raise ValueError(
                    f"Input X contains NaN: column {name!r} has no value in row "
                    f"{int(np.argmax(column.isna().to_numpy()))}. Fill the gap, for example with "
                    "a category of its own."
                )
            else:
                frame[name] = column.astype(str)
        return frame
    array = check_array(X, dtype="numeric", ensure_all_finite=False, allow_nd=allow_nd)
    array = np.asarray(array, dtype=np.float64)
    finite = np.isfinite(array)
    if not finite.all():
        column_number = int(np.argwhere(~finite)[0, 1])
        names = list(X.columns) if isinstance(X, pd.DataFrame) else None
        label = f"column {names[column_number]!r}" if names else f"column {column_number}"
        raise ValueError(_not_finite(array[:, column_number].reshape(len(array), -1)[:, 0], label))
    return array


def _not_finite(values: FloatArray, label: str) -> str:
    row = int(np.argmax(~np.isfinite(values)))
    what = "NaN" if np.isnan(values[row]) else "infinity"
    return (
        f"Input X contains {what}: {label}, row {row} (of {int((~np.isfinite(values)).sum())} "
        "such values in it: NaN or inf). Remove these rows or fill the gaps first, for example "
        "with sklearn.impute.SimpleImputer."
    )


def factorize_column(X: Any, column: str | int) -> NDArray[np.int64]:
    """Codes of the values of one column, for ``pair_on``."""
    if isinstance(X, pd.DataFrame):
        if column not in X.columns:
            raise ValueError(f"pair_on names column {column!r}, which X does not have.")
        values: Any = X[column]
    else:
        array = np.asarray(X)
        if not isinstance(column, (int, np.integer)) or not 0 <= column < array.shape[1]:
            raise ValueError(
                f"pair_on={column!r}: X is an array with {array.shape[1]} columns, so give the "
                "number of one."
            )
        values = array[:, column]
    codes, _ = pd.factorize(values)
    return np.asarray(codes, dtype=np.int64)


@dataclass(frozen=True)
class Labels:
    """Labels with gaps, before coding: ``values`` of the known rows only, and which they are."""

    values: NDArray[Any]
    known: NDArray[np.bool_]
    kind: Kind
    flat: bool = True

    @classmethod
    def read(cls, y: Any, *, kind: Kind, missing_label: object = None) -> Labels:
        """Read labels in which NaN, None, NA or ``missing_label`` mean "no label"."""
        raw = _as_label_array(y)
        if raw.ndim == 2 and raw.shape[1] == 1:
            raw = column_or_1d(raw, warn=True)
        missing: NDArray[np.bool_] = np.asarray(pd.isna(raw))
        if missing_label is not None:
            missing |= np.asarray(raw == missing_label)
        flat = raw.ndim == 1
        if not flat:
            if kind == "classification":
                raise ValueError(
                    f"y has shape {raw.shape}: a classifier takes one column of class labels."
                )
            partial = missing.any(axis=1) & ~missing.all(axis=1)
            if partial.any():
                raise ValueError(
                    f"Row {int(np.argmax(partial))} of y has labels for some outputs only "
                    f"({int(partial.sum())} such rows). Give all of them, or none."
                )
            missing = np.asarray(missing.all(axis=1))
        values = raw[~missing]
        if not len(values):
            raise ValueError(
                "No row has a label: y is missing everywhere. Give the labels of at least one "
                "domain (missing ones as NaN, None or NA)."
            )
        read = _read_classes if kind == "classification" else _read_values
        return cls(values=read(values), known=~missing, kind=kind, flat=flat)


def _as_label_array(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Give one label "
            "per row, with NaN, None or NA where there is none."
        )
    if sparse.issparse(y):
        raise TypeError("y is a sparse matrix; give a dense array of labels.")
    if isinstance(y, (pd.Series, pd.DataFrame, pd.Index)) or hasattr(y, "categories"):
        raw = np.asarray(y, dtype=object)
        if isinstance(y, pd.DataFrame):
            raw = raw.reshape(len(y), -1)
    else:
        raw = np.asarray(y) if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if raw.ndim not in (1, 2):
        raise ValueError(f"y should be a 1d array, got an array of shape {raw.shape} instead.")
    if raw.dtype.kind == "c" or any(isinstance(value, complex) for value in raw.flat[:1]):
        raise ValueError("Complex data not supported: y holds complex numbers.")
    return raw


def _read_classes(values: NDArray[Any]) -> NDArray[Any]:
    """Class labels in a dtype that sorts; texts that stand for a missing value are refused."""
    values = np.asarray(values.tolist()) if values.dtype == object else values
    if values.dtype.kind in "US":
        suspicious = sorted(_TEXT_OF_MISSING & set(np.unique(values).astype(str)))
        if suspicious:
            raise ValueError(
                f"y holds the text {suspicious[0]!r} as a label, which is what NumPy makes of a "
                "missing value among strings. Keep y as an object array or a pandas column so "
                f"that None stays None, or say missing_label={suspicious[0]!r}."
            )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    check_classification_targets(values)
    if type_of_target(values) not in ("binary", "multiclass"):
        raise ValueError(f"Unknown label type: {type_of_target(values)}.")
    return values


def _read_values(values: NDArray[Any]) -> NDArray[Any]:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y holds {values.flat[0]!r}, which is not a number. A regressor takes numbers; for "
            "class labels use AdaptedClassifier."
        ) from error
    if not np.isfinite(numbers).all():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    return numbers


@dataclass(frozen=True)
class LabelCoder:
    """Between the user's labels and what networks predict: class codes, or standard units."""

    kind: Kind
    n_outputs: int
    flat: bool
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    classes: NDArray[Any] | None = None

    @classmethod
    def fit(cls, labels: Labels) -> LabelCoder:
        """Learn classes, or the mean and deviation of the visible values."""
        if labels.kind == "classification":
            classes = np.unique(labels.values)
            none = np.zeros(0)
            return cls("classification", len(classes), True, none, none, classes)
        values = labels.values.reshape(len(labels.values), -1)
        deviation = values.std(axis=0)
        scale = np.where(deviation > 1e-12 * np.maximum(1.0, np.abs(values).max()), deviation, 1.0)
        center = values.mean(axis=0)
        return cls("regression", values.shape[1], labels.flat, center, scale)

    def encode(self, labels: Labels) -> NDArray[Any]:
        """Codes with -1, or standard units with NaN, for rows without a label."""
        if self.classes is not None:
            codes = np.full(len(labels.known), -1, dtype=np.int64)
            codes[labels.known] = np.searchsorted(self.classes, labels.values)
            return codes
        units = np.full((len(labels.known), self.n_outputs), np.nan, dtype=np.float32)
        values = labels.values.reshape(len(labels.values), -1)
        units[labels.known] = (values - self.center) / self.scale
        return units

    def decode(self, output: FloatArray) -> NDArray[Any]:
        """Labels from class probabilities (n, n_classes), or values from standard units."""
        if self.classes is not None:
            return np.asarray(self.classes[output.argmax(axis=1)])
        values = output * self.scale + self.center
        return np.asarray(values[:, 0] if self.flat else values)


def label_weights(
    labels: Labels,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> NDArray[np.float32]:
    """Weight of every row's label: zero without one, mean one over those that count.

    Examples
    --------
    >>> labels = Labels.read(["a", "a", "a", "b", None], kind="classification")
    >>> label_weights(labels, class_weight="balanced").round(2)
    array([0.67, 0.67, 0.67, 2.  , 0.  ], dtype=float32)
    """
    weight = np.zeros(len(labels.known), dtype=np.float64)
    weight[labels.known] = 1.0
    if class_weight is not None:
        weight[labels.known] *= compute_sample_weight(class_weight, labels.values)
    if sample_weight is not None:
        given = column_or_1d(np.asarray(sample_weight, dtype=np.float64))
        if len(given) != len(weight):
            raise ValueError(
                f"sample_weight has {len(given)} entries, but there are {len(weight)} rows."
            )
        if not np.isfinite(given).all() or (given < 0).any():
            raise ValueError("sample_weight must be finite and not negative.")
        weight *= given
    if not (weight > 0).any():
        raise ValueError("Every labelled row has sample_weight zero: nothing to learn from.")
    return np.asarray(weight / weight[weight > 0].mean(), dtype=np.float32)
