"""The VGAE embedding: a variational graph auto-encoder. It needs torch_geometric."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from grada.graph._ball import into_unit_ball
from grada.graph._embedding import register
from grada.graph._skipgram import EdgeSampler, random_start
from grada.graph._types import Codes, Floats, Weights

_HIDDEN = 32
_STEPS = 100
_RATE = 0.02
# Above this size random features take the place of one feature a domain: cost stays linear.
_IDENTITY_LIMIT = 512
_RANDOM_FEATURES = 128
_TINY = 1e-30
# Of single precision, relative to the largest coordinate.
_ROUNDING = 1e-5


def vgae(weights: Weights, dim: int, generator: np.random.Generator) -> Floats:
    r"""Embed domains by a variational graph auto-encoder.

    .. math::

        L = - \frac{\sum_{ij} A_{ij} \log \sigma(z_i^\top z_j)}{\sum_{ij} A_{ij}}
            - \frac{\sum_{ij} (1 - A_{ij}) \log (1 - \sigma(z_i^\top z_j))}{\sum_{ij} (1 - A_{ij})}
            + \frac{1}{N^2} \sum_i KL \big( N(\mu_i, s_i^2) \, \| \, N(0, 1) \big), \quad
        z_i \sim N(\mu_i, s_i^2)

    where :math:`\mu` and :math:`\log s` are a graph convolution each, on top of one they share
    [1]_. The embedding is :math:`\mu`. The domains have no features of their own, so each is told
    apart by a unit vector, in large graphs by a random one. Pairs that are no edges are drawn anew
    in every step. A convolution averages a domain with its neighbours: neighbours that have all
    others in common, as in a clique, end in the same place.

    Parameters
    ----------
    weights : csr_array of shape (n_domains, n_domains)
    dim : int
    generator : Generator
        Also seeds what torch_geometric draws; torch's global state is left as it was.

    Returns
    -------
    ndarray of shape (n_domains, dim)
        In the unit ball.

    References
    ----------
    .. [1] T. N. Kipf, M. Welling. Variational Graph Auto-Encoders. NeurIPS Workshop on Bayesian
       Deep Learning, 2016.
    """
    try:
        from torch_geometric.nn import VGAE, GCNConv
    except ImportError as error:
        raise ImportError(
            "The embedding 'vgae' needs torch_geometric: pip install \"grada[gnn]\", or choose "
            "another kind, such as 'reconstruction' or 'node2vec'."
        ) from error
    if not weights.nnz:
        return into_unit_ball(random_start(weights.shape[0], dim, generator))
    edges = EdgeSampler(weights, generator)
    ends = torch.from_numpy(np.stack([edges.row, edges.column]))
    features = _features(edges.n_domains, generator)
    inputs = features, ends, torch.from_numpy(edges.weight).float()
    with _own_torch(int(generator.integers(2**62))):
        model = VGAE(_Encoder(GCNConv, features.shape[1], dim))
        _train(model, inputs, edges)
        with torch.no_grad():
            mean = model.eval().encode(*inputs)
    return into_unit_ball(mean.numpy().astype(np.float64), rounding=_ROUNDING)


class _Encoder(nn.Module):
    """Graph convolutions to mean and logarithm of the standard deviation."""

    def __init__(self, convolution: Any, n_features: int, dim: int) -> None:
        super().__init__()
        self.shared = convolution(n_features, _HIDDEN, cached=True)
        # Both side by side: one pass over the edges instead of two.
        self.both = convolution(_HIDDEN, 2 * dim, cached=True)

    def forward(self, features: Tensor, edges: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.shared(features, edges, weights).relu()
        mean, log_std = self.both(hidden, edges, weights).chunk(2, dim=1)
        return mean, log_std


def _features(n_domains: int, generator: np.random.Generator) -> Tensor:
    if n_domains <= _IDENTITY_LIMIT:
        return torch.eye(n_domains)
    drawn = generator.standard_normal((n_domains, _RANDOM_FEATURES), dtype=np.float32)
    return torch.from_numpy(drawn / np.sqrt(np.float32(_RANDOM_FEATURES)))


def _train(model: Any, inputs: tuple[Tensor, Tensor, Tensor], edges: EdgeSampler) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    once = edges.row < edges.column
    joined = _pairs(edges.row[once], edges.column[once], edges.weight[once])
    for _ in range(_STEPS):
        drawn = model.encode(*inputs)
        loss = model.kl_loss() / len(drawn)
        for (ends, share), sign in ((joined, -1), (_any_pairs(edges), 1)):
            # -log s(l) = softplus(-l) and -log(1 - s(l)) = softplus(l)
            logit = model.decode(drawn, ends, sigmoid=False)
            loss = loss + (share * softplus(sign * logit)).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _any_pairs(edges: EdgeSampler) -> tuple[Tensor, Tensor]:
    """Draw as many pairs as there are edges; each counts by how far it is from an edge."""
    size, n_domains = len(edges.row) // 2, edges.n_domains
    first = edges.generator.integers(n_domains, size=size)
    # A shift of at least one never pairs a domain with itself.
    second = (first + edges.generator.integers(1, n_domains, size=size)) % n_domains
    return _pairs(first, second, 1 - edges.weight_between(first, second))


def _pairs(first: Codes, second: Codes, weight: Floats) -> tuple[Tensor, Tensor]:
    """Ends of the pairs, and weights that sum to 1, or to 0 where no pair counts as in a clique."""
    share = weight / max(float(weight.sum()), _TINY)
    return torch.from_numpy(np.stack([first, second])), torch.from_numpy(share).float()


@contextmanager
def _own_torch(seed: int) -> Iterator[None]:
    """Seed torch and use one thread, for the same result everywhere; then restore both."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


register("vgae", vgae)
