"""A user's table and graph, read and matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grada.data import Kind
from grada.files import Column, FileError, GraphFile, TableFile, TableRows, read_graph, read_table
from grada.graph import DomainGraph


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

    def read(self) -> Reading:
        """Read the table into memory, and the graph."""
        rows = read_table(
            self.open(),
            domain=self.domain,
            label=self.label,
            features=self.features,
            sources=self.sources,
            kind=self.kind,
        )
        return Reading(self, rows, self.read_graph(list(dict.fromkeys(rows.domains.tolist()))))

    def read_graph(self, domains: Sequence[str]) -> GraphFile | None:
        """The graph with all domains of the table; None if none is given."""
        return None if self.graph is None else read_graph(self.graph, domains)


@dataclass(frozen=True)
class Reading:
    """Rows and graph of a source, in memory."""

    source: TableSource
    rows: TableRows
    edges: GraphFile | None

    @property
    def graph(self) -> DomainGraph | None:
        """Which domains are neighbours, if that is known."""
        return None if self.edges is None else self.edges.graph

    @property
    def labels(self) -> Any:
        """Visible labels, with gaps."""
        return self.rows.labels

    @property
    def notes(self) -> list[str]:
        """What was decided and what looks odd, about the table and about the graph."""
        return [*self.rows.notes, *([] if self.edges is None else self.edges.notes)]

    @property
    def kind(self) -> Kind:
        """What is predicted."""
        if self.rows.kind is None:
            raise ValueError("There is no column of labels.")
        return self.rows.kind

    @property
    def columns(self) -> list[Column]:
        """The features."""
        return self.rows.columns

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of the files."""
        found = {self.rows.path.name: self.rows.sha256}
        if self.source.graph is not None:
            found[self.source.graph.name] = sha256(self.source.graph.read_bytes()).hexdigest()
        return found

    def roles(self) -> tuple[list[str], list[str]]:
        """Domains with labels, and without."""
        known = ~pd.isna(self.rows.labels)
        sources = np.unique(self.rows.domains[known].astype(str)).tolist()
        rest = np.setdiff1d(self.rows.domains.astype(str), sources).tolist()
        return sources, rest

    def check_targets(self, method: str) -> None:
        """Refuse a table without gaps in its labels, where there is nothing to adapt to."""
        if self.rows.has_targets or method == "plain":
            return
        raise FileError(
            self.rows.path,
            f"every row has a label in column {self.source.label!r}: there is nothing to adapt to. "
            "Name the domains whose labels may be used with --sources, or fit an ordinary model "
            "with --method plain.",
        )
