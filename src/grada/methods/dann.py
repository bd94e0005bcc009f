"""Domain-Adversarial Neural Networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._adversarial import AdversarialMethod
from grada.methods._neural import Step
from grada.nn import DomainEncoder
from grada.sampling import Policy


@dataclass(kw_only=True, eq=False, repr=False)
class DANN(AdversarialMethod):
    r"""Make all domains look the same: a discriminator names the domain of an encoding.

    .. math::
        \min_{E, F} \max_D \; L_f(E, F) - \lambda L_d(D, E), \qquad
        L_d = \mathbb{E}[-\log D_u(E(x, u, A))]

    with one output of the discriminator for each of the N domains, as in the comparison of the
    GRDA paper; the original tells one source from one target. Every domain is drawn equally
    often, so a blind discriminator has loss ln N, which ``history_`` shows as
    ``discriminator_bound``. The graph serves the encoder only.

    Settings: see AdversarialMethod and NeuralMethod. The last layer of the discriminator grows
    with the number of domains.

    References
    ----------
    Ganin, Ustinova, Ajakan, Germain, Larochelle, Laviolette, Marchand, Lempitsky:
    Domain-Adversarial Training of Neural Networks. JMLR 17, 2016.
    """

    policy: Policy = "random"

    name: ClassVar[str] = "dann"
    citation: ClassVar[str] = (
        "Ganin et al.: Domain-Adversarial Training of Neural Networks. JMLR 2016."
    )

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Fully connected layers with one output a domain."""
        return self.discriminator_network(encoder.dim, data.graph.n_domains, generator)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Cross-entropy of the domain."""
        logits = discriminator(encoding[step.batch.aligned])
        return F.cross_entropy(logits, step.batch.aligned_codes)

    def bound(self, data: DomainData, chance: float) -> float:
        """Entropy of the domain when all that have rows are equally likely."""
        return float(np.log(len(np.unique(data.codes))))

    def nothing_to_align(self, data: DomainData) -> str | None:
        """One domain is aligned with itself."""
        several = len(np.unique(data.codes)) > 1
        return None if several else "All rows are of one domain."
