"""``grada fit``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from grada import methods
from grada._printing import columns_table
from grada.artefact import check_place
from grada.cli._options import (
    DomainColumn,
    FeatureColumns,
    GraphFile,
    KindOption,
    LabelColumn,
    Seed,
    Separator,
    SourceNames,
    TablePath,
    command_line,
    settings_in,
    table_source,
)
from grada.cli._shared import AsJson, app, check_known, errors_in_words, say_notes, talk
from grada.files import FileError
from grada.tabular import FittedTable, fit_table
from grada.tabular.fitting import make_estimator, make_method
from grada.tabular.source import Reading


@app.command()
def fit(
    table: TablePath,
    domain: DomainColumn,
    label: LabelColumn,
    out: Annotated[Path, typer.Option(help="Folder of the model: new, empty, or a model.")],
    features: FeatureColumns = None,
    graph: GraphFile = None,
    sources: SourceNames = None,
    method: Annotated[str, typer.Option(help="Name of a method; see `grada methods`.")] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method."),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Learn intervals from hidden sources; auto does anyway."),
    ] = False,
    kind: KindOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder for the state of the fit: killed, it goes on from there."),
    ] = None,
    random_state: Seed = 0,
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a table; rows without a label, or outside --sources, are its targets."""
    console = talk()
    with errors_in_words():
        source = table_source(table, domain, label, features, graph, sources, kind, separator)
        check_known("method", [method], list(methods.available()))
        wanted = settings_in(settings or [])
        make_method(method, wanted)
        check_place(out)
        if checkpoint is not None and checkpoint.is_file():
            raise FileError(checkpoint, "is a file: give a folder as --checkpoint.")
        reading = source.read(scratch=out.parent)
        reading.check_targets(method)
        make_estimator(reading.kind, method, wanted)  # refuses a method of the other kind
        if not as_json:
            _show(console, reading)
        fitted = fit_table(
            source,
            method=method,
            settings=wanted,
            calibrate=calibrate,
            random_state=random_state,
            checkpoint=checkpoint,
            verbose=int(console.is_terminal and not as_json),
            command=command_line(),
            reading=reading,
        )
        fitted.save(out)
    if as_json:
        typer.echo(json.dumps(_summary(fitted, reading, out)))
        return
    _conclude(console, fitted, reading, out)


def _show(console: Console, reading: Reading) -> None:
    sources, targets = reading.roles()
    console.print(
        f"{reading.source.table.name}: {reading.n_rows:,} rows, {len(sources)} domains with "
        f"labels, {len(targets)} without; {reading.kind} of {reading.source.label}.",
        highlight=False,
        markup=False,
    )
    console.print(columns_table(reading.columns))
    say_notes(console, reading.notes)


def _conclude(console: Console, fitted: FittedTable, reading: Reading, out: Path) -> None:
    told = [note for note in fitted.notes if note not in reading.notes]
    say_notes(console, told)
    if fitted.page is not None:
        typer.echo(fitted.page.verdict)
    typer.echo(f"Model: {out}. Next: grada predict {out} TABLE --out FILE; grada report {out}.")


def _summary(fitted: FittedTable, reading: Reading, out: Path) -> dict[str, Any]:
    sources, targets = reading.roles()
    report = fitted.model.report_
    return {
        "model": str(out),
        "method": fitted.model.method_.name,
        "kind": fitted.kind,
        "rows": reading.n_rows,
        "sources": sources,
        "targets": targets,
        "features": [column.to_dict() for column in fitted.columns],
        "verdict": "" if fitted.page is None else fitted.page.verdict,
        "report": None if report is None else report.to_dict(),
        "notes": list(fitted.notes),
    }
