"""Run all benchmarks, or those named: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import argparse
import sys

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import (
    gradual,
    large_table,
    memory,
    method_steps,
    pair_loss,
    peer_skada,
    propagation,
    scaling,
    trainer_overhead,
)
from benchmarks._measure import Requirement, Result, Skipped

BENCHMARKS = {
    "pair_loss": pair_loss.run,
    "trainer_overhead": trainer_overhead.run,
    "method_steps": method_steps.run,
    "peer_skada": peer_skada.run,
    "scaling": scaling.run,
    "memory": memory.run,
    "propagation": propagation.run,
    "gradual": gradual.run,
    "large_table": large_table.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; known: {', '.join(BENCHMARKS)}")

    # One thread: with more, the ratios would depend on how many cores happen to be free.
    torch.set_num_threads(1)
    console = Console()
    results = []
    for name in names:
        try:
            with console.status(f"{name} ..."):
                result = BENCHMARKS[name]()
        except Skipped as reason:
            console.print(f"{name}: skipped, {reason}", highlight=False, markup=False)
            continue
        result.write()
        console.print(f"{name}: {result.summary}", highlight=False)
        results.append(result)
    console.print(_table(results))
    missed = [(one.name, need) for one in results for need in one.requirements if not need.met]
    for name, need in missed:
        found = f"{need.what} is {need.ratio.median:#.3g}"
        console.print(f"Missed in {name}: {found}; {_wanted(need)} is required.")
    return 1 if missed else 0


def _table(results: list[Result]) -> Table:
    table = Table(title="One torch thread; median and quartiles over rounds")
    for column in ("benchmark", "ratio", "measured", "quartiles", "required", ""):
        table.add_column(column)
    for result in results:
        for need in result.requirements:
            low, high = need.ratio.quartiles
            spread = f"{low:#.3g} to {high:#.3g}" if low != high else ""
            measured = f"{need.ratio.median:#.3g}"
            verdict = "[green]ok[/green]" if need.met else "[red]missed[/red]"
            table.add_row(result.name, need.what, measured, spread, _wanted(need), verdict)
    return table


def _wanted(need: Requirement) -> str:
    return f"{need.bound} {need.limit:g}"


if __name__ == "__main__":
    sys.exit(main())
