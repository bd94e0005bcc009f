import copy

import numpy as np
import pytest
import torch
from torch import nn

from grada import DomainGraph
from grada.nn import DomainBatchNorm, DomainEncoder, Neighborhood, mlp
from grada.nn.adagraph import convert_batch_norm, refresh_statistics
from grada.nn.neighborhood import neighbor_mixing

EPS = 1e-5
CHAIN = DomainGraph.chain(3)


def neighborhood(graph=CHAIN, rows=(8, 8, 8)):
    """With one-hot embeddings: every domain has a free scale and bias."""
    return Neighborhood(graph.weights, np.array(rows), torch.eye(graph.n_domains))


def batch(sizes, shape=(2,), seed=0):
    """Rows of domains that differ in mean and spread, in random order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = rng.normal(size=(len(codes), *shape)) * (1 + codes.reshape(-1, *[1] * len(shape)))
    rows += 3.0 * codes.reshape(-1, *[1] * len(shape))
    return torch.from_numpy(rows.astype(np.float32)), torch.from_numpy(codes)


def run(layer, x, codes):
    with layer._shared[0].at(codes):
        return layer(x)


def refreshed(layer, x, codes):
    """Statistics (mean, var) of all domains after a pass over the rows."""
    layer.eval()
    layer.begin_pass()
    run(layer, x, codes)
    layer.end_pass()
    everyone = torch.arange(len(layer.count))
    mean, var = layer.statistics(layer._shared[0].locate(everyone))
    return mean.numpy(), var.numpy()


@pytest.mark.parametrize("shape", [(2,), (2, 5), (2, 4, 3)], ids=["vectors", "series", "images"])
def test_every_domain_is_normalised_by_its_own_statistics(shape):
    x, codes = batch([8, 8, 8], shape)
    out = run(DomainBatchNorm(2, neighborhood(), shrinkage=0.0), x, codes)
    over = (0, *range(2, x.dim()))
    for domain in range(3):
        own = x[codes == domain].numpy()
        expected = own - own.mean(axis=over, keepdims=True)
        expected /= np.sqrt(own.var(axis=over, keepdims=True) + EPS)
        np.testing.assert_allclose(out[codes == domain].detach(), expected, atol=1e-4)


def test_scale_and_bias_are_mixed_over_the_graph():
    """0 - 1 - 2: domain 0 takes half of 0 and half of 1, domain 1 a third of each."""
    layer = DomainBatchNorm(1, neighborhood(), shrinkage=0.0)
    with torch.no_grad():
        layer.weight.fill_(0.0)
        layer.weight_of_domain.copy_(torch.tensor([[1.0], [2.0], [6.0]]))
        layer.bias_of_domain.copy_(torch.tensor([[10.0], [20.0], [60.0]]))
    x, codes = batch([8, 8, 8], (1,))
    out = run(layer, x, codes).detach().numpy()
    for domain, (scale, bias) in enumerate([(1.5, 15.0), (3.0, 30.0), (4.0, 40.0)]):
        own = out[codes == domain]
        np.testing.assert_allclose([own.std(), own.mean()], [scale, bias], rtol=1e-4)


def test_weights_of_edges_count_in_the_mixture():
    graph = DomainGraph.from_edges([(0, 1, 0.5), (1, 2, 1.0)])
    mixed = neighborhood(graph).embedding.numpy()
    np.testing.assert_allclose(mixed[1], np.array([0.5, 1.0, 1.0]) / 2.5, rtol=1e-6)


def test_statistics_are_shrunk_towards_the_neighbours():
    """n rows of its own, k = 2 of its neighbours', which are shrunk towards the average."""
    sizes, k = np.array([8, 1, 4]), 2.0
    x, codes = batch(sizes)
    layer = DomainBatchNorm(2, neighborhood(rows=sizes), shrinkage=k)
    mean, var = refreshed(layer, x, codes)
    own_mean, own_var = (
        np.array([getattr(x[codes == u].numpy(), what)(axis=0) for u in range(3)])
        for what in ("mean", "var")
    )
    share = (sizes / (sizes + k))[:, None]
    overall = (share * own_mean).sum(0) / share.sum()
    n = sizes[:, None]
    total = (n * (own_var + (own_mean - overall) ** 2)).sum(0) / n.sum()
    overall_var = ((n * own_var).sum(0) + total) / ((n - 1).sum() + 1)
    near = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    for got, own, average in ((mean, own_mean, overall), (var, own_var, overall_var)):
        prior = near @ (share * own + (1 - share) * average)
        np.testing.assert_allclose(got, share * own + (1 - share) * prior, rtol=1e-4)


