"""More classification tasks to tune on: they were the unseen part once."""

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
    return (rng.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(np.intp)


# The classes turn.


def _space_blobs(name: str, rng: Rng) -> Task:
    domain, label = parts.draw(24, 60, 3, rng)
    X = parts.blobs(label, 3, 0.35, rng, n_features=3)
    X = parts.askew(parts.turn(X, 2 * np.pi * domain / 24), rng)
    return _task(name, X, label, domain, parts.ring(24), range(0, 24, 4), rng)


def _two_planes(name: str, rng: Rng) -> Task:
    """Four classes in five dimensions that turn in two planes at once."""
    domain, label = parts.draw(18, 70, 4, rng)
    centre = parts.askew(1.2 * np.eye(5), rng)
    X = centre[label] + 0.35 * rng.normal(size=(len(label), 5))
    for plane in ((0, 1), (2, 3)):
        X = parts.turn(X, 1.8 * domain / 17, plane)
    return _task(name, X, label, domain, parts.chain(18), range(4), rng, "step")


def _moons_chain(name: str, rng: Rng) -> Task:
    domain, label = parts.draw(16, 80, 2, rng)
    X = parts.turn(parts.moons(label, 0.12, rng), 2.1 * domain / 15)
    return _task(name, X, label, domain, parts.chain(16), range(3), rng, "day")


def _xor_ring(name: str, rng: Rng) -> Task:
    """A half turn brings four clouds, two a class, back to where they were."""
    domain, label = parts.draw(20, 100, 2, rng)
    side = rng.choice([-1.0, 1.0], len(label))
    X = np.column_stack([side, side * (1 - 2 * label)]) + 0.4 * rng.normal(size=(len(label), 2))
    X = parts.turn(X, np.pi * domain / 20)
    return _task(name, X, label, domain, parts.ring(20), range(0, 20, 5), rng)


def _six_classes(name: str, rng: Rng) -> Task:
    domain, label = parts.draw(12, 120, 6, rng)
    X = parts.turn(parts.blobs(label, 6, 0.2, rng), 0.9 * domain / 11)
    return _task(name, X, label, domain, parts.chain(12), range(4), rng, "year")


def _overlap_places(name: str, rng: Rng) -> Task:
    """Classes of which one row in six lies on the wrong side."""
    weights, place = parts.places(35, rng)
    domain, label = parts.draw(35, 60, 2, rng)
    X = parts.turn(parts.blobs(label, 2, 1.0, rng), 0.7 * parts.field(place, rng)[domain, 0])
    return _task(name, X, label, domain, weights, parts.scattered(35, 10, rng), rng)


def _inherited_turns(name: str, rng: Rng) -> Task:
    weights = parts.binary_tree(4)
    domain, label = parts.draw(31, 50, 3, rng)
    X = parts.blobs(label, 3, 0.4, rng)
    X = parts.turn(X, parts.inherited(weights, 0.35, rng)[domain, 0])
    return _task(name, X, label, domain, weights, parts.scattered(31, 10, rng), rng, "branch")


def _turning_boundary(name: str, rng: Rng) -> Task:
    """The inputs stay: only what they mean changes from place to place."""
    weights, place = parts.places(80, rng)
    domain = parts.rows(80, (10, 60), rng)
    X = rng.normal(size=(len(domain), 2))
    normal = parts.direction(0.7 * parts.field(place, rng)[domain, 0])
    label = _chance(5 * (X * normal).sum(axis=1), rng)
    return _task(name, X, label, domain, weights, parts.scattered(80, 30, rng), rng, "village")


def _uneven_chain(name: str, rng: Rng) -> Task:
    """From one row to 200 rows a domain."""
    domain, label = parts.draw(30, (1, 200), 3, rng)
    X = parts.turn(parts.blobs(label, 3, 0.4, rng), 2.1 * domain / 29)
    return _task(name, X, label, domain, parts.chain(30), parts.scattered(30, 8, rng), rng, "stop")


def _diffused_turns(name: str, rng: Rng) -> Task:
    """Random edges along which the angle is smooth."""
    weights = parts.random_graph(40, rng)
    domain, label = parts.draw(40, 50, 2, rng)
    X = parts.turn(parts.blobs(label, 2, 0.5, rng), 0.8 * parts.diffused(weights, rng)[domain, 0])
    return _task(name, X, label, domain, weights, parts.scattered(40, 13, rng), rng, "user")


def _long_chain(name: str, rng: Rng) -> Task:
    """One source, and sixty domains in which the classes turn while they move."""
    domain, label = parts.draw(60, 50, 2, rng)
    amount = domain / 59
    X = parts.turn(parts.blobs(label, 2, 0.3, rng), 2.0 * amount) + 2 * amount[:, None]
    return _task(name, X, label, domain, parts.chain(60), [0], rng, "week")


def _two_rings(name: str, rng: Rng) -> Task:
    """Two rings that are not joined, each with one source: in one the classes turn, in one move."""
    domain, label = parts.draw(20, 70, 2, rng)
    amount = (1 - np.cos(2 * np.pi * (domain % 10) / 10)) / 2
    X = parts.blobs(label, 2, 0.35, rng)
    turned, moved = parts.turn(X, 1.2 * amount), X + 1.5 * amount[:, None]
    X = np.where(domain[:, None] < 10, turned, moved)
    return _task(name, X, label, domain, parts.two(parts.ring(10)), [0, 10], rng)


# The classes move.


def _moons_tree(name: str, rng: Rng) -> Task:
    weights = parts.binary_tree(4)
    domain, label = parts.draw(31, 50, 2, rng)
    X = parts.moons(label, 0.12, rng) + parts.inherited(weights, 0.4, rng, 2)[domain]
    return _task(name, X, label, domain, weights, range(7), rng, "branch")


def _grid_two_ways(name: str, rng: Rng) -> Task:
    weights, place = parts.grid(6, 6)
    domain, label = parts.draw(36, 40, 3, rng)
    X = parts.blobs(label, 3, 0.45, rng) + place[domain] * [3.0, 2.0]
    sources = parts.clustered(weights, place.sum(axis=1), 9)
    return _task(name, X, label, domain, weights, sources, rng, "cell")


def _rare_ring(name: str, rng: Rng) -> Task:
    """Nine rows of one class for one of the other."""
    domain = parts.rows(20, 100, rng)
    label = parts.labels(domain, 2, rng, np.tile([0.9, 0.1], (20, 1)))
    X = parts.blobs(label, 2, 0.45, rng) + 0.8 * parts.direction(2 * np.pi * domain / 20)
    return _task(name, X, label, domain, parts.ring(20), range(5), rng)


def _mean_shift_places(name: str, rng: Rng) -> Task:
    """Thirty features whose means are smooth on the map, and fifteen rows a place."""
    weights, place = parts.places(24, rng)
    domain, label = parts.draw(24, 15, 2, rng)
    X = rng.normal(size=(len(label), 30)) + 0.8 * parts.field(place, rng, 30)[domain]
    X[:, :8] += 0.6 * (2 * label[:, None] - 1)
    return _task(name, X, label, domain, weights, parts.scattered(24, 8, rng), rng, "clinic")


def _mean_shift_years(name: str, rng: Rng) -> Task:
    """Fifty features that drift, in part along what tells the classes apart."""
    domain, label = parts.draw(12, 25, 2, rng)
    X = rng.normal(size=(len(label), 50))
    X[:, :10] += 0.6 * (2 * label[:, None] - 1)
    X += 2.5 * domain[:, None] / 11 * rng.choice([0.0, 0.5], 50)
    return _task(name, parts.askew(X, rng), label, domain, parts.chain(12), range(4), rng, "year")


def _star_offsets(name: str, rng: Rng) -> Task:
    domain, label = parts.draw(16, 80, 3, rng)
    X = parts.blobs(label, 3, 0.4, rng) + 0.4 * rng.normal(size=(16, 2))[domain]
    return _task(name, X, label, domain, parts.star(15), range(4), rng, "branch")


def _moving_world(name: str, rng: Rng) -> Task:
    weights = parts.small_world(50, rng)
    domain, label = parts.draw(50, 40, 2, rng)
    X = parts.blobs(label, 2, 0.5, rng) + parts.diffused(weights, rng, 2)[domain]
    return _task(name, X, label, domain, weights, parts.scattered(50, 13, rng), rng, "user")


def _both_ends(name: str, rng: Rng) -> Task:
    """A chain with labels at its two ends."""
    domain, label = parts.draw(21, 60, 4, rng)
    X = parts.blobs(label, 4, 0.3, rng) + 2.5 * domain[:, None] / 20
    labels = np.array(["red", "green", "blue", "grey"], dtype=object)[label]
    return _task(name, X, labels, domain, parts.chain(21), [0, 1, 19, 20], rng, "stop")


def _parabola(name: str, rng: Rng) -> Task:
    """A curved boundary that moves along with the inputs."""
    weights = parts.random_tree(28, rng)
    domain = parts.rows(28, 60, rng)
    X = rng.normal(size=(len(domain), 2))
    label = _chance(6 * (X[:, 1] - X[:, 0] ** 2 + 0.7), rng)
    X += parts.inherited(weights, 0.4, rng, 2)[domain]
    return _task(name, X, label, domain, weights, parts.scattered(28, 8, rng), rng, "branch")


def _outliers(name: str, rng: Rng) -> Task:
    """Heavy tails, and labels in the middle of the chain."""
    domain, label = parts.draw(20, 60, 2, rng)
    X = 0.35 * rng.standard_t(2, size=(len(label), 4))
    X[:, :2] += 0.8 * (2 * label[:, None] - 1)
    X += 2 * (domain[:, None] / 19) * rng.normal(size=4)
    return _task(name, X, label, domain, parts.chain(20), range(8, 12), rng, "hour")


def _sideways(name: str, rng: Rng) -> Task:
    """Domains differ, but not in what tells the classes apart; the graph says nothing."""
    domain, label = parts.draw(20, 60, 2, rng)
    X = parts.blobs(label, 2, 0.5, rng)
    X[:, 1] += 1.5 * rng.normal(size=20)[domain]
    weights = parts.random_graph(20, rng)
    return _task(name, X, label, domain, weights, parts.scattered(20, 6, rng), rng)


def _moons_random(name: str, rng: Rng) -> Task:
    """Each domain has moved on its own; the graph says nothing."""
    domain, label = parts.draw(22, 60, 2, rng)
    X = parts.moons(label, 0.12, rng) + 0.5 * rng.normal(size=(22, 2))[domain]
    weights = parts.random_graph(22, rng)
    return _task(name, X, label, domain, weights, parts.scattered(22, 8, rng), rng)


# The scales move.


def _sensors_random(name: str, rng: Rng) -> Task:
    """Each sensor has gains and zeros of its own; the graph says nothing."""
    domain, label = parts.draw(25, 80, 2, rng)
    X = rng.normal(size=(len(label), 6))
    X[:, :4] += 0.8 * (2 * label[:, None] - 1)
    X = X * np.exp(0.4 * rng.normal(size=(25, 6)))[domain] + rng.normal(size=(25, 6))[domain]
    weights = parts.random_graph(25, rng)
    return _task(name, X, label, domain, weights, parts.scattered(25, 10, rng), rng, "sensor")


def _sensors_places(name: str, rng: Rng) -> Task:
    """Gains and zeros that are smooth on the map."""
    weights, place = parts.places(40, rng)
    domain, label = parts.draw(40, (20, 100), 3, rng)
    X = parts.askew(parts.blobs(label, 3, 0.4, rng, n_features=5), rng)
    gain, zero = np.split(parts.field(place, rng, 10)[domain], 2, axis=1)
    X = X * np.exp(0.4 * gain) + 0.7 * zero
    return _task(name, X, label, domain, weights, parts.scattered(40, 12, rng), rng, "sensor")


def _shells(name: str, rng: Rng) -> Task:
    """Spheres one in the other that grow over the grid."""
    weights, place = parts.grid(5, 5)
    domain, label = parts.draw(25, 70, 3, rng)
    X = rng.normal(size=(len(label), 3))
    radius = 1 + label + 0.2 * rng.normal(size=len(label))
    X *= (radius * np.exp(0.4 * place.sum(axis=1))[domain] / np.linalg.norm(X, axis=1))[:, None]
    sources = parts.clustered(weights, place.sum(axis=1), 6)
    return _task(name, X, label, domain, weights, sources, rng, "cell")


# The shares of the classes or of the inputs move, or nothing.


def _shares_grid(name: str, rng: Rng) -> Task:
    weights, place = parts.grid(5, 6)
    domain = parts.rows(30, 70, rng)
    taste = np.column_stack([2 * place[:, 0], 2 * place[:, 1], 1 - 0 * place[:, 0]])
    label = parts.labels(domain, 3, rng, np.exp(1.5 * taste))
    X = parts.blobs(label, 3, 0.6, rng)
    sources = parts.clustered(weights, place.sum(axis=1), 8)
    return _task(name, X, label, domain, weights, sources, rng, "cell")


def _hospitals(name: str, rng: Rng) -> Task:
    """Few and large domains; other patients come, and the same rule holds for them."""
    domain = parts.rows(5, 300, rng)
    X = rng.normal(size=(len(domain), 8)) + 0.4 * domain[:, None] * rng.normal(size=8)
    rule = rng.normal(size=8)
    label = _chance((X - X.mean(axis=0)) @ rule, rng)
    labels = np.array(["healthy", "ill"], dtype=object)[label]
    return _task(name, X, labels, domain, parts.chain(5), range(2), rng, "hospital")


def _answers(name: str, rng: Rng) -> Task:
    """Twenty questions of yes or no, to which people say yes more or less often as years go by."""
    domain, label = parts.draw(15, 80, 3, rng)
    ask, drift = rng.normal(size=(2, 20))
    of_class = rng.normal(size=(3, 20))
    log_odds = ask + of_class[label] + 2 * (domain[:, None] / 14) * drift
    X = (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(float)
    labels = np.array(["left", "middle", "right"], dtype=object)[label]
    return _task(name, X, labels, domain, parts.chain(15), range(5), rng, "year")


def _no_shift_overlap(name: str, rng: Rng) -> Task:
    """Nothing moves, and one row in five lies on the wrong side."""
    domain, label = parts.draw(25, 50, 2, rng)
    X = parts.askew(parts.blobs(label, 2, 1.2, rng, n_features=5), rng)
    weights = parts.small_world(25, rng)
    return _task(name, X, label, domain, weights, parts.scattered(25, 3, rng), rng)


def _no_shift_circles(name: str, rng: Rng) -> Task:
    """Nothing moves, and the one source is the root."""
    domain, label = parts.draw(15, (40, 120), 2, rng)
    X = parts.direction(2 * np.pi * rng.random(len(label))) * (1 + label[:, None])
    X += 0.25 * rng.normal(size=X.shape)
    return _task(name, X, label, domain, parts.binary_tree(3), [0], rng, "branch")


#: Name -> family, and what draws the task.
CLASSES: dict[str, tuple[str, Maker]] = {
    "space-blobs": ("blobs in space/ring", _space_blobs),
    "two-planes": ("two planes/chain", _two_planes),
    "moons-chain": ("moons/chain", _moons_chain),
    "xor-ring": ("xor/ring", _xor_ring),
    "six-classes": ("six classes/chain", _six_classes),
    "overlap-places": ("overlap/places", _overlap_places),
    "inherited-turns": ("inherited rotation/binary tree", _inherited_turns),
    "turning-boundary": ("turning boundary/places", _turning_boundary),
    "uneven-chain": ("uneven rotation/chain", _uneven_chain),
    "diffused-turns": ("rotation/informative random graph", _diffused_turns),
    "long-chain": ("turn and move/long chain", _long_chain),
    "two-rings": ("turn or move/two rings", _two_rings),
    "moons-tree": ("moons/binary tree", _moons_tree),
    "grid-two-ways": ("two directions/grid", _grid_two_ways),
    "rare-ring": ("rare class/ring", _rare_ring),
    "mean-shift-places": ("mean shift/places", _mean_shift_places),
    "mean-shift-years": ("mean shift/chain", _mean_shift_years),
    "star-offsets": ("own offsets/star", _star_offsets),
    "moving-world": ("translation/small world", _moving_world),
    "both-ends": ("both ends/chain", _both_ends),
    "parabola": ("parabola/tree", _parabola),
    "outliers": ("outliers/chain", _outliers),
    "sideways": ("sideways/random graph", _sideways),
    "moons-random": ("moons/random graph", _moons_random),
    "sensors-random": ("sensors/random graph", _sensors_random),
    "sensors-places": ("sensors/places", _sensors_places),
    "shells": ("shells/grid", _shells),
    "shares-grid": ("label shift/grid", _shares_grid),
    "hospitals": ("covariates/few domains", _hospitals),
    "answers": ("yes and no/chain", _answers),
    "no-shift-overlap": ("overlap, no shift/small world", _no_shift_overlap),
    "no-shift-circles": ("circles, no shift/binary tree", _no_shift_circles),
}
