"""Source-Only: no adaptation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from grada.methods._neural import NeuralMethod


@dataclass(kw_only=True, eq=False, repr=False)
class SourceOnly(NeuralMethod):
    r"""Train encoder and predictor on the labelled rows alone, and apply them everywhere.

    .. math:: \min_{E, F} \; \mathbb{E}^s[h(F(E(x, u, A)), y)]

    The encoder is the same as GRDA's, domain embedding included, so that the difference between
    the two is the adaptation. Settings: see NeuralMethod.

    References
    ----------
    The baseline of the same name in Xu et al., ICLR 2022.
    """

    name: ClassVar[str] = "source-only"
    citation: ClassVar[str] = "Baseline in Xu et al., Graph-Relational Domain Adaptation. ICLR 2022"
