"""Whatever stands in a file: it is read, or refused in words, and never anything else."""

import csv
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grada.files import FileError, TableFile, read_graph, read_table, scan_table

many = settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

CELLS = [
    *("", " ", "1", "-2.5", "007", "1e3", "1e999", "inf", "nan", "NA", "None", "1,5", "1 000"),
    *("2024-01-31", "2024-02-31", "0000-00-00", "9999-12-31 23:59", "true", "FALSE", "yes"),
    *('"', '""', "a\nb", "\r", "\0", "\ufeff", "é", "１", "1_0", "0x1", "a", "b", "−1", "+1"),
]
cells = st.one_of(
    st.sampled_from(CELLS),
    st.text(max_size=4),
    st.integers(-3, 3).map(str),
    st.floats(width=16).map(str),
    st.sampled_from(["a", "b", "0.5", "1"]),
)
headers = st.lists(
    st.sampled_from(["d", "y", "x", "z", "source", "target", "weight", " x", "", "é"]), max_size=5
)
separators = st.sampled_from([",", ";", "\t", "|"])


def quoted(text, wanted):
    return '"' + text.replace('"', '""') + '"' if wanted else text


@st.composite
def texts(draw):
    """Nearly tables: mostly of one width, sometimes ragged, quoted or not."""
    usual = st.sampled_from([["d", "x", "y"], ["source", "target"]])
    header = draw(st.one_of(usual, st.permutations(["d", "x", "y", "z"]), headers))
    separator = draw(st.one_of(st.just(","), separators))
    quote = draw(st.booleans())
    same = draw(st.sampled_from([True, True, True, False]))
    lines = [separator.join(header)]
    for _ in range(draw(st.integers(0, 8))):
        width = len(header) if same else draw(st.integers(0, 5))
        row = [quoted(draw(cells), quote) for _ in range(width)]
        lines.append(separator.join(row))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    return ends.join(lines) + draw(st.sampled_from(["", ends, '"', "\x1a"]))


@st.composite
def files(draw):
    """A text as bytes: in some encoding, packed or not, whole or damaged."""
    encoding = draw(st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"]))
    raw = draw(texts()).encode(encoding, errors="replace")
    pack = draw(st.sampled_from([None, None, None, gzip.compress, zstandard.compress]))
    raw = raw if pack is None else pack(raw)
    if draw(st.integers(0, 3)) == 0 and raw:
        at = draw(st.integers(0, len(raw) - 1))
        raw = draw(st.sampled_from([raw[:at], raw[:at] + b"\xff\x00" + raw[at:], raw[at:]]))
    return raw


def attempt(read, path, *arguments, **options):
    """What was read; None if it was refused in words. Any other error ends the test."""
    try:
        return read(path, *arguments, **options)
    except FileError as error:
        said = str(error)
    assert said.startswith(f"{path.name}: ")
    assert len(said) < 700
    assert "\n" not in said
    return None


def read_in_pieces(path, **options):
    return list(scan_table(path, **options).chunks(2))


def check(content, name, *, damaged=False, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        rows = attempt(read_table, path, domain="d", **options)
        if rows is None:
            return
        assert len(rows.frame) == len(rows.domains) == len(rows.lines) == rows.n_rows > 0
        assert rows.frame.shape[1] == len(rows.columns) > 0
        assert all(isinstance(name, str) and name for name in rows.domains)
        numbers = rows.frame.select_dtypes("number").to_numpy()
        assert not np.isinf(numbers).any()
        parts = attempt(read_in_pieces, path, domain="d", **options)
        if parts is None:
            assert damaged
            return
        assert np.concatenate([part.domains for part in parts]).tolist() == rows.domains.tolist()
        for column in rows.columns:
            small = [value for part in parts for value in part.frame[column.name].tolist()]
            np.testing.assert_array_equal(small, rows.frame[column.name].tolist())
        if "label" in options:
            assert len(rows.labels) == rows.n_rows
            assert rows.kind == options.get("kind", rows.kind)
            visible = [label for part in parts for label in part.labels.tolist()]
            assert str(visible) == str(rows.labels.tolist())


@many
@given(
    files(),
    st.sampled_from(["rows.csv", "rows.tsv", "rows.txt", "rows.parquet", "rows"]),
    st.sampled_from(
        [
            {},
            {"label": "y"},
            {"label": "y", "kind": "regression"},
            {"label": "y", "kind": "classification"},
            {"label": "y", "sources": ["a", "1"]},
        ]
    ),
)
@example(b"d,x,y\na,1,0\nb,2,1\n", "rows.csv", {"label": "y"})
def test_any_table_is_read_or_refused(content, name, options):
    check(content, name, **options)


plain = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='\0\r\n"'), min_size=1, max_size=3
)


@many
@given(st.lists(st.tuples(plain, plain), min_size=1, max_size=9), st.integers(1, 4))
@example([("\ufeffa", "b"), ("c", " d ")], 1)
def test_plain_lines_are_cut_as_the_csv_module_cuts_them(rows, most):
    text = "p,q\n" + "".join(f"{a.replace(',', ';')},{b.replace(',', ';')}\n" for a, b in rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(text.encode())
        found = [row for part in TableFile.open(path).chunks(None, most) for row in part.to_numpy()]
    assert [list(row) for row in found] == list(csv.reader(io.StringIO(text, newline="")))[1:]


columns = st.sampled_from(
    [
        [1, 2, None],
        [1.5, float("nan"), float("inf")],
        [0.5, 2.5, 1.0],
        [True, False, None],
        ["a", "", None],
        ["1", "x", "a"],
        [b"a", b"\xff", b""],
        [[1], [], None],
        [{"a": 1}, None, None],
        [None, None, None],
        [2**63 - 1, -(2**63), 0],
        np.array(["2024-01-01", "NaT", "1500-01-01"], dtype="datetime64[us]"),
        np.array([1, 2, 3], dtype="timedelta64[s]"),
        np.array([1, 2, 3], dtype="float16"),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array([1, 2, 1]).dictionary_encode(),
    ]
)


@many
@given(st.fixed_dictionaries({"d": columns, "x": columns, "y": columns}), st.integers(0, 5000))
@example(  # a code that points past the end of its dictionary
    {"d": pa.array(["a", "b", "a"]).dictionary_encode(), "x": [1, 2, None], "y": [1, 2, None]}, 68
)
def test_any_parquet_is_read_or_refused(content, at):
    buffer = io.BytesIO()
    pq.write_table(pa.table(content), buffer, row_group_size=2)
    raw = bytearray(buffer.getvalue())
    damaged = at < len(raw)
    if damaged:
        raw[at] ^= 0x55
    # Arrow finds some damage in small pieces only.
    check(bytes(raw), "rows.parquet", damaged=damaged, label="y")


@many
@given(
    st.one_of(
        files(),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=2)),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=6,
        ).map(lambda edges: ('{"edges": ' + str(edges).replace("'", '"') + "}").encode()),
    ),
    st.sampled_from([None, ["a", "b"], []]),
)
@example(b"source,target\na,b\n", ["a"])
def test_any_graph_is_read_or_refused(content, domains):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        path.write_bytes(content)
        found = attempt(read_graph, path, domains)
        if found is None:
            return
        assert all(isinstance(name, str) for name in found.graph.names)
        assert set(domains or ()) <= set(found.graph.names)
