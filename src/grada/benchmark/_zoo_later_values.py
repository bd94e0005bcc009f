"""Still more regression tasks to tune on: once an unseen part. All have noise."""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


# The level changes.


def _mountain_stations(name: str, rng: Rng) -> Task:
    """Colder the higher a station lies, which is a column, and by the region besides."""
    weights, place = parts.places(42, rng)
    domain = parts.rows(42, 35, rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] = rng.gamma(2, 0.5, 42)[domain]
    level = 0.5 * parts.field(place, rng)[domain, 0]
    y = parts.noisy(X @ [-1.0, 0.5, 0.3, 0.0] + level, 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(42, 16, rng), rng, "station")


def _river_gauges(name: str, rng: Rng) -> Task:
    """More water the more flows in from above; the width of the river tells some of it."""
    weights = parts.random_tree(34, rng)
    area = np.ones(34)
    for below, above in reversed(list(nx.bfs_edges(nx.from_numpy_array(weights), 0))):
        area[below] += area[above]
    domain = parts.rows(34, 40, rng)
    X = parts.normal(domain, 3, rng)
    X[:, 2] = 0.5 * (X[:, 2] + np.log(area)[domain])
    y = parts.noisy(0.7 * np.log(area)[domain] + X @ [0.6, -0.3, 0.0], 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(34, 12, rng), rng, "gauge")


def _schools(name: str, rng: Rng) -> Task:
    """Districts differ, and so do the schools in them."""
    weights, group = parts.communities(6, 10, rng)
    domain = parts.rows(60, (10, 40), rng)
    X = parts.normal(domain, 5, rng)
    level = 0.6 * rng.normal(size=6)[group] + 0.4 * rng.normal(size=60)
    y = parts.noisy(X @ [0.7, 0.4, 0.2, 0.0, 0.0] + level[domain], 2, rng)
    return _task(name, X, y, domain, weights, parts.scattered(60, 30, rng), rng, "school")


def _kindred_species(name: str, rng: Rng) -> Task:
    """Metabolism by mass: species of a genus are alike, and those of a family a little."""
    genus, family = np.arange(48) // 4, np.arange(48) // 12
    weights = 0.7 * (genus[:, None] == genus) + 0.3 * (family[:, None] == family) - np.eye(48)
    domain = parts.rows(48, (3, 30), rng)
    X = parts.normal(domain, 3, rng)
    X[:, 0] += 1.5 * rng.normal(size=12)[genus[domain]]
    level = 0.5 * rng.normal(size=4)[family] + 0.4 * rng.normal(size=12)[genus]
    y = parts.noisy(X @ [0.75, 0.2, 0.0] + level[domain], 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(48, 20, rng), rng, "species")


def _rich_and_poor_quarters(name: str, rng: Rng) -> Task:
    """Sales follow the customer's income, and bend with the mean income of the quarter."""
    domain = parts.rows(36, 45, rng)
    mean = rng.normal(size=36)
    X = parts.normal(domain, 3, rng)
    X[:, 0] += 1.2 * mean[domain]
    y = parts.noisy(X @ [0.6, 0.4, 0.0] + 0.5 * mean[domain] ** 2, 4, rng)
    weights = parts.random_graph(36, rng)
    return _task(name, X, y, domain, weights, parts.scattered(36, 18, rng), rng, "quarter")


def _rising_prices(name: str, rng: Rng) -> Task:
    """Prices that grow by the same part each year; the first half of the years is known."""
    domain = parts.rows(16, 60, rng)
    X = parts.normal(domain, 4, rng)
    log_price = rng.uniform(0.02, 0.07) * domain + X @ [0.3, 0.2, -0.1, 0.0]
    y = np.exp(log_price + 0.12 * rng.normal(size=len(domain)))
    return _task(name, X, y, domain, parts.chain(16), range(8), rng, "year")


