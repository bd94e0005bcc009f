"""How much each of several graphs is worth, without target labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge

from grada.data import DomainData, LazyRows
from grada.graph import DomainGraph, domain_distances

FloatArray = NDArray[np.float64]

_MOST_DOMAINS = 400
_MOST_SOURCES = 60
_MOST_FEATURES = 32
# Labels say what the graph is for, rows only hint at it.
_LABEL_TRUST = 2.0
_N_RENAMINGS = 20


def learn_shares(graphs: Sequence[DomainGraph], data: DomainData) -> FloatArray:
    r"""Learn what each graph should count in the mean of them, without target labels.

    .. math:: \min_{\theta \ge 0, b} \; \sum_{ij} c_{ij}
        \Big(N_{ij} - b - \sum_g \theta_g A^{(g)}_{ij}\Big)^2

    over pairs of domains whose rows are near (:math:`N_{ij}` falls with the distance of their
    rows), and over pairs of sources of which a model fitted on one does well on the other. The
    shares are :math:`\theta / \sum \theta`, drawn towards equal ones as far as graphs with their
    domains renamed at random explain as much: a graph whose edges join domains no nearer than
    others gets next to none.

    Parameters
    ----------
    graphs : sequence of DomainGraph
    data : DomainData
        Rows and visible labels; its graph is not looked at but for the names.

    Returns
    -------
    ndarray of shape (n_graphs,)
        At least 0, of sum 1; all the same where neither rows nor labels speak for any graph.

    Examples
    --------
    >>> names = ["a", "b", "c", "d"]
    >>> good = DomainGraph.chain(names)
    >>> bad = DomainGraph.chain(["b", "d", "a", "c"])
    >>> X = [[place + step] for place in range(4) for step in (0.0, 0.1, 0.2)]
    >>> y = [row[0] if row[0] < 2 else None for row in X]
    >>> data = DomainData.from_table(X, y, [name for name in names for _ in range(3)],
    ...                              graph=good, kind="regression")
    >>> learn_shares([good, bad], data).round(1)
    array([0.8, 0.2])
    """
    equal = np.full(len(graphs), 1 / len(graphs))
    if len(graphs) == 1:
        return equal
    X = _vectors(data)
    parts = [part for part in (_row_part(X, data), _label_part(X, data)) if part is not None]
    if not parts:
        return equal
    # Pairs share their domains: there is about as much to learn as there are domains.
    scales = [np.sqrt(trust * len(domains)) for domains, _, trust in parts]
    design = _stack([_edge_weights(graphs, data.graph, domains) for domains, *_ in parts], scales)
    theta, explained = _solve(
        design, _stack([_pairs(nearness) for _, nearness, _ in parts], scales)
    )
    if not theta.any():
        return equal
    rng = np.random.default_rng(0)
    chance = [
        _solve(design, _stack([_pairs(_renamed(near, rng)) for _, near, _ in parts], scales))[1]
        for _ in range(_N_RENAMINGS)
    ]
    sure = max(0.0, 1 - float(np.mean(chance)) / explained)
    shares: FloatArray = sure * theta / theta.sum() + (1 - sure) * equal
    return shares


def _solve(design: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients of at least 0, and the share of the target that they explain."""
    theta, rest = nnls(design, target)
    total = float(target @ target)
    return theta, 1 - rest**2 / total if total > 0 else 0.0


def _stack(parts: list[FloatArray], scales: list[float]) -> FloatArray:
    """Centred parts below each other; a scale is the norm of a part whose entries are ones."""
    return np.concatenate(
        [
            scale / np.sqrt(len(part)) * (part - part.mean(axis=0))
            for part, scale in zip(parts, scales, strict=True)
        ]
    )


def _pairs(matrix: FloatArray) -> FloatArray:
    upper: FloatArray = matrix[np.triu_indices(len(matrix), 1)]
    return upper


