import numpy as np
import pytest
from candidates import RUN, data_of
from cases import drift

from grada.methods import Plain
from grada.selection.evidence import (
    accuracy_estimate,
    basis,
    class_features,
    disagreement,
    error_estimate,
    hidden_score,
    lead_interval,
    logit,
    sigmoid,
    target_hops,
)
from grada.selection.scores import LabelFree
from grada.selection.trials import HeldOut, Trial, try_candidate

SPLITS = [[2], [1, 2]]


def _tried(kind, splits=SPLITS, method=None):
    data = data_of(drift(kind))
    lens, trial = LabelFree(data), Trial("it", method or Plain())
    rows = [np.flatnonzero(np.isin(data.codes, hidden)) for hidden in splits]
    try_candidate(trial, data, lens.rows, rows, RUN, np.inf)
    return lens, trial


def test_hidden_domains_at_the_same_distance_count_most_by_hand():
    """Domains with one and no row right, at one and three hops: 1 : exp(-2) of the weight."""
    output = np.eye(2)[[0, 0, 1]]
    held_out = HeldOut(
        np.arange(3), np.array([0, 0, 1]), np.zeros(3, int), output, np.array([1.0, 1, 3])
    )
    near, far = hidden_score(held_out, np.array([1.0, 3.0]))
    assert near == pytest.approx(1 / (1 + np.exp(-2)))
    assert far == pytest.approx(1 - near)


def test_a_candidate_tried_less_often_is_judged_by_its_lead():
    """The plain model itself, tried once, is judged as it is when tried on all splits."""
    lens, plain = _tried("classification")
    _, once = _tried("classification", SPLITS[:1])
    _, never = _tried("classification", [])
    full = class_features(plain, lens, plain)
    np.testing.assert_allclose(class_features(once, lens, plain), full)
    assert len(once.held_out.rows) < len(plain.held_out.rows)
    np.testing.assert_allclose(class_features(never, lens, never), full[:, :-1])


def test_estimates_of_accuracy_are_shares_in_order():
    features = logit(np.array([[0.0] * 5, [0.6] * 5, [1.0] * 5]))
    estimate = accuracy_estimate(features, "hidden")
    assert (np.diff(estimate.mean) > 0).all()
    for low, middle, high in zip(estimate.low, estimate.mean, estimate.high, strict=True):
        assert 0 <= low <= middle <= high <= 1
    assert estimate.overall == pytest.approx(estimate.mean.mean())
    assert estimate.overall_low < estimate.overall < estimate.overall_high
    solved = accuracy_estimate(features[2:], "hidden")
    assert solved.overall_low < solved.overall <= solved.overall_high
    assert sigmoid(logit(0.7)) == pytest.approx(0.7)


def test_errors_grow_by_what_the_candidates_differ_in_the_targets():
    lens, plain = _tried("regression")
    calm, wild = (error_estimate(plain.held_out, np.full(3, s), lens) for s in (0.0, 2.0))
    first = hidden_score(plain.held_out, target_hops(lens))
    np.testing.assert_allclose(wild.mean - calm.mean, 2.0 * calm.mean / first)
    assert (calm.low < calm.mean).all()
    assert (calm.mean < calm.high).all()
    assert np.isnan(error_estimate(None, np.zeros(3), lens).overall)


def test_disagreement_by_hand():
    """Of 0, 0 and 3 everywhere the median is 0: one candidate is 9 away, here and there."""
    lens, trials = None, []
    for value in (0.0, 0.0, 3.0):
        lens, trial = _tried("regression")
        trial.output = np.full_like(trial.output, value)
        trial.held_out.output[:] = value
        trials.append(trial)
    in_targets, in_hidden = disagreement(trials, lens)
    np.testing.assert_allclose(in_targets, np.repeat([[0.0], [0.0], [9.0]], 3, axis=1))
    np.testing.assert_allclose(in_hidden, [0, 0, 9])


def test_what_was_hidden_decides_about_the_weights():
    lens, domains = _tried("classification")
    _, never = _tried("classification", [])
    rows = Trial("it", Plain())
    try_candidate(rows, lens.data, lens.rows, [np.arange(0, 60, 3)], RUN, np.inf)
    assert [basis(each) for each in (domains, rows, never)] == ["hidden", "rows", "none hidden"]


def test_a_lead_is_told_with_its_uncertainty():
    low, high = lead_interval(0.5)
    assert low < 0.5 < high
    np.testing.assert_allclose(lead_interval(1.0), (2 * low, 2 * high))
