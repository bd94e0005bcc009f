"""Regression tasks of an earlier blind test: what users of some field could bring."""

from __future__ import annotations

from functools import partial

import networkx as nx
import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Codes, Floats, Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


def _rewired(weights: Floats, share: float, rng: Rng) -> Floats:
    """Each edge has this chance to lose one end, and to get any other domain in its place."""
    n = len(weights)
    wrong = np.zeros_like(weights)
    for start, end in np.argwhere(np.triu(weights) > 0):
        if rng.random() < share:
            end = (start + rng.integers(1, n)) % n
        wrong[start, end] = wrong[end, start] = 1.0
    return wrong


def _spokes(n_spokes: Codes) -> tuple[Floats, Codes]:
    """Hubs that are all joined, then their spokes; and the hub of each domain."""
    n_hubs = len(n_spokes)
    hub = np.r_[np.arange(n_hubs), np.repeat(np.arange(n_hubs), n_spokes)]
    weights = np.zeros((len(hub),) * 2)
    weights[np.arange(len(hub)), hub] = 1.0
    weights[:n_hubs, :n_hubs] = 1.0
    weights = np.maximum(weights, weights.T)
    np.fill_diagonal(weights, 0.0)
    return weights, hub


# The level moves.


def _suburb_prices(name: str, rng: Rng) -> Task:
    """Flats are sold by size, and a square metre costs more in some parts of the town."""
    n = parts.count(28, 50, rng)
    weights, place = parts.places(n, rng)
    price = np.exp(rng.uniform(0.15, 0.5) * parts.field(place, rng)[:, 0])
    domain = parts.rows(n, (15, 80), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = np.exp(0.4 * X[:, 0])  # size
    X[:, 1] = parts.chance(0.3, domain, rng)  # a balcony
    signal = price[domain] * X[:, 0] + X @ [0.0, 0.15, -0.1, 0.0, 0.0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.5, rng), rng, "suburb")


def _ore_grades(name: str, rng: Rng) -> Task:
    """Drill holes in three dimensions: only the middle of the field has been assayed."""
    n = parts.count(34, 48, rng)
    place = rng.random((n, 3)) * [1.0, 1.0, 0.4]
    ore = parts.field(place, rng)[:, 0]
    domain = parts.rows(n, (15, 45), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] += 0.5 * ore[domain]  # a faint sign of the ore
    signal = 0.7 * ore[domain] + X @ [0.3, 0.4, -0.2, 0.0, 0.0, 0.0]
    y = signal + 0.25 * rng.standard_t(3, size=len(domain))
    sources = parts.lowest(np.linalg.norm(place - place.mean(axis=0), axis=1), 0.3, 0.45, rng)
    return _task(name, X, y, domain, parts.near(place, 0.3), sources, rng, "drill hole")


def _hub_airports(name: str, rng: Rng) -> Task:
    """Delays at small airports follow those at their hub; only the hubs report."""
    n_hubs = parts.count(4, 6, rng)
    weights, hub = _spokes(rng.integers(4, 8, n_hubs))
    n = len(hub)
    level = rng.uniform(0.3, 1.0) * rng.normal(size=n_hubs)[hub] + 0.2 * rng.normal(size=n)
    sizes = np.where(np.arange(n) < n_hubs, 120, rng.integers(15, 40, n))
    domain = np.repeat(np.arange(n), sizes)
    X = parts.normal(domain, 5, rng)
    X[:, 4] = parts.chance(0.2, domain, rng)  # snow
    signal = level[domain] + 0.5 * np.maximum(X[:, 0], 0) + X @ [0.0, 0.3, 0.2, 0.0, 0.8]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, range(n_hubs), rng, "airport")


def _orchards_and_presses(name: str, rng: Rng) -> Task:
    """A press mixes apples of some orchards, by known shares; only the orchards were tested."""
    n_orchards, n_presses = parts.count(16, 26, rng), parts.count(8, 14, rng)
    share = np.zeros((n_presses, n_orchards))
    for press in share:
        bought = parts.scattered(n_orchards, parts.count(2, 4, rng), rng)
        press[bought] = rng.dirichlet(np.full(len(bought), 3.0))
    sweet = rng.normal(size=n_orchards)
    level = np.r_[sweet, share @ sweet + 0.15 * rng.normal(size=n_presses)]
    weights = np.zeros((len(level),) * 2)
    weights[n_orchards:, :n_orchards] = share
    weights = np.maximum(weights, weights.T)
    domain = parts.rows(len(weights), (15, 60), rng)
    X = parts.normal(domain, 4, rng)
    y = parts.measured(0.8 * level[domain] + X @ parts.slopes(4, 3, rng), rng)
    return _task(name, X, y, domain, weights, range(n_orchards), rng, "grower")


