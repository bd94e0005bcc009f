"""The command line: parse, call, print."""

from __future__ import annotations

import json
import warnings
from enum import StrEnum
from typing import Annotated

import typer
from joblib import cpu_count
from rich.console import Console
from rich.progress import track
from rich.table import Table

from grada import __version__, methods
from grada.benchmark import Result, compare, repeat
from grada.datasets import Task, dg15, dg60, make_dg
from grada.training import AdaptationWarning

app = typer.Typer(
    help="Domain adaptation across domains that form a graph.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

TASKS = {"dg15": dg15, "dg60": dg60}


class Backbone(StrEnum):
    """Choices of ``--backbone``."""

    plain = "plain"
    adagraph = "adagraph"


DEMO_METHODS = ("plain", "source-only", "grda")
_TITLES = {"plain": "Logistic regression", "source-only": "Source-Only", "grda": "GRDA"}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"grada {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    """Domain adaptation across domains that form a graph."""


@app.command()
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
    domains: Annotated[int, typer.Option(min=3, help="Number of domains.")] = 15,
    sources: Annotated[int, typer.Option(min=1, help="Domains with labels.")] = 6,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
) -> None:
    """Generate a task, adapt to it, and compare with two models that do not adapt."""
    if sources >= domains:
        typer.echo(f"--sources {sources}: must be fewer than the {domains} domains.", err=True)
        raise typer.Exit(2)
    task = make_dg(n_domains=domains, n_sources=sources, random_state=random_state)
    console = Console(stderr=as_json)
    console.print(
        f"{domains} domains on a graph with {task.graph.n_edges} edges, "
        f"{len(task.X)} rows, labels in {sources} domains. Predicting the other "
        f"{len(task.targets)}.\n"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AdaptationWarning)
        results = list(
            compare(task, DEMO_METHODS, random_state=random_state, verbose=int(not as_json))
        )
    if as_json:
        figures = {result.method: result.to_dict() for result in results}
        typer.echo(json.dumps({"task": task.name, "metric": "accuracy", "methods": figures}))
        return
    console.print(_table(task, results))
    for note in caught:
        if issubclass(note.category, AdaptationWarning):
            console.print(f"Note: {note.message}", style="yellow")
    console.print(_verdict(task, results))


@app.command()
def bench(
    task_name: Annotated[str, typer.Argument(metavar="TASK", help="dg15 or dg60.")],
    method_names: Annotated[
        str, typer.Option("--methods", help="Names with commas between them, or all.")
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method.")] = 5,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side; by default one a core.")
    ] = None,
    backbone: Annotated[
        Backbone, typer.Option(help="Normalise each domain by its own statistics: adagraph.")
    ] = Backbone.plain,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Compare methods on a task of the paper, leak-free, over several seeds."""
    known = _methods_with(backbone)
    names = (
        list(known) if method_names == "all" else [name.strip() for name in method_names.split(",")]
    )
    _check_known("task", [task_name], list(TASKS))
    _check_known("method", names, list(known))
    try:
        task = TASKS[task_name]()
    except OSError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    console = Console(stderr=True)
    done = repeat(task, [known[name] for name in names], seeds=seeds, jobs=jobs or cpu_count())
    try:
        summaries = list(track(done, task_name, total=len(names), console=console, transient=True))
    except ImportError as error:  # an extra that is not installed: the message names it
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    metric = summaries[0].metric
    if as_json:
        figures = {summary.method: summary.to_dict() for summary in summaries}
        result = {"task": task_name, "protocol": "leak-free", "metric": metric, "methods": figures}
        if backbone is not Backbone.plain:
            result["backbone"] = backbone.value
        typer.echo(json.dumps(result))
        return
    levels = list(summaries[0].levels)
    title = f"{task_name}: {metric} on the targets, {seeds} seeds, leak-free"
    if backbone is not Backbone.plain:
        title += f", backbone {backbone.value}"
    table = Table(title=title)
    table.add_column("method", no_wrap=True)
    for column in ("mean", "worst\ndomain", *(f"level\n{level}" for level in levels), "seconds"):
        table.add_column(column, justify="right")
    for one in summaries:
        by_level = (f"{one.levels[level]:.1f}" for level in levels)
        mean = f"{one.mean:.1f} ± {one.std:.1f}"
        table.add_row(one.method, mean, f"{one.worst:.1f}", *by_level, f"{one.seconds:.1f}")
    Console().print(table)


@app.command("methods")
def list_methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="README's table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """List the methods: what each does, for which kinds of task, and where it comes from."""
    if markdown:
        typer.echo(methods.markdown_table())
        return
    known = methods.available().values()
    if as_json:
        fields = ("summary", "kinds", "citation")
        listing = {info.name: {field: getattr(info, field) for field in fields} for info in known}
        typer.echo(json.dumps({"methods": listing}))
        return
    table = Table()
    for column in ("method", "what it does", "kinds", "from"):
        table.add_column(column, no_wrap=column == "method")
    for info in known:
        table.add_row(info.name, info.summary, "\n".join(info.kinds), info.citation)
    Console().print(table)


def _methods_with(backbone: Backbone) -> dict[str, methods.Method]:
    """All methods with default settings; with a backbone, those that can have one."""
    known = {name: methods.resolve(name) for name in methods.available()}
    if backbone is Backbone.plain:
        return known
    return {
        name: method.set_params(backbone=backbone.value)
        for name, method in known.items()
        if "backbone" in method.get_params()
    }


def _check_known(kind: str, names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            typer.echo(f"Unknown {kind} {name!r}. Known: {', '.join(known)}.", err=True)
            raise typer.Exit(2)


def _table(task: Task, results: list[Result]) -> Table:
    hops = task.graph.hops(task.sources)
    sizes = {"1": 0, "2": 0, "3+": 0}
    for name in task.targets:
        sizes["3+" if hops[name] >= 3 else str(hops[name])] += 1
    levels = [level for level, size in sizes.items() if size]
    table = Table(title="Accuracy in % on the domains without labels", title_justify="left")
    table.add_column("method", no_wrap=True)
    for column in ("mean", "worst\ndomain"):
        table.add_column(column, justify="right")
    for level in levels:
        plural = "s" if sizes[level] > 1 else ""
        table.add_column(
            f"{level} hop{'' if level == '1' else 's'} away\n{sizes[level]} domain{plural}",
            justify="right",
            no_wrap=True,
        )
    table.add_column("seconds", justify="right")
    for result in results:
        score = result.evaluation
        figures = [score.mean, score.worst, *(score.per_level[level] for level in levels)]
        table.add_row(
            _TITLES[result.method],
            *(f"{figure:.1f}" for figure in figures),
            f"{result.seconds:.1f}",
        )
    return table


def _verdict(task: Task, results: list[Result]) -> str:
    by_name = {result.method: result.evaluation for result in results}
    simple = max(by_name["plain"].mean, by_name["source-only"].mean)
    grda = by_name["grda"]
    gain = grda.mean - simple
    if gain >= 1:
        first = f"Adapting along the graph gained {gain:.1f} points over the better simple model."
    elif gain > -1:
        first = "Adapting along the graph made no difference here."
    else:
        first = f"Adapting along the graph lost {-gain:.1f} points to the better simple model."
    if grda.worst >= 60:
        return f"{first} Its worst domain is at {grda.worst:.0f} %."
    return (
        f"{first} Its worst domain is at {grda.worst:.0f} %, and guessing gives 50 %: where "
        "the classes of distant domains are mirror images, aligning domains does not tell which "
        "class is which."
    )


def main() -> None:
    """Entry point of the ``grada`` command."""
    app()
