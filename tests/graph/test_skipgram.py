"""What node2vec and LINE draw, and what the skip-gram makes of it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import check_grad

from grada.graph import DomainGraph, _node2vec, _skipgram
from grada.graph._skipgram import EdgeSampler

# A triangle with a tail, and a domain without edges in between.
GRAPH = DomainGraph.from_edges(
    [(0, 1, 1.0), (1, 2, 0.5), (0, 2, 0.25), (2, 4, 0.5), (4, 5, 1.0)], names=range(6)
)
WEIGHTS = GRAPH.weights.toarray()


def sampler(seed: int = 0) -> EdgeSampler:
    return EdgeSampler(GRAPH.weights, np.random.default_rng(seed))


def counts(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    found = np.zeros((6, 6))
    np.add.at(found, (first, second), 1)
    return found


def test_edges_and_neighbours_are_drawn_by_weight() -> None:
    edges = sampler()
    drawn = counts(*edges.draw(50_000))
    assert drawn / 50_000 == pytest.approx(WEIGHTS / WEIGHTS.sum(), abs=0.01)
    starts = np.repeat([0, 1, 2, 4, 5], 10_000)
    drawn = counts(starts, edges.neighbours(starts))
    expected = WEIGHTS / np.maximum(WEIGHTS.sum(axis=1, keepdims=True), 1e-9)
    assert drawn / 10_000 == pytest.approx(expected, abs=0.02)
    pairs = np.indices((6, 6)).reshape(2, -1)
    assert np.array_equal(edges.weight_between(*pairs).reshape(6, 6), WEIGHTS)


def test_walks_follow_the_bias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_node2vec, "_WALKS_PER_DOMAIN", 2_000)
    walks = _node2vec.biased_walks(sampler(), return_parameter=4.0, in_out_parameter=0.5)
    assert (WEIGHTS[walks[:-1], walks[1:]] > 0).all()
    # From 0 to 2, and on: back to 0 counts 1/p, 1 is a neighbour of 0, and 4 is not: 1/q.
    came = (walks[:-2] == 0) & (walks[1:-1] == 2)
    share = np.bincount(walks[2:][came], minlength=6) / came.sum()
    expected = np.array([0.25 / 4, 0.5, 0, 0, 0.5 * 2, 0])
    assert came.sum() > 2_000
    assert share == pytest.approx(expected / expected.sum(), abs=0.03)


def test_pairs_lie_within_the_window() -> None:
    # On a walk that never turns, the distance of a pair can be read off.
    walks = np.tile(np.arange(20, dtype=np.int32)[:, None], (1, 3))
    draw = _node2vec._pairs_of(walks, np.random.default_rng(0))
    first, second = draw(60_000)
    share = np.bincount(np.abs(first - second)) / 60_000
    assert share == pytest.approx(np.array([0, 5, 4, 3, 2, 1]) / 15, abs=0.01)
    assert abs(np.mean(first < second) - 0.5) < 0.02


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_gradient_is_that_of_the_loss(symmetric: bool) -> None:
    generator = np.random.default_rng(0)
    pairs = sampler().draw(40)
    noise = np.cumsum(np.array([1.0, 2.0, 3.0, 0.0, 1.0, 1.0]))
    start = generator.normal(size=(6, 3) if symmetric else (12, 3))

    def split(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tables = flat.reshape(-1, 3)
        return (tables, tables) if symmetric else (tables[:6], tables[6:])

    def loss(flat: np.ndarray) -> float:
        own, other = split(flat)
        order = np.argsort(pairs[0], kind="stable")
        first, second = pairs[0][order, None], pairs[1][order, None]
        drawn = np.random.default_rng(7).random((40, _skipgram._NEGATIVES)) * noise[-1]
        drawn = np.searchsorted(noise, drawn)
        assert (drawn != 3).all()
        positive = np.logaddexp(0, -(own[first] * other[second]).sum(axis=2))
        negative = np.logaddexp(0, (own[first] * other[drawn]).sum(axis=2))
        if symmetric:
            negative[drawn == first] = 0
        return float(positive.sum() + negative.sum()) * 6 / 40

    def gradient(flat: np.ndarray) -> np.ndarray:
        own, other = split(flat)
        slopes = _skipgram._slopes(pairs, noise, own, other, np.random.default_rng(7))
        by_own, by_other = slopes @ other, slopes.T @ own
        return (by_own + by_other if symmetric else np.vstack([by_own, by_other])).ravel()

    assert check_grad(loss, gradient, start.ravel()) < 1e-5


def test_parts_of_a_large_batch_give_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = DomainGraph.grid(6, 6)
    one = graph.embed("node2vec", random_state=0)
    monkeypatch.setattr(_skipgram, "_MOST_AT_ONCE", 300)
    many = graph.embed("node2vec", random_state=0)
    gaps = [np.linalg.norm(points[:, None] - points[None], axis=2) for points in (one, many)]
    assert np.corrcoef(gaps[0].ravel(), gaps[1].ravel())[0, 1] > 0.9


def test_line_brings_together_what_has_the_same_neighbours() -> None:
    graph = DomainGraph.from_networkx(nx.complete_bipartite_graph(10, 10))
    side = np.arange(20) < 10
    same = side[:, None] == side[None]
    for seed in range(3):
        points = graph.embed("line", random_state=seed)
        gap = np.linalg.norm(points[:, None] - points[None], axis=2)
        assert gap[same].mean() < 0.8 * gap[~same].mean()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_line_says_more_than_a_sign(dim: int) -> None:
    points = DomainGraph.grid(5, 5).embed("line", dim, random_state=0)
    assert len(np.unique(points.round(6), axis=0)) == 25
