"""Methods: one file each, found by scanning this package.

A module whose name does not begin with an underscore holds one :class:`Method` under its
``name``. Nothing else needs to be told about it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

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


def available() -> dict[str, type[Method]]:
    """All methods by name.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> "grda" in available()
    True
    """
    return dict(_REGISTRY)


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
        f"Unknown method {method!r}. Known methods: {', '.join(_REGISTRY)}. Give one of these "
        "names, or an object such as methods.GRDA(strength=1.0)."
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
    "Run",
    "available",
    "resolve",
    *_CLASSES,
]
