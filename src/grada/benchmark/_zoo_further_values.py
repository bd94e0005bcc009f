"""Still more regression tasks to tune on: most were the third unseen part. All have noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


# The shape of the response moves.


def _saturating_dose(name: str, rng: Rng) -> Task:
    """A sigmoid of the one input whose midpoint climbs along the chain."""
    domain = parts.rows(16, 70, rng)
    X = rng.uniform(-3, 3, size=(len(domain), 1))
    middle = np.linspace(-1.2, 1.2, 16)[domain]
    y = parts.noisy(1 / (1 + np.exp(-2.5 * (X[:, 0] - middle))), 6, rng)
    return _task(name, X, y, domain, parts.chain(16), [0, 3, 7, 12, 15], rng, "age group")


def _moving_kink(name: str, rng: Rng) -> Task:
    """Heating below a temperature that follows the map, and cooling above it."""
    place = rng.random((36, 2))
    domain = parts.rows(36, (20, 70), rng)
    X = parts.normal(domain, 2, rng)
    comfort = 0.5 * parts.field(place, rng)[domain, 0]
    y = parts.noisy(np.abs(X[:, 0] - comfort) + 0.4 * X[:, 1], 5, rng)
    weights = parts.near(place, 0.2)
    return _task(name, X, y, domain, weights, parts.scattered(36, 14, rng), rng, "district")


def _wave_height(name: str, rng: Rng) -> Task:
    """A wave over the day that is higher the further up the grid."""
    weights, place = parts.grid(7, 5)
    domain = parts.rows(35, 45, rng)
    X = parts.normal(domain, 2, rng)
    X[:, 0] = rng.uniform(0, 2 * np.pi, len(domain))
    height = (0.4 + 1.4 * place[:, 0])[domain]
    y = parts.noisy(height * np.sin(X[:, 0]) + 0.5 * X[:, 1], 5, rng)
    sources = parts.clustered(weights, place[:, 1] + 0.1 * place[:, 0], 14)
    return _task(name, X, y, domain, weights, sources, rng, "buoy")


def _interaction_hubs(name: str, rng: Rng) -> Task:
    """A product of two inputs that counts more at some domains."""
    weights = parts.hubs(30, rng)
    domain = parts.rows(30, 60, rng)
    X = parts.normal(domain, 4, rng)
    amount = 1 + 0.5 * parts.diffused(weights, rng)[domain, 0]
    y = parts.noisy(amount * X[:, 0] * X[:, 1] + 0.8 * X[:, 2], 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(30, 20, rng), rng, "airport")


def _seasonal_slope(name: str, rng: Rng) -> Task:
    """Years by months: the slope goes with the month, and later years have no labels."""
    weights = parts.product(parts.chain(5), parts.ring(12))
    domain = parts.rows(60, 30, rng)
    year, month = np.divmod(domain, 12)
    X = parts.normal(domain, 3, rng)
    slope = 1 + 0.8 * np.cos(2 * np.pi * month / 12)
    y = parts.noisy(slope * X[:, 0] - 0.5 * X[:, 1] + 0.15 * year, 4, rng)
    return _task(name, X, y, domain, weights, range(24), rng, "year and month")


def _alternating_slopes(name: str, rng: Rng) -> Task:
    """Neighbours are unlike: odd domains have another slope than even ones."""
    domain = parts.rows(28, 45, rng)
    X = parts.normal(domain, 3, rng)
    slope = np.where(domain % 2 == 0, 1.0, 0.2)
    y = parts.noisy(slope * X[:, 0] + 0.7 * X[:, 1], 4, rng)
    return _task(name, X, y, domain, parts.chain(28), parts.scattered(28, 11, rng), rng, "shift")


def _hidden_order(name: str, rng: Rng) -> Task:
    """The level and slope follow a hidden order; the chain is in another one."""
    domain = parts.rows(24, 50, rng)
    hidden = rng.permutation(np.linspace(-1, 1, 24))[domain]
    X = parts.normal(domain, 4, rng)
    X[:, 1] += 2 * hidden
    y = parts.noisy((1 + 0.5 * hidden) * X[:, 0] + hidden + 0.3 * X[:, 2], 5, rng)
    return _task(name, X, y, domain, parts.chain(24), parts.scattered(24, 9, rng), rng, "sample")


# The level moves.


def _calendar_levels(name: str, rng: Rng) -> Task:
    """Regions by years: a trend and a level of each region, and any half of them measured."""
    weights = parts.product(parts.chain(8), parts.chain(6))
    year, region = np.divmod(np.arange(48), 6)
    domain = parts.rows(48, 25, rng)
    X = parts.normal(domain, 5, rng)
    level = 0.25 * year + rng.normal(size=6)[region]
    y = parts.noisy(X @ [0.7, 0.5, 0.3, 0.0, 0.0] + level[domain], 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(48, 24, rng), rng, "year and region")


def _price_levels(name: str, rng: Rng) -> Task:
    """Prices, never negative: country, region and town each multiply them."""
    weights, level = parts.hierarchy(5, 2, 3)
    domain = parts.rows(len(level), (15, 60), rng)
    X = parts.normal(domain, 4, rng)
    factor = parts.inherited(weights, 0.25, rng)[domain, 0]
    log_price = X @ [0.4, 0.2, -0.2, 0.0] + factor
    y = 3 * np.exp(log_price + 0.15 * rng.normal(size=len(domain)))
    return _task(name, X, y, domain, weights, parts.scattered(len(level), 20, rng), rng, "market")


def _decay_from_hub(name: str, rng: Rng) -> Task:
    """The level falls with the distance from a plant; only domains near it are measured."""
    weights, level = parts.hierarchy(3, 2, 2, 1)
    domain = parts.rows(len(level), 40, rng)
    X = parts.normal(domain, 3, rng)
    y = parts.noisy(X @ [0.6, -0.4, 0.2] + 2 * 0.6 ** level[domain], 4, rng)
    return _task(name, X, y, domain, weights, np.flatnonzero(level <= 2), rng, "post")


def _tiny_domains(name: str, rng: Rng) -> Task:
    """From one row to eight rows at each of eighty places with a smooth level."""
    place = rng.random((80, 2))
    domain = parts.rows(80, (1, 8), rng)
    X = parts.normal(domain, 2, rng)
    y = parts.noisy(X @ [0.8, 0.4] + 0.9 * parts.field(place, rng)[domain, 0], 4, rng)
    weights = parts.near(place, 0.15)
    return _task(name, X, y, domain, weights, parts.scattered(80, 50, rng), rng, "farm")


def _loud_ring(name: str, rng: Rng) -> Task:
    """Noise as large as all the rest, and a small wave around the ring."""
    domain = parts.rows(20, 100, rng)
    X = parts.normal(domain, 6, rng)
    wave = 0.5 * np.sin(2 * np.pi * domain / 20)
    y = parts.noisy(X @ rng.normal(size=6) / 2.5 + wave, 0.9, rng)
    return _task(name, X, y, domain, parts.ring(20), parts.scattered(20, 8, rng), rng, "hour")


def _partly_alone(name: str, rng: Rng) -> Task:
    """A smooth level and changing noise; six domains have no neighbours, two of them labels."""
    weights = parts.with_alone(parts.small_world(20, rng), 6)
    domain = parts.rows(26, (20, 90), rng)
    X = parts.normal(domain, 4, rng)
    y = X @ [0.9, 0.6, 0.0, 0.0] + 0.7 * parts.diffused(weights, rng)[domain, 0]
    y += np.exp(rng.uniform(-2.2, -0.4, 26))[domain] * rng.normal(size=len(y))
    return _task(name, X, y, domain, weights, [*range(0, 20, 3), 20, 21], rng, "island")


def _three_outputs(name: str, rng: Rng) -> Task:
    """Three outputs whose levels and gains are those of the community."""
    weights, group = parts.communities(6, 6, rng)
    domain = parts.rows(36, 40, rng)
    X = parts.normal(domain, 5, rng)
    own = rng.normal(size=(6, 3))[group[domain]]
    y = parts.noisy((X @ rng.normal(size=(5, 3))) * np.exp(0.3 * own) + own, 5, rng)
    return _task(name, X, y, domain, weights, range(0, 36, 3), rng, "clinic")


# The inputs move.


def _relative_standing(name: str, rng: Rng) -> Task:
    """What counts is where a row stands within its domain; the scales are the domain's own."""
    weights, _ = parts.communities(4, 5, rng)
    domain = parts.rows(20, (40, 120), rng)
    inner = parts.normal(domain, 5, rng)
    y = parts.noisy(inner[:, 0] + 0.5 * inner[:, 1] ** 2 - 0.6 * inner[:, 2], 4, rng)
    scale, zero = np.exp(0.5 * rng.normal(size=(20, 5))), 3 * rng.normal(size=(20, 5))
    X = (inner + zero[domain]) * scale[domain]
    return _task(name, X, y, domain, weights, parts.scattered(20, 6, rng), rng, "class")


