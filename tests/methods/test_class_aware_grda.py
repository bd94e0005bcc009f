"""Class-aware GRDA: pairs by class, guesses that are honest, and trust that goes hop by hop."""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np
import pytest
import torch
from cases import drift, predictions, quick, step
from torch import nn

from grada import DomainGraph, methods
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import FittedMethod, Run, _adversarial
from grada.methods.class_aware_grda import Guesses, Trust, guess_loss, relative_margin
from grada.nn import GraphDiscriminator
from grada.training import History


@pytest.fixture(autouse=True)
def short_probes(monkeypatch):
    """What a probe finds is tested elsewhere."""
    monkeypatch.setattr(_adversarial, "_PROBE_STEPS", 2)


RUN = Run(0, torch.device("cpu"))


def test_losses_by_hand():
    """Domains 0 - 1 - 2, one row each; rows 0 and 1 are of one class, row 2 of the other."""
    edges = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    encoding = [[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [log(3), 0.0]]
    drawn = step(encoding, [0, 0, 1, 2], [0], edges=edges, strength=0.5)
    # Row 0 is known, row 1 believed, row 2 half believed.
    drawn.batch.cache.update(
        guess=torch.tensor([0, 0, 1]),
        sure=torch.tensor([1.0, 1.0, 0.5]),
        known=torch.tensor([True, False, False]),
        n_classes=2,
    )
    layers = GraphDiscriminator(nn.Identity(), logits="inner", bias=False)
    method = methods.ClassAwareGRDA(pair_loss="plain", logits="inner", guess_strength=3.0)
    # Pairs 01, 12 and 02 count 2, 1/2 and 1/2. Logits: 0, 0 and, where no edge is, ln 3.
    rebuilt = (2 * log(2) + 0.5 * log(2) + 0.5 * log(4)) / 3
    loss = method.discriminator_loss(layers, drawn.encoding, drawn)
    assert loss.item() == pytest.approx(rebuilt)
    assert method.chance(drawn).item() == pytest.approx(2.5 / 3)
    # Logits of the classes are the encodings: the truth of row 0 does not count again.
    guesses = (log(1 + np.exp(5)) + 0.5 * log(1 + 3)) / 2
    expected = log(2) - 0.5 * rebuilt + 3 * guesses
    assert method.encoder_loss(layers, drawn).item() == pytest.approx(expected)


def test_confidence_is_relative_to_the_domain():
    probability = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.34, 0.33, 0.33]])
    margin = relative_margin(probability, np.array([4, 4, 2]))
    np.testing.assert_allclose(margin, [1.0, 0.0, 1.0], atol=1e-12)


def on_a_chain(sizes: list[int]) -> DomainData:
    graph = DomainGraph.from_edges([(0, 1), (1, 2), (2, 3)], names=range(5))
    task = drift("classification", graph=graph, n_sources=1, sizes=sizes)
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=graph, kind="classification")


def test_trust_goes_outward_hop_by_hop():
    trust = Trust(on_a_chain([20] * 5))
    asked = np.full(5, 10.0)
    np.testing.assert_array_equal(trust.values, [1, 0, 0, 0, 0])
    # The source itself is learned to 90 %: that counts as all there is to learn.
    trust.grow(np.array([9.0, 9.0, 9.0, 9.0, 9.0]), asked)
    np.testing.assert_allclose(trust.values, [1, 1, 0, 0, 0])
    # Half-way between chance and the source in domain 1; domain 4 is out of reach.
    trust.grow(np.array([9.0, 7.0, 9.0, 9.0, 9.0]), asked)
    np.testing.assert_allclose(trust.values, [1, 1, 0.5, 0, 0])
    # The weakest link counts, and no weak one twice.
    trust.grow(np.array([9.0, 7.0, 7.0, 9.0, 9.0]), asked)
    np.testing.assert_allclose(trust.values, [1, 1, 0.5, 0.5, 0])
    # Guesses that the network cannot reproduce end it beyond.
    trust.grow(np.array([9.0, 3.0, 9.0, 9.0, 9.0]), asked)
    trust.grow(np.array([9.0, 3.0, 9.0, 9.0, 9.0]), asked)
    np.testing.assert_allclose(trust.values, [1, 1, 0, 0, 0])


