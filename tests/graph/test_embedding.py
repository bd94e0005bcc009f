"""Node embeddings: bounded, repeatable, and true to the graph."""

from __future__ import annotations

from importlib.util import find_spec

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.metrics import roc_auc_score

from grada import AdaptedClassifier, methods
from grada.datasets import make_dg
from grada.graph import DomainGraph, _embedding, _reconstruction, _spectral
from grada.nn import vgae

NEEDS_EXTRA = pytest.mark.skipif(find_spec("torch_geometric") is None, reason="grada[gnn]")
LEARNED = [
    "reconstruction",
    "spectral",
    "node2vec",
    "line",
    pytest.param("vgae", marks=NEEDS_EXTRA),
]
ALL_KINDS = [*LEARNED, "one-hot"]


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def held_out(size: int, radius: float, seed: int = 0) -> tuple[DomainGraph, np.ndarray, np.ndarray]:
    """A random geometric graph without a tenth of its edges, those edges, and the non-edges."""
    full = nx.random_geometric_graph(size, radius, seed=seed)
    edges = np.random.default_rng(seed).permutation(np.array(full.edges))
    cut = len(edges) // 10
    first, second = np.triu_indices(size, 1)
    missing = nx.to_numpy_array(full)[first, second] == 0
    graph = DomainGraph.from_edges(edges[cut:], names=range(size))
    return graph, edges[:cut].T, np.array([first[missing], second[missing]])


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("seed", range(5))
def test_hidden_edges_are_predicted(kind: str, seed: int) -> None:
    graph, hidden, apart = held_out(200, 0.13, seed)
    drawn = np.random.default_rng(seed).choice(apart, hidden.shape[1], axis=1, replace=False)
    points = graph.embed(kind, random_state=seed)
    first, second = np.hstack([hidden, drawn])
    gap = np.linalg.norm(points[first] - points[second], axis=1)
    assert roc_auc_score(np.repeat([1, 0], hidden.shape[1]), -gap) >= 0.9


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


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("size", [60, 400])
def test_weights_count(kind: str, size: int) -> None:
    # A ring whose edges are strong and weak in turn.
    edges = [(at, (at + 1) % size, 1.0 if at % 2 else 0.05) for at in range(size)]
    graph = DomainGraph.from_edges(edges, names=range(size))
    points = graph.embed(kind, random_state=0)
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
    if kind != "spectral":
        assert not np.array_equal(points, graph.embed(kind, random_state=4))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("kind", LEARNED)
def test_parts_lie_apart_and_domains_without_edges_in_the_middle(kind: str) -> None:
    two_chains = [(at, at + 1) for at in range(19) if at != 9]
    points = DomainGraph.from_edges(two_chains, names=range(25)).embed(kind, random_state=0)
    gap, part = distances(points[:20]), np.arange(20) < 10
    same = part[:, None] == part[None]
    assert gap[same].mean() < 0.8 * gap[~same].mean()
    norm = np.linalg.norm(points, axis=1)
    assert norm[20:].mean() < norm[:20].mean()


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
def test_odd_graphs(kind: str, graph: DomainGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vgae, "_STEPS", 10)  # slow on a large clique
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


@pytest.mark.filterwarnings("ignore::grada.AdaptationWarning")
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_kind_serves_a_method(kind: str) -> None:
    task = make_dg(8, 3, rows_per_domain=10, random_state=1)
    X, y, domain = task.visible()
    method = methods.GRDA(embedding=kind, epochs=2, steps_per_epoch=2)
    model = AdaptedClassifier(method, task.graph, random_state=0).fit(X, y, sample_domain=domain)
    assert np.isfinite(model.predict_proba(X, sample_domain=domain)).all()


def test_one_hot() -> None:
    assert np.array_equal(DomainGraph.chain(3).embed("one-hot"), np.eye(3))
    with pytest.raises(ValueError, match=r"5000 domains.*kind='reconstruction'"):
        DomainGraph.chain(5000).embed("one-hot")
    with pytest.raises(ValueError, match="leave dim out or set it to 3"):
        DomainGraph.chain(3).embed("one-hot", 2)


def test_wrong_settings_are_refused() -> None:
    graph = DomainGraph.chain(3)
    known = "'reconstruction', 'spectral', 'node2vec', 'line', 'one-hot', 'vgae', got 'deepwalk'"
    with pytest.raises(ValueError, match=known):
        graph.embed("deepwalk")
    with pytest.raises(ValueError, match="dim must be a positive integer, got 0"):
        graph.embed(dim=0)
    with pytest.raises(ValueError, match="random_state must be"):
        graph.embed(random_state="0")  # type: ignore[arg-type]