def _new_law(name: str, rng: Rng) -> Task:
    """From one year on the level and a slope are other ones."""
    domain = parts.rows(20, 50, rng)
    after = domain >= rng.integers(7, 14)
    X = parts.normal(domain, 4, rng)
    y = parts.noisy(X @ [0.8, 0.5, 0.3, 0.0] + after * (1.0 - 0.6 * X[:, 0]), 4, rng)
    return _task(name, X, y, domain, parts.chain(20), range(0, 20, 3), rng, "year")


def _tides(name: str, rng: Rng) -> Task:
    """Two waves around the day, one twice as fast; every second hour is known."""
    domain = parts.rows(24, 35, rng)
    angle = 2 * np.pi * domain / 24
    X = parts.normal(domain, 3, rng)
    first, second = rng.uniform(0, 2 * np.pi, 2)
    tide = 0.6 * np.sin(angle + first) + np.sin(2 * angle + second)
    y = parts.noisy(tide + X @ [0.5, -0.3, 0.0], 4, rng)
    return _task(name, X, y, domain, parts.ring(24), range(0, 24, 2), rng, "hour")


def _three_coasts(name: str, rng: Rng) -> Task:
    """Parts that are not joined, with a level each."""
    weights = parts.apart(parts.chain(8), parts.ring(7), parts.star(5))
    domain = parts.rows(21, (20, 90), rng)
    X = parts.normal(domain, 4, rng)
    level = np.repeat(rng.normal(size=3), (8, 7, 6)) + 0.2 * rng.normal(size=21)
    y = parts.noisy(X @ [0.7, -0.5, 0.3, 0.0] + level[domain], 3, rng)
    return _task(name, X, y, domain, weights, [1, 6, 9, 12, 16, 18], rng, "harbour")


def _no_roads(name: str, rng: Rng) -> Task:
    """No edges; each valley has inputs and a level of its own."""
    domain = parts.rows(24, 40, rng)
    X = parts.normal(domain, 5, rng) + 0.5 * rng.normal(size=(24, 5))[domain]
    level = 0.4 * rng.normal(size=24)[domain]
    y = parts.noisy(X @ [0.8, 0.6, 0.4, 0.0, 0.0] + level, 4, rng)
    sources = parts.scattered(24, 10, rng)
    return _task(name, X, y, domain, np.zeros((24, 24)), sources, rng, "valley")


def _few_hospitals(name: str, rng: Rng) -> Task:
    """Few large domains, all joined, with levels of their own and skewed noise."""
    domain = parts.rows(5, (300, 550), rng)
    X = parts.normal(domain, 8, rng) + 0.3 * rng.normal(size=(5, 8))[domain]
    level = 0.4 * rng.normal(size=5)[domain]
    y = X @ rng.normal(size=8) / 2 + level + rng.gamma(1.5, 0.8, len(domain))
    return _task(name, X, y, domain, np.ones((5, 5)) - np.eye(5), [0, 1], rng, "hospital")


def _soil_texture(name: str, rng: Rng) -> Task:
    """Parts of sand, silt and clay, by the inputs and by the place."""
    place = rng.random((40, 2))
    domain = parts.rows(40, (8, 40), rng)
    X = parts.normal(domain, 6, rng)
    score = X @ rng.normal(size=(6, 3)) / 3 + 0.7 * parts.field(place, rng, 3)[domain]
    y = np.exp(parts.noisy(score, 3, rng))
    y /= y.sum(axis=1, keepdims=True)
    weights = parts.near(place, 0.2)
    return _task(name, X, y, domain, weights, parts.scattered(40, 15, rng), rng, "plot")


def _lost_contact(name: str, rng: Rng) -> Task:
    """A level that wanders, and one domain with labels: nothing tells of the others."""
    domain = parts.rows(14, 70, rng)
    X = parts.normal(domain, 5, rng)
    level = np.cumsum(0.25 * rng.normal(size=14))
    y = parts.noisy(X @ rng.normal(size=5) + level[domain], 4, rng)
    return _task(name, X, y, domain, parts.chain(14), [0], rng, "port")


