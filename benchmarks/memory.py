"""Memory of building graph, data and dealer, by edges and by rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks._build_once import DOMAINS, FEATURES
from benchmarks._measure import Ratio, Requirement, Result

# Three sizes at equal distances: growth is linear if both increments are the same.
SIZES = (100_000, 550_000, 1_000_000)
SMALL = 10_000
LINEAR = 1.25


def run() -> Result:
    by_edges = [measure(n_edges=size, n_rows=SMALL) for size in SIZES]
    by_rows = [measure(n_edges=SMALL, n_rows=size) for size in SIZES]
    edges, rows = growth(by_edges), growth(by_rows)
    return Result(
        name="memory",
        summary=f"at the peak {edges['peak']['bytes_each']:.0f} bytes an edge and "
        f"{rows['peak']['bytes_each']:.0f} a row of {FEATURES} features; kept "
        f"{edges['kept']['bytes_each']:.0f} and {rows['kept']['bytes_each']:.0f}",
        settings={
            "domains": DOMAINS,
            "features": FEATURES,
            "sizes": SIZES,
            "held_fixed": SMALL,
            "built": "DomainGraph.from_edges, DomainData.from_table, Dealer",
            "peak, kept": "bytes that Python and NumPy allocate, without the input (tracemalloc)",
            "process": "growth of the process at its peak, in a run without tracing",
            "bytes_each": "growth from the smallest to the largest size, per edge or row",
            "ratio_of_increments": "second increment / first; 1 is linear",
        },
        figures={
            "edges": edges,
            "rows": rows,
            "bytes_by_edges": dict(zip(SIZES, by_edges, strict=True)),
            "bytes_by_rows": dict(zip(SIZES, by_rows, strict=True)),
        },
        requirements=[
            Requirement(
                f"second / first increment, {what}",
                Ratio.exact(found["peak"]["ratio_of_increments"]),
                "at most",
                LINEAR,
            )
            for what, found in (("edges", edges), ("rows", rows))
        ],
    )


def growth(points: list[dict[str, int]]) -> dict[str, dict[str, float]]:
    """Bytes per edge or row, and how far the growth is from linear."""
    found = {}
    for what in points[0]:
        first, middle, last = (point[what] for point in points)
        found[what] = {
            "bytes_each": (last - first) / (SIZES[-1] - SIZES[0]),
            "ratio_of_increments": (last - middle) / (middle - first),
        }
    return found


def measure(*, n_edges: int, n_rows: int) -> dict[str, int]:
    """Each in a fresh process: memory that an earlier build freed would hide what a later takes."""
    arrays = _build_once(n_edges, n_rows, "arrays")
    process = _build_once(n_edges, n_rows, "process")
    return arrays | {f"process_{name}": value for name, value in process.items()}


def _build_once(n_edges: int, n_rows: int, how: str) -> dict[str, int]:
    command = [sys.executable, "-m", "benchmarks._build_once", str(n_edges), str(n_rows), how]
    # glibc keeps freed arrays for later unless told that all but small ones go back at once.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found
