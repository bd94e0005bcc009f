"""What a column holds, found over the whole file and not by its first lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grada.files._values import (
    almost_numbers,
    are_booleans,
    are_dates,
    are_na,
    days_of,
    filled,
    is_text,
    numbers_in,
)
from grada.files.columns import DISTINCT_LIMIT, Column, ColumnType, First
from grada.files.errors import FileError, quoted

#: A column with at least this share of numbers is numeric, and what else it holds a mistake.
MOSTLY = 0.95


@dataclass
class Profile:
    """What was seen of a column so far; `finish` decides what it is."""

    name: str
    path: Path
    place: str
    n_rows: int = 0
    n_empty: int = 0
    n_na: int = 0
    n_numbers: int = 0
    n_commas: int = 0
    n_booleans: int = 0
    n_dates: int = 0
    whole: bool = True
    counts_up: bool = True
    all_distinct: bool = True
    native: ColumnType | None = None
    last: float | None = None
    values: set[Any] = field(default_factory=set)
    empty: First = field(default_factory=First)
    na: First = field(default_factory=First)
    no_number: First = field(default_factory=First)
    no_date: First = field(default_factory=First)
    comma: First = field(default_factory=First)
    infinite: First = field(default_factory=First)

    def see(self, array: pa.Array, lines: NDArray[np.int64]) -> None:
        """Look at the next values."""
        self.n_rows += len(array)
        array, native = self._plain(array)
        gone = pc.is_null(array, nan_is_null=True)
        self.n_empty += self.empty.see(gone, array, lines)
        there, at = array.filter(pc.invert(gone)), lines[~gone.to_numpy(zero_copy_only=False)]
        self._see_distinct(there)
        if native != "text":
            self.native = native
            self._see_numbers(pc.cast(there, pa.float64(), safe=False), there, at)
        elif self.native is None:
            self._see_texts(there, at)

    def _plain(self, array: pa.Array) -> tuple[pa.Array, ColumnType]:
        """Bring a column into numbers or texts; declared types are believed."""
        kind = array.type
        if self.place == "line":
            return filled(array), "text"
        if pa.types.is_dictionary(kind):
            array = array.dictionary_decode()
            kind = array.type
        if pa.types.is_boolean(kind):
            return pc.cast(array, pa.float64()), "boolean"
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return pc.cast(array, pa.float64(), safe=False), "number"
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return days_of(array), "date"
        if is_text(kind) or pa.types.is_null(kind):
            self.native = None if pa.types.is_null(kind) else "text"
            return filled(pc.cast(array, pa.large_string())), "text"
        raise odd_type(self.path, self.name, kind)

    def _see_distinct(self, there: pa.Array) -> None:
        if len(self.values) > DISTINCT_LIMIT and not self.all_distinct:
            return
        different = pc.unique(there)
        if len(different) < len(there):
            self.all_distinct = False
        seen = set(different.slice(0, DISTINCT_LIMIT + 1).to_pylist())
        if not self.values.isdisjoint(seen):
            self.all_distinct = False
        if len(self.values) <= DISTINCT_LIMIT:
            self.values |= seen

    def _see_numbers(self, numbers: pa.Array, texts: pa.Array, at: NDArray[np.int64]) -> None:
        """Look at values that are numbers, all of them."""
        self.n_numbers += len(numbers)
        self.infinite.see(pc.is_inf(numbers), texts, at)
        found = numbers.to_numpy(zero_copy_only=False)
        if not len(found):
            return
        with np.errstate(invalid="ignore"):
            self.whole = self.whole and bool((np.floor(found) == found).all())
            if self.counts_up:
                before = found[0] - 1 if self.last is None else self.last
                self.counts_up = bool((np.diff(found, prepend=before) == 1).all())
        self.last = float(found[-1])

    def _see_texts(self, texts: pa.Array, at: NDArray[np.int64]) -> None:
        """Look at texts that may be numbers, dates or truths."""
        numbers, good = numbers_in(texts)
        if good is None:
            # What reads "nan" is a number to a parser and a gap to its writer.
            blank = pc.is_nan(numbers)
            self.n_na += self.na.see(blank, texts, at)
            kept = pc.invert(blank)
            there = at[kept.to_numpy(zero_copy_only=False)]
            self._see_numbers(numbers.filter(kept), texts.filter(kept), there)
            return
        blank = are_na(texts)
        self.n_na += self.na.see(blank, texts, at)
        good = pc.and_(good, pc.invert(blank))
        other = pc.invert(pc.or_(good, blank))
        marks = good.to_numpy(zero_copy_only=False)
        self._see_numbers(numbers.filter(good), texts.filter(good), at[marks])
        self.no_number.see(other, texts, at)
        self.counts_up = False
        self.n_commas += self.comma.see(pc.and_(other, almost_numbers(texts)), texts, at)
        self.n_booleans += int(pc.sum(are_booleans(texts)).as_py() or 0)
        dates = are_dates(texts)
        self.n_dates += int(pc.sum(dates).as_py() or 0)
        self.no_date.see(pc.invert(pc.or_(dates, blank)), texts, at)

    # ------------------------------------------------------------------ verdict

    @property
    def n_values(self) -> int:
        """How many values there are, whatever they are."""
        return self.n_rows - self.n_empty - self.n_na

    def type(self) -> ColumnType:
        """Decide what the column holds; refuse what is nearly, but not quite, one thing."""
        if self.native is not None:
            self._refuse_infinite()
            return self.native
        if not self.n_values:
            return "text"
        if self.n_numbers == self.n_values:
            self._refuse_infinite()
            return "number"
        if self.n_booleans == self.n_values:
            return "boolean"
        where = f"{self.place} {self.no_number.line or 0:,}, column {quoted(self.name)}:"
        if self.n_commas and self.n_numbers + self.n_commas >= MOSTLY * self.n_values:
            where = f"{self.place} {self.comma.line or 0:,}, column {quoted(self.name)}:"
            raise FileError(
                self.path,
                f"{where} {quoted(self.comma.text)} has a decimal comma or separates thousands. "
                "Write numbers like 1234.5.",
            )
        if self.n_numbers >= MOSTLY * self.n_values:
            raise FileError(
                self.path,
                f"{where} {quoted(self.no_number.text)} is not a number, as nearly all others "
                "are. Correct it, or leave the cell empty; if the column is text, such as codes, "
                "put a letter before every value.",
            )
        if self.n_dates >= MOSTLY * self.n_values:
            self._refuse_no_date()
            return "date"
        return "text"

    def _refuse_infinite(self) -> None:
        if self.infinite.line is not None:
            raise FileError(
                self.path,
                f"{self.place} {self.infinite.line:,}, column {quoted(self.name)}: "
                f"{quoted(self.infinite.text)} is infinite or too large. "
                "Correct it, or leave the cell empty.",
            )

    def _refuse_no_date(self) -> None:
        if self.no_date.line is not None:
            raise FileError(
                self.path,
                f"{self.place} {self.no_date.line:,}, column {quoted(self.name)}: "
                f"{quoted(self.no_date.text)} is not a date such as 2024-01-31, as nearly all "
                "others are. Correct it, or leave the cell empty.",
            )

    def column(self, type: ColumnType) -> Column:
        """What to tell about it."""
        text = type == "text"
        missing = self.n_empty + (0 if text and self.n_values else self.n_na)
        lines = [self.empty.line, None if text else self.na.line]
        found = [line for line in lines if line is not None]
        few = text and len(self.values) <= DISTINCT_LIMIT
        return Column(
            self.name,
            type,
            n_missing=missing,
            n_distinct=min(self.n_distinct(text), DISTINCT_LIMIT),
            note=self._note(type),
            first_missing=min(found, default=None),
            categories=tuple(sorted(self.values)) if few else (),
        )

    def n_distinct(self, text: bool) -> int:
        """Different values; spellings of a gap are none in a column of numbers."""
        if text or not self.n_na:
            return len(self.values)
        return sum(not bool(pc.any(are_na(pa.array([value]))).as_py()) for value in self.values)

    def _note(self, type: ColumnType) -> str:
        if type == "date":
            return "dates, taken as days since 1970"
        if type == "boolean":
            return "true or false, taken as 1 and 0"
        if type == "text" and self.n_numbers and self.n_numbers < self.n_values:
            share = 100 * self.n_numbers / self.n_values
            return f"numbers ({share:.0f} %) and texts mixed, taken as categories"
        return ""


def odd_type(path: Path, name: str, kind: pa.DataType) -> FileError:
    """The error for values that are neither numbers nor texts."""
    return FileError(
        path,
        f"column {quoted(name)} holds values of type {quoted(kind)}, neither numbers nor texts. "
        "Leave it out of the features, or turn it into numbers.",
    )


def is_usable(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type can be a label or the name of a domain."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_null(kind) or is_text(kind) or not _is_odd(kind))


def _is_odd(kind: pa.DataType) -> bool:
    return not (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_date(kind)
    )
