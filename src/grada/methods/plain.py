"""Plain: an ordinary scikit-learn model, the yardstick beside every other method."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import has_fit_parameter

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import FittedMethod, Method, Run
from grada.methods._frame import DomainFrame
from grada.methods._neural import POSITIVE, domain_embedding
from grada.nn.extension import spread_outward
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
    per_domain : {"nothing", "center", "standardize"}
        Whether the features of each domain are first moved to mean zero, and to spread one, by
        the mean and spread of all its rows, less what is only chance in these
        (:func:`grada.methods._steady.steady`). This undoes translations and scalings between
        domains, and hides what the mean of a domain says about its labels.
    embedding : str
        See :meth:`grada.DomainGraph.embed`.
    embedding_dim : int, optional

    References
    ----------
    Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011.
    """

    estimator: BaseEstimator | Literal["linear", "gradient-boosting"] = "linear"
    append: Literal["nothing", "embedding", "means", "both"] = "nothing"
    per_domain: Literal["nothing", "center", "standardize"] = "nothing"
    embedding: str = "reconstruction"
    embedding_dim: int | None = None

    name: ClassVar[str] = "plain"
    citation: ClassVar[str] = (
        "Pedregosa et al.: Scikit-learn: Machine Learning in Python. JMLR 2011."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "estimator": [BaseEstimator, StrOptions({"linear", "gradient-boosting"})],
        "append": [StrOptions({"nothing", "embedding", "means", "both"})],
        "per_domain": [StrOptions({"nothing", "center", "standardize"})],
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
        fitted = FittedPlain(
            model,
            data,
            embedding=self._embedding(data, run),
            frame=DomainFrame.of(data, self.per_domain),
            means=DomainFrame.of(data, "center") if self.append in ("means", "both") else None,
        )
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

    def _embedding(self, data: DomainData, run: Run) -> NDArray[np.float64]:
        """Embedding of each domain that is appended to its rows, of no columns if none is."""
        if self.append not in ("embedding", "both"):
            return np.empty((data.graph.n_domains, 0))
        embedding = domain_embedding(data, self.embedding, self.embedding_dim, run)
        return embedding.numpy().astype(np.float64)


class FittedPlain(FittedMethod):
    """A fitted scikit-learn model, and what it is told about each domain.

    Parameters
    ----------
    model : scikit-learn estimator
    data : DomainData
    embedding : array of shape (n_domains, n)
        Appended to the features of a row.
    frame : DomainFrame
        In which the features of a row are seen.
    means : DomainFrame, optional
        Whose means are appended.
    """

    def __init__(
        self,
        model: Any,
        data: DomainData,
        *,
        embedding: NDArray[np.float64],
        frame: DomainFrame,
        means: DomainFrame | None,
    ):
        self.model = model
        self.kind = data.kind
        self.n_outputs = data.n_outputs
        self.sources = data.sources
        self.embedding = embedding
        self.frame = frame
        self.means = means
        self.history = History()
        self.history.stopped = "fitted in one go"

    def inputs(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows as the model sees them."""
        told = [] if self.means is None else [self.means.mean[codes]]
        return np.hstack([self.encode(X, codes), self.embedding[codes], *told])

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values."""
        inputs = self.inputs(X, codes)
        if self.kind == "regression":
            return np.asarray(self.model.predict(inputs), dtype=np.float64).reshape(len(X), -1)
        # Where a class has no visible label, the model does not know of it.
        proba = np.zeros((len(X), self.n_outputs))
        proba[:, self.model.classes_] = self.model.predict_proba(inputs)
        return proba

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Features in the frame of their domain."""
        return self.frame.transform(_flat(X), codes)

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedPlain:
        """New domains bring their own means; of embeddings they get the mean of neighbours."""
        extended = copy.copy(self)
        extended.frame = self.frame.extend(graph, _flat(X), codes)
        usual = self.embedding[self.sources].mean(axis=0)
        extended.embedding = spread_outward(self.embedding, graph.weights, usual)
        if self.means is not None:
            extended.means = self.means.extend(graph, _flat(X), codes)
        return extended


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


def _flat(X: NDArray[np.float32]) -> NDArray[np.float64]:
    # Not -1: there may be no rows at all.
    return X.reshape(len(X), int(np.prod(X.shape[1:]))).astype(np.float64)
