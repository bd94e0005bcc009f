"""Wrong input: a line or two that name the culprit, exit code 2, and nothing written."""

import contextlib
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from grada.cli import main

COLUMNS = ("--domain", "state", "--label", "y")
FIT = ("fit", "rows.csv", *COLUMNS, "--graph", "edges.csv", "--out", "m", "--method", "plain")


def fit(table="rows.csv", *more):
    return ("fit", table, *FIT[2:], *more)


@pytest.fixture
def model(folder, grada):
    grada(*FIT)
    return folder


def text(name="rows.csv"):
    return Path(name).read_text()


def latin(rows):
    return rows.replace("VT", "Orléans").encode("latin-1")


TABLES = {
    "empty": (lambda rows: b"", "bad.csv: is empty"),
    "header only": (lambda rows: b"state,x1,x2,y\n", "bad.csv: has a header but no rows"),
    "wrong delimiter": (lambda rows: rows.replace(",", ";").encode(), "semicolons"),
    "missing column": (lambda rows: rows.replace("state", "land").encode(), "no column 'state'"),
    "duplicate header": (
        lambda rows: rows.replace("x2", "x1", 1).encode(),
        "columns 2 and 3 are both named 'x1'",
    ),
    "UTF-16 without mark": (lambda rows: rows.encode("utf-16-le"), "looks like UTF-16"),
    "Latin-1": (latin, "line 38, byte 4: 0xE9 is not UTF-8"),
    "no labels": (
        lambda rows: rows.replace("wet", "").replace("dry", "").encode(),
        "no row has a label in column 'y'",
    ),
    "ragged": (lambda rows: (rows + "OH,1\n").encode(), "line 98"),
    "zero byte": (lambda rows: rows.replace("ME", "M\0").encode(), "line 62 holds a zero byte"),
    "endless quote": (lambda rows: (rows + '"OH,1,1,\n').encode(), "line 98"),
}


@pytest.mark.parametrize("case", TABLES)
def test_bad_tables_are_refused(folder, refused, case):
    spoil, words = TABLES[case]
    Path("bad.csv").write_bytes(spoil(text()))
    said = refused(*fit("bad.csv"))
    assert words in said
    assert "bad.csv" in said
    if case != "no labels":
        assert "bad.csv" in refused("compare", "bad.csv", *COLUMNS)


def test_utf_16_with_its_mark_is_read(folder, grada):
    Path("wide.csv").write_bytes(text().encode("utf-16"))
    grada(*fit("wide.csv"))


def test_stray_text_far_down_is_found(folder, grada, refused):
    rows = text().splitlines()
    many = [rows[0], *rows[1:] * 450]
    many[40_000] = "OH,0.5,n/a?,wet"
    Path("bad.csv").write_text("\n".join(many))
    assert "bad.csv: line 40,001, column 'x2': 'n/a?' is not a number" in refused(*fit("bad.csv"))
    grada(*FIT)
    said = refused("predict", "m", "bad.csv", "--out", "p.csv")
    assert "bad.csv: line 40,001, column 'x2'" in said


