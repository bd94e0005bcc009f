"""The whole path: look at a graph, compare, fit, predict, report."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, load

AWKWARD = ("awkward.csv", "--domain", "the place", "--label", "will <b>buy</b>?")
ROWS = ("rows.csv", "--domain", "state", "--label", "y", "--graph", "edges.csv")
VALUES = ("values.csv", *ROWS[1:])
FEATURES = ["x1", "x2"]


def chain(frame):
    names = list(dict.fromkeys(frame["state"]))
    return DomainGraph.from_edges(itertools.pairwise(names))


def test_awkward_names_and_types_go_all_the_way(folder, grada, as_json):
    edges = "awkward-edges.csv"
    table = ("--table", "awkward.csv", *AWKWARD[1:])
    assert "Nothing odd found." in grada("graph", "check", edges, *table).stdout
    fitted = as_json("fit", *AWKWARD, "--graph", edges, "--method", "propagation", "--out", "m")
    assert [each["type"] for each in fitted["features"]] == [
        "number",
        "number",
        "text",
        "boolean",
        "date",
    ]
    truth = pd.read_csv("awkward.csv", dtype=str, keep_default_na=False)
    assert sorted(fitted["sources"] + fitted["targets"]) == sorted(truth["the place"].unique())
    assert "[bold]a  b[/bold]" in fitted["targets"]
    said = grada("predict", "m", "awkward.csv", "--out", "p.csv").stdout
    assert "[bold]a  b[/bold]" in said
    assert "<script>alert(1)</script>" in said
    found = pd.read_csv("p.csv", dtype={"the place": str})
    assert found["the place"].tolist() == truth["the place"].tolist()
    assert set(found["prediction"]) == {"yes", "no"}
    grada("report", "m")
    assert "<script>alert(1)" not in Path("m.html").read_text()


@pytest.mark.parametrize("method", ["plain", "propagation"])
def test_predictions_are_those_of_python(folder, grada, as_json, method):
    assert as_json("fit", *ROWS, "--method", method, "--out", "m")["method"] == method
    told = as_json("predict", "m", "rows.csv", "--out", "p.csv")
    frame = pd.read_csv("rows.csv")
    model = AdaptedClassifier(method, chain(frame), random_state=0)
    model.fit(frame[FEATURES], frame["y"], sample_domain=frame["state"])
    found = pd.read_csv("p.csv")
    assert told["rows"] == len(frame)
    assert list(found.columns) == told["columns"]
    assert found["line"].tolist() == list(range(2, len(frame) + 2))
    expected = model.predict_proba(frame[FEATURES], sample_domain=frame["state"])
    assert model.classes_.tolist() == ["dry", "wet"]
    np.testing.assert_array_equal(
        found[["probability of dry", "probability of wet"]].to_numpy(), expected
    )
    again = load("m").predict(frame[FEATURES], sample_domain=frame["state"])
    np.testing.assert_array_equal(found["prediction"], again)


def test_auto_on_values_has_intervals_and_a_report(folder, grada, as_json):
    quick = ("--set", 'portfolio=["propagation"]', "--set", "budget=20")
    told = as_json("fit", *VALUES, *quick, "--out", "m")
    assert told["kind"] == "regression"
    assert told["report"]["candidates"]
    grada("predict", "m", "values.csv", "--out", "p.parquet", "--coverage", "0.8")
    frame = pd.read_csv("values.csv")
    model = AdaptedRegressor("auto", chain(frame), random_state=0)
    model.set_params(method__portfolio=["propagation"], method__budget=20)
    model.fit(frame[FEATURES], frame["y"], sample_domain=frame["state"])
    found = pd.read_parquet("p.parquet")
    np.testing.assert_array_equal(
        found["prediction"], model.predict(frame[FEATURES], sample_domain=frame["state"])
    )
    low, high = model.predict_interval(frame[FEATURES], frame["state"], coverage=0.8)
    np.testing.assert_array_equal(found["lower"], low)
    np.testing.assert_array_equal(found["upper"], high)
    assert as_json("report", "m", "--out", "page.html")["verdict"] == told["verdict"]
    assert "y in values.csv" in Path("page.html").read_text()


def test_another_process_predicts_the_same(folder, grada):
    grada("fit", *VALUES, "--method", "propagation", "--out", "m")
    grada("predict", "m", "values.csv", "--out", "here.csv")
    command = [Path(sys.executable).with_name("grada"), "predict", "m", "values.csv"]
    done = subprocess.run(
        [*command, "--out", "there.csv"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "96 predictions: there.csv" in done.stdout
    assert Path("there.csv").read_bytes() == Path("here.csv").read_bytes()


@pytest.mark.parametrize("method", ["plain", "propagation"])
def test_labels_outside_the_sources_are_not_seen(folder, grada, method):
    frame = pd.read_csv("rows.csv")
    hidden = ~frame["state"].isin(["OH", "NY"])
    rng = np.random.default_rng(0)
    answers = []
    for name in ("one", "two"):
        frame.loc[hidden, "y"] = rng.choice(["wet", "dry", "new class"], hidden.sum())
        frame.to_csv("rows.csv", index=False)
        grada("fit", *ROWS, "--sources", "OH, NY", "--method", method, "--out", name)
        grada("predict", name, "rows.csv", "--out", f"{name}.csv")
        answers.append(Path(f"{name}.csv").read_bytes())
    assert answers[0] == answers[1]
    assert b"new class" not in answers[0]


def test_unknown_domains_are_refused_by_name_or_joined_by_a_graph(folder, grada, as_json, refused):
    grada("fit", *ROWS, "--method", "propagation", "--out", "m")
    rows = Path("rows.csv").read_text()
    Path("more.csv").write_text(rows + "RI,0.1,0.2,\nRI,1.1,0.2,\nUT,0,0,\n")
    said = refused("predict", "m", "more.csv", "--out", "p.csv")
    assert "2 domains" in said
    assert "'RI' (2 rows), 'UT' (1 row)" in said
    Path("new.csv").write_text("source,target\nRI,CT\nRI,MA\n")
    said = refused("predict", "m", "more.csv", "--graph", "new.csv", "--out", "p.csv")
    assert "'UT'" in said
    assert "'RI'" not in said
    Path("new.csv").write_text("source,target\nRI,CT\nUT,RI\n")
    told = as_json("predict", "m", "more.csv", "--graph", "new.csv", "--out", "p.csv")
    assert told["domains"]["RI"]["rows"] == 2
    assert "2 new domains" in told["notes"][0]


def test_compare_recommends(folder, grada, as_json):
    options = ("--methods", "propagation", "--budget", "20")
    found = as_json("compare", *ROWS, *options)
    assert {each["name"] for each in found["candidates"]} >= {"plain", "propagation"}
    assert found["method"] in {"plain", "propagation"}
    assert found["advice"].startswith(f"Use --method {found['method']}")
    done = grada("compare", *ROWS, *options)
    assert found["advice"] in done.stdout
    assert "Note: The label 'y' holds texts: taken as a classification. If it is" in done.stderr


def test_nothing_to_adapt_to_is_said_and_plain_offered(folder, grada, refused):
    frame = pd.read_csv("values.csv")
    frame["y"] = frame["y"].fillna(0.5)
    frame.to_csv("values.csv", index=False)
    for command in (("fit", *VALUES, "--out", "m"), ("compare", *VALUES)):
        said = refused(*command)
        assert "every row has a label in column 'y'" in said
        assert "--method plain" in said
    grada("fit", *VALUES, "--method", "plain", "--out", "m")
    grada("predict", "m", "values.csv", "--out", "p.csv")


def test_edges_of_domains_without_rows_are_counted(folder, as_json):
    with Path("edges.csv").open("a") as file:
        file.write("OH,KY\nKY,TN\n")
    told = as_json("fit", *ROWS, "--method", "plain", "--out", "m")
    assert any("2 domains of the graph without rows" in note for note in told["notes"])


def test_results_are_on_standard_output_and_talk_is_not(folder, grada):
    done = grada("fit", *ROWS, "--method", "plain", "--out", "m")
    assert "Model: m." in done.stdout
    assert "rows.csv: 96 rows, 5 domains with labels, 3 without" in done.stderr
    assert "Features" not in done.stdout
    done = grada("predict", "m", "rows.csv", "--out", "p.csv")
    assert done.stderr == ""
