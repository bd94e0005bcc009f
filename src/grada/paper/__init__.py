"""The paper's experiments: every table and figure is made by one command.

``grada bench paper`` makes all of them, ``grada bench paper --only table-1`` one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import grada.paper._drawings as _drawings
import grada.paper._tables as _tables
from grada.paper._page import Context, Part, RunJobs, read_parts, write_page

#: What can be made, by name, in the order of the page.
PARTS: dict[str, Callable[[Context], Part]] = {
    "summary": _tables.table_summary,
    "table-1": _tables.table_1,
    "figure-dg15": _drawings.scores_dg15,
    "figure-dg60": _drawings.scores_dg60,
    "table-2": _tables.table_2,
    "figure-tpt48": _drawings.scores_tpt48,
    "table-3": _tables.table_3,
    "figure-compcars": _drawings.scores_compcars,
    "table-adagraph": _tables.table_adagraph,
    "table-ssl": _tables.table_ssl,
    "table-sentry": _tables.table_sentry,
    "table-sources": _tables.table_sources,
    "figure-sources": _drawings.by_sources,
    "table-digits": _tables.table_digits,
    "figure-loss": _drawings.loss,
    "figure-chain": _drawings.chain,
    "figure-encodings": _drawings.encodings,
    "figure-boundaries": _drawings.boundaries,
    "figure-temperatures": _drawings.temperatures,
    "figure-states": _drawings.states,
}


def make(names: Sequence[str], *, run: RunJobs, seeds: int, out: Path) -> list[Path]:
    """Make tables and figures, and write the page.

    Each part is put on the page as soon as it is there.

    Parameters
    ----------
    names : sequence of str
        Some of ``PARTS``.
    run : callable
        From a list of jobs to their records.
    seeds : int
        Runs of each method.
    out : path
        Folder of ``results.md``, ``results.json`` and ``figures/``.

    Returns
    -------
    list of paths
        What was written.
    """
    read_parts(out)  # a damaged file is refused now, not after hours
    context = Context(run, seeds, out)
    written: dict[Path, None] = {}
    for name in names:
        written |= dict.fromkeys(write_page({name: PARTS[name](context)}, list(PARTS), out))
    return list(written)
