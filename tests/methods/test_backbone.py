"""backbone="adagraph" with every neural method, and what it is good for."""

import warnings

import numpy as np
import pytest
import torch
from cases import KINDS, drift, estimator, predictions, quick
from torch import nn

from grada import DomainGraph, methods
from grada.datasets import Task
from grada.methods import _adversarial
from grada.methods._neural import NeuralMethod
from grada.nn import DomainBatchNorm

NEURAL = [
    name for name, info in methods.available().items() if issubclass(info.method, NeuralMethod)
]


@pytest.fixture(autouse=True)
def short_probe(monkeypatch):
    """The last probe tests the discriminator, not the backbone, and takes most of a short fit."""
    monkeypatch.setattr(_adversarial, "_PROBE_STEPS", 20)


def ada(name, **settings):
    # The network alone: a base that needs no correction would hide what the backbone does.
    short = {"epochs": 2, "steps_per_epoch": 5, "width": 8, "base": "none"}
    return quick(name, backbone="adagraph", **short).set_params(**settings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NEURAL)
def test_keeps_the_contract(name, kind):
    """Uneven domains, one of a single row and one of none."""
    if kind not in methods.available()[name].kinds:
        return
    task = drift(kind, sizes=[20, 12, 1, 20, 0, 3])
    model, output = predictions(task, ada(name))
    assert np.isfinite(output).all()
    # The same seed gives the same predictions, whatever the hidden labels are.
    _, noise = predictions(task.scrambled(1), ada(name))
    np.testing.assert_array_equal(output, noise)
    # What is said about a row does not depend on the rows beside it.
    ask = model.predict_proba if kind == "classification" else model.predict
    some = np.array([50, 3, 32, 54])
    alone = ask(task.X[some], sample_domain=task.domain[some])
    np.testing.assert_allclose(alone, output[some], rtol=1e-9)
    # The domain without rows is known by its neighbours.
    empty = ask(task.X, sample_domain=np.full(len(task.X), 4))
    assert np.isfinite(empty).all()
    assert np.abs(empty - output).max() > 1e-6


@pytest.mark.parametrize(
    ("graph", "kind"),
    [
        (DomainGraph.clique(5), "classification"),
        (DomainGraph.from_edges([], names=range(5)), "regression"),
    ],
    ids=["clique", "empty"],
)
@pytest.mark.parametrize("name", NEURAL)
def test_works_on_awkward_graphs_with_domains_of_one_row(name, graph, kind):
    if kind not in methods.available()[name].kinds:
        return
    task = drift(kind, graph=graph, n_sources=2, sizes=[10, 1, 1, 8, 1])
    _, output = predictions(task, ada(name))
    assert np.isfinite(output).all()


def test_every_domain_may_have_one_row_only():
    task = drift("regression", graph=DomainGraph.chain(12), sizes=[1] * 12, n_sources=8)
    _, output = predictions(task, ada("source-only"))
    assert np.isfinite(output).all()
    assert np.abs(output).max() < 20.0


def shifted(seed, n_domains=8, rows=40):
    """Every domain has a translation and a scale of its own; labels in three of them."""
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(n_domains), rows)
    y = rng.integers(2, size=len(domain))
    X = rng.normal(size=(len(domain), 2)) + np.outer(np.where(y, 2.0, -2.0), [1.0, 0.0])
    scale = np.exp(rng.uniform(-1.0, 1.0, size=(n_domains, 1)))
    X = X * scale[domain] + 2.0 * rng.normal(size=(n_domains, 2))[domain]
    graph = DomainGraph.chain(n_domains)
    return Task(X, y, domain, graph=graph, sources=[0, 1, 2], kind="classification")


def images(seed, n_domains=5, rows=24):
    """A bright square or none; brightness and contrast differ between domains."""
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(n_domains), rows)
    y = rng.integers(2, size=len(domain))
    X = 0.5 * rng.normal(size=(len(domain), 1, 6, 6))
    X[:, 0, 2:4, 2:4] += 2.0 * y[:, None, None]
    contrast = np.exp(rng.uniform(-1.0, 1.0, size=n_domains))
    brightness = 3.0 * rng.normal(size=n_domains)
    X = X * contrast[domain, None, None, None] + brightness[domain, None, None, None]
    graph = DomainGraph.chain(n_domains)
    return Task(X, y, domain, graph=graph, sources=[0, 1], kind="classification")


def small_conv_net():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        block = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        start = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        return nn.Sequential(start, block, nn.AdaptiveAvgPool2d(1))


def accuracy(task, backbone, seed, hidden=None, **settings):
    """Of the targets, or of a domain whose rows are kept from the fit."""
    X, y, domain = task.visible()
    seen = np.ones(len(X), dtype=bool) if hidden is None else domain != hidden
    method = quick("source-only", backbone=backbone, epochs=12, **settings)
    model = estimator("classification", method, task.graph, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[seen], y[seen], sample_domain=domain[seen])
    result = task.evaluate(model.predict(X, sample_domain=domain))
    return result.mean if hidden is None else result.per_domain[hidden]


def gain(make, seeds, **settings):
    return np.mean(
        [
            accuracy(make(seed), "adagraph", seed, **settings)
            - accuracy(make(seed), "plain", seed, **settings)
            for seed in seeds
        ]
    )


def test_undoes_a_translation_and_a_scale_of_every_domain():
    assert gain(shifted, range(5)) >= 10.0


def test_undoes_brightness_and_contrast_of_images():
    assert gain(images, range(2), encoder=small_conv_net()) >= 10.0


def test_a_domain_without_rows_is_predicted_from_its_neighbours():
    """Domains drift along a chain, and the shift of domain 4 lies between those of 3 and 5."""

    def drifting(seed):
        rng = np.random.default_rng(seed)
        domain = np.repeat(np.arange(7), 40)
        y = rng.integers(2, size=len(domain))
        X = 0.5 * rng.normal(size=(len(domain), 2)) + np.outer(domain, [1.0, 0.3])
        X[:, 0] += np.where(y, 1.0, -1.0)
        graph = DomainGraph.chain(7)
        return Task(X, y, domain, graph=graph, sources=[0, 1], kind="classification")

    assert gain(drifting, range(3), hidden=4) >= 10.0


def test_a_given_encoder_is_copied_and_needs_a_normalisation():
    task = images(0)
    X, y, domain = task.visible()
    own = small_conv_net()
    model = estimator("classification", ada("source-only", encoder=own), task.graph)
    model.fit(X, y, sample_domain=domain)
    assert not any(isinstance(part, DomainBatchNorm) for part in own.modules())
    without = nn.Sequential(nn.Flatten(), nn.Linear(36, 4))
    model = estimator("classification", ada("source-only", encoder=without), task.graph)
    with pytest.raises(ValueError, match=r"the encoder given has none\. Add nn\.BatchNorm1d"):
        model.fit(X, y, sample_domain=domain)


def test_an_unknown_backbone_is_refused():
    task = drift("classification")
    X, y, domain = task.visible()
    model = estimator("classification", ada("source-only", backbone="resnet"), task.graph)
    with pytest.raises(ValueError, match="'backbone' parameter"):
        model.fit(X, y, sample_domain=domain)
