"""How often "does my graph help?" is answered rightly: the counts behind the published figure.

``python -m grada.benchmark._graph_value_trial`` prints them as one JSON object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import numpy as np

from grada.datasets import Task, make_dg
from grada.datasets.shifts import make_shifts
from grada.graph import DomainGraph
from grada.selection import graph_value

Case = tuple[str, Task, DomainGraph]

_SIZES = (10, 15, 20, 30, 60)
_SHIFTS = ("rotation", "translation", "arc", "scaling")


def graph_value_trial(n: int = 50, *, random_state: int = 0) -> dict[str, Any]:
    """Ask about graphs that are known to help, and about graphs that are known not to.

    The first are those of :func:`grada.datasets.make_dg` with 10 to 60 domains. The second are, in
    turn: random edges on the same data; the same graphs with their domains exchanged; the same
    graphs rewired; and random graphs on moving data, for classification and for regression.

    Parameters
    ----------
    n : int, default=50
        Cases of each.
    random_state : int, default=0

    Returns
    -------
    dict
        ``"informative"`` and ``"uninformative"``: how often each verdict was given, in all and by
        kind of case.
    """
    rng = np.random.default_rng(random_state)
    counts = {}
    for name, cases in (("informative", _helpful(rng)), ("uninformative", _useless(rng))):
        total: Counter[str] = Counter()
        kinds: dict[str, Counter[str]] = {}
        for kind, task, graph in islice(cases, n):
            verdict = graph_value(*task.visible(), graph, kind=task.kind).verdict
            total[verdict] += 1
            kinds.setdefault(kind, Counter())[verdict] += 1
        by_kind = {kind: dict(verdicts) for kind, verdicts in kinds.items()}
        counts[name] = {"n": n, "verdicts": dict(total), "by_kind": by_kind}
    return counts


def _helpful(rng: np.random.Generator) -> Iterator[Case]:
    for size in cycle(_SIZES):
        task = make_dg(size, n_sources=min(6, size // 2), random_state=rng)
        yield f"dg-{size}", task, task.graph


def _useless(rng: np.random.Generator) -> Iterator[Case]:
    makers = (_random_edges, _exchanged, _rewired, _moving("classification"), _moving("regression"))
    for maker in cycle(makers):
        yield maker(rng)


def _dg(rng: np.random.Generator) -> Task:
    return make_dg(int(rng.choice(_SIZES[:-1])), n_sources=5, random_state=rng)


def _random_edges(rng: np.random.Generator) -> Case:
    task = _dg(rng)
    n_domains = task.graph.n_domains
    joined = np.triu(rng.random((n_domains, n_domains)) < rng.uniform(0.15, 0.5), 1)
    edges = np.argwhere(joined).tolist()
    return "random edges", task, DomainGraph.from_edges(edges, names=task.graph.names)


def _exchanged(rng: np.random.Generator) -> Case:
    task = _dg(rng)
    order = rng.permutation(task.graph.n_domains)
    return "exchanged", task, DomainGraph(task.graph.names, task.graph.weights[order][:, order])


def _rewired(rng: np.random.Generator) -> Case:
    task = _dg(rng)
    return "rewired", task, task.graph.rewired(rng)


def _moving(kind: Any) -> Callable[[np.random.Generator], Case]:
    def make(rng: np.random.Generator) -> Case:
        task = make_shifts(
            kind=kind,
            graph="uninformative",
            shift=_SHIFTS[int(rng.integers(len(_SHIFTS)))],  # type: ignore[arg-type]
            n_domains=int(rng.integers(12, 31)),
            n_sources=int(rng.integers(3, 9)),
            random_state=rng,
        )
        return f"moving, {kind}", task, task.graph

    return make


if __name__ == "__main__":
    print(json.dumps(graph_value_trial(), indent=1))
