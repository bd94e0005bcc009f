"""``grada export``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from grada.benchmark import TASKS, load_task
from grada.cli._shared import AsJson, app, check_known, errors_in_words
from grada.datasets import Task
from grada.files import atomic_file, write_graph

#: Names of the domain column, the features and the labels; otherwise they are numbered.
_NAMES = {
    "tpt48": (
        "state",
        ("jan", "feb", "mar", "apr", "may", "jun"),
        ("jul", "aug", "sep", "oct", "nov", "dec"),
    )
}


@app.command()
def export(
    task_name: Annotated[str, typer.Argument(metavar="TASK", help=", ".join(TASKS))],
    out: Annotated[Path, typer.Option(help="Folder for rows.csv, graph.csv and truth.csv.")],
    as_json: AsJson = False,
) -> None:
    """Write a task of the benchmark as a table and an edge list, its hidden labels apart."""
    with errors_in_words():
        check_known("task", [task_name], list(TASKS))
        task = load_task(task_name)
        rows, truth = _tables(task, task_name.partition("-")[0])
        out.mkdir(parents=True, exist_ok=True)
        files = [out / "rows.csv", out / "graph.csv", out / "truth.csv"]
        for path, frame in ((files[0], rows), (files[2], truth)):
            with atomic_file(path) as temporary:
                frame.to_csv(temporary, index=False)
        write_graph(task.graph, files[1])
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in files]}))
        return
    for path in files:
        typer.echo(str(path))


def _tables(task: Task, family: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows with the visible labels, and the hidden ones."""
    X, y, domain = task.visible()
    X, y, truth = np.asarray(X), np.asarray(y), np.asarray(task.reveal())
    if X.ndim != 2:
        raise ValueError(
            f"The rows of {task.name} are no table: they have the shape {X.shape[1:]}."
        )
    numbered = [f"x{i + 1}" for i in range(X.shape[1])]
    own, features, labels = _NAMES.get(family, ("domain", numbered, ("label",)))
    names = pd.Series(domain, name=own)
    rows = pd.concat([names, pd.DataFrame(X, columns=features), _frame(y, labels)], axis=1)
    known = pd.concat([names, _frame(truth, labels)], axis=1)[np.isin(domain, task.targets)]
    return rows, known.reset_index(names="row")


def _frame(y: NDArray[Any], names: Sequence[str]) -> pd.DataFrame:
    """Labels as columns; whole numbers stay whole beside gaps."""
    frame = pd.DataFrame(y.reshape(len(y), -1), columns=list(names))
    whole: pd.DataFrame = frame.convert_dtypes() if y.ndim == 1 else frame
    return whole
