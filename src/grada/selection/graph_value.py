"""Does my graph help? Whether neighbours are more alike than chance would have it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import t as student
from sklearn.base import clone

from grada import methods
from grada.data import DomainData, FeatureEncoder, Kind, LabelCoder, Labels
from grada.graph import DomainGraph
from grada.selection._kinship import Kinship, label_kinship, row_kinship
from grada.selection.holdout import GraphHoldout
from grada.training import AdaptationWarning

Verdict = Literal["yes", "no", "cannot tell"]

GRAPHS = ("given", "clique", "empty", "rewired")

_LEVEL = 0.05
#: Rewirings share many edges with a dense graph, so that they are asked for less.
_REWIRED_LEVEL = 0.1
_SHUFFLES = 499
_LEAST_DOMAINS = 5
_MOST_CLASSES = 50  # more different numbers than that are values, not classes
#: How much worse than without it a method may be with the graph: 2 points, or 5 % of the error.
_SLACK = {"classification": 0.02, "regression": 0.05}


@dataclass(frozen=True)
class Evidence:
    """How much more alike neighbours are than any two domains, in one respect.

    Attributes
    ----------
    given : float
        1: neighbours do not differ at all; 0: as much as any two domains.
    rewired : array of shape (n_rewirings,)
        The same for graphs in which each domain has as many neighbours, but others.
    p_shuffled : float
        Share of random exchanges of the domains for which neighbours are as alike as in the
        given graph.
    p_rewired : float
        How likely a rewiring is to reach the given score, by Student's t. As ``p_shuffled`` where
        no other graph has these numbers of neighbours.
    best_possible : bool
        Whether no exchange of domains gives a better score.
    """

    given: float
    rewired: NDArray[np.float64]
    p_shuffled: float
    p_rewired: float
    best_possible: bool

    def speaks_for_graph(self, level: float) -> bool:
        """Whether chance is an unlikely reason."""
        return self.p_shuffled <= level and self.p_rewired <= _REWIRED_LEVEL


@dataclass(frozen=True)
class GraphValue:
    """What a graph is worth, with a verdict in words.

    Attributes
    ----------
    verdict : {"yes", "no", "cannot tell"}
    reason : str
        A sentence or two.
    given, clique, empty : float
        Score of the graph, of a clique and of no edges: how much more alike neighbours are than
        any two domains, in their rows. 0 for the latter two: they prefer no neighbour.
    rewired : array of shape (n_rewirings,)
        Scores of random graphs in which every domain keeps its number of neighbours.
    rows, labels : Evidence or None
        The evidence of all rows, and of the labelled ones between sources; None where there is
        too little.
    held_out : dict
        With a method: its score on hidden sources with the graph ("given"), a "clique", "empty"
        and, on average, "rewired". Accuracy, or minus the squared error in standard units.
    """

    verdict: Verdict
    reason: str
    given: float
    clique: float
    empty: float
    rewired: NDArray[np.float64]
    rows: Evidence | None = None
    labels: Evidence | None = None
    held_out: Mapping[str, float] = field(default_factory=dict)

    @property
    def helps(self) -> bool:
        """Whether the verdict is yes."""
        return self.verdict == "yes"

    def table(self) -> dict[str, dict[str, float]]:
        """Scores by graph: "given", "clique", "empty", "rewired" (mean)."""
        mean = float(self.rewired.mean()) if len(self.rewired) else 0.0
        likeness = zip(GRAPHS, (self.given, self.clique, self.empty, mean), strict=True)
        table = {name: {"likeness": value} for name, value in likeness}
        for name, value in self.held_out.items():
            table[name]["hidden sources"] = value
        return table

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        p_values = {
            name: {"shuffled": part.p_shuffled, "rewired": part.p_rewired, "likeness": part.given}
            for name, part in (("rows", self.rows), ("labels", self.labels))
            if part is not None
        }
        return {
            "verdict": self.verdict,
            "helps": self.helps,
            "reason": self.reason,
            "scores": self.table(),
            "rewired": self.rewired.tolist(),
            "evidence": p_values,
        }

    def __str__(self) -> str:
        return f"{self.verdict[0].upper()}{self.verdict[1:]}. {self.reason}"


def graph_value(
    X: Any,
    y: Any,
    sample_domain: Any,
    graph: DomainGraph,
    *,
    method: str | methods.Method | None = None,
    kind: Kind | None = None,
    missing_label: object = None,
    n_rewirings: int = 10,
    random_state: int = 0,
) -> GraphValue:
    r"""Say whether a graph knows something about the data, without a target label.

    A graph helps to adapt if neighbours are more alike than other domains:

    .. math:: s(A) = 1 - \frac{\sum_{uv} A_{uv} d_{uv} / \sum_{uv} A_{uv}}
                              {\sum_{u \ne v} d_{uv} / N (N - 1)}

    with :math:`d_{uv}` the difference between the rows of two domains. The score is held against
    those of the same graph with its domains exchanged at random (as in Mantel's test), and of
    graphs rewired so that every domain keeps its number of neighbours. Among the sources the same
    is asked of what their labels say about rows. The verdict is yes if chance is unlikely
    (5 %; 10 % for rewirings), in the rows or in the labels.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,) or (n_rows, n_outputs), or None
        Labels; NaN, None or NA where there is none. None: rows only.
    sample_domain : array-like of shape (n_rows,)
        Name of each row's domain.
    graph : DomainGraph
    method : str or Method, optional
        Also run this method with the graph, a clique, no edges and the rewirings, on sources whose
        labels are hidden (:class:`GraphHoldout`). Takes as long as ``3 * (n_rewirings + 3)`` fits.
        A graph with which it does worse than without is no longer a yes.
    kind : {"classification", "regression"}, optional
        By default regression if y has several columns, fractions or more than 50 different
        numbers, else classification.
    missing_label : object, optional
        A further value that means "no label".
    n_rewirings : int, default=10
        At least 3.
    random_state : int, default=0

    Returns
    -------
    GraphValue

    Examples
    --------
    >>> from grada.datasets import make_dg
    >>> task = make_dg(n_domains=20, random_state=1)
    >>> value = graph_value(*task.visible(), task.graph)
    >>> value.verdict
    'yes'
    >>> bool(value.given > value.rewired.max())
    True

    References
    ----------
    .. [1] N. Mantel. The detection of disease clustering and a generalized regression approach.
       Cancer Research 27, 1967.
    """
    if not isinstance(n_rewirings, int) or n_rewirings < 3:
        raise ValueError(f"n_rewirings must be an integer of at least 3, got {n_rewirings!r}.")
    rng = np.random.default_rng(random_state)
    codes = graph.index(sample_domain)
    features = FeatureEncoder().fit(X).transform(X)
    if len(features) != len(codes):
        raise ValueError(f"X has {len(features)} rows, but sample_domain has {len(codes)}.")
    data = _labelled_data(features, codes, graph, y, kind, missing_label)
    flat = features.reshape(len(features), -1).astype(np.float64)
    present = np.unique(codes)
    rows = None
    if len(present) >= _LEAST_DOMAINS:
        kin = row_kinship(flat, np.searchsorted(present, codes), len(present), rng)
        rows = _evidence(kin, graph, present, n_rewirings, rng)
    labels = None if data is None else _label_evidence(data, flat, n_rewirings, rng)
    held_out = {} if method is None else _held_out(method, data, n_rewirings, random_state)
    verdict, reason = _judge(rows, labels, held_out, None if data is None else data.kind)
    return GraphValue(
        verdict,
        reason,
        given=rows.given if rows else 0.0,
        clique=0.0,
        empty=0.0,
        rewired=rows.rewired if rows else np.zeros(0),
        rows=rows,
        labels=labels,
        held_out=held_out,
    )


def _labelled_data(
    features: NDArray[np.float32],
    codes: NDArray[np.int64],
    graph: DomainGraph,
    y: Any,
    kind: Kind | None,
    missing_label: object,
) -> DomainData | None:
    """The data with their labels; None if there are none, or of one class only."""
    if y is None:
        return None
    known = Labels.read(y, kind=kind or _kind_of(y, missing_label), missing_label=missing_label)
    if len(known.known) != len(codes):
        raise ValueError(f"y has {len(known.known)} entries, but there are {len(codes)} rows.")
    if known.kind == "classification" and len(np.unique(known.values)) < 2:
        return None
    coder = LabelCoder.fit(known)
    weight = known.weight.astype(np.float32)
    return DomainData(
        features, codes, coder.encode(known), weight, graph, known.kind, coder.n_outputs
    )


def _kind_of(y: Any, missing_label: object) -> Kind:
    raw = np.asarray(y, dtype=object)
    if raw.ndim == 2 and raw.shape[1] > 1:
        return "regression"
    values = pd.Series(raw.ravel())
    values = values[values.notna() & (values != missing_label)]
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        return "classification"
    fractions = bool((numbers % 1 != 0).any())
    return "regression" if fractions or numbers.nunique() > _MOST_CLASSES else "classification"


def _label_evidence(
    data: DomainData,
    flat: NDArray[np.float64],
    n_rewirings: int,
    rng: np.random.Generator,
) -> Evidence | None:
    sources, rows = data.sources, data.labelled
    if len(sources) < _LEAST_DOMAINS:
        return None
    codes = np.searchsorted(sources, data.codes[rows])
    kin = label_kinship(flat[rows], data.y[rows], codes, len(sources), rng)
    return _evidence(kin, data.graph, sources, n_rewirings, rng)


def _evidence(
    kin: Kinship,
    graph: DomainGraph,
    domains: NDArray[np.int64],
    n_rewirings: int,
    rng: np.random.Generator,
) -> Evidence | None:
    """Evidence of the edges between some domains; None if they leave nothing to compare."""
    graph = graph.subgraph([graph.names[code] for code in domains])
    first, second, weight = _edges(graph)
    n_pairs = len(domains) * (len(domains) - 1) // 2
    if not len(first) or (len(first) == n_pairs and np.ptp(weight) == 0):
        return None
    given = kin.score(first, second, weight)
    others = np.array([kin.score(*_edges(graph.rewired(rng))) for _ in range(n_rewirings)])
    shuffled = np.empty(_SHUFFLES)
    for i in range(_SHUFFLES):
        order = rng.permutation(len(domains))
        shuffled[i] = kin.score(order[first], order[second], weight)
    tie = 1e-9 * max(1.0, abs(given))
    p_shuffled = (1 + int((shuffled >= given - tie).sum())) / (_SHUFFLES + 1)
    spread = others.std(ddof=1) * np.sqrt(1 + 1 / len(others))
    far = (given - others.mean()) / spread if spread > tie else np.inf
    p_rewired = float(student.sf(far, len(others) - 1)) if np.isfinite(far) else p_shuffled
    best = not (shuffled > given + tie).any()
    return Evidence(given, others, p_shuffled, p_rewired, best)


def _edges(
    graph: DomainGraph,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    above = sparse.triu(graph.weights, 1, format="coo")
    return above.row.astype(np.int64), above.col.astype(np.int64), above.data


def _held_out(
    method: str | methods.Method,
    data: DomainData | None,
    n_rewirings: int,
    random_state: int,
) -> dict[str, float]:
    """Score of a method on hidden sources with each graph, the same sources for all."""
    if data is None or not GraphHoldout.can_split(data):
        return {}
    hidden = list(GraphHoldout(random_state=random_state).split_codes(data))
    names = data.graph.names
    graphs = {
        "given": [data.graph],
        "clique": [DomainGraph.clique(names)],
        "empty": [DomainGraph(names, sparse.csr_array((len(names), len(names))))],
        "rewired": [data.graph.rewired(random_state + i) for i in range(n_rewirings)],
    }
    run = methods.Run(random_state, torch.device("cpu"))
    chosen = methods.resolve(method)
    with warnings.catch_warnings():
        # That nothing can be reached without edges is what is being measured.
        warnings.simplefilter("ignore", AdaptationWarning)
        return {
            name: float(np.mean([_score(chosen, data, graph, hidden, run) for graph in several]))
            for name, several in graphs.items()
        }


def _score(
    method: methods.Method,
    data: DomainData,
    graph: DomainGraph,
    hidden: list[NDArray[np.int64]],
    run: methods.Run,
) -> float:
    """Mean over hidden domains of the accuracy, or of minus the squared error."""
    scores: list[float] = []
    for domains in hidden:
        masked = replace(data.hiding(domains), graph=graph)
        fitted = clone(method).adapt(masked, run)
        tested = np.flatnonzero(np.isin(data.codes, domains) & (data.weight > 0))
        output = fitted.predict(data.X[tested], data.codes[tested])
        if data.kind == "classification":
            good = (output.argmax(axis=1) == data.y[tested]).astype(np.float64)
        else:
            good = -((output - data.y[tested]) ** 2).sum(axis=1)
        scores += [float(good[data.codes[tested] == one].mean()) for one in domains]
    return float(np.mean(scores))


def _judge(
    rows: Evidence | None,
    labels: Evidence | None,
    held_out: Mapping[str, float],
    kind: Kind | None,
) -> tuple[Verdict, str]:
    known = [part for part in (rows, labels) if part is not None]
    if not known:
        return "cannot tell", (
            f"That takes at least {_LEAST_DOMAINS} domains with rows, some of them joined and "
            "some not."
        )
    level = _LEVEL / len(known)
    for part, what in ((rows, "rows"), (labels, "labels")):
        if part is None or not part.speaks_for_graph(level):
            continue
        worse = _worse_with_graph(held_out, kind)
        if worse:
            return "cannot tell", (
                f"Neighbours are alike in their {what}, but on hidden sources the method does "
                f"better with {worse}."
            )
        return "yes", (
            f"In their {what}, neighbours differ {100 * min(part.given, 1):.0f} % less than any "
            f"two domains do; chance reaches that in {_percent(part.p_shuffled)} of cases."
        )
    if known[0].best_possible and known[0].p_shuffled > level:
        return "cannot tell", (
            "Neighbours are as alike as this graph can make them, but too few domains or edges "
            "are left to rule chance out."
        )
    return "no", (
        "Neighbours are no more alike than chance would have it: adapting along these edges "
        "is as good as along random ones."
    )


def _worse_with_graph(held_out: Mapping[str, float], kind: Kind | None) -> str:
    """What the method does clearly better with than with the graph, or nothing."""
    if not held_out or kind is None:
        return ""
    words = {"clique": "a clique", "empty": "no edges", "rewired": "random edges"}
    best = max(words, key=lambda name: held_out[name])
    slack = _SLACK[kind] * (1 if kind == "classification" else abs(held_out[best]))
    return words[best] if held_out["given"] < held_out[best] - slack else ""


def _percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"
