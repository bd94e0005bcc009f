"""Gradual adaptation: what neighbours teach, in which order, and what is left when they cannot."""

import numpy as np
import pytest
import torch
from cases import drift, predictions
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from grada import AdaptationWarning, AdaptedClassifier, DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task, make_dg, make_shifts
from grada.methods import Run
from grada.methods._local import Base, KnownRows, _surest, refine

FIXED = {"estimator": "linear", "align": 0.0, "shrink": 0.0}


def adapt(task, **settings):
    X, y, domain = task.visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    return data, methods.Gradual(**settings).adapt(data, Run(0, torch.device("cpu")))


def score(task, method):
    X, _, domain = task.visible()
    model, _ = predictions(task, method)
    return task.evaluate(model.predict(X, sample_domain=domain)).mean


def test_a_lesson_by_hand():
    """Weights of edges and trust, shared among the rows of a helper; rows moved halfway."""
    graph = DomainGraph.from_edges([("a", "c", 0.25), ("b", "c", 0.75)])
    data = DomainData(
        X=np.array([[8.0], [0.0], [2.0], [4.0], [6.0]], dtype=np.float32),
        codes=graph.index(["c", "a", "a", "b", "c"]),
        y=np.array([-1, 0, 1, 1, -1]),
        weight=np.array([0, 1, 3, 1, 0], dtype=np.float32),
        graph=graph,
        kind="classification",
        n_outputs=2,
    )
    known = KnownRows.of(data)
    rng = np.random.default_rng(0)
    helpers, weight = graph.index(["a", "b"]), np.array([0.25, 0.75])
    X, y, row_weight = known.lesson(
        int(graph.index(["c"])[0]), helpers, weight, align=0.5, most=100, rng=rng
    )
    # Means are 1, 4 and 7: the rows of a move by 3, the one of b by 1.5.
    order = np.argsort(X[:, 0])
    np.testing.assert_allclose(X[order, 0], [3.0, 5.0, 5.5])
    np.testing.assert_array_equal(y[order], [0, 1, 1])
    np.testing.assert_allclose(row_weight[order], 3 * np.array([0.0625, 0.1875, 0.75]))


def test_the_surest_rows_of_every_label():
    label = np.array([0, 0, 0, 2, 2, 0])
    sure = np.array([0.6, 0.9, 0.7, 0.5, 0.8, 0.8])
    np.testing.assert_array_equal(_surest(label, sure, 0.5), [0, 1, 0, 0, 1, 1])


def test_refining_moves_the_boundary_into_the_gap_and_true_labels_stay():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (rng.uniform(-0.5, 0.5, size=60) + 4.0 * y)[:, None].astype(np.float32)
    lesson = X - 1.2, y, np.ones(60)  # the domain has moved by 1.2: the gap is at 2, not at 0.8
    base = Base(LogisticRegression(), 2, True)
    none = np.zeros(60, dtype=bool)
    boundary = []
    for times in (0, 4):
        model = refine(base, lesson, X, y, none, keep=0.7, times=times)
        boundary.append(-model.intercept_[0] / model.coef_[0, 0])
    assert abs(boundary[1] - 2.0) < 0.6 * abs(boundary[0] - 2.0)
    turned = refine(base, lesson, X, 1 - y, np.arange(60) < 40, keep=0.7, times=4)
    assert np.mean(turned.predict(X) == 1 - y) > 0.9


@pytest.mark.parametrize(("n_domains", "seed"), [(15, 1000), (60, 1000)])
def test_solves_tasks_like_dg(n_domains, seed):
    task = make_dg(n_domains, 6, rows_per_domain=40, random_state=seed)
    assert score(task, "gradual") > 99
    assert score(task, "plain") < 70


def test_nothing_is_lost_where_the_edges_say_nothing():
    settings = {"shift": "offset", "graph": "uninformative", "n_domains": 20, "n_sources": 10}
    task = make_shifts(kind="regression", sources="random", **settings, random_state=1000)
    assert score(task, "gradual") < 1.1 * score(task, "plain")


