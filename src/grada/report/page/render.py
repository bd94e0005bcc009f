"""From the data of a page to its HTML."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from grada.report.page.data import Domain, PageData

_SCRIPTS = ("core.js", "graph.js", "table.js", "charts.js", "encodings.js")
#: More classes or outputs are shown for the selected domain only.
_MAX_COLUMNS = 4
_HOP_COLUMNS = {
    "estimate": "estimated",
    "measured": "measured",
    "plain": "plain model",
    "seen": "in the fit",
}
_PERCENT = "\u00a0%"  # never at the start of a line
#: What would end the script element, or a line of script in old readers, inside JSON.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


@dataclass(frozen=True)
class _ColumnHead:
    """A column of the table of domains: key of the value, words, and what they mean."""

    key: str
    label: str
    hint: str
    kind: str = "score"


def render(data: PageData) -> str:
    """Write the page.

    Parameters
    ----------
    data : PageData

    Returns
    -------
    str
        One HTML document without any reference to another file.
    """
    data.check()
    style, script = _asset("page.css"), _script()
    columns = _columns(data)
    template = _environment().get_template("page.html.j2")
    return template.render(
        page=data,
        columns=columns,
        hop_columns=[
            (key, words)
            for key, words in _HOP_COLUMNS.items()
            if any(getattr(level, key) is not None for level in data.levels)
        ],
        cells=[[_cell(domain, column, data) for column in columns] for domain in data.domains],
        json=embedded(data.to_json()),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        score=lambda value, metric=data.metric: _score(value, metric, data.kind),
    )


def embedded(text: str) -> str:
    r"""JSON that can stand inside a script element.

    Examples
    --------
    >>> embedded('"</script>"')
    '"\\u003c/script\\u003e"'
    """
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _columns(data: PageData) -> list[_ColumnHead]:
    """The columns for which there is anything to show."""
    found = [
        _ColumnHead("role", "role", "source: has labels; target: has none", "text"),
        _ColumnHead("hops", "hops", "edges to the nearest source", "count"),
        _ColumnHead("n_rows", "rows", "all rows of the domain", "count"),
        _ColumnHead("n_labelled", "labelled", "rows with a label in the fit", "count"),
    ]
    optional = [
        _ColumnHead("estimate", f"estimated {data.metric}", "without labels, 90 % interval"),
        _ColumnHead("measured", f"measured {data.metric}", "on true labels the fit never saw"),
        _ColumnHead("plain", "plain model", f"its {data.metric} on the same labels"),
        _ColumnHead("seen", f"{data.metric} in the fit", "on labels that the fit saw"),
        _ColumnHead("confidence", "confidence", "mean probability of the predicted class"),
        _ColumnHead("width", "±\u00a090\u00a0%", "half width of the interval of a value", "number"),
    ]
    found += [
        column
        for column in optional
        if any(getattr(domain, column.key) is not None for domain in data.domains)
    ]
    if len(data.outputs) <= _MAX_COLUMNS:
        share = data.kind == "classification"
        for at, name in enumerate(data.outputs):
            short = name if len(name) <= 24 else f"{name[:24]}…"
            label, hint = (f"share of {short}", "of the predictions") if share else (short, "mean")
            found.append(_ColumnHead(f"values.{at}", label, hint, "share" if share else "number"))
    return found


def _cell(domain: Domain, column: _ColumnHead, data: PageData) -> str:
    value: Any
    if column.key.startswith("values."):
        at = int(column.key.partition(".")[2])
        value = domain.values[at] if at < len(domain.values) else None
    else:
        value = getattr(domain, column.key)
    if column.key == "hops" and value is None:
        return "no path"
    if value is None:
        return "–"
    if column.kind == "text":
        return str(value)
    if column.kind == "count":
        return f"{value:,}"
    if column.kind == "number":
        return f"{value:.4g}"
    if column.kind == "share" or column.key == "confidence":
        return f"{100 * value:.1f}{_PERCENT}"
    told = _score(value, data.metric, data.kind)
    if column.key == "estimate" and domain.low is not None and domain.high is not None:
        low, high = (_score(end, data.metric, data.kind) for end in (domain.low, domain.high))
        return f"{told} ({low.removesuffix(_PERCENT)}–{high.removesuffix(_PERCENT)})"
    return told


def _score(value: float | None, metric: str, kind: str) -> str:
    if value is None:
        return "–"
    if metric != "accuracy":
        return f"{value:#.3g}".rstrip(".")
    # The runs of a benchmark hold percent, models hold shares.
    return f"{value if kind == 'results' else 100 * value:.1f}{_PERCENT}"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    path = resources.files("grada.report.page") / "templates" / name
    return path.read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "(() => {\n" + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("grada.report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
