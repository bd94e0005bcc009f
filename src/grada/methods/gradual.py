"""Gradual: from the sources outward, every domain is taught by its labelled neighbours."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._local import Floats, KnownRows, fit_on_sources, labelled_neighbours
from grada.methods._local_choice import Teaching, choose, make_base, usual_support
from grada.methods._neural import POSITIVE, name_some
from grada.training import History
from grada.training.diagnostics import warn

Helpers = tuple[NDArray[np.int64], Floats]

_SHARE = Interval(Real, 0, 1, closed="both")
_SOURCE_ROWS = 20_000  # the model of all sources is fitted on at most as many
_NEAR = 1.5  # hops of the targets, on average, that count as next to the sources
_MOST_HELPERS = 50  # that a domain without rows passes on


@dataclass(kw_only=True, eq=False, repr=False)
class Gradual(Method):
    r"""Go outward from the sources: neighbours teach a domain, which then teaches its own.

    .. math::
        f_u = \arg\min_f \; (1 - \rho) \sum_{v \sim u} \frac{A_{uv} t_v}{\sum_l c_l}
        \sum_{l \in v} c_l \, h\big(f(x_l + a (\bar x_u - \bar x_v)), \hat y_l\big)
        + \rho \sum_{l \in u} c_l \, h\big(f(x_l), \hat y_l\big)

    over the neighbours :math:`v` that are labelled already: :math:`\hat y_l` their labels, true in
    sources and predicted elsewhere, :math:`c_l` the confidence in a label, :math:`t_v` the trust in
    a domain, which falls with the distance from the sources. The second sum, over the surest rows
    of the domain itself, is there for classes only, once :math:`f_u` has predicted them.

    The domains with the largest share of labelled neighbours come first, many at once. Each one
    keeps its own model. Settings on "auto" are those that best predict source domains whose labels
    are hidden, from their labelled neighbours.

    Parameters
    ----------
    estimator : {"auto", "linear", "rbf", "gradient-boosting"} or scikit-learn estimator
        ``"linear"``: logistic or ridge regression. ``"rbf"``: the same with radial basis functions
        beside the features. ``"gradient-boosting"``: histogram-based trees. ``"auto"`` chooses
        between the first two.
    align : float from 0 to 1, or "auto"
        Share of the difference between the mean features of two domains by which the rows of the
        one are moved when they teach the other. It undoes shifts; it does harm where means differ
        because the labels do.
    shrink : float from 0 to 1, or "auto"
        Weight of the model of all sources in every prediction; 1 is that model alone. With values
        it is the weight where labelled neighbours weigh as much as those of the usual source does,
        and larger where they weigh less.
    keep : float from 0 to 1
        Share of a domain's rows, the surest of every predicted class, that it learns from itself.
    refinements : int
        How many times it does so.
    share : float from 0 to 1
        Share of the domains next to labelled ones that is labelled at a time. Less is slower, and
        gives every domain more labelled neighbours.
    max_rows : int
        Rows that a domain is taught by; of more, some are drawn.

    References
    ----------
    Kumar, Ma and Liang: Understanding Self-Training for Gradual Domain Adaptation. ICML 2020.
    """

    estimator: BaseEstimator | Literal["auto", "linear", "rbf", "gradient-boosting"] = "auto"
    align: float | Literal["auto"] = "auto"
    shrink: float | Literal["auto"] = "auto"
    keep: float = 0.7
    refinements: int = 3
    share: float = 0.1
    max_rows: int = 1000

    name: ClassVar[str] = "gradual"
    citation: ClassVar[str] = (
        "Kumar, Ma and Liang: Understanding Self-Training for Gradual Domain Adaptation. ICML 2020."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "estimator": [BaseEstimator, StrOptions({"auto", "linear", "rbf", "gradient-boosting"})],
        "align": [_SHARE, StrOptions({"auto"})],
        "shrink": [_SHARE, StrOptions({"auto"})],
        "keep": [Interval(Real, 0, 1, closed="right")],
        "refinements": [Interval(Integral, 0, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="right")],
        "max_rows": [POSITIVE],
    }

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Label domain after domain."""
        self.check(data)
        known = KnownRows.of(data)
        teaching = choose(self._candidates(data, known, run), data.graph, known, run)
        fitted = FittedGradual(teaching, self.share, known, data.graph, run)
        fitted.label_sources()
        fitted.spread()
        fitted.label_empty()
        cut_off = np.intersect1d(data.unreachable, data.targets)
        if len(cut_off):
            message = (
                f"No path in the graph joins {name_some(data, cut_off)} to a domain with labels. "
                "Predictions there are those of one model of all labelled domains. Add edges to "
                "the graph, or do not rely on these predictions."
            )
            warn(fitted.history, message)
        return fitted

    def _candidates(self, data: DomainData, known: KnownRows, run: Run) -> list[Teaching]:
        """All settings to choose from, the one to keep without evidence first."""
        classes = data.kind == "classification"
        # Hidden sources lie next to others, and cannot speak for targets far from them.
        near = _mean_hops(data) <= _NEAR
        names: list[Any] = [self.estimator]
        if self.estimator == "auto":
            names = ["linear", "rbf"] if near or classes else ["linear"]
        bases = [make_base(name, data, known, run) for name in names]
        aligns: tuple[Any, ...] = (self.align,)
        if self.align == "auto":
            aligns = (0.5, 1.0, 0.0) if classes else (0.0, 0.5, 1.0) if near else (0.0,)
        shrinks: tuple[Any, ...] = (self.shrink,)
        if self.shrink == "auto":
            shrinks = (0.5, 0.25, 0.0, 1.0)
            if classes:
                shrinks = (0.0, 0.5, 1.0) if near else (0.0,)
        rest = self.keep, self.refinements, self.max_rows
        return [Teaching(*one, *rest) for one in product(bases, aligns, shrinks)]