@pytest.mark.parametrize("make", [nn.BatchNorm1d, nn.BatchNorm2d])
def test_one_domain_is_ordinary_batch_normalisation(make):
    """Exactly so without shrinkage in training; in eval but for n / (n - 1) in the variance."""
    graph = DomainGraph.from_edges([], names=[0])
    x, codes = batch([40], (3,) if make is nn.BatchNorm1d else (3, 4, 4))
    ordinary = make(3, momentum=None)
    layer = DomainBatchNorm(3, neighborhood(graph, [40]), shrinkage=0.0)
    x.requires_grad_(True)
    ours, theirs = run(layer, x, codes), ordinary(x)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    # The way back goes through the statistics too.
    backward = [torch.autograd.grad(out.pow(3).sum(), x)[0] for out in (ours, theirs)]
    torch.testing.assert_close(*backward, atol=1e-4, rtol=1e-3)
    x.requires_grad_(False)
    mean, var = refreshed(layer, x, codes)
    np.testing.assert_allclose(mean[0], ordinary.running_mean, atol=1e-5)
    n = x.numel() / 3
    np.testing.assert_allclose(var[0] * n / (n - 1), ordinary.running_var, rtol=1e-5)
    # With shrinkage there is nothing else to shrink to, so only the variance moves a little.
    shrunk = run(DomainBatchNorm(3, neighborhood(graph, [40])), x, codes)
    torch.testing.assert_close(shrunk, ordinary(x), atol=5e-3, rtol=5e-3)


def test_a_domain_without_rows_gets_the_statistics_of_the_nearest_that_have():
    """0 - 1 - 2 - 3 - 4 with rows in 0 and 4; 5 - 6 without any; weights on the way do not."""
    edges = [(0, 1), (1, 2, 0.2), (2, 3, 0.6), (3, 4), (5, 6)]
    graph = DomainGraph.from_edges(edges, names=range(7))
    rows = np.array([500, 0, 0, 0, 500, 0, 0])
    x, codes = batch([500, 500])
    layer = DomainBatchNorm(2, neighborhood(graph, rows), shrinkage=1e-9)
    for got in refreshed(layer, x, codes * 4):
        np.testing.assert_allclose(got[1], got[0], rtol=1e-5)
        np.testing.assert_allclose(got[3], got[4], rtol=1e-5)
        np.testing.assert_allclose(got[2], 0.25 * got[0] + 0.75 * got[4], rtol=1e-5)
        np.testing.assert_allclose(got[6], (got[0] + got[4]) / 2, rtol=0.2)
        np.testing.assert_array_equal(got[5], got[6])


def test_a_neighbour_that_was_not_seen_yet_has_no_say():
    layer = DomainBatchNorm(2, neighborhood(rows=[500] * 3), shrinkage=1e-9)
    x, codes = batch([500, 500, 500])
    for got in refreshed(layer, x[codes == 2], codes[codes == 2]):
        np.testing.assert_allclose(got[1], got[2], rtol=1e-5)
    layer.overall_mean.fill_(100.0)  # far from the mean of domain 2, and not asked
    place = layer._shared[0].locate(torch.tensor([1, 2]))
    mean, _ = layer.statistics(place)
    torch.testing.assert_close(mean[0], mean[1], rtol=1e-5, atol=1e-5)


