"""Fit the weights of ``auto``'s estimates: ``python -m benchmarks.evidence_weights``.

Every candidate of the default portfolio is tried on the zoo's tuning part, and the weights of
``grada/selection/evidence.py`` are fitted to the true scores. What is printed is measured on
families of tasks that the weights were not fitted on.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

import grada.selection
from grada.benchmark._zoo import ZooTask, zoo
from grada.data import DomainData, Labels, read_table
from grada.methods import Run
from grada.selection import GraphHoldout
from grada.selection.blending import HopBlend
from grada.selection.choice import CLEARLY_BETTER, choose
from grada.selection.evidence import (
    CLASS_SCORES,
    accuracy,
    basis,
    class_features,
    hidden_lead,
    load_weights,
    logit,
    sigmoid,
)
from grada.selection.holdout import row_folds
from grada.selection.portfolio import default_portfolio, is_slow
from grada.selection.scores import LabelFree
from grada.selection.trials import Trial, hold_out, hops_from, try_candidate

Floats = NDArray[np.float64]

_PENALTY = 1e-3
#: No weight is smaller: a domain whose classes changed places shows in one score only.
_LEAST = 0.1


@dataclass
class Case:
    """What is known about all candidates on one task, and the truth."""

    name: str
    family: str
    kind: str
    candidates: list[str]
    features: dict[str, Floats]  # (n_candidates, n_targets, n_features) by what was hidden
    truth: Floats  # (n_candidates, n_targets)
    auto: Floats  # (n_targets,): of the blend that auto takes; regression only
    estimate: Floats  # (n_targets,); regression only
    ratio: float = 1.0  # expected error over the plain model's; 1 if that is kept

    @property
    def tested(self) -> str:
        """What ``auto`` goes by."""
        return next(iter(self.features))


def study(entry: ZooTask, quick_only: bool) -> Case:
    """Try all candidates on a task and compare them with the truth."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    task = entry.make()
    X, y, domain = task.visible()
    data, _, coder = read_table(X, Labels.read(y, kind=task.kind), domain, graph=task.graph)
    truth = coder.encode(Labels.read(task.reveal(), kind=task.kind))
    lens, run = LabelFree(data), Run(0, torch.device("cpu"))
    splits = list(GraphHoldout().split_rows(data))
    trials = []
    for name, method in default_portfolio(task.kind).items():
        if quick_only and is_slow(method):
            continue
        once = is_slow(method) and task.kind == "classification"
        trial = Trial(name, method)
        try_candidate(trial, data, lens.rows, splits[:1] if once else splits, run, np.inf)
        if trial.problem is None:
            trials.append(trial)
    truth = truth[lens.rows]
    scores = np.stack([lens.per_target(_score(trial.output, truth)) for trial in trials])
    auto = estimate = np.zeros(0)
    features, ratio = {}, 1.0
    if task.kind == "classification":
        features = _features(trials, data, lens, run)
    else:
        choice = choose(trials, lens)
        by_name = {trial.name: trial.output for trial in trials}
        parts = np.stack([by_name[name] for name in choice.shares])
        hops = hops_from(data.graph, data.sources)[data.codes[lens.rows]]
        whole = HopBlend.same_everywhere(np.ones(len(parts)))
        shares = (choice.blended or whole).at(hops)
        blended = np.einsum("nc,cno->no", shares, parts)
        usual = np.exp(load_weights()["regression"]["errors"]["domain"][1])
        auto, estimate = lens.per_target(_score(blended, truth)), choice.estimate.mean / usual
        ratio = choice.ratio
    names = [trial.name for trial in trials]
    return Case(entry.name, entry.family, task.kind, names, features, scores, auto, estimate, ratio)


def _features(
    trials: Sequence[Trial], data: DomainData, lens: LabelFree, run: Run
) -> dict[str, Floats]:
    """What is known with sources hidden, if they can be, with rows hidden, and without."""
    folds = list(row_folds(data))
    instead = [
        replace(trial, held_out=hold_out(trial.method, data, folds, run) if folds else None)
        for trial in trials
    ]
    found = {}
    for group in (trials, instead):
        for trial in group[:1]:
            found[basis(trial)] = np.stack([class_features(each, lens, trial) for each in group])
    width = len(CLASS_SCORES)
    found.setdefault("none hidden", next(iter(found.values()))[..., :width])
    return found


def _score(output: Any, truth: Any) -> Floats:
    if truth.ndim == 1:
        return (output.argmax(axis=1) == truth).astype(np.float64)
    return ((output - truth) ** 2).sum(axis=1).astype(np.float64)


def fit(features: Floats, truth: Floats, weight: Floats) -> Floats:
    """Constant and positive weights of a logistic model of shares."""

    def loss(b: Floats) -> tuple[float, Floats]:
        p = sigmoid(b[0] + features @ b[1:])
        missed = weight * (p - truth)
        likely = truth * np.log(p + 1e-9) + (1 - truth) * np.log(1 - p + 1e-9)
        slope = np.append(missed.sum(), features.T @ missed + 2 * _PENALTY * b[1:])
        return float(-weight @ likely + _PENALTY * b[1:] @ b[1:]), slope

    n = features.shape[1]
    bounds = [(None, None), *[(_LEAST, None)] * n]
    start = np.full(n + 1, _LEAST)
    found: Floats = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return found


def fit_stage(cases: Sequence[Case], chosen: Sequence[Sequence[int]], tested: str) -> Floats:
    """Weights from some candidates of each case; each case weighs the same."""
    used = [(case, picks) for case, picks in zip(cases, chosen, strict=True) if len(picks)]
    width = used[0][0].features[tested].shape[-1]
    features = [case.features[tested][picks].reshape(-1, width) for case, picks in used]
    truth = [case.truth[picks].ravel() for case, picks in used]
    weight = [np.full(len(part), 1 / len(part) / len(used)) for part in truth]
    return fit(np.concatenate(features), np.concatenate(truth), np.concatenate(weight))


