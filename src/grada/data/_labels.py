"""Labels: with gaps, weighted, and coded for a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

Kind = Literal["classification", "regression"]
ClassWeight = Mapping[Any, float] | str | None

#: Texts that NumPy and pandas make of a missing value; as labels they are surely a mistake.
_TEXT_OF_MISSING = frozenset({"nan", "NaN", "None", "<NA>", "NaT"})


@dataclass(frozen=True)
class Labels:
    """Labels with gaps, before coding.

    Attributes
    ----------
    given : array
        Values of the known rows only; for classes their positions in ``classes``.
    known : bool array of shape (n_rows,)
        Which rows those are. A label of weight zero is not known: nothing may learn from it.
    weight : float array of shape (n_rows,)
        Weight of every label, mean one over the known rows, zero elsewhere.
    kind : {"classification", "regression"}
    flat : bool
        Whether there is one label per row.
    classes : array, optional
        The different classes, sorted.
    """

    given: NDArray[Any]
    known: NDArray[np.bool_]
    weight: NDArray[np.float64]
    kind: Kind
    flat: bool = True
    classes: NDArray[Any] | None = None

    @property
    def values(self) -> NDArray[Any]:
        """Labels of the known rows only, as the user gave them."""
        return self.given if self.classes is None else np.asarray(self.classes[self.given])

    @classmethod
    def read(
        cls,
        y: Any,
        *,
        kind: Kind,
        missing_label: object = None,
        sample_weight: ArrayLike | None = None,
        class_weight: ClassWeight = None,
    ) -> Self:
        """Read labels in which NaN, None, NA or ``missing_label`` mean "no label".

        Classes in a pandas Categorical are read by its codes: nothing is made for every row.

        Examples
        --------
        >>> labels = Labels.read(["a", "a", "a", "b", None], kind="classification",
        ...                      class_weight="balanced")
        >>> labels.weight.round(2)
        array([0.67, 0.67, 0.67, 2.  , 0.  ])
        """
        coded = kind == "classification" and isinstance(y, pd.Categorical)
        raw = y.codes if coded else _as_label_array(y)
        if raw.ndim == 2 and raw.shape[1] == 1:
            raw = column_or_1d(raw, warn=True)
        look_at = np.asarray(y.categories, dtype=object) if coded else raw
        missing = _missing(look_at, missing_label, kind)
        if coded:
            missing = np.append(missing, True)[raw]  # a code of -1, no label, finds the last entry
        weight = _sample_weights(sample_weight, len(raw))
        if missing.all():
            raise ValueError(
                "No row has a label: y is missing everywhere. Give the labels of at least one "
                "domain (missing ones as NaN, None or NA)."
            )
        known = ~missing & (weight > 0)
        if not known.any():
            raise ValueError("Every labelled row has sample_weight zero: nothing to learn from.")
        weight = np.where(known, weight, 0.0)
        rows, classes = np.flatnonzero(known), None
        if coded:
            given, classes = _read_codes(raw[known], rows, look_at)
        elif kind == "classification":
            classes, given = np.unique(_read_classes(raw[known], rows), return_inverse=True)
        else:
            given = _read_values(raw[known], rows)
        if class_weight is not None and classes is not None:
            weight[known] *= _class_weights(class_weight, classes[given])
            kept = weight[known] > 0
            known = known & (weight > 0)
            used, given = np.unique(given[kept], return_inverse=True)
            classes = classes[used]
        weight /= weight[known].mean()
        return cls(given, known, weight, kind, flat=raw.ndim == 1, classes=classes)


def _read_codes(
    codes: NDArray[Any], rows: NDArray[np.int64], categories: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Positions of the labels among the classes that come up, and these classes, sorted."""
    used, first, place = np.unique(codes, return_index=True, return_inverse=True)
    found = categories[used]
    # Twice each, as scikit-learn wonders about classes that come up once.
    twice = _read_classes(np.repeat(found, 2), np.repeat(rows[first], 2))
    classes, order = np.unique(twice[::2], return_inverse=True)
    return order[place], classes


def _missing(raw: NDArray[Any], missing_label: object, kind: Kind) -> NDArray[np.bool_]:
    missing = np.array(pd.isna(raw))
    if not pd.api.types.is_scalar(missing_label):
        raise ValueError(f"missing_label={missing_label!r}: give one value, not several.")
    if not pd.isna(missing_label):  # type: ignore[call-overload]
        there = ~missing
        missing[there] = np.asarray(raw[there] == missing_label, dtype=bool)
    if raw.ndim == 1:
        return missing
    if kind == "classification":
        raise ValueError(f"y has shape {raw.shape}: a classifier takes one column of class labels.")
    partial = missing.any(axis=1) & ~missing.all(axis=1)
    if partial.any():
        raise ValueError(
            f"Row {int(np.argmax(partial))} of y has labels for some outputs only "
            f"({int(partial.sum())} such rows). Give all of them, or none."
        )
    return np.asarray(missing.all(axis=1))


