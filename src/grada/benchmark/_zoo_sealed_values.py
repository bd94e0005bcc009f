"""Regression tasks for a blind test, sealed until all was settled: each is of another field."""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Floats, Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


def _both_ways(weights: Floats) -> Floats:
    """The upper half of the weights, mirrored, and the largest is 1."""
    upper: Floats = np.triu(weights / np.triu(weights, 1).max(), 1)
    return np.maximum(upper, upper.T)


# The level or the law moves over the graph.


def _metro_stations(name: str, rng: Rng) -> Task:
    """Riders an hour: stations next to each other are alike, on lines that cross."""
    graph = nx.path_graph(parts.count(7, 11, rng))
    for _ in range(parts.count(2, 3, rng)):
        stops = list(range(len(graph), len(graph) + parts.count(7, 11, rng)))
        stops.insert(parts.count(1, len(stops) - 1, rng), parts.count(0, len(graph) - 1, rng))
        nx.add_path(graph, stops)
    weights = nx.to_numpy_array(graph, nodelist=range(len(graph)))
    n = len(weights)
    level = rng.uniform(0.4, 1.0) * parts.diffused(weights, rng)[:, 0] + 0.2 * rng.normal(size=n)
    domain = parts.rows(n, (20, 70), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] = rng.integers(5, 24, len(domain))  # hour
    X[:, 1] = parts.chance(0.3, domain, rng)  # rain
    signal = level[domain] + np.cos(np.pi * (X[:, 0] - 8) / 5) + X @ [0, -0.3, 0.4, 0.2, 0, 0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.6, rng), rng, "station")


def _apiaries(name: str, rng: Rng) -> Task:
    """Honey by hive: what blooms around an apiary counts, and only few apiaries were weighed."""
    n = parts.count(30, 50, rng)
    place = rng.random((n, 2))
    bloom = parts.field(place, rng)[:, 0]
    domain = parts.rows(n, (15, 40), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 1:3] = 0.6 * X[:, [0]] + 0.8 * X[:, 1:3]  # strong hives have many bees, brood and stores
    X[:, 4] = rng.poisson(1.5, len(domain))  # mites
    signal = rng.uniform(0.3, 1.0) * bloom[domain] + X @ [0.3, 0.4, 0.2, 0.0, -0.25]
    y = parts.measured(signal, rng, 1.5, 4.0)
    sources = parts.scattered(n, parts.count(5, 9, rng), rng)
    return _task(name, X, y, domain, parts.near(place, 0.2), sources, rng, "apiary")


def _mobile_cells(name: str, rng: Rng) -> Task:
    """A signal fades with the distance, faster in cells with more houses; cells are hexagons."""
    graph = nx.triangular_lattice_graph(parts.count(4, 6, rng), parts.count(8, 12, rng))
    place = np.array([graph.nodes[node]["pos"] for node in graph])
    n = len(place)
    houses = parts.field(place / np.ptp(place, axis=0), rng, width=0.3)[:, 0]
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = np.log(rng.gamma(3.0, 0.6, len(domain)))  # distance
    X[:, 4] = parts.chance(0.5, domain, rng)  # indoors
    fading = 1.2 + rng.uniform(0.2, 0.5) * houses[domain]
    signal = -fading * X[:, 0] - 0.3 * houses[domain] + X @ [0.0, 0.4, 0.2, 0.0, -0.7]
    sources, weights = parts.some(n, 0.2, 0.4, rng), nx.to_numpy_array(graph)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "cell")


def _club_wages(name: str, rng: Rng) -> Task:
    """Wages of players: more, and more for each goal, in the higher tiers; edges count matches."""
    tier = np.repeat(np.arange(parts.count(4, 7, rng)), parts.count(4, 6, rng))
    n, gap = len(tier), np.abs(tier[:, None] - tier)
    matches = rng.poisson(np.where(gap == 0, 3.0, np.where(gap == 1, 0.4, 0.0))).astype(float)
    height = 1 - tier / tier.max()
    domain = parts.rows(n, (18, 35), rng)
    X = parts.normal(domain, 7, rng)
    X[:, 0] = rng.poisson(3.0, len(domain))  # goals
    level = rng.uniform(0.5, 2.0) * height**2 + 0.15 * rng.normal(size=n)
    slope = 0.1 + rng.uniform(0.1, 0.4) * height
    signal = level[domain] + slope[domain] * X[:, 0] + X[:, 1:] @ parts.slopes(6, 2, rng)
    sources, weights = parts.some(n, 0.25, 0.5, rng), _both_ways(matches)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "club")


