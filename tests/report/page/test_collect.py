from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.datasets import Task, make_dg
from grada.report.page import PageData, collect, collect_results, facts, render


@pytest.fixture(scope="module")
def task() -> Task:
    return make_dg(n_domains=8, n_sources=3, rows_per_domain=30, random_state=0)


def fitted(task: Task, method="plain"):
    X, y, domain = task.visible()
    return AdaptedClassifier(method, task.graph, random_state=0).fit(X, y, sample_domain=domain)


def test_measured_scores_are_those_of_the_task(task: Task) -> None:
    X, y, domain = task.visible()
    model = fitted(task, "propagation")
    page = collect(model, X, y, domain, truth=task.reveal())
    found = task.evaluate(model.predict(X, sample_domain=domain))
    plain = task.evaluate(fitted(task).predict(X, sample_domain=domain))
    measured = {each.name: each.measured for each in page.domains if each.role == "target"}
    beside = {each.name: each.plain for each in page.domains if each.role == "target"}
    assert measured == {
        str(name): pytest.approx(score / 100, rel=1e-3) for name, score in found.per_domain.items()
    }
    assert beside == {
        str(name): pytest.approx(score / 100, rel=1e-3) for name, score in plain.per_domain.items()
    }
    assert page.headlines[0].value == f"{found.mean:.1f} %"
    by_level = {each.level: each.measured for each in page.levels}
    assert by_level["1"] == pytest.approx(found.per_level["1"] / 100)
    assert by_level["0"] is None, "labels of sources were seen in the fit: no measurement"
    assert PageData.from_json(page.to_json()) == page


def test_without_truth_nothing_is_claimed(task: Task) -> None:
    X, y, domain = task.visible()
    page = collect(fitted(task), X, y, domain)
    assert all(each.measured is None and each.plain is None for each in page.domains)
    assert "not known" in page.verdict
    assert len(page.headlines) == 3
    assert {each.name for each in page.domains if each.role == "source"} == set(
        map(str, task.sources)
    )


def test_what_auto_says_is_on_the_page(task: Task) -> None:
    X, y, domain = task.visible()
    model = fitted(task, methods.resolve("auto").set_params(portfolio=["plain", "propagation"]))
    page = collect(model, X, y, domain)
    report = model.report_
    assert page.verdict == report.verdict
    told = {each.name: (each.low, each.estimate, each.high) for each in page.domains}
    for each in report.domains:
        expected = [each.low, each.estimate, each.high]
        assert told[str(each.domain)] == pytest.approx(expected, rel=1e-3)
    estimates = [each.estimate for each in page.candidates if each.estimate is not None]
    assert estimates == sorted(estimates, reverse=True)
    assert len(page.candidates) == len(report.candidates)


def test_values_are_scored_in_the_units_of_the_estimate() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    truth = np.column_stack([100 * X[:, 0], X[:, 1] + 5]) + rng.normal(size=(120, 2))
    domain = np.repeat(["a", "b", "c"], 40)
    y = truth.copy()
    y[domain == "c"] = np.nan
    model = AdaptedRegressor("plain", DomainGraph.chain(["a", "b", "c"])).fit(X, y, domain)
    page = collect(model, X, y, domain, truth=truth)
    hidden = domain == "c"
    errors = (model.predict(X[hidden], domain[hidden]) - truth[hidden]) / y[~hidden].std(axis=0)
    assert page.domains[2].measured == pytest.approx((errors**2).sum(axis=1).mean(), rel=1e-3)
    assert page.outputs == ("output 1", "output 2")
    assert len(page.domains[0].values) == 2
    assert page.metric == "squared error"
    render(page)
    with pytest.raises(ValueError, match="not a number"):
        collect(model, X, y, domain, truth=[["a", "b"]] * 120)


def test_intervals_of_values_are_shown_where_there_are_any() -> None:
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(200, 2)), np.repeat(np.arange(5), 40)
    y = X[:, 0] + rng.normal(size=200)
    y[domain == 4] = np.nan
    model = AdaptedRegressor("plain", DomainGraph.chain(5), calibrate=True, random_state=0)
    model.fit(X, y, domain)
    low, high = model.predict_interval(X[domain == 4], domain[domain == 4])
    page = collect(model, X, y, domain)
    assert page.domains[4].width == pytest.approx((high - low).mean() / 2, rel=1e-3)


def test_a_sample_is_said_and_has_every_domain(task: Task, monkeypatch) -> None:
    monkeypatch.setattr(facts, "_MAX_ROWS", 50)
    X, y, domain = task.visible()
    page = collect(fitted(task), X, y, domain, truth=task.reveal())
    assert any("50 sampled rows out of 240" in note for note in page.notes)
    assert [each.n_rows for each in page.domains] == [30] * 8
    assert all(each.measured is not None for each in page.domains if each.role == "target")


