"""JSON into dataclasses, and nothing that is not declared."""

from __future__ import annotations

import json
import math
import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


class PageFormatError(ValueError):
    """A text is not a page in the format of this version."""


def no_constant(name: str) -> float:
    """Refuse NaN and infinity, which Python's reader would take."""
    raise ValueError(f"{name} is not a number")


def read(kind: Any, value: Any, where: str) -> Any:
    """A JSON value as the type it is declared to be, or an error that says where it is not."""
    origin, args = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return _read_fields(kind, value, where)
    if origin in (Union, types.UnionType):
        return None if value is None else read(args[0], value, where)
    if origin is Literal:
        if value in args:
            return value
    elif origin is tuple and isinstance(value, list):
        inner = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
        if len(inner) == len(value):
            each = zip(inner, value, strict=True)
            return tuple(read(kind, part, f"{where}[{at}]") for at, (kind, part) in enumerate(each))
    elif origin is dict and isinstance(value, dict):
        return {key: read(args[1], part, f"{where}.{key}") for key, part in value.items()}
    elif kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    elif type(value) is kind:
        return value
    raise PageFormatError(f"{where}: cannot be {json.dumps(value)[:60]}")


def _read_fields(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise PageFormatError(f"{where}: cannot be {json.dumps(value)[:60]}")
    names = {each.name for each in fields(kind)}
    if names != set(value):
        wrong = sorted(names ^ set(value))[0]
        said = "is missing" if wrong in names else "is not known"
        raise PageFormatError(f"{where}.{wrong} {said}")
    hints = get_type_hints(kind)
    return kind(**{name: read(hints[name], value[name], f"{where}.{name}") for name in names})