def _glacier_stakes(name: str, rng: Rng) -> Task:
    """Melt falls up a glacier and its side arms; only stakes near the tongue were read."""
    n = parts.count(22, 45, rng)
    parent = [max(0, child - parts.count(1, 3, rng)) for child in range(1, n)]
    weights = nx.to_numpy_array(nx.Graph(enumerate(parent, start=1)), nodelist=range(n))
    lengths = nx.single_source_shortest_path_length(nx.from_numpy_array(weights), 0)
    up = np.array([lengths[stake] for stake in range(n)]) / max(lengths.values())
    level = -rng.uniform(0.6, 2.0) * up + parts.inherited(weights, 0.1, rng)[:, 0]
    domain = parts.rows(n, (15, 60), rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] -= 0.7 * up[domain]  # warmth
    y = parts.measured(level[domain] + X @ [0.6, 0.3, -0.3, 0.0], rng)
    return _task(name, X, y, domain, weights, parts.lowest(up, 0.4, 0.6, rng), rng, "stake")


def _wheat_pedigree(name: str, rng: Rng) -> Task:
    """A variety has two parents, and is about what they are on average; old ones were tried."""
    n, n_founders = parts.count(25, 50, rng), 6
    trait = rng.normal(size=(n, 3))
    weights = np.zeros((n, n))
    for child in range(n_founders, n):
        parents = max(0, child - 14) + parts.scattered(min(child, 14), 2, rng)
        trait[child] = trait[parents].mean(axis=0) + 0.35 * rng.normal(size=3)
        weights[parents, child] = 1.0
    level, slopes = rng.uniform(0.4, 0.9) * trait[:, 0], 0.5 + 0.3 * trait[:, 1:]
    domain = parts.rows(n, (15, 50), rng)
    X = parts.normal(domain, 6, rng)
    signal = level[domain] + (slopes[domain] * X[:, :2]).sum(axis=1) + 0.4 * X[:, 2]
    sources, weights = range(round(n * rng.uniform(0.4, 0.65))), _both_ways(weights)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "variety")


def _like_stores(name: str, rng: Rng) -> Task:
    """What price and leaflets do, by the store; the weights say roughly how like stores are."""
    n = parts.count(25, 45, rng)
    trait = rng.random((n, 3))
    change = parts.field(trait, rng, 3, width=0.5)
    weights = parts.near(trait, 0.35) * np.exp(0.7 * rng.normal(size=(n, n)))
    weights += (rng.random((n, n)) < rng.uniform(0.0, 0.08)) * rng.random((n, n))
    domain = parts.rows(n, (25, 70), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 1] = parts.chance(0.25, domain, rng)  # a leaflet
    effect = np.array([0.0, -0.8, 0.9]) + rng.uniform(0.2, 0.5) * change
    signal = effect[domain, 0] + (effect[domain, 1:] * X[:, :2]).sum(axis=1) + 0.3 * X[:, 2]
    sources, weights = parts.some(n, 0.2, 0.45, rng), _both_ways(weights)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "store")


def _office_heat(name: str, rng: Rng) -> Task:
    """Warm rooms: higher floors are warmer, and the sun counts by the side of the house."""
    n_floors, n_sides = parts.count(4, 8, rng), parts.count(4, 6, rng)
    weights = parts.product(parts.chain(n_floors), parts.ring(n_sides))
    n = len(weights)
    floor, side = np.divmod(np.arange(n), n_sides)
    south = np.cos(2 * np.pi * side / n_sides)
    level = rng.uniform(0.5, 1.5) * floor / n_floors + 0.3 * south + 0.1 * rng.normal(size=n)
    domain = parts.rows(n, (15, 50), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = rng.beta(1.2, 1.2, len(domain))  # sun
    slope = 0.8 + rng.uniform(0.3, 0.8) * south[domain]
    y = parts.measured(level[domain] + slope * X[:, 0] + X @ [0.0, 0.5, 0.2, -0.2, 0.0], rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.25, 0.5, rng), rng, "floor and side")


