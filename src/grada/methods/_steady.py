"""Steady means: what few rows say of a domain, drawn to what the graph says of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]

_ROUGH, _SMOOTH = 4.0, 32.0  # how far likeness reaches over the graph
#: So much of the variance that two colours would have shows that a graph is nearly of two colours.
_TWO_COLOURS = 0.5
#: Up to so many domains their likeness over the graph is looked at; beyond, each is on its own.
_DENSE_DOMAINS = 500
#: Variance between domains, as a multiple of the usual variance of a mean.
_SIZES = np.append(0.0, 2.0 ** np.arange(-2, 25))
_NEVER = 1e6  # rows that a domain has to have before it is listened to at all
_NO_SPREAD = 1e-12


class Steady(NamedTuple):
    """Values of every domain, and how many rows what the graph says of them is worth.

    Attributes
    ----------
    values : array of shape (n_domains, n_features)
    worth : array of shape (n_features,)
    """

    values: Floats
    worth: Floats


def likenesses(weights: Floats) -> dict[str, Floats]:
    r"""How alike domains are over the graph, as covariances with a diagonal of one.

    Parameters
    ----------
    weights : array of shape (n_domains, n_domains)
        Edge weights over the mean degree.

    Returns
    -------
    dict of str to array of shape (n_domains, n_domains)
        ``"rough"``, :math:`(I + 4 L)^{-1}`, ``"smooth"``, :math:`(I + 32 L)^{-2}`, with the
        Laplacian :math:`L = D - W`; and ``"unlike"``, :math:`(I + 32 Q)^{-2}` with
        :math:`Q = D + W`, by which neighbours are unlike, and neighbours of neighbours alike: zero
        around domains where no two colours could tell neighbours apart; and ``"joined"``,
        :math:`I + s W`, by which neighbours are as alike as their edge is strong, and others not
        at all, with the largest :math:`s` up to one over the strongest edge for which this is a
        covariance.
    """
    degrees, eye = np.diag(weights.sum(axis=1)), np.eye(len(weights))
    smooth = np.linalg.inv(eye + _SMOOTH * (degrees - weights))
    unlike = np.linalg.inv(eye + _SMOOTH * (degrees + weights))
    found = {
        "rough": np.linalg.inv(eye + _ROUGH * (degrees - weights)),
        "smooth": smooth @ smooth,
        "unlike": unlike @ unlike,
    }
    sizes = {name: np.sqrt(np.diag(matrix)) for name, matrix in found.items()}
    scaled = {name: matrix / np.outer(sizes[name], sizes[name]) for name, matrix in found.items()}
    # With two colours, D + W is D - W with other signs, and both have the same diagonal.
    coloured = sizes["unlike"] ** 2 > _TWO_COLOURS * sizes["smooth"] ** 2
    scaled["unlike"] *= np.outer(coloured, coloured)
    scaled["joined"] = eye + weights / _largest(weights)
    return scaled


def _largest(weights: Floats) -> float:
    """What weights are divided by so that they are likenesses beside a diagonal of one."""
    least = float(eigvalsh(weights, subset_by_index=[0, 0])[0]) if len(weights) else 0.0
    return max(-least, float(weights.max(initial=0.0))) or 1.0


def mean_degree(weights: sparse.csr_array) -> float:
    """Mean degree of the domains that have edges, or one."""
    joined = int((weights.sum(axis=1) > 0).sum())
    return float(weights.sum()) / joined if joined else 1.0


def steady(values: Floats, count: Floats, unit: Floats, weights: sparse.csr_array) -> Steady:
    r"""Means of domains without what is only chance in them.

    The mean of a feature over the :math:`n_u` rows of domain :math:`u` is taken for

    .. math:: m_u = \mu + g_u + \epsilon_u, \qquad g \sim N(0, \tau^2 K), \qquad
        \epsilon_u \sim N(0, \sigma^2 / n_u)

    and :math:`\mu + g_u` is what it says of the domain. The variance :math:`\tau^2`, and whether
    :math:`K` is the likeness of domains over the graph, rough or smooth, or none at all, is chosen
    for every feature by the likelihood of the means. So a feature whose means differ by no more
    than chance has the same mean everywhere, one that drifts over the graph is smoothed along it,
    and one that jumps is left as it is.

    Parameters
    ----------
    values : array of shape (n_domains, n_features)
    count : array of shape (n_domains,)
        Rows behind them. Domains without rows are left as they are.
    unit : array of shape (n_features,)
        Variance :math:`\sigma^2` of a single row; features without are left as they are.
    weights : sparse array of shape (n_domains, n_domains)
        Edge weights. Of more than 500 domains no likeness over the graph is looked at.

    Returns
    -------
    Steady
    """
    present = np.flatnonzero(count > 0)
    shaky = np.flatnonzero(unit > _NO_SPREAD)
    found, worth = values.copy(), np.zeros(values.shape[1])
    if len(present) < 2 or not len(shaky):
        return Steady(found, worth)
    root = np.sqrt(count[present])[:, None]
    seen = root * values[np.ix_(present, shaky)] / np.sqrt(unit[shaky])
    with threadpool_limits(1, "blas"):  # threads of small matrices only wait for each other
        kinds = [_Kind.of(likeness, root, seen) for likeness in _candidates(weights, present)]
    sizes = _SIZES * float((1 / count[present]).mean())
    unlikely = np.stack([kind.unlikely(size) for kind in kinds for size in sizes])
    best = unlikely.argmin(axis=0)
    for option in np.unique(best):
        columns = np.flatnonzero(best == option)
        kind, size = kinds[option // len(sizes)], sizes[option % len(sizes)]
        drawn, own = kind.drawn(columns, size)
        at = shaky[columns]
        found[np.ix_(present, at)] = drawn / root * np.sqrt(unit[at])
        own = np.maximum(own, 1 / _NEVER)
        worth[at] = np.median(count[present] * (1 - own) / own)
    return Steady(found, worth)


def settle(around: Floats, own: Floats, rows: Floats, unit: Floats, worth: Floats) -> Floats:
    """Means of new domains, between what their neighbours say and what their own rows do.

    Parameters
    ----------
    around, own : arrays of shape (n, n_features)
    rows : array of shape (n, 1)
        Rows behind each mean.
    unit : array of shape (n, n_features)
        Variance of a single row.
    worth : array of shape (n_features,)
        How many rows ``around`` is worth. A domain that lies farther from it than that lets
        expect is believed the more.

    Returns
    -------
    array of shape (n, n_features)
    """
    chance = unit / rows
    with np.errstate(divide="ignore"):
        usual = np.where(worth > 0, unit / worth, np.inf)
    between = np.maximum(usual, (own - around) ** 2 - 4 * chance)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isinf(between), 1.0, between / (between + chance + _NO_SPREAD))
    settled: Floats = around + share * (own - around)
    return settled


def _candidates(weights: sparse.csr_array, present: NDArray[np.intp]) -> list[Floats | None]:
    """Likenesses of the domains that have rows; None for none."""
    if weights.shape[0] > _DENSE_DOMAINS or not weights.nnz:
        return [None]
    found = likenesses(weights.toarray() / mean_degree(weights))
    return [None, *(found[name][np.ix_(present, present)] for name in ("rough", "smooth"))]


class _Kind(NamedTuple):
    """A likeness of domains, in coordinates in which means and chance are independent.

    Attributes
    ----------
    axes : array of shape (n, n), optional
        None for the coordinates as they are.
    strength : array of shape (n, 1)
        Variance between domains along each axis, in multiples of what chance has.
    one : array of shape (n, 1)
        The same mean in all domains, along the axes.
    seen : array of shape (n, n_features)
        The means, along the axes.
    """

    axes: Floats | None
    strength: Floats
    one: Floats
    seen: Floats

    @classmethod
    def of(cls, likeness: Floats | None, root: Floats, seen: Floats) -> _Kind:
        if likeness is None:
            return cls(None, root**2, root, seen)
        strength, axes = np.linalg.eigh(root * likeness * root.T)
        return cls(axes, np.maximum(strength, 0.0)[:, None], axes.T @ root, axes.T @ seen)

    def unlikely(self, size: float) -> Floats:
        """Minus the log likelihood of each feature, with all values of the mean alike likely."""
        weight = 1 / (1 + size * self.strength)
        left = self.seen - self.one * self._mean(weight)
        constant = np.log((weight * self.one**2).sum()) - np.log(weight).sum()
        unlikely: Floats = ((weight * left**2).sum(axis=0) + constant) / 2
        return unlikely

    def drawn(self, columns: NDArray[np.intp], size: float) -> tuple[Floats, Floats]:
        """What is expected behind some means, and the part of each domain's own mean in it."""
        weight = 1 / (1 + size * self.strength)
        middle = self.one * self._mean(weight)[columns]
        drawn = middle + (1 - weight) * (self.seen[:, columns] - middle)
        if self.axes is None:
            return drawn, 1 - weight[:, 0]
        return self.axes @ drawn, self.axes**2 @ (1 - weight[:, 0])

    def _mean(self, weight: Floats) -> Floats:
        mean: Floats = (weight * self.one * self.seen).sum(axis=0) / (weight * self.one**2).sum()
        return mean
