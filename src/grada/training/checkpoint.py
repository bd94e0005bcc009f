"""Checkpoints: a fit that was killed at any moment goes on to the same model.

A fit may train several times (stages, hidden sources, candidates). Every training has a file of
its own in one folder, which is replaced from time to time and once more when the training is over;
results that are arrays have files too. All that leads from there to the end is in them, down to
the states of the random generators, so what was not interrupted and what was end alike, to the bit.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from grada.data import DomainData
from grada.files.atomic import atomic_file
from grada.training._state_file import DamagedFileError, read_state, write_state
from grada.training.diagnostics import AdaptationWarning
from grada.training.fingerprint import data_fingerprint, fingerprint, versions

_NOTE = "checkpoint.json"
_DONE = "done"
_FORMAT = 1
_ANOTHER = "Give another folder, or delete it"


class CheckpointError(OSError):
    """A checkpoint cannot be written or used; the message says why and what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a fit is kept, so that it survives being killed.

    Parameters
    ----------
    path : str or path
        Folder; made when there is something to keep.
    every : float
        Seconds: at the end of an epoch the training is kept if so much time has passed.

    Examples
    --------
    >>> from grada import AdaptedClassifier
    >>> model = AdaptedClassifier("grda", checkpoint=Checkpoint("fits/states", every=60))
    """

    path: str | os.PathLike[str]
    every: float = 5.0

    def __post_init__(self) -> None:
        path = self.path
        if not isinstance(path, str | os.PathLike) or os.fspath(path) == "" or "\0" in str(path):
            raise ValueError(f"checkpoint must be the path of a folder, not {self.path!r}.")
        wrong = isinstance(self.every, bool) or not isinstance(self.every, Real)
        if wrong or not math.isfinite(self.every) or self.every < 0:
            raise ValueError(f"every must be a number of seconds, 0 or more, not {self.every!r}.")


class Clock:
    """Seconds of work on a fit, those before it was killed included.

    What was kept has the time at which that was done. When it is taken up again the clock is set
    to that time, so that work which is done over is not counted twice.
    """

    def __init__(self) -> None:
        self._zero = time.monotonic()

    def __call__(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._zero

    def forward_to(self, seconds: float) -> None:
        """Set the clock, never back."""
        self._zero -= max(0.0, seconds - self())


@dataclass(frozen=True)
class Kept:
    """What is kept of one fit, in a folder; made by :meth:`open`.

    Attributes
    ----------
    folder : Path
    every : float
        Seconds.
    note : mapping
        What the fit is known by.
    clock : Clock
    prefix : str
        Start of the names of all files of this part of the fit.
    """

    folder: Path
    every: float
    note: Mapping[str, Any]
    clock: Clock = field(default_factory=Clock)
    prefix: str = ""

    @classmethod
    def open(
        cls,
        checkpoint: Checkpoint,
        data: DomainData,
        settings: Mapping[str, Any],
        random_state: int,
        *,
        any_random_state: bool = False,
    ) -> Kept:
        """Look into the folder; one that another fit has made is refused. Nothing is written yet.

        Parameters
        ----------
        checkpoint : Checkpoint
        data : DomainData
        settings : mapping
            All that the result depends on beside the data.
        random_state : int
        any_random_state : bool
            Whether to go on with the random state of the folder, if there is one.

        Returns
        -------
        Kept
        """
        # A later change of the working directory must not move it.
        folder = Path(checkpoint.path).resolve()
        note = {
            "format": _FORMAT,
            "data": data_fingerprint(data),
            "settings": fingerprint(settings),
            "random_state": random_state,
            "versions": versions(),
        }
        found = _read_note(folder)
        if found is not None:
            if any_random_state and isinstance(found.get("random_state"), int):
                note["random_state"] = found["random_state"]
            _check_same(found, note, folder)
        return cls(folder, float(checkpoint.every), note)

    @property
    def random_state(self) -> int:
        """Of the fit."""
        return int(self.note["random_state"])

    def part(self, name: str) -> Kept:
        """A part of the fit, with files of its own.

        Parameters
        ----------
        name : str
            Letters other than a-z and digits become dashes.
        """
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30]
        return replace(self, prefix=f"{self.prefix}{plain}.")

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep a state under a name, in the place of what was there."""
        whole = {"fit": fingerprint(self.note), "clock": self.clock(), "state": state}
        with self._writing():
            if not (self.folder / _NOTE).exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                self._write_text(_NOTE, json.dumps(self.note, indent=1) + "\n")
            write_state(self._file(name), whole)

    def load(self, name: str) -> Any:
        """The state kept under a name, or None; a damaged one is left aside with a warning."""
        file = self._file(name)
        try:
            whole = read_state(file)
            if whole is not None and whole.get("fit") != fingerprint(self.note):
                raise DamagedFileError(f"{file} belongs to another fit")
        except DamagedFileError as error:
            warnings.warn(
                f"{error}, so this part of the fit starts over.", AdaptationWarning, stacklevel=2
            )
            return None
        except OSError as error:
            raise CheckpointError(
                f"{file} cannot be read: {error.strerror or error}. {_ANOTHER}."
            ) from error
        if whole is None:
            return None
        self.clock.forward_to(whole["clock"])
        return whole["state"]

    def finish(self) -> None:
        """Note that the fit is complete, if anything was kept of it."""
        if (self.folder / _NOTE).exists():
            with self._writing():
                self._write_text(_DONE, "The fit is complete; called again it is read from here.\n")

    def _file(self, name: str) -> Path:
        return self.folder / f"{self.prefix}{name}.safetensors"

    def _write_text(self, name: str, text: str) -> None:
        with atomic_file(self.folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise CheckpointError(
                f"The checkpoint in {self.folder} cannot be kept: {reason}. Make room there, or "
                "give another folder."
            ) from error


def _read_note(folder: Path) -> dict[str, Any] | None:
    """What the fit in a folder is known by; None if the folder is still to be made."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise CheckpointError(f"The checkpoint {folder} is a file: give the path of a folder.")
    try:
        # Hidden files are what is left of writing when a process is killed.
        others = folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())
        text = (folder / _NOTE).read_text("utf-8") if others else None
    except FileNotFoundError:
        raise CheckpointError(
            f"The folder {folder} holds other files and no checkpoint: give a new or an empty one."
        ) from None
    except UnicodeDecodeError:
        text = ""
    except OSError as error:
        raise CheckpointError(
            f"The checkpoint in {folder} cannot be read: {error.strerror}. {_ANOTHER}."
        ) from error
    if text is None:
        _check_writable(folder)
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CheckpointError(f"{folder / _NOTE} is damaged. {_ANOTHER}.")
    return found


def _check_writable(folder: Path) -> None:
    """Say before a long training, not after it, that nothing can be kept there."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise CheckpointError(f"The checkpoint {folder} cannot be made: {there} is a file.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise CheckpointError(f"The checkpoint {folder} cannot be made: {there} is not writable.")


def _check_same(found: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    differ = [name for name in ("data", "settings") if found.get(name) != wanted[name]]
    if found.get("random_state") != wanted["random_state"]:
        differ.append("random_state")
    words = {"data": "the data", "settings": "the settings", "random_state": "random_state"}
    if differ:
        what = " and ".join(words[name] for name in differ)
        verb = "differs" if differ == ["random_state"] else "differ"
        raise CheckpointError(
            f"The checkpoint in {folder} is of another fit: {what} {verb}. {_ANOTHER}."
        )
    if found.get("format") != wanted["format"] or found.get("versions") != wanted["versions"]:
        old, new = found.get("versions"), wanted["versions"]
        known = old if isinstance(old, dict) else {}
        names = [f"{name} {known.get(name)}" for name in new if known.get(name) != new[name]]
        raise CheckpointError(
            f"The checkpoint in {folder} was written by other versions ({', '.join(names)}), with "
            f"which the result could differ. {_ANOTHER}, or go back to these versions."
        )


def keep(kept: Kept | None, name: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """An array that is made once: read again if it was kept.

    Parameters
    ----------
    kept : Kept, optional
    name : str
    make : callable

    Returns
    -------
    array
    """
    found = None if kept is None else kept.load(name)
    if found is not None:
        known: NDArray[Any] = found["array"]
        return known
    made = make()
    if kept is not None:
        kept.save(name, {"array": made})
    return made
