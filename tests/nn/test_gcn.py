import numpy as np
import pytest
import torch
from torch import nn

from grada import DomainGraph
from grada.nn import mlp
from grada.nn.gcn import domain_propagation, gcn_layer

EDGES = [("a", "b", 0.3), ("b", "c", 1.0), ("a", "d", 0.7)]
# Uneven, with one-row domains and an isolated one ("e"); none have rows in "f" (adjacent to "b"
# and "c"), nor in the isolated "g".
GRAPH = DomainGraph.from_edges([*EDGES, ("b", "f", 0.4), ("c", "f", 0.9)], names=list("abcdefg"))
COUNTS = np.array([4, 1, 3, 1, 2, 0, 0])


def row_graph(with_listeners):
    """Every edge between rows; for a domain without rows, one row that only listens."""
    counts = np.maximum(COUNTS, 1) if with_listeners else COUNTS
    codes = np.repeat(np.arange(len(counts)), counts)
    joined = GRAPH.weights.toarray() + np.eye(len(counts))
    silent = COUNTS[codes] == 0
    source, target = np.nonzero(joined[np.ix_(codes, codes)])
    heard = (source != target) & ~silent[source]
    edges = np.stack([source[heard], target[heard]])
    weight = joined[codes[edges[0]], codes[edges[1]]]
    return codes, torch.from_numpy(edges), torch.from_numpy(weight)


@pytest.mark.parametrize("with_listeners", [False, True], ids=["rows", "domains without rows"])
def test_equals_torch_geometric_on_the_graph_of_rows(with_listeners):
    """Layer by layer and as a whole, with self-loops added by GCNConv itself."""
    gcn_conv = pytest.importorskip("torch_geometric.nn").GCNConv
    codes, edges, weight = row_graph(with_listeners)
    x = np.random.default_rng(0).normal(size=(len(codes), 3))
    x[COUNTS[codes] == 0] = 0.0
    linears = [
        layer.double()
        for layer in mlp([3, 8, 8, 2], generator=torch.Generator().manual_seed(0))
        if isinstance(layer, nn.Linear)
    ]
    means = np.zeros((len(COUNTS), 3))
    for code in np.unique(codes):
        means[code] = x[codes == code].mean(axis=0)
    propagation = domain_propagation(GRAPH.weights, COUNTS)
    by_row, by_domain = torch.from_numpy(x), torch.from_numpy(means)
    for linear in linears:
        convolution = gcn_conv(linear.in_features, linear.out_features).double()
        with torch.no_grad():
            convolution.lin.weight.copy_(linear.weight)
            convolution.bias.copy_(linear.bias)
            by_row = convolution(by_row, edges, weight)
            by_domain = gcn_layer(by_domain, propagation, linear)
        torch.testing.assert_close(by_domain[codes], by_row, atol=1e-5, rtol=0)
        by_row, by_domain = by_row.relu(), by_domain.relu()


def test_has_as_many_entries_as_the_graph_of_domains():
    counts = np.full(1000, 10**6)
    propagation = domain_propagation(DomainGraph.chain(1000).weights, counts)
    assert propagation.values().numel() == 1000 + 2 * 999
