"""Conditional Domain-Adversarial Neural Networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._neural import Step
from grada.methods.dann import DANN
from grada.nn import DomainEncoder


@dataclass(kw_only=True, eq=False, repr=False)
class CDANN(DANN):
    r"""Like DANN, but rows are compared with rows of the same predicted class.

    .. math::
        \min_{E, F} \max_D \; L_f(E, F) - \lambda L_d(D, E), \qquad
        L_d = \mathbb{E}[-\log D_u(E(x, u, A), \mathrm{sg}[q])]

    with :math:`q = \mathrm{softmax}\,F(E(x, u, A))` the predicted class distribution (regression:
    the prediction itself), given to the discriminator as a further input. :math:`\mathrm{sg}`
    stops the gradient: the encoder cannot hide the domain by bending its predictions. So domains
    may differ in how frequent the classes are, which DANN would wash out.

    The bound is the entropy of the domain given the predicted class,
    :math:`\ln N - I(u; k)`, with the mutual information estimated from the rows of each step. It is
    too high where the shape of q tells more than the class, and for regression, where it is ln N.

    Settings: see AdversarialMethod and NeuralMethod.

    References
    ----------
    Zhao, Yue, Katabi, Jaakkola, Bianchi: Learning Sleep Stages from Radio Signals: A Conditional
    Adversarial Architecture. ICML 2017.
    """

    name: ClassVar[str] = "cdann"
    citation: ClassVar[str] = (
        "Zhao et al.: Learning Sleep Stages from Radio Signals: A Conditional Adversarial "
        "Architecture. ICML 2017."
    )

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Fully connected layers on encoding and prediction, one output a domain."""
        n_in = encoder.dim + data.n_outputs
        return self.discriminator_network(n_in, data.graph.n_domains, generator)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Cross-entropy of the domain, given encoding and prediction."""
        seen = torch.cat([encoding[step.batch.aligned], _condition(step)], dim=1)
        return F.cross_entropy(discriminator(seen), step.batch.aligned_codes)

    def chance(self, step: Step) -> Tensor:
        """What the predicted class alone tells about the domain in this step."""
        if step.kind == "regression":
            return super().chance(step)
        n_classes = step.aligned_output.shape[1]
        n_rows = step.batch.rows_per_domain
        per_domain = _condition(step).reshape(-1, n_rows, n_classes).mean(dim=1)
        n_domains = len(per_domain)
        told = mutual_information(per_domain / n_domains)
        # So much is found among so few rows where there is nothing to find (Miller and Madow).
        by_chance = (n_domains - 1) * (n_classes - 1) / (2 * n_domains * n_rows)
        return (told - by_chance).clamp(min=0.0)

    def bound(self, data: DomainData, chance: float) -> float:
        """Entropy of the domain that is left when the class is known."""
        return super().bound(data, chance) - chance


def _condition(step: Step) -> Tensor:
    """What the discriminator is told beside the encoding; ``aligned_output`` has no gradient."""
    output = step.aligned_output
    return output.softmax(dim=1) if step.kind == "classification" else output


def mutual_information(joint: Tensor) -> Tensor:
    """Mutual information of rows and columns of a table of probabilities, in nats.

    Examples
    --------
    >>> mutual_information(torch.tensor([[0.5, 0.0], [0.0, 0.5]]))
    tensor(0.6931)
    >>> mutual_information(torch.full((2, 2), 0.25))
    tensor(0.)
    """
    apart = joint.sum(dim=1, keepdim=True) * joint.sum(dim=0, keepdim=True)
    information: Tensor = torch.special.xlogy(joint, joint / apart.clamp(min=1e-30))
    return information.sum()