def test_trust_passes_through_a_domain_without_rows():
    trust = Trust(on_a_chain([20, 0, 20, 20, 20]))
    for _ in range(2):
        trust.grow(np.array([10.0, 0.0, 0.0, 0.0, 0.0]), np.array([10.0, 0.0, 10.0, 10.0, 10.0]))
    np.testing.assert_allclose(trust.values, [1, 1, 1, 0, 0])


def test_trust_comes_from_nearer_domains_only():
    task = drift("classification", graph=DomainGraph.clique(3), n_sources=1)
    X, y, domain = task.visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind="classification")
    trust = Trust(data)
    trust.grow(np.array([10.0, 0.0, 0.0]), np.full(3, 10.0))
    np.testing.assert_allclose(trust.values, [1, 1, 1])


class Answers(FittedMethod):
    def __init__(self, probability):
        self.probability = np.array(probability)
        self.history = History()

    def predict(self, X, codes):
        return np.tile(self.probability, (len(X), 1))


@dataclass(kw_only=True, eq=False, repr=False)
class Says(methods.Method):
    """A guide that says the same about every row."""

    probability: tuple[float, ...] = (0.5, 0.5)
    name: ClassVar[str] = "says"

    def adapt(self, data, run):
        return Answers(self.probability)


def test_visible_labels_stand_above_the_guide():
    data = on_a_chain([20] * 5)
    guesses = Guesses.ask(Says(probability=(0.1, 0.9)), data, RUN)
    labelled = data.labelled
    assert set(data.y[labelled]) == {0, 1}
    np.testing.assert_array_equal(guesses.classes[labelled], data.y[labelled])
    np.testing.assert_array_equal(guesses.confidence[labelled], 1.0)
    np.testing.assert_array_equal(np.delete(guesses.classes, labelled), 1)
    np.testing.assert_array_equal(np.flatnonzero(guesses.known), labelled)


def test_with_a_guide_that_knows_nothing_only_pairs_of_labelled_rows_differ_from_grda():
    data = on_a_chain([20] * 5)
    method = quick("class-aware-grda", guide=Says(), pair_loss="plain")
    game = method._game(method._network(data, RUN), data, RUN)
    game.trust.values[:] = 1.0
    game._trusted = game._values()
    drawn = game.deal(np.random.default_rng(0), 1.0)
    pairs = method._pairs(drawn.batch).total
    known = drawn.batch.cache["known"]
    assert 0 < known.sum() < len(known)
    assert guess_loss(drawn).item() == 0.0
    drawn.batch.cache.clear()
    usual = quick("grda", pair_loss="plain")._pairs(drawn.batch).total
    either = ~(known[:, None] & known[None, :]) & (usual > 0)
    ratio = (pairs / usual)[either]
    torch.testing.assert_close(ratio, ratio[:1].expand_as(ratio))
    assert len(torch.unique(pairs[known][:, known] > 0)) == 2


def test_a_guide_is_followed_further_out_epoch_by_epoch():
    """On a chain with one source, hop h has a weight from epoch h on."""
    task = drift("classification", n_sources=1)
    guide = methods.Plain()
    model, _ = predictions(
        task, quick("class-aware-grda", guide=guide, epochs=7, strength=0.1, learning_rate=0.01)
    )
    weight = model.history_["guess_weight"]
    assert weight[0] == 0.0
    assert np.all(np.diff(weight[:6]) > 0)


def test_an_unknown_guide_is_refused_in_words():
    with pytest.raises(ValueError, match="Unknown method 'oracle'"):
        predictions(drift("classification"), quick("class-aware-grda", guide="oracle"))


def test_it_earns_what_grda_cannot():
    """Half a turn of a spiral: aligned domains may be flipped, and only labels carried know."""
    task = make_dg(15, 6, rows_per_domain=30, random_state=1000)
    X, _, domain = task.visible()
    mean = {}
    for name in ("grda", "class-aware-grda"):
        model, _ = predictions(task, quick(name, epochs=25, width=32, probe_every=0))
        mean[name] = task.evaluate(model.predict(X, sample_domain=domain)).mean
    assert mean["class-aware-grda"] > 90.0
    assert mean["class-aware-grda"] > mean["grda"] + 10.0