# The slopes or the inputs change.


def _road_segments(name: str, rng: Rng) -> Task:
    """Speed falls with traffic, by a capacity that is alike along roads; some are closed."""
    weights, _ = parts.grid(6, 6)
    is_open = np.triu(rng.random((36, 36)) < 0.8)
    weights *= is_open | is_open.T
    domain = parts.rows(36, 50, rng)
    load = rng.gamma(4, 0.25, len(domain))
    X = parts.normal(domain, 3, rng)
    X[:, 0] = load * np.exp(0.35 * parts.diffused(weights, rng))[domain, 0]
    y = parts.noisy(2 / (1 + load**3) - 0.2 * X[:, 1], 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(36, 14, rng), rng, "segment")


def _sloping_land(name: str, rng: Rng) -> Task:
    """Yield and what manure does to it change over the land; one side of it is known."""
    weights, place = parts.grid(8, 6)
    domain = parts.rows(48, 30, rng)
    X = parts.normal(domain, 4, rng)
    level = 2 * place @ parts.direction(np.array(rng.uniform(0, np.pi / 2)))
    y = level[domain] + (1 - 0.6 * place[domain, 0]) * X[:, 0] + 0.4 * X[:, 1]
    sources = parts.clustered(weights, place[:, 0], 18)
    return _task(name, X, parts.noisy(y, 4, rng), domain, weights, sources, rng, "plot")


def _worn_tools(name: str, rng: Rng) -> Task:
    """The more a tool is worn, the less force does; new tools are known."""
    domain = parts.rows(18, 60, rng)
    X = parts.normal(domain, 3, rng)
    X[:, 0] += 1
    slope = np.linspace(1.5, rng.uniform(0.2, 0.9), 18)[domain]
    y = parts.noisy(slope * X[:, 0] + 0.5 * X[:, 1], 4, rng)
    return _task(name, X, y, domain, parts.chain(18), range(7), rng, "tool")


def _power_line(name: str, rng: Rng) -> Task:
    """Heat by the square of the current, less with wind; the current grows along the line."""
    domain = parts.rows(18, 60, rng)
    X = parts.normal(domain, 3, rng)
    X[:, 0] = np.linspace(0.6, 1.4, 18)[domain] * rng.gamma(8, 0.125, len(domain))
    X[:, 1] = rng.random(len(domain))
    y = parts.noisy((1.2 - 0.6 * X[:, 1]) * X[:, 0] ** 2 + 0.3 * X[:, 2], 4, rng)
    return _task(name, X, y, domain, parts.chain(18), range(6), rng, "mast")


def _drifting_zero(name: str, rng: Rng) -> Task:
    """The zero of one of four sensors drifts as the days go by."""
    domain = parts.rows(20, 55, rng)
    X = parts.normal(domain, 4, rng)
    y = parts.noisy(X @ [0.8, 0.6, -0.4, 0.0], 4, rng)
    X[:, 0] += np.linspace(0, rng.uniform(-2.5, 2.5), 20)[domain]
    return _task(name, X, y, domain, parts.chain(20), range(5), rng, "day")


def _idle_columns(name: str, rng: Rng) -> Task:
    """Columns that tell nothing of the response follow the map; the others stay."""
    weights, place = parts.places(38, rng)
    domain = parts.rows(38, 40, rng)
    X = parts.normal(domain, 8, rng)
    X[:, 3:] += 2 * parts.field(place, rng, 5)[domain]
    y = parts.noisy(X[:, 0] + 0.6 * X[:, 1] - 0.4 * X[:, 2] ** 2, 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(38, 12, rng), rng, "town")


