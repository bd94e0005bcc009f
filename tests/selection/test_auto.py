import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from candidates import RUN, Made, data_of, fail
from cases import drift, estimator, predictions, quick

from grada import AdaptationWarning, AdaptedClassifier, AdaptedRegressor, DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task, make_shifts
from grada.methods import _base
from grada.selection import Auto, auto
from grada.selection.intervals import with_temperature

CENTRED = methods.Plain(per_domain="center")


def small(*portfolio, **settings) -> Auto:
    """With candidates that take no time."""
    return Auto(portfolio=list(portfolio or (CENTRED,)), **{"budget": None, **settings})


def fitted(task, method, **settings):
    X, y, domain = task.visible()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return estimator(task.kind, method, task.graph, **settings).fit(X, y, sample_domain=domain)


def parabola(n_domains=6, rows=20, n_sources=4) -> DomainData:
    """Values that no straight line follows, in standard units as they are."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(n_domains), rows)
    X = rng.normal(size=(len(codes), 1)).astype(np.float32)
    y = np.where(codes[:, None] < n_sources, 3 * X**2, np.nan)
    known = (codes < n_sources).astype(np.float32)
    return DomainData(X, codes, y, known, DomainGraph.chain(n_domains), "regression", 1)


def off_by(error: float, **settings) -> Made:
    return Made(answer=lambda X, codes: 3 * X[:, :1] ** 2 + error, **settings)


def moved(seed=0) -> Task:
    """Domains that lie ever farther away: a model that looks from their middle is right."""
    rng = np.random.default_rng(seed)
    y, domain = rng.integers(2, size=300), np.repeat(np.arange(10), 30)
    X = rng.normal(size=(300, 2)) * 0.5
    X[:, 0] += 3.0 * y + 1.5 * domain
    X[:, 1] -= 1.5 * domain
    sources = [0, 1, 2, 3, 4]
    return Task(
        X, y, domain, graph=DomainGraph.chain(10), sources=sources, kind="classification"
    ).shuffled(seed)


def test_blend_by_hand():
    """One candidate is 1 too high and one 1 too low everywhere: half of each makes no error."""
    data = parabola()
    method = Auto(portfolio={"up": off_by(1.0), "down": off_by(-1.0)}, budget=None)
    blend = method.adapt(data, RUN)
    assert blend.shares.keys() == {"up", "down"}
    # Nearly: the plain model had a tiny share that was cut off.
    np.testing.assert_allclose([*blend.shares.values()], 0.5, atol=1e-3)
    np.testing.assert_allclose(blend.predict(data.X, data.codes), 3 * data.X**2, atol=2e-3)
    assert blend.report.adapted
    assert {each.name: each.hidden for each in blend.report.candidates}["up"] == pytest.approx(1)
    np.testing.assert_allclose(blend.calibration.half_width(data.codes, 0.5), 0, atol=2e-3)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_hidden_labels_change_neither_predictions_nor_report(kind):
    task = make_shifts(kind=kind, n_domains=8, n_sources=4, rows_per_domain=20, random_state=1000)
    told = []
    for one in (task, task.scrambled(1)):
        model, output = predictions(one, small("propagation", CENTRED))
        report = model.report_.to_dict() | {"seconds": 0}
        for candidate in report["candidates"]:
            del candidate["seconds"]
        told.append((output, report))
    np.testing.assert_array_equal(told[0][0], told[1][0])
    assert told[0][1] == told[1][1]
    assert not np.array_equal(task.reveal(), task.scrambled(1).reveal())


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_the_plain_model_is_kept_where_nothing_shifts(kind):
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(320, 2)), np.arange(320) % 8
    y = X[:, 0] + 0.3 * rng.normal(size=320)
    y = (y > 0).astype(int) if kind == "classification" else y
    task = Task(X, y, domain, graph=DomainGraph.chain(8), sources=range(4), kind=kind)
    model = fitted(task, small("propagation", CENTRED))
    assert not model.report_.adapted
    assert model.fitted_.shares == {"plain": 1.0}
    assert "not worth its risk" in model.report_.verdict
    assert "hardly tested" not in model.report_.verdict
    plain = fitted(task, "plain")
    np.testing.assert_array_equal(
        model.predict(X, sample_domain=domain), plain.predict(X, sample_domain=domain)
    )


def test_it_says_when_candidates_part_only_where_no_label_is():
    """Inputs of the targets lie far out: centred or not makes all the difference there."""
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(320, 2)), np.repeat(np.arange(8), 40)
    y = X @ [1.0, 1.0] + 0.3 * rng.normal(size=320)
    X[:, 0] += 3.0 * np.maximum(domain - 3, 0)
    task = Task(X, y, domain, graph=DomainGraph.chain(8), sources=range(4), kind="regression")
    model = fitted(task, small("gradual", CENTRED))
    assert "hardly tested" in model.report_.verdict


def test_a_candidate_that_is_clearly_better_is_taken():
    task = moved()
    model = fitted(task, small())
    assert model.report_.adapted
    assert "against" in model.report_.verdict
    right = {
        name: task.evaluate(one.predict(task.X, sample_domain=task.domain)).mean
        for name, one in {"auto": model, "plain": fitted(task, "plain")}.items()
    }
    assert right["auto"] > 95 > right["plain"] + 5


class OtherKind(Made):
    kinds = ("wonders",)


@pytest.mark.parametrize(
    ("second", "judged_by"),
    [
        (methods.Propagation(), "what propagation expects in the targets"),
        (methods.Gradual(), "how errors grow with the distance from labels"),
    ],
)
def test_the_verdict_names_what_a_blend_was_judged_by(second, judged_by):
    task = make_shifts(
        kind="regression",
        shift="offset",
        graph="chain",
        n_domains=16,
        n_sources=8,
        random_state=1000,
    )
    report = fitted(task, small(second)).report_
    assert report.adapted
    assert f"judged by hidden sources and {judged_by}." in report.verdict


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_candidates_that_fail_are_left_out_and_named(kind):
    portfolio = {
        "centred": CENTRED,
        "raises": Made(look=fail(TypeError("what is this"))),
        "no number": Made(answer=lambda X, codes: np.full((len(X), 2), np.nan)),
        "other kind": OtherKind(),
    }
    model = fitted(drift(kind), Auto(portfolio=portfolio, budget=None))
    problems = {each.name: each.problem for each in model.report_.candidates}
    assert problems["plain"] is None
    assert problems["centred"] is None
    assert problems["raises"] == "TypeError: what is this"
    assert "no number" not in model.fitted_.shares
    assert problems["no number"] is not None
    assert problems["other kind"] == "It does wonders only."


def test_data_that_the_plain_model_cannot_take_end_the_fit_at_once():
    tried = []
    data = data_of(drift("classification"))
    one_class = dataclasses.replace(data, y=np.minimum(data.y, 0))
    with pytest.raises(ValueError, match=r"plain model cannot be fitted.*2 classes"):
        small(Made(look=tried.append)).adapt(one_class, RUN)
    assert not tried


class Clock:
    """A clock that moves on by one whenever somebody looks at it."""

    def __init__(self):
        self.now = 0

    def monotonic(self):
        self.now += 1
        return self.now


def test_a_spent_budget_cuts_trainings_and_leaves_out_the_rest(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_base, "time", clock)
    # Whatever the weights say, no candidate is too good to go on.
    monkeypatch.setattr(auto, "_SOLVED", 2.0)
    slow = quick("source-only", epochs=500, early_stopping=False)
    model = fitted(drift("classification"), small(CENTRED, slow, "propagation", budget=40))
    problems = {each.name: each.problem for each in model.report_.candidates}
    assert problems["plain 2"] is None
    assert "budget was spent before the training ended" in problems["source-only"]
    assert problems["propagation"] == "No time was left."
    assert clock.now < 100
    nothing_but_plain = fitted(drift("classification"), small(budget=0.5))
    assert nothing_but_plain.fitted_.shares == {"plain": 1.0}


def test_networks_are_trained_only_if_there_is_something_to_gain(monkeypatch):
    task, method = drift("classification"), small(quick("source-only"))
    for enough, problem in (
        (0.0, "A quicker candidate leaves next to nothing to gain."),
        (2, None),
    ):
        monkeypatch.setattr(auto, "_SOLVED", enough)
        assert fitted(task, method).report_.candidates[1].problem == problem


def test_what_the_chosen_ones_warn_of_is_passed_on():
    data = parabola()
    portfolio = {"good": off_by(0.1, warning="careful"), "bad": off_by(9, warning="never mind")}
    with pytest.warns(AdaptationWarning, match="good: careful") as caught:
        chosen = Auto(portfolio=portfolio, budget=None).adapt(data, RUN)
    assert not any("never mind" in str(each.message) for each in caught)
    assert chosen.report.candidates[2].notes == ("never mind",)


NAMED = DomainGraph.from_edges(
    [("a b", "o'clock"), ("o'clock", "日本"), ("日本", 7)],
    names=["a b", "o'clock", "日本", 7, "alone"],
)
AWKWARD = {
    "one source": {"n_sources": 1},
    "names, and an isolated target": {"graph": NAMED, "n_sources": 2},
    "more features than rows": {"sizes": [8, 8, 8, 4, 4, 4], "n_features": 60},
    "domains of one row": {"sizes": [20, 1, 20, 1, 1, 30]},
    "no edges": {"graph": DomainGraph.from_edges([], names=range(6))},
}


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_tasks(kind, case):
    task = drift(kind, **AWKWARD[case])
    model = fitted(task, small("propagation", CENTRED))
    X, _, domain = task.visible()
    output = model._output(X, domain)
    assert np.isfinite(output).all()
    assert [each.domain for each in model.report_.domains] == list(task.targets)
    if case == "one source" and kind == "regression":
        assert "no source could be hidden" in str(model.report_).lower()
        with pytest.raises(ValueError, match="labels in two domains"):
            model.predict_interval(X, sample_domain=domain)
    elif kind == "regression":
        low, high = model.predict_interval(X, sample_domain=domain)
        assert (low <= high).all()
    else:
        assert all(
            0 <= each.low <= each.estimate <= each.high <= 1 for each in model.report_.domains
        )


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_with_one_source_rows_are_hidden_to_tell_a_curve_from_a_line(kind):
    """A circle in a square: a line knows next to nothing, and the rows of one source show it."""
    rng = np.random.default_rng(0)
    X, domain = rng.uniform(-1, 1, size=(600, 2)), np.repeat(np.arange(4), 150)
    square = (X**2).sum(axis=1)
    y = (square < 0.6).astype(int) if kind == "classification" else square
    task = Task(X, y, domain, graph=DomainGraph.chain(4), sources=[0], kind=kind).shuffled(0)
    model = fitted(task, small(methods.Plain(estimator="gradient-boosting")))
    X, _, domain = task.visible()
    assert model.report_.adapted
    truth, asked = task.reveal(), domain > 0
    missed = ((model.predict(X, sample_domain=domain) - truth)[asked] ** 2).mean()
    assert missed < 0.5 * truth[asked].var()
    if kind == "regression":  # how errors grow is not known from rows at no distance
        assert "nothing tells how either does in other domains" in model.report_.verdict
        assert np.isnan([each.estimate for each in model.report_.domains]).all()


def test_with_one_source_nothing_speaks_for_looking_from_the_middle_of_a_domain():
    """Later domains lie elsewhere, and y follows: whether it does cannot be told from one.

    Trees bend as y does, and rows of the source show it, but not whether to look from the middle.
    """
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(6), 80)
    X = rng.normal(size=(480, 3)) + 1.5 * domain[:, None]
    y = X.sum(axis=1) + 3 * np.sin(3 * X[:, 0]) + 0.2 * rng.normal(size=480)
    graph = DomainGraph.chain(6)
    task = Task(X, y, domain, graph=graph, sources=[0], kind="regression").shuffled(0)
    trees = methods.Plain(estimator="gradient-boosting", per_domain="standardize")
    model = fitted(task, small(CENTRED, trees))
    tried = [each.name for each in model.report_.candidates if each.problem is None]
    assert len(tried) == 3
    assert model.fitted_.shares == {"plain": 1.0}


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_without_targets_it_is_the_plain_model(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] if kind == "regression" else (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = estimator(kind, small("propagation"), None).fit(X, y)
        several = estimator(kind, small("propagation"), DomainGraph.chain(3))
        several.fit(X, y, sample_domain=np.arange(60) % 3)
    for one in (model, several):
        assert one.fitted_.shares == {"plain": 1.0}
        assert "no target" in one.report_.verdict
        assert one.report_.domains == ()
        assert one.report_.candidates[1].problem == "There is no target."
    plain = estimator(kind, "plain", None).fit(X, y)
    np.testing.assert_allclose(model._output(X, None), plain._output(X, None))


def test_three_classes_one_of_which_is_lost_when_a_source_is_hidden():
    rng = np.random.default_rng(0)
    domain = np.repeat(["all three", "first two", "none"], 40)
    y = rng.integers(3, size=120)
    y[domain == "first two"] %= 2
    X = 4.0 * np.eye(3)[y] + 0.5 * rng.normal(size=(120, 3))
    graph = DomainGraph.clique(["all three", "first two", "none"])
    task = Task(X, y, domain, graph=graph, sources=graph.names[:2], kind="classification")
    model = fitted(task, small("propagation"))
    assert task.evaluate(model.predict(X, sample_domain=domain)).mean > 90
    # Hidden in turn: all is right in "first two", and only two classes of three in the other.
    hidden = model.report_.candidates[0].hidden
    lost = np.mean(y[domain == "all three"] == 2)
    assert hidden == pytest.approx(1 - lost / 2, abs=0.05)


def test_two_outputs():
    rng = np.random.default_rng(0)
    X, domain = rng.normal(size=(400, 2)), np.repeat(np.arange(8), 50)
    y = 100 + np.column_stack([X[:, 0], 5 * X[:, 1]]) + 0.1 * rng.normal(size=(400, 2))
    task = Task(X, y, domain, graph=DomainGraph.chain(8), sources=range(5), kind="regression")
    model = fitted(task, small("propagation"))
    low, high = model.predict_interval(X, sample_domain=domain)
    inside = (low <= y) & (y <= high)
    assert inside.shape == (400, 2)
    assert inside.mean() > 0.7
    assert (high - low).max() < 5


def test_probabilities_mean_what_the_report_expects_and_classes_stay():
    task = moved()
    model = fitted(task, small())
    X, _, domain = task.visible()
    proba = model.predict_proba(X, sample_domain=domain)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    part = model.fitted_.main.predict(*model._rows(X, domain))
    np.testing.assert_array_equal(proba.argmax(axis=1), part.argmax(axis=1))
    for each in model.report_.domains:
        here = domain == each.domain
        gaps = [
            abs(with_temperature(part[here], np.full(30, t)).max(axis=1).mean() - each.estimate)
            for t in np.geomspace(0.1, 20, 60)
        ]
        own = abs(proba[here].max(axis=1).mean() - each.estimate)
        assert own == pytest.approx(min(gaps))
    labelled = np.isin(domain, task.sources)
    np.testing.assert_allclose(proba[labelled], part[labelled])


def test_intervals_are_those_of_the_blend():
    task = drift("regression", sizes=[20] * 8, graph=DomainGraph.chain(8), n_sources=5)
    model = fitted(task, small())
    X, _, domain = task.visible()
    narrow = model.predict_interval(X, sample_domain=domain, coverage=0.5)
    wide = model.predict_interval(X, sample_domain=domain, coverage=0.7)
    predicted = model.predict(X, sample_domain=domain)
    np.testing.assert_allclose((narrow[0] + narrow[1]) / 2, predicted, rtol=1e-6, atol=1e-6)
    assert (wide[1] - wide[0] >= narrow[1] - narrow[0]).all()
    assert (narrow[1] > narrow[0]).all()


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_new_domains(kind):
    """Also one that is two hops away through another new one."""
    task = moved() if kind == "classification" else drift(kind)
    model = fitted(task, small("propagation", CENTRED))
    X, _, domain = task.visible()
    last = task.graph.names[-1]
    larger = model.extend(DomainGraph.from_edges([(last, "next"), ("next", "last of all")]))
    np.testing.assert_array_equal(larger._output(X, domain), model._output(X, domain))
    shift = X[domain == last]
    for name in ("next", "last of all"):
        assert np.isfinite(larger._output(shift, [name] * len(shift))).all()
    if kind == "regression":
        assert larger.fitted_.calibration.graph is larger.graph_
        low, high = larger.predict_interval(shift, sample_domain=["last of all"] * len(shift))
        assert (low < high).all()
    twin = pickle.loads(pickle.dumps(larger))  # noqa: S301
    np.testing.assert_array_equal(twin._output(X, domain), model._output(X, domain))


def test_the_portfolio_can_be_given_in_several_ways():
    task = drift("classification")
    names = {
        "names": (["plain", "propagation"], ["plain", "propagation"]),
        "twice": ([CENTRED, methods.Plain(append="means")], ["plain", "plain 2", "plain 3"]),
        "mapping": ({"mine": "propagation"}, ["plain", "mine"]),
        "nothing": ([], ["plain"]),
        "own yardstick": ({"plain": CENTRED}, ["plain"]),
    }
    for portfolio, expected in names.values():
        report = fitted(task, Auto(portfolio=portfolio)).report_
        assert [each.name for each in report.candidates] == expected
    with pytest.raises(ValueError, match="'plain' is the model that the others have to beat"):
        fitted(task, Auto(portfolio={"plain": methods.resolve("grda")}))
    with pytest.raises(ValueError, match="Unknown method 'propagashun'"):
        fitted(task, Auto(portfolio=["propagashun"]))
    with pytest.raises(ValueError, match="'budget' parameter"):
        fitted(task, Auto(budget=0))


def test_the_default_portfolio_is_reached_by_name():
    for make, kind in ((AdaptedClassifier, "classification"), (AdaptedRegressor, "regression")):
        assert isinstance(methods.resolve(make(method="auto").method), Auto)
        default = auto.named_portfolio(None, data_of(drift(kind)))
        assert next(iter(default)) == "plain"
        slow = [auto.is_slow(method) for method in default.values()]
        assert slow == sorted(slow)
        assert not slow[0]
        assert slow[-1] == (kind == "classification")
        assert all(kind in method.kinds for method in default.values())
