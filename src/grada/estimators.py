"""AdaptedClassifier and AdaptedRegressor: the scikit-learn surface."""

from __future__ import annotations

import copy
import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

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

from grada import artefact, methods
from grada.data import (
    DomainData,
    Kind,
    Labels,
    LazyRows,
    StoredRows,
    factorize_column,
    read_table,
)
from grada.graph import DomainGraph
from grada.graph._joining import grown
from grada.selection import GraphHoldout
from grada.selection._graph_shares import learn_shares
from grada.selection.auto import FittedAuto
from grada.selection.intervals import Calibration, with_temperature
from grada.selection.report import Report
from grada.selection.trials import hold_out
from grada.training import AdaptationWarning, Callback, Checkpoint, History, Progress
from grada.training.checkpoint import Kept

#: Name of the one domain of data that has no domains.
_ONLY = 0
#: What may be given as a graph; several are mixed, none is found from the rows.
Graphs: TypeAlias = "DomainGraph | Sequence[DomainGraph] | Mapping[Any, DomainGraph] | str | None"


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
        "graph": [DomainGraph, list, tuple, dict, StrOptions({"discover"}), None],
        "domain": [str, int, None],
        "missing_label": "no_validation",
        "calibrate": ["boolean"],
        "device": [str, torch.device],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "checkpoint": [str, os.PathLike, Checkpoint, None],
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
        column = method.pair_column
        data, encoder, coder = read_table(
            features,
            labels,
            domains,
            graph=self._named_domains(domains),
            pair_key=None if column is None else _codes_of(X, column),
            allow_nd=method.takes_any_shape,
        )
        data, shares = self._domain_graph(data)
        self._check_calibrate(method, data)
        run = self._with_checkpoint(self._run(method), method, data)
        # Only now is anything about this estimator changed: a refused fit leaves it as it was.
        validate_data(self, _header(X), skip_check_array=True, reset=True)
        fitted = method.adapt(data, run)
        calibration = self._calibrate(method, fitted, data, run)
        if run.checkpoint is not None:
            run.checkpoint.finish()
        self.fitted_ = fitted
        self.graph_ = data.graph
        self.graph_shares_ = shares
        self.method_ = method
        self.history_: History = self.fitted_.history
        self.report_: Report | None = getattr(self.fitted_, "report", None)
        self._calibration = calibration
        self._features, self._coder, self._row_shape = encoder, coder, data.X.shape[1:]
        self._data_summary = _summary(data)
        present = np.unique(data.codes)
        self._only_domain = data.graph.names[present[0]] if len(present) == 1 else None
        if coder.classes is not None:
            self.classes_ = coder.classes
        return self

    def _check_calibrate(self, method: methods.Method, data: DomainData) -> None:
        if self.calibrate and method.name != "auto" and not GraphHoldout.can_split(data):
            names = ", ".join(repr(data.graph.names[code]) for code in data.sources[:5])
            raise ValueError(
                "calibrate=True hides the labels of some sources and learns from the errors there; "
                f"with labels in {names} only, too little would be left. Label another domain, or "
                "leave calibrate=False."
            )

    def _calibrate(
        self,
        method: methods.Method,
        fitted: methods.FittedMethod,
        data: DomainData,
        run: methods.Run,
    ) -> Calibration | None:
        """Errors on hidden sources: of ``auto`` they are known already, of others on request."""
        if isinstance(fitted, FittedAuto) or not self.calibrate:
            return getattr(fitted, "calibration", None)
        splits = list(GraphHoldout(random_state=run.random_state).split_rows(data))
        return Calibration.of(hold_out(method, data, splits, run.part("calibrate")), data)

    def _rows(self, X: Any, sample_domain: Any) -> tuple[Any, NDArray[np.int64]]:
        """Encoded features, and the code of each row's domain."""
        check_is_fitted(self, "fitted_")
        features, domains = self._split(X, sample_domain, fitting=False)
        _check_lengths(X=features, sample_domain=domains)
        if isinstance(features, StoredRows):
            return features.encoded_by(self._features), self.graph_.index(domains)
        return self._features.transform(features), self.graph_.index(domains)

    def _output(self, X: Any, sample_domain: Any, *, encode: bool = False) -> NDArray[np.float64]:
        table, codes = self._rows(X, sample_domain)
        fitted: methods.FittedMethod = self.fitted_
        return fitted.encode(table, codes) if encode else fitted.predict(table, codes)

    def confidence(self, X: Any, sample_domain: Any = None) -> NDArray[np.float64]:
        """How sure the method is of each row, from 0 to 1; its docstring says what that means.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        sample_domain : array-like of shape (n_rows,), optional

        Returns
        -------
        array of shape (n_rows,)
        """
        table, codes = self._rows(X, sample_domain)
        fitted: methods.FittedMethod = self.fitted_
        return fitted.confidence(table, codes)

    def extend(self, graph: DomainGraph, X: Any = None, sample_domain: Any = None) -> Self:
        """The same model for further domains, without training.

        Parameters
        ----------
        graph : DomainGraph
            New domains and their edges; may hold the whole graph. Edges between domains of the
            fit stay as they were.
        X : array or DataFrame, optional
            Rows of the new domains, without labels: where they lie helps most methods.
        sample_domain : array-like of names, optional
            Name of each row's domain.

        Returns
        -------
        AdaptedClassifier or AdaptedRegressor
            A new estimator that also predicts in the new domains; this one stays as it is.
        """
        check_is_fitted(self, "fitted_")
        if not isinstance(graph, DomainGraph):
            raise TypeError(
                "graph must be a DomainGraph with the new domains and their edges, for example "
                f"DomainGraph.from_edges([(new, known)]); got {type(graph).__name__}."
            )
        if X is None and sample_domain is not None:
            raise ValueError("sample_domain names the domains of rows: give X as well.")
        larger = grown(self.graph_, graph)
        extended = copy.copy(self)
        extended.graph_ = larger
        if larger.n_domains > self.graph_.n_domains:
            extended._only_domain = None  # rows could be of an old domain or of a new one
        if X is None:
            table = np.zeros((0, *self._row_shape), dtype=np.float32)
            codes = np.zeros(0, dtype=np.int64)
        else:
            table, codes = extended._rows(X, sample_domain)
        fresh = codes >= self.graph_.n_domains
        extended.fitted_ = self.fitted_.extend(larger, table[fresh], codes[fresh])
        if self._calibration is not None:
            extended._calibration = replace(self._calibration, graph=larger)
        return extended

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model into a folder, for ``grada.load``.

        The folder holds JSON and arrays, no code, and a model card in Markdown, which says
        whether rows of the training data are in it. It is there whole or not at all: after a
        crash, a model that was to be replaced is still there.

        Parameters
        ----------
        path : str or path
            A new folder, an empty one, or a model to replace.
        """
        check_is_fitted(self, "fitted_")
        artefact.save(self, path)

    def _split(self, X: Any, sample_domain: Any, *, fitting: bool) -> tuple[Any, Any]:
        """Features, and the domain of each row: given, a column of X, or one for all."""
        if sparse.issparse(X):
            raise TypeError(
                "Sparse data was passed for X, but dense data is required. Use '.toarray()' to "
                "convert to a dense numpy array."
            )
        lazy = isinstance(X, LazyRows | StoredRows)
        if not lazy and not hasattr(X, "columns") and np.asarray(X).ndim < 2:
            check_array(X)  # says how to reshape it
        if not fitting:
            validate_data(self, _header(X), skip_check_array=True, reset=False)
        if self.domain is not None:
            if sample_domain is not None:
                raise ValueError("Give either domain= (a column of X) or sample_domain, not both.")
            if isinstance(X, StoredRows):
                raise ValueError("Stored rows hold no column of domains: give sample_domain.")
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
            graphs = self._graphs()
            if not graphs:
                return _ONLY
            names = DomainGraph.mix(graphs).names
            if len(names) > 1:
                raise ValueError(f"There is a graph of {len(names)} domains, so {several}.")
            return names[0]
        if self._only_domain is None:
            raise ValueError(
                f"This model knows several domains: {several} (in a search or a pipeline, "
                "sample_domain needs sklearn.set_config(enable_metadata_routing=True))."
            )
        return self._only_domain

    def _graphs(self) -> list[DomainGraph]:
        """The given graphs, in a list."""
        given: Graphs = self.graph
        if given is None or isinstance(given, str):
            return []
        if isinstance(given, DomainGraph):
            return [given]
        graphs = list(given.values() if isinstance(given, Mapping) else given)
        wrong = next((graph for graph in graphs if not isinstance(graph, DomainGraph)), None)
        if wrong is not None or not graphs:
            what = type(wrong).__name__ if graphs else "none"
            raise ValueError(f"Several graphs are a list or a dict of DomainGraphs; got {what}.")
        return graphs

    def _named_domains(self, domains: Any) -> DomainGraph:
        """A graph with all domains; its edges are final only if it is the one given."""
        graphs = self._graphs()
        if graphs:
            return graphs[0] if len(graphs) == 1 else DomainGraph.mix(graphs)
        return DomainGraph.without_edges(domains)

    def _domain_graph(
        self, data: DomainData
    ) -> tuple[DomainData, NDArray[np.float64] | dict[Any, float] | None]:
        """The data with its final graph: given, mixed or discovered; and the shares of a mix."""
        graphs = self._graphs()
        if isinstance(self.graph, list | tuple | Mapping):
            shares = learn_shares(graphs, data)
            data = replace(data, graph=DomainGraph.mix(graphs, shares.tolist()))
            if isinstance(self.graph, Mapping):
                return data, dict(zip(self.graph, shares.tolist(), strict=True))
            return data, shares
        if graphs or len(data.graph) == 1:
            return data, None
        if isinstance(data.X, LazyRows):
            raise ValueError(
                f"The rows are in {len(data.graph)} domains but there is no graph, and none can be "
                "discovered from rows that are read from files when needed. Give graph=, for "
                "example DomainGraph.from_edges([...]) or DomainGraph.clique(names)."
            )
        names = np.array(data.graph.names, dtype=object)
        graph = DomainGraph.discover(data.X, names[data.codes])
        if self.graph is None:
            warnings.warn(
                f"No graph was given for {len(graph)} domains: one with {graph.n_edges} edges was "
                "discovered from the rows, without labels (see graph_). Give graph= if you know "
                "which domains are neighbours; graph='discover' says that this is meant.",
                AdaptationWarning,
                stacklevel=4,
            )
        return replace(data, graph=graph), None

    def _run(self, method: methods.Method) -> methods.Run:
        if self.random_state is None:
            seed = secrets.randbits(31)  # not from the global state, which others rely on
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        callbacks: tuple[Callback, ...] = (Progress(method.name),) if self.verbose else ()
        return methods.Run(seed, _device(self.device), callbacks)

    def _with_checkpoint(
        self, run: methods.Run, method: methods.Method, data: DomainData
    ) -> methods.Run:
        """The run with the folder in which it is kept; one of another fit is refused."""
        given: Checkpoint | str | os.PathLike[str] | None = self.checkpoint
        if given is None:
            return run
        kept = Kept.open(
            given if isinstance(given, Checkpoint) else Checkpoint(given),
            data,
            {"method": method, "calibrate": self.calibrate, "device": run.device.type},
            run.random_state,
            # Without a random state any will do: that of the fit which was begun.
            any_random_state=self.random_state is None,
        )
        return replace(run, random_state=kept.random_state, checkpoint=kept)

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


@artefact.register
class AdaptedClassifier(ClassifierMixin, _Adapted):
    """Classifier for rows of many domains, some with labels and some without.

    Parameters
    ----------
    method : str or Method, default="grda"
        How to adapt: a name from ``methods.available()`` or an object with settings.
    graph : DomainGraph, list or dict of DomainGraphs, "discover", optional
        Which domains are neighbours. Several graphs are averaged, with shares learned from the
        rows and the visible labels. ``"discover"`` finds a graph from the rows, without labels, by
        ``DomainGraph.discover``; so does None where there are several domains, with a warning.
    domain : str or int, optional
        Column of X with the domain of each row, instead of ``sample_domain``.
    missing_label : object, optional
        A further value, such as -1, that means "no label" beside NaN, None and NA.
    class_weight : dict or "balanced", optional
        As in scikit-learn.
    calibrate : bool
        Whether to fit three times more, with the labels of some sources hidden, to learn how
        far off predictions are: for probabilities that mean what they say.
        ``method="auto"`` does so anyway.
    device : str, default="auto"
        Where to train: the GPU if there is one, by default.
    verbose : int
        Whether to show a progress bar.
    random_state : int, RandomState or None
    checkpoint : str, path or Checkpoint, optional
        Folder in which ``fit`` keeps its state, at the end of an epoch if 5 seconds have passed
        (``grada.training.Checkpoint(path, every=seconds)`` for another interval). If it is killed,
        the same ``fit`` with the same folder goes on from there to the same model, to the bit on
        the CPU. A folder of a fit with other data, settings, random state or versions is refused.
        The folder stays when the fit is complete, so that it need not be repeated; delete it when
        the model is saved. Trainings of networks are kept, and what ``auto`` finds out about each
        candidate; methods in one piece (plain, propagation, gradual) start over. With
        ``random_state=None`` the random state of the folder is used.

    Attributes
    ----------
    classes_ : array
    graph_ : DomainGraph
        The graph given, mixed or discovered.
    graph_shares_ : array, dict or None
        What each of several graphs counts in ``graph_``: at least 0, of sum 1.
    method_ : Method
    report_ : Report or None
        With ``method="auto"``: what was tried, what it scored, why this one, and what to expect
        in each target.
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
        graph: Graphs = None,
        *,
        domain: str | int | None = None,
        missing_label: object = None,
        class_weight: Mapping[Any, float] | str | None = None,
        calibrate: bool = False,
        device: str | torch.device = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    ):
        self.method = method
        self.graph = graph
        self.domain = domain
        self.missing_label = missing_label
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.device = device
        self.verbose = verbose
        self.random_state = random_state
        self.checkpoint = checkpoint

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
        table, codes = self._rows(X, sample_domain)
        fitted: methods.FittedMethod = self.fitted_
        proba = fitted.predict(table, codes)
        if self._calibration is None or isinstance(fitted, FittedAuto):
            return proba  # auto has seen to it
        return with_temperature(proba, self._calibration.temperature(codes))

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


