"""Class-aware GRDA: rows are aligned with rows of their own class, as far as it can be guessed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData, Kind
from grada.methods._adversarial import AdversarialGame
from grada.methods._base import Method, Run
from grada.methods._neural import NeuralGame, Step
from grada.methods.grda import GRDA
from grada.nn import Network, PairWeights, pair_weights
from grada.training import AdaptationWarning, Trainer
from grada.training.batches import Batch, Dealer

#: How much of what is known about a domain is kept from one step to the next.
_MEMORY = 0.9
_TINY = 1e-7


@dataclass(kw_only=True, eq=False, repr=False)
class ClassAwareGRDA(GRDA):
    r"""Align rows of the same class as far as the graph says, with honest guesses in targets.

    .. math::
        \min_{E, F} \max_D \; L_f + \gamma \, \mathbb{E}^t[-w \log F_c(E)] - \lambda L_d, \qquad
        L_d = \sum_{ab} v_{ab} \, h(l_{ab}, A_{ab}), \quad
        v_{ab} \propto 1 + w_a w_b (C \, [c_a = c_b] - 1)

    GRDA with pairs of rows weighted by the agreement of their soft labels
    :math:`w e_c + (1 - w) / C`, where c is one of C classes: two rows known to be of one class
    count C times, two known to differ not at all, and others once, as in GRDA. A labelled row has
    its own class and w = 1. Other rows have the class that ``guide`` names, a method fitted
    beforehand on the visible labels, and w is the product of two factors:

    - how sure the guide is of the row, against the average row of its domain: the margin between
      its two best classes, over the mean margin, and at most 1. Guides that carry labels far grow
      less sure with every hop, even where they are right;
    - the trust in the domain: 0 at first, and from then on, as the mean over its neighbours one
      hop nearer to the sources, their own trust or, if that is less, how well the network
      reproduces their guesses next to the labels of sources (1: as well, 0: as by chance). So
      guesses count from hop to hop outward, as soon as those before them are learned, and not
      beyond domains in which they cannot be.

    The same rows teach the predictor too (the second term), so that it follows them and smooths
    over single errors of the guide. A guide that is wrong about a whole domain is believed: if it
    should be doubted, use GRDA, or let ``auto`` choose.

    ``history_`` has ``guess_loss`` and ``guess_weight``, the mean w of rows without a label.

    Parameters
    ----------
    guide : str or Method
        Method for classification that makes the guesses.
    guess_strength : float
        Weight of the loss on guesses against the prediction loss.

    Other settings: see GRDA. Classification only.

    References
    ----------
    Xu, He, Lee, Wang, Wang: Graph-Relational Domain Adaptation. ICLR 2022. The pairs by class and
    the guesses are grada's own.
    """

    guide: str | Method = "propagation"
    guess_strength: float = 3.0
    epochs: int = 100

    name: ClassVar[str] = "class-aware-grda"
    citation: ClassVar[str] = (
        "Xu, He, Lee, Wang, Wang: Graph-Relational Domain Adaptation. ICLR 2022; pairs by class: "
        "grada."
    )
    kinds: ClassVar[tuple[Kind, ...]] = ("classification",)
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **GRDA._parameter_constraints,
        "guide": [str, Method],
        "guess_strength": [Interval(Real, 0, None, closed="left")],
    }

    def encoder_loss(self, discriminator: nn.Module, step: Step) -> Tensor:
        """What encoder and predictor minimise: that of GRDA, and the loss on guesses."""
        loss = super().encoder_loss(discriminator, step)
        return loss + self.guess_strength * guess_loss(step)

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        game = super()._game(network, data, run)
        if not isinstance(game, AdversarialGame):
            return game
        guesses = Guesses.ask(self.guide, data, run)
        return ClassAwareGame(self, network, data, game.dealer, run, guesses)

    def _trainer(self, data: DomainData, run: Run) -> Trainer:
        trainer = super()._trainer(data, run)
        # The labelled rows may be learned long before the guesses farthest out count.
        hops = data.graph.hops_from(data.sources)[np.unique(data.codes)]
        farthest = int(hops[np.isfinite(hops)].max())
        return replace(trainer, patience=self.patience + farthest)

    def _pairs(self, batch: Batch) -> PairWeights:
        if "pairs" not in batch.cache:
            n = batch.rows_per_domain
            edges = batch.edges.repeat_interleave(n, dim=0).repeat_interleave(n, dim=1)
            count = agreement(batch.cache["guess"], batch.cache["sure"], batch.cache["n_classes"])
            count = count * (batch.row[:, None] != batch.row[None, :])
            if batch.pair_key is not None:
                count = count * (batch.pair_key[:, None] == batch.pair_key[None, :])
            balanced = self.pair_loss == "balanced"
            batch.cache["pairs"] = pair_weights(edges, count.to(edges.dtype), balanced=balanced)
        pairs: PairWeights = batch.cache["pairs"]
        return pairs


def agreement(classes: Tensor, sure: Tensor, n_classes: int) -> Tensor:
    r"""How much every two rows agree in class: 1 on average if nothing is known about one of them.

    .. math:: a_{ij} = C \, q_i^\top q_j = 1 + w_i w_j (C \, [c_i = c_j] - 1), \qquad
              q_i = w_i e_{c_i} + (1 - w_i) / C

    Parameters
    ----------
    classes : Tensor of shape (B,)
        Class c of each row.
    sure : Tensor of shape (B,)
        Confidence w in it, from 0 to 1.
    n_classes : int
        C.

    Returns
    -------
    Tensor of shape (B, B)

    Examples
    --------
    >>> agreement(torch.tensor([0, 0, 1]), torch.tensor([1.0, 0.5, 1.0]), 2)
    tensor([[2.0000, 1.5000, 0.0000],
            [1.5000, 1.2500, 0.5000],
            [0.0000, 0.5000, 2.0000]])
    """
    same = (classes[:, None] == classes[None, :]).to(sure.dtype)
    return 1.0 + sure[:, None] * sure[None, :] * (n_classes * same - 1.0)


def guess_loss(step: Step) -> Tensor:
    """Mean cross-entropy of the guesses in rows to align, weighted by the confidence in them."""
    cache = step.batch.cache
    if "guess_loss" not in cache:
        output = step.network.predictor(step.encoding[step.batch.aligned])
        each = F.cross_entropy(output, cache["guess"], reduction="none")
        guessed = ~cache["known"]
        total = (guessed * cache["sure"] * each).sum()
        cache["guess_loss"] = total / guessed.sum().clamp(min=1)
    loss: Tensor = cache["guess_loss"]
    return loss


@dataclass(frozen=True)
class Guesses:
    """The class of every row: visible, or guessed with some confidence.

    Attributes
    ----------
    classes : int64 array of shape (n_rows,)
    confidence : float32 array of shape (n_rows,)
        From 0 to 1; 1 where the class is visible.
    known : bool array of shape (n_rows,)
        Where it is.
    """

    classes: NDArray[np.int64]
    confidence: NDArray[np.float32]
    known: NDArray[np.bool_]

    @classmethod
    def ask(cls, guide: str | Method, data: DomainData, run: Run) -> Guesses:
        """Fit the guide to what is visible, and take what is visible over what it says."""
        from grada.methods import resolve  # it lists this module, so not before this one is read

        known = data.weight > 0
        classes = np.where(known, data.y, 0)
        confidence = known.astype(np.float32)
        if not known.all():
            hidden = np.flatnonzero(~known)
            codes = data.codes[hidden]

            def ask() -> NDArray[np.float64]:
                with warnings.catch_warnings():
                    # What it warns of, the network warns of too.
                    warnings.simplefilter("ignore", AdaptationWarning)
                    quiet = replace(run.part("guide"), callbacks=())
                    fitted = resolve(guide).adapt(data, quiet)
                return fitted.predict(data.X[hidden], codes)

            probability = run.keep("guesses", ask)
            classes[hidden] = probability.argmax(axis=1)
            confidence[hidden] = relative_margin(probability, codes)
        return cls(classes, confidence, known)


def relative_margin(
    probability: NDArray[np.float64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Margin between the two likeliest classes over its mean in the domain, at most 1.

    Examples
    --------
    >>> probability = np.array([[0.9, 0.1], [0.6, 0.4], [0.52, 0.48]])
    >>> relative_margin(probability, np.array([0, 0, 1])).round(3)
    array([1. , 0.4, 1. ])
    """
    if probability.shape[1] < 2:
        return np.ones(len(probability))
    best = np.partition(probability, -2, axis=1)[:, -2:]
    margin = best[:, 1] - best[:, 0]
    mean = np.bincount(codes, margin) / np.maximum(np.bincount(codes), 1)
    return np.minimum(margin / np.maximum(mean[codes], _TINY), 1.0)


