"""The graph of domains once for each method, in the colours of its scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grada.datasets import Task
from grada.graph import DomainGraph, Name
from grada.report._canvas import drawn, legible, panels
from grada.report._layout import Floats, Positions
from grada.report._nodes import (
    Placed,
    draw_edges,
    draw_nodes,
    draw_texts,
    font_in,
    marker_key,
    place,
)
from grada.report._roles import draw_roles

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

# From the worst to the best score. Lightness falls all the way, so that grey paper keeps the
# order, and the darkest still carries dark text.
_BLUE_TO_RED = ("#cfeaff", "#a9cdf5", "#b3aee0", "#d28bb4", "#ec7682", "#f0503f")


@drawn
def score_graphs(
    task: Task | tuple[DomainGraph, Iterable[Name]],
    scores: Mapping[str, Mapping[Name, float]],
    *,
    positions: Positions = None,
    scale: tuple[float, float] | None = None,
    higher_is_better: bool | None = None,
    label: str | None = None,
    names: bool = True,
    columns: int | None = None,
) -> Figure:
    r"""Draw the graph once for each method, every domain in the colour of its score.

    Red is the best score and blue the worst; lightness falls from the worst to the best, for
    readers without colour. Sources are squares with a thick outline. A domain without a score
    stays white. The title gives the mean over the targets.

    Parameters
    ----------
    task : Task, or tuple of a DomainGraph and its sources
    scores : mapping of method to mapping of domain to score
        Such as ``{"GRDA": task.evaluate(predicted).per_domain}``. Domains may be missing.
    positions : mapping of domain to (x, y) or array of shape (n_domains, 2), optional
        Where the domains stand, in one scale for both axes, such as longitude times the cosine of
        a middle latitude, and latitude. Nodes that would cover each other are moved apart. By
        default neighbours are brought together.
    scale : tuple of two floats, optional
        Range of the colours; by default 0 to 100, or 0 to the largest score where lower is better.
        Scores outside take the colour of the nearest end.
    higher_is_better : bool, optional
        By default false for a regression task, and true otherwise.
    label : str, optional
        What the scores are, with their unit; by default ``"accuracy (%)"`` or ``"squared error"``.
    names : bool, default=True
        Let a first panel name the domains.
    columns : int, optional
        Most panels in one row; by default as many as fit a width of 14 inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> graph = DomainGraph.chain(["a", "b", "c"])
    >>> figure = score_graphs((graph, ["a"]), {"GRDA": {"b": 91.0, "c": 70.0}}, names=False)
    >>> figure.axes[0].get_title(), figure.axes[1].get_ylabel()
    ('GRDA\nmean 80.5', 'accuracy (%), darker is better')
    """
    if not scores:
        raise ValueError("scores is empty: give {method: {domain: score}}")
    graph, sources = (task.graph, task.sources) if isinstance(task, Task) else task
    if higher_is_better is None:
        higher_is_better = not (isinstance(task, Task) and task.kind == "regression")
    if label is None:
        label = "accuracy (%)" if higher_is_better else "squared error"
    placed = place(graph, sources, positions, area=_panel_area(graph))
    values = {method: _score_array(graph, method, found) for method, found in scores.items()}
    colours = _colour_scale(list(values.values()), scale, higher_is_better)
    if columns is None:
        columns = _balanced(len(values) + names, int(14 * 72 / (placed.width + 10)))
    figure, every = panels(
        len(values) + names, columns=columns, width=placed.width, height=placed.height, right=70
    )
    if names:
        draw_roles(every[0], placed, ["black" if own else "white" for own in placed.is_source])
        every[0].set_title("domains")
    whole = bool(np.ptp(colours.get_clim()) >= 20)
    texts = {method: _texts(found, whole=whole) for method, found in values.items()}
    size = font_in(placed.diameter, [text for own in texts.values() for text in own])
    for axes, (method, found) in zip(every[names:], values.items(), strict=True):
        draw_edges(axes, placed)
        draw_nodes(axes, placed, _fills(found, colours))
        if size is not None:
            draw_texts(axes, placed, texts[method], size)
        axes.set_title(f"{legible(method)}\nmean {_mean(placed, found):.{1 if whole else 3}f}")
    _add_colour_bar(figure, colours, f"{label}, darker is better", inverted=not higher_is_better)
    keys = [marker_key("s", "source", edge=2.0), marker_key("o", "target")]
    if any(np.isnan(found).any() for found in values.values()):
        keys.append(marker_key("none", "white: no score"))
    figure.legend(handles=keys, loc="lower center", ncols=len(keys))
    return figure


def _balanced(count: int, most: int) -> int:
    """Columns for so many panels, at most `most`, with the rows about equally full."""
    return math.ceil(count / math.ceil(count / max(most, 1)))


def _panel_area(graph: DomainGraph) -> float:
    """Square points of a panel: enough to write a score in each of up to a hundred nodes."""
    return float(np.clip(1500.0 * graph.n_domains, 37_000.0, 120_000.0))


def _score_array(graph: DomainGraph, method: str, scores: Mapping[Name, float]) -> Floats:
    found = np.full(graph.n_domains, np.nan)
    if not scores:
        raise ValueError(f"method {method!r} has no scores: give {{domain: score}}")
    found[graph.index(list(scores))] = [float(score) for score in scores.values()]
    found[~np.isfinite(found)] = np.nan
    return found


def _mean(placed: Placed, found: Floats) -> float:
    """Mean over the targets that have a score, or over all where only sources have one."""
    scored = np.isfinite(found)
    targets = scored & ~placed.is_source
    chosen = found[targets if targets.any() else scored]
    return float(chosen.mean()) if len(chosen) else math.nan


def blue_to_red() -> LinearSegmentedColormap:
    """Colours from the worst to the best, ever darker."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue to red", _BLUE_TO_RED)


