import warnings

import numpy as np
import pytest
import torch
from cases import predictions
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from grada import AdaptationWarning, AdaptedClassifier, DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task, make_dg, make_shifts
from grada.methods import Run, _row_graph
from grada.methods._row_graph import Rows, all_links, bridged, nearest
from grada.methods._spreading import Manner, balanced, closeness, source_manner, spread, travel

RUN = Run(0, torch.device("cpu"))


def data_of(task: Task) -> DomainData:
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=task.graph, kind="classification")


def accuracy(task: Task, method="propagation") -> float:
    model, _ = predictions(task, method)
    X, _, domain = task.visible()
    return task.evaluate(model.predict(X, sample_domain=domain)).mean


def test_averages_by_hand():
    """Rows 0 (class 0) and 1 (class 1) are known; 2 hears both; 3, a wave later, hears 2 only."""
    weights = sparse.csr_array(
        [[0, 9, 1, 0], [9, 0, 3, 0], [1, 3, 0, 5], [0, 0, 5, 0]], dtype=np.float64
    )
    labels = np.array([[1.0, 0], [0, 1], [0, 0], [0, 0]])
    known = np.array([True, True, False, False])
    calm = Manner(share=np.array([0.5, 0.5]), balance=0.0, sharpness=0.6)
    wave, codes = np.array([0.0, 0, 1, 2]), np.array([0, 0, 1, 2])
    own = sparse.csr_array((4, 4))
    found = spread(weights, labels, known, wave, codes, np.ones(4), calm, own)
    np.testing.assert_allclose(found[2], [1 / 4, 3 / 4], atol=1e-4)
    # Its word is divided by the shares in its domain, with one row more of each class.
    word = np.array([1 / 4, 3 / 4]) / np.array([5 / 4, 7 / 4])
    np.testing.assert_allclose(found[3], word / word.sum(), atol=1e-3)
    # Twice the weight of the label of row 1, and a wave that never comes.
    wave[3] = np.inf
    heavy = spread(weights, labels, known, wave, codes, np.array([1.0, 2, 1, 1]), calm, own)
    word = np.array([1 / (1 + 1), 3 * 2 / (2 + 1)])
    np.testing.assert_allclose(heavy[2], word / word.sum(), atol=1e-3)
    np.testing.assert_array_equal(heavy[3], [0.5, 0.5])


def test_shares_and_sharpness_of_each_domain():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 50)
    true = np.concatenate([np.arange(50) < 10, np.arange(50) < 30]).astype(int)
    # Hardly anything tells the rows apart, and everything leans to class 0.
    vague = 0.6 - 0.002 * true + 0.0002 * rng.normal(size=100)
    want = np.array([[0.8, 0.2], [0.4, 0.6]])
    clear = balanced(np.column_stack([vague, 1 - vague]), codes, want, 0.9)
    np.testing.assert_array_equal(clear.argmax(axis=1), true)
    for domain in (0, 1):
        np.testing.assert_allclose(clear[codes == domain].mean(axis=0), want[domain], atol=0.01)
        assert clear[codes == domain].max(axis=1).mean() >= 0.9


def test_nearest_rows_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows, others = rng.normal(size=(70, 5)) + 1000, rng.normal(size=(50, 5)) + 1000
    rows, others = rows.astype(np.float32), others.astype(np.float32)
    distance, index = NearestNeighbors(n_neighbors=4).fit(others).kneighbors(rows)
    found, far = nearest(rows, others, 4)
    np.testing.assert_array_equal(found, index)
    np.testing.assert_allclose(far, distance, rtol=1e-4)
    assert nearest(rows, others[:3], 9)[0].shape == (70, 3)