class Trust:
    """How far the guesses in each domain are trusted; see :class:`ClassAwareGRDA`.

    Parameters
    ----------
    data : DomainData

    Attributes
    ----------
    values : float array of shape (n_domains,)
    """

    def __init__(self, data: DomainData):
        hops = data.graph.hops_from(data.sources)
        weights = data.graph.weights.tocoo()
        nearer = hops[weights.col] < hops[weights.row]
        kept = weights.data[nearer], (weights.row[nearer], weights.col[nearer])
        inward = sparse.csr_array(kept, shape=weights.shape)
        total: NDArray[np.float64] = np.asarray(inward.sum(axis=1)).ravel()
        self._inward = sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ inward
        self._source = hops == 0
        self._empty = np.bincount(data.codes, minlength=len(hops)) == 0
        self._chance = 1.0 / data.n_outputs
        self.values = self._source.astype(np.float64)

    def grow(self, hit: NDArray[np.float64], asked: NDArray[np.float64]) -> None:
        """Pass trust on by one hop, given how many guesses of each domain were reproduced."""
        gain = hit / np.maximum(asked, _TINY) - self._chance
        sources = hit[self._source].sum() / max(asked[self._source].sum(), _TINY)
        learned = np.clip(gain / max(sources - self._chance, _TINY), 0.0, 1.0)
        learned[self._empty] = 1.0  # nothing speaks against what goes through it
        self.values = np.where(self._source, 1.0, self._inward @ np.minimum(self.values, learned))


