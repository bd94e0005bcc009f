"""What the page says below its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grada.benchmark import Protocol
from grada.paper._figures_of_the_paper import RESULTS

if TYPE_CHECKING:
    from grada.paper._tables import Runs

DG = """
**What the leak does.** By the published protocol GRDA reaches the paper's figures, because
every pair of rows that its discriminator sees is of one class. With nothing but the rows of
each domain drawn on their own, it is near the yardstick. No method of the paper solves these
tasks honestly: the classes turn with the angle of the domain, so that far from the sources each
lies where the other one was, and a domain in which both are swapped is aligned just as well.
The mean hides that near domains are nearly right and far ones nearly all wrong (levels; worst
domain).

**Baselines.** The leak does not reach the methods that pair no rows, and by the published
protocol they stay near Source-Only here, below the paper's figures for DANN, ADDA, CDANN and
MDD. As far as we can tell: the networks and rates of the paper leave their discriminators blind
(all these runs warned); and with our own settings single seeds of DANN and CDANN differ so much
({spread}) that a figure like the paper's, printed without spread, can be one seed or one
strength out of several. For GNN-SSL-V2 the paper gives neither the weights of the edges nor the
training.

**Peers.** skada's methods see no graph. Two of them looked far better in our first trials
(label propagation 100 %, transfer components 79 % on DG-15): skada 0.6 returns some of its
results in another order than the rows it was given, and in the stored order of the files that
gave the labels away, as above. Given the rows sources first, they have the figures in the
table.
"""

TPT = """
**Ridge regression beats every figure in the paper's table, and every network here.** What a
state's second half of the year is like follows from its first half by nearly the same linear
rule everywhere. Networks bend where they have seen no state: far from the sources in features,
and in the embedding of the domain, which they get as an input and which lies outside that of
the sources.

**Aligning states hurts.** It hides how warm a state is, and that is what is to be predicted:
the label depends on the domain, and Theorem 4.2 does not hold. Most adversarial methods, GRDA
first of all, lose to Source-Only; the methods themselves warn in most of these runs that the
states could not be aligned.

**The published protocol.** Windows that start in any month make 11 times as many rows, of
another kind than those to be predicted, and ridge regression loses on them, too. The paper does
not say with which strength, rate and number of steps its networks were trained on TPT-48. With
the 2,000 to 3,000 steps that we gave them the networks end far above the paper's figures, with
a spread over seeds as large as the differences between methods; GRDA, in single runs at
strengths from 0.5 to 0.001, was the better the weaker it aligned.
"""

NO_CARS = """
The images need a signed agreement with their owners and were not there when this page was made.
With them in `GRADA_DATA_HOME/compcars`, `grada bench paper --only table-3` fills this table: the
features of our AlexNet-shaped encoder are computed once (from `GRADA_DATA_HOME/alexnet.pth` if
there are trained weights) and all methods train on them. The loader is tested on a small tree
in the same layout.
"""

CARS = """
Features of our AlexNet-shaped encoder, computed once; all methods train on these.
"""

ADAGRAPH = """
The paper has this table for CompCars only. On DG-15 every domain's own batch normalisation
hides nothing that matters: the classes turn, they are not shifted or scaled.
"""

SSL = """
GNN-SSL-V1 gives all rows of a domain the same prediction, as the paper proves: with as many
rows of both classes that is 50 % exactly. Neither variant pairs rows, so the protocols differ
by the order of the rows only.
"""

SENTRY = """
SENTRY takes all sources for one domain and all targets for another.
"""

DIGITS = """
Not in the paper: 1,797 real handwritten digits of 8 x 8 pixels, each in one of 30 domains that
turn from 0 to 180 degrees, the first 8 of them sources. Guessing gives 10 %. At a half turn a 6
is a 9.
"""


def sources(draws: Mapping[Protocol, int]) -> str:
    """Below the table of the number of sources."""
    return (
        "\nThe paper does not say which domains were the sources, so each figure is the mean over "
        f"random connected sets of them ({draws['leak-free']} sets leak-free, "
        f"{draws['published']} by the published protocol), ± the deviation over sets. Such sets "
        "are easier than the sources of Table 1, which are the end of the spiral, for they lie "
        "amid the other domains.\n"
    )


def dg(runs: Runs) -> str:
    """Below Table 1."""
    said = []
    for name in ("dann", "cdann"):
        scores = [
            record.mean
            for record in runs.records
            if (record.task, record.method, record.protocol) == ("dg15", name, "leak-free")
        ]
        said.append(f"{name.upper()} on DG-15: {min(scores):.0f} to {max(scores):.0f} %")
    return DG.format(spread=", ".join(said))


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
