from dataclasses import replace

import numpy as np
import pytest
from candidates import RUN, data_of
from cases import drift

from grada.methods import Plain, Propagation
from grada.selection.evidence import (
    accuracy_estimate,
    basis,
    class_features,
    departure,
    disagreement,
    error_estimate,
    hidden_score,
    lead_interval,
    logit,
    own_growth,
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


def test_candidates_that_know_say_how_their_errors_grow_by_hand():
    """Doubts of 1 and 3 in two hidden sources, 4 and 8 in targets at two and three hops."""
    lens, trial = _tried("regression")
    _, unsure = _tried("regression")
    hops = target_hops(lens)
    codes = lens.data.codes[lens.rows]
    of_domain = np.zeros(lens.data.graph.n_domains)
    of_domain[lens.targets] = np.where(hops == hops.min(), 4.0, 8.0)
    held_out = trial.held_out
    hidden = np.where(held_out.codes == 2, 1.0, 3.0)
    trial.doubt, trial.held_out = of_domain[codes], replace(held_out, doubt=hidden)
    growth = own_growth([unsure, trial], lens)
    assert np.isnan(growth[:, 0]).all()
    near, far = int(hops.min()), int(hops.max())
    assert near < far
    # The plain model says the same, so its error is thought to grow as much: 60 % are taken off.
    np.testing.assert_allclose(growth[:near, 1], 0.4 * np.log(4 / 2))
    np.testing.assert_allclose(growth[far - 1 :, 1], 0.4 * np.log(8 / 2))
    unsure.output = unsure.output + 1.0  # it is off by 1 more in the targets
    growth = own_growth([unsure, trial], lens)
    np.testing.assert_allclose(growth[:near, 1], np.log(4 / 2) - 0.6 * np.log(5 / 2))
    unsure.output = unsure.output + 9.0  # so far off that a lead would grow: it stays as it is
    np.testing.assert_array_equal(own_growth([unsure, trial], lens)[:near, 1], 0.0)


def test_an_error_that_shrinks_is_no_lead_if_the_plain_model_s_shrinks_as_well():
    """Doubts of 4 in hidden sources and 1 in the targets, where all labels are around."""
    lens, trial = _tried("regression")
    _, plain = _tried("regression")
    trial.doubt = np.ones(len(lens.rows))
    trial.held_out = replace(trial.held_out, doubt=np.full(len(trial.held_out.rows), 4.0))
    np.testing.assert_allclose(own_growth([plain, trial], lens)[:, 1], 0.0, atol=1e-12)
    plain.output = plain.output + 1.0  # it is off by 1 more there: its error falls from 4 to 2
    np.testing.assert_allclose(own_growth([plain, trial], lens)[:, 1], np.log(1 / 2))
    plain.output = plain.output + 9.0  # and now it grows: what is gained is a lead
    np.testing.assert_allclose(own_growth([plain, trial], lens)[:, 1], np.log(1 / 4))


def test_a_candidate_that_departs_from_one_that_knows_bears_it_by_hand():
    """Doubts of 1 everywhere; off by 2 in the targets and by nothing in hidden sources: 1 to 5."""
    lens, plain = _tried("regression")
    _, knows = _tried("regression")
    _, strange = _tried("regression")
    assert (departure([plain, strange], lens) == 0).all()  # nobody knows
    knows.doubt = np.ones(len(lens.rows))
    knows.held_out = replace(knows.held_out, doubt=np.ones(len(knows.held_out.rows)))
    strange.output = strange.output + 2.0
    found = departure([plain, knows, strange], lens)
    np.testing.assert_allclose(found, np.tile([0, 0, np.log(5)], (12, 1)), atol=1e-12)
    plain.output = plain.output + 1.0  # what grows for the plain model as well is no fault of it
    np.testing.assert_allclose(departure([plain, knows, strange], lens)[:, 2], np.log(5 / 2))
    knows.doubt *= 0.1  # one that is closer than before is not rewarded
    strange.output = knows.output
    assert (departure([plain, knows, strange], lens) == 0).all()


def test_what_a_process_doubts_is_kept_for_the_targets_and_the_hidden_sources():
    lens, trial = _tried("regression", method=Propagation())
    assert np.isfinite(own_growth([trial], lens)).all()
    codes = lens.data.codes[lens.rows]
    for code in np.unique(codes):
        assert np.ptp(trial.doubt[codes == code]) == 0
    assert len(np.unique(trial.doubt)) > 1
    assert len(trial.held_out.doubt) == len(trial.held_out.rows)
    assert trial.held_out.output.shape[1] == 1
    assert trial.held_out.first(3).doubt.shape == (3,)


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
