"""Work spread over processes that are started on demand and kept for the next call."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def spread(
    function: Callable[[Sequence[Item]], list[Result]],
    items: Sequence[Item],
    workers: int | None,
    *,
    least: int,
) -> list[Result]:
    """``function(items)``, in pieces on worker processes if there are many items.

    Parameters
    ----------
    function : callable
        Maps a list of items to a list of results; importable by name.
    items : sequence
    workers : int, optional
        Number of processes; by default one a processor. 1: the work is done in this process,
        as it always is in a process that :mod:`multiprocessing` has started.
    least : int
        Fewer items than this are not worth the way to another process.

    Returns
    -------
    list
        In the order of the items.
    """
    n_workers = _usable(workers)
    if n_workers == 1 or len(items) < least:
        return function(items)
    size = math.ceil(len(items) / (2 * n_workers))  # two pieces each evens out slow ones
    pieces = [items[start : start + size] for start in range(0, len(items), size)]
    try:
        done = list(_pool(os.getpid(), n_workers).map(function, pieces))
    except BrokenProcessPool:
        _pool.cache_clear()
        warnings.warn("A worker process died; going on in this process.", stacklevel=2)
        return function(items)
    return [result for piece in done for result in piece]


def _usable(workers: int | None) -> int:
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, or None for one a processor; got {workers}.")
    if multiprocessing.parent_process() is not None:
        # One of many workers already, which need no workers of their own; and it would wait for
        # them for ever when it ends.
        return 1
    if workers is not None:
        return workers
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=2)
def _pool(pid: int, n_workers: int) -> ProcessPoolExecutor:
    """The pool of this process: a forked child has another pid, and so starts its own."""
    # A fork starts at once and does not run the user's script again. It is safe here: what runs
    # in the workers is Pillow and NumPy, never torch with its threads.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(n_workers, mp_context=context)
