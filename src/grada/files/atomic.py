"""Writing a file or a folder so that it is there whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: there, nothing tells a dead writer from a slow one
    fcntl = None  # type: ignore[assignment]

#: In the name of what is being written, and of a folder that is about to be replaced.
_NEW, _OLD = ".grada-new-", ".grada-old-"
#: Errors that mean "cannot write here", whatever file they name.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO}
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; it becomes ``path`` at the end of the block.

    After an exception, or a crash at any moment, ``path`` is as it was before.

    Parameters
    ----------
    path : str or path
        File to write; one that is there is replaced. Its folder must exist. A device or a pipe,
        such as /dev/stdout, is written directly.

    Yields
    ------
    Path
        Where to write; its name ends like that of ``path``, so that writers which go by the
        ending do the right thing.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic_file(folder / "answer.csv") as temporary:
    ...     _ = temporary.write_text("42")
    >>> [file.name for file in folder.iterdir()]
    ['answer.csv']
    """
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, f"{path} is a folder: give the name of a file")
    if target.exists() and not target.is_file():
        with _in_words(path, target):
            yield target
        return
    with _in_words(path, target.parent):
        _remove_leftovers(target)
        temporary, lock = _reserve(target, folder=False)
        try:
            yield temporary
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            _sync(temporary)
            temporary.replace(target)
            _sync(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(lock)


@contextmanager
def atomic_folder(
    path: str | os.PathLike[str], *, may_replace: Callable[[Path], bool] | None = None
) -> Iterator[Path]:
    """Give an empty temporary folder to fill; it becomes ``path`` at the end of the block.

    After an exception, or a crash at any moment, ``path`` is the old folder or the new one, whole.

    Parameters
    ----------
    path : str or path
        Folder to write. Its parent must exist.
    may_replace : callable, optional
        Says of a folder that is there already whether it may be replaced. Without it, and unless
        the folder is empty, the answer is no.

    Yields
    ------
    Path

    Examples
    --------
    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> with atomic_folder(parent / "model") as temporary:
    ...     _ = (temporary / "model.json").write_text("{}")
    >>> [file.name for file in (parent / "model").iterdir()]
    ['model.json']
    """
    target = _target(path)
    with _in_words(path, target.parent):
        _remove_leftovers(target)
        _check_replaceable(target, may_replace)
        temporary, lock = _reserve(target, folder=True)
        try:
            yield temporary
            _sync_all(temporary)
            _check_replaceable(target, may_replace)
            _put(temporary, target)
            _sync(target.parent)
        finally:
            # After a swap the temporary name is that of the folder which was replaced.
            shutil.rmtree(temporary, ignore_errors=True)
            os.close(lock)


def existing_folder(path: str | os.PathLike[str]) -> Path:
    """Where the folder that ``atomic_folder`` wrote is: also if a crash came between two renames.

    Only on systems that cannot swap two folders in one step is that ever another than ``path``.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Path
    """
    target = Path(os.path.realpath(path))
    if target.exists() or not target.parent.is_dir():
        return target
    kept = [old for old in _siblings(target, _OLD) if old.is_dir()]
    return max(kept, key=lambda old: old.stat().st_mtime, default=target)


def _target(path: str | os.PathLike[str]) -> Path:
    """The real path, behind any symbolic link; its folder must be there."""
    if not os.fspath(path):
        raise FileNotFoundError(errno.ENOENT, "the name of the file or folder to write is empty")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, f"cannot write {path}: there is no folder {target.parent}; make it first"
        )
    return target


def _check_replaceable(target: Path, may_replace: Callable[[Path], bool] | None) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{target} is a file: give the name of a folder")
    if target == Path.cwd():
        raise FileExistsError(
            errno.EEXIST, f"{target} is the current folder: give the name of a folder in it"
        )
    if any(target.iterdir()) and not (may_replace is not None and may_replace(target)):
        raise FileExistsError(
            errno.EEXIST,
            f"{target} holds other files and is left as it is: give a new or an empty folder",
        )


def _name(target: Path, sign: str) -> str:
    """Start of temporary names; what follows may be cut, as names have at most 255 bytes."""
    return f".{target.name[:40]}{sign}"


def _siblings(target: Path, sign: str) -> list[Path]:
    start = _name(target, sign)
    return [path for path in target.parent.iterdir() if path.name.startswith(start)]


def _reserve(target: Path, *, folder: bool) -> tuple[Path, int]:
    """A new temporary file or folder, and a lock on it that ends with this process."""
    while True:
        token = secrets.token_hex(4)
        ending = "" if folder else f"-{''.join(target.suffixes)[-20:]}"
        temporary = target.with_name(f"{_name(target, _NEW)}{token}{ending}")
        if folder:
            temporary.mkdir()
            lock = os.open(temporary, os.O_RDONLY)
        else:
            lock = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        # Somebody who clears leftovers may have been quicker than the lock.
        if _lock(lock) and temporary.exists():
            return temporary, lock
        os.close(lock)


def _lock(descriptor: int) -> bool:
    """Lock an open file or folder; False if another process has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _remove_leftovers(target: Path) -> None:
    """Remove what writers that died have left, and bring back what one was about to replace."""
    if not target.exists() and (kept := existing_folder(target)) != target:
        kept.rename(target)
    for path in [*_siblings(target, _NEW), *_siblings(target, _OLD)]:
        if fcntl is None:
            return
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
            finally:
                os.close(lock)


def _put(temporary: Path, target: Path) -> None:
    """Give the folder its name; what had that name is under the temporary one, or gone."""
    if not target.exists():
        temporary.rename(target)
    elif not _swap(temporary, target):
        old = target.with_name(f"{_name(target, _OLD)}{secrets.token_hex(4)}")
        target.rename(old)
        try:
            temporary.rename(target)
        except OSError:
            old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _swap(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _sync(path: Path) -> None:
    """Have the disk hold what was written, before a name says that it does."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_all(folder: Path) -> None:
    for root, _, files in os.walk(folder):
        for file in files:
            _sync(Path(root) / file)
        _sync(Path(root))


@contextmanager
def _in_words(path: str | os.PathLike[str], folder: Path) -> Iterator[None]:
    """Errors of writing name the file the user asked for, not a temporary one."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or "")
        ours = error.errno in _NO_ROOM or (_NEW in where and where.startswith(str(folder)))
        if not ours:
            raise
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            error.errno, f"cannot write {path}: {reason}; nothing was left there"
        ) from error
