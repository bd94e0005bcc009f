"""What the command line prints: tables, progress and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from grada.benchmark import Progress, Record, Result, Summary
from grada.datasets import Task

_TITLES = {
    "plain": "Logistic regression",
    "source-only": "Source-Only",
    "grda": "GRDA",
}


def duration(seconds: float | None) -> str:
    """A time for people.

    Examples
    --------
    >>> duration(50), duration(150), duration(9000), duration(None)
    ('50 s', '2 min 30 s', '2 h 30 min', 'unknown')
    """
    if seconds is None:
        return "unknown"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def watch(total: int) -> Iterator[Callable[[Progress, Record], None]]:
    """Show progress on standard error: a bar on a terminal, one line a run otherwise."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda progress, record: print_line(console, progress, record)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=console, transient=True) as bar:
        shown = bar.add_task("starting", total=total)

        def update(progress: Progress, record: Record) -> None:
            left = duration(progress.seconds_left)
            text = f"{record.task}, {record.method}: about {left} left"
            bar.update(shown, completed=progress.done, description=text)

        yield update


def print_line(console: Console, progress: Progress, record: Record) -> None:
    """One finished run."""
    console.print(
        f"{progress.done}/{progress.total} {record.task} {record.protocol} {record.method} "
        f"seed {record.seed}: {record.mean:.4g} in {record.seconds:.1f} s, "
        f"about {duration(progress.seconds_left)} left",
        highlight=False,
        soft_wrap=True,
    )


def print_wide(table: Table) -> None:
    """Print a table; into a file or a pipe as wide as it is."""
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table)


def bench_table(title: str, summaries: Sequence[Summary]) -> Table:
    """Methods of a benchmark, one a row."""
    first = summaries[0]
    digits = 1 if first.metric == "accuracy" else 3
    levels = list(first.levels)
    table = Table(title=title)
    table.add_column("method", no_wrap=True)
    rmse = [] if first.rmse is None else [f"RMSE\n{first.unit}".strip()]
    by_level = [f"level\n{level}" for level in levels]
    for column in ("mean", "worst\ndomain", *by_level, *rmse, "seconds", "runs that\nwarned"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in summaries:
        figures = [one.worst, *(one.levels[level] for level in levels)]
        table.add_row(
            one.method,
            f"{one.mean:.{digits}f} ± {one.std:.{digits}f}",
            *(f"{figure:.{digits}f}" for figure in figures),
            *([] if one.rmse is None else [f"{one.rmse:.2f}"]),
            f"{one.seconds:.1f}",
            f"{one.warned}/{one.seeds}",
        )
    return table


def demo_table(task: Task, results: Sequence[Result]) -> Table:
    """Methods of the demo on one task."""
    hops = task.graph.hops(task.sources)
    sizes = {"1": 0, "2": 0, "3+": 0}
    for name in task.targets:
        sizes["3+" if hops[name] >= 3 else str(hops[name])] += 1
    levels = [level for level, size in sizes.items() if size]
    title = "Accuracy in % on the domains without labels, and time in seconds"
    table = Table(title=title, title_justify="left")
    table.add_column("method", no_wrap=True)
    for column in ("mean", "worst"):
        table.add_column(column, justify="right", no_wrap=True)
    for level in levels:
        plural = "s" if sizes[level] > 1 else ""
        table.add_column(
            f"{level} hop{'' if level == '1' else 's'}\n{sizes[level]} domain{plural}",
            justify="right",
            no_wrap=True,
        )
    table.add_column("time", justify="right", no_wrap=True)
    for result in results:
        score = result.evaluation
        figures = [score.mean, score.worst, *(score.per_level[level] for level in levels)]
        table.add_row(
            _TITLES[result.method],
            *(f"{figure:.1f}" for figure in figures),
            f"{result.seconds:.1f}",
        )
    return table


def verdict(task: Task, results: Sequence[Result]) -> str:
    """What adapting gained or lost against the better of two models that do not adapt."""
    by_name = {result.method: result.evaluation for result in results}
    grda = by_name["grda"]
    gain = grda.mean - max(by_name["plain"].mean, by_name["source-only"].mean)
    worst = f"Its worst domain is at {grda.worst:.0f} %."
    if gain >= 1:
        first = f"Adapting along the graph gained {gain:.1f} points over the better simple model."
    elif gain > -1:
        first = "Adapting along the graph made no difference here."
    else:
        first = f"Adapting along the graph lost {-gain:.1f} points to the better simple model."
    guessing = 100 / len(pd.unique(task.y[~pd.isna(task.y)]))
    if grda.worst >= guessing:
        return f"{first} {worst}"
    return (
        f"{first} {worst[:-1]}, where guessing gives {guessing:.0f} %: if the classes of distant "
        "domains are mirror images, aligning domains does not tell which class is which."
    )
