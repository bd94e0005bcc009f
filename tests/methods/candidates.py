"""Made-up candidates that do, or fail to do, what a test needs."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from grada.data import DomainData
from grada.methods import FittedMethod, Method, Run
from grada.training import History

RUN = Run(0, torch.device("cpu"))


def data_of(task) -> DomainData:
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)


class FittedMade(FittedMethod):
    def __init__(self, answer):
        self.answer, self.history = answer, History()

    def predict(self, X, codes):
        return self.answer(X.astype(np.float64), codes)


@dataclass(kw_only=True, eq=False, repr=False)
class Made(Method):
    """Answers as it is told, looks on at every fit, and can fail when it is fitted."""

    answer: Callable[..., Any] | None = None
    look: Callable[[DomainData], None] | None = None
    warning: str | None = None
    name: ClassVar[str] = "made"
    citation: ClassVar[str] = "none"
    _parameter_constraints: ClassVar[dict] = {}

    def adapt(self, data, run):
        if self.look is not None:
            self.look(data)
        if self.warning is not None:
            warnings.warn(self.warning.format(len(data.sources)), UserWarning, stacklevel=1)
        k = data.n_outputs
        return FittedMade(self.answer or (lambda X, codes: np.full((len(X), k), 1 / k)))


def fail(error: Exception) -> Callable[[DomainData], None]:
    def look(data):
        raise error

    return look
