"""Encoders for a graph that has grown, without training."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from grada.nn.adagraph import DomainBatchNorm
from grada.nn.encoders import DomainEncoder
from grada.nn.neighborhood import Neighborhood

FloatArray = NDArray[np.float64]


def spread_outward(
    known: FloatArray, weights: sparse.csr_array, otherwise: FloatArray
) -> FloatArray:
    r"""Values of new nodes from those of their neighbours.

    .. math:: z_u = \sum_v A_{uv} z_v \Big/ \sum_v A_{uv}

    over the neighbours v whose value is known. Nodes next to known ones come first and are known
    from then on, so that their own neighbours follow.

    Parameters
    ----------
    known : array of shape (n_known, d)
        Values of the first nodes.
    weights : sparse array of shape (n, n)
        Weights of the graph of all nodes.
    otherwise : array of shape (d,)
        Value of a node that no path joins to a known one.

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> chain = sparse.csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    >>> spread_outward(np.array([[2.0]]), chain, np.array([5.0])).ravel()
    array([2., 2., 2., 5.])
    """
    n_nodes, n_known = weights.shape[0], len(known)
    values = np.vstack([known, np.tile(otherwise, (n_nodes - n_known, 1))])
    settled = np.arange(n_nodes) < n_known
    while True:
        heard = weights @ settled.astype(np.float64)
        frontier = np.flatnonzero(~settled & (heard > 0))
        if not len(frontier):
            return values
        of_settled = np.where(settled[:, None], values, 0.0)
        values[frontier] = (weights[frontier] @ of_settled) / heard[frontier, None]
        settled[frontier] = True


def extend_encoder(
    encoder: DomainEncoder,
    weights: sparse.csr_array,
    sources: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    """Make room for new domains in an encoder, which knows them by their neighbours.

    Parameters
    ----------
    encoder : DomainEncoder
        One with weights of its own; changed in place. What it says about its old domains stays.
    weights : sparse array of shape (n_domains, n_domains)
        Weights of the graph: the old domains first, then the new ones.
    sources : int array
        Domains with labels. A domain that no path joins to an old one is taken for their average.
    rows : int array of shape (n_domains,)
        How many rows there are of each new domain.
    """
    old = encoder.embedding.cpu().numpy().astype(np.float64)
    embedding = spread_outward(old, weights, old[sources].mean(axis=0))
    encoder.embedding = torch.from_numpy(embedding).to(encoder.embedding)
    if encoder.neighborhood is None:
        return
    _extend_neighborhood(encoder.neighborhood, weights, encoder.embedding, rows)
    n_new = len(embedding) - len(old)
    for layer in _normalisations(encoder):
        layer.count = torch.cat([layer.count, layer.count.new_zeros(n_new)])
        layer.mean = torch.cat([layer.mean, layer.mean.new_zeros(n_new, layer.width)])
        layer.var = torch.cat([layer.var, layer.var.new_ones(n_new, layer.width)])


def learn_new_statistics(
    encoder: DomainEncoder,
    n_old: int,
    passes: Callable[[], Iterable[tuple[Tensor, Tensor]]],
) -> None:
    """Statistics of new domains from their rows; those of the first ``n_old`` stay as they are.

    Parameters
    ----------
    encoder : DomainEncoder
        After :func:`extend_encoder`.
    n_old : int
    passes : callable
        Every call goes over all rows of the new domains, batch by batch.
    """
    layers = _normalisations(encoder)
    kept = [_statistics(layer, n_old) for layer in layers]
    encoder.eval()
    with torch.no_grad():
        # After pass i the first i layers are exact, see refresh_statistics.
        for _ in layers:
            for layer in layers:
                layer.begin_pass()
            for x, codes in passes():
                encoder(x, codes)
            for layer, (count, mean, var, average) in zip(layers, kept, strict=True):
                layer.end_pass()
                layer.count[:n_old], layer.mean[:n_old], layer.var[:n_old] = count, mean, var
                layer.overall_mean, layer.overall_var = average


def _statistics(
    layer: DomainBatchNorm, n_old: int
) -> tuple[Tensor, Tensor, Tensor, tuple[Tensor, Tensor]]:
    count, mean, var = layer.count[:n_old], layer.mean[:n_old], layer.var[:n_old]
    average = layer.overall_mean, layer.overall_var
    return count.clone(), mean.clone(), var.clone(), average


def _normalisations(encoder: DomainEncoder) -> list[DomainBatchNorm]:
    return [layer for layer in encoder.modules() if isinstance(layer, DomainBatchNorm)]


def _extend_neighborhood(
    old: Neighborhood,
    weights: sparse.csr_array,
    embedding: Tensor,
    rows: NDArray[np.int64],
) -> None:
    """Append the new domains; the old ones keep the neighbours that they had."""
    n_old = len(old.rows)
    counts = np.concatenate([old.rows.cpu().numpy().astype(np.int64), rows[n_old:]])
    new = Neighborhood(weights, counts, embedding.cpu().float())
    first = int(new.start[n_old])
    start = new.start[n_old + 1 :] - first + old.start[-1].cpu()
    old.rows = torch.cat([old.rows, new.rows[n_old:].to(old.rows)])
    old.embedding = torch.cat([old.embedding, new.embedding[n_old:].to(old.embedding)])
    old.start = torch.cat([old.start, start.to(old.start)])
    old.neighbor = torch.cat([old.neighbor, new.neighbor[first:].to(old.neighbor)])
    old.weight = torch.cat([old.weight, new.weight[first:].to(old.weight)])
