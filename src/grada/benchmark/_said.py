"""What ``method="auto"`` said about its own predictions, beside what was true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from grada.datasets import Task
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.selection.auto import FittedAuto
from grada.selection.report import Report

#: Of the intervals that are checked.
COVERAGE = 0.9


def what_was_said(
    estimator: AdaptedClassifier | AdaptedRegressor, task: Task, predicted: NDArray[Any]
) -> dict[str, Any] | None:
    """Candidates, estimates and intervals of a fitted ``auto``, each with the truth.

    Parameters
    ----------
    estimator : AdaptedClassifier or AdaptedRegressor
        Fitted on what is visible of the task.
    task : Task
    predicted : array
        Its predictions for all rows of the task.

    Returns
    -------
    dict or None
        None for another method than ``auto``. ``candidates``: true score of each in the targets,
        on the rows that ``auto`` looked at, as ``task.evaluate`` gives it; ``own``: of ``auto`` on
        the same rows; ``mended``: columns that were in another unit in some targets;
        ``left_out``: why the others were not tried; ``shares``; ``estimate``: ``overall``,
        ``low``, ``high`` and ``truth`` of the mean over targets, in % or as squared error in
        standard units; ``domains``: the same for each target; ``interval``: for values, the share
        of single true values in the targets within ``predict_interval``, and the share of
        intervals that are finite.
    """
    fitted = estimator.fitted_
    if not isinstance(fitted, FittedAuto):
        return None
    report, rows, decode = fitted.report, fitted.rows, estimator._coder.decode
    looked_at = {name: decode(output) for name, output in fitted.tried.items()}
    return {
        "candidates": {name: score_on(task, labels, rows)[0] for name, labels in looked_at.items()},
        "own": score_on(task, predicted[rows], rows)[0],
        "mended": [unit.name for unit in fitted.units.columns],
        "left_out": {c.name: c.problem for c in report.candidates if c.problem is not None},
        "shares": fitted.shares,
        "adapted": report.adapted,
        **_estimates(estimator, report, task, predicted),
        "interval": _interval(estimator, task),
    }


def score_on(
    task: Task, predicted: NDArray[Any], rows: NDArray[np.int64], scale: Any = 1.0
) -> tuple[float, dict[Any, float]]:
    """Score of predictions for some rows: the mean over targets, and each target.

    Parameters
    ----------
    task : Task
    predicted : array of shape (n,) or (n, n_outputs)
    rows : int array of shape (n,)
    scale : float or array of shape (n_outputs,)
        What errors are divided by.

    Returns
    -------
    float, dict
        Accuracy in %, or squared error summed over the outputs. Every target weighs the same.
    """
    truth, codes = task.reveal()[rows], task.graph.index(task.domain[rows])
    if task.kind == "classification":
        score = 100.0 * (predicted == truth)
    else:
        score = (((predicted - truth).reshape(len(rows), -1) / scale) ** 2).sum(axis=1)
    count = np.bincount(codes, minlength=task.graph.n_domains)
    total = np.bincount(codes, score, minlength=task.graph.n_domains)
    targets = task.graph.index(task.targets)
    seen = targets[count[targets] > 0]
    per_domain = {task.graph.names[code]: float(total[code] / count[code]) for code in seen}
    return float(np.mean(list(per_domain.values()))), per_domain


def _estimates(
    estimator: AdaptedClassifier | AdaptedRegressor,
    report: Report,
    task: Task,
    predicted: NDArray[Any],
) -> dict[str, Any]:
    percent = task.kind == "classification"
    factor, scale = (100.0, 1.0) if percent else (1.0, estimator._coder.scale)
    truth, per_domain = score_on(task, predicted, np.arange(len(predicted)), scale)
    figures = {"overall": report.estimate, "low": report.low, "high": report.high}
    return {
        "estimate": {name: factor * x for name, x in figures.items()} | {"truth": truth},
        "domains": [
            {
                "domain": each.domain,
                "estimate": factor * each.estimate,
                "low": factor * each.low,
                "high": factor * each.high,
                "truth": per_domain[each.domain],
            }
            for each in report.domains
        ],
    }


def _interval(
    estimator: AdaptedClassifier | AdaptedRegressor, task: Task
) -> dict[str, float] | None:
    """How often the true values of targets lie within their intervals."""
    if not isinstance(estimator, AdaptedRegressor) or estimator._calibration is None:
        return None
    X, _, domain = task.visible()
    low, high = estimator.predict_interval(X, sample_domain=domain, coverage=COVERAGE)
    truth = task.reveal()
    hidden = np.isin(task.graph.index(domain), task.graph.index(task.targets))
    low, high, truth = low[hidden], high[hidden], truth[hidden]
    return {
        "covered": float(((low <= truth) & (truth <= high)).mean()),
        "finite": float(np.isfinite(high - low).mean()),
    }