def _next_year_yields(name: str, rng: Rng) -> Task:
    """Regions keep their level, each year has its weather, and the last two years are not known."""
    n_years, n_regions = parts.count(5, 8, rng), 6
    weights = parts.product(parts.chain(n_years), parts.places(n_regions, rng)[0])
    year, region = np.divmod(np.arange(n_years * n_regions), n_regions)
    weather = rng.normal(size=n_years)[year]
    level = 0.6 * rng.normal(size=n_regions)[region] + 0.1 * year + 0.2 * weather
    domain = parts.rows(len(weights), (15, 40), rng)
    X = parts.normal(domain, 6, rng)
    X[:, 0] += weather[domain]  # rain
    signal = level[domain] + X @ [0.4, 0.5, -0.3, 0.2, 0.0, 0.0] - 0.1 * X[:, 0] ** 2
    y = parts.measured(signal, rng)
    sources = np.flatnonzero(year < n_years - 2)
    return _task(name, X, y, domain, weights, sources, rng, "year and region")


def _mountain_huts(name: str, rng: Rng) -> Task:
    """Snow lies above a line, which each valley has for itself; some huts are in no valley."""
    sizes = rng.integers(4, 9, 4)
    n_alone = parts.count(4, 7, rng)
    weights = parts.with_alone(parts.apart(*map(parts.chain, sizes.tolist())), n_alone)
    n = len(weights)
    line = np.r_[np.repeat(rng.normal(size=4), sizes), rng.normal(size=n_alone)]
    height = rng.uniform(-1.5, 1.5, n)
    domain = parts.rows(n, (15, 90), rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] = height[domain] + 0.4 * X[:, 0]
    signal = np.logaddexp(0, 2 * (X[:, 0] - 0.7 * line[domain])) + X @ [0.0, 0.4, 0.2, 0.0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.5, rng), rng, "hut")


def _greenhouse_bays(name: str, rng: Rng) -> Task:
    """Two rows of bays: warm bays are dry ones. Both warmth and moisture are to be told."""
    weights, place = parts.grid(2, parts.count(11, 18, rng))
    n = len(weights)
    amount = rng.uniform(0.3, 0.9) * parts.field(place * [0.2, 1.0], rng, 2, width=0.2)
    level = np.column_stack([amount[:, 0], 0.5 * amount[:, 1] - 0.7 * amount[:, 0]])
    domain = parts.rows(n, (20, 50), rng)
    X = parts.normal(domain, 5, rng)
    slopes = np.column_stack([parts.slopes(5, 3, rng), parts.slopes(5, 4, rng)])
    y = parts.measured(level[domain] + X @ slopes, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.25, 0.45, rng), rng, "bay")


def _mistyped_routes(name: str, rng: Rng) -> Task:
    """Villages along roads share prices, but part of the list of roads is wrong."""
    n = parts.count(32, 50, rng)
    roads, place = parts.places(n, rng)
    level = 0.7 * parts.field(place, rng)[:, 0] + 0.15 * rng.normal(size=n)
    domain = parts.rows(n, (15, 50), rng)
    X = parts.normal(domain, 6, rng)
    y = parts.measured(level[domain] + X @ parts.slopes(6, 3, rng), rng)
    weights = _rewired(roads, rng.uniform(0.2, 0.6), rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.3, 0.5, rng), rng, "village")


# The law changes.


def _software_forks(name: str, rng: Rng) -> Task:
    """Run times of a program and its forks: slopes drift from fork to fork; old ones are known."""
    n = parts.count(22, 40, rng)
    weights = parts.random_tree(n, rng)
    change = parts.inherited(weights, 0.25, rng, 3)
    age = nx.single_source_shortest_path_length(nx.from_numpy_array(weights), 0)
    domain = parts.rows(n, (25, 60), rng)
    X = parts.normal(domain, 6, rng)
    slopes = np.array([1.0, 0.4, -0.5]) + change
    y = parts.measured((slopes[domain] * X[:, :3]).sum(axis=1) + 0.2 * X[:, 3], rng)
    order = np.array([age[node] for node in range(n)], dtype=float)
    sources = parts.clustered(weights, order, round(n * rng.uniform(0.25, 0.45)))
    return _task(name, X, y, domain, weights, sources, rng, "fork")


