"""``grada compare``."""

from __future__ import annotations

import json
import warnings
from typing import Annotated

import typer

from grada import methods
from grada._printing import comparison_table, print_wide
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
    names_in,
    table_source,
)
from grada.cli._shared import AsJson, app, check_known, errors_in_words, say_notes, talk
from grada.tabular import compare_table
from grada.training import AdaptationWarning


@app.command()
def compare(
    table: TablePath,
    domain: DomainColumn,
    label: LabelColumn,
    features: FeatureColumns = None,
    graph: GraphFile = None,
    sources: SourceNames = None,
    method_names: Annotated[
        str | None,
        typer.Option("--methods", help="Names with commas; by default those that auto tries."),
    ] = None,
    budget: Annotated[
        float, typer.Option(min=1.0, help="Seconds after which no further method is begun.")
    ] = 300.0,
    kind: KindOption = None,
    random_state: Seed = 0,
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on a table without a label of its targets, and recommend one."""
    console = talk()
    with errors_in_words(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = table_source(table, domain, label, features, graph, sources, kind, separator)
        names = names_in(method_names)
        check_known("method", names or [], list(methods.available()))
        found = compare_table(
            source,
            names=names,
            budget=budget,
            random_state=random_state,
            verbose=int(console.is_terminal and not as_json),
        )
    told = [str(each.message) for each in caught if issubclass(each.category, AdaptationWarning)]
    if as_json:
        typer.echo(json.dumps({**found.to_dict(), "warnings": list(dict.fromkeys(told))}))
        return
    say_notes(console, [*found.notes, *dict.fromkeys(told)])
    print_wide(comparison_table(found.report))
    typer.echo(found.advice)