def test_mixing_over_a_hub_is_bounded_and_complete():
    mixing = neighbor_mixing(DomainGraph.clique(100).weights, np.arange(100))
    assert np.diff(mixing.indptr).max() <= 32
    np.testing.assert_allclose(mixing.sum(axis=1), 1.0)
    assert mixing[:, [0]].nnz == 0  # it has no rows
    assert np.bincount(mixing.indices, minlength=100)[1:].min() > 5  # not always the same ones


def test_one_row_is_enough_and_a_row_drawn_twice_is_one_row():
    x, codes = batch([20, 1, 20])
    layer = DomainBatchNorm(2, neighborhood(rows=[20, 1, 20]))
    alone = (codes == 1).nonzero()[:, 0]
    x, codes = torch.cat([x, x[alone].repeat(9, 1)]), torch.cat([codes, codes[alone].repeat(9)])
    x.requires_grad_(True)
    for _ in range(3):
        out = run(layer, x, codes)
    (gradient,) = torch.autograd.grad(out.square().sum(), x)
    assert torch.isfinite(gradient).all()
    # Ten draws of one row weigh 1 against k = 2, as one draw would.
    mean, var = layer.statistics(layer._shared[0].locate(codes[alone]))
    expected = 2 / 3 * (x[alone] - mean) / (2 / 3 * var + EPS).sqrt()
    torch.testing.assert_close(out[alone], expected, atol=1e-4, rtol=1e-4)
    layer.eval()
    # Another row of that domain is not thrown out by a variance of zero.
    far = run(layer, x[alone] + 5.0, codes[alone])
    assert torch.isfinite(far).all()
    assert far.abs().max() < 10.0
    assert (layer.statistics(layer._shared[0].locate(codes[alone]))[1] > 0.5).all()


def test_training_touches_the_domains_of_the_batch_only():
    layer = DomainBatchNorm(2, neighborhood())
    x, codes = batch([8, 8])
    run(layer, x, codes)
    assert layer.count.tolist() == [8, 8, 0]
    before = [buffer.clone() for buffer in (layer.mean, layer.var, layer.overall_mean)]
    run(layer, x[:0], codes[:0])
    for buffer, was in zip((layer.mean, layer.var, layer.overall_mean), before, strict=True):
        assert torch.equal(buffer, was)


def test_few_rows_in_a_batch_lean_on_the_running_statistics():
    x, codes = batch([400, 400, 400])
    layer = DomainBatchNorm(2, neighborhood(rows=[400] * 3), shrinkage=4.0)
    for part in range(30):
        run(layer, x[part * 40 : part * 40 + 40], codes[part * 40 : part * 40 + 40])
    row = torch.tensor([[100.0, 100.0]])
    known = layer.statistics(layer._shared[0].locate(torch.tensor([2])))[0]
    out = run(layer, row, torch.tensor([2]))
    after, var = layer.statistics(layer._shared[0].locate(torch.tensor([2])))
    # One row against four: mean = (row + 4 running) / 5.
    expected = (row - (row + 4 * after) / 5) / (4 / 5 * var + EPS).sqrt()
    torch.testing.assert_close(out.detach(), expected, rtol=1e-4, atol=1e-4)
    assert (after - known).abs().max() < 10.0


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        norm = nn.BatchNorm2d(4, eps=0.1)
        self.twice = nn.Sequential(norm, nn.ReLU(), norm)
        self.deep = nn.ModuleDict({"a": nn.ModuleList([nn.Sequential(nn.BatchNorm2d(4))])})
        self.plain = nn.BatchNorm2d(4, affine=False)

    def forward(self, x):
        return self.plain(x + self.deep["a"][0](self.twice(x)))


