"""Choosing a method, its settings and the graph without a target label."""

from grada.selection.auto import Auto
from grada.selection.graph_value import Evidence, GraphValue, graph_value
from grada.selection.holdout import GraphHoldout
from grada.selection.search import GraphSearchCV

__all__ = ["Auto", "Evidence", "GraphHoldout", "GraphSearchCV", "GraphValue", "graph_value"]
