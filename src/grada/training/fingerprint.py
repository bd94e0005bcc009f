"""What makes two fits the same: their data, settings and versions as checksums."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator
from torch import Tensor, nn

from grada.data import DomainData, LazyRows
from grada.graph import DomainGraph

_ROWS_AT_ONCE = 65_536
#: Packages whose version can change the last bit of a result.
_PACKAGES = ("grada", "torch", "numpy", "scipy", "scikit-learn")


def data_fingerprint(data: DomainData) -> str:
    """Checksum of all that a method is shown.

    Parameters
    ----------
    data : DomainData

    Returns
    -------
    str
        64 hexadecimal digits; another if any feature, visible label, weight or edge is another.
    """
    labels = (data.codes, data.y, data.weight, data.graph, data.kind, data.n_outputs)
    return fingerprint(data.X, *labels, data.pair_key, data.quantities)


def fingerprint(*values: Any) -> str:
    """Checksum of values of nearly any kind: arrays, networks, estimators, containers.

    Functions go by their name and their code; objects of other kinds by their type and
    attributes. What they refer to beyond that is not looked at.

    Parameters
    ----------
    *values : object

    Returns
    -------
    str

    Examples
    --------
    >>> fingerprint({"a": [1, 2.0]}) == fingerprint({"a": [1, 2.0]})
    True
    >>> fingerprint({"a": [1, 2.0]}) == fingerprint({"a": [1, 2]})
    False
    """
    digest = hashlib.sha256()
    for piece in _pieces(list(values), ()):
        digest.update(piece)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Versions of what the last bit of a result depends on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder that was never installed
            found[name] = "unknown"
    return found


def _pieces(value: Any, inside: tuple[int, ...]) -> Iterator[Any]:
    """Bytes that say what a value is; ``inside`` are the objects that it is part of."""
    kind = type(value)
    yield f"<{kind.__module__}.{kind.__qualname__}>".encode()
    if id(value) in inside:
        return
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray | LazyRows | Tensor):
        yield from _table(value)
    else:
        for part in _parts(value):
            yield from _pieces(part, (*inside, id(value)))
    yield b"</>"


def _table(value: Any) -> Iterator[Any]:
    if isinstance(value, LazyRows):
        yield value.fingerprint().encode()
        return
    if isinstance(value, Tensor):
        tensor = value.detach().cpu().contiguous()
        yield f"{tensor.dtype} {tuple(tensor.shape)}".encode()
        yield tensor.reshape(-1).view(torch.uint8).numpy() if tensor.numel() else b""
        return
    yield f"{value.dtype} {value.shape}".encode()
    if value.dtype == object:
        yield repr(value.tolist()).encode()
        return
    whole = value.reshape(1) if value.ndim == 0 else value
    for start in range(0, len(whole), _ROWS_AT_ONCE):
        yield np.ascontiguousarray(whole[start : start + _ROWS_AT_ONCE]).tobytes()


def _parts(value: Any) -> list[Any]:
    """The parts of a value that say what it is."""
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(repr(each) for each in value)
    if isinstance(value, DomainGraph):
        return [value.names, value.weights]
    if sparse.issparse(value):
        rows: Any = value
        rows = rows.tocsr()
        return [rows.shape, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    if isinstance(value, nn.Module):
        tensors = dict([*value.named_parameters(), *value.named_buffers()])
        learned = [name for name, tensor in tensors.items() if tensor.requires_grad]
        return [repr(value), value.training, tensors, learned]
    if isinstance(value, BaseEstimator):
        return sorted(value.get_params(deep=False).items())
    if isinstance(value, np.random.RandomState):
        return [value.get_state()]
    if isinstance(value, np.random.Generator):
        return [value.bit_generator.state]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        code = value.__code__
        consts = [each for each in code.co_consts if not isinstance(each, CodeType)]
        return [value.__module__, value.__qualname__, code.co_code, consts, value.__defaults__]
    if isinstance(value, type):
        return [value.__module__, value.__qualname__]
    return sorted(getattr(value, "__dict__", {}).items())
