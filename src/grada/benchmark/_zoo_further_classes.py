"""Still more classification tasks to tune on: they were the third unseen part."""

from __future__ import annotations

from functools import partial

import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Codes, Floats, Rng
from grada.datasets import Task

_task = partial(parts.build, kind="classification")


def _chance(log_odds: Floats, rng: Rng) -> Codes:
    """Labels of 0 and 1 by the odds of each row."""
    return (log_odds + rng.logistic(size=len(log_odds)) > 0).astype(np.intp)


# What the inputs mean changes.


def _one_threshold(name: str, rng: Rng) -> Task:
    """One feature, and a cut that climbs along the chain while the inputs stay."""
    domain = parts.rows(18, 70, rng)
    X = parts.normal(domain, 1, rng)
    label = _chance(6 * (X[:, 0] - np.linspace(-0.9, 0.9, 18)[domain]), rng)
    return _task(name, X, label, domain, parts.chain(18), [1, 6, 11, 16], rng, "year")


def _raters(name: str, rng: Rng) -> Task:
    """Five grades; strictness is smooth in each of two unjoined offices."""
    weights = parts.two(parts.small_world(15, rng))
    domain = parts.rows(30, (25, 90), rng)
    X = parts.normal(domain, 6, rng)
    score = X @ rng.normal(size=6) / 2 + 0.35 * rng.normal(size=len(domain))
    score += 0.6 * parts.diffused(weights, rng)[domain, 0]
    label = np.digitize(score, [-1.2, -0.4, 0.4, 1.2])
    grades = np.array(["poor", "fair", "good", "fine", "best"], dtype=object)[label]
    return _task(name, X, grades, domain, weights, parts.scattered(30, 12, rng), rng, "rater")


def _alternating(name: str, rng: Rng) -> Task:
    """Neighbours differ most: the rule is that of the domain after the next."""
    domain = parts.rows(24, 60, rng)
    X = parts.normal(domain, 4, rng)
    side = np.where(domain % 2 == 0, 0.8, -0.8)
    label = _chance(3 * (X[:, 0] + side * X[:, 1] + 0.3 * X[:, 2]), rng)
    return _task(name, X, label, domain, parts.ring(24), parts.scattered(24, 10, rng), rng, "shift")


def _spurious(name: str, rng: Rng) -> Task:
    """One column goes along with the class at first, and against it at the end."""
    domain, label = parts.draw(14, 90, 2, rng)
    sign = 2.0 * label - 1
    X = parts.normal(domain, 5, rng)
    X[:, :3] += 0.7 * sign[:, None]
    X[:, 3] += np.linspace(1.5, -1.0, 14)[domain] * sign
    return _task(name, X, label, domain, parts.chain(14), range(5), rng, "batch")


def _interaction(name: str, rng: Rng) -> Task:
    """The sign of a product decides, and a third input by an amount that follows the map."""
    place = rng.random((45, 2))
    domain = parts.rows(45, 50, rng)
    X = parts.normal(domain, 3, rng)
    amount = parts.field(place, rng)[domain, 0]
    label = _chance(4 * X[:, 0] * X[:, 1] + 2.5 * amount * X[:, 2], rng)
    weights = parts.near(place, 0.18)
    return _task(name, X, label, domain, weights, parts.scattered(45, 22, rng), rng, "parish")


# The classes move.


def _calendar_drift(name: str, rng: Rng) -> Task:
    """Years by regions: the regions differ and all drift alike; later years have no labels."""
    weights = parts.product(parts.chain(7), parts.ring(5))
    year, region = np.divmod(np.arange(35), 5)
    domain, label = parts.draw(35, (20, 70), 3, rng)
    centre, drift = 1.2 * rng.normal(size=(3, 6)), 0.25 * rng.normal(size=6)
    moved = year[:, None] * drift + 0.6 * rng.normal(size=(5, 6))[region]
    X = centre[label] + moved[domain] + 0.8 * parts.normal(domain, 6, rng)
    return _task(name, X, label, domain, weights, range(15), rng, "year and region")


def _hours_and_days(name: str, rng: Rng) -> Task:
    """Hours around a clock by days of a week: the classes go around, and weekends lie off."""
    weights = parts.product(parts.chain(7), parts.ring(8))
    day, hour = np.divmod(np.arange(56), 8)
    domain, label = parts.draw(56, 40, 3, rng)
    X = parts.blobs(label, 3, 0.4, rng, n_features=4)
    X[:, :2] += parts.direction(2 * np.pi * hour / 8)[domain]
    X[:, 2] += np.where(day >= 5, 1.5, 0.0)[domain]
    return _task(name, X, label, domain, weights, parts.scattered(56, 18, rng), rng, "day and hour")


def _one_class_moves(name: str, rng: Rng) -> Task:
    """Sound parts stay where they are, faulty ones draw nearer and pass by."""
    domain = parts.rows(20, 80, rng)
    label = parts.labels(domain, 2, rng, np.tile([0.7, 0.3], (20, 1)))
    path = np.column_stack([np.linspace(-2, 2, 20), np.full(20, 1.4)])
    X = 0.5 * parts.normal(domain, 2, rng) + label[:, None] * path[domain]
    labels = np.array(["sound", "faulty"], dtype=object)[label]
    return _task(name, X, labels, domain, parts.chain(20), range(6), rng, "lot")


