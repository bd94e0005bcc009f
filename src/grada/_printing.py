"""What the command line prints: tables, progress and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from grada.benchmark import Progress, Record, Result, Summary, Trust
from grada.benchmark._trust_table import HEADER, figure
from grada.datasets import Task
from grada.files import Column
from grada.files.checking import Finding
from grada.graph import DomainGraph
from grada.selection import GraphValue
from grada.selection.report import CandidateReport, Report
from grada.tabular.predicting import Predictions

_TITLES = {
    "plain": "Logistic regression",
    "source-only": "Source-Only",
    "grda": "GRDA",
    "auto": "auto",
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


_COLORS = {"MISSED": "red", "holds": "green", "holds, goal too": "green", "goal reached": "green"}


def trust_tables(found: Trust) -> Iterator[Table]:
    """The table of trust, part by part, then what stands behind it."""
    for title, rows in found.parts():
        table = Table(title=title, title_justify="left")
        for column in HEADER:
            right = column in ("reached", "must", "goal")
            table.add_column(column, justify="right" if right else "left", no_wrap=right)
        for row in rows:
            cells = [Text(cell) for cell in row.cells]
            cells[HEADER.index("verdict")].stylize(_COLORS.get(row.verdict, "yellow"))
            table.add_row(*cells)
        yield table
    for title, lines in found.details.items():
        table = Table(title=title, title_justify="left")
        for column, value in (lines[0] if lines else {}).items():
            table.add_column(column, justify="left" if isinstance(value, str) else "right")
        for line in lines:
            table.add_row(*(Text(figure(value)) for value in line.values()))
        yield table


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


def verdict(results: Sequence[Result]) -> str:
    """What adapting gained or lost against the plain model, and whether that was foreseen."""
    by_name = {result.method: result for result in results}
    auto, plain = by_name["auto"].evaluation, by_name["plain"].evaluation
    gain = auto.mean - plain.mean
    if gain >= 1:
        first = f"Adapting along the graph gained {gain:.1f} points over logistic regression."
    elif gain > -1:
        first = "Adapting along the graph made no difference here."
    else:
        first = f"Adapting along the graph lost {-gain:.1f} points to logistic regression."
    said = by_name["auto"].said
    if said is None:
        return first
    used = " and ".join(said["shares"])
    foreseen = said["estimate"]
    return (
        f"{first} auto chose {used} without seeing a label of these domains, and expected "
        f"{foreseen['overall']:.0f} % ({foreseen['low']:.0f} to {foreseen['high']:.0f}); it got "
        f"{auto.mean:.0f} %, in its worst domain {auto.worst:.0f} %."
    )


def graph_table(value: GraphValue) -> Table:
    """Scores of a graph beside those of others."""
    titles = {
        "given": "your graph",
        "clique": "clique: all are neighbours",
        "empty": "no edges",
        "rewired": "random edges (mean)",
    }
    table = Table(title="How alike neighbours are: 1 the same, 0 as any two domains")
    table.add_column("graph")
    table.add_column("likeness", justify="right")
    if value.held_out:
        table.add_column("on hidden sources", justify="right")
    for name, scores in value.table().items():
        table.add_row(titles[name], *(f"{score:.3f}" for score in scores.values()))
    return table


def findings_text(findings: Sequence[Finding]) -> Text:
    """What a look at a graph found, a line each; a mark before what hurts."""
    if not findings:
        return Text("Nothing odd found.", style="green")
    lines = []
    for finding in findings:
        mark = ("! ", "bold red") if finding.hurts else ("  ", "")
        lines.append(Text.assemble(mark, finding.text))
    if not any(finding.hurts for finding in findings):
        lines.append(Text("Nothing that hurts.", style="green"))
    return Text("\n").join(lines)


def neighbours_table(graph: DomainGraph, most: int = 20) -> Table:
    """Domains with their neighbours, those with the most first."""
    degrees = graph.weights.indptr[1:] - graph.weights.indptr[:-1]
    order = sorted(range(graph.n_domains), key=lambda at: -int(degrees[at]))[:most]
    more = f" (the first {most} of {graph.n_domains:,})" if graph.n_domains > most else ""
    table = Table(title=f"Who is next to whom{more}", title_justify="left")
    table.add_column("domain", no_wrap=True)
    table.add_column("neighbours", justify="right")
    table.add_column("which")
    for at in order:
        near = graph.neighbors(graph.names[at])
        shown = ", ".join(map(str, near[:12])) + (", ..." if len(near) > 12 else "")
        table.add_row(Text(str(graph.names[at])), str(len(near)), Text(shown))
    return table


def columns_table(columns: Sequence[Column], most: int = 30) -> Table:
    """What the features of a table are."""
    table = Table(title="Features", title_justify="left")
    for name in ("column", "type", "missing", "values", "remark"):
        table.add_column(name, justify="right" if name in ("missing", "values") else "left")
    for column in columns[:most]:
        figures = [f"{column.n_missing:,}", f"{column.n_distinct:,}"]
        table.add_row(*map(escape, (column.name, column.type, *figures, column.note)))
    if len(columns) > most:
        table.add_row(f"and {len(columns) - most:,} more", "", "", "", "")
    return table


def notes_text(notes: Sequence[str], most: int = 20) -> Text:
    """Remarks, one a line; nothing for none."""
    shown = [f"Note: {note}" for note in notes[:most]]
    if len(notes) > most:
        shown.append(f"and {len(notes) - most} notes more")
    return Text("\n".join(shown), style="yellow", end="\n" if shown else "")


def comparison_table(report: Report) -> Table:
    """Candidates that were compared, the best first."""
    classes = report.metric == "accuracy"
    title = (
        "Estimated accuracy in the targets, from hidden sources and label-free scores"
        if classes
        else "Squared error on hidden sources, in standard units"
    )
    table = Table(title=title, title_justify="left")
    figures_of = ("estimate", "on hidden sources") if classes else ("error",)
    for name in ("method", *figures_of, "share", "seconds", "remark"):
        table.add_column(name, justify="left" if name in ("method", "remark") else "right")

    def figure(value: float | None) -> str:
        if value is None or value != value:
            return "-"
        return f"{100 * value:.1f} %" if classes else f"{value:.4g}"

    def order(each: CandidateReport) -> tuple[bool, float]:
        known = each.estimate is not None and each.estimate == each.estimate
        value = each.estimate if each.estimate is not None and known else 0.0
        return not known, -value if classes else value

    for each in sorted(report.candidates, key=order):
        share = f"{100 * each.share:.0f} %" if each.share else ""
        remark = f"left out: {each.problem}" if each.problem is not None else ""
        seconds = f"{each.seconds:.1f}"
        judged = (each.estimate, each.hidden) if classes else (each.estimate,)
        table.add_row(escape(each.name), *map(figure, judged), share, seconds, escape(remark))
    return table


def predictions_table(found: Predictions, most: int = 20) -> Table:
    """What was predicted, domain by domain."""
    table = Table(title="Predictions", title_justify="left")
    table.add_column("domain")
    table.add_column("rows", justify="right")
    table.add_column("predicted")
    for name, each in list(found.domains.items())[:most]:
        if "classes" in each:
            shares = sorted(each["classes"].items(), key=lambda pair: -pair[1])[:4]
            said = ", ".join(f"{label}: {100 * n / each['rows']:.0f} %" for label, n in shares if n)
        else:
            said = f"mean {each['mean']:.4g}"
        table.add_row(escape(name), f"{each['rows']:,}", escape(said))
    if len(found.domains) > most:
        table.add_row(f"and {len(found.domains) - most:,} more", "", "")
    return table
