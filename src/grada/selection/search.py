"""GridSearchCV for many domains: labels of sources are hidden, their rows stay."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    mean_absolute_error,
    r2_score,
)
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from grada.data import Kind, Labels, LazyRows
from grada.graph import DomainGraph, Name
from grada.selection.holdout import GraphHoldout

Scorer = Callable[[Any, Any], float]
# For each row the domain whose labels are hidden, or -1; and the names of these domains.
Split = tuple[NDArray[np.int64], tuple[Name, ...]]


def _minus_squared_error(truth: Any, predicted: Any) -> float:
    missed = (np.asarray(truth) - np.asarray(predicted)).reshape(len(truth), -1)
    return -float((missed**2).sum(axis=1).mean())


SCORERS: dict[str, Scorer] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1_macro": lambda truth, predicted: f1_score(truth, predicted, average="macro"),
    "neg_squared_error": _minus_squared_error,
    "neg_mean_absolute_error": lambda truth, predicted: -mean_absolute_error(truth, predicted),
    "r2": r2_score,
}


def _offers(name: str) -> Callable[[GraphSearchCV], bool]:
    return lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name)


class GraphSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Try settings of an estimator on source domains whose labels are hidden.

    As :class:`sklearn.model_selection.GridSearchCV`, with another way to hold out: a split hides
    the labels of some sources, which lie in the graph as the targets do, and keeps their rows
    (:class:`GraphHoldout`). No target label is needed or used.

    Parameters
    ----------
    estimator : AdaptedClassifier, AdaptedRegressor or alike
        With ``fit(X, y, sample_domain=)``, ``predict(X, sample_domain=)`` and a ``graph``.
    param_grid : dict or list of dicts
        Values to try, such as ``{"method__strength": [0.5, 1, 2]}``; ``method`` itself may be
        among them. With `n_iter`, also distributions with a method ``rvs``.
    cv : int, GraphHoldout or list of lists of names, optional
        Number of splits, the splitter, or the sources to hide in each split. By default
        ``GraphHoldout()``.
    scoring : str or callable, optional
        The larger, the better: ``"accuracy"`` (default for classifiers), ``"balanced_accuracy"``,
        ``"f1_macro"``, ``"neg_squared_error"`` (default for regressors: summed over outputs),
        ``"neg_mean_absolute_error"``, ``"r2"``, or a function of true and predicted labels. It is
        averaged over the hidden domains, each weighing the same.
    refit : bool, default=True
        Fit the best setting on all labels.
    n_iter : int, optional
        Draw this many settings instead of trying all.
    n_jobs : int, optional
        As in scikit-learn.
    verbose : int, default=0
    error_score : "raise" or float, default=nan
        Score of a setting that fails.
    random_state : int, default=0
        Of the draws of settings.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_, refit_time_
        As in :class:`sklearn.model_selection.GridSearchCV`.
    splits_ : list of tuples of names
        The sources whose labels each split hides.

    Examples
    --------
    >>> from grada import AdaptedClassifier
    >>> from grada.datasets import make_dg
    >>> task = make_dg(n_domains=8, n_sources=5, rows_per_domain=20)
    >>> X, y, domain = task.visible()
    >>> estimator = AdaptedClassifier("plain", graph=task.graph, random_state=0)
    >>> search = GraphSearchCV(estimator, {"method__append": ["nothing", "means"]}, cv=2)
    >>> search.fit(X, y, sample_domain=domain).cv_results_["mean_test_score"].shape
    (2,)
    """

    # Requested by default, as by the estimators.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sample_domain": True}

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        cv: int | GraphHoldout | Iterable[Iterable[Name]] | None = None,
        scoring: str | Scorer | None = None,
        refit: bool = True,
        n_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        error_score: float | str = np.nan,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_iter = n_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.error_score = error_score
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_domain: Any = None, **fit_params: Any) -> Self:
        """Try all settings, and fit the best one on all labels.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Labels; NaN, None or NA where there is none.
        sample_domain : array-like of shape (n_rows,), optional
            Name of each row's domain, unless the estimator's ``domain`` is a column of X.
        **fit_params
            Passed on to ``fit``, such as ``sample_weight``.

        Returns
        -------
        self
        """
        labels = self._labels(y)
        splits = self._splits(labels, self._domains(X, sample_domain, len(labels.known)))
        scorer, settings = self._scorer(labels.kind), self._settings()
        if self.verbose:
            print(f"{len(settings)} settings, {len(splits)} splits each")
        given = (X, y, sample_domain, fit_params)
        done = Parallel(n_jobs=self.n_jobs)(
            delayed(_try)(self.estimator, setting, *given, labels, split, scorer, self.error_score)
            for setting in settings
            for split in splits
        )
        self.splits_ = [hidden for _, hidden in splits]
        self.n_splits_ = len(splits)
        self._keep(settings, np.array(done).reshape(len(settings), len(splits), 3))
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = _with(self.estimator, self.best_params_)
            self.best_estimator_.fit(X, y, sample_domain=sample_domain, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        return self

    def _labels(self, y: Any) -> Labels:
        kind: Kind = "classification" if is_classifier(self.estimator) else "regression"
        missing = getattr(self.estimator, "missing_label", None)
        return Labels.read(y, kind=kind, missing_label=missing)

    def _domains(self, X: Any, sample_domain: Any, n_rows: int) -> NDArray[np.int64]:
        """Position in the graph of each row's domain."""
        graph = getattr(self.estimator, "graph", None)
        if not isinstance(graph, DomainGraph):
            raise ValueError(
                "The estimator has no graph, so no domains could be hidden: set its graph=, for "
                "example DomainGraph.from_edges([...])."
            )
        column = getattr(self.estimator, "domain", None)
        if sample_domain is None and column is not None:
            sample_domain = X[column] if hasattr(X, "columns") else np.asarray(X)[:, column]
        if sample_domain is None:
            raise ValueError("Say which domain each row is in: give sample_domain.")
        codes = graph.index(sample_domain)
        if len(codes) != n_rows:
            raise ValueError(f"sample_domain has {len(codes)} entries, but y has {n_rows}.")
        return codes

    def _splits(self, labels: Labels, codes: NDArray[np.int64]) -> list[Split]:
        """What to hide, refused if it would leave nothing to learn from."""
        graph: DomainGraph = self.estimator.graph
        names = np.array(graph.names, dtype=object)
        known = codes[labels.known]
        sources = np.unique(known)
        targets = np.setdiff1d(codes, sources)
        cv: Any = GraphHoldout() if self.cv is None else self.cv
        if isinstance(cv, Integral):
            cv = GraphHoldout(int(cv))
        if isinstance(cv, GraphHoldout):
            pairs = pd.DataFrame({"domain": names[known], "label": list(labels.values)})
            classes: Any = None
            if labels.kind == "classification":
                classes = pairs.groupby("domain", sort=False)["label"].unique().to_dict()
            chosen = [
                hidden
                for _, hidden in cv.split(graph, names[sources], names[targets], classes=classes)
            ]
        else:
            chosen = [tuple(hidden) for hidden in cv]
        splits = []
        for hidden in chosen:
            out = graph.index(list(hidden))
            strange = [names[code] for code in np.setdiff1d(out, sources)]
            if strange or not len(out) or len(np.setdiff1d(sources, out)) == 0:
                why = f"{strange[0]!r} has no labels" if strange else "some must be kept and hidden"
                raise ValueError(f"cv: cannot hide the labels of {list(hidden)}: {why}.")
            splits.append((np.where(np.isin(codes, out), codes, -1), hidden))
        return splits

    def _scorer(self, kind: str) -> Scorer:
        scoring = self.scoring
        if scoring is None:
            scoring = "accuracy" if kind == "classification" else "neg_squared_error"
        if callable(scoring):
            return scoring
        if scoring not in SCORERS:
            raise ValueError(
                f"scoring={scoring!r} is not known. Give a function of true and predicted labels, "
                f"or one of {', '.join(SCORERS)}."
            )
        return SCORERS[scoring]

    def _settings(self) -> list[dict[str, Any]]:
        if self.n_iter is None:
            return list(ParameterGrid(self.param_grid))
        draws = ParameterSampler(self.param_grid, self.n_iter, random_state=self.random_state)
        return list(draws)

    def _keep(self, settings: list[dict[str, Any]], done: NDArray[np.float64]) -> None:
        """Results in the form of GridSearchCV."""
        scores = done[:, :, 0]
        results: dict[str, Any] = {"params": settings}
        for name in sorted({name for setting in settings for name in setting}):
            values = np.ma.array(np.empty(len(settings), dtype=object), mask=True)
            for at, setting in enumerate(settings):
                if name in setting:
                    values[at] = setting[name]
            results[f"param_{name}"] = values
        for place, what in ((1, "fit_time"), (2, "score_time")):
            results[f"mean_{what}"] = done[:, :, place].mean(axis=1)
            results[f"std_{what}"] = done[:, :, place].std(axis=1)
        for split in range(scores.shape[1]):
            results[f"split{split}_test_score"] = scores[:, split]
        mean = scores.mean(axis=1)
        if np.isnan(mean).all():
            raise ValueError(
                "No setting could be fitted on every split. Set error_score='raise' to see why."
            )
        results["mean_test_score"], results["std_test_score"] = mean, scores.std(axis=1)
        worst = np.nanmin(mean) - 1
        ranks = rankdata(-np.nan_to_num(mean, nan=worst), method="min").astype(np.int32)
        results["rank_test_score"] = ranks
        self.cv_results_ = results
        self.best_index_ = int(ranks.argmin())
        self.best_params_ = settings[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes of the best estimator."""
        return np.asarray(self._best().classes_)

    def predict(self, X: Any, sample_domain: Any = None) -> NDArray[Any]:
        """Predict with the best estimator."""
        return np.asarray(self._best().predict(X, sample_domain=sample_domain))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, sample_domain: Any = None) -> NDArray[np.float64]:
        """Class probabilities of the best estimator."""
        return np.asarray(self._best().predict_proba(X, sample_domain=sample_domain))

    @available_if(_offers("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any, sample_domain: Any = None) -> Any:
        """Encodings of the best estimator."""
        return self._best().transform(X, sample_domain=sample_domain)

    def score(self, X: Any, y: Any, sample_domain: Any = None) -> float:
        """Score of the best estimator on the rows that have a label, by `scoring`.

        Without `scoring`, the estimator's own score.
        """
        best = self._best()
        if self.scoring is None:
            return float(best.score(X, y, sample_domain=sample_domain))
        labels = self._labels(y)
        predicted = self.predict(X, sample_domain=sample_domain)
        return float(self._scorer(labels.kind)(labels.values, predicted[labels.known]))

    def _best(self) -> Any:
        if not self.refit:
            raise AttributeError(
                "With refit=False there is no best estimator: fit one with best_params_."
            )
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


def _try(
    estimator: Any,
    setting: Mapping[str, Any],
    X: Any,
    y: Any,
    sample_domain: Any,
    fit_params: Mapping[str, Any],
    labels: Labels,
    split: Split,
    scorer: Scorer,
    error_score: float | str,
) -> tuple[float, float, float]:
    """Score on hidden domains, and seconds to fit and to score."""
    code, _ = split
    start = time.perf_counter()
    try:
        fitted = _with(estimator, setting)
        fitted.fit(X, hide_labels(y, code >= 0), sample_domain=sample_domain, **fit_params)
        middle = time.perf_counter()
        tested = np.flatnonzero(labels.known & (code >= 0))
        where = None if sample_domain is None else _safe_indexing(sample_domain, tested)
        predicted = fitted.predict(_rows(X, tested), sample_domain=where)
        truth = labels.values[(code >= 0)[labels.known]]
        score = _mean_over_domains(scorer, truth, predicted, code[tested])
        return score, middle - start, time.perf_counter() - middle
    except Exception as error:
        if error_score == "raise":
            raise
        warnings.warn(
            f"{setting} failed and scores {error_score}: {error}", FitFailedWarning, stacklevel=2
        )
        return float(error_score), time.perf_counter() - start, 0.0


def _mean_over_domains(
    scorer: Scorer, truth: NDArray[Any], predicted: NDArray[Any], domain: NDArray[np.int64]
) -> float:
    order = np.argsort(domain, kind="stable")
    each = np.split(order, np.flatnonzero(np.diff(domain[order])) + 1)
    return float(np.mean([scorer(truth[rows], predicted[rows]) for rows in each]))


def hide_labels(y: Any, hidden: NDArray[np.bool_]) -> NDArray[Any]:
    """Labels with gaps in some rows: NaN among floats, None among all else.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
    hidden : bool array of shape (n_rows,)

    Returns
    -------
    array
        A copy.

    Examples
    --------
    >>> hide_labels(["yes", "no"], np.array([True, False]))
    array([None, 'no'], dtype=object)
    """
    masked = np.array(y) if getattr(y, "dtype", None) in (np.float32, np.float64) else None
    if masked is None:
        masked = np.array(y, dtype=object)
    masked[hidden] = np.nan if masked.dtype.kind == "f" else None
    return masked


def _with(estimator: Any, setting: Mapping[str, Any]) -> Any:
    # Values are cloned too: a method in the grid must not be changed by the settings beside it.
    own = {name: clone(value, safe=False) for name, value in setting.items()}
    return clone(estimator).set_params(**own)


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    return X.take(rows) if isinstance(X, LazyRows) else _safe_indexing(X, rows)
