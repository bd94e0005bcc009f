"""Run many jobs side by side, here or on a cluster, and keep each result at once."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from grada.benchmark._jobs import Job, Record, code_fingerprint, execute
from grada.benchmark._store import Store


class ClusterError(OSError):
    """A Dask cluster does not answer, or is not like this computer."""


class FailedRunsError(RuntimeError):
    """Some runs failed; the others are in the store."""


@dataclass
class Progress:
    """How far a benchmark is, and how long it will take.

    The time left is worked out from the runs that are done: a run is expected to take as long as
    those of the same task, method and protocol did, or else as long as the average run.
    """

    total: int
    side_by_side: int
    left: list[Job]
    done: int = 0
    _seconds: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    def count(self, job: Job, record: Record) -> None:
        """A job is done."""
        self.done += 1
        self.left.remove(job)
        self.learn(job, record)

    def learn(self, job: Job, record: Record) -> None:
        """Remember how long a job took."""
        self._seconds.setdefault(_alike(job), []).append(record.seconds)

    @property
    def seconds_left(self) -> float | None:
        """Estimate; None as long as nothing is known."""
        if not self.left:
            return 0.0
        if not self._seconds:
            return None
        everything = float(np.mean([s for times in self._seconds.values() for s in times]))
        expected = [
            float(np.mean(self._seconds.get(_alike(job), [everything]))) for job in self.left
        ]
        return max(sum(expected) / self.side_by_side, max(expected))


def _alike(job: Job) -> tuple[str, ...]:
    return (job.task, job.method, job.protocol, job.backbone)


def run_jobs(
    jobs: Sequence[Job],
    store: Store,
    *,
    n_jobs: int = 1,
    dask: str | None = None,
    any_code: bool = False,
    on_done: Callable[[Progress, Record], None] | None = None,
) -> list[Record]:
    """Run the jobs that are not in the store yet; append each to it as soon as it is done.

    Parameters
    ----------
    jobs : sequence of Job
    store : Store
    n_jobs : int
        Processes side by side, one thread each.
    dask : str, optional
        Address of the scheduler of a Dask cluster to run on instead. Its workers need grada and
        the same data; one thread a worker is best. A job whose worker dies is run again by
        another one.
    any_code : bool
        Whether runs made by other code than the present count as done.
    on_done : callable, optional
        Called after each run with the progress and the record.

    Returns
    -------
    list of Record
        One for each job, in the order of the jobs.
    """
    jobs = list(dict.fromkeys(jobs))
    found = store.finished(jobs, any_code=any_code)
    open_jobs = [job for job in jobs if job not in found]
    with _side_by_side(n_jobs, dask, len(open_jobs)) as (parallel, width):
        progress = Progress(len(jobs), width, list(open_jobs), done=len(found))
        for job, record in found.items():
            progress.learn(job, record)
        failed: dict[Job, str] = {}
        for job, record in parallel(delayed(_execute)(job) for job in open_jobs):
            if isinstance(record, str):
                failed[job] = record
                continue
            _check_same_world(job, record)
            store.append(record)
            found[job] = record
            progress.count(job, record)
            if on_done is not None:
                on_done(progress, record)
    if failed:
        said = "; ".join(f"{j.task} {j.method} seed {j.seed}: {why}" for j, why in failed.items())
        raise FailedRunsError(f"{len(failed)} of {len(jobs)} runs failed. {said}")
    return [found[job] for job in jobs]


def _check_same_world(job: Job, record: Record) -> None:
    if record.code != code_fingerprint():
        raise ClusterError(
            "A worker runs other code or libraries than this process: install the same there."
        )
    if record.key != job.key:
        raise ClusterError(
            f"A worker has other data for {job.task} than this computer: set GRADA_DATA_HOME to "
            "the same files there."
        )


def _execute(job: Job) -> tuple[Job, Record | str]:
    """The record, or what went wrong: one failure must not take the other runs with it."""
    try:
        return job, execute(job)
    except (ArithmeticError, RuntimeError, ValueError) as error:
        return job, f"{type(error).__name__}: {error}"


def _check_address(address: str) -> None:
    """Refuse an address at which nobody listens, before Dask starts to try again and again."""
    try:
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise ImportError("--dask needs Dask: pip install 'grada[scale]'.") from error
    try:
        host, port = get_address_host_port(address, strict=True)
        socket.create_connection((host, port), timeout=10).close()
    except (OSError, ValueError) as error:
        raise ClusterError(f"No Dask scheduler answers at {address!r}: {error}") from None


@contextlib.contextmanager
def _side_by_side(n_jobs: int, dask: str | None, wanted: int) -> Iterator[tuple[Any, int]]:
    # Jobs are small objects that name their task: each process loads it itself. A task sent
    # along would be kept by one Dask worker, and lost with it.
    options = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": "all"}
    if dask is not None:
        _check_address(dask)
    if dask is None or not wanted:
        n_jobs = max(1, min(n_jobs, wanted))
        yield Parallel(n_jobs=n_jobs, **options), n_jobs
        return
    from distributed import Client

    with Client(dask, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        width = sum(client.ncores().values())
        with parallel_config(backend="dask", client=client):
            yield Parallel(n_jobs=-1, **options), max(1, width)
