"""A user's graph: an edge list or JSON, read with every oddity counted or refused by line."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from grada.files._streams import ByteSource
from grada.files.atomic import atomic_file
from grada.files.columns import name_texts
from grada.files.errors import FileError, counted, listed, near_miss, quoted
from grada.files.table import TableFile
from grada.graph import DomainGraph

#: A graph in JSON is read whole; none that makes sense is larger.
_LARGEST_JSON = 2**30


@dataclass(frozen=True)
class Edge:
    """One edge and where it stands: a line of a text, an entry of a JSON list."""

    first: str
    second: str
    weight: float
    line: int


@dataclass(frozen=True)
class EdgeList:
    """Edges of a file, put right where that is safe, and what was found on the way.

    Attributes
    ----------
    path : Path
    place : str
        What `Edge.line` counts: "line", "row" or "edge".
    names : tuple of str
        All domains in the order in which the file mentions them.
    edges : list of Edge
        Every pair once, without self-loops and weights of zero.
    conflicts : list of (Edge, Edge)
        The same pair with two weights.
    loops, zeros, repeated, both_ways : int
        Edges from a domain to itself, of weight zero, given again, given once each way.
    notes : list of str
        How the file was understood.
    """

    path: Path
    place: str
    names: tuple[str, ...]
    edges: list[Edge]
    conflicts: list[tuple[Edge, Edge]]
    loops: int = 0
    zeros: int = 0
    repeated: int = 0
    both_ways: int = 0
    notes: list[str] = field(default_factory=list)

    def remarks(self) -> list[str]:
        """What was found in the file, in sentences; nothing of it stands in the way."""
        found = list(self.notes)
        if self.loops:
            found.append(f"{counted(self.loops, 'edge')} from a domain to itself left out.")
        if self.zeros:
            found.append(f"{counted(self.zeros, 'edge')} of weight 0 left out.")
        if self.repeated:
            found.append(f"{counted(self.repeated, 'edge')} given more than once.")
        if self.both_ways:
            found.append(f"{counted(self.both_ways, 'edge')} given both ways, each taken once.")
        largest = max((edge.weight for edge in self.edges), default=0.0)
        if largest > 1:
            found.append(
                f"Weights go up to {largest:g} and are divided by that: a larger one must mean "
                "nearer."
            )
        return found

    def conflict(self, pair: tuple[Edge, Edge]) -> str:
        """One pair with two weights, in words."""
        old, new = pair
        way = "the other way" if old.first == new.second and old.first != new.first else "again"
        return (
            f"{quoted(old.first)} to {quoted(old.second)} weighs {old.weight:g} in {self.place} "
            f"{old.line:,}, and {way} {new.weight:g} in {self.place} {new.line:,}"
        )

    def graph(self) -> DomainGraph:
        """The graph; of two weights of a pair the first one counts."""
        if not self.names:
            raise FileError(self.path, "has no edges.")
        triples = [(edge.first, edge.second, edge.weight) for edge in self.edges]
        largest = max((edge.weight for edge in self.edges), default=0.0)
        return DomainGraph.from_edges(triples, names=self.names, rescale=largest > 1)


@dataclass(frozen=True)
class GraphFile:
    """A graph from a file, with the domains of a table.

    Attributes
    ----------
    graph : DomainGraph
        All domains of the file, then those of the table that it lacks.
    without_edges : list of str
        Domains of the table without an edge.
    without_rows : list of str
        Domains of the file that the table has no rows of.
    notes : list of str
    """

    graph: DomainGraph
    without_edges: list[str]
    without_rows: list[str]
    notes: list[str]


def read_graph(path: str | PathLike[str], domains: Iterable[Any] | None = None) -> GraphFile:
    r"""Read a graph of domains and match it with the domains of a table.

    Parameters
    ----------
    path : str or path
        An edge list in CSV, TSV or Parquet with the columns source, target and maybe weight, or
        the JSON that :func:`write_graph` writes.
    domains : iterable of str, optional
        Domains of the rows of a table; any may come twice.

    Returns
    -------
    GraphFile

    Raises
    ------
    FileError
        With the line at fault; or if the table and the graph share no name.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("source,target\nOH,PA\nPA,NY\n")
    >>> found = read_graph(path, ["OH", "HI"])
    >>> found.graph, found.without_edges, found.without_rows
    (DomainGraph(4 domains, 2 edges, 2 components), ['HI'], ['PA', 'NY'])
    """
    wanted = None if domains is None else list(dict.fromkeys(map(str, domains)))
    edges = read_edges(path, wanted)
    if edges.conflicts:
        more = len(edges.conflicts) - 1
        raise FileError(
            edges.path,
            f"{edges.conflict(edges.conflicts[0])}{f' ({more:,} more such)' if more else ''}. "
            "Edges have no direction: keep one weight a pair.",
        )
    return matched(edges, wanted)


def matched(edges: EdgeList, domains: Sequence[str] | None) -> GraphFile:
    """The graph of an edge list with the domains of a table."""
    graph, notes = edges.graph(), edges.remarks()
    if domains is None:
        return GraphFile(graph, [], [], notes)
    mine, theirs = set(domains), set(graph.names)
    if domains and not mine & theirs:
        raise FileError(edges.path, _nothing_shared(list(domains), list(edges.names)))
    lost = [name for name in domains if name not in theirs]
    without_rows = [name for name in edges.names if name not in mine]
    if lost:
        hint = _spelling(lost, without_rows)
        notes.append(
            f"{counted(len(lost), 'domain')} of the table not in the graph: {listed(lost)}.{hint}"
        )
    if without_rows:
        notes.append(
            f"{counted(len(without_rows), 'domain')} of the graph without rows: "
            f"{listed(without_rows)}."
        )
    graph = graph.with_domains(lost)
    alone = set(graph.isolated)
    return GraphFile(graph, [name for name in domains if name in alone], without_rows, notes)


def _nothing_shared(mine: list[str], theirs: list[str]) -> str:
    return (
        f"No domain of the rows is in the graph: it has {listed(theirs, 3)}, the rows have "
        f"{listed(mine, 3)}.{_spelling(mine, theirs) or ' Both must use the same names.'}"
    )


def _spelling(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Say how two spellings of a name differ, if that is all that parts them."""
    for differ, form in (
        ("in blanks", lambda text: "".join(text.split())),
        ("in case", lambda text: text.strip().casefold()),
        ("in leading zeros", lambda text: text.strip().lstrip("0")),
        ("by a decimal point", lambda text: text.strip().removesuffix(".0")),
        ("in blanks, case and zeros", lambda text: "".join(text.casefold().split()).lstrip("0")),
    ):
        folded = {form(name): name for name in theirs}
        for name in mine:
            if form(name) and form(name) in folded:
                other = folded[form(name)]
                return f" {quoted(name)} and {quoted(other)} differ {differ} only."
    meant = near_miss(mine[0], theirs) if mine else None
    return f" Is {quoted(mine[0])} meant to be {quoted(meant)}?" if meant else ""


