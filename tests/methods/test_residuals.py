from dataclasses import replace

import numpy as np
import pytest
import torch

from grada import DomainGraph
from grada.data import DomainData
from grada.methods import Plain, Run, _process, _residuals
from grada.methods._process import (
    Domains,
    Labelled,
    Mixture,
    Process,
    Reach,
    Rows,
    likely_views,
    most_likely,
)
from grada.methods._residuals import adapt_residuals, hidden_sets
from grada.methods._terms import TERMS, VIEWS, seen_as, terms_of

RUN = Run(0, torch.device("cpu"))


def make(y, codes, X, graph, sources, weight=None):
    """Data whose labels are visible in the sources only."""
    seen = np.isin(codes, sources)
    weight = np.where(seen, 1.0 if weight is None else weight, 0.0).astype(np.float32)
    y = np.where(seen[:, None], np.reshape(y, (len(codes), -1)), np.nan).astype(np.float32)
    return DomainData(
        X=np.asarray(X, dtype=np.float32),
        codes=np.asarray(codes),
        y=y,
        weight=weight / weight[seen].mean(),
        graph=graph,
        kind="regression",
        n_outputs=y.shape[1],
    )


def levels(n_rows=12, n_domains=24, seed=0, step=3):
    """A level that rises and falls smoothly along a chain, on top of a linear function of x."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_domains), n_rows)
    X = rng.normal(size=(len(codes), 3))
    level = 2 * np.sin(np.arange(n_domains) / 4)
    y = X @ [1.0, -0.5, 0.0] + level[codes] + 0.1 * rng.normal(size=len(codes))
    sources = np.arange(0, n_domains, step)
    return make(y, codes, X, DomainGraph.chain(n_domains), sources), y[:, None]


def error(fitted, data, truth):
    hidden = np.isnan(data.y[:, 0])
    return ((fitted.predict(data.X, data.codes) - truth)[hidden] ** 2).mean()


def test_reach_by_hand():
    """Two joined domains, L = [[1, -1], [-1, 1]]: inv(I + 4L) is (5, 4; 4, 5) / 9."""
    graph = DomainGraph.from_edges([("a", "b")], names=["a", "b", "alone"])
    data = make([1.0, 2.0, 3.0], [0, 1, 2], np.zeros((3, 1)), graph, [0, 1])
    reach = Reach.of(Domains.of(data), np.arange(3))
    codes = np.arange(3)
    expected = [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(reach.between("rough", codes, codes), expected)
    smooth = np.linalg.matrix_power(np.array([[33.0, 32.0], [32.0, 33.0]]) / 65, 2)
    np.testing.assert_allclose(
        reach.between("smooth", codes[:1], codes)[0], [1, smooth[0, 1] / smooth[0, 0], 0]
    )
    np.testing.assert_allclose(
        reach.between("unlike", codes[:1], codes)[0], [1, -smooth[0, 1] / smooth[0, 0], 0]
    )
    np.testing.assert_allclose(reach.between("joined", codes[:1], codes)[0], [1, 1, 0])
    np.testing.assert_allclose(
        reach.only(1, np.array([0])).between("rough", codes[1:2], codes[[0, 2]]), [[0.8, 0]]
    )


def test_posterior_by_hand():
    """One label of 1 with noise 1, prior variance 1 shared by 0.8: mean 0.4, variance 0.68."""
    graph = DomainGraph.from_edges([("a", "b")])
    data = make([1.0, 0.0], [0, 1], np.zeros((2, 1)), graph, [0])
    names = terms_of(1)
    variances = np.zeros(len(names) + 1)
    variances[[names.index(("rough", "one")), -1]] = 1.0
    rows = Rows(np.zeros((2, 1)), np.arange(2))
    known = Labelled(rows.take([0]), np.ones((1, 1)), np.ones(1))
    process = Process(Domains.of(data), known, variances, np.array([10.0]), 0)
    np.testing.assert_allclose(process.mean(rows), [[10.5], [10.4]], rtol=1e-5)
    np.testing.assert_allclose(process.variance(rows), [1.5, 1.68], rtol=1e-5)
    twice = Process(
        process.domains, known._replace(weight=np.array([3.0])), variances, np.array([10.0]), 0
    )
    np.testing.assert_allclose(twice.mean(rows)[0], 10.75, rtol=1e-5)


def test_the_most_likely_variances_beat_those_around_them():
    rng = np.random.default_rng(0)
    same = np.kron(np.eye(30), np.ones((4, 4)))
    y = np.repeat(rng.normal(size=30), 4) + 0.5 * rng.normal(size=120)
    rows = Rows(np.zeros((120, 1)), np.repeat(np.arange(30), 4))
    known = Labelled(rows, y[:, None] - y.mean(), np.ones(120))
    found, reached = most_likely(np.stack([same]), known, np.zeros(1))

    def loss(variances):
        covariance = variances[0] * same + variances[1] * np.eye(120)
        fit = known.y[:, 0] @ np.linalg.solve(covariance, known.y[:, 0])
        return fit + np.linalg.slogdet(covariance)[1]

    for factor in ([1.1, 1], [0.9, 1], [1, 1.1], [1, 0.9]):
        assert loss(found) < loss(found * factor)
    assert reached == pytest.approx(loss(found) / 2, rel=1e-3)


def test_a_level_that_follows_the_graph_is_found():
    data, truth = levels()
    fitted = adapt_residuals(None, data, RUN)
    assert error(fitted, data, truth) < 0.1 * error(Plain().adapt(data, RUN), data, truth)
    # Over a graph that says nothing of the levels, no worse than ridge regression.
    names = np.random.default_rng(1).permutation(24)
    weights = data.graph.weights[names][:, names]
    shuffled = replace(data, graph=DomainGraph.from_adjacency(weights))
    lost = adapt_residuals(None, shuffled, RUN)
    assert error(lost, data, truth) < 1.2 * error(Plain().adapt(data, RUN), data, truth)


def test_rows_alike_within_their_domains_share_what_is_left():
    """As the same years in different states: noise to a row's x, but common to all domains."""
    rng = np.random.default_rng(2)
    year, codes = np.tile(np.arange(15), 12), np.repeat(np.arange(12), 15)
    weather, outcome = 2 * rng.normal(size=(15, 4)), rng.normal(size=15)
    X = 5 * rng.normal(size=(12, 4))[codes] + weather[year] + 0.1 * rng.normal(size=(180, 4))
    y = outcome[year] + 0.05 * rng.normal(size=180)
    data = make(y, codes, X / 5, DomainGraph.chain(12), np.arange(6))
    fitted = adapt_residuals(None, data, RUN)
    assert error(fitted, data, y[:, None]) < 0.2
    assert error(Plain().adapt(data, RUN), data, y[:, None]) > 0.5


