import numpy as np
import pytest
import torch

from grada.nn import edge_logits, mlp, pair_loss, pair_weights, prediction_loss


def brute_force(z, edges, valid, bias, balanced):
    """Equation 3 of the paper, pair by pair."""
    terms = {True: [], False: []}
    total, n = 0.0, 0
    for a in range(len(z)):
        for b in range(len(z)):
            if not valid[a, b]:
                continue
            p = 1 / (1 + np.exp(-(z[a] @ z[b] + bias)))
            weight = edges[a, b]
            terms[True].append((weight, -np.log(p)))
            terms[False].append((1 - weight, -np.log(1 - p)))
            total -= weight * np.log(p) + (1 - weight) * np.log(1 - p)
            n += 1
    if not balanced:
        return total / n
    return 0.5 * sum(sum(w * loss for w, loss in t) / sum(w for w, _ in t) for t in terms.values())


@pytest.mark.parametrize("balanced", [False, True])
def test_pair_loss_is_the_papers_sum_over_pairs(balanced):
    rng = np.random.default_rng(0)
    z, bias = rng.normal(size=(7, 3)), 0.3
    edges = rng.random((7, 7)).round(1)
    edges = (edges + edges.T) / 2
    np.fill_diagonal(edges, 0)
    valid = rng.random((7, 7)) < 0.8
    np.fill_diagonal(valid, False)
    pairs = pair_weights(torch.tensor(edges), torch.tensor(valid).double(), balanced=balanced)
    loss = pair_loss(edge_logits(torch.tensor(z), "inner", torch.tensor(bias)), pairs)
    assert float(loss) == pytest.approx(brute_force(z, edges, valid, bias, balanced))
    assert float(pairs.total.sum()) == pytest.approx(1.0)
    share = 0.5 if balanced else (edges * valid).sum() / valid.sum()
    assert float(pairs.expected_edge) == pytest.approx(share)


@pytest.mark.parametrize("edges", [0.0, 1.0])
def test_only_edges_or_only_non_edges_is_no_division_by_zero(edges):
    pairs = pair_weights(torch.full((3, 3), edges), 1 - torch.eye(3), balanced=True)
    assert float(pairs.expected_edge) == pytest.approx(edges)
    assert torch.isfinite(pair_loss(torch.zeros(3, 3), pairs))


def test_logits_by_hand():
    z = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    bias = torch.tensor(0.5)
    torch.testing.assert_close(
        edge_logits(z, "inner", bias), torch.tensor([[5.5, 1.5], [1.5, 10.5]])
    )
    torch.testing.assert_close(
        edge_logits(z, "distance", bias), torch.tensor([[0.5, -12.5], [-12.5, 0.5]])
    )
    torch.testing.assert_close(
        edge_logits(z, "signed", bias), torch.tensor([[-2.5, 5.5], [5.5, 8.5]])
    )


def test_weights_multiply_the_loss_of_their_rows():
    output, y = torch.tensor([[2.0], [5.0]]), torch.tensor([[1.0], [1.0]])
    weight = torch.tensor([2.0, 0.0])
    assert float(prediction_loss(output, y, None, "regression")) == pytest.approx(8.5)
    assert float(prediction_loss(output, y, weight, "regression")) == pytest.approx(1.0)
    logits, classes = torch.tensor([[0.0, 0.0], [9.0, 0.0]]), torch.tensor([0, 1])
    assert float(prediction_loss(logits, classes, weight, "classification")) == pytest.approx(
        np.log(2.0)
    )


def test_initial_weights_come_from_the_generator_alone():
    torch.manual_seed(0)
    first = mlp([3, 4, 2], generator=torch.Generator().manual_seed(7))
    torch.manual_seed(1)
    second = mlp([3, 4, 2], generator=torch.Generator().manual_seed(7))
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    small = mlp([300, 400], generator=torch.Generator().manual_seed(7), init_std=0.01)
    assert float(small[0].weight.detach().std()) == pytest.approx(0.01, rel=0.05)