class ClassAwareGame(AdversarialGame):
    """Encoder and predictor, who learn from guesses too, against a discriminator of pairs."""

    def __init__(
        self,
        method: ClassAwareGRDA,
        network: Network,
        data: DomainData,
        dealer: Dealer,
        run: Run,
        guesses: Guesses,
    ):
        super().__init__(method, network, data, dealer, run)
        self.trust = Trust(data)
        self._classes = torch.from_numpy(guesses.classes).to(run.device)
        self._confidence = torch.from_numpy(guesses.confidence).to(run.device)
        self._known = torch.from_numpy(guesses.known).to(run.device)
        self._reproduced = torch.zeros(data.graph.n_domains, 2, device=run.device)
        self._trusted = self._values()

    def deal(self, rng: np.random.Generator, strength_factor: float) -> Step:
        """Draw a batch and look up the classes of its rows to align."""
        step = super().deal(rng, strength_factor)
        batch = step.batch
        batch.cache["guess"] = self._classes[batch.row]
        batch.cache["known"] = self._known[batch.row]
        # Both factors are 1 where the class is visible.
        batch.cache["sure"] = self._confidence[batch.row] * self._trusted[batch.aligned_codes]
        batch.cache["n_classes"] = self.data.n_outputs
        return step

    def measure(self, step: Step) -> dict[str, Tensor]:
        """Add the figures on guesses, and remember how many of them the network reproduces."""
        batch, n = step.batch, step.batch.rows_per_domain
        asked = self._confidence[batch.row]
        hit = asked * (step.aligned_output.argmax(dim=1) == batch.cache["guess"])
        counts = torch.stack([hit, asked], dim=1).view(-1, n, 2).sum(dim=1)
        codes = batch.aligned_codes[::n]
        self._reproduced[codes] = _MEMORY * self._reproduced[codes] + counts
        guessed = (~batch.cache["known"]).to(asked.dtype)
        weight = (guessed * batch.cache["sure"]).sum() / guessed.sum().clamp(min=1.0)
        return {
            **super().measure(step),
            "guess_loss": guess_loss(step).detach(),
            "guess_weight": weight,
        }

    def conclude(self, figures: dict[str, float]) -> dict[str, float]:
        """After each epoch trust goes a hop further."""
        hit, asked = self._reproduced.cpu().numpy().astype(np.float64).T
        self.trust.grow(hit, asked)
        self._trusted = self._values()
        return super().conclude(figures)

    def state(self) -> dict[str, Any]:
        """The trust too, and what it grows by."""
        own = {"trust": self.trust.values, "reproduced": self._reproduced}
        return {**super().state(), **own}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        super().restore(state)
        self.trust.values = state["trust"]
        self._trusted = self._values()
        self._reproduced.copy_(state["reproduced"])

    def _values(self) -> Tensor:
        return torch.from_numpy(self.trust.values.astype(np.float32)).to(self._device)
