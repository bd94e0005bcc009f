"""Regression around the plain model, modulation, and neural methods in domains that come later."""

import numpy as np
import pytest
import torch
from cases import KINDS, drift, estimator, predictions, quick
from scipy import stats

from grada import DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task
from grada.methods import Run, _adversarial
from grada.methods._correction import (
    LIMIT,
    PlainBase,
    Trust,
    keep_apart,
    proven_share,
    without_labels,
)
from grada.methods._neural import NeuralMethod

RUN = Run(0, torch.device("cpu"))
NEURAL = [
    name
    for name, info in methods.available().items()
    if issubclass(info.method, NeuralMethod) and "regression" in info.kinds
]


@pytest.fixture(autouse=True)
def short_probe(monkeypatch):
    monkeypatch.setattr(_adversarial, "_PROBE_STEPS", 20)


def table(task):
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)


def curved(seed=0, n_domains=12, bend=1.0):
    """y bends with the first feature, in all domains alike; the features drift along a chain."""
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(n_domains), 30)
    X = rng.normal(size=(len(domain), 2)) + 0.1 * domain[:, None]
    y = X[:, 1] + bend * np.abs(X[:, 0]) + 0.1 * rng.normal(size=len(domain))
    graph = DomainGraph.chain(n_domains)
    return Task(X, y, domain, graph=graph, sources=range(8), kind="regression")


def errors(task, method):
    X, _, domain = task.visible()
    fits = [predictions(task, method)[0], predictions(task, "plain")[0]]
    adapted, plain = (task.evaluate(fit.predict(X, sample_domain=domain)).mean for fit in fits)
    return adapted, plain


def test_share_by_hand():
    left, correction = np.array([[2.0], [1.0], [1.5]]), np.ones((3, 1))
    weight, groups = np.array([1.0, 1.0, 2.0]), np.array([0, 1, 2])
    # Factors 2, 1 and 1.5, the last one twice: 6 / 4, with errors 1/2, -1/2 and 0 around it.
    error = np.sqrt(0.5 * 3 / 2) / 4
    found = proven_share(left / 2, correction, weight, groups)
    assert found == pytest.approx(0.75 - stats.t.ppf(0.9, 2) * error / 2)
    assert proven_share(-left, correction, weight, groups) == 0.0
    assert proven_share(9 * left, correction, weight, groups) == 1.0
    assert proven_share(left, 0 * correction, weight, groups) == 0.0
    # One row proves nothing.
    assert proven_share(left[:1], correction[:1], weight[:1], groups[:1]) == 0.0


def test_the_share_fades_beyond_where_it_was_proven():
    graph = DomainGraph.from_edges([(0, 1), (1, 2), (2, 3)], names=range(5))
    share = Trust(share=0.8, hops=2.0).in_each_domain(graph, np.array([0]))
    # Without a path it is taken to be one hop further than the farthest.
    np.testing.assert_allclose(share, [0.8, 0.8, 0.8, 0.8 * (2 / 3) ** 2, 0.8 / 4])


def test_sources_nearest_to_the_targets_are_kept_apart():
    data = table(drift("regression", graph=DomainGraph.chain(12), n_sources=8, sizes=[5] * 12))
    apart = keep_apart(data, np.random.default_rng(0))
    assert set(data.codes[apart]) == {6, 7}
    hidden = without_labels(data, apart)
    assert set(hidden.sources) == set(range(6))
    assert np.isnan(hidden.y[apart]).all()
    # Of one source, some rows.
    data = table(drift("regression", n_sources=1))
    assert keep_apart(data, np.random.default_rng(0)).sum() == 5


def test_what_is_left_over_is_that_of_domains_not_seen():
    """More features than rows: ridge regression leaves nothing over where it was fitted."""
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(40, 200)), np.repeat(np.arange(4), 10)
    y = np.where(domain < 3, rng.normal(size=40), np.nan)
    graph = DomainGraph.chain(4)
    data = DomainData.from_table(X, y, domain, graph=graph, kind="regression")
    base, learned = PlainBase.fit(data, RUN)
    assert base.scale[0] > 0.7
    seen = data.labelled
    assert np.mean(learned.y[seen] ** 2) == pytest.approx(1.0, rel=1e-5)
    assert np.isnan(learned.y[domain == 3]).all()


def test_predicts_the_plain_model_plus_its_share_of_a_bounded_correction():
    task = curved()
    model, output = predictions(task, quick("source-only", epochs=20, width=32))
    fitted, data = model.fitted_, table(task)
    assert 0 < fitted.trust.share <= 1
    plain = estimator("regression", "plain", task.graph)
    X, y, domain = task.visible()
    base = plain.fit(X, y, sample_domain=domain).fitted_.predict(data.X, data.codes)
    x, codes = torch.from_numpy(data.X).double(), torch.from_numpy(data.codes)
    with torch.no_grad():
        said = fitted.network(x, codes).numpy()
    assert 0 < np.abs(said).max() <= LIMIT
    expected = base + fitted.share[data.codes, None] * fitted.base.scale * said
    np.testing.assert_allclose(model._coder.decode(expected).ravel(), output, atol=1e-9)
    # And this helps where ridge regression cannot bend.
    straight = plain.predict(X, sample_domain=domain)
    assert task.evaluate(output).mean < 0.8 * task.evaluate(straight).mean