def _splitting_class(name: str, rng: Rng) -> Task:
    """The deeper in the tree, the further apart are the two halves of one class."""
    weights, level = parts.hierarchy(2, 3, 3)
    domain, label = parts.draw(len(level), 70, 2, rng)
    apart = 0.5 + 0.6 * level[domain]
    half = rng.choice([-1.0, 1.0], len(label))
    X = 0.4 * parts.normal(domain, 3, rng)
    X[:, 0] += label * half * apart
    X[:, 1] += 0.8 * label
    return _task(name, X, label, domain, weights, range(5), rng, "unit")


def _spirals(name: str, rng: Rng) -> Task:
    """Two spirals that wind up over a ladder of domains."""
    weights, place = parts.grid(2, 10)
    domain, label = parts.draw(20, 110, 2, rng)
    radius = np.sqrt(rng.uniform(0.1, 1, len(label)))
    angle = (3 + 1.5 * place[domain, 1]) * radius + np.pi * label
    X = 2 * radius[:, None] * parts.direction(angle) + 0.13 * parts.normal(domain, 2, rng)
    sources = parts.clustered(weights, place[:, 1], 8)
    return _task(name, X, label, domain, weights, sources, rng, "rung")


def _machines(name: str, rng: Rng) -> Task:
    """Few large domains with a zero of their own each; far from the zero is a fault."""
    domain = parts.rows(6, (250, 500), rng)
    X = parts.normal(domain, 4, rng)
    label = _chance(3 * (np.linalg.norm(X[:, :3], axis=1) - 1.7), rng)
    X += 1.2 * rng.normal(size=(6, 4))[domain]
    return _task(name, X, label, domain, parts.ring(6), [0, 3], rng, "machine")


# The scales and shapes move.


def _own_warps(name: str, rng: Rng) -> Task:
    """Each domain bends its features in its own way but keeps their order."""
    weights = parts.hubs(26, rng)
    domain, label = parts.draw(26, 70, 3, rng)
    X = parts.blobs(label, 3, 0.45, rng, n_features=4)
    bend = rng.uniform(-1.2, 1.2, size=(26, 4))[domain]
    X = np.expm1(bend * X) / bend
    return _task(name, X, label, domain, weights, parts.scattered(26, 8, rng), rng, "lab")


def _lognormal_gains(name: str, rng: Rng) -> Task:
    """Amounts that are never negative, in units that are passed down a hierarchy."""
    weights, level = parts.hierarchy(4, 3, 2)
    domain, label = parts.draw(len(level), 50, 4, rng)
    centre = 0.8 * rng.normal(size=(4, 7))
    gain = parts.inherited(weights, 0.45, rng, 7)
    X = np.exp(centre[label] + gain[domain] + 0.5 * parts.normal(domain, 7, rng))
    return _task(name, X, label, domain, weights, np.flatnonzero(level <= 1), rng, "office")


def _stretched(name: str, rng: Rng) -> Task:
    """Six classes, stretched one way here and another way there; the middle stays."""
    weights, place = parts.places(30, rng)
    domain, label = parts.draw(30, 80, 6, rng)
    X = parts.blobs(label, 6, 0.22, rng)
    way = parts.direction(1.2 * parts.field(place, rng)[:, 0])[domain]
    X += 1.2 * (X * way).sum(axis=1, keepdims=True) * way
    return _task(name, X, label, domain, weights, parts.scattered(30, 9, rng), rng, "field")


def _outlying_gains(name: str, rng: Rng) -> Task:
    """Own gains, a rare class and some wild rows; some domains have no neighbours."""
    weights = parts.with_alone(parts.random_tree(18, rng), 5)
    domain = parts.rows(23, (40, 120), rng)
    label = parts.labels(domain, 2, rng, np.tile([0.85, 0.15], (23, 1)))
    X = parts.normal(domain, 5, rng)
    X[:, :3] += 1.3 * label[:, None]
    X[rng.random(len(label)) < 0.03] *= 12
    X *= np.exp(0.5 * rng.normal(size=(23, 5)))[domain]
    return _task(name, X, label, domain, weights, parts.scattered(23, 8, rng), rng, "probe")


def _missing_sensors(name: str, rng: Rng) -> Task:
    """Each community lacks sensors of its own, and reads zeros for them."""
    weights, group = parts.communities(5, 7, rng)
    domain, label = parts.draw(35, 45, 3, rng)
    X = rng.normal(size=(3, 12))[label] + 1.6 * parts.normal(domain, 12, rng) + 1.5
    X[(rng.random((5, 12)) < 0.3)[group[domain]]] = 0.0
    return _task(name, X, label, domain, weights, parts.scattered(35, 11, rng), rng, "station")


