"""Fit and predict on a table of 5,000,000 rows with little memory, beside scikit-learn.

Runs alone too, smaller if asked: ``python -m benchmarks.large_table --rows 200000``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from benchmarks._large_table_once import EDGES, EPOCHS, OUT, TABLE, TRUTH
from benchmarks._measure import Ratio, Requirement, Result, Skipped

ROWS, FEATURES, DOMAINS = 5_000_000, 20, 50
FOR_LIBRARIES = 1.5 * 1024
ROWS_PER_SECOND = 200_000
_BYTES_NEEDED_PER_ROW = 600
#: Arrow's own allocator reserves a gigabyte at its first use, which the cap would count although
#: nearly nothing of it is ever used.
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def run(rows: int = ROWS) -> Result:
    if shutil.disk_usage(tempfile.gettempdir()).free < rows * _BYTES_NEEDED_PER_ROW:
        raise Skipped(f"{rows * _BYTES_NEEDED_PER_ROW / 2**30:.1f} GiB of temporary space needed")
    cap = rows * FEATURES * 4 / 4 / 2**20 + FOR_LIBRARIES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_table(folder, rows)
        fit = once("fit", folder, cap)
        predict = once("predict", folder)
        peer = once("sklearn", folder)
        scores = {"grada": accuracy(folder / OUT), "sklearn": accuracy(folder / "out-sklearn.csv")}
    return Result(
        name="large_table",
        summary=f"{rows:,} rows fitted in {fit['seconds']:.0f} s under a cap of {cap:.0f} MiB, "
        f"predicted and written at {predict['rows_per_second']:,.0f} rows a second "
        f"(scikit-learn {peer['rows_per_second']:,.0f})",
        settings={
            "rows": rows,
            "features": FEATURES,
            "domains": DOMAINS,
            "method": f"grda, {EPOCHS} epochs at most",
            "cap_mebibytes": cap,
            "cap": "RLIMIT_DATA: a quarter of the table in float32, and 1.5 GiB for libraries",
            "environment": ENVIRONMENT,
            "accuracy": "in domains without labels",
            "rows_per_second": "from the Parquet file to a CSV file with probabilities",
        },
        figures={"fit": fit, "predict": predict, "sklearn": peer, "accuracy": scores},
        requirements=[
            # The system has seen to it: a fit that asks for more ends in an error.
            Requirement(
                "memory of the fit / cap",
                Ratio.exact(fit["peak_data_mebibytes"] / cap),
                "at most",
                1,
            ),
            Requirement(
                "rows a second that predict writes",
                Ratio.exact(predict["rows_per_second"]),
                "at least",
                ROWS_PER_SECOND,
            ),
        ],
    )


def make_table(folder: Path, rows: int, at_once: int = 250_000) -> None:
    """Two classes that drift around a ring of domains, the first half of which has labels."""
    rng = np.random.default_rng(0)
    names = np.array([f"place {code:02d}" for code in range(DOMAINS)])
    ring = np.arange(DOMAINS)
    edges = pd.DataFrame({"from": names, "to": names[(ring + 1) % DOMAINS]})
    edges.to_csv(folder / EDGES, index=False)
    writer, truth = None, []
    for start in range(0, rows, at_once):
        n = min(at_once, rows - start)
        codes, y = rng.integers(DOMAINS, size=n), rng.integers(2, size=n)
        angle = np.pi / 2 * np.minimum(codes, DOMAINS - codes) / DOMAINS
        X = rng.standard_normal((n, FEATURES), dtype=np.float32)
        X[:, 0] += 1.5 * (2 * y - 1) * np.cos(angle)
        X[:, 1] += 1.5 * (2 * y - 1) * np.sin(angle)
        columns: dict[str, Any] = {"place": pa.array(names[codes]).dictionary_encode()}
        columns |= {f"x{at}": pa.array(X[:, at]) for at in range(FEATURES)}
        answer = np.where(y == 1, "yes", "no").astype(object)
        answer[codes >= DOMAINS // 2] = None
        columns["answer"] = pa.array(answer, pa.string())
        truth.append(np.where(codes >= DOMAINS // 2, y, -1).astype(np.int8))
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(folder / TABLE, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    np.save(folder / TRUTH, np.concatenate(truth))


def accuracy(path: Path) -> float:
    """Share of right predictions in domains without labels."""
    truth = np.load(path.parent / TRUTH)
    options = arrow_csv.ConvertOptions(include_columns=["prediction"])
    said = arrow_csv.read_csv(path, convert_options=options)["prediction"].to_pandas() == "yes"
    known = truth >= 0
    return float((said.to_numpy()[known] == (truth[known] == 1)).mean())


def once(stage: str, folder: Path, cap: float | None = None) -> dict[str, Any]:
    """One stage in a fresh process, on two threads."""
    command = [sys.executable, "-m", "benchmarks._large_table_once", stage, str(folder)]
    done = subprocess.run(
        command + ([] if cap is None else [str(cap)]),
        cwd=Path(__file__).parents[1],
        env=os.environ | ENVIRONMENT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_table", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    result = run(parser.parse_args().rows)
    print(json.dumps({**result.settings, **result.figures}, indent=2))


if __name__ == "__main__":
    main()
