"""Classification tasks that nobody who tunes may look at. All have noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Codes, Floats, Rng
from grada.datasets import Task

_task = partial(parts.build, kind="classification")


def _above(score: Floats, noise: float, rng: Rng) -> Codes:
    """1 where the score is above 0 after noise, and 0 elsewhere."""
    return (score + noise * rng.normal(size=len(score)) > 0).astype(np.intp)


# What the inputs mean changes.


def _rain_or_dry(name: str, rng: Rng) -> Task:
    """The same weather means rain more often on one side of the map."""
    weights, place = parts.grid(6, 7)
    domain = parts.rows(42, 45, rng)
    X = parts.normal(domain, 5, rng)
    score = X @ [0.9, -0.6, 0.4, 0.0, 0.0] + 0.9 * parts.field(place, rng)[domain, 0]
    label = np.array(["dry", "rain"], dtype=object)[_above(score, 0.5, rng)]
    return _task(name, X, label, domain, weights, parts.scattered(42, 16, rng), rng, "square")


def _choices_by_month(name: str, rng: Rng) -> Task:
    """Which of three goods is bought: tastes swing with the season, customers stay the same."""
    domain = parts.rows(24, 70, rng)
    X = parts.normal(domain, 4, rng)
    season = parts.direction(2 * np.pi * domain / 24)
    taste = np.stack([X, season[:, :1] * X, season[:, 1:] * X], axis=1)
    score = np.einsum("nij,ijk->nk", taste, 1.5 * rng.normal(size=(3, 4, 3)))
    label = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    return _task(name, X, label, domain, parts.ring(24), range(0, 24, 3), rng, "half month")


def _small_clubs(name: str, rng: Rng) -> Task:
    """From one row to ten rows a club; how many say yes is alike among friends."""
    weights = parts.small_world(70, rng)
    domain = parts.rows(70, (1, 10), rng)
    X = parts.normal(domain, 3, rng)
    score = X @ [1.0, 0.6, 0.0] + 0.7 * parts.diffused(weights, rng)[domain, 0]
    label = _above(score, 0.6, rng)
    return _task(name, X, label, domain, weights, parts.scattered(70, 35, rng), rng, "club")


def _road_states(name: str, rng: Rng) -> Task:
    """Three states of a road, each of which looks a little different from place to place."""
    place = rng.random((44, 2))
    domain, label = parts.draw(44, 45, 3, rng)
    moved = 0.45 * parts.field(place, rng, 6).reshape(44, 3, 2)
    X = parts.blobs(label, 3, 0.4, rng) + moved[domain, label]
    states = np.array(["dry", "wet", "icy"], dtype=object)[label]
    weights = parts.near(place, 0.2)
    return _task(name, X, states, domain, weights, parts.scattered(44, 15, rng), rng, "road")


# The inputs change, and what they mean along with them.


def _hazy_fields(name: str, rng: Rng) -> Task:
    """Five crops in six bands of light; haze makes dark brighter and bright darker."""
    weights, place = parts.places(36, rng)
    domain, label = parts.draw(36, (20, 80), 5, rng)
    X = rng.uniform(0.5, 2.0, size=(5, 6))[label] + 0.25 * parts.normal(domain, 6, rng)
    haze = parts.field(place, rng)[domain]
    X = np.exp(-0.3 * haze) * X + 0.4 * haze
    return _task(name, X, label, domain, weights, parts.scattered(36, 10, rng), rng, "scene")


def _worn_wristbands(name: str, rng: Rng) -> Task:
    """Everyone wears the band at an angle of their own; who knows whom says nothing."""
    weights = parts.random_graph(26, rng)
    domain, label = parts.draw(26, 70, 3, rng)
    X = parts.blobs(label, 3, 0.35, rng, n_features=4)
    X = parts.turn(X, 0.45 * rng.normal(size=26)[domain])
    return _task(name, X, label, domain, weights, parts.scattered(26, 8, rng), rng, "person")


def _seedlings(name: str, rng: Rng) -> Task:
    """All measures grow together from week to week; labels for the first weeks."""
    domain, label = parts.draw(16, 80, 3, rng)
    size = np.linspace(0, rng.uniform(0.6, 1.6), 16)[domain] + 0.3 * rng.normal(size=len(domain))
    X = 0.5 * rng.normal(size=(3, 5))[label] + size[:, None] + 0.3 * parts.normal(domain, 5, rng)
    return _task(name, X, label, domain, parts.chain(16), range(4), rng, "week")


def _archipelago(name: str, rng: Rng) -> Task:
    """Clear classes on three groups of islands; one group has no labels."""
    weights = parts.apart(parts.chain(7), parts.chain(7), parts.ring(6))
    domain, label = parts.draw(20, (30, 100), 3, rng)
    moved = 0.5 * rng.normal(size=(3, 3))[np.arange(20) // 7] + 0.15 * rng.normal(size=(20, 3))
    X = parts.blobs(label, 3, 0.22, rng, n_features=3) + moved[domain]
    return _task(name, X, label, domain, weights, [0, 3, 8, 11], rng, "island")


def _foggy_lens(name: str, rng: Rng) -> Task:
    """One of three telling columns drifts off, the others stay; labels at the start."""
    domain, label = parts.draw(18, 80, 2, rng)
    X = parts.normal(domain, 5, rng)
    X[:, :3] += 0.8 * (2 * label[:, None] - 1)
    X[:, 0] += np.linspace(0, rng.choice([-3.0, 3.0]), 18)[domain]
    return _task(name, X, label, domain, parts.chain(18), range(5), rng, "month")


def _loud_voices(name: str, rng: Rng) -> Task:
    """Each speaker has one loudness for all columns; two speakers have labels."""
    weights = parts.hubs(28, rng)
    domain, label = parts.draw(28, 60, 3, rng)
    X = rng.normal(size=(3, 6))[label] + 0.8 * parts.normal(domain, 6, rng)
    X *= np.exp(0.5 * rng.normal(size=(28, 1)))[domain]
    return _task(name, X, label, domain, weights, parts.scattered(28, 2, rng), rng, "speaker")


def _dialects(name: str, rng: Rng) -> Task:
    """Counts of forty words: each region likes some of them, whatever the topic."""
    weights, group = parts.communities(5, 6, rng)
    domain, label = parts.draw(30, 45, 3, rng)
    rate = 0.3 + 0.7 * (rng.integers(0, 3, 40) == label[:, None])
    rate *= np.exp(0.6 * rng.normal(size=(5, 40)))[group[domain]]
    X = rng.poisson(rate).astype(float)
    topics = np.array(["sport", "trade", "music"], dtype=object)[label]
    return _task(name, X, topics, domain, weights, parts.scattered(30, 9, rng), rng, "paper")


# The shares of the classes or of the inputs change.


def _regional_illness(name: str, rng: Rng) -> Task:
    """An illness that is rare, and less so in some parts of the map; the ill look alike."""
    place = rng.random((40, 2))
    domain = parts.rows(40, (20, 100), rng)
    share = 1 / (1 + np.exp(2.0 - 0.8 * parts.field(place, rng)[:, 0]))
    label = parts.labels(domain, 2, rng, np.column_stack([1 - share, share]))
    X = parts.normal(domain, 6, rng)
    X[:, :3] += label[:, None]
    weights = parts.near(place, 0.2)
    return _task(name, X, label, domain, weights, parts.scattered(40, 16, rng), rng, "practice")


def _fish_of_a_river(name: str, rng: Rng) -> Task:
    """Three species that look the same in all waters; which one is common changes upstream."""
    weights = parts.binary_tree(4)
    domain = parts.rows(31, 60, rng)
    label = parts.labels(domain, 3, rng, np.exp(parts.inherited(weights, 0.6, rng, 3)))
    X = parts.blobs(label, 3, 0.6, rng, n_features=3)
    return _task(name, X, label, domain, weights, range(7), rng, "reach")


def _deep_wells(name: str, rng: Rng) -> Task:
    """One curved rule for all, of which each well shows another part."""
    weights = parts.random_tree(26, rng)
    domain = parts.rows(26, (20, 110), rng)
    X = parts.normal(domain, 2, rng) + parts.inherited(weights, 0.5, rng, 2)[domain]
    label = _above(np.sin(1.5 * X[:, 0]) + 0.6 * X[:, 1], 0.3, rng)
    return _task(name, X, label, domain, weights, parts.scattered(26, 8, rng), rng, "well")


# Nothing changes.


def _rare_fault(name: str, rng: Rng) -> Task:
    """Few large factories with the same machines; seven parts in a hundred are faulty."""
    domain = parts.rows(5, (300, 500), rng)
    label = parts.labels(domain, 2, rng, np.tile([0.93, 0.07], (5, 1)))
    X = parts.normal(domain, 6, rng)
    X[:, :3] += 1.1 * label[:, None]
    return _task(name, X, label, domain, parts.star(4), [0, 1], rng, "factory")


def _one_counter(name: str, rng: Rng) -> Task:
    """Four classes that touch, and one domain with labels."""
    domain, label = parts.draw(18, 50, 4, rng)
    X = parts.askew(parts.blobs(label, 4, 0.5, rng, n_features=5), rng)
    return _task(name, X, label, domain, parts.ring(18), [0], rng, "counter")


def _gene_panels(name: str, rng: Rng) -> Task:
    """Eighty columns and about as many rows with labels."""
    weights, _ = parts.places(18, rng)
    domain, label = parts.draw(18, (6, 30), 2, rng)
    X = parts.normal(domain, 80, rng)
    X[:, :10] += 0.6 * (2 * label[:, None] - 1)
    return _task(name, X, label, domain, weights, parts.scattered(18, 5, rng), rng, "clinic")


def _lonely_ponds(name: str, rng: Rng) -> Task:
    """A curved rule and no edges at all."""
    domain = parts.rows(20, (15, 60), rng)
    X = parts.normal(domain, 3, rng)
    label = _above(X[:, 0] ** 2 + X[:, 1] - 0.8, 0.4, rng)
    sources = parts.scattered(20, 6, rng)
    return _task(name, X, label, domain, np.zeros((20, 20)), sources, rng, "pond")


def _careless_annotators(name: str, rng: Rng) -> Task:
    """Some annotators are more careless than others; what they look at is the same."""
    weights = parts.small_world(25, rng)
    domain, label = parts.draw(25, 60, 3, rng)
    X = parts.blobs(label, 3, 0.45, rng, n_features=3)
    slip = rng.random(len(label)) < rng.uniform(0, 0.35, 25)[domain]
    label = np.where(slip, rng.integers(0, 3, len(label)), label)
    return _task(name, X, label, domain, weights, parts.scattered(25, 12, rng), rng, "annotator")


#: Name -> family, and what draws the task.
CLASSES: dict[str, tuple[str, Maker]] = {
    "rain-or-dry": ("odds/grid", _rain_or_dry),
    "choices-by-month": ("seasonal tastes/ring", _choices_by_month),
    "small-clubs": ("odds, tiny domains/small world", _small_clubs),
    "road-states": ("each class moves/weighted places", _road_states),
    "hazy-fields": ("haze/places", _hazy_fields),
    "worn-wristbands": ("own angles/random graph", _worn_wristbands),
    "seedlings": ("common size/chain", _seedlings),
    "archipelago": ("clear classes/three parts", _archipelago),
    "foggy-lens": ("one column drifts/chain", _foggy_lens),
    "loud-voices": ("own loudness/hubs", _loud_voices),
    "dialects": ("regional words/communities", _dialects),
    "regional-illness": ("rare class, shares/weighted places", _regional_illness),
    "fish-of-a-river": ("inherited shares/binary tree", _fish_of_a_river),
    "deep-wells": ("curved rule, inputs move/tree", _deep_wells),
    "rare-fault": ("rare class, no shift/few large domains", _rare_fault),
    "one-counter": ("one source, no shift/ring", _one_counter),
    "gene-panels": ("wide, no shift/places", _gene_panels),
    "lonely-ponds": ("curved rule, no shift/no edges", _lonely_ponds),
    "careless-annotators": ("careless labels/small world", _careless_annotators),
}
