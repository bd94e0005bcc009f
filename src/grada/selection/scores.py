"""Scores of predictions that need no label of a target: how plausible a labelling is.

Every score is given per target domain, from 0 (bad) to 1. None of them is proof: a smooth wrong
function agrees with itself everywhere. :mod:`grada.selection.auto` combines them with what hidden
sources say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from grada.data import DomainData

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_PairScore = Callable[[int, int], float]

_MAX_ROWS = 200
_MAX_TARGETS = 200
_MAX_EDGES = 2000
_MAX_SOURCES = 50
_NEIGHBORS = 5
_PENALTY = 1e-2
_TEMPERATURE = 0.05

CLASSIFICATION_SCORES = (
    "agreement",
    "contact",
    "smoothness",
    "balance",
    "confidence",
    "density",
)
REGRESSION_SCORES = ("agreement", "spread", "level")


class LabelFree:
    """Scores of predictions on one set of data, without a label of a target.

    What does not depend on the predictions is worked out once. Large domains are looked at
    through a sample of their rows, large graphs through a sample of targets and edges.

    Classification: ``agreement`` - a linear model of a domain's labels, tested on those of its
    neighbours and the other way round, all classes alike; ``contact`` - the same with nearest
    rows instead of a linear model; ``smoothness`` - how often a row and its nearest rows in the
    domain have one label, against the same in the sources; ``balance`` - shares of the classes
    against those in the sources; ``confidence`` - mean largest probability; ``density`` - soft
    neighbourhood density (Saito et al., ICCV 2021): whether a row has many rows of the same
    prediction.

    Regression: ``agreement`` - share of the variance of the neighbours' values that a linear
    model of a domain's values explains; ``spread`` - spread of the values within the domain
    against that in sources and neighbours; ``level`` - difference of the mean value to that of
    neighbours, against the usual one between neighbouring sources.

    Parameters
    ----------
    data : DomainData
    random_state : int
        Of the samples.

    Attributes
    ----------
    targets : int array of shape (n_targets,)
        Codes of the target domains that are scored: all, or a sample of 200.
    rows : int array of shape (n_looked_at,)
        Rows whose predictions are looked at, at most 200 a domain.

    Examples
    --------
    >>> from grada.graph import DomainGraph
    >>> x = [[-1.0], [1.0]] * 20
    >>> data = DomainData.from_table(x, [0, 1] * 10 + [None] * 20, ["a"] * 20 + ["b"] * 20,
    ...                              graph=DomainGraph.chain(["a", "b"]), kind="classification")
    >>> right = np.eye(2)[[0, 1] * 20]
    >>> wrong = np.vstack([right[:20], np.eye(2)[[1, 0] * 10]])
    >>> lens = LabelFree(data)
    >>> lens.scores(right[lens.rows])["agreement"], lens.scores(wrong[lens.rows])["agreement"]
    (array([1.]), array([0.]))
    """

    def __init__(self, data: DomainData, *, random_state: int = 0):
        self.data = data
        rng = np.random.default_rng([random_state, 5])
        self.targets: Codes = _some(data.targets, _MAX_TARGETS, rng)
        edges, self._weight = _edges(data, self.targets, rng)
        sources = _some(data.sources, _MAX_SOURCES, rng)
        source_edges, _ = _edges(data, sources, rng)
        source_edges = source_edges[np.isin(source_edges[:, 1], sources)]
        self._domains = np.unique(np.concatenate([self.targets, edges.ravel(), sources]))
        self._edges = np.searchsorted(self._domains, edges)
        self._source_edges = np.searchsorted(self._domains, source_edges)
        self._target = np.searchsorted(self._domains, self.targets)
        self._source = np.searchsorted(self._domains, sources)
        sampled = _sampled_rows(data.codes, self._domains, rng)
        self.rows: Codes = np.concatenate(sampled)
        self._ends = np.cumsum([len(rows) for rows in sampled])
        self._x = [data.X[rows].reshape(len(rows), -1).astype(np.float64) for rows in sampled]
        self._near = [_nearest(x, x, skip_self=True) for x in self._x]
        across = {
            tuple(pair): None for both in (self._edges, self._edges[:, ::-1]) for pair in both
        }
        self._across = {
            pair: _nearest(self._x[pair[0]], self._x[pair[1]])
            for pair in across
            if data.kind == "classification"
        }

    def scores(self, output: Floats) -> dict[str, Floats]:
        """Scores of predictions.

        Parameters
        ----------
        output : array of shape (n_looked_at, n_outputs)
            Class probabilities, or values, of ``rows``; known labels are put in their place.

        Returns
        -------
        dict of str to array of shape (n_targets,)
        """
        data = self.data
        output, known = np.array(output, dtype=np.float64), data.weight[self.rows] > 0
        labels = data.y[self.rows][known]
        classes = data.kind == "classification"
        output[known] = np.eye(data.n_outputs)[labels] if classes else labels
        views = np.split(output, self._ends[:-1])
        return self._of_classes(views) if classes else self._of_values(views)

    def per_target(self, values: Floats) -> Floats:
        """Mean of a value per looked-at row over the rows of each target.

        Parameters
        ----------
        values : array of shape (n_looked_at,)

        Returns
        -------
        array of shape (n_targets,)
        """
        means = np.array([part.mean() for part in np.split(values, self._ends[:-1])])
        chosen: Floats = means[self._target]
        return chosen

    def _of_classes(self, views: list[Floats]) -> dict[str, Floats]:
        labels = [view.argmax(axis=1) for view in views]
        n_classes = self.data.n_outputs
        models = [_linear(x, y, n_classes) for x, y in zip(self._x, labels, strict=True)]

        def agreement(one: int, other: int) -> float:
            guess = (_with_one(self._x[other]) @ models[one]).argmax(axis=1)
            return _balanced_accuracy(labels[other], guess, n_classes)

        def contact(one: int, other: int) -> float:
            near = labels[one][self._across[one, other]]
            guess = np.stack([(near == c).sum(axis=1) for c in range(n_classes)], axis=1)
            return _balanced_accuracy(labels[other], guess.argmax(axis=1), n_classes)

        rough = np.array(
            [
                np.mean(y[near] != y[:, None]) if near.size else 0.0
                for y, near in zip(labels, self._near, strict=True)
            ]
        )
        usual = rough[self._source].mean()
        shares = np.array([np.bincount(y, minlength=n_classes) / len(y) for y in labels])
        expected = shares[self._source].mean(axis=0)
        return {
            "agreement": self._over_edges(agreement),
            "contact": self._over_edges(contact),
            "smoothness": 1 - np.clip(rough[self._target] - usual, 0, 1),
            "balance": 1 - np.abs(shares[self._target] - expected).sum(axis=1) / 2,
            "confidence": np.array([views[i].max(axis=1).mean() for i in self._target]),
            "density": np.array([_density(views[i]) for i in self._target]),
        }

    def _of_values(self, views: list[Floats]) -> dict[str, Floats]:
        models = [_ridge(x, y) for x, y in zip(self._x, views, strict=True)]
        means = np.array([view.mean(axis=0) for view in views])
        spreads = np.array([np.sqrt(view.var(axis=0).sum()) for view in views])
        usual_spread = spreads[self._source].mean() + 1e-12
        total = np.concatenate([views[i] for i in self._source])
        scale = np.sqrt(total.var(axis=0).sum()) + 1e-12

        def explained(one: int, other: int) -> float:
            missed = views[other] - _with_one(self._x[other]) @ models[one]
            return float(np.exp(-(missed**2).sum(axis=1).mean() / scale**2))

        def step(pairs: NDArray[np.intp]) -> Floats:
            gap: Floats = np.sqrt(((means[pairs[:, 0]] - means[pairs[:, 1]]) ** 2).sum(axis=1))
            return gap

        usual_step = step(self._source_edges).mean() if len(self._source_edges) else scale
        steps = dict(zip(map(tuple, self._edges), step(self._edges), strict=True))
        ratio = np.log((spreads[self._target] + 1e-12) / usual_spread)
        return {
            "agreement": self._over_edges(explained),
            "spread": np.exp(-np.abs(ratio)),
            "level": self._over_edges(
                lambda one, other: (
                    usual_step
                    / max(usual_step, steps.get((one, other), steps.get((other, one), 0.0)), 1e-12)
                )
            ),
        }

    def _over_edges(self, score: _PairScore) -> Floats:
        """Mean over the edges of each target, both ways, by weight; without edges the mean."""
        both_ways = np.array([(score(a, b) + score(b, a)) / 2 for a, b in self._edges])
        n = len(self._domains)
        if not len(both_ways):
            return np.zeros(len(self._target))
        total = np.bincount(self._edges[:, 0], self._weight * both_ways, minlength=n)
        weight = np.bincount(self._edges[:, 0], self._weight, minlength=n)
        mean = np.average(both_ways, weights=self._weight)
        per_domain = np.where(weight > 0, total / np.maximum(weight, 1e-12), mean)
        scored: Floats = per_domain[self._target]
        return scored


def consensus(outputs: Floats, kind: str) -> Floats:
    """How far each of several predictions agrees with the others, row by row.

    Parameters
    ----------
    outputs : array of shape (n_candidates, n_rows, n_outputs)
    kind : {"classification", "regression"}

    Returns
    -------
    array of shape (n_candidates, n_rows)
        Classification: share of the other candidates with the same class. Regression: squared
        distance to the median of all candidates.
    """
    if kind == "regression":
        distance: Floats = ((outputs - np.median(outputs, axis=0)) ** 2).sum(axis=2)
        return distance
    labels = outputs.argmax(axis=2)
    same = (labels[:, None] == labels[None]).sum(axis=1) - 1
    share: Floats = same / max(len(outputs) - 1, 1)
    return share


def _some(items: Codes, most: int, rng: np.random.Generator) -> Codes:
    if len(items) <= most:
        return items
    return np.sort(rng.choice(items, most, replace=False))


def _edges(data: DomainData, domains: Codes, rng: np.random.Generator) -> tuple[Codes, Floats]:
    """Edges from these domains to domains with rows, shape (n_edges, 2), and their weights."""
    weights = sparse.coo_array(data.graph.weights[domains])
    has_rows = np.bincount(data.codes, minlength=data.graph.n_domains) > 0
    kept = _some(np.flatnonzero(has_rows[weights.col]), _MAX_EDGES, rng)
    pairs = np.stack([domains[weights.row[kept]], weights.col[kept]], axis=1)
    return pairs.astype(np.int64), weights.data[kept].astype(np.float64)


def _sampled_rows(codes: Codes, domains: Codes, rng: np.random.Generator) -> list[Codes]:
    """At most 200 rows of each domain."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    first = np.searchsorted(codes[order], domains, side="left")
    last = np.searchsorted(codes[order], domains, side="right")
    return [order[a : min(b, a + _MAX_ROWS)] for a, b in zip(first, last, strict=True)]


