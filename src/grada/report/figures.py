"""Static figures of a task, a training and its results, for papers and pages.

Every function takes a task or plain numbers and returns a matplotlib ``Figure``; :func:`save`
writes it as PNG and SVG. They need matplotlib (``pip install "grada[figures]"``), leave its global
state alone, and are readable in black and white.
"""

from grada.report._bars import score_bars, score_by_sources
from grada.report._boundaries import boundaries
from grada.report._canvas import save
from grada.report._curves import loss_curve, series
from grada.report._encodings import chain_of_three, encodings
from grada.report._graphs import score_graphs
from grada.report._roles import role_graph

__all__ = [
    "boundaries",
    "chain_of_three",
    "encodings",
    "loss_curve",
    "role_graph",
    "save",
    "score_bars",
    "score_by_sources",
    "score_graphs",
    "series",
]
