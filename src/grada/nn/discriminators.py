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


class SmoothLayers(nn.Module):
    """Layers that can tell how steep they are, so that steepness can be made to cost something.

    A discriminator that jumps from one domain to the next tells the encoder nothing about which
    way to go: its gradient is zero almost everywhere. Paying for steepness keeps it smooth
    between the domains, and makes the game settle instead of running in circles.

    Parameters
    ----------
    layers : nn.Module
    standardize : nn.Module
        Applied first. Steepness is measured behind it, so it has no unit.
    n_outputs : int

    References
    ----------
    Mescheder, Geiger, Nowozin: Which Training Methods for GANs do actually Converge? ICML 2018.
    """

    def __init__(self, layers: nn.Module, standardize: nn.Module, n_outputs: int):
        super().__init__()
        self.layers = layers
        self.n_outputs = n_outputs
        self.standardize = standardize
        self._last: tuple[Tensor, Tensor] | None = None

    def forward(self, encoding: Tensor) -> Tensor:
        """Outputs of the layers; where they come from is remembered for `steepness`."""
        standard: Tensor = self.standardize(encoding)
        if torch.is_grad_enabled() and not standard.requires_grad:
            standard.requires_grad_()
        output: Tensor = self.layers(standard)
        self._last = (standard, output)
        return output

    def steepness(self, direction: Tensor) -> Tensor:
        r"""Mean of :math:`|\partial (r^\top D) / \partial e|^2 / k` over the rows of the last call.

        With r standard normal this is on average the squared slope of one of the k outputs: one
        backward pass instead of k.

        Parameters
        ----------
        direction : Tensor of shape (n_outputs,)
            r.
        """
        if self._last is None:
            raise RuntimeError("Call the layers first.")
        (standard, output), self._last = self._last, None
        (slope,) = torch.autograd.grad((output @ direction).sum(), standard, create_graph=True)
        return slope.square().sum(dim=1).mean() / self.n_outputs
