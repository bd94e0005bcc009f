"""Peers: methods of skada on the tasks of the benchmark, beside ours.

They see the rows as every method does (features standardised over all rows), have skada's default
settings, and use no graph. The model on top is a support vector classifier, or the ridge
regression of ``plain``: what differs from ``plain`` is then the adaptation.

skada wants signed numbers of domains: sources positive, targets negative. Two things in skada 0.6
have to be kept out of the way, for both put labels on the wrong rows: transfer component analysis
returns the rows of the sources before those of the targets, whatever their order was; and JCPOT
labels the targets by ascending number but writes the labels in the order of the rows. Therefore
rows are given to skada sources first, and all targets under one number (no method here tells them
apart). On files in which all domains list their classes in the same order, such as those of DG,
these slips would even act as a leak: a label lands on a row of the same class elsewhere.

Left out: OTLabelProp, whose several-source form is JCPOT and whose default stops long before the
transport is optimal; the entropic, linear and class-regularised kin of OTMapping; DASVM, which is
made for two classes and predicts row by row; methods that weight the sources' rows, for they move
nothing; the deep ones.
"""

from __future__ import annotations

import importlib
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.svm import SVC

from grada.data import DomainData
from grada.methods import FittedMethod, Method, Run
from grada.training import AdaptationWarning, History

_TARGET = -1  # skada's number for all targets
_PENALTIES = np.logspace(-4, 4, 25)


def peers(kind: str) -> dict[str, Method]:
    """The peers that can do a kind of task, by name; skada itself is not needed for the list.

    Parameters
    ----------
    kind : {"classification", "regression"}

    Returns
    -------
    dict of str to Method

    Examples
    --------
    >>> list(peers("regression"))
    ['skada-tca', 'skada-subspace-alignment', 'skada-ot-mapping', 'skada-coral', 'skada-jdot']
    """
    return {peer.name: peer() for peer in _PEERS if kind in peer.kinds}


@dataclass(frozen=True)
class _Rows:
    """All rows as skada wants them, sources first."""

    X: NDArray[np.float64]
    y: NDArray[Any]  # of the sources' rows only
    domain: NDArray[np.int64]
    kind: str

    @classmethod
    def of(cls, data: DomainData) -> _Rows:
        order = np.argsort(data.weight == 0, kind="stable")
        n_labelled = len(data.labelled)
        domain = data.codes[order] + 1
        domain[n_labelled:] = _TARGET
        return cls(data.X[order].astype(np.float64), data.y[order][:n_labelled], domain, data.kind)

    @property
    def masked(self) -> NDArray[np.int64]:
        """A class for every row, -1 for targets; values are no classes, so any class for them."""
        labels = np.full(len(self.X), -1)
        labels[: len(self.y)] = self.y if self.kind == "classification" else 0
        return labels


class Peer(Method):
    """A method of skada."""

    #: What skada calls it.
    algorithm: ClassVar[str]

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Fit skada's method and the model on top."""
        self.check(data)
        adapter, model = self._fit(_skada(), _Rows.of(data), run)
        # A domain with labels in some rows only is a target to skada when it comes to predictions.
        as_sources = np.setdiff1d(data.sources, data.codes[data.weight == 0])
        return FittedPeer(adapter, model, as_sources, data.n_outputs, data.kind)

    def check(self, data: DomainData) -> None:
        """Refuse what skada's methods have no place for."""
        super().check(data)
        if np.ptp(data.weight[data.labelled]) > 0:
            raise ValueError(f"{self.name} takes no sample_weight or class_weight.")
        if not (data.weight == 0).any():
            raise ValueError(f"{self.name} needs rows without a label to adapt to; all have one.")

    @abstractmethod
    def _fit(self, skada: Any, rows: _Rows, run: Run) -> tuple[Any, Any]:
        """What moves features, if anything, and a fitted model with ``predict``."""


class _Mover(Peer):
    """A peer that moves the features of the sources and the targets towards each other."""

    def _fit(self, skada: Any, rows: _Rows, run: Run) -> tuple[Any, Any]:
        make = getattr(skada, f"{self.algorithm}Adapter")
        adapter = make(**self._settings(run))
        moved = adapter.fit_transform(rows.X, rows.masked, sample_domain=rows.domain)
        model = SVC() if rows.kind == "classification" else RidgeCV(_PENALTIES)
        return adapter, model.fit(moved[: len(rows.y)], rows.y)

    def _settings(self, run: Run) -> Mapping[str, Any]:
        return {}


class TransferComponentAnalysis(_Mover):
    """Project on kernel components in which the means of sources and targets agree."""

    name = "skada-tca"
    algorithm = "TransferComponentAnalysis"
    citation = "Pan et al.: Domain Adaptation via Transfer Component Analysis. IEEE TNN 2011."


class SubspaceAlignment(_Mover):
    """Turn the principal components of the sources into those of the targets."""

    name = "skada-subspace-alignment"
    algorithm = "SubspaceAlignment"
    citation = (
        "Fernando et al.: Unsupervised Visual Domain Adaptation Using Subspace Alignment. "
        "ICCV 2013."
    )

    def _settings(self, run: Run) -> Mapping[str, Any]:
        return {"random_state": run.random_state}


