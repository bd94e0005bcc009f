"""A model folder: written whole or not at all, and read with suspicion."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from torch import nn

from grada.artefact._card import model_card
from grada.artefact._graphs import read_graphs, write_graphs
from grada.artefact._pack import Packer
from grada.artefact._registry import ArtefactError
from grada.artefact._scikit import PARTS, write_scikit
from grada.artefact._summary import summary_of, versions
from grada.artefact._unpack import Unpacker
from grada.files.atomic import atomic_folder, existing_folder
from grada.training import AdaptationWarning

#: Grows when older versions of grada could not read a new folder, or the other way round.
FORMAT_VERSION = 7
_FORMAT = "grada model"
_MAIN, _TENSORS, _GRAPHS, _CARD = "model.json", "tensors.safetensors", "graph.json", "card.md"
#: The only names of files that are ever opened, so that none leads out of the folder.
_FILE = re.compile(
    rf"{re.escape(_TENSORS)}|{re.escape(_GRAPHS)}|{re.escape(_CARD)}|{re.escape(PARTS)}"
    r"|table\.json|page\.json"
)
#: What the command line keeps beside a model: how its table is read, and the data of its report.
EXTRAS = ("table.json", "page.json")
_TRIES = 5


def save(
    estimator: Any, path: str | os.PathLike[str], *, extras: Mapping[str, bytes] | None = None
) -> None:
    """Write a fitted estimator into a folder, see :meth:`grada.AdaptedClassifier.save`.

    Parameters
    ----------
    estimator : AdaptedClassifier or AdaptedRegressor
    path : str or path
        A new folder, an empty one, or a model to replace. Any other folder is left alone.
    extras : mapping of file names to contents, optional
        Further files, of those in ``EXTRAS``; see :func:`extras`.
    """
    if not set(extras or ()) <= set(EXTRAS):
        raise ValueError(
            f"Files beside a model are {', '.join(EXTRAS)}; got {sorted(extras or ())}."
        )
    packer = Packer()
    structure = packer.pack(estimator, type(estimator).__name__)
    summary = summary_of(estimator, packer)
    files = {
        _TENSORS: safetensors.numpy.save(packer.tensors),
        _GRAPHS: write_graphs(packer.graphs),
        _CARD: model_card(estimator, summary).encode("utf-8", "replace"),
        **({PARTS: write_scikit(packer.parts)} if packer.parts else {}),
        **(extras or {}),
    }
    main = {
        "format": _FORMAT,
        "format_version": FORMAT_VERSION,
        **summary,
        "files": {name: _seal(data) for name, data in files.items()},
        "structure": structure,
    }
    main["checksum"] = _checksum(main)
    files[_MAIN] = _json(main, indent=1)
    with atomic_folder(path, may_replace=_is_model) as folder:
        for name, data in files.items():
            (folder / name).write_bytes(data)


class _EnoughError(Exception):
    """Nothing is to be written after all."""


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a path where no model could be saved, before anything is fitted.

    Parameters
    ----------
    path : str or path
    """
    try:
        with atomic_folder(path, may_replace=_is_model):
            raise _EnoughError
    except _EnoughError:
        pass


