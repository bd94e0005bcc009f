"""Where the domains of a graph stand on paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import shortest_path

from grada.graph import DomainGraph, Name

Floats: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = Mapping[Name, tuple[float, float]] | ArrayLike | None

# Its time grows with the cube of the number of domains; so many take a second or two.
_KAMADA_KAWAI_LIMIT = 150
_PUSH_LIMIT = 400


def read_positions(graph: DomainGraph, positions: Positions) -> Floats | None:
    """Check the caller's positions, in the order of the graph's domains."""
    if positions is None:
        return None
    if isinstance(positions, Mapping):
        lost = [name for name in graph.names if name not in positions]
        if lost:
            raise ValueError(
                f"positions has no place for {len(lost)} of {graph.n_domains} domains, the first "
                f"of them {lost[0]!r}: give every domain of the graph an (x, y)"
            )
        positions = [positions[name] for name in graph.names]
    places = np.asarray(positions, dtype=np.float64)
    if places.shape != (graph.n_domains, 2) or not np.isfinite(places).all():
        raise ValueError(
            f"positions must hold a finite (x, y) for each of the {graph.n_domains} domains, "
            f"got shape {places.shape}"
        )
    return places


def layout(graph: DomainGraph) -> Floats:
    """Find positions in which neighbours stand together; the same every time.

    Kamada and Kawai's springs, from a start by classical scaling. The length of an edge of weight
    ``w`` is ``1 - log(w)``; parts that no path joins stand a step apart. Large graphs get the
    first two axes of their spectral embedding.
    """
    if graph.n_domains == 1:
        return np.zeros((1, 2))
    if graph.n_domains > _KAMADA_KAWAI_LIMIT:
        return _turned(graph.embed("spectral", dim=2, random_state=0))
    distances = _distances(graph)
    start = dict(zip(graph.names, _classical_scaling(distances), strict=True))
    by_name = {
        name: dict(zip(graph.names, row, strict=True))
        for name, row in zip(graph.names, distances.tolist(), strict=True)
    }
    found = nx.kamada_kawai_layout(graph.to_networkx(), dist=by_name, pos=start)
    return _turned(np.array([found[name] for name in graph.names]))


def _distances(graph: DomainGraph) -> Floats:
    lengths = graph.weights.copy()
    lengths.data = 1.0 - np.log(np.maximum(lengths.data, 1e-6))
    distances: Floats = shortest_path(lengths, directed=False)
    reached = np.isfinite(distances)
    distances[~reached] = distances[reached].max() + 1.0
    return distances


def _classical_scaling(distances: Floats) -> Floats:
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start: Floats = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    return start


def _turned(places: Floats) -> Floats:
    """Turn the longer axis level; the first domain that is off the middle goes to the left."""
    centred = places - places.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ axes.T
    for axis in range(2):
        off = np.abs(turned[:, axis]) > 1e-6 * max(np.abs(turned).max(), 1e-12)
        if off.any() and turned[off.argmax(), axis] > 0:
            turned[:, axis] *= -1
    level: Floats = turned
    return level


def fit(places: Floats, width: float, height: float, margin: float, *, stretch: bool) -> Floats:
    """Bring positions into a panel, up to a margin; `stretch` lets the two axes differ."""
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    room = np.array([width, height]) - 2 * margin
    scale = np.divide(room, span, where=span > 1e-9, out=np.full(2, np.inf))
    if not stretch:
        scale[:] = scale.min()
    scale[~np.isfinite(scale)] = 0.0
    inside: Floats = np.array([width, height]) / 2 + (places - low - span / 2) * scale
    return inside


def push_apart(places: Floats, distance: float, low: Floats, high: Floats) -> Floats:
    """Move points that are closer than a distance apart, a little at a time, within a box."""
    if not 1 < len(places) <= _PUSH_LIMIT:
        return places
    # Points in the very same place have no direction to go: a fixed jitter gives them one.
    moved = places + np.random.default_rng(0).normal(scale=1e-3, size=places.shape)
    for _ in range(200):
        apart = moved[:, None] - moved
        length = np.hypot(apart[..., 0], apart[..., 1])
        np.fill_diagonal(length, np.inf)
        lack = np.maximum(distance - length, 0.0)
        if not lack.any():
            return moved
        push = (0.3 * lack / length)[..., None] * apart
        moved = np.clip(moved + push.sum(axis=1), low, high)
    return moved


def panel_size(places: Floats | None, area: float) -> tuple[float, float]:
    """Width and height of a panel in the proportions of given positions, within reason."""
    ratio = 0.85
    if places is not None:
        across, up = np.ptp(places, axis=0)
        ratio = float(np.clip(up / across if across > 0 else 1.4, 0.4, 1.4))
    width = float(np.sqrt(area / ratio))
    return width, ratio * width
