"""What the graph game can reach: expected edge, entropy bound, optimal discriminator.

Two rows are drawn independently: a domain from ``p(u)``, then an encoding from ``p(e | u)``.
A discriminator sees both encodings and says how likely an edge is between the two domains.
Two rows of one domain are such a pair too, and count as a non-edge.

There are ``N`` domains and ``M`` encodings. Weights are symmetric, from 0 to 1, with a zero
diagonal; they act as soft labels. Entropies are in nats. Every function works on dense arrays.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class _Sparse(Protocol):
    """A sparse matrix, known by its way out."""

    def toarray(self) -> NDArray[Any]: ...


Floats: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = ArrayLike | _Sparse
_TOLERANCE = 1e-6  # sums, symmetry and the diagonal may be off by the rounding of float32


def entropy(p: ArrayLike) -> Floats:
    r"""Entropy of a yes-or-no event, in nats.

    .. math:: H(p) = -p \log p - (1 - p) \log(1 - p), \qquad H(0) = H(1) = 0

    Parameters
    ----------
    p : array-like of probabilities, any shape

    Returns
    -------
    ndarray of the same shape
        Entropies; a NumPy scalar if `p` is a number.

    Examples
    --------
    >>> entropy([0.0, 0.25, 0.5, 1.0]).round(3)
    array([0.   , 0.562, 0.693, 0.   ])

    References
    ----------
    .. [1] Xu, He, Lee, Wang, Wang. Graph-Relational Domain Adaptation. ICLR 2022. Theorem 4.1.
    """
    p = np.asarray(p, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p must hold probabilities: numbers from 0 to 1, none of them NaN.")
    return _surprise(p, p) + _surprise(1 - p, 1 - p)


def expected_edge(weights: Weights, domain_distribution: ArrayLike | None = None) -> float:
    r"""Probability of an edge between two domains drawn independently.

    .. math:: E[A] = \sum_{ij} p(u = i) \, p(u = j) \, A_{ij}

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    domain_distribution : array-like of shape (N,), uniform by default

    Returns
    -------
    float
        E[A].

    Examples
    --------
    >>> round(expected_edge([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 3)
    0.444

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Theorem 4.1.
    """
    adjacency = _as_weights(weights)
    share = _as_share(domain_distribution, len(adjacency))
    return min(float(share @ adjacency @ share), 1.0)


def entropy_bound(weights: Weights, domain_distribution: ArrayLike | None = None) -> float:
    r"""Return the most that an encoder can make the best discriminator lose (Theorem 4.1).

    .. math:: \max_E \min_D L_d(D, E) = H(E[A])

    The discriminator that always answers E[A] has this loss whatever the encoder does. So a loss
    at the bound shows alignment only if the discriminator is the best one.

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    domain_distribution : array-like of shape (N,), uniform by default

    Returns
    -------
    float
        H(E[A]), at most log 2.

    Examples
    --------
    >>> round(entropy_bound([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 3)
    0.687

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Theorem 4.1.
    """
    return float(entropy(expected_edge(weights, domain_distribution)))


def edge_given_encodings(weights: Weights, domain_given_encoding: ArrayLike) -> Floats:
    r"""Probability of an edge given the two encodings.

    .. math:: \alpha(e, e') = \sum_{ij} p(u = i | e) \, p(u = j | e') \, A_{ij}

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    domain_given_encoding : array-like of shape (M, N), row m is p(u | e_m)

    Returns
    -------
    ndarray of shape (M, M)
        alpha(e, e') for every pair of encodings.

    Examples
    --------
    >>> chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> edge_given_encodings(chain, [[0.1, 0.3, 0.6], [0.7, 0.2, 0.1]]).round(2)
    array([[0.42, 0.38],
           [0.38, 0.32]])

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Lemma 4.1, appendix A.
    """
    adjacency = _as_weights(weights)
    shape = (None, len(adjacency))
    posterior = _as_distribution(domain_given_encoding, "domain_given_encoding", shape)
    return np.clip(posterior @ adjacency @ posterior.T, 0, 1)


def optimal_discriminator(
    weights: Weights, encoding_given_domain: ArrayLike, domain_distribution: ArrayLike | None = None
) -> Floats:
    r"""Return the discriminator that loses least against an encoder (Lemma 4.1).

    .. math:: D^*(e, e') = \alpha(e, e'), \qquad p(u | e) = p(e | u) \, p(u) / p(e)

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    encoding_given_domain : array-like of shape (N, M), row i is p(e | u = i)
    domain_distribution : array-like of shape (N,), uniform by default

    Returns
    -------
    ndarray of shape (M, M)
        Edge probabilities. Rows and columns of encodings that never occur are NaN.

    Examples
    --------
    >>> optimal_discriminator([[0, 1], [1, 0]], [[1.0, 0.0], [0.5, 0.5]]).round(2)
    array([[0.44, 0.67],
           [0.67, 0.  ]])

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Lemma 4.1.
    """
    adjacency, joint = _joint(weights, encoding_given_domain, domain_distribution)
    with np.errstate(invalid="ignore"):
        posterior: Floats = joint / joint.sum(axis=1, keepdims=True)
    return np.clip(posterior @ adjacency @ posterior.T, 0, 1)


def discriminator_loss(
    weights: Weights,
    encoding_given_domain: ArrayLike,
    edge_probability: ArrayLike,
    domain_distribution: ArrayLike | None = None,
) -> float:
    r"""Loss of any discriminator of discrete encodings.

    .. math::
        L_d = -E_{(e, i), (e', j)} [A_{ij} \log D(e, e') + (1 - A_{ij}) \log(1 - D(e, e'))]

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    encoding_given_domain : array-like of shape (N, M), row i is p(e | u = i)
    edge_probability : array-like of shape (M, M), not read for encodings that never occur
    domain_distribution : array-like of shape (N,), uniform by default

    Returns
    -------
    float
        Loss; infinite if the discriminator rules out what happens.

    Examples
    --------
    >>> pair, told_apart = [[0, 1], [1, 0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> round(discriminator_loss(pair, told_apart, [[0.2, 0.8], [0.8, 0.2]]), 3)
    0.223

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Section 3.2.
    """
    adjacency, joint = _joint(weights, encoding_given_domain, domain_distribution)
    output = np.asarray(edge_probability, dtype=np.float64)
    if output.shape != (len(joint), len(joint)):
        want = (len(joint), len(joint))
        raise ValueError(f"edge_probability must have shape {want}; got {output.shape}.")
    edge, no_edge = joint @ adjacency @ joint.T, joint @ (1 - adjacency) @ joint.T
    if not np.all((output >= 0) & (output <= 1) | (edge + no_edge == 0)):
        raise ValueError("edge_probability must hold numbers from 0 to 1.")
    return float(np.sum(_surprise(edge, output) + _surprise(no_edge, 1 - output)))


def optimal_loss(
    weights: Weights, encoding_given_domain: ArrayLike, domain_distribution: ArrayLike | None = None
) -> float:
    r"""Loss of the best discriminator: at the bound when alpha is the same for all pairs.

    .. math:: C_d(E) = \min_D L_d(D, E) = E_{e, e'} [H(\alpha(e, e'))] \le H(E[A])

    Parameters
    ----------
    weights : array-like or sparse matrix of shape (N, N)
    encoding_given_domain : array-like of shape (N, M), row i is p(e | u = i)
    domain_distribution : array-like of shape (N,), uniform by default

    Returns
    -------
    float
        Loss, at most ``entropy_bound(weights, domain_distribution)``.

    Examples
    --------
    >>> chain, ends_differ = [[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1, 0], [0.5, 0.5], [0, 1]]
    >>> round(optimal_loss(chain, ends_differ), 3), round(entropy_bound(chain), 3)
    (0.687, 0.687)

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Theorem 4.1.
    """
    edge = optimal_discriminator(weights, encoding_given_domain, domain_distribution)
    share = _joint(weights, encoding_given_domain, domain_distribution)[1].sum(axis=1)
    seen = share > 0
    return float(share[seen] @ entropy(edge[np.ix_(seen, seen)]) @ share[seen])


def conditional_entropy(joint: ArrayLike) -> float:
    r"""Entropy of a label given an encoding: the loss of the best predictor.

    .. math:: H(y | e) = -\sum_{e, y} p(e, y) \log p(y | e)

    Parameters
    ----------
    joint : array-like of shape (M, K), p(e, y) of M encodings and K labels

    Returns
    -------
    float
        H(y | e).

    Examples
    --------
    >>> round(conditional_entropy([[0.5, 0.0], [0.25, 0.25]]), 3)
    0.347

    References
    ----------
    .. [1] Xu et al. Graph-Relational Domain Adaptation. ICLR 2022. Appendix A, optimal predictor.
    """
    table = np.asarray(joint, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"joint must be a table of encodings by labels; got shape {table.shape}.")
    _as_distribution(table.ravel(), "joint", (None,))
    share = table.sum(axis=1, keepdims=True)
    return float(np.sum(_surprise(table, table / np.where(share > 0, share, 1))))


def _surprise(mass: Floats, probability: Floats) -> Floats:
    """Return ``-mass * log(probability)``, and 0 where the mass is 0."""
    happens = mass > 0
    with np.errstate(divide="ignore"):
        return np.where(happens, mass * -np.log(np.where(happens, probability, 1.0)), 0.0)


def _as_weights(weights: Weights) -> Floats:
    """Return the weights as a dense array, or say what is wrong with them."""
    dense = weights.toarray() if hasattr(weights, "toarray") else weights
    adjacency = np.asarray(dense, dtype=np.float64)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1] or adjacency.size == 0:
        raise ValueError(f"weights must be square, N domains by N; got shape {adjacency.shape}.")
    if not np.all((adjacency >= 0) & (adjacency <= 1)):
        raise ValueError("weights must be numbers from 0 to 1, none of them NaN.")
    if np.any(np.abs(adjacency - adjacency.T) > _TOLERANCE):
        raise ValueError("weights must be symmetric: an edge counts the same both ways.")
    if np.any(np.diagonal(adjacency) > _TOLERANCE):
        raise ValueError("weights must have a zero diagonal: a domain is not its own neighbour.")
    return adjacency


def _as_distribution(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> Floats:
    """Return an array whose last axis sums to 1; None in `shape` allows any length."""
    array = np.asarray(values, dtype=np.float64)
    same_rank = array.ndim == len(shape) and array.size > 0
    if not same_rank or any(n not in (None, array.shape[i]) for i, n in enumerate(shape)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} must have shape ({wanted}); got {array.shape}.")
    if not np.all(array >= 0):
        raise ValueError(f"{name} must not be negative or NaN.")
    if np.any(np.abs(array.sum(axis=-1) - 1) > _TOLERANCE):
        raise ValueError(f"{name} must sum to 1{' in every row' if array.ndim > 1 else ''}.")
    return array


def _as_share(domain_distribution: ArrayLike | None, n_domains: int) -> Floats:
    """Return p(u), uniform if it is not given."""
    if domain_distribution is None:
        return np.full(n_domains, 1 / n_domains)
    return _as_distribution(domain_distribution, "domain_distribution", (n_domains,))


def _joint(
    weights: Weights, encoding_given_domain: ArrayLike, domain_distribution: ArrayLike | None
) -> tuple[Floats, Floats]:
    """Return the dense weights (N, N) and p(e, u) as a table (M, N)."""
    adjacency = _as_weights(weights)
    share = _as_share(domain_distribution, len(adjacency))
    shape = (len(adjacency), None)
    encoding = _as_distribution(encoding_given_domain, "encoding_given_domain", shape)
    return adjacency, encoding.T * share