# ---------------------------------------------------------------------------- reading


def read_edges(path: str | PathLike[str], domains: Sequence[str] | None = None) -> EdgeList:
    """Read the edges of a file; pairs with two weights are listed, not refused.

    Parameters
    ----------
    path : str or path
    domains : sequence of str, optional
        Known names, which help to see whether the first line is a header.

    Returns
    -------
    EdgeList
    """
    place = Path(path)
    source = ByteSource(place)
    if source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _collect(place, "edge", *_json_edges(place, source), [])
    table = TableFile.open(place)
    if len(table.names) + len(table.unnamed) < 2:
        raise FileError(place, "an edge list needs two columns, such as source and target.")
    rows, notes = _table_edges(table, domains)
    lone = sum(1 for first, second, _, _ in rows if not (first and second))
    if lone:
        notes.append(f"{counted(lone, 'line')} with one domain only: domains without an edge.")
    return _collect(place, table.place, [], rows, notes)


_Row = tuple[str, str, float, int]


def _table_edges(table: TableFile, domains: Sequence[str] | None) -> tuple[list[_Row], list[str]]:
    """Rows of an edge list, and how its columns were understood."""
    notes: list[str] = []
    small = {name.casefold(): name for name in table.names}
    first, second, weight = small.get("source"), small.get("target"), small.get("weight")
    named = first is not None and second is not None
    if not named or first is None or second is None:
        if len(table.names) < 2:
            raise FileError(table.path, "the first two columns need names: source, target.")
        first, second = table.names[:2]
        weight = weight if weight not in (first, second) else None
        if weight is None and len(table.names) == 3:
            weight = table.names[2]
    used = [first, second] + ([weight] if weight else [])
    rows: list[_Row] = []
    head = (first, second)
    for batch in table.batches(used):
        ends = [name_texts(batch.columns[name]).to_pylist() for name in (first, second)]
        weights = batch.columns[weight].to_pylist() if weight else [1.0] * len(batch)
        for a, b, w, line in zip(*ends, weights, batch.lines.tolist(), strict=True):
            if not a and not b:
                raise FileError(table.path, f"{table.place} {line:,} names no domain.")
            value = _weight(table.path, table.place, line, w, lone=not (a and b))
            rows.append((a or "", b or "", value, line))
    if named:
        return rows, notes
    if not table.is_parquet and _is_headless(head, table.names, rows, domains):
        given = table.names[2] if len(table.names) > 2 and weight else "1"
        rows.insert(0, (*head, _weight(table.path, "line", 1, given, lone=False), 1))
        notes.append("There is no header: the first line is taken as an edge.")
    else:
        third = f", {quoted(weight)} as the weight" if weight else ""
        notes.append(
            f"No columns source and target: {quoted(first)} and {quoted(second)} are taken as the "
            f"two ends{third}."
        )
    return rows, notes


