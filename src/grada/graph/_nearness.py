"""From vectors, one a domain, to a sparse connected graph, and to distances along it."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import randomized_svd

from grada.graph._types import Codes, Floats, Weights

# Distances are divided by those to the neighbour of this rank, so that sparse and dense regions
# of domains are treated alike.
_SCALE_RANK = 8
_MANY_DOMAINS = 1000


def near_pairs(points: Floats, n_neighbors: int) -> Weights:
    r"""Measure each domain's nearest ones on its own scale.

    .. math:: l_{ij} = |s_i - s_j| / \sqrt{\sigma_i \sigma_j}

    with :math:`\sigma_i` the distance of domain :math:`i` to its eighth neighbour.

    Parameters
    ----------
    points : ndarray of shape (n_domains, n_dimensions)
    n_neighbors : int
        How many near domains to keep at least, by the scaled distance.

    Returns
    -------
    csr_array of shape (n_domains, n_domains)
        Scaled distances of pairs, each stored both ways, positive; one connected part.
    """
    n_domains = len(points)
    points = _compact(points)
    wide = min(n_domains - 1, max(3 * n_neighbors, 2 * _SCALE_RANK))
    if wide < 1:
        return sparse.csr_array((n_domains, n_domains))
    distance, other = NearestNeighbors(n_neighbors=wide).fit(points).kneighbors()
    rank = min(_SCALE_RANK, wide) - 1
    # Copies of one domain lie at distance zero, which sparse matrices take for no entry.
    floor = 1e-6 * float(distance[:, rank].max()) or 1.0
    scale = np.sqrt(np.maximum(distance[:, rank], floor))
    scaled = np.maximum(distance, floor) / (scale[:, None] * scale[other])
    first = np.repeat(np.arange(n_domains), wide)
    pairs = _both_ways(first, other.ravel(), scaled.ravel(), n_domains)
    bridges = _bridges(points, pairs, scale, floor)
    return pairs if bridges is None else pairs.maximum(bridges)


def _compact(points: Floats) -> Floats:
    """Fewer coordinates for many domains, with nearly the same distances."""
    if len(points) <= _MANY_DOMAINS or points.shape[1] <= 64:
        return points
    left, size, _ = randomized_svd(points - points.mean(axis=0), 64, random_state=0)
    compact: Floats = left * size
    return compact


def _both_ways(first: Codes, second: Codes, value: Floats, n_domains: int) -> Weights:
    one_way = sparse.csr_array((value, (first, second)), shape=(n_domains, n_domains))
    both: Weights = one_way.maximum(one_way.T).tocsr()
    return both


def _bridges(points: Floats, pairs: Weights, scale: Floats, floor: float) -> Weights | None:
    """Join the parts of the graph: a shortest tree over their centres, nearest ends first."""
    n_parts, part = csgraph.connected_components(pairs, directed=False)
    if n_parts == 1:
        return None
    members = [np.flatnonzero(part == at) for at in range(n_parts)]
    centres = np.stack([points[own].mean(axis=0) for own in members])
    gaps = cdist(centres, centres) + floor
    ends, value = [], []
    for left, right in zip(*csgraph.minimum_spanning_tree(gaps).nonzero(), strict=True):
        finder = NearestNeighbors(n_neighbors=1).fit(points[members[right]])
        distance, nearest = finder.kneighbors(points[members[left]])
        at = int(np.argmin(distance))
        first, second = members[left][at], members[right][nearest[at, 0]]
        ends.append((first, second))
        value.append(max(float(distance[at, 0]), floor) / (scale[first] * scale[second]))
    first, second = np.array(ends, dtype=np.int64).T
    return _both_ways(first, second, np.array(value), len(points))


def nearest_of(pairs: Weights, n_neighbors: int, *, mutual: bool) -> Weights:
    """Keep the shortest tree, and pairs of which both ends (or one) count the other as near."""
    row = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    order = np.lexsort((pairs.indices, pairs.data, row))
    rank = np.empty(len(row), dtype=np.int64)
    rank[order] = np.arange(len(row)) - pairs.indptr[row]
    near = sparse.csr_array(
        ((rank < n_neighbors).astype(float), pairs.indices, pairs.indptr), shape=pairs.shape
    )
    counted = near + near.T
    tree = csgraph.minimum_spanning_tree(pairs)
    kept = (counted >= (2 if mutual else 1)) + (tree + tree.T > 0)
    chosen: Weights = sparse.csr_array(pairs.multiply(kept))
    chosen.eliminate_zeros()
    return chosen


def path_lengths(pairs: Weights, n_neighbors: int) -> Floats:
    """Length of the shortest way between any two domains, from near one to near one."""
    steps = nearest_of(pairs, n_neighbors, mutual=False)
    lengths: Floats = csgraph.shortest_path(steps, directed=False)
    return lengths


def default_neighbors(n_domains: int) -> int:
    """Three; four from 1,000 domains on, five from 10,000 on, and so forth."""
    return 3 + max(0, int(math.log10(n_domains)) - 2)
