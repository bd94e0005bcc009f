"""Lines over time: losses over epochs, and series over months."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from grada.report._canvas import COLOURS, INK, LINES, MARKERS, cycle, drawn, legible, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

History: TypeAlias = Mapping[str, Sequence[float]]


@drawn
def loss_curve(
    history: History | Mapping[str, History], *, title: str | None = None, columns: int = 3
) -> Figure:
    """Draw the loss of the discriminator over the epochs beside its theoretical optimum.

    Parameters
    ----------
    history : mapping of figure to values, one an epoch; or mapping of label to such mappings
        Such as ``estimator.history_``. ``discriminator_loss`` must be there;
        ``discriminator_bound`` (the loss of the best discriminator when the encodings are aligned)
        and ``probe_loss`` (that of fresh discriminators, NaN where not measured) are drawn if they
        are. Several histories have a panel each.
    title : str, optional
        Of a single history.
    columns : int, default=3
        Most panels in one row.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = loss_curve({"discriminator_loss": [0.6, 0.7], "discriminator_bound": [0.69, 0.69]})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['discriminator loss', 'theoretical optimum']
    """
    if not history:
        raise ValueError("the history is empty: fit first")
    several = all(isinstance(values, Mapping) for values in history.values())
    histories: Mapping[str, Any] = history if several else {title or "": history}
    figure, every = subplots(
        len(histories),
        columns=columns,
        width=5.2 if len(histories) == 1 else 3.6,
        height=3.2 if len(histories) == 1 else 2.9,
    )
    ncols = 3 if len(every) > 1 else 2  # what fits into the width
    keys: dict[str, Any] = {}
    for axes, (label, own) in zip(every, histories.items(), strict=True):
        _draw_history(axes, str(label), own)
        axes.set_title(legible(label))
        axes.set(xlabel="epoch", ylabel="loss (nats)")
        handles, texts = axes.get_legend_handles_labels()
        keys |= dict(zip(texts, handles, strict=True))
    figure.legend(handles=list(keys.values()), loc="outside lower center", ncols=ncols)
    return figure


def _draw_history(axes: Axes, label: str, history: History) -> None:
    if "discriminator_loss" not in history:
        raise ValueError(
            f"history {label!r} has no 'discriminator_loss', only {', '.join(map(repr, history))}: "
            "it is there after the fit of an adversarial method"
        )
    loss = np.asarray(history["discriminator_loss"], dtype=np.float64)
    epochs = np.arange(1, len(loss) + 1)
    alone = "." if len(loss) < 3 else ""  # one or two epochs make no line
    axes.plot(epochs, loss, color=COLOURS[0], marker=alone, label="discriminator loss")
    if "discriminator_bound" in history:
        bound = np.asarray(history["discriminator_bound"], dtype=np.float64)
        style = {"color": INK, "linestyle": "--", "linewidth": 1.3}
        axes.plot(epochs, bound, marker=alone, label="theoretical optimum", **style)  # type: ignore[arg-type]
    if "probe_loss" in history:
        probe = np.asarray(history["probe_loss"], dtype=np.float64)
        seen = np.isfinite(probe)
        axes.plot(
            epochs[seen],
            probe[seen],
            linestyle="none",
            marker="D",
            markersize=5,
            markerfacecolor="white",
            markeredgecolor=COLOURS[1],
            markeredgewidth=1.4,
            label="fresh discriminator (probe)",
        )


@drawn
def series(
    frame: pd.DataFrame,
    columns: Sequence[Any] | None = None,
    *,
    ylabel: str,
    xlabel: str | None = None,
    panels: bool = True,
    title: str | None = None,
) -> Figure:
    """Draw a series over time for each of some domains.

    Parameters
    ----------
    frame : DataFrame of shape (n_times, n_columns)
        One column a domain. The index is the time: periods, dates or numbers such as months.
    columns : sequence of names, optional
        The domains to draw, by default all.
    ylabel : str
        What is measured, with its unit, such as ``"temperature (°F)"``.
    xlabel : str, optional
        By default the name of the index.
    panels : bool, default=True
        A panel for each domain, with one scale for all; otherwise all lines in one panel.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> months = pd.period_range("2008-01", periods=3, freq="M", name="month")
    >>> frame = pd.DataFrame({"OH": [20.1, 25.0, 36.2], "FL": [58.0, 61.1, 65.3]}, index=months)
    >>> figure = series(frame, ylabel="temperature (°F)")
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['OH', 'FL']
    """
    chosen = list(frame.columns) if columns is None else list(columns)
    lost = [name for name in chosen if name not in frame.columns]
    if lost or not chosen:
        raise ValueError(f"the frame has no column {lost[0]!r}" if lost else "no column is chosen")
    index = frame.index
    times = index.to_timestamp() if isinstance(index, pd.PeriodIndex) else index
    count = len(chosen) if panels else 1
    figure, every = subplots(
        count, columns=1, width=7.2, height=1.45 if panels else 3.2, sharex=True, sharey=True
    )
    for at, name in enumerate(chosen):
        axes = every[at if panels else 0]
        style = {"color": cycle(COLOURS, at), "linestyle": "-" if panels else cycle(LINES, at)}
        marks = {} if panels else _marks(at, len(times))
        axes.plot(times, frame[name], linewidth=1.2, label=legible(name), **style, **marks)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        if panels:
            axes.set_title(legible(name), loc="left", fontsize=9)
    every[-1].set_xlabel(xlabel if xlabel is not None else str(index.name or ""))
    figure.supylabel(ylabel, fontsize=9)
    if title:
        figure.suptitle(legible(title), fontsize=10)
    if not panels:
        handles, _ = every[0].get_legend_handles_labels()
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(chosen), 6))
    return figure


def _marks(at: int, n_times: int) -> dict[str, Any]:
    """Markers of one line among several, few enough to leave it visible."""
    every = max(1, n_times // 18)
    start = (at * every) // 4
    return {"marker": cycle(MARKERS, at), "markersize": 4, "markevery": (start, every)}
