"""The command line: parse, call, print. One module a command."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from grada import __version__
from grada.cli import bench, compare, demo, export, fit, graph, methods, predict, report
from grada.cli._shared import WRONG_INPUT, app

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
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:  # it is when standard output is closed
                sys.stdout.flush()
    except OSError as error:
        # Results go to a full disk or a device that failed; what is left of them is let go.
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        typer.echo(f"Cannot write to standard output: {error.strerror}.", err=True)
        sys.exit(WRONG_INPUT)
