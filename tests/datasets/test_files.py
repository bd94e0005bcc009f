import hashlib
import pickle
import shutil
from pathlib import Path

import numpy as np
import pooch
import pytest
import requests

from grada.datasets import _files, dg15
from grada.datasets._files import DamagedDataError, DataFile, DataNotFoundError, load_arrays

NAME = "toy_d15_spiral_tight_boundary.pkl"


@pytest.fixture
def empty_home(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADA_DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def offline(monkeypatch):
    def refuse(*args, **kwargs):
        raise requests.exceptions.ConnectionError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", refuse)


def test_absent_file_offline_names_file_place_and_way_out(empty_home, offline):
    with pytest.raises(FileNotFoundError) as error:
        dg15()
    for words in (NAME, str(empty_home), "GRADA_DATA_HOME", "make_dg", "no route to host"):
        assert words in str(error.value)
    assert isinstance(error.value, DataNotFoundError)
    assert list(empty_home.iterdir()) == []


def test_damaged_file_is_refused_with_both_hashes(empty_home, offline):
    content = pickle.dumps({"data": np.zeros(3)})
    (empty_home / NAME).write_bytes(content)
    with pytest.raises(DamagedDataError) as error:
        dg15()
    found = hashlib.sha256(content).hexdigest()
    for words in (str(empty_home / NAME), found, "46de00f5cbb33afb"):
        assert words in str(error.value)


def test_downloaded_once_into_the_data_home(data_home, tmp_path, monkeypatch):
    calls = []

    def copy(url, known_hash, fname, path):
        calls.append((url, known_hash))
        path.mkdir(parents=True)
        return shutil.copy(data_home / fname, path / fname)

    monkeypatch.setattr(pooch, "retrieve", copy)
    monkeypatch.setenv("GRADA_DATA_HOME", str(tmp_path / "new"))
    assert (dg15().X == dg15().X).all()
    [(url, known_hash)] = calls
    assert url == f"https://raw.githubusercontent.com/Wang-ML-Lab/GRDA/main/data/{NAME}"
    assert known_hash.startswith("46de00f5")


def test_changed_download_leaves_nothing_behind(empty_home, monkeypatch):
    """Through pooch itself: only the transfer is replaced."""

    def serve(url, known_hash, fname, path):
        def write(url, output_file, pooch):
            Path(output_file).write_bytes(b"something else")

        return real(url, known_hash, fname=fname, path=path, downloader=write)

    real = pooch.retrieve
    monkeypatch.setattr(pooch, "retrieve", serve)
    with pytest.raises(DamagedDataError, match="no longer gives the published file"):
        dg15()
    assert list(empty_home.iterdir()) == []


def test_default_home_is_the_user_cache(monkeypatch):
    monkeypatch.delenv("GRADA_DATA_HOME", raising=False)
    assert _files.data_home() == Path(pooch.os_cache("grada"))


def test_content_is_what_was_hashed(empty_home):
    file = DataFile("a.bin", "https://example.org/a.bin", hashlib.sha256(b"abc").hexdigest())
    (empty_home / "a.bin").write_bytes(b"abc")
    assert _files.read_file(file) == b"abc"


@pytest.mark.parametrize("protocol", [3, 4])
def test_arrays_and_containers_are_admitted(protocol):
    content = {"a": np.arange(3.0), "b": [(1, "x", None, True)], "c": np.array([[1, 2]], "i4")}
    loaded = load_arrays(pickle.dumps(content, protocol=protocol))
    assert loaded.keys() == content.keys()
    assert loaded["b"] == content["b"]
    assert (loaded["a"] == content["a"]).all()
    assert loaded["c"].dtype == np.int32


def call(module: str, name: str, *arguments: object) -> bytes:
    """Write a pickle that calls module.name(*arguments) when it is opened."""
    names = b"".join(b"\x8c" + bytes([len(word)]) + word.encode() for word in (module, name))
    body = pickle.dumps(arguments, protocol=4)[11:-1]  # without header, frame and stop
    return b"\x80\x04" + names + b"\x93" + body + b"R."


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "eval"),
        ("builtins", "exec"),
        ("builtins", "getattr"),
        ("os", "system"),
        ("posix", "system"),
        ("numpy", "load"),
        ("numpy", "fromfile"),
        ("numpy", "ndarray.tofile"),
        ("numpy", "ndarray.__class__"),
        ("numpy.core.multiarray", "fromfile"),
        ("numpy.core.multiarray", "_reconstruct.__class__"),
        ("numpy.testing._private.utils", "runstring"),
        ("numpy", "memmap"),
        ("functools", "partial"),
        ("grada.datasets", "make_dg"),
    ],
)
def test_every_other_name_is_refused_and_not_run(module, name, tmp_path):
    marker = tmp_path / "ran"
    argument = f"touch {marker}" if "system" in name else f"open({str(marker)!r}, 'w')"
    with pytest.raises(pickle.UnpicklingError, match=f"{module}.{name}"):
        load_arrays(call(module, name, argument))
    assert not marker.exists()


def test_the_refused_pickles_would_run_otherwise(tmp_path):
    marker = tmp_path / "ran"
    pickle.loads(call("builtins", "eval", f"open({str(marker)!r}, 'w').close()"))  # noqa: S301
    assert marker.exists()
