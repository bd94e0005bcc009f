"""A user's table, read a piece at a time: CSV, TSV or Parquet, packed or not."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Literal, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grada.files._streams import ByteSource, refuse_other_formats
from grada.files.columns import name_texts
from grada.files.errors import FileError, counted, listed, near_miss, quoted

#: Rows in a piece unless told otherwise.
ROWS_PER_CHUNK = 65_536
#: Bytes that the rows of a piece may take as text; wide tables come in fewer rows a piece.
_BYTES_PER_CHUNK = 64 * 2**20

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Batch:
    """Some rows of a table: a column of Arrow for each name, and where the rows stand."""

    columns: dict[str, pa.Array]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lines)


class TableFile:
    r"""A table in a file: its columns are known, its rows are read when asked for.

    What the file is, its content says; the name decides only between commas and tabs.

    Parameters
    ----------
    path : str or path
    separator : str, optional
        Between fields; by default a tab in .tsv and .tab files, else a comma.
    encoding : str, optional
        By default UTF-8, or what the mark at the start of the file says.

    Attributes
    ----------
    names : tuple of str
        Names of the columns, without blanks around them.
    place : {"line", "row"}
        What `Batch.lines` counts: lines of a text, rows of a Parquet file, both from 1.
    unnamed : tuple of int
        Positions of columns without a name, from 1; they are left out.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("state,rain\nOH,1.5\nPA,2\n")
    >>> table = TableFile.open(path)
    >>> table.names
    ('state', 'rain')
    >>> next(table.chunks(["rain"]))["rain"].to_dict()
    {2: '1.5', 3: '2'}
    """

    place: Literal["line", "row"]

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.path = Path(path)
        self._source = ByteSource(self.path)
        self._encoding = _checked_encoding(self.path, encoding)
        self.is_parquet = self._source.head.startswith(b"PAR1")
        self.place = "row" if self.is_parquet else "line"
        if not self.is_parquet:
            refuse_other_formats(self.path, self._source.head)
            if self.path.suffix.lower() == ".parquet":
                raise FileError(self.path, "is named .parquet but is no Parquet file.")
        self.separator = separator or _separator_by_name(self.path)
        if len(self.separator) != 1 or self.separator in '"\r\n':
            raise FileError(self.path, f"the separator must be one sign, not {quoted(separator)}.")
        self._raw_header = self._parquet_header() if self.is_parquet else self._text_header()
        self._header = tuple(name.strip() for name in self._raw_header)
        self.unnamed = tuple(at + 1 for at, name in enumerate(self._header) if not name)
        self.names = tuple(name for name in self._header if name)
        self._check_header()

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> Self:
        """Look at a file and read its header.

        Parameters
        ----------
        path : str or path
        separator, encoding : str, optional

        Returns
        -------
        TableFile

        Raises
        ------
        FileError
            If it is no table that can be read.
        """
        return cls(path, separator=separator, encoding=encoding)

    @property
    def sha256(self) -> str:
        """Checksum of the file as it lies on the disk."""
        if self._source.sha256 is None:
            self._source.sha256 = self._source.checksum()
        return self._source.sha256

    def chunks(
        self, columns: Sequence[str] | None = None, rows_per_chunk: int = ROWS_PER_CHUNK
    ) -> Iterator[pd.DataFrame]:
        """Read the rows in pieces; the whole file is never in memory.

        Parameters
        ----------
        columns : sequence of str, optional
            By default all.
        rows_per_chunk : int
            At most so many rows a piece.

        Yields
        ------
        DataFrame
            Its index says in which line each row starts (or which row of a Parquet file it is).
            From a text file all columns are texts as they stand there.
        """
        for batch in self.batches(columns, rows_per_chunk):
            frame = pa.table(batch.columns).to_pandas()
            yield frame.set_axis(pd.Index(batch.lines, name=self.place))

    def batches(
        self, columns: Sequence[str] | None = None, rows_per_chunk: int = ROWS_PER_CHUNK
    ) -> Iterator[Batch]:
        """The same as `chunks`, as Arrow columns with the places of the rows."""
        asked = self.check_columns(list(self.names if columns is None else columns))
        if rows_per_chunk < 1:
            raise ValueError(f"rows_per_chunk must be at least 1, got {rows_per_chunk}")
        joined = {name: self.parts(name) for name in asked if name not in self.names}
        wanted = list(dict.fromkeys(part for name in asked for part in joined.get(name, [name])))
        read = self._parquet_batches if self.is_parquet else self._text_batches
        batches = read(wanted, rows_per_chunk)
        return (_with_joined(batch, joined) for batch in batches) if joined else batches

    def parts(self, name: str) -> list[str]:
        """The columns that a name stands for: itself, or those between bars, ``state|year``."""
        parts = [part.strip() for part in name.split("|")]
        joined = name not in self.names and len(parts) > 1 and set(parts) <= set(self.names)
        return parts if joined else [name]

    def check_columns(self, names: list[str]) -> list[str]:
        """Refuse a column that the file does not have, with the one that was probably meant."""
        for name in (part for each in names for part in self.parts(each)):
            if name not in self.names:
                meant = near_miss(name, self.names)
                hint = f"Did you mean {quoted(meant)}? " if meant else ""
                raise FileError(
                    self.path, f"no column {quoted(name)}. {hint}It has: {listed(self.names, 20)}."
                )
        return names

    # --------------------------------------------------------------------- text

    def _records(self, lines: Iterator[str], done: int = 0) -> Iterator[tuple[int, int, list[str]]]:
        """Lines cut into fields, each with the numbers of its first and its last line."""
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        start = done + 1
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._csv_error(str(error), start, done + reader.line_num) from None
            if fields:
                yield start, done + reader.line_num, fields
            start = done + reader.line_num + 1

    def _csv_error(self, error: str, start: int, end: int) -> FileError:
        where = f"line {start:,}"
        if "unexpected end of data" in error or (end - start > 1 and "limit" in error):
            return FileError(self.path, f"{where}: a quote is opened here and never closed.")
        if "limit" in error:
            most = csv.field_size_limit()
            return FileError(self.path, f"{where} has a field of more than {most:,} signs.")
        if "expected after" in error:
            return FileError(
                self.path,
                f"{where}: text follows a closing quote. Write a quote within quotes twice"
                + (f"; or a quote opened in line {start:,} is not closed." if end > start else "."),
            )
        if "new-line" in error:
            return FileError(
                self.path,
                f"{where}: a carriage return stands within a line. Save the file with the line "
                "ends of Unix or Windows.",
            )
        return FileError(self.path, f"{where}: {error}.")

    def _text_header(self) -> list[str]:
        lines = self._source.lines(self._encoding)
        _, _, header = next(self._records(lines), (0, 0, []))
        if not header:
            raise FileError(self.path, "is empty: there is no header.")
        if len(header) == 1:
            for other, word in _SEPARATORS.items():
                fields = header[0].count(other) + 1
                if other != self.separator and fields > 1:
                    used = _SEPARATORS.get(self.separator, repr(self.separator))
                    raise FileError(
                        self.path,
                        f"has one column only when cut at {used}, but {fields} when cut at {word}. "
                        f"Save it with {used}, or say so (--separator, or separator={other!r}).",
                    )
        return header

    def _text_batches(self, wanted: list[str], most: int) -> Iterator[Batch]:
        lines = self._source.lines(self._encoding)
        _, done, _ = next(self._records(lines), (0, 0, []))
        block = _some_lines(lines, most)
        while block:
            batch = self._quick_batch(wanted, block, done)
            if batch is None:
                # Quotes, blank lines or a mistake: from here on with every line looked at.
                yield from self._careful_batches(wanted, chain(block, lines), done, most)
                return
            yield batch
            done += len(block)
            block = _some_lines(lines, most)

    def _quick_batch(self, wanted: list[str], block: list[str], done: int) -> Batch | None:
        """Plain lines cut by Arrow; None if they are not plain."""
        text = "".join(block)
        if '"' in text or max(map(len, block)) > csv.field_size_limit():
            return None
        if "\r" in text and text.count("\r") != text.count("\r\n"):
            return None
        if text.startswith("\ufeff"):  # Arrow would take it for the mark of a file
            return None
        names = [str(at) for at in range(len(self._header))]
        slots = [str(self._header.index(name)) for name in wanted]
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(text.encode()),
                arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=2**27),
                arrow_csv.ParseOptions(delimiter=self.separator, quote_char=False),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.large_string()),
                    include_columns=slots,
                    strings_can_be_null=False,
                ),
            )
        except (pa.ArrowException, UnicodeEncodeError):
            return None
        if table.num_rows != len(block):
            return None
        columns = {
            name: pa.concat_arrays(table.column(slot).chunks)
            for name, slot in zip(wanted, slots, strict=True)
        }
        return Batch(columns, np.arange(done + 1, done + len(block) + 1, dtype=np.int64))

    def _careful_batches(
        self, wanted: list[str], text: Iterator[str], done: int, most: int
    ) -> Iterator[Batch]:
        slots = [self._header.index(name) for name in wanted]
        width = len(self._header)
        lines: list[int] = []
        rows: list[list[str]] = []
        size = 0
        for line, _, fields in self._records(text, done):
            if len(fields) != width:
                raise self._ragged(line, len(fields), width)
            lines.append(line)
            rows.append(fields)
            size += sum(map(len, fields))
            if len(rows) >= most or size > _BYTES_PER_CHUNK:
                yield _text_batch(wanted, slots, rows, lines)
                lines, rows, size = [], [], 0
        if rows:
            yield _text_batch(wanted, slots, rows, lines)

    def _ragged(self, line: int, fields: int, width: int) -> FileError:
        hint = "" if fields < width else " Put quotes around a field that holds the separator."
        return FileError(
            self.path,
            f"line {line:,} has {counted(fields, 'field')}, but the header has {width:,}.{hint}",
        )

    # ------------------------------------------------------------------ Parquet

    def _parquet_header(self) -> list[str]:
        with self._source.seekable() as file:
            try:
                return list(pq.ParquetFile(file).schema_arrow.names)
            except (pa.ArrowException, OSError) as error:
                raise self._damaged_parquet(error) from None

    def _parquet_batches(self, wanted: list[str], most: int) -> Iterator[Batch]:
        real = dict(zip(self._header, self._raw_header, strict=True))
        done = 0
        with self._source.seekable() as file:
            try:
                # By default all of the file that was read stays in memory until the end.
                table = pq.ParquetFile(file, pre_buffer=False, buffer_size=2**18)
                for batch in table.iter_batches(most, columns=[real[name] for name in wanted]):
                    columns = {name: _sound(batch.column(real[name])) for name in wanted}
                    lines = np.arange(done + 1, done + batch.num_rows + 1, dtype=np.int64)
                    done += batch.num_rows
                    if batch.num_rows:
                        yield Batch(columns, lines)
                if done != table.metadata.num_rows:
                    raise OSError(f"{done:,} of {table.metadata.num_rows:,} rows found")
            except MemoryError:  # Arrow's is an ArrowException too, and says nothing of the file
                raise
            except (pa.ArrowException, OSError) as error:
                raise self._damaged_parquet(error) from None

    def _damaged_parquet(self, error: BaseException) -> FileError:
        said = str(error).strip().splitlines()
        return FileError(
            self.path,
            f"is a damaged or cut Parquet file ({quoted(said[0] if said else error, 80)}). "
            "Write or copy it again.",
        )

    def _check_header(self) -> None:
        if not self.names:
            raise FileError(self.path, "no column has a name: the first line must be a header.")
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            at = [str(i + 1) for i, name in enumerate(self._header) if name == twice[0]]
            raise FileError(
                self.path,
                f"columns {' and '.join(at[:5])} are both named {quoted(twice[0])}. Rename one.",
            )


def _with_joined(batch: Batch, joined: dict[str, list[str]]) -> Batch:
    """Add columns whose texts are those of several others with bars between; empty if one is."""
    columns = dict(batch.columns)
    for name, parts in joined.items():
        texts = [pc.cast(name_texts(columns[part]), pa.large_string()) for part in parts]
        columns[name] = pc.binary_join_element_wise(*texts, pa.scalar("|", pa.large_string()))
    return Batch(columns, batch.lines)


def _some_lines(lines: Iterator[str], most: int) -> list[str]:
    """The next lines: so many, or fewer if they are long."""
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if len(block) >= most or size > _BYTES_PER_CHUNK:
            break
    return block


def _text_batch(
    wanted: list[str], slots: list[int], rows: list[list[str]], lines: list[int]
) -> Batch:
    every = list(zip(*rows, strict=True))
    columns = {
        name: pa.array(every[slot], pa.large_string())
        for name, slot in zip(wanted, slots, strict=True)
    }
    return Batch(columns, np.array(lines, dtype=np.int64))


def _sound(array: pa.Array) -> pa.Array:
    """A column without codes; damage that Arrow would stumble over later is found here."""
    array.validate(full=True)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _separator_by_name(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "\t" if ".tsv" in suffixes or ".tab" in suffixes else ","


def _checked_encoding(path: Path, encoding: str | None) -> str | None:
    try:
        "".encode(encoding or "utf-8")
    except LookupError:
        raise FileError(path, f"there is no encoding {quoted(encoding)}.") from None
    return encoding
