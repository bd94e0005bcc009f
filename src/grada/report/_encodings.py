"""Encodings of the rows: a plane for the eye, and the equilibrium of a chain of three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from grada.graph import Name
from grada.report._canvas import COLOURS, INK, LINES, MARKERS, cycle, drawn, legible, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]
Panel: TypeAlias = tuple[Any, Any] | tuple[Any, Any, Any]


@drawn
def encodings(
    panels: Mapping[str, Panel],
    domains: Sequence[Name] | None = None,
    *,
    method: Literal["t-sne", "pca"] = "t-sne",
    random_state: int = 0,
    columns: int = 2,
) -> Figure:
    """Draw encodings of some domains in the plane, a panel for each model.

    Parameters
    ----------
    panels : mapping of title to (encodings, domain) or (encodings, domain, label)
        Encodings of shape (n_rows, n_features), such as ``estimator.transform(...)``; the domain
        of each row; and a class of each row, at most two: hollow and filled markers.
    domains : sequence of names, optional
        The domains to draw, in the order of the legend; by default all. Only their rows enter the
        reduction to the plane.
    method : {"t-sne", "pca"}, default="t-sne"
        t-SNE keeps neighbours, not distances; PCA keeps large distances. Each panel has a
        reduction of its own, so that positions in two panels do not compare.
    random_state : int, default=0
        Of t-SNE.
    columns : int, default=2
        Most panels in one row.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, domain = rng.normal(size=(20, 3)), np.repeat(["a", "b"], 10)
    >>> figure = encodings({"GRDA": (rows, domain)}, ["a", "b"], method="pca")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a', 'b']
    """
    if not panels:
        raise ValueError("panels is empty: give {title: (encodings, domain)}")
    if method not in ("t-sne", "pca"):
        raise ValueError(f"method must be 't-sne' or 'pca', got {method!r}")
    figure, every = subplots(len(panels), columns=columns, width=3.7, height=3.6)
    shown = _all_domains(panels) if domains is None else list(domains)
    keys: dict[str, Any] = {}
    for axes, (title, panel) in zip(every, panels.items(), strict=True):
        rows, domain, label = _chosen_rows(title, panel, shown)
        plane = _plane(rows, method, random_state)
        _draw_plane(axes, plane, domain, label, shown)
        axes.set_title(legible(title))
        axis = "t-SNE axis" if method == "t-sne" else "principal axis"
        axes.set(xticks=[], yticks=[], xlabel=f"{axis} 1", ylabel=f"{axis} 2")
        if label is not None:
            keys |= _class_keys(label)
    names = _domain_keys(shown)
    figure.legend(
        handles=[*names, *keys.values()],
        loc="outside lower center",
        ncols=min(len(names) + len(keys), 6),
    )
    return figure


def _all_domains(panels: Mapping[str, Panel]) -> list[Name]:
    found = [pd.unique(pd.Series(panel[1])) for panel in panels.values()]
    return list(dict.fromkeys(name for names in found for name in names.tolist()))


def _chosen_rows(
    title: str, panel: Panel, domains: Sequence[Name]
) -> tuple[Floats, NDArray[Any], NDArray[Any] | None]:
    rows = np.asarray(panel[0], dtype=np.float64)
    rows = rows.reshape(len(rows), -1)
    domain = pd.Series(panel[1]).to_numpy()
    label = pd.Series(panel[2]).to_numpy() if len(panel) == 3 else None
    if len(domain) != len(rows) or (label is not None and len(label) != len(rows)):
        raise ValueError(f"panel {title!r}: encodings, domain and label need one entry a row")
    empty = [name for name in domains if not (domain == name).any()]
    if empty:
        raise ValueError(f"panel {title!r} has no row of domain {empty[0]!r}")
    chosen = pd.Series(domain).isin(domains).to_numpy()
    if not np.isfinite(rows[chosen]).all():
        raise ValueError(f"panel {title!r} has encodings that are not finite")
    if label is not None:
        label = label[chosen]
        if len(pd.unique(label)) > 2:
            raise ValueError(
                f"panel {title!r} has {len(pd.unique(label))} classes, and markers are hollow or "
                "filled: pass two, such as label == 'sedan'"
            )
    return rows[chosen], domain[chosen], label


def _plane(rows: Floats, method: str, random_state: int) -> Floats:
    """Reduce rows to two numbers each."""
    if rows.shape[1] < 2:
        rows = np.column_stack([rows, np.zeros(len(rows))])
    if method == "t-sne" and len(rows) >= 5:
        perplexity = min(30.0, (len(rows) - 1) / 3)
        tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=random_state)
        # The start is scaled by its spread, which equal encodings do not have.
        if np.ptp(rows, axis=0).any():
            return np.asarray(tsne.fit_transform(rows), dtype=np.float64)
    if len(rows) < 2:
        return np.zeros((len(rows), 2))
    return np.asarray(PCA(2, svd_solver="full").fit_transform(rows), dtype=np.float64)


def _draw_plane(
    axes: Axes,
    plane: Floats,
    domain: NDArray[Any],
    label: NDArray[Any] | None,
    domains: Sequence[Name],
) -> None:
    hollow = np.zeros(len(plane), dtype=bool) if label is None else label == _classes(label)[0]
    for at, name in enumerate(domains):
        colour = cycle(COLOURS, at)
        for fill, rows in ((colour, ~hollow), ("none", hollow)):
            own = rows & (domain == name)
            if own.any():
                axes.scatter(
                    plane[own, 0],
                    plane[own, 1],
                    s=16,
                    marker=cycle(MARKERS, at),
                    facecolors=fill,
                    edgecolors=colour,
                    linewidths=0.8,
                    alpha=0.8,
                )


def _classes(label: NDArray[Any]) -> list[Any]:
    return sorted(pd.unique(label).tolist(), key=str)


def _domain_keys(domains: Sequence[Name]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=cycle(MARKERS, at),
            color=cycle(COLOURS, at),
            label=legible(name),
        )
        for at, name in enumerate(domains)
    ]


def _class_keys(label: NDArray[Any]) -> dict[str, Any]:
    from matplotlib.lines import Line2D

    fills = ("none", INK)
    return {
        str(name): Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markeredgecolor=INK,
            markerfacecolor=fill,
            label=f"class {name}",
        )
        for name, fill in zip(_classes(label), fills, strict=False)
    }


@drawn
def chain_of_three(
    encodings: ArrayLike,
    domain: ArrayLike,
    chain: Sequence[Name],
    *,
    bins: int = 30,
    title: str | None = None,
) -> Figure:
    r"""Draw the equilibrium of three domains in a chain: the middle is the mean of the outer two.

    .. math:: p_2(e) = \tfrac{1}{2} (p_1(e) + p_3(e)) \quad \text{for every } e

    Parameters
    ----------
    encodings : array-like of shape (n_rows,) or (n_rows, n_features)
        Several features are projected on their first principal axis.
    domain : array-like of shape (n_rows,)
        Domain of each row.
    chain : sequence of three names
        The outer, the middle and the other outer domain.
    bins : int, default=30
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        On the left the densities of the three; on the right the middle one and the mean of the
        outer two, with the total variation between these histograms (0: the same, 1: apart) and
        how much of it chance alone would give at equilibrium with so few rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(m, 1, 200) for m in (-2, 0, 2)])
    >>> figure = chain_of_three(rows, np.repeat(["a", "b", "c"], 200), ["a", "b", "c"])
    >>> len(figure.axes)
    2

    References
    ----------
    .. [1] Xu, He, Lee, Wang, Wang. Graph-Relational Domain Adaptation. ICLR 2022. Proposition 4.1.
    """
    if len(chain) != 3:
        raise ValueError(f"chain must name three domains, got {len(chain)}")
    rows, domain, _ = _chosen_rows("chain", (encodings, domain), chain)
    line = rows[:, 0] if rows.shape[1] == 1 else PCA(1).fit_transform(rows)[:, 0]
    edges = np.histogram_bin_edges(line, bins=bins)
    shares = [np.histogram(line[domain == name], edges)[0] for name in chain]
    counts = [int(share.sum()) for share in shares]
    first, middle, last = (share / count for share, count in zip(shares, counts, strict=True))
    outer = (first + last) / 2
    variation = 0.5 * float(np.abs(middle - outer).sum())
    # At equilibrium a bin of share p differs by a normal of variance p (1/n2 + 1/4n1 + 1/4n3).
    rest = 1 / counts[1] + 0.25 / counts[0] + 0.25 / counts[2]
    chance = 0.5 * float(np.sqrt(2 / np.pi * (middle + outer) / 2 * rest).sum())

    figure, (left, right) = subplots(2, columns=2, width=4.0, height=3.3, sharex=True, sharey=True)
    width = np.diff(edges)
    for at, (name, density) in enumerate(zip(chain, (first, middle, last), strict=True)):
        look = {"color": cycle(COLOURS, at), "linestyle": cycle(LINES, at), "linewidth": 1.8}
        left.stairs(density / width, edges, label=legible(name), **look)
    left.set_title("three domains" if title is None else legible(title))
    right.stairs(
        middle / width,
        edges,
        fill=True,
        facecolor="#f3b48b",
        edgecolor=COLOURS[1],
        label=f"{legible(chain[1])}, the middle",
    )
    mean = f"mean of {chain[0]} and {chain[2]}"
    right.stairs(outer / width, edges, color=INK, linestyle="--", linewidth=1.6, label=mean)
    right.set_title(f"total variation {variation:.2f} (by chance {chance:.2f})")
    left.set_ylabel("density")
    for axes in (left, right):
        axes.set_xlabel("encoding" if rows.shape[1] == 1 else "first principal axis of encodings")
        axes.legend(loc="best")
    return figure
