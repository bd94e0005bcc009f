"""Terms of the Gaussian process over rows and domains: which there are, and what each may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Term = tuple[str, str]

#: Parts of the model: which domains share an effect, and of what in a row it is a function.
TERMS: tuple[Term, ...] = (
    ("all", "one"),
    ("all", "linear"),
    ("all", "mean linear"),
    ("all", "near"),
    ("all", "mean near"),
    ("all", "deviation near"),
    ("all", "deviation linear"),
    ("all", "standard linear"),
    ("all", "standard near"),
    ("all", "deviation linear by mean"),
    ("own", "one"),
    ("own", "linear"),
    ("rough", "one"),
    ("rough", "linear"),
    ("rough", "near"),
    ("smooth", "one"),
    ("smooth", "linear"),
    ("smooth", "near"),
    ("smooth", "deviation near"),
    ("smooth", "deviation close"),
    ("joined", "one"),
    ("joined", "linear"),
    ("unlike", "one"),
    ("unlike", "linear"),
)
#: Ways to see the rows of a domain: as they are, from its middle, or in units of its spread too.
#: Whether levels follow the inputs from domain to domain can hardly be told from few domains, so
#: models that leave the other ways out are kept beside that of all terms.
VIEWS = ("any", "deviation", "standard")

#: Up to so many features are looked at one by one.
_FEW_FEATURES = 12
_FREE_TERMS = 2  # the first ones, which say nothing of the domains
_RATE = 2.0  # of the exponential prior on the size of the other terms: breaks ties, no more
_RATE_UNLIKE = 10.0  # neighbours are seldom unlike: labels have to say so clearly


def terms_of(n_features: int) -> tuple[Term, ...]:
    """All terms with so many features.

    Few features are looked at one by one too, for curves of each that level off.
    """
    return TERMS if n_features > _FEW_FEATURES else (*TERMS, ("all", "each bent"))


def seen_as(view: str, terms: Sequence[Term]) -> NDArray[np.bool_]:
    """Which terms a view has: all, or none that sees rows in another way in all domains alike."""
    others = {"any": (), "deviation": ("standard",), "standard": ("deviation",)}[view]
    if view == "any":
        return np.ones(len(terms), dtype=bool)
    plain = ("linear", "near", "mean near", "each bent")
    return np.array(
        [
            shared != "all" or (shape not in plain and not shape.startswith(others))
            for shared, shape in terms
        ]
    )


def rates(terms: Sequence[Term]) -> FloatArray:
    """Rate of the prior on the size of each term."""
    found = np.array([_RATE_UNLIKE if shared == "unlike" else _RATE for shared, _ in terms])
    found[:_FREE_TERMS] = 0.0
    return found


def bent(a: FloatArray, b: FloatArray) -> FloatArray:
    r"""Covariance of curves that level off, summed over the features.

    .. math:: \frac{2}{\pi d} \sum_j \arcsin \frac{2 (1 + a_j b_j)}
        {\sqrt{(3 + 2 a_j^2)(3 + 2 b_j^2)}}

    that of a wide layer of sigmoids in each of the :math:`d` features (Williams, Computation with
    infinite neural networks, 1998). Far outside of what had labels they stay where they are, where
    a line goes on.

    Parameters
    ----------
    a : array of shape (n, n_features)
    b : array of shape (m, n_features)

    Returns
    -------
    array of shape (n, m)
    """
    total = np.zeros((len(a), len(b)))
    for x, z in zip(a.T, b.T, strict=True):
        size = np.sqrt(np.outer(3 + 2 * x**2, 3 + 2 * z**2))
        total += np.arcsin((2 + 2 * np.outer(x, z)) / size)
    return np.asarray(total * (2 / np.pi / max(a.shape[1], 1)))


def bent_size(x: FloatArray) -> FloatArray:
    """Variance of these curves at each row, shape (n,)."""
    square = 2 + 2 * x**2
    total = np.arcsin(square / (1 + square)).sum(axis=1)
    return np.asarray(total * (2 / np.pi / max(x.shape[1], 1)))
