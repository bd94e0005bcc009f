"""What the page says below its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grada.benchmark import Protocol
from grada.paper._figures_of_the_paper import RESULTS

if TYPE_CHECKING:
    from grada.paper._tables import Runs

DG = ""
TPT = ""
NO_CARS = """
The images need a signed agreement with their owners and were not there when this page was made.
With them in `GRADA_DATA_HOME/compcars`, `grada bench paper --only table-3` fills this table: the
features of our AlexNet-shaped encoder are computed once (from `GRADA_DATA_HOME/alexnet.pth` if
there are trained weights) and all methods train on them. The loader is tested on a small tree in
the same layout.
"""
CARS = ""
ADAGRAPH = ""
SSL = ""
SENTRY = ""
DIGITS = ""


def sources(draws: Mapping[Protocol, int]) -> str:
    """Below the table of the number of sources."""
    return (
        "\nThe paper does not say which domains were the sources, so each figure is the mean over "
        f"random connected sets of them ({draws['leak-free']} sets leak-free, "
        f"{draws['published']} by the published protocol), ± the deviation over sets.\n"
    )


#: From this on a figure counts as far from the paper's: points of accuracy, share of an error.
FAR_POINTS = 10.0
FAR_SHARE = 0.5


def far_from_paper(runs: Runs, tasks: Sequence[str]) -> str:
    """Name the figures of the published protocol that are far from the paper's."""
    said = []
    for task in tasks:
        for name, one in runs.of(task, "published").items():
            paper = RESULTS[task].get(name, {}).get("all")
            if paper is None:
                continue
            limit = FAR_POINTS if one.metric == "accuracy" else FAR_SHARE * paper
            if abs(one.mean - paper) > limit:
                digits = 1 if one.metric == "accuracy" else 2
                said.append(f"{name} on {task} ({one.mean:.{digits}f} against {paper:.{digits}f})")
    if not said:
        return "\nNo figure of the published protocol is far from the paper's.\n"
    return f"\nBy the published protocol, far from the paper's figure: {'; '.join(said)}.\n"
