"""Small tables with all that is awkward in them, and the command to run on them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from grada.cli import app

AWKWARD = [
    "Ohio",
    "Washington, D.C.",
    'New "York"',
    "😀 land",
    "<script>alert(1)</script>",
    "007",
    "07",
    "[bold]a  b[/bold]",
]
STATES = ["OH", "PA", "NY", "VT", "NH", "ME", "MA", "CT"]


def awkward_table(seed=0):
    """A classification with texts, gaps, booleans and dates; the last three have no label."""
    rng = np.random.default_rng(seed)
    n = 12 * len(AWKWARD)
    place = np.repeat(np.arange(len(AWKWARD)), 12)
    size = rng.normal(0.3 * place, 1)
    frame = pd.DataFrame(
        {
            "the place": np.array(AWKWARD, dtype=object)[place],
            "size, cm": size.round(4),
            "weight": rng.normal(size=n).round(4),
            "color [red]": rng.choice(["red", "green", ""], n),
            "flag": rng.choice(["true", "false"], n),
            "day": [f"2024-{m:02d}-{d:02d}" for m, d in rng.integers(1, 13, (n, 2))],
            "will <b>buy</b>?": np.where(size + rng.normal(0, 0.3, n) > 0.3 * place, "yes", "no"),
        }
    )
    frame.loc[::17, "weight"] = np.nan
    frame.loc[place >= 5, "will <b>buy</b>?"] = None
    return frame


def plain_table(kind="classification", seed=0):
    """Two numbers and a label that is known in the first five states."""
    rng = np.random.default_rng(seed)
    place = np.repeat(np.arange(len(STATES)), 12)
    x = rng.normal(size=(len(place), 2)).round(4)
    value = x[:, 0] + 0.2 * place + rng.normal(0, 0.2, len(place))
    label = value.round(4) if kind == "regression" else np.where(value > 0.5, "wet", "dry")
    frame = pd.DataFrame(
        {"state": np.array(STATES)[place], "x1": x[:, 0], "x2": x[:, 1], "y": label}
    )
    return frame, place < 5


def edges(names):
    return pd.DataFrame({"source": names[:-1], "target": names[1:]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with three tables and their edges."""
    monkeypatch.chdir(tmp_path)
    awkward_table().to_csv("awkward.csv", index=False)
    edges(AWKWARD).to_csv("awkward-edges.csv", index=False)
    for name, kind in (("rows.csv", "classification"), ("values.csv", "regression")):
        frame, known = plain_table(kind)
        frame.loc[~known, "y"] = np.nan if kind == "regression" else None
        frame.to_csv(name, index=False)
    edges(STATES).to_csv("edges.csv", index=False)
    return tmp_path


def run(*arguments, code=0):
    """The command in this process; its end is that of a well-behaved program."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


@pytest.fixture
def grada():
    return run


def strict(text):
    """One JSON object, without NaN, and nothing else."""

    def refuse(value):
        raise AssertionError(f"{value} is no JSON")

    found = json.loads(text, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def as_json():
    return lambda *arguments: strict(run(*arguments, "--json").stdout)


@pytest.fixture
def refused(folder):
    """Run a command that must be refused: in a line or two, with nothing written or changed."""

    def files() -> dict[Path, bytes | None]:
        found = sorted(folder.rglob("*"))
        return {
            path: path.read_bytes() if path.stat().st_size < 1e6 else None
            for path in found
            if path.is_file()
        } | dict.fromkeys(filter(Path.is_dir, found))

    def refuse(*arguments):
        before = files()
        done = run(*arguments, code=2)
        assert done.stdout == ""
        assert 0 < len(done.stderr.strip().splitlines()) <= 2, done.stderr
        assert files() == before
        return done.stderr

    return refuse
