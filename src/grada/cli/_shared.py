"""What the commands share: the application, errors in words, names that are known."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from grada._printing import notes_text
from grada.benchmark import FailedRunsError
from grada.training import TrainingError

app = typer.Typer(
    help="Domain adaptation across domains that form a graph.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

#: Every command that prints a result takes it.
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")]


#: Exit codes: wrong input; a fault of grada itself; stopped by the user.
WRONG_INPUT, FAULT, STOPPED = 2, 3, 130


@contextmanager
def errors_in_words() -> Iterator[None]:
    """What a user can mend ends in a message and exit code 2, never in a traceback."""
    try:
        yield
    except (ImportError, ValueError, OSError, FailedRunsError, TrainingError) as error:
        typer.echo(_words(error), err=True)
        raise typer.Exit(WRONG_INPUT) from None
    except KeyboardInterrupt:
        typer.echo("Stopped. Nothing was left half-written.", err=True)
        raise typer.Exit(STOPPED) from None
    except MemoryError:
        typer.echo("Out of memory. Use fewer rows or columns, or smaller settings.", err=True)
        raise typer.Exit(WRONG_INPUT) from None
    except typer.Exit:
        raise
    except Exception as error:
        if os.environ.get("GRADA_TRACEBACK"):
            raise
        typer.echo(
            f"This is a fault of grada, not yours: {type(error).__name__}: {error}. "
            "GRADA_TRACEBACK=1 shows where.",
            err=True,
        )
        raise typer.Exit(FAULT) from None


def _words(error: Exception) -> str:
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}."


def talk() -> Console:
    """Standard error, for all but results; into a file or a pipe, lines are not broken."""
    console = Console(stderr=True)
    return console if console.is_terminal else Console(stderr=True, width=160, soft_wrap=True)


def say_notes(console: Console, notes: Sequence[str]) -> None:
    """Print remarks, if there are any."""
    if notes:
        console.print(notes_text(notes))


def check_known(kind: str, names: list[str], known: list[str]) -> None:
    """Refuse a name that is not known, with those that are."""
    for name in names:
        if name not in known:
            typer.echo(f"Unknown {kind} {name!r}. Known: {', '.join(known)}.", err=True)
            raise typer.Exit(2)
