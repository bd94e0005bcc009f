"""From a fitted estimator to JSON, arrays and parts.

Every value is JSON as it is (None, bool, int, str, finite float) or an object whose first key says
what it is: ``{"list": [...]}``, ``{"array": "3"}``, ``{"object": "grada...", "state": {...}}``. A
thing that comes up again is written ``{"same": id}``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import nn

from grada.artefact._registry import (
    HOLDS,
    LEFT_OUT,
    ROWS,
    ArtefactError,
    is_registered,
    name_of,
)
from grada.artefact._scikit import holds_rows, is_scikit
from grada.graph import DomainGraph
from grada.methods._neural import _PREDICT_IMAGES, FittedNetwork, NeuralMethod

Node = dict[str, Any]

#: What modules keep beside their parameters, buffers and parts: hooks, which are code.
MODULE_PARTS = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "training")
_HOOKS = frozenset(vars(nn.Module())) - frozenset(MODULE_PARTS)
_SPARSE = frozenset(
    {"csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix"}
)
_COMPRESSED = ("indptr", "indices", "data")
_NUMBERS = "fiub"
_DEPTH = 200


class Packer:
    """Collects what goes into the files of a model folder.

    Attributes
    ----------
    tensors : dict of str to array
    parts : list of scikit-learn models, each with where it is
        They are written into one file.
    encoders : list of str
        Classes of the user's own modules.
    holds : set of str
        What of single training rows is in the model: rows, labels.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, NDArray[Any]] = {}
        self.parts: list[tuple[object, str]] = []
        self._graphs: dict[DomainGraph, int] = {}
        self.encoders: list[str] = []
        self.holds: set[str] = set()
        self._nodes: dict[int, Node] = {}
        self._alive: list[object] = []  # an id is unique only as long as its object lives
        self._names: dict[tuple[str, str, tuple[int, ...]], str] = {}
        self._given: set[int] = set()
        self._n_shared = 0

    @property
    def graphs(self) -> list[DomainGraph]:
        """Equal graphs are one."""
        return list(self._graphs)

    def pack(self, value: object, where: str) -> Any:
        """JSON of a value; ``where`` is its place in words for errors."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        seen = self._nodes.get(id(value))
        if seen is not None:
            if "id" not in seen:
                self._n_shared += 1
                seen["id"] = self._n_shared
            return {"same": seen["id"]}
        node: Node = {}
        self._nodes[id(value)] = node
        self._alive.append(value)
        if where.count(".") + where.count("[") > _DEPTH:
            raise ArtefactError(f"{where[:60]}... is nested too deeply to be saved.")
        node.update(self._node(value, where))
        return node

    def _node(self, value: Any, where: str) -> Node:
        if isinstance(value, np.generic):
            return {"scalar": value.dtype.str, "value": self.pack(value.item(), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, torch.Tensor):
            return self._tensor(value, where)
        if isinstance(value, nn.Module):
            return self._module(value, where)
        if type(value) is DomainGraph:
            return {"graph": self._graphs.setdefault(value, len(self._graphs))}
        if is_scikit(value):
            return self._part(value, where)
        if is_registered(type(value)):
            return self._object(value, where)
        return self._plain(value, where)

    def _plain(self, value: Any, where: str) -> Node:
        """Containers and small things of Python, NumPy, pandas, SciPy and torch."""
        kind = type(value)
        if kind in (list, tuple, set, frozenset):
            order: Iterable[Any] = sorted(value, key=repr) if kind in (set, frozenset) else value
            return {kind.__name__: [self.pack(v, f"{where}[{i}]") for i, v in enumerate(order)]}
        if isinstance(value, dict) and kind.__module__ in ("builtins", "collections"):
            pairs = [
                [self.pack(key, f"{where}[...]"), self.pack(each, f"{where}[{key!r}]")]
                for key, each in value.items()
            ]
            return {"dict": pairs}
        if kind.__name__ in _SPARSE and sparse.issparse(value):
            matrix: Any = value
            fields = ("row", "col", "data") if matrix.format == "coo" else _COMPRESSED
            parts = [self.pack(getattr(matrix, field), where) for field in fields]
            return {"sparse": kind.__name__, "shape": list(matrix.shape), "parts": parts}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.dtype):
            return {"torch dtype": str(value).removeprefix("torch.")}
        if isinstance(value, np.dtype) and value.kind in _NUMBERS + "US":
            return {"dtype": value.str}
        if kind is bytes:
            return {"bytes": value.hex()}
        if value is pd.NA:
            return {"NA": True}
        if kind is np.random.RandomState:
            return {"RandomState": self.pack(value.get_state(legacy=True), where)}
        raise ArtefactError(
            f"{where} is a {name_of(kind)}, which cannot be saved. A class of your own can be made "
            "known with grada.artefact.register."
        )

    def _array(self, array: NDArray[Any], where: str) -> Node:
        kind = array.dtype.kind
        if kind in "OUS":
            values = [self.pack(v, f"{where}[{i}]") for i, v in enumerate(array.ravel().tolist())]
            shape, dtype = list(array.shape), "object" if kind == "O" else array.dtype.str
            node: Node = {"names": values, "shape": shape, "dtype": dtype}
        elif kind in "mM":
            node = {"array": self._store(array.view(np.int64)), "dtype": array.dtype.str}
        elif kind in _NUMBERS and array.dtype.itemsize <= 8:
            flipped = array.flags.f_contiguous and not array.flags.c_contiguous
            node = {"array": self._store(array.T if flipped else array)}
            if flipped:
                node["order"] = "F"  # sums over it must go the same way, to the last digit
        else:
            raise ArtefactError(f"{where} is an array of {array.dtype}, which cannot be saved.")
        if not array.flags.writeable:
            node["frozen"] = True
        return node

    def _tensor(self, tensor: torch.Tensor, where: str) -> Node:
        if tensor.layout is not torch.strided:
            raise ArtefactError(f"{where} is a sparse tensor, which cannot be saved.")
        dtype = str(tensor.dtype).removeprefix("torch.")
        values = tensor.detach().cpu().contiguous()
        if tensor.dtype is torch.bfloat16:
            values = values.view(torch.int16)
        try:
            array = values.numpy()
        except TypeError:
            raise ArtefactError(f"{where} is a tensor of {dtype}, which cannot be saved.") from None
        node: Node = {"tensor": self._store(array), "dtype": dtype}
        if isinstance(tensor, nn.Parameter):
            node["parameter"] = True
        if tensor.requires_grad:
            node["requires_grad"] = True
        if tensor.device.type != "cpu":
            node["device"] = str(tensor.device)
        return node

    def _store(self, array: NDArray[Any]) -> str:
        """Name of the array in the file; equal ones are stored once."""
        own = np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=None)
        digest = hashlib.sha256(own.reshape(-1).view(np.uint8).data).hexdigest()
        key = (digest, own.dtype.str, own.shape)
        name = self._names.setdefault(key, str(len(self._names)))
        self.tensors[name] = own
        return name

    def _module(self, module: nn.Module, where: str) -> Node:
        if id(module) in self._given or not is_registered(type(module)):
            return self._encoder(module, where)
        state = {
            name: self.pack(each, f"{where}.{name}")
            for name, each in vars(module).items()
            if name not in _HOOKS
        }
        return {"module": name_of(type(module)), "state": state}

    def _encoder(self, module: nn.Module, where: str) -> Node:
        """Numbers of a user's own module, without its code, and what was put in by us."""
        if id(module) not in self._given and type(module).__module__.startswith("grada."):
            raise ArtefactError(f"{where} is a {name_of(type(module))}, which is not registered.")
        if name_of(type(module)) not in self.encoders:
            self.encoders.append(name_of(type(module)))
        ours = {
            path: each
            for path, each in module.named_modules()
            if path and type(each).__module__.startswith("grada.") and is_registered(type(each))
        }
        outer = {p: m for p, m in ours.items() if not any(p.startswith(f"{q}.") for q in ours)}
        state = {}
        for name, each in module.state_dict(keep_vars=True).items():
            if any(name.startswith(f"{path}.") for path in outer):
                continue
            if not isinstance(each, torch.Tensor):
                raise ArtefactError(f"{where}: {name!r} of your encoder is no tensor.")
            state[name] = self._tensor(each, f"{where}.{name}")
        replaced = {path: self.pack(each, f"{where}.{path}") for path, each in outer.items()}
        return {
            "encoder": name_of(type(module)),
            "training": module.training,
            "numbers": state,
            "replaced": replaced,
        }

    def _part(self, value: object, where: str) -> Node:
        if holds_rows(value):
            self.holds.add(ROWS)
        self.parts.append((value, where))
        return {"scikit-learn": len(self.parts) - 1}

    def _object(self, value: Any, where: str) -> Node:
        cls = type(value)
        if cls in HOLDS:
            self.holds.add(HOLDS[cls])
        if isinstance(value, tuple):
            names = value._fields  # type: ignore[attr-defined]
            fields = {n: self.pack(getattr(value, n), f"{where}.{n}") for n in names}
            return {"object": name_of(cls), "state": fields}
        self._mark_given(value)
        # A copy each: what is one object here would be one in the loaded model too.
        state = {
            name: copy(LEFT_OUT[name]) if name in LEFT_OUT else each
            for name, each in vars(value).items()
        }
        return {
            "object": name_of(cls),
            "state": {
                name: self.pack(each, f"{where}.{name}")
                for name, each in state.items()
                if not isinstance(getattr(cls, name, None), cached_property)
            },
        }

    def _mark_given(self, value: object) -> None:
        """Remember which modules are a user's own, though they may be of torch's classes."""
        if isinstance(value, NeuralMethod) and value.encoder is not None:
            given = [value.encoder]
        elif isinstance(value, FittedNetwork) and value.batch_size == _PREDICT_IMAGES:
            given = [part.raw for part in value.network.encoder.parts]
        else:
            return
        ours = [m for m in given if type(m).__module__.startswith("grada.")]
        self._given |= {id(m) for m in given if m not in ours}
