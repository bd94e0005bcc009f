"""What is known of the domains beside their rows: coordinates, times, categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from grada.graph._names import factorise, listed
from grada.graph._types import Codes, Floats, Name

_LATITUDE = frozenset({"lat", "latitude"})
_LONGITUDE = frozenset({"lon", "lng", "long", "longitude"})


def metadata_points(metadata: Any, names: Sequence[Name], codes: Codes) -> list[Floats]:
    """Turn each column of metadata into points whose distances say how far domains lie apart.

    Parameters
    ----------
    metadata : DataFrame, or mapping of column to values
        One line a row of the table, or one a domain (by its index, or by a mapping of names).
    names : sequence of names, length n_domains
    codes : ndarray of int64, shape (n_rows,)
        Domain of each row.

    Returns
    -------
    list of ndarray, each of shape (n_domains, n_dimensions)
        Latitude and longitude give points on the sphere, numbers and times a line, categories a
        point each.
    """
    columns = _by_domain(metadata, names, codes)
    places = {str(column).casefold(): column for column in columns}
    north = next((places[key] for key in sorted(_LATITUDE & set(places))), None)
    east = next((places[key] for key in sorted(_LONGITUDE & set(places))), None)
    points = []
    if north is not None and east is not None:
        latitude, longitude = (
            _numbers(*columns.pop(column), column, names) for column in (north, east)
        )
        points.append(_on_sphere(latitude, longitude, north, names))
    points += [_column_points(*given, column, names) for column, given in columns.items()]
    return points


def _by_domain(
    metadata: Any, names: Sequence[Name], codes: Codes
) -> dict[Any, tuple[pd.DataFrame, Codes]]:
    """Each column as a table with the domain of each of its lines."""
    if isinstance(metadata, pd.Series):
        metadata = metadata.to_frame()
    if not isinstance(metadata, pd.DataFrame | Mapping):
        raise TypeError(
            "metadata must be a DataFrame or a mapping of column to values, got "
            f"{type(metadata).__name__}"
        )
    if not len(metadata) or (isinstance(metadata, pd.DataFrame) and not metadata.shape[1]):
        raise ValueError("metadata has no column: leave it out")
    return {column: _lines(metadata[column], column, names, codes) for column in metadata}


def _lines(
    values: Any, column: Any, names: Sequence[Name], codes: Codes
) -> tuple[pd.DataFrame, Codes]:
    if isinstance(values, Mapping):
        keys, listing = list(values), list(values.values())
    elif isinstance(values, pd.Series) and len(values) != len(codes):
        keys, listing = list(values.index), values.tolist()
    elif len(values) == len(codes):
        table = values if isinstance(values, pd.Series) else list(values)
        return pd.DataFrame(pd.Series(table).reset_index(drop=True)), codes
    else:
        raise ValueError(
            f"metadata column {column!r} has {len(values)} values for {len(codes)} rows: give one "
            "a row, or one a domain as a mapping or with the domains as index"
        )
    order, known = factorise(keys, what=f"metadata column {column!r}")
    where = {name: at for at, name in enumerate(known)}
    missing = [name for name in names if name not in where]
    if missing:
        raise ValueError(f"metadata column {column!r} has no value for {listed(missing)}")
    at = np.argsort(order, kind="stable")[np.searchsorted(np.sort(order), np.arange(len(known)))]
    chosen = [listing[at[where[name]]] for name in names]
    if isinstance(chosen[0], tuple | list | np.ndarray):
        return pd.DataFrame([list(value) for value in chosen]), np.arange(len(names))
    return pd.DataFrame({column: pd.Series(chosen)}), np.arange(len(names))


def _numbers(table: pd.DataFrame, codes: Codes, column: Any, names: Sequence[Name]) -> Floats:
    """Median of each domain, one column a coordinate."""
    if table.isna().to_numpy().any():
        line = int(np.argmax(table.isna().any(axis=1).to_numpy()))
        raise ValueError(
            f"metadata column {column!r} has no value for domain {names[codes[line]]!r}: "
            "fill the gap"
        )
    middle: Floats = table.astype(float).groupby(codes).median().to_numpy(dtype=np.float64)
    if not np.isfinite(middle).all():
        at = int(np.argmax(~np.isfinite(middle).all(axis=1)))
        raise ValueError(f"metadata column {column!r} is infinite for domain {names[at]!r}")
    return middle


def _on_sphere(latitude: Floats, longitude: Floats, column: Any, names: Sequence[Name]) -> Floats:
    wrong = np.flatnonzero(np.abs(latitude) > 90)
    if len(wrong):
        raise ValueError(
            f"metadata column {column!r} is {latitude[wrong[0], 0]:g} for domain "
            f"{names[wrong[0]]!r}, but latitudes go from -90 to 90 degrees"
        )
    north, east = np.radians(latitude), np.radians(longitude)
    # The straight way through the sphere grows with the way along it.
    return np.hstack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])


def _column_points(table: pd.DataFrame, codes: Codes, column: Any, names: Sequence[Name]) -> Floats:
    if table.shape[1] == 1:
        only = table.iloc[:, 0]
        if pd.api.types.is_datetime64_any_dtype(only):
            days = (only - only.min()) / pd.Timedelta(days=1)
            return _numbers(days.to_frame(), codes, column, names)
        if isinstance(only.dtype, pd.PeriodDtype):
            return _column_points(only.dt.to_timestamp().to_frame(), codes, column, names)
        if not pd.api.types.is_numeric_dtype(only) or pd.api.types.is_bool_dtype(only):
            shares = pd.get_dummies(only, dummy_na=bool(only.isna().any()), dtype=float)
            return shares.groupby(codes).mean().to_numpy(dtype=np.float64)
    return _numbers(table, codes, column, names)
