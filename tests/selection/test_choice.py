import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grada.selection.choice import blend


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
