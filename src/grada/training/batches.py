"""Batches of tensors: labelled rows to learn from, rows of several domains to align."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from grada.data import DomainData
from grada.sampling import BalancedRows, DomainRows, DomainSampler, Passes, Policy


@dataclass(frozen=True)
class Batch:
    """One batch: first the labelled rows, then the rows to align, domain by domain.

    Attributes
    ----------
    x : Tensor of shape (n_labelled + D * R, ...)
    codes : Tensor of shape (n_labelled + D * R,)
    y, weight : Tensor
        Labels of the first ``n_labelled`` rows and their weights (None: all ones).
    edges : Tensor of shape (D, D)
        Weights between the domains.
    rows_per_domain : int
        R.
    row : Tensor of shape (D * R,)
        Which row of the table each row to align is.
    pair_key : Tensor of shape (D * R,), optional
    cache : dict
        What a method works out once per batch and needs in several losses.
    """

    x: Tensor
    codes: Tensor
    y: Tensor
    weight: Tensor | None
    edges: Tensor
    rows_per_domain: int
    row: Tensor
    pair_key: Tensor | None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def n_labelled(self) -> int:
        """How many rows come with a label."""
        return len(self.y)

    @property
    def labelled(self) -> slice:
        """Where the labelled rows are."""
        return slice(0, len(self.y))

    @property
    def aligned(self) -> slice:
        """Where the rows to align are."""
        return slice(len(self.y), len(self.x))

    @property
    def aligned_codes(self) -> Tensor:
        """Domains of the rows to align."""
        return self.codes[self.aligned]


class Dealer:
    """Draws batches from the data; memory-mapped features work too.

    Parameters
    ----------
    data : DomainData
    batch_size : int
        Labelled rows per step.
    domains_per_step, rows_per_domain : int
        Rows to align per step; zero domains for methods that align nothing.
    policy : {"mixture", "random", "connected"}
    domains : int array, optional
        Domains whose rows are aligned; by default all that have rows.
    device : torch.device
    """

    def __init__(
        self,
        data: DomainData,
        *,
        batch_size: int,
        device: torch.device,
        domains_per_step: int = 0,
        rows_per_domain: int = 0,
        policy: Policy = "random",
        domains: NDArray[np.int64] | None = None,
    ):
        self._data = data
        self._device = device
        self._passes = Passes(data.labelled, batch_size)
        uniform = bool(np.all(data.weight[data.labelled] == 1.0))
        self._weight = None if uniform else data.weight
        self._rows = DomainRows(data.codes, data.graph.n_domains)
        self._rows_per_domain = rows_per_domain
        drawn_from = self._rows.present if domains is None else domains
        self._domains = DomainSampler(data.graph, drawn_from, domains_per_step, policy)

    def deal(self, rng: np.random.Generator) -> Batch:
        """Draw the next batch."""
        labelled = self._passes.draw(rng)
        domains, edges = self._domains.draw(rng)
        aligned = self._rows.draw(rng, domains, self._rows_per_domain).ravel()
        return self._batch(labelled, aligned, edges, self._rows_per_domain)

    def state(self) -> dict[str, NDArray[np.int64]]:
        """What the next batches depend on beside the generator."""
        return {"passes": self._passes.state(), "domains": self._domains.state()}

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Go on from such a state."""
        self._passes.restore(state["passes"])
        self._domains.restore(state["domains"])

    def _batch(
        self,
        labelled: NDArray[np.int64],
        aligned: NDArray[np.int64],
        edges: NDArray[np.float32],
        rows_per_domain: int,
    ) -> Batch:
        rows = np.concatenate([labelled, aligned])
        data, key = self._data, self._data.pair_key
        return Batch(
            x=self._tensor(data.X[rows]),
            codes=self._tensor(data.codes[rows]),
            y=self._tensor(data.y[labelled]),
            weight=None if self._weight is None else self._tensor(self._weight[labelled]),
            edges=self._tensor(edges),
            rows_per_domain=rows_per_domain,
            row=self._tensor(aligned),
            pair_key=None if key is None else self._tensor(key[aligned]),
        )

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(array).to(self._device)


class PooledDealer(Dealer):
    """Draws labelled rows and as many target rows, each as if they came from one domain.

    In classification every class comes up alike among the labelled rows, and every guess among
    the target rows: what the method last said about each of them, if it said so
    (:meth:`remember`). The guesses of a few times the rows needed are looked at in each draw,
    never those of all rows.

    Parameters
    ----------
    data : DomainData
    batch_size : int
        Labelled rows per step, and target rows per step.
    device : torch.device
    """

    _LOOKED_AT = 4

    def __init__(self, data: DomainData, *, batch_size: int, device: torch.device):
        super().__init__(data, batch_size=batch_size, device=device)
        self._targets = np.flatnonzero(np.isin(data.codes, data.targets))
        self._guess = np.full(len(data.codes), -1, dtype=np.int64)
        self._size = batch_size
        self._balanced: BalancedRows | None = None
        if data.kind == "classification":
            self._balanced = BalancedRows(data.labelled, data.y[data.labelled])

    def deal(self, rng: np.random.Generator) -> Batch:
        """Draw the next batch."""
        if self._balanced is None:
            labelled = self._passes.draw(rng)
        else:
            labelled = self._balanced.draw(rng, self._passes.size)
        looked_at = self._LOOKED_AT * self._size
        candidates = self._targets[rng.integers(len(self._targets), size=looked_at)]
        # Rows without a guess yet are a class of their own, so that they get one.
        target = BalancedRows(candidates, self._guess[candidates] + 1).draw(rng, self._size)
        return self._batch(labelled, target, np.zeros((1, 1), dtype=np.float32), self._size)

    def state(self) -> dict[str, NDArray[np.int64]]:
        """The guesses too."""
        return {**super().state(), "guess": self._guess}

    def restore(self, state: Mapping[str, NDArray[np.int64]]) -> None:
        """Go on from such a state."""
        super().restore(state)
        self._guess = state["guess"]

    def remember(self, row: Tensor, guess: Tensor) -> None:
        """Keep the classes that the method predicts for these target rows."""
        self._guess[row.cpu().numpy()] = guess.cpu().numpy()