def test_slopes_that_follow_from_where_the_inputs_lie_are_found():
    """There are no edges to carry anything: what a domain is like is told by its inputs."""
    rng = np.random.default_rng(6)
    mean, codes = rng.uniform(-1.5, 1.5, size=24), np.repeat(np.arange(24), 20)
    X = rng.normal(size=(len(codes), 2))
    X[:, 0] += mean[codes]
    y = (1 + 0.5 * mean[codes]) * X[:, 0] - 0.5 * X[:, 1] + 0.1 * rng.normal(size=len(codes))
    graph = DomainGraph.from_edges([], names=range(24))
    data = make(y, codes, X, graph, range(0, 24, 2))
    fitted, plain = adapt_residuals(None, data, RUN), Plain().adapt(data, RUN)
    assert error(fitted, data, y[:, None]) < 0.15 * error(plain, data, y[:, None])


def test_neighbours_that_are_unlike_are_seen_through():
    """Every other domain has another slope; it is told from sources that lie anywhere."""
    rng = np.random.default_rng(7)
    codes = np.repeat(np.arange(24), 25)
    X = rng.normal(size=(len(codes), 2))
    y = np.where(codes % 2, 0.2, 1.0) * X[:, 0] + 0.7 * X[:, 1] + 0.1 * rng.normal(size=len(codes))
    data = make(y, codes, X, DomainGraph.chain(24), [1, 2, 5, 8, 10, 13, 17, 20, 23])
    fitted, plain = adapt_residuals(None, data, RUN), Plain().adapt(data, RUN)
    assert error(fitted, data, y[:, None]) < 0.25 * error(plain, data, y[:, None])


