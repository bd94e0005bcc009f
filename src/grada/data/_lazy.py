"""Rows that are made when they are asked for: a table too large to hold, such as images."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

#: Share of the rows that may be unreadable before it is an error.
TOLERATED = 0.05


class UnreadableRowError(OSError):
    """Rows could not be read from their files; the message names the files."""


class LazyRows(ABC):
    """A table whose rows are made when they are asked for, batch by batch.

    It stands in the place of an array as far as ``X[rows]``, ``X.shape``, ``X.dtype`` and
    ``len(X)`` go. It does not become an array of all rows by accident: ``np.asarray(X)`` is
    refused, ``X[:]`` is the way to say it.

    A subclass says how rows are read, chosen and told apart.
    """

    dtype = np.dtype(np.float32)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Number of rows, then the shape of one."""

    @abstractmethod
    def read(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float32], dict[int, str]]:
        """Read rows, and go on past those that cannot be read.

        Parameters
        ----------
        rows : int array of shape (n,)
            Positions, in any order; one may come up more than once.

        Returns
        -------
        values : float32 array of shape (n, ...)
            Zeros where a row cannot be read.
        problems : dict
            For each place in ``rows`` with an unreadable row: which file, and what is wrong.
        """

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the rows, in a given order, still lazy."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A text that changes when any row does: the key under which results may be kept."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> NDArray[np.float32]:
        rows = np.arange(len(self))[index]
        values, problems = self.read(np.atleast_1d(rows))
        if problems:
            raise UnreadableRowError(next(iter(problems.values())))
        return values if np.ndim(rows) else values[0]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is read row by row; this would hold all of it in memory. Ask for some "
            "rows, X[:100], or compute feature vectors first with grada.nn.compute_features."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.shape}"


def skip_or_refuse(problems: Sequence[str], total: int) -> None:
    """Warn of a few unreadable rows, which are left out; refuse many.

    Parameters
    ----------
    problems : list of str
        One message for each unreadable row.
    total : int
        Number of rows, these included.
    """
    if not problems:
        return
    shown = "\n  ".join(problems[:3])
    more = f"\n  and {len(problems) - 3} more" if len(problems) > 3 else ""
    said = f"{len(problems)} of {total} cannot be read:\n  {shown}{more}"
    if len(problems) > max(1, TOLERATED * total):
        raise UnreadableRowError(f"Too many files are damaged or missing: {said}")
    warnings.warn(f"Left out: {said}", stacklevel=3)
