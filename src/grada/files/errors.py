"""What is wrong with a user's file, in the user's words."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path


class FileError(ValueError):
    """A file that cannot be used: which file, where in it, and what to do.

    Parameters
    ----------
    path : path
        Its name comes first in the message.
    problem : str
        What is wrong, where, and what to do.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path.name or path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[FileError], tuple[Path, str]]:
        return type(self), (self.path, self.problem)


def quoted(text: object, most: int = 40) -> str:
    """A text of the user for a message: quoted, on one line, cut when it is long."""
    shown = str(text)
    return repr(shown if len(shown) <= most else shown[: most - 3] + "...")


def listed(names: Sequence[object], most: int = 5) -> str:
    """The first few names, quoted, and how many more there are."""
    shown = ", ".join(map(quoted, names[:most]))
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(40001, "row")
    ('1 row', '40,001 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def near_miss(name: str, known: Sequence[str]) -> str | None:
    """The known name that was probably meant.

    Examples
    --------
    >>> near_miss("stat", ["state", "rain"]), near_miss("STATE ", ["state", "rain"])
    ('state', 'state')
    """
    folded = {one.strip().casefold(): one for one in reversed(known)}
    meant = folded.get(name.strip().casefold())
    if meant is None:
        # Its time grows with the square of the length, so that a long text is not worth it.
        close = difflib.get_close_matches(name[:100], [one[:100] for one in known[:2000]], n=1)
        meant = next((one for one in known if close and one[:100] == close[0]), None)
    return meant
