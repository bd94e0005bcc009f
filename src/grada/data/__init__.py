"""From a table and a graph to numbers: features, visible labels, domain codes.

Everything a method learns from passes through :class:`DomainData`, which has no room for a
hidden label: a row without a label carries none.
"""

from grada.data._domain_data import DomainData, read_table
from grada.data._features import FeatureEncoder, factorize_column
from grada.data._labels import Kind, LabelCoder, Labels

__all__ = [
    "DomainData",
    "FeatureEncoder",
    "Kind",
    "LabelCoder",
    "Labels",
    "factorize_column",
    "read_table",
]
