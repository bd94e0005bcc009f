"""Graph-Relational Domain Adaptation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from scipy import sparse
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn

from grada import theory
from grada.data import DomainData
from grada.methods._adversarial import AdversarialMethod
from grada.methods._neural import POSITIVE, Step
from grada.nn import DomainEncoder, GraphDiscriminator, PairWeights, pair_loss, pair_weights
from grada.nn.losses import LogitKind
from grada.training.batches import Batch


@dataclass(kw_only=True, eq=False, repr=False)
class GRDA(AdversarialMethod):
    r"""Align domains as far as the graph says: a discriminator rebuilds it from encodings.

    .. math::
        \min_{E, F} \max_D \; L_f(E, F) - \lambda L_d(D, E), \qquad
        L_d = \mathbb{E}[-A_{uv} \log \sigma(l) - (1 - A_{uv}) \log (1 - \sigma(l))]

    over pairs of rows drawn independently from domains u and v; pairs within a domain are
    non-edges, a row is never paired with itself. At the optimum L_d = H(E[A]), which
    ``history_`` shows beside the loss as ``discriminator_bound``.

    Parameters
    ----------
    pair_loss : {"balanced", "plain"}
        ``plain`` is equation 3 of the paper; ``balanced`` lets edges and non-edges weigh the
        same, so that a sparse graph is not all non-edges. Its bound is ln 2 as long as every
        step sees an edge; a step that sees none counts as plain.
    logits : {"signed", "inner", "distance"}
        How two outputs of the discriminator make a logit. The paper's inner product is largest
        for equal rows, so it cannot call pairs within a domain non-edges and is blind on a
        clique; ``signed`` can, see :func:`grada.nn.losses.edge_logits`.
    bias : bool
        A learned bias on the logits. The preset ``"paper"`` has none, and pays for it: two equal
        encodings then get at least probability 1/2, so on a graph with E[A] < 1/2 the aligned
        game rests at ln 2 instead of H(E[A]).
    discriminator_dim : int
        Dimension k of the discriminator's output.
    pair_on : str or int, optional
        A column of X that both rows of a pair must agree on, such as the month. The bound takes
        no account of how much the column itself tells about edges: if domains differ in it, the
        encodings can only reach the bound by hiding it too.

    Other settings: see AdversarialMethod and NeuralMethod. ``GRDA.preset("paper")`` has the
    networks, learning rates and schedule of the paper, with the plain loss.

    References
    ----------
    Xu, He, Lee, Wang, Wang: Graph-Relational Domain Adaptation. ICLR 2022.
    """

    pair_loss: Literal["balanced", "plain"] = "balanced"
    logits: LogitKind = "signed"
    bias: bool = True
    discriminator_dim: int = 8
    smoothness: float = 0.0
    pair_on: str | int | None = None

    name: ClassVar[str] = "grda"
    citation: ClassVar[str] = (
        "Xu, He, Lee, Wang, Wang: Graph-Relational Domain Adaptation. ICLR 2022."
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            **AdversarialMethod.presets["paper"],
            "pair_loss": "plain",
            "logits": "inner",
            "bias": False,
            "discriminator_dim": 2,
        }
    }
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **AdversarialMethod._parameter_constraints,
        "pair_loss": [StrOptions({"balanced", "plain"})],
        "logits": [StrOptions({"signed", "inner", "distance"})],
        "bias": ["boolean"],
        "discriminator_dim": [POSITIVE],
        "pair_on": [str, Integral, None],
    }

    @property
    def pair_column(self) -> str | int | None:
        """The column named by ``pair_on``."""
        return self.pair_on

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Fully connected layers with a k-dimensional output."""
        layers = self.discriminator_network(encoder.dim, self.discriminator_dim, generator)
        return GraphDiscriminator(layers, logits=self.logits, bias=self.bias)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Cross-entropy of the rebuilt graph over all pairs of rows."""
        return pair_loss(discriminator(encoding[step.batch.aligned]), self._pairs(step.batch))

    def chance(self, step: Step) -> Tensor:
        """Probability of an edge among the pairs of this step."""
        return self._pairs(step.batch).expected_edge

    def bound(self, data: DomainData, chance: float) -> float:
        """H(E[A]) for the pairs actually drawn."""
        return float(theory.entropy(np.clip(chance, 0.0, 1.0)))

    def nothing_to_align(self, data: DomainData) -> str | None:
        """No pair of rows that is an edge, or none that is a non-edge."""
        present, counts = np.unique(data.codes, return_counts=True)
        weights = data.graph.weights[present][:, present].tocoo()
        if weights.nnz == 0:
            return "No two domains with rows are joined in the graph."
        complete = weights.nnz == len(present) * (len(present) - 1) and weights.data.min() == 1
        if complete and counts.max() == 1:
            return "All domains are joined and each has one row, so every pair is an edge."
        if data.pair_key is not None:
            shape = (data.graph.n_domains, int(data.pair_key.max()) + 1)
            ones = np.ones(len(data.codes), dtype=np.float32)
            seen = sparse.csr_array((ones, (data.codes, data.pair_key)), shape=shape)[present]
            if seen[weights.row].multiply(seen[weights.col]).nnz == 0:
                return f"No two rows of joined domains agree on column {self.pair_on!r} (pair_on)."
        return None

    def _pairs(self, batch: Batch) -> PairWeights:
        if "pairs" not in batch.cache:
            n = batch.rows_per_domain
            edges = batch.edges.repeat_interleave(n, dim=0).repeat_interleave(n, dim=1)
            valid = batch.row[:, None] != batch.row[None, :]
            if batch.pair_key is not None:
                valid &= batch.pair_key[:, None] == batch.pair_key[None, :]
            balanced = self.pair_loss == "balanced"
            batch.cache["pairs"] = pair_weights(edges, valid.to(edges.dtype), balanced=balanced)
        pairs: PairWeights = batch.cache["pairs"]
        return pairs
