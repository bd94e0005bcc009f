"""A two-feature task at a glance: each domain as a disc, cut along its own boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grada.datasets import Task
from grada.report._canvas import INK, drawn, legible, panels
from grada.report._layout import Floats, Positions
from grada.report._nodes import draw_edges, draw_names_below, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Light and hatched against dark and plain: told apart without colour.
_BLUE, _RED, _GREY = "#bfe3ff", "#c9302c", "#e6e6e6"


@drawn
def boundaries(task: Task, positions: Positions = None, *, names: bool = True) -> Figure:
    """Draw every domain as a disc of two halves, cut in the direction of its true boundary.

    The cut stands at right angles to the line between the means of the two classes, in the axes
    of the two features. It uses the hidden labels: a picture of the task, not of a method.

    Parameters
    ----------
    task : Task
        Two features and two classes.
    positions : mapping of domain to (x, y) or array of shape (n_domains, 2), optional
        Where the domains stand; by default neighbours are brought together.
    names : bool, default=True
        Write the names under the discs.

    Returns
    -------
    matplotlib.figure.Figure
        A domain that lacks rows of a class, or whose classes have the same mean, is a grey disc.

    Examples
    --------
    >>> from grada.datasets import make_dg
    >>> figure = boundaries(make_dg(n_domains=6, n_sources=2, random_state=0))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['class 1', 'class 0', 'source']
    """
    from matplotlib.patches import Patch

    classes = _two_classes(task)
    towards = class_directions(task)
    area = float(np.clip(6000.0 * task.graph.n_domains, 70_000.0, 270_000.0))
    placed = place(task.graph, task.sources, positions, area=area, spacing=1.85)
    figure, (axes,) = panels(1, columns=1, width=placed.width, height=placed.height, title=22)
    draw_edges(axes, placed)
    radius = placed.diameter / 2
    for at, (x, y) in enumerate(placed.places):
        if placed.is_source[at]:
            _frame(axes, x, y, 1.2 * radius)
        _disc(axes, x, y, radius, towards[at])
    if names:
        draw_names_below(axes, placed, 1.2 * radius + 1)
    axes.set_title(f"{legible(task.name)}: direction of each domain's boundary")
    keys = [
        Patch(facecolor=_RED, edgecolor=INK, label=f"class {classes[1]}"),
        Patch(facecolor=_BLUE, edgecolor=INK, hatch="////", label=f"class {classes[0]}"),
        Patch(facecolor="white", edgecolor="black", linewidth=2.0, label="source"),
    ]
    figure.legend(handles=keys, loc="lower center", ncols=3)
    return figure


def _two_classes(task: Task) -> NDArray[Any]:
    n_features = np.asarray(task.X).reshape(len(task.y), -1).shape[1]
    classes = np.unique(task.reveal()) if task.kind == "classification" else np.empty(0)
    if n_features != 2 or len(classes) != 2:
        found = f"{len(classes)} classes" if task.kind == "classification" else "a regression"
        raise ValueError(
            f"boundaries needs a task of two features and two classes; {task.name!r} has "
            f"{n_features} features and {found}"
        )
    return classes


def class_directions(task: Task) -> Floats:
    """Angle in degrees from the mean of the first class to that of the second, of each domain.

    Returns
    -------
    ndarray of shape (n_domains,)
        NaN where a class is missing or the means are the same.
    """
    rows = np.asarray(task.X, dtype=np.float64)
    codes = task.graph.index(task.domain)
    second = task.reveal() == _two_classes(task)[1]
    means = []
    for chosen in (~second, second):
        count = np.bincount(codes[chosen], minlength=task.graph.n_domains)
        total = np.stack(
            [
                np.bincount(codes[chosen], column, minlength=task.graph.n_domains)
                for column in rows[chosen].T
            ],
            axis=1,
        )
        filled = np.where(count > 0, count, np.nan)[:, None]
        means.append(total / filled)
    step = means[1] - means[0]
    angle: Floats = np.degrees(np.arctan2(step[:, 1], step[:, 0]))
    angle[np.hypot(step[:, 0], step[:, 1]) == 0] = np.nan
    return angle


def _disc(axes: Axes, x: float, y: float, radius: float, towards: float) -> None:
    from matplotlib.patches import Circle, Wedge

    if np.isnan(towards):
        axes.add_patch(Circle((x, y), radius, facecolor=_GREY, edgecolor=INK, lw=0.7, zorder=3))
        return
    red = Wedge((x, y), radius, towards - 90, towards + 90, facecolor=_RED, edgecolor=INK, lw=0.7)
    blue = Wedge(
        (x, y),
        radius,
        towards + 90,
        towards + 270,
        facecolor=_BLUE,
        edgecolor=INK,
        lw=0.7,
        hatch="////",
    )
    for half, gid in ((red, "second class"), (blue, "first class")):
        half.set(zorder=3, gid=gid)
        axes.add_patch(half)


def _frame(axes: Axes, x: float, y: float, half: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (x - half, y - half),
            2 * half,
            2 * half,
            facecolor="white",
            edgecolor="black",
            lw=2.0,
            zorder=2,
            gid="source",
        )
    )
