"""The graph of domains with its roles: who is source, who is target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from grada.graph import DomainGraph, Name
from grada.report._canvas import INK, drawn, legible, panels
from grada.report._layout import Positions
from grada.report._nodes import (
    Placed,
    draw_edges,
    draw_names_below,
    draw_nodes,
    draw_texts,
    font_in,
    marker_key,
    place,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEVEL_FILLS = {"1": "#b5b5b5", "2": "#dcdcdc", "3+": "white"}


@drawn
def role_graph(
    graph: DomainGraph,
    sources: Iterable[Name],
    positions: Positions = None,
    *,
    levels: bool = False,
    title: str | None = None,
) -> Figure:
    """Draw the graph with its sources black and its targets white.

    Parameters
    ----------
    graph : DomainGraph
    sources : iterable of names
    positions : mapping of domain to (x, y) or array of shape (n_domains, 2), optional
        Where the domains stand, in one scale for both axes, such as longitude times the cosine of
        a middle latitude, and latitude. Nodes that would cover each other are moved apart. By
        default neighbours are brought together.
    levels : bool, default=False
        Shade the targets by their number of hops from the nearest source: grey for 1, light grey
        for 2, white for 3 and more.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = role_graph(DomainGraph.chain(["OH", "PA", "NY"]), ["OH"])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['OH', 'PA', 'NY']
    """
    sources = list(sources)
    area = float(np.clip(5000.0 * graph.n_domains, 50_000.0, 220_000.0))
    placed = place(graph, sources, positions, area=area)
    figure, (axes,) = panels(
        1, columns=1, width=placed.width, height=placed.height, title=22 if title else 8
    )
    keys = [marker_key("s", "source", fill="black")]
    if levels:
        fills = _level_fills(graph, sources)
        lost = bool(np.isinf(graph.hop_array(sources)).any())
        labels = ("1 hop", "2 hops", "3+ hops" + " or unreachable" * lost)
        keys += [
            marker_key("o", f"target, {text}", fill=fill)
            for text, fill in zip(labels, _LEVEL_FILLS.values(), strict=True)
        ]
    else:
        fills = ["black" if own else "white" for own in placed.is_source]
        keys.append(marker_key("o", "target"))
    draw_roles(axes, placed, fills)
    if title:
        axes.set_title(legible(title))
    figure.legend(handles=keys, loc="lower center", ncols=len(keys))
    return figure


def _level_fills(graph: DomainGraph, sources: list[Name]) -> list[str]:
    hops = graph.hop_array(sources)
    return [
        "black" if hop == 0 else _LEVEL_FILLS["3+" if hop >= 3 else str(int(hop))] for hop in hops
    ]


def draw_roles(axes: Axes, placed: Placed, fills: list[str]) -> None:
    """Draw edges, nodes in their fills, and names: in the nodes if they fit, else below."""
    draw_edges(axes, placed)
    draw_nodes(axes, placed, fills)
    texts = [str(name) for name in placed.graph.names]
    size = font_in(placed.diameter, texts)
    if size is None:
        draw_names_below(axes, placed, placed.diameter / 2 + 1)
    else:
        inks = ["white" if fill == "black" else INK for fill in fills]
        draw_texts(axes, placed, texts, size, colours=inks)
