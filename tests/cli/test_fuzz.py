"""Generated bad input: an answer or a refusal in words, never a fault and never a traceback."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from grada.cli import app

ROWS = ("--domain", "state", "--label", "y")
NASTY = [
    b"", b"nan", b"NaN", b"None", b"inf", b"-1e400", b"1e308", b"0x10", b"1,5", b"1;5", b"\x00",
    b"\xff\xfe", b"\xef\xbb\xbf", b'"', b'""', b"'", b"\t", b"\r", b"\r\n", b"\n\n", b",", b",,,,",
    b"state", b"y", b"OH", b"wet", b"true", b"2024-02-30", b"<script>", b"[/bold]", b"{}", b"[1",
    "\U0001f600".encode(), b"\xe9", b"9" * 400, b"a" * 5000, b"#", b"--out", b"=1+1", b"%s", b"\\",
]  # fmt: skip
SIZES = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def changes(draw):
    """A few changes of a text of unknown length: where, how much is cut, what is put there."""
    return draw(
        st.lists(
            st.tuples(
                st.floats(0, 1),
                st.sampled_from([0, 1, 5, 40, 10**6]),
                st.one_of(st.sampled_from(NASTY), st.binary(max_size=6)),
            ),
            min_size=1,
            max_size=4,
        )
    )


def spoilt(raw, what):
    for place, cut, put in what:
        at = int(place * len(raw))
        raw = raw[:at] + put + raw[at + cut :]
    return raw


def ends_well(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), arguments
    assert done.exit_code in (0, 1, 2), (arguments, done.output)
    assert "Traceback" not in done.output
    if done.exit_code == 2:
        assert done.stderr.strip(), arguments
    return done.exit_code


def nothing_temporary(folder):
    return not [path.name for path in folder.iterdir() if "grada" in path.name]


@pytest.fixture
def model(folder, grada):
    grada("fit", "rows.csv", *ROWS, "--graph", "edges.csv", "--method", "plain", "--out", "m")
    return folder


@pytest.mark.slow
@SIZES
@given(what=changes(), ending=st.sampled_from(["csv", "csv", "csv", "tsv", "parquet", "csv.gz"]))
def test_any_table_is_used_or_refused(model, what, ending):
    bad = f"bad.{ending}"
    Path(bad).write_bytes(spoilt(Path("rows.csv").read_bytes(), what))
    ends_well("graph", "check", "edges.csv", "--table", bad, *ROWS)
    options = ("--graph", "edges.csv", "--method", "plain", "--out", "new")
    if ends_well("fit", bad, *ROWS, *options) != 0:
        assert not Path("new").exists()
    Path("p.csv").unlink(missing_ok=True)
    if ends_well("predict", "m", bad, "--out", "p.csv") != 0:
        assert not Path("p.csv").exists()
    shutil.rmtree("new", ignore_errors=True)
    assert nothing_temporary(model)


@pytest.mark.slow
@SIZES
@given(what=changes(), ending=st.sampled_from(["csv", "tsv", "json"]))
def test_any_edge_list_is_used_or_refused(model, what, ending):
    bad = f"bad-edges.{ending}"
    ends_well("graph", "build", "--edges", "edges.csv", "--out", bad)
    Path(bad).write_bytes(spoilt(Path(bad).read_bytes(), what))
    ends_well("graph", "check", bad, "--table", "rows.csv", *ROWS)
    ends_well("graph", "show", bad)
    ends_well("graph", "build", "--edges", bad, "--out", "built.json")
    ends_well("graph", "build", "--coordinates", bad, "--out", "built.json")
    ends_well("graph", "build", "--tree", bad, "--out", "built.json")
    ends_well("graph", "build", "--time", bad, "--out", "built.json")
    if ends_well(
        "fit", "rows.csv", *ROWS, "--graph", bad, "--method", "propagation", "--out", "new"
    ):
        assert not Path("new").exists()
    ends_well("predict", "m", "rows.csv", "--graph", bad, "--out", "p.csv")
    shutil.rmtree("new", ignore_errors=True)
    assert nothing_temporary(model)


WORDS = st.one_of(
    st.sampled_from([each.decode("latin-1") for each in NASTY if b"\x00" not in each]),
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["x1", "x1,x2", "x1,x1", "OH,PA", "OH", "0", "-1", "1e9", "null", "[]", "{}"]),
)
FIT_OPTIONS = [
    "--domain", "--label", "--features", "--sources", "--separator", "--kind", "--graph", "--out",
    "--random-state", "--checkpoint", "--method",
]  # fmt: skip
SETTINGS = ["C", "n_neighbors", "epochs", "strength", "budget", "portfolio", "smoothing", "alpha"]


@pytest.mark.slow
@SIZES
@given(
    method=st.sampled_from(["plain", "propagation"]),
    options=st.lists(st.tuples(st.sampled_from(FIT_OPTIONS), WORDS), max_size=3),
    given_settings=st.lists(st.tuples(st.sampled_from(SETTINGS), WORDS), max_size=1),
)
def test_any_options_of_fit(model, method, options, given_settings):
    said = [part for pair in options for part in pair]
    said += [part for name, word in given_settings for part in ("--set", f"{name}={word}")]
    usual = ("--graph", "edges.csv", "--method", method, "--out", "new")
    ends_well("fit", "rows.csv", *ROWS, *usual, *said)
    assert Path("rows.csv").stat().st_size > 1000
    shutil.rmtree("new", ignore_errors=True)


@pytest.mark.slow
@SIZES
@given(
    options=st.lists(
        st.tuples(
            st.sampled_from(["--out", "--graph", "--domain", "--coverage", "--separator"]), WORDS
        ),
        max_size=3,
    )
)
def test_any_options_of_predict_and_report(model, options):
    said = [part for pair in options for part in pair]
    ends_well("predict", "m", "rows.csv", "--out", "p.csv", *said)
    ends_well("report", *(word for _, word in options[:1]), "--out", "page.html")
    assert Path("rows.csv").stat().st_size > 1000


@pytest.mark.slow
@SIZES
@given(what=changes(), number=st.integers(0, 100))
def test_any_damage_to_a_model_is_refused(model, what, number):
    shutil.rmtree("damaged", ignore_errors=True)
    shutil.copytree("m", "damaged")
    files = sorted(Path("damaged").iterdir())
    chosen = files[number % len(files)]
    raw = chosen.read_bytes()
    chosen.write_bytes(spoilt(raw, what))
    if chosen.read_bytes() != raw:
        assert ends_well("predict", "damaged", "rows.csv", "--out", "bad.csv") == 2, chosen
        assert not Path("bad.csv").exists()
    ends_well("report", "damaged", "--out", "page.html")
