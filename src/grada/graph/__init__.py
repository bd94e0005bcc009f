"""Graphs of domains: names, sparse weights, hops and node embeddings."""

from grada.graph._graph import DomainGraph
from grada.graph._names import UnknownDomainError
from grada.graph._types import Name

__all__ = ["DomainGraph", "Name", "UnknownDomainError"]
