"""Schedules: factors that change over the training."""

from __future__ import annotations

import math
from typing import Literal

StrengthSchedule = Literal["constant", "linear", "sigmoid"]
LearningRateSchedule = Literal["constant", "cosine", "halving"]


def strength_factor(schedule: StrengthSchedule, progress: float, warmup: float = 0.2) -> float:
    """Share of the adaptation strength in force at a point of the training.

    ``constant``: 1 throughout. ``linear``: rises to 1 over the first ``warmup`` share.
    ``sigmoid``: 2 / (1 + exp(-10 t)) - 1, the schedule of Ganin et al. (2016).

    Parameters
    ----------
    schedule : {"constant", "linear", "sigmoid"}
    progress : float
        Share of the training that is over, in [0, 1].
    warmup : float

    Returns
    -------
    float

    Examples
    --------
    >>> strength_factor("linear", 0.1, warmup=0.2)
    0.5
    """
    if schedule == "linear":
        return min(1.0, progress / warmup) if warmup > 0 else 1.0
    if schedule == "sigmoid":
        return 2.0 / (1.0 + math.exp(-10.0 * progress)) - 1.0
    return 1.0


def learning_rate_factor(schedule: LearningRateSchedule, epoch: int, n_epochs: int) -> float:
    """Share of the learning rate in force in an epoch.

    ``cosine``: falls smoothly to one percent at the end, which lets the game come to rest.
    ``halving``: halved every 100 epochs, as in the code published with the paper.

    Examples
    --------
    >>> learning_rate_factor("halving", 250, 500)
    0.25
    """
    if schedule == "cosine":
        return 0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * epoch / max(n_epochs, 1)))
    if schedule == "halving":
        return float(0.5 ** (epoch // 100))
    return 1.0
