"""Gradual adaptation over 10,000 domains: 1,000,000 rows on a grid, labels in one corner."""

from __future__ import annotations

import time
import warnings

import numpy as np
import torch

from benchmarks._measure import Ratio, Requirement, Result
from grada import DomainGraph
from grada.data import DomainData
from grada.methods import Gradual
from grada.methods._base import Run

SIDES = (30, 100)
ROWS, FEATURES, CORNER = 100, 8, 0.3
LIMIT = 600.0  # seconds
METHOD = Gradual()


def run() -> Result:
    seconds, cpu_seconds, accuracy, rounds = {}, {}, {}, {}
    for side in SIDES:
        data, truth = turning_grid(side)
        start, cpu_start = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = METHOD.adapt(data, Run(random_state=0, device=torch.device("cpu")))
        name = str(side * side)
        seconds[name] = time.perf_counter() - start
        cpu_seconds[name] = time.process_time() - cpu_start
        rounds[name] = fitted.history.n_epochs
        hidden = data.weight == 0
        found = fitted.predict(data.X[hidden], data.codes[hidden]).argmax(axis=1)
        accuracy[name] = 100.0 * float(np.mean(found == truth[hidden]))

    large = str(SIDES[-1] ** 2)
    return Result(
        name="gradual",
        summary=f"{large} domains of {ROWS} rows take {seconds[large]:.0f} s, "
        f"{accuracy[large]:.1f}% right",
        settings={
            "method": "gradual, default settings",
            "graph": "square grid",
            "table": f"{ROWS} rows a domain, {FEATURES} features, two classes that turn by a half "
            f"turn from corner to corner; labels where both sides are below {CORNER:g}",
        },
        figures={
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "accuracy": accuracy,
            "rounds": rounds,
        },
        requirements=[
            Requirement(
                f"seconds at {large} domains / {LIMIT:g}",
                Ratio.exact(seconds[large] / LIMIT),
                "at most",
                1.0,
            ),
            Requirement(
                f"accuracy at {large} domains / 100",
                Ratio.exact(accuracy[large] / 100),
                "at least",
                0.95,
            ),
        ],
    )


def turning_grid(side: int) -> tuple[DomainData, np.ndarray]:
    """Two blobs on opposite sides of the origin, turned a little in each domain; true classes."""
    rng = np.random.default_rng(0)
    n_domains = side * side
    across, down = np.divmod(np.arange(n_domains), side) / np.float64(side)
    codes = np.repeat(np.arange(n_domains), ROWS)
    truth = rng.integers(2, size=len(codes))
    angle = np.pi * (across + down)[codes] / 2
    X = rng.standard_normal((len(codes), FEATURES), dtype=np.float32)
    X[:, :2] *= 0.5
    X[:, :2] += (2 * truth - 1)[:, None] * 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    known = ((across < CORNER) & (down < CORNER))[codes]
    data = DomainData(
        X=X,
        codes=codes,
        y=np.where(known, truth, -1),
        weight=known.astype(np.float32),
        graph=DomainGraph(range(n_domains), DomainGraph.grid(side, side).weights),
        kind="classification",
        n_outputs=2,
    )
    return data, truth
