"""Methods on tasks: fit, predict, score, time."""

from grada.benchmark._compare import Result, Summary, compare, repeat, run

__all__ = ["Result", "Summary", "compare", "repeat", "run"]
