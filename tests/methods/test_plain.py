import numpy as np
import pytest
from cases import drift, predictions
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from grada import methods


def test_equals_scikit_learn_on_the_same_rows():
    task = drift("classification")
    X, y, _ = task.visible()
    seen = ~np.isnan(y)
    Z = StandardScaler().fit(X).transform(X).astype(np.float32).astype(float)
    expected = LogisticRegression(max_iter=1000).fit(Z[seen], y[seen]).predict_proba(Z)
    _, output = predictions(task, "plain")
    np.testing.assert_allclose(output, expected, atol=1e-12)


def test_takes_any_estimator():
    task = drift("regression")
    model, _ = predictions(task, methods.Plain(estimator=DecisionTreeRegressor(max_depth=2)))
    assert model.fitted_.model.get_depth() == 2
    predictions(drift("classification"), methods.Plain(estimator=KNeighborsClassifier()))
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        predictions(drift("classification"), methods.Plain(estimator=LinearSVC()))