# The inputs move.


def _fund_returns(name: str, rng: Rng) -> Task:
    """Returns by six factors that swing more, and together, in hard weeks; calm ones are known."""
    n = parts.count(20, 40, rng)
    stress = parts.field(np.linspace(0, 1, n)[:, None], rng, width=0.15)[:, 0]
    domain = parts.rows(n, (20, 60), rng)
    common = (0.2 + 0.7 / (1 + np.exp(-2 * stress)))[domain, None]
    X = np.sqrt(1 - common) * parts.normal(domain, 6, rng)
    X += np.sqrt(common) * parts.normal(domain, 1, rng)
    X *= np.exp(rng.uniform(0.1, 0.5) * stress)[domain, None]
    signal = X @ parts.slopes(6, 4, rng)
    y = signal + signal.std() / rng.uniform(2.0, 5.0) * rng.standard_t(4, len(domain))
    return _task(
        name, X, y, domain, parts.chain(n), parts.lowest(stress, 0.3, 0.5, rng), rng, "week"
    )


def _park_visitors(name: str, rng: Rng) -> Task:
    """Three kinds of visitors spend by laws of their own; parks differ in the mix, side by side."""
    n = parts.count(24, 40, rng)
    weights, place = parts.places(n, rng)
    shares = np.exp(rng.uniform(0.6, 1.5) * parts.field(place, rng, 3))
    domain = parts.rows(n, (25, 90), rng)
    visitor = parts.labels(domain, 3, rng, shares)
    X = parts.normal(domain, 6, rng) + rng.uniform(0.6, 1.4) * rng.normal(size=(3, 6))[visitor]
    slopes = 0.5 * rng.normal(size=(3, 6)) * [1, 1, 1, 0, 0, 0] + parts.slopes(6, 3, rng)
    signal = 0.6 * rng.normal(size=3)[visitor] + (X * slopes[visitor]).sum(axis=1)
    sources = parts.clustered(weights, place[:, 0], round(n * rng.uniform(0.25, 0.45)))
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "park")


def _dough_thermometers(name: str, rng: Rng) -> Task:
    """Dough rises best at one warmth; branches of a bakery note it in either of two units."""
    n = parts.count(16, 32, rng)
    domain = parts.rows(n, (20, 70), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = 26 + rng.normal(size=n)[domain] + 3 * X[:, 0]  # degrees
    signal = rng.uniform(0.0, 0.3) * rng.normal(size=n)[domain]
    signal += -0.08 * (X[:, 0] - 28) ** 2 + X @ [0.0, 0.5, -0.4, 0.2, 0.0]
    fahrenheit = rng.random(n) < rng.uniform(0.2, 0.5)
    X[:, 0] = np.where(fahrenheit[domain], 32 + 1.8 * X[:, 0], X[:, 0])
    sources, weights = parts.some(n, 0.3, 0.5, rng), parts.star(n - 1)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "branch")


def _tree_heights(name: str, rng: Rng) -> Task:
    """Heights level off with girth, lower on poor soil; stands of thin trees were measured."""
    weights, place = parts.grid(parts.count(4, 6, rng), parts.count(5, 8, rng))
    n = len(weights)
    soil, age = parts.field(place, rng, 2).T
    domain = parts.rows(n, (15, 60), rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] = np.exp(0.35 * age[domain]) * rng.gamma(6.0, 0.2, len(domain))  # girth
    X[:, 1] += rng.uniform(0.0, 0.8) * soil[domain]  # a faint sign of the soil
    top = 3 * np.exp(rng.uniform(0.05, 0.25) * soil)
    signal = top[domain] * (1 - np.exp(-X[:, 0])) + X @ [0.0, 0.0, 0.15, 0.0]
    sources = parts.lowest(age, 0.3, 0.5, rng)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "stand")


