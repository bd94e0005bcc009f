"""What model.json and the card say about a model in plain words and numbers."""

from __future__ import annotations

import math
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from grada.artefact._pack import Packer
from grada.artefact._registry import LEFT_OUT

#: Whose versions matter for the numbers.
_PACKAGES = ("grada", "torch", "numpy", "scikit-learn", "scipy")


def versions() -> dict[str, str]:
    """Versions of grada and of what it computes with."""
    return {name: _version(name) for name in _PACKAGES}


def summary_of(estimator: Any, packer: Packer) -> dict[str, Any]:
    """Everything about a model but its numbers, as plain JSON."""
    method, graph = estimator.method_, estimator.graph_
    names = getattr(estimator, "feature_names_in_", None)
    classes = getattr(estimator, "classes_", None)
    report = estimator.report_
    return {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: plain(value)
            for name, value in estimator.get_params(deep=False).items()
            if name not in ("method", "graph", *LEFT_OUT)
        },
        "method": {
            "name": method.name,
            "settings": {key: plain(value) for key, value in method.get_params(deep=False).items()},
        },
        "features": {
            "count": int(estimator.n_features_in_),
            "names": None if names is None else [plain(name) for name in names],
            "categorical": [
                plain((estimator._features.columns or [])[at])
                for at in estimator._features.categorical
            ],
        },
        "classes": None if classes is None else [plain(each) for each in classes.tolist()],
        "domains": list(graph.names),
        "edges": graph.n_edges,
        "data": plain(getattr(estimator, "_data_summary", None)),
        "verdict": None if report is None else report.verdict,
        "holds": sorted(packer.holds),
        "needs_encoder": packer.encoders,
        "versions": versions(),
    }


def plain(value: Any) -> Any:
    """The value as JSON a person can read; what has no such form is told in words."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "get_params"):
        return repr(value)[:300]
    return str(value)[:300] if type(value).__module__ == "torch" else type(value).__name__


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
