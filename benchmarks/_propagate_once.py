"""Fit propagation once, in a process of its own: ``python -m benchmarks._propagate_once ROWS``."""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
import torch

from grada import DomainGraph
from grada.data import DomainData
from grada.methods import Propagation, Run

ROWS, FEATURES, DEGREE = 1_000, 16, 6


def main() -> None:
    data, y = drifting(int(sys.argv[1]))
    run = Run(random_state=0, device=torch.device("cpu"))
    start, used = time.perf_counter(), time.process_time()
    fitted = Propagation().adapt(data, run)
    fit, cpu = time.perf_counter() - start, time.process_time() - used
    some = np.arange(0, len(y), 10)
    start = time.perf_counter()
    found = fitted.predict(data.X[some], data.codes[some]).argmax(axis=1)
    predict = time.perf_counter() - start
    figures = {
        "fit_seconds": fit,
        "fit_cpu_seconds": cpu,
        "predict_seconds_per_row": predict / len(some),
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "accuracy": float((found == y[some])[data.y[some] < 0].mean()),
    }
    print(json.dumps(figures))


def drifting(n_rows: int) -> tuple[DomainData, np.ndarray]:
    """Domains on a ring, joined to near ones; two classes that turn into each other's places."""
    rng = np.random.default_rng(0)
    n_domains = n_rows // ROWS
    reach = min(10, (n_domains - 1) // 2)  # on a ring, so that the degree is the same at every size
    places = np.arange(n_domains)
    further = [2 + rng.permutation(reach - 1)[: DEGREE // 2 - 1] for _ in places]
    steps = np.column_stack([np.ones_like(places), np.stack(further)])
    edges = np.column_stack([np.repeat(places, DEGREE // 2), (places[:, None] + steps).ravel()])
    edges = np.unique(np.sort(edges % n_domains, axis=1), axis=0)
    codes = np.repeat(np.arange(n_domains), ROWS)
    y = rng.integers(2, size=n_rows)
    turns = round(0.1 * n_domains / (2 * np.pi))
    angle = 2 * np.pi * turns * codes / n_domains
    X = 0.5 * rng.standard_normal((n_rows, FEATURES), dtype=np.float32)
    X[:, 0] += (2 * y - 1) * np.cos(angle) * 2
    X[:, 1] += (2 * y - 1) * np.sin(angle) * 2
    known = codes % 10 == 0
    data = DomainData(
        X=X,
        codes=codes,
        y=np.where(known, y, -1),
        weight=known.astype(np.float32),
        graph=DomainGraph.from_edges(edges, names=range(n_domains)),
        kind="classification",
        n_outputs=2,
    )
    return data, y


if __name__ == "__main__":
    main()
