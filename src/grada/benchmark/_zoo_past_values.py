"""Regression tasks that were unseen for long and have been looked at since. All have noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


# The inputs are turned, moved or scaled; the response is to what they were before.


def _wind_vanes(name: str, rng: Rng) -> Task:
    """Vanes that are turned by an angle that follows the map; two outputs."""
    weights, place = parts.places(40, rng)
    domain = parts.rows(40, 40, rng)
    inner = parts.normal(domain, 4, rng)
    inner[:, 0] += 2
    y = parts.noisy(inner @ rng.normal(size=(4, 2)), 4, rng)
    X = parts.turn(inner, 0.5 * parts.field(place, rng)[domain, 0])
    return _task(name, X, y, domain, weights, parts.scattered(40, 14, rng), rng, "mast")


def _turning_antenna(name: str, rng: Rng) -> Task:
    """A long cloud turns along the chain, seen from any side; the first days are known."""
    domain = parts.rows(20, 60, rng)
    inner = parts.normal(domain, 5, rng) * [1.4, 0.6, 1.0, 1.0, 1.0]
    y = parts.noisy(inner[:, 0] + 0.5 * inner[:, 1] ** 2 + 0.4 * inner[:, 2], 4, rng)
    angle = np.linspace(0, rng.uniform(0.8, 1.6), 20)[domain]
    X = parts.askew(parts.turn(inner, angle), rng)
    return _task(name, X, y, domain, parts.chain(20), range(4), rng, "day")


def _copied_gauges(name: str, rng: Rng) -> Task:
    """Each gauge was set by another one, and its zeros are a little further off."""
    weights = parts.random_tree(30, rng)
    domain = parts.rows(30, 45, rng)
    inner = parts.normal(domain, 4, rng)
    y = parts.noisy(inner @ [0.9, 0.6, -0.4, 0.0], 4, rng)
    X = inner + parts.inherited(weights, 0.5, rng, 4)[domain]
    sources = parts.clustered(weights, np.arange(30.0), 10)
    return _task(name, X, y, domain, weights, sources, rng, "gauge")


def _currencies(name: str, rng: Rng) -> Task:
    """Amounts of money, in the currency of each group of countries."""
    weights, group = parts.communities(5, 6, rng)
    domain = parts.rows(30, (25, 80), rng)
    amount = np.exp(0.6 * parts.normal(domain, 3, rng))
    y = parts.noisy(np.log(amount) @ [0.8, 0.5, -0.3], 4, rng)
    X = amount * np.exp(0.6 * rng.normal(size=5))[group[domain], None]
    return _task(name, X, y, domain, weights, parts.scattered(30, 9, rng), rng, "country")


def _daylight(name: str, rng: Rng) -> Task:
    """Readings that the light moves around a circle; one quarter of the year is known."""
    domain = parts.rows(24, 50, rng)
    X = parts.normal(domain, 4, rng)
    y = parts.noisy(X @ [0.7, -0.7, 0.4, 0.0] + 0.3 * X[:, 0] ** 2, 4, rng)
    angle = 2 * np.pi * domain / 24 + rng.uniform(0, 2 * np.pi)
    X[:, :2] += 1.2 * parts.direction(angle)
    return _task(name, X, y, domain, parts.ring(24), range(6), rng, "fortnight")


def _two_reference_labs(name: str, rng: Rng) -> Task:
    """Readings that shrink with the years, which are uneven; the first and last are known."""
    time = np.sort(rng.random(16))
    domain = parts.rows(16, 60, rng)
    inner = 1.5 + parts.normal(domain, 3, rng)
    y = parts.noisy(inner @ [0.8, -0.5, 0.3], 5, rng)
    X = inner * (1.5 - rng.uniform(0.5, 1.0) * time)[domain, None]
    return _task(name, X, y, domain, parts.near(time[:, None], 0.2), [0, 15], rng, "survey")


# The level changes.


def _weekly_sales(name: str, rng: Rng) -> Task:
    """A random walk, and from one row to eighty rows a week; most weeks are known."""
    domain = parts.rows(40, (1, 80), rng)
    X = parts.normal(domain, 4, rng)
    level = np.cumsum(0.3 * rng.normal(size=40))
    y = parts.noisy(X @ [0.7, 0.5, -0.3, 0.0] + level[domain], 3, rng)
    return _task(name, X, y, domain, parts.chain(40), parts.scattered(40, 24, rng), rng, "week")


def _air_quality(name: str, rng: Rng) -> Task:
    """Three outputs, each with a smooth level of its own."""
    weights, place = parts.grid(7, 8)
    domain = parts.rows(56, 30, rng)
    X = parts.normal(domain, 4, rng)
    level = 0.7 * parts.field(place, rng, 3, width=0.4)[domain]
    y = parts.noisy(X @ rng.normal(size=(4, 3)) / 2 + level, 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(56, 20, rng), rng, "square")


def _commuter_towns(name: str, rng: Rng) -> Task:
    """Strong ties within a region and weak ones between; inputs and levels are regional."""
    group = np.repeat(np.arange(6), 7)
    tie = np.triu(rng.random((42, 42)) < 0.2)
    weights = np.where(group[:, None] == group, 1.0, 0.1 * (tie | tie.T)) - np.eye(42)
    domain = parts.rows(42, (15, 60), rng)
    X = parts.normal(domain, 5, rng) + 0.4 * rng.normal(size=(6, 5))[group[domain]]
    level = 0.8 * rng.normal(size=6)[group] + 0.15 * rng.normal(size=42)
    y = parts.noisy(X @ [0.6, 0.4, -0.4, 0.2, 0.0] + level[domain], 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(42, 21, rng), rng, "town")


def _strict_examiners(name: str, rng: Rng) -> Task:
    """Each examiner has a level of their own, and the edges mean nothing; few are known."""
    domain = parts.rows(32, 45, rng)
    X = parts.normal(domain, 4, rng)
    level = 0.6 * rng.normal(size=32)[domain]
    y = parts.noisy(X @ [0.8, 0.5, 0.3, 0.0] + level, 2, rng)
    weights = parts.random_graph(32, rng)
    return _task(name, X, y, domain, weights, parts.scattered(32, 6, rng), rng, "examiner")


def _warming_lakes(name: str, rng: Rng) -> Task:
    """The years are warmer and warmer, which a column tells a part of; later ones are hidden."""
    domain = parts.rows(25, 40, rng)
    time = domain / 24
    X = parts.normal(domain, 3, rng)
    X[:, 0] += 1.5 * time
    y = parts.noisy(X @ [0.8, 0.4, 0.0] + rng.uniform(0.5, 1.5) * time, 3, rng)
    return _task(name, X, y, domain, parts.chain(25), range(15), rng, "year")


# The slopes change.


def _breeding_lines(name: str, rng: Rng) -> Task:
    """A level and a slope that are handed down with small steps."""
    weights, depth = parts.hierarchy(3, 3, 4)
    domain = parts.rows(len(depth), (8, 40), rng)
    level, slope = parts.inherited(weights, 0.35, rng, 2)[domain].T
    X = parts.normal(domain, 3, rng)
    y = parts.noisy(level + (1 + slope) * X[:, 0] + 0.4 * X[:, 1], 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(len(depth), 20, rng), rng, "line")


def _elasticities(name: str, rng: Rng) -> Task:
    """All slopes follow a map, of which the weights tell how near places are."""
    place = rng.random((55, 2))
    domain = parts.rows(55, (15, 60), rng)
    X = parts.normal(domain, 4, rng)
    slopes = np.array([1.0, -0.6, 0.3, 0.0]) + 0.35 * parts.field(place, rng, 4)
    y = parts.noisy((X * slopes[domain]).sum(axis=1), 4, rng)
    weights = parts.near(place, 0.18)
    return _task(name, X, y, domain, weights, parts.scattered(55, 18, rng), rng, "market")


def _harvest_weeks(name: str, rng: Rng) -> Task:
    """A level and a slope that go around with the year."""
    domain = parts.rows(36, 25, rng)
    angle = 2 * np.pi * domain / 36 + rng.uniform(0, 2 * np.pi)
    X = parts.normal(domain, 4, rng)
    y = (1 + 0.5 * np.cos(angle)) * X[:, 0] + 0.4 * X[:, 1] + 0.8 * np.sin(angle)
    y = parts.noisy(y, 4, rng)
    return _task(name, X, y, domain, parts.ring(36), parts.scattered(36, 10, rng), rng, "week")


def _house_formulas(name: str, rng: Rng) -> Task:
    """Each firm has a formula for all of its branches; two branches of each are known."""
    weights, group = parts.communities(5, 8, rng)
    domain = parts.rows(40, (20, 60), rng)
    X = parts.normal(domain, 5, rng)
    slopes = np.array([1.0, 0.6, 0.3, 0.0, 0.0]) + 0.5 * rng.normal(size=(5, 5))
    y = parts.noisy((X * slopes[group[domain]]).sum(axis=1), 4, rng)
    return _task(name, X, y, domain, weights, range(0, 40, 4), rng, "branch")


def _pilot_plant(name: str, rng: Rng) -> Task:
    """Slopes that differ a little from plant to plant, and one plant with labels."""
    weights = parts.small_world(18, rng)
    domain = parts.rows(18, 80, rng)
    X = parts.normal(domain, 5, rng)
    slopes = rng.normal(size=5) + 0.25 * parts.diffused(weights, rng, 5)
    y = parts.noisy((X * slopes[domain]).sum(axis=1), 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(18, 1, rng), rng, "plant")


# The response is curved and the same everywhere, but the inputs move.


def _growth_curve(name: str, rng: Rng) -> Task:
    """Growth that levels off; only young stands are known."""
    domain = parts.rows(18, 60, rng)
    X = parts.normal(domain, 3, rng)
    X[:, 0] = np.linspace(0.3, rng.uniform(2.0, 3.0), 18)[domain] * rng.gamma(6, 1 / 6, len(domain))
    y = parts.noisy(2 - 2 * np.exp(-X[:, 0]) + 0.3 * X[:, 1], 4, rng)
    return _task(name, X, y, domain, parts.chain(18), range(8), rng, "stand")


def _thermal_optimum(name: str, rng: Rng) -> Task:
    """Best at one temperature, which is not as warm everywhere."""
    weights, place = parts.places(45, rng)
    domain = parts.rows(45, (20, 70), rng)
    X = parts.normal(domain, 3, rng)
    X[:, 0] += parts.field(place, rng)[domain, 0]
    best = rng.uniform(-0.5, 0.5)
    y = parts.noisy(0.5 * X[:, 1] - 0.5 * (X[:, 0] - best) ** 2, 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(45, 20, rng), rng, "pond")


def _rain_and_manure(name: str, rng: Rng) -> Task:
    """One helps by the other; both are less in the corner that is known."""
    weights, place = parts.grid(6, 6)
    domain = parts.rows(36, 40, rng)
    X = parts.normal(domain, 4, rng)
    X[:, :2] += rng.uniform(1.0, 2.0, 2) * place[domain]
    y = parts.noisy(0.6 * X[:, 0] * X[:, 1] + 0.5 * X[:, 0] + 0.4 * X[:, 2], 4, rng)
    sources = parts.clustered(weights, place.sum(axis=1), 10)
    return _task(name, X, y, domain, weights, sources, rng, "field")


def _forked_streams(name: str, rng: Rng) -> Task:
    """No effect up to a threshold and a line from there on; streams have inputs handed down."""
    weights = parts.binary_tree(4)
    domain = parts.rows(31, 45, rng)
    X = parts.normal(domain, 4, rng)
    X[:, :2] += parts.inherited(weights, 0.4, rng, 2)[domain]
    threshold = rng.uniform(-0.3, 0.5)
    y = 1.2 * np.maximum(X[:, 0] - threshold, 0) - 0.4 * X[:, 1] + 0.2 * X[:, 2]
    y = parts.noisy(y, 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(31, 12, rng), rng, "stream")


# The response stays; of the inputs, too, at most the means differ.


def _large_refineries(name: str, rng: Rng) -> Task:
    """Few and large domains, two of them with labels, and a curved response."""
    domain = parts.rows(8, (300, 650), rng)
    X = parts.normal(domain, 5, rng)
    y = np.sin(rng.uniform(1, 2) * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.4 * X[:, 3]
    y = parts.noisy(y, 3, rng)
    return _task(name, X, y, domain, parts.ring(8), parts.scattered(8, 2, rng), rng, "refinery")


def _assay_batches(name: str, rng: Rng) -> Task:
    """More columns than rows, and means by the batch; the edges mean nothing."""
    domain = parts.rows(14, (6, 24), rng)
    cause = parts.normal(domain, 5, rng)
    X = cause @ rng.normal(size=(5, 350)) + parts.normal(domain, 350, rng)
    X += 0.6 * rng.normal(size=(14, 350))[domain]
    y = parts.noisy(cause @ rng.normal(size=5), 3, rng)
    weights = parts.random_graph(14, rng)
    return _task(name, X, y, domain, weights, parts.scattered(14, 5, rng), rng, "batch")


def _house_prices(name: str, rng: Rng) -> Task:
    """Prices with errors that grow with them, and no difference between places."""
    place = rng.random((50, 2))
    domain = parts.rows(50, (10, 60), rng)
    X = parts.normal(domain, 5, rng)
    y = np.exp(parts.noisy(X @ [0.4, 0.3, -0.2, 0.1, 0.0], 2, rng))
    weights = parts.near(place, 0.2)
    return _task(name, X, y, domain, weights, parts.scattered(50, 15, rng), rng, "parish")


def _small_practices(name: str, rng: Rng) -> Task:
    """A line with some wild responses, from one row to fourteen rows each, and idle edges."""
    domain = parts.rows(70, (1, 14), rng)
    X = parts.normal(domain, 5, rng)
    y = parts.noisy(X @ rng.normal(size=5) / 2, 4, rng)
    y += 0.25 * rng.standard_t(3, len(y))
    weights = parts.random_graph(70, rng)
    return _task(name, X, y, domain, weights, parts.scattered(70, 35, rng), rng, "practice")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "wind-vanes": ("turned inputs, two outputs/places", _wind_vanes),
    "turning-antenna": ("turned inputs/one end of a chain", _turning_antenna),
    "copied-gauges": ("moved inputs/tree from the root", _copied_gauges),
    "currencies": ("scaled inputs/communities", _currencies),
    "daylight": ("moved inputs/arc of a ring", _daylight),
    "two-reference-labs": ("shrinking inputs/both ends, weighted chain", _two_reference_labs),
    "weekly-sales": ("random walk/chain, uneven sizes", _weekly_sales),
    "air-quality": ("three levels/grid", _air_quality),
    "commuter-towns": ("levels and inputs/weighted communities", _commuter_towns),
    "strict-examiners": ("own levels/random graph", _strict_examiners),
    "warming-lakes": ("rising level and inputs/chain", _warming_lakes),
    "breeding-lines": ("level and slope/hierarchy", _breeding_lines),
    "elasticities": ("coefficients/weighted places", _elasticities),
    "harvest-weeks": ("level and slope/ring", _harvest_weeks),
    "house-formulas": ("own coefficients/communities", _house_formulas),
    "pilot-plant": ("coefficients/one source, small world", _pilot_plant),
    "growth-curve": ("saturation, inputs move/chain", _growth_curve),
    "thermal-optimum": ("optimum, inputs move/places", _thermal_optimum),
    "rain-and-manure": ("product, inputs move/corner of a grid", _rain_and_manure),
    "forked-streams": ("threshold, inputs move/binary tree", _forked_streams),
    "large-refineries": ("curved, no shift/ring of large domains", _large_refineries),
    "assay-batches": ("wide, own means/random graph", _assay_batches),
    "house-prices": ("multiplicative noise, no shift/weighted places", _house_prices),
    "small-practices": ("heavy tails, no shift/random graph", _small_practices),
}
