"""The surface that users touch: forms of input, refusals, scikit-learn's company."""

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from cases import drift, estimator, quick
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from grada import AdaptationWarning, AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.graph import UnknownDomainError

pytestmark = pytest.mark.filterwarnings("ignore::grada.AdaptationWarning")
FAST = quick("grda")
CHAIN = DomainGraph.chain(["New York", 'say "hi"', "Zürich", 7])


def small(n_per_domain=12, graph=CHAIN, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.array(graph.names, dtype=object), n_per_domain)
    X = rng.normal(size=(len(domain), n_features))
    y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
    y[2 * n_per_domain :] = None
    return X, y, domain


def test_the_first_example_of_the_readme_runs(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    exec(text.split("```python")[1].split("```")[0], {})
    assert "accuracy" in capsys.readouterr().out


def test_five_lines():
    X, y, states = small()
    clf = AdaptedClassifier(method=FAST, graph=CHAIN, random_state=0)
    clf.fit(X, y, sample_domain=states)
    assert set(clf.predict(X, sample_domain=states)) <= {"yes", "no"}
    proba = clf.predict_proba(X, sample_domain=states)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.transform(X, sample_domain=states).shape == (len(X), 16)
    assert {"discriminator_loss", "discriminator_bound", "prediction_loss"} <= set(clf.history_)
    seen = [label is not None for label in y]
    by_hand = np.mean(clf.predict(X, sample_domain=states)[seen] == y[seen])
    assert clf.score(X, y, sample_domain=states) == pytest.approx(by_hand)


def test_a_column_of_the_table_can_hold_the_domain():
    X, y, states = small()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(state=states, kind=["u", "v"] * 24)
    by_column = AdaptedClassifier(FAST, CHAIN, domain="state", random_state=0).fit(frame, y)
    given = AdaptedClassifier(FAST, CHAIN, random_state=0)
    given.fit(frame.drop(columns="state"), y, sample_domain=frame["state"])
    np.testing.assert_array_equal(
        by_column.predict_proba(frame),
        given.predict_proba(frame.drop(columns="state"), sample_domain=frame["state"]),
    )
    assert by_column.feature_names_in_.tolist() == ["a", "b", "c", "state", "kind"]
    with pytest.raises(ValueError, match="no column 'region'"):
        AdaptedClassifier(FAST, CHAIN, domain="region").fit(frame, y)


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("name", ["source-only", "grda"])
def test_works_on_awkward_tables(kind, name):
    cases = {
        "sizes 1 to 10,000": drift(kind, graph=DomainGraph.chain(4), sizes=[50, 10_000, 1, 7]),
        "more features than rows": drift(kind, sizes=[10, 10, 10, 10, 5, 5], n_features=200),
        "names": drift(
            kind, graph=DomainGraph.chain(["a b", "o'clock", "日本", "x\ny"]), n_sources=2
        ),
    }
    for task in cases.values():
        X, y, domain = task.visible()
        model = estimator(kind, quick(name, epochs=2), task.graph).fit(X, y, sample_domain=domain)
        assert np.isfinite(model.transform(X, sample_domain=domain)).all()


def test_thirty_classes_one_of_them_in_a_single_row():
    rng = np.random.default_rng(0)
    y = np.append(np.repeat(np.arange(29), 4), 29).astype(float)
    X, domain = rng.normal(size=(len(y), 5)), np.arange(len(y)) % 3
    domain[-1] = 0
    y[domain == 2] = np.nan
    model = AdaptedClassifier(FAST, DomainGraph.clique(3), random_state=0)
    assert model.fit(X, y, sample_domain=domain).predict_proba(X, sample_domain=domain).shape == (
        len(y),
        30,
    )


def test_six_regression_outputs():
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(60, 4)), np.repeat([0, 1, 2], 20)
    y = X @ rng.normal(size=(4, 6)) * 100 + 1000
    y[domain == 2] = np.nan
    model = AdaptedRegressor(quick("grda", epochs=40), DomainGraph.chain(3), random_state=0)
    predicted = model.fit(X, y, sample_domain=domain).predict(X, sample_domain=domain)
    assert predicted.shape == (60, 6)
    assert model.score(X, y, sample_domain=domain) > 0.5