def test_edges_that_are_likenesses_are_taken_for_them():
    """Groups within groups: levels of a group that nobody labelled are told by its family.

    Each group also has inputs of its own, by which levels could be explained just as well.
    """
    rng = np.random.default_rng(8)
    group, family = np.arange(40) // 4, np.arange(40) // 20
    weights = 0.7 * np.equal.outer(group, group) + 0.3 * np.equal.outer(family, family) - np.eye(40)
    codes = np.repeat(np.arange(40), 12)
    X = rng.normal(size=(len(codes), 2))
    X[:, 0] += 1.5 * rng.normal(size=10)[group[codes]]
    level = np.array([-1.0, 1.0])[family] + 0.5 * rng.normal(size=10)[group]
    y = X @ [0.7, 0.3] + level[codes] + 0.2 * rng.normal(size=len(codes))
    sources = np.flatnonzero((np.arange(40) % 4 < 2) & ~np.isin(group, [1, 4, 6, 8]))
    data = make(y, codes, X, DomainGraph.from_adjacency(weights), sources)
    fitted, plain = adapt_residuals(None, data, RUN), Plain().adapt(data, RUN)
    assert fitted.process.parts[0].variances[TERMS.index(("joined", "one"))] > 0.1
    assert error(fitted, data, y[:, None]) < 0.25 * error(plain, data, y[:, None])


@pytest.mark.parametrize(
    ("graph", "n_sources", "told"),
    [
        (DomainGraph.chain(8), 8, {"unlike"}),
        (DomainGraph.chain(8), 4, set()),  # too few to see that signs alternate
        (DomainGraph.clique(8), 8, {"joined"}),
        (DomainGraph.from_edges([], names=range(8)), 8, {"unlike"}),
    ],
)
def test_terms_that_a_graph_cannot_tell_of_are_not_tried(graph, n_sources, told):
    data = make(np.zeros(8), np.arange(8), np.zeros((8, 1)), graph, range(8))
    reach = Reach.of(Domains.of(data), np.arange(8))
    assert reach.worth_a_term(n_sources) - {"all", "own", "rough", "smooth"} == told


def test_hidden_sets_lie_as_far_out_as_the_targets():
    graph = DomainGraph.chain(30)
    codes = np.arange(30)
    scattered = make(codes * 1.0, codes, np.zeros((30, 1)), graph, codes[::2])
    half = make(codes * 1.0, codes, np.zeros((30, 1)), graph, codes[:20])
    rng = np.random.default_rng(0)
    small = hidden_sets(scattered, scattered.sources, rng)
    large = hidden_sets(half, half.sources, rng)
    assert max(map(len, small)) < 4
    assert min(map(len, large)) >= 5
    assert all(np.ptp(chosen) <= len(chosen) for chosen in large)
    assert all(np.isin(chosen, half.sources).all() for chosen in large)


def test_noise_is_left_to_ridge_regression():
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(16), 10)
    X = rng.normal(size=(160, 3))
    y = X @ [1.0, 0.5, -1.0] + rng.normal(size=160)
    data = make(y, codes, X, DomainGraph.chain(16), np.arange(8))
    fitted, plain = adapt_residuals(None, data, RUN), Plain().adapt(data, RUN)
    assert error(fitted, data, y[:, None]) < 1.03 * error(plain, data, y[:, None])


