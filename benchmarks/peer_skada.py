"""An epoch of DANN beside one of skada's deep DANN: the same networks on the same rows."""

from __future__ import annotations

import copy
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks._measure import Ratio, Result, Skipped, interleave, milliseconds
from benchmarks._steps import RUN, SETTINGS, Ours
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import DANN
from grada.nn import Network

ROUNDS = 15
STEPS = 50
BATCH = 128
# One source and one target, which is all that skada's domain classifier can tell apart. Nothing
# that skada does not do: no price for steepness, no clipping.
METHOD = DANN(
    **SETTINGS,
    smoothness=0,
    clip=None,
    batch_size=BATCH,
    rows_per_domain=BATCH,
    steps_per_epoch=STEPS,
)
DIFFERENT = [
    "ours: the discriminator and then the encoder take a step, each with a backward pass of its "
    "own; skada: one backward pass through a gradient reversal layer",
    "ours: the discriminator sees source rows drawn apart from the labelled ones, so that a step "
    "encodes 384 rows; skada: the labelled rows themselves, so that a step encodes 256",
    "ours: the predictor runs on the labelled rows; skada: on all 256",
    "ours: mean of both domains' losses, and a learning rate of its own for the discriminator; "
    "skada: their sum, one learning rate",
    "ours: a batch is cut out of arrays; skada: a torch DataLoader collates it row by row",
]


def run() -> Result:
    try:
        import skada.deep  # noqa: F401
    except ImportError as error:
        raise Skipped(f"skada or skorch is not installed ({error}); the extra is [skada]") from None
    X, y, domain = (task := make_dg(2, n_sources=1, rows_per_domain=STEPS * BATCH)).visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    network = METHOD._network(data, RUN)
    sides: dict[str, Ours | Theirs] = {}

    def start_again(name: str) -> None:
        # Every turn is the first epoch of the same networks.
        ours = Ours(METHOD, network, data)
        sides[name] = ours if name == "ours" else Theirs(ours)

    seconds = interleave(
        {
            "ours": lambda: sides["ours"].play(STEPS),
            "skada": lambda: sides["skada"].play(),
            "skada_batches_alone": lambda: list(sides["skada_batches_alone"].batches),
        },
        rounds=ROUNDS,
        warmup=2,
        before=start_again,
    )
    accuracy = {name: _accuracy(sides[name].network, data) for name in ("ours", "skada")}
    if min(accuracy.values()) < 0.9:
        raise RuntimeError(f"A side did not learn the labels of the source: {accuracy}.")

    epoch = {f"{name}_ms": milliseconds(values) for name, values in seconds.items()}
    ratio = Ratio.of(seconds["ours"], seconds["skada"])
    return Result(
        name="peer_skada",
        summary=f"an epoch takes {epoch['ours_ms']:.0f} ms, with skada {epoch['skada_ms']:.0f} ms: "
        f"ours / skada is {ratio.median:#.3g}",
        settings={
            "task": f"make_dg(2, n_sources=1, rows_per_domain={STEPS * BATCH})",
            "networks": "copies of one encoder, predictor and discriminator; Adam(fused=True)",
            "width": network.encoder.dim,
            "batch": f"{BATCH} labelled rows, {BATCH} rows of each domain to align",
            "steps_per_epoch": STEPS,
            "rounds": ROUNDS,
            "versions": {name: version(name) for name in ("skada", "skorch")},
            "different": DIFFERENT,
        },
        figures={
            "epoch": epoch,
            "ours_over_skada": asdict(ratio),
            "source_accuracy_at_the_end": accuracy,
        },
    )


class Theirs:
    """skada's DANN with copies of our networks; only the steps of an epoch, no set-up."""

    def __init__(self, ours: Ours):
        from skada.deep import DANN as SkadaDANN
        from skada.deep.base import DeepDADataset

        data = ours.data
        self.network, discriminator = copy.deepcopy((ours.network, ours.game.discriminator))
        self.net: Any = SkadaDANN(
            WithoutCodes(self.network),
            "network.encoder",
            domain_classifier=DomainClassifier(discriminator),
            domain_criterion=nn.BCEWithLogitsLoss(),
            optimizer=torch.optim.Adam,
            optimizer__fused=True,
            lr=METHOD.learning_rate,
            batch_size=BATCH,
            train_split=None,
            verbose=0,
        ).initialize()
        # A step reads the domain from the last column; the sign of sample_domain is the role.
        rows = np.column_stack([data.X, data.codes]).astype(np.float32)
        role = np.where(np.isin(data.codes, data.sources), 1, -2)
        dataset = DeepDADataset(rows, data.y, role)
        self.batches = self.net.get_iterator(dataset, training=True)
        if len(self.batches) != STEPS:
            raise RuntimeError(f"skada makes {len(self.batches)} steps an epoch, ours {STEPS}.")

    def play(self) -> None:
        """One epoch."""
        self.net.history.new_epoch()
        self.net.run_single_epoch(
            self.batches, training=True, prefix="train", step_fn=self.net.train_step
        )


class WithoutCodes(nn.Module):
    """Our network for a caller that knows one input only: the domain is its last column."""

    def __init__(self, network: Network):
        super().__init__()
        self.network = network

    def forward(self, X: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Logits of the classes."""
        return self.network(X[:, :-1], X[:, -1].long())


class DomainClassifier(nn.Module):
    """Our discriminator behind skada's gradient reversal; one logit for its two outputs."""

    def __init__(self, layers: nn.Module):
        super().__init__()
        self.layers = layers

    def forward(self, features: Tensor) -> Tensor:
        """Logit of the target."""
        from skada.deep.modules import GradientReversalLayer

        source, target = self.layers(GradientReversalLayer.apply(features, 1.0)).unbind(dim=1)
        return target - source


@torch.no_grad()
def _accuracy(network: Network, data: DomainData) -> float:
    rows = data.labelled
    said = network(torch.from_numpy(data.X[rows]), torch.from_numpy(data.codes[rows]))
    return float(np.mean(said.argmax(dim=1).numpy() == data.y[rows]))
