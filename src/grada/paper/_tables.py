"""The paper's tables: its figures, ours by its protocol, and ours without the leak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from grada.benchmark import (
    Job,
    Protocol,
    Record,
    Summary,
    connected_sources,
    load_task,
    method_names,
    peers,
    summarize,
)
from grada.datasets._files import DataNotFoundError
from grada.paper import _remarks
from grada.paper._figures_of_the_paper import ADAGRAPH, BY_SOURCES, RESULTS
from grada.paper._page import Context, Part, table

TITLES = {
    "plain": "plain (scikit-learn)",
    "source-only": "Source-Only",
    "dann": "DANN",
    "adda": "ADDA",
    "cdann": "CDANN",
    "mdd": "MDD",
    "sentry": "SENTRY",
    "gnn-ssl-v1": "GNN-SSL-V1",
    "gnn-ssl-v2": "GNN-SSL-V2",
    "cida": "CIDA",
    "pcida": "PCIDA",
    "grda": "GRDA",
}


def place(method: str) -> int:
    """Place of a method in a table; those without a title come last."""
    return list(TITLES).index(method) if method in TITLES else len(TITLES)


_EMPTY = ""

#: Tasks with all methods; on the others only these are run.
PAPER_TASKS = ("dg15", "dg60", "tpt48-ew", "tpt48-ns", "compcars", "rotating-digits")
EXTRA_METHODS = ("plain", "source-only", "dann", "mdd", "grda")


def jobs_for(
    task: str, methods: Iterable[str], seeds: int, protocol: Protocol = "leak-free", **others: Any
) -> list[Job]:
    """Jobs of several methods on a task; peers have nothing random and run once."""
    return [
        Job(task, name, seed, protocol, **others)
        for name in methods
        for seed in range(1 if name.startswith("skada-") else seeds)
    ]


class Runs:
    """The runs behind a table: published protocol and leak-free, by task and method."""

    def __init__(
        self, context: Context, tasks: Sequence[str], methods: Sequence[str] | None = None
    ):
        self.records: list[Record] = []
        planned: list[Job] = []
        for task in tasks:
            kind = load_task(task).kind
            everything = sorted(method_names(kind), key=place)
            wanted = EXTRA_METHODS if methods is None and task not in PAPER_TASKS else methods
            own = [name for name in everything if wanted is None or name in wanted]
            known = ["plain", *RESULTS[task]] if task in RESULTS else []
            planned += jobs_for(task, own, context.seeds)
            if methods is None:
                planned += jobs_for(task, peers(kind), context.seeds)
            planned += jobs_for(
                task, [name for name in own if name in known], context.seeds, "published"
            )
        self.records = context.run(planned)

    def of(self, task: str, protocol: str) -> dict[str, Summary]:
        """Summaries by method."""
        chosen = [r for r in self.records if r.task == task and r.protocol == protocol]
        return {summary.method: summary for summary in summarize(chosen)}

    @property
    def code(self) -> list[str]:
        """States of the code that made the runs."""
        return [record.code for record in self.records]

    def data(self, tasks: Sequence[str]) -> dict[str, Any]:
        """Plain numbers for results.json."""
        return {
            task: {
                "paper": RESULTS.get(task, {}),
                **{
                    protocol: {
                        name: {**one.to_dict(), "warned": one.warned}
                        for name, one in self.of(task, protocol).items()
                    }
                    for protocol in ("published", "leak-free")
                },
            }
            for task in tasks
        }


def title_of(method: str) -> str:
    """A method's name on the page."""
    return TITLES.get(method, f"`{method}`")


def spread(one: Summary | None, digits: int) -> str:
    """Mean ± deviation, or nothing; no decimals where an error has exploded."""
    if one is None:
        return _EMPTY
    digits = digits if one.mean < 100 or one.metric == "accuracy" else 0
    return f"{one.mean:.{digits}f} ± {one.std:.{digits}f}"


def accuracy_table(runs: Runs, task: str) -> str:
    """One task: the three figures of each method, the worst domain, levels and time."""
    published, honest = runs.of(task, "published"), runs.of(task, "leak-free")
    levels = list(next(iter(honest.values())).levels)
    in_paper = ["paper", "published protocol (leaks)"] if task in RESULTS else []
    header = ["method", *in_paper, "leak-free", "worst domain"]
    header += [f"level {level}" for level in levels] + ["seconds", "warned"]
    rows = []
    for name, one in honest.items():
        paper = RESULTS.get(task, {}).get(name, {}).get("all")
        beside = [_EMPTY if paper is None else f"{paper:.2f}", spread(published.get(name), 1)]
        rows.append(
            [
                title_of(name),
                *(beside if in_paper else []),
                spread(one, 1),
                f"{one.worst:.1f}",
                *(f"{one.levels[level]:.1f}" for level in levels),
                f"{one.seconds:.1f}",
                f"{one.warned}/{one.seeds}",
            ]
        )
    return table(header, rows)