def _clay_and_sand(name: str, rng: Rng) -> Task:
    """Water helps on sand, and feed helps on clay; one column of the soil tells which it is."""
    weights, place = parts.grid(parts.count(4, 6, rng), parts.count(5, 8, rng))
    n = len(weights)
    sand = parts.field(place, rng)[:, 0] > 0
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 7, rng)
    X[:, 6] += rng.uniform(0.5, 2.5) * sand[domain]  # grain
    signal = np.where(
        sand[domain], X @ [0.9, 0.2, 0.3, 0, 0, 0, 0], X @ [0.1, 0.8, 0.3, 0, 0, 0, 0]
    )
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, weights, parts.some(n, 0.2, 0.45, rng), rng, "field")


def _tunnel_sections(name: str, rng: Rng) -> Task:
    """Rock changes slowly through a tunnel; only the first and the last section were tested."""
    n = parts.count(14, 32, rng)
    way = np.linspace(-1.0, 1.0, n)
    domain = parts.rows(n, (40, 100), rng)
    X = parts.normal(domain, 4, rng)
    here = way[domain]
    level, slope = rng.uniform(0.3, 1.2) * here, 0.8 + rng.uniform(-0.6, 0.6) * here
    y = parts.measured(level + slope * X[:, 0] + X @ [0.0, 0.4, -0.3, 0.0], rng)
    return _task(name, X, y, domain, parts.chain(n), [0, n - 1], rng, "section")


def _gas_by_week(name: str, rng: Rng) -> Task:
    """Gas is burnt below a warmth; each degree counts more in winter. Some weeks are known."""
    n = 26
    winter = np.cos(2 * np.pi * np.arange(n) / n)
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 4, rng)
    X[:, 0] = 9 - 9 * winter[domain] + 4 * X[:, 0]  # degrees
    X[:, 1] = parts.chance(2 / 7, domain, rng)  # weekend
    slope = 1 + rng.uniform(0.1, 0.7) * winter[domain]
    signal = slope * np.maximum(15 - X[:, 0], 0) / 10 + X @ [0.0, -0.3, 0.2, 0.0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, parts.ring(n), parts.some(n, 0.2, 0.45, rng), rng, "fortnight")


def _battery_ageing(name: str, rng: Rng) -> Task:
    """Old cells lose charge faster and suffer more from cold; only young ages were measured."""
    n = parts.count(15, 26, rng)
    age = np.linspace(0.0, 1.0, n)
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 5, rng)
    old = age[domain]
    X[:, 1] = np.exp(old) + 0.3 * X[:, 1]  # resistance
    loss = old + rng.uniform(0.0, 2.0) * np.maximum(old - 0.4, 0) ** 2
    signal = -loss + (0.2 + 0.4 * old) * X[:, 0] + X @ [0.0, 0.0, 0.3, 0.1, 0.0]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, parts.chain(n), parts.lowest(age, 0.4, 0.6, rng), rng, "age")


def _marks_on_a_curve(name: str, rng: Rng) -> Task:
    """Classes differ in what pupils know, but each teacher spreads marks around the same mean."""
    n = parts.count(24, 40, rng)
    domain = parts.rows(n, (15, 35), rng)
    X = parts.normal(domain, 5, rng) * rng.uniform(0.7, 1.4, n)[domain, None]
    X += rng.uniform(0.3, 1.2) * rng.normal(size=(n, 5))[domain]
    work = parts.measured(X @ parts.slopes(5, 4, rng), rng, 3.0, 6.0)
    y = np.empty_like(work)
    for group in range(n):
        inside = domain == group
        y[inside] = (work[inside] - work[inside].mean()) / work[inside].std()
    return _task(
        name, X, y, domain, parts.small_world(n, rng), parts.some(n, 0.15, 0.4, rng), rng, "class"
    )


# The inputs change.


def _freight_units(name: str, rng: Rng) -> Task:
    """Depots of four countries: some weigh in pounds, some drive miles, and nobody noted which."""
    weights, country = parts.communities(4, parts.count(6, 9, rng), rng)
    n = len(weights)
    pounds, miles = rng.permutation([1.0, 1.0, 2.2, 2.2]), rng.permutation([1.0, 0.62, 1.0, 0.62])
    unit = np.column_stack([pounds, miles])[country]
    domain = parts.rows(n, (20, 70), rng)
    X = parts.normal(domain, 5, rng)
    X[:, :2] = np.exp(0.5 * X[:, :2])  # load and way
    signal = 0.5 * X[:, 0] + 0.6 * X[:, 1] + X @ [0.0, 0.0, 0.3, 0.1, 0.0]
    X[:, :2] *= unit[domain]
    sources = np.flatnonzero(country < parts.count(1, 2, rng))
    return _task(name, X, parts.measured(signal, rng), domain, weights, sources, rng, "depot")


