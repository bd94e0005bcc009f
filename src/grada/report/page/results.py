"""From the runs of a benchmark to the data of a page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from grada.report.page.around import versions
from grada.report.page.data import Headline, MethodRow, PageData, ResultTable, clean

_FIELDS = ("task", "method", "seed", "metric", "mean", "worst", "levels", "seconds")
_LEVELS = ("1", "2", "3+", "unreachable")


def collect_results(
    records: Iterable[Any], *, title: str | None = None, command: str = ""
) -> PageData:
    """Gather what a page shows of benchmark runs: methods x seeds, a table a task.

    Parameters
    ----------
    records : iterable of Record
        Such as ``grada.benchmark.Store(path).read()``. Of several runs of one method and seed the
        last counts.
    title : str, optional
    command : str
        The command that makes this again.

    Returns
    -------
    PageData
    """
    runs = list(records)
    if not runs:
        raise ValueError("There are no runs to report on.")
    for run in runs:
        lacking = [name for name in _FIELDS if not hasattr(run, name)]
        if lacking:
            raise ValueError(f"not a run of a benchmark: {lacking[0]} is missing")
    tasks: dict[tuple[str, ...], list[Any]] = {}
    for run in runs:
        sources = tuple(sorted(map(str, getattr(run, "sources", None) or ())))
        key = (run.task, getattr(run, "protocol", ""), run.metric, *sources)
        tasks.setdefault(key, []).append(run)
    tables = _tables(tasks)
    kept = sum(len(row.seeds) for table in tables for row in table.methods)
    notes = [f"{len(runs) - kept} older runs of the same method and seed are left out."]
    told = {"runs": str(kept), "tasks": str(len({table.task for table in tables}))}
    return PageData(
        title=clean(title or "Benchmark results"),
        kind="results",
        metric=tables[0].metric,
        verdict=" ".join(_verdict(table) for table in tables[:6]),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headlines=_headlines(tables[0]),
        results=tables,
        summary=told,
        warnings=_warned(tables),
        notes=tuple(notes) if kept < len(runs) else (),
        versions=_versions(runs),
        checksums={clean(run.task): clean(getattr(run, "data", "")) for run in runs},
        command=clean(command),
    )


def _tables(tasks: dict[tuple[str, ...], list[Any]]) -> tuple[ResultTable, ...]:
    plain_names = [(key[0], key[1]) for key in tasks]
    found = []
    for (task, protocol, metric, *sources), runs in tasks.items():
        methods: dict[str, dict[int, Any]] = {}
        for run in runs:
            backbone = getattr(run, "backbone", "plain")
            label = run.method if backbone in ("", "plain") else f"{run.method}, {backbone}"
            methods.setdefault(clean(label), {})[int(run.seed)] = run
        rows = [_row(name, list(own.values())) for name, own in methods.items()]
        rows.sort(key=lambda row: -row.mean if metric == "accuracy" else row.mean)
        levels = tuple(level for level in _LEVELS if any(level in row.levels for row in rows))
        # The same task with other sources is told apart by them.
        several = plain_names.count((task, protocol)) > 1
        name = f"{task} (sources {', '.join(sources)})" if several else task
        found.append(ResultTable(clean(name), clean(protocol), metric, levels, tuple(rows)))
    return tuple(found)


def _row(method: str, runs: list[Any]) -> MethodRow:
    runs = sorted(runs, key=lambda run: run.seed)
    means = [float(run.mean) for run in runs]
    levels = {
        str(level): float(np.mean([run.levels[level] for run in runs if level in run.levels]))
        for level in dict.fromkeys(level for run in runs for level in run.levels)
    }
    return MethodRow(
        method=method,
        mean=float(np.mean(means)),
        std=float(np.std(means)),
        worst=float(np.mean([run.worst for run in runs])),
        levels=levels,
        seconds=float(np.mean([run.seconds for run in runs])),
        scores=tuple(means),
        seeds=tuple(int(run.seed) for run in runs),
        warned=sum(bool(getattr(run, "notes", ())) for run in runs),
    )


def _figure(value: float, metric: str) -> str:
    return f"{value:.1f} %" if metric == "accuracy" else f"{value:.3g}"


def _plain(table: ResultTable) -> MethodRow | None:
    return next((row for row in table.methods if row.method == "plain"), None)


def _verdict(table: ResultTable) -> str:
    best, plain = table.methods[0], _plain(table)
    many = f"over {len(best.seeds)} seeds" if len(best.seeds) > 1 else "in a single run"
    said = f"On {table.task}, {best.method} is best: {_figure(best.mean, table.metric)} {many}"
    if plain is None or plain is best:
        return f"{said}."
    return f"{said}; the plain model has {_figure(plain.mean, table.metric)}."


def _headlines(table: ResultTable) -> tuple[Headline, ...]:
    best, plain = table.methods[0], _plain(table)
    found = [
        Headline(f"best {table.metric}", _figure(best.mean, table.metric), best.method),
        Headline("its weakest target", _figure(best.worst, table.metric), "mean over seeds"),
    ]
    if plain is not None:
        found.append(Headline("plain model", _figure(plain.mean, table.metric), table.task))
    else:
        found.append(Headline("methods", str(len(table.methods)), table.task))
    return tuple(found)


def _warned(tables: tuple[ResultTable, ...]) -> tuple[str, ...]:
    return tuple(
        f"{row.method} warned in {row.warned} of {len(row.seeds)} runs on {table.task}."
        for table in tables
        for row in table.methods
        if row.warned
    )


def _versions(runs: list[Any]) -> dict[str, str]:
    """Versions that the runs were made with; those of this page where they do not say."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for name, version in (getattr(run, "versions", None) or {}).items():
            found.setdefault(clean(name), set()).add(clean(version))
    if not found:
        return versions()
    return {name: ", ".join(sorted(each)) for name, each in found.items()}
