import numpy as np
import pytest
from sklearn.base import clone

from grada import AdaptedClassifier, DomainGraph
from grada.data import DomainData
from grada.datasets import make_dg, make_shifts
from grada.selection._graph_shares import learn_shares


def shuffled(graph, random_state):
    """The same graph with its names given to other nodes."""
    order = np.random.default_rng(random_state).permutation(len(graph))
    return DomainGraph([graph.names[at] for at in order], graph.weights).subgraph(graph.names)


def data_of(task):
    return DomainData.from_table(*task.visible(), graph=task.graph, kind=task.kind)


def test_weights_are_averaged_over_the_union_of_names():
    first = DomainGraph.from_edges([("a", "b", 0.8), ("b", "c")])
    second = DomainGraph.from_edges([("d", "b"), ("b", "a", 0.4)])
    mixed = DomainGraph.mix([first, second], [3, 1])
    assert mixed.names == ("a", "b", "c", "d")
    edges = {frozenset(ends): w for *ends, w in mixed.to_networkx().edges(data="weight")}
    assert edges == pytest.approx(
        {frozenset("ab"): 0.7, frozenset("bc"): 0.75, frozenset("bd"): 0.25}
    )
    assert DomainGraph.mix([first]) == first
    assert DomainGraph.mix([first] * 3, [0.1, 0.2, 0.7]).weights.data.max() == pytest.approx(1.0)


@pytest.mark.parametrize("shares", [[1], [1, -1], [0, 0], [1, np.nan]])
def test_wrong_shares_are_refused(shares):
    with pytest.raises(ValueError, match="shares"):
        DomainGraph.mix([DomainGraph.chain(3)] * 2, shares)


def test_nothing_and_strangers_cannot_be_mixed():
    with pytest.raises(ValueError, match="at least one"):
        DomainGraph.mix([])
    with pytest.raises(TypeError, match="graph 1 must be a DomainGraph, got ndarray"):
        DomainGraph.mix([DomainGraph.chain(2), np.eye(2)])


@pytest.mark.parametrize("kind", ["reconstruction", "spectral", "node2vec", "line"])
def test_embeddings_take_real_weights(kind):
    mixed = DomainGraph.mix([DomainGraph.chain(12), shuffled(DomainGraph.chain(12), 0)], [0.9, 0.1])
    places = mixed.embed(kind, 2, random_state=0)
    assert np.isfinite(places).all()
    weak = DomainGraph.mix([DomainGraph.chain(12), shuffled(DomainGraph.chain(12), 0)], [0.1, 0.9])
    assert not np.allclose(places, weak.embed(kind, 2, random_state=0))


TASKS = {
    "dg": lambda seed: make_dg(15, random_state=2000 + seed),
    "translation": lambda seed: make_shifts(shift="translation", graph="grid", n_domains=25,
                                            random_state=2000 + seed),
    "regression": lambda seed: make_shifts(kind="regression", shift="translation", n_sources=8,
                                           random_state=2000 + seed),
    "labels only": lambda seed: make_shifts(kind="regression", shift="offset", graph="geometric",
                                            n_domains=30, n_sources=20, random_state=2000 + seed),
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_the_true_graph_gets_most_of_the_share(task):
    found = []
    for seed in range(3):
        drawn = TASKS[task](seed)
        shares = learn_shares([shuffled(drawn.graph, seed), drawn.graph], data_of(drawn))
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        found.append(shares[1])
    assert np.mean(found) > 0.7


def test_without_evidence_graphs_count_nearly_the_same():
    graph, codes = DomainGraph.chain(20), np.repeat(np.arange(20), 5)
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.where(codes < 2, rng.integers(2, size=100), np.nan)
        X = rng.normal(size=(100, 2))
        data = DomainData.from_table(X, y, codes, graph=graph, kind="classification")
        found.append(learn_shares([graph, shuffled(graph, seed)], data)[0])
    assert np.abs(np.array(found) - 0.5).mean() < 0.2
    assert learn_shares([graph], data).tolist() == [1.0]


@pytest.mark.parametrize("labels", ["one class", "one row", "one source"])
def test_poor_labels_leave_the_rows_to_decide(labels):
    task = make_dg(15, random_state=2000, rows_per_domain=40)
    X, y, domain = task.visible()
    first = task.sources[0]
    if labels == "one class":
        y = np.where((domain != first) & (y == 1), np.nan, y)
    elif labels == "one row":
        y = np.where((domain != first) & (np.arange(len(y)) % 40 > 0), np.nan, y)
    else:
        y = np.where(domain != first, np.nan, y)
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)
    assert learn_shares([task.graph, shuffled(task.graph, 0)], data)[0] > 0.7


def test_an_estimator_learns_the_shares_and_predicts_as_with_the_true_graph():
    task = make_dg(15, random_state=2003)
    X, y, domain = task.visible()
    wrong = shuffled(task.graph, 1)
    graphs = {"true": task.graph, "wrong": wrong}
    clf = clone(AdaptedClassifier("propagation", graphs, random_state=0))
    mixed = clf.fit(X, y, sample_domain=domain)
    assert mixed.graph_shares_["true"] > 0.6
    assert sum(mixed.graph_shares_.values()) == pytest.approx(1)
    listed = AdaptedClassifier("plain", list(graphs.values()), random_state=0)
    listed.fit(X, y, sample_domain=domain)
    assert listed.graph_shares_.tolist() == list(mixed.graph_shares_.values())
    assert listed.graph_ == mixed.graph_
    single = AdaptedClassifier("plain", [task.graph], random_state=0)
    assert single.fit(X, y, sample_domain=domain).graph_shares_.tolist() == [1.0]
    assert single.graph_ == task.graph
    score = task.evaluate(mixed.predict(X, sample_domain=domain)).mean
    alone = AdaptedClassifier("propagation", task.graph, random_state=0)
    alone.fit(X, y, sample_domain=domain)
    assert score >= task.evaluate(alone.predict(X, sample_domain=domain)).mean - 5