class OTMapping(_Mover):
    """Move the rows of the sources onto those of the targets by optimal transport."""

    name = "skada-ot-mapping"
    algorithm = "OTMapping"
    citation = "Courty et al.: Optimal Transport for Domain Adaptation. IEEE TPAMI 2017."


class CORAL(_Mover):
    """Give the sources the covariance of the targets."""

    name = "skada-coral"
    algorithm = "CORAL"
    citation = "Sun, Feng, Saenko: Return of Frustratingly Easy Domain Adaptation. AAAI 2016."


class JCPOT(Peer):
    """Carry classes from each source to the targets by transport that agrees on their shares.

    The model on top learns the carried labels, so it predicts for any row.
    """

    name = "skada-jcpot"
    algorithm = "JCPOTLabelProp"
    citation = (
        "Redko et al.: Optimal Transport for Multi-source Domain Adaptation under Target Shift. "
        "AISTATS 2019."
    )
    kinds = ("classification",)

    def _fit(self, skada: Any, rows: _Rows, run: Run) -> tuple[Any, Any]:
        adapter = skada.JCPOTLabelPropAdapter()
        with np.errstate(divide="ignore", invalid="ignore"):  # rows out of reach: see below
            _, carried, _ = adapter.fit_transform(
                rows.X, rows.masked, sample_domain=self._domains(rows)
            )
        lost = np.count_nonzero(~(adapter.yh_continuous_.sum(axis=1) > 0))
        if lost:
            warnings.warn(
                f"{self.name}: {lost} rows of targets are too far from every source for the "
                "transport to carry a label; what they got means nothing.",
                AdaptationWarning,
                stacklevel=2,
            )
        X, labels = rows.X[len(rows.y) :], carried[len(rows.y) :]
        model = SVC() if np.ptp(labels) > 0 else DummyClassifier()  # one class is none to an SVC
        return None, model.fit(X, labels)

    def _domains(self, rows: _Rows) -> NDArray[np.int64]:
        """Each source on its own; all as one if any lacks a class, which skada cannot handle."""
        sources = rows.domain[: len(rows.y)]
        n_classes = len(np.unique(rows.y))
        if all(len(np.unique(rows.y[sources == one])) == n_classes for one in np.unique(sources)):
            return rows.domain
        warnings.warn(
            f"{self.name}: not every source has rows of every class, so all count as one source.",
            AdaptationWarning,
            stacklevel=2,
        )
        return np.where(rows.domain == _TARGET, _TARGET, 1)


class JDOT(Peer):
    """Fit a model to the targets with labels carried by joint optimal transport.

    Its classifier is skada's default, a logistic regression: the method needs probabilities, and
    the hinge loss that would do for a support vector machine costs the same for both of two
    classes in skada. With several outputs there is a model for each: its transport depends on the
    output.
    """

    name = "skada-jdot"
    algorithm = "JDOT"
    citation = (
        "Courty et al.: Joint Distribution Optimal Transportation for Domain Adaptation. "
        "NeurIPS 2017."
    )

    def _fit(self, skada: Any, rows: _Rows, run: Run) -> tuple[Any, Any]:
        if rows.kind == "classification":
            classifier = skada.JDOTClassifier(LogisticRegression())
            classifier.fit(rows.X, rows.masked, sample_domain=rows.domain)
            return None, classifier.estimator_
        models = []
        for values in rows.y.T:
            regressor = skada.JDOTRegressor(RidgeCV(_PENALTIES))
            y = np.full(len(rows.X), np.nan)
            y[: len(values)] = values
            regressor.fit(rows.X, y, sample_domain=rows.domain)
            models.append(regressor.estimator_)
        return None, _OnePerOutput(models)


_PEERS: tuple[type[Peer], ...] = (
    JCPOT,
    TransferComponentAnalysis,
    SubspaceAlignment,
    OTMapping,
    CORAL,
    JDOT,
)


@dataclass(frozen=True)
class _OnePerOutput:
    models: list[Any]

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([model.predict(X) for model in self.models])


class FittedPeer(FittedMethod):
    """A fitted peer. Domains that were not there in the fit count as targets."""

    def __init__(
        self, adapter: Any, model: Any, as_sources: NDArray[np.int64], n_outputs: int, kind: str
    ):
        self.adapter = adapter
        self.model = model
        self.as_sources = as_sources
        self.n_outputs = n_outputs
        self.kind = kind
        self.history = History()
        self.history.stopped = "fitted in one go"

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """All weight on the predicted class, or values."""
        answer = np.asarray(self.model.predict(self.encode(X, codes)))
        if self.kind == "classification":
            return np.asarray(np.eye(self.n_outputs)[answer])
        return answer.reshape(len(X), -1).astype(np.float64)

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Features as skada moved them."""
        rows = X.astype(np.float64)
        if self.adapter is None:
            return rows
        domain = np.where(np.isin(codes, self.as_sources), codes + 1, _TARGET)
        order = np.argsort(domain == _TARGET, kind="stable")
        moved = self.adapter.transform(rows[order], sample_domain=domain[order], allow_source=True)
        encoded: NDArray[np.float64] = np.empty_like(moved)
        encoded[order] = moved
        return encoded


def _skada() -> Any:
    try:
        with sklearn.config_context():  # importing it would turn metadata routing on for everyone
            return importlib.import_module("skada")
    except ImportError as error:
        raise ImportError(f"The peers need skada ({error}): pip install 'grada[skada]'.") from error
