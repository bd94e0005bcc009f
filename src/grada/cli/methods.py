"""``grada methods``."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from grada import methods
from grada.cli._shared import AsJson, app


@app.command("methods")
def list_methods(
    markdown: Annotated[bool, typer.Option("--markdown", help="README's table.")] = False,
    as_json: AsJson = False,
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
