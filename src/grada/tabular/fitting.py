"""Fit a model to a table, keep with it how the table is read, and load both again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from grada import artefact, methods
from grada.data import Kind
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.files import Column
from grada.report.page import PageData, PageFormatError, collect
from grada.tabular.source import Reading, TableSource
from grada.training import AdaptationWarning

_TABLE, _PAGE = "table.json", "page.json"


@dataclass(frozen=True)
class FittedTable:
    """A model, how its table is read, and the data of its report.

    Attributes
    ----------
    model : AdaptedClassifier or AdaptedRegressor
    columns : list of Column
        The features.
    domain, label : str
        Names of columns.
    page : PageData, optional
        What a report shows.
    notes : list of str
        What was decided about the table and the graph, and what the fit warned of.
    """

    model: Any
    columns: list[Column]
    domain: str
    label: str
    page: PageData | None = None
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """What is predicted."""
        return "classification" if isinstance(self.model, AdaptedClassifier) else "regression"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model folder, whole or not at all."""
        table = {
            "domain": self.domain,
            "label": self.label,
            "columns": [column.to_dict() for column in self.columns],
            "notes": list(self.notes),
        }
        extras = {_TABLE: json.dumps(table, ensure_ascii=False, indent=1).encode("utf-8")}
        if self.page is not None:
            extras[_PAGE] = self.page.to_json().encode("utf-8")
        artefact.save(self.model, path, extras=extras)


def fit_table(
    source: TableSource,
    *,
    method: str = "auto",
    settings: Mapping[str, Any] | None = None,
    calibrate: bool = False,
    random_state: int = 0,
    checkpoint: Path | None = None,
    verbose: int = 0,
    command: str = "",
    reading: Reading | None = None,
) -> FittedTable:
    """Read a table and a graph, and fit a model.

    Parameters
    ----------
    source : TableSource
    method : str
        Name of a method.
    settings : mapping of names to values, optional
        Of the method.
    calibrate : bool
        Whether to learn intervals and probabilities from hidden sources; ``auto`` does anyway.
    random_state : int
    checkpoint : path, optional
        Folder in which the state of the fit is kept.
    verbose : int
        Whether to show progress.
    command : str
        What made this, for the report.
    reading : Reading, optional
        The source, if it was read already.

    Returns
    -------
    FittedTable
    """
    reading = source.read() if reading is None else reading
    reading.check_targets(method)
    estimator = make_estimator(
        reading.kind,
        method,
        settings,
        graph="discover" if reading.graph is None else reading.graph,
        calibrate=calibrate,
        random_state=random_state,
        checkpoint=checkpoint,
        verbose=verbose,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(reading.X, reading.labels, sample_domain=reading.domains)
    told = [str(each.message) for each in caught if issubclass(each.category, AdaptationWarning)]
    notes = [*reading.notes, *dict.fromkeys(told)]
    page = collect(
        estimator,
        reading.X,
        reading.labels,
        reading.domains,
        title=f"{source.label} in {source.table.name}",
        notes=notes,
        checksums=reading.checksums,
        command=command,
        random_state=random_state,
    )
    return FittedTable(
        estimator, reading.columns, source.domain, source.label, page, notes=tuple(notes)
    )


def make_estimator(
    kind: Kind, method: str, settings: Mapping[str, Any] | None, **options: Any
) -> AdaptedClassifier | AdaptedRegressor:
    """An estimator by names, refused in words if there is no such method or setting.

    Parameters
    ----------
    kind : {"classification", "regression"}
    method : str
    settings : mapping of names to values, optional
    **options
        Of the estimator.

    Returns
    -------
    AdaptedClassifier or AdaptedRegressor
    """
    chosen = make_method(method, settings)
    if kind not in chosen.kinds:
        known = [info.name for info in methods.available().values() if kind in info.kinds]
        raise ValueError(
            f"Method {method!r} does {' and '.join(chosen.kinds)} only, and this is {kind}. "
            f"Methods for it: {', '.join(known)}."
        )
    estimator = AdaptedClassifier if kind == "classification" else AdaptedRegressor
    return estimator(chosen, **options)


def make_method(name: str, settings: Mapping[str, Any] | None) -> methods.Method:
    """A method by its name, with settings that are known and in their range.

    Parameters
    ----------
    name : str
    settings : mapping of names to values, optional

    Returns
    -------
    Method
    """
    chosen = methods.resolve(name)
    known = sorted(chosen.get_params(deep=False))
    for setting in settings or {}:
        if setting not in known:
            raise ValueError(
                f"Method {name!r} has no setting {setting!r}. It has: {', '.join(known)}."
            )
    chosen.set_params(**(settings or {}))
    chosen._validate_params()
    return chosen


def load_table_model(path: str | PathLike[str]) -> FittedTable:
    """Load a model folder that ``grada fit`` made.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FittedTable
    """
    extras = artefact.extras(path)
    if _TABLE not in extras:
        raise artefact.ArtefactError(
            f"{path} was saved from Python and does not say how a table is read: use "
            "grada.load and predict there, or fit it with `grada fit`."
        )
    model = artefact.load(path)
    try:
        table = json.loads(extras[_TABLE])
        columns = [Column.from_dict(each) for each in table["columns"]]
        page = PageData.from_json(extras[_PAGE].decode("utf-8")) if _PAGE in extras else None
        return FittedTable(
            model, columns, table["domain"], table["label"], page, tuple(table["notes"])
        )
    except (KeyError, TypeError, ValueError, PageFormatError) as error:
        raise artefact.ArtefactError(
            f"{path} is malformed: what it says of its table cannot be read ({error})."
        ) from error


def load_page(path: str | PathLike[str]) -> PageData:
    """Data of the report in a model folder, without loading the model.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    PageData
    """
    extras = artefact.extras(path)
    if _PAGE not in extras:
        raise artefact.ArtefactError(
            f"{path} holds no data for a report. Models that `grada fit` makes do; in Python, use "
            "grada.report.page.collect with the model and its rows."
        )
    return PageData.from_json(extras[_PAGE].decode("utf-8"))
