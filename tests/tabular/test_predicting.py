"""Predictions in a file are those of the model, row by row, or there is no file."""

import errno

import numpy as np
import pandas as pd
import pytest

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph
from grada.files import Column, FileError, read_table
from grada.tabular import predict_table
from grada.tabular._writing import TableWriter

COLUMNS = [Column("size", "number"), Column("colour", "text")]
GRAPH = DomainGraph.chain(["a, b", "c", "d"])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "place": rng.choice(GRAPH.names, 60),
            "size": rng.normal(size=60).round(3),
            "colour": rng.choice(["red", "blue"], 60),
        }
    )
    frame["answer"] = np.where(frame["size"] > 0, "yes", "no")
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def classifier(path):
    rows = read_table(path, domain="place", features=["size", "colour"])
    answer = pd.read_csv(path)["answer"]
    model = AdaptedClassifier("plain", GRAPH).fit(rows.frame, answer, sample_domain=rows.domains)
    return model, rows


def read(path):
    plain = path.name.removesuffix(".gz").removesuffix(".zst")
    if plain.endswith(".parquet"):
        return pd.read_parquet(path)
    return pd.read_csv(path, sep="\t" if plain.endswith(".tsv") else ",")


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.csv.gz", "o.tsv.zst", "o.parquet", "plain"])
def test_every_row_gets_what_the_model_says(table, tmp_path, name):
    model, rows = classifier(table)
    seen = []
    found = predict_table(
        model,
        COLUMNS,
        table,
        tmp_path / name,
        domain="place",
        rows_per_chunk=7,
        on_rows=lambda done, total: seen.append((done, total)),
    )
    told = read(tmp_path / name)
    names = ["place", "line", "prediction", "probability of no", "probability of yes"]
    assert told.columns.tolist() == list(found.columns) == names
    assert told["place"].tolist() == rows.domains.tolist()
    assert told["line"].tolist() == list(range(2, 62))
    assert told["prediction"].tolist() == model.predict(rows.frame, rows.domains).tolist()
    proba = model.predict_proba(rows.frame, rows.domains)
    np.testing.assert_allclose(told[names[3:]], proba, rtol=1e-12)
    assert seen[-1] == (60, 60)
    assert len(seen) == 9
    assert found.rows == 60
    expected = told.groupby("place")["prediction"].value_counts().to_dict()
    counted = {
        (place, label): count
        for place, here in found.domains.items()
        for label, count in here["classes"].items()
        if count
    }
    assert counted == expected


def test_values_come_with_intervals_if_the_model_has_them(table, tmp_path):
    rows = read_table(table, domain="place", features=["size", "colour"])
    y = rows.frame["size"] * 2 + np.random.default_rng(1).normal(size=60)
    plain = AdaptedRegressor("plain", GRAPH).fit(rows.frame, y, rows.domains)
    out = tmp_path / "o.csv"
    predict_table(plain, COLUMNS, table, out, domain="place")
    assert read(out).columns.tolist() == ["place", "line", "prediction"]
    with pytest.raises(ValueError, match="has no intervals"):
        predict_table(plain, COLUMNS, table, out, domain="place", intervals=True)
    calibrated = AdaptedRegressor("plain", GRAPH, calibrate=True, random_state=0)
    calibrated.fit(rows.frame, y, rows.domains)
    found = predict_table(calibrated, COLUMNS, table, out, domain="place", coverage=0.8)
    told = read(out)
    low, high = calibrated.predict_interval(rows.frame, rows.domains, coverage=0.8)
    np.testing.assert_allclose(told[["lower", "upper"]], np.column_stack([low, high]))
    assert (told["lower"] < told["prediction"]).all()
    for place, here in found.domains.items():
        mean = told.loc[told["place"] == place, "prediction"].mean()
        assert here["mean"] == pytest.approx(mean)


def test_unknown_domains_are_all_counted_and_nothing_is_written(table, tmp_path):
    model, _ = classifier(table)
    with table.open("a") as file:
        file.write("C,1,red,\n" + "z,1,red,\n" * 3)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FileError) as error:
        predict_table(model, COLUMNS, table, tmp_path / "o.csv", domain="place")
    said = str(error.value)
    assert "does not know 2 domains of column 'place': 'C' (1 row), 'z' (3 rows)." in said
    assert "Did you mean 'c'?" in said
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("c,,red,", "line 62, column 'size' has no value"),
        ("c,1,,", "line 62, column 'colour' has no value"),
        ("c,big,red,", "line 62, column 'size': 'big' is not a number"),
        ("c,1e300,red,", "lines 58 to 62 cannot be used: .*'size'"),
        (",1,red,", "line 62 has no domain"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named_and_leaves_nothing(table, tmp_path, row, message):
    model, _ = classifier(table)
    with table.open("a") as file:
        file.write(row + "\n")
    (tmp_path / "o.csv").write_text("old")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FileError, match=message):
        predict_table(model, COLUMNS, table, tmp_path / "o.csv", domain="place", rows_per_chunk=7)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "o.csv").read_text() == "old"


def test_an_interrupt_leaves_nothing(table, tmp_path):
    model, _ = classifier(table)
    before = sorted(tmp_path.iterdir())

    def interrupt(done, total):
        if done > 20:
            raise KeyboardInterrupt

    for name in ("o.csv", "o.csv.gz", "o.parquet"):
        with pytest.raises(KeyboardInterrupt):
            predict_table(
                model,
                COLUMNS,
                table,
                tmp_path / name,
                domain="place",
                rows_per_chunk=7,
                on_rows=interrupt,
            )
        assert sorted(tmp_path.iterdir()) == before


def test_a_failure_to_write_the_last_rows_is_not_lost(table, tmp_path, monkeypatch):
    model, _ = classifier(table)
    before, write = sorted(tmp_path.iterdir()), TableWriter.write

    def fail_at_the_end(writer, columns):
        if columns["line"][-1] == 61:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(writer, columns)

    monkeypatch.setattr(TableWriter, "write", fail_at_the_end)
    with pytest.raises(OSError, match=r"o\.csv: no space left"):
        predict_table(model, COLUMNS, table, tmp_path / "o.csv", domain="place", rows_per_chunk=7)
    assert sorted(tmp_path.iterdir()) == before


def test_places_that_predictions_cannot_go_to_are_refused(table, tmp_path):
    model, _ = classifier(table)
    with pytest.raises(FileError, match="is the table itself"):
        predict_table(model, COLUMNS, table, table, domain="place")
    with pytest.raises(ValueError, match=r"o.xlsx: predictions are written as .csv"):
        predict_table(model, COLUMNS, table, tmp_path / "o.xlsx", domain="place")
    with pytest.raises(OSError, match="no folder"):
        predict_table(model, COLUMNS, table, tmp_path / "none" / "o.csv", domain="place")
    with pytest.raises(OSError, match=r"cannot write /dev/full: no space left"):
        predict_table(model, COLUMNS, table, "/dev/full", domain="place")
    with pytest.raises(FileError, match=r"no column 'plaice'\. Did you mean 'place'"):
        predict_table(model, COLUMNS, table, tmp_path / "o.csv", domain="plaice")


def test_a_column_of_domains_may_have_a_name_of_ours(table, tmp_path):
    model, _ = classifier(table)
    table.write_text(table.read_text().replace("place", "prediction", 1))
    found = predict_table(
        model, COLUMNS, table, tmp_path / "o.csv", domain="prediction", probabilities=False
    )
    assert found.columns == ("prediction", "line", "prediction_")
