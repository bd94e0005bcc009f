"""Losses as pure functions of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

LogitKind = Literal["signed", "inner", "distance"]


@dataclass(frozen=True)
class PairWeights:
    """How much each pair of rows counts in the pair loss, and as what.

    ``total`` sums to one over all pairs and ``edge`` is the part of it that counts as edges, so
    ``expected_edge`` is the probability of an edge among the pairs that are shown.
    """

    edge: Tensor
    total: Tensor

    @property
    def expected_edge(self) -> Tensor:
        """E[A] over the weighted pairs: the argument of the bound H(E[A])."""
        return self.edge.sum()


def pair_weights(edges: Tensor, valid: Tensor, *, balanced: bool) -> PairWeights:
    r"""Weights of all pairs of rows for the plain or the balanced pair loss.

    Plain: every valid pair weighs the same, :math:`w_{ab} = v_{ab} / \sum v`. Balanced: edges
    together weigh one half and so do non-edges,
    :math:`w_{ab} = \tfrac12 v A_{ab} / \sum v A + \tfrac12 v (1 - A_{ab}) / \sum v (1 - A)`.

    Parameters
    ----------
    edges : Tensor of shape (B, B)
        Edge weight in [0, 1] between the domains of two rows; 0 within a domain.
    valid : Tensor of shape (B, B)
        1 where the pair counts, 0 where not (a row with itself, rows that ``pair_on`` parts).
    balanced : bool
        Whether edges and non-edges weigh the same.

    Returns
    -------
    PairWeights

    Examples
    --------
    >>> edges = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> pair_weights(edges, 1 - torch.eye(3), balanced=False).expected_edge
    tensor(0.3333)
    >>> pair_weights(edges, 1 - torch.eye(3), balanced=True).expected_edge
    tensor(0.5000)
    """
    n_pairs = valid.sum()
    positive = edges * valid
    n_edges = positive.sum()
    if not balanced or n_edges <= 0 or n_edges >= n_pairs:
        scale = 1.0 / n_pairs.clamp(min=1.0)
        return PairWeights(edge=positive * scale, total=valid * scale)
    edge = positive * (0.5 / n_edges)
    return PairWeights(edge=edge, total=edge + (valid - positive) * (0.5 / (n_pairs - n_edges)))


def edge_logits(z: Tensor, kind: LogitKind, bias: Tensor | None = None) -> Tensor:
    r"""Logits of an edge between every two rows from the discriminator's outputs.

    ``inner``: :math:`z_a^\top z_b + c`; ``distance``: :math:`c - |z_a - z_b|^2`; ``signed``:
    :math:`\sum_k s_k z_{ak} z_{bk} + c` with :math:`s = (+1, -1, +1, \dots)`.

    The first two are largest for equal rows, so neither can say "an edge between these two
    domains, but none within either", which is what a graph without self-loops asks for. On a
    clique they cannot beat a constant. The signed form represents every symmetric matrix of
    logits, given enough dimensions.

    Parameters
    ----------
    z : Tensor of shape (B, k)
    kind : {"signed", "inner", "distance"}
    bias : scalar Tensor, optional
        Learned c. Without it equal rows get at least 1/2 from ``inner`` (and exactly 1/2 from
        ``distance``), so on a graph with E[A] < 1/2 the bound H(E[A]) cannot be reached.

    Returns
    -------
    Tensor of shape (B, B)

    Examples
    --------
    >>> z = torch.tensor([[1.0, 2.0], [1.0, 0.0]])
    >>> edge_logits(z, "inner")
    tensor([[5., 1.],
            [1., 1.]])
    >>> edge_logits(z, "signed")
    tensor([[-3.,  1.],
            [ 1.,  1.]])
    """
    if kind == "inner":
        logits = z @ z.T
    elif kind == "signed":
        signs = z.new_ones(z.shape[1])
        signs[1::2] = -1.0
        logits = (z * signs) @ z.T
    elif kind == "distance":
        norms = z.square().sum(dim=1)
        logits = 2.0 * (z @ z.T) - norms[:, None] - norms[None, :]
    else:
        raise ValueError(f"Unknown logits {kind!r}; known: 'signed', 'inner', 'distance'.")
    return logits if bias is None else logits + bias


def pair_loss(logits: Tensor, pairs: PairWeights) -> Tensor:
    r"""Cross-entropy of the rebuilt graph over all pairs of rows (equation 3 of the paper).

    .. math:: L_d = \sum_{ab} w_{ab} [-A_{ab} \log \sigma(l_{ab})
              - (1 - A_{ab}) \log (1 - \sigma(l_{ab}))]

    Parameters
    ----------
    logits : Tensor of shape (B, B)
    pairs : PairWeights
        From :func:`pair_weights`: plain or balanced.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> pairs = pair_weights(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.ones(2, 2),
    ...                      balanced=False)
    >>> pair_loss(torch.zeros(2, 2), pairs)  # a constant 1/2 costs ln 2
    tensor(0.6931)

    References
    ----------
    Xu et al., Graph-Relational Domain Adaptation, ICLR 2022.
    """
    # -A log s(l) - (1-A) log(1-s(l)) = softplus(l) - A l
    return torch.sum(pairs.total * F.softplus(logits)) - torch.sum(pairs.edge * logits)


def prediction_loss(output: Tensor, y: Tensor, weight: Tensor | None, kind: str) -> Tensor:
    """Loss of the predictor: cross-entropy, or squared error averaged over outputs.

    Parameters
    ----------
    output : Tensor of shape (n, n_outputs)
    y : Tensor of shape (n,) of class codes, or (n, n_outputs) of values
    weight : Tensor of shape (n,), optional
        Row weights with mean one over the labelled rows. None: all ones.
    kind : {"classification", "regression"}

    Returns
    -------
    scalar Tensor
    """
    if kind == "classification":
        if weight is None:
            return F.cross_entropy(output, y)
        return (F.cross_entropy(output, y, reduction="none") * weight).mean()
    if weight is None:
        return F.mse_loss(output, y)
    return ((output - y).square().mean(dim=1) * weight).mean()
