"""Reading a user's table: a look at the whole of it first, then its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from grada.files._labels import Kind, are_texts_of_missing, odd_classes, settle_kind
from grada.files._profile import Profile
from grada.files._values import are_na, is_text
from grada.files.columns import NO_VALUE, Column
from grada.files.errors import FileError, counted, listed, near_miss, quoted
from grada.files.rows import TableRows, TableScan, domains_of, visible_labels
from grada.files.suspicion import identifier, leak
from grada.files.table import ROWS_PER_CHUNK, Batch, TableFile

#: Rows among which leaks are looked for.
_SAMPLE = 20_000


def scan_table(
    path: str | PathLike[str] | TableFile,
    *,
    domain: str,
    label: str | None = None,
    features: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    kind: Kind | None = None,
    rows_per_chunk: int = ROWS_PER_CHUNK,
) -> TableScan:
    """Look at a whole table, a piece at a time, and find what its columns are.

    Parameters
    ----------
    path : str, path or TableFile
    domain : str
        Column with the domain of each row.
    label : str, optional
        Column with the labels; empty cells are rows without one.
    features : sequence of str, optional
        By default all other columns.
    sources : sequence of str, optional
        Domains whose labels may be seen; those of all others are dropped here, unread.
    kind : {"classification", "regression"}, optional
        By default what the labels look like.
    rows_per_chunk : int

    Returns
    -------
    TableScan

    Raises
    ------
    FileError
        With file, line, column and what to do.
    """
    return _Scanner(path, domain, label, features, sources, kind).run(rows_per_chunk)


def read_table(
    path: str | PathLike[str] | TableFile,
    *,
    domain: str,
    label: str | None = None,
    features: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    kind: Kind | None = None,
) -> TableRows:
    r"""Read a table into memory: features, domains and the labels that may be seen.

    Parameters
    ----------
    path : str, path or TableFile
        CSV, TSV or Parquet, also packed with gzip or zstd.
    domain : str
        Column with the domain of each row.
    label : str, optional
        Column with the labels; empty cells are rows without one.
    features : sequence of str, optional
        By default all other columns. Columns with one value only are left out.
    sources : sequence of str, optional
        Domains whose labels may be seen; those of all others are dropped here, unread.
    kind : {"classification", "regression"}, optional
        By default what the labels look like; the notes say what was decided.

    Returns
    -------
    TableRows

    Raises
    ------
    FileError
        With file, line, column and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("state,rain,crop\n01,1.5,oats\n02,2,\n02,3,rye\n")
    >>> rows = read_table(path, domain="state", label="crop", sources=["01"])
    >>> rows.domains.tolist(), rows.labels.tolist(), rows.kind
    (['01', '02', '02'], ['oats', None, None], 'classification')
    """
    scanner = _Scanner(path, domain, label, features, sources, kind)
    scanner.kept = []
    scan = scanner.run(ROWS_PER_CHUNK)
    parts = [scan.typed(batch) for batch in scanner.kept]
    labels = None
    if label is not None:
        labels = np.concatenate([part.labels for part in parts if part.labels is not None])
    return TableRows(
        pd.concat([part.frame for part in parts], ignore_index=True),
        np.concatenate([part.domains for part in parts]),
        labels,
        np.concatenate([part.lines for part in parts]),
        scan.kind,
        scan.columns,
        scan.notes,
        scan.table.path,
        scan.table.sha256,
    )


def read_chunks(
    path: str | PathLike[str] | TableFile,
    columns: Sequence[Column],
    *,
    domain: str,
    rows_per_chunk: int = ROWS_PER_CHUNK,
) -> Iterator[TableRows]:
    """Read the rows of another table in types that are known already, to predict for them.

    Parameters
    ----------
    path : str, path or TableFile
    columns : sequence of Column
        The features that a model was fitted on; other columns of the file are not looked at.
    domain : str
        Column with the domain of each row.
    rows_per_chunk : int

    Yields
    ------
    TableRows
        Without labels.

    Raises
    ------
    FileError
        Also for a value that is not of the type of its column.
    """
    table = path if isinstance(path, TableFile) else TableFile.open(path)
    scan = TableScan(table, domain, None, None, None, list(columns), None, [], {}, {})
    table.check_columns([domain, *(column.name for column in columns)])
    empty = True
    for part in scan.chunks(rows_per_chunk):
        empty = False
        yield part
    if empty:
        raise FileError(table.path, "has a header but no rows.")


def count_domains(
    path: str | PathLike[str] | TableFile,
    *,
    domain: str,
    label: str | None = None,
    sources: Sequence[str] | None = None,
) -> TableScan:
    """Count rows and labels of every domain, without a look at the features.

    Parameters
    ----------
    path : str, path or TableFile
    domain : str
        Column with the domain of each row.
    label : str, optional
        Column with the labels.
    sources : sequence of str, optional
        Domains whose labels may be seen.

    Returns
    -------
    TableScan
        Without columns; see `rows_in` and `labels_in`.
    """
    return _Scanner(path, domain, label, (), sources, None).run(ROWS_PER_CHUNK)


class _Scanner:
    """One pass over a table."""

    def __init__(
        self,
        path: str | PathLike[str] | TableFile,
        domain: str,
        label: str | None,
        features: Sequence[str] | None,
        sources: Sequence[str] | None,
        kind: Kind | None,
    ) -> None:
        self.table = path if isinstance(path, TableFile) else TableFile.open(path)
        self.domain, self.label, self.kind = domain, label, kind
        self.sources = None if sources is None else tuple(dict.fromkeys(map(str, sources)))
        if kind not in (None, "classification", "regression"):
            raise ValueError(f"kind must be 'classification' or 'regression', not {kind!r}")
        own = [domain] if label is None else [domain, label]
        self.table.check_columns(own)
        if label == domain:
            raise self._error(f"column {quoted(domain)} cannot be the domain and the label.")
        self.features = self._features(own, features)
        self.wants_features = features is None or len(features) > 0
        self.named_features = features is not None
        self.kept: list[Batch] | None = None
        self.rows_in: Counter[str] = Counter()
        self.labels_in: Counter[str] = Counter()
        # Labels that turn out to be spellings of "missing", among numbers and among texts.
        self.na_in: Counter[str] = Counter()
        self.nan_in: Counter[str] = Counter()
        self.sample: list[Batch] = []
        self.stride, self.done = 1, 0

    def _error(self, problem: str) -> FileError:
        return FileError(self.table.path, problem)

    def _features(self, own: list[str], features: Sequence[str] | None) -> list[str]:
        if features is None:
            taken = {part for name in own for part in self.table.parts(name)}
            return [name for name in self.table.names if name not in taken]
        chosen = self.table.check_columns(list(dict.fromkeys(features)))
        for name in own:
            if name in chosen:
                role = "domain" if name == self.domain else "label"
                raise self._error(f"column {quoted(name)} is the {role}, so it cannot be a feature")
        return chosen

    def run(self, rows_per_chunk: int) -> TableScan:
        """Read all rows once."""
        path, place = self.table.path, self.table.place
        profiles = {name: Profile(name, path, place) for name in self.features}
        answers = Profile(self.label or "", path, place)
        wanted = [self.domain, *self.features, *([self.label] if self.label is not None else [])]
        for batch in self.table.batches(wanted, rows_per_chunk):
            domains = domains_of(self.table, self.domain, batch)
            self.rows_in.update(Counter(domains.tolist()))
            if self.label is not None:
                seen = visible_labels(self.table, self.label, batch, domains, self.sources)
                batch.columns[self.label] = seen
                answers.see(seen, batch.lines)
                self._count_labels(seen, domains)
            for name, profile in profiles.items():
                profile.see(batch.columns[name], batch.lines)
            if self.kept is not None:
                self.kept.append(batch)
            self._take_sample(batch)
        if not self.rows_in:
            raise self._error("has a header but no rows.")
        self._check_sources()
        return self._finish(profiles, answers)

    def _count_labels(self, seen: pa.Array, domains: NDArray[Any]) -> None:
        known = pc.is_valid(seen).to_numpy(zero_copy_only=False)
        self.labels_in.update(Counter(domains[known].tolist()))
        if is_text(seen.type):
            for spellings, counter in ((are_na, self.na_in), (are_texts_of_missing, self.nan_in)):
                gone = pc.fill_null(spellings(seen), False).to_numpy(zero_copy_only=False)
                counter.update(Counter(domains[known & gone].tolist()))

    def _take_sample(self, batch: Batch) -> None:
        """Keep every n-th row, so that they come from the whole file."""
        at = np.arange(-self.done % self.stride, len(batch), self.stride)
        self.done += len(batch)
        if len(at):
            self.sample.append(_taken(batch, at))
        if sum(map(len, self.sample)) > 2 * _SAMPLE:
            self.stride *= 2
            # Every kept row stands at a multiple of the old stride, so that of all kept rows
            # together every second one stands at a multiple of the new one.
            rest, before = [], 0
            for part in self.sample:
                kept = np.arange(before % 2, len(part), 2)
                before += len(part)
                rest.append(_taken(part, kept))
            self.sample = rest

    def _check_sources(self) -> None:
        for name in self.sources or ():
            if name not in self.rows_in:
                meant = near_miss(name, list(self.rows_in))
                hint = f" Did you mean {quoted(meant)}?" if meant else ""
                raise self._error(
                    f"no row has the domain {quoted(name)}, which is named as a source.{hint} "
                    f"Column {quoted(self.domain)} has: {listed(list(self.rows_in))}."
                )

    def _finish(self, profiles: dict[str, Profile], answers: Profile) -> TableScan:
        notes: list[str] = []
        for at in self.table.unnamed:
            notes.append(f"Column {at} has no name and is left out.")
        kind, label_column = None, None
        if self.label is not None:
            self._refuse_no_labels(answers)
            kind, label_column = settle_kind(answers, self.kind, notes)
            if kind == "classification" and label_column.type == "text":
                notes += odd_classes(answers)
            self.labels_in -= self.na_in if label_column.type == "number" else self.nan_in
        columns = [self._column(profile, notes) for profile in profiles.values()]
        used = [column for column in columns if column is not None]
        if not used and self.wants_features:
            raise self._error(
                "no feature is left. "
                + (
                    " ".join(notes[-2:])
                    if columns
                    else "There are no columns but that of the domain"
                    f"{'' if self.label is None else ' and that of the label'}."
                )
            )
        scan = TableScan(
            self.table,
            self.domain,
            self.label,
            self.sources,
            kind,
            used,
            label_column,
            notes,
            dict(self.rows_in),
            dict(self.labels_in),
        )
        return replace(scan, columns=self._suspected(scan, profiles))

    def _refuse_no_labels(self, answers: Profile) -> None:
        if answers.n_values:
            return
        of = "" if self.sources is None else f" of the sources {listed(self.sources)}"
        raise self._error(
            f"no row{of} has a label in column {quoted(self.label)}. Some must, to learn from."
        )

    def _column(self, profile: Profile, notes: list[str]) -> Column | None:
        """What a feature is; None, and a note, if there is nothing in it."""
        name = quoted(profile.name)
        if not profile.n_values:
            notes.append(f"Column {name} has no values and is left out.")
            return None
        column = profile.column(profile.type())
        if column.n_distinct < 2:
            notes.append(f"Column {name} has one value only and is left out.")
            return None
        if column.note:
            notes.append(f"Column {name} holds {column.note}.")
        if column.n_missing:
            notes.append(
                f"Column {name} has no value in {counted(column.n_missing, 'row')}, the first in "
                f"{self.table.place} {column.first_missing:,}: "
                + (
                    "they become a category of their own."
                    if column.type == "text"
                    else "the median stands in for them."
                )
            )
        return column

    def _suspected(self, scan: TableScan, profiles: dict[str, Profile]) -> list[Column]:
        """Add to the columns, and to the notes, what looks like an identifier or a leak."""
        columns = []
        sample = [scan.typed(batch) for batch in self.sample if len(batch)]
        frame = pd.concat([part.frame for part in sample], ignore_index=True)
        labels = None
        if scan.label is not None:
            seen = [part.labels for part in sample if part.labels is not None]
            labels = pd.Series(np.concatenate(seen))
        for column in scan.columns:
            if self._is_unknown_where_needed(frame[column.name], labels):
                name = quoted(column.name)
                scan.notes[:] = [
                    note for note in scan.notes if not note.startswith(f"Column {name} has no ")
                ]
                scan.notes.append(
                    f"Column {name} has no value where the label is missing: left out."
                )
                continue
            said = [identifier(profiles[column.name], column)]
            if labels is not None:
                said.append(leak(frame[column.name], labels, scan.kind == "regression"))
            found = [text for text in said if text]
            for text in found:
                scan.notes.append(
                    f"Column {quoted(column.name)} {text}. Leave it out unless it is known, and "
                    "means the same, in every domain."
                )
            note = "; ".join([column.note, *found] if column.note else found)
            columns.append(replace(column, note=note, fill=_stand_in(column, frame[column.name])))
        if scan.columns and not columns:
            raise self._error(f"no feature is left. {scan.notes[-1]}")
        return columns

    def _is_unknown_where_needed(
        self, values: pd.Series[Any], labels: pd.Series[Any] | None
    ) -> bool:
        """Whether a column that nobody asked for has no value in any row to predict."""
        if labels is None or self.named_features:
            return False
        hidden = labels.isna().to_numpy()
        return bool(hidden.any() and values.isna().to_numpy()[hidden].all())


def _stand_in(column: Column, seen: pd.Series[Any]) -> float | str:
    """What a missing value is replaced by."""
    if column.type == "text":
        return NO_VALUE
    known = seen.dropna()
    return float(known.median()) if len(known) else 0.0


def _taken(batch: Batch, at: NDArray[Any]) -> Batch:
    where = pa.array(at)
    return Batch({name: col.take(where) for name, col in batch.columns.items()}, batch.lines[at])
