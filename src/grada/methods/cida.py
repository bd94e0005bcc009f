"""Continuously Indexed Domain Adaptation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._adversarial import AdversarialMethod
from grada.methods._base import Run
from grada.methods._neural import NeuralGame, NeuralMethod, Step
from grada.nn import DomainEncoder, Network
from grada.sampling import Policy
from grada.training import AdaptationWarning


@dataclass(kw_only=True, eq=False, repr=False)
class CIDA(AdversarialMethod):
    r"""Hide where a domain lies: a discriminator regresses the domain's coordinates.

    .. math::
        \min_{E, F} \max_D \; L_f(E, F) - \lambda L_d(D, E), \qquad
        L_d = \tfrac1d \mathbb{E}[|D(E(x, u, A)) - c_u|^2]

    with :math:`c_u` the coordinates of domain u, each standardised over the domains. A blind
    discriminator says the mean, and its loss is the variance of the coordinates that are drawn:
    the ``discriminator_bound``. Only the mean of c given the encoding is hidden, see PCIDA.

    Parameters
    ----------
    coordinates : dict, optional
        From the name of each domain that has rows to a number or a list of numbers: a year, an
        angle, latitude and longitude. By default the graph embedding, which the encoder gets.

    Other settings: see AdversarialMethod and NeuralMethod.

    References
    ----------
    Wang, He, Katabi: Continuously Indexed Domain Adaptation. ICML 2020.
    """

    coordinates: Mapping[Any, Any] | None = None
    policy: Policy = "random"

    name: ClassVar[str] = "cida"
    citation: ClassVar[str] = "Wang, He, Katabi: Continuously Indexed Domain Adaptation. ICML 2020."
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **AdversarialMethod._parameter_constraints,
        "coordinates": [Mapping, None],
    }
    _outputs_per_coordinate: ClassVar[int] = 1

    def check(self, data: DomainData) -> None:
        """Coordinates that were given must be there for every domain with rows."""
        super().check(data)
        if self.coordinates is not None:
            self._given(data)

    def discriminator(
        self, data: DomainData, encoder: DomainEncoder, generator: torch.Generator
    ) -> nn.Module:
        """Fully connected layers with one output a coordinate."""
        coordinates = self._coordinates(data, encoder)
        n_out = self._outputs_per_coordinate * coordinates.shape[1]
        layers = self.discriminator_network(encoder.dim, n_out, generator)
        return CoordinateDiscriminator(layers, coordinates)

    def discriminator_loss(self, discriminator: nn.Module, encoding: Tensor, step: Step) -> Tensor:
        """Squared error of the coordinates."""
        said, true = discriminator(encoding[step.batch.aligned], step.batch.aligned_codes)
        return F.mse_loss(said, true)

    def bound(self, data: DomainData, chance: float) -> float:
        """Variance of a standardised coordinate."""
        return 1.0

    def nothing_to_align(self, data: DomainData) -> str | None:
        """All domains with rows have the same coordinates."""
        present = np.unique(data.codes)
        if self.coordinates is not None:
            differ = np.ptp(self._given(data)[present], axis=0).any()
            return None if differ else "All domains with rows have the same coordinates."
        return None if len(present) > 1 else "All rows are of one domain."

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        if self.coordinates is None and not self._coordinates(data, network.encoder).shape[1]:
            message = (
                f"The embedding {self.embedding!r} puts all domains with rows in one place. Give "
                "coordinates, or choose another embedding. Training goes on without adaptation."
            )
            warnings.warn(message, AdaptationWarning, stacklevel=6)
            return NeuralMethod._game(self, network, data, run)
        return super()._game(network, data, run)

    def _coordinates(self, data: DomainData, encoder: DomainEncoder) -> Tensor:
        """Standardised coordinates of all domains; those that never change are left out."""
        if self.coordinates is None:
            raw = encoder.embedding.cpu().numpy().astype(np.float64)
        else:
            raw = self._given(data)
        present = raw[np.unique(data.codes)]
        spread = present.std(axis=0)
        varied = spread > 1e-6 * np.abs(present).max(axis=0)
        scaled = (raw - present.mean(axis=0))[:, varied] / spread[varied]
        return torch.from_numpy(scaled.astype(np.float32))

    def _given(self, data: DomainData) -> NDArray[np.float64]:
        """Coordinates as a table, one row a domain; zeros for domains without rows."""
        assert self.coordinates is not None
        present = np.unique(data.codes)
        names = [data.graph.names[code] for code in present]
        missing = [name for name in names if name not in self.coordinates]
        if missing:
            raise ValueError(f"coordinates has no entry for the domains {missing[:5]}.")
        try:
            rows = np.array([np.atleast_1d(self.coordinates[name]) for name in names], dtype=float)
            if rows.ndim != 2:
                raise ValueError(f"shape {rows.shape}")
        except (TypeError, ValueError) as error:
            raise ValueError(
                "coordinates must give every domain a number, or lists of numbers of one length."
            ) from error
        if not np.isfinite(rows).all():
            raise ValueError("coordinates must be finite numbers.")
        table = np.zeros((data.graph.n_domains, rows.shape[1]))
        table[present] = rows
        return table


class CoordinateDiscriminator(nn.Module):
    """Layers that are asked for the coordinates of an encoding's domain, and the answers."""

    coordinates: Tensor

    def __init__(self, layers: nn.Module, coordinates: Tensor):
        super().__init__()
        self.layers = layers
        self.register_buffer("coordinates", coordinates)

    def forward(self, encoding: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        """What the layers say, and the coordinates (n, d) that are true."""
        return self.layers(encoding), self.coordinates[codes]
