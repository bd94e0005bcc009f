"""Run methods on a task side by side."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from grada.datasets import Evaluation, Task
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.methods import Method, resolve
from grada.training import AdaptationWarning, History


@dataclass(frozen=True)
class Result:
    """One method on one task."""

    method: str
    evaluation: Evaluation
    seconds: float
    history: History

    def to_dict(self) -> dict[str, object]:
        """Plain numbers for JSON."""
        return {
            "mean": self.evaluation.mean,
            "worst": self.evaluation.worst,
            "levels": dict(self.evaluation.per_level),
            "seconds": self.seconds,
        }


def run(
    task: Task, method: str | Method, *, random_state: int | None = None, verbose: int = 0
) -> Result:
    """Fit a method on what is visible of a task, predict, and score the targets.

    Parameters
    ----------
    task : Task
    method : str or Method
    random_state : int, optional
    verbose : int
        Whether to show a progress bar.

    Returns
    -------
    Result

    Examples
    --------
    >>> from grada.datasets import make_dg
    >>> run(make_dg(n_domains=4, n_sources=2), "plain").method
    'plain'
    """
    kind = AdaptedClassifier if task.kind == "classification" else AdaptedRegressor
    estimator = kind(method, task.graph, random_state=random_state, verbose=verbose)
    X, y, domain = task.visible()
    start = time.perf_counter()
    predicted = estimator.fit(X, y, sample_domain=domain).predict(X, sample_domain=domain)
    seconds = time.perf_counter() - start
    return Result(resolve(method).name, task.evaluate(predicted), seconds, estimator.history_)


@dataclass(frozen=True)
class Summary:
    """One method on one task over several seeds: means, and the deviation of the mean score."""

    method: str
    metric: str
    mean: float
    std: float
    worst: float
    levels: dict[str, float]
    seconds: float
    seeds: int

    @classmethod
    def of(cls, results: Sequence[Result]) -> Summary:
        """Summarise the runs of one method."""
        scores = [result.evaluation for result in results]
        return cls(
            method=results[0].method,
            metric=scores[0].metric,
            mean=float(np.mean([score.mean for score in scores])),
            std=float(np.std([score.mean for score in scores])),
            worst=float(np.mean([score.worst for score in scores])),
            levels={
                level: float(np.mean([score.per_level[level] for score in scores]))
                for level in scores[0].per_level
            },
            seconds=float(np.mean([result.seconds for result in results])),
            seeds=len(results),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        figures = asdict(self)
        del figures["method"], figures["metric"]
        return figures


def repeat(
    task: Task, methods: Sequence[str | Method], *, seeds: int, jobs: int = 1
) -> Iterator[Summary]:
    """Run methods with random states 0, 1, ... and summarise each as soon as it is done.

    Parameters
    ----------
    task : Task
    methods : sequence of str or Method
    seeds : int
    jobs : int
        Processes side by side, one thread each.

    Yields
    ------
    Summary
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        runs = (
            delayed(_run_quietly)(task, method, seed) for method in methods for seed in range(seeds)
        )
        results = iter(Parallel(n_jobs=jobs, return_as="generator")(runs))
        for _ in methods:
            yield Summary.of(list(itertools.islice(results, seeds)))


def _run_quietly(task: Task, method: str | Method, seed: int) -> Result:
    warnings.simplefilter("ignore", AdaptationWarning)
    return run(task, method, random_state=seed)


def compare(
    task: Task,
    methods: Iterable[str | Method],
    *,
    random_state: int | None = None,
    verbose: int = 0,
) -> Iterator[Result]:
    """Run several methods on the same task, one result as soon as it is there."""
    for method in methods:
        yield run(task, method, random_state=random_state, verbose=verbose)
