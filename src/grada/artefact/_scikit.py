"""Parts that are scikit-learn models, written and read by skops."""

from __future__ import annotations

import importlib
import io
import json
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from grada.artefact._registry import ArtefactError

#: The file of all parts.
PARTS = "parts.skops"
#: Kinds of nodes that skops may build; not partial functions, methods and calls of operators.
_LOADERS = frozenset(
    {
        "BytearrayNode",
        "BytesNode",
        "CachedNode",
        "DTypeNode",
        "DefaultDictNode",
        "DictNode",
        "FunctionNode",
        "JsonNode",
        "ListNode",
        "LossNode",
        "MaskedArrayNode",
        "NdArrayNode",
        "ObjectNode",
        "RandomGeneratorNode",
        "RandomStateNode",
        "SetNode",
        "SliceNode",
        "SparseMatrixNode",
        "TreeNode",
        "TupleNode",
        "TypeNode",
        "_DictWithDeprecatedKeysNode",
    }
)
#: Modules of scikit-learn with classes that its models hold, beside the public estimators.
_INNER = re.compile(
    r"sklearn\.(_loss(\.\w+)?|calibration|compose\._\w+|ensemble\._\w+(\.\w+)?|feature_selection\._\w+"
    r"|gaussian_process\.\w+|isotonic|kernel_ridge|linear_model\._\w+|metrics\._dist_metrics"
    r"|model_selection\._\w+|multioutput|naive_bayes|neighbors\._\w+|neural_network\._\w+"
    r"|preprocessing\._\w+|svm\._\w+|tree\._\w+|utils\._bunch)"
)
#: Attributes in which scikit-learn's models keep rows they were fitted on.
_ROWS = ("_fit_X", "X_train_", "X_fit_", "support_vectors_", "_X_train")


def is_scikit(value: object) -> bool:
    """Whether this is a model, a scaler or the like of scikit-learn itself."""
    return type(value).__module__.partition(".")[0] == "sklearn" and not isinstance(value, type)


def write_scikit(parts: Sequence[tuple[object, str]]) -> bytes:
    """All parts, each given with where it is, as bytes; refused if one could not be read again."""
    try:
        return _checked([value for value, _ in parts])
    except ArtefactError:
        for value, where in parts:
            try:
                _checked([value])
            except ArtefactError as error:
                named = f"{where} ({type(value).__name__}) cannot be saved: {error}"
                raise ArtefactError(named) from None
        raise


def _checked(values: list[object]) -> bytes:
    try:
        data = bytes(_skops().dumps(values))
        _inner_types(data)
    except ArtefactError as error:
        raise ArtefactError(
            f"{error} Use scikit-learn's own models and numpy's functions only."
        ) from None
    except Exception as error:  # skops names no common base of what it may raise
        raise ArtefactError(f"it would need pickle: {error}") from error
    return data


def read_scikit(data: bytes) -> list[Any]:
    """The parts again; anything but scikit-learn's and numpy's own types is refused by name."""
    try:
        parts = _skops().loads(data, trusted=_inner_types(data))
    except ArtefactError as error:
        raise ArtefactError(f"{PARTS}: {error}") from None
    except Exception as error:
        raise ArtefactError(f"{PARTS} holds no parts that can be read: {error}") from error
    if not isinstance(parts, list):
        raise ArtefactError(f"{PARTS} is malformed: it holds no list of parts.")
    return parts


def holds_rows(value: object, depth: int = 6) -> bool:
    """Whether a scikit-learn model keeps rows it was fitted on, itself or in a step of it."""
    inner = vars(value) if hasattr(value, "__dict__") else {}
    if any(isinstance(inner.get(name), np.ndarray) for name in _ROWS):
        return True
    for each in inner.values():
        parts = each.values() if isinstance(each, dict) else each
        parts = parts if isinstance(parts, list | tuple | type({}.values())) else [parts]
        flat = [p for part in parts for p in (part if isinstance(part, tuple) else [part])]
        if depth and any(is_scikit(part) and holds_rows(part, depth - 1) for part in flat):
            return True
    return False


def _skops() -> Any:
    """Imported late: it imports all of scikit-learn, which takes seconds."""
    import skops.io

    return skops.io


def _inner_types(data: bytes) -> list[str]:
    """Types beyond those skops trusts, all of them scikit-learn's; others are refused."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read("schema.json"))
    _check_loaders(schema)
    unknown: list[str] = _skops().get_untrusted_types(data=data)
    for name in unknown:
        if not _is_inner(name):
            raise ArtefactError(f"it holds {name}, which is not allowed in a model.")
    return unknown


def _check_loaders(node: object) -> None:
    if isinstance(node, dict):
        loader = node.get("__loader__", "JsonNode")
        if loader not in _LOADERS:
            called = f"{node.get('__module__')}.{node.get('__class__')}"
            raise ArtefactError(f"it holds {called} ({loader}), which is not allowed in a model.")
        for each in node.values():
            _check_loaders(each)
    elif isinstance(node, list):
        for each in node:
            _check_loaders(each)


def _is_inner(name: str) -> bool:
    """Whether this names a class that is defined in one of these modules of scikit-learn."""
    module, _, cls = name.rpartition(".")
    if not _INNER.fullmatch(module):
        return False
    try:
        found = getattr(importlib.import_module(module), cls, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module