class FittedGradual(FittedMethod):
    """A model for each domain that a path joins to a source, and one of all sources.

    Confidence is the largest class probability (1 for values) as far as it is above chance (0 for
    values), times the trust in the domain: 1 / (1 + 0.1 d) for a distance of d steps from sources,
    0 where no path leads to one.
    """

    def __init__(
        self, teaching: Teaching, share: float, known: KnownRows, graph: DomainGraph, run: Run
    ):
        self.teaching, self.share, self.run = teaching, share, run
        self.known, self.graph = known, graph
        self.base = teaching.base
        self.models: dict[int, Any] = {}
        self.stand_ins: dict[int, Helpers] = {}
        self.usual = usual_support(graph, known)
        self.support: dict[int, float] = {}  # of each domain without labels, over the usual one
        self.source_model = fit_on_sources(self.base, known, _SOURCE_ROWS, run.rng())
        low, high = known.y[known.given].min(axis=0), known.y[known.given].max(axis=0)
        # No label seen is further out; half of what is seen beside it leaves room for trends.
        self.bounds = low - 0.5 * (high - low), high + 0.5 * (high - low)
        self.history = History()

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values, each row by the model of its domain."""
        output = np.empty((len(X), self.base.n_outputs))
        order = np.argsort(codes, kind="stable")
        domains, start = np.unique(codes[order], return_index=True)
        for domain, rows in zip(domains, np.split(order, start[1:]), strict=True):
            output[rows] = self._output(int(domain), X[rows])
        return output

    def confidence(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Largest class probability, damped with the distance from the sources."""
        trust = self.known.trust_in(codes)
        if not self.base.classes:
            return trust
        chance = 1.0 / self.base.n_outputs
        damped: Floats = chance + trust * (self.predict(X, codes).max(axis=1) - chance)
        return damped

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedMethod:
        """New domains are taught by their neighbours; all others stay as they are."""
        new = copy.copy(self)
        new.graph = graph
        new.models, new.stand_ins = dict(self.models), dict(self.stand_ins)
        new.support = dict(self.support)
        new.known = self.known.with_rows(X, codes, graph.n_domains)
        new.history = copy.deepcopy(self.history)
        new.spread(first=self.graph.n_domains)
        new.label_empty(first=self.graph.n_domains)
        return new

    def label_sources(self) -> None:
        """A model for each source, of its own labels and of its neighbours'."""
        learned = {}
        for domain in np.flatnonzero(self.known.distance == 0).tolist():
            helpers, weight = self._helpers(domain)
            n_labels = self.known.given[self.known.of_domain(domain)].sum()
            own = max(weight.sum(), 1.0) * n_labels / 10.0
            helpers, weight = np.append(helpers, domain), np.append(weight, own)
            learned[domain] = self._learn(domain, helpers, weight)
        for domain, model in learned.items():
            self._accept(domain, model, 0.0)

    def spread(self, first: int = 0) -> None:
        """Label all domains that can be reached, those from the number ``first`` on."""
        weights = self.graph.weights
        degree: Floats = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
        old = np.arange(self.graph.n_domains) < first
        while True:
            score = (weights @ self.known.trust_in(slice(None))) / np.maximum(degree, 1e-300)
            open_ = np.flatnonzero((score > 0) & np.isinf(self.known.distance) & ~old)
            if not len(open_):
                break
            least = np.quantile(score[open_], 1.0 - self.share, method="higher")
            now = open_[score[open_] >= least - 1e-9]
            learned = [(int(domain), *self._from_neighbours(int(domain))) for domain in now]
            for domain, model, distance in learned:
                self._accept(domain, model, distance)
            self.history.append({"domains": len(now), "labelled_neighbours": float(least)})
        self.history.stopped = "all domains that a path joins to a source are labelled"

    def label_empty(self, first: int = 0) -> None:
        """A model for each domain without rows that can be reached."""
        for domain in range(first, self.graph.n_domains):
            reached = np.isfinite(self.known.distance[domain])
            if reached and domain not in self.models:
                helpers, weight = self.stand_ins[domain]
                self.models[domain] = self._learn(domain, helpers, weight)

    def _from_neighbours(self, domain: int) -> tuple[Any, float]:
        """Model of a domain, and its distance from the sources."""
        helpers, weight = self._helpers(domain)
        self.support[domain] = float(weight.sum()) / self.usual
        distance = 1.0 + float(weight @ self.known.distance[helpers] / weight.sum())
        if self.known.n_rows(domain):
            return self._learn(domain, helpers, weight), distance
        heavy = np.argsort(-weight, kind="stable")[:_MOST_HELPERS]
        self.stand_ins[domain] = helpers[heavy], weight[heavy] / weight[heavy].sum()
        return None, distance

    def _helpers(self, domain: int) -> Helpers:
        """Labelled neighbours and their weights; for one without rows, those it learned from."""
        neighbours, weight = labelled_neighbours(self.graph, self.known, domain)
        empty = np.array([int(one) in self.stand_ins for one in neighbours], dtype=bool)
        parts = [(neighbours[~empty], weight[~empty])]
        for one, much in zip(neighbours[empty], weight[empty], strict=True):
            others, shares = self.stand_ins[int(one)]
            elsewhere = others != domain
            parts.append((others[elsewhere], much * shares[elsewhere]))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def _learn(self, domain: int, helpers: NDArray[np.int64], weight: Floats) -> Any:
        if self.teaching.shrink == 1 or not len(helpers):
            return self.source_model
        return self.teaching.learn(self.known, domain, helpers, weight, self.run)

    def _accept(self, domain: int, model: Any, distance: float) -> None:
        """Keep the model of a domain, and the labels it gives to rows without one."""
        known, rows = self.known, self.known.of_domain(domain)
        known.distance[domain] = distance
        if model is None:
            return
        self.models[domain] = model
        unknown = np.flatnonzero(~known.given[rows]) + rows.start
        if not len(unknown):
            return
        output = self._output(domain, known.X[unknown])
        if self.base.classes:
            chance = 1.0 / self.base.n_outputs
            known.y[unknown] = output.argmax(axis=1)
            above = (output.max(axis=1) - chance) / (1.0 - chance)
            known.weight[unknown] = np.maximum(above, 1e-3)
        else:
            known.y[unknown], known.weight[unknown] = output, 1.0

    def _output(self, domain: int, X: NDArray[Any]) -> Floats:
        """What the model of a domain says, drawn towards what the model of all sources says."""
        model = self.models.get(domain)
        support = self.support.get(domain, 1.0)
        shrink = 1.0 if model is None else self.teaching.shrink_at(support)
        output, inputs = np.zeros((len(X), self.base.n_outputs)), self.base.inputs(X)
        if shrink < 1:
            output += (1.0 - shrink) * self.base.output(model, inputs)
        if shrink > 0:
            output += shrink * self.base.output(self.source_model, inputs)
        return output if self.base.classes else np.clip(output, *self.bounds)


def _mean_hops(data: DomainData) -> float:
    """Hops of the targets from their nearest sources, on average over those with a path."""
    hops = data.graph.hops_from(data.sources)[data.targets]
    reached = np.isfinite(hops)
    return float(hops[reached].mean()) if reached.any() else 1.0
