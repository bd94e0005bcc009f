"""Predict for a table of any size: read in pieces, written in pieces, there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from grada.estimators import AdaptedClassifier
from grada.files import Column, FileError, TableFile, TableRows, atomic_file, read_chunks
from grada.files.errors import counted, near_miss, quoted
from grada.files.reading import count_domains
from grada.files.table import ROWS_PER_CHUNK
from grada.tabular._writing import TableWriter, format_of

#: Share of the true values that should lie between the ends of an interval.
COVERAGE = 0.9
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Predictions:
    """What was predicted, in short.

    Attributes
    ----------
    path : str
        The file with the predictions.
    rows : int
    columns : tuple of str
        Of that file.
    domains : dict of str to dict
        For each domain its ``rows`` and either ``classes``, how many rows are predicted to be of
        each, or the ``mean`` prediction.
    """

    path: str
    rows: int
    columns: tuple[str, ...]
    domains: dict[str, dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"columns": list(self.columns)}


def predict_table(
    model: Any,
    columns: Sequence[Column],
    path: str | os.PathLike[str] | TableFile,
    out: str | os.PathLike[str],
    *,
    domain: str,
    intervals: bool | None = None,
    coverage: float = COVERAGE,
    probabilities: bool = True,
    rows_per_chunk: int = ROWS_PER_CHUNK,
    on_rows: Callable[[int, int], object] | None = None,
) -> Predictions:
    """Predict for every row of a table, and write the predictions to a file.

    Its columns are the domain, the line (or, of a Parquet file, the row) of the table, the
    prediction and, after a classification, the probability of each class or, after a regression
    that was calibrated, the ends of an interval.

    Parameters
    ----------
    model : AdaptedClassifier or AdaptedRegressor
        Fitted on these columns.
    columns : sequence of Column
        The features.
    path : str, path or TableFile
        The table.
    out : str or path
        CSV, TSV or Parquet by its name, packed if that ends in .gz or .zst. It is there whole or
        not at all; one that is there is replaced.
    domain : str
        Column with the domain of each row.
    intervals : bool, optional
        Whether to write intervals; by default if the model can.
    coverage : float
        Share of the true values that should lie within.
    probabilities : bool
        Whether to write probabilities.
    rows_per_chunk : int
    on_rows : callable, optional
        Called with the rows that are done and with all.

    Returns
    -------
    Predictions

    Raises
    ------
    FileError
        For a domain that the model does not know, with all such names counted, before anything
        is written; for a cell that cannot be used, with its line.
    """
    format_of(out)  # refuses names of other formats before there is work to lose
    table = path if isinstance(path, TableFile) else TableFile.open(path)
    if Path(out).exists() and Path(out).samefile(table.path):
        raise FileError(table.path, "is the table itself: give another file for the predictions.")
    table.check_columns([domain, *(column.name for column in columns)])
    counts = _known_domains(model, table, domain)
    answers = _answers(model, intervals, coverage, probabilities)
    tally = _Tally(model)
    total = sum(counts.values())
    names = _names([domain, table.place, *answers.names])
    parts = read_chunks(table, columns, domain=domain, rows_per_chunk=rows_per_chunk)
    with (
        atomic_file(out) as temporary,
        TableWriter(temporary, named=out) as writer,
        _behind(writer.write) as write,
    ):
        done = 0
        for part in _ahead(parts):
            _refuse_gaps(table, part)
            found = _predicted(table, answers, part)
            tally.add(part.domains, found[0])
            write(dict(zip(names, [part.domains, part.lines, *answers.shown(found)], strict=True)))
            done += part.n_rows
            if on_rows is not None:
                on_rows(done, total)
    return Predictions(os.fspath(out), done, tuple(names), tally.result())


class _Classes:
    """The class of each row, and the probability of each class."""

    def __init__(self, model: Any, probabilities: bool) -> None:
        self.model = model
        self.classes = pa.array(model.classes_.tolist())
        shown = [f"probability of {name}" for name in model.classes_] if probabilities else []
        self.names = ["prediction", *shown]

    def predict(self, part: TableRows) -> list[NDArray[Any]]:
        proba = self.model.predict_proba(part.frame, sample_domain=part.domains)
        return [proba.argmax(axis=1), *proba.T[: len(self.names) - 1]]

    def shown(self, found: list[NDArray[Any]]) -> list[Any]:
        return [self.classes.take(pa.array(found[0])), *found[1:]]


class _Values:
    """The value of each row, and the ends of its interval."""

    def __init__(self, model: Any, coverage: float | None) -> None:
        self.model, self.coverage = model, coverage
        self.names = ["prediction", *([] if coverage is None else ["lower", "upper"])]

    def predict(self, part: TableRows) -> list[NDArray[Any]]:
        found = [self.model.predict(part.frame, sample_domain=part.domains)]
        if self.coverage is not None:
            ends = self.model.predict_interval(part.frame, part.domains, coverage=self.coverage)
            found += ends
        return found

    def shown(self, found: list[NDArray[Any]]) -> list[Any]:
        return list(found)


def _answers(
    model: Any, intervals: bool | None, coverage: float, probabilities: bool
) -> _Classes | _Values:
    if isinstance(model, AdaptedClassifier):
        if intervals:
            raise ValueError("Intervals are for a regression; this model predicts classes.")
        return _Classes(model, probabilities)
    calibrated = model._calibration is not None
    if intervals and not calibrated:
        raise ValueError(
            "This model has no intervals: fit it with --method auto or --calibrate, and with "
            "labels in two domains at least."
        )
    wanted = calibrated if intervals is None else intervals
    return _Values(model, coverage if wanted else None)


def _predicted(
    table: TableFile, answers: _Classes | _Values, part: TableRows
) -> list[NDArray[Any]]:
    try:
        return answers.predict(part)
    except FileError:
        raise
    except ValueError as error:
        first, last = part.lines[0], part.lines[-1]
        raise FileError(
            table.path, f"{table.place}s {first:,} to {last:,} cannot be used: {error}"
        ) from error


def _known_domains(model: Any, table: TableFile, domain: str) -> dict[str, int]:
    """Rows of each domain, all of them known to the model."""
    rows_in = count_domains(table, domain=domain).rows_in
    known = set(model.graph_.names)
    unknown = {name: count for name, count in rows_in.items() if name not in known}
    if not unknown:
        return rows_in
    shown = [f"{quoted(name)} ({counted(unknown[name], 'row')})" for name in list(unknown)[:5]]
    more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
    meant = near_miss(next(iter(unknown)), [str(name) for name in model.graph_.names])
    hint = f"Did you mean {quoted(meant)}? " if meant else ""
    raise FileError(
        table.path,
        f"the model does not know {counted(len(unknown), 'domain')} of column {quoted(domain)}: "
        f"{', '.join(shown)}{more}. {hint}Correct the names, drop the rows, or extend the model by "
        "a graph that joins them to domains it knows.",
    )


def _refuse_gaps(table: TableFile, part: TableRows) -> None:
    for name in part.frame.columns:
        gone = part.frame[name].isna().to_numpy()
        if gone.any():
            line = int(part.lines[int(np.argmax(gone))])
            raise FileError(
                table.path,
                f"{table.place} {line:,}, column {quoted(name)} has no value. Fill the gap, or "
                "drop the row.",
            )


class _Tally:
    """What is predicted in each domain."""

    def __init__(self, model: Any) -> None:
        self.graph = model.graph_
        self.classes = getattr(model, "classes_", None)
        shape = (len(self.graph), 1 if self.classes is None else len(self.classes))
        self.sums = np.zeros(shape)
        self.rows = np.zeros(len(self.graph), dtype=np.int64)

    def add(self, domains: NDArray[Any], found: NDArray[Any]) -> None:
        codes = self.graph.index(domains)
        self.rows += np.bincount(codes, minlength=len(self.rows))
        if self.classes is None:
            self.sums[:, 0] += np.bincount(codes, weights=found, minlength=len(self.rows))
        else:
            np.add.at(self.sums, (codes, found), 1.0)

    def result(self) -> dict[str, dict[str, Any]]:
        told = {}
        for code in np.flatnonzero(self.rows).tolist():
            here: dict[str, Any] = {"rows": int(self.rows[code])}
            if self.classes is None:
                here["mean"] = float(self.sums[code, 0] / self.rows[code])
            else:
                pairs = zip(self.classes.tolist(), self.sums[code].tolist(), strict=True)
                here["classes"] = {str(name): int(count) for name, count in pairs}
            told[str(self.graph.names[code])] = here
        return told


def _names(wanted: list[str]) -> list[str]:
    """Names of columns; the column of domains may be called like one of ours."""
    names: list[str] = []
    for name in wanted:
        while name in names:
            name += "_"
        names.append(name)
    return names


def _ahead(items: Iterator[_Item]) -> Iterator[_Item]:
    """The same, with the next one made in another thread while this one is in use."""
    with ThreadPoolExecutor(1) as pool:
        coming: Future[_Item | None] = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


@contextmanager
def _behind(do: Callable[[Any], object]) -> Iterator[Callable[[Any], None]]:
    """The same function in another thread, at most one call behind; all is done at the end."""
    with ThreadPoolExecutor(1) as pool:
        pending: list[Future[object]] = []

        def later(item: Any) -> None:
            if pending:
                pending.pop().result()
            pending.append(pool.submit(do, item))

        yield later
        while pending:
            pending.pop().result()
