import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from grada import DomainGraph
from grada.methods._steady import _Kind, likenesses, mean_degree, steady

CHAIN = DomainGraph.chain(30).weights


def _means(truth, rows, seed=0):
    """Means of that many rows of spread one around the truth."""
    rng = np.random.default_rng(seed)
    rows = np.broadcast_to(rows, len(truth)).astype(float)
    return truth[:, None] + rng.normal(size=(len(truth), 200)) / np.sqrt(rows)[:, None], rows


def _error(values, truth):
    return float(((values - truth[:, None]) ** 2).mean())


def test_what_is_expected_by_hand():
    """The conditional mean of a Gaussian vector, with its mean by generalised least squares."""
    rng = np.random.default_rng(0)
    rows, seen = rng.integers(1, 40, 30).astype(float), rng.normal(size=(30, 2))
    likeness = likenesses(CHAIN.toarray() / mean_degree(CHAIN))["rough"]
    size = 0.3
    total = size * likeness + np.diag(1 / rows)
    ones = np.ones(30)
    mean = ones @ np.linalg.solve(total, seen) / (ones @ np.linalg.solve(total, ones))
    smoother = size * likeness @ np.linalg.inv(total)
    expected = mean + smoother @ (seen - mean)
    left = seen - mean
    chance = np.linalg.slogdet(total)[1] + np.log(ones @ np.linalg.solve(total, ones))
    unlikely = ((left * np.linalg.solve(total, left)).sum(axis=0) + chance) / 2

    root = np.sqrt(rows)[:, None]
    kind = _Kind.of(likeness, root, root * seen)
    drawn, own = kind.drawn(np.arange(2), size)
    np.testing.assert_allclose(drawn / root, expected)
    np.testing.assert_allclose(own, np.diag(smoother))
    # But for a constant: these are densities of the means times the roots of the rows.
    np.testing.assert_allclose(kind.unlikely(size), unlikely + np.log(rows).sum() / 2)


def test_chance_is_no_difference():
    seen, rows = _means(np.zeros(30), 10)
    found = steady(seen, rows, np.ones(200), CHAIN)
    assert _error(found.values, np.zeros(30)) < 0.2 * _error(seen, np.zeros(30))
    assert np.median(found.worth) > 50  # a new domain is listened to only if it has many rows


def test_a_drift_is_smoothed_along_the_graph():
    truth = np.linspace(-0.5, 0.5, 30)
    seen, rows = _means(truth, 10)
    found = steady(seen, rows, np.ones(200), CHAIN)
    alone = steady(seen, rows, np.ones(200), sparse.csr_array((30, 30)))
    assert _error(found.values, truth) < 0.4 * _error(seen, truth)
    assert _error(found.values, truth) < 0.6 * _error(alone.values, truth)


def test_jumps_stay():
    truth = np.where(np.arange(30) % 3 == 0, 3.0, -1.0)
    seen, rows = _means(truth, 10)
    found = steady(seen, rows, np.ones(200), CHAIN)
    assert _error(found.values, truth) < 1.05 * _error(seen, truth)
    assert np.median(found.worth) < 1


def test_domains_with_few_rows_are_drawn_most():
    truth = np.random.default_rng(1).normal(size=30) * 0.5
    seen, rows = _means(truth, np.where(np.arange(30) % 2, 3, 300))
    moved = np.abs(steady(seen, rows, np.ones(200), CHAIN).values - seen).mean(axis=1)
    assert moved[rows == 3].min() > 5 * moved[rows == 300].max()


def test_nothing_to_go_by():
    """Without rows, with a single domain, or with features that never vary, nothing moves."""
    seen = np.arange(6.0).reshape(3, 2)
    weights = DomainGraph.chain(3).weights
    for count, unit in (([0, 0, 0], [1, 1]), ([0, 5, 0], [1, 1]), ([5, 5, 5], [0, 0])):
        found = steady(seen, np.array(count, float), np.array(unit, float), weights)
        np.testing.assert_array_equal(found.values, seen)
    left_out = steady(seen, np.array([9.0, 0.0, 9.0]), np.ones(2), weights)
    np.testing.assert_array_equal(left_out.values[1], seen[1])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_units_and_the_order_of_domains_do_not_matter(seed, shift, scale):
    rng = np.random.default_rng(seed)
    graph = DomainGraph.from_networkx(nx.gnp_random_graph(12, 0.3, seed=seed))
    seen = rng.normal(size=(12, 3)) * [0.1, 1.0, 10.0]
    rows = rng.integers(1, 50, 12).astype(float)
    plain = steady(seen, rows, np.ones(3), graph.weights).values
    other = steady(shift + scale * seen, rows, np.full(3, scale**2), graph.weights).values
    np.testing.assert_allclose((other - shift) / scale, plain, atol=1e-6 * (1 + abs(shift) / scale))
    order = rng.permutation(12)
    turned = steady(seen[order], rows[order], np.ones(3), graph.weights[order][:, order]).values
    np.testing.assert_allclose(turned, plain[order], atol=1e-8)


@pytest.mark.parametrize("n_domains", [500, 501])
def test_many_domains_are_each_on_their_own(n_domains):
    """From 501 on the graph is not looked at, and chance is taken off all the same."""
    seen, rows = _means(np.zeros(n_domains), 10)
    found = steady(seen[:, :3], rows, np.ones(3), DomainGraph.chain(n_domains).weights)
    assert _error(found.values, np.zeros(n_domains)) < 0.1 * _error(seen, np.zeros(n_domains))


def test_neighbours_are_unlike_only_where_two_colours_tell_them_apart():
    """A ring of four beside a triangle: signs alternate around the one, nothing in the other."""
    graph = nx.disjoint_union(nx.cycle_graph(4), nx.complete_graph(3))
    found = likenesses(nx.to_numpy_array(graph) / 2)
    ring, unlike = found["smooth"][:4, :4], found["unlike"]
    signs = np.where(np.add.outer(np.arange(4), np.arange(4)) % 2, -1.0, 1.0)
    np.testing.assert_allclose(unlike[:4, :4], signs * ring)
    assert not unlike[4:].any()
    assert not unlike[:, 4:].any()


def test_neighbours_are_as_alike_as_edges_are_strong_if_that_is_a_covariance():
    """Two groups, joined weakly, by hand; along a ring an edge can be half a likeness at most."""
    groups = np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.2], [0.2, 0.2, 0.0]])
    np.testing.assert_allclose(likenesses(groups)["joined"], groups + np.eye(3))
    ring = nx.to_numpy_array(nx.cycle_graph(6))
    np.testing.assert_allclose(likenesses(3 * ring)["joined"], np.eye(6) + ring / 2)
    graph = nx.gnp_random_graph(30, 0.3, seed=0)
    joined = likenesses(nx.to_numpy_array(graph))["joined"]
    assert np.linalg.eigvalsh(joined)[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(likenesses(np.zeros((2, 2)))["joined"], np.eye(2))
