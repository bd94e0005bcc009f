"""From JSON, arrays and parts back to a fitted estimator, see :mod:`grada.artefact._pack`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import nn

from grada.artefact._pack import _HOOKS, _SPARSE
from grada.artefact._registry import ArtefactError, registered
from grada.artefact._scikit import read_scikit
from grada.graph import DomainGraph

Node = dict[str, Any]


class Unpacker:
    """Puts a model together.

    Parameters
    ----------
    tensors : mapping of str to array
    parts : bytes, optional
        The scikit-learn models.
    graphs : sequence of DomainGraph
    encoders : sequence of nn.Module
        The user's own modules, which are never in the folder.
    """

    def __init__(
        self,
        tensors: Mapping[str, NDArray[Any]],
        parts: bytes | None,
        graphs: Sequence[DomainGraph],
        encoders: Sequence[nn.Module],
    ):
        self.tensors, self.graphs, self.encoders = tensors, graphs, encoders
        self.parts: list[Any] = [] if parts is None else read_scikit(parts)
        self._made: dict[int, Any] = {}
        self._makers: dict[str, Callable[[Node], Any]] = {
            "float": lambda node: float(node["float"]),
            "list": lambda node: self._fill_list(node, []),
            "tuple": lambda node: tuple(self._each(node["tuple"])),
            "set": lambda node: set(self._each(node["set"])),
            "frozenset": lambda node: frozenset(self._each(node["frozenset"])),
            "dict": self._dict,
            "scalar": lambda node: np.dtype(node["scalar"]).type(self.unpack(node["value"])),
            "array": self._array,
            "names": self._names,
            "tensor": self._tensor,
            "sparse": self._sparse,
            "device": lambda node: _device(node["device"]),
            "torch dtype": lambda node: _torch_dtype(node["torch dtype"]),
            "dtype": lambda node: np.dtype(str(node["dtype"])),
            "bytes": lambda node: bytes.fromhex(node["bytes"]),
            "NA": lambda node: pd.NA,
            "RandomState": self._random_state,
            "graph": lambda node: self.graphs[_position(node["graph"])],
            "scikit-learn": self._part,
            "object": self._object,
            "module": self._module,
            "encoder": self._encoder,
        }

    def unpack(self, node: Any) -> Any:
        """The value that the JSON stands for."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict):
            raise ArtefactError("model.json is malformed: a bare list among its parts.")
        if "same" in node:
            if node["same"] not in self._made:
                raise ArtefactError(f"model.json is malformed: nothing has id {node['same']!r}.")
            return self._made[node["same"]]
        tag = next((key for key in node if key != "id"), "nothing")
        if tag not in self._makers:
            raise ArtefactError(f"model.json holds a {tag!r}, which this version does not know.")
        return self._keep(node, self._makers[tag](node))

    def _keep(self, node: Node, made: Any) -> Any:
        if "id" in node:
            self._made[node["id"]] = made
        return made

    def _each(self, nodes: list[Any]) -> list[Any]:
        return [self.unpack(node) for node in nodes]

    def _fill_list(self, node: Node, made: list[Any]) -> list[Any]:
        self._keep(node, made)  # before it is filled: it may hold itself
        made.extend(self._each(node["list"]))
        return made

    def _dict(self, node: Node) -> dict[Any, Any]:
        made: dict[Any, Any] = self._keep(node, {})
        made.update((self.unpack(key), self.unpack(value)) for key, value in node["dict"])
        return made

    def _state(self, node: Node) -> dict[str, Any]:
        return {name: self.unpack(each) for name, each in node["state"].items()}

    def _stored(self, name: object) -> NDArray[Any]:
        if name not in self.tensors:
            raise ArtefactError(f"tensors.safetensors has no array {name!r}.")
        return np.array(self.tensors[str(name)])  # aligned, and nobody else's

    def _array(self, node: Node) -> NDArray[Any]:
        array = self._stored(node["array"])
        if "dtype" in node:
            array = array.view(np.dtype(node["dtype"]))
        if node.get("order") == "F":
            array = array.T
        if node.get("frozen"):
            array.flags.writeable = False
        return array

    def _names(self, node: Node) -> NDArray[Any]:
        dtype = np.dtype(node["dtype"])
        values = self._each(node["names"])
        array = np.empty(len(values), dtype=dtype)
        for place, value in enumerate(values):
            array[place] = value
        array = array.reshape(node["shape"])
        if node.get("frozen"):
            array.flags.writeable = False
        return array

    def _tensor(self, node: Node) -> torch.Tensor:
        tensor = torch.from_numpy(self._stored(node["tensor"]))
        dtype = _torch_dtype(node["dtype"])
        if dtype is torch.bfloat16:
            tensor = tensor.view(torch.bfloat16)
        if tensor.dtype is not dtype:
            raise ArtefactError(
                f"array {node['tensor']!r} of tensors.safetensors is of {tensor.dtype}, "
                f"not of {dtype}: the file belongs to another model."
            )
        tensor = tensor.to(_device(node.get("device", "cpu")))
        if node.get("parameter"):
            return nn.Parameter(tensor, requires_grad=bool(node.get("requires_grad")))
        return tensor.requires_grad_(bool(node.get("requires_grad")))

    def _sparse(self, node: Node) -> Any:
        if node["sparse"] not in _SPARSE:
            raise ArtefactError(f"model.json names the unknown matrix {node['sparse']!r}.")
        first, second, data = self._each(node["parts"])
        shape = tuple(node["shape"])
        make = getattr(sparse, node["sparse"])
        if node["sparse"].startswith("coo"):
            return make((data, (first, second)), shape=shape)
        return make((data, second, first), shape=shape)

    def _random_state(self, node: Node) -> np.random.RandomState:
        made = np.random.RandomState(0)
        made.set_state(self.unpack(node["RandomState"]))
        return made

    def _part(self, node: Node) -> Any:
        number = node["scikit-learn"]
        if type(number) is not int or not 0 <= number < len(self.parts):
            raise ArtefactError(f"model.json asks for part {number!r}, which the folder lacks.")
        return self.parts[number]

    def _object(self, node: Node) -> Any:
        cls = _class(node["object"])
        if issubclass(cls, nn.Module):
            raise ArtefactError(f"model.json is malformed: {node['object']!r} is a module.")
        if issubclass(cls, tuple):
            return cls(**self._state(node))
        made = self._keep(node, object.__new__(cls))
        made.__dict__.update(self._state(node))
        return made

    def _module(self, node: Node) -> nn.Module:
        cls = _class(node["module"])
        if not issubclass(cls, nn.Module):
            raise ArtefactError(f"model.json is malformed: {node['module']!r} is no module.")
        made: nn.Module = self._keep(node, object.__new__(cls))
        nn.Module.__init__(made)
        state = {name: each for name, each in self._state(node).items() if name not in _HOOKS}
        # Through torch's own door, where it makes up for differences between its versions.
        made.__setstate__(vars(made) | state)  # type: ignore[no-untyped-call]
        return made

    def _encoder(self, node: Node) -> nn.Module:
        """A copy of the user's own module, with the numbers that were saved."""
        numbers = {name: self._tensor(each) for name, each in node["numbers"].items()}
        replaced = {path: self.unpack(each) for path, each in node["replaced"].items()}
        module = copy.deepcopy(self._fitting(node["encoder"], numbers, replaced))
        module.train(bool(node["training"]))
        for path, each in replaced.items():
            module.set_submodule(path, each)
        with torch.no_grad():
            for name, number in numbers.items():
                owner, _, last = name.rpartition(".")
                place = module.get_submodule(owner)
                if place._parameters.get(last) is not None:
                    # In place, so that parameters which are shared stay shared.
                    place._parameters[last].data = number.detach()  # type: ignore[union-attr]
                    place._parameters[last].requires_grad_(number.requires_grad)  # type: ignore[union-attr]
                else:
                    place._buffers[last] = number
        return module

    def _fitting(
        self, cls: str, numbers: Mapping[str, torch.Tensor], replaced: Mapping[str, Any]
    ) -> nn.Module:
        """The given module that these numbers are of."""
        if not self.encoders:
            raise ArtefactError(
                f"This model was fitted with an encoder of your own ({cls}), whose code is never "
                "saved: give it again, load(path, encoder=module)."
            )
        wanted = {name: tuple(number.shape) for name, number in numbers.items()}
        problem = ""
        for module in self.encoders:
            has = {
                name: tuple(each.shape)
                for name, each in module.state_dict().items()
                if not any(name.startswith(f"{path}.") for path in replaced)
            }
            if has == wanted:
                return module
            name = next(n for n in [*wanted, *has] if wanted.get(n) != has.get(n))
            problem = f"{name!r} is {_shape(has.get(name))} there, {_shape(wanted.get(name))} here"
        raise ArtefactError(
            f"The encoder given is not the one this model was fitted with ({cls}): {problem}."
        )


def _shape(shape: tuple[int, ...] | None) -> str:
    return "missing" if shape is None else f"of shape {shape}"


def _class(name: object) -> type[Any]:
    cls = registered(name)
    if cls is None:
        raise ArtefactError(
            f"model.json names the class {name!r}, which is not one of grada's: it is not loaded. "
            "A class of your own must first be made known with grada.artefact.register."
        )
    return cls


def _position(number: object) -> int:
    if type(number) is not int or number < 0:
        raise ArtefactError(f"model.json is malformed: {number!r} is no number of a graph.")
    return number


def _torch_dtype(name: object) -> torch.dtype:
    dtype = getattr(torch, str(name), None)
    if not isinstance(dtype, torch.dtype):
        raise ArtefactError(f"model.json names the unknown number type {name!r}.")
    return dtype


def _device(name: object) -> torch.device:
    """The device, if this machine has it, else the processor."""
    device = torch.device(str(name))
    if device.type == "cuda" and torch.cuda.is_available():
        return device
    return torch.device("cpu")