@pytest.mark.parametrize("dense", [2000, 10])
def test_the_local_answer_is_near_the_exact_one(monkeypatch, dense):
    data, truth = levels(n_rows=20, n_domains=40, step=2)
    exact = adapt_residuals(None, data, RUN)
    monkeypatch.setattr(_process, "EXACT_ROWS", 100)
    monkeypatch.setattr(_process, "_LOCAL_ROWS", 120)
    monkeypatch.setattr(_process, "_BALL", 9)
    process = exact.process.parts[0]
    for module in (_process, _residuals):
        monkeypatch.setattr(module, "DENSE_DOMAINS", dense)
    local = _residuals.FittedResiduals(
        Mixture(
            [Process(process.domains, process.known, process.variances, process.centre, 0)], [1.0]
        ),
        exact.ridge,
        exact.share,
    )
    assert not local.process.parts[0].exact
    assert error(local, data, truth) < 3 * error(exact, data, truth)
    ridge = error(Plain().adapt(data, RUN), data, truth)
    assert error(local, data, truth) < 0.2 * ridge
    some = np.array([3, 700, 45, 46, 3])
    np.testing.assert_allclose(
        local.predict(data.X[some], data.codes[some]),
        local.predict(data.X, data.codes)[some],
        rtol=1e-9,
    )
    confidence = local.confidence(data.X[some], data.codes[some])
    assert np.all((confidence > 0) & (confidence < 1))
    if dense == 10:  # the whole fit, with its variances from a part of the graph
        assert error(adapt_residuals(None, data, RUN), data, truth) < 0.3 * ridge


def test_confidence_falls_with_the_distance():
    data, _ = levels()
    ends = data.hiding(np.arange(9, 24))
    confidence = adapt_residuals(None, ends, RUN).confidence(data.X, data.codes)
    by_domain = np.bincount(data.codes, confidence) / np.bincount(data.codes)
    assert np.all((confidence >= 0) & (confidence <= 1))
    assert by_domain[3] > by_domain[7] > by_domain[8] > by_domain[9:].mean()


def test_extending_is_like_having_been_there():
    """New domains get what they would have got as targets of a fit; old predictions stay."""
    data, truth = levels()
    old = data.codes < 20
    first = replace(
        data,
        X=data.X[old],
        y=data.y[old],
        codes=data.codes[old],
        weight=data.weight[old] / data.weight[old][data.weight[old] > 0].mean(),
        graph=data.graph.subgraph(data.graph.names[:20]),
    )
    first = first.hiding(np.array([3]))
    fitted = adapt_residuals(None, first, RUN)
    assert fitted.share == 1
    new = fitted.extend(data.graph, data.X[~old], data.codes[~old])
    refit = adapt_residuals(None, make(truth, data.codes, data.X, data.graph, first.sources), RUN)
    one_off = data.codes == 20
    np.testing.assert_array_equal(
        new.predict(data.X[old], data.codes[old]), fitted.predict(data.X[old], data.codes[old])
    )
    np.testing.assert_allclose(
        new.predict(data.X[one_off], data.codes[one_off]),
        refit.predict(data.X[one_off], data.codes[one_off]),
        atol=0.15,
    )
    # Without rows, a new domain is still known by its edges.
    bare = fitted.extend(data.graph, data.X[:0], data.codes[:0])
    missed = bare.predict(data.X[one_off], data.codes[one_off]) - truth[one_off]
    ridge = fitted.ridge.predict(data.X[one_off].astype(float)).reshape(-1, 1) - truth[one_off]
    assert (missed**2).mean() < 0.5 * (ridge**2).mean()


@pytest.mark.parametrize("case", ["one source", "isolated", "wide", "constant", "no rows", "ones"])
def test_odd_data(case):
    rng = np.random.default_rng(4)
    sizes = np.full(8, 6)
    n_features, sources, graph = 3, [0, 1, 2, 5], DomainGraph.chain(8)
    if case == "one source":
        sources = [2]
    if case == "isolated":
        graph = DomainGraph.from_edges([(0, 1)], names=range(8))
    if case == "wide":
        n_features = 60
    if case == "no rows":
        sizes[[1, 7]] = 0
    if case == "ones":
        sizes[:] = 1
    codes = np.repeat(np.arange(8), sizes)
    X = rng.normal(size=(len(codes), n_features)) * (case != "constant")
    y = np.column_stack([X[:, 0], -X[:, 0]]) + 0.1 * rng.normal(size=(len(codes), 2))
    data = make(y, codes, X, graph, sources, weight=rng.uniform(0.5, 2, size=len(codes)))
    fitted = adapt_residuals(None, data, RUN)
    asked = np.arange(8)
    output = fitted.predict(np.zeros((8, n_features), dtype=np.float32), asked)
    assert output.shape == (8, 2)
    assert np.isfinite(output).all()
    assert np.isfinite(fitted.confidence(data.X, data.codes)).all()


