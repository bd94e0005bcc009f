"""From a table and a graph to numbers: features, visible labels, domain codes.

Everything a method learns from passes through :class:`DomainData`, which has no room for a
hidden label: a row without a label carries none.
"""

from grada.data._domain_data import DomainData, read_table
from grada.data._features import FeatureEncoder, Quantities, factorize_column
from grada.data._images import ImageRows
from grada.data._labels import Kind, LabelCoder, Labels
from grada.data._lazy import LazyRows, UnreadableRowError, skip_or_refuse
from grada.data._stored import StoredRows

__all__ = [
    "DomainData",
    "FeatureEncoder",
    "ImageRows",
    "Kind",
    "LabelCoder",
    "Labels",
    "LazyRows",
    "Quantities",
    "StoredRows",
    "UnreadableRowError",
    "factorize_column",
    "read_table",
    "skip_or_refuse",
]