def _is_headless(
    head: tuple[str, str],
    names: Sequence[str],
    rows: Sequence[_Row],
    domains: Sequence[str] | None,
) -> bool:
    """Whether what was read as a header is an edge."""
    if len(names) > 2:
        try:
            float(names[2])
        except ValueError:
            return False
        return True
    known = set(domains or ())
    if known:
        return head[0] in known and head[1] in known
    mentioned = {name for row in rows for name in row[:2]}
    return bool(mentioned.intersection(head))


def _weight(path: Path, place: str, line: int, value: Any, *, lone: bool) -> float:
    """A weight of an edge; what is none is refused by line."""
    where = f"{place} {line:,}: the weight {quoted(value)}"
    if lone:
        return 0.0
    if value is None or (isinstance(value, str) and not value.strip()):
        raise FileError(path, f"{place} {line:,} has no weight. Give one, or drop the column.")
    if isinstance(value, bool):
        raise FileError(path, f"{where} is not a number.")
    try:
        number = float(value.replace("_", "x") if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        raise FileError(path, f"{where} is not a number.") from None
    if not math.isfinite(number):
        raise FileError(path, f"{where} is not a finite number.")
    if number < 0:
        raise FileError(
            path, f"{where} is negative. Weights say how near two domains are, from 0 to 1."
        )
    return number


def _json_edges(path: Path, source: ByteSource) -> tuple[list[str], list[_Row]]:
    """Domains and edges of the JSON that `write_graph` writes."""
    with source.unpacked() as stream:
        raw = source.read(stream, _LARGEST_JSON)
    try:
        found = json.loads(raw.decode(source.encoding()))
    except UnicodeDecodeError:
        raise FileError(path, "is not UTF-8, as JSON must be.") from None
    except json.JSONDecodeError as error:
        raise FileError(path, f"line {error.lineno:,}: no valid JSON ({error.msg}).") from None
    except (RecursionError, ValueError):
        raise FileError(path, "no valid JSON: nested too deep, or a number too long.") from None
    if not isinstance(found, dict) or not isinstance(found.get("edges"), list):
        raise FileError(path, 'no graph: {"domains": [...], "edges": [["a", "b", 1.0], ...]}.')
    names = found.get("domains", [])
    if not isinstance(names, list):
        raise FileError(path, '"domains" must be a list of names.')
    domains = [_json_name(path, f"domain {at}", name) for at, name in enumerate(names, 1)]
    if len(set(domains)) < len(domains):
        twice = Counter(domains).most_common(1)[0][0]
        raise FileError(path, f"domain {quoted(twice)} is listed more than once.")
    rows: list[_Row] = []
    for at, edge in enumerate(found["edges"], 1):
        if not isinstance(edge, list) or len(edge) not in (2, 3):
            raise FileError(path, f"edge {at:,} is not a list of two names and a weight.")
        first, second = (_json_name(path, f"edge {at:,}", name) for name in edge[:2])
        weight = _weight(path, "edge", at, edge[2], lone=False) if len(edge) == 3 else 1.0
        rows.append((first, second, weight, at))
    return domains, rows


def _json_name(path: Path, where: str, name: Any) -> str:
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise FileError(path, f"{where}: {quoted(json.dumps(name))} is no name of a domain.")
    return str(name)


def _collect(
    path: Path, place: str, names: list[str], rows: Sequence[_Row], notes: list[str]
) -> EdgeList:
    """Sort edges out: loops, zeros, repeated ones, and pairs with two weights."""
    every = dict.fromkeys(names)
    seen: dict[tuple[str, str], Edge] = {}
    reverse: set[tuple[str, str]] = set()
    conflicts: list[tuple[Edge, Edge]] = []
    loops = zeros = repeated = both_ways = 0
    for first, second, weight, line in rows:
        every.update(dict.fromkeys(name for name in (first, second) if name))
        if not (first and second):
            continue
        if first == second:
            loops += 1
            continue
        new = Edge(first, second, weight, line)
        pair = (first, second) if first < second else (second, first)
        old = seen.setdefault(pair, new)
        if old is new:
            zeros += weight == 0
        elif not math.isclose(old.weight, weight, rel_tol=1e-9):
            conflicts.append((old, new))
        elif old.first != first and pair not in reverse:
            reverse.add(pair)
            both_ways += 1
        else:
            repeated += 1
    edges = [edge for edge in seen.values() if edge.weight > 0]
    return EdgeList(
        path, place, tuple(every), edges, conflicts, loops, zeros, repeated, both_ways, notes
    )


# ---------------------------------------------------------------------------- writing


def write_graph(graph: DomainGraph, path: str | PathLike[str]) -> Path:
    """Write a graph whole or not at all, as CSV, TSV or JSON by the ending of the name.

    Parameters
    ----------
    graph : DomainGraph
    path : str or path
        Ends in .csv, .tsv or .json. In CSV a domain without edges has a line of its own, without
        a target.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> path = write_graph(DomainGraph.chain(["a", "b"]), Path(tempfile.mkdtemp()) / "graph.json")
    >>> read_graph(path).graph == DomainGraph.chain(["a", "b"])
    True
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".csv", ".tsv", ".json"):
        raise FileError(target, "a graph is written as .csv, .tsv or .json: choose one of these.")
    names = [str(name) for name in graph.names]
    above = sparse.triu(graph.weights, 1, format="coo")
    order = np.lexsort((above.col, above.row))
    edges = [
        [names[first], names[second], weight]
        for first, second, weight in zip(
            above.row[order].tolist(),
            above.col[order].tolist(),
            above.data[order].tolist(),
            strict=True,
        )
    ]
    with atomic_file(target) as temporary:
        if suffix == ".json":
            text = json.dumps({"domains": names, "edges": edges}, ensure_ascii=False, indent=0)
            temporary.write_text(text, encoding="utf-8")
        else:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(
                    file, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n"
                )
                writer.writerow(["source", "target", "weight"])
                writer.writerows([str(name), "", ""] for name in graph.isolated)
                writer.writerows(edges)
    return target
