"""Regression tasks of kinds that were unseen once, by another hand. All have noise."""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np
from scipy.spatial.distance import cdist

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


# The level changes along the graph.


def _county_outbreak(name: str, rng: Rng) -> Task:
    """Weekly cases, on a log scale: more around the county where it began, which is known."""
    n = 60
    weights, place = parts.places(n, rng)
    origin = place[rng.integers(n)]
    distance = np.hypot(*(place - origin).T)
    domain = parts.rows(n, (12, 60), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] += 0.8 * parts.field(place, rng)[domain, 0]  # density
    X[:, 1] = rng.random(len(domain)) < rng.uniform(0.1, 0.6, n)[domain]  # school holidays
    log_rate = 3.5 - 3.0 * distance[domain] + 0.4 * X[:, 0] - 0.5 * X[:, 1] + 0.2 * X[:, 2]
    log_rate += 0.25 * rng.normal(size=n)[domain]
    y = np.log1p(rng.poisson(np.exp(log_rate))).astype(float)
    sources = parts.clustered(weights, distance, int(rng.integers(12, 26)))
    return _task(name, X, y, domain, weights, sources, rng, "county")


def _leaky_pipeline(name: str, rng: Rng) -> Task:
    """Pressure falls along a pipe and drops at two leaks; every sixth sensor was calibrated."""
    n = 72
    kilometre = np.arange(n) / n
    leaks = np.sort(rng.choice(np.arange(8, n - 8), 2, replace=False))
    level = 3.0 - 1.5 * kilometre - 0.9 * (np.arange(n)[:, None] >= leaks).sum(axis=1)
    domain = parts.rows(n, (15, 30), rng)
    X = parts.normal(domain, 3, rng)  # flow, temperature, voltage
    flow = 1 + 0.3 * X[:, 0]
    y = parts.noisy(level[domain] - 0.5 * flow**2 + 0.2 * X[:, 1], 6, rng)
    return _task(name, X, y, domain, parts.chain(n), range(0, n, 6), rng, "sensor")


def _seed_masses(name: str, rng: Rng) -> Task:
    """Leaves of a phylogeny with one to four plants each; the ancestors have no rows."""
    graph = nx.Graph([(0, 1)])
    leaves = [0, 1]
    while len(leaves) < 40:  # any leaf may split in two
        leaf = leaves.pop(int(rng.integers(len(leaves))))
        born = [graph.number_of_nodes(), graph.number_of_nodes() + 1]
        graph.add_edges_from((leaf, child) for child in born)
        leaves += born
    weights = nx.to_numpy_array(graph, nodelist=range(graph.number_of_nodes()))
    trait = parts.inherited(weights, 0.5, rng, 2)
    species = np.array(leaves)
    domain = species[parts.rows(40, (1, 4), rng)]
    X = parts.normal(domain, 4, rng)
    X[:, 0] += trait[domain, 1]  # height evolves, too
    y = parts.noisy(trait[domain, 0] + X @ [0.5, 0.25, 0.0, 0.0], 4, rng)
    sources = species[parts.scattered(40, int(rng.integers(14, 27)), rng)]
    return _task(name, X, y, domain, weights, sources, rng, "taxon")


