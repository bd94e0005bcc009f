"""Reading a user's table: what comes out of good files, and what is said of bad ones."""

import gzip
import hashlib
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from grada.files import (
    Column,
    FileError,
    TableFile,
    read_chunks,
    read_table,
    scan_table,
)
from grada.files.reading import _Scanner

GOOD = "d,x,y\n" + "".join(f"{'ab'[i % 2]},{i % 7 + 0.5},{i % 2}\n" for i in range(30))


@pytest.fixture
def write(tmp_path):
    def writer(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writer


def refusal(path, **options):
    with pytest.raises(FileError) as caught:
        read_table(path, **{"domain": "d", "label": "y"} | options)
    said = str(caught.value)
    assert said.startswith(f"{path.name}: ")
    assert len(said) < 400
    assert "\n" not in said
    return said


def parquet(frame):
    buffer = io.BytesIO()
    frame.to_parquet(buffer, row_group_size=7)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("rows.csv", str.encode),
        ("rows.tsv", lambda text: text.replace(",", "\t").encode()),
        ("rows.csv.gz", lambda text: gzip.compress(text.encode())),
        ("rows.csv.zst", lambda text: zstandard.compress(text.encode())),
        ("rows.tsv.gz", lambda text: gzip.compress(text.replace(",", "\t").encode())),
        ("rows.parquet", lambda text: parquet(pd.read_csv(io.StringIO(text)))),
        ("rows.parquet.gz", lambda text: gzip.compress(parquet(pd.read_csv(io.StringIO(text))))),
        ("bom.csv", lambda text: b"\xef\xbb\xbf" + text.encode()),
        ("utf16.csv", lambda text: text.encode("utf-16")),
        ("windows.csv", lambda text: text.replace("\n", "\r\n").encode()),
        ("blank_lines.csv", lambda text: text.replace("\n", "\n\n").encode()),
    ],
)
def test_every_format_gives_the_same_rows(write, name, pack):
    content = pack(GOOD)
    rows = read_table(write(content, name), domain="d", label="y")
    assert rows.frame["x"].tolist() == [i % 7 + 0.5 for i in range(30)]
    assert rows.domains.tolist() == ["ab"[i % 2] for i in range(30)]
    assert rows.labels.tolist() == [i % 2 for i in range(30)]
    assert rows.kind == "classification"
    assert rows.n_rows == 30
    assert rows.sha256 == hashlib.sha256(content).hexdigest()


def test_names_stay_as_they_stand(write):
    path = write("d,x,y\n007,1,2.5\nNA,2,NA\n7,3,\nnull,4,1\n 7,5,3.25\n")
    rows = read_table(path, domain="d", label="y")
    assert rows.domains.tolist() == ["007", "NA", "7", "null", " 7"]
    np.testing.assert_array_equal(rows.labels, [2.5, np.nan, np.nan, 1, 3.25])
    assert rows.kind == "regression"
    assert rows.has_targets
    assert not read_table(write(GOOD), domain="d", label="y").has_targets


def test_lines_are_those_of_the_file(write):
    path = write('d,x,note\na,1,"two\nlines"\n\nb,2,one\nb,3,"and\nmore\n"\nc,4,one\n')
    rows = read_table(path, domain="d")
    assert rows.lines.tolist() == [2, 5, 6, 9]
    assert rows.labels is None
    assert rows.frame["note"].tolist() == ["two\nlines", "one", "and\nmore\n", "one"]
    first, second = TableFile.open(path).chunks(["x"], rows_per_chunk=2)
    assert first.index.tolist() == [2, 5]
    assert second["x"].tolist() == ["3", "4"]


