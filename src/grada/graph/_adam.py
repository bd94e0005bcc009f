"""The optimiser of the embeddings that are fitted on drawn pairs."""

from __future__ import annotations

import math

import numpy as np

from grada.graph._types import Array


class Adam:
    """Step sizes after Kingma and Ba (2015)."""

    def __init__(self, like: Array) -> None:
        self.mean, self.square, self.count = np.zeros_like(like), np.zeros_like(like), 0

    def step(self, gradient: Array, rate: float) -> Array:
        """Return what to subtract from the parameters."""
        self.count += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.05 * (gradient * gradient - self.square)
        scale = rate / (1 - 0.9**self.count) * math.sqrt(1 - 0.95**self.count)
        step: Array = scale * self.mean / (np.sqrt(self.square) + 1e-4)
        return step
