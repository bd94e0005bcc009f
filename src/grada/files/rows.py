"""Rows of a user's table in the types that were found for its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grada.files._labels import Kind, label_values
from grada.files._profile import is_usable, odd_type
from grada.files._values import filled, is_text
from grada.files.columns import Column, convert, name_texts
from grada.files.errors import FileError, quoted
from grada.files.table import ROWS_PER_CHUNK, Batch, TableFile


@dataclass(frozen=True)
class TableRows:
    """Rows of a table in the types that were found, in the order of the file.

    Attributes
    ----------
    frame : DataFrame
        Features only: floats, and texts for categories. NaN where a cell is empty.
    domains : ndarray of str, shape (n_rows,)
        As they stand in the file.
    labels : ndarray of shape (n_rows,) or None
        Floats with NaN for a regression; ints or texts with None for a classification; None if
        there is no column of labels.
    lines : ndarray of int
        Line of the file in which each row starts (row, in a Parquet file).
    kind : {"classification", "regression"} or None
    columns : list of Column
    notes : list of str
        What was decided and what looks odd.
    path : Path
    sha256 : str
        Of the file; empty for a part of it.
    """

    frame: pd.DataFrame
    domains: NDArray[Any]
    labels: NDArray[Any] | None
    lines: NDArray[np.int64]
    kind: Kind | None = None
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    path: Path = Path()
    sha256: str = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def has_targets(self) -> bool:
        """Whether a row is without a label."""
        return self.labels is not None and bool(pd.isna(self.labels).any())


@dataclass(frozen=True)
class TableScan:
    """What a look at the whole table found; its rows are read in pieces by `chunks`.

    Attributes
    ----------
    table : TableFile
    domain, label : str
        Names of the columns; label may be None.
    sources : tuple of str or None
        The domains whose labels may be seen; None for all.
    kind : {"classification", "regression"} or None
    columns : list of Column
        The features that are used.
    notes : list of str
    rows_in, labels_in : dict of str to int
        Rows, and labels that may be seen, of every domain, in the order of the file.
    """

    table: TableFile
    domain: str
    label: str | None
    sources: tuple[str, ...] | None
    kind: Kind | None
    columns: list[Column]
    label_column: Column | None
    notes: list[str]
    rows_in: dict[str, int]
    labels_in: dict[str, int]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.rows_in.values())

    @property
    def has_targets(self) -> bool:
        """Whether a row is without a label."""
        return self.label is not None and sum(self.labels_in.values()) < self.n_rows

    def chunks(self, rows_per_chunk: int = ROWS_PER_CHUNK) -> Iterator[TableRows]:
        """Read the rows again, in pieces, in the types that were found.

        Parameters
        ----------
        rows_per_chunk : int

        Yields
        ------
        TableRows
        """
        wanted = [self.domain, *(column.name for column in self.columns)]
        wanted += [] if self.label is None else [self.label]
        for batch in self.table.batches(wanted, rows_per_chunk):
            yield self.typed(batch)

    def typed(self, batch: Batch) -> TableRows:
        """Rows of a piece in the types that were found."""
        domains = domains_of(self.table, self.domain, batch)
        labels = None
        if self.label is not None and self.label_column is not None and self.kind is not None:
            seen = visible_labels(self.table, self.label, batch, domains, self.sources)
            where = (self.table.path, self.table.place, batch.lines)
            labels = label_values(self.kind, self.label_column, seen, where)
        frame = _frame(self.table, self.columns, batch)
        return TableRows(
            frame, domains, labels, batch.lines, self.kind, self.columns, path=self.table.path
        )


def domains_of(table: TableFile, name: str, batch: Batch) -> NDArray[Any]:
    """Names of the domains as texts; a row without one is refused."""
    array = batch.columns[name]
    if not is_usable(array.type):
        raise odd_type(table.path, name, array.type)
    texts = name_texts(array)
    gone = pc.is_null(texts).to_numpy(zero_copy_only=False)
    if gone.any():
        line = int(batch.lines[int(np.argmax(gone))])
        raise FileError(
            table.path,
            f"{table.place} {line:,} has no domain in column {quoted(name)}. Name one, or drop "
            "the row.",
        )
    # Through codes, so that rows of one domain share one text in memory.
    coded = texts.dictionary_encode()
    names = np.array(coded.dictionary.to_pylist(), dtype=object)
    return np.asarray(names[coded.indices.to_numpy()])


def visible_labels(
    table: TableFile,
    name: str,
    batch: Batch,
    domains: NDArray[Any],
    sources: tuple[str, ...] | None,
) -> pa.Array:
    """The labels that may be seen; nothing where there is none."""
    array = batch.columns[name]
    if not is_usable(array.type):
        raise odd_type(table.path, name, array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if sources is not None:
        allowed = pa.array(pd.Series(domains).isin(sources).to_numpy())
        array = pc.if_else(allowed, array, pa.scalar(None, array.type))
    if is_text(array.type):
        array = filled(array)
    elif pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return array


def _frame(table: TableFile, columns: Sequence[Column], batch: Batch) -> pd.DataFrame:
    values = {}
    for column in columns:
        found = convert(column, batch.columns[column.name], batch.lines, table.path, table.place)
        gaps = pd.isna(found) if column.fill is not None else None
        if gaps is not None and gaps.any():
            found[gaps] = column.fill
        values[column.name] = found
    return pd.DataFrame(values, index=pd.RangeIndex(len(batch)))
