import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grada import DomainGraph
from grada.sampling import BalancedRows, DomainRows, DomainSampler, Passes


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_rows_are_drawn_from_their_own_domain(codes, seed):
    codes = np.array(codes)
    rows = DomainRows(codes, n_domains=8)
    drawn = rows.draw(np.random.default_rng(seed), rows.present, 5)
    np.testing.assert_array_equal(codes[drawn], np.tile(rows.present[:, None], 5))


def test_domains_draw_independently_and_every_row_comes_up_alike():
    rows = DomainRows(np.repeat([0, 1], 10), n_domains=2)
    drawn = rows.draw(np.random.default_rng(0), np.array([0, 1]), 20_000)
    counts = np.bincount(drawn.ravel())
    assert counts.min() > 1_800  # 2,000 expected of each of the 20 rows, deviation 44
    # Positions agree as often as chance has it, not always as with one index for all.
    assert np.mean(drawn[0] % 10 == drawn[1] % 10) == pytest.approx(0.1, abs=0.02)


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    edges = {tuple(sorted(pair)) for pair in draw(st.lists(pairs, max_size=20))}
    return DomainGraph.from_edges([(a, b, 0.5) for a, b in sorted(edges)], names=range(n))


@settings(max_examples=60, deadline=None)
@given(
    graphs(),
    st.integers(1, 12),
    st.sampled_from(["mixture", "random", "connected"]),
    st.randoms(use_true_random=False),
)
def test_drawn_domains_are_distinct_have_rows_and_come_with_their_weights(
    graph, size, policy, random
):
    n_present = random.randint(1, graph.n_domains)
    present = np.array(sorted(random.sample(range(graph.n_domains), n_present)))
    sampler = DomainSampler(graph, present, size, policy)
    rng = np.random.default_rng(random.randint(0, 2**32 - 1))
    for _ in range(5):
        domains, weights = sampler.draw(rng)
        assert len(set(domains.tolist())) == len(domains) == min(size, n_present)
        assert set(domains.tolist()) <= set(present.tolist())
        np.testing.assert_array_equal(weights, graph.weights.toarray()[np.ix_(domains, domains)])


def test_walks_see_connected_domains():
    graph = DomainGraph.chain(1000)
    rng = np.random.default_rng(0)
    shares = {}
    for policy in ("connected", "random", "mixture"):
        sampler = DomainSampler(graph, np.arange(1000), 8, policy)
        shares[policy] = np.mean([sampler.draw(rng)[1].mean() for _ in range(300)])
    assert shares["connected"] > 20 * shares["random"]
    assert shares["mixture"] == pytest.approx((shares["connected"] + shares["random"]) / 2, rel=0.2)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(1, 20))
def test_every_pass_sees_everything_once(n, size, n_batches):
    passes = Passes(np.arange(n), size)
    rng = np.random.default_rng(0)
    seen = np.concatenate([passes.draw(rng) for _ in range(n_batches)])
    whole = len(seen) // n * n
    for start in range(0, whole, n):
        assert sorted(seen[start : start + n].tolist()) == list(range(n))


def test_balanced_rows_give_every_class_and_every_row_of_a_class_the_same_chance():
    row, label = np.arange(100, 110), np.array([0, 0, 0, 0, 0, 0, 0, 3, 3, 4])
    drawn = BalancedRows(row, label).draw(np.random.default_rng(0), 30_000)
    share = np.bincount(drawn - 100, minlength=10) / 30_000
    expected = [1 / 21] * 7 + [1 / 6] * 2 + [1 / 3]
    np.testing.assert_allclose(share, expected, atol=0.01)
