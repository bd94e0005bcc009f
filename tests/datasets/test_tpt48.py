import shutil

import numpy as np
import pooch
import pytest
import requests
from sklearn.linear_model import RidgeCV

from grada import AdaptedRegressor
from grada.datasets import state_temperatures, tpt48
from grada.datasets._files import DamagedDataError, DataNotFoundError
from grada.datasets._states import STATES

NAME = "climdiv-tmpcst-v1.0.0-20200106"
CODES = [state.code for state in STATES]


def write(path, years, missing=()):
    """A file in which a value tells its state, year and month; missing: (code, year, month)."""
    lines = []
    for state in STATES:
        for year in range(years[0], years[1] + 1):
            values = [
                -99.9 if (state.code, year, month) in missing else temperature(state, year, month)
                for month in range(1, 13)
            ]
            lines.append(f"{state.number:03d}002{year}" + "".join(f"{x:7.2f}" for x in values))
    path.write_text("\n".join(lines) + "\n")
    return path


def temperature(state, year, month):
    return state.number + (year % 100) / 100 + (20 if month > 6 else 0) + month


def raw(task):
    return np.hstack([task.X, task.reveal()]) * task.metadata["std"] + task.metadata["mean"]


@pytest.mark.parametrize(
    ("name", "levels", "sources"),
    [("E->W", [24, 8, 7, 9], 24), ("N->S", [24, 10, 6, 8], 24), ("W->E", [6, 4, 6, 32], 6)],
)
def test_the_published_task(data_home, name, levels, sources):
    task = tpt48(name)
    assert task.X.shape == task.y.shape == (576, 6)
    assert task.X.base.shape == (576, 6)  # not a view of a table that holds the truth, too
    assert task.name == "tpt48-" + name.lower().replace("->", "")
    assert task.domain.tolist() == np.repeat(CODES, 12).tolist()
    assert len(task.sources) == sources
    hops = np.minimum(task.graph.hop_array(task.sources), 3).astype(int)
    assert np.bincount(hops).tolist() == levels

    months = state_temperatures().loc["2008":"2019"]
    assert months.columns.tolist() == CODES
    np.testing.assert_allclose(raw(task).reshape(48, 144), months.T)
    assert list(task.metadata["position"]) == list(task.metadata["state"]) == CODES
    assert task.metadata["position"]["OH"] == (-82.8, 40.3)
    # As in the file's text: 0330022012  32.10 ... 77.50
    ohio = raw(task)[task.domain == "OH"][4]
    assert ohio[[0, 6]] == pytest.approx([32.1, 77.5])


@pytest.mark.parametrize(
    ("name", "ridge", "highest"), [("E->W", 0.28, 0.30), ("N->S", 0.23, 0.25), ("W->E", 0.47, 0.56)]
)
def test_the_yardstick_scores_as_known(data_home, name, ridge, highest):
    task = tpt48(name)
    result = task.evaluate(fit_ridge(task).predict(task.X))
    assert result.mean == pytest.approx(ridge, abs=0.02)
    assert result.rmse == pytest.approx(np.sqrt(result.mean / 6) * task.metadata["std"])
    X, y, domain = task.visible()
    plain = AdaptedRegressor("plain", task.graph).fit(X, y, sample_domain=domain)
    score = task.evaluate(plain.predict(X, sample_domain=domain)).mean
    assert ridge - 0.02 < score < highest


@pytest.mark.parametrize(("name", "expected"), [("E->W", 0.784), ("N->S", 3.66)])
def test_windows_of_any_month(data_home, name, expected):
    task = tpt48(name, "any-month")
    months = state_temperatures().loc["2008":"2019"]
    rows = raw(task)
    ohio = rows[task.domain == "OH"]  # a source of both
    assert ohio.shape == (133, 12)
    np.testing.assert_allclose(ohio[:, 0], months["OH"][:133])
    np.testing.assert_allclose(ohio[17], months["OH"][17:29])
    # Targets as in the calendar, so that no July to December is among their features.
    np.testing.assert_allclose(rows[task.domain == "CA"], months["CA"].to_numpy().reshape(12, 12))

    seen = [months[name] for name in task.sources]  # once each, however often they are in a window
    seen += [months[name][months.index.month <= 6] for name in task.targets]
    assert task.metadata["mean"] == pytest.approx(np.concatenate(seen).mean())
    assert task.metadata["std"] == pytest.approx(np.concatenate(seen).std())
    assert (task.unit, task.scale) == ("°F", task.metadata["std"])
    assert task.evaluate(fit_ridge(task).predict(task.X)).mean == pytest.approx(expected, rel=0.02)


