"""The rows of many domains as a method sees them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grada.data._features import FeatureEncoder, Quantities, factorize_column
from grada.data._labels import Kind, LabelCoder, Labels
from grada.data._stored import StoredRows
from grada.graph import DomainGraph


@dataclass(frozen=True)
class DomainData:
    """Rows of many domains as a method sees them.

    Attributes
    ----------
    X : float32 array of shape (n_rows, ...)
        Encoded and scaled features.
    codes : int64 array of shape (n_rows,)
        Position of each row's domain in ``graph.names``.
    y : int64 array (n_rows,) of class codes, or float32 array (n_rows, n_outputs)
        Visible labels; -1 or NaN where there is none.
    weight : float32 array of shape (n_rows,)
        Weight of each label, mean one over the labelled rows, zero without a label.
    graph : DomainGraph
    kind : {"classification", "regression"}
    n_outputs : int
        Number of classes, or of values to predict.
    pair_key : int64 array of shape (n_rows,), optional
        Codes of the column named by ``pair_on``.
    quantities : Quantities, optional
        Which features were numbers, and where their zero lies.

    Examples
    --------
    >>> graph = DomainGraph.chain(["a", "b"])
    >>> data = DomainData.from_table([[0.0], [1.0], [2.0]], ["no", "yes", None],
    ...                              ["a", "a", "b"], graph=graph, kind="classification")
    >>> data.y
    array([ 0,  1, -1])
    >>> [graph.names[code] for code in data.targets]
    ['b']
    """

    X: NDArray[np.float32]
    codes: NDArray[np.int64]
    y: NDArray[Any]
    weight: NDArray[np.float32]
    graph: DomainGraph
    kind: Kind
    n_outputs: int
    pair_key: NDArray[np.int64] | None = None
    quantities: Quantities | None = None

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: Any,
        sample_domain: Any,
        *,
        graph: DomainGraph,
        kind: Kind,
        missing_label: object = None,
        pair_on: str | int | None = None,
    ) -> DomainData:
        """Read a table (array or DataFrame), labels with gaps, and the domain of each row."""
        labels = Labels.read(y, kind=kind, missing_label=missing_label)
        key = None if pair_on is None else factorize_column(X, pair_on)
        return read_table(X, labels, sample_domain, graph=graph, pair_key=key)[0]

    @property
    def labelled(self) -> NDArray[np.int64]:
        """Rows that have a label of positive weight."""
        return np.flatnonzero(self.weight > 0)

    @property
    def sources(self) -> NDArray[np.int64]:
        """Domains with at least one labelled row."""
        return np.unique(self.codes[self.labelled])

    @property
    def targets(self) -> NDArray[np.int64]:
        """Domains that have rows but no label."""
        return np.setdiff1d(self.codes, self.sources)

    def hiding(self, domains: NDArray[np.int64]) -> DomainData:
        """The same rows without the labels of some domains, which become targets."""
        return self.hiding_rows(np.flatnonzero(np.isin(self.codes, domains)))

    def hiding_rows(self, hidden: NDArray[np.int64]) -> DomainData:
        """The same rows, some of them without their labels."""
        weight = self.weight.astype(np.float32, copy=True)
        weight[hidden] = 0
        if not weight.any():
            raise ValueError("No label would be left: hide fewer.")
        y = self.y.copy()
        y[hidden] = -1 if self.kind == "classification" else np.nan
        return replace(self, y=y, weight=weight / weight[weight > 0].mean())

    @property
    def unreachable(self) -> NDArray[np.int64]:
        """Domains of the graph that no path joins to a source."""
        return np.flatnonzero(np.isinf(self.graph.hops_from(self.sources)))


def read_table(
    X: Any,
    labels: Labels,
    sample_domain: Any,
    *,
    graph: DomainGraph,
    pair_key: NDArray[np.int64] | None = None,
    allow_nd: bool = False,
) -> tuple[DomainData, FeatureEncoder, LabelCoder]:
    """Data for a method, and what is needed to read further rows and to write predictions.

    Parameters
    ----------
    X : array, DataFrame or StoredRows
    labels : Labels
    sample_domain : array-like of names
    graph : DomainGraph
    pair_key : int array, optional
        Codes of the column that pairs must agree on.
    allow_nd : bool
        Whether rows may be images and the like.

    Returns
    -------
    DomainData, FeatureEncoder, LabelCoder
    """
    coder = LabelCoder.fit(labels)
    codes = graph.index(sample_domain)
    stored = isinstance(X, StoredRows)
    features = X.encoder if stored else FeatureEncoder().fit(X, allow_nd=allow_nd)
    data = DomainData(
        X=X.values if stored else features.transform(X),
        codes=codes,
        y=coder.encode(labels),
        weight=labels.weight.astype(np.float32),
        graph=graph,
        kind=labels.kind,
        n_outputs=coder.n_outputs,
        pair_key=pair_key,
        quantities=features.quantities,
    )
    return data, features, coder