def _changing_noise(name: str, rng: Rng) -> Task:
    """Only the noise differs: small at some domains, great at others."""
    weights = parts.hubs(32, rng)
    domain, label = parts.draw(32, 50, 4, rng)
    noise = np.exp(0.6 * parts.diffused(weights, rng)[domain])
    X = parts.askew(
        parts.blobs(label, 4, 0.0, rng, 3) + 0.45 * noise * parts.normal(domain, 3, rng), rng
    )
    return _task(name, X, label, domain, weights, [0], rng, "node")


# The shares move, or nothing.


def _prevalence(name: str, rng: Rng) -> Task:
    """From one ill person in twenty to nineteen, by domain and not by community."""
    weights, _ = parts.communities(3, 8, rng)
    domain = parts.rows(24, (30, 120), rng)
    share = rng.permutation(np.linspace(0.05, 0.95, 24))
    label = parts.labels(domain, 2, rng, np.column_stack([1 - share, share]))
    X = parts.normal(domain, 5, rng)
    X[:, :2] += 1.1 * (2 * label[:, None] - 1)
    return _task(name, X, label, domain, weights, parts.scattered(24, 8, rng), rng, "ward")


def _subpopulations(name: str, rng: Rng) -> Task:
    """Four kinds of customer with a rule each, whose shares change around the ring."""
    domain = parts.rows(22, 70, rng)
    angle = 2 * np.pi * np.arange(22) / 22
    shares = np.exp(1.5 * np.cos(angle[:, None] - np.pi / 2 * np.arange(4)))
    kind = parts.labels(domain, 4, rng, shares)
    inner = parts.normal(domain, 5, rng)
    label = _chance(3 * (inner * rng.normal(size=(4, 5))[kind]).sum(axis=1), rng)
    X = inner + 3 * rng.normal(size=(4, 5))[kind]
    return _task(name, X, label, domain, parts.ring(22), range(0, 22, 3), rng, "week")


def _wide_no_shift(name: str, rng: Rng) -> Task:
    """Sixty columns and fewer rows with labels; nothing moves."""
    weights, _ = parts.hierarchy(3, 4)
    domain, label = parts.draw(16, (8, 40), 2, rng)
    X = parts.normal(domain, 60, rng)
    X[:, :12] += 0.55 * (2 * label[:, None] - 1)
    return _task(name, X, label, domain, weights, [0, 1], rng, "group")


def _tiny_no_shift(name: str, rng: Rng) -> Task:
    """From one row to ten rows a domain, and nothing moves."""
    weights = parts.hubs(75, rng)
    domain, label = parts.draw(75, (1, 10), 3, rng)
    X = parts.askew(parts.blobs(label, 3, 0.55, rng, n_features=4), rng)
    return _task(name, X, label, domain, weights, parts.scattered(75, 55, rng), rng, "household")


def _weak_evidence(name: str, rng: Rng) -> Task:
    """Most of what decides is not among the columns; the odds follow the map a little."""
    place = rng.random((40, 2))
    domain = parts.rows(40, (15, 100), rng)
    X = parts.normal(domain, 8, rng)
    log_odds = X @ (0.35 * rng.normal(size=8)) + 0.5 * parts.field(place, rng)[domain, 0]
    label = _chance(log_odds, rng)
    labels = np.array(["no", "yes"], dtype=object)[label]
    weights = parts.near(place, 0.2)
    return _task(name, X, labels, domain, weights, parts.scattered(40, 20, rng), rng, "precinct")


#: Name -> family, and what draws the task.
CLASSES: dict[str, tuple[str, Maker]] = {
    "one-threshold": ("moving threshold/chain", _one_threshold),
    "raters": ("grades/two small worlds", _raters),
    "alternating": ("alternating rule/ring", _alternating),
    "spurious": ("spurious column/chain", _spurious),
    "interaction": ("interaction/weighted places", _interaction),
    "calendar-drift": ("drift and regions/calendar", _calendar_drift),
    "hours-and-days": ("clock and week/calendar", _hours_and_days),
    "one-class-moves": ("one class moves/chain", _one_class_moves),
    "splitting-class": ("splitting class/hierarchy", _splitting_class),
    "spirals": ("spirals/ladder", _spirals),
    "machines": ("own zeros/few large domains", _machines),
    "own-warps": ("own warps/hubs", _own_warps),
    "lognormal-gains": ("inherited units/hierarchy", _lognormal_gains),
    "stretched": ("stretch/places", _stretched),
    "outlying-gains": ("own gains and outliers/isolated domains", _outlying_gains),
    "missing-sensors": ("missing sensors/communities", _missing_sensors),
    "changing-noise": ("changing noise/hubs", _changing_noise),
    "prevalence": ("own prevalence/communities", _prevalence),
    "subpopulations": ("subpopulations/ring", _subpopulations),
    "wide-no-shift": ("wide, no shift/hierarchy", _wide_no_shift),
    "tiny-no-shift": ("tiny domains, no shift/hubs", _tiny_no_shift),
    "weak-evidence": ("weak evidence/weighted places", _weak_evidence),
}
