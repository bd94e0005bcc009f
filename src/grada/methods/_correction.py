"""Regression networks as a correction of the plain model, trusted as far as it has proved itself.

A network alone says anything in domains unlike the sources; ridge regression does not. So the
network learns what ridge regression leaves over, within bounds, and what it says is multiplied
by a share that is found on source domains kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import Run
from grada.methods.plain import FittedPlain, Plain

FloatArray = NDArray[np.float64]

#: The correction never passes so many standard deviations of what the plain model leaves over.
LIMIT = 3.0
#: Share of the source domains that are kept apart to judge the correction.
KEPT_APART = 0.25
#: The share is so low that it is right to help, at this confidence: what is not sure is not used.
CONFIDENCE = 0.9
_MAX_FOLDS = 10
#: Labels are in standard units; a plain model that leaves less than this over is as good as exact.
_SMALLEST_SCALE = 1e-3


@dataclass(frozen=True)
class Trust:
    """How far a correction has proved itself.

    Attributes
    ----------
    share : float
        What of it is used, 0 to 1: see :func:`proven_share`.
    hops : float
        How far from the labels that was found out.
    """

    share: float
    hops: float

    def in_each_domain(self, graph: DomainGraph, sources: NDArray[np.int64]) -> FloatArray:
        """The share to use in each domain, shape (n_domains,).

        Twice as far from the labels as it was proven, a quarter of it is left, and so on: nothing
        is known about it there.
        """
        away = np.maximum(hops_away(graph, sources), 1.0)
        share: FloatArray = self.share * np.minimum(1.0, self.hops / away) ** 2
        return share


def hops_away(graph: DomainGraph, sources: NDArray[np.int64]) -> FloatArray:
    """Hops of every domain from the nearest of some; without a path, one more than the farthest."""
    hops = graph.hops_from(sources)
    near = np.isfinite(hops)
    return np.where(near, hops, hops[near].max() + 1.0)


@dataclass(frozen=True)
class PlainBase:
    """The plain model, and the size of what it leaves over in domains that it has not seen.

    Attributes
    ----------
    fitted : FittedPlain
        Ridge regression, the method ``plain``.
    scale : array of shape (n_outputs,)
        Standard deviation of what is left over.
    """

    fitted: FittedPlain
    scale: FloatArray

    @classmethod
    def fit(cls, data: DomainData, run: Run) -> tuple[PlainBase, DomainData]:
        """The model, and the data with what it leaves over, in units of its scale, as labels.

        Each source domain is predicted from others there, as targets are (each row from other
        rows if there is one source only).
        """
        fitted = Plain().adapt(data, run)
        assert isinstance(fitted, FittedPlain)
        rows, y = data.labelled, data.y.astype(np.float64)
        left: FloatArray = y[rows] - _cross_predict(fitted, data)
        weight = data.weight[rows].astype(np.float64)
        scale = np.sqrt(np.average(left**2, axis=0, weights=weight))
        scale = np.maximum(scale, _SMALLEST_SCALE)
        labels = data.y.copy()
        labels[rows] = left / scale
        return cls(fitted, scale), replace(data, y=labels)

    def predict(self, X: NDArray[np.float32]) -> FloatArray:
        """What the plain model says, which knows nothing of domains."""
        return self.fitted.predict(X, np.zeros(len(X), dtype=np.int64))


def _cross_predict(fitted: FittedPlain, data: DomainData) -> FloatArray:
    """What the plain model says about the labelled rows when it has not seen their domain."""
    rows = data.labelled
    if len(rows) < 2:
        return fitted.predict(data.X[rows], data.codes[rows])
    X, y = fitted.inputs(data.X[rows], data.codes[rows]), data.y[rows].astype(np.float64)
    weight, codes = data.weight[rows], data.codes[rows]
    n_groups = len(np.unique(codes))
    if n_groups > 1:
        folds = GroupKFold(min(n_groups, _MAX_FOLDS)).split(X, groups=codes)
        penalty = fitted.model.alpha
    else:
        folds = KFold(min(len(rows), _MAX_FOLDS), shuffle=True, random_state=0).split(X)
        penalty = fitted.model.alpha_
    said = np.empty_like(y)
    for kept, apart in folds:
        model = Ridge(penalty).fit(X[kept], y[kept], sample_weight=weight[kept])
        said[apart] = model.predict(X[apart]).reshape(len(apart), -1)
    return said


def keep_apart(data: DomainData, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Labelled rows on which to judge a correction: the sources nearest to the targets.

    A quarter of the source domains, those with the fewest hops to a target, because they are
    most like what the correction is for; a random choice among equals. With one source, a
    quarter of its rows. Empty if there are too few.
    """
    labelled, sources = data.weight > 0, data.sources
    if len(sources) == 1:
        rows = data.labelled
        some = rng.permutation(rows)[: int(KEPT_APART * len(rows))]
        return np.isin(np.arange(len(labelled)), some)
    hops = np.zeros(data.graph.n_domains)
    if len(data.targets):
        hops = data.graph.hops_from(data.targets)
    order = np.lexsort((rng.random(len(sources)), hops[sources]))
    n_apart = max(1, round(KEPT_APART * len(sources)))
    return labelled & np.isin(data.codes, sources[order[:n_apart]])


def without_labels(data: DomainData, rows: NDArray[np.bool_]) -> DomainData:
    """The same rows, some of them without their labels."""
    y, weight = data.y.copy(), np.where(rows, 0, data.weight).astype(np.float32)
    y[rows] = np.nan
    return replace(data, y=y, weight=weight / weight[weight > 0].mean())


def proven_share(
    left: FloatArray, correction: FloatArray, weight: NDArray[Any], groups: NDArray[np.int64]
) -> float:
    r"""How much of a correction to use, judged on rows that it was not trained on.

    .. math::
        s = \frac{\sum_g a_g}{\sum_g b_g} - t \, \mathrm{se}, \qquad
        a_g = \sum_{i \in g} w_i r_i^\top c_i, \quad b_g = \sum_{i \in g} w_i |c_i|^2

    cut to [0, 1]: the lower end of a one-sided interval (Student's t, 90 %) for the factor with
    the smallest squared error, which differs from group to group.

    Parameters
    ----------
    left : array of shape (n, n_outputs)
        r, what the plain model leaves over.
    correction : array of shape (n, n_outputs)
        c, what the network says about it.
    weight : array of shape (n,)
    groups : int array of shape (n,)
        Domain of each row; the rows are groups of their own if there is one domain only.

    Returns
    -------
    float

    Examples
    --------
    >>> left = np.array([[1.0], [1.0], [2.0]])
    >>> proven_share(left, 4 * left, np.ones(3), np.array([0, 1, 2]))
    0.25
    >>> proven_share(left, -left, np.ones(3), np.array([0, 1, 2]))
    0.0
    """
    _, group = np.unique(groups, return_inverse=True)
    if group.max(initial=0) == 0:
        group = np.arange(len(group))
    n_groups = int(group.max(initial=-1)) + 1
    found = np.bincount(group, weights=weight * (left * correction).sum(axis=1))
    size = np.bincount(group, weights=weight * (correction**2).sum(axis=1))
    total = size.sum()
    if n_groups < 2 or total <= 0:
        return 0.0
    best = found.sum() / total
    error = np.sqrt(((found - best * size) ** 2).sum() * n_groups / (n_groups - 1)) / total
    doubt = stats.t.ppf(CONFIDENCE, n_groups - 1)
    return float(np.clip(best - doubt * error, 0.0, 1.0))
