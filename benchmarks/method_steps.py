"""Steps of DANN, CDANN, MDD and ADDA as the trainer takes them against loops written by hand."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks._measure import Requirement, Result
from benchmarks._steps import RUN, SETTINGS, SIDES, Bare, compare
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import ADDA, CDANN, DANN, MDD
from grada.methods._adversarial import AdversarialMethod
from grada.methods._neural import NeuralMethod
from grada.methods.adda import TwoEncoders
from grada.nn import Network

STEPS = 100
ROUNDS = 25
LIMIT = 1.2


def run() -> Result:
    X, y, domain = (task := make_dg(15)).visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    found = {}
    for kind, bare in BARE.items():
        method, network = _start(kind(**SETTINGS), data)
        found[kind.name] = compare(method, network, data, bare, rounds=ROUNDS, steps=STEPS)
        _check_sane(kind.name, found[kind.name].losses)
    return Result(
        name="method_steps",
        summary="; ".join(f"{name}: {one.summary}" for name, one in found.items()),
        settings={
            "task": "make_dg(15)",
            "width": network.encoder.dim,
            "batch_size": method.batch_size,
            "rows_per_domain": {name: one.rows_per_domain for name, one in found.items()},
            **SIDES,
            "adda": "the second stage, after ten epochs of the first",
            "compared_with": {name: one.faster for name, one in found.items()},
            "rounds": ROUNDS,
            "steps_per_round": STEPS,
        },
        figures={
            name: {"step": one.step, "losses_at_the_end": one.losses} for name, one in found.items()
        },
        requirements=[
            Requirement(f"{name}: ours / by hand", one.ratio, "at most", LIMIT)
            for name, one in found.items()
        ],
    )


def _start(method: AdversarialMethod, data: DomainData) -> tuple[AdversarialMethod, Network]:
    """The method and the network with which the game begins."""
    network = method._network(data, RUN)
    if isinstance(method, ADDA):
        trainer = replace(NeuralMethod._trainer(method, data, RUN), epochs=10)
        trainer.train(NeuralMethod._game(method, network, data, RUN), RUN.rng(1))
        network.predictor.requires_grad_(False)
        network.encoder = TwoEncoders(network.encoder, data)
        method = replace(method, learning_rate=method.target_learning_rate)
    return method, network


class Adversary(Bare):
    """What the four have in common: a discriminator that pays for being steep."""

    def oppose(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs of the discriminator for its own turn, and what it pays."""
        standard = self.discriminator.standardize(seen).requires_grad_()
        output = self.discriminator.layers(standard)
        direction = torch.randn(output.shape[1], generator=self.directions).expand_as(output)
        (slope,) = torch.autograd.grad(output, standard, direction, create_graph=True)
        price = self.method.smoothness / output.shape[1]
        return output, price * slope.square().sum(dim=1).mean()

    def answer(self, seen: Tensor) -> Tensor:
        """Outputs of the discriminator for the encoder's turn."""
        return self.discriminator.layers(self.discriminator.standardize(seen))


class BareDANN(Adversary):
    """Name the domain."""

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Discriminator, then encoder and predictor."""
        encoding = self.network.encoder(x, codes)
        aligned, domain = encoding[len(y) :], codes[len(y) :]

        output, price = self.oppose(aligned.detach())
        found = F.cross_entropy(output, domain) + price
        self.move_opponent(found)

        prediction = F.cross_entropy(self.network.predictor(encoding[: len(y)]), y)
        fooled = F.cross_entropy(self.answer(aligned), domain)
        loss = prediction - self.method.strength * fooled
        self.move_player(loss)
        return _losses(found, loss, prediction)


class BareCDANN(Adversary):
    """Name the domain, given the predicted class."""

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Discriminator, then encoder and predictor."""
        encoding = self.network.encoder(x, codes)
        aligned, domain = encoding[len(y) :], codes[len(y) :]
        with torch.no_grad():
            classes = self.network.predictor(aligned).softmax(dim=1)

        output, price = self.oppose(torch.cat([aligned.detach(), classes], dim=1))
        found = F.cross_entropy(output, domain) + price
        self.move_opponent(found)

        prediction = F.cross_entropy(self.network.predictor(encoding[: len(y)]), y)
        fooled = F.cross_entropy(self.answer(torch.cat([aligned, classes], dim=1)), domain)
        loss = prediction - self.method.strength * fooled
        self.move_player(loss)
        return _losses(found, loss, prediction)


class BareMDD(Adversary):
    """Agree with the predictor on the sources, differ from it on the targets."""

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Second predictor, then encoder and first predictor."""
        encoding = self.network.encoder(x, codes)
        logits = self.network.predictor(encoding[: len(y)])
        with torch.no_grad():
            agreed = logits.argmax(dim=1)
            denied = self.network.predictor(encoding[len(y) :]).argmax(dim=1)[:, None]

        output, price = self.oppose(encoding.detach())
        found = self._disparity(output, agreed, denied) + price
        self.move_opponent(found)

        prediction = F.cross_entropy(logits, y)
        fooled = self._disparity(self.answer(encoding), agreed, denied)
        loss = prediction - self.method.strength * fooled
        self.move_player(loss)
        return _losses(found, loss, prediction)

    def _disparity(self, output: Tensor, agreed: Tensor, denied: Tensor) -> Tensor:
        margin, n = self.method.margin, len(agreed)
        together = F.cross_entropy(output[:n], agreed)
        # log(1 - p_k), from the classes that are not k
        others = output[n:].scatter(1, denied, -torch.inf).logsumexp(dim=1)
        apart = others - output[n:].logsumexp(dim=1)
        return (margin * together - apart.mean()) / (1 + margin)


class BareADDA(Adversary):
    """Take targets for sources; encoder and predictor of the sources stay as they are."""

    def step(self, x: Tensor, codes: Tensor, y: Tensor, row: Tensor) -> dict[str, Tensor]:
        """Discriminator, then encoder of the targets."""
        n = len(y)
        with torch.no_grad():
            source = self.network.encoder.source(x[:n], codes[:n])
        target = self.network.encoder.target(x[n:], codes[n:])

        logit, price = self.oppose(torch.cat([source, target.detach()]))
        found = (F.softplus(-logit[:n]).mean() + F.softplus(logit[n:]).mean()) / 2 + price
        self.move_opponent(found)

        logit = self.answer(torch.cat([source, target]))[n:]
        loss = self.method.strength * F.softplus(-logit).mean()
        self.move_player(loss)
        return {"discriminator": found.detach(), "encoder": loss.detach()}


BARE = {DANN: BareDANN, CDANN: BareCDANN, MDD: BareMDD, ADDA: BareADDA}


def _losses(found: Tensor, loss: Tensor, prediction: Tensor) -> dict[str, Tensor]:
    names = ("discriminator", "encoder", "prediction")
    return {name: one.detach() for name, one in zip(names, (found, loss, prediction), strict=True)}


def _check_sane(name: str, losses: dict[str, dict[str, float]]) -> None:
    """Predictions learned, and both sides ended alike up to the noise of single batches."""
    for side, loss in losses.items():
        apart = max(abs(loss[key] - losses["ours"][key]) for key in loss)
        if not apart < 0.3 or not loss.get("prediction", 0.0) < 0.2:
            raise RuntimeError(f"{side} of {name} did not train: its losses ended at {loss}.")
