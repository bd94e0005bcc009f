"""The parts that every picture of a graph shares: places, edges, names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grada.graph import DomainGraph, Name
from grada.report._canvas import INK
from grada.report._layout import (
    Floats,
    Positions,
    fit,
    layout,
    panel_size,
    push_apart,
    read_positions,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SMALLEST_FONT = 5.5
_NAMED_LIMIT = 120


@dataclass(frozen=True)
class Placed:
    """A graph in its panel; all lengths are points.

    Attributes
    ----------
    places : ndarray of shape (n_domains, 2)
    is_source : ndarray of bool, shape (n_domains,)
    diameter, width, height : float
        Of a node, and of the panel.
    """

    graph: DomainGraph
    places: Floats
    is_source: NDArray[np.bool_]
    diameter: float
    width: float
    height: float


def place(
    graph: DomainGraph,
    sources: Iterable[Name],
    positions: Positions,
    *,
    area: float,
    spacing: float = 1.35,
) -> Placed:
    """Find room for every domain in a panel of a given area.

    Nodes are at least `spacing` diameters apart where the panel has the room for that.
    """
    given = read_positions(graph, positions)
    width, height = panel_size(given, area)
    room = np.sqrt(width * height / graph.n_domains)
    diameter = float(np.clip(0.42 * room, 3.0, 24.0))
    margin = diameter / 2 + 4
    places = layout(graph) if given is None else given
    places = fit(places, width, height, margin, stretch=given is None)
    box = np.array([width, height])
    places = push_apart(places, spacing * diameter, np.full(2, margin), box - margin)
    is_source = np.zeros(graph.n_domains, dtype=bool)
    named = list(sources)
    if named:
        is_source[graph.index(named)] = True
    return Placed(graph, places, is_source, diameter, width, height)


def draw_edges(axes: Axes, placed: Placed) -> None:
    """Draw the edges, under everything else; light edges are thin, and so are many."""
    from matplotlib.collections import LineCollection

    above = sparse.triu(placed.graph.weights, 1, format="coo")
    if not above.nnz:
        return
    width = float(np.clip(12.0 / np.sqrt(above.nnz), 0.3, 1.2))
    lines = LineCollection(
        list(placed.places[np.column_stack([above.row, above.col])]),
        linewidths=width * (0.25 + 0.75 * above.data),
        colors="#9a9a9a",
        zorder=1,
    )
    lines.set_gid("edges")
    axes.add_collection(lines)


def draw_nodes(axes: Axes, placed: Placed, fills: Sequence[object]) -> None:
    """Draw sources as squares with a thick outline, targets as circles."""
    groups = (("sources", placed.is_source, "s", 2.0), ("targets", ~placed.is_source, "o", 0.7))
    for kind, chosen, marker, edge in groups:
        if not chosen.any():
            continue
        # A square of a circle's diameter looks larger than the circle.
        side = placed.diameter * (0.9 if marker == "s" else 1.0)
        nodes = axes.scatter(
            placed.places[chosen, 0],
            placed.places[chosen, 1],
            s=side**2,
            marker=marker,
            facecolors=[fills[at] for at in np.flatnonzero(chosen).tolist()],
            edgecolors=INK,
            linewidths=min(edge, 0.15 * placed.diameter),
            zorder=3,
        )
        nodes.set_gid(kind)


def draw_texts(
    axes: Axes,
    placed: Placed,
    texts: Sequence[str],
    size: float,
    *,
    colours: Sequence[str] | None = None,
) -> None:
    """Write a text in each node."""
    for at, ((x, y), text) in enumerate(zip(placed.places, texts, strict=True)):
        colour = INK if colours is None else colours[at]
        axes.text(
            x, y, text, ha="center", va="center_baseline", fontsize=size, color=colour, zorder=4
        )


def draw_names_below(axes: Axes, placed: Placed, offset: float) -> None:
    """Write the names under the nodes, for names that are too long to stand in them."""
    from matplotlib.patheffects import withStroke

    if placed.graph.n_domains > _NAMED_LIMIT:
        return
    for (x, y), name in zip(placed.places, placed.graph.names, strict=True):
        text = in_two_lines(str(name))
        label = axes.text(
            x, y - offset, text, ha="center", va="top", fontsize=6.5, linespacing=0.95, zorder=4
        )
        label.set_path_effects([withStroke(linewidth=1.6, foreground="white")])


def in_two_lines(name: str) -> str:
    """Break a long name at the separator nearest to its middle, and cut what is longer still."""
    breaks = [at for at, letter in enumerate(name) if letter in " /-_" and 0 < at < len(name) - 1]
    lines = [name]
    if len(name) > 8 and breaks:
        # Later breaks win ties, and a slash or a space is lost at the end of its line.
        at = min(breaks, key=lambda at: (name[at] not in " /", abs(at - len(name) / 2)))
        lines = [name[: at + (name[at] in "-_")], name[at + 1 :]]
    return "\n".join(line if len(line) <= 14 else f"{line[:13]}…" for line in lines)


def font_in(diameter: float, texts: Sequence[str]) -> float | None:
    """Largest font size at which every text fits into a node; None if it is too small to read."""
    # A letter is about 0.62 of the font size wide, and a circle has less room than its diameter.
    longest = max((len(text) for text in texts), default=0)
    size = min(0.6 * diameter, 0.8 * diameter / (0.62 * max(longest, 1)))
    return min(size, 10.0) if size >= SMALLEST_FONT else None


def marker_key(marker: str, label: str, *, fill: str = "white", edge: float = 0.8) -> Line2D:
    """Make an entry of a legend: a marker and what it stands for."""
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markersize=8,
        markerfacecolor=fill,
        markeredgecolor=INK,
        markeredgewidth=edge,
        label=label,
    )