def test_types_come_from_the_whole_file(write):
    """The first pieces alone would call the columns numbers, or dates."""
    rows = [f"a,{i % 5},{i % 5},2024-01-{i % 9 + 1:02},true,{i % 2}" for i in range(30)]
    rows += [f"b,red{i % 3},2.5,2024-02-01 12:00,False,{i % 2}" for i in range(30)]
    path = write("\n".join(["d,text,number,date,truth,y", *rows]) + "\n")
    for chunk in (7, 65_536):
        scan = scan_table(path, domain="d", label="y", rows_per_chunk=chunk)
        types = {column.name: column.type for column in scan.columns}
        assert types == {"text": "text", "number": "number", "date": "date", "truth": "boolean"}
        frame = pd.concat([part.frame for part in scan.chunks(chunk)], ignore_index=True)
        assert frame["text"].iloc[[0, -1]].tolist() == ["0", "red2"]
        assert frame["truth"].tolist() == [1.0] * 30 + [0.0] * 30
        assert frame["date"].iloc[-1] == pd.Timestamp("2024-02-01").toordinal() - 719163 + 0.5
        assert scan.rows_in == {"a": 30, "b": 30}
    whole = read_table(path, domain="d", label="y")
    pd.testing.assert_frame_equal(whole.frame, frame)


def test_stray_text_deep_in_a_column_of_numbers_is_named(write):
    lines = ["d,rain,y"] + [f"a,{i}.5,1" for i in range(39_999)] + ["a,n/a?,0"]
    said = refusal(write("\n".join(lines) + "\n"))
    assert "line 40,001, column 'rain': 'n/a?' is not a number" in said
    few = write("d,x,y\n" + "a,1,0\nb,red,1\n" * 20)
    assert read_table(few, domain="d", label="y").columns[0].type == "text"


def test_hidden_labels_never_arrive(write):
    """Whatever stands in the labels of a target, the result is the same."""
    results = []
    for hidden in ("0", "1", "garbage", "inf", "2024-01-01", ""):
        path = write("d,x,y\n" + f"a,1,0\na,2,1\nb,3,{hidden}\nb,4,{hidden}\n" * 12)
        rows = read_table(path, domain="d", label="y", sources=["a"])
        assert rows.labels.tolist() == [0, 1, None, None] * 12
        scan = scan_table(path, domain="d", label="y", sources=["a"])
        assert scan.labels_in == {"a": 24}
        results.append((rows.kind, rows.notes, rows.columns))
    assert all(result == results[0] for result in results)
    assert "no row has the domain 'A', which is named as a source. Did you mean 'a'?" in refusal(
        path, sources=["A"]
    )
    assert "no row of the sources 'b' has a label" in refusal(path, sources=["b"])


