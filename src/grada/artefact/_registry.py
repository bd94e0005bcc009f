"""Which classes a model folder may hold: those listed here, and no others."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import nn

from grada import methods, training
from grada.data import _features, _labels
from grada.methods import (
    _base,
    _correction,
    _frame,
    _local,
    _local_choice,
    _neural,
    _process,
    _residuals,
    _row_graph,
    _spreading,
    adda,
    gnn_ssl_v1,
    gnn_ssl_v2,
    gradual,
    plain,
    propagation,
)
from grada.nn import adagraph, alexnet, encoders, neighborhood
from grada.selection import auto, blending, intervals, plausible, report, trials, units

_Class = TypeVar("_Class", bound=type[Any])


class ArtefactError(ValueError):
    """A model folder that cannot be read, or a model that cannot be written as one."""


_KNOWN: tuple[type[Any], ...] = (
    # the table and its labels
    _features.FeatureEncoder,
    _labels.LabelCoder,
    # fitted methods and what they are made of
    _base.Run,
    _correction.PlainBase,
    _correction.Trust,
    _frame.DomainFrame,
    _local.Base,
    _local.KnownRows,
    _local_choice.Teaching,
    _neural.FittedNetwork,
    _process.Domains,
    _process.Labelled,
    _process.Mixture,
    _process.Process,
    _process.Reach,
    _process.Rows,
    _residuals.FittedResiduals,
    _row_graph.Rows,
    _spreading.Manner,
    gnn_ssl_v1.FittedDomains,
    gnn_ssl_v2.FittedLeaves,
    gradual.FittedGradual,
    plain.FittedPlain,
    propagation.FittedInSpace,
    propagation.FittedPropagation,
    training.History,
    # the choice of a method
    auto.FittedAuto,
    blending.HopBlend,
    intervals.Calibration,
    plausible.Plausible,
    report.CandidateReport,
    report.DomainReport,
    report.Report,
    trials.HeldOut,
    units.OtherUnit,
    units.Units,
    # networks
    adagraph.DomainBatchNorm,
    adda.TwoEncoders,
    alexnet.AlexNet,
    encoders.Bounded,
    encoders.DomainEncoder,
    encoders.ModulatedEncoder,
    encoders.Modulation,
    encoders.Network,
    neighborhood.Neighborhood,
    nn.AdaptiveAvgPool2d,
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.Conv2d,
    nn.Dropout,
    nn.Identity,
    nn.Linear,
    nn.MaxPool2d,
    nn.ReLU,
    nn.Sequential,
)

#: Classes whose objects hold something of single training rows, and what.
ROWS, LABELS = "rows", "labels"
HOLDS: dict[type[Any], str] = {
    _local.KnownRows: ROWS,
    _process.Rows: ROWS,
    _row_graph.Rows: ROWS,
    trials.HeldOut: LABELS,
}

#: Attributes that are of no use in another process, or made again when they are needed, and what
#: stands there instead.
LEFT_OUT: dict[str, Any] = {"callbacks": (), "checkpoint": None, "answers": {}}


def name_of(cls: type[Any]) -> str:
    """Name of a class in model.json."""
    return f"{cls.__module__}.{cls.__qualname__}"


_REGISTRY = {name_of(cls): cls for cls in _KNOWN}


def register(cls: _Class) -> _Class:
    """Let models hold objects of a class of your own, for a method of your own.

    Only its attributes are saved. The class must be registered, under the same module and name,
    before such a model is loaded.

    Parameters
    ----------
    cls : type

    Returns
    -------
    type
        The same, so that this can be a decorator.

    Examples
    --------
    >>> @register
    ... class FittedByMe:
    ...     pass
    """
    _REGISTRY[name_of(cls)] = cls
    return cls


def is_registered(cls: type[Any]) -> bool:
    """Whether a model may hold an object of this class."""
    return registered(name_of(cls)) is cls


def registered(name: object) -> type[Any] | None:
    """The class of that name, if it is registered or one of the methods."""
    if not isinstance(name, str):
        return None
    known = {name_of(info.method): info.method for info in methods.available().values()}
    return _REGISTRY.get(name) or known.get(name)