def _bent_inputs(name: str, rng: Rng) -> Task:
    """Readings bend more and more with the age of the probe, but keep their order."""
    domain = parts.rows(22, 70, rng)
    inner = parts.normal(domain, 3, rng)
    y = parts.noisy(inner @ [1.0, -0.7, 0.4], 5, rng)
    bend = np.linspace(0.1, 1.0, 22)[domain, None]
    X = np.expm1(bend * inner) / bend
    return _task(name, X, y, domain, parts.chain(22), range(5), rng, "age")


def _far_inputs(name: str, rng: Rng) -> Task:
    """The same line everywhere, and inputs whose means lie far apart."""
    weights = parts.random_tree(18, rng)
    domain = parts.rows(18, (20, 80), rng)
    X = parts.normal(domain, 6, rng) + 2.5 * rng.normal(size=(18, 6))[domain]
    y = parts.noisy(X @ rng.normal(size=6), 8, rng)
    return _task(name, X, y, domain, weights, parts.scattered(18, 4, rng), rng, "plot")


def _lost_readings(name: str, rng: Rng) -> Task:
    """Ten readings of three causes; each domain lacks some and shows zeros for them."""
    weights = parts.hubs(32, rng)
    domain = parts.rows(32, 45, rng)
    cause = parts.normal(domain, 3, rng)
    X = 2 + cause @ rng.normal(size=(3, 10)) + 0.4 * parts.normal(domain, 10, rng)
    X[(rng.random((32, 10)) < 0.25)[domain]] = 0.0
    y = parts.noisy(cause @ [1.0, 0.6, -0.6], 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(32, 12, rng), rng, "node")


