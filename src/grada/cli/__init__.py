"""The command line: parse, call, print. One module a command."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from grada import __version__
from grada.cli import bench, compare, demo, export, fit, graph, methods, predict, report
from grada.cli._shared import app

__all__ = [
    "app",
    "bench",
    "compare",
    "demo",
    "export",
    "fit",
    "graph",
    "main",
    "methods",
    "predict",
    "report",
]


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


def main() -> None:
    """Entry point of the ``grada`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names that a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    app()
