import math
import pickle

import numpy as np
import pandas as pd
import pytest

from grada.datasets import Task
from grada.graph import DomainGraph, UnknownDomainError

# A chain from a to e; f is joined to nothing, and g has no rows.
GRAPH = DomainGraph.from_edges(
    [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("b", "g")], names=list("abcdefg")
)
# Unequal numbers of rows: a mean over rows is not a mean over domains.
DOMAIN = list("aaabbbbccdeef")


def classification_task(labels=(0, 1), sources=("a",)):
    rng = np.random.default_rng(0)
    y = np.array([labels[i % 2] for i in range(len(DOMAIN))])
    X = rng.normal(size=(len(DOMAIN), 2))
    return Task(X, y, DOMAIN, graph=GRAPH, sources=sources, kind="classification", name="t")


def regression_task(n_outputs=6):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(len(DOMAIN), n_outputs))
    X = pd.DataFrame({"x": np.arange(len(DOMAIN))}, index=[f"row{i}" for i in range(len(DOMAIN))])
    return Task(X, y, DOMAIN, graph=GRAPH, sources=["a"], kind="regression", name="r")


def public(task):
    return {name: value for name, value in vars(task).items() if not name.startswith("_")}


@pytest.mark.parametrize(
    "task",
    [classification_task(), classification_task(("no", "yes")), regression_task()],
    ids=["numbers", "strings", "outputs"],
)
def test_nothing_public_depends_on_hidden_labels(task):
    hidden = ~np.isin(task.domain, task.sources)
    assert pd.isna(task.y[hidden]).all()
    assert (task.y[~hidden] == task.reveal()[~hidden]).all()

    other = task.scrambled(random_state=0)
    assert not np.array_equal(other.reveal(), task.reveal())
    assert pickle.dumps(public(other)) == pickle.dumps(public(task))
    assert repr(other) == repr(task)
    assert all(np.asarray(part).base is not task._truth for part in task.visible())


def test_mask_keeps_kind_of_label():
    assert classification_task().y.dtype == float
    assert classification_task(("no", "yes")).y[[0, 1, 3]].tolist() == ["no", "yes", None]
    assert regression_task().y.shape == (len(DOMAIN), 6)


def test_roles_in_graph_order():
    task = classification_task(sources=("c", "a"))
    assert task.sources == ("a", "c")
    assert task.targets == ("b", "d", "e", "f")  # g has no rows
    assert task.with_sources(["f"]).sources == ("f",)
    assert task.sources == ("a", "c")


def test_task_does_not_change():
    task = classification_task()
    with pytest.raises(AttributeError, match="does not change"):
        task.y = task.reveal()
    with pytest.raises(ValueError, match="read-only"):
        task.y[:] = 0
    task.reveal()[:] = 7
    assert task.evaluate(task.reveal()).mean == 100.0
    again = pickle.loads(pickle.dumps(task))  # noqa: S301
    assert again.evaluate(task.reveal()) == task.evaluate(task.reveal())
    with pytest.raises(AttributeError, match="does not change"):
        again.name = "other"


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)])
def test_accuracy_by_hand(labels):
    task = classification_task(labels)
    predicted = task.reveal()
    wrong = np.isin(np.arange(len(DOMAIN)), [0, 3, 7, 8, 12])  # one of a, one of b, all c, f
    predicted[wrong] = np.where(predicted[wrong] == labels[0], labels[1], labels[0])
    result = task.evaluate(predicted)
    assert result.metric == "accuracy"
    assert result.per_domain == {"b": 75.0, "c": 0.0, "d": 100.0, "e": 100.0, "f": 0.0}
    assert result.mean == 55.0
    assert result.worst == 0.0
    assert result.per_level == {"1": 75.0, "2": 0.0, "3+": 100.0, "unreachable": 0.0}
    assert result.sources == {"a": pytest.approx(200 / 3)}
    assert str(result) == (
        "accuracy 55.00 % (worst 0.00) over 5 target domains; "
        "by level 1: 75.00, 2: 0.00, 3+: 100.00, unreachable: 0.00"
    )


def test_squared_error_by_hand():
    task = regression_task()
    error = np.zeros((len(DOMAIN), 6))
    error[3] = 1.0  # b: squared error 6 in one of four rows
    error[7:9] = 0.5  # c: 1.5 in both rows
    error[12, 0] = -2.0  # f: 4
    result = task.evaluate(task.reveal() + error)
    assert result.metric == "squared error"
    assert result.per_domain == pytest.approx({"b": 1.5, "c": 1.5, "d": 0, "e": 0, "f": 4.0})
    assert result.mean == pytest.approx(1.4)
    assert result.worst == pytest.approx(4.0)
    assert result.per_level == pytest.approx({"1": 1.5, "2": 1.5, "3+": 0, "unreachable": 4.0})


def test_rmse_by_hand():
    y = np.zeros((len(DOMAIN), 2))
    given = {"graph": GRAPH, "sources": ["a"], "kind": "regression"}
    task = Task(np.ones((len(y), 1)), y, DOMAIN, unit="°F", scale=10.0, **given)
    error = np.zeros_like(y)
    error[3:7] = 1.0  # b: 1 in all four rows; c, d, e and f: 0
    error[0] = 9.0  # a is a source
    # Mean over 5 target domains and 2 outputs: 1 / 5, and 10 °F are one unit of y.
    for same in (task, task.shuffled(0), task.with_sources(["a"])):
        result = same.evaluate(error)
        assert result.rmse == pytest.approx(10 * math.sqrt(1 / 5))
        assert result.unit == "°F"
    assert str(result).endswith("3+: 0.000, unreachable: 0.000; RMSE 4.47 °F")
    plain = Task(np.ones((len(y), 1)), y, DOMAIN, **given).evaluate(error * 1e5)
    assert str(plain).endswith("; RMSE 44700")
    assert classification_task().evaluate(classification_task().reveal()).rmse is None


