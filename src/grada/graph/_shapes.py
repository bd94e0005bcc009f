"""Graphs whose edges follow from something else: a tree, a grid, a map, or coordinates.

Every function returns the names and the weights of a `DomainGraph`.
"""

from __future__ import annotations

import numbers
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from grada.graph._names import as_names, normalise_name
from grada.graph._types import Codes, Floats, Name, Parts
from grada.graph._weights import weights_from_pairs

# ----------------------------------------------------------------------------- trees


def tree_to_graph(tree: Mapping[Any, Any], *, siblings: bool) -> Parts:
    """Read a tree, child to parent or nested, and join every node to its parent."""
    if not isinstance(tree, Mapping) or not tree:
        raise TypeError(
            "tree must be a mapping with at least one node: {'cat': 'mammal'} from child to "
            "parent, or {'mammal': {'cat': {}}} from the roots down"
        )
    nested = any(isinstance(value, Mapping | list | tuple) for value in tree.values())
    parents: dict[Name, Name | None] = {}
    for child, parent in _nested_links(tree) if nested else _flat_links(tree):
        if child in parents:
            raise ValueError(f"domain {child!r} stands in the tree more than once")
        parents[child] = parent
    _refuse_cycles(parents)
    names = tuple(parents)
    return names, weights_from_pairs(names, *_family_pairs(parents, siblings))


def _family_pairs(parents: Mapping[Name, Name | None], siblings: bool) -> Codes:
    """Pair the positions of parents and children, and of siblings, in shape (2, n_pairs)."""
    at = {name: position for position, name in enumerate(parents)}
    families: dict[Name, list[int]] = {}
    for child, parent in parents.items():
        if parent is not None:
            families.setdefault(parent, []).append(at[child])
    pairs = [np.zeros((2, 0), dtype=np.int64)]
    for parent, children in families.items():
        pairs.append(np.array([[at[parent]] * len(children), children]))
        if siblings:
            pairs.append(np.array(children)[np.stack(np.triu_indices(len(children), 1))])
    return np.hstack(pairs)


def _flat_links(tree: Mapping[Any, Any]) -> list[tuple[Name, Name | None]]:
    """List child and parent; parents that are no children are roots and come first."""
    links: list[tuple[Name, Name | None]] = [
        (normalise_name(child), None if parent is None else normalise_name(parent))
        for child, parent in tree.items()
    ]
    children = {child for child, _ in links}
    roots = dict.fromkeys(p for _, p in links if p is not None and p not in children)
    return [(root, None) for root in roots] + links


def _nested_links(tree: Mapping[Any, Any]) -> Iterator[tuple[Name, Name | None]]:
    """List child and parent from the roots down, without recursion: chains can be long."""
    waiting: deque[tuple[Any, Name | None]] = deque([(tree, None)])
    while waiting:
        branch, above = waiting.popleft()
        if isinstance(branch, Mapping):
            below = [(normalise_name(name), inner) for name, inner in branch.items()]
        elif isinstance(branch, list | tuple):
            below = [(normalise_name(name), None) for name in branch]
        else:
            raise TypeError(
                f"the children of {above!r} must be a dict or a list of names, got {branch!r}"
            )
        for name, inner in below:
            yield name, above
            if inner is not None:
                waiting.append((inner, name))


def _refuse_cycles(parents: Mapping[Name, Name | None]) -> None:
    rooted: set[Name] = set()
    for start in parents:
        path: set[Name] = set()
        node: Name | None = start
        while node is not None and node not in rooted:
            if node in path:
                raise ValueError(f"domain {node!r} is its own ancestor: a tree has no cycles")
            path.add(node)
            node = parents[node]
        rooted |= path


# ---------------------------------------------------------------------------- regions


