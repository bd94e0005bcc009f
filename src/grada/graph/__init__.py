"""Graphs of domains: names, sparse weights, hops and node embeddings."""

from grada.graph._discovery import domain_distances, edge_auc
from grada.graph._graph import DomainGraph
from grada.graph._names import UnknownDomainError
from grada.graph._types import Name

__all__ = ["DomainGraph", "Name", "UnknownDomainError", "domain_distances", "edge_auc"]
