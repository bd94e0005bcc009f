"""Discriminators: what the encoder plays against."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from grada.nn.losses import LogitKind, edge_logits


class GraphDiscriminator(nn.Module):
    r"""Rebuild the domain graph from encodings: :math:`\hat z = D(e)`, logit of an edge from two.

    Parameters
    ----------
    layers : nn.Module
        From encodings to the k-dimensional output. Their inputs should be standardised within
        the batch (:func:`grada.nn.encoders.standardized`): without it the encoder can win by
        shrinking its encodings, which hides nothing, and a discriminator that was fooled once
        stays near z = 0, where the gradient of a product of two outputs vanishes.
    logits : {"signed", "inner", "distance"}
        How two outputs make a logit, see :func:`grada.nn.losses.edge_logits`.
    bias : bool
        Whether a learned bias is added to the logits.
    """

    def __init__(self, layers: nn.Module, *, logits: LogitKind, bias: bool):
        super().__init__()
        self.layers = layers
        self.kind: LogitKind = logits
        self.bias = nn.Parameter(torch.zeros(())) if bias else None

    def forward(self, encoding: Tensor) -> Tensor:
        """Logits (B, B) of an edge between the domains of every two rows."""
        return edge_logits(self.layers(encoding), self.kind, self.bias)
