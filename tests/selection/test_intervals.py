import numpy as np
import pytest

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph
from grada.selection.intervals import Calibration, with_temperature
from grada.selection.trials import HeldOut


def _exchangeable(n_domains=40, rows=20, seed=0):
    """Domains with a level of their own, on a ring, so that targets are like hidden sources."""
    rng = np.random.default_rng(seed)
    names = [f"d {i}" for i in range(n_domains)]
    ring = [(names[i], names[(i + 1) % n_domains]) for i in range(n_domains)]
    domain = np.repeat(names, rows)
    X = rng.normal(size=(len(domain), 2))
    level = np.repeat(rng.normal(size=n_domains), rows)
    y = X[:, 0] + level + 0.3 * rng.normal(size=len(domain))
    hidden = np.isin(domain, rng.permutation(names)[: n_domains // 4])
    return DomainGraph.from_edges(ring), X, y, domain, hidden


def test_intervals_hold_what_they_say_where_targets_are_like_sources():
    inside, narrow = [], []
    for seed in range(4):
        graph, X, y, domain, hidden = _exchangeable(seed=seed)
        model = AdaptedRegressor("plain", graph, calibrate=True, random_state=0)
        model.fit(X, np.where(hidden, np.nan, y), sample_domain=domain)
        low, high = model.predict_interval(X[hidden], sample_domain=domain[hidden])
        inside.append(np.mean((low <= y[hidden]) & (y[hidden] <= high)))
        less = model.predict_interval(X[hidden], sample_domain=domain[hidden], coverage=0.5)
        narrow.append(np.mean((less[1] - less[0]) / (high - low)))
    assert 0.8 < np.mean(inside) < 0.97
    assert np.mean(narrow) < 0.6


def test_errors_far_from_the_labels_widen_the_intervals_there():
    graph = DomainGraph.chain(40)
    codes = np.repeat(np.arange(20), 10)
    far = codes >= 10
    error, hops = np.where(far, 5.0, 0.1), np.where(far, 4.0, 1.0)
    held_out = HeldOut(np.arange(200), codes, np.zeros((200, 1)), error[:, None], hops)
    calibration = Calibration(held_out, graph, np.arange(20))
    near, away = calibration.half_width(np.array([20, 24]), 0.7)[:, 0]
    assert near == 0.1
    assert away == 5.0


def test_too_few_labels_for_the_coverage_give_infinite_intervals():
    ones = np.ones((2, 1))
    held_out = HeldOut(np.arange(2), np.array([0, 1]), 0 * ones, ones, np.ones(2))
    calibration = Calibration(held_out, DomainGraph.chain(3), np.array([0, 1]))
    assert np.isinf(calibration.half_width(np.array([2]), 0.9)).all()


def test_without_calibration_it_says_what_to_do():
    graph, X, y, domain, hidden = _exchangeable(n_domains=6)
    model = AdaptedRegressor("plain", graph).fit(
        X, np.where(hidden, np.nan, y), sample_domain=domain
    )
    with pytest.raises(ValueError, match="calibrate=True"):
        model.predict_interval(X, sample_domain=domain)


def test_calibration_takes_back_confidence_that_hidden_sources_do_not_bear_out():
    """Each domain has a threshold of its own: a model of the others cannot be that sure."""
    rng = np.random.default_rng(0)
    graph = DomainGraph.chain(24)
    domain = np.repeat(np.arange(24), 40)
    X = rng.normal(size=(960, 1))
    y = (X[:, 0] > np.repeat(1.5 * rng.normal(size=24), 40)).astype(float)
    hidden = domain % 4 == 0
    visible = np.where(hidden, np.nan, y)
    truth = y[hidden].astype(int)
    loss = {}
    for calibrate in (False, True):
        clf = AdaptedClassifier("gradual", graph, calibrate=calibrate, random_state=0)
        clf.fit(X, visible, sample_domain=domain)
        proba = clf.predict_proba(X[hidden], sample_domain=domain[hidden])
        loss[calibrate] = -np.log(np.maximum(proba[np.arange(len(truth)), truth], 1e-3)).mean()
        assert (
            clf.classes_[proba.argmax(axis=1)]
            == clf.predict(X[hidden], sample_domain=domain[hidden])
        ).all()
    assert loss[True] < loss[False]


def test_temperature_by_hand():
    proba = np.array([[0.8, 0.2], [0.5, 0.5]])
    hot = with_temperature(proba, np.array([2.0, 7.0]))
    np.testing.assert_allclose(hot[0], [2 / 3, 1 / 3])  # square roots: 4 to 1 becomes 2 to 1
    np.testing.assert_allclose(hot[1], [0.5, 0.5])
