"""What generated tasks are made of: graphs, amounts that follow them, and rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.spatial.distance import cdist

from grada.data import Kind
from grada.datasets import Task
from grada.datasets._growing import grow
from grada.graph import DomainGraph

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Rng = np.random.Generator


# Graphs, as dense weights.


def chain(n: int) -> Floats:
    return nx.to_numpy_array(nx.path_graph(n))


def ring(n: int) -> Floats:
    return nx.to_numpy_array(nx.cycle_graph(n))


def grid(height: int, width: int) -> tuple[Floats, Floats]:
    """Weights, and the row and column of each domain, from 0 to 1."""
    place = np.indices((height, width)).reshape(2, -1).T.astype(float)
    weights = (cdist(place, place, "cityblock") == 1).astype(float)
    return weights, place / (height - 1, width - 1)


def places(n: int, rng: Rng) -> tuple[Floats, Floats]:
    """Points in a square, each joined with its four nearest."""
    place = rng.random((n, 2))
    distance = cdist(place, place)
    nearest = np.argsort(distance, axis=1)[:, 1:5]
    weights = np.zeros((n, n))
    np.put_along_axis(weights, nearest, 1.0, axis=1)
    return np.maximum(weights, weights.T), place


def binary_tree(depth: int) -> Floats:
    return nx.to_numpy_array(nx.balanced_tree(2, depth))


def random_tree(n: int, rng: Rng) -> Floats:
    return nx.to_numpy_array(nx.random_labeled_tree(n, seed=_seed(rng)), nodelist=range(n))


def star(n_leaves: int) -> Floats:
    return nx.to_numpy_array(nx.star_graph(n_leaves))


def small_world(n: int, rng: Rng) -> Floats:
    return nx.to_numpy_array(nx.connected_watts_strogatz_graph(n, 4, 0.15, seed=_seed(rng)))


def random_graph(n: int, rng: Rng) -> Floats:
    """Any edges, four a domain on average; a domain may be left alone."""
    return nx.to_numpy_array(nx.gnm_random_graph(n, 2 * n, seed=_seed(rng)))


def two(part: Floats) -> Floats:
    """The same graph twice, not joined."""
    return np.block([[part, 0 * part], [0 * part, part]])


def apart(*graphs: Floats) -> Floats:
    """The graphs side by side, not joined."""
    weights: Floats = block_diag(*graphs)
    return weights


def communities(n_groups: int, size: int, rng: Rng) -> tuple[Floats, Codes]:
    """Groups with many edges within and one edge to the next, and the group of each domain."""
    graph = nx.random_partition_graph([size] * n_groups, 0.6, 0.0, seed=_seed(rng))
    graph.add_edges_from((i * size, (i + 1) * size) for i in range(n_groups - 1))
    return nx.to_numpy_array(graph), np.repeat(np.arange(n_groups), size)


def hubs(n: int, rng: Rng) -> Floats:
    """Few domains with many neighbours, and many with two."""
    return nx.to_numpy_array(nx.barabasi_albert_graph(n, 2, seed=_seed(rng)))


def hierarchy(*branches: int) -> tuple[Floats, Codes]:
    """A tree with so many children at each level, and the level of each domain."""
    parent, level, last = [-1], [0], [0]
    for depth, n_children in enumerate(branches, start=1):
        last = [node for node in last for _ in range(n_children)]
        parent += last
        level += [depth] * len(last)
        last = list(range(len(parent) - len(last), len(parent)))
    weights = np.zeros((len(parent),) * 2)
    weights[np.arange(1, len(parent)), parent[1:]] = 1.0
    return np.maximum(weights, weights.T), np.array(level)


def near(place: Floats, reach: float) -> Floats:
    """Weights that fall with the distance; none where they would be small."""
    weights = np.exp(-cdist(place, place, "sqeuclidean") / reach**2)
    np.fill_diagonal(weights, 0.0)
    return np.where(weights < 0.1, 0.0, weights)


def product(first: Floats, second: Floats) -> Floats:
    """A domain for each pair, such as a year and a region; the second one changes fastest."""
    return np.kron(first, np.eye(len(second))) + np.kron(np.eye(len(first)), second)


def with_alone(weights: Floats, n_alone: int) -> Floats:
    """The graph and some domains without neighbours after it."""
    return np.pad(weights, (0, n_alone))


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


# Amounts of the domains, of mean 0 and variance 1 in each column.


def field(place: Floats, rng: Rng, columns: int = 1, width: float = 0.35) -> Floats:
    """Smooth random functions of the place."""
    covariance = np.exp(-cdist(place, place, "sqeuclidean") / (2 * width**2))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    return _standard(root @ rng.normal(size=(len(place), columns)))


def diffused(weights: Floats, rng: Rng, columns: int = 1, reach: float = 8.0) -> Floats:
    """Noise that was smoothed over the edges."""
    laplacian = np.diag(weights.sum(axis=1)) - weights
    smoother = np.linalg.inv(np.eye(len(weights)) + reach * laplacian)
    # Else a domain with no neighbours, whose noise nothing smooths, would be far off the others.
    smoother /= np.linalg.norm(smoother, axis=1, keepdims=True)
    return _standard(smoother @ rng.normal(size=(len(weights), columns)))


def inherited(weights: Floats, step: float, rng: Rng, columns: int = 1) -> Floats:
    """Each domain of a tree has what its parent has, and a random step; 0 at the root."""
    amount = np.zeros((len(weights), columns))
    for parent, child in nx.bfs_edges(nx.from_numpy_array(weights), 0):
        amount[child] = amount[parent] + step * rng.normal(size=columns)
    return amount


def _standard(amount: Floats) -> Floats:
    standard: Floats = (amount - amount.mean(axis=0)) / amount.std(axis=0)
    return standard


# Rows.


def rows(n_domains: int, each: int | tuple[int, int], rng: Rng) -> Codes:
    """The domain of each row; with two numbers the sizes are log-uniform between them."""
    few, many = np.broadcast_to(each, 2).tolist()
    sizes = np.exp(rng.uniform(np.log(few), np.log(many), n_domains)).round().astype(int)
    return np.repeat(np.arange(n_domains), sizes)


def labels(domain: Codes, n_classes: int, rng: Rng, shares: Floats | None = None) -> Codes:
    """Classes drawn row by row, by the shares of each domain (equal ones if not given)."""
    if shares is None:
        shares = np.ones((int(domain.max()) + 1, n_classes))
    bounds = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)[domain, :-1]
    label: Codes = (rng.random(len(domain))[:, None] > bounds).sum(axis=1)
    return label


def direction(angle: Floats) -> Floats:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def turn(points: Floats, angle: Floats, plane: tuple[int, int] = (0, 1)) -> Floats:
    turned = points.copy()
    x, y = points[:, plane[0]], points[:, plane[1]]
    turned[:, plane[0]] = np.cos(angle) * x - np.sin(angle) * y
    turned[:, plane[1]] = np.sin(angle) * x + np.cos(angle) * y
    return turned


def askew(points: Floats, rng: Rng) -> Floats:
    """The same points seen from another side: no column is special."""
    basis: Floats = np.linalg.qr(rng.normal(size=(points.shape[1],) * 2))[0]
    return points @ basis


def blobs(label: Codes, n_classes: int, spread: float, rng: Rng, n_features: int = 2) -> Floats:
    """Gaussian classes with centres around the unit circle."""
    X = spread * rng.normal(size=(len(label), n_features))
    X[:, :2] += direction(2 * np.pi * label / n_classes)
    return X


def moons(label: Codes, noise: float, rng: Rng) -> Floats:
    arc = direction(np.pi * rng.random(len(label))) - [0.5, 0.25]
    return np.where(label[:, None] == 0, arc, -arc) + noise * rng.normal(size=arc.shape)


def noisy(signal: Floats, ratio: float, rng: Rng) -> Floats:
    """The signal and noise of a standard deviation smaller by the ratio."""
    y: Floats = signal + signal.std(axis=0) / ratio * rng.normal(size=signal.shape)
    return y


# Tasks.


def scattered(n_domains: int, n_sources: int, rng: Rng) -> Codes:
    return rng.choice(n_domains, n_sources, replace=False)


def clustered(weights: Floats, priority: Floats, n_sources: int) -> list[int]:
    return grow(weights > 0, priority, n_sources)


def draw(
    n_domains: int, each: int | tuple[int, int], n_classes: int, rng: Rng
) -> tuple[Codes, Codes]:
    """Domains and classes of rows."""
    domain = rows(n_domains, each, rng)
    return domain, labels(domain, n_classes, rng)


def normal(domain: Codes, n_features: int, rng: Rng) -> Floats:
    return rng.normal(size=(len(domain), n_features))


def build(
    name: str,
    X: Floats,
    y: NDArray[Any],
    domain: Codes,
    weights: Floats,
    sources: Iterable[Any],
    rng: Rng,
    word: str = "site",
    *,
    kind: Kind,
) -> Task:
    """The task, its rows in random order."""
    names = [f"{word} {i + 1}" for i in range(len(weights))]
    order = rng.permutation(len(domain))
    return Task(
        X[order],
        y[order],
        np.array(names, dtype=object)[domain[order]],
        graph=DomainGraph.from_adjacency(weights, names=names),
        sources=[names[int(code)] for code in sources],
        kind=kind,
        name=name,
    )


def count(low: int, high: int, rng: Rng) -> int:
    """A whole number, both ends included."""
    return int(rng.integers(low, high + 1))


def some(n: int, low: float, high: float, rng: Rng) -> Codes:
    """A random share of the domains, between the two."""
    return scattered(n, round(n * rng.uniform(low, high)), rng)


def lowest(amount: Floats, low: float, high: float, rng: Rng) -> Codes:
    """The domains with the lowest amounts: a share of them between the two."""
    chosen: Codes = np.argsort(amount)[: round(len(amount) * rng.uniform(low, high))]
    return chosen


def chance(chance: float, domain: Codes, rng: Rng) -> Floats:
    """A column of ones, with this chance, and zeros."""
    return (rng.random(len(domain)) < chance).astype(float)


def slopes(n_features: int, n_useful: int, rng: Rng) -> Floats:
    """Slopes of either sign and of about the same size; the columns after the useful have none."""
    slopes = np.zeros(n_features)
    slopes[:n_useful] = rng.choice([-1.0, 1.0], n_useful) * rng.uniform(0.3, 0.9, n_useful)
    return slopes


def measured(signal: Floats, rng: Rng, low: float = 2.0, high: float = 5.0) -> Floats:
    """The signal and normal noise, smaller by a ratio between the two."""
    return noisy(signal, rng.uniform(low, high), rng)
