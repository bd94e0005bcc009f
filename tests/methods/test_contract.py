"""The contract that every method keeps; a new method is found and tested without a word here."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import KINDS, drift, estimator, order_effect, predictions, quick
from sklearn.base import clone

from grada import AdaptationWarning, DomainGraph, methods
from grada.data import DomainData
from grada.datasets import make_dg
from grada.methods import FittedMethod, Run, _adversarial
from grada.methods._neural import NeuralMethod

ALL = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name, info in methods.available().items()
    for kind in KINDS
    if kind in info.kinds
]
NEURAL = [
    name for name, info in methods.available().items() if issubclass(info.method, NeuralMethod)
]


@pytest.fixture(autouse=True)
def short_probes(monkeypatch):
    """The contract holds however long a probe trains, and there are hundreds of fits here."""
    monkeypatch.setattr(_adversarial, "_PROBE_STEPS", 20)


over_methods = pytest.mark.parametrize(("name", "kind"), ALL)


@pytest.mark.parametrize("name", methods.available())
def test_has_a_test_file_a_citation_and_a_formula(name):
    info = methods.available()[name]
    method = info.method
    module = Path(inspect.getfile(method))
    package = Path(__file__).parents[1] / module.parent.name  # auto lives in selection
    tests = (package / f"test_{module.stem}.py").read_text()
    assert re.search(r"def test_\w*by_hand", tests)
    assert len(info.citation) > 20
    assert len(info.summary) > 20
    assert ".. math::" in method.__doc__
    assert "References" in method.__doc__
    assert getattr(methods, method.__name__) is method


@pytest.mark.parametrize("name", methods.available())
def test_is_a_parameter_object(name):
    method = methods.resolve(name)
    params = method.get_params()
    assert clone(method).get_params() == params
    model = estimator("classification", name, None)
    for key in params:
        assert f"method__{key}" in model.get_params()
    if "strength" in params:
        model.set_params(method__strength=0.25)
        assert model.method.strength == 0.25
        assert clone(model).method.strength == 0.25
    # Settings live in the object: a second one does not see them.
    assert methods.resolve(name).get_params() == params


@over_methods
def test_hidden_labels_never_reach_the_fit(name, kind):
    task = drift(kind)
    _, honest = predictions(task, quick(name))
    _, noise = predictions(task.scrambled(1), quick(name))
    np.testing.assert_array_equal(honest, noise)


@over_methods
def test_same_seed_same_predictions_and_global_seeds_untouched(name, kind):
    task = drift(kind)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.random.get_rng_state().clone(), np.random.get_state()[1].copy()  # noqa: NPY002
    model, first = predictions(task, quick(name))
    _, second = predictions(task, quick(name))
    np.testing.assert_array_equal(first, second)
    assert torch.equal(before[0], torch.random.get_rng_state())
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    encodings = model.transform(task.X, sample_domain=task.domain)
    assert encodings.shape[0] == len(task.X)
    if name in NEURAL:
        # Not the predictions: values may be those of the plain model, whatever the seed.
        other, _ = predictions(task, quick(name), random_state=1)
        assert not np.array_equal(encodings, other.transform(task.X, sample_domain=task.domain))


GRAPHS = {
    "clique": DomainGraph.clique(5),
    "empty": DomainGraph.from_edges([], names=range(5)),
    "two components": DomainGraph.from_edges([(0, 1), (2, 3), (3, 4)]),
    "star": DomainGraph.star(0, [1, 2, 3, 4]),
    "weighted": DomainGraph.from_edges([(0, 1, 0.3), (1, 2, 0.9), (2, 3, 0.5), (3, 4, 1.0)]),
}


@over_methods
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("n_sources", "sizes"), [(1, [20] * 5), (2, [30, 12, 1, 40, 3])], ids=["one source", "uneven"]
)
def test_works_on_awkward_graphs_and_sizes(name, kind, graph, n_sources, sizes):
    task = drift(kind, graph=GRAPHS[graph], n_sources=n_sources, sizes=sizes)
    _, output = predictions(task, quick(name))
    assert len(output) == len(task.X)
    assert np.isfinite(output).all()


@pytest.mark.parametrize("name", NEURAL)
def test_a_target_without_a_path_to_a_source_is_named(name):
    task = drift(
        "classification",
        graph=DomainGraph.from_edges([("a", "b")], names=["a", "b", "c d"]),
        n_sources=1,
    )
    X, y, domain = task.visible()
    with pytest.warns(AdaptationWarning, match="'c d'"):
        model = estimator("classification", quick(name), task.graph).fit(X, y, sample_domain=domain)
    assert any("'c d'" in message for message in model.history_.messages)


@over_methods
def test_predicts_a_domain_of_the_graph_that_had_no_rows(name, kind):
    task = drift(kind, graph=DomainGraph.chain(5))
    X, y, domain = task.visible()
    there = domain != 3
    model = estimator(kind, quick(name), task.graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[there], y[there], sample_domain=domain[there])
    assert np.isfinite(model.predict(X[~there], sample_domain=domain[~there])).all()


@over_methods
def test_new_domains_leave_the_old_ones_as_they_were(name, kind):
    task = drift(kind, graph=DomainGraph.chain(4), n_sources=2)
    X, _, domain = task.visible()
    model, before = predictions(task, quick(name))
    graph = DomainGraph.from_edges([(3, "new"), ("new", "beyond")], names=[3, "new", "beyond", "?"])
    new = X[-20:] + 0.2
    if type(model.fitted_).extend is FittedMethod.extend:
        with pytest.raises(NotImplementedError, match="Fit it again"):
            model.extend(graph)
        return
    larger = model.extend(graph, new, ["new"] * 20)
    ask = larger.predict_proba if kind == "classification" else larger.predict
    np.testing.assert_array_equal(ask(X, sample_domain=domain), before)
    for place in ("new", "beyond", "?"):
        assert np.isfinite(ask(new, sample_domain=[place] * 20)).all()
        sure = larger.confidence(new, sample_domain=[place] * 20)
        assert ((sure >= 0) & (sure <= 1 + 1e-9)).all()


@over_methods
def test_learns_where_there_is_no_shift(name, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(float) if kind == "classification" else 2.0 * X[:, 0] + 5.0
    domain = np.arange(300) % 3
    y_seen = np.where(domain < 2, y, np.nan)
    model = estimator(kind, quick(name, epochs=60, width=32), DomainGraph.clique(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y_seen, sample_domain=domain)
    target = domain == 2
    if methods.available()[name].method.one_answer_per_domain:
        # It cannot learn this, and must be what it says it is.
        assert len(np.unique(model.predict(X[target], sample_domain=domain[target]))) == 1
        return
    assert model.score(X[target], y[target], sample_domain=domain[target]) > 0.9


# Twenty fits each: of the networks, `make test` has the plainest and the paper's own for classes.
_LONG = {f"{name}-{kind}" for name in NEURAL for kind in ("classification", "regression")}
_LONG -= {"source-only-classification", "source-only-regression", "grda-classification"}
_ORDER = [
    pytest.param(*case.values, id=case.id, marks=[pytest.mark.slow] if case.id in _LONG else [])
    for case in ALL
]


@pytest.mark.parametrize(("name", "kind"), _ORDER)
def test_the_order_of_the_file_does_not_matter(name, kind):
    """Rows of every domain sorted by true label: no gain beyond the spread of paired seeds."""
    task = make_dg(8, 3, rows_per_domain=40) if kind == "classification" else drift(kind)
    gain, half_width = order_effect(task, quick(name, epochs=10), range(10))
    assert abs(gain) <= half_width + 1e-9


@pytest.mark.parametrize("name", NEURAL)
@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_each_player_moves_by_the_gradient_of_its_own_loss(name, strength):
    task = drift("classification")
    X, y, domain = task.visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind="classification")
    run = Run(0, torch.device("cpu"))
    method = quick(name, strength=strength, clip=None)
    game = method._game(method._network(data, run), data, run)
    rng = np.random.default_rng(0)
    for _ in range(3):
        step = game.deal(rng, 1.0)
        for player in game.players:
            everyone = [p for other in game.players for p in other.parameters]
            alone = torch.autograd.grad(
                player.loss(step), player.parameters, retain_graph=True, allow_unused=True
            )
            before = [p.detach().clone() for p in everyone]
            player.update(step)
            for parameter, gradient in zip(player.parameters, alone, strict=True):
                torch.testing.assert_close(parameter.grad, gradient)
            # And nobody else has moved.
            own = {id(p) for p in player.parameters}
            moved = [
                not torch.equal(p.detach(), was) for p, was in zip(everyone, before, strict=True)
            ]
            assert any(moved)
            assert not any(m for p, m in zip(everyone, moved, strict=True) if id(p) not in own)


@over_methods
def test_wrong_settings_are_refused_in_words(name, kind):
    task = drift(kind)
    X, y, domain = task.visible()
    for key, value in {"epochs": 0, "strength": -1.0, "width": "wide"}.items():
        if key in methods.resolve(name).get_params():
            bad = estimator(kind, quick(name).set_params(**{key: value}), task.graph)
            with pytest.raises(ValueError, match=f"'{key}' parameter"):
                bad.fit(X, y, sample_domain=domain)


@pytest.mark.parametrize("name", methods.available())
def test_a_kind_that_it_is_not_made_for_is_refused_in_words(name, monkeypatch):
    kinds = methods.available()[name].kinds
    for kind in KINDS:
        task = drift(kind)
        X, y, domain = task.visible()
        model = estimator(kind, quick(name), task.graph)
        with monkeypatch.context() as patch:
            if kind in kinds:  # then take it away, to see that every method asks
                other = tuple(k for k in KINDS if k != kind)
                patch.setattr(type(methods.resolve(name)), "kinds", other)
            with pytest.raises(ValueError, match=f"{name!r} does .* only, not {kind}"):
                model.fit(X, y, sample_domain=domain)
