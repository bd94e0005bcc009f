"""TPT-48: from the temperatures of January to June, predict those of July to December."""

from __future__ import annotations

import operator
import re
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grada.datasets._files import DataFile, data_home, read_file
from grada.datasets._noaa import absent_years, read_states
from grada.datasets._states import STATES, border_graph
from grada.datasets._task import Task

FloatArray = NDArray[np.float64]

_TASKS = {
    "E->W": (
        "tpt48-ew",
        "OH IN MI VT NH ME NY MA PA NJ CT RI WV MD DE KY VA TN AL GA NC FL SC MO",
    ),
    "N->S": (
        "tpt48-ns",
        "ND VT NH ME WA MT SD MN WI MI NY MA OR ID WY NE IA IL IN OH PA NJ CT RI",
    ),
    "W->E": ("tpt48-we", "WA OR CA ID NV AZ"),
}
_WINDOWS = ("calendar", "any-month")
_RELEASES = "climdiv-tmpcst-v*"
_FILE = DataFile(
    name="climdiv-tmpcst-v1.0.0-20200106",
    url="https://raw.githubusercontent.com/washingtonpost/data-2C-beyond-the-limit-usa/main/data/raw/"
    "climdiv-tmpcst-v1.0.0-20200106",
    sha256="85828b3b25b44e4714c5e8f4c454e8cd9f15bd0605d28b2d71cc0a6c743ddd5c",
    otherwise=f"Any release {_RELEASES} from https://www.ncei.noaa.gov/pub/data/cirs/climdiv/ will "
    "do, in that folder or given as path=.",
)


def tpt48(
    task: Literal["E->W", "N->S", "W->E"] = "E->W",
    windows: Literal["calendar", "any-month"] = "calendar",
    years: tuple[int, int] = (2008, 2019),
    path: str | PathLike[str] | None = None,
) -> Task:
    r"""TPT-48: monthly temperatures of the 48 contiguous states of the USA, some of them sources.

    A row is a year of a state: its temperatures of January to June are the features, those of
    July to December the six values to predict. States that share a border are joined (105 edges).
    All temperatures :math:`t` (in °F) are standardised by one mean and one standard deviation
    over what is visible, all months of the sources and January to June of the targets:

    .. math:: x, y = (t - \text{mean}) / \text{std}

    so that ``evaluate`` gives the paper's "MSE", the squared error summed over the six months,
    and the RMSE in °F beside it.

    Parameters
    ----------
    task : {"E->W", "N->S", "W->E"}
        Which states are sources: 24 in the east, 24 in the north (the paper's two tasks), or 6 in
        the west. The other states are targets.
    windows : {"calendar", "any-month"}
        "calendar": a row a year. "any-month", the published protocol: sources give a row for
        every 12 consecutive months (133 in 12 years), six to learn from and six to predict,
        whatever the first month; targets are as before. Such rows overlap: the labels of one are
        features of another, so do not hide some of them (:meth:`Task.with_sources`, selection).
    years : (int, int)
        First and last year, both included; the file starts in 1895.
    path : path, optional
        NOAA's nClimDiv state file. By default the release of January 2020, with a fixed hash, in
        the folder ``GRADA_DATA_HOME``; else the newest ``climdiv-tmpcst-v*`` there, of which no
        hash can be known, as NOAA makes a new release every month (so values may be revised);
        else the first one is downloaded.

    Returns
    -------
    Task
        Domains are postal codes ("OH"); rows by state, then time. A row with a missing month is
        left out. ``metadata``: "mean" and "std" in °F, "position" (longitude and latitude) and
        "state" (full name) of each domain, and "file", the name of NOAA's file. Nothing is kept
        of single rows, which :meth:`Task.shuffled` would mix up.

    Examples
    --------
    >>> tpt48("E->W")  # doctest: +SKIP
    Task('tpt48-ew', regression, 576 rows, 48 domains: 24 sources, 24 targets)

    References
    ----------
    .. [1] Xu, He, Lee, Wang and Wang. "Graph-Relational Domain Adaptation". ICLR 2022.
    .. [2] Vose et al. "NOAA's Gridded Climate Divisional Dataset (CLIMDIV)". 2014.
    """
    for what, given, known in (("task", task, _TASKS), ("windows", windows, _WINDOWS)):
        if given not in known:
            raise ValueError(f"{what} must be one of {', '.join(known)}; got {given!r}.")
    name, sources = _TASKS[task][0], _TASKS[task][1].split()
    content, file = _read(path)
    whole = _by_state(content, file)
    frame = _select(whole, years, file)
    is_source = frame.columns.isin(sources)
    rows, owner = _rows(frame.to_numpy(), is_source, every_month=windows == "any-month")
    empty = np.setdiff1d(np.arange(len(STATES)), owner)
    if len(empty):
        raise ValueError(
            f"Too many months are missing in {file}: {', '.join(frame.columns[empty])} has no row "
            f"without a gap in the years {years[0]} to {years[1]}. {_range(whole)}"
        )
    mean, std = _visible_scale(frame.to_numpy(), is_source)
    table = (rows - mean) / std
    return Task(
        table[:, :6].copy(),  # not a view, whose base would hold the hidden half of the year
        table[:, 6:],
        frame.columns.to_numpy()[owner],
        graph=border_graph(),
        sources=sources,
        kind="regression",
        name=name,
        metadata={
            "mean": mean,
            "std": std,
            "position": {state.code: (state.longitude, state.latitude) for state in STATES},
            "state": {state.code: state.name for state in STATES},
            "file": file,
        },
        unit="°F",
        scale=std,
    )


