"""Plain: an ordinary scikit-learn model, the yardstick beside every other method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import has_fit_parameter

from grada.data import DomainData
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._neural import POSITIVE, domain_embedding
from grada.training import History

_PENALTIES = np.logspace(-4, 4, 25)
_MAX_FOLDS = 10


@dataclass(kw_only=True, eq=False, repr=False)
class Plain(Method):
    r"""Fit a scikit-learn model on the labelled rows, with or without a word on the domain.

    .. math:: \min_w \; \sum_{l \in \text{sources}} h(w^\top [x_l, c_{u_l}], y_l) + \alpha |w|^2

    with :math:`c_u` nothing by default, so that domains and graph are not looked at.

    Parameters
    ----------
    estimator : {"linear", "gradient-boosting"} or scikit-learn estimator
        ``"linear"``: logistic regression, or ridge regression with its penalty chosen by
        cross-validation over source domains, each predicted from others (over rows if there is
        one source only). ``"gradient-boosting"``: histogram-based trees.
    append : {"nothing", "embedding", "means", "both"}
        What is appended to the features of a row: the node embedding of its domain, the mean
        features of all rows of its domain (known without labels; for a domain without rows, those
        of its neighbours), or both.
    embedding : str
        See :meth:`grada.DomainGraph.embed`.
    embedding_dim : int, optional

    References
    ----------
    Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011.
    """

    estimator: BaseEstimator | Literal["linear", "gradient-boosting"] = "linear"
    append: Literal["nothing", "embedding", "means", "both"] = "nothing"
    embedding: str = "reconstruction"
    embedding_dim: int | None = None

    name: ClassVar[str] = "plain"
    citation: ClassVar[str] = (
        "Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "estimator": [BaseEstimator, StrOptions({"linear", "gradient-boosting"})],
        "append": [StrOptions({"nothing", "embedding", "means", "both"})],
        "embedding": [str],
        "embedding_dim": [POSITIVE, None],
    }

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Fit the model."""
        self.check(data)
        rows = data.labelled
        model = self._model(data, run)
        y, weight = data.y[rows], data.weight[rows]
        if np.ptp(weight) == 0:
            weighted = {}
        elif has_fit_parameter(model, "sample_weight"):
            weighted = {"sample_weight": weight}
        else:
            raise ValueError(f"{type(model).__name__} takes no sample_weight or class_weight.")
        fitted = FittedPlain(model, data.kind, self._domain_features(data, run))
        inputs = fitted.inputs(data.X[rows], data.codes[rows])
        if self.estimator == "linear" and isinstance(model, Ridge):
            model.set_params(alpha=choose_penalty(inputs, y, data.codes[rows], weight))
        model.fit(inputs, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, **weighted)
        return fitted

    def _model(self, data: DomainData, run: Run) -> Any:
        classes = data.kind == "classification"
        if self.estimator == "linear":
            ridge = Ridge() if len(data.sources) > 1 else RidgeCV(_PENALTIES)
            model = LogisticRegression(max_iter=1000) if classes else ridge
        elif self.estimator == "gradient-boosting":
            trees = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
            model = trees(random_state=run.random_state)
            if not classes and data.n_outputs > 1:
                model = MultiOutputRegressor(model)
        else:
            model = clone(self.estimator)
        # Also those of the steps of a pipeline.
        seeds = [key for key in model.get_params() if key.rpartition("__")[2] == "random_state"]
        unset = {key: run.random_state for key in seeds if model.get_params()[key] is None}
        model.set_params(**unset)
        if classes and not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        return model

    def _domain_features(self, data: DomainData, run: Run) -> NDArray[np.float64]:
        """What is appended to the rows of each domain, shape (n_domains, ...)."""
        parts = [np.empty((data.graph.n_domains, 0))]
        if self.append in ("embedding", "both"):
            embedding = domain_embedding(data, self.embedding, self.embedding_dim, run)
            parts.append(embedding.numpy().astype(np.float64))
        if self.append in ("means", "both"):
            parts.append(mean_features(data))
        return np.hstack(parts)


class FittedPlain(FittedMethod):
    """A fitted scikit-learn model, and what it is told about each domain."""

    def __init__(self, model: Any, kind: str, domain_features: NDArray[np.float64]):
        self.model = model
        self.kind = kind
        self.domain_features = domain_features
        self.history = History()
        self.history.stopped = "fitted in one go"

    def inputs(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows as the model sees them."""
        return np.hstack([_flat(X), self.domain_features[codes]])

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values."""
        ask = self.model.predict_proba if self.kind == "classification" else self.model.predict
        return np.asarray(ask(self.inputs(X, codes)), dtype=np.float64).reshape(len(X), -1)


def choose_penalty(
    X: NDArray[np.float64], y: NDArray[Any], groups: NDArray[np.int64], weight: NDArray[Any]
) -> float:
    r"""Penalty of ridge regression with the smallest squared error on groups that are left out.

    With the singular values :math:`X - \bar x = U S V^\top` of the rows that are kept, one
    decomposition a fold serves all penalties: :math:`w_\alpha = V \frac{S}{S^2 + \alpha} U^\top y`.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    y : array of shape (n_rows, n_outputs)
    groups : int array of shape (n_rows,)
        At least two different ones; at most ten folds are made of them.
    weight : array of shape (n_rows,)
        Positive weight of each row, in the fit and in the error.

    Returns
    -------
    float
        One of 25 penalties from 1e-4 to 1e4.
    """
    folds = GroupKFold(min(len(np.unique(groups)), _MAX_FOLDS))
    y, weight = y.astype(np.float64), weight.astype(np.float64)
    error = np.zeros(len(_PENALTIES))
    for kept, left in folds.split(X, groups=groups):
        root = np.sqrt(weight[kept])[:, None]
        x_mean = np.average(X[kept], axis=0, weights=weight[kept])
        y_mean = np.average(y[kept], axis=0, weights=weight[kept])
        u, s, vt = np.linalg.svd(root * (X[kept] - x_mean), full_matrices=False)
        turned, values = (X[left] - x_mean) @ vt.T, u.T @ (root * (y[kept] - y_mean))
        for i, penalty in enumerate(_PENALTIES):
            missed = y[left] - y_mean - (turned * (s / (s**2 + penalty))) @ values
            error[i] += weight[left] @ (missed**2).sum(axis=1)
    return float(_PENALTIES[error.argmin()])


def mean_features(data: DomainData) -> NDArray[np.float64]:
    """Mean features of every domain, shape (n_domains, n_features).

    A domain without rows gets the mean of its neighbours' by weight; if these have none either,
    the mean over domains.
    """
    n_domains = data.graph.n_domains
    counts = np.bincount(data.codes, minlength=n_domains).astype(np.float64)
    ones = np.ones(len(data.codes))
    rows_of = sparse.csr_array(
        (ones, (data.codes, np.arange(len(ones)))), shape=(n_domains, len(ones))
    )
    means: NDArray[np.float64] = (rows_of @ _flat(data.X)) / np.maximum(counts, 1)[:, None]
    present = counts > 0
    heard = data.graph.weights @ present.astype(np.float64)
    borrowed = (data.graph.weights @ means) / np.maximum(heard, 1e-300)[:, None]
    means[~present] = np.where(
        heard[~present, None] > 0, borrowed[~present], means[present].mean(axis=0)
    )
    return means


def _flat(X: NDArray[np.float32]) -> NDArray[np.float64]:
    return X.reshape(len(X), -1).astype(np.float64)
