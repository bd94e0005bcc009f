import numpy as np
import torch
from scipy import sparse

from grada.nn import DomainEncoder, Neighborhood, mlp
from grada.nn.adagraph import refresh_statistics
from grada.nn.extension import extend_encoder, learn_new_statistics, spread_outward


def weights(n, *edges):
    matrix = np.zeros((n, n))
    for u, v, weight in edges:
        matrix[u, v] = matrix[v, u] = weight
    return sparse.csr_array(matrix)


def test_new_nodes_get_the_weighted_mean_of_their_neighbours_outward():
    known = np.array([[0.0, 1.0], [4.0, 5.0]])
    graph = weights(5, (0, 2, 0.25), (1, 2, 0.75), (2, 3, 0.5))
    values = spread_outward(known, graph, np.array([9.0, 9.0]))
    np.testing.assert_allclose(values, [[0, 1], [4, 5], [3, 4], [3, 4], [9, 9]])


def adagraph(n, rows, graph):
    generator = torch.Generator().manual_seed(0)
    embedding = torch.linspace(0, 1, n)[:, None]
    return DomainEncoder(
        raw=mlp([2, 4], generator=generator, final_activation=True, batch_norm=True),
        graph=mlp([1, 3], generator=generator, final_activation=True),
        joint=mlp([7, 4, 4], generator=generator, batch_norm=True),
        embedding=embedding,
        dim=4,
        neighborhood=Neighborhood(graph, rows, embedding),
    )


def test_statistics_of_a_new_domain_come_from_its_rows_and_the_old_ones_stay():
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.normal(size=(90, 2)).astype(np.float32))
    codes = torch.arange(3).repeat_interleave(30)
    x[codes == 2] += 5.0
    encoder = adagraph(2, np.array([30, 30]), weights(2, (0, 1, 1.0)))
    old = codes < 2
    refresh_statistics(encoder, lambda: [(x[old], codes[old])])
    before = encoder(x[old], codes[old])
    extend_encoder(
        encoder, weights(3, (0, 1, 1.0), (1, 2, 1.0)), np.array([0]), np.array([0, 0, 30])
    )
    learn_new_statistics(encoder, 2, lambda: [(x[~old], codes[~old])])
    torch.testing.assert_close(encoder(x[old], codes[old]), before, rtol=0, atol=0)
    # All layers as in one pass over all domains with the same network.
    whole = [layer for layer in encoder.modules() if hasattr(layer, "overall_mean")]
    found = [(layer.mean[2].clone(), layer.var[2].clone()) for layer in whole]
    refresh_statistics(encoder, lambda: [(x, codes)])
    for layer, (mean, var) in zip(whole, found, strict=True):
        torch.testing.assert_close(layer.mean[2], mean, rtol=0.02, atol=0.02)
        torch.testing.assert_close(layer.var[2], var, rtol=0.02, atol=0.02)
    # Rows far from those of the other domains are normalised by their own statistics.
    assert float(whole[0].mean[2].abs().max()) > 1.0