def state_temperatures(path: str | PathLike[str] | None = None) -> pd.DataFrame:
    """Monthly mean temperature of the 48 contiguous states, since 1895.

    Parameters
    ----------
    path : path, optional
        NOAA's nClimDiv state file; by default as in :func:`tpt48`.

    Returns
    -------
    DataFrame
        One row a month, one column a state (its postal code), in °F; NaN where NOAA has no value.

    Examples
    --------
    >>> state_temperatures().loc["2019-07", ["ME", "FL"]]  # doctest: +SKIP
    """
    return _by_state(*_read(path))


def _read(path: str | PathLike[str] | None) -> tuple[bytes, str]:
    """Content and name of the file to use."""
    if path is not None:
        chosen = Path(path)
        if not chosen.is_file():
            raise FileNotFoundError(f"There is no file {chosen}. {_FILE.otherwise}")
        return chosen.read_bytes(), chosen.name
    home = data_home()
    releases = [found for found in home.glob(_RELEASES) if found.is_file()]
    if releases and not (home / _FILE.name).is_file():
        newest = max(releases, key=lambda found: (_date(found.name), found.name))
        return newest.read_bytes(), newest.name
    return read_file(_FILE), _FILE.name


def _date(name: str) -> str:
    digits = re.search(r"\d{8}", name)
    return digits.group() if digits else ""


def _by_state(content: bytes, file: str) -> pd.DataFrame:
    frame = read_states(content, file)
    absent = [state.code for state in STATES if state.number not in frame.columns]
    if absent:
        raise ValueError(f"{file} has no line of {', '.join(absent)}: it is not complete.")
    for number, years in absent_years(content, [state.number for state in STATES]).items():
        code = next(state.code for state in STATES if state.number == number)
        raise ValueError(
            f"{file} has no line of {code} for {years[0]}: it is not complete. Get it again."
        )
    frame = frame[[state.number for state in STATES]]
    return frame.set_axis([state.code for state in STATES], axis=1)


def _select(frame: pd.DataFrame, years: tuple[int, int], file: str) -> pd.DataFrame:
    try:
        first, last = (operator.index(year) for year in years)
    except (TypeError, ValueError):
        raise ValueError(f"years must be (first, last), whole numbers; got {years!r}.") from None
    if first > last:
        raise ValueError(f"years must be (first, last); got {first} after {last}.")
    if first < frame.index[0].year or last > frame.index[-1].year:
        raise ValueError(f"{file} does not hold all the years {first} to {last}. {_range(frame)}")
    return frame.loc[str(first) : str(last)]


def _range(frame: pd.DataFrame) -> str:
    held = frame.dropna(how="all").index
    return f"It holds {held[0]} to {held[-1]}." if len(held) else "It holds no value."


def _rows(
    series: FloatArray, is_source: NDArray[np.bool_], *, every_month: bool
) -> tuple[FloatArray, NDArray[np.intp]]:
    """Windows of 12 months without a gap, by state and time, and the state of each."""
    windows = np.lib.stride_tricks.sliding_window_view(series.T, 12, axis=1)
    start = np.arange(windows.shape[1])
    wanted = (start % 12 == 0) | (is_source[:, None] & every_month)
    state, start = np.nonzero(wanted & ~np.isnan(windows).any(axis=2))
    return windows[state, start], state


def _visible_scale(series: FloatArray, is_source: NDArray[np.bool_]) -> tuple[float, float]:
    first_half = np.arange(len(series)) % 12 < 6
    visible = series[first_half[:, None] | is_source]
    return float(np.nanmean(visible)), float(np.nanstd(visible))