def pick(case: Case, weights: Floats, tested: str) -> int:
    """The candidate that the weights choose, the plain model in doubt."""
    features = case.features[tested]
    standing = accuracy(features, weights).mean(axis=1) + hidden_lead(list(features))
    best = int(standing.argmax())
    return best if standing[best] - standing[0] >= CLEARLY_BETTER else 0


def fit_all(cases: Sequence[Case]) -> dict[str, dict[str, list[float]]]:
    """Both stages, for all that can be hidden."""
    weights = {}
    for tested in ("hidden", "rows", "none hidden"):
        used = [case for case in cases if tested in case.features]
        rank = fit_stage(used, [range(len(case.candidates)) for case in used], tested)
        winner = fit_stage(used, [[pick(case, rank, tested)] for case in used], tested)
        weights[tested] = {"rank": rank.tolist(), "winner": winner.tolist()}
    return weights


def judge(cases: Sequence[Case], as_if: str | None = None) -> dict[str, Any]:
    """Regret, harm and errors of the estimates on families that were left out of the fit.

    Parameters
    ----------
    cases : sequence of Case
    as_if : {"rows", "none hidden"}, optional
        Judge as if no more could be hidden.

    Returns
    -------
    dict
    """
    lines, overall, domain = [], [], []
    for family in sorted({case.family for case in cases}):
        weights = fit_all([case for case in cases if case.family != family])
        for case in (case for case in cases if case.family == family):
            tested = as_if if as_if in case.features else case.tested
            stage = weights[tested]
            chosen = pick(case, np.array(stage["rank"]), tested)
            winner, means = np.array(stage["winner"]), case.truth.mean(axis=1)
            estimate = accuracy(case.features[tested][chosen], winner)
            overall.append(logit(means[chosen]) - logit(estimate.mean()))
            domain += list(logit(case.truth[chosen]) - logit(estimate))
            lines.append(
                {
                    "task": case.name,
                    "chosen": case.candidates[chosen],
                    "best": case.candidates[int(means.argmax())],
                    "regret": means.max() - means[chosen],
                    "harm": means[0] - means[chosen],
                    "missed": estimate.mean() - means[chosen],
                }
            )
    return {"lines": lines, "errors": {"domain": quantiles(domain), "overall": quantiles(overall)}}


def quantiles(errors: Sequence[float]) -> list[float]:
    """The 5th, 50th and 95th percentile."""
    return [float(each) for each in np.quantile(errors, [0.05, 0.5, 0.95])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3, help="draws of the tuning part")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="without candidates that train nets")
    parser.add_argument("--cache", type=Path, help="keep what was learned about the tasks here")
    parser.add_argument("--write", action="store_true", help="write weights.json")
    arguments = parser.parse_args()
    cases = _cases(arguments)
    classes = [case for case in cases if case.kind == "classification"]
    values = [case for case in cases if case.kind == "regression" and len(case.auto)]
    judged = judge(classes)
    _print(judged["lines"])
    for as_if in ("rows", "none hidden"):
        print(f"As if no more than this could be hidden: {as_if}.")
        _print(judge(classes, as_if)["lines"], detailed=False)
    known = [case for case in values if np.isfinite(case.estimate).all()]
    ratio = [np.log(case.auto.mean() / case.estimate.mean()) for case in known]
    ratios = np.concatenate([np.log(case.auto / case.estimate) for case in known])
    adapted = [case for case in known if case.ratio < 1]
    lead = [np.log(case.auto.mean() / case.truth[0].mean() / case.ratio) for case in adapted]
    errors = {"domain": quantiles(ratios), "overall": quantiles(ratio), "lead": quantiles(lead)}
    weights = {
        "made by": "python -m benchmarks.evidence_weights "
        f"--draws {arguments.draws} {'--quick ' * arguments.quick}--write",
        "cases": len(cases),
        "classification": {**fit_all(classes), "errors": judged["errors"]},
        "regression": {"errors": errors},
    }
    text = json.dumps(weights, indent=1)
    if arguments.write:
        path = Path(grada.selection.__file__).with_name("weights.json")
        path.write_text(text + "\n", encoding="utf-8")
    print(text)


def _cases(arguments: argparse.Namespace) -> list[Case]:
    cache = arguments.cache
    if cache is not None and cache.exists():
        return joblib.load(cache)
    entries = [entry for draw in range(arguments.draws) for entry in zoo("tuning", 1 + draw)]
    run = joblib.Parallel(arguments.jobs, verbose=5)
    cases = run(joblib.delayed(study)(entry, arguments.quick) for entry in entries)
    if cache is not None:
        joblib.dump(cases, cache)
    return cases


def _print(lines: Sequence[dict[str, Any]], *, detailed: bool = True) -> None:
    regret, harm, missed = (
        100 * np.array([line[key] for line in lines]) for key in ("regret", "harm", "missed")
    )
    for line in lines:
        if detailed and line["regret"] > 0.03:
            print(f"  {line['task']}: {line['chosen']}, best {line['best']}, {line['regret']:.2f}")
    print(
        f"{len(lines)} tasks: regret {regret.mean():.1f} points (largest {regret.max():.0f}), "
        f"more than 5 worse than plain {np.mean(harm > 5):.1%} (worst {harm.max():.0f}), "
        f"estimate misses by {np.abs(missed).mean():.1f} points"
    )


if __name__ == "__main__":
    main()