@pytest.mark.parametrize("name", ["mdd", "cida"])
def test_a_wild_adversary_does_not_hurt_where_the_plain_model_is_right(name):
    adapted, plain = errors(curved(bend=0.0), quick(name, strength=30.0, epochs=4))
    assert adapted <= 1.02 * plain


def test_an_unproven_network_is_left_out_and_that_is_said():
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(120, 3)), np.repeat(np.arange(6), 20)
    task = Task(
        X, rng.normal(size=120), domain, graph=DomainGraph.chain(6), sources=[0, 1, 2, 3],
        kind="regression",
    )  # fmt: skip
    model, output = predictions(task, quick("source-only", epochs=10))
    assert model.fitted_.trust.share == 0
    assert any("ridge regression" in message for message in model.history_.messages)
    np.testing.assert_allclose(output, predictions(task, "plain")[1], rtol=1e-12)


def test_the_paper_has_neither_base_nor_modulation():
    for method in (methods.GRDA, methods.SourceOnly, methods.SENTRY):
        settings = method.preset("paper").get_params()
        assert (settings["base"], settings["conditioning"]) == ("none", "concatenate")
    model, _ = predictions(drift("regression"), methods.GRDA.preset("paper", epochs=1, width=8))
    assert model.fitted_.base is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backbone", ["plain", "adagraph"])
def test_modulation_works_and_is_told_the_domain(kind, backbone):
    task = drift(kind, n_sources=5)
    settings = {"conditioning": "modulate", "backbone": backbone, "base": "none", "epochs": 5}
    model, output = predictions(task, quick("source-only", **settings))
    ask = model.predict_proba if kind == "classification" else model.predict
    moved = np.where(task.domain == 0, 4, 0)
    assert np.isfinite(output).all()
    assert np.abs(ask(task.X, sample_domain=moved) - output).max() > 1e-3


def grown(task, *edges):
    """The graph of a task with new domains, and their edges to old ones and to each other."""
    names = list(task.graph.names)
    names += [name for edge in edges for name in edge if name not in names]
    names = list(dict.fromkeys([*names, "alone"]))
    old = task.graph.weights.tocoo()
    before = [
        (task.graph.names[u], task.graph.names[v], w)
        for u, v, w in zip(old.row, old.col, old.data, strict=True)
        if u < v
    ]
    return DomainGraph.from_edges([*before, *edges], names=names)


@pytest.mark.parametrize("backbone", ["plain", "adagraph"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["source-only", "adda"])
def test_a_new_domain_lies_amid_its_neighbours(name, kind, backbone):
    task, data = drift(kind), table(drift(kind))
    settings = {"backbone": backbone, "epochs": 2, "width": 8}
    fitted = predictions(task, quick(name, **settings))[0].fitted_
    graph = grown(task, (5, "leaf"), ("leaf", "outer"), (4, "between"), (5, "between"))
    place = {new: graph.index([new])[0] for new in ("leaf", "outer", "between", "alone")}
    rows = data.X[:20]
    new = np.repeat([place["leaf"], place["between"]], 10)
    larger = fitted.extend(graph, rows, new)
    before = fitted.predict(data.X, data.codes)
    np.testing.assert_array_equal(larger.predict(data.X, data.codes), before)
    part, embedding = larger.network.encoder.parts[0], fitted.network.encoder.parts[0].embedding
    torch.testing.assert_close(part.embedding[place["outer"]], embedding[5])
    torch.testing.assert_close(part.embedding[place["between"]], embedding[4:].mean(0))
    torch.testing.assert_close(part.embedding[place["alone"]], embedding[:3].mean(0))
    everywhere = np.array(list(place.values())).repeat(20)
    assert np.isfinite(larger.predict(np.tile(rows, (4, 1)), everywhere)).all()
    if backbone == "plain" and kind == "classification":
        leaf = larger.predict(rows, np.full(20, place["leaf"]))
        np.testing.assert_allclose(leaf, fitted.predict(rows, np.full(20, 5)))
    # Without any row too, and the model that was extended is what it was.
    assert np.isfinite(fitted.extend(graph, rows[:0], new[:0]).predict(rows, new)).all()
    np.testing.assert_array_equal(fitted.predict(data.X, data.codes), before)


def test_every_neural_method_can_be_extended():
    task = drift("regression", sizes=[8] * 6)
    graph = grown(task, (5, "leaf"))
    for name in NEURAL:
        fitted = predictions(task, quick(name, epochs=1, width=8))[0].fitted_
        larger = fitted.extend(graph, np.zeros((0, 3), dtype=np.float32), np.zeros(0, dtype=int))
        assert np.isfinite(
            larger.predict(np.ones((2, 3), dtype=np.float32), np.array([6, 7]))
        ).all()
