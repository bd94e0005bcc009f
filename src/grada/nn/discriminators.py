"""Discriminators: what the encoder plays against."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from grada.nn.encoders import mlp, standardized
from grada.nn.losses import LogitKind, edge_logits


class GraphDiscriminator(nn.Module):
    r"""Rebuild the domain graph from encodings: :math:`\hat z = D(e)`, logit of an edge from two.

    Parameters
    ----------
    sizes : sequence of int
        Widths from the encoding to the k-dimensional output.
    logits : {"signed", "inner", "distance"}
        How two outputs make a logit, see :func:`grada.nn.losses.edge_logits`.
    bias : bool
        Whether a learned bias is added to the logits.
    standardize : bool
        Whether the input of every layer is standardised within the batch. Without it the encoder
        can win by shrinking its encodings, which hides nothing, and a discriminator that was
        fooled once stays near z = 0, where the gradient of a product of two outputs vanishes.
    generator : torch.Generator
    init_std : float, optional
        See :func:`grada.nn.mlp`.
    """

    def __init__(
        self,
        sizes: list[int],
        *,
        logits: LogitKind,
        bias: bool,
        standardize: bool,
        generator: torch.Generator,
        init_std: float | None = None,
    ):
        super().__init__()
        layers = mlp(sizes, generator=generator, init_std=init_std)
        self.layers = standardized(layers) if standardize else layers
        self.kind: LogitKind = logits
        self.bias = nn.Parameter(torch.zeros(())) if bias else None

    def forward(self, encoding: Tensor) -> Tensor:
        """Logits (B, B) of an edge between the domains of every two rows."""
        return edge_logits(self.layers(encoding), self.kind, self.bias)
