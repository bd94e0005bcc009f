"""``grada graph``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from grada._printing import findings_text, graph_table, neighbours_table
from grada.cli._options import KindName, Separator, names_in
from grada.cli._shared import AsJson, app, errors_in_words
from grada.files import FileError, TableFile, atomic_file, read_graph, read_table, write_graph
from grada.files.building import (
    Product,
    graph_from_coordinates,
    graph_from_regions,
    graph_from_times,
    graph_from_tree,
    product_of,
)
from grada.files.checking import check_graph, longest_way
from grada.files.edges import read_edges
from grada.files.reading import count_domains
from grada.graph import DomainGraph
from grada.selection import graph_value

graph_app = typer.Typer(help="Build, check and look at a graph of domains.", no_args_is_help=True)
app.add_typer(graph_app, name="graph")

GraphPath = Annotated[
    Path, typer.Argument(help="Edges: CSV or TSV with source, target, maybe weight; or JSON.")
]


class ProductName(StrEnum):
    """Choices of ``--product``."""

    cartesian = "cartesian"
    strong = "strong"


@graph_app.command("build")
def graph_build(
    out: Annotated[Path, typer.Option(help="Where to: graph.csv, graph.tsv or graph.json.")],
    edges: Annotated[Path | None, typer.Option(help="An edge list.")] = None,
    regions: Annotated[
        Path | None, typer.Option(help="GeoJSON or shapefile: regions that touch (geo extra).")
    ] = None,
    coordinates: Annotated[
        Path | None, typer.Option(help="A table with name and x, y or lat, lon: nearest ones.")
    ] = None,
    tree: Annotated[
        Path | None, typer.Option(help="A table with name and parent, or one column of paths a/b.")
    ] = None,
    time: Annotated[
        Path | None, typer.Option(help="A table with a column of times: each and the next.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Nearest ones, for --coordinates.")] = 4,
    name: Annotated[
        str | None, typer.Option(help="Column of names, for --regions and --coordinates.")
    ] = None,
    time_column: Annotated[str | None, typer.Option(help="Column of times, for --time.")] = None,
    siblings: Annotated[
        bool, typer.Option("--siblings", help="For --tree: also join what has the same parent.")
    ] = False,
    product: Annotated[
        ProductName | None,
        typer.Option(help="Combine what is given, in the order of this help: names are 'a|b'."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a graph of domains from files, and write it."""
    with errors_in_words():
        notes: list[str] = []
        graphs: list[DomainGraph] = []
        if edges is not None:
            read = read_graph(edges)
            notes += read.notes
            graphs.append(read.graph)
        if regions is not None:
            graphs.append(graph_from_regions(regions, name))
        if coordinates is not None:
            graphs.append(graph_from_coordinates(coordinates, k, name))
        if tree is not None:
            graphs.append(graph_from_tree(tree, siblings=siblings))
        if time is not None:
            graphs.append(graph_from_times(time, time_column))
        graph = _combined(graphs, product)
        write_graph(graph, out)
    if as_json:
        typer.echo(json.dumps({"graph": str(out), **_figures(graph), "notes": notes}))
        return
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"{out}: {_in_words(graph)}")


def _combined(graphs: list[DomainGraph], product: ProductName | None) -> DomainGraph:
    if not graphs:
        raise ValueError("Give one of --edges, --regions, --coordinates, --tree and --time.")
    if len(graphs) > 1 and product is None:
        raise ValueError("Several graphs are given: say how to combine them, --product cartesian.")
    if len(graphs) == 1 and product is not None:
        raise ValueError("--product combines several graphs, but one is given.")
    kind: Product = "strong" if product == ProductName.strong else "cartesian"
    return product_of(graphs, kind)