def test_single_output_as_column_is_not_broadcast():
    y = np.arange(len(DOMAIN), dtype=float)
    task = Task(np.ones((len(y), 1)), y, DOMAIN, graph=GRAPH, sources=["a"], kind="regression")
    assert task.evaluate(y[:, None] + 1).mean == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (np.zeros(3), r"every row of the task \(13,.*got 3"),
        (np.zeros((13, 2)), r"shape \(13, 2\)"),
        (np.where(np.arange(13) == 4, np.nan, 0), "1 of 13 rows.*domain 'b'"),
        ([None] * 13, "13 of 13 rows.*domain 'a'"),
        (["0"] * 13, r"None of the predicted labels \('0'\)"),
    ],
)
def test_evaluate_refuses(predicted, message):
    with pytest.raises(ValueError, match=message):
        classification_task().evaluate(predicted)


def test_evaluate_refuses_infinite_prediction():
    task = regression_task()
    with pytest.raises(ValueError, match="No finite prediction"):
        task.evaluate(np.full((len(DOMAIN), 6), math.inf))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"sources": ["a", "x", "y"]}, UnknownDomainError, "sources.*'x', 'y'"),
        ({"sources": ["a", "g"]}, ValueError, "no rows: 'g'"),
        ({"sources": []}, ValueError, "at least one source"),
        ({"sources": "a"}, TypeError, r"\['a'\]"),
        ({"sources": list("abcdef")}, ValueError, "no target left"),
        ({"domain": list("aab")}, ValueError, "X has 13, y has 13, domain has 3"),
        ({"domain": ["z", *DOMAIN[1:]]}, UnknownDomainError, "'z'"),
        ({"y": [np.nan, *range(12)]}, ValueError, "no label in 1 of 13 rows"),
        ({"y": [np.nan, *"abcdefghijkl"]}, ValueError, "no label in 1 of 13 rows"),
        ({"y": np.zeros((13, 2))}, ValueError, r"\(13, 2\)"),
        ({"y": ["a"] * 13, "kind": "regression"}, ValueError, "must be numbers"),
        ({"X": np.zeros(13)}, ValueError, "must be a table"),
        ({"kind": "ranking"}, ValueError, "classification, regression"),
        ({"scale": 0.0}, ValueError, "scale must be a positive number"),
        ({"scale": math.nan}, ValueError, "scale must be a positive number"),
    ],
)
def test_task_refuses(change, error, message):
    given = {
        "X": np.zeros((13, 2)),
        "y": np.zeros(13, dtype=int),
        "domain": DOMAIN,
        "graph": GRAPH,
        "sources": ["a"],
        "kind": "classification",
        **change,
    }
    with pytest.raises(error, match=message):
        Task(**given)


def test_names_of_two_types_stay_apart():
    graph = DomainGraph.from_edges([(1, "1")])
    task = Task([[0.0], [1.0]], [0, 1], [1, "1"], graph=graph, sources=[1], kind="classification")
    assert task.targets == ("1",)
    assert task.domain.tolist() == [1, "1"]


def rows_of(task):
    table = pd.DataFrame(np.asarray(task.X)).assign(domain=task.domain)
    truth = pd.DataFrame(task.reveal().reshape(len(task.y), -1)).add_prefix("y")
    return sorted(pd.concat([table, truth], axis=1).itertuples(index=False, name=None))


@pytest.mark.parametrize("make", [classification_task, regression_task])
def test_reordered_tasks_hold_the_same_rows(make):
    task = make()
    # Domains that do not stand together in the table must keep their places too.
    task = task._with(rows=np.random.default_rng(0).permutation(len(DOMAIN)))
    for other in (task.shuffled(random_state=1), task.sorted_by_class()):
        assert rows_of(other) == rows_of(task)
        assert (other.domain == task.domain).all()
        assert not np.array_equal(other.reveal(), task.reveal())
        if isinstance(task.X, pd.DataFrame):
            assert other.X.index.equals(task.X.index)


def test_sorted_by_class_sorts_every_domain_alike():
    task = classification_task().shuffled(random_state=3).sorted_by_class()
    first = task.reveal()[0]
    for name in GRAPH.names:
        rank = task.reveal()[task.domain == name] != first
        assert (np.diff(rank.astype(int)) >= 0).all()


def test_shuffled_domains_are_independent():
    rows = np.repeat(np.arange(40), 30)
    place = np.tile(np.arange(30), 40)
    graph = DomainGraph.chain(40)
    task = Task(place[:, None], place, rows, graph=graph, sources=[0], kind="regression")
    order = task.shuffled(random_state=0).X.reshape(40, 30)
    correlation = np.corrcoef(order)[np.triu_indices(40, 1)]
    assert abs(correlation.mean()) < 0.03  # 780 pairs, standard deviation 0.19 each
    assert correlation.max() < 0.9


def test_what_the_table_was_cut_from_is_out_of_reach():
    whole = np.arange(12.0).reshape(4, 3)  # two features, and the label in the last column
    graph = DomainGraph.chain(["a", "b"])
    task = Task(
        whole[:, :2], whole[:, 2], list("aabb"), graph=graph, sources=["a"], kind="regression"
    )
    assert task.X.base is None or task.X.base.size == task.X.size