def fit_ridge(task):
    X, y, _ = task.visible()
    seen = ~np.isnan(y[:, 0])
    return RidgeCV(np.logspace(-4, 4, 25)).fit(X[seen], y[seen])


def test_any_years(data_home):
    task = tpt48(years=(1895, 1895))
    assert task.X.shape == (48, 6)
    assert raw(task)[0, 0] == pytest.approx(43.1)
    assert tpt48(years=(1990, 2019)).X.shape == (48 * 30, 6)


def test_rows_with_a_missing_month_are_left_out(tmp_path):
    gaps = {("OH", 2001, 3), ("CA", 2002, 12)}  # a source and a target
    path = write(tmp_path / "file", (2001, 2003), gaps)
    task = tpt48(years=(2001, 2003), path=path)
    assert task.X.shape == (48 * 3 - 2, 6)
    rows = raw(task)
    np.testing.assert_allclose(rows[task.domain == "OH"][:, 0], [34.02, 34.03])
    np.testing.assert_allclose(rows[task.domain == "CA"][:, 0], [5.01, 5.03])

    task = tpt48(windows="any-month", years=(2001, 2003), path=path)
    assert (task.domain == "OH").sum() == 25 - 3  # windows that start in January to March 2001
    assert (task.domain == "IN").sum() == 25
    assert (task.domain == "CA").sum() == 2
    assert np.isfinite(raw(task)).all()


def test_a_state_without_a_row_is_named_with_the_range(tmp_path):
    path = write(tmp_path / "file", (2001, 2002), {("CA", 2002, 12)})
    with pytest.raises(ValueError, match=r"CA has no row.*2002 to 2002.*holds 2001-01 to 2002-12"):
        tpt48(years=(2002, 2002), path=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "S->N"}, "E->W, N->S, W->E"),
        ({"windows": "weekly"}, "calendar, any-month"),
        ({"years": (2000, 2002)}, "2000 to 2002. It holds 2001-01 to 2003-12"),
        ({"years": (2001, 2019)}, "2001 to 2019. It holds"),
        ({"years": (2003, 2001)}, "2003 after 2001"),
        ({"years": 2001}, r"years must be \(first, last\)"),
        ({"years": (2001.5, 2002)}, "whole numbers"),
    ],
)
def test_refuses(tmp_path, change, message):
    path = write(tmp_path / "file", (2001, 2003))
    with pytest.raises(ValueError, match=message):
        tpt48(**{"years": (2001, 2003), "path": path, **change})


def test_an_incomplete_or_absent_file_is_refused(tmp_path):
    path = write(tmp_path / "file", (2001, 2001))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    with pytest.raises(ValueError, match="no line of WI, WY"):
        state_temperatures(path)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*absent"):
        tpt48(path=tmp_path / "absent")


def test_which_file_is_read(data_home, tmp_path, monkeypatch):
    """The pinned one, else the newest other release, else a download."""
    calls = []

    def refuse(url, **kwargs):
        calls.append((url, kwargs["known_hash"]))
        raise requests.exceptions.ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    monkeypatch.setenv("GRADA_DATA_HOME", str(tmp_path))
    with pytest.raises(DataNotFoundError, match=r"(?s)GRADA_DATA_HOME.*ncei.noaa.gov.*path="):
        tpt48()
    [(url, sha256)] = calls
    assert url.endswith(f"/data-2C-beyond-the-limit-usa/main/data/raw/{NAME}")
    assert sha256.startswith("85828b3b")

    write(tmp_path / "climdiv-tmpcst-v1.0.1-20240106", (2001, 2002))
    write(tmp_path / "climdiv-tmpcst-v1.0.0-20250906", (2001, 2003))
    (tmp_path / "climdiv-tmpcst-v9").mkdir()
    assert len(state_temperatures()) == 36
    assert tpt48(years=(2001, 2001)).metadata["file"] == "climdiv-tmpcst-v1.0.0-20250906"

    shutil.copy(data_home / NAME, tmp_path / NAME)
    assert len(state_temperatures()) == 125 * 12
    with (tmp_path / NAME).open("a") as file:
        file.write(" ")
    with pytest.raises(DamagedDataError, match=NAME):
        tpt48()
    assert len(calls) == 1


def test_a_lost_line_is_noticed(tmp_path):
    path = write(tmp_path / "file", (2008, 2010))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))  # cut at the end of a line: every line left is whole
    with pytest.raises(ValueError, match="no line of WY for 2010: it is not complete"):
        tpt48(years=(2008, 2009), path=path)
