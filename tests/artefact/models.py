"""Fitted models of every kind, and all that they say."""

import functools
import warnings

import numpy as np
import pandas as pd
from cases import KINDS, drift, estimator, quick
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from grada import AdaptedClassifier, AdaptedRegressor, DomainGraph, methods

SHORT = {
    "epochs": 1,
    "steps_per_epoch": 2,
    "probe_every": 100,
    "head_start": 1,
    "embedding": "spectral",
}
METHODS = [
    (name, kind)
    for name, info in methods.available().items()
    for kind in KINDS
    if kind in info.kinds
]
CLASSES, VALUES = KINDS
_PIPE = make_pipeline(FunctionTransformer(np.tanh), StandardScaler(), PolynomialFeatures())
#: Settings that change what is left after a fit.
SPECIAL = {
    "adagraph": (CLASSES, {"method": quick("grda", **SHORT, backbone="adagraph")}),
    "adagraph adda": (CLASSES, {"method": quick("adda", **SHORT, backbone="adagraph")}),
    "modulate": (VALUES, {"method": quick("dann", **SHORT, conditioning="modulate")}),
    "no base": (VALUES, {"method": quick("source-only", **SHORT, base="none")}),
    "boosting": (CLASSES, {"method": methods.Plain(estimator="gradient-boosting")}),
    "boosting values": (VALUES, {"method": methods.Plain(estimator="gradient-boosting")}),
    "forest": (CLASSES, {"method": methods.Plain(estimator=RandomForestClassifier(5))}),
    "pipeline": (
        CLASSES,
        {"method": methods.Plain(estimator=make_pipeline(_PIPE, SVC(probability=True)))},
    ),
    "vectors": (CLASSES, {"method": methods.Plain(estimator=SVC(probability=True))}),
    "neighbours": (VALUES, {"method": methods.Plain(estimator=KNeighborsRegressor(3))}),
    "domain features": (VALUES, {"method": methods.Plain(append="both", per_domain="standardize")}),
    "in a space": (CLASSES, {"method": methods.Propagation(space=quick("dann", **SHORT))}),
    "calibrated": (VALUES, {"method": "plain", "calibrate": True}),
    "calibrated classes": (CLASSES, {"method": "plain", "calibrate": True}),
    "blend": (VALUES, {"method": quick("auto", portfolio={"p": "propagation", "g": "gradual"})}),
    "discovered": (VALUES, {"method": "plain", "graph": None}),
    "random state": (CLASSES, {"method": "plain", "random_state": np.random.RandomState(3)}),
    "graphs": (
        CLASSES,
        {"method": "plain", "graph": {"a": DomainGraph.chain(6), 1: DomainGraph.clique(6)}},
    ),
    "weights": (
        CLASSES,
        {"method": "plain", "class_weight": {0: 1.0, 1: 2.5}, "missing_label": pd.NA},
    ),
}


@functools.cache
def fitted(name: str, kind: str):
    """A model, and the rows and domains to ask it about."""
    X, y, domain = drift(kind).visible()
    settings = SPECIAL[name][1] if name in SPECIAL else {"method": quick(name, **SHORT)}
    given = {"method": None, "graph": drift(kind).graph, **settings}
    model = estimator(kind, given.pop("method"), given.pop("graph"), **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, sample_domain=domain), X, domain


def table(labels, *, n_outputs: int = 0, seed: int = 0):
    """A frame with a category and the domain in it, fitted with labels of any type."""
    rng = np.random.default_rng(seed)
    n = 60
    frame = pd.DataFrame(
        {
            "Größe": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "<b>", "new\nline"], n)),
            "state": np.repeat(["OH", "PA", "NY"], 20),
        }
    )
    if n_outputs:
        y = rng.normal(size=(n, n_outputs))
        y[40:] = np.nan
        make = AdaptedRegressor
    else:
        y = np.resize(np.array(labels, dtype=object), n)
        y[40:] = None
        make = AdaptedClassifier
    graph = DomainGraph.chain(["OH", "PA", "NY"])
    return make("plain", graph, domain="state", random_state=0).fit(frame, y), frame


def said(model, X, domain=None) -> dict[str, np.ndarray]:
    """Everything a model answers."""
    answers = {
        "predict": model.predict(X, sample_domain=domain),
        "confidence": model.confidence(X, sample_domain=domain),
        "transform": model.transform(X, sample_domain=domain),
    }
    if hasattr(model, "predict_proba"):
        answers["proba"] = model.predict_proba(X, sample_domain=domain)
    elif model._calibration is not None:
        low, high = model.predict_interval(X, sample_domain=domain)
        answers |= {"low": low, "high": high}
    return answers


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """To the bit."""
    return one.keys() == other.keys() and all(
        one[key].dtype == other[key].dtype
        and one[key].shape == other[key].shape
        and one[key].tolist() == other[key].tolist()
        for key in one
    )
