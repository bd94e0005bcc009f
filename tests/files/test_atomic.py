"""Writing whole or not at all."""

import errno
import os
import resource
import shutil

import pytest

from grada.files import atomic, atomic_file, atomic_folder


def names(folder) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.fixture
def little_room():
    """A limit on the size of files, as a full disk sets one; Python then gets an OSError."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_appears_at_the_end_and_keeps_its_mode(tmp_path):
    path = tmp_path / "answer.csv.gz"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_file(path) as temporary:
        temporary.write_text("new")
        assert temporary.name.endswith(".csv.gz")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == {path.name}


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "answer.csv"
    path.write_text("old")

    def interrupted(temporary):
        temporary.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), atomic_file(path) as temporary:
        interrupted(temporary)
    assert path.read_text() == "old"
    assert names(tmp_path) == {path.name}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_file(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_full_disk_is_told_in_words(tmp_path, little_room):
    path = tmp_path / "answer.csv"
    words = r"cannot write .*answer\.csv: .*nothing was left"
    with pytest.raises(OSError, match=words) as caught, atomic_file(path) as temporary:
        temporary.write_bytes(bytes(2000))
    assert caught.value.errno == errno.EFBIG
    assert names(tmp_path) == set()


def test_devices_are_written_directly():
    words = "cannot write /dev/full: no space left"
    with pytest.raises(OSError, match=words), atomic_file("/dev/full") as path:
        path.write_text("x")


def test_errors_of_other_files_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"other\.csv"), atomic_file(tmp_path / "a.csv"):
        (tmp_path / "other.csv").read_text()


@pytest.mark.parametrize(
    ("path", "said"),
    [("", "empty"), ("missing/a.csv", "there is no folder"), (".", "is a folder")],
)
def test_places_where_no_file_can_be(tmp_path, monkeypatch, path, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match=said), atomic_file(path):
        pytest.fail("not reached")
    assert names(tmp_path) == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    words = r"cannot write .*model: permission denied"
    with pytest.raises(PermissionError, match=words), atomic_folder(tmp_path / "model"):
        pytest.fail("not reached")


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path):
    path = tmp_path / "model"
    dead = tmp_path / f"{atomic._name(path, atomic._NEW)}dead"
    dead.mkdir()
    (dead / "half").write_text("x")
    with atomic_folder(path) as living:
        assert not dead.exists()
        with atomic_folder(path) as second:
            (second / "a").write_text("second")
        assert living.exists()
        shutil.rmtree(path)
        (living / "a").write_text("living")
    assert (path / "a").read_text() == "living"
    assert names(tmp_path) == {"model"}


@pytest.mark.parametrize("can_swap", [True, False])
def test_a_folder_is_replaced_where_allowed(tmp_path, monkeypatch, can_swap):
    if not can_swap:
        monkeypatch.setattr(atomic, "_swap", lambda one, other: False)
    path = tmp_path / "model"
    path.mkdir()
    for text in ("first", "second"):
        with atomic_folder(path, may_replace=lambda folder: True) as temporary:
            (temporary / text).write_text(text)
        assert names(path) == {text}
        assert names(tmp_path) == {"model"}


def test_a_folder_of_others_is_left_alone(tmp_path):
    path = tmp_path / "photos"
    path.mkdir()
    (path / "a.jpg").write_text("x")
    with pytest.raises(FileExistsError, match="holds other files"), atomic_folder(path):
        pytest.fail("not reached")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="is a file"), atomic_folder(tmp_path / "file"):
        pytest.fail("not reached")
    assert names(tmp_path) == {"photos", "file"}
    assert names(path) == {"a.jpg"}


def test_a_folder_filled_meanwhile_is_left_alone(tmp_path):
    path = tmp_path / "model"

    def meanwhile():
        path.mkdir()
        (path / "theirs").write_text("x")

    with pytest.raises(FileExistsError), atomic_folder(path):
        meanwhile()
    assert names(path) == {"theirs"}
    assert names(tmp_path) == {"model"}


def test_a_crash_between_two_renames_loses_nothing(tmp_path):
    path = tmp_path / "model"
    kept = tmp_path / f"{atomic._name(path, atomic._OLD)}1"
    kept.mkdir()
    (kept / "a").write_text("old")
    assert (atomic.existing_folder(path) / "a").read_text() == "old"
    with pytest.raises(ZeroDivisionError), atomic_folder(path, may_replace=lambda folder: True):
        raise ZeroDivisionError
    assert (path / "a").read_text() == "old"
    assert names(tmp_path) == {"model"}