@artefact.register
class AdaptedRegressor(RegressorMixin, _Adapted):
    """Regressor for rows of many domains, some with labels and some without.

    Parameters
    ----------
    method : str or Method, default="grda"
        How to adapt: a name from ``methods.available()`` or an object with settings.
    graph : DomainGraph, list or dict of DomainGraphs, "discover", optional
        Which domains are neighbours. Several graphs are averaged, with shares learned from the
        rows and the visible labels. ``"discover"`` finds a graph from the rows, without labels, by
        ``DomainGraph.discover``; so does None where there are several domains, with a warning.
    domain : str or int, optional
        Column of X with the domain of each row, instead of ``sample_domain``.
    missing_label : object, optional
        A further value that means "no label" beside NaN, None and NA.
    calibrate : bool
        Whether to fit three times more, with the labels of some sources hidden, to learn how
        far off predictions are: for ``predict_interval``.
        ``method="auto"`` does so anyway.
    device : str, default="auto"
        Where to train: the GPU if there is one, by default.
    verbose : int
        Whether to show a progress bar.
    random_state : int, RandomState or None
    checkpoint : str, path or Checkpoint, optional
        Folder in which ``fit`` keeps its state, at the end of an epoch if 5 seconds have passed
        (``grada.training.Checkpoint(path, every=seconds)`` for another interval). If it is killed,
        the same ``fit`` with the same folder goes on from there to the same model, to the bit on
        the CPU. A folder of a fit with other data, settings, random state or versions is refused.
        The folder stays when the fit is complete, so that it need not be repeated; delete it when
        the model is saved. Trainings of networks are kept, and what ``auto`` finds out about each
        candidate; methods in one piece (plain, propagation, gradual) start over. With
        ``random_state=None`` the random state of the folder is used.

    Attributes
    ----------
    graph_ : DomainGraph
        The graph given, mixed or discovered.
    graph_shares_ : array, dict or None
        What each of several graphs counts in ``graph_``: at least 0, of sum 1.
    method_ : Method
    report_ : Report or None
        With ``method="auto"``: what was tried, what it scored, why this one, and what to expect
        in each target.
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
        graph: Graphs = None,
        *,
        domain: str | int | None = None,
        missing_label: object = None,
        calibrate: bool = False,
        device: str | torch.device = "auto",
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        checkpoint: str | os.PathLike[str] | Checkpoint | None = None,
    ):
        self.method = method
        self.graph = graph
        self.domain = domain
        self.missing_label = missing_label
        self.calibrate = calibrate
        self.device = device
        self.verbose = verbose
        self.random_state = random_state
        self.checkpoint = checkpoint

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

    def predict_interval(
        self, X: Any, sample_domain: Any = None, *, coverage: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Interval for each value, from errors on sources whose labels were hidden in ``fit``.

        Needs ``method="auto"`` or ``calibrate=True``. The intervals of a domain are as wide as
        the errors were in hidden domains that lay as far from the labels, near ones first; they
        hold as far as the targets are like such sources.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
        sample_domain : array-like of shape (n_rows,), optional
        coverage : float
            Share of the true values that should lie within, between 0 and 1.

        Returns
        -------
        low, high : arrays of the shape of ``predict``
            Infinite if there are too few labels for the coverage.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}.")
        table, codes = self._rows(X, sample_domain)
        if self._calibration is None:
            raise ValueError(
                "There is nothing to make intervals from: fit with method='auto' or "
                "calibrate=True, and with labels in two domains at least."
            )
        output = self.fitted_.predict(table, codes)
        half = self._calibration.half_width(codes, coverage)
        return self._coder.decode(output - half), self._coder.decode(output + half)

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


def _codes_of(X: Any, column: str | int) -> NDArray[np.int64]:
    return X.codes_of(column) if isinstance(X, StoredRows) else factorize_column(X, column)


def _header(X: Any) -> Any:
    """The table, or the columns of one that is encoded already."""
    return X.header if isinstance(X, StoredRows) else X


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


def _summary(data: DomainData) -> dict[str, Any]:
    """What the model was fitted on, in a few numbers and names."""
    names = data.graph.names
    return {
        "rows": len(data.codes),
        "labelled": len(data.labelled),
        "sources": [names[code] for code in data.sources],
        "targets": [names[code] for code in data.targets],
    }


def _check_lengths(**tables: Any) -> None:
    lengths = {name: _num_samples(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {each} rows. Each row "
            "needs its label (or NaN) and its domain."
        )
