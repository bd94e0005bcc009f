"""Choosing connected domains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def grow(adjacent: NDArray[np.bool_], priority: NDArray[np.float64], n_sources: int) -> list[int]:
    """Connected domains: the one of lowest priority, then always the lowest one around them."""
    chosen = [int(np.argmin(priority))]
    while len(chosen) < n_sources:
        around: NDArray[np.bool_] = np.logical_or.reduce(adjacent[chosen])
        around[chosen] = False
        if not around.any():  # the component is used up: go on in the next one
            around[:] = True
            around[chosen] = False
        chosen.append(int(np.argmin(np.where(around, priority, np.inf))))
    return chosen
