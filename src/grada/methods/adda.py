"""Adversarial Discriminative Domain Adaptation."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._adversarial import SourceTargetMethod
from grada.methods._base import Run
from grada.methods._neural import POSITIVE_REAL, NeuralMethod, Step
from grada.nn import DomainEncoder, Network
from grada.training import History
from grada.training.schedules import StrengthSchedule


@dataclass(kw_only=True, eq=False, repr=False)
class ADDA(SourceTargetMethod):
    r"""Learn on the sources first, then move an encoder of the targets to where these lie.

    .. math::
        \text{1.}\; \min_{E_s, F} L_f(E_s, F) \qquad
        \text{2.}\; \min_D \; \tfrac12 \mathbb{E}^s[-\log D(E_s(x))]
                    + \tfrac12 \mathbb{E}^t[-\log (1 - D(E_t(x)))], \quad
        \min_{E_t} \; \mathbb{E}^t[-\log D(E_t(x))]

    All sources make one domain and all targets another. After the first stage :math:`E_s` and F
    stay as they are; :math:`E_t` starts as a copy of :math:`E_s` and is trained with inverted
    labels: to be taken for a source. Nothing holds the classes in place while the targets move,
    so they can end up swapped. Predictions use :math:`E_t` in domains without labels and
    :math:`E_s` elsewhere.

    Each stage has the ``epochs`` and the schedule of the settings, and ``history_`` holds both.
    ``strength`` scales the second loss.

    Parameters
    ----------
    target_learning_rate : float
        Learning rate of :math:`E_t`. A high one lets the targets drift from where they belong.

    Other settings: see AdversarialMethod and NeuralMethod.

    References
    ----------
    Tzeng, Hoffman, Saenko, Darrell: Adversarial Discriminative Domain Adaptation. CVPR 2017.
    """

    target_learning_rate: float = 1e-4
    strength_schedule: StrengthSchedule = "constant"
    smoothness: float = 1.0

    name: ClassVar[str] = "adda"
    citation: ClassVar[str] = (
        "Tzeng et al.: Adversarial Discriminative Domain Adaptation. CVPR 2017."
    )

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **SourceTargetMethod._parameter_constraints,
        "target_learning_rate": [POSITIVE_REAL],
    }

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Fully connected layers with one output, the logit of a source."""
        return self.discriminator_network(encoder.dim, 1, generator)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Cross-entropy of source against target, each with half the weight."""
        logit = discriminator(encoding)
        source, target = logit[step.batch.labelled], logit[step.batch.aligned]
        return (F.softplus(-source).mean() + F.softplus(target).mean()) / 2

    def encoder_loss(self, discriminator: nn.Module, step: Step) -> Tensor:
        """Cross-entropy of the targets with inverted labels."""
        logit = discriminator(step.encoding)[step.batch.aligned]
        return step.strength * F.softplus(-logit).mean()

    def bound(self, data: DomainData, chance: float) -> float:
        """Sources and targets are equally likely."""
        return float(np.log(2.0))

    def _train(self, network: Network, data: DomainData, run: Run) -> History:
        if self.strength == 0 or self.nothing_to_align(data) is not None:
            return super()._train(network, data, run)
        learner = NeuralMethod._game(self, network, data, run)
        trainer = NeuralMethod._trainer(self, data, run.part("sources"))
        learned = trainer.train(learner, run.rng(1))
        network.predictor.requires_grad_(False)
        network.encoder = TwoEncoders(network.encoder, data)
        second = replace(self, learning_rate=self.target_learning_rate)
        return SourceTargetMethod._train(second, network, data, run).preceded_by(learned)


class TwoEncoders(DomainEncoder):
    """The trained encoder for the sources, and a copy of it for the targets to be trained on."""

    is_target: Tensor

    def __init__(self, trained: DomainEncoder, data: DomainData):
        nn.Module.__init__(self)
        self.dim = trained.dim
        self.target = copy.deepcopy(trained)
        self.source = trained.requires_grad_(False).eval()
        is_target = torch.ones(data.graph.n_domains, dtype=torch.bool)
        is_target[torch.from_numpy(data.sources)] = False
        self.register_buffer("is_target", is_target.to(trained.embedding.device))

    @property
    def parts(self) -> list[DomainEncoder]:
        """Both of them."""
        return [self.source, self.target]

    def make_room(self, n_new: int) -> None:
        """New domains have no labels."""
        self.is_target = torch.cat([self.is_target, self.is_target.new_ones(n_new)])

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """Encode every row with the encoder of its domain's role."""
        is_target = self.is_target[codes]
        encoding = self.target.embedding.new_empty((len(x), self.dim))
        for encoder, rows in ((self.source, ~is_target), (self.target, is_target)):
            at = rows.nonzero().squeeze(1)
            if len(at):
                encoding = encoding.index_copy(0, at, encoder(x[at], codes[at]))
        return encoding