def _grain_spectra(name: str, rng: Rng) -> Task:
    """Spectra with more columns than known rows; each copy of a device has its own base line."""
    n_brands, n_columns = parts.count(3, 4, rng), 120
    weights = parts.apart(*(parts.star(parts.count(4, 6, rng)) for _ in range(n_brands)))
    masters = np.flatnonzero(weights.sum(axis=1) > 1)
    n = len(weights)
    wave = np.linspace(0.0, 1.0, n_columns)[:, None]
    domain = parts.rows(n, (15, 22), rng)
    content = parts.normal(domain, 4, rng)  # protein, water, oil, starch
    X = content @ parts.field(wave, rng, 4, width=0.1).T
    gain = np.exp(0.1 * rng.normal(size=n))
    base = rng.uniform(0.2, 1.0) * parts.field(wave, rng, n, width=0.3).T
    X = gain[domain, None] * X + base[domain] + 0.2 * parts.normal(domain, n_columns, rng)
    y = parts.measured(content @ [1.0, 0.3, 0.0, -0.3], rng, 4.0, 8.0)
    return _task(name, X, y, domain, weights, masters, rng, "device")


def _age_from_blood(name: str, rng: Rng) -> Task:
    """Blood tells the age in the same way everywhere, but some towns are older than others."""
    n = parts.count(24, 40, rng)
    place = rng.random((n, 2))
    older = rng.uniform(0.3, 1.0) * parts.field(place, rng)[:, 0]
    domain = parts.rows(n, (15, 80), rng)
    y = older[domain] + 0.7 * rng.normal(size=len(domain))
    X = parts.normal(domain, 8, rng)
    X[:, :4] += y[:, None] * parts.slopes(4, 4, rng)
    X[:, 4] += 0.3 * np.exp(y / 2)
    sources = parts.some(n, 0.25, 0.5, rng)
    return _task(name, X, y, domain, parts.near(place, 0.25), sources, rng, "town")


def _hazy_shore(name: str, rng: Rng) -> Task:
    """Buoys around a lake: the law is the same, but haze blurs what those on one shore can see."""
    n = parts.count(20, 36, rng)
    haze = (1 - np.cos(2 * np.pi * np.arange(n) / n)) / 2
    domain = parts.rows(n, (25, 70), rng)
    true = parts.normal(domain, 4, rng)
    y = parts.measured(true @ parts.slopes(4, 3, rng), rng)
    blur = 0.1 + rng.uniform(0.3, 1.0) * haze[domain, None]
    X = true + blur * parts.normal(domain, 4, rng)
    return _task(name, X, y, domain, parts.ring(n), parts.lowest(haze, 0.25, 0.4, rng), rng, "buoy")


def _snow_stations(name: str, rng: Rng) -> Task:
    """One straight law up the mountain: inputs move far with height; the low stations are known."""
    n = parts.count(24, 44, rng)
    weights, place = parts.places(n, rng)
    height = parts.field(place, rng)[:, 0]
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = height[domain] + 0.3 * X[:, 0]
    X[:, 1] -= 0.8 * height[domain]  # warmth
    y = parts.measured(X @ [0.8, -0.5, 0.3, 0.0, 0.0], rng)
    return _task(name, X, y, domain, weights, parts.lowest(height, 0.3, 0.45, rng), rng, "station")


def _signup_cohorts(name: str, rng: Rng) -> Task:
    """Customers by month of joining: other people each month, one law with a step; no edges."""
    n = parts.count(14, 30, rng)
    domain = parts.rows(n, (20, 120), rng)
    X = parts.normal(domain, 6, rng) + rng.uniform(0.3, 1.0) * rng.normal(size=(n, 6))[domain]
    signal = 0.8 * (X[:, 0] > 0.5) + np.sin(X[:, 1]) + 0.4 * X[:, 2]
    y = parts.measured(signal, rng)
    return _task(name, X, y, domain, np.zeros((n, n)), parts.some(n, 0.25, 0.5, rng), rng, "cohort")


# Little or nothing to gain.