def refusals():
    X, y, states = small()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    off = states.copy()
    off[3] = "Yew Nork"
    infinite = X.copy()
    infinite[4, 1] = np.inf
    one_class = np.where([label is None for label in y], None, "yes")
    return {
        "unknown domain": ({"sample_domain": off}, UnknownDomainError, "Yew Nork"),
        "no label": ({"y": [None] * len(y)}, ValueError, "No row has a label"),
        "infinite": ({"X": infinite}, ValueError, "infinity: column 1, row 4"),
        "infinite column": (
            {"X": frame.assign(b=infinite[:, 1])}, ValueError, "column 'b', row 4"),
        "short y": ({"y": y[:-1]}, ValueError, "X has 48, y has 47, sample_domain has 48"),
        "short domains": ({"sample_domain": states[:-1]}, ValueError, "sample_domain has 47"),
        "one class": ({"y": one_class}, ValueError, "one class .*'yes'"),
        "unknown method": ({"method": "gdra"}, ValueError, "'gdra'.*grda, .*plain, .*source-only"),
        "no graphs": ({"graph": []}, ValueError, "list or a dict of DomainGraphs; got none"),
        "text in an array": ({"X": X.astype(str) + "x"}, ValueError, "arrays of bytes/strings"),
        "short weights": ({"sample_weight": [1.0]}, ValueError, "sample_weight has 1"),
        "text of nan": ({"y": np.array([str(v) for v in y])}, ValueError, "'None'"),
    }  # fmt: skip


@pytest.mark.parametrize("case", refusals())
def test_refused_before_training_with_the_culprit_named(case, monkeypatch):
    X, y, states = small()
    change, error, message = refusals()[case]
    arguments = {"X": X, "y": y, "sample_domain": states, "sample_weight": None} | {
        key: value for key, value in change.items() if key not in ("method", "graph")
    }
    model = AdaptedClassifier(change.get("method", FAST), change.get("graph", CHAIN))
    monkeypatch.setattr("grada.training.Trainer.train", lambda *a: pytest.fail("training started"))
    with pytest.raises(error, match=message):
        model.fit(**arguments)
    assert not hasattr(model, "classes_")


def test_predict_says_what_it_needs():
    X, y, states = small()
    model = AdaptedClassifier(FAST, CHAIN, random_state=0).fit(X, y, sample_domain=states)
    with pytest.raises(ValueError, match=r"several domains.*sample_domain"):
        model.predict(X)
    with pytest.raises(UnknownDomainError, match="Boston"):
        model.predict(X[:1], sample_domain=["Boston"])
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2], sample_domain=states)


