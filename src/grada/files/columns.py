"""What a column of a table is, and its values as numbers or texts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grada.files._values import are_dates, are_na, days_of, filled, is_text, numbers_in, truths_of
from grada.files.errors import FileError, quoted

ColumnType: TypeAlias = Literal["number", "boolean", "date", "text"]

#: The category of texts that are missing.
NO_VALUE = "(no value)"
#: Different values are counted so far.
DISTINCT_LIMIT = 10_000


@dataclass(frozen=True)
class Column:
    """A feature of a table: what it holds and what is odd about it.

    Parameters
    ----------
    name : str
    type : {"number", "boolean", "date", "text"}
        Booleans become 0 and 1, dates days since 1970, texts stay categories.
    n_missing : int
    n_distinct : int
        Different values; counted to `DISTINCT_LIMIT`, where it means "so many or more".
    note : str
        What to know about it, empty if nothing.
    first_missing : int, optional
        Line (or row) of the first missing value.
    categories : tuple of str
        The different texts of a text column, sorted; empty if there are too many.
    fill : float or str, optional
        What stands in for a missing value: the median of a sample of the rows, or a category of
        its own. None: gaps stay.

    Examples
    --------
    >>> Column("rain", "number", 0, 12).to_dict()["type"]
    'number'
    """

    name: str
    type: ColumnType
    n_missing: int = 0
    n_distinct: int = 0
    note: str = ""
    first_missing: int | None = None
    categories: tuple[str, ...] = ()
    fill: float | str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self) | {"categories": list(self.categories)}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Column:
        """Back from `to_dict`."""
        return cls(**{**saved, "categories": tuple(saved.get("categories", ()))})


@dataclass
class First:
    """Where something was seen first, and what stood there."""

    line: int | None = None
    text: str = ""

    def see(self, mask: pa.Array, values: pa.Array, lines: NDArray[np.int64]) -> int:
        """Count what the mask marks, and remember the first of it."""
        marked = mask.to_numpy(zero_copy_only=False)
        count = int(marked.sum())
        if count and self.line is None:
            at = int(np.argmax(marked))
            self.line, self.text = int(lines[at]), str(values[at].as_py())
        return count


def convert(
    column: Column, array: pa.Array, lines: NDArray[np.int64], path: Path, place: str
) -> pd.Series[Any]:
    """Turn values of a column into floats, or into texts, as `Column.type` says.

    Parameters
    ----------
    column : Column
    array : pyarrow.Array
        As it was read.
    lines : int array
        Where the values stand, for messages.
    path, place
        Whose lines, or rows.

    Returns
    -------
    Series
        Of float64 with NaN, or of str with NaN where there is none.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    where = (path, place, lines)
    if column.type == "text":
        if not is_text(array.type):
            array = texts_of(array)
        return pd.Series(filled(pc.cast(array, pa.large_string())).to_pandas(), dtype="str")
    if is_text(array.type):
        array = _parsed(column, filled(array), where)
    elif pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
        array = days_of(array)
    else:
        try:
            array = pc.cast(array, pa.float64(), safe=False)
        except pa.ArrowException:
            raise FileError(
                path, f"column {quoted(column.name)} must hold numbers, not {array.type}."
            ) from None
    numbers = np.array(array.to_numpy(zero_copy_only=False), dtype=np.float64)
    infinite = np.isinf(numbers)
    if infinite.any():
        at = int(lines[int(np.argmax(infinite))])
        raise FileError(
            path, f"{place} {at:,}, column {quoted(column.name)}: the number is infinite."
        )
    return pd.Series(numbers)


def _parsed(
    column: Column, texts: pa.Array, where: tuple[Path, str, NDArray[np.int64]]
) -> pa.Array:
    """Texts as the numbers they stand for; what stands for none is refused."""
    if column.type == "number":
        numbers, good = numbers_in(texts)
        if good is None:
            return numbers
        what = "a number"
    elif column.type == "boolean":
        numbers, good = truths_of(texts)
        what = "true or false"
    else:
        numbers, good = days_of(texts), are_dates(texts)
        good = pc.and_(good, pc.is_valid(numbers))
        what = "a date such as 2024-01-31"
    wrong = First()
    path, place, lines = where
    bad = pc.and_(pc.is_valid(texts), pc.invert(pc.or_(good, are_na(texts))))
    if count := wrong.see(pc.fill_null(bad, False), texts, lines):
        more = f" ({count - 1:,} more like it)" if count > 1 else ""
        raise FileError(
            path,
            f"{place} {wrong.line:,}, column {quoted(column.name)}: {quoted(wrong.text)} is not "
            f"{what}{more}.",
        )
    return pc.if_else(pc.fill_null(good, False), numbers, pa.scalar(None, pa.float64()))


def texts_of(array: pa.Array) -> pa.Array:
    """Numbers of a Parquet file as texts: 1.0 reads 1, as in the column it once was."""
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        coded = array.dictionary_encode()
        texts = [_plain(value) for value in coded.dictionary.to_pylist()]
        return pa.array(texts, pa.large_string()).take(coded.indices)
    try:
        return pc.cast(array, pa.large_string())
    except pa.ArrowException:
        return pa.array([str(value) if value is not None else None for value in array.to_pylist()])


def _plain(number: float) -> str:
    whole = math.isfinite(number) and number.is_integer() and abs(number) < 1e15
    return str(int(number)) if whole else str(number)


def name_texts(array: pa.Array) -> pa.Array:
    """Names of domains as texts, as they stand in the file; nothing where a cell is empty."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return filled(array if is_text(array.type) else texts_of(array))