def test_conversion_reaches_every_level_and_keeps_what_was_learned():
    encoder = Residual()
    norm = encoder.twice[0]
    with torch.no_grad():
        norm.weight.fill_(3.0)
    norm.weight.requires_grad_(False)
    converted = convert_batch_norm(encoder, neighborhood())
    assert converted is encoder
    assert not any(isinstance(part, nn.BatchNorm2d) for part in encoder.modules())
    assert sum(isinstance(part, DomainBatchNorm) for part in encoder.modules()) == 3
    assert encoder.twice[0] is encoder.twice[2]
    assert encoder.twice[0].eps == 0.1
    assert encoder.twice[0].weight is norm.weight
    assert encoder.plain.weight is None
    x, codes = batch([8, 8, 8], (4, 3, 3))
    with encoder.plain._shared[0].at(codes):
        assert encoder(x).shape == x.shape
    alone = convert_batch_norm(nn.BatchNorm1d(2), neighborhood())
    assert isinstance(alone, DomainBatchNorm)


def encoder(rows=(8, 8, 8)):
    generator = torch.Generator().manual_seed(0)
    sizes = {"generator": generator, "batch_norm": True}
    return DomainEncoder(
        raw=mlp([2, 6, 6], final_activation=True, **sizes),
        graph=mlp([3, 6], generator=generator, final_activation=True),
        joint=mlp([12, 6, 4], **sizes),
        embedding=torch.eye(3),
        dim=4,
        neighborhood=neighborhood(rows=rows),
    )


def test_refreshed_statistics_are_those_of_the_inputs_in_every_layer():
    net = encoder()
    x, codes = batch([8, 8, 8])
    for _ in range(3):
        net(x[:12], codes[:12])  # what training remembers must not matter in the end
    refresh_statistics(net, lambda: [(x[:7], codes[:7]), (x[7:], codes[7:])])
    layers = [layer for layer in net.modules() if isinstance(layer, DomainBatchNorm)]
    assert len(layers) == 3
    seen = {}
    for layer in layers:
        layer.register_forward_hook(lambda layer, args, _: seen.update({layer: args[0]}))
    net(x, codes)
    for layer in layers:
        for domain in range(3):
            own = seen[layer][codes == domain].detach().numpy()
            np.testing.assert_allclose(layer.mean[domain], own.mean(0), atol=1e-5)
            np.testing.assert_allclose(layer.var[domain], own.var(0), rtol=1e-3, atol=1e-6)


def test_an_encoder_survives_copies_precision_and_a_state_dict():
    net = encoder()
    x, codes = batch([8, 8, 8])
    refresh_statistics(net, lambda: [(x, codes)])
    expected = net(x, codes)
    twin = copy.deepcopy(net)
    shared = {id(part._shared[0]) for part in twin.modules() if isinstance(part, DomainBatchNorm)}
    assert shared == {id(twin.neighborhood)}
    twin.train()
    twin(x[:5] + 9.0, codes[:5])
    torch.testing.assert_close(net(x, codes), expected, rtol=0, atol=0)
    fresh = encoder()
    fresh.load_state_dict(net.state_dict())
    torch.testing.assert_close(fresh.eval()(x, codes), expected, rtol=0, atol=0)
    double = net.to(torch.float64)(x.double(), codes)
    torch.testing.assert_close(double.float(), expected, rtol=1e-4, atol=1e-4)
    # A row's encoding does not depend on the rows beside it, nor does an empty call fail.
    torch.testing.assert_close(net(x[3:5].double(), codes[3:5]), double[3:5], rtol=1e-12, atol=0)
    assert net(x[:0].double(), codes[:0]).shape == (0, 4)


def test_a_layer_that_cannot_know_the_domains_says_so():
    layer = DomainBatchNorm(2, neighborhood())
    x, codes = batch([8, 8, 8])
    with pytest.raises(RuntimeError, match="outside of its encoder"):
        layer(x)
    with pytest.raises(ValueError, match="12 rows where 24"):
        run(layer, x[:12], codes)
    with pytest.raises(RuntimeError, match="outside of its encoder"):
        layer(x)  # the failed call has left nothing behind
