"""The published protocol of GRDA, leak included: for the benchmark only, never for a user's data.

The code published with the paper draws one shuffled index per step and uses it for all domains;
its discriminator compares row b of one domain with row b of another only. In the published DG
files every domain stores its rows in the same class order, so every pair is of one class: the
discriminator sees the labels of the targets. We keep this to show that the published figures can
be reproduced, and where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from grada.data import DomainData
from grada.methods._base import Run
from grada.methods._neural import POSITIVE_REAL, NeuralGame, Step
from grada.methods.grda import GRDA
from grada.nn import Network, PairWeights
from grada.sampling import Passes
from grada.training.batches import Batch, Dealer


class PositionDealer(Dealer):
    """Draw the same positions of every domain: rows b of all domains come together.

    Parameters
    ----------
    data : DomainData
    rows_per_domain : int
        Positions per step. The rows of the sources at these positions are the labelled ones.
    others
        See :class:`grada.training.batches.Dealer`.
    """

    def __init__(self, data: DomainData, *, rows_per_domain: int, **others: Any):
        super().__init__(data, rows_per_domain=rows_per_domain, **others)
        self._order = np.argsort(data.codes, kind="stable")
        self._counts = np.bincount(data.codes, minlength=data.graph.n_domains)
        self._starts = np.cumsum(self._counts) - self._counts
        self._sources = data.sources
        self._positions = Passes(np.arange(self._counts.max()), rows_per_domain)

    def deal(self, rng: np.random.Generator) -> Batch:
        """Draw positions, then look them up in all sources and in some domains."""
        position = self._positions.draw(rng)
        domains, edges = self._domains.draw(rng)
        return self._batch(
            self._at(position, self._sources), self._at(position, domains), edges, len(position)
        )

    def _at(self, position: NDArray[np.int64], domains: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows at these positions, domain by domain; a short domain starts over."""
        place = position[None, :] % self._counts[domains, None]
        rows: NDArray[np.int64] = self._order[self._starts[domains, None] + place].ravel()
        return rows


class _Scale(nn.Module):
    def __init__(self, factor: float):
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x


@dataclass(kw_only=True, eq=False, repr=False)
class PublishedGRDA(GRDA):
    r"""GRDA as its published code does it: row b of one domain is paired with row b of another.

    .. math:: L_d = \frac{n}{2} \Big( \operatorname{mean}_{A_{ij} = 1} h_{ij}
              + \operatorname{mean}_{A_{ij} = 0} h_{ij} \Big), \qquad
              h_{ij} = \operatorname{mean}_b \; h(z_{ib}^\top z_{jb}, A_{ij}), \; i < j

    The factor n is the number of domains: a strength of 0.5 acts like 7.5 on DG-15. It also keeps
    the gradients of the tiny initial weights above what Adam takes for zero.

    Parameters
    ----------
    feature_scale, embedding_scale : float
        The published code takes features and embeddings as large as they come, where grada makes
        them of size one. With weights this small the size decides how soon anything is learned.
    """

    feature_scale: float = 1.0
    embedding_scale: float = 1.0

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **GRDA._parameter_constraints,
        "feature_scale": [POSITIVE_REAL],
        "embedding_scale": [POSITIVE_REAL],
    }

    def _network(self, data: DomainData, run: Run) -> Network:
        network = super()._network(data, run)
        encoder = network.encoder
        encoder.embedding.mul_(self.embedding_scale)
        encoder.raw = nn.Sequential(_Scale(self.feature_scale), encoder.raw)
        return network

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """The pair loss, times the number of domains."""
        n_domains = len(step.network.encoder.embedding)
        return n_domains * super().discriminator_loss(discriminator, encoding, step)

    def bound(self, data: DomainData, chance: float) -> float:
        """The bound, times the number of domains."""
        return data.graph.n_domains * super().bound(data, chance)

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        game = super()._game(network, data, run)
        game.dealer = PositionDealer(
            data,
            batch_size=self.batch_size,
            device=run.device,
            domains_per_step=self.domains_per_step,
            rows_per_domain=self.rows_per_domain or 10,
            policy=self.policy,
        )
        return game

    def _pairs(self, batch: Batch) -> PairWeights:
        place = torch.arange(len(batch.row)) % batch.rows_per_domain
        return super()._pairs(replace(batch, pair_key=place, cache=batch.cache))
