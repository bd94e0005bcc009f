"""More regression tasks to tune on: they were the unseen part once. All have noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from grada.benchmark import _zoo_parts as parts
from grada.benchmark._zoo import Maker
from grada.benchmark._zoo_parts import Floats, Rng
from grada.datasets import Task

_task = partial(parts.build, kind="regression")


def _times(X: Floats, coefficients: Floats) -> Floats:
    product: Floats = (X * coefficients).sum(axis=1)
    return product


# The coefficients move.


def _inherited_coefficients(name: str, rng: Rng) -> Task:
    weights = parts.binary_tree(4)
    domain = parts.rows(31, 40, rng)
    X = parts.normal(domain, 5, rng)
    coefficients = rng.normal(size=5) + parts.inherited(weights, 0.3, rng, 5)
    y = parts.noisy(_times(X, coefficients[domain]), 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(31, 15, rng), rng, "branch")


def _coefficients_grid(name: str, rng: Rng) -> Task:
    weights, place = parts.grid(6, 7)
    domain = parts.rows(42, 30, rng)
    X = parts.normal(domain, 4, rng)
    coefficients = rng.normal(size=4) + 0.6 * parts.field(place, rng, 4, width=0.5)
    y = parts.noisy(_times(X, coefficients[domain]), 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(42, 14, rng), rng, "cell")


def _slope_by_mean(name: str, rng: Rng) -> Task:
    """The slope follows from where the inputs of a domain lie; the graph says nothing."""
    domain = parts.rows(25, 60, rng)
    mean = rng.normal(size=25)
    X = parts.normal(domain, 3, rng)
    X[:, 0] += mean[domain]
    y = parts.noisy((1 + 0.3 * mean[domain]) * X[:, 0] - 0.5 * X[:, 1], 5, rng)
    weights = parts.random_graph(25, rng)
    return _task(name, X, y, domain, weights, parts.scattered(25, 10, rng), rng)


def _heavy_tails(name: str, rng: Rng) -> Task:
    """The coefficients go around with the ring; some responses are far off."""
    domain = parts.rows(20, 60, rng)
    X = parts.normal(domain, 3, rng)
    around = parts.direction(2 * np.pi * np.arange(20) / 20)[domain]
    y = 1.5 * X[:, 0] + 0.7 * _times(X[:, 1:], around)
    y += 0.3 * rng.standard_t(3, len(y))
    return _task(name, X, y, domain, parts.ring(20), parts.scattered(20, 7, rng), rng, "month")


def _two_groups(name: str, rng: Rng) -> Task:
    """Two chains that are not joined, with one source and coefficients of their own each."""
    domain = parts.rows(18, 80, rng)
    X = parts.normal(domain, 4, rng)
    own = np.array([1.0, -0.5, 0.5, 0.0]) + 0.5 * rng.normal(size=(2, 4))
    y = parts.noisy(_times(X, own[domain // 9]) + 0.8 * (domain // 9), 4, rng)
    return _task(name, X, y, domain, parts.two(parts.chain(9)), [4, 13], rng)


# The level moves.


def _seasons(name: str, rng: Rng) -> Task:
    domain = parts.rows(24, 60, rng)
    season = parts.direction(2 * np.pi * np.arange(24) / 24)[domain]
    X = parts.normal(domain, 3, rng)
    X[:, 0] += 1.5 * season[:, 0]
    y = parts.noisy(X @ [0.6, 0.8, -0.4] + 1.2 * season[:, 1], 4, rng)
    sources = parts.scattered(24, 8, rng)
    return _task(name, X, y, domain, parts.ring(24), sources, rng, "fortnight")


def _levels_small_world(name: str, rng: Rng) -> Task:
    weights = parts.small_world(40, rng)
    domain = parts.rows(40, 30, rng)
    X = parts.normal(domain, 4, rng)
    level = parts.diffused(weights, rng)[domain, 0]
    y = parts.noisy(X @ [0.8, 0.5, 0.3, 0.0] + level, 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(40, 14, rng), rng)


def _own_levels(name: str, rng: Rng) -> Task:
    """The graph is of places, but the levels have nothing to do with them."""
    weights, _ = parts.places(30, rng)
    domain = parts.rows(30, 40, rng)
    X = parts.normal(domain, 3, rng)
    y = parts.noisy(X @ [1.0, -0.6, 0.3] + 0.5 * rng.normal(size=30)[domain], 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(30, 20, rng), rng, "shop")


def _noise_by_input(name: str, rng: Rng) -> Task:
    weights = parts.random_tree(25, rng)
    domain = parts.rows(25, 60, rng)
    X = parts.normal(domain, 3, rng)
    level = parts.inherited(weights, 0.4, rng)[domain, 0]
    y = X @ [1.2, 0.8, 0.0] + level
    y += (0.2 + 0.4 * np.abs(X[:, 0])) * rng.normal(size=len(y))
    return _task(name, X, y, domain, weights, parts.scattered(25, 9, rng), rng, "branch")


def _counts(name: str, rng: Rng) -> Task:
    weights, place = parts.places(45, rng)
    domain = parts.rows(45, (15, 80), rng)
    X = parts.normal(domain, 3, rng)
    level = parts.field(place, rng)[domain, 0]
    y = rng.poisson(np.exp(2.3 + X @ [0.35, -0.25, 0.0] + 0.4 * level)).astype(float)
    return _task(name, X, y, domain, weights, parts.scattered(45, 15, rng), rng, "shop")


def _confounded_field(name: str, rng: Rng) -> Task:
    """A field over the plane that shows in the inputs too."""
    weights, place = parts.places(60, rng)
    domain = parts.rows(60, 40, rng)
    level = parts.field(place, rng)[domain, 0]
    X = parts.normal(domain, 4, rng)
    X[:, 0] += level
    y = parts.noisy(X @ [0.7, 0.5, -0.5, 0.2] - level, 4, rng)
    return _task(name, X, y, domain, weights, parts.scattered(60, 20, rng), rng, "well")


def _uneven_levels(name: str, rng: Rng) -> Task:
    """From one row to 150 rows a domain."""
    domain = parts.rows(30, (1, 150), rng)
    X = parts.normal(domain, 3, rng)
    level = np.sin(2 * np.pi * np.arange(30) / 20)[domain]
    y = parts.noisy(X @ [0.8, 0.5, 0.0] + level, 4, rng)
    return _task(name, X, y, domain, parts.chain(30), parts.scattered(30, 12, rng), rng, "stop")


def _between_and_within(name: str, rng: Rng) -> Task:
    """Within a domain the response rises with the input, between domains it falls."""
    weights, place = parts.places(35, rng)
    domain = parts.rows(35, 40, rng)
    mean = parts.field(place, rng)[domain, 0]
    inner = parts.normal(domain, 2, rng)
    y = parts.noisy(inner @ [1.0, 0.5] - 0.8 * mean, 4, rng)
    X = inner + mean[:, None] * [1.0, 0.0]
    return _task(name, X, y, domain, weights, parts.scattered(35, 14, rng), rng, "school")


def _two_outputs(name: str, rng: Rng) -> Task:
    """The level of one output moves over the grid, a coefficient of the other."""
    weights, place = parts.grid(5, 6)
    domain = parts.rows(30, 50, rng)
    X = parts.normal(domain, 3, rng)
    level, slope = parts.field(place, rng, 2, width=0.5)[domain].T
    y = np.column_stack([X @ [1.0, 0.5, 0.0] + 0.8 * level, X[:, 2] + 0.6 * slope * X[:, 0]])
    y = parts.noisy(y, 5, rng)
    return _task(name, X, y, domain, weights, parts.scattered(30, 10, rng), rng, "cell")


# Only the inputs move, or nothing.


def _sine_windows(name: str, rng: Rng) -> Task:
    domain = parts.rows(18, 60, rng)
    X = parts.normal(domain, 2, rng)
    X[:, 0] = 6 * domain / 17 + rng.uniform(-1, 1, len(domain))
    y = parts.noisy(np.sin(1.2 * X[:, 0]) + 0.5 * X[:, 1], 4, rng)
    return _task(name, X, y, domain, parts.chain(18), range(1, 18, 3), rng, "depth")


def _own_gains(name: str, rng: Rng) -> Task:
    """Each sensor has a gain and a zero of its own; the graph says nothing."""
    domain = parts.rows(22, 60, rng)
    X = parts.normal(domain, 4, rng)
    y = parts.noisy(X @ [1.0, 0.7, -0.5, 0.3], 4, rng)
    gain, zero = np.exp(0.3 * rng.normal(size=(22, 4))), 0.7 * rng.normal(size=(22, 4))
    X = X * gain[domain] + zero[domain]
    weights = parts.random_graph(22, rng)
    return _task(name, X, y, domain, weights, parts.scattered(22, 9, rng), rng, "sensor")


def _mean_shift(name: str, rng: Rng) -> Task:
    """Thirty inputs whose means drift along a tree; the response is the same line everywhere."""
    weights = parts.random_tree(20, rng)
    domain = parts.rows(20, 25, rng)
    X = parts.normal(domain, 30, rng) + parts.inherited(weights, 0.4, rng, 30)[domain]
    y = parts.noisy(X[:, :6] @ rng.normal(size=6), 3, rng)
    sources = parts.clustered(weights, np.arange(20.0), 5)
    return _task(name, X, y, domain, weights, sources, rng, "branch")


def _no_shift_star(name: str, rng: Rng) -> Task:
    domain = parts.rows(15, 30, rng)
    X = parts.normal(domain, 8, rng)
    y = parts.noisy(X @ rng.normal(size=8), 2, rng)
    return _task(name, X, y, domain, parts.star(14), [0], rng)


def _no_shift_curved(name: str, rng: Rng) -> Task:
    domain = parts.rows(20, (20, 150), rng)
    X = rng.random((len(domain), 5))
    curved = np.sin(np.pi * X[:, 0] * X[:, 1]) + 2 * (X[:, 2] - 0.5) ** 2 + X[:, 3]
    y = parts.noisy(curved, 4, rng)
    weights = parts.random_graph(20, rng)
    return _task(name, X, y, domain, weights, parts.scattered(20, 5, rng), rng)


#: Name -> family, and what draws the task.
VALUES: dict[str, tuple[str, Maker]] = {
    "inherited-coefficients": ("coefficients/binary tree", _inherited_coefficients),
    "coefficients-grid": ("coefficients/grid", _coefficients_grid),
    "slope-by-mean": ("slope by mean/random graph", _slope_by_mean),
    "heavy-tails-ring": ("heavy tails/ring", _heavy_tails),
    "two-groups": ("own coefficients/two chains", _two_groups),
    "seasons": ("seasons/ring", _seasons),
    "levels-small-world": ("levels/small world", _levels_small_world),
    "own-levels": ("own levels/places", _own_levels),
    "noise-by-input": ("noise by input/tree", _noise_by_input),
    "counts": ("counts/places", _counts),
    "confounded-field": ("confounded field/places", _confounded_field),
    "uneven-levels": ("uneven levels/chain", _uneven_levels),
    "between-and-within": ("between and within/places", _between_and_within),
    "two-outputs": ("two outputs/grid", _two_outputs),
    "sine-windows": ("sine/chain", _sine_windows),
    "own-gains": ("own gains/random graph", _own_gains),
    "mean-shift-tree": ("mean shift/tree", _mean_shift),
    "no-shift-star": ("no shift/star", _no_shift_star),
    "no-shift-curved": ("curved, no shift/random graph", _no_shift_curved),
}
