"""Domain adaptation across domains that form a graph.

>>> from grada import AdaptedClassifier, DomainGraph
>>> graph = DomainGraph.from_edges([("OH", "PA"), ("PA", "NY")])
>>> AdaptedClassifier(method="grda", graph=graph).method
'grda'
"""

from grada import _environment as _environment  # isort: skip - before all others
from grada import artefact, methods, selection, theory
from grada.artefact import ArtefactError, load
from grada.estimators import AdaptedClassifier, AdaptedRegressor
from grada.graph import DomainGraph
from grada.training import AdaptationWarning, TrainingError

__version__ = "0.1.0"

__all__ = [
    "AdaptationWarning",
    "AdaptedClassifier",
    "AdaptedRegressor",
    "ArtefactError",
    "DomainGraph",
    "TrainingError",
    "__version__",
    "artefact",
    "load",
    "methods",
    "selection",
    "theory",
]
