"""A GRDA step as the trainer takes it against a loop written by hand for this one case."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks._measure import Requirement, Result
from benchmarks._steps import RUN, SETTINGS, SIDES, Bare, Ours, compare
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import GRDA

STEPS = 200
ROUNDS = 15
METHOD = GRDA(**SETTINGS)


def run() -> Result:
    X, y, domain = (task := make_dg(15)).visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    network = METHOD._network(data, RUN)
    found = compare(METHOD, network, data, BareGRDA, rounds=ROUNDS, steps=STEPS)
    _check_sane(found.losses)
    return Result(
        name="trainer_overhead",
        summary=found.summary,
        settings={
            "task": "make_dg(15)",
            "width": network.encoder.dim,
            "batch_size": METHOD.batch_size,
            "domains_per_step": task.graph.n_domains,
            "rows_per_domain": found.rows_per_domain,
            **SIDES,
            "compared_with": found.faster,
            "rounds": ROUNDS,
            "steps_per_round": STEPS,
        },
        figures={"step": found.step, "losses_at_the_end": found.losses},
        requirements=[Requirement("ours / by hand", found.ratio, "at most", 1.2)],
    )


class BareGRDA(Bare):
    """Rebuild a graph whose edges never change."""

    def __init__(self, ours: Ours, *, fused: bool):
        super().__init__(ours, fused=fused)
        edges = torch.tensor(ours.data.graph.weights.toarray(), dtype=torch.float32)
        n = ours.rows_per_domain
        self.edges = edges.repeat_interleave(n, dim=0).repeat_interleave(n, dim=1)

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Discriminator, then encoder and predictor."""
        valid = (row[:, None] != row).float()
        positive = self.edges * valid
        negative = valid - positive
        edge = positive * (0.5 / positive.sum())
        total = edge + negative * (0.5 / negative.sum())
        encoding = self.network.encoder(x, codes)
        aligned = encoding[len(y) :]

        logits = self.discriminator(aligned.detach())
        found = (total * F.softplus(logits)).sum() - (edge * logits).sum()
        self.move_opponent(found)

        prediction = F.cross_entropy(self.network.predictor(encoding[: len(y)]), y)
        logits = self.discriminator(aligned)
        fooled = (total * F.softplus(logits)).sum() - (edge * logits).sum()
        self.move_player(prediction - self.method.strength * fooled)
        return {"prediction": prediction.detach(), "discriminator": found.detach()}


def _check_sane(losses: dict[str, dict[str, float]]) -> None:
    """Predictions learned, and the discriminator near its bound ln 2."""
    for name, loss in losses.items():
        near = abs(loss["discriminator"] - math.log(2)) < 0.3
        if not near or not 0 <= loss["prediction"] < 0.2:
            raise RuntimeError(f"{name} did not train: its losses ended at {loss}.")