@pytest.mark.parametrize(
    ("labels", "kind", "first"),
    [
        (["hot", "cold", ""], "classification", "hot"),
        (["0", "1", ""], "classification", 0),
        (["0.0", "1.0", "NaN"], "classification", 0),
        (["True", "False", ""], "classification", "True"),
        (["1.5", "2.25", "N/A"], "regression", 1.5),
        ([str(i) for i in range(100)], "regression", 0.0),
        (["NA", "NB", ""], "classification", "NA"),
        (["hot", "cold", "nan"], "classification", "hot"),
    ],
)
def test_the_kind_is_what_the_labels_look_like(write, labels, kind, first):
    values = labels * (60 // len(labels) + 1)
    path = write("d,x,y\n" + "".join(f"a,{i},{v}\n" for i, v in enumerate(values)))
    rows = read_table(path, domain="d", label="y")
    assert rows.kind == kind
    assert rows.labels[0] == first
    assert type(rows.labels[0]) is type(first) or kind == "regression"
    assert pd.isna(rows.labels).sum() == sum(v in ("", "NaN", "N/A", "nan") for v in values)
    assert any(kind in note for note in rows.notes)
    scan = scan_table(path, domain="d", label="y")
    assert sum(scan.labels_in.values()) == pd.notna(rows.labels).sum()


def test_the_kind_can_be_said(write):
    numbers = read_table(write(GOOD), domain="d", label="y", kind="regression")
    assert numbers.labels.dtype == np.float64
    path = write("d,x,y\na,1,1.5\nb,2,NA\nb,3,2\n")
    classes = read_table(path, domain="d", label="y", kind="classification")
    assert classes.labels.tolist() == ["1.5", None, "2.0"]
    said = refusal(write("d,x,y\na,1,3\nb,2,hot\nc,2,cold\n"), kind="regression")
    assert "line 3, column 'y': 'hot' is not a number" in said


def test_columns_with_nothing_in_them_are_left_out(write):
    path = write("d,,x,one,none,y\n" + "a,0,1,7,,0\nb,1,2,7,NA,1\n" * 5)
    rows = read_table(path, domain="d", label="y")
    assert list(rows.frame) == ["x"]
    for words in ("Column 2 has no name", "'one' has one value only", "'none' has no values"):
        assert any(words in note for note in rows.notes)
    assert "no feature is left" in refusal(path, features=["one", "none"])


def test_what_looks_like_an_identifier_or_leaks_is_pointed_out(write):
    rng = np.random.default_rng(0)
    n = 80
    classes = rng.choice(["p", "q", "r"], n)
    hidden = rng.random(n) < 0.3
    values = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "d": rng.choice(["a", "b"], n),
            "number": np.arange(n) + 100,
            "key": [f"k{i}" for i in rng.permutation(n)],
            "code": pd.Series(classes).map({"p": 3, "q": 1, "r": 2}),
            "gap": np.where(hidden, np.nan, rng.normal(size=n)),
            "apart": pd.Series(classes).map({"p": 0, "q": 5, "r": 10}) + rng.random(n),
            "twin": 3 * values - 1,
            "fine": rng.normal(size=n),
            "group": rng.choice(["u", "v"], n),
            "y": np.where(hidden, None, classes),
            "z": values,
        }
    )
    path = write(frame.to_csv(index=False))
    rows = read_table(path, domain="d", label="y", features=list(frame)[1:-2])
    said = {column.name: column.note for column in rows.columns}
    for name, words in (
        ("number", "counts up"),
        ("key", "identifier"),
        ("code", "the same as the label"),
        ("gap", "missing exactly where"),
        ("apart", "tells the class"),
    ):
        assert words in said[name]
        assert any(f"{name!r}" in note and words in note for note in rows.notes)
    assert said["fine"] == said["group"] == said["twin"] == ""
    rows = read_table(path, domain="d", label="z", features=["twin", "fine"])
    assert ["correlation" in column.note for column in rows.columns] == [True, False]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("d,x,y\n", "header but no rows"),
        (GOOD.replace(",", ";"), "3 when cut at semicolons"),
        (GOOD.replace(",", "\t"), "3 when cut at tabs"),
        ("dd,x,y\na,1,2\n", "no column 'd'. Did you mean 'dd'?"),
        ("d,x,x,y\na,1,2,3\n", "columns 2 and 3 are both named 'x'"),
        (GOOD + "a,1\n", "line 32 has 2 fields, but the header has 3"),
        (GOOD + "a,1,2,3\n", "line 32 has 4 fields"),
        (GOOD + 'a,"1,1\n' + "b,1,1\n" * 30_000, "line 32: a quote is opened here"),
        (GOOD + 'a,"1,1\n', "line 32: a quote is opened here"),
        (GOOD + 'a,"1"2,1\n', "line 32: text follows a closing quote"),
        (GOOD + "a," + "1" * 200_000 + ",1\n", "line 32 has a field of more than 131,072 signs"),
        (GOOD + "a,\0,1\n", "line 32 holds a zero byte"),
        (bytes(range(256)) * 20, "zero byte"),
        (b"PK\x03\x04" + b"\x11" * 99, "Excel"),
        (GOOD.encode("utf-16-le"), "UTF-16 without a mark"),
        (GOOD.encode() + "a,é,1\n".encode("latin-1"), "line 32, byte 3: 0xE9 is not UTF-8"),
        (GOOD.replace("\n", "\r"), "carriage return"),
        ("d,x,y\na,1,\nb,2,\n", "no row has a label in column 'y'"),
        (GOOD + ",1,1\n", "line 32 has no domain in column 'd'"),
        ("d,x,y\n" + 'a,"1,5",1\nb,2,0\n' * 9, "line 2, column 'x': '1,5' has a decimal comma"),
        ("d,x,y\n" + 'a,"1,500",1\nb,2,0\n' * 9, "thousands"),
        (GOOD + "a,-inf,1\n", "line 32, column 'x': '-inf' is infinite"),
        (GOOD + "a,1e999,1\n", "line 32, column 'x': '1e999' is infinite"),
        (GOOD + "a,1,inf\n", "line 32, column 'y': 'inf' is infinite"),
        ("d,x,y\n" + "a,2024-01-02,1\nb,2024-01-03,0\n" * 15 + "a,soon,1\n", "line 32, column 'x'"),
        (GOOD + "a,2024-13-45,1\n", "'2024-13-45' is not a number"),
        ("d,y\na,1\n", "no feature is left"),
    ],
)
def test_bad_text_is_refused_in_words(write, content, words):
    assert words in refusal(write(content))