def _two_kinds_of_patient(name: str, rng: Rng) -> Task:
    """Each kind has its own line, and each group of wards its own mix of kinds."""
    weights, group = parts.communities(4, 7, rng)
    domain = parts.rows(28, (25, 90), rng)
    share = rng.permutation([0.1, 0.35, 0.65, 0.9])[group]
    kind = parts.labels(domain, 2, rng, np.column_stack([1 - share, share]))
    X = parts.normal(domain, 5, rng) + kind[:, None] * [2.0, 1.0, 0.0, 0.0, 0.0]
    y = parts.noisy(np.where(kind, X[:, 2] + 1.0, 0.5 * X[:, 3] - X[:, 2]), 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(28, 8, rng), rng, "ward")


# Nothing changes.


def _level_ground(name: str, rng: Rng) -> Task:
    """A line, much noise, and two small domains with labels."""
    weights, _ = parts.grid(4, 6)
    domain = parts.rows(24, 25, rng)
    X = parts.normal(domain, 6, rng)
    y = parts.noisy(X @ rng.normal(size=6), 1.5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(24, 2, rng), rng, "bed")


def _spectra(name: str, rng: Rng) -> Task:
    """A hundred columns that move together, and fewer rows with labels."""
    weights, _ = parts.places(20, rng)
    domain = parts.rows(20, (5, 25), rng)
    cause = parts.normal(domain, 6, rng)
    X = cause @ rng.normal(size=(6, 100)) + parts.normal(domain, 100, rng)
    y = parts.noisy(cause @ rng.normal(size=6), 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(20, 4, rng), rng, "orchard")


def _claims(name: str, rng: Rng) -> Task:
    """Damages: most are small and a few are large."""
    domain = parts.rows(22, (20, 120), rng)
    X = parts.normal(domain, 4, rng)
    y = np.exp(X @ [0.4, 0.3, 0.0, 0.0] + 0.6 * rng.normal(size=len(domain)))
    return _task(name, X, y, domain, parts.chain(22), parts.scattered(22, 7, rng), rng, "quarter")


def _households(name: str, rng: Rng) -> Task:
    """From one row to twelve rows a household, steps by two inputs, and edges that mean nothing."""
    domain = parts.rows(76, (1, 12), rng)
    X = parts.normal(domain, 4, rng)
    y = parts.noisy(np.where(X[:, 0] > 0.3, 1.0 + (X[:, 1] > 0), 0.3 * X[:, 2]), 2.5, rng)
    weights = parts.random_graph(76, rng)
    return _task(name, X, y, domain, weights, parts.scattered(76, 40, rng), rng, "household")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "mountain-stations": ("levels by height/places", _mountain_stations),
    "river-gauges": ("inflow/tree", _river_gauges),
    "schools": ("levels within levels/communities", _schools),
    "kindred-species": ("kinship/nested groups", _kindred_species),
    "rich-and-poor-quarters": ("level by mean/random graph", _rich_and_poor_quarters),
    "rising-prices": ("growth/chain", _rising_prices),
    "new-law": ("break/chain", _new_law),
    "tides": ("two waves/ring", _tides),
    "three-coasts": ("levels/three parts", _three_coasts),
    "no-roads": ("own levels/no edges", _no_roads),
    "few-hospitals": ("own levels/few large domains", _few_hospitals),
    "soil-texture": ("parts of a whole/weighted places", _soil_texture),
    "lost-contact": ("wandering level/one source, chain", _lost_contact),
    "road-segments": ("capacity/broken grid", _road_segments),
    "sloping-land": ("level and slope/one side of a grid", _sloping_land),
    "worn-tools": ("falling slope/one end of a chain", _worn_tools),
    "power-line": ("square, inputs move/chain", _power_line),
    "drifting-zero": ("one column drifts/chain, regression", _drifting_zero),
    "idle-columns": ("idle columns move/places", _idle_columns),
    "two-kinds-of-patient": ("mix of kinds/communities", _two_kinds_of_patient),
    "level-ground": ("line, no shift/grid", _level_ground),
    "spectra": ("wide, no shift/places, regression", _spectra),
    "claims": ("skewed, no shift/chain", _claims),
    "households": ("tiny domains, no shift/random graph", _households),
}
