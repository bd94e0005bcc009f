"""Margin Disparity Discrepancy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import torch
from sklearn.utils._param_validation import Interval
from torch import Tensor, nn
from torch.nn import functional as F

from grada import theory
from grada.data import DomainData
from grada.methods._adversarial import AdversarialMethod, SourceTargetMethod
from grada.methods._neural import Step
from grada.nn import DomainEncoder


@dataclass(kw_only=True, eq=False, repr=False)
class MDD(SourceTargetMethod):
    r"""Leave a second predictor no room to differ on the targets while agreeing on the sources.

    .. math::
        \min_{E, F} \max_{F'} \; L_f - \lambda L_d, \qquad
        L_d = \frac{\gamma}{1 + \gamma} \mathbb{E}^s[-\log p'_{k}]
            + \frac{1}{1 + \gamma} \mathbb{E}^t[-\log (1 - p'_{k})]

    with :math:`p' = \mathrm{softmax}\,F'(E(x))` and k the class that F predicts; no gradient flows
    through k. All sources make one domain, all targets another. :math:`\gamma` is the margin:
    :math:`\ln \gamma` in the original. When both have the same encodings the best that F' can do
    is :math:`p'_k = \gamma / (1 + \gamma)`, and :math:`L_d` is the entropy of that, the
    ``discriminator_bound``.

    Regression: the squared difference of the two predictors, averaged over outputs, takes the
    place of the cross-entropy,

    .. math::
        L_d = \frac{\gamma}{1 + \gamma} \mathbb{E}^s[r] + \frac{1}{1 + \gamma} \mathbb{E}^t[1 - r],
        \qquad r = \frac{d^2}{1 + d^2}, \quad d = F'(E(x)) - F(E(x))

    r is bounded, as the original bounds its target part, so that neither F' nor the encoder can win
    by running off to infinity. Aligned encodings leave F' nothing better than :math:`d = 0`: the
    bound is :math:`1 / (1 + \gamma)`.

    Parameters
    ----------
    margin : float
        :math:`\gamma`, at least 1.

    Other settings: see AdversarialMethod and NeuralMethod. ``discriminator_*`` are those of F'.
    F' must tell the classes apart, so ``smoothness`` is lower than elsewhere. The encoder may also
    hide the classes from F', as in the original; then :math:`L_d` ends above the bound. A lower
    ``strength`` makes that rarer.

    References
    ----------
    Zhang, Liu, Long, Jordan: Bridging Theory and Algorithm for Domain Adaptation. ICML 2019.
    """

    margin: float = 4.0
    strength: float = 0.3
    smoothness: float = 0.04

    name: ClassVar[str] = "mdd"
    citation: ClassVar[str] = (
        "Zhang et al.: Bridging Theory and Algorithm for Domain Adaptation. ICML 2019."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **AdversarialMethod._parameter_constraints,
        "margin": [Interval(Real, 1, None, closed="left")],
    }

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """The second predictor."""
        return self.discriminator_network(encoder.dim, data.n_outputs, generator)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Agree with the predictor on the sources, differ from it on the targets."""
        rival = discriminator(encoding)
        source, target = rival[step.batch.labelled], rival[step.batch.aligned]
        if step.kind == "regression":
            together = disparity(source, step.output.detach()).mean()
            apart = 1.0 - disparity(target, step.aligned_output).mean()
        else:
            together = F.cross_entropy(source, step.output.detach().argmax(dim=1))
            apart = -log_not(target, step.aligned_output.argmax(dim=1)).mean()
        return (self.margin * together + apart) / (1.0 + self.margin)

    def bound(self, data: DomainData, chance: float) -> float:
        """What is left when sources and targets have the same encodings."""
        if data.kind == "regression":
            return 1.0 / (1.0 + self.margin)
        return float(theory.entropy(self.margin / (1.0 + self.margin)))


def disparity(one: Tensor, other: Tensor) -> Tensor:
    """How far two predictions of shape (n, n_outputs) are apart, from 0 to 1."""
    squared = (one - other).square().mean(dim=1)
    return squared / (1.0 + squared)


def log_not(logits: Tensor, classes: Tensor) -> Tensor:
    """log(1 - p_k) without the loss of digits that 1 - softmax has."""
    others = logits.scatter(1, classes[:, None], -torch.inf)
    return others.logsumexp(dim=1) - logits.logsumexp(dim=1)