def _call_centres(name: str, rng: Rng) -> Task:
    """Waiting grows steeply when all are busy, in the same way at each centre: nothing shifts."""
    n = parts.count(16, 40, rng)
    domain = parts.rows(n, (15, 120), rng)
    X = parts.normal(domain, 5, rng)
    X[:, 0] = rng.beta(4.0, 2.5, len(domain))  # busy
    signal = X[:, 0] / (1.15 - X[:, 0]) + X @ [0.0, 0.4, -0.2, 0.0, 0.0]
    y = parts.measured(signal, rng)
    return _task(
        name, X, y, domain, parts.hubs(n, rng), parts.some(n, 0.15, 0.5, rng), rng, "centre"
    )


def _towns_by_alphabet(name: str, rng: Rng) -> Task:
    """Each town has a level of its own, and the graph only joins the next name of a list."""
    n = parts.count(20, 50, rng)
    domain = parts.rows(n, (15, 70), rng)
    level = rng.uniform(0.2, 0.8) * rng.normal(size=n)
    X = parts.normal(domain, 8, rng)
    y = parts.measured(level[domain] + X @ parts.slopes(8, 4, rng), rng)
    return _task(name, X, y, domain, parts.chain(n), parts.some(n, 0.25, 0.5, rng), rng, "town")


def _typed_by_hand(name: str, rng: Rng) -> Task:
    """The known labels were typed by hand, and now and then the first digit is wrong."""
    weights = parts.binary_tree(4)
    n = len(weights)
    level = parts.inherited(weights, rng.uniform(0.1, 0.3), rng)[:, 0]
    domain = parts.rows(n, (20, 60), rng)
    X = parts.normal(domain, 5, rng)
    y = 3.0 + parts.measured(level[domain] + X @ parts.slopes(5, 3, rng), rng)
    sources = parts.some(n, 0.25, 0.5, rng)
    slip = np.isin(domain, sources) * parts.chance(rng.uniform(0.02, 0.08), domain, rng)
    y = y + slip * rng.integers(2, 7, len(domain)) * rng.choice([-1, 1], len(domain))
    return _task(name, X, y, domain, weights, sources, rng, "branch office")


def _rare_diseases(name: str, rng: Rng) -> Task:
    """Few patients, two or three known diseases, many useless columns; like diseases are joined."""
    n = parts.count(12, 16, rng)
    trait = rng.random((n, 2))
    change = 0.25 * parts.field(trait, rng, 2)
    domain = parts.rows(n, (15, 25), rng)
    X = parts.normal(domain, 12, rng)
    signal = 0.2 * change[domain, 0] + (0.7 + change[domain, 1]) * X[:, 0]
    y = parts.measured(signal + X @ np.r_[0.0, 0.5, -0.4, np.zeros(9)], rng, 1.2, 2.5)
    sources = parts.scattered(n, parts.count(2, 3, rng), rng)
    return _task(name, X, y, domain, parts.near(trait, 0.4), sources, rng, "rare disease")


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "suburb-prices": ("price of a unit/places", _suburb_prices),
    "ore-grades": ("level/middle of weighted places", _ore_grades),
    "hub-airports": ("level of the hub/hubs and spokes", _hub_airports),
    "orchards-and-presses": ("mixed levels/one of two sides, weighted", _orchards_and_presses),
    "next-year-yields": ("years differ/first years by regions", _next_year_yields),
    "mountain-huts": ("bend moves/valleys and lone domains", _mountain_huts),
    "greenhouse-bays": ("two outputs/two rows", _greenhouse_bays),
    "mistyped-routes": ("level/places, wrong edges", _mistyped_routes),
    "software-forks": ("inherited slopes/root of a tree", _software_forks),
    "clay-and-sand": ("two laws, told by inputs/grid", _clay_and_sand),
    "tunnel-sections": ("level and slope/both ends of a chain", _tunnel_sections),
    "gas-by-week": ("hinge, inputs move/ring", _gas_by_week),
    "battery-ageing": ("faster and faster/one end of a chain", _battery_ageing),
    "marks-on-a-curve": ("standard by domain/small world", _marks_on_a_curve),
    "freight-units": ("units/communities", _freight_units),
    "grain-spectra": ("base lines, wide/stars", _grain_spectra),
    "age-from-blood": ("labels shift/weighted places", _age_from_blood),
    "hazy-shore": ("blurred inputs/arc of a ring", _hazy_shore),
    "snow-stations": ("inputs move, straight law/one end of places", _snow_stations),
    "signup-cohorts": ("inputs move, step/no edges", _signup_cohorts),
    "call-centres": ("no shift/hubs", _call_centres),
    "towns-by-alphabet": ("random levels/meaningless chain", _towns_by_alphabet),
    "typed-by-hand": ("wrong labels/tree", _typed_by_hand),
    "rare-diseases": ("few rows/few sources, weighted", _rare_diseases),
}
