"""Generated tasks: regret against the best candidate, harm against the plain model, estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grada.benchmark._jobs import Job, Record
from grada.benchmark._settings import method_names
from grada.benchmark._tasks import ZooPart, zoo_name, zoo_task
from grada.benchmark._trust_context import Context
from grada.benchmark._trust_table import Limit, Row, counted
from grada.benchmark._zoo import zoo
from grada.data import Kind

#: Draws of the two parts: settings were chosen on others of the first, and on none of the second.
#: Tasks with values, whose ratios of errors swing widely, are drawn three times, from these on.
_DRAWS_OF: Mapping[Kind, int] = {"classification": 1, "regression": 3}
DRAWS: Mapping[ZooPart, int] = {"tuning": 300, "unseen": 0}
TITLES: Mapping[str, str] = {
    "tuning": "Generated tasks with {}, fresh draws of the kinds that settings were chosen on",
    "unseen": "Generated tasks with {}, of kinds that nothing was chosen on",
    "both": "Generated tasks with {}, all",
}
_WITH: Mapping[Kind, str] = {"classification": "classes", "regression": "values"}
_COVERAGE = Limit(80, 97)
#: Harm that may befall few tasks, and none: in points of accuracy, and in % of the error.
_HARM = {"classification": (5.0, 10.0), "regression": (20.0, 40.0)}

_NEAR_PERFECT = 97.0
#: Methods that spread labels and are no candidates of ``auto``: run alone, so that the page tells
#: what regret would be against them too.
_BESIDE: Mapping[Kind, Sequence[str]] = {"classification": (), "regression": ("gradual",)}

Figures = dict[str, Any]


def generated_classes(context: Context) -> list[Row]:
    """Rows for tasks with classes."""
    return generated(context, "classification")


def generated_values(context: Context) -> list[Row]:
    """Rows for tasks with values."""
    return generated(context, "regression")


def generated(context: Context, kind: Kind) -> list[Row]:
    """Rows for the two parts of the zoo and for both together."""
    jobs = [
        Job(zoo_name(part, task), "auto", 0)
        for part, first in DRAWS.items()
        for draw in range(_DRAWS_OF[kind])
        for task in zoo(part, first + draw)
        if task.kind == kind
    ]
    records = [record for record in context.records(jobs) if record.said is not None]
    alone: dict[str, dict[str, float]] = {}
    further = [job for record in records for job in (*_left_out(record), *_beside(record, kind))]
    for one in context.records(further):
        alone.setdefault(one.task, {})[one.method] = one.mean
    figures = [task_figures(record, alone.get(record.task, {})) for record in records]
    context.tasks += figures
    by_part: dict[str, list[Figures]] = {
        part: [each for each in figures if each["part"] == part] for part in DRAWS
    }
    title = {part: words.format(_WITH[kind]) for part, words in TITLES.items()}
    for part, group in by_part.items():
        if group:
            context.details[f"Regret by kind of task: {title[part]}"] = by_family(group)
    groups = {**by_part, "both": figures}
    return [row for part, group in groups.items() for row in rows_of(title[part], group)]


def _left_out(record: Record) -> list[Job]:
    """Candidates that ``auto`` did not try but could have, each to be run alone.

    Without them regret would be measured against the candidates that ``auto`` thought of. Where
    it is within 3 points of perfect none can beat it by more, and none is run.
    """
    kind = zoo_task(record.task).kind
    if kind == "classification" and record.mean >= _NEAR_PERFECT:
        return []
    known = method_names(kind)
    reasons = (record.said or {})["left_out"]
    return [
        Job(record.task, name, record.seed)
        for name, reason in reasons.items()
        if name in known and "Error:" not in reason
    ]


def _beside(record: Record, kind: Kind) -> list[Job]:
    """Methods that are no candidates, and the plain model if candidates saw mended inputs."""
    plain = ("plain",) if (record.said or {}).get("mended") else ()
    return [Job(record.task, name, record.seed) for name in (*_BESIDE[kind], *plain)]


def task_figures(record: Record, alone: Mapping[str, float]) -> Figures:
    """What a table needs of ``auto`` on one generated task.

    Parameters
    ----------
    record : Record
        Of ``auto``.
    alone : mapping of methods to scores
        Candidates that ``auto`` did not try, and methods that are none.

    Returns
    -------
    dict
        ``regret``, against the candidates and against the other methods too, and ``harm``, in
        points of accuracy or in % of the error.
    """
    task, said = zoo_task(record.task), record.said or {}
    every = {**said["candidates"], **alone}
    scores = {name: score for name, score in every.items() if name not in _BESIDE[task.kind]}
    best_of = max if task.kind == "classification" else min
    if said.get("mended"):  # nobody else would have had these inputs
        scores["plain, mended"] = said["candidates"]["plain"]
    best = best_of(scores, key=lambda name: scores[name])
    shares = said["shares"]
    estimate, interval = said["estimate"], said["interval"] or {}
    return {
        "task": record.task,
        "part": record.task.split("/")[0].removeprefix("zoo-"),
        "family": task.family,
        "kind": task.kind,
        "auto": said["own"],
        "plain": scores["plain"],
        "best": scores[best],
        "best_candidate": best,
        "chosen": max(shares, key=lambda name: shares[name]),
        "regret": loss(task.kind, said["own"], scores[best]),
        "regret_of_all": loss(task.kind, said["own"], best_of(every.values())),
        "harm": loss(task.kind, said["own"], scores["plain"]),
        "estimate": estimate["overall"],
        "truth": estimate["truth"],
        "covered": _within(estimate),
        "domains": [_within(domain) for domain in said["domains"]],
        "interval": interval.get("covered"),
        "finite": interval.get("finite"),
        "seconds": record.seconds,
        "out_of_time": out_of_time(record),
    }


def out_of_time(record: Record) -> int:
    """How many candidates ``auto`` had no time for, or not enough."""
    reasons = (record.said or {}).get("left_out", {}).values()
    return sum("time was" in reason or "budget" in reason for reason in reasons)


def loss(kind: str, reached: float, other: float) -> float:
    """How much worse a score is than another one: in points, or in % of the other error.

    Examples
    --------
    >>> loss("classification", 90.0, 92.0), loss("regression", 1.5, 1.0)
    (2.0, 50.0)
    """
    if kind == "classification":
        return other - reached
    return 100.0 * (reached / max(other, 1e-12) - 1.0)


def _within(estimate: Mapping[str, float]) -> bool | None:
    """Whether the truth is in the interval; None if no interval was given."""
    if np.isnan(estimate["low"]) or np.isnan(estimate["high"]):
        return None
    return bool(estimate["low"] <= estimate["truth"] <= estimate["high"])


def rows_of(title: str, figures: Sequence[Figures]) -> list[Row]:
    """Rows of one group of tasks."""
    if not figures:
        return []
    classes = [each for each in figures if each["kind"] == "classification"]
    values = [each for each in figures if each["kind"] == "regression"]
    harmed = [each for each in figures if each["harm"] > _HARM[each["kind"]][0]]
    late = sum(each["out_of_time"] > 0 for each in figures)
    rows = [
        Row(
            title,
            "tasks with harm over 5 points (20 % of the error), in %",
            100.0 * len(harmed) / len(figures),
            Limit(at_most=5),
            note=f"{len(harmed)} of {len(figures)} tasks; in {late} some candidate was left out "
            "for lack of time",
        )
    ]
    if classes:
        rows += [*_regret_rows(title, classes, "points", 5.0, 2.0), *_accuracy_rows(title, classes)]
    if values:
        rows += [*_regret_rows(title, values, "% of the error", 10.0, 5.0)]
        rows += [_with_others(title, values), _together(title, values), *_error_rows(title, values)]
    return rows


def _regret_rows(
    title: str, figures: Sequence[Figures], unit: str, must: float, goal: float
) -> list[Row]:
    kind = figures[0]["kind"]
    regret = [each["regret"] for each in figures]
    most = max(figures, key=lambda each: each["regret"])
    worst = max(figures, key=lambda each: each["harm"])
    return [
        Row(
            title,
            f"{kind}: mean regret, {unit}",
            float(np.mean(regret)),
            Limit(at_most=must),
            Limit(at_most=goal),
            note=f"{counted(len(figures), 'task')}, median {np.median(regret):.2f}, largest "
            f"{most['regret']:.1f} ({_short(most)}: {most['chosen']}, the best is "
            f"{most['best_candidate']})",
        ),
        Row(
            title,
            f"{kind}: largest harm, {unit}",
            worst["harm"],
            Limit(at_most=_HARM[kind][1]),
            note=f"{_short(worst)}, with {worst['chosen']}",
        ),
    ]


def _with_others(title: str, figures: Sequence[Figures]) -> Row:
    """Regret against methods that are no candidates too."""
    beside = " and ".join(_BESIDE["regression"])
    return Row(
        title,
        f"regression: regret against {beside} too, mean, % of the error",
        float(np.mean([each["regret_of_all"] for each in figures])),
        note=f"with the same choices; {beside} is no candidate for values, as auto was no better "
        "with it",
    )


def _together(title: str, figures: Sequence[Figures]) -> Row:
    """All tasks as one: a task where the best error is tiny does not outweigh all others."""
    own, best = (
        float(np.mean([each[name] / max(each["plain"], 1e-12) for each in figures]))
        for name in ("auto", "best")
    )
    return Row(
        title,
        "regression: mean error above that of the best candidates, %",
        loss("regression", own, best),
        note=f"errors as multiples of plain's: {own:.3f} with auto, {best:.3f} with the best "
        "candidate of each task; regret above is the mean of ratios, this the ratio of means",
    )


def _accuracy_rows(title: str, figures: Sequence[Figures]) -> list[Row]:
    known = [each for each in figures if not np.isnan(each["estimate"])]
    off = [each["estimate"] - each["truth"] for each in known]
    return [
        Row(
            title,
            "label-free estimate of the accuracy: mean |estimated - true|, points",
            float(np.mean(np.abs(off))) if off else None,
            Limit(at_most=10),
            Limit(at_most=5),
            note=f"{len(known)} of {len(figures)} tasks; mean error {np.mean(off):+.1f}"
            if off
            else "",
        ),
        *_coverage_rows(title, "the accuracy", figures),
    ]


def _error_rows(title: str, figures: Sequence[Figures]) -> list[Row]:
    known = [each for each in figures if not np.isnan(each["estimate"])]
    factor = [abs(np.log(each["estimate"] / each["truth"])) for each in known]
    inside = [each["interval"] for each in figures if each["interval"] is not None]
    finite = [each["finite"] for each in figures if each["finite"] is not None]
    note = f"mean over {counted(len(inside), 'task')}"
    if finite:
        note += f"; {100 * np.mean(finite):.0f} % of the intervals are finite"
    return [
        Row(
            title,
            "label-free estimate of the error: median factor between it and the truth",
            float(np.exp(np.median(factor))) if factor else None,
            note=f"{len(known)} of {len(figures)} tasks",
        ),
        *_coverage_rows(title, "the error", figures),
        Row(
            title,
            "values within predict_interval(coverage=0.9), in %",
            100.0 * float(np.mean(inside)) if inside else None,
            goal=_COVERAGE,
            note=note,
        ),
    ]


def _coverage_rows(title: str, of: str, figures: Sequence[Figures]) -> list[Row]:
    overall = [each["covered"] for each in figures if each["covered"] is not None]
    domains = [inside for each in figures for inside in each["domains"] if inside is not None]
    named = {"of the mean over targets": overall, "of single targets": domains}
    return [
        Row(
            title,
            f"90 % interval for {of} {which}: truth within, in %",
            100.0 * float(np.mean(inside)) if inside else None,
            goal=_COVERAGE,
            note=f"{sum(inside)} of {len(inside)}",
        )
        for which, inside in named.items()
    ]


def by_family(figures: Sequence[Figures]) -> list[dict[str, Any]]:
    """Regret and harm of each kind of task, the largest regret first."""
    families: dict[tuple[str, str], list[Figures]] = {}
    for each in figures:
        families.setdefault((each["family"], each["kind"]), []).append(each)
    lines = [
        {
            "kind of task": family,
            "tasks": len(group),
            "unit": "points" if kind == "classification" else "%",
            "regret": float(np.mean([each["regret"] for each in group])),
            "largest regret": max(each["regret"] for each in group),
            "harm": float(np.mean([each["harm"] for each in group])),
            "largest harm": max(each["harm"] for each in group),
            "chosen": ", ".join(dict.fromkeys(each["chosen"] for each in group)),
            "best": ", ".join(dict.fromkeys(each["best_candidate"] for each in group)),
        }
        for (family, kind), group in families.items()
    ]
    return sorted(lines, key=lambda line: (line["unit"] != "points", -line["regret"]))


def _short(each: Figures) -> str:
    return str(each["task"]).split("/", 1)[-1]
