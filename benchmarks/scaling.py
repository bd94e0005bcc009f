"""Time of a GRDA step from 100 to 100,000 domains with batches of the same shape."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks._measure import Ratio, Requirement, Result, interleave, milliseconds
from grada import DomainGraph
from grada.data import DomainData
from grada.methods import GRDA
from grada.methods._base import Run
from grada.methods._neural import NeuralGame

SIZES = (100, 1_000, 10_000, 100_000)
ROWS, FEATURES, DEGREE = 10, 2, 6
STEPS = 10
ROUNDS = 60
# Batch and networks are pinned: by default the embedding grows slowly with the number of
# domains, and 100 domains have fewer labelled rows than a default batch.
METHOD = GRDA(
    embedding="spectral",
    embedding_dim=8,
    batch_size=64,
    domains_per_step=64,
    rows_per_domain=4,
    policy="mixture",
)


def run() -> Result:
    worlds = {str(size): World(size) for size in SIZES}
    steps = {name: world.step for name, world in worlds.items()}
    deals = {f"deal {name}": world.deal for name, world in worlds.items()}
    seconds = interleave(steps | deals, rounds=ROUNDS, warmup=5)

    small, large = str(SIZES[0]), str(SIZES[-1])
    step_ms = {name: milliseconds(seconds[name], per=STEPS) for name in steps}
    deal_ms = {name: milliseconds(seconds[f"deal {name}"], per=STEPS) for name in worlds}
    mean_ms = {name: 1e3 * float(np.mean(seconds[name])) / STEPS for name in steps}
    return Result(
        name="scaling",
        summary="a step takes "
        + ", ".join(f"{step_ms[str(size)]:.2f}" for size in SIZES)
        + f" ms at {', '.join(f'{size:,}' for size in SIZES)} domains",
        settings={
            "method": "grda",
            "embedding": METHOD.embedding,
            "embedding_dim": METHOD.embedding_dim,
            "batch_size": METHOD.batch_size,
            "domains_per_step": METHOD.domains_per_step,
            "rows_per_domain": METHOD.rows_per_domain,
            "policy": METHOD.policy,
            "graph": f"random, average degree {DEGREE}",
            "table": f"{ROWS} rows a domain, {FEATURES} features, a tenth of domains labelled",
            "rounds": ROUNDS,
            "steps_per_round": STEPS,
        },
        figures={
            "step_ms": step_ms,
            "step_mean_ms": mean_ms,
            "dealing_alone_ms": deal_ms,
            "edges": {name: world.n_edges for name, world in worlds.items()},
        },
        requirements=[
            Requirement(
                f"step at {SIZES[-1]:,} / at {SIZES[0]:,} domains",
                Ratio.of(seconds[large], seconds[small]),
                "at most",
                1.3,
            )
        ],
    )


class World:
    """A random graph with a table, and a game on it that is ready to be played."""

    def __init__(self, n_domains: int):
        run = Run(random_state=0, device=torch.device("cpu"))
        self.rng = run.rng()
        data = random_data(n_domains, run.rng(1))
        self.n_edges = data.graph.weights.nnz // 2
        self.game: NeuralGame = METHOD._game(METHOD._network(data, run), data, run)

    def step(self) -> None:
        """Deal a batch and let every player move."""
        for _ in range(STEPS):
            step = self.game.deal(self.rng, 1.0)
            for player in self.game.players:
                player.update(step)

    def deal(self) -> None:
        """Draw batches without learning from them: what the size of the world could slow."""
        for _ in range(STEPS):
            self.game.dealer.deal(self.rng)


def random_data(n_domains: int, rng: np.random.Generator) -> DomainData:
    """Rows of noise, labelled in a tenth of the domains.

    There is nothing to learn: a network that is sure of its labels computes with subnormal
    numbers, which are slow, and it would be sure of few labels earlier than of many.
    """
    pairs = rng.integers(n_domains, size=(n_domains * DEGREE // 2, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    codes = np.repeat(np.arange(n_domains), ROWS)
    X = rng.standard_normal((len(codes), FEATURES), dtype=np.float32)
    sources = rng.choice(n_domains, n_domains // 10, replace=False)
    known = np.isin(codes, sources)
    return DomainData(
        X=X,
        codes=codes,
        y=np.where(known, rng.integers(2, size=len(codes)), -1),
        weight=known.astype(np.float32),
        graph=DomainGraph.from_edges(pairs, names=range(n_domains)),
        kind="classification",
        n_outputs=2,
    )
