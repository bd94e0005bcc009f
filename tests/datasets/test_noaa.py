import numpy as np
import pytest

from grada.datasets._noaa import read_states

VALUES = [1.5, -2.25, 3, 4, 5, 6, 7, 8, 9, 100.5, -11, 12]


def line(code=1, year=2008, values=VALUES, element="02", division=0):
    head = f"{code:03d}{division}{element}{year}"
    return head + "".join(f"{value:7.2f}" for value in values) + "   "


def read(*lines):
    return read_states("\n".join(lines).encode(), "file")


def test_by_hand():
    frame = read(line(3, 2009), line(1, 2008), line(101, 2008, [-99.9, *VALUES[1:]]), "")
    assert frame.shape == (24, 3)  # all of 2008 and 2009
    assert frame.columns.tolist() == [1, 3, 101]
    assert frame.loc["2008", 1].tolist() == VALUES
    assert frame.loc["2009", 3].tolist() == VALUES
    assert frame.loc["2009", 1].isna().all()
    assert np.isnan(frame.loc["2008-01", 101])
    assert frame.loc["2008-10", 101] == 100.5
    assert str(frame.index[0]) == "2008-01"


def test_line_ends_of_other_systems():
    content = "\r\n".join([line(1), line(2).rstrip(), ""]).encode()
    assert read_states(content, "file").shape == (12, 2)


def test_the_real_file(data_home):
    """Values as they stand in the text of the file, seen with grep."""
    name = "climdiv-tmpcst-v1.0.0-20200106"
    frame = read_states((data_home / name).read_bytes(), name)
    assert frame.shape == (125 * 12, 97)
    assert frame.loc["1895-01", 1] == 43.10  # 0010021895  43.10
    ohio = [32.1, 35.1, 52.2, 50.2, 66.4, 70.3, 77.5, 71.4, 63.3, 52.4, 39.6, 37.7]
    assert frame.loc["2012", 33].tolist() == ohio  # 0330022012
    assert frame.loc["2019-12", 365] == 48.20  # the last value
    assert frame.loc["1924", 50].isna().all()  # Alaska starts in 1925
    assert frame.loc["2008":"2019", list(range(1, 49))].notna().to_numpy().sum() == 48 * 12 * 12


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (line(2)[:59], "truncated after 59 of 94"),
        (line(2)[:93], "truncated after 93 of 94"),
        ("00200", "truncated after 5 of 94"),
        (line(2, element="99"), r"element code 99 \(unknown\)"),
        (line(2, element="01"), r"element code 01 \(precipitation\).*climdiv-tmpcst"),
        (line(2, division=3), "division 3.*climate divisions"),
        ("state,year,january", "not a line of NOAA.*'state,year,january'"),
        ("", "not a line of NOAA"),
        (line(2).replace("   3.00", "   n.aa"), r"'   n.aa' in columns 25-31 \(month 3\)"),
        (line(2).replace("   3.00", "    nan"), "month 3"),
        # One blank less, and one more at the end: every later value stands one column off.
        (line(2).replace("   3.00", "  3.00") + " ", "month 3|truncated after 93"),
        (line(2).rstrip() + "   1.00", "101 columns"),
        (line(2, year=1294), "year 1294"),
        (line(1), "a second line of state 001, year 2008"),
    ],
)
def test_refused_with_the_number_of_the_line(bad, message):
    with pytest.raises(ValueError, match=rf"file, line 2: .*({message})"):
        read(line(1), bad, line(3))


@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95 pickle", b"\x1f\x8b\x08 gzip"])
def test_other_files_are_refused_at_once(content):
    with pytest.raises(ValueError, match="line 1: not a line of NOAA"):
        read_states(content, "file")