def _new_meters(name: str, rng: Rng) -> Task:
    """New meters, which read other numbers, come in month by month; no row says which it is."""
    n = parts.count(14, 28, rng)
    month = np.linspace(-1, 1, n)
    domain = parts.rows(n, (30, 90), rng)
    X = parts.normal(domain, 5, rng)
    y = parts.measured(X @ parts.slopes(5, 4, rng) + 0.2 * month[domain], rng)
    new = rng.random(len(domain)) < (1 / (1 + np.exp(-4 * month)))[domain]
    gain, zero = rng.uniform(0.5, 1.5, 2), rng.uniform(-1.5, 1.5, 2)
    X[:, :2] = np.where(new[:, None], zero + gain * X[:, :2], X[:, :2])
    return _task(
        name, X, y, domain, parts.chain(n), parts.lowest(month, 0.3, 0.5, rng), rng, "month"
    )


def _solar_roofs(name: str, rng: Rng) -> Task:
    """Power is sun times clean panel, and less when hot; the dim north is known."""
    n = parts.count(24, 40, rng)
    weights, place = parts.places(n, rng)
    south = place[:, 1] + 0.1 * rng.normal(size=n)
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] = (0.6 + 0.6 * south[domain]) * rng.beta(3.0, 2.0, len(domain))  # sun
    X[:, 1] = rng.beta(5.0, 2.0, len(domain))  # how clean
    X[:, 2] = 15 + 12 * south[domain] + 5 * X[:, 2]  # degrees
    loss = 1 - 0.02 * np.maximum(X[:, 2] - 22, 0)
    signal = 3 * X[:, 0] * X[:, 1] * loss + X @ [0.0, 0.0, 0.0, 0.15, -0.1, 0.0]
    sources = parts.lowest(south, 0.3, 0.5, rng)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "district")


def _commutes(name: str, rng: Rng) -> Task:
    """Ways to work: long from the edge of a town, where they are faster than in the middle."""
    n = parts.count(26, 48, rng)
    weights, place = parts.places(n, rng)
    out = np.linalg.norm(place - 0.5, axis=1)
    domain = parts.rows(n, (15, 80), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = np.exp(2 * out[domain] + 0.5 * X[:, 0])  # way
    X[:, 1] = parts.chance(0.5, domain, rng) * (out[domain] < 0.45)  # by train
    jam = rng.uniform(0.3, 1.2) * np.exp(-((out / 0.3) ** 2)) + 0.08 * rng.normal(size=n)
    signal = (1 + jam[domain] * (1 - X[:, 1])) * X[:, 0] ** 0.7 + X @ [0.0, 0.2, 0.3, 0.0, 0.0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.2, 0.45, rng), rng, "quarter")


def _crude_blends(name: str, rng: Rng) -> Task:
    """Blends of five crudes, whose shares change from batch to batch; two of them react."""
    n = parts.count(18, 36, rng)
    way = np.linspace(0, 1, n)[:, None]
    mean = np.exp(rng.uniform(0.4, 1.0) * parts.field(way, rng, 5, width=0.2))
    mean /= mean.sum(axis=1, keepdims=True)
    domain = parts.rows(n, (20, 60), rng)
    share = np.array([rng.dirichlet(12 * mean[batch]) for batch in domain])
    other = parts.normal(domain, 3, rng)
    signal = share @ rng.normal(size=5) + rng.uniform(1.0, 4.0) * share[:, 0] * share[:, 1]
    signal = signal / signal.std() + other @ [0.5, 0.2, 0.0]
    X, y = np.column_stack([share, other]), parts.measured(signal, rng)
    return _task(name, X, y, domain, parts.chain(n), parts.some(n, 0.2, 0.4, rng), rng, "batch")


# Little or nothing to gain.


def _weekly_moods(name: str, rng: Rng) -> Task:
    """Mood by answers from 1 to 5, in the same way each week, with much that nobody asked."""
    n = parts.count(20, 52, rng)
    domain = parts.rows(n, (20, 50), rng)
    X = np.clip(np.round(3 + 1.2 * parts.normal(domain, 9, rng)), 1, 5)
    y = parts.measured(X @ parts.slopes(9, 5, rng), rng, 0.7, 1.5)
    return _task(name, X, y, domain, parts.ring(n), parts.some(n, 0.2, 0.5, rng), rng, "week")