def test_one_domain_is_an_ordinary_classifier():
    X, y, _ = small()
    y = np.where(X[:, 0] > 0, "yes", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaptedClassifier(quick("grda", epochs=30), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_grid_search_and_pipeline_on_labelled_data():
    X, _, states = small()
    y = np.where(X[:, 0] > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(state=states)
    search = GridSearchCV(
        AdaptedClassifier("grda", CHAIN, domain="state", random_state=0).set_params(
            method__epochs=2, method__width=8, method__head_start=5
        ),
        {"method__strength": [0.0, 1.0]},
        cv=2,
    )
    assert search.fit(frame, y).best_params_["method__strength"] in (0.0, 1.0)
    piped = make_pipeline(PolynomialFeatures(2), AdaptedClassifier(FAST, random_state=0))
    assert cross_val_score(piped, X, y, cv=2).shape == (2,)


def test_metadata_routing_needs_no_ceremony():
    X, _, states = small()
    y = np.where(X[:, 0] > 0, 1, 0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = AdaptedClassifier(FAST, CHAIN, random_state=0)
        piped = make_pipeline(PolynomialFeatures(2), model).fit(X, y, sample_domain=states)
        assert piped.predict(X, sample_domain=states).shape == y.shape
        assert 0 <= piped.score(X, y, sample_domain=states) <= 1
        search = GridSearchCV(model, {"method": ["plain", FAST]}, cv=2)
        search.fit(X, y, sample_domain=states)
        assert search.score(X, y, sample_domain=states) > 0.5


def test_parameters_reach_the_method_and_survive_a_clone():
    model = AdaptedClassifier(method="grda", graph=CHAIN)
    assert model.get_params()["method__strength"] == methods.GRDA().strength
    model.set_params(method__strength=3.0)
    copy = clone(model)
    assert copy.method.strength == 3.0
    assert copy.graph is CHAIN
    assert AdaptedClassifier(method="grda").method == "grda"


def test_sample_weight_and_class_weight_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), (rng.random(200) < 0.1).astype(int)
    method = quick("source-only", epochs=20)
    plain = AdaptedClassifier(method, random_state=0).fit(X, y)
    balanced = AdaptedClassifier(method, class_weight="balanced", random_state=0).fit(X, y)
    weighted = AdaptedClassifier(method, random_state=0).fit(X, y, sample_weight=1 + 8 * y)
    rare = [model.predict_proba(X)[:, 1].mean() for model in (plain, balanced, weighted)]
    assert rare[0] == pytest.approx(0.1, abs=0.07)
    assert rare[1] == pytest.approx(0.5, abs=0.1)
    assert rare[2] > 0.35


def test_any_module_can_encode_the_rows():
    """Images and a convolution with dropout: reproducible, and the module given is untouched."""
    X, y, states = small()
    images = np.random.default_rng(0).normal(size=(len(X), 1, 6, 6))
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Flatten()
    )
    before = [p.detach().clone() for p in module.parameters()]
    method = quick("grda", encoder=module)
    outputs = []
    for _ in range(2):
        model = AdaptedClassifier(method, CHAIN, random_state=0)
        model.fit(images, y, sample_domain=states)
        outputs.append(model.predict_proba(images, sample_domain=states))
    np.testing.assert_array_equal(*outputs)
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    with pytest.raises(ValueError, match="cannot take a batch of rows of shape"):
        AdaptedClassifier(method, CHAIN).fit(X, y, sample_domain=states)


def test_exploding_predictions_are_named():
    """A steep rule where the labels are, and a target far outside of all that was seen."""
    rng = np.random.default_rng(0)
    domain = np.repeat(["near", "next", "far off"], 20)
    X = rng.normal(size=(60, 1)) + 200.0 * (domain == "far off")[:, None]
    y = np.where(domain == "far off", np.nan, X[:, 0])
    graph = DomainGraph.chain(["near", "next", "far off"])
    method = quick("source-only", epochs=300, learning_rate=0.01, early_stopping=False)
    with pytest.warns(AdaptationWarning, match="exploded in 'far off'"):
        AdaptedRegressor(method, graph, random_state=0).fit(X, y, sample_domain=domain)


def test_two_components_and_a_warning_that_names_the_cut_off_one():
    graph = DomainGraph.from_edges([("a", "b"), ("c", "d")])
    task = drift("regression", graph=graph, n_sources=1)
    X, y, domain = task.visible()
    with pytest.warns(AdaptationWarning, match="'c', 'd'"):
        AdaptedRegressor(FAST, graph, random_state=0).fit(X, y, sample_domain=domain)


def test_rows_without_their_domain_are_refused_when_there_is_a_graph():
    X, y, _ = small()
    with pytest.raises(ValueError, match=r"graph of 4 domains.*sample_domain"):
        AdaptedClassifier(FAST, CHAIN).fit(X, y)
    with pytest.raises(ValueError, match="one name; give one per row"):
        AdaptedClassifier(FAST, CHAIN).fit(X, y, sample_domain="Zürich")


def test_a_fit_in_one_domain_predicts_in_that_domain():
    X, y, _ = small()
    y = np.where(X[:, 0] > 0, 1, 0)
    model = AdaptedClassifier(FAST, CHAIN, random_state=0).fit(X, y, sample_domain=[7] * len(X))
    np.testing.assert_array_equal(
        model.predict_proba(X), model.predict_proba(X, sample_domain=[7] * len(X))
    )


def test_columns_are_numbered_as_in_the_table_given():
    X, y, states = small(graph=DomainGraph.chain(4))
    table = np.column_stack([states, np.arange(len(X)) % 4, X]).astype(float)
    model = AdaptedClassifier(
        quick("grda", pair_on=1), DomainGraph.chain(4), domain=0, random_state=0
    )
    model.fit(table, y)
    assert model.history_["discriminator_bound"][0] > 0.1


def test_pairs_that_cannot_exist_are_named():
    X, y, states = small()
    model = AdaptedClassifier(quick("grda", pair_on=0), CHAIN, random_state=0)
    with pytest.warns(AdaptationWarning, match="agree on column 0"):
        model.fit(X, y, sample_domain=states)


def test_a_refused_fit_leaves_the_model_as_it_was():
    X, y, states = small()
    model = AdaptedClassifier(FAST, CHAIN, random_state=0).fit(X, y, sample_domain=states)
    before = model.predict_proba(X, sample_domain=states)
    with pytest.raises(UnknownDomainError):
        model.fit(X[:, :2], y, sample_domain=["?"] * len(X))
    np.testing.assert_array_equal(before, model.predict_proba(X, sample_domain=states))
    model.set_params(method__strength=9.0)
    assert model.method_.strength == 1.0
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        np.testing.assert_array_equal(before, twin.predict_proba(X, sample_domain=states))
    encodings = model.set_params(method=FAST).fit_transform(X, y, sample_domain=states)
    assert encodings.shape == (len(X), 16)


def test_the_global_state_of_numpy_is_left_alone_without_a_seed():
    X, y, states = small()
    before = np.random.get_state()  # noqa: NPY002
    AdaptedClassifier(FAST, CHAIN).fit(X, y, sample_domain=states)
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    assert before[2] == np.random.get_state()[2]  # noqa: NPY002


@pytest.mark.parametrize("device", ["banana", *(() if torch.cuda.is_available() else ("cuda",))])
def test_a_device_that_is_not_there_is_refused_in_words(device):
    X, y, states = small()
    with pytest.raises(ValueError, match=f"device='{device}'.*'cpu'"):
        AdaptedClassifier(FAST, CHAIN, device=device).fit(X, y, sample_domain=states)


def test_slow_learning_is_not_called_converged():
    X, _, states = small()
    model = AdaptedRegressor(
        quick("source-only", learning_rate=1e-5, epochs=40, base="none"), CHAIN
    )
    assert model.fit(X, 5 * X[:, 0], sample_domain=states).history_.n_epochs == 40


MORE = DomainGraph.from_edges([(7, "new one"), ("new one", "beyond")])


def test_extend_predicts_in_new_domains_and_leaves_the_model_alone():
    X, y, states = small()
    model = AdaptedClassifier("plain", CHAIN, random_state=0).fit(X, y, sample_domain=states)
    before = model.predict_proba(X, sample_domain=states)
    for rows in ((), (X[:5], ["new one"] * 5), (X[:2], ["beyond", "Zürich"])):
        larger = model.extend(MORE, *rows)
        np.testing.assert_array_equal(larger.predict_proba(X, sample_domain=states), before)
        for name in ("new one", "beyond"):
            assert set(larger.predict(X, sample_domain=[name] * len(X))) <= {"yes", "no"}
    assert larger.graph_.names == (*CHAIN.names, "new one", "beyond")
    assert model.graph_ is CHAIN
    with pytest.raises(UnknownDomainError, match="new one"):
        model.predict(X[:1], sample_domain=["new one"])
    # A model that knows one domain only now has to be told which.
    one = AdaptedClassifier("plain", DomainGraph.chain(["a"])).fit(X[:24], y[:24])
    assert len(one.predict(X)) == len(X)
    with pytest.raises(ValueError, match="several domains"):
        one.extend(DomainGraph.chain(["a", "b"])).predict(X)
    np.testing.assert_array_equal(one.extend(DomainGraph.chain(["a"])).predict(X), one.predict(X))


def test_extend_with_the_domain_in_a_column():
    X, y, states = small()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(state=states)
    model = AdaptedClassifier("propagation", CHAIN, domain="state", random_state=0).fit(frame, y)
    new = frame.iloc[-12:].assign(state="new one", a=lambda f: f["a"] + 0.1)
    assert len(model.extend(MORE, new).predict(new)) == 12


def test_extend_is_nearly_a_fit_with_that_domain():
    task = drift("regression", graph=DomainGraph.chain(7), sizes=[60] * 7, n_sources=4)
    X, y, domain = task.visible()
    last = domain == 6
    X = X + 4.0 * last[:, None]  # so that its rows matter
    method = methods.Plain(per_domain="standardize")
    graph = DomainGraph.chain(6)
    model = AdaptedRegressor(method, graph).fit(X[~last], y[~last], sample_domain=domain[~last])
    larger = model.extend(task.graph, X[last], domain[last])
    refit = AdaptedRegressor(method, task.graph).fit(X, y, sample_domain=domain)
    there = {"X": X[last], "sample_domain": domain[last]}
    gap = larger.predict(**there) - refit.predict(**there)
    assert np.abs(gap).max() < 0.1 * np.std(refit.predict(**there))


def test_extend_says_what_is_wrong():
    X, y, states = small()
    model = AdaptedClassifier("plain", CHAIN, random_state=0)
    with pytest.raises(NotFittedError):
        model.extend(MORE)
    model.fit(X, y, sample_domain=states)
    for error, match, arguments in (
        (UnknownDomainError, "Atlantis", (MORE, X[:1], ["Atlantis"])),
        (ValueError, "sample_domain", (MORE, X[:1])),
        (ValueError, "give X as well", (MORE, None, ["new one"])),
        (ValueError, "sample_domain has 2", (MORE, X[:1], ["new one"] * 2)),
        (ValueError, "expecting 3 features", (MORE, X[:1, :2], ["new one"])),
        (TypeError, "must be a DomainGraph.*got list", ([("Zürich", "new one")],)),
    ):
        with pytest.raises(error, match=match):
            model.extend(*arguments)


def test_calibration_needs_sources_to_hide_and_says_so_before_training(monkeypatch):
    X, y, states = small()
    monkeypatch.setattr("grada.training.Trainer.train", lambda *a: pytest.fail("training started"))
    only = np.where(states == "New York", y, None)
    with pytest.raises(ValueError, match=r"calibrate=True.*'New York' only"):
        AdaptedClassifier(FAST, CHAIN, calibrate=True).fit(X, only, sample_domain=states)
    with pytest.raises(ValueError, match="calibrate=True"):
        AdaptedRegressor(FAST, calibrate=True).fit(X, X[:, 0])
    # Auto does without.
    auto = AdaptedClassifier(quick("auto"), CHAIN, calibrate=True, random_state=0)
    assert auto.fit(X, only, sample_domain=states).report_ is not None


def test_calibrated_probabilities_keep_the_classes_and_follow_a_new_graph():
    X, y, states = small(n_per_domain=30)
    settings = {"method": "plain", "graph": CHAIN, "random_state": 0}
    plain = AdaptedClassifier(**settings).fit(X, y, sample_domain=states)
    model = AdaptedClassifier(**settings, calibrate=True).fit(X, y, sample_domain=states)
    proba, raw = (one.predict_proba(X, sample_domain=states) for one in (model, plain))
    np.testing.assert_array_equal(proba.argmax(axis=1), raw.argmax(axis=1))
    # Labels without noise: the plain model is less sure than it could be.
    assert proba.max(axis=1).mean() > raw.max(axis=1).mean() + 0.01
    larger = model.extend(MORE)
    np.testing.assert_allclose(larger.predict_proba(X, sample_domain=states), proba)
    assert larger.predict_proba(X[:3], sample_domain=["beyond"] * 3).shape == (3, 2)


def test_calibration_warns_of_nothing_that_is_hidden_on_purpose():
    graph = DomainGraph.from_edges([("a", "b"), ("c", "d")])
    X, _, _ = small(graph=graph)
    domain = np.repeat(list("abcd"), 12)
    y = np.where(np.isin(domain, ["b", "d"]), np.nan, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaptedRegressor(quick("source-only"), graph, calibrate=True, random_state=0).fit(
            X, y, sample_domain=domain
        )


def test_intervals_in_the_units_of_the_labels():
    X, _, states = small(n_per_domain=60)
    y = 1000 + 50 * X[:, 0] + 5 * np.random.default_rng(1).normal(size=len(X))
    seen = np.where(states == 7, np.nan, y)
    model = AdaptedRegressor("plain", CHAIN, calibrate=True).fit(X, seen, sample_domain=states)
    low, high = model.predict_interval(X, sample_domain=states)
    inside = np.mean((low <= y) & (y <= high))
    assert 0.85 < inside <= 1
    assert 10 < np.mean(high - low) < 50
    larger = model.extend(MORE)
    assert np.isfinite(larger.predict_interval(X[:3], sample_domain=["beyond"] * 3)).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_interval(X, sample_domain=states, coverage=90)


def test_confidence():
    X, y, states = small()
    clf = AdaptedClassifier("plain", CHAIN).fit(X, y, sample_domain=states)
    proba = clf.predict_proba(X, sample_domain=states)
    np.testing.assert_allclose(clf.confidence(X, sample_domain=states), proba.max(axis=1))
    values = np.where([label is None for label in y], np.nan, X[:, 0])
    reg = AdaptedRegressor("plain", CHAIN).fit(X, values, sample_domain=states)
    assert (reg.confidence(X, sample_domain=states) == 1).all()
    with pytest.raises(ValueError, match="several domains"):
        clf.confidence(X)
