"""From a table to an answer, without the command line."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from grada import AdaptedClassifier, ArtefactError
from grada.files import FileError
from grada.selection.report import CandidateReport, Report
from grada.tabular import TableSource, fit_table, load_table_model
from grada.tabular.comparing import _advice
from grada.tabular.fitting import load_page, make_estimator, make_method

NAMES = ["OH", "PA", "NY", "VT"]


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["state,x1,x2,y"]
    for number, name in enumerate(NAMES):
        for x1, x2 in rng.normal(size=(12, 2)).round(3):
            label = ("wet" if x1 > 0 else "dry") if number < 2 else ""
            rows.append(f"{name},{x1},{x2},{label}")
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    edges = [",".join(pair) for pair in itertools.pairwise(NAMES)]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *edges]))
    return TableSource(tmp_path / "rows.csv", "state", "y", tmp_path / "edges.csv")


def test_a_source_says_who_has_labels(source):
    reading = source.read()
    assert reading.kind == "classification"
    assert reading.roles() == (["OH", "PA"], ["NY", "VT"])
    assert reading.graph.neighbors("PA") == ("OH", "NY")
    assert set(reading.checksums) == {"rows.csv", "edges.csv"}
    fewer = replace(source, sources=["OH"]).read()
    assert fewer.roles() == (["OH"], ["NY", "PA", "VT"])
    assert replace(source, graph=None).read().graph is None


def test_a_model_keeps_how_its_table_is_read(source, tmp_path):
    fitted = fit_table(source, method="plain", command="grada fit rows.csv")
    fitted.save(tmp_path / "m")
    again = load_table_model(tmp_path / "m")
    assert (again.columns, again.domain, again.label) == (fitted.columns, "state", "y")
    assert again.notes == fitted.notes
    assert again.kind == "classification"
    assert load_page(tmp_path / "m").verdict == fitted.page.verdict
    frame = pd.read_csv(source.table)
    rows, states = frame[["x1", "x2"]], frame["state"]
    np.testing.assert_array_equal(
        again.model.predict_proba(rows, sample_domain=states),
        fitted.model.predict_proba(rows, sample_domain=states),
    )


def test_a_model_from_python_is_told_apart(tmp_path):
    AdaptedClassifier("plain").fit([[0.0], [1.0]], ["a", "b"]).save(tmp_path / "m")
    with pytest.raises(ArtefactError, match="was saved from Python"):
        load_table_model(tmp_path / "m")
    with pytest.raises(ArtefactError, match="no data for a report"):
        load_page(tmp_path / "m")


def test_without_a_graph_one_is_found_from_the_rows(source):
    fitted = fit_table(replace(source, graph=None), method="propagation")
    assert set(fitted.model.graph_.names) == set(NAMES)


def test_a_table_without_gaps_needs_the_plain_method(source):
    text = source.table.read_text().replace(",\n", ",wet\n") + "wet"
    source.table.write_text(text)
    reading = source.read()
    reading.check_targets("plain")
    with pytest.raises(FileError, match="nothing to adapt to"):
        reading.check_targets("grda")
    replace(source, sources=["OH"]).read().check_targets("grda")


def test_methods_and_settings_are_checked():
    assert make_method("grda", {"strength": 0.25}).strength == 0.25
    with pytest.raises(ValueError, match=r"no setting 'strenth'\. It has: .*strength"):
        make_method("grda", {"strenth": 1})
    with pytest.raises(ValueError, match="'strength' parameter"):
        make_method("grda", {"strength": "much"})
    with pytest.raises(ValueError, match="classification only, and this is regression"):
        make_estimator("regression", "class-aware-grda", None)


def report(shares, *, adapted=True):
    candidates = tuple(
        CandidateReport(name, share, 0.8, 0.8, {}, 1.0, None) for name, share in shares.items()
    )
    return Report("Because.", adapted, "accuracy", 0.8, 0.7, 0.9, candidates, (), 1.0)


@pytest.mark.parametrize(
    ("found", "names", "method"),
    [
        (report({"plain": 0, "grda": 1}), ["grda"], "grda"),
        (report({"plain": 0.4, "grda": 0.6}), None, "auto"),
        (report({"plain": 0.1, "grda": 0.3, "dann": 0.6}), ["grda", "dann"], "dann"),
        (report({"plain": 1, "grda": 0}, adapted=False), None, "plain"),
    ],
)
def test_advice_is_something_that_fit_takes(found, names, method):
    name, words = _advice(found, names)
    assert name == method
    assert words.startswith(f"Use --method {method}")
    assert words.endswith("Because.")
    make_method(name, None)
