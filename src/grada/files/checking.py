"""What is odd about a graph of domains: in itself, and beside a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grada.files.edges import EdgeList, matched
from grada.files.errors import counted, listed
from grada.files.rows import TableScan
from grada.graph import DomainGraph


@dataclass(frozen=True)
class Finding:
    """Something to know about a graph.

    Attributes
    ----------
    kind : str
        A short name for machines, such as ``"isolated"``.
    text : str
    hurts : bool
        Whether adaptation suffers from it.
    domains : tuple of str
        Which ones, all of them.
    """

    kind: str
    text: str
    hurts: bool
    domains: tuple[str, ...] = ()


def check_graph(edges: EdgeList, table: TableScan | None = None) -> list[Finding]:
    """Find what would hurt: lone domains, parts without a source, edges with two weights.

    Parameters
    ----------
    edges : EdgeList
    table : TableScan, optional
        Rows and labels of the domains.

    Returns
    -------
    list of Finding
        What hurts comes first.
    """
    found = [
        Finding("asymmetric", f"{edges.conflict(pair)}.", True, (pair[0].first, pair[0].second))
        for pair in edges.conflicts
    ]
    domains = None if table is None else list(table.rows_in)
    given = matched(edges, domains)
    found += _lone(edges, given.graph, domains)
    if table is not None:
        found += _beside(given.graph, table)
        if given.without_rows:
            number = counted(len(given.without_rows), "domain")
            text = f"{number} of the graph without rows: {listed(given.without_rows)}."
            found.append(Finding("without-rows", text, False, tuple(given.without_rows)))
    elif len(given.graph.components) > 1:
        parts = [part for part in given.graph.components if len(part) > 1]
        if len(parts) > 1:
            text = f"{len(parts):,} parts that no edge joins: each needs a domain with labels."
            found.append(Finding("components", text, False))
    found += [Finding("remark", text, False) for text in edges.remarks()]
    return sorted(found, key=lambda finding: not finding.hurts)


def _lone(edges: EdgeList, graph: DomainGraph, domains: Sequence[str] | None) -> list[Finding]:
    """Domains without a neighbour: in the graph, or not in it at all."""
    inside = set(edges.names)
    lost = [name for name in domains or () if name not in inside]
    wanted = set(domains) if domains is not None else inside
    alone = [str(name) for name in graph.isolated if name in inside and name in wanted]
    found = []
    if lost:
        text = f"{counted(len(lost), 'domain')} of the table not in the graph: {listed(lost)}."
        found.append(Finding("missing-from-graph", text, True, tuple(lost)))
    if alone:
        text = f"{counted(len(alone), 'domain')} without an edge: {listed(alone)}."
        found.append(Finding("isolated", text, True, tuple(alone)))
    return found


def _beside(graph: DomainGraph, table: TableScan) -> list[Finding]:
    """Parts of the graph in which no domain has a label."""
    if table.label is None:
        return []
    if not table.has_targets:
        return [Finding("no-targets", "Every row has a label: there is nothing to adapt.", False)]
    found = []
    for part in graph.components:
        rows = [str(name) for name in part if name in table.rows_in]
        if len(part) > 1 and rows and not any(table.labels_in.get(name) for name in rows):
            text = (
                f"A part of {counted(len(part), 'domain')} without a single label: {listed(rows)}. "
                "No edge leads there from a source."
            )
            found.append(Finding("component-without-source", text, True, tuple(rows)))
    return found


def longest_way(graph: DomainGraph) -> int:
    """Hops between two domains that lie far apart: the diameter, or a little less.

    Examples
    --------
    >>> longest_way(DomainGraph.chain(10))
    9
    """
    start = graph.index([graph.components[0][0]])
    for _ in range(3):
        hops = graph.hops_from(start)
        hops[~np.isfinite(hops)] = -1
        start = np.array([int(np.argmax(hops))])
    return int(hops.max())
