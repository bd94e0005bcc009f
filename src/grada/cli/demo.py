"""``grada demo``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grada._printing import demo_table, verdict
from grada.benchmark import Result, compare
from grada.cli._shared import AsJson, app, errors_in_words
from grada.cli.report import write_page
from grada.datasets import Task, make_dg, rotating_digits
from grada.estimators import AdaptedClassifier
from grada.report.page import PageData, collect
from grada.training import AdaptationWarning

DEMO_METHODS = ("plain", "source-only", "grda", "auto")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("grada-demo"),
    as_json: AsJson = False,
    domains: Annotated[int, typer.Option(min=3, help="Domains of the generated task.")] = 15,
    sources: Annotated[int, typer.Option(min=1, help="Those of them with labels.")] = 6,
    random_state: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
) -> None:
    """Adapt to a generated task and to real handwritten digits, and compare with simple models."""
    if sources >= domains:
        typer.echo(f"--sources {sources}: must be fewer than the {domains} domains.", err=True)
        raise typer.Exit(2)
    generated = make_dg(n_domains=domains, n_sources=sources, random_state=random_state)
    shown = {
        "Generated: two classes that turn from domain to domain": generated,
        "Handwritten digits, turned a little more in each domain": rotating_digits(
            random_state=random_state
        ),
    }
    figures = {}
    with errors_in_words():
        out.mkdir(parents=True, exist_ok=True)
        for title, task in shown.items():
            results = _demonstrate(title, task, random_state, quiet=as_json)
            figures[task.name] = {result.method: result.to_dict() for result in results}
        page = _page(generated, random_state)
        write_page(page, out / "report.html")
    if as_json:
        # The first task's figures stand on top, as they did when it was the only one.
        said = {"task": generated.name, "metric": "accuracy", "methods": figures[generated.name]}
        typer.echo(json.dumps({**said, "tasks": figures, "report": str(out / "report.html")}))
        return
    typer.echo(
        f"{out / 'report.html'} shows the generated task: which domains to trust, on their graph, "
        "and why this method was chosen. Open it in a browser."
    )


def _page(task: Task, random_state: int) -> PageData:
    """What the report shows: auto on the generated task, beside the truth."""
    X, y, domain = task.visible()
    model = AdaptedClassifier("auto", task.graph, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        model.fit(X, y, sample_domain=domain)
    return collect(
        model, X, y, domain, truth=task.reveal(), title="grada demo", command="grada demo"
    )


def _demonstrate(title: str, task: Task, random_state: int, *, quiet: bool) -> list[Result]:
    console = Console(stderr=quiet)
    console.print(f"[bold]{title}[/bold]")
    console.print(
        f"{task.graph.n_domains} domains on a graph with {task.graph.n_edges} edges, "
        f"{len(task.X)} rows, labels in {len(task.sources)} domains. Predicting the other "
        f"{len(task.targets)}.\n"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AdaptationWarning)
        results = list(
            compare(task, DEMO_METHODS, random_state=random_state, verbose=int(not quiet))
        )
    if not quiet:
        console.print(demo_table(task, results))
        for note in caught:
            if issubclass(note.category, AdaptationWarning):
                console.print(f"Note: {note.message}", style="yellow")
        console.print(verdict(results) + "\n")
    return results
