"""Rows in a mapped file are the rows of the table."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.data import FeatureEncoder
from grada.files import FileError, RowStore, read_table, scan_table


def table(folder: Path, *, n_rows: int = 400, kind: str = "classification") -> Path:
    """A table of mixed types, in such an order that no piece of it looks like the whole."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "place": rng.choice(["b", "a", "c"], n_rows),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n_rows), unit="D"),
            "size": 1e6 + np.sort(rng.normal(size=n_rows)),
            "big": rng.random(n_rows) < 0.5,
            "colour": np.where(
                np.arange(n_rows) < n_rows / 2,
                rng.choice(["red", "blue"], n_rows),
                rng.choice(["grün", "azure", "red"], n_rows),
            ),
        }
    )
    high = frame["size"] > 1e6
    if kind == "classification":
        frame["answer"] = np.where(high, "yes", "no").astype(object)
    else:
        frame["answer"] = frame["size"] - 1e6 + 0.1 * rng.normal(size=n_rows)
    frame.loc[frame["place"] == "c", "answer"] = None
    path = folder / "rows.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_a_fit_from_the_store_is_the_fit_in_memory(tmp_path, kind):
    path = table(tmp_path, kind=kind)
    graph = DomainGraph.chain(["a", "b", "c"])
    rows = read_table(path, domain="place", label="answer")
    scan = scan_table(path, domain="place", label="answer")
    assert scan.kind == kind
    store = RowStore.build(scan, tmp_path, rows_per_chunk=70)
    estimator = AdaptedClassifier if kind == "classification" else AdaptedRegressor

    def model():
        method = methods.GRDA(epochs=2, steps_per_epoch=4, pair_on="colour")
        return estimator(method, graph, random_state=0)

    whole = model().fit(rows.frame, rows.labels, sample_domain=rows.domains)
    pieces = model().fit(store.rows, store.labels, sample_domain=store.domains)
    said = [each.predict(rows.frame, sample_domain=rows.domains) for each in (whole, pieces)]
    if kind == "classification":
        assert whole.classes_.tolist() == pieces.classes_.tolist()
        proba = [each.predict_proba(rows.frame, rows.domains) for each in (whole, pieces)]
        np.testing.assert_allclose(*proba, rtol=1e-4, atol=1e-5)
        assert (said[0] == said[1]).all()
    else:
        np.testing.assert_allclose(*said, rtol=1e-4, atol=1e-5)
    assert whole.feature_names_in_.tolist() == pieces.feature_names_in_.tolist()
    encoded = whole._features.transform(rows.frame)
    np.testing.assert_allclose(store.rows.values, encoded, atol=1e-6)
    assert list(tmp_path.iterdir()) == [path]


def test_stored_rows_are_not_taken_for_an_array_or_for_those_of_another_model(tmp_path):
    path = table(tmp_path)
    scan = scan_table(path, domain="place", label="answer")
    one, other = RowStore.build(scan, tmp_path), RowStore.build(scan, tmp_path)
    model = AdaptedClassifier("plain", DomainGraph.chain(["a", "b", "c"]))
    model.fit(one.rows, one.labels, sample_domain=one.domains)
    assert len(model.predict(one.rows, sample_domain=one.domains)) == len(one.rows)
    with pytest.raises(ValueError, match="another model"):
        model.predict(other.rows, sample_domain=other.domains)
    with pytest.raises(TypeError, match="no array"):
        np.asarray(one.rows)
    with pytest.raises(ValueError, match="give sample_domain"):
        AdaptedClassifier("plain", domain="place").fit(one.rows, one.labels)


def test_int_classes_stay_ints(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("place,x,answer\n" + "a,1,10\na,2,2\nb,3,\n" * 9)
    rows = read_table(path, domain="place", label="answer")
    store = RowStore.build(scan_table(path, domain="place", label="answer"), rows_per_chunk=4)
    graph = DomainGraph.chain(["a", "b"])
    whole = AdaptedClassifier("plain", graph).fit(rows.frame, rows.labels, rows.domains)
    pieces = AdaptedClassifier("plain", graph).fit(store.rows, store.labels, store.domains)
    assert pieces.classes_.tolist() == whole.classes_.tolist() == [2, 10]
    assert pieces.classes_.dtype == whole.classes_.dtype


def test_what_cannot_be_stored_is_refused_in_words(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    lines = [f"a,{at},k{at % 1500},{at % 2}" for at in range(3000)]
    path.write_text("\n".join(["place,x,k,answer", *lines]) + "\n")
    with pytest.raises(FileError, match="column 'k' has 1,500 or more different texts"):
        RowStore.build(scan_table(path, domain="place", label="answer"))
    scan = scan_table(path, domain="place", label="answer", features=["x"])
    path.write_text("\n".join(["place,x,k,answer", *lines[:-1]]) + "\n")
    with pytest.raises(FileError, match="changed while it was read"):
        RowStore.build(scan)
    path.write_text("\n".join(["place,x,k,answer", *lines]) + "\n")
    with pytest.raises(FileError, match=r"cannot hold the rows.*No such file"):
        RowStore.build(scan, tmp_path / "nowhere")
    full = os.statvfs_result((4096, 4096, 100, 1, 1, 100, 10, 10, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(FileError, match="MB of temporary space"):
        RowStore.build(scan, tmp_path)


def test_gaps_are_filled_as_in_memory(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("place,x,k,answer\na,1,u,no\na,,v,yes\nb,3,,\nb,7,u,\n")
    stored = RowStore.build(scan_table(path, domain="place", label="answer")).rows
    frame = read_table(path, domain="place", label="answer").frame
    expected = FeatureEncoder().fit(frame).transform(frame)
    np.testing.assert_allclose(stored.values, expected, atol=1e-6)
