"""A GRDA step as the trainer takes it against a loop written by hand for this one case."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks._measure import Ratio, Requirement, Result, interleave, milliseconds
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import GRDA
from grada.methods._base import Run
from grada.nn import Network
from grada.training import History, Trainer
from grada.training.batches import Batch

STEPS = 200
ROUNDS = 15
NAMES = ("ours", "bare_fused", "bare_default")
# Schedules are held constant so that both sides play the same game; the rest is default.
METHOD = GRDA(
    head_start=0,
    probe_every=0,
    early_stopping=False,
    strength_schedule="constant",
    learning_rate_schedule="constant",
)
RUN = Run(random_state=0, device=torch.device("cpu"))


def run() -> Result:
    X, y, domain = (task := make_dg(15)).visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    network = METHOD._network(data, RUN)
    _check_same(network, data)
    sides: dict[str, Ours | Bare] = {}

    def start_again(name: str) -> None:
        # Every turn is the same stretch of training: later steps are slower, because a network
        # that is sure of its labels computes with subnormal numbers.
        ours = Ours(network, data)
        sides[name] = ours if name == "ours" else ours.bare(fused=name == "bare_fused")

    seconds = interleave(
        {name: lambda name=name: sides[name].play(STEPS) for name in NAMES},
        rounds=ROUNDS,
        warmup=2,
        before=start_again,
    )
    losses = {name: side.losses() for name, side in sides.items()}
    _check_sane(losses)

    ratios = {name: Ratio.of(seconds["ours"], seconds[name]) for name in NAMES[1:]}
    faster = max(ratios, key=lambda name: ratios[name].median)
    times = {f"{name}_ms": milliseconds(seconds[name], per=STEPS) for name in seconds}
    return Result(
        name="trainer_overhead",
        summary=f"a step takes {times['ours_ms']:.2f} ms, written by hand "
        f"{times[faster + '_ms']:.2f} ms",
        settings={
            "task": "make_dg(15)",
            "width": network.encoder.dim,
            "batch_size": METHOD.batch_size,
            "domains_per_step": task.graph.n_domains,
            "rows_per_domain": sides["ours"].rows_per_domain,
            "ours": "Trainer: Adam(fused=True), figures and bookkeeping of each epoch",
            "bare": "one Python loop: Adam(fused=True) and Adam(), no bookkeeping",
            "compared_with": faster,
            "rounds": ROUNDS,
            "steps_per_round": STEPS,
        },
        figures={"step": times, "losses_at_the_end": losses},
        requirements=[Requirement("ours / by hand", ratios[faster], "at most", 1.2)],
    )


class Ours:
    """The real code path: game, players, dealer and trainer as ``GRDA.adapt`` makes them."""

    def __init__(self, network: Network, data: DomainData):
        self.data = data
        self.network = copy.deepcopy(network)
        self.game = METHOD._game(self.network, data, RUN)
        self.trainer: Trainer = METHOD._trainer(data, RUN)
        self.rng = RUN.rng()
        self.rows_per_domain = self.game.dealer.deal(RUN.rng(1)).rows_per_domain
        self.history = History()

    def bare(self, *, fused: bool) -> Bare:
        """The hand-written loop with a copy of the networks as they are now."""
        networks = copy.deepcopy((self.network, self.game.discriminator))
        return Bare(*networks, self.data, self.rows_per_domain, fused=fused)

    def play(self, steps: int) -> None:
        """As many epochs as make so many steps."""
        for epoch in range(steps // self.trainer.steps_per_epoch):
            self.history.append(self.trainer._epoch(self.game, epoch, self.rng))

    def losses(self) -> dict[str, float]:
        """Losses of the last epoch."""
        return {name: self.history[f"{name}_loss"][-1] for name in ("prediction", "discriminator")}


class Bare:
    """GRDA on fixed domains with nothing around it: the same arithmetic, no generality.

    It uses what it knows: all domains fit into a step, all have the same number of rows, edges
    never change.
    """

    def __init__(
        self,
        network: Network,
        discriminator: nn.Module,
        data: DomainData,
        rows_per_domain: int,
        *,
        fused: bool,
    ):
        self.network, self.discriminator = network, discriminator
        self.player = list(network.parameters())
        self.opponent = list(discriminator.parameters())
        how = {"fused": True} if fused else {}
        self.adam = torch.optim.Adam(self.player, lr=METHOD.learning_rate, **how)
        rate = METHOD.discriminator_learning_rate
        self.opponent_adam = torch.optim.Adam(self.opponent, lr=rate, **how)

        self.X, self.y = torch.from_numpy(data.X), torch.from_numpy(data.y)
        self.codes = torch.from_numpy(data.codes)
        self.labelled = np.flatnonzero(data.y >= 0)
        n_domains = data.graph.n_domains
        self.table = np.argsort(data.codes, kind="stable").reshape(n_domains, -1)
        self.every = np.arange(n_domains)[:, None]
        self.shape = (n_domains, rows_per_domain)
        edges = torch.tensor(data.graph.weights.toarray(), dtype=torch.float32)
        self.edges = edges.repeat_interleave(rows_per_domain, dim=0).repeat_interleave(
            rows_per_domain, dim=1
        )
        self.rng = np.random.default_rng(0)

    def play(self, steps: int) -> None:
        """Sample and step."""
        for _ in range(steps):
            labelled = self.rng.choice(self.labelled, METHOD.batch_size, replace=False)
            offset = self.rng.integers(self.table.shape[1], size=self.shape)
            row = torch.from_numpy(self.table[self.every, offset].ravel())
            labelled = torch.from_numpy(labelled)
            rows = torch.cat([labelled, row])
            self.last = self.step(self.X[rows], self.codes[rows], self.y[labelled], row)

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        """Discriminator, then encoder and predictor."""
        valid = (row[:, None] != row).float()
        positive = self.edges * valid
        negative = valid - positive
        edge = positive * (0.5 / positive.sum())
        total = edge + negative * (0.5 / negative.sum())
        encoding = self.network.encoder(x, codes)
        aligned = encoding[len(y) :]

        self.opponent_adam.zero_grad()
        logits = self.discriminator(aligned.detach())
        found = (total * F.softplus(logits)).sum() - (edge * logits).sum()
        found.backward()
        _clip(self.opponent)
        self.opponent_adam.step()

        self.adam.zero_grad()
        prediction = F.cross_entropy(self.network.predictor(encoding[: len(y)]), y)
        logits = self.discriminator(aligned)
        fooled = (total * F.softplus(logits)).sum() - (edge * logits).sum()
        # Without `inputs` the discriminator's weights would get gradients that nobody uses.
        (prediction - METHOD.strength * fooled).backward(inputs=self.player)
        _clip(self.player)
        self.adam.step()
        return prediction.detach(), found.detach()

    def losses(self) -> dict[str, float]:
        """Losses of the last step."""
        return dict(zip(("prediction", "discriminator"), map(float, self.last), strict=True))


def _clip(parameters: list[nn.Parameter]) -> None:
    """As ``clip_grad_norm_``, which multiplies all gradients by one when there is nothing to do."""
    norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
    if norm > METHOD.clip:
        nn.utils.clip_grads_with_norm_(parameters, METHOD.clip, norm)


def _check_same(network: Network, data: DomainData, steps: int = 20) -> None:
    """From the same networks, on the same batches, both sides must see the same losses."""
    for fused in (True, False):
        ours = Ours(network, data)
        bare = ours.bare(fused=fused)
        for index in range(steps):
            step = ours.game.deal(ours.rng, 1.0)
            found, _ = (player.update(step) for player in ours.game.players)
            mine = torch.stack([step.prediction_loss.detach(), found])
            batch: Batch = step.batch
            other = torch.stack(bare.step(batch.x, batch.codes, batch.y, batch.row))
            if not torch.allclose(mine, other, rtol=1e-3):
                raise RuntimeError(f"The two loops part in step {index}: {mine} and {other}.")


def _check_sane(losses: dict[str, dict[str, float]]) -> None:
    """Predictions learned, and the discriminator near its bound ln 2."""
    for name, loss in losses.items():
        near = abs(loss["discriminator"] - math.log(2)) < 0.3
        if not near or not 0 <= loss["prediction"] < 0.2:
            raise RuntimeError(f"{name} did not train: its losses ended at {loss}.")
