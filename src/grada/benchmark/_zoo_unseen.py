"""The unseen part of the zoo: kinds of task that nothing was tuned on. For judging only."""

from __future__ import annotations

from grada.benchmark._zoo import ZooTask
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

    Examples
    --------
    >>> [task.family for task in unseen_tasks()][:2]
    ['blobs in space/ring', 'two planes/chain']
    """
    classes = [
        ZooTask(f"unseen-{name}", family, "classification", random_state, maker)
        for name, (family, maker) in CLASSES.items()
    ]
    values = [
        ZooTask(f"unseen-{name}", family, "regression", random_state, maker)
        for name, (family, maker) in VALUES.items()
    ]
    return classes + values
