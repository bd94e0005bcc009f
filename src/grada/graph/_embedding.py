"""Node embeddings: every domain as a point in the unit ball, near its neighbours.

One function a kind, registered in ``KINDS``. A kind takes ``(weights, dim, generator)`` and returns
points in the unit ball, shape (n_domains, dim).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from grada.graph._line import line
from grada.graph._node2vec import node2vec
from grada.graph._reconstruction import reconstruction
from grada.graph._spectral import spectral
from grada.graph._types import Floats, RandomState, Weights

_ONE_HOT_LIMIT = 4096

Kind: TypeAlias = Callable[[Weights, Any, np.random.Generator], Floats]


def embed(
    weights: Weights, kind: str, dim: int | None, *, random_state: RandomState = None
) -> Floats:
    """Embed the nodes of a graph; see `DomainGraph.embed`."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    if dim is not None and (
        not isinstance(dim, numbers.Integral) or isinstance(dim, bool) or dim < 1
    ):
        raise ValueError(f"dim must be a positive integer, got {dim!r}")
    if dim is None and kind != "one-hot":
        dim = default_dim(weights.shape[0])
    return KINDS[kind](weights, dim, generator_from(random_state))


def default_dim(n_domains: int) -> int:
    """Choose the length of an embedding: ``max(2, min(16, ceil(log2(n_domains)) + 1))``."""
    return max(2, min(16, math.ceil(math.log2(n_domains)) + 1))


def generator_from(random_state: RandomState) -> np.random.Generator:
    """Make a local generator; None means fresh entropy, never NumPy's global state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or isinstance(random_state, numbers.Integral):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, an int, a RandomState or a Generator, got {random_state!r}"
    )


def one_hot(weights: Weights, dim: int | None, generator: np.random.Generator) -> Floats:
    r"""Give each domain an axis of its own, blind to the edges.

    .. math:: z_{ik} = 1 \text{ if } i = k \text{ else } 0

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    dim : int, optional
        Only n_domains is possible.
    generator : Generator
        Not used.

    Returns
    -------
    ndarray of shape (n_domains, n_domains)
    """
    n_domains = weights.shape[0]
    if n_domains > _ONE_HOT_LIMIT:
        raise ValueError(
            f"one-hot embeddings of {n_domains} domains would need {n_domains} numbers each "
            f"(the limit is {_ONE_HOT_LIMIT}): use kind='reconstruction' or kind='spectral'"
        )
    if dim is not None and dim != n_domains:
        raise ValueError(
            f"one-hot embeddings have one number a domain: leave dim out or set it to {n_domains}"
        )
    return np.eye(n_domains)


KINDS: dict[str, Kind] = {
    "reconstruction": reconstruction,
    "spectral": spectral,
    "node2vec": node2vec,
    "line": line,
    "one-hot": one_hot,
}


def register(name: str, kind: Kind) -> None:
    """Add a kind from a layer above, such as one that needs torch."""
    KINDS[name] = kind
