"""The unseen part of the zoo: kinds of task that nothing was tuned on. For judging only."""

from __future__ import annotations

from grada.benchmark._zoo import ZooTask, named
from grada.benchmark._zoo_sealed_values import VALUES
from grada.benchmark._zoo_unseen_classes import CLASSES


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
        *named("sealed", VALUES, "regression", random_state),
    ]