def _nitrate_streams(name: str, rng: Rng) -> Task:
    """Nitrate mixes downstream by catchment; only headwaters, the leaves, were sampled."""
    n = 55
    weights = parts.random_tree(n, rng)
    below = list(nx.bfs_edges(nx.from_numpy_array(weights), 0))
    area, load = rng.gamma(2.0, 0.5, n), rng.normal(size=n)
    load = np.exp(0.8 * load) * area
    for down, up in reversed(below):
        area[down] += area[up]
        load[down] += 0.9 * load[up]
    level = np.log(load / area)
    domain = parts.rows(n, (4, 60), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = np.log(area)[domain] + 0.2 * X[:, 0]  # discharge
    X[:, 1] = np.sin(2 * np.pi * rng.random(len(domain)))  # season
    y = parts.noisy(level[domain] + X @ [-0.15, 0.4, 0.3, 0.0, 0.0], 3, rng)
    heads = np.flatnonzero((weights > 0).sum(axis=1) == 1)
    return _task(name, X, y, domain, weights, heads[heads > 0], rng, "reach")


def _trading_countries(name: str, rng: Rng) -> Task:
    """Imports and exports: a dense graph weighted by trade, where a bloc shares a level."""
    n, blocs = 36, 4
    bloc = rng.integers(blocs, size=n)
    wealth = np.exp(0.6 * rng.normal(size=n))
    weights = np.outer(wealth, wealth) * np.where(bloc[:, None] == bloc, 4.0, 1.0)
    weights *= rng.uniform(0.5, 1.5, weights.shape)
    weights = np.triu(weights, 1)
    weights = (weights + weights.T) / weights.max()
    domain = parts.rows(n, (20, 60), rng)  # years
    X = parts.normal(domain, 7, rng)
    X[:, 0] += np.log(wealth)[domain]
    level = 0.8 * rng.normal(size=(blocs, 2))[bloc] + 0.3 * rng.normal(size=(n, 2))
    slopes = rng.normal(size=(7, 2)) * np.array([1, 0.6, 0.4, 0.3, 0.1, 0, 0])[:, None]
    y = parts.noisy(X @ slopes + level[domain], 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(n, 14, rng), rng, "country")


def _reef_heat(name: str, rng: Rng) -> Task:
    """Warmer to the north, where nobody dived yet; noise with heavy tails, weights by distance."""
    n = 45
    place = rng.random((n, 2)) * [3.0, 0.6]
    domain = parts.rows(n, (10, 120), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = rng.gamma(2.0, 0.6, len(domain))  # depth
    level = 0.9 * place[:, 0] + 0.25 * parts.field(place, rng, width=0.5)[:, 0]
    signal = level[domain] - 0.5 * np.log1p(X[:, 0]) + X @ [0, 0.4, -0.2, 0, 0]
    y = signal + 0.35 * rng.standard_t(2.5, size=len(domain))
    sources = np.argsort(place[:, 0])[: int(rng.integers(9, 20))]
    return _task(name, X, y, domain, parts.near(place, 0.35), sources, rng, "reef")


# A slope, or the whole form, changes.


def _vineyard_plots(name: str, rng: Rng) -> Task:
    """Yield by 20 measures: what sun and rain do to each other depends on the slope of a plot."""
    weights, place = parts.grid(7, 8)
    n = len(weights)
    domain = parts.rows(n, 40, rng)
    X = parts.normal(domain, 20, rng)
    amount = parts.field(place, rng, 2)
    signal = 0.7 * X[:, 0] + 0.4 * X[:, 1] - 0.3 * X[:, 2] ** 2
    signal += 0.7 * amount[domain, 0] * X[:, 0] * X[:, 1] + 0.4 * amount[domain, 1] * X[:, 3]
    y = parts.noisy(signal, 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(n, 18, rng), rng, "plot")


def _orbit_drag(name: str, rng: Rng) -> Task:
    """The direction that counts turns once around the orbit; one arc of it is labelled."""
    n = 30
    domain = parts.rows(n, (30, 90), rng)
    X = parts.normal(domain, 4, rng)
    angle = 2 * np.pi * domain / n + rng.uniform(0, 2 * np.pi)
    y = parts.noisy((parts.direction(angle) * X[:, :2]).sum(axis=1) + 0.5 * X[:, 2], 4, rng)
    sources = range(int(rng.integers(8, 16)))
    return _task(name, X, y, domain, parts.ring(n), sources, rng, "segment")


def _dose_response(name: str, rng: Rng) -> Task:
    """One column, a dose: a sigmoid whose middle and height drift among kindred cell lines."""
    n = 40
    weights = parts.hubs(n, rng)
    amount = parts.diffused(weights, rng, 2)
    domain = parts.rows(n, (5, 50), rng)
    dose = rng.uniform(-3, 3, len(domain))
    height = 1 + 0.25 * amount[domain, 1]
    y = height / (1 + np.exp(-2.5 * (dose - amount[domain, 0])))
    y = y + 0.08 * (1 + y) * rng.normal(size=len(domain))
    return _task(name, dose[:, None], y, domain, weights, parts.scattered(n, 12, rng), rng, "line")


def _left_and_right_handed(name: str, rng: Rng) -> Task:
    """Two kinds of machine halls, in which two slopes have opposite signs; few halls are known."""
    weights, group = parts.communities(4, 11, rng)
    sign = np.where(rng.permutation([0, 0, 1, 1])[group] == 1, 1.0, -1.0)
    domain = parts.rows(44, (15, 70), rng)
    X = parts.normal(domain, 6, rng)
    signal = sign[domain] * (0.9 * X[:, 0] - 0.4 * X[:, 1]) + 0.5 * X[:, 2] + 0.2 * np.tanh(X[:, 3])
    y = parts.noisy(signal, 2.5, rng)
    sources = [g * 11 + int(k) for g in range(4) for k in parts.scattered(11, 2, rng)]
    return _task(name, X, y, domain, weights, sources, rng, "hall")


def _cheese_makers(name: str, rng: Rng) -> Task:
    """Three outputs: one is the same everywhere, one shifts by valley, one bends by valley."""
    weights = parts.apart(parts.chain(9), parts.ring(10), parts.grid(3, 3)[0])
    n = len(weights)
    amount = parts.diffused(weights, rng, 2, reach=3.0)
    domain = parts.rows(n, (10, 90), rng)
    X = parts.normal(domain, 9, rng)
    same = X @ rng.normal(size=9) / 3
    shifted = 0.5 * X[:, 1] + 0.9 * amount[domain, 0]
    bent = 0.5 * X[:, 2] + (0.5 + 0.6 * amount[domain, 1]) * np.abs(X[:, 3])
    y = parts.noisy(np.column_stack([same, shifted, bent]), 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(n, 11, rng), rng, "dairy")


def _bike_hours(name: str, rng: Rng) -> Task:
    """Bikes rented by hour and district: rain stops rides more at night; skewed counts."""
    n_hours, n_parts = 12, 5
    weights = parts.product(parts.ring(n_hours), parts.star(n_parts - 1))
    hour, part = np.divmod(np.arange(n_hours * n_parts), n_parts)
    wave = np.sin(2 * np.pi * hour / n_hours + rng.uniform(0, 2 * np.pi))
    level = 2.2 + 0.8 * wave + 0.5 * rng.normal(size=n_parts)[part]
    domain = parts.rows(len(weights), (15, 70), rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] = rng.exponential(0.7, len(domain)) * (rng.random(len(domain)) < 0.4)  # rain
    rain = (0.5 - 0.35 * wave[domain]) * X[:, 0]
    rate = np.exp(level[domain] - rain + 0.25 * X[:, 1])
    y = rng.poisson(rate * rng.gamma(8.0, 1 / 8.0, len(domain))).astype(float)
    sources = parts.scattered(len(weights), int(rng.integers(15, 35)), rng)
    return _task(name, X, y, domain, weights, sources, rng, "slot")


# The inputs change.


def _warm_grids(name: str, rng: Rng) -> Task:
    """Load by temperature is a U, the same for all; only the warm part of the net is labelled."""
    n = 50
    weights = parts.small_world(n, rng)
    warmth = parts.diffused(weights, rng, reach=15.0)[:, 0]
    domain = parts.rows(n, 50, rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = 0.6 * X[:, 0] + 1.1 * warmth[domain]
    y = parts.noisy(0.6 * X[:, 0] ** 2 + X @ [0.0, 0.5, 0.3, 0.0, 0.0], 3, rng)
    sources = parts.clustered(weights, -warmth, 17)
    return _task(name, X, y, domain, weights, sources, rng, "substation")


def _drifting_probes(name: str, rng: Rng) -> Task:
    """Probes distort what they read, by a gain and an offset that drift from one to the next."""
    n = 26
    step = rng.normal(size=(n, 2)).cumsum(axis=0) * [0.12, 0.35]
    domain = parts.rows(n, 80, rng)
    true = parts.normal(domain, 8, rng) @ (np.eye(8) + 0.3 * rng.normal(size=(8, 8)))
    slopes = rng.normal(size=8)
    y = parts.noisy(true @ slopes / 2 + np.sin(true[:, 0]), 4, rng)
    X = true * np.exp(step[domain, :1]) + step[domain, 1:] * rng.normal(size=8)
    sources = range(int(rng.integers(2, 7)))
    return _task(name, X, y, domain, parts.chain(n), sources, rng, "probe")


def _rents_after_one_year(name: str, rng: Rng) -> Task:
    """One known year; later the flats are other ones, and rents rise by a steady step."""
    n = 14
    domain = parts.rows(n, (100, 220), rng)
    X = parts.normal(domain, 10, rng)
    drift = np.arange(n)[:, None] * rng.normal(size=(1, 10)) * 0.08
    X = parts.askew(X + drift[domain], rng)
    slopes = rng.normal(size=10) * 0.5 ** np.arange(10)
    rise = rng.uniform(0.0, 0.1) * domain
    y = parts.noisy(X @ slopes + 0.3 * np.maximum(X[:, 0], 0) ** 2 + rise, 3, rng)
    return _task(name, X, y, domain, parts.chain(n), [0], rng, "year")


def _lone_clinics(name: str, rng: Rng) -> Task:
    """Most clinics have no neighbour; the level follows how ill the patients are on average."""
    weights = parts.with_alone(parts.ring(8), 24)
    n = len(weights)
    illness = rng.normal(size=n)
    domain = parts.rows(n, (8, 150), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] += illness[domain]
    X[:, 1] = (rng.random(len(domain)) < 1 / (1 + np.exp(-illness[domain]))).astype(float)
    y = parts.noisy(0.3 * X[:, 0] + 0.5 * X[:, 2] - 0.8 * illness[domain], 2.5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(n, 15, rng), rng, "clinic")


# Many columns, few rows, levels of a hierarchy.


def _reading_by_language(name: str, rng: Rng) -> Task:
    """Reading time by 80 properties of a text, more than there are labelled texts."""
    weights, family = parts.communities(5, 8, rng)
    weights = weights * rng.uniform(0.2, 1.0)
    domain = parts.rows(40, (3, 14), rng)
    style = rng.normal(size=(6, 80))
    X = parts.normal(domain, 6, rng) @ style + 0.8 * parts.normal(domain, 80, rng)
    X += 0.5 * rng.normal(size=(5, 80))[family[domain]]
    level = 0.7 * rng.normal(size=5)[family] + 0.2 * rng.normal(size=40)
    slopes = np.where(rng.random(80) < 0.15, rng.normal(size=80), 0.0)
    signal = X @ slopes
    y = parts.noisy(signal / signal.std() + level[domain], 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(40, 8, rng), rng, "language")


def _shop_turnover(name: str, rng: Rng) -> Task:
    """Shops below cities below regions; only shops have rows, from 2 to 300; skewed amounts."""
    weights, depth = parts.hierarchy(4, 4, 3)
    effect = parts.inherited(weights, 0.35, rng)[:, 0]
    shops = np.flatnonzero(depth == 3)
    domain = shops[parts.rows(len(shops), (2, 300), rng)]
    X = parts.normal(domain, 12, rng)
    X[:, 0] = rng.poisson(3, len(domain))  # things in the basket
    X[:, 1] = rng.random(len(domain)) < 0.3  # a member
    log_sum = 0.6 * np.log1p(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * X[:, 2] + effect[domain]
    y = np.exp(log_sum + 0.4 * rng.normal(size=len(domain)))
    sources = shops[parts.scattered(len(shops), int(rng.integers(10, 30)), rng)]
    return _task(name, X, y, domain, weights, sources, rng, "unit")


# The graph misleads.


def _rival_neighbours(name: str, rng: Rng) -> Task:
    """Joined market stalls sell unlike things: two sides, and every edge goes across."""
    n = 46
    side = rng.permutation(np.arange(n) % 2)
    across = (side[:, None] != side) & (rng.random((n, n)) < 0.12)
    weights = np.maximum(across, across.T).astype(float)
    level = np.where(side == 1, 0.8, -0.8) + 0.3 * rng.normal(size=n)
    domain = parts.rows(n, (10, 60), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 4] += 0.5 * side[domain]
    y = parts.noisy(level[domain] + X @ [0.6, 0.4, -0.2, 0.0, 0.0], 3, rng)
    sources = parts.scattered(n, int(rng.integers(10, 24)), rng)
    return _task(name, X, y, domain, weights, sources, rng, "stall")


def _bus_lines(name: str, rng: Rng) -> Task:
    """Weights by bus lines, though noise in the streets follows the air line."""
    n = 48
    place = rng.random((n, 2))
    weights = np.zeros((n, n))
    for _ in range(7):  # a line calls at stops all over the town
        stops = rng.choice(n, 9, replace=False)
        weights[stops[:-1], stops[1:]] += rng.uniform(0.3, 1.0)
    weights = weights + weights.T
    weights /= weights.max()
    domain = parts.rows(n, (10, 50), rng)
    X = parts.normal(domain, 8, rng)
    X[:, :2] = place[domain] + 0.02 * X[:, :2]  # where it was measured
    hill = np.exp(-8 * cdist(place, rng.random((3, 2)), "sqeuclidean")).sum(axis=1)
    y = parts.noisy(2.0 * hill[domain] + X @ [0, 0, 0.5, 0.3, 0, 0, 0, 0], 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(n, 20, rng), rng, "stop")


# Little or nothing to gain.


def _exam_districts(name: str, rng: Rng) -> Task:
    """The same law in each district, and weights that say nothing."""
    n = 64
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 1)
    weights = weights + weights.T
    domain = parts.rows(n, (10, 120), rng)
    X = parts.normal(domain, 9, rng)
    X[:, 0] = rng.random(len(domain)) < 0.5
    X[:, 5] = rng.integers(1, 6, len(domain))
    signal = 0.5 * X[:, 0] + X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.4 * np.sqrt(X[:, 5])
    y = parts.noisy(signal, 1.5, rng)
    sources = parts.scattered(n, int(rng.integers(3, 40)), rng)
    return _task(name, X, y, domain, weights, sources, rng, "district")


def _ward_stays(name: str, rng: Rng) -> Task:
    """The large central ward alone is labelled; small wards around it, with faint differences."""
    n = 25
    size = np.r_[400, rng.integers(3, 60, n - 1)]
    domain = np.repeat(np.arange(n), size)
    X = parts.normal(domain, 15, rng)
    X[:, 0] = rng.gamma(9.0, 7.0, len(domain)) / 20  # age
    log_days = 0.25 * X[:, 0] + 0.3 * X[:, 1] - 0.2 * X[:, 2] * (X[:, 0] > 3)
    log_days += 0.1 * rng.normal(size=n)[domain]
    y = np.exp(log_days + 0.35 * rng.normal(size=len(domain)))
    return _task(name, X, y, domain, parts.star(n - 1), [0], rng, "ward")


def _cheap_and_good_meters(name: str, rng: Rng) -> Task:
    """Only the noise differs: some meters are cheap; the law is the same, over a lattice."""
    weights, place = parts.grid(6, 7)
    n = len(weights)
    noise = np.exp(parts.field(place, rng)[:, 0])
    domain = parts.rows(n, (5, 100), rng)
    X = parts.normal(domain, 3, rng)
    signal = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1]
    y = signal + 0.4 * noise[domain] * rng.normal(size=len(domain))
    sources = parts.clustered(weights, rng.random(n), int(rng.integers(4, 20)))
    return _task(name, X, y, domain, weights, sources, rng, "meter")


def _game_latency(name: str, rng: Rng) -> Task:
    """Servers in separate cliques; a few delays are huge, and sites differ by little or much."""
    sizes = [12, 9, 7, 5, 3, 1]
    weights = parts.apart(*(np.ones((k, k)) - np.eye(k) for k in sizes))
    region = np.repeat(np.arange(len(sizes)), sizes)
    n = len(region)
    level = rng.uniform(0.0, 0.8) * rng.normal(size=len(sizes))[region]
    domain = parts.rows(n, (20, 140), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] = rng.pareto(3.0, len(domain))  # load
    signal = level[domain] + 0.5 * np.minimum(X[:, 0], 2) + 0.4 * X[:, 1] * (X[:, 2] > 0)
    y = signal + 0.3 * rng.standard_t(2.1, size=len(domain))
    sources = parts.scattered(n, int(rng.integers(6, 15)), rng)
    return _task(name, X, y, domain, weights, sources, rng, "server")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "county-outbreak": ("outbreak/one cluster of places", _county_outbreak),
    "leaky-pipeline": ("drops/chain", _leaky_pipeline),
    "seed-masses": ("inheritance/phylogeny", _seed_masses),
    "nitrate-streams": ("mixing/leaves of a tree", _nitrate_streams),
    "trading-countries": ("levels of blocs/dense, weighted", _trading_countries),
    "reef-heat": ("trend/one end of weighted places", _reef_heat),
    "vineyard-plots": ("product of inputs/grid", _vineyard_plots),
    "orbit-drag": ("turning slopes/arc of a ring", _orbit_drag),
    "dose-response": ("sigmoid/hubs", _dose_response),
    "left-and-right-handed": ("opposite slopes/communities", _left_and_right_handed),
    "cheese-makers": ("three outputs/three parts", _cheese_makers),
    "bike-hours": ("counts/hours by districts", _bike_hours),
    "warm-grids": ("square, inputs move/one end of a small world", _warm_grids),
    "drifting-probes": ("gain and offset/one end of a chain", _drifting_probes),
    "rents-after-one-year": ("inputs drift/one source, chain", _rents_after_one_year),
    "lone-clinics": ("level by mean/mostly no edges", _lone_clinics),
    "reading-by-language": ("wide/weighted communities", _reading_by_language),
    "shop-turnover": ("skewed/shops of a hierarchy", _shop_turnover),
    "rival-neighbours": ("unlike neighbours/two sides", _rival_neighbours),
    "bus-lines": ("misleading/lines", _bus_lines),
    "exam-districts": ("no shift/meaningless weights", _exam_districts),
    "ward-stays": ("no shift/one source, star", _ward_stays),
    "cheap-and-good-meters": ("uneven noise, no shift/grid", _cheap_and_good_meters),
    "game-latency": ("heavy tails/cliques", _game_latency),
}