def _moving_loadings(name: str, rng: Rng) -> Task:
    """Twenty readings of three causes, by loadings that change along the chain; one source."""
    domain = parts.rows(12, 100, rng)
    cause = parts.normal(domain, 3, rng) * [1.5, 1.0, 0.6]
    first, last = rng.normal(size=(2, 3, 20))
    part = domain[:, None] / 11
    X = (1 - part) * (cause @ first) + part * (cause @ last) + 0.3 * parts.normal(domain, 20, rng)
    y = parts.noisy(cause @ [0.7, 0.7, 0.7], 6, rng)
    return _task(name, X, y, domain, parts.chain(12), [0], rng, "decade")


def _regimes(name: str, rng: Rng) -> Task:
    """Steps by two inputs; few large domains show different parts of them."""
    weights = parts.two(parts.chain(3))
    domain = parts.rows(6, (300, 600), rng)
    X = parts.normal(domain, 4, rng) + 0.7 * rng.normal(size=(6, 4))[domain]
    steps = np.where(X[:, 0] > 0, np.where(X[:, 1] > 0.5, 2.0, 0.5), np.floor(X[:, 1]) / 2)
    y = parts.noisy(steps + 0.3 * X[:, 2], 5, rng)
    return _task(name, X, y, domain, weights, [1, 4], rng, "plant")


# Nothing moves.


def _wild_no_shift(name: str, rng: Rng) -> Task:
    """Heavy tails in the inputs and wild responses."""
    weights, _ = parts.places(28, rng)
    domain = parts.rows(28, (10, 100), rng)
    X = np.clip(rng.standard_t(3, size=(len(domain), 4)), -10, 10)
    y = parts.noisy(np.tanh(X[:, 0]) + X @ [0.0, 0.5, -0.3, 0.0], 5, rng)
    y += np.where(rng.random(len(y)) < 0.04, 4 * rng.normal(size=len(y)), 0.0)
    return _task(name, X, y, domain, weights, parts.scattered(28, 21, rng), rng, "gauge")


