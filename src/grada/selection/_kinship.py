"""How alike domains are: in their rows, and in what their labels say about rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MAX_ROWS = 200  # of one domain
_MAX_ALL_ROWS = 100_000
_MAX_DIMS, _MAX_SQUARED = 50, 10
_WAVES = 80  # random directions of each width
_WIDTHS = (0.5, 1.0)  # of the usual distance between rows
_DROPPED = 1e-2  # directions of less than this share of the largest variance are noise
_DENSE_LIMIT = 1000
_MAX_PAIRS = 200_000


@dataclass(frozen=True)
class Kinship:
    r"""Domains as points :math:`m_u`, the whitened means of some features of their rows.

    Two domains differ by :math:`d_{uv} = |m_u - m_v|^2 - \nu_u - \nu_v`, which is zero on average
    where both are drawn from one distribution, :math:`\nu` being the noise of a mean.

    Attributes
    ----------
    place : array of shape (n_domains, n_directions)
    noise : array of shape (n_domains,)
    """

    place: Floats
    noise: Floats

    def score(self, first: Codes, second: Codes, weight: Floats) -> float:
        r"""How much more alike the two ends of edges are than any two domains.

        .. math:: 1 - \bar d_\text{edges} / \bar d_\text{all pairs}

        Both means weigh a pair by how little noise it has, and edges also by their weight.

        Returns
        -------
        float
            1: neighbours do not differ at all; 0: as much as any two domains, as in a clique.
            0 without edges.
        """
        if not len(first):
            return 0.0
        unlike, sure = self._pairs(first, second)
        sure = sure * weight
        return float(1 - (sure @ unlike) / sure.sum() / self._usual)

    def _pairs(self, first: Codes, second: Codes) -> tuple[Floats, Floats]:
        """Difference of each pair, and how sure it is."""
        if len(self.place) <= _DENSE_LIMIT:
            unlike, sure = self._all
            return unlike[first, second], sure[first, second]
        noise = self.noise[first] + self.noise[second]
        unlike = ((self.place[first] - self.place[second]) ** 2).sum(axis=1) - noise
        return unlike, self._signal / (self._signal + noise)

    @cached_property
    def _all(self) -> tuple[Floats, Floats]:
        square = (self.place**2).sum(axis=1)
        noise = self.noise[:, None] + self.noise
        unlike = square[:, None] + square - 2 * self.place @ self.place.T - noise
        return unlike, self._signal / (self._signal + noise)

    @cached_property
    def _signal(self) -> float:
        """Usual difference of two domains: twice the variance of the points, noise taken off."""
        spread = 2 * self.place.var(axis=0, ddof=1).sum() - 2 * self.noise.mean()
        return max(float(spread), 1e-3 * float(self.noise.mean()) + 1e-12)

    @cached_property
    def _usual(self) -> float:
        first, second = _some_pairs(len(self.place))
        unlike, sure = self._pairs(first, second)
        return max(float(sure @ unlike / sure.sum()), 1e-3 * self._signal)


def row_kinship(X: Floats, codes: Codes, n_domains: int, rng: np.random.Generator) -> Kinship:
    """Kinship by all rows: means, products and random waves of the features."""
    rows = _sample(codes, n_domains, rng)
    X, codes = X[rows], codes[rows]
    if X.shape[1] > _MAX_DIMS:
        X = PCA(_MAX_DIMS, random_state=0).fit_transform(X)
    return _kinship(_row_features(X, rng), codes, n_domains)


def label_kinship(
    X: Floats, y: NDArray[Any], codes: Codes, n_domains: int, rng: np.random.Generator
) -> Kinship:
    r"""Kinship by the labelled rows: how each domain would change one model of all of them.

    The features of a row are :math:`(y - f(x)) \otimes (1, x)`, the gradient of the loss of a
    linear model :math:`f` of all labelled rows: what is left to learn in one domain.

    Parameters
    ----------
    X, y, codes : arrays of n_rows
        y: class codes of shape (n_rows,), or values (n_rows, n_outputs).
    """
    rows = _sample(codes, n_domains, rng)
    X, y, codes = X[rows], y[rows], codes[rows]
    X = _reduced(X, _MAX_SQUARED)
    if y.ndim == 1:
        model = LogisticRegression(max_iter=300).fit(X, y)
        left = (y[:, None] == model.classes_) - model.predict_proba(X)
    else:
        left = y - Ridge().fit(X, y).predict(X).reshape(y.shape)
    left = _reduced(left.astype(np.float64), _MAX_SQUARED)
    features = left[:, :, None] * np.hstack([np.ones((len(X), 1)), X])[:, None, :]
    return _kinship(features.reshape(len(X), -1), codes, n_domains)


def _row_features(X: Floats, rng: np.random.Generator) -> Floats:
    some = X[rng.permutation(len(X))[:500]]
    usual = float(np.median(pdist(some))) if len(some) > 1 else 0.0
    leading = _reduced(X, _MAX_SQUARED)
    upper = np.triu_indices(leading.shape[1])
    moments = np.hstack([X, leading[:, upper[0]] * leading[:, upper[1]]])
    parts = [_standard(moments) / np.sqrt(moments.shape[1])]
    for width in _WIDTHS:
        turn = X @ (rng.normal(size=(X.shape[1], _WAVES)) / (width * (usual or 1.0)))
        parts += [np.cos(turn) / np.sqrt(_WAVES), np.sin(turn) / np.sqrt(_WAVES)]
    return np.hstack(parts)


def _kinship(features: Floats, codes: Codes, n_domains: int) -> Kinship:
    n_rows = len(codes)
    count = np.maximum(np.bincount(codes, minlength=n_domains), 1)
    rows_of = sparse.csr_array(
        (np.ones(n_rows), (codes, np.arange(n_rows))), shape=(n_domains, n_rows)
    )
    means = (rows_of @ features) / count[:, None]
    within, freedom = features - means[codes], n_rows - len(np.unique(codes))
    if freedom < 1:  # one row a domain: there is no noise to be seen
        within, freedom = features - features.mean(axis=0), n_rows
    variance, turn = np.linalg.eigh(within.T @ within / freedom)
    least = _DROPPED * max(variance[-1], 1e-12)
    kept = variance > least
    whitening = turn[:, kept] / np.sqrt(variance[kept] + least)
    noise = (variance[kept] / (variance[kept] + least)).sum() / count
    return Kinship((means - means.mean(axis=0)) @ whitening, noise)


def _sample(codes: Codes, n_domains: int, rng: np.random.Generator) -> Codes:
    """Rows, not too many of any domain, at random."""
    most = min(_MAX_ROWS, max(10, _MAX_ALL_ROWS // n_domains))
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    start = np.searchsorted(codes[order], codes[order])
    return np.sort(order[np.arange(len(order)) - start < most])


def _reduced(X: Floats, most: int) -> Floats:
    return X if X.shape[1] <= most else np.asarray(PCA(most, random_state=0).fit_transform(X))


def _standard(X: Floats) -> Floats:
    deviation = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0))


def _some_pairs(n_domains: int) -> tuple[Codes, Codes]:
    """All pairs of domains, or many at random."""
    if n_domains <= _DENSE_LIMIT:
        return np.triu_indices(n_domains, 1)
    first, second = np.random.default_rng(0).integers(n_domains, size=(2, _MAX_PAIRS))
    return first[first != second], second[first != second]
