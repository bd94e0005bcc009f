"""Propagation: labels spread from row to row, only within domains and between adjacent ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods import _row_graph as row_graph
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._neural import POSITIVE_REAL, name_some
from grada.methods._residuals import adapt_residuals
from grada.methods._row_graph import Links, Rows
from grada.methods._spreading import (
    Manner,
    closeness,
    contrasted,
    source_manner,
    spread,
    travel,
)
from grada.methods.plain import Plain
from grada.training import AdaptationWarning, History

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Neighbours of a row in each adjacent domain, for one in its own.
_ACROSS = 0.25
#: Share of the confidence that is left after each wave.
_KEPT = 0.97


@dataclass(kw_only=True, eq=False, repr=False)
class Propagation(Method):
    r"""Spread labels from row to row, within domains and between adjacent ones.

    Every row :math:`i` of a domain :math:`u` is joined to its nearest rows :math:`j` in :math:`u`
    and in each domain :math:`v` next to it. Labels are averages over joined rows,

    .. math::
        f_i = \frac{\sum_j w_{ij} f_j}{\sum_j w_{ij}}, \qquad
        w_{ij} = a_{uv} \, e^{-d_{ij} / \sqrt{\sigma_i \sigma_j}}, \qquad
        a_{uv} = \kappa A_{uv} \Big( \frac{q_{uv}}{\max(q_u, q_v)} \Big)^\gamma, \quad a_{uu} = 1

    where :math:`\sigma_i` is the distance to the k-th row in the own domain, :math:`q_{uv}` the
    mean of :math:`A_{uv} e^{-d / \sqrt{\sigma\sigma}}` over the links between two domains and
    :math:`q_u` its largest value at :math:`u`.
    They go outward from the labelled rows in waves: a domain gets its labels from domains that have
    theirs already, the closest first. The class shares of each domain are then drawn to those of
    the sources, the more so the less these differ among sources; or another mixture is taken
    where that parts clearly fewer neighbouring rows. What comes out is the mean over several k.

    For regression, see :func:`grada.methods._residuals.adapt_residuals`: what spreads is what a
    linear model misses, and of the settings below only ``space`` is looked at.

    The confidence of a row is its largest probability, drawn towards chance by 3 % for every wave
    that its labels took, and for rows that lie farther from the rows of ``fit`` than these from
    each other. Domains that no path joins to a source are predicted by the plain model, and have
    no more than chance as their confidence.

    Parameters
    ----------
    n_neighbors : tuple of int
        Numbers k of neighbours in the own domain. In each adjacent domain there are a quarter
        as many, so that large domains do not drown small ones.
    coupling : float
        Weight :math:`\kappa` of links between domains. The smaller it is, the more the rows of a
        domain that lie together get the same label.
    contrast : float
        How much (:math:`\gamma`) a domain prefers its closest neighbours; 0 for edge weights only.
    balance : float, optional
        From 0, the class shares of a domain are those that reach it, to 1, they are those of the
        sources; by default as much as the shares of the sources are alike. Another value is
        taken in a domain where it cuts the weight of links between classes by a third.
    space : Method, optional
        A method whose encodings replace the features; it is fitted first.

    References
    ----------
    Zhu, Ghahramani and Lafferty: Semi-Supervised Learning Using Gaussian Fields and Harmonic
    Functions. ICML 2003.

    Examples
    --------
    >>> from grada import AdaptedClassifier
    >>> from grada.datasets import make_dg
    >>> task = make_dg(n_domains=15, random_state=1000)
    >>> X, y, domain = task.visible()
    >>> model = AdaptedClassifier(method="propagation", graph=task.graph, random_state=0)
    >>> task.evaluate(model.fit(X, y, sample_domain=domain).predict(X, sample_domain=domain)).mean
    100.0
    """

    n_neighbors: tuple[int, ...] = (5, 10, 20)
    coupling: float = 0.15
    contrast: float = 3.0
    balance: float | None = None
    space: Method | None = None

    name: ClassVar[str] = "propagation"
    citation: ClassVar[str] = (
        "Zhu, Ghahramani and Lafferty: Semi-Supervised Learning Using Gaussian Fields and "
        "Harmonic Functions. ICML 2003."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "n_neighbors": [tuple, list],
        "coupling": [POSITIVE_REAL],
        "contrast": [Interval(Real, 0, None, closed="left")],
        "balance": [Interval(Real, 0, 1, closed="both"), None],
        "space": [Method, None],
    }

    @property
    def takes_any_shape(self) -> bool:
        """Images and the like are for the method that gives the space."""
        return self.space is not None and self.space.takes_any_shape

    def check(self, data: DomainData) -> None:
        """Refuse wrong settings."""
        super().check(data)
        sizes = self.n_neighbors
        if not sizes or not all(isinstance(k, Integral) and k > 0 for k in sizes):
            raise ValueError(
                f"The 'n_neighbors' parameter must hold positive integers, such as (5, 10, 20); "
                f"got {sizes!r}."
            )

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Build the graph of rows, and let the labels spread."""
        self.check(data)
        space = None if self.space is None else self.space.adapt(data, run)
        points = _points(data.X, data.codes, space)
        if data.kind == "regression":
            values = adapt_residuals(self, replace(data, X=points), run)
            return values if space is None else FittedInSpace(values, space)
        plain = Plain().adapt(replace(data, X=points), run)
        graph = row_graph.bridged(data.graph, points, data.codes)
        rows, order = Rows.sort(points, data.codes, graph, run.rng())
        y, weight = data.y[order], data.weight[order].astype(np.float64)
        codes, known = rows.codes, weight > 0
        own, across = row_graph.all_links(rows, max(self.n_neighbors), self.across)
        scales = self.scales(own, len(y))
        manner = source_manner(y, weight, codes, own, data.n_outputs)
        if self.balance is not None:
            manner = replace(manner, balance=float(self.balance))
        near = closeness(across, codes, row_graph.affinity(across, scales[-1]), len(data.graph))
        length, _, step = travel(near, data.sources)
        wave = np.ceil(length / step - 1e-9)
        labels = np.eye(data.n_outputs)[np.maximum(y, 0)]
        across = replace(across, edge=contrasted(near, across, codes, self.contrast))
        labels = self.spread(own, across, scales, labels, known, wave, codes, weight, manner)
        fitted = FittedPropagation(
            method=self,
            rows=rows,
            labels=labels,
            scales=scales,
            wave=wave,
            step=step,
            manner=manner,
            plain=plain,
            space=space,
        )
        _report_cut_off(fitted, data)
        return fitted

    @property
    def across(self) -> int:
        """Neighbours of a row in each adjacent domain."""
        return max(1, round(_ACROSS * max(self.n_neighbors)))

    def scales(self, own: Links, n_rows: int) -> NDArray[np.float32]:
        """Local scale of each row for each number of neighbours, the largest last."""
        return np.array([row_graph.local_scale(own, n_rows, k) for k in sorted(self.n_neighbors)])

    def spread(
        self,
        own: Links,
        across: Links,
        scales: NDArray[np.float32],
        labels: Floats,
        known: NDArray[np.bool_],
        wave: Floats,
        codes: Codes,
        weight: Floats,
        manner: Manner,
    ) -> Floats:
        """Mean over the numbers of neighbours of the labels that reach each row."""
        total = np.zeros_like(labels)
        inner = row_graph.symmetric(own, min(self.n_neighbors), scales[0], 1.0)
        for size, scale in zip(sorted(self.n_neighbors), scales, strict=True):
            graph = row_graph.symmetric(own, size, scale, 1.0)
            few = max(1, round(_ACROSS * size))
            graph = graph + row_graph.symmetric(across, few, scale, self.coupling)
            total += spread(graph, labels, known, wave[codes], codes, weight, manner, inner)
        return total / len(scales)


