"""Reader of NOAA's nClimDiv state files: monthly values, fixed width, one line a state and year."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn

import numpy as np
import pandas as pd

MEAN_TEMPERATURE = "02"
_ELEMENTS = {
    "01": "precipitation",
    MEAN_TEMPERATURE: "mean temperature",
    "25": "heating degree days",
    "26": "cooling degree days",
    "27": "maximum temperature",
    "28": "minimum temperature",
}
_HEADER, _FIELD = 10, 7
_WIDTH = _HEADER + 12 * _FIELD
# Right-aligned, so that a line that has lost or gained a character is not read one column off.
_VALUE = re.compile(r" *-?\d+\.\d\d")
_MISSING = -99.90
_FIRST_YEAR = 1895


class _Line(NamedTuple):
    code: int
    year: int
    values: list[float]


def read_states(content: bytes, file: str) -> pd.DataFrame:
    """Monthly mean temperatures of a state file (``climdiv-tmpcst-...``).

    Columns 1-3 of a line are the code of a state (001-048, Alaska 050) or of a region (above
    100), 4 the division (0, all of it), 5-6 the element, 7-10 the year; then come the values of
    January to December, 7 columns each. -99.90 is a missing value.

    Parameters
    ----------
    content : bytes
        The file.
    file : str
        Its name, for error messages.

    Returns
    -------
    DataFrame
        One row a month, from January of the first year to December of the last, and one column
        a code. In degrees Fahrenheit; NaN where a value or a line is missing.

    Raises
    ------
    ValueError
        It is another file, or a damaged one; the message names the line.
    """
    grid: dict[tuple[int, int], list[float]] = {}
    for number, raw in enumerate(content.rstrip().split(b"\n"), start=1):
        line = _read_line(raw.decode("latin-1").rstrip(), f"{file}, line {number}")
        if (line.code, line.year) in grid:
            raise ValueError(
                f"{file}, line {number}: a second line of state {line.code:03d}, year {line.year}."
            )
        grid[line.code, line.year] = line.values
    return _months(grid)


def absent_years(content: bytes, codes: Iterable[int]) -> dict[int, list[int]]:
    """Years between the first and the last of a file for which a state has no line.

    NOAA writes a line for every state and year, with -99.90 where there is no value: a line that
    is not there was lost.

    Parameters
    ----------
    content : bytes
        The file, as :func:`read_states` accepts it.
    codes : iterable of int
        The states to look at.

    Returns
    -------
    dict
        The years by state; states without a gap are left out.
    """
    found = {(int(raw[:3]), int(raw[6:10])) for raw in content.rstrip().split(b"\n")}
    years = {year for _, year in found}
    span = range(min(years), max(years) + 1)
    gaps = {code: [year for year in span if (code, year) not in found] for code in codes}
    return {code: missing for code, missing in gaps.items() if missing}


def _read_line(line: str, where: str) -> _Line:
    if not re.match(r"\d{10}", line):
        _refuse_start(line, where)
    code, division, element, year = line[:3], line[3], line[4:6], line[6:10]
    if division != "0":
        raise ValueError(
            f"{where}: division {division} (column 4), but a state file has 0 there. This looks "
            "like NOAA's file of climate divisions (tmpcdv); get the one of states (tmpcst)."
        )
    if element != MEAN_TEMPERATURE:
        raise ValueError(
            f"{where}: element code {element} ({_ELEMENTS.get(element, 'unknown')}) in columns "
            f"5-6, but {MEAN_TEMPERATURE} (mean temperature, climdiv-tmpcst-...) is needed."
        )
    if int(year) < _FIRST_YEAR:
        raise ValueError(f"{where}: year {year}, but nClimDiv starts in {_FIRST_YEAR}.")
    if len(line) < _WIDTH:
        _refuse_truncated(line, where)
    if len(line) > _WIDTH:
        raise ValueError(f"{where}: {len(line)} columns, but {_WIDTH} are expected.")
    fields = [line[start : start + _FIELD] for start in range(_HEADER, _WIDTH, _FIELD)]
    for month, field in enumerate(fields, start=1):
        if not _VALUE.fullmatch(field):
            start = _HEADER + (month - 1) * _FIELD + 1
            raise ValueError(
                f"{where}: {field!r} in columns {start}-{start + _FIELD - 1} (month {month}) is "
                "not a number with two decimals."
            )
    return _Line(int(code), int(year), [float(field) for field in fields])


def _refuse_start(line: str, where: str) -> NoReturn:
    if line.isdigit():
        _refuse_truncated(line, where)
    raise ValueError(
        f"{where}: not a line of NOAA's nClimDiv state file, which starts with 10 digits (state, "
        f"division, element, year); this one reads {line[:40]!r}."
    )


def _refuse_truncated(line: str, where: str) -> NoReturn:
    raise ValueError(
        f"{where}: the line is truncated after {len(line)} of {_WIDTH} columns. Get the file again."
    )


def _months(grid: dict[tuple[int, int], list[float]]) -> pd.DataFrame:
    codes, code_of = np.unique([code for code, _ in grid], return_inverse=True)
    years = np.array([year for _, year in grid])
    first, last = int(years.min()), int(years.max())
    values = np.full((last - first + 1, 12, len(codes)), np.nan)
    values[years - first, :, code_of] = list(grid.values())
    values[values == _MISSING] = np.nan
    months = pd.period_range(f"{first}-01", f"{last}-12", freq="M", name="month")
    return pd.DataFrame(values.reshape(-1, len(codes)), index=months, columns=codes)
