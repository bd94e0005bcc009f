"""The encoder E(x, u, A) = f(x, z_u) that every method shares, and its predictor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from grada.nn.adagraph import convert_batch_norm
from grada.nn.neighborhood import Neighborhood


def mlp(
    sizes: Sequence[int],
    *,
    generator: torch.Generator,
    init_std: float | None = None,
    final_activation: bool = False,
    batch_norm: bool = False,
) -> nn.Sequential:
    """Fully connected layers with ReLU between them.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output: ``len(sizes) - 1`` layers.
    generator : torch.Generator
        Source of the initial weights; the global seed is never touched.
    init_std : float, optional
        Draw the weights from N(0, init_std²) with zero biases, as the code published with the
        paper does. By default PyTorch's own uniform rule is used.
    final_activation : bool
        Whether a ReLU follows the last layer.
    batch_norm : bool
        Whether a batch normalisation comes before every ReLU.

    Returns
    -------
    nn.Sequential

    Examples
    --------
    >>> net = mlp([2, 8, 3], generator=torch.Generator().manual_seed(0))
    >>> net(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """
    layers: list[nn.Module] = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        # Left empty first: the draw that nn.Linear makes itself would use the global seed.
        linear: nn.Linear = nn.utils.skip_init(nn.Linear, fan_in, fan_out)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            if init_std is None:
                bound = 1.0 / math.sqrt(max(fan_in, 1))
                linear.weight.uniform_(-bound, bound, generator=generator)
                linear.bias.uniform_(-bound, bound, generator=generator)
            else:
                linear.weight.normal_(0.0, init_std, generator=generator)
                linear.bias.zero_()
        layers += [linear, *([nn.BatchNorm1d(fan_out)] if batch_norm else []), nn.ReLU()]
    if not final_activation:
        layers = layers[: -2 if batch_norm else -1]
    return nn.Sequential(*layers)


def standardized(layers: nn.Sequential) -> nn.Sequential:
    """The same layers with the input of each linear one standardised within the batch.

    Examples
    --------
    >>> net = standardized(mlp([2, 8, 3], generator=torch.Generator().manual_seed(0)))
    >>> [type(layer).__name__ for layer in net]
    ['BatchNorm1d', 'Linear', 'BatchNorm1d', 'ReLU', 'Linear']
    """
    wrapped: list[nn.Module] = []
    for index, layer in enumerate(layers):
        if isinstance(layer, nn.Linear):
            if index == 0:
                wrapped.append(batch_norm(layer.in_features))
            wrapped.append(layer)
            if index < len(layers) - 1:
                wrapped.append(batch_norm(layer.out_features))
        else:
            wrapped.append(layer)
    return nn.Sequential(*wrapped)


def batch_norm(width: int) -> nn.BatchNorm1d:
    """Standardise within the batch, with nothing learned and nothing remembered."""
    return nn.BatchNorm1d(width, affine=False, track_running_stats=False)


class DomainEncoder(nn.Module):
    """Encode a row together with the embedding of its domain.

    E(x, u, A) = joint([raw(x), graph(z_u)]), with z_u a fixed row of ``embedding``.

    Parameters
    ----------
    raw, graph, joint : nn.Module
        Encoder of the row, of the domain embedding, and of the two together.
    embedding : Tensor of shape (n_domains, embedding_dim)
        Node embeddings of all domains of the graph, with or without rows.
    dim : int
        Width of the encoding.
    neighborhood : Neighborhood, optional
        Makes every batch normalisation in ``raw`` and ``joint`` domain-specific
        (:class:`grada.nn.adagraph.DomainBatchNorm`). The embedding has none: all rows of a
        domain share it.
    """

    embedding: Tensor

    def __init__(
        self,
        raw: nn.Module,
        graph: nn.Module,
        joint: nn.Module,
        embedding: Tensor,
        dim: int,
        neighborhood: Neighborhood | None = None,
    ):
        super().__init__()
        if neighborhood is not None:
            raw = convert_batch_norm(raw, neighborhood)
            joint = convert_batch_norm(joint, neighborhood)
        self.neighborhood = neighborhood
        self.dim = dim
        self.raw = raw
        self.graph = graph
        self.joint = joint
        self.register_buffer("embedding", embedding)

    @property
    def parts(self) -> list[DomainEncoder]:
        """Encoders with weights of their own that this one is made of."""
        return [self]

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """Encodings (n, encoding_dim) of rows x (n, ...) in domains codes (n,)."""
        if self.neighborhood is None:
            return self._encode(x, codes)
        with self.neighborhood.at(codes):
            return self._encode(x, codes)

    def _encode(self, x: Tensor, codes: Tensor) -> Tensor:
        row = self.raw(x).flatten(1)
        domain = self.graph(self.embedding[codes])
        encoding: Tensor = self.joint(torch.cat([row, domain], dim=1))
        return encoding


class Network(nn.Module):
    """Encoder and predictor: what is left after training and makes the predictions."""

    def __init__(self, encoder: DomainEncoder, predictor: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.predictor = predictor

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """Raw outputs (n, n_outputs): logits of the classes, or values."""
        output: Tensor = self.predictor(self.encoder(x, codes))
        return output
