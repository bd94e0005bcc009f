import numpy as np
import pytest
import torch
from cases import KINDS, drift, predictions
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from grada import DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task
from grada.methods import Run
from grada.methods.plain import choose_penalty


def test_equals_scikit_learn_on_the_same_rows():
    task = drift("classification")
    X, y, _ = task.visible()
    seen = ~np.isnan(y)
    Z = StandardScaler().fit(X).transform(X).astype(np.float32).astype(float)
    expected = LogisticRegression(max_iter=1000).fit(Z[seen], y[seen]).predict_proba(Z)
    _, output = predictions(task, "plain")
    np.testing.assert_allclose(output, expected, atol=1e-12)


def test_ridge_by_hand():
    """Minimise (1w - 1)² + (2w - 3)² + 2w²: w = (1 * 1 + 2 * 3) / (1 + 4 + 2) = 1."""
    data = DomainData(
        X=np.array([[1.0], [2.0], [5.0]], dtype=np.float32),
        codes=np.array([0, 0, 1]),
        y=np.array([[1.0], [3.0], [np.nan]], dtype=np.float32),
        weight=np.array([1.0, 1.0, 0.0], dtype=np.float32),
        graph=DomainGraph.chain(2),
        kind="regression",
        n_outputs=1,
    )
    run = Run(0, torch.device("cpu"))
    fitted = methods.Plain(estimator=Ridge(alpha=2.0, fit_intercept=False)).adapt(data, run)
    np.testing.assert_allclose(fitted.predict(data.X, data.codes), [[1.0], [2.0], [5.0]])


@pytest.mark.parametrize("n_features", [5, 60])
def test_the_penalty_is_that_of_left_out_domains(n_features):
    """Against scikit-learn, fitted again for every penalty and fold; also with more columns."""
    rng = np.random.default_rng(n_features)
    groups = rng.integers(0, 4, size=50)
    shift = rng.normal(size=(4, n_features))
    X = rng.normal(size=(50, n_features)) + shift[groups]
    y = X @ rng.normal(size=(n_features, 2)) + 4 * rng.normal(size=(50, 2))
    weight = np.array([0.02, 5.0, 0.5, 1.0])[groups] * rng.uniform(0.1, 2.0, size=50)
    penalties = np.logspace(-4, 4, 25)
    errors = np.zeros(25)
    for left_out in range(4):
        kept, left = groups != left_out, groups == left_out
        for i, penalty in enumerate(penalties):
            model = Ridge(penalty).fit(X[kept], y[kept], sample_weight=weight[kept])
            missed = ((model.predict(X[left]) - y[left]) ** 2).sum(axis=1)
            errors[i] += weight[left] @ missed
    best = penalties[errors.argmin()]
    assert choose_penalty(X, y, groups, weight) == best
    assert penalties[0] < best < penalties[-1]


def test_a_domain_is_predicted_from_others_not_from_its_own_rows():
    """The mean of a domain gives its level away to its own rows, but says nothing of others."""
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(8), 20)
    X = rng.normal(size=(8, 5))[domain] + 0.01 * rng.normal(size=(160, 5))
    y = rng.normal(size=8)[domain] + 0.01 * rng.normal(size=160)
    given = {"graph": DomainGraph.chain(8), "kind": "regression"}
    many = Task(X, y, domain, sources=range(7), **given)
    one = Task(X, y, domain, sources=[0], **given)
    assert predictions(many, "plain")[0].fitted_.model.alpha > 10
    by_rows = RidgeCV(np.logspace(-4, 4, 25)).fit(X[domain < 7], y[domain < 7])
    assert by_rows.alpha_ < 1
    assert isinstance(predictions(one, "plain")[0].fitted_.model, RidgeCV)


def test_means_by_hand():
    graph = DomainGraph.from_edges(
        [("a", "empty", 0.25), ("b", "empty", 0.75)], names=["a", "b", "empty", "alone"]
    )
    X, y = [[0.0], [2.0], [6.0]], [1.0, 2.0, np.nan]
    data = DomainData.from_table(X, y, ["a", "a", "b"], graph=graph, kind="regression")
    told = methods.Plain(append="means").adapt(data, Run(0, torch.device("cpu"))).means.mean[:, 0]
    a, b = told[:2]
    assert a < b < data.X.max()  # of few rows, so drawn together
    np.testing.assert_allclose(told[2:], [0.25 * a + 0.75 * b, (a + b) / 2], rtol=1e-6)