@graph_app.command("check")
def graph_check(
    graph: GraphPath,
    table: Annotated[Path | None, typer.Option(help="Rows: a CSV, TSV or Parquet file.")] = None,
    domain: Annotated[str | None, typer.Option(help="Column with the domain of each row.")] = None,
    label: Annotated[
        str | None, typer.Option(help="Column with the label; empty where there is none.")
    ] = None,
    sources: Annotated[
        str | None, typer.Option(help="Domains whose labels may be used, with commas between.")
    ] = None,
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Look for what would hurt. Exit code 0: nothing, 1: something, 2: it cannot be read."""
    with errors_in_words():
        if (table is None) != (domain is None):
            raise ValueError("--table and --domain go together.")
        if table is None and (label is not None or sources is not None):
            raise ValueError("--label and --sources need --table and --domain.")
        if sources is not None and label is None:
            raise ValueError("--sources needs --label.")
        scan = None
        if table is not None and domain is not None:
            rows = TableFile.open(table, separator=separator)
            names = names_in(sources)
            scan = count_domains(rows, domain=domain, label=label, sources=names)
        edges = read_edges(graph, None if scan is None else list(scan.rows_in))
        findings = check_graph(edges, scan)
        found = edges.graph()
    hurts = any(finding.hurts for finding in findings)
    if as_json:
        said = [vars(finding) | {"domains": list(finding.domains)} for finding in findings]
        answer = {"graph": str(graph), **_figures(found), "fine": not hurts, "findings": said}
        typer.echo(json.dumps(answer))
    else:
        typer.echo(f"{graph}: {_in_words(found)}")
        Console(soft_wrap=True).print(findings_text(findings))
    raise typer.Exit(1 if hurts else 0)


@graph_app.command("show")
def graph_show(
    graph: GraphPath,
    out: Annotated[
        Path | None, typer.Option(help="A picture: graph.png, graph.svg or graph.html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how large and how dense a graph is, who is next to whom, and draw it."""
    with errors_in_words():
        read = read_graph(graph)
        figures = _figures(read.graph) | {"longest_way": longest_way(read.graph)}
        if out is not None:
            _draw(read.graph, out)
    if as_json:
        typer.echo(json.dumps({"graph": str(graph), **figures, "notes": read.notes}))
        return
    for note in read.notes:
        typer.echo(note, err=True)
    typer.echo(f"{graph}: {_in_words(read.graph)}")
    low, middle, high = (figures["degree"][key] for key in ("least", "median", "most"))
    typer.echo(f"Neighbours of a domain: {low} to {high}, median {middle:g}.")
    typer.echo(f"Longest way: {figures['longest_way']} hops.")
    Console().print(neighbours_table(read.graph))
    if out is not None:
        typer.echo(f"Drawn to {out}.")


def _figures(graph: DomainGraph) -> dict[str, Any]:
    """Size and density for machines."""
    degrees = np.diff(graph.weights.indptr)
    return {
        "domains": graph.n_domains,
        "edges": graph.n_edges,
        "components": len(graph.components),
        "isolated": [str(name) for name in graph.isolated],
        "degree": {
            "least": int(degrees.min()),
            "median": float(np.median(degrees)),
            "most": int(degrees.max()),
        },
    }


def _in_words(graph: DomainGraph) -> str:
    text = repr(graph)
    return f"{text[text.index('(') + 1 : -1]}."


def _draw(graph: DomainGraph, out: Path) -> None:
    """Write a picture, whole or not at all."""
    suffix = out.suffix.lower()
    if suffix not in (".png", ".svg", ".html"):
        raise FileError(out, "a picture is written as .png, .svg or .html: choose one of these.")
    if graph.n_domains > _MOST_DRAWN:
        raise FileError(
            out, f"{graph.n_domains:,} domains are too many to draw; {_MOST_DRAWN:,} are not."
        )
    from grada.report.figures import role_graph

    figure = role_graph(graph, [], title=None)
    for legend in figure.legends:
        legend.remove()
    with atomic_file(out) as temporary:
        figure.savefig(temporary, format="svg" if suffix == ".html" else suffix[1:])
        if suffix == ".html":
            drawing = temporary.read_text(encoding="utf-8")
            drawing = drawing[drawing.index("<svg") :]
            temporary.write_text(
                '<!doctype html><html lang="en"><meta charset="utf-8"><title>Graph of domains'
                f"</title><body>{drawing}</body></html>",
                encoding="utf-8",
            )


_MOST_DRAWN = 2000


@graph_app.command("help")
def graph_help(
    table: Annotated[Path, typer.Argument(help="Rows: a CSV, TSV or Parquet file.")],
    domain: Annotated[str, typer.Option(help="Column with the domain of each row.")],
    label: Annotated[str, typer.Option(help="Column with the label; empty where there is none.")],
    graph: Annotated[
        Path, typer.Option(help="Edges: a file with columns source, target and maybe weight.")
    ],
    method: Annotated[
        str | None, typer.Option(help="Also try this method with each graph on hidden sources.")
    ] = None,
    kind: Annotated[
        KindName | None, typer.Option(help="What the label is; by default what it looks like.")
    ] = None,
    rewirings: Annotated[int, typer.Option(min=3, help="Random graphs to compare with.")] = 10,
    random_state: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Does my graph help? Compare it with a clique, no edges and random edges."""
    with errors_in_words():
        rows = read_table(
            table, domain=domain, label=label, kind=None if kind is None else kind.value
        )
        given = read_graph(graph, rows.domains)
        value = graph_value(
            rows.frame,
            rows.labels,
            rows.domains,
            given.graph,
            method=method,
            kind=rows.kind,
            n_rewirings=rewirings,
            random_state=random_state,
        )
    for note in [*rows.notes, *given.notes]:
        typer.echo(note, err=True)
    if as_json:
        typer.echo(json.dumps(value.to_dict()))
        return
    Console().print(graph_table(value))
    typer.echo(f"Does the graph help? {value}")
