"""One file for a state: nested dicts and lists of tensors, arrays and plain values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from grada.files.atomic import atomic_file

_TENSOR, _ARRAY = "$tensor", "$array"


class DamagedFileError(ValueError):
    """A file is not what was once written."""


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state, whole or not at all.

    Parameters
    ----------
    path : Path
        A safetensors file; what is not a tensor is JSON in its header.
    state : mapping
        Of strings to tensors, arrays, JSON values, and dicts and lists of these.
    """
    tensors: dict[str, Tensor] = {}
    text = json.dumps(_pack(state, "", tensors))
    header = {"state": text, "sha256": _checksum(text, tensors)}
    with atomic_file(path) as temporary:
        temporary.write_bytes(save(tensors, header))


def read_state(path: Path) -> dict[str, Any] | None:
    """Read a state.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict, or None if there is no such file

    Raises
    ------
    DamagedFileError
        If the file is not as it was written.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            # Tensors of their own, where torch would have put them, not views of the file.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        if header.get("sha256") != _checksum(header.get("state", ""), tensors):
            raise DamagedFileError(f"{path} is damaged")
        state: dict[str, Any] = _unpack(json.loads(header["state"]), tensors)
    except (SafetensorError, ValueError, KeyError) as error:
        raise DamagedFileError(f"{path} is damaged") from error
    return state


def _pack(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The value with names in the place of tensors, which are put into ``tensors``."""
    if isinstance(value, Tensor):
        # A copy each: tensors that share memory cannot be written.
        tensors[path] = value.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_TENSOR: path}
    if isinstance(value, np.ndarray):
        tensors[path] = torch.from_numpy(np.array(value, order="C"))
        return {_ARRAY: path}
    if isinstance(value, Mapping):
        return {key: _pack(each, f"{path}/{key}", tensors) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_pack(each, f"{path}/{place}", tensors) for place, each in enumerate(value)]
    return value


def _unpack(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if _TENSOR in value:
            return tensors[value[_TENSOR]]
        if _ARRAY in value:
            return tensors[value[_ARRAY]].numpy()
        return {key: _unpack(each, tensors) for key, each in value.items()}
    if isinstance(value, list):
        return [_unpack(each, tensors) for each in value]
    return value


def _checksum(text: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        if tensor.numel():
            digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
