"""``grada report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from grada.benchmark import Store
from grada.cli._shared import AsJson, app, errors_in_words
from grada.files import FileError, atomic_file
from grada.report.page import PageData, collect_results, render
from grada.tabular.fitting import load_page


@app.command()
def report(
    what: Annotated[
        Path, typer.Argument(metavar="MODEL|RESULTS", help="Model folder, or store of a benchmark.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The page; by default beside it, named after it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page that works offline: a model and its domains, or runs of a benchmark."""
    with errors_in_words():
        page = _page(what)
        path = (
            what.parent / f"{what.resolve().name.removesuffix('.jsonl')}.html"
            if out is None
            else out
        )
        write_page(page, path)
    if as_json:
        typer.echo(json.dumps({"report": str(path), "verdict": page.verdict}))
        return
    typer.echo(page.verdict)
    typer.echo(f"Report: {path}")


def write_page(page: PageData, path: Path) -> None:
    """Write a page, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(render(page), encoding="utf-8")


def _page(what: Path) -> PageData:
    if not what.exists():
        raise FileError(what, "does not exist: give a model folder, or the store of a benchmark.")
    if what.is_dir():
        return load_page(what)
    records = Store(what).read()
    if not records:
        raise FileError(what, "holds no run of a benchmark.")
    return collect_results(records)