def _as_label_array(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Give one label "
            "per row, with NaN, None or NA where there is none."
        )
    if sparse.issparse(y):
        raise TypeError("y is a sparse matrix; give a dense array of labels.")
    raw = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if raw.ndim not in (1, 2):
        raise ValueError(f"y should be a 1d array, got an array of shape {raw.shape} instead.")
    if raw.dtype.kind == "c" or any(isinstance(value, complex) for value in raw.flat[:1]):
        raise ValueError("Complex data not supported: y holds complex numbers.")
    return raw


def _read_classes(values: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Class labels in a dtype that sorts; texts that stand for a missing value are refused."""
    if values.dtype == object:
        text = np.array([isinstance(value, str) for value in values])
        if text.any() and not text.all():
            number = int(np.argmin(text))
            raise ValueError(
                f"y mixes texts and other labels: {values[int(np.argmax(text))]!r} and "
                f"{values[number]!r} (row {rows[number]}). Make all of them texts."
            )
        values = np.asarray(values.tolist())
    if values.dtype.kind in "US":
        suspicious = sorted(_TEXT_OF_MISSING & set(np.unique(values).astype(str).tolist()))
        if suspicious:
            raise ValueError(
                f"y holds the text {suspicious[0]!r} as a label, which is what NumPy makes of a "
                "missing value among texts. Give None itself (in an object array or a pandas "
                f"column), or say missing_label={suspicious[0]!r}. A class of that name must be "
                "renamed."
            )
    if values.dtype.kind == "f":
        _check_no_infinity(values, rows)
    check_classification_targets(values)
    return values


def _read_values(values: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        row, value = next(
            (row, value)
            for row, entry in zip(rows, values, strict=True)
            for value in np.ravel(np.asarray(entry, dtype=object))
            if not _is_number(value)
        )
        raise ValueError(
            f"Row {row} of y holds {value!r}, which is not a number. A regressor takes numbers; "
            "for class labels use AdaptedClassifier."
        ) from error
    _check_no_infinity(numbers, rows)
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _check_no_infinity(values: NDArray[Any], rows: NDArray[np.int64]) -> None:
    infinite = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if infinite.any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'): row "
            f"{rows[int(np.argmax(infinite))]}. Correct it, or make it NaN if there is no label."
        )


def _sample_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n_rows)
    given = np.asarray(column_or_1d(np.asarray(sample_weight, dtype=np.float64)))
    if len(given) != n_rows:
        raise ValueError(f"sample_weight has {len(given)} entries, but there are {n_rows} rows.")
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return given


def _class_weights(class_weight: ClassWeight, values: NDArray[Any]) -> NDArray[np.float64]:
    weight = np.asarray(compute_sample_weight(class_weight, values), dtype=np.float64)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(f"class_weight must be finite and not negative, got {class_weight!r}.")
    return weight


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
    def fit(cls, labels: Labels) -> Self:
        """Learn classes, or the mean and deviation of the visible values."""
        if labels.classes is not None:
            classes, none = labels.classes, np.zeros(0)
            if len(classes) < 2:
                raise ValueError(
                    f"All labels are of one class ({classes[:1].tolist()[0]!r}): a classifier "
                    "needs at least two classes among the labelled rows."
                )
            return cls("classification", len(classes), True, none, none, classes)
        values = labels.values.reshape(len(labels.values), -1)
        with np.errstate(over="ignore", invalid="ignore"):
            center, deviation = values.mean(axis=0), values.std(axis=0)
        if not np.isfinite(deviation).all():
            raise ValueError("The values of y are too large to be scaled. Use another unit.")
        constant = deviation <= 1e-12 * np.abs(values).max(axis=0)
        return cls(
            "regression", values.shape[1], labels.flat, center, np.where(constant, 1.0, deviation)
        )

    def encode(self, labels: Labels) -> NDArray[Any]:
        """Codes with -1, or standard units with NaN, for rows without a label."""
        if self.classes is not None:
            codes = np.full(len(labels.known), -1, dtype=np.int64)
            codes[labels.known] = labels.given
            return codes
        units = np.full((len(labels.known), self.n_outputs), np.nan, dtype=np.float32)
        values = labels.values.reshape(len(labels.values), -1)
        units[labels.known] = (values - self.center) / self.scale
        return units

    def decode(self, output: NDArray[np.float64]) -> NDArray[Any]:
        """Labels from class probabilities (n, n_classes), or values from standard units."""
        if self.classes is not None:
            return np.asarray(self.classes[output.argmax(axis=1)])
        values = output * self.scale + self.center
        return np.asarray(values[:, 0] if self.flat else values)