def _nearest(x: Floats, query: Floats, *, skip_self: bool = False) -> NDArray[np.intp]:
    """Nearest rows of x for each row of the query; in the same table, other rows than itself."""
    size = min(_NEIGHBORS, len(x) - skip_self)
    if size < 1:
        return np.empty((len(query), 0), dtype=np.intp)
    index = NearestNeighbors(n_neighbors=size).fit(x)
    found: NDArray[np.intp] = index.kneighbors(None if skip_self else query, return_distance=False)
    return found


def _with_one(x: Floats) -> Floats:
    return np.hstack([np.ones((len(x), 1)), x])


def _ridge(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Coefficients of a lightly penalised linear model, the first its constant."""
    table = _with_one(x)
    weight = np.full(len(x), 1 / len(x)) if weight is None else weight
    gram = (table * weight[:, None]).T @ table + _PENALTY * np.eye(table.shape[1])
    gram[0, 0] -= _PENALTY
    moments = (table * weight[:, None]).T @ y
    solved: Floats = np.linalg.lstsq(gram, moments, rcond=None)[0].astype(np.float64)
    return solved


def _linear(x: Floats, labels: NDArray[np.intp], n_classes: int) -> Floats:
    """Linear discriminant in which every class that is there weighs the same."""
    counts = np.bincount(labels, minlength=n_classes)
    weight = 1 / counts[labels] / np.count_nonzero(counts)
    return _ridge(x, np.eye(n_classes)[labels], weight)


def _balanced_accuracy(truth: NDArray[np.intp], guess: NDArray[np.intp], n_classes: int) -> float:
    """Mean share of right guesses over the classes; of one that is not there, a matter of chance.

    Else two domains that are all of one class would agree perfectly.
    """
    counts = np.bincount(truth, minlength=n_classes)
    right = np.bincount(truth[truth == guess], minlength=n_classes)
    share = np.where(counts > 0, right / np.maximum(counts, 1), 1 / n_classes)
    return float(share.mean())


def _density(proba: Floats) -> float:
    """Soft neighbourhood density, as a share of its largest value."""
    if len(proba) < 3:
        return 1.0
    unit = proba / np.linalg.norm(proba, axis=1, keepdims=True)
    similar = unit @ unit.T / _TEMPERATURE
    np.fill_diagonal(similar, -np.inf)
    share = np.exp(similar - similar.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    entropy = -(share * np.log(np.maximum(share, 1e-12))).sum(axis=1)
    return float(entropy.mean() / np.log(len(proba) - 1))
