"""Choosing how neighbours teach a domain, on source domains whose labels are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import Run
from grada.methods._local import (
    Base,
    Floats,
    KnownRows,
    fit_on_sources,
    labelled_neighbours,
    refine,
)
from grada.methods.plain import Plain, choose_penalty

_FOLDS = 5
_FIRST = 10  # purposes of random numbers before those of each domain
_MOST_HIDDEN = 30  # domains that are predicted
_LEAST_HIDDEN = 4  # fewer tell nothing
_ROWS = 5_000  # that a model of all sources, or a penalty, is chosen on
_LANDMARKS = 50  # radial basis functions
_WIDTH = 0.3  # their gamma, over the number of features, which are in standard units
_PENALTY = 0.1  # 1 / C of logistic regression on them
_SUPPORTED = 200  # sources whose neighbours say what is usual


@dataclass(frozen=True)
class Teaching:
    """How a domain learns from others; the attributes are those of :class:`~.Gradual`."""

    base: Base
    align: float
    shrink: float
    keep: float
    refinements: int
    max_rows: int

    def shrink_at(self, support: float) -> float:
        """Weight of the model of all sources where neighbours weigh so many times the usual.

        As if that model were one more neighbour: with values, the less the labelled neighbours of
        a domain weigh, the more it counts.

        Examples
        --------
        >>> teaching = Teaching(Base(None, 1, classes=False), 0.0, 0.5, 0.7, 3, 1000)
        >>> teaching.shrink_at(1.0), teaching.shrink_at(0.25)
        (0.5, 0.8)
        """
        if self.base.classes or self.shrink == 1:
            return self.shrink
        return self.shrink / (self.shrink + (1 - self.shrink) * support)

    def learn(
        self, known: KnownRows, domain: int, helpers: NDArray[np.int64], weight: Floats, run: Run
    ) -> Any:
        """Model of a domain, taught by others and, for classes, refined on its own rows."""
        rng = run.rng(_FIRST + domain)
        lesson = known.lesson(
            domain, helpers, weight, align=self.align, most=self.max_rows, rng=rng
        )
        if not self.base.classes:
            return self.base.fit(self.base.inputs(lesson[0]), *lesson[1:])
        rows = np.arange(known.start[domain], known.start[domain + 1])
        if len(rows) > self.max_rows:
            rows = rng.choice(rows, self.max_rows, replace=False)
        own = known.X[rows], known.y[rows], known.given[rows]
        return refine(self.base, lesson, *own, keep=self.keep, times=self.refinements)


def make_base(estimator: Any, data: DomainData, known: KnownRows, run: Run) -> Base:
    """The model behind a name, with its penalty and its basis functions fixed.

    Parameters
    ----------
    estimator : {"linear", "rbf", "gradient-boosting"} or scikit-learn estimator
    data : DomainData
    known : KnownRows
        The same data.
    run : Run
    """
    classes, curved = data.kind == "classification", estimator == "rbf"
    linear = curved or estimator == "linear"
    curves = _curves(known, run) if curved else None
    if not linear:
        model = Plain(estimator=estimator)._model(data, run)
    elif classes:
        model = LogisticRegression(C=1.0 / _PENALTY if curved else 1.0, max_iter=300)
    else:
        inputs = Base(None, data.n_outputs, classes, curves).inputs
        model = Ridge(_ridge_penalty(inputs, known, run))
    return Base(model, data.n_outputs, classes, curves)


def choose(
    candidates: Sequence[Teaching], graph: DomainGraph, known: KnownRows, run: Run
) -> Teaching:
    """The candidate with the smallest error on source domains that are hidden.

    Each hidden domain is predicted from those of its neighbours that are sources and not hidden.
    The first candidate is kept where few sources are neighbours, or where none is clearly better:
    by more than the standard error of the difference.

    Parameters
    ----------
    candidates : sequence of Teaching
    graph : DomainGraph
    known : KnownRows
        True labels only.
    run : Run
    """
    if len(candidates) == 1:
        return candidates[0]
    sources = run.rng(1).permutation(np.flatnonzero(known.distance == 0))
    errors = []
    for fold in range(min(_FOLDS, len(sources))):
        hidden = sources[fold::_FOLDS]
        if len(hidden) < len(sources):
            errors += _hidden_errors(candidates, graph, known, hidden, run)
    if len(errors) < _LEAST_HIDDEN:
        return candidates[0]
    table = np.array(errors)
    best = int(table.mean(axis=0).argmin())
    gain = table[:, 0] - table[:, best]
    clear = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))
    return candidates[best if clear else 0]


def _hidden_errors(
    candidates: Sequence[Teaching],
    graph: DomainGraph,
    known: KnownRows,
    hidden: NDArray[np.int64],
    run: Run,
) -> list[list[float]]:
    """Error of every candidate (columns) in every hidden domain that has a helper (rows)."""
    left = known.hiding(hidden)
    bases = {id(one.base): one.base for one in candidates}
    models = {key: fit_on_sources(base, left, _ROWS, run.rng(2)) for key, base in bases.items()}
    usual = usual_support(graph, left)
    errors = []
    for domain in hidden[: _MOST_HIDDEN // _FOLDS].tolist():
        helpers, weight = labelled_neighbours(graph, left, domain)
        if not len(helpers):
            continue
        rows = np.flatnonzero(known.given[known.of_domain(domain)]) + known.start[domain]
        y = known.y[rows]
        inputs = {key: base.inputs(known.X[rows]) for key, base in bases.items()}
        local: dict[tuple[int, float], Any] = {}
        found = []
        for one in candidates:
            key = id(one.base)
            if (key, one.align) not in local:
                local[key, one.align] = one.learn(left, domain, helpers, weight, run)
            shrink = one.shrink_at(float(weight.sum()) / usual)
            output = (1 - shrink) * one.base.output(local[key, one.align], inputs[key])
            output += shrink * one.base.output(models[key], inputs[key])
            wrong = output.argmax(axis=1) != y if one.base.classes else (output - y) ** 2
            found.append(float(wrong.mean()))
        errors.append(found)
    return errors


def usual_support(graph: DomainGraph, known: KnownRows) -> float:
    """Mean weight of the labelled neighbours of sources that have any, of at most 200."""
    sources = np.flatnonzero(known.distance == 0)[:_SUPPORTED].tolist()
    weights = [labelled_neighbours(graph, known, source)[1].sum() for source in sources]
    some = [float(weight) for weight in weights if weight > 0]
    return float(np.mean(some)) if some else 1.0


def _curves(known: KnownRows, run: Run) -> Nystroem:
    rows = run.rng(3).permutation(len(known.X))[: _ROWS // 5]
    kernel = Nystroem(
        gamma=_WIDTH / known.X.shape[1],
        n_components=min(_LANDMARKS, len(rows)),
        random_state=run.random_state,
    )
    return kernel.fit(known.X[rows].astype(np.float64))


def _ridge_penalty(inputs: Any, known: KnownRows, run: Run) -> float:
    """Penalty that serves best from source domain to source domain, or from row to row."""
    rows = known.given_rows(_ROWS, run.rng(4))
    domain = np.searchsorted(known.start, rows, side="right") - 1
    groups = domain if domain[0] != domain[-1] else np.arange(len(rows))
    if len(rows) < 2:
        return 1.0
    return choose_penalty(inputs(known.X[rows]), known.y[rows], groups, known.weight[rows])
