import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from grada import DomainGraph


@settings(max_examples=40, deadline=None)
@given(
    edges=st.dictionaries(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda ends: ends[0] < ends[1]),
        st.floats(0.01, 1),
    ),
    random_state=st.integers(0, 99),
)
def test_every_domain_keeps_its_neighbours_in_number_and_weights_stay(edges, random_state):
    pairs = [(first, second, weight) for (first, second), weight in edges.items()]
    graph = DomainGraph.from_edges(pairs, names=range(10))
    other = graph.rewired(random_state)
    assert other == graph.rewired(random_state)
    assert (np.diff(other.weights.indptr) == np.diff(graph.weights.indptr)).all()
    assert np.allclose(np.sort(other.weights.data), np.sort(graph.weights.data))


def test_little_of_a_sparse_graph_is_left_and_a_clique_stays():
    graph = DomainGraph.grid(10, 10)
    left = graph.rewired(0).weights.multiply(graph.weights).nnz / graph.weights.nnz
    assert left < 0.1
    assert DomainGraph.clique(6).rewired(0) == DomainGraph.clique(6)
