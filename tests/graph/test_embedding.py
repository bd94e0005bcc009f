"""Node embeddings: bounded, repeatable, and true to the graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.metrics import roc_auc_score

from grada.graph import DomainGraph, _embedding, _reconstruction, _spectral

LEARNED = ["reconstruction", "spectral"]
ALL_KINDS = list(_embedding.KINDS)


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def held_out(size: int, radius: float) -> tuple[DomainGraph, np.ndarray, np.ndarray]:
    """A random geometric graph without a tenth of its edges, those edges, and the non-edges."""
    full = nx.random_geometric_graph(size, radius, seed=0)
    edges = np.random.default_rng(0).permutation(np.array(full.edges))
    cut = len(edges) // 10
    first, second = np.triu_indices(size, 1)
    missing = nx.to_numpy_array(full)[first, second] == 0
    graph = DomainGraph.from_edges(edges[cut:], names=range(size))
    return graph, edges[:cut].T, np.array([first[missing], second[missing]])


@pytest.mark.parametrize("kind", LEARNED)
# Below and above the size from which pairs are sampled.
@pytest.mark.parametrize(("size", "radius"), [(200, 0.12), (600, 0.07)])
def test_held_out_edges_lie_closer_than_non_edges(kind: str, size: int, radius: float) -> None:
    graph, hidden, apart = held_out(size, radius)
    points = graph.embed(kind, random_state=0)
    first, second = np.hstack([hidden, apart])
    truth = np.arange(len(first)) < hidden.shape[1]
    gap = np.linalg.norm(points[first] - points[second], axis=1)
    assert roc_auc_score(truth, -gap) >= 0.93
    assert roc_auc_score(truth, (points[first] * points[second]).sum(axis=1)) >= 0.85


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("size", [30, 500])
def test_neighbours_in_a_chain_lie_closer_than_far_nodes(kind: str, size: int) -> None:
    gap = distances(DomainGraph.chain(size).embed(kind, random_state=0))
    at = np.arange(size)
    hop = np.abs(at[:, None] - at[None])
    assert np.quantile(gap[hop == 1], 0.9) < np.quantile(gap[hop >= size // 3], 0.1)


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("size", [100, 400])
def test_an_outlier_cannot_lie_far_away(kind: str, size: int) -> None:
    body = list(nx.random_geometric_graph(size, 2.5 / np.sqrt(size), seed=1).edges)
    tail = [(0, "pendant"), ("pendant", "tip"), ("far", "away")]
    points = DomainGraph.from_edges(body + tail).embed(kind, random_state=0)
    reach = np.linalg.norm(points - points.mean(axis=0), axis=1)
    assert np.linalg.norm(points, axis=1).max() <= 1
    assert reach.max() <= 2 * np.median(reach)


def test_the_gradient_is_that_of_the_loss() -> None:
    generator = np.random.default_rng(0)
    graph = DomainGraph.from_edges([(0, 1, 0.3), (1, 2), (2, 3), (3, 4, 0.7)])
    target = graph.weights.toarray()
    rest = _reconstruction._shares(1 - np.eye(5) - target)
    fixed = (_reconstruction._shares(target), rest, generator.normal(size=(5, 3)))
    error = check_grad(
        lambda flat: _reconstruction.all_pairs_loss(flat, *fixed)[0],
        lambda flat: _reconstruction.all_pairs_loss(flat, *fixed)[1],
        generator.normal(size=17),
    )
    assert error < 1e-6


@pytest.mark.parametrize("size", [60, 400])
def test_weights_count(size: int) -> None:
    # A ring whose edges are strong and weak in turn.
    edges = [(at, (at + 1) % size, 1.0 if at % 2 else 0.05) for at in range(size)]
    graph = DomainGraph.from_edges(edges, names=range(size))
    points = graph.embed(random_state=0)
    gap = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    assert gap[1::2].mean() < 0.7 * gap[::2].mean()


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("graph", [DomainGraph.grid(4, 5), DomainGraph.grid(20, 20)])
def test_one_state_one_embedding(kind: str, graph: DomainGraph) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    points = graph.embed(kind, random_state=3)
    assert np.array_equal(points, graph.embed(kind, random_state=3))
    for make in (np.random.RandomState, np.random.default_rng):
        assert np.array_equal(
            graph.embed(kind, random_state=make(7)), graph.embed(kind, random_state=make(7))
        )
    assert np.isfinite(graph.embed(kind)).all()
    if kind == "reconstruction":
        assert not np.array_equal(points, graph.embed(kind, random_state=4))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


edgeless = DomainGraph.from_edges([], names=range(6))
many_alone = DomainGraph.from_edges([(0, 1)], names=range(400))
pairs_only = DomainGraph.from_edges([(at, at + 1) for at in range(0, 400, 2)])
tiny_weights = DomainGraph.from_edges([(0, 1, 5e-324), (1, 2, 1e-320), (2, 3, 1e-310)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize(
    "graph",
    [
        DomainGraph.chain(1),
        DomainGraph.chain(2),
        DomainGraph.clique(7),
        DomainGraph.clique(310),
        DomainGraph.star(0, range(1, 400)),
        edgeless,
        many_alone,
        pairs_only,
        tiny_weights,
    ],
    ids=repr,
)
def test_odd_graphs(kind: str, graph: DomainGraph) -> None:
    for dim in (None, 20) if kind != "one-hot" else (None,):
        points = graph.embed(kind, dim, random_state=0)
        assert points.dtype == np.float64
        assert np.isfinite(points).all()
        assert np.linalg.norm(points, axis=1).max() <= 1
        expected = _embedding.default_dim(len(graph)) if kind != "one-hot" else len(graph)
        assert points.shape == (len(graph), dim or expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.floats(0.05, 0.95), st.integers(0, 1000))
def test_no_two_domains_share_a_place(size: int, density: float, seed: int) -> None:
    graph = DomainGraph.from_networkx(nx.gnp_random_graph(size, density, seed=seed))
    gap = distances(graph.embed(random_state=seed))
    assert gap[~np.eye(size, dtype=bool)].min() > 1e-4


def test_spectral_tells_apart_what_the_graph_tells_apart() -> None:
    for size in (20, 500):
        star = DomainGraph.star("hub", range(size)).embed("spectral", random_state=0)
        assert np.linalg.norm(star[0] - star[1]) > 0.5
        assert distances(star[1:20]).max() < 1e-4


@pytest.mark.parametrize("size", [100, 800])
def test_spectral_finds_groups_despite_stray_pairs(size: int) -> None:
    blocks = nx.planted_partition_graph(2, size // 2, 20 / size, 1 / size, seed=0)
    blocks.remove_nodes_from(list(nx.isolates(blocks)))
    stray = [(f"a{at}", f"b{at}") for at in range(30)]
    graph = DomainGraph.from_edges(list(blocks.edges) + stray)
    first = graph.embed("spectral", random_state=0)[:, 0]
    known = [(name < size // 2, first[at]) for at, name in enumerate(graph) if type(name) is int]
    group, score = map(np.array, zip(*known, strict=True))
    auc = roc_auc_score(group, score)
    assert max(auc, 1 - auc) > 0.95


def test_large_and_small_solvers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = DomainGraph.grid(9, 25)
    exact = graph.embed("spectral", 4, random_state=0)
    monkeypatch.setattr(_spectral, "DENSE_LIMIT", 10)
    assert np.abs(graph.embed("spectral", 4, random_state=0) - exact).max() < 1e-2


def test_one_hot() -> None:
    assert np.array_equal(DomainGraph.chain(3).embed("one-hot"), np.eye(3))
    with pytest.raises(ValueError, match=r"5000 domains.*kind='reconstruction'"):
        DomainGraph.chain(5000).embed("one-hot")
    with pytest.raises(ValueError, match="leave dim out or set it to 3"):
        DomainGraph.chain(3).embed("one-hot", 2)


def test_wrong_settings_are_refused() -> None:
    graph = DomainGraph.chain(3)
    with pytest.raises(ValueError, match="'reconstruction', 'spectral', 'one-hot', got 'node2vec'"):
        graph.embed("node2vec")
    with pytest.raises(ValueError, match="dim must be a positive integer, got 0"):
        graph.embed(dim=0)
    with pytest.raises(ValueError, match="random_state must be"):
        graph.embed(random_state="0")  # type: ignore[arg-type]
