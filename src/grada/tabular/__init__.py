"""From a table and an edge list to an answer: what the command line does, without printing."""

from grada.tabular.comparing import Comparison, compare_table
from grada.tabular.extending import extend_to_table
from grada.tabular.fitting import FittedTable, fit_table, load_table_model
from grada.tabular.predicting import Predictions, predict_table
from grada.tabular.source import TableSource

__all__ = [
    "Comparison",
    "FittedTable",
    "Predictions",
    "TableSource",
    "compare_table",
    "extend_to_table",
    "fit_table",
    "load_table_model",
    "predict_table",
]
