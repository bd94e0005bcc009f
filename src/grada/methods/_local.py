"""Models of single domains: fitted on rows of their neighbours, refined on their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.validation import has_fit_parameter

from grada.data import DomainData
from grada.graph import DomainGraph

Floats = NDArray[np.float64]
#: Labelled rows of other domains, their labels, and weights of mean one.
Lesson = tuple[Floats, NDArray[Any], Floats]

_LEAST_ROWS = 5  # of each neighbour, when there are too many neighbours to take all rows
_PRIOR_ROWS = 10.0  # a domain of this many rows is worth as much as its neighbours


@dataclass(frozen=True)
class Base:
    """An unfitted scikit-learn model, and the curved features it is given beside the rows.

    Attributes
    ----------
    model : scikit-learn estimator
    n_outputs : int
        Number of classes, or of values.
    classes : bool
        Whether it is a classifier.
    curves : Nystroem, optional
        Fitted kernel map.
    """

    model: Any
    n_outputs: int
    classes: bool
    curves: Nystroem | None = None

    def inputs(self, X: NDArray[Any]) -> Floats:
        """Rows as the model sees them."""
        flat = X.astype(np.float64)
        return (
            flat
            if self.curves is None or not len(X)
            else np.hstack([flat, self.curves.transform(flat)])
        )

    def fit(self, inputs: Floats, y: NDArray[Any], weight: Floats) -> Any:
        """Fit a copy of the model; a constant one if there is only one class."""
        used = weight > 0
        inputs, y, weight = inputs[used], y[used], weight[used] / weight[used].mean()
        if not self.classes and y.shape[1] == 1:
            y = y[:, 0]
        if self.classes and (y == y[0]).all():
            return DummyClassifier(strategy="prior").fit(inputs, y)
        model = clone(self.model)
        if self._takes_weights:
            return model.fit(inputs, y, sample_weight=weight)
        if np.ptp(weight) > 0:
            # Rows in proportion to their weights, and at least one of each class.
            steps = (np.arange(len(y)) + 0.5) / len(y)
            drawn = np.searchsorted(np.cumsum(weight) / weight.sum(), steps).clip(max=len(y) - 1)
            first = np.unique(y, return_index=True)[1] if self.classes else drawn[:0]
            drawn = np.concatenate([drawn, first])
            inputs, y = inputs[drawn], y[drawn]
        return model.fit(inputs, y)

    @cached_property
    def _takes_weights(self) -> bool:
        return bool(has_fit_parameter(self.model, "sample_weight"))

    def output(self, model: Any, inputs: Floats) -> Floats:
        """Probabilities of all classes, or values."""
        if not self.classes:
            return np.asarray(model.predict(inputs), dtype=np.float64).reshape(len(inputs), -1)
        probability = np.zeros((len(inputs), self.n_outputs))
        probability[:, model.classes_] = model.predict_proba(inputs)
        return probability


@dataclass
class KnownRows:
    """Rows in the order of their domains, with the labels known so far.

    Attributes
    ----------
    X : array of shape (n_rows, n_features)
    y : array of shape (n_rows,) or (n_rows, n_outputs)
    weight : array of shape (n_rows,)
        How far a label can be relied on; zero where none is known.
    given : bool array of shape (n_rows,)
        Whether the label is a true one.
    start : int array of shape (n_domains + 1,)
        First row of each domain.
    mean : array of shape (n_domains, n_features)
    distance : array of shape (n_domains,)
        Steps from true labels; infinite for a domain that has not been reached.
    """

    X: NDArray[np.float32]
    y: NDArray[Any]
    weight: Floats
    given: NDArray[np.bool_]
    start: NDArray[np.int64]
    mean: Floats
    distance: Floats

    @classmethod
    def of(cls, data: DomainData) -> KnownRows:
        """The labels that a user gave."""
        order = _order(data.X, data.codes, data.y)
        X, weight = data.X[order], data.weight[order].astype(np.float64)
        distance = np.full(data.graph.n_domains, np.inf)
        distance[data.sources] = 0.0
        start = np.searchsorted(data.codes[order], np.arange(data.graph.n_domains + 1))
        mean = _means(X, start)
        return cls(X, data.y[order], weight, weight > 0, start, mean, distance)

    def trust_in(self, domains: NDArray[np.int64] | slice) -> Floats:
        """How far domains can be relied on: 1 for sources, less with every step from them."""
        return 1.0 / (1.0 + 0.1 * self.distance[domains])

    def of_domain(self, domain: int) -> slice:
        """Rows of a domain."""
        return slice(self.start[domain], self.start[domain + 1])

    def n_rows(self, domain: int) -> int:
        """Number of rows of a domain."""
        return int(self.start[domain + 1] - self.start[domain])

    def hiding(self, domains: NDArray[np.int64]) -> KnownRows:
        """The same rows without the labels of some domains."""
        weight, given, distance = self.weight.copy(), self.given.copy(), self.distance.copy()
        for domain in domains:
            weight[self.of_domain(domain)], given[self.of_domain(domain)] = 0.0, False
        distance[domains] = np.inf
        return replace(self, weight=weight, given=given, distance=distance)

    def with_rows(
        self, X: NDArray[np.float32], codes: NDArray[np.int64], n_domains: int
    ) -> KnownRows:
        """The same and rows of new domains, which come after those known."""
        n_old, n_new = len(self.start) - 1, len(X)
        order = _order(X, codes)
        start = np.searchsorted(codes[order], np.arange(n_old, n_domains + 1)) + len(self.X)
        rows = np.concatenate([self.X, X[order]])
        return KnownRows(
            X=rows,
            y=np.concatenate([self.y, np.zeros((n_new, *self.y.shape[1:]), self.y.dtype)]),
            weight=np.concatenate([self.weight, np.zeros(n_new)]),
            given=np.concatenate([self.given, np.zeros(n_new, dtype=bool)]),
            start=np.concatenate([self.start[:-1], start]),
            mean=np.concatenate([self.mean, _means(rows, start)]),
            distance=np.concatenate([self.distance, np.full(n_domains - n_old, np.inf)]),
        )

    def given_rows(self, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Rows with true labels in the order of their domains, drawn if more than ``most``."""
        rows = np.flatnonzero(self.given)
        return np.sort(rng.choice(rows, most, replace=False)) if len(rows) > most else rows

    def lesson(
        self,
        domain: int,
        helpers: NDArray[np.int64],
        weight: Floats,
        *,
        align: float,
        most: int,
        rng: np.random.Generator,
    ) -> Lesson:
        """Labelled rows of other domains, moved towards the place of this one.

        Parameters
        ----------
        domain : int
        helpers : int array of shape (n_helpers,)
            Domains with labels, true or not.
        weight : array of shape (n_helpers,)
            Of each helper as a whole, however many rows it has.
        align : float
            Share of the difference between the means of two domains by which rows are moved.
        most : int
            Number of rows, about; of more, some are drawn from each helper by its weight, and from
            the heaviest ones only if the helpers are very many.
        rng : numpy.random.Generator
        """
        if len(helpers) * _LEAST_ROWS > most:
            heavy = np.argsort(-weight, kind="stable")[: max(most // _LEAST_ROWS, 1)]
            helpers, weight = helpers[heavy], weight[heavy]
        quota = np.ceil(most * weight / weight.sum()).astype(np.int64)
        taken = [self._draw(helper, many, rng) for helper, many in zip(helpers, quota, strict=True)]
        owner = np.repeat(np.arange(len(helpers)), [len(rows) for rows in taken])
        rows = np.concatenate(taken)
        total = np.bincount(owner, self.weight[rows], len(helpers))[owner]
        row_weight = self.weight[rows] / total * weight[owner]
        move = align * (self.mean[domain] - self.mean[helpers])
        moved = self.X[rows] + move[owner] * (self.start[domain] < self.start[domain + 1])
        return moved, self.y[rows], row_weight / row_weight.mean()

    def _draw(self, domain: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        rows = self.start[domain] + np.flatnonzero(self.weight[self.of_domain(domain)] > 0)
        return rng.choice(rows, most, replace=False) if len(rows) > most else rows


def labelled_neighbours(
    graph: DomainGraph, known: KnownRows, domain: int
) -> tuple[NDArray[np.int64], Floats]:
    """Neighbours that have been reached, and the weight of each: of its edge, by trust."""
    weights = graph.weights
    near = slice(weights.indptr[domain], weights.indptr[domain + 1])
    neighbours = weights.indices[near].astype(np.int64)
    weight = weights.data[near] * known.trust_in(neighbours)
    return neighbours[weight > 0], weight[weight > 0]


def refine(
    base: Base,
    lesson: Lesson,
    X: NDArray[np.float32],
    y: NDArray[Any],
    given: NDArray[np.bool_],
    *,
    keep: float,
    times: int,
) -> Any:
    """Fit a classifier on a lesson, then several times on it and on its own confident labels.

    Parameters
    ----------
    base : Base
    lesson : tuple of arrays
    X, y, given : arrays
        Rows of the domain itself; ``y`` is used where ``given`` only.
    keep : float
        Share of the rows of each predicted class, the surest, that is learned from.
    times : int

    Returns
    -------
    model : fitted scikit-learn estimator
    """
    X_taught, y_taught, taught = lesson
    inputs_taught, inputs = base.inputs(X_taught), base.inputs(X)
    model = base.fit(inputs_taught, y_taught, taught)
    own = 0.9 * len(X) / (len(X) + _PRIOR_ROWS)  # share of the weight that goes to its own rows
    for _ in range(times if len(X) and not given.all() else 0):
        probability = base.output(model, inputs)
        label = np.where(given, y, probability.argmax(axis=1))
        sure = np.where(given, 1.0, probability.max(axis=1))
        used = np.where(given | _surest(label, sure, keep), sure, 0.0)
        weight = np.concatenate([taught * ((1 - own) / taught.sum()), used * (own / used.sum())])
        both = np.vstack([inputs_taught, inputs])
        model = base.fit(both, np.concatenate([y_taught, label]), weight)
    return model


def fit_on_sources(base: Base, known: KnownRows, most: int, rng: np.random.Generator) -> Any:
    """Fit one model on rows with true labels of all domains, at most ``most`` of them."""
    rows = known.given_rows(most, rng)
    return base.fit(base.inputs(known.X[rows]), known.y[rows], known.weight[rows])


def _surest(label: NDArray[np.int64], sure: Floats, keep: float) -> NDArray[np.bool_]:
    """Whether a row is among the surest of its label, at least one of each."""
    order = np.lexsort((-sure, label))
    count = np.bincount(label)
    first = np.cumsum(count) - count
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - first[label[order]]
    chosen: NDArray[np.bool_] = rank < np.ceil(keep * count[label])
    return chosen


def _order(
    X: NDArray[np.float32], codes: NDArray[np.int64], y: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Rows by domain, and within it in an order that does not depend on that of the file."""
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    label = np.zeros(len(X)) if y is None else np.nan_to_num(y).reshape(len(X), -1).sum(axis=1)
    return np.lexsort((label, (X * direction).sum(axis=1), codes))


def _means(X: NDArray[np.float32], start: NDArray[np.int64]) -> Floats:
    """Mean of each stretch of rows, zero for an empty one."""
    total = np.zeros((len(start) - 1, X.shape[1]))
    full = np.flatnonzero(np.diff(start))
    if len(full):
        total[full] = np.add.reduceat(X[: start[-1]].astype(np.float64), start[full], axis=0)
    return total / np.maximum(np.diff(start), 1)[:, None]
