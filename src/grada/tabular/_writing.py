"""Writing a table piece by piece, in the format that its name says."""

from __future__ import annotations

import csv
import io
import os
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

_PACKED = {".gz": "gzip", ".zst": "zstd"}
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", "": ","}


class TableWriter:
    """A CSV, TSV or Parquet file that is written in pieces.

    Parameters
    ----------
    path : path
        Where to write.
    named : str or path
        The name that says the format.
    """

    def __init__(self, path: Path, *, named: str | os.PathLike[str]) -> None:
        self.path = path
        self.format, self.compression = format_of(named)
        self._stack = ExitStack()
        self._writer: pq.ParquetWriter | None = None
        self._begun = False

    def __enter__(self) -> Self:
        file = self._stack.enter_context(self.path.open("wb"))
        self._sink: Any = file
        if self.compression is not None:
            self._sink = self._stack.enter_context(
                pa.CompressedOutputStream(file, self.compression)
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error, that one counts, and not that the rest cannot be written either.
        with suppress(OSError) if kind is not None else nullcontext(), self._stack:
            if self._writer is not None:
                self._writer.close()

    def write(self, columns: dict[str, Any]) -> None:
        """Write some rows: an array for each column, by name."""
        batch = pa.table({name: pa.array(values) for name, values in columns.items()})
        if not self._begun:
            self._begin(batch)
        if self._writer is not None:
            self._writer.write_table(batch)
            return
        text = pa.BufferOutputStream()
        separator = _SEPARATORS[self.format]
        style = "needed" if _needs_quotes(batch, separator) else "none"
        options = arrow_csv.WriteOptions(
            include_header=False, delimiter=separator, quoting_style=style
        )
        arrow_csv.write_csv(batch, text, options)
        self._sink.write(text.getvalue())

    def _begin(self, batch: pa.Table) -> None:
        """What comes before the first rows."""
        self._begun = True
        if self.format == ".parquet":
            self._writer = pq.ParquetWriter(self._sink, batch.schema)
            return
        separator = _SEPARATORS[self.format]
        header = io.StringIO()
        csv.writer(header, delimiter=separator, lineterminator="\n").writerow(batch.column_names)
        self._sink.write(header.getvalue().encode())


def _needs_quotes(batch: pa.Table, separator: str) -> bool:
    """Whether a text must be quoted; Arrow would quote all texts or none."""
    for column in batch.columns:
        if pa.types.is_string(column.type):
            odd = pc.match_substring_regex(pc.unique(column), f'["\r\n{separator}]')
            if pc.any(odd).as_py():
                return True
    return False


def format_of(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Format and compression by the name of a file.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    format : {".csv", ".tsv", ".tab", ".parquet", ""}
        Nothing for a name without an ending, such as /dev/stdout: commas.
    compression : {"gzip", "zstd"} or None

    Examples
    --------
    >>> format_of("answers.csv.gz"), format_of("answers.parquet")
    (('.csv', 'gzip'), ('.parquet', None))
    """
    name = Path(path)
    compression = _PACKED.get(name.suffix.lower())
    ending = (name.with_suffix("") if compression else name).suffix.lower()
    if ending != ".parquet" and ending not in _SEPARATORS:
        raise ValueError(
            f"{os.fspath(path)}: predictions are written as .csv, .tsv or .parquet, also packed as "
            f".gz or .zst, not as {ending}."
        )
    return ending, compression
