"""The tasks of the benchmark by name, as each protocol wants them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from grada.benchmark._settings import Protocol
from grada.datasets import Task, compcars, dg15, dg60, rotating_digits, tpt48
from grada.datasets._files import data_home


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
        One of ``TASKS``.
    protocol : {"leak-free", "published"}

    Returns
    -------
    Task
    """
    return TASKS[name](protocol)