def test_joins_rows_of_the_same_and_of_adjacent_domains_only(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.sort(rng.choice(6, p=[0.3, 0.3, 0.2, 0.1, 0.1, 0.0], size=200))
    codes[-1] = 5
    X = np.round(rng.normal(size=(200, 2)), 1).astype(np.float32)  # with equal rows
    graph = DomainGraph.from_edges([(0, 1, 0.5), (1, 2), (3, 4)], names=range(6))
    for most in (2048, 20):
        monkeypatch.setattr(_row_graph, "MAX_ANCHORS", most)
        rows, _ = Rows.sort(X, codes, graph, rng)
        own, across = all_links(rows, 5, 2)
        assert (codes[own.row] == codes[own.col]).all()
        assert (own.row != own.col).all()
        assert (np.bincount(own.row, minlength=200)[codes < 5] == 5).all()
        edge = graph.weights.toarray()[codes[across.row], codes[across.col]]
        assert (edge > 0).all()
        np.testing.assert_allclose(across.edge, edge)
        degree = (graph.weights > 0).sum(axis=1)
        np.testing.assert_array_equal(np.bincount(across.row, minlength=200), 2 * degree[codes])


@pytest.mark.parametrize("n_neighbors", [(3,), (5, 10, 20), (60,)])
def test_carries_labels_around_the_spiral_whatever_the_scale(n_neighbors):
    method = methods.Propagation(n_neighbors=n_neighbors)
    assert accuracy(make_dg(15, random_state=1000), method) > 99
    few_rows = make_dg(60, random_state=1001, rows_per_domain=8)
    assert accuracy(few_rows, method) > 99


def test_prefers_many_short_steps_to_a_long_one():
    """With lengths that only add up, a third of these domains gets the labels swapped."""
    assert accuracy(make_dg(60, random_state=1013)) > 99


def test_prefers_close_neighbours_on_a_dense_weighted_graph():
    task = make_dg(30, random_state=1002, rows_per_domain=30)
    angle = np.array([task.metadata["angle"][name] for name in task.graph.names])
    dense = (1 + np.cos(angle[:, None] - angle)) / 2 - np.eye(30)
    given = {"graph": DomainGraph.from_adjacency(dense), "kind": "classification"}
    noisy = task.X + 0.3 * np.random.default_rng(0).normal(size=task.X.shape)
    task = Task(noisy, task.reveal(), task.domain, sources=task.sources, **given)
    assert accuracy(task) > 99
    assert accuracy(task, methods.Propagation(contrast=0.0, coupling=3.0)) < 95


def test_trust_in_class_shares_is_read_off_the_sources():
    settings = {"n_domains": 20, "n_sources": 10, "sources": "random", "random_state": 0}
    alike = data_of(make_shifts(graph="ring", span=0.2, **settings))
    differ = data_of(make_shifts(graph="ring", span=0.2, class_drift=0.9, **settings))
    trust = []
    for data in (alike, differ):
        rows, order = Rows.sort(data.X, data.codes, data.graph, RUN.rng())
        own, _ = all_links(rows, 5, 1)
        manner = source_manner(data.y[order], data.weight[order], rows.codes, own, 2)
        assert manner.sharpness > 0.95
        trust.append(manner.balance)
    assert trust[0] > 0.6
    assert trust[1] < 0.2


def test_waves_follow_closeness_not_hops():
    """Domain 2 is a hop from the source but far; by domain 1, which lies between, it is near."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 40)
    X = (rng.normal(size=(120, 2)) + 2.0 * codes[:, None]).astype(np.float32)
    rows, _ = Rows.sort(X, codes, DomainGraph.clique(3), rng)
    own, across = all_links(rows, 10, 3)
    scale = _row_graph.local_scale(own, 120, 10)
    near = closeness(across, codes, _row_graph.affinity(across, scale), 3)
    length, origin, step = travel(near, np.array([0]))
    steps = (-np.log(near[[0, 1], [1, 2]])) ** 1.5
    np.testing.assert_allclose(length[2], steps.sum())
    np.testing.assert_array_equal(np.ceil(length / step - 1e-9), [0, 1, 2])
    assert (origin == 0).all()


def test_a_row_of_fit_keeps_its_label_and_no_row_looks_at_the_others():
    task = make_dg(15, random_state=1000, rows_per_domain=30)
    data = data_of(task)
    fitted = methods.Propagation().adapt(data, RUN)
    found = fitted.predict(data.X, data.codes)
    labelled = data.labelled
    np.testing.assert_array_equal(found[labelled], np.eye(2)[data.y[labelled]])
    fresh = data.X + 0.05 * RUN.rng().normal(size=data.X.shape).astype(np.float32)
    together = fitted.predict(fresh, data.codes)
    alone = [fitted.predict(fresh[i : i + 1], data.codes[i : i + 1])[0] for i in range(0, 450, 9)]
    np.testing.assert_allclose(together[::9], alone, atol=1e-6)
    true = task.reveal().astype(int)
    assert (together.argmax(axis=1) == true).mean() > 0.98


def test_confidence_falls_with_the_waves_and_far_from_the_rows_of_fit():
    task = make_shifts(shift="none", n_domains=8, n_sources=1, random_state=0)
    data = data_of(task)
    fitted = methods.Propagation().adapt(data, RUN)
    sure = fitted.confidence(data.X, data.codes)
    assert (sure[data.labelled] == 1).all()
    by_domain = np.bincount(data.codes, sure) / np.bincount(data.codes)
    assert by_domain[0] > by_domain[1] > by_domain[4] > by_domain[7] > 0.5
    far = fitted.confidence(data.X + 50, data.codes)
    np.testing.assert_allclose(far, 0.5, atol=1e-6)


def test_domains_that_no_label_reaches_get_the_plain_model():
    task = make_dg(15, random_state=1000, rows_per_domain=20)
    weights = task.graph.weights.toarray()
    lost = list(task.targets)[:2]
    at = task.graph.index(lost)
    weights[at], weights[:, at] = 0, 0
    task = Task(
        task.X,
        task.reveal(),
        task.domain,
        graph=DomainGraph(task.graph.names, weights),
        sources=task.sources,
        kind="classification",
    )
    X, y, domain = task.visible()
    with pytest.warns(AdaptationWarning, match=f"{lost[0]!r}, {lost[1]!r}"):
        model = AdaptedClassifier("propagation", task.graph).fit(X, y, sample_domain=domain)
    assert "plain model" in model.history_.messages[0]
    plain, _ = predictions(task, "plain")
    there = np.isin(domain, lost)
    given = {"sample_domain": domain[there]}
    np.testing.assert_allclose(
        model.predict_proba(X[there], **given), plain.predict_proba(X[there], **given)
    )
    data = data_of(task)
    np.testing.assert_allclose(model.fitted_.confidence(data.X[there], data.codes[there]), 0.5)


def test_labels_cross_domains_without_rows():
    """Leaves of a tree have rows, its inner nodes have none."""
    leaves = [f"leaf {i}" for i in range(12)]
    tree = {"root": {"a": leaves[:4], "b": leaves[4:8], "c": leaves[8:]}, "other root": {}}
    graph = DomainGraph.from_tree(tree)
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(12), 40)
    y = rng.integers(2, size=480)
    X = rng.uniform(-0.8, 0.8, size=(480, 2)) + np.column_stack([2.5 * y, 0.5 * place])
    X[:, 0] += 0.25 * place  # the last class 0 lies where class 1 was
    names = np.array(leaves, dtype=object)[place]
    task = Task(X, y, names, graph=graph, sources=leaves[:2], kind="classification")
    assert accuracy(task) > 97
    joined = bridged(graph, X.astype(np.float32), graph.index(names)).weights
    assert joined[graph.index(["leaf 0"])[0], graph.index(["leaf 1"])[0]] == 1.0
    assert joined[graph.index(["other root"])].nnz == 0


def test_extends_to_new_domains_without_a_refit():
    task = make_dg(60, random_state=1001, rows_per_domain=50)
    last = list(task.targets)[-6:]
    names = [name for name in task.graph.names if name not in last] + last
    data = data_of(task)
    graph = task.graph.subgraph(names)
    codes = graph.index(task.domain)
    new = codes >= 54
    given = {"graph": graph.subgraph(names[:54]), "kind": "classification", "n_outputs": 2}
    old = DomainData(data.X[~new], codes[~new], data.y[~new], data.weight[~new], **given)
    fitted = methods.Propagation().adapt(old, RUN)
    larger = fitted.extend(graph, data.X[new], codes[new])
    right = larger.predict(data.X[new], codes[new]).argmax(axis=1) == task.reveal()[new]
    assert right.mean() > 0.97
    before = fitted.predict(old.X, old.codes)
    np.testing.assert_array_equal(larger.predict(old.X, old.codes), before)
    assert (larger.wave[54:] >= 1).all()
    empty = fitted.extend(graph, data.X[:0], codes[:0])
    guess = empty.predict(data.X[new], codes[new]).argmax(axis=1)
    assert (guess == task.reveal()[new]).mean() > 0.9
    with pytest.raises(ValueError, match="is not new"):
        fitted.extend(graph, data.X, codes)


def test_large_domains_are_searched_through_some_of_their_rows(monkeypatch):
    monkeypatch.setattr(_row_graph, "MAX_ANCHORS", 40)
    assert accuracy(make_dg(15, random_state=1000, rows_per_domain=300)) > 99


def test_spreads_in_the_encodings_of_another_method():
    task = make_dg(8, 3, rows_per_domain=20, random_state=1000)
    plain = methods.Propagation(space=methods.Plain())  # its encodings are the features
    np.testing.assert_array_equal(predictions(task, plain)[1], predictions(task, "propagation")[1])
    network = methods.SourceOnly(epochs=2, width=7)
    model, output = predictions(task, methods.Propagation(space=network))
    assert model.transform(task.X, sample_domain=task.domain).shape[1] == 7
    assert not np.array_equal(output, predictions(task, "propagation")[1])


@pytest.mark.parametrize("table", ["wide", "constant", "equal rows"])
def test_awkward_tables(table):
    domain = np.repeat(np.arange(4), [5, 1, 3, 4])
    y = np.array([0.0, 1, 2, 0, 1] + [np.nan] * 8)
    X = {
        "wide": np.random.default_rng(0).normal(size=(13, 40)),
        "constant": np.ones((13, 2)),
        "equal rows": np.repeat([[0.0, 1.0], [3.0, 3.0]], [7, 6], axis=0),
    }[table]
    model = AdaptedClassifier("propagation", DomainGraph.chain(4), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, sample_domain=domain)
    found = model.predict_proba(X, sample_domain=domain)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("sizes", [(), (0,), (2.5,)])
def test_wrong_numbers_of_neighbours_are_refused(sizes):
    with pytest.raises(ValueError, match="'n_neighbors' parameter"):
        methods.Propagation(n_neighbors=sizes).adapt(data_of(make_dg(8, 3)), RUN)
