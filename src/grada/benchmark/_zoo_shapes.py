"""More tasks to tune on: shapes, graphs and real tables that `make_shifts` does not make.

They were the unseen part until they had been looked at.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from grada.benchmark._zoo import Maker
from grada.data import Kind
from grada.datasets import Task
from grada.datasets._growing import grow
from grada.datasets.shifts import draw_labels
from grada.graph import DomainGraph

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Rng = np.random.Generator


# Graphs, as dense weights.


def _chain(n: int) -> Floats:
    return nx.to_numpy_array(nx.path_graph(n))


def _small_world(n: int, rng: Rng) -> Floats:
    return nx.to_numpy_array(nx.connected_watts_strogatz_graph(n, 4, 0.1, seed=_seed(rng)))


def _communities(n_groups: int, size: int, rng: Rng) -> tuple[Floats, Codes]:
    """Groups that are dense within and joined by few edges, and the group of each domain."""
    graph = nx.random_partition_graph([size] * n_groups, 0.7, 0.03, seed=_seed(rng))
    graph.add_edges_from((i * size, (i + 1) * size) for i in range(n_groups - 1))
    return nx.to_numpy_array(graph), np.repeat(np.arange(n_groups), size)


def _weighted(place: Floats, width: float) -> Floats:
    """All pairs joined, by weights that fall with the distance."""
    square = ((place[:, None] - place) ** 2).sum(axis=-1)
    weights: Floats = np.exp(-square / width**2) * (1 - np.eye(len(place)))
    return weights


def _smooth(weights: Floats) -> Floats:
    """An amount from 0 to 1 that changes as little as it can over the edges of a graph."""
    laplacian = np.diag(weights.sum(axis=1)) - weights
    slowest = np.linalg.eigh(laplacian)[1][:, 1]
    amount: Floats = (slowest - slowest.min()) / np.ptp(slowest)
    return amount


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


# Rows.


def _rows(n_domains: int, rows: int, rng: Rng, n_classes: int = 2) -> tuple[Codes, Any]:
    """The domain and the class of each row."""
    sizes = np.full(n_domains, rows)
    return np.repeat(np.arange(n_domains), rows), draw_labels(sizes, n_classes, 0.2, rng)


def _turn(points: Floats, angle: Floats) -> Floats:
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = points.T
    return np.column_stack([cos * x - sin * y, sin * x + cos * y])


def _moons(label: Any, rng: Rng) -> Floats:
    angle = rng.uniform(0, np.pi, len(label))
    moon = np.column_stack([np.cos(angle) - 0.5, np.sin(angle) - 0.25])
    return np.where(label[:, None] == 0, moon, -moon) + 0.08 * rng.normal(size=moon.shape)


def _blobs(label: Any, rng: Rng, spread: float | Floats = 0.4) -> Floats:
    spread = np.broadcast_to(spread, len(label))[:, None]
    return np.column_stack([2.0 * label - 1, 0 * label]) + spread * rng.normal(size=(len(label), 2))


def _xor(label: Any, rng: Rng) -> Floats:
    side = rng.choice([-1.0, 1.0], size=len(label))
    centre = np.column_stack([side, side * np.where(label == 0, 1, -1)])
    return centre + rng.uniform(-0.7, 0.7, size=centre.shape)


def _task(
    name: str, X: Any, y: Any, domain: Codes, weights: Floats, sources: Any, kind: Kind
) -> Task:
    names = [f"place no. {i}" for i in range(len(weights))]
    return Task(
        X,
        y,
        np.array(names, dtype=object)[domain],
        graph=DomainGraph.from_adjacency(weights, names=names),
        sources=[names[int(code)] for code in sources],
        kind=kind,
        name=name,
    )


def _first(weights: Floats, amount: Floats, n_sources: int) -> list[int]:
    return grow(weights > 0, amount, n_sources)


def _some(n_domains: int, n_sources: int, rng: Rng) -> Codes:
    return rng.choice(n_domains, n_sources, replace=False)


# Classification.


def _sheared_moons(name: str, rng: Rng) -> Task:
    domain, label = _rows(20, 60, rng)
    X = _moons(label, rng)
    X[:, 0] += 3 * domain / 19 * X[:, 1]
    return _task(name, X, label, domain, _chain(20), range(4), "classification")


def _turning_moons(name: str, rng: Rng) -> Task:
    domain, label = _rows(30, 60, rng)
    weights = _small_world(30, rng)
    amount = _smooth(weights)
    X = _turn(_moons(label, rng), np.pi * amount[domain])
    return _task(name, X, label, domain, weights, _first(weights, amount, 6), "classification")


def _growing_rings(name: str, rng: Rng) -> Task:
    domain, label = _rows(24, 60, rng)
    radius = (1 + label + 0.1 * rng.normal(size=len(label))) * (1 + 1.2 * domain / 23)
    angle = rng.uniform(0, 2 * np.pi, len(label))
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _task(name, X, label, domain, _chain(24), range(5), "classification")


def _checkerboard(name: str, rng: Rng) -> Task:
    weights = nx.to_numpy_array(nx.barbell_graph(10, 4))
    amount = _smooth(weights)
    domain, label = _rows(24, 80, rng)
    X = _xor(label, rng) + 1.5 * amount[domain, None]
    return _task(name, X, label, domain, weights, _first(weights, amount, 8), "classification")


def _words(name: str, rng: Rng) -> Task:
    """Counts of 100 words; the words of a class come into fashion and go out of it."""
    domain, label = _rows(25, 40, rng, 3)
    time = domain / 24
    peak = rng.uniform(-0.3, 1.3, 100)
    topic = rng.integers(0, 3, 100)
    rate = 0.05 + 0.9 * np.exp(-(((time[:, None] - peak) / 0.25) ** 2)) * (label[:, None] == topic)
    return _task(
        name, rng.poisson(rate).astype(float), label, domain, _chain(25), range(6), "classification"
    )


def _failing_sensors(name: str, rng: Rng) -> Task:
    domain, label = _rows(20, 60, rng)
    X = 0.8 * rng.normal(size=(len(label), 8)) + 0.7 * (2 * label[:, None] - 1)
    X[domain[:, None] / 20 > np.linspace(0.2, 1.2, 8)] = 0.0
    return _task(name, X, label, domain, _chain(20), range(4), "classification")


def _swapped_columns(name: str, rng: Rng) -> Task:
    """Each step along the chain swaps two of eight columns."""
    domain, label = _rows(16, 60, rng)
    order = np.tile(np.arange(8), (16, 1))
    for step in range(1, 16):
        order[step] = order[step - 1]
        a, b = rng.choice(8, 2, replace=False)
        order[step, [a, b]] = order[step, [b, a]]
    scale = np.linspace(0.3, 2.0, 8)
    X = scale * rng.normal(size=(len(label), 8))
    X[:, :3] += 1.5 * (2 * label[:, None] - 1)
    X = np.take_along_axis(X, order[domain], axis=1)
    return _task(name, X, label, domain, _chain(16), range(4), "classification")


def _drifting_shares(name: str, rng: Rng) -> Task:
    """Only the shares of the classes move, from 9 : 1 to 1 : 9."""
    domain = np.repeat(np.arange(20), 80)
    label = (rng.random(len(domain)) < 0.1 + 0.8 * domain / 19).astype(int)
    X = _blobs(label, rng, 0.8)
    return _task(name, X, label, domain, _chain(20), range(6), "classification")


def _jumps(name: str, rng: Rng) -> Task:
    """The classes lie the same way within a community, and another way in the next."""
    weights, group = _communities(4, 8, rng)
    domain, label = _rows(32, 50, rng)
    X = _turn(_blobs(label, rng, 0.3), rng.uniform(0, 2 * np.pi, 4)[group[domain]])
    sources = [0, 1, 8, 9, 16, 17, 24, 25]
    return _task(name, X, label, domain, weights, sources, "classification")


def _growing_noise(name: str, rng: Rng) -> Task:
    weights = nx.to_numpy_array(nx.balanced_tree(2, 4))
    n = len(weights)
    amount = _smooth(weights)
    domain, label = _rows(n, 60, rng)
    X = _turn(_blobs(label, rng, 0.2 + 0.5 * amount[domain]), 1.5 * amount[domain])
    return _task(name, X, label, domain, weights, _first(weights, amount, 8), "classification")


def _two_shifts(name: str, rng: Rng) -> Task:
    place = rng.random((30, 2))
    domain, label = _rows(30, 70, rng, 3)
    angle = 2 * np.pi * label / 3
    blobs = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.25 * rng.normal(size=(2100, 2))
    X = _turn(blobs, 2 * place[domain, 0]) + 3 * place[domain, 1][:, None]
    weights = _weighted(place, 0.15)
    return _task(name, X, label, domain, weights, _first(weights, place[:, 0], 8), "classification")


def _star(name: str, rng: Rng) -> Task:
    weights = nx.to_numpy_array(nx.star_graph(20))
    turn = np.append(0.0, rng.uniform(-1.3, 1.3, 20))
    domain, label = _rows(21, 60, rng)
    X = _turn(_blobs(label, rng, 0.25), turn[domain])
    return _task(name, X, label, domain, weights, [0], "classification")


def _clique(name: str, rng: Rng) -> Task:
    weights = nx.to_numpy_array(nx.complete_graph(15))
    domain, label = _rows(15, 80, rng)
    X = _blobs(label, rng, 0.5) + rng.uniform(-0.8, 0.8, size=(15, 2))[domain]
    return _task(name, X, label, domain, weights, range(5), "classification")


def _components(name: str, rng: Rng) -> Task:
    """Three chains that are not joined, each with a source at its start."""
    weights = nx.to_numpy_array(nx.disjoint_union_all([nx.path_graph(10)] * 3))
    step = np.tile(np.arange(10), 3) / 10
    start = np.repeat(rng.uniform(0, 2 * np.pi, 3), 10)
    domain, label = _rows(30, 60, rng)
    X = _turn(_blobs(label, rng, 0.3), (start + 2 * step)[domain])
    return _task(name, X, label, domain, weights, [0, 10, 20], "classification")


def _isolated(name: str, rng: Rng) -> Task:
    weights = np.zeros((22, 22))
    weights[:16, :16] = _chain(16)
    amount = np.append(np.linspace(0, 1, 16), rng.random(6))
    domain, label = _rows(22, 60, rng)
    X = _blobs(label, rng, 0.3) + 2.5 * amount[domain, None]
    labels = np.array(["closed", "open"], dtype=object)[label]
    return _task(name, X, labels, domain, weights, range(4), "classification")


def _many_domains(name: str, rng: Rng) -> Task:
    weights = nx.to_numpy_array(nx.cycle_graph(200))
    domain, label = _rows(200, 15, rng)
    X = _turn(_blobs(label, rng, 0.3), 2 * np.pi * domain / 200)
    return _task(name, X, label, domain, weights, range(10), "classification")


def _wide(name: str, rng: Rng) -> Task:
    """More columns than rows in the one source."""
    domain, label = _rows(15, 20, rng)
    X = rng.normal(size=(len(label), 60))
    X[:, :4] += 1.5 * (2 * label[:, None] - 1)
    X += np.linspace(0, 1.5, 15)[domain, None] * rng.normal(size=60)
    return _task(name, X, label, domain, _chain(15), [0], "classification")


def _leaning_digits(name: str, rng: Rng) -> Task:
    """Digits that lean from -75 to 75 degrees while they fade; the upright ones have labels."""
    images, label = load_digits(return_X_y=True)
    order = rng.permutation(len(label))
    images, label = images[order].reshape(-1, 8, 8), label[order]
    domain = np.arange(len(label)) % 21
    angle, light = np.linspace(-75, 75, 21), np.linspace(1.0, 0.4, 21)
    turned = [
        light[d] * ndimage.rotate(image, angle[d], reshape=False, order=1)
        for image, d in zip(images, domain, strict=True)
    ]
    X = np.stack(turned).reshape(len(label), -1)
    return _task(name, X, label, domain, _chain(21), range(7, 14), "classification")


# The files of real data may be sorted by class, so their tasks are shuffled within each domain.


def _split(key: Floats, n_domains: int, rng: Rng) -> Codes:
    """Domains of equal size by the order of a column."""
    rank = np.argsort(np.lexsort((rng.random(len(key)), key)))
    return rank * n_domains // len(key)


def _wine(name: str, rng: Rng) -> Task:
    X, label = load_wine(return_X_y=True)
    domain = _split(X[:, 10], 9, rng)  # the hue
    task = _task(name, X, label, domain, _chain(9), [1, 4, 7], "classification")
    return task.shuffled(rng)


def _tumours(name: str, rng: Rng) -> Task:
    X, label = load_breast_cancer(return_X_y=True)
    domain = _split(X[:, 1], 12, rng)  # the texture
    task = _task(name, X, label, domain, _chain(12), range(4), "classification")
    return task.shuffled(rng)


def _rare_class(name: str, rng: Rng) -> Task:
    domain = np.repeat(np.arange(18), 100)
    label = rng.choice(3, size=len(domain), p=[0.6, 0.34, 0.06])
    label[:3] = range(3)  # all of them in the source
    centre = np.array([[-1.5, 0.0], [1.5, 0.0], [0.0, 1.5]])
    X = centre[label] + 0.4 * rng.normal(size=(len(label), 2))
    X[:, 1] += np.sin(X[:, 0] + 2 * domain / 17)
    return _task(name, X, label, domain, _small_world(18, rng), [0, 1, 2], "classification")


# Regression.


def _linear(X: Floats, rng: Rng, noise: float | Floats = 0.2) -> Floats:
    y: Floats = X @ rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])
    return y + noise * rng.normal(size=len(X))


def _level_jumps(name: str, rng: Rng) -> Task:
    weights, group = _communities(4, 7, rng)
    domain = np.repeat(np.arange(28), 40)
    X = rng.normal(size=(len(domain), 4))
    y = _linear(X, rng) + 1.5 * rng.permutation(4)[group[domain]]
    return _task(name, X, y, domain, weights, [0, 1, 7, 8, 14, 15, 21, 22], "regression")


def _diabetes_by_age(name: str, rng: Rng) -> Task:
    X, y = load_diabetes(return_X_y=True)
    domain = _split(X[:, 0], 15, rng)
    task = _task(name, X, y / 77, domain, _chain(15), _some(15, 5, rng), "regression")
    return task.shuffled(rng)


def _diabetes_by_weight(name: str, rng: Rng) -> Task:
    X, y = load_diabetes(return_X_y=True)
    domain = _split(X[:, 2], 12, rng)  # the body mass index, which also tells of the answer
    task = _task(name, X, y / 77, domain, _chain(12), range(4), "regression")
    return task.shuffled(rng)


def _level_and_slope(name: str, rng: Rng) -> Task:
    weights = _small_world(30, rng)
    amount = _smooth(weights)
    domain = np.repeat(np.arange(30), 50)
    X = rng.normal(size=(len(domain), 3))
    first, last = rng.normal(size=(2, 3))
    coefficients = first + amount[:, None] * (last - first)
    y = (X * coefficients[domain]).sum(axis=1) + 2 * amount[domain]
    y += 0.3 * rng.normal(size=len(y))
    return _task(name, X, y, domain, weights, _some(30, 10, rng), "regression")


def _uneven_noise(name: str, rng: Rng) -> Task:
    """Nothing moves, but some domains are far noisier than others."""
    weights = nx.to_numpy_array(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5)))
    domain = np.repeat(np.arange(25), 40)
    X = rng.normal(size=(len(domain), 5))
    y = _linear(X, rng, noise=np.exp(rng.uniform(-2, 1, 25))[domain])
    return _task(name, X, y, domain, weights, _some(25, 6, rng), "regression")


def _gain(name: str, rng: Rng) -> Task:
    """Sensors whose gain goes up and down around a ring; the weights of the edges tell how near."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, 30))
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    domain = np.repeat(np.arange(30), 50)
    X = 2 + rng.normal(size=(len(domain), 3))
    y = _linear(X, rng)
    X *= np.exp(0.6 * np.cos(angle[:, None] + [0, 2, 4]))[domain]
    return _task(name, X, y, domain, _weighted(place, 0.3), _some(30, 8, rng), "regression")


