"""Rows of a table that is larger than memory: encoded once, into a file that is mapped."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grada.data import FeatureEncoder, StoredRows
from grada.files.errors import FileError, quoted
from grada.files.rows import TableRows, TableScan
from grada.files.table import ROWS_PER_CHUNK

#: A column of texts becomes one column for each of them, so that more are surely a mistake.
MOST_CATEGORIES = 1_000


@dataclass(frozen=True)
class RowStore:
    r"""All rows of a table, ready for ``fit``: features in a mapped file, the rest in memory.

    The file has no name: it is gone when the store is no longer used, also after a crash.

    Attributes
    ----------
    rows : StoredRows
        Give it as ``X``.
    labels : Categorical or float array of shape (n_rows,), or None
        Give it as ``y``.
    domains : Categorical of shape (n_rows,)
        Give it as ``sample_domain``.

    Examples
    --------
    >>> from grada.files import scan_table
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "t.csv").write_text("state,rain,crop\nOH,1,oats\nOH,3,rye\nPA,2,\n")
    >>> store = RowStore.build(scan_table(folder / "t.csv", domain="state", label="crop"))
    >>> store.rows.values.round().tolist(), store.labels.codes.tolist()
    ([[-1.0], [1.0], [0.0]], [0, 1, -1])
    """

    rows: StoredRows
    labels: pd.Categorical | NDArray[np.float64] | None
    domains: pd.Categorical

    @classmethod
    def build(
        cls,
        scan: TableScan,
        folder: str | os.PathLike[str] | None = None,
        *,
        rows_per_chunk: int = ROWS_PER_CHUNK,
        on_rows: Callable[[int, int], object] | None = None,
    ) -> RowStore:
        """Read a table once more, in pieces, and write its encoded rows.

        Parameters
        ----------
        scan : TableScan
            Of the table.
        folder : str or path, optional
            Where there is room for the file; by default where temporary files are kept. While
            the store is built, 12 bytes are needed for each number, later 4.
        rows_per_chunk : int
        on_rows : callable, optional
            Called with the rows that are done and with all.

        Returns
        -------
        RowStore

        Raises
        ------
        FileError
            For a column of too many texts, or too little room.
        """
        width = _width(scan)
        place = Path(tempfile.gettempdir() if folder is None else folder)
        _check_room(scan, place, scan.n_rows * (8 * len(scan.columns) + 4 * width))
        reader = _Reader(scan)
        with _in_words(place), _unnamed(place) as raw:
            for part in scan.chunks(rows_per_chunk):
                reader.take(part, raw)
                if on_rows is not None:
                    on_rows(reader.done, scan.n_rows)
            reader.check_complete()
            encoder = reader.encoder.finish([texts.names for texts in reader.texts])
            values = _encoded(reader, encoder, raw, place, rows_per_chunk)
        return cls(StoredRows(values, encoder), reader.labels(), reader.domains.column())


class _Coder:
    """Texts, or ints, as codes in the order in which they come up."""

    def __init__(self, n_rows: int) -> None:
        self.codes = np.full(n_rows, -1, dtype=np.int32)
        self.names: list[Any] = []
        self._code: dict[Any, int] = {}

    def code(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Codes of some values; -1 where there is none."""
        places, found = pd.factorize(values)
        for name in found:
            if name not in self._code:
                self._code[name] = len(self.names)
                self.names.append(name)
        # The last entry is for -1, where there is no value.
        known = np.array([*(self._code[name] for name in found), -1], dtype=np.int32)
        return np.asarray(known[places])

    def column(self) -> pd.Categorical:
        """All codes with their names."""
        return pd.Categorical.from_codes(self.codes, categories=pd.Index(self.names, dtype=object))


