import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from grada import DomainGraph
from grada.data import DomainData
from grada.selection import GraphHoldout


def cumulative(hops):
    return np.array([np.mean(np.asarray(hops) <= most) for most in (1, 2, 3)])


def hops_of(graph, kept, hidden):
    at = graph.hops(kept)
    return [at[name] for name in hidden]


@pytest.mark.parametrize(
    ("graph", "sources"),
    [
        (DomainGraph.chain(30), range(12)),
        (DomainGraph.grid(6, 6), [f"r{row}c{column}" for row in range(3) for column in range(6)]),
    ],
)
def test_hidden_domains_lie_as_far_from_labels_as_targets(graph, sources):
    targets = [name for name in graph.names if name not in set(sources)]
    wanted = cumulative(hops_of(graph, sources, targets))
    one_out = [
        hops_of(graph, [other for other in sources if other != name], [name]) for name in sources
    ]
    naive = np.abs(cumulative(np.concatenate(one_out)) - wanted).sum()
    for kept, hidden in GraphHoldout(3).split(graph, sources, targets):
        gap = np.abs(cumulative(hops_of(graph, kept, hidden)) - wanted).sum()
        assert gap < 0.7 * naive


def test_scattered_targets_are_imitated_by_scattered_sources():
    graph = DomainGraph.chain(40)
    for kept, hidden in GraphHoldout(3).split(graph, range(0, 40, 2), range(1, 40, 2)):
        # The nearest kept source of most is two domains on; no long gap is torn.
        assert np.mean(np.array(hops_of(graph, kept, hidden)) > 2) < 0.5


def test_unreachable_targets_are_imitated_by_a_whole_part():
    graph = DomainGraph.from_edges([(0, 1), (2, 3), (4, 5), (6, 7)])
    for kept, hidden in GraphHoldout(2).split(graph, range(6), [6, 7]):
        assert np.isinf(hops_of(graph, kept, hidden)).all()


def test_splits_hide_different_sources_and_one_source_is_refused():
    graph = DomainGraph.chain(12)
    splits = list(GraphHoldout(3).split(graph, range(9), [9, 10, 11]))
    assert len(set().union(*(hidden for _, hidden in splits))) >= 7
    with pytest.raises(ValueError, match="there is 1"):
        next(GraphHoldout().split(graph, [3], [4]))


def table(y, domain, graph):
    X = np.arange(len(y), dtype=float)[:, None]
    return DomainData.from_table(X, y, domain, graph=graph, kind="classification")


def test_codes_hide_all_labels_of_a_domain_and_keep_every_class():
    graph = DomainGraph.chain(6)
    # Class 2 is in domain 3 only, next to the targets: it is never hidden.
    domain = np.repeat(np.arange(6), 4)
    y = [0, 1, 0, 1] * 3 + [0, 1, 2, 2] + [None] * 8
    data = table(y, domain, graph)
    assert GraphHoldout.can_split(data)
    for hidden in GraphHoldout(3).split_codes(data):
        assert 3 not in hidden
        masked = data.hiding(hidden)
        gone = np.isin(masked.codes, hidden)
        assert (masked.y[gone] == -1).all()
        assert (masked.weight[gone] == 0).all()
        assert (masked.y[~gone] == data.y[~gone]).all()
        assert len(masked.X) == len(data.X)


def test_sources_of_one_class_each_cannot_be_hidden():
    data = table([0, 0, 1, 1, None], [0, 0, 1, 1, 2], DomainGraph.chain(3))
    assert not GraphHoldout.can_split(data)
    with pytest.raises(ValueError, match="one class"):
        next(GraphHoldout().split_codes(data))


def test_rows_are_hidden_where_no_domain_can_be():
    # One source, with five rows of a class to ten of the other.
    y = [1, 0, 0] * 5 + [None] * 5
    data = table(y, [0] * 15 + [1] * 5, DomainGraph.chain(2))
    folds = list(GraphHoldout().split_rows(data))
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(15))
    assert all(np.bincount(data.y[rows]).min() >= 1 for rows in folds)
    for rows in folds:
        masked = data.hiding_rows(rows)
        assert (masked.y[rows] == -1).all()
        assert masked.sources.tolist() == [0]
        assert masked.weight[masked.labelled].mean() == pytest.approx(1)
    assert not list(GraphHoldout().split_rows(table([*y[:9], None], [0] * 9 + [1], data.graph)))


def test_one_source_at_a_time_is_hidden_where_rows_are_few():
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(12), 10)
    y = np.where(domain < 6, rng.normal(size=120), np.nan)
    graph = DomainGraph.chain(12)
    for n_features, sizes in ((2, {2, 3}), (60, {1})):
        X = rng.normal(size=(120, n_features))
        data = DomainData.from_table(X, y, domain, graph=graph, kind="regression")
        assert {len(hidden) for hidden in GraphHoldout().split_codes(data)} == sizes


def test_two_classes_are_always_left():
    data = table([0, 1, 0, 0, 0, 0, None], [0, 0, 1, 1, 2, 2, 3], DomainGraph.chain(4))
    splits = [hidden.tolist() for hidden in GraphHoldout(9).split_codes(data)]
    assert splits
    assert all(0 not in hidden for hidden in splits)


@settings(max_examples=40, deadline=None)
@given(
    n_domains=st.integers(2, 12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.01, 1))),
    sources=st.sets(st.integers(0, 11), min_size=2),
    share=st.none() | st.floats(0.01, 0.99),
    n_splits=st.integers(1, 5),
)
def test_any_graph_is_split_into_kept_and_hidden(n_domains, edges, sources, share, n_splits):
    distinct = {(min(a, b), max(a, b)): w for a, b, w in edges if a != b and max(a, b) < n_domains}
    edges = [(a, b, weight) for (a, b), weight in distinct.items()]
    graph = DomainGraph.from_edges(edges, names=range(n_domains))
    sources = {name for name in sources if name < n_domains} | {0, 1}
    targets = set(range(n_domains)) - sources
    splits = list(GraphHoldout(n_splits, share=share).split(graph, sources, targets))
    assert 1 <= len(splits) <= n_splits
    assert len({hidden for _, hidden in splits}) == len(splits)
    for kept, hidden in splits:
        assert kept
        assert hidden
        assert sorted(kept + hidden) == sorted(sources)
