import sys

import numpy as np
import pytest

from grada import DomainGraph
from grada.benchmark._graph_value_trial import graph_value_trial
from grada.datasets import make_dg
from grada.datasets.shifts import make_shifts
from grada.selection import graph_value
from grada.selection._kinship import row_kinship


def test_graphs_that_help_are_told_from_those_that_do_not():
    counts = graph_value_trial(5, random_state=1002)
    assert counts["informative"]["verdicts"]["yes"] >= 4
    assert counts["uninformative"]["verdicts"]["no"] >= 4


def test_the_answer_depends_neither_on_names_nor_on_the_order_of_rows():
    task = make_dg(n_domains=15, rows_per_domain=60, random_state=1003)
    X, y, domain = task.visible()
    value = graph_value(X, y, domain, task.graph)
    assert value.helps
    assert str(value).startswith("Yes. In their rows, neighbours differ ")
    assert value.given > value.rewired.max()
    assert value.clique == value.empty == 0
    shuffled = np.random.default_rng(0).permutation(len(X))
    again = graph_value(X[shuffled], y[shuffled], domain[shuffled], task.graph)
    assert again.given == pytest.approx(value.given, abs=0.05)
    names = [f"d{name}" for name in task.graph.names]
    renamed = DomainGraph(names, task.graph.weights)
    same = graph_value(X, y, [f"d{name}" for name in domain], renamed)
    assert same.to_dict() == value.to_dict()


def test_a_clique_scores_zero_and_likeness_is_one_at_best():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(6), 200)
    # Two kinds of domains, which differ in their spread only.
    X = rng.normal(size=(1200, 3)) * np.where(codes < 3, 1.0, 3.0)[:, None]
    kin = row_kinship(X, codes, 6, rng)
    first, second = np.triu_indices(6, 1)
    same = (first < 3) == (second < 3)
    assert kin.score(first, second, np.ones(15)) == pytest.approx(0)
    assert kin.score(first[same], second[same], np.ones(same.sum())) == pytest.approx(1, abs=0.15)
    assert kin.score(first[~same], second[~same], np.ones((~same).sum())) < -0.3
    weak = kin.score(first, second, np.where(same, 1, 1e-6))
    assert weak == pytest.approx(
        kin.score(first[same], second[same], np.ones(same.sum())), abs=1e-3
    )


def test_labels_alone_can_speak_for_a_graph():
    # The rows are the same everywhere; the level of y rises along the chain.
    task = make_shifts(
        kind="regression", shift="offset", n_domains=12, n_sources=10, random_state=1000
    )
    X, y, domain = task.visible()
    value = graph_value(X, y, domain, task.graph)
    assert value.helps
    assert "In their labels" in value.reason
    assert graph_value(X, None, domain, task.graph).labels is None


def test_a_method_with_which_the_graph_harms_makes_it_doubtful(monkeypatch):
    task = make_dg(n_domains=12, n_sources=6, rows_per_domain=30, random_state=1000)
    X, y, domain = task.visible()
    value = graph_value(X, y, domain, task.graph, method="plain", n_rewirings=3)
    assert set(value.held_out) == {"given", "clique", "empty", "rewired"}
    assert value.held_out["given"] == value.held_out["clique"]  # plain looks at no graph
    assert value.verdict == "yes"
    scores = iter([0.5, 0.9, 0.5, 0.5, 0.5, 0.5])
    # Not by import: the package's attribute of that name is the function.
    module = sys.modules["grada.selection.graph_value"]
    monkeypatch.setattr(module, "_score", lambda *_: next(scores))
    doubtful = graph_value(X, y, domain, task.graph, method="plain", n_rewirings=3)
    assert doubtful.verdict == "cannot tell"
    assert "better with a clique" in doubtful.reason


@pytest.mark.parametrize(
    "graph",
    [
        DomainGraph.chain(3),
        DomainGraph.clique(8),
        DomainGraph.from_edges([], names=range(8)),
    ],
)
def test_graphs_that_leave_nothing_to_compare(graph):
    domain = np.repeat(np.arange(len(graph)), 5)
    X = np.random.default_rng(0).normal(size=(len(domain), 2)) + domain[:, None]
    value = graph_value(X, None, domain, graph)
    assert value.verdict == "cannot tell"
    assert not value.helps


def test_a_star_is_too_symmetric_to_rule_chance_out():
    graph = DomainGraph.star(0, range(1, 7))
    domain = np.repeat(np.arange(7), 30)
    directions = np.vstack([np.zeros(6), 3 * np.eye(6)])
    X = np.random.default_rng(0).normal(size=(210, 6)) + directions[domain]
    assert graph_value(X, None, domain, graph).verdict == "cannot tell"


def test_odd_tables_are_answered():
    rng = np.random.default_rng(0)
    graph = DomainGraph.from_edges([(i, i + 1) for i in range(8)], names=range(12))
    domain = np.concatenate([np.arange(10), np.full(50, 3)])  # domains 10 and 11 have no rows
    X = np.hstack([np.ones((60, 1)), np.repeat(rng.normal(size=(60, 1)), 70, axis=1)])
    for table in (X, np.ones((60, 2))):
        value = graph_value(table, np.where(domain < 6, domain % 2, np.nan), domain, graph)
        assert np.isfinite(value.given)
        assert value.verdict in ("no", "cannot tell")
    with pytest.raises(ValueError, match="at least 3"):
        graph_value(X, None, domain, graph, n_rewirings=2)
    with pytest.raises(ValueError, match="entries"):
        graph_value(X, [0, 1], domain, graph)