def error_table(runs: Runs, task: str) -> str:
    """One regression task, by level, and the error in the unit that people know."""
    published, honest = runs.of(task, "published"), runs.of(task, "leak-free")
    levels = list(next(iter(honest.values())).levels)
    groups = ["paper", "published (leaks)", "leak-free"] if task in RESULTS else ["leak-free"]
    header = ["method"]
    for group in groups:
        header += [f"{group}: all", *(f"level {level}" for level in levels)]
    unit = next(iter(honest.values())).unit
    header += [f"leak-free RMSE in {unit}", "warned"]
    rows = []
    for name, one in honest.items():
        row = [title_of(name)]
        if task in RESULTS:
            paper = RESULTS[task].get(name, {})
            row += [f"{paper[key]:.3f}" if key in paper else _EMPTY for key in ("all", *levels)]
            row += _with_levels(published.get(name), levels)
        row += _with_levels(one, levels)
        row += [f"{one.rmse:.2f}", f"{one.warned}/{one.seeds}"]
        rows.append(row)
    return table(header, rows)


def _with_levels(one: Summary | None, levels: Sequence[str]) -> list[str]:
    if one is None:
        return [_EMPTY] * (1 + len(levels))
    by_level = (one.levels[level] for level in levels)
    return [spread(one, 3), *(f"{x:.3f}" if x < 100 else f"{x:.0f}" for x in by_level)]


SUMMARY = {
    "dg15": "DG-15, accuracy in %",
    "dg60": "DG-60, accuracy in %",
    "rotating-digits": "rotating digits, accuracy in %",
    "tpt48-ew": "TPT-48 E → W, error",
    "tpt48-ns": "TPT-48 N → S, error",
}


def table_summary(context: Context) -> Part:
    """All methods on all tasks, leak-free: the table of the README."""
    planned = {
        task: jobs_for(task, sorted(method_names(load_task(task).kind), key=place), context.seeds)
        for task in SUMMARY
    }
    records = context.run([job for jobs in planned.values() for job in jobs])
    found = {
        task: {one.method: one for one in summarize(r for r in records if r.task == task)}
        for task in SUMMARY
    }
    methods = sorted({name for column in found.values() for name in column}, key=place)
    digits = {task: 3 if task.startswith("tpt48") else 1 for task in SUMMARY}
    rows = [
        [title_of(name), *(spread(found[task].get(name), digits[task]) for task in SUMMARY)]
        for name in methods
    ]
    header = ["method, leak-free", *SUMMARY.values()]
    data = {
        task: {name: one.to_dict() for name, one in column.items()}
        for task, column in found.items()
    }
    code = [record.code for record in records]
    return Part("All methods on all tasks, leak-free", table(header, rows), data, code=code)


def table_1(context: Context) -> Part:
    """Table 1, with the rows of the tables on SSL and SENTRY, the yardstick and the peers."""
    tasks = ["dg15", "dg60"]
    runs = Runs(context, tasks)
    text = "".join(
        f"**{name}** (accuracy in %)\n\n{accuracy_table(runs, task)}\n"
        for name, task in zip(("DG-15", "DG-60"), tasks, strict=True)
    )
    text += _remarks.dg(runs) + _remarks.far_from_paper(runs, tasks)
    return Part("Table 1: DG-15 and DG-60", text, runs.data(tasks), code=runs.code)


def table_2(context: Context) -> Part:
    """Table 2, and the task from six western states of the authors' later work."""
    tasks = {"tpt48-ew": "E(24) → W(24)", "tpt48-ns": "N(24) → S(24)", "tpt48-we": "W(6) → E(42)"}
    runs = Runs(context, list(tasks))
    text = "".join(
        f"**{name}** (summed squared error)\n\n{error_table(runs, task)}\n"
        for task, name in tasks.items()
    )
    text += _remarks.TPT + _remarks.far_from_paper(runs, ["tpt48-ew", "tpt48-ns"])
    return Part("Table 2: TPT-48", text, runs.data(list(tasks)), code=runs.code)


def table_3(context: Context) -> Part:
    """Table 3, where the images are."""
    title = "Table 3: CompCars"
    try:
        load_task("compcars")
    except DataNotFoundError:
        paper = RESULTS["compcars"]
        rows = [[title_of(name), f"{figures['all']:.2f}"] for name, figures in paper.items()]
        return Part(title, table(["method", "paper"], rows) + _remarks.NO_CARS)
    runs = Runs(context, ["compcars"])
    text = accuracy_table(runs, "compcars") + _remarks.CARS
    return Part(title, text, runs.data(["compcars"]), code=runs.code)