def _renamed(matrix: FloatArray, rng: np.random.Generator) -> FloatArray:
    order = rng.permutation(len(matrix))
    return matrix[np.ix_(order, order)]


def _vectors(data: DomainData) -> FloatArray:
    """Rows as vectors of few columns."""
    if isinstance(data.X, LazyRows):
        raise ValueError(
            "Shares of several graphs are learned from rows in memory, but X is read from files "
            "when needed. Give one graph: DomainGraph.mix(graphs, shares)."
        )
    X = data.X.reshape(len(data.X), -1).astype(np.float64)
    if X.shape[1] <= _MOST_FEATURES:
        return X
    width = min(_MOST_FEATURES, *X.shape)
    reduced: FloatArray = PCA(width, svd_solver="randomized", random_state=0).fit_transform(X)
    return reduced / max(float(reduced.std()), 1e-12)


_Part = tuple[NDArray[np.int64], FloatArray, float]


def _row_part(X: FloatArray, data: DomainData) -> _Part | None:
    """Nearness of the rows of any two domains, as ranks from 0 to 1."""
    present = _sample(np.unique(data.codes), _MOST_DOMAINS)
    if len(present) < 3:
        return None
    rows = np.isin(data.codes, present)
    distances = domain_distances(X[rows], data.codes[rows]).loc[present, present].to_numpy()
    return present, _as_nearness(distances), 1.0


def _label_part(X: FloatArray, data: DomainData) -> _Part | None:
    """How well the labels of any two sources agree with each other's models, as ranks."""
    labelled = data.labelled
    models, domains = [], []
    for source in _sample(data.sources, _MOST_SOURCES).tolist():
        rows = labelled[data.codes[labelled] == source]
        model = _fit(X[rows], data.y[rows], data.kind)
        if model is not None:
            models.append(model)
            domains.append(source)
    if len(domains) < 3:
        return None
    error = np.empty((len(domains), len(domains)))
    rows = labelled[np.isin(data.codes[labelled], domains)]
    place = np.searchsorted(domains, data.codes[rows])
    truth = data.y[rows]
    for at, model in enumerate(models):
        if data.kind == "classification":
            wrong = (model.predict(X[rows]) != truth).astype(float)
        else:
            gap = np.asarray(model.predict(X[rows])).reshape(truth.shape) - truth
            wrong = (gap**2).sum(axis=1)
        error[at] = np.bincount(place, wrong) / np.bincount(place)
    return np.array(domains), _as_nearness(error + error.T), _LABEL_TRUST


def _fit(X: FloatArray, y: NDArray[np.float32], kind: str) -> LogisticRegression | Ridge | None:
    """A small model of one domain, or None where it has too little to learn from."""
    if kind == "regression":
        return Ridge().fit(X, y) if len(X) > 1 else None
    return LogisticRegression().fit(X, y) if len(np.unique(y)) > 1 else None


def _as_nearness(distance: FloatArray) -> FloatArray:
    """Ranks from 0 to 1, as a symmetric matrix."""
    upper = np.triu_indices(len(distance), 1)
    nearness = np.zeros_like(distance)
    nearness[upper] = rankdata(-distance[upper]) / len(upper[0])
    symmetric: FloatArray = nearness + nearness.T
    return symmetric


def _edge_weights(
    graphs: Sequence[DomainGraph], every: DomainGraph, domains: NDArray[np.int64]
) -> FloatArray:
    """Weight of each pair of domains in each graph, shape (n_pairs, n_graphs)."""
    names = [every.names[code] for code in domains.tolist()]
    pairs = np.triu_indices(len(names), 1)
    columns = [
        graph.with_domains(names).subgraph(names).weights.toarray()[pairs] for graph in graphs
    ]
    return np.column_stack(columns)


def _sample(codes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many, evenly over their order."""
    return codes[np.linspace(0, len(codes) - 1, min(len(codes), most)).astype(np.int64)]