def _field(name: str, rng: Rng) -> Task:
    """A smooth field over the plane: 200 small places, 60 of them measured."""
    place = rng.random((200, 2))
    weights = _weighted(place, 0.08)
    weights[weights < 0.05] = 0
    domain = np.repeat(np.arange(200), 10)
    X = rng.normal(size=(len(domain), 3))
    level = np.sin(5 * place[:, 0]) + np.cos(4 * place[:, 1])
    y = _linear(X, rng) + level[domain]
    return _task(name, X, y, domain, weights, _some(200, 60, rng), "regression")


def _phases(name: str, rng: Rng) -> Task:
    """Three outputs, waves whose phase moves along the chain."""
    domain = np.repeat(np.arange(24), 50)
    X = rng.uniform(-2, 2, size=(len(domain), 2))
    phase = 2 * domain / 23
    waves = [np.sin(X[:, 0] + phase), np.cos(X[:, 1] + phase), X[:, 0] * np.sin(phase)]
    y = np.column_stack(waves) + 0.1 * rng.normal(size=(len(domain), 3))
    return _task(name, X, y, domain, _chain(24), range(0, 24, 3), "regression")


def _star_slopes(name: str, rng: Rng) -> Task:
    """One source, and leaves that each differ in their own way: the graph cannot help."""
    weights = nx.to_numpy_array(nx.star_graph(15))
    domain = np.repeat(np.arange(16), 60)
    X = rng.normal(size=(len(domain), 3))
    own = 1 + 0.3 * rng.normal(size=(16, 3))
    y = (X * own[domain]).sum(axis=1) + 0.3 * rng.normal(size=len(domain))
    return _task(name, X, y, domain, weights, [0], "regression")