def _franchise_kitchens(name: str, rng: Rng) -> Task:
    """Each kitchen has its own pace and its own slopes; edges are who audited whom, by lot."""
    n = 2 * parts.count(10, 22, rng)
    weights = nx.to_numpy_array(nx.random_regular_graph(3, n, seed=parts.count(0, 2**31, rng)))
    domain = parts.rows(n, (15, 60), rng)
    X = parts.normal(domain, 5, rng)
    slopes = parts.slopes(5, 3, rng) + rng.uniform(0.05, 0.3) * rng.normal(size=(n, 5))
    level = rng.uniform(0.1, 0.6) * rng.normal(size=n)
    y = parts.measured(level[domain] + (slopes[domain] * X).sum(axis=1), rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.6, rng), rng, "kitchen")


def _sewing_lines(name: str, rng: Rng) -> Task:
    """Pieces an hour in a hall of lines; machines stop at times, and counters show nonsense."""
    weights, place = parts.grid(parts.count(3, 5, rng), parts.count(5, 8, rng))
    n = len(weights)
    level = rng.uniform(0.0, 0.4) * parts.field(place, rng)[:, 0]
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 6, rng)
    y = 4 + parts.measured(level[domain] + X @ parts.slopes(6, 4, rng), rng)
    y *= 1 - parts.chance(rng.uniform(0.01, 0.06), domain, rng)
    X = np.where(rng.random(X.shape) < rng.uniform(0.002, 0.02), 10.0, X)
    return _task(name, X, y, domain, weights, parts.some(n, 0.25, 0.5, rng), rng, "line")


def _car_parks(name: str, rng: Rng) -> Task:
    """Time to find a bay: full, late and rainy go together in one law; one owner told."""
    weights, owner = parts.communities(parts.count(3, 5, rng), parts.count(5, 8, rng), rng)
    n = len(weights)
    domain = parts.rows(n, (15, 90), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] = rng.beta(3.0, 1.5, len(domain))  # how full
    X[:, 1] = parts.chance(0.4, domain, rng)  # rain
    full = 1.0 + 0.6 * X[:, 1] + 0.4 * X[:, 2]
    signal = np.where(X[:, 0] > 0.8, full, 0.2 * X[:, 2]) + 0.2 * X[:, 3]
    y = parts.measured(signal + 0.05 * rng.normal(size=n)[domain], rng, 1.5, 3.0)
    return _task(name, X, y, domain, weights, np.flatnonzero(owner == 0), rng, "car park")


# Unusual forms.


def _gene_panels(name: str, rng: Rng) -> Task:
    """Drug response by many genes that move in blocks; two or three tissues of a tree are known."""
    weights, _ = parts.hierarchy(3, parts.count(3, 4, rng))
    n, n_genes, n_blocks = len(weights), parts.count(70, 110, rng), 8
    domain = parts.rows(n, (20, 32), rng)
    block = rng.integers(n_blocks, size=n_genes)
    active = parts.normal(domain, n_blocks, rng)
    active += parts.inherited(weights, rng.uniform(0.2, 0.6), rng, n_blocks)[domain]
    X = 0.7 * active[:, block] + 0.7 * parts.normal(domain, n_genes, rng)
    level = parts.inherited(weights, rng.uniform(0.0, 0.4), rng)[:, 0]
    signal = active @ parts.slopes(n_blocks, 3, rng) + level[domain]
    sources = parts.scattered(n, parts.count(2, 3, rng), rng)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "tissue")


def _casting_shops(name: str, rng: Rng) -> Task:
    """Strength, hardness and stretch: three plants with a ring of moulds each, and lone moulds."""
    sizes = [parts.count(6, 12, rng) for _ in range(3)]
    weights = parts.with_alone(parts.apart(*map(parts.ring, sizes)), parts.count(2, 5, rng))
    n = len(weights)
    level = rng.uniform(0.3, 0.8) * parts.diffused(weights, rng, 3)
    level[:, 2] -= 0.6 * level[:, 0]
    domain = parts.rows(n, (15, 50), rng)
    X = parts.normal(domain, 7, rng)
    slopes = np.column_stack(
        [parts.slopes(7, 3, rng), parts.slopes(7, 5, rng), parts.slopes(7, 2, rng)]
    )
    y = parts.measured(level[domain] + X @ slopes, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.5, rng), rng, "mould")