def test_damaged_and_absent_files_are_refused_in_words(write, tmp_path):
    packed = parquet(pd.DataFrame({"d": ["a"] * 50, "x": range(50), "y": [0, 1] * 25}))
    for name, content, words in (
        ("cut.csv.gz", gzip.compress(GOOD.encode())[:-9], "gzip data ends too early"),
        ("cut.csv.zst", zstandard.compress(GOOD.encode())[:-9], "zstd data ends too early"),
        ("plain.csv.gz", GOOD.encode(), "not packed with gzip"),
        ("cut.parquet", packed[:-9], "damaged or cut Parquet"),
        ("hole.parquet", packed[:50] + b"\xff" * 200 + packed[250:], "damaged or cut Parquet"),
        ("text.parquet", GOOD.encode(), "is no Parquet file"),
    ):
        assert words in refusal(write(content, name))
    assert "no such file" in refusal(tmp_path / "none.csv")
    assert "is a folder" in refusal(tmp_path)


def test_a_field_of_gigabytes_is_not_read(tmp_path):
    """The file is sparse, so that it takes no room; reading it whole would."""
    path = tmp_path / "rows.csv"
    with path.open("wb") as file:
        file.write(GOOD.encode() + b'a,"')
        file.truncate(2 * 2**30)
    assert "line 32" in refusal(path)


def test_types_of_parquet_are_believed(write):
    frame = pd.DataFrame(
        {
            "d": [1.0, 2.0, 2.0],
            "zip": ["01", "02", "03"],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
            "flag": pd.array([True, False, None], dtype="boolean"),
            "kind": pd.Categorical(["u", "v", "u"]),
            "y": [0.5, np.nan, 1.5],
        }
    )
    rows = read_table(write(parquet(frame), "rows.parquet"), domain="d", label="y")
    assert [column.type for column in rows.columns] == ["text", "date", "boolean", "text"]
    assert rows.domains.tolist() == ["1", "2", "2"]
    assert rows.frame["zip"].tolist() == ["01", "02", "03"]
    assert rows.frame["when"].tolist()[:2] == [19723.0, 19724.0]
    np.testing.assert_array_equal(rows.frame["flag"], [1.0, 0.0, 0.5])  # the median fills gaps
    assert rows.columns[1].n_missing == 1
    assert rows.columns[1].first_missing == 3
    infinite = frame.assign(y=[0.5, np.inf, 1.5])
    assert "row 2, column 'y'" in refusal(write(parquet(infinite), "inf.parquet"))
    buffer = io.BytesIO()
    pq.write_table(pa.table({"d": ["a"], "x": [[1, 2]], "y": [1]}), buffer)
    assert "column 'x' holds values of type" in refusal(write(buffer.getvalue(), "list.parquet"))


def test_broken_texts_in_parquet_are_damage(write):
    buffer = io.BytesIO()
    table = pa.table({"d": ["hello", "world"], "x": [1, 2], "y": [0, 1]})
    pq.write_table(table, buffer, compression="none", write_statistics=False)
    raw = buffer.getvalue().replace(b"hello", b"hell\xff")
    assert "damaged or cut Parquet" in refusal(write(raw, "rows.parquet"))


