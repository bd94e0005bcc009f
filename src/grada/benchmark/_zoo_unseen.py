"""The unseen part of the zoo: kinds of task that nothing was tuned on. For judging only."""

from __future__ import annotations

from grada.benchmark import _zoo_blind_values
from grada.benchmark._zoo import ZooTask, named
from grada.benchmark._zoo_unseen_classes import CLASSES
from grada.benchmark._zoo_unseen_values import VALUES


def unseen_tasks(random_state: int = 0) -> list[ZooTask]:
    """Tasks on which a choice of method is judged, and never made.

    Parameters
    ----------
    random_state : int
        Another one gives fresh draws of the same kinds.

    Returns
    -------
    list of ZooTask

    """
    return [
        *named("unseen", CLASSES, "classification", random_state),
        *named("unseen", VALUES, "regression", random_state),
        *named("blind", _zoo_blind_values.VALUES, "regression", random_state),
    ]
