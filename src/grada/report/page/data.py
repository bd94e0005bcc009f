"""All that a report page shows, as plain values that go to JSON and back."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from grada.report.page.strict import PageFormatError, no_constant, read

#: Raised when the fields change, so that an older or newer file is refused in words.
FORMAT = 1

Kind = Literal["classification", "regression", "results"]
Role = Literal["source", "target", "no rows"]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Headline:
    """One of the figures on top: what, how much, and a few words."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Domain:
    """One domain: its place in the drawing, its rows, its scores.

    Attributes
    ----------
    name : str
    role : {"source", "target", "no rows"}
    hops : int, optional
        Edges to the nearest source; None where no path leads to one.
    n_rows, n_labelled : int
    x, y : float
        Place in the drawing of the graph, from 0 to 1.
    estimate, low, high : float, optional
        Estimated score with its 90 % interval.
    measured : float, optional
        Score on the true labels of a target.
    plain : float, optional
        That of the plain model, without adaptation.
    seen : float, optional
        Score on labels that were used in the fit.
    confidence : float, optional
        Mean probability of the predicted class.
    width : float, optional
        Half the width of the 90 % interval of a value, the mean over rows and outputs.
    values : tuple of float
        Share of each predicted class, or mean prediction of each output.
    """

    name: str
    role: Role
    hops: int | None
    n_rows: int
    n_labelled: int
    x: float
    y: float
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    measured: float | None = None
    plain: float | None = None
    seen: float | None = None
    confidence: float | None = None
    width: float | None = None
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Level:
    """Mean scores of the domains at one distance from the sources."""

    level: str
    n_domains: int
    estimate: float | None = None
    measured: float | None = None
    plain: float | None = None
    seen: float | None = None


@dataclass(frozen=True)
class Curve:
    """One figure over the epochs; None where it was not measured."""

    name: str
    epochs: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Encodings:
    """Sampled rows in the plane, and nothing else of them.

    ``domain`` holds positions in the list of domains; ``group`` the predicted class of each row,
    or ``value`` the predicted value (first output).
    """

    pca: tuple[tuple[float, float], ...] = ()
    tsne: tuple[tuple[float, float], ...] = ()
    domain: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    value: tuple[float, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """One candidate that ``auto`` tried."""

    name: str
    share: float
    estimate: float | None
    hidden: float | None
    seconds: float
    problem: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MethodRow:
    """One method over several seeds of a benchmark."""

    method: str
    mean: float
    std: float
    worst: float
    levels: dict[str, float]
    seconds: float
    scores: tuple[float, ...]
    seeds: tuple[int, ...]
    warned: int = 0


@dataclass(frozen=True)
class ResultTable:
    """The methods of one task and protocol."""

    task: str
    protocol: str
    metric: str
    levels: tuple[str, ...]
    methods: tuple[MethodRow, ...]


@dataclass(frozen=True)
class PageData:
    """All that the page needs; see ``collect`` and ``collect_results``.

    Examples
    --------
    >>> page = PageData(title="Shops", kind="results", metric="accuracy", verdict="Fine.")
    >>> PageData.from_json(page.to_json()) == page
    True
    """

    title: str
    kind: Kind
    metric: str
    verdict: str
    method: str = ""
    created: str = ""
    headlines: tuple[Headline, ...] = ()
    outputs: tuple[str, ...] = ()
    domains: tuple[Domain, ...] = ()
    n_domains: int = 0
    edges: tuple[tuple[int, int, float], ...] = ()
    levels: tuple[Level, ...] = ()
    curves: tuple[Curve, ...] = ()
    training: str = ""
    encodings: Encodings = Encodings()
    candidates: tuple[Candidate, ...] = ()
    results: tuple[ResultTable, ...] = ()
    summary: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    command: str = ""
    format: int = FORMAT

    def to_json(self) -> str:
        """Strict JSON: no NaN, no infinity."""
        return json.dumps(asdict(self), allow_nan=False, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what ``to_json`` wrote.

        Raises
        ------
        PageFormatError
            It is no JSON, of another format version, or a field is missing, unknown or wrong.
        """
        try:
            found = json.loads(text, parse_constant=no_constant)
        except (ValueError, RecursionError) as error:
            raise PageFormatError(f"not a report page: {error}") from None
        version = found.get("format") if isinstance(found, dict) else None
        if version != FORMAT:
            raise PageFormatError(
                f"a report page of format {version!r}, but this version of grada reads "
                f"{FORMAT}: make the page again"
            )
        page: Self = read(cls, found, "page")
        page.check()
        return page

    def check(self) -> None:
        """Refuse positions that point at no domain, and columns of different length."""
        count, rows = len(self.domains), self.encodings
        ends = [end for edge in self.edges for end in edge[:2]]
        if any(not 0 <= at < count for at in [*ends, *rows.domain]):
            raise PageFormatError(f"page: an edge or a row is of a domain beyond the {count} there")
        if any(len(part) not in (0, len(rows.pca)) for part in (rows.tsne, rows.group, rows.value)):
            raise PageFormatError("page.encodings: columns differ in length")
        if len(rows.domain) != len(rows.pca):
            raise PageFormatError("page.encodings: columns differ in length")
        if any(len(curve.epochs) != len(curve.values) for curve in self.curves):
            raise PageFormatError("page.curves: an epoch without a value")


def clean(value: object) -> str:
    r"""A user's text without what no page can show: control characters and halves of pairs.

    Examples
    --------
    >>> clean("a\x00b")
    'a�b'
    """
    text = str(value).encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("\ufffd", text)


def class_name(value: object) -> str:
    """A class as text; a whole number that became a float beside NaN is shown as it was.

    Examples
    --------
    >>> class_name(1.0), class_name("1.0")
    ('1', '1.0')
    """
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else clean(value)  # type: ignore[call-overload]


def finite(value: Any) -> float | None:
    """A number, or None for what JSON cannot hold."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
