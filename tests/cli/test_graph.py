"""``grada graph``: what it prints, what it writes and how it ends."""

import json

import pytest
from typer.testing import CliRunner

from grada.cli import app
from grada.files import read_graph

EDGES = "source,target,weight\nOH,PA,1\nPA,NY,1\nCA,OR,1\nHI,,\n"
ROWS = "state,rain,y\n" + "OH,1,0\nOH,3,1\nPA,2,\nNY,3,\nCA,2,\nTX,1,\n" * 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "years.csv").write_text("year\n2001\n1999\n2000\n")
    (tmp_path / "places.csv").write_text("name,x,y\na,0,0\nb,1,0\nc,5,0\n")
    return tmp_path


def graph(*arguments, code=0):
    done = CliRunner().invoke(app, ["graph", *map(str, arguments)])
    assert done.exit_code == code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


def kinds(done, *, hurts):
    findings = json.loads(done.stdout)["findings"]
    return {one["kind"]: one["domains"] for one in findings if one["hurts"] is hurts}


def test_check_names_what_hurts(folder):
    table = ("--table", "rows.csv", "--domain", "state", "--label", "y")
    done = graph("check", "edges.csv", *table, "--json", code=1)
    assert kinds(done, hurts=True) == {
        "missing-from-graph": ["TX"],
        "component-without-source": ["CA"],
    }
    assert kinds(done, hurts=False)["without-rows"] == ["OR", "HI"]
    words = graph("check", "edges.csv", *table, code=1).stdout
    assert "! 1 domain of the table not in the graph: 'TX'." in words
    alone = graph("check", "edges.csv", "--json", code=1)
    assert kinds(alone, hurts=True) == {"isolated": ["HI"]}


def test_check_finds_edges_with_two_weights(folder):
    (folder / "edges.csv").write_text("source,target,weight\na,b,1\nb,a,0.5\nb,c,1\n")
    done = graph("check", "edges.csv", "--json", code=1)
    assert kinds(done, hurts=True) == {"asymmetric": ["a", "b"]}
    assert graph("show", "edges.csv", code=2).stderr.startswith("edges.csv: 'a' to 'b' weighs 1")


def test_check_is_content_with_a_sound_graph(folder):
    (folder / "edges.csv").write_text("source,target\nOH,PA\nPA,NY\nNY,CA\nCA,TX\nPA,OH\n")
    options = ("--table", "rows.csv", "--domain", "state", "--label", "y")
    done = graph("check", "edges.csv", *options)
    assert "1 edge given both ways" in done.stdout
    assert "Nothing that hurts." in done.stdout
    assert json.loads(graph("check", "edges.csv", *options, "--json").stdout)["fine"] is True
    graph("check", "edges.csv", *options, "--sources", "OH")
    wrong = graph("check", "edges.csv", *options, "--sources", "Oh", code=2)
    assert "Did you mean 'OH'?" in wrong.stderr


def test_build_from_places_and_times(folder):
    source = ("--coordinates", "places.csv", "--k", "1", "--time", "years.csv")
    graph("build", *source, "--out", "graph.json", code=2)
    done = graph("build", *source, "--product", "cartesian", "--out", "graph.json", "--json")
    assert json.loads(done.stdout)["domains"] == 9
    found = read_graph(folder / "graph.json").graph
    assert set(found.neighbors("b|2000")) == {"b|1999", "b|2001", "a|2000", "c|2000"}
    assert "9 domains, 12 edges." in graph("show", "graph.json").stdout


def test_build_writes_what_show_and_check_read(folder):
    done = graph("build", "--edges", "edges.csv", "--out", "graph.tsv")
    assert "graph.tsv: 6 domains, 3 edges" in done.stdout
    shown = json.loads(graph("show", "graph.tsv", "--json").stdout)
    assert shown["isolated"] == ["HI"]
    assert shown["degree"] == {"least": 0, "median": 1.0, "most": 2}
    assert shown["longest_way"] == 2
    assert "PA" in graph("show", "graph.tsv").stdout


@pytest.mark.parametrize("name", ["graph.html", "graph.png"])
def test_show_draws(folder, name):
    pytest.importorskip("matplotlib")
    (folder / "edges.csv").write_text("source,target\n<script>alert(1)</script>,b&c\n$x$,b&c\n")
    assert f"Drawn to {name}." in graph("show", "edges.csv", "--out", name).stdout
    raw = (folder / name).read_bytes()
    assert raw.startswith(b"<!doctype html>" if name.endswith("html") else b"\x89PNG")
    assert b"<script" not in raw


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "none.csv"), "none.csv: there is no such file"),
        (("check", "edges.csv", "--table", "rows.csv"), "--table and --domain go together"),
        (("check", "edges.csv", "--label", "y"), "need --table"),
        (
            ("check", "edges.csv", "--table", "rows.csv", "--domain", "stat"),
            "Did you mean 'state'?",
        ),
        (("check", "years.csv"), "two columns"),
        (("show", "edges.csv", "--out", "graph.gif"), ".png, .svg or .html"),
        (("show", "edges.csv", "--out", "none/graph.png"), "there is no folder"),
        (("build", "--out", "graph.csv"), "Give one of --edges"),
        (("build", "--edges", "edges.csv", "--out", "graph.xls"), ".csv, .tsv or .json"),
        (("build", "--edges", "edges.csv", "--out", "none/graph.csv"), "there is no folder"),
        (("build", "--edges", "none.csv", "--out", "graph.csv"), "no such file"),
        (("build", "--time", "places.csv", "--out", "graph.csv"), "which column holds the times"),
        (("build", "--regions", "edges.csv", "--out", "graph.csv"), "edges.csv: "),
        (
            ("build", "--edges", "edges.csv", "--product", "strong", "--out", "graph.csv"),
            "one is given",
        ),
    ],
)
def test_bad_input_is_answered_in_words_and_leaves_nothing(folder, arguments, words):
    before = sorted(folder.iterdir())
    done = graph(*arguments, code=2)
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert done.stdout == ""
    assert sorted(folder.iterdir()) == before