class _Reader:
    """What is learned from the rows of a table in one pass."""

    def __init__(self, scan: TableScan) -> None:
        self.scan = scan
        text = [at for at, column in enumerate(scan.columns) if column.type == "text"]
        names = [column.name for column in scan.columns]
        self.encoder = FeatureEncoder().begin(names, text)
        self.texts = [_Coder(0) for _ in text]
        self.domains = _Coder(scan.n_rows)
        self.classes = _Coder(scan.n_rows if scan.kind == "classification" else 0)
        self.values = np.full(scan.n_rows if scan.kind == "regression" else 0, np.nan)
        self.done = 0

    def take(self, part: TableRows, raw: BinaryIO) -> None:
        """Learn from some rows, and write them as they are: numbers, then codes of texts."""
        rows = slice(self.done, self.done + part.n_rows)
        self.done = rows.stop
        if self.done > self.scan.n_rows:
            self.check_complete()
        numbers, texts = self.encoder.learn(part.frame)
        codes = [] if texts is None else list(map(_Coder.code, self.texts, texts.T))
        raw.write(np.column_stack([numbers, *codes]).tobytes())
        self.domains.codes[rows] = self.domains.code(part.domains)
        if part.labels is not None and self.scan.kind == "classification":
            self.classes.codes[rows] = self.classes.code(part.labels)
        elif part.labels is not None:
            self.values[rows] = part.labels

    def check_complete(self) -> None:
        """Refuse a file that is not what it was when it was looked at."""
        if self.done != self.scan.n_rows:
            raise FileError(
                self.scan.table.path,
                "changed while it was read: it has another number of rows now. Try again when "
                "nobody writes to it.",
            )

    def labels(self) -> pd.Categorical | NDArray[np.float64] | None:
        """What may be seen of the labels, with gaps."""
        if self.scan.kind is None:
            return None
        return self.values if self.scan.kind == "regression" else self.classes.column()


def _encoded(
    reader: _Reader, encoder: FeatureEncoder, raw: BinaryIO, place: Path, step: int
) -> NDArray[np.float32]:
    """Scale and encode what was written, into another file, and map it."""
    n_numbers = len(reader.scan.columns) - len(reader.texts)
    names = [np.array(texts.names, dtype=object) for texts in reader.texts]
    raw.seek(0)
    with _unnamed(place) as file:
        for start in range(0, reader.done, step):
            n_rows = min(step, reader.done - start)
            block = np.frombuffer(raw.read(8 * n_rows * len(reader.scan.columns)))
            block = block.reshape(n_rows, -1)
            codes = block[:, n_numbers:].astype(np.int32)
            texts = [each[codes[:, at]] for at, each in enumerate(names)]
            columns = np.column_stack(texts) if texts else None
            encoded = encoder.encode(block[:, :n_numbers], columns)
            file.write(encoded.tobytes())
        file.flush()
        # Shared, so that pages can go back to the file when memory is short; writable only
        # because torch warns of arrays that are not.
        mapped = np.memmap(file, np.float32, "r+", shape=(reader.done, encoded.shape[1]))
    return mapped.view(np.ndarray)


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    """What the system says of temporary files, with the folder and what to do."""
    try:
        yield
    except OSError as error:
        raise FileError(
            folder,
            f"cannot hold the rows in a temporary file: {error.strerror or error}. Make room, or "
            "name another folder.",
        ) from error


def _unnamed(folder: Path) -> BinaryIO:
    """A file that nobody else sees and that is gone when it is closed and no longer mapped."""
    return cast(BinaryIO, tempfile.TemporaryFile(dir=folder, buffering=2**20))


def _width(scan: TableScan) -> int:
    """Numbers in an encoded row."""
    for column in scan.columns:
        if column.type == "text" and column.n_distinct > MOST_CATEGORIES:
            raise FileError(
                scan.table.path,
                f"column {quoted(column.name)} has {column.n_distinct:,} or more different texts, "
                f"and each would become a column of its own ({MOST_CATEGORIES:,} at most). Leave "
                "it out, or group them.",
            )
    return sum(column.n_distinct if column.type == "text" else 1 for column in scan.columns)


def _check_room(scan: TableScan, folder: Path, needed: int) -> None:
    with _in_words(folder):
        free = shutil.disk_usage(folder).free
    if free < needed:
        raise FileError(
            scan.table.path,
            f"its rows need {needed / 2**20:,.0f} MB of temporary space in {folder}, which has "
            f"{free / 2**20:,.0f} MB left. Make room, or name another folder.",
        )