def test_no_value_of_a_row_is_on_the_page(task: Task) -> None:
    X, y, domain = task.visible()
    X = X * 1000 + 5000  # four digits before the point: none can be there by chance
    model = AdaptedClassifier("plain", task.graph, random_state=0).fit(X, y, domain)
    page = collect(model, X, y, domain)
    text = page.to_json()
    assert not [value for value in X.ravel() if f"{value:.1f}" in text]
    points = np.array([page.encodings.pca, page.encodings.tsne])
    assert points.min() >= 0
    assert points.max() <= 1
    assert (points == points.round(3)).all()


def test_domains_from_a_column_without_rows_and_out_of_reach() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "town": np.repeat(["a", "b", "c"], 20)})
    y = np.where(frame["town"] == "a", (frame["x"] > 0).astype(int), -1)
    graph = DomainGraph.from_edges([("a", "b")], names=["a", "b", "c", "empty"])
    model = AdaptedClassifier("plain", graph, domain="town", missing_label=-1).fit(frame, y)
    page = collect(model, frame, y)
    assert [each.role for each in page.domains] == ["source", "target", "target", "no rows"]
    assert [each.hops for each in page.domains] == [0, 1, None, None]
    assert any("no path to a source" in each and "c" in each for each in page.warnings)
    render(page)


@pytest.mark.parametrize("labels", [["x"] * 5 + ["y"] * 5, [0] * 5 + [1] * 5])
def test_one_domain_is_enough(labels) -> None:
    X = np.arange(10.0)[:, None]
    model = AdaptedClassifier("plain").fit(X, labels)
    page = collect(model, X, labels)
    assert len(page.domains) == 1
    assert "nothing to adapt" in page.verdict
    render(page)


def test_rows_without_any_label() -> None:
    X, domain = np.arange(20.0)[:, None], np.repeat(["a", "b"], 10)
    graph = DomainGraph.chain(["a", "b"])
    model = AdaptedClassifier("plain", graph).fit(X, [0] * 5 + [1] * 5 + [None] * 10, domain)
    page = collect(model, X, None, domain)
    assert any("No row has a label" in each for each in page.warnings)


def test_wrong_input_is_refused_in_words(task: Task) -> None:
    X, y, domain = task.visible()
    model = fitted(task)
    with pytest.raises(ValueError, match="not fitted"):
        collect(AdaptedClassifier(), X, y, domain)
    with pytest.raises(ValueError, match="give sample_domain"):
        collect(model, X, y)
    with pytest.raises(ValueError, match="truth has shape"):
        collect(model, X, y, domain, truth=task.reveal()[:-1])
    with pytest.raises(ValueError, match="y has shape"):
        collect(model, X, y[:-1], domain)
    with pytest.raises(ValueError, match="truth holds 'yes'"):
        collect(model, X, y, domain, truth=["yes"] * len(y))
    with pytest.raises(ValueError, match="true labels have shape"):
        collect(model, X, y, domain, truth=np.zeros((len(y), 2)))
    with pytest.raises(ValueError, match="sample_domain has"):
        collect(model, X, y, domain[:-1])
    with pytest.raises(ValueError, match="no rows"):
        collect(model, X[:0], y[:0], domain[:0])
    with pytest.raises(ValueError, match="unknown"):
        collect(model, X, y, np.full(len(y), "unknown"))


@pytest.mark.slow
@pytest.mark.parametrize("name", methods.available())
def test_every_method(task: Task, name: str) -> None:
    X, y, domain = task.visible()
    method = methods.resolve(name)
    if "epochs" in method.get_params():
        method.set_params(epochs=2)
    page = collect(fitted(task, method), X, y, domain, truth=task.reveal())
    assert page.method == name
    assert all(each.measured is not None for each in page.domains if each.role == "target")
    render(page)


def run(method: str, seed: int, mean: float, **more) -> SimpleNamespace:
    said = {"task": "t", "metric": "accuracy", "worst": mean - 10, "levels": {"2": 1.0, "1": mean}}
    return SimpleNamespace(method=method, seed=seed, mean=mean, seconds=1.0, **{**said, **more})


def test_results_of_a_benchmark() -> None:
    runs = [
        run("plain", 0, 50.0),
        run("grda", 0, 70.0),
        run("grda", 1, 90.0),
        run("plain", 0, 52.0),
    ]
    page = collect_results([*runs, run("grda", 0, 0.3, task="other", metric="squared error")])
    table, other = page.results
    assert [row.method for row in table.methods] == ["grda", "plain"]
    grda, plain = table.methods
    assert (grda.mean, grda.std, grda.worst, grda.seeds) == (80.0, 10.0, 70.0, (0, 1))
    assert grda.levels == {"1": 80.0, "2": 1.0}
    assert table.levels == ("1", "2")
    assert plain.scores == (52.0,), "the last run of a seed counts"
    assert other.metric == "squared error"
    assert "grda is best: 80.0 % over 2 seeds; the plain model has 52.0 %" in page.verdict
    assert PageData.from_json(page.to_json()) == page
    text = render(page)
    assert "80.0\u00a0%" in text
    assert "0.300" in text


def test_results_that_are_none() -> None:
    with pytest.raises(ValueError, match="no runs"):
        collect_results([])
    with pytest.raises(ValueError, match="task is missing"):
        collect_results([SimpleNamespace(method="x")])
