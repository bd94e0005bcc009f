"""Augmentations of table rows: other rows that should get the same prediction.

An augmentation is any callable ``(x, codes, generator) -> x``: a batch of rows of shape
(n, ...), the domain of each row (n,), and the generator that all its randomness comes from. It
returns rows of the same shape. Those here leave every row in its own domain: whatever they mix
in comes from rows of the same domain.

Nothing here asks what a feature means: noise and mixing suit rows of any shape, images included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Augment = Callable[[Tensor, Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Noise:
    """Add Gaussian noise; features are in standard units.

    Parameters
    ----------
    std : float
        Its standard deviation.
    """

    std: float = 0.2

    def __call__(self, x: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
        """Rows with noise."""
        return x + self.std * _draw(torch.randn, x.shape, x, generator)


@dataclass(frozen=True)
class Mask:
    """Replace some features by their mean over the rows of the same domain in the batch.

    Parameters
    ----------
    share : float
        Probability of each feature of each row to be replaced.

    Examples
    --------
    >>> x, codes = torch.tensor([[1.0], [3.0], [8.0]]), torch.tensor([4, 4, 7])
    >>> Mask(share=1.0)(x, codes, torch.Generator().manual_seed(0))
    tensor([[2.],
            [2.],
            [8.]])
    """

    share: float = 0.2

    def __call__(self, x: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
        """Rows without some of their features."""
        hidden = _draw(torch.rand, x.shape, x, generator) < self.share
        return torch.where(hidden, domain_mean(x, codes), x)


@dataclass(frozen=True)
class Mix:
    """Move each row part of the way towards another row of its domain in the batch.

    A row whose domain has no other row in the batch stays as it is.

    Parameters
    ----------
    share : float
        The farthest it may go: 1 is as far as the other row.
    """

    share: float = 0.3

    def __call__(self, x: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
        """Convex combinations of two rows."""
        part = self.share * _draw(torch.rand, _per_row(x), x, generator)
        return torch.lerp(x, x[partners(codes, generator)], part)


@dataclass(frozen=True)
class Compose:
    """Apply several augmentations one after the other, each to some of the rows.

    Parameters
    ----------
    steps : tuple of callables
    chance : float
        Probability of each of them for each row.
    """

    steps: tuple[Augment, ...] = (Mix(), Mask(), Noise())
    chance: float = 0.5

    def __call__(self, x: Tensor, codes: Tensor, generator: torch.Generator) -> Tensor:
        """Rows after a random choice of the steps."""
        for step in self.steps:
            chosen = _draw(torch.rand, _per_row(x), x, generator) < self.chance
            x = torch.where(chosen, step(x, codes, generator), x)
        return x


def partners(codes: Tensor, generator: torch.Generator) -> Tensor:
    """For each row a random other row of the same domain; itself where there is none.

    Parameters
    ----------
    codes : int Tensor of shape (n,)
    generator : torch.Generator

    Returns
    -------
    int Tensor of shape (n,)

    Examples
    --------
    >>> partners(torch.tensor([5, 2, 5, 3]), torch.Generator().manual_seed(0))
    tensor([2, 1, 0, 3])
    """
    shuffled = torch.randperm(len(codes), generator=generator, device=generator.device)
    shuffled = shuffled.to(codes.device)
    order = shuffled[torch.argsort(codes[shuffled], stable=True)]
    domain = codes[order]
    # Within a domain everyone gets the next in a random order, the last one gets the first.
    last = torch.searchsorted(domain, domain, right=True) - 1
    first = torch.searchsorted(domain, domain)
    place = torch.arange(len(codes), device=codes.device)
    partner = torch.empty_like(order)
    partner[order] = order[torch.where(place == last, first, place + 1)]
    return partner


def domain_mean(x: Tensor, codes: Tensor) -> Tensor:
    """Mean, for each row, over the rows of its domain in the batch; the shape of ``x``."""
    _, group, count = torch.unique(codes, return_inverse=True, return_counts=True)
    total = x.new_zeros((len(count), *x.shape[1:])).index_add_(0, group, x)
    mean: Tensor = total / count.view(-1, *[1] * (x.dim() - 1))
    return mean[group]


def _per_row(x: Tensor) -> tuple[int, ...]:
    return (len(x), *[1] * (x.dim() - 1))


def _draw(
    kind: Callable[..., Tensor], shape: tuple[int, ...], like: Tensor, generator: torch.Generator
) -> Tensor:
    """Random numbers from the generator, wherever it lives, as ``like`` needs them."""
    drawn = kind(shape, generator=generator, device=generator.device, dtype=like.dtype)
    return drawn.to(like.device)
