"""The column of labels: of which kind it is, and its values where they may be seen."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grada.files._profile import Profile
from grada.files.columns import Column, convert
from grada.files.errors import FileError, counted, quoted

Kind: TypeAlias = Literal["classification", "regression"]

#: So many different whole numbers may be classes.
_MOST_CLASSES = 20
#: Note of a column of classes that are whole numbers.
_WHOLE = "whole numbers"
#: What programs write for a missing value among texts; an estimator refuses them as classes.
_TEXTS_OF_MISSING = ("nan", "NaN", "None", "<NA>", "NaT")


def settle_kind(seen: Profile, kind: Kind | None, notes: list[str]) -> tuple[Kind, Column]:
    """Say what the labels are, and how to read them.

    Parameters
    ----------
    seen : Profile
        Of the labels that may be seen.
    kind : {"classification", "regression"} or None
        What the user says.
    notes : list of str
        What was decided is added.

    Returns
    -------
    kind : {"classification", "regression"}
    column : Column
        Of type number (whole numbers become ints in a classification) or text.
    """
    name = quoted(seen.name)
    numbers = seen.n_numbers == seen.n_values and seen.native != "date"
    if kind == "classification":
        if not numbers or seen.native == "boolean":
            return kind, Column(seen.name, "text")
        return kind, Column(seen.name, "number", note=_WHOLE if seen.whole else "")
    found = seen.type()
    if found == "date":
        raise FileError(seen.path, f"the label, column {name}, holds dates. Turn it into numbers.")
    if kind == "regression":
        if found != "number":
            at, text = seen.no_number.line, seen.no_number.text
            where = f"{seen.place} {at:,}, " if at else ""
            what = f"{quoted(text)} is" if at else f"values of type {found} are"
            raise FileError(
                seen.path, f"{where}column {name}: {what} not a number, as a regression needs."
            )
        return kind, Column(seen.name, "number")
    if found != "number":
        notes.append(_said(f"The label {name} holds texts", "classification"))
        return "classification", Column(seen.name, "text")
    different = len({float(value) for value in seen.values if _is_number(value)})
    few = different <= _MOST_CLASSES and (different <= 2 or 2 * different <= seen.n_values)
    if seen.whole and few:
        what = f"The label {name} holds {counted(different, 'different whole number')}"
        notes.append(_said(what, "classification"))
        return "classification", Column(seen.name, "number", note=_WHOLE)
    notes.append(_said(f"The label {name} holds numbers", "regression"))
    return "regression", Column(seen.name, "number")


def _said(what: str, kind: Kind) -> str:
    other = "regression" if kind == "classification" else "classification"
    return f"{what}: taken as a {kind}. If it is a {other}, say so (--kind, or kind=)."


def _is_number(value: Any) -> bool:
    try:
        return not np.isnan(float(value))
    except ValueError:
        return False


def label_values(
    kind: Kind, column: Column, array: pa.Array, where: tuple[Any, str, NDArray[np.int64]]
) -> NDArray[Any]:
    """Labels of some rows: floats with NaN, or classes (ints or texts) with None."""
    path, place, lines = where
    found = convert(column, array, lines, path, place)
    if kind == "regression":
        return np.asarray(found, dtype=np.float64)
    values = np.full(len(found), None, dtype=object)
    known = found.notna().to_numpy()
    if column.type == "number":
        # Whether they are whole is known of the whole file, not of the rows at hand. Other
        # numbers become texts, as an estimator takes them for a regression.
        form = int if column.note == _WHOLE else str
        values[known] = [form(value) for value in found[known].tolist()]
        return values
    values[known] = [None if text in _TEXTS_OF_MISSING else text for text in found[known]]
    return values


def are_texts_of_missing(texts: pa.Array) -> pa.Array:
    """Which texts are what programs write for a missing class."""
    return pc.is_in(texts, pa.array(_TEXTS_OF_MISSING, texts.type))


def odd_classes(seen: Profile) -> list[str]:
    """Remarks on classes that look like missing labels."""
    notes = []
    gone = sorted(seen.values.intersection(_TEXTS_OF_MISSING))
    if gone:
        notes.append(f"The label {gone[0]!r} is taken as missing, as programs write it for that.")
    kept = [text for text in ("NA", "N/A", "n/a", "null", "-", "?") if text in seen.values]
    if kept:
        notes.append(
            f"{kept[0]!r} is taken as a class. If it means that there is no label, leave the cell "
            "empty."
        )
    return notes