def test_another_table_is_read_in_the_types_of_the_first(write):
    path = write("d,colour,size,extra\na,1,2.5,?\nb,red,,?\n", "new.csv")
    columns = [Column("size", "number"), Column("colour", "text")]
    columns = [Column.from_dict(column.to_dict()) for column in columns]
    first, second = read_chunks(path, columns, domain="d", rows_per_chunk=1)
    assert first.frame.to_dict("list") == {"size": [2.5], "colour": ["1"]}
    assert np.isnan(second.frame["size"].iloc[0])
    assert second.domains.tolist() == ["b"]
    wrong = write("d,colour,size\na,1,2.5\nb,red,big\n", "wrong.csv")
    with pytest.raises(FileError, match="line 3, column 'size': 'big' is not a number"):
        list(read_chunks(wrong, columns, domain="d"))


def test_pieces_know_their_lines(write):
    """Also where quotes begin in the middle of the file."""
    path = write("d,x\n" + "a,1\n" * 10 + '"b\nc",1\n' + "a,1\n" * 3)
    parts = list(TableFile.open(path).batches(rows_per_chunk=4))
    assert [len(part) for part in parts] == [4, 4, 4, 2]
    assert np.concatenate([part.lines for part in parts]).tolist() == [*range(2, 13), 14, 15, 16]


def test_leaks_are_looked_for_in_rows_from_the_whole_file(write):
    """A column that repeats the label at first only is no leak."""
    same = [f"a,{i % 3},{i % 3}" for i in range(45_000)]
    other = [f"a,{i % 3},{(i + i // 7) % 3}" for i in range(15_000)]
    path = write("\n".join(["d,x,y", *same, *other]) + "\n")
    assert read_table(path, domain="d", label="y").columns[0].note == ""
    leaking = write("\n".join(["d,x,y", *same, *same[:15_000]]) + "\n", "leak.csv")
    assert "the same as the label" in read_table(leaking, domain="d", label="y").columns[0].note
    scanner = _Scanner(path, "d", "y", None, None, None)
    scanner.run(7_001)
    lines = np.concatenate([part.lines for part in scanner.sample])
    assert lines.tolist() == list(range(2, 60_002, 2))


def test_gaps_are_filled_and_columns_that_targets_do_not_have_are_left_out(write):
    text = "d,size,kind,later,y\na,1,u,5,0\na,,v,6,1\na,4,,7,0\na,2,u,8,1\nb,,,,\nb,9,v,,\n"
    path = write(text.encode(), "rows.csv")
    rows = read_table(path, domain="d", label="y")
    assert rows.frame["size"].tolist() == [1, 3, 4, 2, 3, 9]
    assert rows.frame["kind"].tolist() == ["u", "v", "(no value)", "u", "(no value)", "v"]
    assert "later" not in rows.frame
    assert any("'later' has no value where the label is missing" in note for note in rows.notes)
    # Further rows are filled in the same way, also where there was no gap before.
    other = write(b"d,size,kind\na,,\n", "more.csv")
    part = next(read_chunks(other, rows.columns, domain="d"))
    assert part.frame.iloc[0].tolist() == [3, "(no value)"]
    asked = read_table(path, domain="d", label="y", features=["size", "later"])
    assert asked.frame["later"].tolist()[-2:] == [6.5, 6.5]


def test_several_columns_are_the_domain(write):
    path = write(b"state,year,x,y\nOH,2001,1,0\nPA,2001,2,1\nOH,2002,3,\n", "rows.csv")
    rows = read_table(path, domain="state|year", label="y")
    assert rows.domains.tolist() == ["OH|2001", "PA|2001", "OH|2002"]
    assert list(rows.frame) == ["x"]
    part = next(read_chunks(path, rows.columns, domain="state|year"))
    assert part.domains.tolist() == rows.domains.tolist()
    gap = write(b"state,year,x,y\nOH,2001,1,0\nPA,,2,1\n", "gap.csv")
    with pytest.raises(FileError, match="line 3 has no domain"):
        read_table(gap, domain="state|year", label="y")
    with pytest.raises(FileError, match=r"no column 'state\|yaer'"):
        read_table(path, domain="state|yaer", label="y")
