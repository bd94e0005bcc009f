"""Paper and ink: an empty figure, the house style, and how a figure is saved."""

from __future__ import annotations

import functools
import importlib
import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
R = TypeVar("R")

INK = "#1a1a1a"
# Okabe and Ito's colours, which colour-blind readers can tell apart; yellow is left out, for it
# is too pale for lines. Each has a line style, a marker and a hatch of its own beside it.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (2, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---", "++")

_STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "legend.fontsize": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    # A name such as "$a$" is a name, not a formula.
    "text.parse_math": False,
}


def drawn(function: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function in the house style, whatever style the caller has set."""

    @functools.wraps(function)
    def styled(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            matplotlib = importlib.import_module("matplotlib")
        except ImportError as error:
            raise ImportError(
                'figures need matplotlib, which is not installed: pip install "grada[figures]"'
            ) from error
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            return function(*args, **kwargs)

    return styled


def new_figure(width: float, height: float, *, layout: str | None = "constrained") -> Figure:
    """Make an empty figure of a size in inches; pyplot does not know of it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout, facecolor="white")  # type: ignore[arg-type]
    FigureCanvasAgg(figure)
    return figure


def subplots(
    count: int, *, columns: int, width: float, height: float, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """Make a figure of axes with ticks, `width` times `height` inches each."""
    columns = min(count, columns)
    rows = math.ceil(count / columns)
    figure = new_figure(columns * width, rows * height)
    grid = figure.subplots(rows, columns, squeeze=False, **shared)
    every = list(grid.flat)
    for axes in every[count:]:
        axes.remove()
    return figure, every[:count]


def panels(
    count: int,
    *,
    columns: int,
    width: float,
    height: float,
    right: float = 0.0,
    title: float = 34.0,
) -> tuple[Figure, list[Axes]]:
    """Make a figure of empty panels in which one unit is one point.

    Parameters
    ----------
    count, columns : int
        Number of panels, and the most in one row.
    width, height : float
        Size of a panel in points.
    right : float
        Free room in points at the right edge, for a colour bar.
    title : float
        Room in points over each panel, by default for two lines.

    Returns
    -------
    Figure, list of Axes
        There is room for a legend at the bottom.
    """
    gap, foot = 10.0, 24.0
    columns = min(count, columns)
    rows = math.ceil(count / columns)
    whole = columns * (width + gap) + gap + right
    tall = rows * (height + title) + foot + gap
    figure = new_figure(whole / 72, tall / 72, layout=None)
    every: list[Axes] = []
    for at in range(count):
        row, column = divmod(at, columns)
        left = gap + column * (width + gap)
        bottom = tall - (row + 1) * (height + title)
        axes = figure.add_axes((left / whole, bottom / tall, width / whole, height / tall))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.set_axis_off()
        every.append(axes)
    return figure, every


def legible(name: object) -> str:
    """Turn a name into a label; matplotlib hides labels that start with an underscore."""
    text = str(name)
    return f" {text}" if text.startswith("_") else text


def cycle(values: tuple[Any, ...], at: int) -> Any:
    """Take the value at a position, from the start again after the last."""
    return values[at % len(values)]


#: Inches from which on a picture needs no more dots to be read.
_WIDE = 20.0


@drawn
def save(figure: Figure, path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write a figure as PNG and as SVG, the same bytes every time.

    The PNG has 150 dots an inch, or 90 if the figure is very wide.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or path
        Where to, without suffix: ``"figures/dg15"`` gives ``dg15.png`` and ``dg15.svg`` in the
        folder ``figures``, which is made if it is not there.

    Returns
    -------
    tuple of two Path
        The PNG and the SVG file.

    Examples
    --------
    >>> figure = loss_curve({"discriminator_loss": [0.6, 0.7]})  # doctest: +SKIP
    >>> save(figure, "figures/loss")  # doctest: +SKIP
    (PosixPath('figures/loss.png'), PosixPath('figures/loss.svg'))
    """
    import matplotlib

    stem = Path(path)
    if stem.suffix in (".png", ".svg"):
        stem = stem.with_suffix("")
    # Without a salt of ours the ids in an SVG are random; dates and versions change files too.
    matplotlib.rcParams["svg.hashsalt"] = "grada"
    nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    dots = 150 if figure.get_figwidth() < _WIDE else 90
    written = []
    for suffix, metadata in nothing.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format=suffix, dpi=dots, metadata=metadata, facecolor="white")
        content = _fewer_colours(buffer) if suffix == "png" else buffer.getvalue()
        written.append((stem.with_name(f"{stem.name}.{suffix}"), content))
    stem.parent.mkdir(parents=True, exist_ok=True)
    for target, content in written:
        target.write_bytes(content)
    return written[0][0], written[1][0]


def _fewer_colours(png: io.BytesIO) -> bytes:
    """The same picture with 256 colours, a fraction of the size; drawings need no more."""
    from PIL import Image  # comes with matplotlib

    small = io.BytesIO()
    colours = Image.open(png).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    colours.save(small, format="png", optimize=True)
    return small.getvalue()