def load(
    path: str | os.PathLike[str], encoder: nn.Module | Sequence[nn.Module] | None = None
) -> Any:
    """Read a fitted estimator from a folder that ``save`` wrote. No code in it is ever run.

    Parameters
    ----------
    path : str or path
    encoder : nn.Module or several of them, optional
        Needed if the model was fitted with an encoder of your own, whose code is not saved: a
        module of the same layers. A copy of it gets the trained numbers.

    Returns
    -------
    AdaptedClassifier or AdaptedRegressor
        It predicts as it did when it was saved, to the last digit.

    Examples
    --------
    >>> import tempfile
    >>> from grada import AdaptedRegressor, load
    >>> model = AdaptedRegressor("plain").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> folder = tempfile.mkdtemp()
    >>> model.save(folder)
    >>> bool((load(folder).predict([[3.0]]) == model.predict([[3.0]])).all())
    True
    """
    given = _modules(encoder)
    main, files = _read_all(path)
    _warn_of_versions(main)
    try:
        for name in EXTRAS:
            files.pop(name, None)
        tensors = _tensors(files.pop(_TENSORS))
        graphs = read_graphs(files.pop(_GRAPHS))
        estimator = Unpacker(tensors, files.get(PARTS), graphs, given).unpack(main["structure"])
    except (ArtefactError, MemoryError):
        raise
    except Exception as error:  # whatever a file made by somebody else can bring about
        raise ArtefactError(
            f"{path} is no model that can be read: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(estimator, "fitted_") or not hasattr(type(estimator), "predict"):
        raise ArtefactError(f"{path} is malformed: model.json describes no fitted estimator.")
    return estimator


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What ``model.json`` says about a model, without loading it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict
        Estimator, method and its settings, names of features, classes and domains, summary of
        the data, versions, and files with their checksums.
    """
    folder = _folder(path)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        main = _read_main(descriptor, path)
    finally:
        os.close(descriptor)
    return {name: value for name, value in main.items() if name not in ("structure", "checksum")}


def extras(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Further files of a model folder, checked as all others are.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict of file names to contents
    """
    _, files = _read_all(path, EXTRAS)
    return files


def _read_all(
    path: str | os.PathLike[str], only: Sequence[str] | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """model.json and its files, of one and the same folder, also while it is being replaced."""
    for tries_left in reversed(range(_TRIES)):
        folder = _folder(path)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            main = _read_main(descriptor, path)
            return main, _read_files(descriptor, main, path, only)
        except ArtefactError:
            if not tries_left or _is_still(folder, descriptor):
                raise
        finally:
            os.close(descriptor)
    raise AssertionError("unreachable")


def _is_still(folder: Path, descriptor: int) -> bool:
    """Whether the folder that was opened is the one of that name now."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _folder(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise ArtefactError(f"Give the path of a model folder, not {type(path).__name__}.")
    try:
        folder = existing_folder(path)
        there, is_folder = folder.exists(), folder.is_dir()
    except (OSError, ValueError) as error:
        raise ArtefactError(f"{str(path)!r} is no path of a model folder: {error}") from error
    if not there:
        raise ArtefactError(f"There is no model folder {path}.")
    if not is_folder:
        raise ArtefactError(f"{path} is a file: a model is a folder with {_MAIN} in it.")
    return folder


def _read_main(folder: int, path: str | os.PathLike[str]) -> dict[str, Any]:
    """model.json, checked; what it says of the parts is not."""
    data = _read(folder, _MAIN, path)
    try:
        main = json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
        checksum = _checksum(main) if isinstance(main, dict) else None
    except (ValueError, RecursionError) as error:
        raise ArtefactError(
            f"{path}/{_MAIN} is damaged: it is no valid JSON ({error}). Take a copy that is "
            "whole, or save the model again."
        ) from error
    if not isinstance(main, dict) or main.get("format") != _FORMAT:
        raise ArtefactError(f"{path} is no model folder: its {_MAIN} is not one of grada.")
    version = main.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        made = main.get("versions")
        by = f"grada {made.get('grada')}" if isinstance(made, dict) else "another version of grada"
        raise ArtefactError(
            f"{path} has format version {version!r}, written by {by}; this grada reads version "
            f"{FORMAT_VERSION}. Load it with the version that wrote it, or fit and save it again."
        )
    missing = [key for key in ("files", "structure", "checksum", "versions") if key not in main]
    if missing:
        raise ArtefactError(f"{path}/{_MAIN} is malformed: {missing[0]!r} is missing.")
    if main["checksum"] != checksum:
        raise ArtefactError(
            f"{path}/{_MAIN} was changed after it was written: its checksum is wrong. Take a copy "
            "that is whole, or save the model again."
        )
    return main


def _read_files(
    folder: int,
    main: dict[str, Any],
    path: str | os.PathLike[str],
    only: Sequence[str] | None = None,
) -> dict[str, bytes]:
    listed = main["files"]
    if not isinstance(listed, dict) or not {_TENSORS, _GRAPHS} <= set(listed):
        raise ArtefactError(f"{path}/{_MAIN} is malformed: its list of files is incomplete.")
    files = {}
    for name, seal in listed.items():
        if not _FILE.fullmatch(name):
            raise ArtefactError(f"{path}/{_MAIN} names the file {name!r}: refused.")
        if only is not None and name not in only:
            continue
        data = _read(folder, name, path)
        if seal != _seal(data):
            short = isinstance(seal, dict) and seal.get("bytes") != len(data)
            how = (
                f"it has {len(data)} bytes, not {seal['bytes']}" if short else "its sha256 differs"
            )
            raise ArtefactError(
                f"{path}/{name} is damaged or belongs to another model: {how}. Take a copy that "
                "is whole, or save the model again."
            )
        files[name] = data
    return files


def _read(folder: int, name: str, path: str | os.PathLike[str]) -> bytes:
    """One file of an open folder, never through a link."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise ArtefactError(f"{path}/{name} is no ordinary file: it is not opened.")
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder), "rb") as file:
            return file.read()
    except FileNotFoundError:
        what = "no model folder" if name == _MAIN else "incomplete"
        raise ArtefactError(f"{path} is {what}: there is no {name} in it.") from None
    except OSError as error:
        raise ArtefactError(f"{path}/{name} cannot be read: {error.strerror}.") from error


def _tensors(data: bytes) -> dict[str, NDArray[Any]]:
    loaded: dict[str, NDArray[np.generic]] = safetensors.numpy.load(data)
    return loaded


def _seal(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _checksum(main: dict[str, Any]) -> str:
    """Of model.json without this entry, whatever its spaces and line ends."""
    rest = {name: value for name, value in main.items() if name != "checksum"}
    return hashlib.sha256(_json(rest)).hexdigest()


def _json(value: object, indent: int | None = None) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "surrogatepass")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _is_model(folder: Path) -> bool:
    """Whether all that is in a folder is a model, so that a new one may take its place."""
    if not all(each.name == _MAIN or _FILE.fullmatch(each.name) for each in folder.iterdir()):
        return False
    main = folder / _MAIN
    return main.is_file() and f'"format": "{_FORMAT}"'.encode() in main.read_bytes()[:200]


def _modules(encoder: object) -> list[nn.Module]:
    given = [] if encoder is None else encoder
    modules = [given] if isinstance(given, nn.Module) else given
    if isinstance(modules, list | tuple) and all(isinstance(each, nn.Module) for each in modules):
        return list(modules)
    raise TypeError(f"encoder must be a torch module, or a list of them; got {encoder!r}.")


def _warn_of_versions(main: dict[str, Any]) -> None:
    """Numbers may come out differently, or not at all, with other versions of what computes."""
    saved, now = main["versions"], versions()
    saved = saved if isinstance(saved, dict) else {}
    other = [
        f"{name} {saved.get(name)} (here {now[name]})"
        for name in now
        if saved.get(name) != now[name]
    ]
    if other:
        warnings.warn(
            f"The model was saved with {', '.join(other)}: its predictions may differ in the last "
            "digits. If it does not work, fit and save it again.",
            AdaptationWarning,
            stacklevel=3,
        )
