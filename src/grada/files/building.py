"""Graphs of domains from a user's files: places, regions, times, trees, and products of these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from grada.files.columns import Column, convert, name_texts
from grada.files.errors import FileError, listed, quoted
from grada.files.table import TableFile
from grada.graph import DomainGraph

Product: TypeAlias = Literal["cartesian", "strong"]

#: Between the names of the parts of a product: "OH|1990".
JOINT = "|"

_LATITUDES, _LONGITUDES = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
_NAMES = ("name", "domain", "id")
_TIMES = ("time", "date", "year", "month", "week", "day", "hour", "timestamp", "period")
_ISO = re.compile(r"\d{4}(-(\d{2}|W\d{2}|Q\d))?(-\d{2})?([T ]\d{2}(:\d{2}){1,2})?")


def graph_from_coordinates(
    path: str | PathLike[str], n_neighbors: int = 4, name: str | None = None
) -> DomainGraph:
    """Join every place of a table to its nearest ones.

    Parameters
    ----------
    path : str or path
        With the columns x and y, or lat and lon (distances on the globe).
    n_neighbors : int, default=4
    name : str, optional
        Column with the names; by default ``name``, ``domain``, ``id`` or the first one that is no
        coordinate.

    Returns
    -------
    DomainGraph
    """
    table = TableFile.open(path)
    small = {column.casefold(): column for column in table.names}
    latitude = next((small[key] for key in _LATITUDES if key in small), None)
    longitude = next((small[key] for key in _LONGITUDES if key in small), None)
    on_globe = latitude is not None and longitude is not None
    axes = [latitude, longitude] if on_globe else [small.get("x"), small.get("y")]
    ends = [axis for axis in axes if axis is not None]
    if len(ends) < 2:
        raise FileError(
            table.path, f"needs columns x and y, or lat and lon. It has: {listed(table.names, 20)}."
        )
    own = _name_column(table, name, ends)
    names, lines = _distinct_names(table, own)
    points = np.column_stack([_numbers(table, axis) for axis in ends])
    gone = ~np.isfinite(points).all(axis=1)
    if gone.any():
        at = int(np.argmax(gone))
        raise FileError(
            table.path, f"{table.place} {lines[at]:,}: {quoted(names[at])} has no coordinates."
        )
    if len(names) < 2:
        raise FileError(table.path, "needs at least two places.")
    if on_globe:
        points = _on_globe(table, points, lines)
    return DomainGraph.knn(points, min(n_neighbors, len(names) - 1), names)


def graph_from_times(path: str | PathLike[str], column: str | None = None) -> DomainGraph:
    """Join every time in a column to the next one.

    Parameters
    ----------
    path : str or path
        Any table; times may come often and in any order.
    column : str, optional
        Numbers, or dates such as 2024, 2024-01, 2024-W05 or 2024-01-31; by default the only
        column, or one named time, date, year and the like.

    Returns
    -------
    DomainGraph
    """
    table = TableFile.open(path)
    small = {name.casefold(): name for name in table.names}
    if column is None:
        column = next((small[key] for key in _TIMES if key in small), None)
        column = table.names[0] if column is None and len(table.names) == 1 else column
    if column is None:
        raise FileError(
            table.path,
            f"which column holds the times? Say --time-column. It has: {listed(table.names, 20)}.",
        )
    first: dict[str, int] = {}
    for line, text in _texts(table, column):
        if text:
            first.setdefault(text, line)
    if not first:
        raise FileError(table.path, f"column {quoted(column)} holds no times.")
    return DomainGraph.chain(_in_order(table, column, first))


def _in_order(table: TableFile, column: str, first: dict[str, int]) -> list[str]:
    """Times from early to late: numbers by size, dates as they are written."""
    numbers = {text: _number(text) for text in first}
    values = [number for number in numbers.values() if number is not None]
    if len(values) == len(first):
        if len(set(values)) < len(values):
            order = sorted(first, key=lambda text: numbers[text] or 0.0)
            at = next(i for i in range(1, len(order)) if numbers[order[i]] == numbers[order[i - 1]])
            raise FileError(
                table.path, f"{quoted(order[at - 1])} and {quoted(order[at])} are the same time."
            )
        return sorted(first, key=lambda text: numbers[text] or 0.0)
    lengths = {len(text) for text in first}
    for text, line in first.items():
        if not _ISO.fullmatch(text) or len(lengths) > 1:
            raise FileError(
                table.path,
                f"{table.place} {line:,}, column {quoted(column)}: {quoted(text)}. Times must all "
                "be numbers, or all dates of one form, such as 2024-01 or 2024-01-31.",
            )
    return sorted(first)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in text else None


def graph_from_tree(path: str | PathLike[str], *, siblings: bool = False) -> DomainGraph:
    """Join every category to the one above it.

    Parameters
    ----------
    path : str or path
        With a column ``parent`` (empty at the roots) beside the one of the names; or with one
        column of paths such as ``animal/mammal/cat``, which are the names.
    siblings : bool, default=False
        Also join categories below the same one.

    Returns
    -------
    DomainGraph
    """
    table = TableFile.open(path)
    small = {name.casefold(): name for name in table.names}
    parents: dict[str, str | None] = {}
    if "parent" in small:
        above = small["parent"]
        known = [small[key] for key in ("child", *_NAMES) if key in small]
        child = known[0] if known else _name_column(table, None, [above])
        for (line, name), (_, parent) in zip(
            _texts(table, child), _texts(table, above), strict=True
        ):
            if not name:
                raise FileError(table.path, f"{table.place} {line:,} names no category.")
            if name in parents:
                raise FileError(
                    table.path, f"{table.place} {line:,}: {quoted(name)} is there already."
                )
            parents[name] = parent or None
    elif len(table.names) == 1:
        for line, text in _texts(table, table.names[0]):
            _add_path(table, parents, line, text)
    else:
        raise FileError(
            table.path,
            "a tree needs a column parent, or one column of paths such as animal/mammal/cat. It "
            f"has: {listed(table.names, 20)}.",
        )
    if not parents:
        raise FileError(table.path, "has a header but no rows.")
    return _in_file(table, lambda: DomainGraph.from_tree(parents, siblings=siblings))


def _add_path(table: TableFile, parents: dict[str, str | None], line: int, text: str) -> None:
    parts = [part.strip() for part in text.strip().strip("/").split("/")]
    if not all(parts):
        raise FileError(
            table.path, f"{table.place} {line:,}: {quoted(text)} has an empty part between slashes."
        )
    for depth in range(1, len(parts) + 1):
        parents["/".join(parts[:depth])] = "/".join(parts[: depth - 1]) or None


def graph_from_regions(path: str | PathLike[str], name: str | None = None) -> DomainGraph:
    """Join regions that share a border.

    Parameters
    ----------
    path : str or path
        GeoJSON, a shapefile, or what else geopandas reads.
    name : str, optional
        Column with the names; by default ``name``, ``domain`` or ``id``, in any case.

    Returns
    -------
    DomainGraph
    """
    place = Path(path)
    if not place.exists():
        raise FileError(place, "there is no such file.")
    try:
        import geopandas
    except ImportError:
        raise ImportError('regions need geopandas: pip install "grada[geo]"') from None
    try:
        regions = geopandas.read_file(place)
    except Exception as error:  # its readers raise errors of their own, which it does not export
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileError(place, f"cannot be read as regions: {quoted(said, 100)}.") from None
    if not isinstance(regions, geopandas.GeoDataFrame) or not len(regions):
        raise FileError(place, "holds no regions.")
    columns = [str(column) for column in regions.columns if column != regions.geometry.name]
    small = {column.casefold(): column for column in columns}
    own = name or next((small[key] for key in _NAMES if key in small), None)
    if own is None or own not in columns:
        asked = f"no column {quoted(own)}" if own else "which column holds the names? Say --name"
        raise FileError(place, f"{asked}. It has: {listed(columns, 20)}.")
    try:
        named = regions.assign(**{own: _region_names(place, regions[own])})
        return DomainGraph.from_regions(named, name=own)
    except FileError:
        raise
    except (TypeError, ValueError) as error:
        raise FileError(place, str(error)) from None


def _region_names(path: Path, names: pd.Series[Any]) -> list[str]:
    if names.isna().any() or (names.astype(str) == "").any():
        raise FileError(path, f"a region has no name in column {quoted(names.name)}.")
    return [
        str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
        for name in names.tolist()
    ]


def product_of(graphs: Sequence[DomainGraph], kind: Product = "cartesian") -> DomainGraph:
    r"""Combine graphs: a domain for every choice of one domain each.

    .. math:: A \otimes I + I \otimes B \quad (\text{cartesian}), \quad
        \text{plus } A \otimes B \quad (\text{strong})

    Parameters
    ----------
    graphs : sequence of DomainGraph
    kind : {"cartesian", "strong"}, default="cartesian"
        A step in one part at a time, or in several at once as well.

    Returns
    -------
    DomainGraph
        With names such as ``"OH|1990"``.

    Examples
    --------
    >>> states, years = DomainGraph.chain(["OH", "PA"]), DomainGraph.chain([1990, 1991])
    >>> product_of([states, years]).neighbors("OH|1990")
    ('OH|1991', 'PA|1990')
    """
    for graph in graphs:
        odd = next((name for name in graph.names if JOINT in str(name)), None)
        if odd is not None and len(graphs) > 1:
            raise ValueError(
                f"domain {quoted(odd)} has a {JOINT!r} in its name, which parts the names in a "
                "product: rename it"
            )
    names, weights = [str(name) for name in graphs[0].names], graphs[0].weights
    for graph in graphs[1:]:
        other = graph.weights
        if len(names) * graph.n_domains > 5_000_000:
            raise ValueError(f"the product would have {len(names) * graph.n_domains:,} domains")
        steps = sparse.kron(weights, sparse.eye_array(graph.n_domains)) + sparse.kron(
            sparse.eye_array(len(names)), other
        )
        weights = sparse.csr_array(
            steps + sparse.kron(weights, other) if kind == "strong" else steps
        )
        names = [f"{first}{JOINT}{second}" for first in names for second in graph.names]
    return DomainGraph(names, weights)


def _name_column(table: TableFile, name: str | None, taken: Sequence[str]) -> str:
    if name is not None:
        return table.check_columns([name])[0]
    small = {column.casefold(): column for column in table.names}
    known = [small[key] for key in _NAMES if key in small]
    free = [column for column in known + list(table.names) if column not in taken]
    if not free:
        raise FileError(table.path, "has no column with the names.")
    return free[0]


def _distinct_names(table: TableFile, column: str) -> tuple[list[str], list[int]]:
    """Names of a column, each once, with their lines."""
    found: dict[str, int] = {}
    for line, text in _texts(table, column):
        if not text:
            raise FileError(
                table.path, f"{table.place} {line:,} has no name in column {quoted(column)}."
            )
        if text in found:
            raise FileError(
                table.path,
                f"{table.place} {line:,}: {quoted(text)} stands in {table.place} "
                f"{found[text]:,} already. Give one line a domain.",
            )
        found[text] = line
    if not found:
        raise FileError(table.path, "has a header but no rows.")
    return list(found), list(found.values())


def _texts(table: TableFile, column: str) -> Iterator[tuple[int, str]]:
    """The texts of a column with their lines."""
    for batch in table.batches([column]):
        texts = name_texts(batch.columns[column]).to_pylist()
        yield from zip(batch.lines.tolist(), (text or "" for text in texts), strict=True)


def _numbers(table: TableFile, column: str) -> NDArray[np.float64]:
    wanted = Column(column, "number")
    parts = [
        convert(wanted, batch.columns[column], batch.lines, table.path, table.place).to_numpy()
        for batch in table.batches([column])
    ]
    return np.concatenate(parts)


def _on_globe(
    table: TableFile, degrees: NDArray[np.float64], lines: list[int]
) -> NDArray[np.float64]:
    """Latitudes and longitudes as points of the unit sphere, where near is near."""
    off = (np.abs(degrees[:, 0]) > 90) | (np.abs(degrees[:, 1]) > 360)
    if off.any():
        at = int(np.argmax(off))
        raise FileError(
            table.path,
            f"{table.place} {lines[at]:,}: {degrees[at, 0]:g}, {degrees[at, 1]:g} is no latitude "
            "and longitude in degrees.",
        )
    latitude, longitude = np.radians(degrees.T)
    around = np.cos(latitude)
    return np.column_stack(
        [around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)]
    )


def _in_file(table: TableFile, build: Any) -> DomainGraph:
    try:
        return build()  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise FileError(table.path, f"{error}.") from None
