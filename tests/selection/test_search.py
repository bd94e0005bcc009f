from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.datasets import make_dg
from grada.selection import GraphHoldout, GraphSearchCV
from grada.selection.search import hide_labels


@pytest.fixture(scope="module")
def task():
    return make_dg(n_domains=8, n_sources=5, rows_per_domain=20, random_state=1000)


class Spy(ClassifierMixin, BaseEstimator):
    """Writes down what it is fitted on, and knows the labels of a few domains by heart."""

    seen: ClassVar = []

    def __init__(self, graph=None, right=()):
        self.graph, self.right = graph, right

    def fit(self, X, y, sample_domain):
        self.classes_ = np.array([0, 1])
        Spy.seen.append((len(X), np.asarray(y), np.asarray(sample_domain)))
        return self

    def predict(self, X, sample_domain):
        truth = np.asarray(X)[:, 0] > 0
        right = np.isin(np.asarray(sample_domain), list(self.right))
        return np.where(right, truth, ~truth).astype(int)


def test_labels_of_hidden_domains_are_never_visible_and_rows_stay():
    graph = DomainGraph.chain(6)
    domain = np.repeat(np.arange(6), 10)
    X = np.tile([[-1.0], [1.0]], (30, 1))
    y = pd.Series((X[:, 0] > 0).astype(int), dtype="Int64").where(domain < 4)
    Spy.seen.clear()
    search = GraphSearchCV(Spy(graph), {"right": [(), (0, 1, 2, 3), (3,)]}, cv=2, refit=False)
    search.fit(X, y, sample_domain=domain)
    assert len(search.splits_) == 2
    assert len(Spy.seen) == 6
    for at, (n_rows, labels, domains) in enumerate(Spy.seen):
        hidden = np.isin(domains, search.splits_[at % 2])
        assert n_rows == 60
        assert pd.isna(labels[hidden]).all()
        kept = ~hidden & (domain < 4)
        assert (labels[kept] == y[kept]).all()
    assert search.best_params_ == {"right": (0, 1, 2, 3)}
    assert search.best_score_ == 1
    results = search.cv_results_
    share = [np.mean(np.isin(hidden, [3])) for hidden in search.splits_]
    assert results["split0_test_score"].tolist() == [0, 1, share[0]]
    assert results["mean_test_score"].tolist() == [0, 1, np.mean(share)]
    assert results["rank_test_score"].tolist() == [3, 1, 2]


def test_domains_weigh_the_same_whatever_their_size():
    graph = DomainGraph.clique(3)
    domain = np.repeat([0, 1, 2], [2, 98, 2])
    X = np.tile([[-1.0], [1.0]], (51, 1))
    search = GraphSearchCV(Spy(graph), {"right": [(1,)]}, cv=[(0, 1)], refit=False)
    search.fit(X, (X[:, 0] > 0).astype(int), sample_domain=domain)
    assert search.best_score_ == 0.5


def test_methods_and_their_settings_are_searched(task):
    X, y, domain = task.visible()
    method = methods.Plain(append="means")
    grid = [{"method": [method], "method__append": ["nothing"]}, {"method": ["plain", method]}]
    search = GraphSearchCV(
        AdaptedClassifier(graph=task.graph, random_state=0), grid, cv=GraphHoldout(2, share=0.4)
    ).fit(X, y, sample_domain=domain)
    assert set(search.cv_results_) >= {
        *("params", "param_method", "param_method__append", "mean_fit_time", "std_fit_time"),
        *("mean_score_time", "split0_test_score", "split1_test_score", "std_test_score"),
    }
    assert search.cv_results_["param_method__append"].mask.tolist() == [False, True, True]
    best = search.best_estimator_
    assert (search.predict(X, domain) == best.predict(X, domain)).all()
    assert search.predict_proba(X, domain).shape == (len(X), 2)
    assert search.classes_.tolist() == [0, 1]
    assert search.transform(X, domain).shape[0] == len(X)
    assert search.score(X, y, domain) == best.score(X, y, domain)
    assert method.append == "means"
    clone(search)


def test_regression_minimises_the_summed_squared_error():
    rng = np.random.default_rng(0)
    domain = np.repeat([f"d{i}" for i in range(6)], 15)
    X = rng.normal(size=(90, 2))
    y = np.column_stack([X[:, 0], 2 * X[:, 1]]) + 0.1 * rng.normal(size=(90, 2))
    y[domain == "d5"] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(place=domain)
    estimator = AdaptedRegressor(
        "plain", graph=DomainGraph.chain(pd.unique(domain)), domain="place", random_state=0
    )
    search = GraphSearchCV(estimator, {"method__append": ["nothing", "means"]}).fit(frame, y)
    assert -0.1 < search.best_score_ < 0
    assert search.predict(frame).shape == (90, 2)
    assert not hasattr(search, "predict_proba")


def test_wrong_use_is_answered_in_words(task):
    X, y, domain = task.visible()
    good = AdaptedClassifier("plain", graph=task.graph)
    grid = {"method__append": ["nothing"]}

    def fails(estimator=good, match="", sample_domain=domain, **settings):
        with pytest.raises(ValueError, match=match):
            GraphSearchCV(estimator, settings.pop("grid", grid), **settings).fit(
                X, y, sample_domain=sample_domain
            )

    fails(AdaptedClassifier("plain"), "no graph")
    fails(match="give sample_domain", sample_domain=None)
    fails(match="one of accuracy", scoring="acuracy")
    fails(match="has no labels", cv=[[task.targets[0]]])
    fails(match="must be kept", cv=[task.sources])
    bad = {"method__append": ["nothing", "nonsense"]}
    fails(match="nonsense", grid=bad, error_score="raise")
    with pytest.warns(FitFailedWarning, match="nonsense"):
        search = GraphSearchCV(good, bad, cv=1).fit(X, y, sample_domain=domain)
    assert search.best_params_ == {"method__append": "nothing"}
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    with pytest.raises(AttributeError, match="refit=False"):
        GraphSearchCV(good, grid, refit=False).predict(X)


@pytest.mark.parametrize(
    ("y", "gap"),
    [
        ([1, 2, 3], None),
        (np.array([1, 2, 3]), None),
        (np.array([1.0, 2.0, 3.0]), np.nan),
        (pd.Series(["a", "b", "c"]), None),
        (np.array([True, False, True]), None),
        (np.ones((3, 2)), np.nan),
    ],
)
def test_labels_are_hidden_in_every_type(y, gap):
    before = np.array(y, dtype=object)
    masked = hide_labels(y, np.array([False, True, False]))
    assert np.all(pd.isna(masked[1]))
    assert (masked[1] is None) == (gap is None)
    assert (masked[[0, 2]] == before[[0, 2]]).all()
    assert not pd.isna(np.array(y, dtype=object)).any()


def test_settings_can_be_drawn(task):
    X, y, domain = task.visible()
    estimator = AdaptedClassifier("plain", graph=task.graph)
    grid = {"method__append": ["nothing", "means", "both", "embedding"]}
    search = GraphSearchCV(estimator, grid, n_iter=2, cv=1).fit(X, y, sample_domain=domain)
    assert len(search.cv_results_["params"]) == 2
