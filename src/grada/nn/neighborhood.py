"""The neighbours of every domain, as the layers of an encoder see them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

#: Mixing over more neighbours than this changes little, and would let a hub set the price.
_MOST_NEIGHBORS = 32


@dataclass(frozen=True)
class Place:
    """Where the rows of a batch belong: found once a batch, used by every layer.

    ``neighbor[e]`` weighs ``weight[e]`` among the neighbours of the domain
    ``domains[owner[e]]``.
    """

    domains: Tensor
    index: Tensor
    count: Tensor
    owner: Tensor
    neighbor: Tensor
    weight: Tensor


class Neighborhood(nn.Module):
    """The domains as the normalisation layers of one encoder see them.

    It holds what they share: the neighbours of every domain, how many rows each has, and the
    domains of the rows that are being encoded.

    Parameters
    ----------
    weights : sparse array of shape (n_domains, n_domains)
        Weights of the graph.
    rows : int array of shape (n_domains,)
        How many rows of each domain there are to learn from.
    embedding : Tensor of shape (n_domains, embedding_dim)
        Node embeddings, of which every domain's scale and bias are linear functions.
    """

    rows: Tensor
    embedding: Tensor
    start: Tensor
    neighbor: Tensor
    weight: Tensor

    def __init__(
        self, weights: sparse.csr_array, rows: NDArray[np.int64], embedding: Tensor
    ) -> None:
        super().__init__()
        with_self = weights + sparse.eye_array(weights.shape[0], format="csr")
        smooth = _normalized(with_self) @ embedding.numpy().astype(np.float64)
        mixing = neighbor_mixing(weights, rows)
        self.register_buffer("rows", torch.from_numpy(rows.astype(np.float32)))
        self.register_buffer("embedding", torch.from_numpy(smooth.astype(np.float32)))
        self.register_buffer("start", torch.from_numpy(mixing.indptr.astype(np.int64)))
        self.register_buffer("neighbor", torch.from_numpy(mixing.indices.astype(np.int64)))
        self.register_buffer("weight", torch.from_numpy(mixing.data.astype(np.float32)))
        self.place: Place | None = None

    @contextmanager
    def at(self, codes: Tensor) -> Iterator[None]:
        """Let the layers know the domains of the rows that are encoded meanwhile."""
        self.place = self.locate(codes)
        try:
            yield
        finally:
            self.place = None

    def locate(self, codes: Tensor) -> Place:
        """The domains among the codes, and their neighbours."""
        domains, index, count = torch.unique(codes, return_inverse=True, return_counts=True)
        first = self.start[domains]
        degree = self.start[domains + 1] - first
        owner = torch.repeat_interleave(degree)
        entry = torch.arange(len(owner), device=codes.device)
        entry += (first - degree.cumsum(0) + degree)[owner]
        return Place(
            domains=domains,
            index=index,
            count=count.to(self.rows.dtype),
            owner=owner,
            neighbor=self.neighbor[entry],
            weight=self.weight[entry],
        )


def neighbor_mixing(weights: sparse.csr_array, rows: NDArray[np.int64]) -> sparse.csr_array:
    """Of which domains with rows the neighbourhood of every domain is made.

    A domain looks at its neighbours that have rows; if none has, at those of its neighbours that
    are nearest to a domain with rows, and so at whatever these look at.

    Parameters
    ----------
    weights : sparse array of shape (n_domains, n_domains)
    rows : int array of shape (n_domains,)

    Returns
    -------
    csr_array of shape (n_domains, n_domains)
        Every row sums to one, or is empty if no path leads to a domain with rows.

    Examples
    --------
    >>> chain = sparse.csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> neighbor_mixing(chain, np.array([5, 0, 0, 0])).toarray()
    array([[0., 0., 0., 0.],
           [1., 0., 0., 0.],
           [1., 0., 0., 0.],
           [1., 0., 0., 0.]])
    """
    with_rows = sparse.diags_array((rows > 0).astype(np.float64), format="csr")
    mixing = _normalized(_strongest(weights @ with_rows))
    nearest = np.diff(mixing.indptr) > 0
    settled = nearest | (rows > 0)
    while True:
        known = sparse.diags_array(nearest.astype(np.float64), format="csr")
        unsettled = sparse.diags_array((~settled).astype(np.float64), format="csr")
        toward = _normalized(unsettled @ weights @ known)
        nearest = np.diff(toward.indptr) > 0
        if not nearest.any():
            return sparse.csr_array(mixing)
        mixing = mixing + _normalized(_strongest(toward @ mixing))
        settled |= nearest


def _normalized(weights: sparse.csr_array) -> sparse.csr_array:
    """Every row divided by its sum, zeros left out."""
    weights = sparse.csr_array(weights)
    weights.eliminate_zeros()
    total = weights.sum(axis=1)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ weights)


def _strongest(weights: sparse.csr_array) -> sparse.csr_array:
    """The largest entries of every row; among equal ones a fixed random choice."""
    weights = sparse.csr_array(weights)
    weights.eliminate_zeros()
    degree = np.diff(weights.indptr)
    if degree.max(initial=0) <= _MOST_NEIGHBORS:
        return weights
    row = np.repeat(np.arange(len(degree)), degree)
    lot = np.random.default_rng(0).random(len(row))
    order = np.lexsort((lot, -weights.data, row))
    rank = np.arange(len(row)) - weights.indptr[row]
    kept = np.sort(order[rank < _MOST_NEIGHBORS])
    entries = (weights.data[kept], (row[kept], weights.indices[kept]))
    return sparse.csr_array(entries, shape=weights.shape)