def _colour_scale(
    values: list[Floats], scale: tuple[float, float] | None, higher_is_better: bool
) -> ScalarMappable:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    every = np.concatenate(values)
    every = every[np.isfinite(every)]
    if scale is None:
        scale = (0.0, 100.0 if higher_is_better else float(max(every.max(initial=0.0), 1e-9)))
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must be (lowest, highest), got {scale!r}")
    colours = blue_to_red() if higher_is_better else blue_to_red().reversed()
    mappable = ScalarMappable(Normalize(*scale, clip=True), colours)
    mappable.set_array(every)
    return mappable


def _fills(found: Floats, colours: ScalarMappable) -> list[Any]:
    fills = colours.to_rgba(np.nan_to_num(found))
    fills[np.isnan(found)] = 1.0
    return list(fills)


def _texts(found: Floats, *, whole: bool) -> list[str]:
    return ["" if np.isnan(score) else _short(score, whole=whole) for score in found.tolist()]


def _short(score: float, *, whole: bool) -> str:
    """Write a score in three characters or so."""
    if abs(score) >= 1e4:
        return "≫" if score > 0 else "≪"
    if whole or abs(score) >= 9.95:
        return f"{score:.0f}"
    # Two figures are enough to read, and a leading zero costs a third of the room.
    return f"{score:.1f}" if abs(score) >= 0.995 else f"{score:.2f}".replace("0.", ".", 1)


def _add_colour_bar(figure: Figure, colours: ScalarMappable, label: str, *, inverted: bool) -> None:
    wide, tall = figure.get_size_inches() * 72
    height = min(0.75 * tall, 220.0)
    room = figure.add_axes((1 - 58 / wide, 0.5 - height / tall / 2, 10 / wide, height / tall))
    low, high = colours.get_clim()
    every = np.asarray(colours.get_array())
    below, above = bool((every < low).any()), bool((every > high).any())
    extend = "both" if below and above else "min" if below else "max" if above else "neither"
    bar = figure.colorbar(colours, cax=room, extend=extend)
    bar.set_label(label)
    if inverted:  # the best end on top
        room.invert_yaxis()
