"""Methods: one file each, found by scanning this package.

A module whose name does not begin with an underscore holds one :class:`Method` under its
``name``. Nothing else needs to be told about it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from typing import Any

from grada.data import Kind
from grada.methods._base import FittedMethod, Method, Run


def _scan() -> dict[str, type[Method]]:
    found: dict[str, type[Method]] = {}
    for module_info in pkgutil.iter_modules(__path__):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for _, member in inspect.getmembers(module, inspect.isclass):
            if issubclass(member, Method) and member.__module__ == module.__name__:
                found[member.name] = member
    return dict(sorted(found.items()))


_REGISTRY = _scan()
_CLASSES = {method.__name__: method for method in _REGISTRY.values()}


def register(method: type[Method]) -> type[Method]:
    """Make a method known that lives elsewhere, as ``auto`` does, which works on all others."""
    _REGISTRY[method.name] = method
    _CLASSES[method.__name__] = method
    __all__.append(method.__name__)
    return method


@dataclass(frozen=True)
class MethodInfo:
    """What a method is, in a line, and where it comes from."""

    name: str
    summary: str
    kinds: tuple[Kind, ...]
    citation: str
    method: type[Method]


def available() -> dict[str, MethodInfo]:
    """All methods by name: what they do, for which kinds of task, and their citations.

    Returns
    -------
    dict of str to MethodInfo

    Examples
    --------
    >>> available()["grda"].kinds
    ('classification', 'regression')
    >>> available()["grda"].summary
    'Align domains as far as the graph says: a discriminator rebuilds it from encodings.'
    """
    return {
        name: MethodInfo(
            name=name,
            summary=(inspect.getdoc(method) or "").partition("\n")[0],
            kinds=method.kinds,
            citation=method.citation,
            method=method,
        )
        for name, method in sorted(_REGISTRY.items())
    }


def markdown_table() -> str:
    """The methods as a table for README; a test compares the two."""
    lines = ["| name | what it does | from | kinds |", "|---|---|---|---|"]
    for info in available().values():
        kinds = ", ".join(info.kinds)
        lines.append(f"| `{info.name}` | {info.summary} | {info.citation} | {kinds} |")
    return "\n".join(lines)


def resolve(method: str | Method) -> Method:
    """The method of that name with default settings; a method object is returned as it is.

    Examples
    --------
    >>> resolve("source-only").name
    'source-only'
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and method in _REGISTRY:
        return _REGISTRY[method]()
    raise ValueError(
        f"Unknown method {method!r}. Known methods: {', '.join(sorted(_REGISTRY))}. Give one of "
        "these names, or an object such as methods.GRDA(strength=1.0)."
    )


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "FittedMethod",
    "Method",
    "MethodInfo",
    "Run",
    "available",
    "markdown_table",
    "register",
    "resolve",
    *_CLASSES,
]
