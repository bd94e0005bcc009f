"""Time and memory of propagation from 10,000 to 1,000,000 rows in domains of 1,000 rows."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

from benchmarks._measure import Ratio, Requirement, Result
from benchmarks._propagate_once import DEGREE, FEATURES, ROWS

SIZES = (10_000, 100_000, 1_000_000)
MINUTES, GIBIBYTES = 10, 8


def run() -> Result:
    found = {size: measure(size) for size in SIZES}
    small, large = found[SIZES[0]], found[SIZES[-1]]
    # Of the processor, all cores together: other work on the machine must not count.
    grown = large["fit_cpu_seconds"] / small["fit_cpu_seconds"]
    n_log_n = (SIZES[-1] * math.log(SIZES[-1])) / (SIZES[0] * math.log(SIZES[0]))
    return Result(
        name="propagation",
        summary="fits in "
        + ", ".join(f"{found[size]['fit_seconds']:.1f}" for size in SIZES)
        + f" s at {', '.join(f'{size:,}' for size in SIZES)} rows; "
        f"{large['peak_bytes'] / 2**30:.1f} GiB at the peak of the last",
        settings={
            "method": "propagation",
            "rows_per_domain": ROWS,
            "features": FEATURES,
            "graph": f"near domains of a ring, average degree {DEGREE}",
            "table": "two classes that drift with the domain, a tenth of the domains labelled",
            "threads": os.cpu_count(),
            "peak_bytes": "largest size of the whole process",
        },
        figures={str(size): figures for size, figures in found.items()},
        requirements=[
            Requirement(
                f"minutes at {SIZES[-1]:,} rows",
                Ratio.exact(large["fit_seconds"] / 60),
                "at most",
                MINUTES,
            ),
            Requirement(
                f"GiB at {SIZES[-1]:,} rows",
                Ratio.exact(large["peak_bytes"] / 2**30),
                "at most",
                GIBIBYTES,
            ),
            Requirement(
                "growth of processor time / of n log n", Ratio.exact(grown / n_log_n), "at most", 1
            ),
        ],
    )


def measure(n_rows: int) -> dict[str, float]:
    """In a process of its own, whose peak is that of this size alone."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._propagate_once", str(n_rows)],
        cwd=Path(__file__).parents[1],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found
