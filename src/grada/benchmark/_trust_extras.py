"""Figures that are no runs of a method: new domains, discovered graphs, graph value, speed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from grada.benchmark._compare import run
from grada.benchmark._graph_value_trial import graph_value_trial
from grada.benchmark._jobs import Job
from grada.benchmark._said import score_on
from grada.benchmark._tasks import load_task
from grada.benchmark._trust_context import Context
from grada.benchmark._trust_table import Limit, Row
from grada.datasets import Task
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.graph import Name, domain_distances, edge_auc

CASES = 50
_LEFT_OUT = 6
_NETWORK_SEEDS = 3
_SPEED = ("gradual", "propagation")
#: Where ``make bench`` leaves its results, in the folder of the project.
_RESULTS = Path("benchmarks/results")


def graph_value(context: Context) -> list[Row]:
    """How often "does my graph help?" is answered rightly."""
    title = "Does my graph help?"
    found = context.compute({f"graph value, {CASES} cases": (graph_value_trial, (CASES,))})
    rows = []
    for counts in found.values():
        for name, right in (("informative", "yes"), ("uninformative", "no")):
            verdicts = counts[name]["verdicts"]
            rows.append(
                Row(
                    title,
                    f"{name} graphs: answer {right!r} in ... of {counts[name]['n']} cases",
                    verdicts.get(right, 0),
                    Limit(at_least=0.8 * counts[name]["n"]),
                    Limit(at_least=0.9 * counts[name]["n"]),
                    note=", ".join(f"{n} x {verdict}" for verdict, n in verdicts.items()),
                )
            )
        context.details["Does my graph help? Answers by kind of case"] = [
            {"case": f"{name}: {kind}", **{v: said.get(v, 0) for v in ("yes", "no", "cannot tell")}}
            for name, group in counts.items()
            for kind, said in group["by_kind"].items()
        ]
    return rows


def discovery(context: Context) -> list[Row]:
    """Whether the true edges are found from rows alone."""
    names = ("dg15", "dg60")
    found = context.compute({f"discovery, {name}": (discovery_auc, (name,)) for name in names})
    title = "Graph discovery: area under the curve of the true edges"
    return [
        Row(title, key.removeprefix("discovery, "), value, Limit(at_least=0.8))
        for key, value in found.items()
    ]


def discovery_auc(task_name: str) -> float:
    """Edge AUC of the distances between domains of a task, found without labels."""
    X, _, domain = load_task(task_name).visible()
    return edge_auc(load_task(task_name).graph, domain_distances(X, domain))


def networks(context: Context) -> list[Row]:
    """Whether a network that corrects the plain model loses to it."""
    rows, seeds = [], min(context.seeds, _NETWORK_SEEDS)
    for name in ("tpt48-ew", "tpt48-ns", "tpt48-we"):
        calls = {f"grda, {name}, seed {seed}": (grda_error, (name, seed)) for seed in range(seeds)}
        found = list(context.compute(calls).values())
        plain = context.records([Job(name, "plain", 0)])
        if found and plain:
            note = f"plain {plain[0].mean:.3f}; {len(found)} seeds, ± {np.std(found):.3f}"
            limit = Limit(at_most=1.02 * plain[0].mean)
            title = "Networks that correct the plain model: grda, squared error"
            rows.append(Row(title, name, float(np.mean(found)), limit, note=note))
    return rows


def grda_error(task_name: str, random_state: int) -> float:
    """Error of GRDA with its default settings, which for values correct the plain model."""
    return run(load_task(task_name), "grda", random_state=random_state).evaluation.mean


def new_domains(context: Context) -> list[Row]:
    """Whether a model extended to a domain is as good there as one fitted with it."""
    title = "New domains: extended to a domain left out of the fit, against a refit with it"
    rows = []
    for task_name in ("dg60", "tpt48-ew"):
        task = load_task(task_name)
        # What auto chooses without the domain differs a little: with values that shows in single
        # domains, so that all are looked at.
        every = task.kind == "regression"
        names = spread_over_hops(task, len(task.targets) if every else _LEFT_OUT)
        calls = {f"extend, {task_name}, {n!r}": (extended_score, (task_name, n)) for n in names}
        found = context.compute(calls)
        refit = {r.task: r.per_domain for r in context.records([Job(task_name, "auto", 0)])}
        if not refit or not found:
            continue
        pairs = [
            (found[key], refit[task_name][name], name)
            for key, name in zip(calls, names, strict=True)
            if key in found
        ]
        rows.append(_extend_row(title, task, pairs))
        hops = task.graph.hops(task.sources)
        context.details[f"New domains: {task_name}"] = [
            {"domain": str(name), "hops": hops[name], "extended": new, "refit": old}
            for new, old, name in pairs
        ]
    return rows


def _extend_row(title: str, task: Task, pairs: list[tuple[float, float, Name]]) -> Row:
    new, old = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    worse, unit, factor, also = float((new - old).mean()), "points", -1.0, ""
    if task.kind == "regression":
        # A point of accuracy is one in a hundred of what can be right: here of the variance.
        hidden = task.reveal()[np.isin(task.domain, task.targets)]
        factor = 100.0 / float(np.var(hidden, axis=0).sum())
        unit = "points of explained variance"
        also = f", {100 * worse / float(old.mean()):+.1f} % of the error"
    apart = abs(factor) * float(np.abs(new - old).mean())
    return Row(
        title,
        f"{task.name}: worse than a refit by, {unit}",
        factor * worse,
        Limit(at_most=3),
        note=f"{len(pairs)} domains; means {old.mean():.4g} refitted, {new.mean():.4g} "
        f"extended{also}; mean absolute difference {apart:.3g} points",
    )


def spread_over_hops(task: Task, n: int) -> list[Name]:
    """Some targets, from the nearest to the sources to the farthest."""
    hops = task.graph.hops(task.sources)
    ordered = sorted(task.targets, key=lambda name: hops[name])
    places = np.unique(np.linspace(0, len(ordered) - 1, n).round().astype(int))
    return [ordered[place] for place in places]


def extended_score(task_name: str, left_out: Name, random_state: int = 0) -> float:
    """Score of ``auto`` in a target that was not there when it was fitted.

    Parameters
    ----------
    task_name : str
    left_out : name
        A target.
    random_state : int

    Returns
    -------
    float
        Accuracy in %, or squared error summed over the outputs.
    """
    task = load_task(task_name)
    X, y, domain = task.visible()
    new = task.graph.index(domain) == task.graph.index([left_out])[0]
    kind = AdaptedClassifier if task.kind == "classification" else AdaptedRegressor
    rest = task.graph.subgraph([name for name in task.graph.names if name != left_out])
    estimator = kind("auto", rest, random_state=random_state)
    estimator.fit(X[~new], y[~new], sample_domain=domain[~new])
    extended = estimator.extend(task.graph, X[new], domain[new])
    predicted = extended.predict(X[new], sample_domain=domain[new])
    return score_on(task, predicted, np.flatnonzero(new))[0]


def speed(context: Context) -> list[Row]:
    """What ``make bench`` found, if it was run in this folder."""
    rows = []
    for name in _SPEED:
        file = _RESULTS / f"{name}.json"
        if not file.is_file():
            note = f"no {file}: run `make bench` in the folder of the project"
            rows.append(Row("Speed", name, None, note=note))
            continue
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        for need in content["requirements"]:
            bound = "at_least" if need["bound"] == "at least" else "at_most"
            limit = Limit(**{bound: need["limit"]})
            rows.append(Row("Speed", f"{name}: {need['what']}", need["ratio"]["median"], limit))
        seconds = content["figures"].get("seconds", {})
        said = ", ".join(f"{value:.4g} s at {size}" for size, value in seconds.items())
        rows.append(Row("Speed", f"{name}: seconds", None, note=said))
    return rows
