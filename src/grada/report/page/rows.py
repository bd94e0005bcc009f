"""A user's rows for a page: which domain, which labels, and a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from grada.data import LazyRows, StoredRows
from grada.graph import DomainGraph

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """Labels with gaps: the values as given, and where there are any."""

    values: NDArray[Any]
    known: Bools

    @classmethod
    def read(cls, y: Any, n_rows: int, *, missing_label: object, what: str) -> Column:
        """Read labels in which NaN, None, NA or ``missing_label`` mean "no label"."""
        if y is None:
            return cls(np.full(n_rows, None, dtype=object), np.zeros(n_rows, dtype=bool))
        values = np.asarray(y) if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
        if values.ndim not in (1, 2) or len(values) != n_rows:
            raise ValueError(
                f"{what} has shape {values.shape}, but there are {n_rows} rows: give a label, or "
                "NaN, for each."
            )
        missing = np.asarray(pd.isna(values))
        if missing_label is not None:
            missing |= np.asarray(values == missing_label, dtype=bool)
        if values.ndim == 2:
            missing = np.asarray(missing.any(axis=1))
            values = values[:, 0] if values.shape[1] == 1 else values
        return cls(values, ~missing)

    def take(self, rows: Codes) -> Column:
        """Some rows."""
        return Column(self.values[rows], self.known[rows])


@dataclass(frozen=True)
class Rows:
    """A table beside its domains and labels.

    Attributes
    ----------
    X : table
        As the model takes it.
    names : array or None
        What to pass as ``sample_domain``: None if the model knows it otherwise.
    codes : int array
        Domain of each row, its position in the graph.
    visible, truth : Column
    """

    X: Any
    names: Any
    codes: Codes
    visible: Column
    truth: Column

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, sample_domain: Any, truth: Any) -> Rows:
        """Check that all of it belongs together."""
        graph: DomainGraph = model.graph_
        if not isinstance(X, LazyRows | StoredRows) and not hasattr(X, "columns"):
            X = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        n_rows = len(X)
        missing_label = getattr(model, "missing_label", None)
        codes = graph.index(_names(model, X, sample_domain, n_rows))
        if len(codes) != n_rows:
            raise ValueError(
                f"sample_domain has {len(codes)} entries, but there are {n_rows} rows."
            )
        if sample_domain is not None:
            sample_domain = np.array(graph.names, dtype=object)[codes]
        return cls(
            X,
            sample_domain,
            codes,
            Column.read(y, n_rows, missing_label=missing_label, what="y"),
            Column.read(truth, n_rows, missing_label=missing_label, what="truth"),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Codes) -> Rows:
        """Some rows."""
        lazy = isinstance(self.X, LazyRows | StoredRows)
        return Rows(
            self.X.take(rows) if lazy else _safe_indexing(self.X, rows),
            None if self.names is None else self.names[rows],
            self.codes[rows],
            self.visible.take(rows),
            self.truth.take(rows),
        )

    def sampled(self, most: int, rng: np.random.Generator) -> Rows:
        """At most so many rows, every domain giving one in turn."""
        if len(self) <= most:
            return self
        order = rng.permutation(len(self))
        # The number of each row within its domain, in random order: low numbers are taken first.
        by_domain = order[np.argsort(self.codes[order], kind="stable")]
        counts = np.bincount(self.codes)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        rank = np.empty(len(self), dtype=np.int64)
        rank[by_domain] = np.arange(len(self)) - starts
        first = order[np.argsort(rank[order], kind="stable")]
        return self.take(np.sort(first[:most]))


def _names(model: Any, X: Any, sample_domain: Any, n_rows: int) -> Any:
    column = getattr(model, "domain", None)
    if column is not None:
        if sample_domain is not None:
            raise ValueError("The model takes domains from a column of X: leave sample_domain out.")
        if hasattr(X, "columns"):
            if column not in X.columns:
                raise ValueError(f"X has no column {column!r} with the domains.")
            return X[column]
        return X[:, column]
    if sample_domain is not None:
        if isinstance(sample_domain, str):
            raise ValueError(f"sample_domain={sample_domain!r} is one name; give one per row.")
        return sample_domain
    if len(model.graph_) > 1:
        raise ValueError(
            f"The model knows {len(model.graph_)} domains: give sample_domain, the domain of each "
            "row."
        )
    return np.full(n_rows, model.graph_.names[0], dtype=object)
