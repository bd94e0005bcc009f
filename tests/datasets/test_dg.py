import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from grada.datasets import dg15, dg60, make_dg
from grada.datasets._growing import grow

sizes = st.integers(2, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))


def assert_sources_connected(task):
    rows = task.graph.index(task.sources)
    assert connected_components(task.graph.weights[rows][:, rows])[0] == 1


@settings(max_examples=60, deadline=None)
@given(
    size=sizes,
    recipe=st.sampled_from(["published", "paper"]),
    rows=st.integers(2, 25),
    random_state=st.integers(0, 2**32 - 1),
)
def test_make_dg(size, recipe, rows, random_state):
    n_domains, n_sources = size
    task = make_dg(n_domains, n_sources, recipe, rows, random_state)
    assert task.graph.names == tuple(range(n_domains))
    assert len(task.graph.components) == 1
    assert_sources_connected(task)
    assert (len(task.sources), len(task.targets)) == (n_sources, n_domains - n_sources)
    assert set(task.graph.weights.data) <= {1.0}
    assert list(task.metadata["angle"]) == list(task.graph.names)

    assert task.X.shape == (n_domains * rows, 2)
    assert (np.bincount(task.domain) == rows).all()
    ones = task.reveal().reshape(n_domains, rows).sum(axis=1)
    assert (ones == rows // 2).all()

    again = make_dg(n_domains, n_sources, recipe, rows, random_state)
    assert (again.X == task.X).all()
    assert (again.reveal() == task.reveal()).all()
    assert again.graph == task.graph
    other = make_dg(n_domains, n_sources, recipe, rows, random_state + 1)
    assert (other.X != task.X).all()


def assert_rows_not_in_class_order(task):
    n_domains = task.graph.n_domains
    labels = task.reveal().reshape(n_domains, -1)
    agreement = (labels[:, None] == labels).mean(axis=2)[np.triu_indices(n_domains, 1)]
    assert agreement.mean() == pytest.approx(0.5, abs=0.02)
    assert agreement.max() < 0.85


def assert_on_spiral(task, half_turns, end_radius):
    """Every row within 1 of its blob's centre, and edges by the cosine rule."""
    angle = np.array([task.metadata["angle"][name] for name in task.graph.names])
    assert 0 <= angle.min() <= angle.max() <= half_turns * np.pi
    radius = 1 + (end_radius - 1) * angle / (half_turns * np.pi)
    centre = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    side = 1 - 2 * task.reveal()  # class 0 lies on the positive side
    distance = np.linalg.norm(task.X - side[:, None] * centre[task.domain], axis=1)
    assert distance.max() <= 1 + 1e-9
    # Mean radius of the unit Gaussian within distance 1; uniform in the disc would be 0.667.
    assert distance.mean() == pytest.approx(0.630, abs=0.02)

    cosine = np.cos(angle[:, None] - angle)
    edges = task.graph.weights.toarray() > 0
    assert cosine[edges].min() >= 0.2
    pairs = np.triu(cosine >= 0.2, k=1)
    expected, spread = cosine[pairs].sum(), np.sqrt((cosine * (1 - cosine))[pairs].sum())
    assert abs(edges.sum() / 2 - expected) < 4 * spread


@pytest.mark.parametrize(("n_domains", "half_turns", "end_radius"), [(15, 1, 2.8), (60, 2, 7.0)])
def test_published_recipe_is_that_of_the_files(data_home, n_domains, half_turns, end_radius):
    published = {15: dg15, 60: dg60}[n_domains]()
    assert_on_spiral(published, half_turns, end_radius)
    for random_state in range(5):
        made = make_dg(n_domains, random_state=random_state)
        assert_on_spiral(made, half_turns, end_radius)
        assert_rows_not_in_class_order(made)

    adjacent = published.graph.weights.toarray() > 0
    angle = np.array(list(published.metadata["angle"].values()))
    assert sorted(grow(adjacent, angle, 6)) == list(published.sources)


def test_span_grows_with_the_square_root_up_to_one_turn():
    for n_domains, half_turns in [(4, np.sqrt(4 / 15)), (30, np.sqrt(2)), (200, 2.0)]:
        end_radius = 1 + half_turns * (0.6 + 1.2 * half_turns)
        task = make_dg(n_domains, 2, rows_per_domain=500)
        assert_on_spiral(task, half_turns, end_radius)


def test_paper_recipe():
    task = make_dg(200, 6, recipe="paper", random_state=0)
    angle = np.array(list(task.metadata["angle"].values()))
    assert angle.min() < -3 < 3 < angle.max()
    centre = (angle / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    noise = task.X - (2 * task.reveal() - 1)[:, None] * centre[task.domain]
    assert np.allclose(np.cov(noise.T), np.eye(2), atol=0.03)
    assert np.allclose(noise.mean(axis=0), 0, atol=0.03)
    best = ((task.X * centre[task.domain]).sum(axis=1) > 0).astype(int)
    assert task.evaluate(best).mean == pytest.approx(68, abs=1.5)
    assert task.graph.expected_edge == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_domains": 1}, "n_domains must be at least 2"),
        ({"n_domains": 6, "n_sources": 6}, "from 1 to n_domains - 1 = 5"),
        ({"n_sources": 0}, "n_sources"),
        ({"rows_per_domain": 1}, "rows_per_domain"),
        ({"recipe": "spiral"}, "published, paper"),
    ],
)
def test_make_dg_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        make_dg(**change)


@pytest.mark.parametrize(
    ("load", "n_domains", "n_edges", "expected_edge", "levels"),
    [(dg15, 15, 56, 0.498, [6, 6, 3]), (dg60, 60, 545, 0.303, [6, 18, 26, 10])],
)
def test_published_files(data_home, load, n_domains, n_edges, expected_edge, levels):
    task = load()
    assert task.X.shape == (100 * n_domains, 2)
    assert task.graph.names == tuple(range(n_domains))
    assert task.graph.weights.nnz == 2 * n_edges
    assert task.graph.expected_edge == pytest.approx(expected_edge, abs=5e-4)
    assert_sources_connected(task)
    assert np.bincount(task.graph.hop_array(task.sources).astype(int)).tolist() == levels
    assert (task.reveal().reshape(n_domains, 100).sum(axis=1) == 50).all()

    assert_rows_not_in_class_order(task)
    assert (load().X == task.X).all()
    stored = load(stored_order=True)
    assert (stored.reveal().reshape(n_domains, 2, 50) == [[0], [1]]).all()
    order, as_stored = np.lexsort(task.X.T), np.lexsort(stored.X.T)
    assert (task.X[order] == stored.X[as_stored]).all()
    assert (task.reveal()[order] == stored.reveal()[as_stored]).all()
    assert (task.domain[order] == stored.domain[as_stored]).all()