def regions_to_graph(regions: Any, name: str | None, contact: str) -> Parts:
    """Join the regions of a GeoDataFrame that share a border, or a point."""
    try:
        import geopandas
        import shapely
    except ImportError as error:
        raise ImportError("from_regions needs geopandas: pip install grada[geo]") from error
    if not isinstance(regions, geopandas.GeoDataFrame | geopandas.GeoSeries):
        raise TypeError(f"regions must be a GeoDataFrame, got {type(regions).__name__}")
    if contact not in ("edge", "point"):
        raise ValueError(f"contact must be 'edge' or 'point', got {contact!r}")
    names = _region_names(regions, name)
    shapes = np.array(regions.geometry.array, dtype=object)
    gone = np.flatnonzero(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    if len(gone):
        raise ValueError(f"region {names[gone[0]]!r} has no geometry: drop it or give it one")
    twisted = ~shapely.is_valid(shapes)
    shapes[twisted] = shapely.make_valid(shapes[twisted])
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    first, second = first[first < second], second[first < second]
    if contact == "edge":
        # The length of what two regions share: zero for points, the outline for an overlap.
        shared = shapely.length(shapely.intersection(shapes[first], shapes[second])) > 0
        first, second = first[shared], second[shared]
    return names, weights_from_pairs(names, first.astype(np.int64), second.astype(np.int64))


def _region_names(regions: Any, name: str | None) -> tuple[Name, ...]:
    """Read the names of the regions from a column or the index, one row a region."""
    if name is not None and name not in getattr(regions, "columns", ()):
        raise ValueError(f"the regions have no column {name!r}")
    names = as_names(regions.index if name is None else regions[name], what="the regions")
    twice = next((region for region, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(
            f"region {twice!r} has more than one row: "
            "merge its parts first with regions.dissolve(by=name).reset_index()"
        )
    return names


# ------------------------------------------------------------- grids and coordinates


def grid_to_graph(rows: object, columns: object, *, diagonal: bool) -> Parts:
    """Name the cells of a grid and join those that touch."""
    counted = all(isinstance(side, numbers.Integral) for side in (rows, columns))
    row_labels = _grid_labels(rows, "r", "rows")
    column_labels = _grid_labels(columns, "c", "columns")
    between = "" if counted else "/"
    names = tuple(f"{row}{between}{column}" for row in row_labels for column in column_labels)
    cell = np.arange(len(names)).reshape(len(row_labels), len(column_labels))
    pairs = [(cell[:, :-1], cell[:, 1:]), (cell[:-1], cell[1:])]
    if diagonal:
        pairs += [(cell[:-1, :-1], cell[1:, 1:]), (cell[:-1, 1:], cell[1:, :-1])]
    first = np.concatenate([one.ravel() for one, _ in pairs])
    second = np.concatenate([other.ravel() for _, other in pairs])
    return names, weights_from_pairs(names, first, second)


def _grid_labels(side: object, letter: str, what: str) -> list[str]:
    labels = as_names(side, what=what)
    return [f"{letter if isinstance(side, numbers.Integral) else ''}{label}" for label in labels]


def points_to_graph(coordinates: Any, n_neighbors: int, names: object, *, weighted: bool) -> Parts:
    """Join every point to its nearest ones; weights fall with the distance."""
    every, points = _named_points(coordinates, names)
    if not 1 <= n_neighbors < len(points):
        raise ValueError(
            f"n_neighbors must be between 1 and {len(points) - 1}, one less than the number of "
            f"domains, got {n_neighbors}"
        )
    found: Any = cKDTree(points).query(points, k=n_neighbors + 1)
    distance, nearest = found
    own = np.arange(len(points))[:, None]
    # Among points at one place a point need not come first in its own list, nor at all.
    is_other = nearest != own
    is_other[is_other.all(axis=1), -1] = False
    first = np.broadcast_to(own, nearest.shape)[is_other]
    weight = _nearness(distance[is_other]) if weighted else None
    return every, weights_from_pairs(every, first, nearest[is_other], weight)


def _named_points(coordinates: Any, names: object) -> tuple[tuple[Name, ...], Floats]:
    """Read coordinates as an array of shape (n_domains, n_coordinates), and their names."""
    if names is None and isinstance(coordinates, pd.DataFrame | pd.Series):
        names = coordinates.index
    points = np.asarray(coordinates, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2:
        raise ValueError(f"coordinates must have shape (n_domains, n), got {points.shape}")
    every = as_names(len(points) if names is None else names)
    if len(every) != len(points):
        raise ValueError(f"there are {len(points)} coordinates for {len(every)} names")
    lost = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(lost):
        raise ValueError(f"the coordinates of domain {every[lost[0]]!r} are not finite numbers")
    return every, points


def _nearness(distance: Floats) -> Floats:
    """Turn distances into weights, 1/2 at the median of those that are not zero."""
    # Of power and not exponential form, so that no edge vanishes, however far its ends lie.
    positive = distance[distance > 0]
    scale = float(np.median(positive)) if len(positive) else 1.0
    return 1 / (1 + (distance / scale) ** 2)