def test_the_order_of_the_rows_does_not_matter(monkeypatch):
    monkeypatch.setattr(_residuals, "_TUNING_ROWS", 60)
    data, _ = levels()
    order = np.random.default_rng(5).permutation(len(data.X))
    mixed = replace(
        data, X=data.X[order], y=data.y[order], codes=data.codes[order], weight=data.weight[order]
    )
    here, there = (adapt_residuals(None, d, RUN).predict(data.X, data.codes) for d in (data, mixed))
    np.testing.assert_allclose(here, there, atol=1e-4)


def moved(*, level_follows, n_domains=16, n_rows=40):
    """A chain along which the inputs move; the response follows them, or does not."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(n_domains), n_rows)
    own = rng.normal(size=(len(codes), 2))
    move = np.column_stack([0.4 * codes, -0.3 * codes])
    y = (own + level_follows * move) @ [1.0, 0.5] + 0.2 * rng.normal(size=len(codes))
    X = own + move + 0.01 * rng.normal(size=own.shape)
    return make(y, codes, X, DomainGraph.chain(n_domains), range(6)), y[:, None]


@pytest.mark.parametrize("level_follows", [True, False])
def test_whether_levels_follow_the_inputs_is_told_from_the_sources(level_follows):
    data, truth = moved(level_follows=level_follows)
    fitted = adapt_residuals(None, data, RUN)
    plain = Plain().adapt(data, RUN)
    most = 1.3 if level_follows else 0.1
    assert error(fitted, data, truth) < most * error(plain, data, truth)


def test_views_leave_out_the_terms_of_other_views():
    names = terms_of(2)
    shapes = {
        view: {
            shape
            for (shared, shape), has in zip(names, seen_as(view, names), strict=True)
            if has and shared == "all"
        }
        for view in VIEWS
    }
    assert shapes["any"] > shapes["deviation"] | shapes["standard"]
    assert {"linear", "each bent"}.isdisjoint(shapes["deviation"] | shapes["standard"])
    assert "deviation linear" in shapes["deviation"] - shapes["standard"]
    assert "standard linear" in shapes["standard"] - shapes["deviation"]


def test_views_are_weighed_by_their_likelihood():
    data, _ = moved(level_follows=False)
    domains, rows = Domains.of(data), data.labelled[::2]
    y = data.y[rows].astype(np.float64)
    seen = Rows(data.X[rows].astype(np.float64), data.codes[rows])
    known = Labelled(seen, y - y.mean(axis=0), np.ones(len(rows)))
    reach = Reach.of(domains, np.arange(data.graph.n_domains))
    terms = np.stack([domains.term(name, reach, seen, seen) for name in domains.terms])
    weights, variances = zip(*likely_views(domains.terms, terms, known, reach), strict=True)
    assert sum(weights) == pytest.approx(1)
    assert list(weights) == sorted(weights, reverse=True)
    assert all(len(each) == len(domains.terms) + 1 for each in variances)


def test_what_views_differ_by_is_a_doubt_by_hand():
    """Means 1 and 3 by weights of 3/4 and 1/4: 1.5, and 0.75 more variance."""

    class Sure:
        def __init__(self, value):
            self.value = value

        def mean(self, asked):
            return np.full((len(asked.codes), 1), self.value)

        def variance(self, asked):
            return np.full(len(asked.codes), 0.5)

    asked = Rows(np.zeros((2, 1)), np.zeros(2, dtype=int))
    both = Mixture([Sure(1.0), Sure(3.0)], [0.75, 0.25])
    np.testing.assert_allclose(both.mean(asked), 1.5)
    np.testing.assert_allclose(both.variance(asked), 0.5 + 0.75)
