"""Probabilistic Continuously Indexed Domain Adaptation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._neural import Step
from grada.methods.cida import CIDA

#: The logarithm of the variance stays within +- this, so that certainty cannot grow for ever.
_MOST_CERTAIN = 4.0


@dataclass(kw_only=True, eq=False, repr=False)
class PCIDA(CIDA):
    r"""Like CIDA, but the discriminator also says how sure it is: mean and variance.

    .. math::
        \min_{E, F} \max_D \; L_f(E, F) - \lambda L_d(D, E), \qquad
        L_d = \tfrac{1}{2d} \mathbb{E} \sum_i
              \left[ \frac{(\mu_i - c_{ui})^2}{\sigma_i^2} + \ln 2 \pi \sigma_i^2 \right]

    with :math:`\mu, \sigma = D(E(x, u, A))`. Encodings that hide the mean of a domain's
    coordinates may still show how far they scatter; here that must be hidden too. A blind
    discriminator says mean 0 and variance 1 of the standardised coordinates, and its loss is
    :math:`\tfrac12 (1 + \ln 2 \pi)`. The logarithm of the variance is kept within +-4.

    Settings: see CIDA, AdversarialMethod and NeuralMethod.

    References
    ----------
    Wang, He, Katabi: Continuously Indexed Domain Adaptation. ICML 2020.
    """

    smoothness: float = 4.0

    name: ClassVar[str] = "pcida"
    citation: ClassVar[str] = (
        "Wang, He, Katabi: Continuously Indexed Domain Adaptation. ICML 2020 (probabilistic)."
    )
    _outputs_per_coordinate: ClassVar[int] = 2

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Negative log-likelihood of the coordinates."""
        said, true = discriminator(encoding[step.batch.aligned], step.batch.aligned_codes)
        mean, certainty = said.chunk(2, dim=1)
        variance = torch.exp(_MOST_CERTAIN * torch.tanh(certainty / _MOST_CERTAIN))
        return F.gaussian_nll_loss(mean, true, variance, full=True)

    def bound(self, data: DomainData, chance: float) -> float:
        """What it costs to say mean 0 and variance 1."""
        return 0.5 * (1.0 + math.log(2.0 * math.pi))
