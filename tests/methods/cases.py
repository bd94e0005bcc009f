"""Small tasks and helpers that the tests of all methods share."""

import functools
import warnings

import numpy as np
import torch
from scipy import stats
from torch import nn

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.datasets import Task
from grada.methods._neural import Step
from grada.nn import Network
from grada.training.batches import Batch

KINDS = ("classification", "regression")


def quick(name: str, **settings) -> methods.Method:
    """The method with a short training, if it has a training at all."""
    method = methods.resolve(name)
    short = {
        "epochs": 4,
        "width": 16,
        "head_start": 10,
        "discriminator_layers": 2,
        "probe_every": 2,
        "portfolio": ["propagation"],
        "budget": None,
        "n_splits": 1,
    }
    known = method.get_params()
    return method.set_params(
        **{key: value for key, value in (short | settings).items() if key in known}
    )


def estimator(kind: str, method, graph, **settings):
    make = AdaptedClassifier if kind == "classification" else AdaptedRegressor
    return make(method, graph, **{"random_state": 0, **settings})


def drift(
    kind: str,
    *,
    graph: DomainGraph | None = None,
    n_sources: int = 3,
    sizes: list[int] | None = None,
    n_features: int = 3,
    seed: int = 0,
) -> Task:
    """Domains that drift a little from one to the next; labels in the first ones."""
    rng = np.random.default_rng(seed)
    graph = graph or DomainGraph.chain(6)
    sizes = sizes or [20] * graph.n_domains
    domain = np.repeat(np.array(graph.names, dtype=object), sizes)
    place = np.repeat(np.arange(graph.n_domains), sizes)
    y = (
        rng.integers(2, size=len(place))
        if kind == "classification"
        else rng.normal(size=len(place))
    )
    X = rng.normal(size=(len(place), n_features)) + 0.2 * place[:, None]
    X[:, 0] += 2.0 * y
    if kind == "classification":
        y[: 2 * sizes[0] : 2], y[1 : 2 * sizes[0] : 2] = 0, 1
    return Task(X, y, domain, graph=graph, sources=graph.names[:n_sources], kind=kind)


def predictions(task: Task, method, *, random_state: int = 0):
    """Fit on what is visible, and predict all rows: probabilities or values."""
    X, y, domain = task.visible()
    model = estimator(task.kind, method, task.graph, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_domain=domain)
    ask = model.predict_proba if task.kind == "classification" else model.predict
    return model, ask(X, sample_domain=domain)


def order_effect(task: Task, method, seeds: range) -> tuple[float, float]:
    """Mean gain from rows in order of their true labels, over paired seeds, and its interval.

    Every seed fits the same rows twice: each domain shuffled on its own, and each domain sorted
    by true label. An honest method gains nothing; one that pairs rows by position reads the
    hidden labels off the order.
    """
    gains = []
    for seed in seeds:
        scores = []
        for arranged in (task.sorted_by_class(), task.shuffled(seed)):
            X, _, domain = arranged.visible()
            model, _ = predictions(arranged, method, random_state=seed)
            scores.append(arranged.evaluate(model.predict(X, sample_domain=domain)).mean)
        gains.append(scores[0] - scores[1])
    half_width = stats.t.ppf(0.995, len(gains) - 1) * np.std(gains, ddof=1) / np.sqrt(len(gains))
    return float(np.mean(gains)), float(half_width)


def step(
    encoding,
    codes,
    y,
    *,
    kind: str = "classification",
    edges=None,
    rows_per_domain: int = 1,
    strength: float = 1.0,
) -> Step:
    """A step worked out by hand: labelled rows first, and predictions equal to the encodings."""
    encoding = torch.tensor(encoding, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(y) if kind == "classification" else torch.tensor(y, dtype=torch.float64)
    n_aligned = len(encoding) - len(y)
    batch = Batch(
        x=encoding.detach(),
        codes=torch.tensor(codes),
        y=y,
        weight=None,
        edges=torch.tensor(edges if edges is not None else [[0.0]], dtype=torch.float64),
        rows_per_domain=rows_per_domain,
        row=torch.arange(n_aligned),
        pair_key=None,
    )
    network = Network(nn.Identity(), nn.Identity())
    return Step(batch, encoding, network, kind, strength)


def two_gaussians(shift: str, seed: int, n: int = 200) -> Task:
    """Two classes, 35 % and 65 %, as Gaussians in a labelled domain and an unlabelled one.

    ``translation`` moves the second domain by the distance of its classes, so that one class lies
    where the other one was; ``half translation`` by half of that, so that one class lies on the
    boundary. Both can be undone and, because the classes differ in size, in one way only.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(2 * n) < 0.35).astype(int)
    domain = np.repeat(["here", "there"], n)
    there = domain == "there"
    X = 0.6 * rng.normal(size=(2 * n, 2))
    X[:, 0] += 1.5 * (2 * y - 1)
    X[there, 0] += {"none": 0.0, "half translation": 1.5, "translation": 3.0}[shift]
    graph = DomainGraph.chain(["here", "there"])
    return Task(X, y, domain, graph=graph, sources=["here"], kind="classification")


def gain_over_source_only(method, shift: str, seeds: range = range(5)) -> float:
    """Points of accuracy on the unlabelled domain, over Source-Only, mean over seeds."""
    return float(
        np.mean(
            [
                _accuracy(method, two_gaussians(shift, seed), seed) - _source_only(shift, seed)
                for seed in seeds
            ]
        )
    )


@functools.cache
def _source_only(shift: str, seed: int) -> float:
    return _accuracy("source-only", two_gaussians(shift, seed), seed)


def _accuracy(method, task: Task, seed: int) -> float:
    model, _ = predictions(task, method, random_state=seed)
    X, _, domain = task.visible()
    return task.evaluate(model.predict(X, sample_domain=domain)).mean
