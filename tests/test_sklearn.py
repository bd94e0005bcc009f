"""scikit-learn's own checks: an estimator without domains is an ordinary one."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from grada import AdaptedClassifier, AdaptedRegressor, methods

STOCHASTIC = (
    "mini-batches are drawn row by row, so a weight of two and a row given twice lead to "
    "different draws; the two agree on average only"
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": STOCHASTIC,
}


def quick(method: str) -> methods.Method:
    short = {} if method == "auto" else {"epochs": 60, "width": 32}
    return methods.resolve(method).set_params(**short)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        estimator(method=quick(method), random_state=0)
        for estimator in (AdaptedClassifier, AdaptedRegressor)
        for method in ("source-only", "grda", "auto")
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