class FittedInSpace(FittedMethod):
    """A fitted method that sees the encodings of another one."""

    def __init__(self, inner: FittedMethod, space: FittedMethod):
        self.inner = inner
        self.space = space
        self.history = inner.history

    def predict(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """Predictions from the encodings."""
        return self.inner.predict(_points(X, codes, self.space), codes)

    def encode(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """The encodings."""
        return self.space.encode(X, codes)

    def confidence(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """That of the method within."""
        return self.inner.confidence(_points(X, codes, self.space), codes)

    def extend(self, graph: DomainGraph, X: NDArray[np.float32], codes: Codes) -> FittedMethod:
        """Both for the larger graph."""
        space = self.space.extend(graph, X, codes)
        inner = self.inner.extend(graph, _points(X, codes, space), codes)
        return FittedInSpace(inner, space)


@dataclass(kw_only=True)
class FittedPropagation(FittedMethod):
    """The rows of all domains with their labels.

    Attributes
    ----------
    method : Propagation
    rows : Rows
    labels : array of shape (n_rows, n_classes)
    scales : array of shape (n_sizes, n_rows)
    wave : array of shape (n_domains,)
        In which wave labels came to each domain; infinite if none came.
    step : float
        What is as far as a wave goes, see :func:`grada.methods._spreading.travel`.
    manner : Manner
    plain : FittedPlain
        For domains that no label came to.
    space : FittedMethod, optional
    """

    method: Propagation
    rows: Rows
    labels: Floats
    scales: NDArray[np.float32]
    wave: Floats
    step: float
    manner: Manner
    plain: FittedMethod
    space: FittedMethod | None

    def __post_init__(self) -> None:
        self.history = History()
        self.history.stopped = "spread in one go"

    def predict(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """Class probabilities: those of the nearest rows of ``fit`` in the domain.

        A row of ``fit`` gets its own. In a domain without rows, the nearest rows of adjacent
        domains are asked.
        """
        return self._ask(X, codes)[0]

    def encode(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """Encodings of the space that labels spread in, or the features."""
        return _points(X, codes, self.space).astype(np.float64)

    def confidence(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """Largest probability, less for late waves and for rows far from those of ``fit``."""
        probabilities, trust = self._ask(X, codes)
        chance = 1.0 / probabilities.shape[1]
        sure: Floats = chance + (probabilities.max(axis=1) - chance) * trust
        return sure

    def _ask(self, X: NDArray[np.float32], codes: Codes) -> tuple[Floats, Floats]:
        """Class probabilities, and how much they can be relied on, from 0 to 1."""
        points = _points(X, codes, self.space)
        # The plain model knows nothing of domains, so that it needs none.
        probabilities = self.plain.predict(points, np.zeros_like(codes))
        trust = np.zeros(len(points))
        order = np.argsort(codes, kind="stable")
        here, starts = np.unique(codes[order], return_index=True)
        for domain, asked in zip(here.tolist(), np.split(order, starts[1:]), strict=True):
            pairs = self._teachers(domain)
            if pairs:
                probabilities[asked], near = self._vote(points[asked], pairs)
                waves = [self.wave[other] + (other != domain) for other, _ in pairs]
                trust[asked] = near * _KEPT ** min(waves)
        return probabilities, trust

    def _teachers(self, domain: int) -> list[tuple[int, float]]:
        """Domains whose rows are asked about rows of this one: itself, or adjacent ones."""
        if self.rows.starts[domain + 1] > self.rows.starts[domain]:
            return [(domain, 1.0)] if np.isfinite(self.wave[domain]) else []
        return [(v, w) for v, w in self.rows.adjacent(domain) if np.isfinite(self.wave[v])]

    def _vote(
        self, points: NDArray[np.float32], pairs: list[tuple[int, float]]
    ) -> tuple[Floats, Floats]:
        """Mean of the labels of near rows, and 1, or less for points that lie far from them."""
        links = row_graph.links_to(self.rows, points, pairs, min(self.method.n_neighbors))
        relative = links.distance / self.scales[-1][links.col]
        weight = links.edge * np.exp(-np.minimum(relative, row_graph.FARTHEST))
        # A row of fit, and rows that are equal to it, have been labelled already.
        same = links.distance == 0
        met = np.zeros(len(points), dtype=bool)
        met[links.row[same]] = True
        weight = np.where(met[links.row], same, weight).astype(np.float64)
        shape = (len(points), len(self.labels))
        voices = sparse.csr_array((weight, (links.row, links.col)), shape=shape)
        labels: Floats = voices @ self.labels / voices.sum(axis=1)[:, None]
        nearest = np.full(len(points), np.inf)
        np.minimum.at(nearest, links.row, relative)
        return labels, np.exp(-np.maximum(nearest - 1.0, 0.0))

    def extend(self, graph: DomainGraph, X: NDArray[np.float32], codes: Codes) -> FittedMethod:
        """Let the labels of all rows spread into rows of new domains; the old ones stay fixed."""
        old = len(self.wave)
        if len(codes) and codes.min() < old:
            name = graph.names[int(codes.min())]
            raise ValueError(f"Domain {name!r} is not new: give rows of new domains only.")
        space = None if self.space is None else self.space.extend(graph, X, codes)
        # The order of new rows matters for nothing but which rows of huge domains are searched.
        points = _points(X, codes, space)
        present = np.concatenate([self.rows.codes, codes])
        graph = row_graph.bridged(graph, np.concatenate([self.rows.X, points]), present)
        new, _ = Rows.sort(points, codes, graph, np.random.default_rng(0))
        rows, method = self.rows.append(new), self.method
        own, across = row_graph.all_links(rows, max(method.n_neighbors), method.across, old)
        scales = method.scales(own, len(rows.X))
        scales[:, : len(self.labels)] = self.scales
        near = closeness(across, rows.codes, row_graph.affinity(across, scales[-1]), len(graph))
        length, origin, _ = travel(near, np.flatnonzero(np.isfinite(self.wave)))
        wave = np.ceil(length / self.step - 1e-9)
        reached = np.isfinite(wave)
        wave[reached] += self.wave[origin[reached]]
        across = replace(across, edge=contrasted(near, across, rows.codes, method.contrast))
        labels = np.vstack([self.labels, np.zeros((len(new.X), self.labels.shape[1]))])
        known = np.isfinite(wave[rows.codes]) & (rows.codes < old)
        ones = np.ones(len(known))
        spreads = method.spread(
            own, across, scales, labels, known, wave, rows.codes, ones, self.manner
        )
        labels[len(self.labels) :] = spreads[len(self.labels) :]
        return replace(self, rows=rows, labels=labels, scales=scales, wave=wave, space=space)


def _points(
    X: NDArray[np.float32], codes: Codes, space: FittedMethod | None
) -> NDArray[np.float32]:
    """Rows as vectors in the space that labels spread in."""
    rows = X if space is None else space.encode(X, codes)
    return np.asarray(rows, dtype=np.float32).reshape(len(rows), int(np.prod(rows.shape[1:])))


def _report_cut_off(fitted: FittedPropagation, data: DomainData) -> None:
    targets = data.targets
    cut_off = targets[~np.isfinite(fitted.wave[targets])]
    if len(cut_off):
        message = (
            f"No path in the graph joins {name_some(data, cut_off)} to a domain with labels. "
            "Predictions there are those of the plain model. Add edges to the graph, or do not "
            "rely on these predictions."
        )
        fitted.history.messages.append(message)
        warnings.warn(message, AdaptationWarning, stacklevel=5)