@pytest.mark.parametrize("append", ["embedding", "means", "both"])
def test_what_is_appended_reaches_the_model(append):
    """Labels that depend on the domain only: the features say nothing, what is appended does."""
    rng = np.random.default_rng(0)
    graph = DomainGraph.chain(8)
    domain = np.repeat(np.arange(8), 30)
    X = rng.normal(size=(240, 2))
    X[:, 1] += domain
    X[:, 1] -= 0.0 if append != "embedding" else domain
    task = Task(
        X, domain.astype(float), domain, graph=graph, sources=[0, 2, 5, 7], kind="regression"
    )
    scores = []
    for method in (methods.Plain(append=append), methods.Plain()):
        model, _ = predictions(task, method)
        scores.append(task.evaluate(model.predict(X, sample_domain=domain)).mean)
    assert scores[0] < 0.7 * scores[1]


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_gradient_boosting_by_name(kind):
    """A step that no straight line follows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (np.abs(X[:, 0]) > 0.5).astype(float)
    y = y if kind == "classification" else np.column_stack([y, 3 * y])
    domain = np.arange(600) % 3
    task = Task(X, y, domain, graph=DomainGraph.clique(3), sources=[0, 1], kind=kind)
    model, _ = predictions(task, methods.Plain(estimator="gradient-boosting"))
    score = task.evaluate(model.predict(X, sample_domain=domain)).mean
    assert score > 95 if kind == "classification" else score < 0.3


def test_the_seed_reaches_the_steps_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    task = drift("classification")
    first, second = (predictions(task, methods.Plain(estimator=pipeline))[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_takes_any_estimator():
    task = drift("regression")
    model, _ = predictions(task, methods.Plain(estimator=DecisionTreeRegressor(max_depth=2)))
    assert model.fitted_.model.get_depth() == 2
    predictions(drift("classification"), methods.Plain(estimator=KNeighborsClassifier()))
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        predictions(drift("classification"), methods.Plain(estimator=LinearSVC()))


@pytest.mark.parametrize(("per_domain", "scale"), [("center", 1.0), ("standardize", 4.0)])
def test_domains_seen_from_their_middle(per_domain, scale):
    """The labels are those of the domain's own middle; the target lies elsewhere, and wider."""
    rng = np.random.default_rng(0)
    inner = rng.normal(size=(300, 1))
    domain = np.repeat([0, 1, 2], 100)
    X = inner * np.array([1.0, 1.0, scale])[domain, None] + np.array([0.0, 3.0, -5.0])[domain, None]
    y = (inner[:, 0] > 1.0).astype(int)
    task = Task(X, y, domain, graph=DomainGraph.chain(3), sources=[0, 1], kind="classification")
    right = {}
    for how in ("nothing", per_domain):
        model, _ = predictions(task, methods.Plain(per_domain=how))
        right[how] = task.evaluate(model.predict(X, sample_domain=domain)).mean
    assert right[per_domain] > 92 > right["nothing"]
    encoded = model.transform(X, sample_domain=domain)
    for place in range(3):
        assert abs(encoded[domain == place].mean()) < 0.03


def _grown(task, method, *rows):
    """A model before and after a chain is prolonged by "new" and "beyond"."""
    model, _ = predictions(task, method)
    last = task.graph.names[-1]
    graph = DomainGraph.from_edges([(last, "new"), ("new", "beyond")])
    return model, model.extend(graph, *rows)


@pytest.mark.parametrize("append", ["nothing", "embedding", "means", "both"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_domain_without_rows_is_like_its_neighbour(kind, append):
    task = drift(kind)
    model, larger = _grown(task, methods.Plain(append=append, per_domain="center"))
    rows, last = task.X[-20:], task.graph.names[-1]
    expected = model._output(rows, [last] * 20)
    for name in ("new", "beyond"):
        np.testing.assert_allclose(larger._output(rows, [name] * 20), expected)
    np.testing.assert_array_equal(
        larger._output(task.X, task.domain), model._output(task.X, task.domain)
    )


@pytest.mark.parametrize(
    "settings", [{"append": "means"}, {"append": "both"}, {"per_domain": "center"}]
)
def test_a_new_domain_brings_its_own_mean(settings):
    """Nearly that of its own rows, when means differ by more than chance."""
    task = drift("regression")
    new = task.X[-20:] + 3.0
    _, larger = _grown(task, methods.Plain(**settings), new, ["new"] * 20)
    data, codes = larger._rows(new, ["new"] * 20)
    fitted = larger.fitted_
    if "append" in settings:
        told, last, beyond = fitted.means.mean[codes[0] + [0, -1, 1]]
        np.testing.assert_allclose(beyond, last)  # without rows: like the last known one
        assert (abs(told - data.mean(axis=0)) < 0.1 * abs(told - last)).all()
    else:
        moved = abs(data.mean(axis=0) - fitted.frame.mean[codes[0] - 1])
        assert (abs(fitted.encode(data, codes).mean(axis=0)) < 0.1 * moved).all()


@pytest.mark.parametrize("model", ["linear", "gradient-boosting", KNeighborsClassifier(3)])
def test_a_class_without_visible_labels_keeps_its_place(model):
    rng = np.random.default_rng(0)
    codes, y = np.repeat([0, 1], 40), np.tile([0, 2], 40)
    X = (y[:, None] + 0.1 * rng.normal(size=(80, 2))).astype(np.float32)
    y = np.where(codes == 0, y, -1)
    known = (codes == 0).astype(np.float32)
    data = DomainData(X, codes, y, known, DomainGraph.chain(2), "classification", 3)
    fitted = methods.Plain(estimator=model).adapt(data, Run(0, torch.device("cpu")))
    proba = fitted.predict(X, codes)
    assert proba.shape == (80, 3)
    np.testing.assert_array_equal(proba.argmax(axis=1), np.tile([0, 2], 40))
    assert (proba[:, 1] == 0).all()