def table_adagraph(context: Context) -> Part:
    """The AdaGraph backbone: on CompCars where the images are, and on DG-15."""
    tasks = ["dg15"]
    try:
        load_task("compcars")
        tasks.insert(0, "compcars")
    except DataNotFoundError:
        pass
    names = list(ADAGRAPH)
    planned = [
        job
        for task in tasks
        for backbone in ("plain", "adagraph")
        for job in jobs_for(task, names, context.seeds, backbone=backbone)
    ]
    records = context.run(planned)
    found = {
        (task, backbone): {
            one.method: one
            for one in summarize(r for r in records if (r.task, r.backbone) == (task, backbone))
        }
        for task in tasks
        for backbone in ("plain", "adagraph")
    }
    header = ["method", "paper, CompCars, AdaGraph"]
    header += [f"{task}, {backbone}" for task, backbone in found]
    rows = [
        [
            title_of(name),
            "{:.2f} ± {:.2f}".format(*ADAGRAPH[name]),
            *(spread(column[name], 1) for column in found.values()),
        ]
        for name in names
    ]
    data = {
        f"{task}, {backbone}": {name: one.to_dict() for name, one in column.items()}
        for (task, backbone), column in found.items()
    }
    return Part(
        "AdaGraph as the backbone",
        table(header, rows) + _remarks.ADAGRAPH,
        data,
        code=[record.code for record in records],
    )


def _part_of_table(context: Context, title: str, methods: Sequence[str], remark: str) -> Part:
    """Rows of Tables 1 and 2 that the appendix prints on their own."""
    tasks = [
        task for task in ("dg15", "dg60", "tpt48-ew", "tpt48-ns") if methods[-1] in RESULTS[task]
    ]
    runs = Runs(context, tasks, methods)
    header = ["method"]
    for task in tasks:
        header += [f"{task}: paper", "published protocol (leaks)", "leak-free"]
    rows = []
    for name in methods:
        row = [title_of(name)]
        for task in tasks:
            digits = 1 if task.startswith("dg") else 3
            paper = RESULTS[task].get(name, {}).get("all")
            row += [_EMPTY if paper is None else f"{paper:.{max(2, digits)}f}"]
            row += [spread(runs.of(task, p).get(name), digits) for p in ("published", "leak-free")]
        rows.append(row)
    return Part(title, table(header, rows) + remark, runs.data(tasks), code=runs.code)


def table_ssl(context: Context) -> Part:
    """Graph networks as semi-supervised learners."""
    methods = ["plain", "source-only", "grda", "gnn-ssl-v1", "gnn-ssl-v2"]
    return _part_of_table(context, "Semi-supervised graph networks", methods, _remarks.SSL)


def table_sentry(context: Context) -> Part:
    """SENTRY."""
    methods = ["plain", "source-only", "grda", "sentry"]
    return _part_of_table(context, "SENTRY", methods, _remarks.SENTRY)


def table_digits(context: Context) -> Part:
    """Rotating digits: not in the paper."""
    runs = Runs(context, ["rotating-digits"])
    text = accuracy_table(runs, "rotating-digits") + _remarks.DIGITS
    return Part("Rotating digits", text, runs.data(["rotating-digits"]), code=runs.code)


SOURCE_COUNTS = (1, 2, 4, 6, 8)
SOURCE_METHODS = ("plain", "dann", "grda")
#: Draws of connected sources for each number of them.
DRAWS: Mapping[Protocol, int] = {"leak-free": 6, "published": 2}


def sources_jobs() -> list[Job]:
    """Jobs of the study of the number of sources: a fresh set of sources and a seed a draw."""
    task = load_task("dg15")
    return [
        Job("dg15", method, draw, protocol, sources=connected_sources(task, size, draw))
        for protocol, draws in DRAWS.items()
        for method in SOURCE_METHODS
        if protocol == "leak-free" or method in ("dann", "grda")
        for size in SOURCE_COUNTS
        for draw in range(draws)
    ]


def scores_by_sources(
    records: Iterable[Record], protocol: str
) -> dict[str, dict[int, list[float]]]:
    """Scores of all draws, by method and number of sources."""
    found: dict[str, dict[int, list[float]]] = {}
    for record in records:
        if record.protocol == protocol:
            counts = found.setdefault(record.method, {})
            counts.setdefault(len(record.sources), []).append(record.mean)
    return found


def table_sources(context: Context) -> Part:
    """Number of sources."""
    records = context.run(sources_jobs())
    rows, data = [], {}
    for name, figures in BY_SOURCES.items():
        rows.append([f"{title_of(name)}, paper", *(f"{figures[n]:.1f}" for n in SOURCE_COUNTS)])
    for protocol, label in (
        ("published", "published protocol (leaks)"),
        ("leak-free", "leak-free"),
    ):
        found = scores_by_sources(records, protocol)
        data[protocol] = found
        for name, counts in found.items():
            cells = [f"{np.mean(counts[n]):.1f} ± {np.std(counts[n]):.1f}" for n in SOURCE_COUNTS]
            rows.append([f"{title_of(name)}, {label}", *cells])
    header = ["DG-15, accuracy in %", *(f"{n} source{'s' * (n > 1)}" for n in SOURCE_COUNTS)]
    return Part(
        "Number of source domains",
        table(header, rows) + _remarks.sources(DRAWS),
        _plain(data),
        code=[record.code for record in records],
    )


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        protocol: {
            name: {str(count): scores for count, scores in counts.items()}
            for name, counts in found.items()
        }
        for protocol, found in data.items()
    }
