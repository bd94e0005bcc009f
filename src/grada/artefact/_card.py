"""The model card: what a person should know before using a model."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

from grada.artefact._registry import LABELS, ROWS

_SHOWN = 20
_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~])")


def model_card(estimator: Any, summary: dict[str, Any]) -> str:
    """The card in Markdown.

    Parameters
    ----------
    estimator : AdaptedClassifier or AdaptedRegressor
    summary : dict
        What model.json says.

    Returns
    -------
    str
    """
    what = "classes" if summary["classes"] is not None else "values"
    parts = [
        f"# A model that predicts {what} across {len(summary['domains'])} domains",
        f"`{summary['estimator']}` of grada {summary['versions']['grada']}, "
        f"method `{summary['method']['name']}`: {_lower(_first_line(estimator.method_))}",
        _verdict(estimator, summary),
        "## Rows of the training data in this folder",
        _privacy(summary["holds"]),
        "## Data it was fitted on",
        _data(summary),
        "## Settings",
        _settings(summary),
        "## How to use it",
        _usage(summary),
        "## Versions",
        "\n".join(f"- {name} {number}" for name, number in summary["versions"].items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(estimator: Any, summary: dict[str, Any]) -> str:
    if summary["verdict"] is None:
        return ""
    report = "\n".join(f"    {line}" for line in str(estimator.report_).splitlines())
    return f"**{_text(summary['verdict'])}**\n\n{report}"


def _privacy(holds: Sequence[str]) -> str:
    always = (
        "In any case the folder names the columns, their categories, the classes and the domains, "
        "and holds numbers learned from the rows, such as means of domains: of a domain with one "
        "row that is the row."
    )
    if ROWS in holds:
        said = (
            "**Yes: this folder holds rows of the training data** (features, scaled or as the "
            "model encodes them; for some methods labels too). The method predicts from them. "
            "Whoever gets the folder gets these rows: treat it as you treat the data."
        )
    elif LABELS in holds:
        said = (
            "**In part: this folder holds labels of single training rows**, with the domain of "
            "each, to say how far off predictions are, but no features of rows. Treat it as you "
            "treat the labels."
        )
    else:
        said = "**No: this folder holds no rows of the training data.**"
    return f"{said} {always}"


def _data(summary: dict[str, Any]) -> str:
    features, data = summary["features"], summary["data"] or {}
    lines = []
    if data:
        lines.append(f"- {data['rows']} rows, {data['labelled']} of them with a label")
    lines.append(f"- {len(summary['domains'])} domains, {summary['edges']} edges between them")
    if data:
        lines.append(f"- sources (domains with labels), {_listed(data['sources'])}")
        lines.append(f"- targets (rows but no labels), {_listed(data['targets'])}")
    names = features["names"]
    lines.append(f"- features, {_listed(names) if names else features['count']}")
    if features["categorical"]:
        lines.append(f"- categorical among them, {_listed(features['categorical'])}")
    if summary["classes"] is not None:
        lines.append(f"- classes, {_listed(summary['classes'])}")
    return "\n".join(lines)


def _settings(summary: dict[str, Any]) -> str:
    rows = [*summary["method"]["settings"].items(), *summary["parameters"].items()]
    lines = [f"| {_text(name)} | {_text(value)} |" for name, value in rows]
    return "\n".join(["| setting | value |", "|---|---|", *lines])


def _usage(summary: dict[str, Any]) -> str:
    given = ", encoder=module" if summary["needs_encoder"] else ""
    column = summary["parameters"].get("domain") is not None
    asked = "model.predict(table)" if column else "model.predict(table, sample_domain=domains)"
    code = f'```python\nimport grada\n\nmodel = grada.load("this folder"{given})\n{asked}\n```'
    if not given:
        return code
    classes = ", ".join(_text(name) for name in summary["needs_encoder"])
    return (
        f"{code}\n\n`module` is the encoder it was fitted with ({classes}); its code is not here."
    )


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(_text(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)}: {shown}{more}" if names else "none"


def _text(value: object) -> str:
    """A user's words as words: no Markdown, no HTML, one line."""
    line = " ".join(str(value).split())[:300]
    return _MARKS.sub(r"\\\1", html.escape(line, quote=False))


def _first_line(method: object) -> str:
    return (type(method).__doc__ or "").strip().partition("\n")[0]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
