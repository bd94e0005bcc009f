"""Plain: an ordinary scikit-learn model, the yardstick beside every other method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.validation import has_fit_parameter

from grada.data import DomainData
from grada.methods._base import FittedMethod, Method, Run
from grada.training import History


@dataclass(kw_only=True, eq=False, repr=False)
class Plain(Method):
    r"""Fit a scikit-learn model on the labelled rows; domains and graph are not looked at.

    .. math:: \min_w \; \sum_{l \in \text{sources}} h(w^\top x_l, y_l) + \alpha |w|^2

    Parameters
    ----------
    estimator : scikit-learn estimator, optional
        By default logistic regression, or ridge regression with its penalty chosen by
        cross-validation on the labelled rows.

    References
    ----------
    Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011.
    """

    estimator: BaseEstimator | None = None

    name: ClassVar[str] = "plain"
    citation: ClassVar[str] = (
        "Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {"estimator": [BaseEstimator, None]}

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Fit the model."""
        self.check(data)
        if self.estimator is not None:
            model = clone(self.estimator)
        elif data.kind == "classification":
            model = LogisticRegression(max_iter=1000)
        else:
            model = RidgeCV(alphas=np.logspace(-4, 4, 25))
        if model.get_params().get("random_state", run) is None:
            model.set_params(random_state=run.random_state)
        if data.kind == "classification" and not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        rows = data.labelled
        y, weight = data.y[rows], data.weight[rows]
        if np.ptp(weight) == 0:
            weighted = {}
        elif has_fit_parameter(model, "sample_weight"):
            weighted = {"sample_weight": weight}
        else:
            raise ValueError(f"{type(model).__name__} takes no sample_weight or class_weight.")
        model.fit(
            _flat(data.X[rows]), y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, **weighted
        )
        return FittedPlain(model, data.kind)


class FittedPlain(FittedMethod):
    """A fitted scikit-learn model."""

    def __init__(self, model: Any, kind: str):
        self.model = model
        self.kind = kind
        self.history = History()
        self.history.stopped = "fitted in one go"

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values."""
        ask = self.model.predict_proba if self.kind == "classification" else self.model.predict
        return np.asarray(ask(_flat(X)), dtype=np.float64).reshape(len(X), -1)


def _flat(X: NDArray[np.float32]) -> NDArray[np.float64]:
    return X.reshape(len(X), -1).astype(np.float64)
