"""A task: a table, a graph, some domains with labels, and a truth that only `evaluate` sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from grada.data import LazyRows
from grada.graph import DomainGraph, Name, UnknownDomainError

if TYPE_CHECKING:
    from grada.data import Kind

Table = NDArray[Any] | pd.DataFrame | LazyRows
RandomState = int | np.random.Generator | None

LEVELS = ("1", "2", "3+", "unreachable")
KINDS = ("classification", "regression")


@dataclass(frozen=True)
class Evaluation:
    """Scores of predictions on the target domains of a task.

    Attributes
    ----------
    mean, worst : float
        Mean over the target domains, and the worst of them.
    per_domain : dict
        Score of each target domain.
    per_level : dict
        Mean over the target domains one hop ("1"), two hops ("2") and more ("3+") away from the
        nearest source, and over those that no path joins to a source ("unreachable").
        Levels without a domain are left out.
    metric : {"accuracy", "squared error"}
        Accuracy in percent, or the squared error summed over the outputs, averaged over rows.
    sources : dict
        Score of each source domain, for comparison; not part of the other figures.
    rmse : float or None
        For regression, the root of the squared error averaged over target domains and outputs,
        in the unit of the raw labels; every target domain weighs the same.
    unit : str
        The unit of ``rmse``, such as "°F".
    """

    mean: float
    worst: float
    per_domain: dict[Name, float]
    per_level: dict[str, float]
    metric: str
    sources: dict[Name, float] = field(default_factory=dict, repr=False)
    rmse: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        unit = " %" if self.metric == "accuracy" else ""
        digits = 2 if self.metric == "accuracy" else 3
        levels = ", ".join(f"{level}: {x:.{digits}f}" for level, x in self.per_level.items())
        said = (
            f"{self.metric} {self.mean:.{digits}f}{unit} "
            f"(worst {self.worst:.{digits}f}) over {len(self.per_domain)} target domains; "
            f"by level {levels}"
        )
        if self.rmse is None:
            return said
        # Three digits that count, but never 5.32e+04: the raw labels may be prices.
        rmse = np.format_float_positional(self.rmse, 3, unique=False, fractional=False, trim="-")
        return f"{said}; RMSE {rmse} {self.unit}".rstrip()


class Task:
    """A table whose domains are nodes of a graph, with labels in the source domains only.

    The labels of the target domains are taken in once, to score predictions. They are in no
    public attribute: ``y`` has gaps there, and only :meth:`evaluate` and :meth:`reveal` know more.

    Parameters
    ----------
    X : ndarray of shape (n_rows, ...), DataFrame with n_rows rows, or LazyRows
        Features. An array is kept without a copy, as a read-only view. Lazy rows, such as images
        in files, are read when they are needed.
    y : array-like of shape (n_rows,) or, for regression, also (n_rows, n_outputs)
        The whole truth, without gaps.
    domain : array-like of shape (n_rows,)
        Name of the domain of each row.
    graph : DomainGraph
        The domains and their edges. A domain of the graph may have no rows.
    sources : iterable of names
        Domains whose labels may be used.
    kind : {"classification", "regression"}
        What is predicted.
    name : str
        Name of the task, for tables and figures.
    metadata : mapping, optional
        What else is known of the domains, such as their angles or coordinates; never of labels.
    unit : str
        For regression, the unit of the raw labels, such as "°F".
    scale : float
        For regression, how many of these units are 1.0 in ``y``: the standard deviation by which
        the labels were divided. It only serves the RMSE of :meth:`evaluate`.

    Attributes
    ----------
    y : ndarray
        Visible labels: floats with NaN in the rows of targets, or objects with None there when
        the labels are not numbers.
    sources, targets : tuple of names
        Domains with visible labels, and the other domains that have rows; in the graph's order.

    Examples
    --------
    >>> from grada.graph import DomainGraph
    >>> graph = DomainGraph.from_edges([("OH", "PA"), ("PA", "NY")])
    >>> task = Task([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1], ["OH", "OH", "PA", "NY"],
    ...             graph=graph, sources=["OH"], kind="classification", name="small")
    >>> task
    Task('small', classification, 4 rows, 3 domains: 1 source, 2 targets)
    >>> task.y
    array([ 0.,  1., nan, nan])
    >>> print(task.evaluate([0, 1, 0, 0]))
    accuracy 50.00 % (worst 0.00) over 2 target domains; by level 1: 100.00, 2: 0.00
    """

    X: Table
    y: NDArray[Any]
    domain: NDArray[Any]
    graph: DomainGraph
    sources: tuple[Name, ...]
    targets: tuple[Name, ...]
    kind: Kind
    name: str
    metadata: dict[str, Any]
    unit: str
    scale: float
    _truth: NDArray[Any]
    _codes: NDArray[np.intp]

    def __init__(
        self,
        X: ArrayLike | pd.DataFrame | LazyRows,
        y: ArrayLike | pd.Series[Any] | pd.DataFrame,
        domain: ArrayLike | pd.Series[Any],
        *,
        graph: DomainGraph,
        sources: Iterable[Name],
        kind: Kind,
        name: str = "task",
        metadata: Mapping[str, Any] | None = None,
        unit: str = "",
        scale: float = 1.0,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
        if not 0 < scale < np.inf:
            raise ValueError(f"scale must be a positive number; got {scale!r}.")
        table = _read_table(X)
        truth = _read_truth(y, kind)
        # Through pandas, which keeps a list of strings and ints apart; NumPy makes it all strings.
        rows = pd.Series(domain).to_numpy(copy=True)
        lengths = {"X": len(table), "y": len(truth), "domain": len(rows)}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{what} has {length}" for what, length in lengths.items())
            raise ValueError(f"X, y and domain must have one entry a row: {said}.")
        codes = np.asarray(graph.index(rows), dtype=np.intp)
        source_codes = _source_codes(graph, sources, codes)
        target_codes = np.setdiff1d(codes, source_codes)
        if not len(target_codes):
            raise ValueError("Every domain that has rows is a source: there is no target left.")
        hidden = ~np.isin(codes, source_codes)
        # The attributes are set past __setattr__, which refuses changes.
        vars(self).update(
            X=table,
            y=_frozen(_masked(truth, hidden)),
            domain=_frozen(rows),
            graph=graph,
            sources=tuple(graph.names[code] for code in source_codes),
            targets=tuple(graph.names[code] for code in target_codes),
            kind=kind,
            name=name,
            metadata=dict(metadata or {}),
            unit=unit,
            scale=float(scale),
            _truth=_frozen(truth),
            _codes=codes,
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Task does not change: {name} cannot be set.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A Task does not change: {name} cannot be deleted.")

    def __repr__(self) -> str:
        sources, targets = len(self.sources), len(self.targets)
        return (
            f"Task({self.name!r}, {self.kind}, {len(self.y)} rows, {sources + targets} domains: "
            f"{sources} source{'s' * (sources > 1)}, {targets} target{'s' * (targets > 1)})"
        )

    def visible(self) -> tuple[Table, NDArray[Any], NDArray[Any]]:
        """All that a method may learn from.

        Returns
        -------
        X, y, domain
            The table, the labels with gaps in the rows of targets, and the domain of each row.
            Arrays are read-only; a DataFrame is a copy.
        """
        table = self.X.copy() if isinstance(self.X, pd.DataFrame) else self.X
        return table, self.y, self.domain

    def reveal(self) -> NDArray[Any]:
        """Return the whole truth, hidden labels included: for figures and oracles, never to fit.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            A copy.
        """
        return self._truth.copy()

    def evaluate(self, y_pred: ArrayLike) -> Evaluation:
        """Score predictions on the target domains.

        Parameters
        ----------
        y_pred : array-like of shape (n_rows,) or (n_rows, n_outputs)
            A prediction for every row of the task, in its order.

        Returns
        -------
        Evaluation
            Accuracy in percent; or, for regression, the squared error summed over the outputs and
            averaged over the rows of a domain, and the RMSE beside it. Every target domain weighs
            the same.
        """
        predicted = self._check_predictions(y_pred)
        if self.kind == "classification":
            metric, worst_of = "accuracy", min
            per_row = 100.0 * np.asarray(predicted == self._truth, dtype=float)
        else:
            metric, worst_of = "squared error", max
            per_row = ((predicted - self._truth) ** 2).reshape(len(predicted), -1).sum(axis=1)
        total = np.bincount(self._codes, weights=per_row, minlength=self.graph.n_domains)
        count = np.bincount(self._codes, minlength=self.graph.n_domains)
        score = total / np.maximum(count, 1)
        by_name = dict(zip(self.graph.names, score.tolist(), strict=True))
        per_domain = {name: by_name[name] for name in self.targets}
        mean = float(np.mean(list(per_domain.values())))
        regression = self.kind == "regression"
        n_outputs = self._truth.size // len(self._truth)
        return Evaluation(
            mean=mean,
            worst=worst_of(per_domain.values()),
            per_domain=per_domain,
            per_level=self._per_level(per_domain),
            metric=metric,
            sources={name: by_name[name] for name in self.sources},
            rmse=self.scale * float(np.sqrt(mean / n_outputs)) if regression else None,
            unit=self.unit if regression else "",
        )

    def with_sources(self, sources: Iterable[Name]) -> Task:
        """Return the same table with other domains as sources.

        Parameters
        ----------
        sources : iterable of names
            Domains whose labels may be used.

        Returns
        -------
        Task
        """
        return self._with(sources=sources)

    def with_features(
        self,
        X: ArrayLike | pd.DataFrame,
        rows: NDArray[np.intp] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Task:
        """Return the same task with another table, such as feature vectors of its images.

        Parameters
        ----------
        X : array-like or DataFrame
            A row for every row of the task, in its order; or for every one of ``rows``.
        rows : int array, optional
            Rows of the task that are in ``X``; the others are dropped.
        metadata : mapping, optional
            Added to the metadata of the task.

        Returns
        -------
        Task
        """
        kept = np.arange(len(self.y)) if rows is None else rows
        return Task(
            X,
            self._truth[kept],
            self.domain[kept],
            graph=self.graph,
            sources=self.sources,
            kind=self.kind,
            name=self.name,
            metadata={**self.metadata, **(metadata or {})},
            unit=self.unit,
            scale=self.scale,
        )

    def shuffled(self, random_state: RandomState = None) -> Task:
        """Permute the rows of every domain, each on its own; for leak tests.

        Parameters
        ----------
        random_state : int, numpy.random.Generator or None
            Seed of the permutations.

        Returns
        -------
        Task
            The same rows; each place in the table keeps its domain.
        """
        rng = np.random.default_rng(random_state)
        return self._with(rows=self._sorted_within_domains(rng.random(len(self._codes))))

    def sorted_by_class(self) -> Task:
        """Sort the rows of every domain by their true label: a trap, for leak tests.

        In this task the order of the rows gives the hidden labels away. A method that pairs rows
        of different domains by their position does better on it than on :meth:`shuffled`; an
        honest one does not. It serves no other purpose.

        Returns
        -------
        Task
            The same rows, sorted within each domain by class, or by the mean of the outputs.
        """
        if self.kind == "classification":
            return self._with(rows=self._sorted_within_domains(pd.factorize(self._truth)[0]))
        mean = self._truth.reshape(len(self._truth), -1).mean(axis=1)
        return self._with(rows=self._sorted_within_domains(mean))

    def scrambled(self, random_state: RandomState = None) -> Task:
        """Replace the hidden labels by noise, for leak tests: an honest fit does not notice.

        Parameters
        ----------
        random_state : int, numpy.random.Generator or None
            Seed of the noise.

        Returns
        -------
        Task
            The same visible task. Each hidden label is drawn from all the hidden ones, with
            replacement, so that their counts change too.
        """
        rng = np.random.default_rng(random_state)
        hidden = np.flatnonzero(~self._is_source_row())
        truth = self.reveal()
        truth[hidden] = truth[rng.choice(hidden, size=len(hidden))]
        return self._with(truth=truth)

    def _with(
        self,
        *,
        rows: NDArray[np.intp] | None = None,
        truth: NDArray[Any] | None = None,
        sources: Iterable[Name] | None = None,
    ) -> Task:
        table, domain = self.X, self.domain
        truth = self._truth if truth is None else truth
        if rows is not None:
            if isinstance(table, pd.DataFrame):  # the old index would tell where each row was
                table = table.iloc[rows].set_axis(table.index)
            elif isinstance(table, LazyRows):
                table = table.take(rows)
            else:
                table = table[rows]
            truth, domain = truth[rows], domain[rows]
        return Task(
            table,
            truth,
            domain,
            graph=self.graph,
            sources=self.sources if sources is None else sources,
            kind=self.kind,
            name=self.name,
            metadata=self.metadata,
            unit=self.unit,
            scale=self.scale,
        )

    def _sorted_within_domains(self, key: NDArray[Any]) -> NDArray[np.intp]:
        """Row to put in each place, so that every domain is sorted by key where it stands."""
        rows = np.empty(len(key), dtype=np.intp)
        rows[np.argsort(self._codes, kind="stable")] = np.lexsort((key, self._codes))
        return rows

    def _is_source_row(self) -> NDArray[np.bool_]:
        return np.isin(self._codes, self.graph.index(self.sources))

    def _per_level(self, per_domain: dict[Name, float]) -> dict[str, float]:
        hops = self.graph.hops(self.sources)
        groups: dict[str, list[float]] = {level: [] for level in LEVELS}
        for name, score in per_domain.items():
            hop = hops[name]
            groups["unreachable" if np.isinf(hop) else LEVELS[min(int(hop), 3) - 1]].append(score)
        return {level: float(np.mean(scores)) for level, scores in groups.items() if scores}

    def _check_predictions(self, y_pred: ArrayLike) -> NDArray[Any]:
        predicted, truth = np.asarray(y_pred), self._truth
        if predicted.ndim == 0 or len(predicted) != len(truth):
            raise ValueError(
                f"evaluate needs a prediction for every row of the task ({len(truth)}, sources "
                f"included, in the task's order); got {predicted.size if predicted.ndim else 1}."
            )
        if predicted.size == truth.size:  # a single output as a column, or as a flat array
            predicted = predicted.reshape(truth.shape)
        if predicted.shape != truth.shape:
            raise ValueError(
                f"The predictions have shape {predicted.shape}, but the labels {truth.shape}."
            )
        if self.kind == "regression":
            predicted = predicted.astype(float)
            missing = ~np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1)
        else:
            missing = np.asarray(pd.isna(predicted))
        if missing.any():
            raise ValueError(
                f"No finite prediction (but NaN, None or infinite) in {missing.sum()} of "
                f"{len(truth)} rows, the first of them in domain "
                f"{self.graph.names[self._codes[missing.argmax()]]!r}."
            )
        if self.kind == "classification":
            self._check_classes(predicted)
        return predicted

    def _check_classes(self, predicted: NDArray[Any]) -> None:
        # '0' for 0 would count as wrong in every row: a slip of types, not a bad model. Only
        # classes of the sources are compared and named, so that the message tells nothing hidden.
        known = pd.unique(self._truth[self._is_source_row()]).tolist()
        found = pd.unique(predicted).tolist()
        if set(known).isdisjoint(found):
            raise ValueError(
                f"None of the predicted labels ({', '.join(map(repr, found[:5]))}) is a class of "
                f"the sources ({', '.join(map(repr, known[:5]))})."
            )


def _read_table(X: ArrayLike | pd.DataFrame | LazyRows) -> Table:
    if isinstance(X, LazyRows):
        return X
    if isinstance(X, pd.DataFrame):
        return X.copy()
    table = np.asarray(X).view()
    if table.ndim < 2:
        raise ValueError(f"X must be a table with one row a line; got shape {table.shape}.")
    # What an array was cut from may hold the labels; a memory map is too large to be copied.
    if type(table.base) is np.ndarray and table.base.size > table.size:
        table = table.copy()
    return _frozen(table)


def _read_truth(y: ArrayLike | pd.Series[Any] | pd.DataFrame, kind: Kind) -> NDArray[Any]:
    truth = np.array(y)
    if truth.dtype.kind in "US":  # read again as objects: NumPy has made 'nan' of a missing label
        truth = np.array(y, dtype=object)
    if truth.ndim != 1 and not (truth.ndim == 2 and kind == "regression"):
        allowed = "(n_rows,)" if kind == "classification" else "(n_rows,) or (n_rows, n_outputs)"
        raise ValueError(f"y must have shape {allowed} for {kind}; got {truth.shape}.")
    missing = np.asarray(pd.isna(truth)).reshape(len(truth), -1).any(axis=1)
    if missing.any():
        raise ValueError(
            f"y has no label in {missing.sum()} of {len(truth)} rows. A Task takes the whole truth "
            "and hides the labels of the targets itself; a table with gaps goes to an estimator."
        )
    if kind == "regression":
        try:
            return truth.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The labels of a regression must be numbers: {error}.") from None
    return truth if truth.dtype.kind in "biuf" else truth.astype(object)


def _masked(truth: NDArray[Any], hidden: NDArray[np.bool_]) -> NDArray[Any]:
    masked = truth.astype(object if truth.dtype == object else float)
    masked[hidden] = None if masked.dtype == object else np.nan
    return masked


def _source_codes(
    graph: DomainGraph, sources: Iterable[Name], codes: NDArray[np.intp]
) -> NDArray[np.intp]:
    if isinstance(sources, str):
        raise TypeError(f"sources must be a list of domains, such as [{sources!r}].")
    names = list(sources)
    if not names:
        raise ValueError("A task needs at least one source domain.")
    unknown = tuple(name for name in names if name not in graph)
    if unknown:
        said = ", ".join(map(repr, unknown))
        raise UnknownDomainError(f"These sources are no domains of the graph: {said}.", unknown)
    found = np.unique(np.asarray(graph.index(names), dtype=np.intp))
    empty = [repr(graph.names[code]) for code in np.setdiff1d(found, codes)]
    if empty:
        raise ValueError(f"These sources have no rows: {', '.join(empty)}.")
    return found


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
