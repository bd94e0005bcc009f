"""Run methods on a task side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from grada.benchmark._said import what_was_said
from grada.datasets import Evaluation, Task
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.methods import Method, resolve
from grada.training import History


@dataclass(frozen=True)
class Result:
    """One method on one task; ``said`` is what ``auto`` said about itself, and what was true."""

    method: str
    evaluation: Evaluation
    seconds: float
    history: History
    said: dict[str, Any] | None = None

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
    return Result(
        resolve(method).name,
        task.evaluate(predicted),
        seconds,
        estimator.history_,
        what_was_said(estimator, task, predicted),
    )


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
