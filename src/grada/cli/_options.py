"""Options that several commands have: the table, its columns and the graph."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from grada.tabular import TableSource

TablePath = Annotated[
    Path, typer.Argument(help="Rows: CSV, TSV or Parquet, also packed with gzip or zstd.")
]
DomainColumn = Annotated[
    str, typer.Option(help="Column with the domain of each row; of several: state|year.")
]
LabelColumn = Annotated[
    str, typer.Option(help="Column with the label; empty in the rows to predict.")
]
FeatureColumns = Annotated[
    str | None, typer.Option(help="Columns with commas between them; by default all others.")
]
GraphFile = Annotated[
    Path | None,
    typer.Option(help="Edge list: source, target, maybe weight. Without: found from the rows."),
]
SourceNames = Annotated[
    str | None,
    typer.Option(help="Domains whose labels may be used, with commas; by default all with labels."),
]
Separator = Annotated[
    str | None, typer.Option(help="Between the fields of the table, if no comma (tab in .tsv).")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed.")]


class KindName(StrEnum):
    """Choices of ``--kind``."""

    classification = "classification"
    regression = "regression"


KindOption = Annotated[
    KindName | None, typer.Option(help="What the label is; by default what it looks like.")
]


def table_source(
    table: Path,
    domain: str,
    label: str,
    features: str | None,
    graph: Path | None,
    sources: str | None,
    kind: KindName | None,
    separator: str | None,
) -> TableSource:
    """What the options say about the table."""
    return TableSource(
        table,
        domain,
        label,
        graph,
        names_in(features),
        names_in(sources),
        None if kind is None else kind.value,
        separator,
    )


def names_in(text: str | None) -> list[str] | None:
    """Names with commas between them; a name with a comma stands in double quotes.

    Examples
    --------
    >>> names_in('Ohio, "Washington, D.C."')
    ['Ohio', 'Washington, D.C.']
    """
    if text is None:
        return None
    import csv

    row = next(csv.reader([text], skipinitialspace=True), [])
    names = [name.strip() for name in row if name.strip()]
    if not names:
        raise ValueError(f"{text!r} names nothing: give names with commas between them.")
    return names


#: What reports and documentation write for values that JSON writes in another way.
_PYTHON = {"True": True, "False": False, "None": None}


def settings_in(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings of a method: ``strength=0.5``; values as in JSON or Python, else a text.

    Examples
    --------
    >>> settings_in(["strength=0.5", "policy=random", "seed=null", "mend_units=False"])
    {'strength': 0.5, 'policy': 'random', 'seed': None, 'mend_units': False}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"--set {pair!r}: give NAME=VALUE, such as strength=0.5.")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = _PYTHON.get(value, value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"--set {name.strip()}: the value is too long or too deep.") from error
    return settings


def command_line() -> str:
    """What was typed, for reports."""
    typed = shlex.join(["grada", *sys.argv[1:]])
    return typed.encode("utf-8", "backslashreplace").decode("utf-8")  # names that are no text
