"""Build graph, data and dealer once, in a process of its own, and print what memory it took.

``python -m benchmarks._build_once EDGES ROWS {arrays,process}``
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grada import DomainGraph
from grada.data import DomainData
from grada.training.batches import Dealer

DOMAINS, FEATURES = 100_000, 16


def main() -> None:
    n_edges, n_rows, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    # What is imported on first use is no memory of the data.
    build(*tables(n_edges=200, n_rows=100, n_domains=100))
    inputs = tables(n_edges=n_edges, n_rows=n_rows, n_domains=DOMAINS)
    gc.collect()
    measure = measure_arrays if how == "arrays" else measure_process
    print(json.dumps(measure(inputs)))


def tables(*, n_edges: int, n_rows: int, n_domains: int) -> tuple[Any, ...]:
    """Edge list, features, labels with gaps and domains, as a user would bring them."""
    rng = np.random.default_rng(0)
    # Rings of growing stride: as many distinct edges as asked for, without a search for them.
    index = np.arange(n_edges)
    first, stride = index % n_domains, index // n_domains + 1
    edges = np.column_stack([first, (first + stride) % n_domains])
    X = rng.standard_normal((n_rows, FEATURES))
    domain = rng.integers(n_domains, size=n_rows)
    y = np.where(domain < n_domains // 2, X[:, 0] > 0, np.nan)
    return n_domains, edges, X, y, domain


def build(n_domains: int, edges: Any, X: Any, y: Any, domain: Any) -> Dealer:
    """The way from a table and an edge list to the first batch."""
    graph = DomainGraph.from_edges(edges, names=range(n_domains))
    data = DomainData.from_table(X, y, domain, graph=graph, kind="classification")
    return Dealer(
        data,
        batch_size=128,
        device=torch.device("cpu"),
        domains_per_step=64,
        rows_per_domain=4,
        policy="mixture",
    )


def measure_arrays(inputs: tuple[Any, ...]) -> dict[str, int]:
    """Bytes that Python and NumPy allocate: at the peak, and kept at the end."""
    tracemalloc.start()
    dealer = build(*inputs)
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory()
    del dealer
    return {"peak": peak, "kept": kept}


def measure_process(inputs: tuple[Any, ...]) -> dict[str, int]:
    """Growth of the process at its peak, as the system sees it (Linux only)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return {}
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now on
    before = _kilobytes(status, "VmRSS")
    build(*inputs)
    return {"peak": 1024 * (_kilobytes(status, "VmHWM") - before)}


def _kilobytes(status: Path, name: str) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])


if __name__ == "__main__":
    main()
