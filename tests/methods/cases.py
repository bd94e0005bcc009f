"""Small tasks and helpers that the tests of all methods share."""

import warnings

import numpy as np
from scipy import stats

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.datasets import Task

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
