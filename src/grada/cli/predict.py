"""``grada predict``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from grada._printing import predictions_table, print_wide
from grada.cli._options import Separator
from grada.cli._shared import AsJson, app, errors_in_words, say_notes, talk
from grada.files import TableFile
from grada.tabular import extend_to_table, load_table_model, predict_table


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that `grada fit` made.")],
    table: Annotated[Path, typer.Argument(help="Rows to predict, with the columns of the fit.")],
    out: Annotated[Path, typer.Option(help="Predictions: .csv, .tsv or .parquet, maybe .gz.")],
    graph: Annotated[
        Path | None,
        typer.Option(help="Edges of domains that the model does not know yet, to known ones."),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Column with the domain, if it has another name here.")
    ] = None,
    coverage: Annotated[
        float, typer.Option(min=0.01, max=0.999, help="Of the intervals of a regression.")
    ] = 0.9,
    probabilities: Annotated[
        bool, typer.Option(help="Whether to write the probability of each class.")
    ] = True,
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Predict for every row of a table: class and probabilities, or value and interval."""
    console = talk()
    with errors_in_words():
        fitted = load_table_model(model)
        column = fitted.domain if domain is None else domain
        rows = TableFile.open(table, separator=separator)
        notes: list[str] = []
        if graph is not None:
            fitted, notes = extend_to_table(fitted, rows, graph, domain=column)
        with _bar(console, quiet=as_json or not console.is_terminal) as bar:
            shown = bar.add_task("predicting", total=None)
            found = predict_table(
                fitted.model,
                fitted.columns,
                rows,
                out,
                domain=column,
                coverage=coverage,
                probabilities=probabilities,
                on_rows=lambda done, total: bar.update(shown, completed=done, total=total),
            )
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "notes": notes}))
        return
    say_notes(console, notes)
    print_wide(predictions_table(found))
    typer.echo(f"{found.rows:,} predictions: {out}")


def _bar(console: Console, *, quiet: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=quiet)
