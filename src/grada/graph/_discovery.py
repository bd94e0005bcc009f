"""Graphs found from data: which domains have similar rows, places, times or categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from grada.graph._domain_metadata import metadata_points
from grada.graph._embedding import generator_from
from grada.graph._names import factorise
from grada.graph._nearness import default_neighbors, near_pairs, nearest_of, path_lengths
from grada.graph._sketch import DISTANCES, read_rows, sketch
from grada.graph._types import Codes, Floats, Name, Parts, RandomState

# Steps of a way lead to one of the nearest so many domains.
_STEP_NEIGHBORS = 8


def discover_graph(
    X: Any,
    sample_domain: Any,
    *,
    metadata: Any,
    distance: str,
    metadata_share: float,
    n_neighbors: int | None,
    random_state: RandomState,
) -> Parts:
    """Join domains that lie near each other; see ``DomainGraph.discover``."""
    names, points = _points(X, sample_domain, metadata, distance, metadata_share, random_state)
    if n_neighbors is None:
        n_neighbors = default_neighbors(len(names))
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {n_neighbors}")
    weights = nearest_of(near_pairs(points, n_neighbors), n_neighbors, mutual=True)
    # One half at the typical distance to the eighth neighbour, and never zero.
    weights.data = 1 / (1 + weights.data**2)
    return names, weights


def domain_distances(
    X: Any,
    sample_domain: Any,
    *,
    metadata: Any = None,
    distance: str = "sliced-wasserstein",
    metadata_share: float = 0.5,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    r"""Measure how different the rows of any two domains are, without labels.

    .. math:: D_{ij} = \min_{i = k_0, \dots, k_m = j} \sum_t
        |s_{k_t} - s_{k_{t+1}}| / \sqrt{\sigma_{k_t} \sigma_{k_{t+1}}}

    with :math:`s_i` a sketch of the rows of domain :math:`i` (and of its metadata), and
    :math:`\sigma_i` its distance to the eighth nearest domain. Ways lead over near domains only:
    where the rows turn or move along a curve, domains of its two ends may have similar rows and
    are far apart all the same.

    Parameters
    ----------
    X, sample_domain, metadata, distance, metadata_share, random_state
        As in ``DomainGraph.discover``.

    Returns
    -------
    DataFrame of shape (n_domains, n_domains)
        Symmetric, with the names as index and columns. Memory grows with the square of the number
        of domains; ``DomainGraph.discover`` needs no such matrix.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2], [9.0], [9.2]]
    >>> domain_distances(X, ["a", "a", "b", "b", "c", "c"]).loc["a"].idxmax()
    'c'
    """
    names, points = _points(X, sample_domain, metadata, distance, metadata_share, random_state)
    lengths = path_lengths(near_pairs(points, _STEP_NEIGHBORS), _STEP_NEIGHBORS)
    labels = pd.Index(names, dtype=object)
    return pd.DataFrame(lengths, index=labels, columns=labels)


def edge_auc(graph: Any, distances: pd.DataFrame) -> float:
    r"""Say how well distances tell the edges of a graph from the pairs that are none.

    .. math:: P(D_{\text{edge}} < D_{\text{no edge}})

    the area under the ROC curve; a pair of weight :math:`w` counts as an edge by :math:`w` and as
    none by :math:`1 - w`.

    Parameters
    ----------
    graph : DomainGraph
    distances : DataFrame of shape (n_domains, n_domains)
        With names as index and columns, such as :func:`domain_distances` returns. Domains of the
        graph that it does not mention are left out.

    Returns
    -------
    float
        1 for a perfect order, 0.5 for a random one, NaN if all pairs or none are edges.

    Examples
    --------
    >>> from grada.graph import DomainGraph
    >>> X, domain = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], [0, 0, 1, 1, 2, 2]
    >>> edge_auc(DomainGraph.chain(3), domain_distances(X, domain))
    1.0
    """
    labels = [name for name in factorise(distances.index)[1] if name in graph]
    inner = graph.subgraph(labels)
    matrix = distances.loc[labels, labels].to_numpy(dtype=np.float64)
    first, second = np.triu_indices(len(labels), 1)
    weight = inner.weights.toarray()[first, second]
    return weighted_auc(weight, matrix[first, second])


def weighted_auc(weight: Floats, distance: Floats) -> float:
    """Area under the curve where each pair is an edge by its weight and none by the rest."""
    if not weight.any() or (weight == 1).all():
        return float("nan")
    is_edge = np.repeat([1, 0], len(weight))
    score = -np.concatenate([distance, distance])
    counts = np.concatenate([weight, 1 - weight])
    return float(roc_auc_score(is_edge, score, sample_weight=counts))


def _points(
    X: Any,
    sample_domain: Any,
    metadata: Any,
    distance: str,
    metadata_share: float,
    random_state: RandomState,
) -> tuple[tuple[Name, ...], Floats]:
    """Names, sorted, and one vector a domain that holds all that is known of it."""
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {', '.join(DISTANCES)}; got {distance!r}")
    if not 0 <= metadata_share <= 1:
        raise ValueError(f"metadata_share must be from 0 to 1, got {metadata_share}")
    rows = read_rows(X)
    codes, names = sorted_domains(sample_domain)
    if len(codes) != len(rows):
        raise ValueError(f"X has {len(rows)} rows, but sample_domain has {len(codes)}")
    generator = generator_from(random_state)
    views = [sketch(rows, codes, distance, generator)]
    shares = [1.0]
    if metadata is not None:
        known = metadata_points(metadata, names, codes)
        views += known
        shares = [1 - metadata_share, *[metadata_share / len(known)] * len(known)]
    return names, _together(views, shares)


def sorted_domains(sample_domain: Any) -> tuple[Codes, tuple[Name, ...]]:
    """Codes and names in an order that does not depend on that of the rows: numbers, then text."""
    codes, names = factorise(sample_domain, what="the column of domains")
    if not names:
        raise ValueError("a graph needs at least one domain: there are no rows")
    order = sorted(range(len(names)), key=lambda at: (isinstance(names[at], str), names[at]))
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return place[codes], tuple(names[at] for at in order)


def _together(views: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Put vectors side by side, each view with unit typical distance times its share."""
    scaled = []
    for view, share in zip(views, shares, strict=True):
        # Half the mean square of the distance between two domains.
        spread = float(view.var(axis=0).sum())
        scaled.append(np.sqrt(share / spread if spread > 0 else 0.0) * view)
    return np.hstack(scaled)
