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

    def make_room(self, n_new: int) -> None:
        """Know of so many new domains, beside what each of the parts learns of them."""

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """Encodings (n, encoding_dim) of rows x (n, ...) in domains codes (n,)."""
        if self.neighborhood is None:
            return self._encode(x, codes)
        with self.neighborhood.at(codes):
            return self._encode(x, codes)

    def _encode(self, x: Tensor, codes: Tensor) -> Tensor:
        row = self.raw(x).flatten(1)
        if self.training or len(codes) <= len(self.embedding):
            domain = self.graph(self.embedding[codes])
        else:  # many rows a domain: once for each is enough
            domain = self.graph(self.embedding)[codes]
        encoding: Tensor = self.joint(torch.cat([row, domain], dim=1))
        return encoding


class Modulation(nn.Module):
    r"""Scale and shift of the features of a row, smooth in the embedding of its domain and bounded.

    .. math::
        \gamma_u = 1 + b \tanh(A \hat z_u), \qquad \beta_u = b \tanh(B \hat z_u), \qquad
        \hat z_u = r \tanh\Big(\frac{z_u - \bar z}{r \sigma}\Big)

    with :math:`\bar z` the mean embedding of the sources and :math:`\sigma` the spread of all
    domains on each axis. A and B start at zero: a direction in which the sources do not differ is
    never learned from labels, so domains that lie there are treated like the average source.

    Parameters
    ----------
    embedding : Tensor of shape (n_domains, embedding_dim)
    sources : Tensor
        Codes of the domains with labels.
    width : int
        Number of features to modulate.
    bound : float
        b, the most that a feature is scaled and shifted by.
    reach : float
        r: no domain is further than so many spreads from the average source, on any axis.

    Examples
    --------
    >>> modulation = Modulation(torch.tensor([[0.0], [1.0]]), torch.tensor([0]), width=3)
    >>> scale, shift = modulation(torch.tensor([[0.5]]))
    >>> scale.tolist(), shift.tolist()  # before training
    ([[1.0, 1.0, 1.0]], [[0.0, 0.0, 0.0]])
    """

    center: Tensor
    spread: Tensor

    def __init__(
        self,
        embedding: Tensor,
        sources: Tensor,
        width: int,
        *,
        bound: float = 1.0,
        reach: float = 2.0,
    ):
        super().__init__()
        self.bound = bound
        self.reach = reach
        spread = embedding.std(dim=0, correction=0)
        # An axis on which all domains agree has nothing to say, and nothing to divide by.
        spread = torch.where(spread > 1e-6, spread, torch.inf)
        self.register_buffer("center", embedding[sources].mean(dim=0))
        self.register_buffer("spread", spread)
        self.weight = nn.Parameter(torch.zeros(2, embedding.shape[1], width))

    def forward(self, embedding: Tensor) -> tuple[Tensor, Tensor]:
        """Scale and shift (n, width) for rows of domains with these embeddings."""
        place = self.reach * torch.tanh((embedding - self.center) / (self.reach * self.spread))
        scale, shift = self.bound * torch.tanh(place @ self.weight)
        return 1.0 + scale, shift


class ModulatedEncoder(DomainEncoder):
    r"""Encode a row, with its features scaled and shifted as its domain asks for.

    .. math:: E(x, u, A) = \mathrm{joint}(\gamma_u \, \mathrm{raw}(x) + \beta_u)

    with ``graph`` a :class:`Modulation`. Bounded in the embedding whatever the domain, where a
    joint encoder of the two side by side goes on without end.
    """

    def _encode(self, x: Tensor, codes: Tensor) -> Tensor:
        scale, shift = self.graph(self.embedding[codes])
        encoding: Tensor = self.joint(scale * self.raw(x).flatten(1) + shift)
        return encoding


class Bounded(nn.Module):
    """Outputs that fade out at a limit: limit * tanh(x / limit)."""

    def __init__(self, limit: float):
        super().__init__()
        self.limit = limit

    def forward(self, x: Tensor) -> Tensor:
        """Values between -limit and limit."""
        return self.limit * torch.tanh(x / self.limit)


def bounded_from_zero(layers: nn.Sequential, limit: float) -> nn.Sequential:
    """The same layers with outputs that start at zero and never pass the limit.

    Examples
    --------
    >>> net = mlp([2, 8, 3], generator=torch.Generator().manual_seed(0))
    >>> bounded_from_zero(net, limit=3.0)(torch.ones(1, 2)).tolist()
    [[0.0, 0.0, 0.0]]
    """
    last = layers[-1]
    if not isinstance(last, nn.Linear):
        raise TypeError("The last layer must be linear.")
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, Bounded(limit))


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
