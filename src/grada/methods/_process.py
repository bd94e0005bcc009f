"""A Gaussian process over the rows of many domains, exact or solved around each domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from grada.data import DomainData
from grada.methods._frame import DomainFrame
from grada.methods._steady import likenesses, mean_degree
from grada.methods._terms import TERMS, VIEWS, Term, bent, bent_size, rates, seen_as, terms_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_TEMPER = 3.0  # the likelihood of a view counts as if there were so many times fewer rows
_LEAST_WEIGHT = 0.05  # views below this weight are left out

_ENOUGH = 5  # so many domains have to have labels: among few, anything alternates
#: Edges are thought to be likenesses themselves where the strongest can be so much of one: where
#: weights fall with a distance, or tell groups; not along a chain, where they can be half of one.
_LIKE_ENOUGH = 0.7
_LEAST = 1e-6  # variances below are taken for zero

EXACT_ROWS = 1500  # up to here all labelled rows are used at once
_LOCAL_ROWS = 250  # beyond, those of near sources, and as many from everywhere
DENSE_DOMAINS = 2000  # up to here the graph is looked at as a whole
_BALL = 300  # beyond, this many domains around the one asked for
_CHUNK = 4096


Answering = Callable[["Rows"], FloatArray]


class Rows(NamedTuple):
    """Features (n_rows, n_features) and domains (n_rows,) of some rows."""

    X: FloatArray
    codes: IntArray

    def take(self, index: Any) -> Rows:
        """Some of the rows."""
        return Rows(self.X[index], self.codes[index])


class Labelled(NamedTuple):
    """Rows with centred values (n_rows, n_outputs) and the weight of each."""

    rows: Rows
    y: FloatArray
    weight: FloatArray

    def take(self, index: Any) -> Labelled:
        """Some of the rows."""
        return Labelled(self.rows.take(index), self.y[index], self.weight[index])


@dataclass(frozen=True)
class Domains:
    """What is known of the domains without labels."""

    weights: sparse.csr_array
    degree: float
    frame: DomainFrame
    scales: dict[str, float]

    @property
    def means(self) -> FloatArray:
        """Mean features of each domain."""
        return self.frame.mean

    @property
    def terms(self) -> tuple[Term, ...]:
        """Parts of the model."""
        return terms_of(self.means.shape[1])

    @classmethod
    def of(cls, data: DomainData) -> Self:
        """Mean features of each domain, and how far rows and means lie from each other."""
        frame = DomainFrame.of(data, "standardize")
        means = frame.mean
        present = np.bincount(data.codes, minlength=len(means)) > 0
        between = means[present].var(axis=0).sum()
        within = 0.0
        for part in chunks(len(data.X)):
            within += float(((flat(data.X[part]) - means[data.codes[part]]) ** 2).sum())
        within /= max(len(data.X) - int(present.sum()), 1)
        scales = {"x": within + between, "deviation": within, "mean": between}
        return cls(
            weights=data.graph.weights,
            degree=mean_degree(data.graph.weights),
            frame=frame,
            scales={name: float(np.sqrt(square)) or 1.0 for name, square in scales.items()},
        )

    def term(self, name: Term, reach: Reach, a: Rows, b: Rows) -> FloatArray:
        """Covariance of two lists of rows under one term of variance one."""
        return reach.between(name[0], a.codes, b.codes) * self.likeness(name[1], a, b)

    def covariance(self, variances: FloatArray, reach: Reach, a: Rows, b: Rows) -> FloatArray:
        """Covariance under all terms."""
        total = np.zeros((len(a.codes), len(b.codes)))
        by_row: dict[str, list[tuple[str, float]]] = {}
        for (shared, shape), variance in zip(self.terms, variances, strict=False):
            if variance > _LEAST:
                by_row.setdefault(shape, []).append((shared, float(variance)))
        for shape, parts in by_row.items():
            factor = sum(v * reach.between(shared, a.codes, b.codes) for shared, v in parts)
            total += factor * self.likeness(shape, a, b)
        return total

    def likeness(self, shape: str, a: Rows, b: Rows) -> FloatArray:
        """How alike rows are, by their features."""
        n_features = max(self.means.shape[1], 1)
        if shape == "one":
            return np.ones((len(a.codes), len(b.codes)))
        if shape == "linear":
            return np.asarray(a.X @ b.X.T / n_features)
        if shape == "near":
            return _near(a.X, b.X, self.scales["x"])
        if shape == "each bent":
            return bent(a.X, b.X)
        if shape.startswith("standard"):
            z_a, z_b = self.frame.transform(*a), self.frame.transform(*b)
            if shape == "standard linear":
                return np.asarray(z_a @ z_b.T / n_features)
            return _near(z_a, z_b, float(np.sqrt(n_features)))
        m_a, m_b = self.means[a.codes], self.means[b.codes]
        if shape == "deviation linear":
            return np.asarray((a.X - m_a) @ (b.X - m_b).T / n_features)
        if shape == "mean linear":
            return np.asarray(m_a @ m_b.T / n_features)
        if shape == "mean near":
            return _near(m_a, m_b, 2 * self.scales["mean"])
        if shape == "deviation linear by mean":
            slopes = (a.X - m_a) @ (b.X - m_b).T / n_features
            return np.asarray(slopes * _near(m_a, m_b, 2 * self.scales["mean"]))
        reach = self.scales["deviation"] / (2 if shape == "deviation close" else 1)
        return _near(a.X - m_a, b.X - m_b, reach)


@dataclass(frozen=True)
class Reach:
    """Covariance of effects over (a part of) the graph; zero for domains outside of it."""

    rows: IntArray
    columns: IntArray
    values: dict[str, FloatArray]

    @classmethod
    def of(cls, domains: Domains, nodes: IntArray) -> Self:
        """Covariances between some domains, in increasing order, over the edges among them."""
        inner = domains.weights[nodes][:, nodes].toarray() / domains.degree
        values = {name: np.pad(matrix, (0, 1)) for name, matrix in likenesses(inner).items()}
        return cls(nodes, nodes, values)

    def worth_a_term(self, n_sources: int) -> set[str]:
        """Ways to be alike that this graph, and labels in so many domains, could tell of."""
        joined = np.triu(self.values["joined"], 1).max(initial=0.0) >= _LIKE_ENOUGH
        unlike = n_sources >= _ENOUGH and self.values["unlike"].any()
        told = {"joined": joined, "unlike": unlike}
        return {shared for shared, _ in TERMS if told.get(shared, True)}

    def only(self, code: int, columns: IntArray) -> Reach:
        """What is needed to predict for one domain from some others."""
        at = np.append(_place(self.rows, np.array([code])), len(self.rows))
        to = np.append(_place(self.columns, columns), len(self.columns))
        cut = {name: matrix[np.ix_(at, to)] for name, matrix in self.values.items()}
        return Reach(np.array([code]), columns, cut)

    def between(self, shared: str, a: IntArray, b: IntArray) -> FloatArray:
        """Covariance of the effects on rows of some domains and on rows of others."""
        if shared == "all":
            return np.ones((len(a), len(b)))
        if shared == "own":
            return np.equal.outer(a, b).astype(np.float64)
        at = np.ix_(_place(self.rows, a), _place(self.columns, b))
        return np.asarray(self.values[shared][at])


class Answer(NamedTuple):
    """What predicts for a domain: labelled rows, their coefficients and covariance."""

    at: IntArray
    reach: Reach
    coefficients: FloatArray
    factor: Any


class Process:
    """A Gaussian process with fixed variances, solved for all rows or around each domain.

    Parameters
    ----------
    domains : Domains
    known : Labelled
        Sorted by domain; the values less their centre.
    variances : array of shape (n_terms + 1,)
        Of each term, and of the noise of a row of weight one.
    centre : array of shape (n_outputs,)
    seed : int
        For the rows that every local answer knows.
    """

    def __init__(
        self,
        domains: Domains,
        known: Labelled,
        variances: FloatArray,
        centre: FloatArray,
        seed: int,
    ):
        self.domains, self.known, self.variances, self.centre = domains, known, variances, centre
        self.seed = seed
        n_domains = domains.weights.shape[0]
        self.whole = n_domains <= DENSE_DOMAINS
        self.exact = self.whole and len(known.y) <= EXACT_ROWS
        self.sources = np.unique(known.rows.codes)
        self.reach = Reach.of(domains, np.arange(n_domains)) if self.whole else None
        # Every local answer knows some rows of all sources, for what is the same everywhere.
        rng = np.random.default_rng(seed)
        self.everywhere = spread_over(known.rows.codes, _LOCAL_ROWS, rng)
        self.first = np.searchsorted(known.rows.codes, self.sources)
        self.count = np.diff(np.append(self.first, len(known.y)))
        self.answers: dict[int, Answer] = {}

    def mean(self, asked: Rows) -> FloatArray:
        """Expected values, shape (n_rows, n_outputs)."""
        out = np.empty((len(asked.codes), len(self.centre)))
        for key, at in self._groups(asked.codes):
            if key not in self.answers:
                answer = self._solve(key)
                reach = answer.reach
                if not self.exact:  # keep what is small
                    reach = reach.only(key, np.unique(self.known.rows.codes[answer.at]))
                self.answers[key] = answer._replace(reach=reach, factor=None)
            answer = self.answers[key]
            covariance = self._covariance(asked.take(at), answer)
            out[at] = self.centre + covariance @ answer.coefficients
        return out

    def variance(self, asked: Rows) -> FloatArray:
        """Variance of a new label, in units of the variance of the visible ones."""
        out = np.empty(len(asked.codes))
        solved: tuple[int, Answer] | None = None
        for key, at in self._groups(asked.codes):
            if solved is None or solved[0] != key:
                solved = key, self._solve(key)
            rows, answer = asked.take(at), solved[1]
            covariance = self._covariance(rows, answer)
            known = np.einsum("ij,ji->i", covariance, cho_solve(answer.factor, covariance.T))
            out[at] = self._prior(rows) - known
        return np.asarray(np.maximum(out, 0.0) + self.variances[-1])

    def _covariance(self, rows: Rows, answer: Answer) -> FloatArray:
        references = self.known.rows.take(answer.at)
        return self.domains.covariance(self.variances, answer.reach, rows, references)

    def _prior(self, rows: Rows) -> FloatArray:
        """Variance of each row before any label is seen."""
        n_features = max(rows.X.shape[1], 1)
        means = self.domains.means[rows.codes]
        seen = {
            "linear": rows.X,
            "mean linear": means,
            "deviation linear": rows.X - means,
            "deviation linear by mean": rows.X - means,
            "standard linear": self.domains.frame.transform(*rows),
        }
        size = {shape: (part**2).sum(axis=1) / n_features for shape, part in seen.items()}
        size["each bent"] = bent_size(rows.X)
        terms = zip(self.domains.terms, self.variances, strict=False)
        one = np.ones(len(rows.codes))
        return np.asarray(sum(v * size.get(shape, one) for (_, shape), v in terms))

    def _groups(self, codes: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Rows that are answered together; those of a domain follow each other."""
        keys = np.full(len(codes), -1) if self.exact else codes
        order = np.argsort(keys, kind="stable")
        found, first = np.unique(keys[order], return_index=True)
        for key, at in zip(found, np.split(order, first[1:]), strict=True):
            for part in chunks(len(at)):
                yield int(key), at[part]

    def _solve(self, key: int) -> Answer:
        reach = self.reach
        if self.exact:
            index = np.arange(len(self.known.y))
        else:
            reach = reach or Reach.of(self.domains, ball(self.domains.weights, key, _BALL))
            index = np.union1d(self.everywhere, self._near(key, reach))
        assert reach is not None
        known = self.known.take(index)
        covariance = self.domains.covariance(self.variances, reach, known.rows, known.rows)
        covariance[np.diag_indices(len(index))] += self.variances[-1] / known.weight + _LEAST
        factor = cho_factor(covariance, lower=True, overwrite_a=True)
        return Answer(index, reach, cho_solve(factor, known.y), factor)

    def _near(self, code: int, reach: Reach) -> IntArray:
        """Labelled rows of the sources nearest to a domain, some of each."""
        nearness = reach.between("smooth", np.array([code]), self.sources)[0]
        nearest = np.argsort(-nearness, kind="stable")
        nearest = nearest[nearness[nearest] > 0]
        takes = np.minimum(self.count[nearest], max(_LOCAL_ROWS // 6, 1))
        takes = takes[np.cumsum(takes) - takes < _LOCAL_ROWS]
        nearest = nearest[: len(takes)]
        # Evenly over the rows of a source, which are in an order that has nothing to do with y.
        within = np.arange(takes.sum()) - np.repeat(np.cumsum(takes) - takes, takes)
        step = np.repeat(self.count[nearest] / np.maximum(takes, 1), takes)
        start = np.repeat(self.first[nearest], takes)
        return np.asarray(start + (within * step).astype(np.int64))


class Mixture:
    """Several processes, each with a weight.

    Parameters
    ----------
    parts : list of Process
    weights : list of float
        Positive; they add up to one.
    former : Mixture, optional
        The same before domains were added. It is asked for the domains that it knows, so that
        what is said of these stays as it was.
    """

    def __init__(self, parts: list[Process], weights: list[float], former: Mixture | None = None):
        self.parts, self.weights, self.former = parts, weights, former

    def mean(self, asked: Rows) -> FloatArray:
        """Expected values, shape (n_rows, n_outputs)."""
        if self.former is not None:
            return self._ask(asked, self.former.mean, Mixture(self.parts, self.weights).mean)
        parts = zip(self.weights, self.parts, strict=True)
        return np.asarray(sum(weight * part.mean(asked) for weight, part in parts))

    def variance(self, asked: Rows) -> FloatArray:
        """Variance of a new label; what the parts differ by is a part of it."""
        if self.former is not None:
            now = Mixture(self.parts, self.weights)
            return self._ask(asked, self.former.variance, now.variance)
        if len(self.parts) == 1:
            return self.parts[0].variance(asked)
        means = [part.mean(asked) for part in self.parts]
        middle = sum(weight * mean for weight, mean in zip(self.weights, means, strict=True))
        total = np.zeros(len(asked.codes))
        for weight, part, mean in zip(self.weights, self.parts, means, strict=True):
            total += weight * (part.variance(asked) + ((mean - middle) ** 2).mean(axis=1))
        return total

    def on(self, domains: Domains) -> Mixture:
        """The same with more domains."""
        parts = [
            Process(domains, now.known, now.variances, now.centre, now.seed) for now in self.parts
        ]
        return Mixture(parts, self.weights, self)

    def _ask(self, asked: Rows, before: Answering, now: Answering) -> FloatArray:
        """Rows of domains that were there before from one, and those of new ones from another."""
        assert self.former is not None
        new = asked.codes >= len(self.former.parts[0].domains.means)
        if not new.any():
            return before(asked)
        there = now(asked.take(new))
        found = np.empty((len(new), *there.shape[1:]))
        found[new] = there
        if not new.all():
            found[~new] = before(asked.take(~new))
        return found


def likely_views(
    names: Sequence[Term], terms: FloatArray, known: Labelled, reach: Reach
) -> list[tuple[float, FloatArray]]:
    """Weights of the views, and the variances of the terms in each, the likeliest first.

    ``terms`` are the covariances of the known rows under the terms of these names.
    """
    found = []
    tried = reach.worth_a_term(len(np.unique(known.rows.codes)))
    can_tell, rate = np.array([shared in tried for shared, _ in names]), rates(names)
    for view in VIEWS:
        has = seen_as(view, names) & can_tell
        variances = np.zeros(len(has) + 1)
        variances[np.append(has, True)], loss = most_likely(terms[has], known, rate[has])
        found.append((loss, variances))
    losses = np.array([loss for loss, _ in found])
    weight = np.exp((losses.min() - losses) / _TEMPER)
    weight /= weight.sum()
    weight[weight < _LEAST_WEIGHT] = 0.0
    weight /= weight.sum()
    order = [int(i) for i in np.argsort(-weight, kind="stable") if weight[i] > 0]
    return [(float(weight[i]), found[i][1]) for i in order]


def most_likely(terms: FloatArray, known: Labelled, rate: FloatArray) -> tuple[FloatArray, float]:
    """Variances of the terms and the noise, by marginal likelihood with a weak prior, and its loss.

    ``rate`` is that of the prior on the size of each term.
    """
    n_terms, n = len(terms), len(known.y)
    n_outputs = known.y.shape[1]
    noise = 1 / known.weight
    stacked = terms.reshape(n_terms, -1)

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        v = np.exp(logs)
        covariance = (v[:-1] @ stacked).reshape(n, n)
        covariance[np.diag_indices(n)] += v[-1] * noise + _LEAST
        factor = cho_factor(covariance, lower=True)
        inverse = cho_solve(factor, np.eye(n))
        fitted = inverse @ known.y
        slope = n_outputs * inverse - fitted @ fitted.T
        prior = rate * np.sqrt(v[:-1])
        value = (known.y * fitted).sum() / 2 + n_outputs * np.log(np.diag(factor[0])).sum()
        inner = np.append(stacked @ slope.ravel(), noise @ np.diag(slope)) * v / 2
        inner[:-1] += prior / 2
        return (value + prior.sum()) / n, inner / n

    start = np.log(np.append(np.where(rate > 0, 0.03, 0.1), 0.1))
    bounds = [(np.log(_LEAST) - 1, 7.0)] * n_terms + [(np.log(1e-5), 3.0)]
    # Threads cost far more than they bring with a few hundred rows.
    with threadpool_limits(limits=1, user_api="blas"):
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}
        )
    return np.asarray(np.exp(found.x)), float(found.fun * n)


