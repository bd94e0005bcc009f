"""Propagation of values: what a linear model misses, carried over the graph of domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.linear_model import Ridge

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._process import (
    DENSE_DOMAINS,
    EXACT_ROWS,
    Domains,
    FloatArray,
    IntArray,
    Labelled,
    Mixture,
    Process,
    Reach,
    Rows,
    ball,
    chunks,
    flat,
    likely_views,
    spread_over,
)
from grada.methods.plain import FittedPlain, Plain, choose_penalty
from grada.training import History

_TUNING_ROWS = 300
_HIDDEN_SETS = 8
_CLEAR_GAIN = 0.9  # of the error of ridge regression; below, the process is believed
_UNCHECKED = 0.5  # with one source there is none to hide
_LEAST_SHARE = 0.3  # hidden sources may be unlike the targets: some of the process is always kept


def adapt_residuals(method: Method, data: DomainData, run: Run) -> FittedResiduals:
    r"""Fit a Gaussian process over rows and domains, and weigh it against ridge regression.

    .. math:: y = w^\top x + v^\top m_u + f(x, x - m_u, m_u) + s(m_u)^\top (x - m_u)
        + b_u + b_u(x, x - m_u) + \epsilon

    with :math:`m_u` the mean features of domain :math:`u`, known without labels, slopes :math:`s`
    that are alike in domains whose means are near each other, and effects :math:`b_u` that are
    alike in domains near each other on the graph; with few features, :math:`f` has curves of each
    that level off. The covariances of :math:`b_u` are
    :math:`(I + 4 L)^{-1}`, :math:`(I + 32 L)^{-2}` (scaled to a diagonal of one; :math:`L` the
    Laplacian over the mean degree), the latter with :math:`D + W` for :math:`L`, where neighbours
    are unlike, :math:`I + s W`, where edges are likenesses themselves, and :math:`I`, each times a
    function of the two rows. Deviations :math:`x - m_u` let rows of different domains share what is
    left over when they are alike within their domains. The variance of each term is chosen by the
    likelihood of the visible labels.

    Whether the level of y follows the inputs from domain to domain, or the inputs alone have moved
    or grown, is hard to tell from few domains. So there are three models: with all terms, and with
    nothing but deviations, or deviations in units of the spread of their domain, in place of x.
    What is predicted is their mean, weighted by the cubic roots of their likelihoods, and what they
    differ by is a part of the variance. With more than 1,500 labelled rows the likeliest is taken.

    Parameters
    ----------
    method : Method
        Whose regression this is; not looked at.
    data : DomainData
    run : Run

    Returns
    -------
    FittedResiduals
    """
    del method
    domains = Domains.of(data)
    labelled = _in_order(data)
    y, weight = data.y[labelled].astype(np.float64), data.weight[labelled].astype(np.float64)
    centre = np.average(y, axis=0, weights=weight)
    rows = Rows(flat(data.X[labelled]), data.codes[labelled])
    known = Labelled(rows, y - centre, weight)
    rng = run.rng()
    around = _neighbourhood(domains.weights, data.sources, rng)
    inside = np.flatnonzero(np.isin(rows.codes, around))
    some = known.take(inside[spread_over(rows.codes[inside], _TUNING_ROWS, rng)])
    reach = Reach.of(domains, around)
    terms = np.stack([domains.term(name, reach, some.rows, some.rows) for name in domains.terms])
    views = likely_views(domains.terms, terms, some, reach)
    if len(known.y) > EXACT_ROWS or len(domains.means) > DENSE_DOMAINS:
        views = [(1.0, views[0][1])]  # each is solved around every domain, which takes its time
    share = _share(terms, views, some, data, rng)
    seed = int(rng.integers(2**31))
    process = Mixture(
        [Process(domains, known, variances, centre, seed) for _, variances in views],
        [weight for weight, _ in views],
    )
    ridge = Plain().adapt(data, run)
    assert isinstance(ridge, FittedPlain)
    return FittedResiduals(process, ridge.model, share)


class FittedResiduals(FittedMethod):
    """A Gaussian process over rows and domains, blended with ridge regression.

    Attributes
    ----------
    share : float
        Weight of the process, from 0 (it did not help on sources that were hidden) to 1.
    """

    def __init__(self, process: Mixture, ridge: Any, share: float):
        self.process, self.ridge, self.share = process, ridge, share
        self.history = History()
        self.history.stopped = "fitted in one go"

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> FloatArray:
        """Values in standard units."""
        rows = Rows(flat(X), codes)
        plain = np.asarray(self.ridge.predict(rows.X), dtype=np.float64).reshape(len(X), -1)
        return plain + self.share * (self.process.mean(rows) - plain)

    def confidence(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> FloatArray:
        """Expected share of the variance of the labels that is explained, from 0 to 1."""
        return np.clip(1 - self.process.variance(Rows(flat(X), codes)), 0.0, 1.0)

    def doubt(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> FloatArray:
        """Variance of the process, over all outputs."""
        return self.process.variance(Rows(flat(X), codes)) * len(self.process.parts[0].centre)

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedResiduals:
        """The same model on a larger graph: new domains are known by their rows and edges."""
        domains = self.process.parts[0].domains
        frame = domains.frame.extend(graph, flat(X), codes)
        process = self.process.on(replace(domains, weights=graph.weights, frame=frame))
        return FittedResiduals(process, self.ridge, self.share)


def hidden_sets(data: DomainData, sources: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Sets of sources that lie as far from the other sources as the targets lie from all.

    Sets of one, an eighth, a quarter and half of the sources are drawn, grown around a source or
    anywhere, and those are returned whose hops come closest to the targets'.
    """
    if len(sources) < 2:
        return []
    hops = csgraph.dijkstra(data.graph.weights, indices=sources, unweighted=True)
    far = len(sources) + 1.0
    apart = np.minimum(hops[:, sources], far)
    from_sources = data.graph.hops_from(data.sources)
    asked = data.targets if len(data.targets) else sources
    levels = np.linspace(0.05, 0.95, 10)
    goal = np.quantile(np.minimum(from_sources[asked], far), levels)
    best, best_gap = [], np.inf
    for size in sorted({1, *(max(len(sources) // part, 1) for part in (8, 4, 2))}):
        for grown in (True, False):
            tie = rng.random((_HIDDEN_SETS, len(sources)))
            start = rng.integers(len(sources), size=_HIDDEN_SETS)
            first = np.argsort((apart[start] if grown else 0) + tie, axis=1)
            sets = [np.sort(chosen) for chosen in first[:, :size]]
            found = [np.delete(apart[chosen], chosen, axis=1).min(axis=1) for chosen in sets]
            gap = np.abs(np.quantile(np.concatenate(found), levels) - goal).mean()
            gap += 0.01 * size / len(sources)  # of equal ones, hide less
            if gap < best_gap:
                best, best_gap = [sources[chosen] for chosen in sets], gap
    return best


def _share(
    terms: FloatArray,
    views: Sequence[tuple[float, FloatArray]],
    known: Labelled,
    data: DomainData,
    rng: np.random.Generator,
) -> float:
    """How much of the process to believe, against ridge regression, by hidden sources."""
    sets = hidden_sets(data, np.unique(known.rows.codes), rng)
    if not sets:
        return _UNCHECKED
    covariances = [np.tensordot(variances[:-1], terms, axes=1) for _, variances in views]
    shares = np.linspace(0, 1, 11)
    errors = np.zeros((len(sets), len(shares)))
    penalty = choose_penalty(known.rows.X, known.y, known.rows.codes, known.weight)
    for i, hidden in enumerate(sets):
        left = np.isin(known.rows.codes, hidden)
        kept = ~left
        y, weight = known.y[kept], known.weight[kept]
        centre = np.average(y, axis=0, weights=weight)
        process = np.tile(centre, (int(left.sum()), 1))
        for (belief, variances), covariance in zip(views, covariances, strict=True):
            inner = covariance[np.ix_(kept, kept)] + np.diag(variances[-1] / weight)
            answer = np.linalg.solve(inner, y - centre)
            process += belief * covariance[np.ix_(left, kept)] @ answer
        ridge = Ridge(penalty).fit(known.rows.X[kept], y, sample_weight=weight)
        plain = ridge.predict(known.rows.X[left]).reshape(process.shape)
        for j, share in enumerate(shares):
            missed = known.y[left] - plain - share * (process - plain)
            errors[i, j] = np.average((missed**2).sum(axis=1), weights=known.weight[left])
    total = errors.mean(axis=0) / max(float(errors[:, 0].mean()), 1e-12)
    if total[-1] <= _CLEAR_GAIN and (errors[:, -1] < errors[:, 0]).mean() > 0.5:
        return 1.0
    clear = min((1 - float(total.min())) / (1 - _CLEAR_GAIN), 1.0)
    return max(float(shares[total.argmin()]) * clear, _LEAST_SHARE)


def _in_order(data: DomainData) -> IntArray:
    """Labelled rows in an order that does not depend on that of the table, nor on y."""
    rows = data.labelled
    mix = np.random.default_rng(0).normal(size=int(np.prod(data.X.shape[1:])))
    key = np.concatenate([flat(data.X[rows[part]]) @ mix for part in chunks(len(rows))])
    # The fraction of a large multiple is as good as random, and the same for the same row.
    return np.asarray(rows[np.lexsort((key, (key * 1e3) % 1, data.codes[rows]))])


def _neighbourhood(
    weights: sparse.csr_array, sources: IntArray, rng: np.random.Generator
) -> IntArray:
    """Domains on which the variances are chosen: all, or many around a source, and sources."""
    if weights.shape[0] <= DENSE_DOMAINS:
        return np.arange(weights.shape[0])
    inner = ball(weights, int(rng.choice(sources)), DENSE_DOMAINS)
    others = rng.permutation(np.setdiff1d(sources, inner))
    return np.sort(np.append(inner, others[: DENSE_DOMAINS - len(inner)]))
