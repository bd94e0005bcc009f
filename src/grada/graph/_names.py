"""Names of domains: read from any column, brought into one form, or refused with a hint."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from grada.graph._types import Codes, Name

# Types that may stand in a column of names; booleans are refused although they are ints in Python.
_PLAIN = (str, int, float, np.integer, np.floating, type(None), type(pd.NA), type(pd.NaT))


class UnknownDomainError(ValueError):
    """A name that is no domain of the graph.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    domains : tuple of str or int, default=()
        The unknown names, all of them.
    """

    def __init__(self, message: str, domains: tuple[Name, ...] = ()) -> None:
        super().__init__(message)
        self.domains = domains


def normalise_name(value: object) -> Name:
    """Turn one name into a Python str or int, or refuse it."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        raise TypeError(
            f"a domain name is a string or an integer, not the boolean {value!r}: "
            "use names such as 'yes' and 'no'"
        )
    if isinstance(value, numbers.Integral):
        return int(value)
    if value is None or value is pd.NA or value is pd.NaT:
        raise ValueError(f"a domain name is missing ({value!r}): give every domain a name")
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            raise ValueError("a domain name is missing (NaN): give every domain a name")
        if number.is_integer():
            return int(number)
        raise ValueError(
            f"a domain name is a string or an integer, not {number!r}: "
            "round it or turn it into a string"
        )
    raise TypeError(
        f"a domain name is a string or an integer, not {value!r} of type "
        f"{type(value).__name__}: turn it into a string first"
    )


def as_names(values: Any, *, what: str = "names") -> tuple[Name, ...]:
    """Turn a sequence of names, or a number of domains, into a tuple of Python names."""
    if isinstance(values, numbers.Integral) and not isinstance(values, bool):
        if int(values) < 1:
            raise ValueError(f"{what} must be at least 1 domain, got {int(values)}")
        return tuple(range(int(values)))
    _refuse_no_sequence(values, what)
    if isinstance(values, Set):
        raise TypeError(f"{what} come in no order of their own in a set: pass sorted(...)")
    return tuple(map(normalise_name, values))


def positions_of(names: Sequence[Name]) -> dict[Name, int]:
    """Map every name to its position; refuse names that stand twice."""
    positions = {name: position for position, name in enumerate(names)}
    if len(positions) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"every domain needs a name of its own, but there is more than one {listed(twice)}"
        )
    return positions


def factorise(values: object, *, what: str = "names") -> tuple[Codes, list[Name]]:
    """Split a column of names into codes, one a row, and the distinct names.

    Parameters
    ----------
    values : sequence, array, Series, Index or Categorical of shape (n_rows,)
        Names; missing ones are refused.
    what : str, default="names"
        What the error messages call the column.

    Returns
    -------
    codes : ndarray of int64, shape (n_rows,)
    names : list of str or int
        ``names[codes[row]]`` is the name in the row.
    """
    column = _as_column(values, what)
    codes, uniques = pd.factorize(column)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise ValueError(
            f"{what} has no domain in {len(missing)} of {len(codes)} rows, "
            f"the first at position {missing[0]}: name a domain there or drop these rows"
        )
    names = [normalise_name(value) for value in uniques]
    # Two raw values can be one name, such as 1 and 1.0 in columns of mixed types.
    merged = positions_of(list(dict.fromkeys(names)))
    if len(merged) < len(names):
        codes = np.array([merged[name] for name in names], dtype=np.int64)[codes]
    return codes.astype(np.int64, copy=False), list(merged)


def _as_column(values: Any, what: str) -> Any:
    """Bring names into one dimension, with their types as they are."""
    _refuse_no_sequence(values, what)
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{what} must be one column of names, got several dimensions")
    # A list goes through an object array, since NumPy would turn ['a', 1] into ['a', '1'].
    if not isinstance(values, np.ndarray | pd.Series | pd.Index | pd.Categorical):
        values = np.fromiter(values, dtype=object)
    if values.dtype == object:
        _refuse_odd_types(values)
    return values


def _refuse_no_sequence(values: object, what: str) -> None:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a sequence of domain names, got {values!r}")


def _refuse_odd_types(column: Any) -> None:
    """Refuse what a hash table would take for a name: True equals 1 there."""
    odd = {
        kind
        for kind in set(map(type, column))
        if not issubclass(kind, _PLAIN) or issubclass(kind, bool)
    }
    if odd:
        normalise_name(next(value for value in column if type(value) in odd))


def listed(names: Sequence[Name]) -> str:
    """Quote the first five names for an error message."""
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def unknown_domains(unknown: Sequence[Name], known: Sequence[Name]) -> UnknownDomainError:
    """Make the error for names that the graph does not have, with a hint where one is due."""
    count = "1 domain is" if len(unknown) == 1 else f"{len(unknown)} domains are"
    return UnknownDomainError(
        f"{count} not in the graph: {listed(unknown)}. {_spelling_hint(unknown, known)}"
        "Correct the names, leave them out, or add the domains with graph.with_domains(...).",
        tuple(unknown),
    )


def _spelling_hint(unknown: Sequence[Name], known: Sequence[Name]) -> str:
    """Say which name of the graph was probably meant, if type, case or spaces give it away."""
    folded = {str(name).strip().casefold(): name for name in reversed(known)}
    for name in unknown[:100]:
        meant = folded.get(str(name).strip().casefold())
        if meant is None:
            continue
        if type(meant) is not type(name):
            return (
                f"The graph has {meant!r} ({type(meant).__name__}) where {name!r} "
                f"({type(name).__name__}) was given: convert one of them. "
            )
        return (
            f"The graph has {meant!r} where {name!r} was given: "
            "they differ in case or spaces only. "
        )
    return ""