def test_levels_of_regression_follow_the_neighbours():
    settings = {"shift": "offset", "graph": "chain", "n_domains": 20, "n_sources": 10}
    task = make_shifts(kind="regression", sources="random", **settings, random_state=1000)
    assert score(task, "gradual") < 0.5 * score(task, "plain")


def test_best_connected_domains_first_and_a_long_chain_is_walked_to_its_end():
    _, fitted = adapt(drift("classification", graph=DomainGraph.chain(60), n_sources=1), **FIXED)
    assert fitted.history.n_epochs == 59
    np.testing.assert_allclose(fitted.known.distance, np.arange(60))
    # 2 is joined to a source only, 3 also to a domain that has no labels yet.
    graph = DomainGraph.from_edges([(0, 1), (0, 2), (0, 3), (3, 4)])
    _, fitted = adapt(drift("classification", graph=graph, n_sources=2), share=0.3, **FIXED)
    assert fitted.history["domains"] == [1.0, 1.0, 1.0]
    assert fitted.history["labelled_neighbours"][0] == 1.0


def test_domains_without_rows_pass_on_what_their_neighbours_know():
    task = make_dg(8, 3, rows_per_domain=40, random_state=1000)
    X, y, domain = task.visible()
    graph = DomainGraph.from_edges([(0, "gap"), ("gap", "gap 2"), ("gap 2", 1), (1, 2)])
    rows = np.isin(domain, task.sources[:1])
    names = np.array([0, 1, 2], dtype=object)[np.arange(rows.sum()) % 3]
    labels = np.where(names == 0, y[rows].astype(float), np.nan)
    data = DomainData.from_table(X[rows], labels, names, graph=graph, kind="classification")
    fitted = methods.Gradual(**FIXED).adapt(data, Run(0, torch.device("cpu")))
    codes = np.full(rows.sum(), graph.index(["gap 2"])[0])
    for where in (data.codes, codes):
        assert np.mean(fitted.predict(data.X, where).argmax(axis=1) == y[rows]) > 0.95
    # In steps between domains that have rows.
    assert fitted.known.distance.tolist() == [0, 1, 1, 1, 2]


def test_a_domain_without_a_path_is_named_and_gets_the_model_of_all_sources():
    graph = DomainGraph.from_edges([("a", "b"), ("c d", "e")])
    task = drift("classification", graph=graph, n_sources=1)
    with pytest.warns(AdaptationWarning, match="'c d', 'e'"):
        data, fitted = adapt(task, **FIXED)
    assert "'c d'" in fitted.history.messages[0]
    away = data.codes == graph.index(["c d"])[0]
    expected = fitted.base.output(fitted.source_model, data.X[away].astype(float))
    np.testing.assert_allclose(fitted.predict(data.X[away], data.codes[away]), expected)
    np.testing.assert_allclose(fitted.confidence(data.X[away], data.codes[away]), 0.5)


def test_confidence_falls_with_the_distance():
    data, fitted = adapt(drift("classification"), **FIXED)
    X = np.repeat(data.X[:1], 6, axis=0)
    damped = fitted.confidence(X, np.arange(6)) - 0.5
    sure = fitted.predict(X, np.arange(6)).max(axis=1) - 0.5
    np.testing.assert_allclose(damped / sure, [1, 1, 1, 1 / 1.1, 1 / 1.2, 1 / 1.3])


def test_neighbours_with_one_class_only():
    task = drift("classification", n_features=2)
    X, y, domain = task.visible()
    y = np.where(np.isin(domain, [1, 2]) & ~np.isnan(y.astype(float)), 1.0, y.astype(float))
    model = AdaptedClassifier(methods.Gradual(**FIXED), task.graph, random_state=0)
    output = model.fit(X, y, sample_domain=domain).predict_proba(X, sample_domain=domain)
    assert np.isfinite(output).all()
    assert (output[domain == 3, 1] > 0.5).all()


@pytest.mark.parametrize(
    "estimator", ["rbf", "gradient-boosting", KNeighborsClassifier(5), LogisticRegression()]
)
def test_any_base_model(estimator):
    task = make_shifts(shift="translation", n_domains=6, n_sources=2, random_state=1000)
    settings = {"refinements": 1, "align": 1.0, "shrink": 0.0}
    method = methods.Gradual(estimator=estimator, **settings)
    assert score(task, method) > score(task, "plain") + 10


