"""Finding the file of a published dataset, checking it, and opening a pickle without running it."""

import hashlib
import io
import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pooch


class DataNotFoundError(FileNotFoundError):
    """A dataset's file is not on this computer and could not be downloaded."""


class DamagedDataError(OSError):
    """A dataset's file is not the one that was published."""


@dataclass(frozen=True)
class DataFile:
    """A published file: where it is, what it must contain, and how to do without it.

    Parameters
    ----------
    name : str
        Name of the file in the data folder.
    url : str
        Address from which it is downloaded.
    sha256 : str
        Hash of its content, in hexadecimal digits.
    otherwise : str
        Advice for a user who cannot get the file, e.g. "make_dg() draws a similar task".
    """

    name: str
    url: str
    sha256: str
    otherwise: str = ""


def data_home() -> Path:
    """Folder of the data files: ``GRADA_DATA_HOME``, or else the user's cache folder.

    Returns
    -------
    pathlib.Path
        The folder, which need not exist yet.
    """
    return Path(os.environ.get("GRADA_DATA_HOME") or pooch.os_cache("grada")).expanduser()


def read_file(file: DataFile) -> bytes:
    """Content of a published file, downloaded if it is not in the data folder yet.

    Parameters
    ----------
    file : DataFile
        The file.

    Returns
    -------
    bytes
        The content, with the right hash. The bytes that were checked are the bytes that are
        returned, so nobody can swap the file between the check and the use.

    Raises
    ------
    DataNotFoundError
        The file is absent and cannot be downloaded.
    DamagedDataError
        The file has another hash than the published one.
    """
    path = data_home() / file.name
    if not path.is_file():
        _download(file, path)
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DamagedDataError(
            f"{path} is not the published file: its sha256 is {found}, expected {file.sha256}. "
            "Delete it and it is downloaded again."
        )
    return content


def _download(file: DataFile, path: Path) -> None:
    try:
        pooch.retrieve(file.url, known_hash=file.sha256, fname=path.name, path=path.parent)
    except ValueError as error:  # pooch's word for a wrong hash, which it names
        raise DamagedDataError(
            f"{file.url} no longer gives the published file. {file.otherwise} (Cause: {error})"
        ) from error
    except OSError as error:
        raise DataNotFoundError(
            f"The file {file.name} is not in {path.parent} and could not be downloaded from "
            f"{file.url}. Put it in that folder, or name another folder in the environment "
            f"variable GRADA_DATA_HOME. {file.otherwise} (Cause: {error})"
        ) from error


# Exact names only, each with its object: nothing is imported or looked up by name on behalf of
# a pickle, so that neither numpy.load nor a dotted name such as ndarray.__class__ can be had.
# An array's own recipe names the function that rebuilds it; its module moved in NumPy 2.
_REBUILD_ARRAY = np.empty(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _REBUILD_ARRAY,
    ("numpy._core.multiarray", "_reconstruct"): _REBUILD_ARRAY,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"refused to open a pickle that asks for {module}.{name}: "
                "only NumPy arrays and plain containers are admitted"
            ) from None


def load_arrays(content: bytes) -> Any:
    """Open a pickle of NumPy arrays and plain containers; refuse every other class.

    Parameters
    ----------
    content : bytes
        The pickle.

    Returns
    -------
    object
        Arrays, numbers, strings, and lists, tuples, sets and dicts of them.

    Raises
    ------
    pickle.UnpicklingError
        The pickle names any other class or function. It is not run.

    Examples
    --------
    >>> import collections, pickle
    >>> import numpy as np
    >>> load_arrays(pickle.dumps({"angle": np.array([0.5, 1.0])}, protocol=4))
    {'angle': array([0.5, 1. ])}
    >>> load_arrays(pickle.dumps(collections.Counter()))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    _pickle.UnpicklingError: refused to open a pickle that asks for collections.Counter: ...
    """
    return _ArrayUnpickler(io.BytesIO(content)).load()