def _many_columns(name: str, rng: Rng) -> Task:
    """Sixty columns, five of which matter, and hardly more rows in the sources."""
    domain = np.repeat(np.arange(20), 25)
    X = rng.normal(size=(len(domain), 60)) + 0.5 * (domain[:, None] / 19) * rng.normal(size=60)
    y = _linear(X[:, :5], rng) * 2
    return _task(name, X, y, domain, _chain(20), range(4), "regression")


#: Name -> family, kind, and what draws the task.
SHAPES: dict[str, tuple[str, Kind, Maker]] = {
    "shape-sheared-moons": ("shear/chain", "classification", _sheared_moons),
    "shape-turning-moons": ("moons/small world", "classification", _turning_moons),
    "shape-growing-rings": ("concentric/chain", "classification", _growing_rings),
    "shape-checkerboard": ("checkerboard/barbell", "classification", _checkerboard),
    "shape-words": ("sparse/chain", "classification", _words),
    "shape-failing-sensors": ("dropout/chain", "classification", _failing_sensors),
    "shape-swapped-columns": ("permutation/chain", "classification", _swapped_columns),
    "shape-drifting-shares": ("label shift/chain", "classification", _drifting_shares),
    "shape-jumps": ("jumps/communities", "classification", _jumps),
    "shape-growing-noise": ("noise and rotation/binary tree", "classification", _growing_noise),
    "shape-two-shifts": ("two shifts/weighted", "classification", _two_shifts),
    "shape-star": ("own rotations/star", "classification", _star),
    "shape-clique": ("own places/clique", "classification", _clique),
    "shape-components": ("rotation/three chains", "classification", _components),
    "shape-isolated": ("translation/isolated targets", "classification", _isolated),
    "shape-many-domains": ("rotation/200 domains", "classification", _many_domains),
    "shape-wide": ("wide/chain", "classification", _wide),
    "shape-leaning-digits": ("real/digits", "classification", _leaning_digits),
    "shape-wine": ("real/wine", "classification", _wine),
    "shape-tumours": ("real/tumours", "classification", _tumours),
    "shape-rare-class": ("warp/rare class", "classification", _rare_class),
    "shape-level-jumps": ("jumps/communities, regression", "regression", _level_jumps),
    "shape-diabetes-age": ("real/diabetes by age", "regression", _diabetes_by_age),
    "shape-diabetes-weight": ("real/diabetes by weight", "regression", _diabetes_by_weight),
    "shape-level-and-slope": ("two shifts/small world", "regression", _level_and_slope),
    "shape-uneven-noise": ("uneven noise/grid", "regression", _uneven_noise),
    "shape-gain": ("gain/weighted", "regression", _gain),
    "shape-field": ("field/200 domains", "regression", _field),
    "shape-phases": ("waves/chain", "regression", _phases),
    "shape-star-slopes": ("own slopes/star", "regression", _star_slopes),
    "shape-many-columns": ("wide/chain, regression", "regression", _many_columns),
}