def spread_over(codes: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """At most so many rows, as evenly over the domains as they allow."""
    if len(codes) <= size:
        return np.arange(len(codes))
    luck = rng.random(len(codes))
    order = np.lexsort((luck, codes))
    first = np.searchsorted(codes[order], codes[order])
    turn = np.empty(len(codes), dtype=np.int64)
    turn[order] = np.arange(len(codes)) - first
    return np.sort(np.lexsort((luck, turn))[:size])


def ball(weights: sparse.csr_array, code: int, size: int) -> IntArray:
    """The domains nearest to one by hops, in increasing order."""
    inside = np.array([code])
    frontier = inside
    while len(inside) < size and len(frontier):
        frontier = np.setdiff1d(weights[frontier].indices, inside)
        inside = np.append(inside, frontier[: size - len(inside)])
    return np.sort(inside).astype(np.int64)


def _near(a: FloatArray, b: FloatArray, scale: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * cdist(a / scale, b / scale, "sqeuclidean")))


def _place(nodes: IntArray, codes: IntArray) -> IntArray:
    """Position of each domain among the nodes, or past the end if it is not among them."""
    at = np.searchsorted(nodes, codes)
    found = nodes[np.minimum(at, len(nodes) - 1)] == codes
    return np.where(found, at, len(nodes))


def chunks(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, max(n_rows, 1), _CHUNK))


def flat(X: NDArray[np.float32]) -> FloatArray:
    return X.reshape(len(X), int(np.prod(X.shape[1:]))).astype(np.float64)
