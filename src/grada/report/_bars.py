"""Scores of methods beside each other, and beside published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grada.report._canvas import (
    COLOURS,
    INK,
    LINES,
    MARKERS,
    cycle,
    drawn,
    legible,
    subplots,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@drawn
def score_by_sources(
    scores: Mapping[str, Mapping[int, Sequence[float]]],
    published: Mapping[str, Mapping[int, float]] | None = None,
    *,
    ylabel: str = "accuracy (%)",
    title: str | None = None,
) -> Figure:
    """Draw the score of each method against the number of source domains.

    Parameters
    ----------
    scores : mapping of method to mapping of number of sources to scores
        Several scores a point: over seeds, draws of sources, or both. Drawn are their mean and
        their standard deviation (n - 1 in the denominator).
    published : mapping of method to mapping of number of sources to score, optional
        Drawn as hollow markers without a line, in the shape and colour of the method.
    ylabel : str, default="accuracy (%)"
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = score_by_sources({"GRDA": {1: [60.0, 62.0], 2: [70.0, 75.0]}},
    ...                           published={"GRDA": {1: 64.7, 2: 74.1}})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['GRDA (mean ± std)', 'GRDA, published']
    """
    published = published or {}
    methods = list(dict.fromkeys([*scores, *published]))
    if not methods:
        raise ValueError("scores is empty: give {method: {number of sources: scores}}")
    figure, (axes,) = subplots(1, columns=1, width=5.6, height=3.6)
    keys: list[Any] = []
    counts = sorted({int(n) for own in (scores, published) for f in own.values() for n in f})
    step = min(np.diff(counts).tolist(), default=1)
    for at, method in enumerate(methods):
        # Side by side, or the bars of two methods would hide each other.
        shift = 0.09 * step * (at - (len(methods) - 1) / 2)
        look = {"color": cycle(COLOURS, at), "marker": cycle(MARKERS, at), "markersize": 6.5}
        own = scores.get(method, {})
        if own:
            x = sorted(own)
            means = [float(np.mean(own[n])) for n in x]
            spread = [float(np.std(own[n], ddof=1)) if len(own[n]) > 1 else 0.0 for n in x]
            bars = axes.errorbar(
                np.asarray(x) + shift,
                means,
                yerr=spread,
                linestyle=cycle(LINES, at),
                capsize=3,
                linewidth=1.4,
                label=f"{legible(method)} (mean ± std)",
                **look,
            )
            keys.append(bars)
        if method in published:
            x = sorted(published[method])
            keys += axes.plot(
                np.asarray(x) + shift,
                [published[method][n] for n in x],
                linestyle="none",
                markerfacecolor="white",
                markeredgewidth=1.6,
                zorder=5,
                label=f"{legible(method)}, published",
                **look,
            )
    axes.set_xticks(counts)
    axes.set(xlabel="number of source domains", ylabel=ylabel)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    if title:
        axes.set_title(legible(title))
    figure.legend(handles=keys, loc="outside lower center", ncols=2)
    return figure


@drawn
def score_bars(
    scores: Mapping[str, Mapping[str, tuple[float, float]]],
    published: Mapping[str, Mapping[str, float]] | None = None,
    *,
    label: str | Mapping[str, str] = "accuracy (%)",
    columns: int = 2,
) -> Figure:
    """Draw the scores of methods as bars with their spread, a panel for each task.

    Parameters
    ----------
    scores : mapping of task to mapping of method to (mean, standard deviation)
    published : mapping of task to mapping of method to score, optional
        Drawn as diamonds.
    label : str or mapping of task to str, default="accuracy (%)"
        What the scores are, with their unit.
    columns : int, default=2
        Most panels in one row.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = score_bars({"dg15": {"GRDA": (84.0, 2.0), "DANN": (60.0, 5.0)}})
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['GRDA', 'DANN']
    """
    if not scores:
        raise ValueError("scores is empty: give {task: {method: (mean, std)}}")
    published = published or {}
    longest = max(len({*own, *published.get(task, {})}) for task, own in scores.items())
    figure, every = subplots(len(scores), columns=columns, width=4.6, height=0.9 + 0.27 * longest)
    keys: dict[str, Any] = {}
    for axes, (task, own) in zip(every, scores.items(), strict=True):
        told = published.get(task, {})
        rows = {method: at for at, method in enumerate(dict.fromkeys([*own, *told]))}
        mean, spread = np.array([own[method] for method in own]).reshape(-1, 2).T
        keys["mean ± std"] = axes.barh(
            [rows[method] for method in own],
            mean,
            xerr=np.nan_to_num(spread),
            height=0.62,
            color="#9ecae1",
            edgecolor=INK,
            linewidth=0.7,
            capsize=2.5,
            error_kw={"linewidth": 1.0},
            label="mean ± std",
        )
        if told:
            (keys["published"],) = axes.plot(
                list(told.values()),
                [rows[method] for method in told],
                linestyle="none",
                marker="D",
                markersize=5.5,
                markerfacecolor="white",
                markeredgecolor=COLOURS[1],
                markeredgewidth=1.5,
                label="published",
            )
        axes.set_yticks(list(rows.values()), [legible(method) for method in rows])
        axes.invert_yaxis()
        axes.set_xlabel(label if isinstance(label, str) else label.get(task, "score"))
        axes.set_title(legible(task))
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    figure.legend(handles=list(keys.values()), loc="outside lower center", ncols=2)
    return figure