def test_a_field_of_two_gigabytes_is_refused(folder, refused):
    part = b"a" * 2**24
    with pa.CompressedOutputStream("bad.csv.zst", "zstd") as file:
        file.write(text().encode() + b"OH,1,")
        for _ in range(2**31 // len(part)):
            file.write(part)
        file.write(b",wet\n")
    assert "bad.csv.zst: line 98" in refused(*fit("bad.csv.zst"))


def test_a_graph_of_other_domains_is_refused(folder, refused):
    Path("edges.csv").write_text("source,target\nBern,Basel\nBasel,Chur\n")
    said = refused(*FIT)
    assert "edges.csv" in said
    assert "'Bern'" in said


OPTIONS = {
    "unknown method": (("--method", "grad"), "Unknown method 'grad'"),
    "unknown setting": (("--set", "strenth=1"), "has no setting 'strenth'"),
    "bad value": (("--method", "grda", "--set", "epochs=many"), "'epochs' parameter of GRDA"),
    "too deep": (("--set", "x=" + "[" * 100_000), "--set x: the value is too long or too deep"),
    "no value": (("--set", "strength"), "give NAME=VALUE"),
    "unknown feature": (("--features", "x1,x3"), "no column 'x3'"),
    "unknown source": (("--sources", "OH,Pa"), "Did you mean 'PA'?"),
    "no source": (("--sources", " ,"), "names nothing"),
    "label as feature": (("--features", "x1,y"), "column 'y' is the label"),
    "out is a file": (("--out", "rows.csv"), "rows.csv is a file"),
    "out holds files": (("--out", "full"), "holds other files"),
    "no folder for out": (("--out", "none/m"), "there is no folder"),
    "no graph": (("--graph", "none.csv"), "none.csv: there is no such file"),
    "checkpoint is a file": (("--checkpoint", "rows.csv"), "rows.csv: is a file"),
    "texts as values": (("--kind", "regression"), "rows.csv: line 2, column 'y'"),
    "training that explodes": (
        ("--method", "grda", "--set", "epochs=1", "--set", "learning_rate=1e30", "--json"),
        "Lower learning_rate",
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options_are_refused(folder, refused, case):
    Path("full").mkdir()
    Path("full", "precious.txt").write_text("mine")
    options, words = OPTIONS[case]
    assert words in refused(*FIT, *options)


def test_a_method_of_the_other_kind_is_refused(folder, refused):
    said = refused(*fit("values.csv", "--method", "class-aware-grda"))
    assert "does classification only, and this is regression" in said
    assert "grda" in said.split("Methods for it: ")[1].split(", ")


def test_bad_predictions_are_refused(model, refused):
    Path("gap.csv").write_text(text().replace("x2", "x3"))
    for arguments, words in (
        (("m", "rows.csv", "--out", "p.xlsx"), "p.xlsx: predictions are written as .csv"),
        (("m", "rows.csv", "--out", "rows.csv"), "is the table itself"),
        (("m", "rows.csv", "--out", "m"), "m is a folder"),
        (("m", "rows.csv", "--out", "none/p.csv"), "there is no folder"),
        (("m", "gap.csv", "--out", "p.csv"), "gap.csv: no column 'x2'"),
        (("m", "none.csv", "--out", "p.csv"), "none.csv: there is no such file"),
        (("n", "rows.csv", "--out", "p.csv"), "There is no model folder n."),
        (("rows.csv", "rows.csv", "--out", "p.csv"), "a model is a folder"),
        (("m", "rows.csv", "--out", "p.csv", "--domain", "land"), "no column 'land'"),
        (("m", "rows.csv", "--out", "p.csv", "--graph", "rows.csv.gz"), "no such file"),
    ):
        assert words in refused("predict", *arguments)


def test_bad_reports_are_refused(model, refused):
    assert "none: does not exist" in refused("report", "none")
    assert "rows.csv, line 1" in refused("report", "rows.csv")
    assert "no model folder" in refused("report", ".")
    assert "m is a folder" in refused("report", "m", "--out", "m")


def test_a_tensor_of_another_model_is_refused(model, grada, refused):
    grada(*FIT, "--sources", "OH,PA", "--out", "other")
    shutil.copy("other/tensors.safetensors", "m/tensors.safetensors")
    said = refused("predict", "m", "rows.csv", "--out", "p.csv")
    assert "tensors.safetensors" in said
    assert "report" not in said


@contextlib.contextmanager
def full_disk(size):
    """No file may grow larger than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    "command",
    [
        (*FIT, "--json"),
        ("predict", "m", "rows.csv", "--out", "p.csv"),
        ("predict", "m", "rows.csv", "--out", "p.parquet"),
        ("report", "m", "--out", "page.html"),
        ("graph", "build", "--edges", "edges.csv", "--out", "g.csv"),
    ],
)
def test_a_full_disk_leaves_everything_as_it_was(model, refused, command):
    with full_disk(20):
        said = refused(*command)
    out = command[command.index("--out") + 1]
    assert f"cannot write {out}" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_results_that_cannot_be_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["grada", "methods", "--json"])
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "Cannot write to standard output: No space left on device.\n"


def test_names_that_a_terminal_cannot_show(folder, grada, monkeypatch):
    Path("edges.csv").write_text("source,target\n\U0001f600,b\n")
    monkeypatch.setattr(sys, "argv", ["grada", "graph", "show", "edges.csv"])
    with Path("shown.txt").open("w", encoding="latin-1") as narrow:
        monkeypatch.setattr(sys, "stdout", narrow)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    assert "\\U0001f600" in Path("shown.txt").read_text(encoding="latin-1")


@contextlib.contextmanager
def somebody_else():
    """Without the rights of the administrator."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_may_not_be_written(model, grada):
    readable = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(model, readable / "data")
        locked = readable / "locked"
        locked.mkdir()
        for path in (readable, *readable.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        os.chdir(readable / "data")
        for command in (
            (*FIT, "--out", locked / "m"),
            ("predict", "m", "rows.csv", "--out", locked / "p.csv"),
            ("report", "m", "--out", locked / "page.html"),
        ):
            with somebody_else():
                said = grada(*command, code=2).stderr
            assert "ermission denied" in said
            assert "locked" in said
            assert len(said.splitlines()) <= 2
            assert not list(locked.iterdir())
    finally:
        os.chdir(model)
        for path in (readable, *readable.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(readable)
