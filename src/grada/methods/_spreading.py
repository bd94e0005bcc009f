"""Spreading labels over a graph of rows, outward from the rows whose labels are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from grada.methods._row_graph import Links

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Standard error that the class shares of a domain are given when they are read off its votes.
_VOTE_ERROR = 0.04
#: Trust in the shares of the sources if one source alone cannot tell how much shares differ.
_TRUST_OF_ONE = 0.7
#: No vote and no probability is smaller than this.
_TINY = 1e-12
#: So many rows of the usual shares are added to the labelled ones of a domain.
_PRIOR_ROWS = 5.0
#: Other mixtures of class shares that are tried, and by which factor they have to be better.
_TRUSTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CLEARLY = 0.67
#: Above 1, so that several short steps are preferred to a long one.
_LONG_WAYS = 1.5
_STEPS = 200
_TOLERANCE = 1e-5
_DOUBLINGS, _ROUNDS = 12, 15
_SHARE_ERROR = 2e-3


@dataclass(frozen=True)
class Manner:
    """What the sources say about the classes in general.

    Attributes
    ----------
    share : array of shape (n_classes,)
        Weighted share of each class among the labelled rows.
    balance : float
        Trust in these shares against those that the votes of a domain suggest, from 0 to 1.
    sharpness : float
        Mean of the largest probability in a domain: how clearly the classes stand apart.
    """

    share: Floats
    balance: float
    sharpness: float


def closeness(
    links: Links, codes: Codes, weight: NDArray[np.float32], n_domains: int
) -> sparse.csr_array:
    """Mean weight of the links between the rows of two adjacent domains, both ways."""
    shape = (n_domains, n_domains)
    pair = codes[links.row], codes[links.col]
    total = sparse.csr_array((weight.astype(np.float64), pair), shape=shape)
    count = sparse.csr_array((np.ones(len(weight)), pair), shape=shape)
    total.data /= count.data
    return sparse.csr_array((total + total.T) / 2)


def contrasted(
    near: sparse.csr_array, links: Links, codes: Codes, power: float
) -> NDArray[np.float32]:
    """Edge weight of each link, less where one of its domains has much closer neighbours."""
    best = np.maximum(near.max(axis=1).toarray().ravel(), _TINY)
    row = np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
    relative = near.copy()
    relative.data = (near.data / np.maximum(best[row], best[near.indices])) ** power
    factor = np.asarray(relative[codes[links.row], codes[links.col]]).ravel()
    weight: NDArray[np.float32] = (links.edge * factor).astype(np.float32)
    return weight


def travel(near: sparse.csr_array, sources: Codes) -> tuple[Floats, Codes, float]:
    r"""Length of the shortest way from a source to each domain.

    An edge is as long as :math:`(-\log q)^{3/2}` for the closeness q of its domains.

    Returns
    -------
    length : array of shape (n_domains,)
        Infinite where there is no way.
    origin : int array of shape (n_domains,)
        The source that it starts from.
    step : float
        Median length of the edges on these ways.
    """
    edges = near.copy()
    edges.data = (-np.log(np.clip(near.data, 1e-30, 0.99))) ** _LONG_WAYS
    length, before, origin = csgraph.dijkstra(
        edges, directed=False, indices=sources, min_only=True, return_predecessors=True
    )
    there = np.flatnonzero(before >= 0)
    step = float(np.median(length[there] - length[before[there]])) if len(there) else 1.0
    return length, origin.astype(np.int64), step


def source_manner(y: Codes, weight: Floats, codes: Codes, links: Links, n_classes: int) -> Manner:
    """Read class shares, how far they may differ, and how pure classes are, off the labels."""
    known = weight > 0
    totals = np.bincount(y[known], weight[known], minlength=n_classes) + 1e-3
    near = (weight[links.row] > 0) & (weight[links.col] > 0) & (links.rank < 5)
    pure = float((y[links.row[near]] == y[links.col[near]]).mean()) if near.any() else 0.9
    return Manner(
        share=totals / totals.sum(),
        balance=_trust_in_shares(y[known], codes[known], n_classes),
        sharpness=float(np.clip(pure, 0.6, 0.98)),
    )


def _trust_in_shares(y: Codes, codes: Codes, n_classes: int) -> float:
    """How much shares differ between sources, beyond what drawing rows gives by itself."""
    _, domain = np.unique(codes, return_inverse=True)
    counts = np.zeros((domain.max() + 1, n_classes))
    np.add.at(counts, (domain, y), 1.0)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) < 2:
        return _TRUST_OF_ONE
    size = counts.sum(axis=1, keepdims=True)
    mean = counts.sum(axis=0) / counts.sum()
    between = ((counts / size - mean) ** 2).sum() / (len(counts) - 1)
    by_chance = (mean * (1 - mean) / size).sum() / len(counts)
    return float(_VOTE_ERROR**2 / (_VOTE_ERROR**2 + max(between - by_chance, 0.0)))


def spread(
    weights: sparse.csr_array,
    labels: Floats,
    known: NDArray[np.bool_],
    wave: Floats,
    codes: Codes,
    seed_weight: Floats,
    manner: Manner,
    inner: sparse.csr_array,
) -> Floats:
    r"""Labels of all rows that a wave reaches, wave after wave.

    The rows of a wave solve :math:`f_i = \sum_j w_{ij} f_j / \sum_j w_{ij}` together, with the rows
    of earlier waves held fixed and those of later ones left out. What a known domain says is
    divided by the shares of its classes, so that it speaks about where classes lie, not about how
    frequent they are; shares and sharpness are then set for each domain of the wave.

    Parameters
    ----------
    weights : sparse array of shape (n_rows, n_rows)
        Symmetric.
    labels : array of shape (n_rows, n_classes)
        Probabilities of the known rows.
    known : bool array of shape (n_rows,)
    wave : array of shape (n_rows,)
        Infinite for rows that are not to be reached.
    codes : int array of shape (n_rows,)
        Domains.
    seed_weight : array of shape (n_rows,)
        Weight of each row's word.
    manner : Manner
    inner : sparse array of shape (n_rows, n_rows)
        Weights of the closest rows within domains, which classes should not part.

    Returns
    -------
    array of shape (n_rows, n_classes)
        Rows that are not reached have the shares of the sources.
    """
    result = np.where(known[:, None], labels, manner.share)
    weighted = np.where(known, seed_weight, 0.0)[:, None] * result
    sums, count = domain_sums(weighted, codes), np.bincount(codes, weighted.sum(axis=1))
    usual = (sums + _PRIOR_ROWS * manner.share) / (count + _PRIOR_ROWS)[:, None]
    said = np.zeros((len(known), len(manner.share) + 1))
    said[:, :-1] = _voice(weighted, codes)
    said[:, -1] = weighted.sum(axis=1)
    for value in np.unique(wave[np.isfinite(wave) & ~known]):
        new = np.flatnonzero((wave == value) & ~known)
        rows = weights[new]
        heard = rows @ said
        scores = _harmonic(sparse.csr_array(rows[:, new]), heard, manner.share)
        _, local = np.unique(codes[new], return_inverse=True)
        ends = _ends(heard[:, :-1], local, usual[codes[new]], manner)
        joined = sparse.csr_array(inner[new][:, new])
        result[new] = _clean_cut(scores, local, ends, joined, manner)
        said[new, :-1] = _voice(result[new], local)
        said[new, -1] = 1.0
    return result


def domain_sums(values: Floats, codes: Codes) -> Floats:
    """Sum of the rows of each domain, shape (n_domains, n_columns)."""
    return np.column_stack([np.bincount(codes, column) for column in values.T])


def _voice(labels: Floats, codes: Codes) -> Floats:
    """Labels divided by the shares of their classes in their domain."""
    sums = domain_sums(labels, codes)
    count = np.maximum(sums.sum(axis=1, keepdims=True), 1.0)
    voice: Floats = labels / (((sums + 1.0) / count) * labels.shape[1])[codes]
    return voice


def _ends(votes: Floats, codes: Codes, usual: Floats, manner: Manner) -> tuple[Floats, Floats]:
    """Class shares of each domain by the votes that it gets, and the usual ones."""
    heard = votes.sum(axis=1, keepdims=True)
    votes = np.where(heard > 0, votes / np.maximum(heard, 1e-300), manner.share)
    count = np.bincount(codes)[:, None]
    found = np.maximum(domain_sums(votes, codes) / count, 1e-6)
    return found, domain_sums(usual, codes) / count


def _clean_cut(
    scores: Floats,
    codes: Codes,
    ends: tuple[Floats, Floats],
    inner: sparse.csr_array,
    manner: Manner,
) -> Floats:
    """Probabilities with class shares between those of the votes and the usual ones.

    By trust in the latter, or, if that parts clearly fewer joined rows, by another mixture.
    """
    best = np.zeros_like(scores)
    least = np.full(len(ends[0]), np.inf)
    for trust in (manner.balance, *_TRUSTS):
        want = ends[0] ** (1 - trust) * ends[1] ** trust
        labels = balanced(scores, codes, want / want.sum(axis=1, keepdims=True), manner.sharpness)
        cut = _cut(labels, codes, inner)
        better = cut < least * (1.0 if trust == manner.balance else _CLEARLY)
        least = np.where(better, cut, least)
        best = np.where(better[codes, None], labels, best)
    return best


def _cut(labels: Floats, codes: Codes, inner: sparse.csr_array) -> Floats:
    """Weight of joined rows of different classes in each domain, against that of any two rows."""
    total = np.asarray(inner.sum(axis=1)).ravel()
    parted = np.bincount(codes, total - (labels * (inner @ labels)).sum(axis=1))
    share = domain_sums(labels, codes) / np.bincount(codes)[:, None]
    apart: Floats = 1.0 - (share**2).sum(axis=1)
    cut: Floats = parted / np.maximum(np.bincount(codes, total) * apart, _TINY)
    return cut


def _harmonic(among: sparse.csr_array, heard: Floats, share: Floats) -> Floats:
    """Solve (D - W) f = heard for all classes at once, by conjugate gradients.

    ``heard`` holds for each row the labels that reach it from outside, and in its last column the
    weight of the links that they come by.
    """
    degree = heard[:, -1:] + np.asarray(among.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    # A little of the usual shares everywhere: rows that nothing reaches have a solution as well.
    little = 1e-4 * float(np.median(degree)) + 1e-30
    degree = degree + little
    wanted = heard[:, :-1] + little * share
    solution = wanted / degree
    rest = wanted - degree * solution + among @ solution
    step = rest / degree
    way = step.copy()
    size = (rest * step).sum(axis=0)
    for _ in range(_STEPS):
        if np.abs(step).max() < _TOLERANCE * np.abs(solution).max():
            break
        pushed = degree * way - among @ way
        far = size / np.maximum((way * pushed).sum(axis=0), 1e-300)
        solution += far * way
        rest -= far * pushed
        step = rest / degree
        before, size = size, (rest * step).sum(axis=0)
        way = step + size / np.maximum(before, 1e-300) * way
    solution = np.maximum(solution, _TINY)
    probabilities: Floats = solution / solution.sum(axis=1, keepdims=True)
    return probabilities


def balanced(labels: Floats, codes: Codes, want: Floats, sharpness: float) -> Floats:
    r"""Set the class shares of every domain, and how sure its rows are on average.

    .. math:: p_{ic} \propto f_{ic}^{t_u} e^{b_{uc}}, \qquad \text{mean}_{i \in u}\, p_{ic} = s_{uc}

    with the smallest :math:`t_u` among 1, 2, 4, ... for which the mean of the largest probability
    reaches ``sharpness``. Only in comparison with the other rows of its domain does a row that
    labels reach by weak ways show which class it is of.
    """
    logs = np.log(np.ascontiguousarray(labels.T))  # sums over a few long rows are fast
    count = np.bincount(codes)
    power, bias = np.ones(len(want)), np.zeros_like(want.T)
    for _ in range(_DOUBLINGS):
        for _ in range(_ROUNDS):
            result = _softmax(power[codes] * logs + bias[:, codes])
            share = np.array([np.bincount(codes, column) for column in result]) / count
            bias += np.log(want.T) - np.log(np.maximum(share, _TINY))
            if np.abs(share - want.T).max() < _SHARE_ERROR:
                break
        vague = np.bincount(codes, result.max(axis=0)) / count < sharpness
        if not vague.any():
            break
        power[vague] *= 2
        bias[:, vague] *= 2
    return result.T


def _softmax(logits: Floats) -> Floats:
    """Probabilities over the first axis."""
    logits -= logits.max(axis=0)
    result: Floats = np.exp(logits, out=logits)
    result /= result.sum(axis=0)
    return result
