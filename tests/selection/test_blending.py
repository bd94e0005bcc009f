import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grada.methods import Plain
from grada.selection.blending import blend, blend_by_hops, blended_held_out
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


def test_a_surcharge_has_to_be_made_up_for():
    trials = tried([1, 1, 1], [0.9, 0.9, 0.9])
    for each in trials:  # the same signs: a blend has nothing to gain
        each.held_out.output[:] = np.abs(each.held_out.output)
    free = blend_by_hops(trials)
    dear = blend_by_hops(trials, surcharge=np.array([0, 0.2]))
    assert free.shares[0, 1] > 0.5
    assert (dear.shares[:, 0] == 1).all()


def test_hidden_sources_are_blended_by_their_hops():
    trials = tried([1, 1, 1], [0.1, 0.25, 0.6])
    found = blend_by_hops(trials)
    held_out = blended_held_out(trials, found)
    for row in (0, 70, 150):
        parts = [each.held_out.output[row] for each in trials]
        share = found.shares[int(trials[0].held_out.hops[row]) - 1]
        np.testing.assert_allclose(held_out.output[row], share @ parts)
