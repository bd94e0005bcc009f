"""The contract that every method keeps."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from grada.data import DomainData, Kind
from grada.graph import DomainGraph
from grada.training import Callback, History
from grada.training.checkpoint import Kept, keep


@dataclass(frozen=True)
class Run:
    """How to run a method: where the randomness, the device and the onlookers come from."""

    random_state: int
    device: torch.device
    callbacks: tuple[Callback, ...] = ()
    checkpoint: Kept | None = None

    def rng(self, purpose: int = 0) -> np.random.Generator:
        """A generator of its own for each purpose, the same for the same random state."""
        return np.random.default_rng([self.random_state, purpose])

    def torch_generator(self) -> torch.Generator:
        """Generator for initial weights."""
        return torch.Generator().manual_seed(self.random_state)

    def part(self, name: str) -> Run:
        """The same for a part of the fit, whose checkpoints have names of their own."""
        if self.checkpoint is None:
            return self
        return replace(self, checkpoint=self.checkpoint.part(name))

    def keep(self, name: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array that is made once in a fit, also if that is killed meanwhile."""
        return keep(self.checkpoint, name, make)

    @property
    def clock(self) -> Callable[[], float]:
        """Counts seconds; in a fit that was killed, those before that too."""
        return time.monotonic if self.checkpoint is None else self.checkpoint.clock


class FittedMethod(ABC):
    """What a method leaves behind: it predicts for any row of any domain of the graph."""

    history: History

    @abstractmethod
    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities (n, n_classes), or values in standard units (n, n_outputs)."""

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Encodings (n, encoding_dim); methods without an encoder return the features."""
        return X.astype(np.float64)

    def confidence(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """How sure the method is of each row, shape (n,), from 0 to 1; see each method.

        By default the largest class probability, and 1 for values.
        """
        output = self.predict(X, codes)
        is_proba = output.shape[1] > 1 and bool(np.allclose(output.sum(axis=1), 1.0))
        return output.max(axis=1) if is_proba else np.ones(len(X))

    def doubt(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Squared error that the method expects of each row, shape (n,), in standard units.

        None for methods that do not know, which are most, and for classes.
        """
        return None

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedMethod:
        """The same model for a larger graph, without training.

        Parameters
        ----------
        graph : DomainGraph
            The domains of the fit first, in their order and with their edges, then new ones.
        X, codes : arrays
            Rows of new domains, none of them labelled; may be empty.
        """
        raise NotImplementedError(
            "This method cannot be extended to new domains. Fit it again, with them in the graph."
        )


class Method(BaseEstimator, ABC):
    """A way to adapt, as a scikit-learn parameter object: it stores settings and nothing else.

    A method is a keyword-only dataclass, so that ``get_params`` sees its settings together with
    those it inherits. Settings are checked when it is used.
    """

    name: ClassVar[str]
    citation: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = ("classification", "regression")
    #: Whether all rows of a domain get the same prediction, whatever their features.
    one_answer_per_domain: ClassVar[bool] = False
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {}

    @property
    def takes_any_shape(self) -> bool:
        """Whether rows may be images and the like, left unscaled, instead of vectors."""
        return False

    @property
    def pair_column(self) -> str | int | None:
        """Column of X that both rows of a pair must agree on, for methods that pair rows."""
        return None

    @abstractmethod
    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Learn from the visible labels and all rows."""

    def check(self, data: DomainData) -> None:
        """Refuse wrong settings, and data that this method is not made for."""
        self._validate_params()
        if data.kind not in self.kinds:
            raise ValueError(
                f"Method {self.name!r} does {' and '.join(self.kinds)} only, not {data.kind}."
            )
