"""A user's table and graph, read and matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from grada.data import Kind, StoredRows
from grada.files import (
    Column,
    FileError,
    GraphFile,
    TableFile,
    TableRows,
    TableScan,
    read_graph,
    read_table,
    scan_table,
)
from grada.files.store import RowStore
from grada.graph import DomainGraph

#: Bytes of a file from which on its rows are kept in a mapped file instead of in memory.
LARGE = 100 * 2**20


@dataclass(frozen=True)
class TableSource:
    """Where rows and graph come from, and what the columns mean.

    Parameters
    ----------
    table : path
    domain, label : str
        Names of columns.
    graph : path, optional
        Edge list; without one a graph is discovered from the rows.
    features : sequence of str, optional
        By default all other columns.
    sources : sequence of str, optional
        Domains whose labels are used; by default all that have some.
    kind : {"classification", "regression"}, optional
        By default what the labels look like.
    separator : str, optional
        Between the fields of the table, if neither a comma nor, in a .tsv, a tab.
    """

    table: Path
    domain: str
    label: str
    graph: Path | None = None
    features: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    kind: Kind | None = None
    separator: str | None = None

    def open(self) -> TableFile:
        """The table, not yet read."""
        return TableFile.open(self.table, separator=self.separator)

    def read(self, *, scratch: Path | None = None, large: int = LARGE) -> Reading:
        """Read the table and the graph: a small table into memory, a large one into a store.

        Parameters
        ----------
        scratch : path, optional
            Folder with room for the store; by default that of temporary files.
        large : int
            Bytes of a file from which on its rows are kept in a store.

        Returns
        -------
        Reading
        """
        table = self.open()
        asked: dict[str, Any] = {
            "domain": self.domain,
            "label": self.label,
            "features": self.features,
            "sources": self.sources,
            "kind": self.kind,
        }
        if table.path.stat().st_size < large:
            rows = read_table(table, **asked)
            return Reading.of_rows(self, rows, self._edges(rows.domains))
        scan = scan_table(table, **asked)
        edges = self._edges(list(scan.rows_in))  # refused before the table is read once more
        return Reading.of_store(self, scan, RowStore.build(scan, scratch), edges)

    def _edges(self, domains: Any) -> GraphFile | None:
        """The graph with all domains of the table; None if none is given."""
        return None if self.graph is None else read_graph(self.graph, dict.fromkeys(domains))


@dataclass(frozen=True)
class Reading:
    """Rows and graph of a source, ready for ``fit``.

    Attributes
    ----------
    source : TableSource
    X : DataFrame or StoredRows
    labels : array or Categorical
        Visible labels, with gaps.
    domains : array or Categorical
    kind : {"classification", "regression"}
    columns : list of Column
        The features.
    edges : GraphFile, optional
    rows_in, labels_in : dict of str to int
        Rows and visible labels of every domain.
    remarks : list of str
        About the table.
    sha256 : str
        Of the table.
    """

    source: TableSource
    X: pd.DataFrame | StoredRows
    labels: Any
    domains: Any
    kind: Kind
    columns: list[Column]
    edges: GraphFile | None
    rows_in: dict[str, int]
    labels_in: dict[str, int]
    remarks: list[str]
    sha256: str

    @classmethod
    def of_rows(cls, source: TableSource, rows: TableRows, edges: GraphFile | None) -> Reading:
        """Rows in memory."""
        known = rows.domains[~pd.isna(rows.labels)]
        return cls(
            source,
            rows.frame,
            rows.labels,
            rows.domains,
            _settled(rows.kind),
            rows.columns,
            edges,
            dict(Counter(rows.domains.tolist())),
            dict(Counter(known.tolist())),
            rows.notes,
            rows.sha256,
        )

    @classmethod
    def of_store(
        cls, source: TableSource, scan: TableScan, store: RowStore, edges: GraphFile | None
    ) -> Reading:
        """Rows in a mapped file."""
        remark = f"The table is large: its {scan.n_rows:,} rows are read from a mapped file."
        return cls(
            source,
            store.rows,
            store.labels,
            store.domains,
            _settled(scan.kind),
            scan.columns,
            edges,
            scan.rows_in,
            scan.labels_in,
            [*scan.notes, remark],
            scan.table.sha256,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.rows_in.values())

    @property
    def graph(self) -> DomainGraph | None:
        """Which domains are neighbours, if that is known."""
        return None if self.edges is None else self.edges.graph

    @property
    def notes(self) -> list[str]:
        """What was decided and what looks odd, about the table and about the graph."""
        return [*self.remarks, *([] if self.edges is None else self.edges.notes)]

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of the files."""
        found = {self.source.table.name: self.sha256}
        if self.source.graph is not None:
            found[self.source.graph.name] = sha256(self.source.graph.read_bytes()).hexdigest()
        return found

    def roles(self) -> tuple[list[str], list[str]]:
        """Domains with labels, and without."""
        sources = sorted(name for name, n in self.labels_in.items() if n)
        return sources, sorted(set(self.rows_in).difference(sources))

    def check_targets(self, method: str) -> None:
        """Refuse a table without gaps in its labels, where there is nothing to adapt to."""
        if sum(self.labels_in.values()) < self.n_rows or method == "plain":
            return
        raise FileError(
            self.source.table,
            f"every row has a label in column {self.source.label!r}: there is nothing to adapt to. "
            "Name the domains whose labels may be used with --sources, or fit an ordinary model "
            "with --method plain.",
        )


def _settled(kind: Kind | None) -> Kind:
    if kind is None:
        raise ValueError("There is no column of labels.")
    return kind