def test_never_explodes_however_far_a_domain_lies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    domain = np.repeat([0, 1, 2], 30)
    X[domain > 0] *= 1e6
    task = Task(X, X[:, 0], domain, graph=DomainGraph.chain(3), sources=[0], kind="regression")
    _, output = predictions(task, "gradual")
    seen = X[domain == 0, 0]
    assert np.abs(output).max() <= np.abs(seen).max() + np.ptp(seen)


def test_a_new_domain_learns_from_its_neighbours_and_no_other_changes():
    task = make_dg(15, 6, random_state=1002)
    X, y, domain = task.visible()
    last = task.graph.names[-1] if task.graph.names[-1] not in task.sources else task.targets[-1]
    names = [name for name in task.graph.names if name != last]
    there = domain != last
    small = task.graph.subgraph(names)
    data = DomainData.from_table(X[there], y[there], domain[there], graph=small, kind=task.kind)
    fitted = methods.Gradual(**FIXED).adapt(data, Run(0, torch.device("cpu")))
    before = fitted.predict(data.X, data.codes)

    whole = task.graph.subgraph([*names, last])
    scaled = DomainData.from_table(X, y, domain, graph=whole, kind=task.kind)
    new = scaled.codes == len(names)
    # In the units of the fit.
    scale = (X[there].mean(axis=0), X[there].std(axis=0))
    rows = ((X[new] - scale[0]) / scale[1]).astype(np.float32)
    larger = fitted.extend(whole, rows, scaled.codes[new])
    np.testing.assert_array_equal(larger.predict(data.X, data.codes), before)
    found = larger.predict(rows, scaled.codes[new]).argmax(axis=1)
    assert np.mean(found == task.reveal()[domain == last]) > 0.97
    assert np.isinf(fitted.known.distance).sum() == 0
    assert len(fitted.known.distance) == len(names)


def test_sources_next_to_each_other_do_not_speak_for_values_far_away():
    settings = {"shift": "covariate", "n_domains": 20, "n_sources": 10, "random_state": 1000}
    _, far = adapt(make_shifts(kind="regression", graph="chain", **settings))
    assert far.base.curves is None
    assert far.teaching.align == 0
    _, near = adapt(make_shifts(kind="regression", graph="tree", sources="random", **settings))
    assert near.base.curves is not None


def test_values_of_weakly_joined_domains_lean_on_the_model_of_all_sources():
    """Two targets with the same rows and the same neighbours, one joined ten times as weakly."""
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d", "strong", "weak"]
    edges = [("a", "b", 1.0), ("c", "d", 1.0), ("b", "c", 1.0)]
    edges += [("a", "strong", 1.0), ("a", "weak", 0.1)]
    graph = DomainGraph.from_edges(edges)
    rows = rng.normal(size=(20, 1)).astype(np.float32)
    level = dict(zip("abcd", (3.0, 1.0, -1.0, -3.0), strict=True))
    y = np.concatenate(
        [rows[:, 0] + level[name] if name in level else [np.nan] * 20 for name in names]
    )
    data = DomainData(
        X=np.vstack([rows] * 6),
        codes=np.repeat(graph.index(names), 20),
        y=y[:, None],
        weight=np.isfinite(y).astype(np.float32),
        graph=graph,
        kind="regression",
        n_outputs=1,
    )
    fitted = methods.Gradual(estimator="linear", align=0.0, shrink=0.5).adapt(
        data, Run(0, torch.device("cpu"))
    )
    strong, weak, far = (
        fitted.predict(rows, np.repeat(graph.index([name]), 20)).mean()
        for name in [*names[-2:], "d"]
    )
    # The usual source has neighbours of weight 1.5: 0.5 / (0.5 + 0.5 / 1.5), and a tenth of that.
    middle = rows.mean()
    local = middle + 3.0
    np.testing.assert_allclose(strong, middle + 0.4 * (local - middle), atol=0.1)
    np.testing.assert_allclose(weak, middle + 1 / 16 * (local - middle), atol=0.1)
    assert far < middle
