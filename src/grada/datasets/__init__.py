"""Datasets and generators: each returns a `Task`, which hides the labels of its targets."""

from grada.datasets._task import Evaluation, Task
from grada.datasets.compcars import compcars
from grada.datasets.dg import dg15, dg60, make_dg
from grada.datasets.rotating_digits import rotating_digits
from grada.datasets.shifts import make_shifts
from grada.datasets.tpt48 import state_temperatures, tpt48

__all__ = [
    "Evaluation",
    "Task",
    "compcars",
    "dg15",
    "dg60",
    "make_dg",
    "make_shifts",
    "rotating_digits",
    "state_temperatures",
    "tpt48",
]
