"""What stands around the scores: training, candidates, data, warnings, settings, versions."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np

from grada.report.page.data import Candidate, Curve, class_name, clean, finite
from grada.report.page.facts import Facts
from grada.report.page.scores import label_scale

_MAX_EPOCHS = 400
_LIBRARIES = ("grada", "torch", "numpy", "scipy", "scikit-learn", "pandas")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def curves(history: Any) -> tuple[Curve, ...]:
    """Every figure of the training, at no more epochs than can be told apart."""
    found = []
    for name, column in (history or {}).items():
        values = np.asarray(column, dtype=np.float64)
        seen = np.flatnonzero(np.isfinite(values))
        if len(seen) > _MAX_EPOCHS:
            seen = seen[np.linspace(0, len(seen) - 1, _MAX_EPOCHS).round().astype(int)]
        if len(seen):
            shown = tuple(float(f"{value:.5g}") for value in values[seen].tolist())
            found.append(Curve(clean(name), tuple((seen + 1).tolist()), shown))
    return tuple(found)


def candidates(report: Any) -> tuple[Candidate, ...]:
    """What ``auto`` tried, the best first."""
    if report is None:
        return ()
    sign = -1.0 if report.metric == "accuracy" else 1.0
    found = [
        Candidate(
            name=clean(each.name),
            share=finite(each.share) or 0.0,
            estimate=finite(each.estimate),
            hidden=finite(each.hidden),
            seconds=finite(each.seconds) or 0.0,
            problem=None if each.problem is None else clean(each.problem),
            notes=tuple(clean(note) for note in each.notes),
        )
        for each in report.candidates
    ]
    return tuple(
        sorted(found, key=lambda each: np.inf if each.estimate is None else sign * each.estimate)
    )


def summary(facts: Facts) -> dict[str, str]:
    """The data in a few lines."""
    rows, graph = facts.all_rows, facts.graph
    known = int(rows.visible.known.sum())
    found = {
        "rows": f"{len(rows):,}",
        "rows with a label": f"{known:,} ({100 * known / len(rows):.1f} %)",
        "shape of a row": " x ".join(str(size) for size in np.shape(rows.X)[1:]),
        "domains": f"{graph.n_domains:,}",
        "with labels (sources)": f"{int((facts.labelled > 0).sum()):,}",
        "without labels (targets)": f"{int(facts.targets.sum()):,}",
        "without rows": f"{int((facts.count == 0).sum()):,}",
        "edges": f"{graph.n_edges:,}",
        "parts that no edge joins": f"{len(graph.components):,}",
    }
    if facts.classes is not None:
        names = [class_name(name) for name in facts.classes.tolist()]
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        found["classes"] = f"{len(names)}: {', '.join(names[:12])}{more}"
    elif known:
        values = rows.visible.values[rows.visible.known].astype(np.float64)
        values = values.reshape(known, -1)
        found["outputs"] = str(values.shape[1])
        found["mean of the labels"] = _numbers(values.mean(axis=0))
        found["deviation of the labels"] = _numbers(label_scale(rows.visible))
    return found


def warnings(facts: Facts) -> tuple[str, ...]:
    """What the reader should know before trusting the page."""
    found = [clean(message) for message in getattr(facts.history, "messages", ())]
    lost = np.flatnonzero(facts.targets & np.isinf(facts.hops))
    if not facts.labelled.any():
        found.append("No row has a label here: roles and hops are not known.")
    elif len(lost):
        found.append(
            f"{len(lost):,} target domains have no path to a source, so that the graph tells "
            f"nothing about them: {_some(facts.names[code] for code in lost)}."
        )
    few = np.flatnonzero((facts.count > 0) & (facts.count < 10))
    if len(few):
        found.append(
            f"{len(few):,} domains have fewer than 10 rows, and scores there are mostly chance: "
            f"{_some(facts.names[code] for code in few)}."
        )
    report = facts.report
    if report is not None and not report.adapted:
        found.append("The plain model was kept: adaptation promised nothing better.")
    return tuple(dict.fromkeys(found))


def settings(model: Any) -> dict[str, str]:
    """Settings of the estimator and of its method, as text."""
    chosen = {**model.get_params(deep=False)}
    chosen |= {f"method__{name}": value for name, value in model.method_.get_params().items()}
    chosen["method"] = getattr(model.method_, "name", type(model.method_).__name__)
    chosen["graph"] = model.graph_
    found = {}
    for name, value in chosen.items():
        text = _ADDRESS.sub("", clean(repr(value) if not isinstance(value, str) else value))
        found[clean(name)] = text if len(text) <= 300 else f"{text[:300]}…"
    return found


def versions() -> dict[str, str]:
    """Versions of what made the page."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _numbers(values: Any) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:12])
    return shown if len(values) <= 12 else f"{shown}, …"


def _some(names: Iterable[str]) -> str:
    shown = [name if len(name) <= 40 else f"{name[:40]}…" for name in names]
    more = f" and {len(shown) - 5:,} more" if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more
