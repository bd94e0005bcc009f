from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grada.methods import Plain
from grada.selection import blending
from grada.selection.blending import blend, blend_by_hops, blended_held_out
from grada.selection.targets import InTargets
from grada.selection.trials import HeldOut, Trial


def tried(*errors_by_hop):
    """Trials that miss by so much (squared) at one, two and three hops, in signs of their own."""
    hops = np.repeat([1.0, 2.0, 3.0], 64)
    rows = np.arange(len(hops))
    trials = []
    for number, errors in enumerate(errors_by_hop):
        sign = np.where(rows // 2**number % 2, 1.0, -1.0)
        output = (np.sqrt(np.repeat(errors, 64)) * sign)[:, None]
        held_out = HeldOut(rows, rows // 16, np.zeros((len(rows), 1)), output, hops)
        trials.append(Trial(str(number), Plain(), held_out=held_out))
    return trials


def test_blend_by_hand():
    """Errors 1 and 1 that are independent: half each. Twice the error and the same: nothing."""
    np.testing.assert_allclose(blend(np.eye(2)), [0.5, 0.5], atol=1e-4)
    np.testing.assert_allclose(blend(np.array([[1.0, 2.0], [2.0, 4.0]])), [1, 0], atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_no_other_mix_has_a_clearly_smaller_error(seed):
    rng = np.random.default_rng(seed)
    errors = rng.normal(size=(3, 400)) * rng.uniform(0.95, 1.05, size=(3, 1))
    products = errors @ errors.T / 400
    shares = blend(products)
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(), 1)
    reached = shares @ products @ shares
    for other in rng.dirichlet(np.ones(3), size=300):
        # Small shares are cut off, and the pull to equal shares costs a little.
        assert reached <= other @ products @ other + 0.06 * products[0, 0]


def test_a_candidate_that_went_astray_gets_nothing():
    products = np.array([[1.0, 0.0], [0.0, 0.5]])
    assert blend(products, usable=np.array([True, False])).tolist() == [1.0, 0.0]


def test_a_candidate_that_may_have_no_share_does_not_make_the_others_hopeless():
    products = np.diag([1.0, 0.01, 0.4])
    shares = blend(products, usable=np.array([True, False, True]))
    assert shares[1] == 0
    assert shares[2] > 0.6


def test_a_lead_that_shrinks_with_distance_ends_where_the_plain_model_is_kept():
    found = blend_by_hops(tried([1, 1, 1], [0.1, 0.25, 0.6]))
    assert found.shares[0, 1] > 0.8
    assert (np.diff(found.shares[:, 1]) <= 1e-9).all()
    np.testing.assert_array_equal(found.at(np.array([12.0, np.inf])), [[1, 0], [1, 0]])
    steady = blend_by_hops(tried([1, 1, 1], [0.1, 0.1, 0.1]))
    assert steady.shares[6, 1] > 0.7


def test_a_lead_that_grows_is_not_thought_to_grow_farther_than_was_seen():
    found = blend_by_hops(tried([1, 1, 1], [4, 1.2, 0.3]))
    assert found.shares[2, 1] > found.shares[0, 1]
    np.testing.assert_allclose(found.ratio[2:], found.ratio[2])


def alike(trials):
    """The same signs: a blend has nothing to gain."""
    for each in trials:
        each.held_out.output[:] = np.abs(each.held_out.output)
    return trials


@pytest.mark.parametrize(("ratio", "share"), [(0.7, (0, 0)), (0.4, (0.5, 0.8)), (0.2, (0.9999, 1))])
def test_two_hidden_sources_hardly_tell_how_domains_are_to_be_treated(ratio, share):
    trials = alike(tried([1, 1, 1], [ratio] * 3))
    differing = np.array([False, True])
    told = blend_by_hops(trials, differing=differing)
    assert (told.shares[:3, 1] > 0.9).all()  # by twelve sources
    trials = [
        replace(each, held_out=replace(each.held_out, codes=each.held_out.codes % 2))
        for each in trials
    ]
    by_two = blend_by_hops(trials, differing=differing).shares[0, 1]
    assert share[0] <= by_two <= share[1]
    assert blend_by_hops(trials).shares[0, 1] > 0.9  # one that treats all domains alike


def test_candidates_that_spread_labels_carry_less_far():
    trials = alike(tried([1, 1, 1], [0.4, 0.4, 0.4], [0.45, 0.45, 0.45]))
    found = blend_by_hops(trials, spreading=np.array([False, True, False]))
    assert found.shares[1, 1] > 0.9 > 0.45 > found.shares[-1, 1]
    assert (blend_by_hops(trials).shares[:, 1] > 0.9).all()


def test_the_lead_of_a_candidate_that_spreads_labels_fades_and_is_not_lost():
    trials = alike(tried([1, 1, 1], [0.3, 0.5, 0.8]))
    assert (blend_by_hops(trials).shares[-3:, 0] == 1).all()
    found = blend_by_hops(trials, spreading=np.array([False, True]))
    assert (found.shares[:, 1] > 0.5).all()
    assert found.ratio[0] < found.ratio[5] < found.ratio[-1] < 1


def test_no_single_source_decides_between_two(monkeypatch):
    """One leads in half of the sources and loses a little more in the others."""
    monkeypatch.setattr(blending, "_PULL", 0.0)
    trials = alike(tried([1, 1, 1], [0.3, 0.3, 0.3], [0.3, 0.3, 0.3]))
    first_half = trials[0].held_out.codes % 2 == 0
    trials[2].held_out.output[:] *= np.where(first_half, 0.9, 1.12)[:, None]
    errors = np.stack([trial.held_out.output[:, 0] for trial in trials])
    assert blend(errors @ errors.T / errors.shape[1])[2] == 0
    shares = blend_by_hops(trials).shares[1]
    assert shares[0] == 0
    assert 0 < shares[2] < shares[1]


def test_nothing_is_made_of_domains_that_are_nearer_than_those_that_were_hidden():
    trials = alike(tried([1, 1, 1], [0.6, 0.6, 0.6], [0.9, 0.9, 0.9]))
    for each in trials:
        each.held_out.hops[:] = 12.0
    found = blend_by_hops(trials, spreading=np.array([False, False, True]))
    assert found.shares[0, 1] > 0.8
    np.testing.assert_array_equal(found.shares[0], found.shares[-1])


def test_an_opinion_of_the_targets_counts_beside_what_hidden_sources_show():
    """One candidate is believed to have 0.5 ** 0.6 * e ** (0.4 * opinion) times the error."""
    trials, spreading = alike(tried([1, 1, 1], [0.5, 0.5, 0.5])), np.array([False, True])
    opinion = np.zeros((12, 2))
    opinion[:, 1] = np.log(0.1)
    targets = InTargets(opinion, np.zeros((12, 2)))
    found = blend_by_hops(trials, spreading=spreading, targets=targets)
    np.testing.assert_allclose(found.ratio, 0.5**0.6 * 0.1**0.4, rtol=1e-6)
    # For one that spreads no labels it is worth less.
    found = blend_by_hops(trials, targets=targets)
    np.testing.assert_allclose(found.ratio, 0.5**0.85 * 0.1**0.15, rtol=1e-6)


def test_one_that_goes_astray_far_from_the_labels_has_no_share_there():
    trials, spreading = alike(tried([1, 1, 1], [0.5, 0.5, 0.5])), np.array([False, True])
    opinion = np.full((12, 2), np.log(0.5))
    opinion[:, 0] = 0.0
    opinion[2:, 1] = np.log(5)
    targets = InTargets(opinion, np.zeros((12, 2)))
    found = blend_by_hops(trials, spreading=spreading, targets=targets)
    assert (found.shares[:2, 0] < 0.1).all()
    assert (found.shares[2:, 0] == 1).all()


def test_values_that_spread_too_widely_in_the_targets_are_errors_there():
    """A candidate with half the error of the plain model, and 1 more in the targets: 1.5 times."""
    trials = alike(tried([1, 1, 1], [0.5, 0.5, 0.5]))
    surplus = np.zeros((12, 2))
    surplus[3:, 1] = 1.0
    found = blend_by_hops(trials, targets=InTargets(None, surplus))
    assert (found.shares[:3, 1] > 0.9).all()
    assert (found.shares[3:, 0] == 1).all()


def test_a_plain_model_that_spreads_too_widely_is_left_for_one_with_a_lead_only():
    surplus = np.zeros((12, 3))
    surplus[:, :2] = 1.0
    worse = alike(tried([1, 1, 1], [0.7, 0.7, 0.7], [1.2, 1.2, 1.2]))
    found = blend_by_hops(worse, targets=InTargets(None, surplus))
    # The second spreads as widely as the plain model, and the third has no lead: no blend of both
    # is left for its sake, nor is the plain model.
    assert (found.shares[:, 1] > 0.9).all()
    leads = alike(tried([1, 1, 1], [0.7, 0.7, 0.7], [0.8, 0.8, 0.8]))
    assert (blend_by_hops(leads).shares[:, 1] > 0.9).all()
    found = blend_by_hops(leads, targets=InTargets(None, surplus))
    assert (found.shares[:, 2] > 0.9).all()
    alone = blend_by_hops(worse[::2], targets=InTargets(None, surplus[:, ::2]))
    assert (alone.shares[:, 0] == 1).all()


def test_where_little_is_hoped_for_the_plain_model_keeps_a_part():
    little = blend_by_hops(alike(tried([1, 1, 1], [0.9, 0.9, 0.9])))
    assert little.shares[0, 0] == pytest.approx(0.3, abs=0.03)
    assert 0.9 < little.ratio[0] < 1
    assert blend_by_hops(alike(tried([1, 1, 1], [0.6, 0.6, 0.6]))).shares[0, 0] == 0


def test_where_a_process_expects_more_than_the_plain_model_missed_that_has_a_part():
    """Up to 40 %, from 0.7 to 2 times the plain model's error of 1 on hidden sources."""
    trials, spreading = alike(tried([1, 1, 1], [0.5, 0.5, 0.5])), np.array([False, True])
    doubt = np.full(12, 0.6)
    doubt[4:8], doubt[8:] = np.sqrt(0.7 * 2.0), 9.0
    targets = InTargets(np.log([[1.0, 0.5]] * 12), np.zeros((12, 2)), doubt)
    found = blend_by_hops(trials, spreading=spreading, targets=targets)
    np.testing.assert_allclose(found.shares[:, 0], np.repeat([0.0, 0.2, 0.4], 4), atol=1e-6)
    # What it doubts is no reason to leave others for the plain model.
    others = blend_by_hops(trials, targets=targets)
    assert (others.shares[:, 0] == 0).all()


def test_a_domain_that_is_hard_for_all_does_not_decide_alone():
    """Better in eleven domains by half, worse by a fifth in one with fifty times the error."""
    easy = [1, 1, 1], [0.5, 0.5, 0.5]
    trials = alike(tried(*easy))
    for each, factor in zip(trials, (50, 120), strict=True):
        each.held_out.output[:16] *= np.sqrt(factor)
    assert blend_by_hops(trials).shares[0, 1] > 0.5


def test_a_domain_without_any_error_does_not_decide_alone():
    """Better by half in eleven domains; in one the plain model has next to no error at all."""
    trials = alike(tried([1, 1, 1], [0.5, 0.5, 0.5]))
    trials[0].held_out.output[:16] = 1e-5
    trials[1].held_out.output[:16] = 1e-2
    assert blend_by_hops(trials).shares[0, 1] > 0.5


def test_hidden_sources_are_blended_by_their_hops():
    trials = tried([1, 1, 1], [0.1, 0.25, 0.6])
    found = blend_by_hops(trials)
    held_out = blended_held_out(trials, found)
    for row in (0, 70, 150):
        parts = [each.held_out.output[row] for each in trials]
        share = found.shares[int(trials[0].held_out.hops[row]) - 1]
        np.testing.assert_allclose(held_out.output[row], share @ parts)
