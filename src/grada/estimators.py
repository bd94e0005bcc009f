"""AdaptedClassifier and AdaptedRegressor: the scikit-learn surface."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from grada import methods
from grada.data import Kind, Labels, LazyRows, factorize_column, read_table
from grada.graph import DomainGraph
from grada.training import Callback, History, Progress

#: Name of the one domain of data that has no domains.
_ONLY = 0


class _Adapted(TransformerMixin, BaseEstimator):
    """What both estimators share; see their docstrings."""

    # Requested by default, so that metadata routing needs no ceremony.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sample_domain": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"sample_domain": True}

    _kind: ClassVar[Kind]
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "method": [str, methods.Method],
        "graph": [DomainGraph, None],
        "domain": [str, int, None],
        "missing_label": "no_validation",
        "device": [str, torch.device],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Settings of the estimator and, as ``method__...``, of its method."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.method, str) and self.method in methods.available():
            inner = methods.resolve(self.method).get_params()
            params |= {f"method__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a method given by name is resolved first if its settings are set."""
        if "method" in params:
            self.method = params.pop("method")
        if isinstance(self.method, str) and any(name.startswith("method__") for name in params):
            self.method = methods.resolve(self.method)
        super().set_params(**params)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_domain: Any,
        sample_weight: ArrayLike | None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> Self:
        self._validate_params()
        method = clone(methods.resolve(self.method))
        features, domains = self._split(X, sample_domain, fitting=True)
        labels = Labels.read(
            y,
            kind=self._kind,
            missing_label=self.missing_label,
            sample_weight=sample_weight,
            class_weight=class_weight,
        )
        _check_lengths(X=features, y=labels.known, sample_domain=domains)
        graph = self._domain_graph(domains)
        column = method.pair_column
        data, encoder, coder = read_table(
            features,
            labels,
            domains,
            graph=graph,
            pair_key=None if column is None else factorize_column(X, column),
            allow_nd=method.takes_any_shape,
        )
        run = self._run(method)
        # Only now is anything about this estimator changed: a refused fit leaves it as it was.
        validate_data(self, X, skip_check_array=True, reset=True)
        self.fitted_ = method.adapt(data, run)
        self.graph_ = graph
        self.method_ = method
        self.history_: History = self.fitted_.history
        self._features, self._coder = encoder, coder
        present = np.unique(data.codes)
        self._only_domain = graph.names[present[0]] if len(present) == 1 else None
        if coder.classes is not None:
            self.classes_ = coder.classes
        return self

    def _output(self, X: Any, sample_domain: Any, *, encode: bool = False) -> NDArray[np.float64]:
        check_is_fitted(self, "fitted_")
        features, domains = self._split(X, sample_domain, fitting=False)
        _check_lengths(X=features, sample_domain=domains)
        codes = self.graph_.index(domains)
        table = self._features.transform(features)
        fitted: methods.FittedMethod = self.fitted_
        return fitted.encode(table, codes) if encode else fitted.predict(table, codes)

    def _split(self, X: Any, sample_domain: Any, *, fitting: bool) -> tuple[Any, Any]:
        """Features, and the domain of each row: given, a column of X, or one for all."""
        if sparse.issparse(X):
            raise TypeError(
                "Sparse data was passed for X, but dense data is required. Use '.toarray()' to "
                "convert to a dense numpy array."
            )
        if not hasattr(X, "columns") and not isinstance(X, LazyRows) and np.asarray(X).ndim < 2:
            check_array(X)  # says how to reshape it
        if not fitting:
            validate_data(self, X, skip_check_array=True, reset=False)
        if self.domain is not None:
            if sample_domain is not None:
                raise ValueError("Give either domain= (a column of X) or sample_domain, not both.")
            return _take_column(X, self.domain)
        if sample_domain is None:
            return X, np.full(_num_samples(X), self._only(fitting), dtype=object)
        if isinstance(sample_domain, str):
            raise ValueError(
                f"sample_domain={sample_domain!r} is one name; give one per row, in a list."
            )
        return X, sample_domain

    def _only(self, fitting: bool) -> Any:
        """Name of the one domain of rows that come without; refused if there are several."""
        several = (
            "say which domain each row is in: give sample_domain, or name a column with domain="
        )
        if fitting:
            if self.graph is None:
                return _ONLY
            if len(self.graph) > 1:
                raise ValueError(f"There is a graph of {len(self.graph)} domains, so {several}.")
            return self.graph.names[0]
        if self._only_domain is None:
            raise ValueError(
                f"This model was fitted on several domains: {several} (in a search or a pipeline, "
                "sample_domain needs sklearn.set_config(enable_metadata_routing=True))."
            )
        return self._only_domain

    def _domain_graph(self, domains: Any) -> DomainGraph:
        graph: DomainGraph | None = self.graph
        if graph is not None:
            return graph
        names = pd.unique(np.asarray(domains, dtype=object))
        if len(names) > 1:
            raise ValueError(
                f"The rows are in {len(names)} domains but there is no graph. Give graph=, for "
                "example DomainGraph.from_edges([...]), or DomainGraph.clique(names) to treat all "
                "domains as neighbours."
            )
        return DomainGraph.clique(names.tolist())

    def _run(self, method: methods.Method) -> methods.Run:
        if self.random_state is None:
            seed = secrets.randbits(31)  # not from the global state, which others rely on
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        callbacks: tuple[Callback, ...] = (Progress(method.name),) if self.verbose else ()
        return methods.Run(seed, _device(self.device), callbacks)

    def fit_transform(self, X: Any, y: Any, sample_domain: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the encodings of the same rows."""
        self.fit(X, y, sample_domain=sample_domain, **fit_params)
        return self.transform(X, sample_domain=sample_domain)

    def transform(self, X: Any, sample_domain: Any = None) -> NDArray[np.float64]:
        """Encodings of rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        sample_domain : array-like of shape (n_rows,), optional
            Name of each row's domain.

        Returns
        -------
        array of shape (n_rows, encoding_dim)
        """
        return self._output(X, sample_domain, encode=True)

    def predict(self, X: Any, sample_domain: Any = None) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        sample_domain : array-like of shape (n_rows,), optional
            Name of each row's domain: any domain of the graph, also one without rows in ``fit``.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_outputs)
        """
        output = self._output(X, sample_domain)
        return self._coder.decode(output)

    def _labelled(
        self, X: Any, y: Any, sample_domain: Any, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """True labels of the rows that have one, predictions for them, and their weights."""
        labels = Labels.read(
            y, kind=self._kind, missing_label=self.missing_label, sample_weight=sample_weight
        )
        _check_lengths(X=X, y=labels.known)
        predicted = self.predict(X, sample_domain=sample_domain)
        return labels.values, predicted[labels.known], labels.weight[labels.known]


class AdaptedClassifier(ClassifierMixin, _Adapted):
    """Classifier for rows of many domains, some with labels and some without.

    Parameters
    ----------
    method : str or Method, default="grda"
        How to adapt: a name from ``methods.available()`` or an object with settings.
    graph : DomainGraph, optional
        Which domains are neighbours. Not needed if all rows are in one domain.
    domain : str or int, optional
        Column of X with the domain of each row, instead of ``sample_domain``.
    missing_label : object, optional
        A further value, such as -1, that means "no label" beside NaN, None and NA.
    class_weight : dict or "balanced", optional
        As in scikit-learn.
    device : str, default="auto"
        Where to train: the GPU if there is one, by default.
    verbose : int
        Whether to show a progress bar.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array
    graph_ : DomainGraph
    method_ : Method
    history_ : History
        Losses per epoch; for adversarial methods the discriminator's loss and its bound.

    Examples
    --------
    >>> from grada import AdaptedClassifier
    >>> from grada.datasets import make_dg
    >>> task = make_dg(n_domains=6, n_sources=3, rows_per_domain=20)
    >>> X, y, domain = task.visible()
    >>> clf = AdaptedClassifier(method="source-only", graph=task.graph, random_state=0)
    >>> clf.fit(X, y, sample_domain=domain).predict(X, sample_domain=domain).shape
    (120,)
    """

    _kind: ClassVar[Kind] = "classification"
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"sample_domain": True}
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **_Adapted._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        method: str | methods.Method = "grda",
        graph: DomainGraph | None = None,
        *,
        domain: str | int | None = None,
        missing_label: object = None,
        class_weight: Mapping[Any, float] | str | None = None,
        device: str | torch.device = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.method = method
        self.graph = graph
        self.domain = domain
        self.missing_label = missing_label
        self.class_weight = class_weight
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_domain: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the labelled rows, and from the features of all.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Class labels; NaN, None or NA where there is none.
        sample_domain : array-like of shape (n_rows,), optional
            Name of each row's domain. Without it all rows are in one domain.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's label.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_domain, sample_weight, self.class_weight)

    def predict_proba(self, X: Any, sample_domain: Any = None) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        sample_domain : array-like of shape (n_rows,), optional

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return self._output(X, sample_domain)

    def score(
        self,
        X: Any,
        y: Any,
        sample_domain: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on the rows that have a label.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_domain, sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        truth, predicted, weight = self._labelled(X, y, sample_domain, sample_weight)
        return float(accuracy_score(truth, predicted, sample_weight=weight))


class AdaptedRegressor(RegressorMixin, _Adapted):
    """Regressor for rows of many domains, some with labels and some without.

    Parameters
    ----------
    method : str or Method, default="grda"
        How to adapt: a name from ``methods.available()`` or an object with settings.
    graph : DomainGraph, optional
        Which domains are neighbours. Not needed if all rows are in one domain.
    domain : str or int, optional
        Column of X with the domain of each row, instead of ``sample_domain``.
    missing_label : object, optional
        A further value that means "no label" beside NaN, None and NA.
    device : str, default="auto"
        Where to train: the GPU if there is one, by default.
    verbose : int
        Whether to show a progress bar.
    random_state : int, RandomState or None

    Attributes
    ----------
    graph_ : DomainGraph
    method_ : Method
    history_ : History
        Losses per epoch; for adversarial methods the discriminator's loss and its bound.

    Examples
    --------
    >>> from grada import AdaptedRegressor, DomainGraph
    >>> graph = DomainGraph.chain(["north", "middle", "south"])
    >>> X = [[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]]
    >>> y = [0.0, 1.0, 0.1, 1.1, None, None]
    >>> states = ["north", "north", "middle", "middle", "south", "south"]
    >>> model = AdaptedRegressor(method="plain", graph=graph).fit(X, y, sample_domain=states)
    >>> model.predict(X, sample_domain=states).shape
    (6,)
    """

    _kind: ClassVar[Kind] = "regression"

    def __init__(
        self,
        method: str | methods.Method = "grda",
        graph: DomainGraph | None = None,
        *,
        domain: str | int | None = None,
        missing_label: object = None,
        device: str | torch.device = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.method = method
        self.graph = graph
        self.domain = domain
        self.missing_label = missing_label
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_domain: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the labelled rows, and from the features of all.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Values; NaN, None or NA where there is none.
        sample_domain : array-like of shape (n_rows,), optional
            Name of each row's domain. Without it all rows are in one domain.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's label.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_domain, sample_weight)

    def score(
        self,
        X: Any,
        y: Any,
        sample_domain: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Coefficient of determination on the rows that have a label.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        sample_domain, sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        truth, predicted, weight = self._labelled(X, y, sample_domain, sample_weight)
        return float(r2_score(truth, predicted, sample_weight=weight))


def _device(device: str | torch.device) -> torch.device:
    if str(device) == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.zeros(1, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"device={str(device)!r} cannot be used on this machine ({error}). Use 'auto' or 'cpu'."
        ) from None
    return chosen


def _take_column(X: Any, column: str | int) -> tuple[Any, Any]:
    """A table without one column, and that column."""
    if isinstance(X, pd.DataFrame):
        if column not in X.columns:
            some = ", ".join(repr(name) for name in list(X.columns)[:10])
            raise ValueError(f"X has no column {column!r} with the domains. It has: {some}.")
        return X.drop(columns=[column]), X[column]
    array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if not isinstance(column, Integral) or not 0 <= column < array.shape[1]:
        raise ValueError(
            f"domain={column!r}: X is an array with {array.shape[1]} columns, so give the number "
            "of one, or X as a DataFrame."
        )
    return np.delete(array, int(column), axis=1), array[:, int(column)]


def _check_lengths(**tables: Any) -> None:
    lengths = {name: _num_samples(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {each} rows. Each row "
            "needs its label (or NaN) and its domain."
        )
