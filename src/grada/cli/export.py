"""``grada export``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from grada.benchmark import TASKS, load_task
from grada.cli._shared import AsJson, app, check_known, errors_in_words
from grada.datasets import Task
from grada.files import atomic_file, write_graph


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
        rows, truth = _tables(task)
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


def _tables(task: Task) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows with the visible labels, and the hidden ones."""
    X, y, domain = task.visible()
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"The rows of {task.name} are no table: they have the shape {X.shape[1:]}."
        )
    features = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
    hidden = np.isin(domain, task.targets)
    labels = _labels(y)
    truth = _labels(task.reveal())
    rows = pd.concat([pd.Series(domain, name="domain"), features, labels], axis=1)
    known = pd.concat([pd.Series(domain, name="domain"), truth], axis=1)[hidden]
    return rows, known.reset_index(names="row")


def _labels(y: object) -> pd.DataFrame:
    values = np.asarray(y)
    if values.ndim == 1:
        whole = pd.Series(values, name="label")
        if values.dtype.kind == "f" and np.all(np.isnan(values) | (values == np.round(values))):
            whole = whole.astype("Int64")
        return whole.to_frame()
    return pd.DataFrame(values, columns=[f"label{i + 1}" for i in range(values.shape[1])])
