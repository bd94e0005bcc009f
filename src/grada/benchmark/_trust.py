"""The table of trust: what is asked of ``auto`` and its companions, and what they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from grada.benchmark._jobs import Job, Record, code_fingerprint
from grada.benchmark._store import Store
from grada.benchmark._trust_context import Context, Part
from grada.benchmark._trust_extras import (
    discovery,
    graph_value,
    networks,
    new_domains,
    speed,
)
from grada.benchmark._trust_table import Limit, Row, Trust, counted
from grada.benchmark._trust_zoo import generated_classes, generated_values, out_of_time
from grada.methods import available

_GOALS = {"tpt48-ew": 0.25, "tpt48-ns": 0.17, "tpt48-we": 0.35}
_HALVES = 20


def make_trust(
    names: Sequence[str],
    *,
    run: Callable[[Sequence[Job]], list[Record]],
    store: Store,
    seeds: int = 10,
    n_jobs: int = 1,
    stale: bool = False,
    say: Callable[[str], object] = print,
) -> Trust:
    """Make parts of the table.

    Parameters
    ----------
    names : sequence of str
        Some of ``TRUST_PARTS``.
    run : callable
        From jobs to their records, kept in ``store``.
    store : Store
    seeds : int
        Runs of each method on a real file.
    n_jobs : int
        Processes side by side for what is not a run of a method.
    stale : bool
        Whether figures that other code made count.
    say : callable
        Told what is being done.

    Returns
    -------
    Trust
    """
    context = Context(run, store, seeds=seeds, n_jobs=n_jobs, stale=stale, say=say)
    rows: list[Row] = []
    origins: dict[str, str] = {}
    for name in names:
        say(f"{name} ...")
        rows += TRUST_PARTS[name](context)
        command = f"grada bench trust --only {name}" + " --stale" * stale
        for title in (*(row.part for row in rows), *context.details):
            origins.setdefault(title, f"`{command}`, code {code_fingerprint()}.")
    if context.failed:
        note = "; ".join(context.failed)
        rows.append(
            Row("Failures", "what failed", len(context.failed), Limit(at_most=0), note=note)
        )
    return Trust(rows, context.details, context.tasks, origins, seeds, stale)


def dg(context: Context) -> list[Row]:
    """``auto`` on DG-15 and DG-60."""
    rows = []
    for name, title in (("dg15", "DG-15"), ("dg60", "DG-60")):
        records = context.records(_jobs(name, "auto", context.seeds))
        if not records:
            continue
        part, means = f"{title}: auto", [record.mean for record in records]
        slowest = max(record.seconds for record in records)
        rows += [
            Row(
                part,
                "mean over targets, %",
                float(np.mean(means)),
                Limit(at_least=99),
                note=f"{counted(len(records), 'seed')}, ± {np.std(means):.2f}, {_chosen(records)}",
            ),
            Row(
                part,
                "worst domain of all seeds, %",
                min(record.worst for record in records),
                Limit(at_least=95),
            ),
            Row(
                part,
                "seconds to fit and predict, slowest seed",
                slowest,
                Limit(at_most=60) if name == "dg15" else None,
                note=f"mean {np.mean([record.seconds for record in records]):.1f}",
            ),
        ]
    return rows


def tpt48(context: Context) -> list[Row]:
    """``auto`` on the three tasks of TPT-48, against ridge regression."""
    rows = []
    for name, goal in _GOALS.items():
        records = context.records(_jobs(name, "auto", context.seeds))
        plain = context.records(_jobs(name, "plain", 1))  # the same for every seed
        if not records or not plain:
            continue
        means = [record.mean for record in records]
        rows.append(
            Row(
                "TPT-48: auto, squared error",
                name,
                float(np.mean(means)),
                Limit(at_most=1.02 * plain[0].mean),
                Limit(at_most=goal),
                note=f"plain {plain[0].mean:.3f}; {counted(len(records), 'seed')}, "
                f"± {np.std(means):.3f}, {_chosen(records)}",
            )
        )
    return rows


def halves(context: Context) -> list[Row]:
    """``auto`` from random connected halves of the 48 states."""
    names = [f"tpt48-half-{number}" for number in range(_HALVES)]
    jobs = [Job(name, method, 0) for name in names for method in ("auto", "plain")]
    scores: dict[str, dict[str, float]] = {}
    for record in context.records(jobs):
        scores.setdefault(record.task, {})[record.method] = record.mean
    both = [(each["auto"], each["plain"]) for each in scores.values() if len(each) == 2]
    if not both:
        return []
    auto, plain = np.array(both).T
    return [
        Row(
            f"TPT-48: auto from {_HALVES} random connected halves of the states, 2008 to 2019",
            "mean error / mean error of plain",
            float(auto.mean() / plain.mean()),
            Limit(at_most=0.95),
            note=f"{auto.mean():.3f} / {plain.mean():.3f}; better in {np.sum(auto < plain)} of "
            f"{len(both)}, the worst ratio is {np.max(auto / plain):.2f}",
        )
    ]


def class_aware(context: Context) -> list[Row]:
    """Class-aware GRDA on its own."""
    part, name = "DG-15: class-aware GRDA", "class-aware-grda"
    if name not in available():
        return [Row(part, "mean over targets, %", None, Limit(at_least=90), note="no such method")]
    records = context.records(_jobs("dg15", name, context.seeds))
    if not records:
        return []
    means = [record.mean for record in records]
    said = f"{counted(len(records), 'seed')}, ± {np.std(means):.2f}, lowest {min(means):.1f}"
    return [Row(part, "mean over targets, %", float(np.mean(means)), Limit(at_least=90), note=said)]


def _jobs(task: str, method: str, seeds: int) -> list[Job]:
    return [Job(task, method, seed) for seed in range(seeds)]


def _chosen(records: Sequence[Record]) -> str:
    """What ``auto`` relied on most, and in how many runs."""
    counts: dict[str, int] = {}
    for record in records:
        shares = (record.said or {}).get("shares", {})
        if shares:
            main = max(shares, key=lambda name: shares[name])
            counts[main] = counts.get(main, 0) + 1
    said = ", ".join(f"{name} x {count}" for name, count in counts.items())
    late = sum(out_of_time(record) > 0 for record in records)
    return said + f"; out of time before all candidates were tried x {late}" * (late > 0)


#: Parts of the table by name.
TRUST_PARTS: Mapping[str, Part] = {
    "dg": dg,
    "tpt48": tpt48,
    "halves": halves,
    "classes": generated_classes,
    "values": generated_values,
    "class-aware": class_aware,
    "networks": networks,
    "graph-value": graph_value,
    "discovery": discovery,
    "extend": new_domains,
    "speed": speed,
}