def _island_birds(name: str, rng: Rng) -> Task:
    """Birds counted by walk, from a few walks to very many; archipelagos are not joined."""
    seas = [parts.places(parts.count(6, 11, rng), rng) for _ in range(parts.count(3, 4, rng))]
    weights = parts.apart(*(near for near, _ in seas))
    n = len(weights)
    rich = np.concatenate([0.3 * parts.field(place, rng)[:, 0] + rng.normal() for _, place in seas])
    sizes = np.clip(np.exp(rng.normal(3.3, 0.9, n)), 8, 250).astype(int)
    domain = np.repeat(np.arange(n), sizes)
    X = parts.normal(domain, 6, rng)
    X[:, 0] = rng.poisson(2.0, len(domain))  # shrubs
    X[:, 1:3] = X[:, 1:3] > [0.5, 0.0]  # cats seen, morning
    rate = np.exp(1.3 + rng.uniform(0.2, 0.6) * rich[domain] + X @ [0.2, -0.6, 0.4, 0.2, 0, 0])
    y = rng.poisson(rate).astype(float)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.6, rng), rng, "island")


def _first_farms(name: str, rng: Rng) -> Task:
    """Yield grows by a power of water and of feed; few farms, far from alike, took part."""
    n = parts.count(10, 16, rng)
    place = rng.random((n, 2))
    wealth, dry = parts.field(place, rng, 2, width=0.5).T
    domain = parts.rows(n, (40, 110), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = np.exp(0.5 * X[:, 0] - 0.4 * dry[domain])  # water
    X[:, 1] = np.exp(0.4 * X[:, 1] + 0.4 * wealth[domain])  # feed
    signal = rng.uniform(0.0, 0.4) * wealth[domain]
    signal += 1.5 * X[:, 0] ** 0.4 * X[:, 1] ** 0.5 + X @ [0.0, 0.0, 0.4, -0.2, 0.0]
    sources, weights = parts.scattered(n, parts.count(1, 3, rng), rng), parts.near(place, 0.35)
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "farm")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "metro-stations": ("level/crossing lines", _metro_stations),
    "apiaries": ("level/few sources, weighted places", _apiaries),
    "mobile-cells": ("slope and level/hexagons", _mobile_cells),
    "club-wages": ("level and slope/weighted tiers", _club_wages),
    "glacier-stakes": ("trend/low end of a tree", _glacier_stakes),
    "wheat-pedigree": ("mean of two parents/oldest of a pedigree", _wheat_pedigree),
    "like-stores": ("coefficients/rough weights, wrong edges", _like_stores),
    "office-heat": ("level and slope/chain by ring", _office_heat),
    "fund-returns": ("spread and correlation/calm part of a chain", _fund_returns),
    "park-visitors": ("mix of kinds/one cluster of places", _park_visitors),
    "dough-thermometers": ("units, optimum/star", _dough_thermometers),
    "tree-heights": ("saturation, inputs move/one end of a grid", _tree_heights),
    "new-meters": ("mix of devices/one end of a chain", _new_meters),
    "solar-roofs": ("product, inputs move/one end of places", _solar_roofs),
    "commutes": ("slope and inputs/places", _commutes),
    "crude-blends": ("shares drift, curved/chain", _crude_blends),
    "weekly-moods": ("heavy noise, no shift/ring", _weekly_moods),
    "franchise-kitchens": ("own levels and slopes/regular graph", _franchise_kitchens),
    "sewing-lines": ("outliers in rows and values/grid", _sewing_lines),
    "car-parks": ("steps, no shift/one community", _car_parks),
    "gene-panels": ("wide, inputs inherited/few sources, tree", _gene_panels),
    "casting-shops": ("three outputs/rings and lone domains", _casting_shops),
    "island-birds": ("counts, uneven sizes/parts not joined", _island_birds),
    "first-farms": ("powers, inputs move/one to three sources", _first_farms),
}