def _wide_cohorts(name: str, rng: Rng) -> Task:
    """Fifty columns, the first of which vary most, and fewer rows with labels."""
    weights, group = parts.communities(3, 6, rng)
    domain = parts.rows(18, (8, 24), rng)
    X = parts.normal(domain, 50, rng) * np.geomspace(2, 0.2, 50)
    y = parts.noisy(X @ rng.normal(size=50) / 3, 4, rng)
    return _task(name, X, y, domain, weights, np.flatnonzero(group == 0)[:2], rng, "cohort")


# Few domains have labels.


def _few_sites(name: str, rng: Rng) -> Task:
    """A level that waves along a chain of a dozen sites, four of them with labels."""
    domain = parts.rows(12, 40, rng)
    X = parts.normal(domain, 3, rng)
    level = 2 * np.sin(np.arange(12) / 3 + rng.uniform(0, 6))[domain]
    y = level + X @ [0.3, 0.0, 0.0] + 0.5 * rng.normal(size=len(domain))
    return _task(name, X, y, domain, parts.chain(12), parts.scattered(12, 4, rng), rng)


def _few_stations(name: str, rng: Rng) -> Task:
    """Levels that follow a map, and inputs that do not; a handful of stations report."""
    place = rng.random((20, 2))
    domain = parts.rows(20, (15, 60), rng)
    X = parts.normal(domain, 5, rng) + 0.4 * rng.normal(size=(20, 5))[domain]
    y = parts.field(place, rng)[domain, 0] + X @ [0.5, -0.5, 0.0, 0.0, 0.0]
    weights = parts.near(place, 0.25)
    y = parts.noisy(y, 3, rng)
    return _task(name, X, y, domain, weights, parts.scattered(20, 5, rng), rng, "station")


def _few_sites_one_end(name: str, rng: Rng) -> Task:
    """Labels at the near end; the level goes on climbing, the inputs hardly move."""
    domain = parts.rows(14, 50, rng)
    X = parts.normal(domain, 2, rng) + 0.3 * rng.normal(size=(14, 2))[domain]
    y = parts.noisy(0.25 * domain + X @ [1.0, 0.5], 3, rng)
    return _task(name, X, y, domain, parts.chain(14), range(5), rng, "station")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "saturating-dose": ("sigmoid midpoint/chain", _saturating_dose),
    "moving-kink": ("kink/weighted places", _moving_kink),
    "wave-height": ("wave height/grid", _wave_height),
    "interaction-hubs": ("interaction, regression/hubs", _interaction_hubs),
    "seasonal-slope": ("seasonal slope/calendar", _seasonal_slope),
    "alternating-slopes": ("alternating slopes/chain", _alternating_slopes),
    "hidden-order": ("hidden order/wrong chain", _hidden_order),
    "calendar-levels": ("trend and regions/calendar", _calendar_levels),
    "price-levels": ("price levels/hierarchy", _price_levels),
    "decay-from-hub": ("decay/hierarchy", _decay_from_hub),
    "tiny-domains": ("tiny domains/weighted places", _tiny_domains),
    "loud-ring": ("loud noise/ring", _loud_ring),
    "partly-alone": ("levels and noise/isolated domains", _partly_alone),
    "three-outputs": ("three outputs/communities", _three_outputs),
    "relative-standing": ("relative standing/communities", _relative_standing),
    "bent-inputs": ("bent inputs/chain", _bent_inputs),
    "far-inputs": ("far inputs/tree", _far_inputs),
    "lost-readings": ("lost readings/hubs", _lost_readings),
    "moving-loadings": ("moving loadings/chain", _moving_loadings),
    "regimes": ("steps/few large domains", _regimes),
    "wild-no-shift": ("wild rows, no shift/places", _wild_no_shift),
    "wide-cohorts": ("wide, no shift/communities", _wide_cohorts),
    "few-sites": ("levels/few sites, chain", _few_sites),
    "few-stations": ("levels/few sites, places", _few_stations),
    "few-sites-one-end": ("climbing level/few sites, chain", _few_sites_one_end),
}
