"""Datasets and generators: each returns a `Task`, which hides the labels of its targets."""

from grada.datasets._task import Evaluation, Task
from grada.datasets.dg import dg15, dg60, make_dg

__all__ = ["Evaluation", "Task", "dg15", "dg60", "make_dg"]
