"""The tasks of the benchmark by name, as each protocol wants them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from grada.benchmark._settings import Protocol
from grada.benchmark._zoo import ZooTask, zoo
from grada.datasets import Task, compcars, dg15, dg60, rotating_digits, tpt48
from grada.datasets._files import data_home
from grada.graph import Name

ZooPart = Literal["tuning", "unseen"]

_HALF = re.compile(r"tpt48-half-(\d+)")
_ZOO = re.compile(rf"zoo-({'|'.join(get_args(ZooPart))})/(.+)@(\d+)")


def _tpt48(direction: Literal["E->W", "N->S", "W->E"]) -> Callable[[Protocol], Task]:
    def load(protocol: Protocol) -> Task:
        return tpt48(direction, windows="any-month" if protocol == "published" else "calendar")

    return load


def _compcars(protocol: Protocol) -> Task:
    """Features of the images by our AlexNet, computed once and kept beside the data."""
    from grada.nn import AlexNet, compute_features

    weights = data_home() / "alexnet.pth"
    encoder = AlexNet(weights=weights if weights.is_file() else None)
    return compute_features(compcars(), encoder, cache=data_home() / "features")


def _rotating_digits(protocol: Protocol) -> Task:
    return rotating_digits()


#: From the protocol to the task. In the published one the DG files keep their order, which gives
#: the labels away, and TPT-48 has windows that start in any month.
TASKS: dict[str, Callable[[Protocol], Task]] = {
    "dg15": lambda protocol: dg15(stored_order=protocol == "published"),
    "dg60": lambda protocol: dg60(stored_order=protocol == "published"),
    "tpt48-ew": _tpt48("E->W"),
    "tpt48-ns": _tpt48("N->S"),
    "tpt48-we": _tpt48("W->E"),
    "compcars": _compcars,
    "rotating-digits": _rotating_digits,
}


def load_task(name: str, protocol: Protocol = "leak-free") -> Task:
    """Load a task of the benchmark.

    Parameters
    ----------
    name : str
        One of ``TASKS``; ``tpt48-half-7``: TPT-48 with the seventh random connected half of the
        states as sources; ``zoo-tuning/NAME@100`` or ``zoo-unseen/NAME@0``: a generated task, and
        the seed it is drawn with.
    protocol : {"leak-free", "published"}

    Returns
    -------
    Task
    """
    if half := _HALF.fullmatch(name):
        return tpt48_half(int(half[1]))
    if _ZOO.fullmatch(name):
        return zoo_task(name).make()
    return TASKS[name](protocol)


def is_task(name: str) -> bool:
    """Whether :func:`load_task` knows the name."""
    if _ZOO.fullmatch(name):
        try:
            zoo_task(name)
        except KeyError:
            return False
        return True
    return name in TASKS or _HALF.fullmatch(name) is not None


def zoo_name(part: ZooPart, task: ZooTask) -> str:
    """Name of a generated task in the benchmark."""
    return f"zoo-{part}/{task.name}@{task.random_state}"


def zoo_task(name: str) -> ZooTask:
    """The generated task of this name in the benchmark; KeyError if there is none."""
    found = _ZOO.fullmatch(name)
    if found is None:
        raise KeyError(name)
    part: ZooPart = "tuning" if found[1] == "tuning" else "unseen"
    return {task.name: task for task in zoo(part, int(found[3]))}[found[2]]


def tpt48_half(random_state: int) -> Task:
    """TPT-48, 2008 to 2019, with a random connected half of the states as sources.

    In the units of E->W, whatever the sources, so that errors of several halves can be averaged.
    """
    task = tpt48("E->W")
    return task.with_sources(connected_sources(task, len(task.graph) // 2, random_state))


def connected_sources(task: Task, size: int, random_state: int) -> tuple[Name, ...]:
    """Draw connected sources: a random domain, then random neighbours of those drawn.

    Parameters
    ----------
    task : Task
    size : int
    random_state : int

    Returns
    -------
    tuple of names
        In the order of the graph.
    """
    rng = np.random.default_rng([size, random_state])
    weights = task.graph.weights
    chosen = [int(rng.integers(task.graph.n_domains))]
    while len(chosen) < size:
        around = np.setdiff1d(weights[chosen].indices, chosen)
        chosen.append(int(rng.choice(around)))
    return tuple(task.graph.names[code] for code in sorted(chosen))
