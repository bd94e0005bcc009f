"""A model for domains of a table that it does not know yet."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

import numpy as np
import pandas as pd

from grada.files import FileError, TableFile, read_chunks, read_edges
from grada.files.errors import counted, listed
from grada.files.reading import count_domains
from grada.tabular.fitting import FittedTable


def extend_to_table(
    fitted: FittedTable, table: TableFile, graph: str | PathLike[str], *, domain: str
) -> tuple[FittedTable, list[str]]:
    """The same model for the new domains of a table, given their edges; nothing is trained.

    Parameters
    ----------
    fitted : FittedTable
    table : TableFile
        Rows of new domains say where these lie.
    graph : str or path
        Edge list with the new domains; edges between known domains are not looked at.
    domain : str
        Column with the domain of each row.

    Returns
    -------
    FittedTable, list of str
        And remarks.
    """
    model = fitted.model
    edges = read_edges(graph).graph()
    counts = count_domains(table, domain=domain).rows_in
    known = set(model.graph_.names)
    new = [name for name in counts if name not in known]
    joined = [name for name in new if name in edges]
    lost = [name for name in new if name not in edges]
    if lost:
        raise FileError(
            table.path,
            f"has rows of {listed(lost)}, which neither the model knows nor the graph names.",
        )
    if not new:
        return fitted, ["All domains of the table are known: the graph is not needed."]
    frames, names = [], []
    for part in read_chunks(table, fitted.columns, domain=domain):
        fresh = np.isin(part.domains.astype(str), joined)
        frames.append(part.frame[fresh])
        names.append(part.domains[fresh])
    larger = model.extend(
        edges, pd.concat(frames, ignore_index=True), sample_domain=np.concatenate(names)
    )
    notes = [f"Extended to {counted(len(new), 'new domain')} without training: {listed(new)}."]
    return replace(fitted, model=larger), notes
