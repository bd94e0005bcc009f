import os
import signal
import warnings

import pytest
from distributed import LocalCluster

from grada.benchmark import ClusterError, FailedRunsError, Job, Progress, Store, _jobs, run_jobs
from grada.benchmark import _compare as compare
from grada.benchmark import _runner as runner
from grada.training import AdaptationWarning
from grada.training.diagnostics import TrainingError


def jobs(method: str = "plain", seeds: int = 3) -> list[Job]:
    return [Job("rotating-digits", method, seed) for seed in range(seeds)]


def test_what_is_done_is_not_run_again(tmp_path, monkeypatch):
    store = Store(tmp_path / "runs.jsonl")
    run_jobs(jobs(seeds=2), store)
    ran = []
    execute = runner.execute
    monkeypatch.setattr(runner, "execute", lambda job: ran.append(job) or execute(job))
    shown = []
    planned = [*jobs(seeds=3), *jobs(seeds=1)]  # one of them twice
    records = run_jobs(planned, store, on_done=lambda progress, record: shown.append(progress.done))
    assert ran == [Job("rotating-digits", "plain", 2)]
    assert [record.seed for record in records] == [0, 1, 2]
    assert shown == [3]
    assert len(store.read()) == 3


def test_a_run_that_fails_does_not_take_the_others_with_it(tmp_path, monkeypatch):
    store = Store(tmp_path / "runs.jsonl")
    execute = runner.execute

    def fail(job):
        if job.seed == 1:
            raise TrainingError("the loss is NaN")
        return execute(job)

    monkeypatch.setattr(runner, "execute", fail)
    with pytest.raises(FailedRunsError, match=r"1 of 3 runs failed\. .* seed 1: .* is NaN"):
        run_jobs(jobs(), store)
    assert [record.seed for record in store.read()] == [0, 2]


def test_warnings_of_a_run_are_kept(tmp_path, monkeypatch):
    def run(task, method, **options):
        warnings.warn("nothing to align", AdaptationWarning, stacklevel=1)
        return compare.run(task, method, **options)

    monkeypatch.setattr(_jobs, "run", run)
    (record,) = run_jobs(jobs(seeds=1), Store(tmp_path / "runs.jsonl"))
    assert "nothing to align" in record.notes


def test_the_time_left_follows_the_runs_done(tmp_path):
    quick, slow = jobs(), jobs("grda")
    (record,) = run_jobs(quick[:1], Store(tmp_path / "runs.jsonl"))
    progress = Progress(total=6, side_by_side=2, left=[*quick, *slow])
    assert progress.seconds_left is None
    object.__setattr__(record, "seconds", 2.0)
    progress.count(quick[0], record)
    assert progress.seconds_left == pytest.approx(5 * 2.0 / 2)
    object.__setattr__(record, "seconds", 40.0)
    progress.count(slow[0], record)
    # two quick ones and two slow ones are left, on two cores
    assert progress.seconds_left == pytest.approx((2 * 2.0 + 2 * 40.0) / 2)


@pytest.mark.slow
def test_a_killed_dask_worker_loses_no_run(tmp_path):
    """Two worker processes, one killed on the way: no run lost, none counted twice."""
    store, planned = Store(tmp_path / "runs.jsonl"), jobs("source-only", seeds=6)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        killed = []

        def kill_one(progress, record):
            if not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

        records = run_jobs(planned, store, dask=cluster.scheduler_address, on_done=kill_one)
    assert killed
    assert [record.seed for record in records] == list(range(6))
    lines = store.path.read_text().splitlines()
    assert len(lines) == len({record.key for record in store.read()}) == 6


def test_a_cluster_that_is_not_there_is_named(tmp_path):
    for address in ("tcp://127.0.0.1:9", "nonsense", "foo://x:1", ""):
        with pytest.raises(ClusterError, match=f"No Dask scheduler answers at '{address}'"):
            run_jobs(jobs(), Store(tmp_path / "runs.jsonl"), dask=address)
