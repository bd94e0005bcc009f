import torch
from torch import nn

from grada.nn import DomainEncoder, mlp
from grada.nn.encoders import ModulatedEncoder, Modulation, bounded_from_zero

#: Sources 0 and 1 differ on the first axis only; domain 2 lies elsewhere on both.
PLACES = torch.tensor([[0.0, 0.5], [1.0, 0.5], [3.0, 4.0]])
SOURCES = torch.tensor([0, 1])


def generator():
    return torch.Generator().manual_seed(0)


def modulated(places=PLACES):
    encoder = ModulatedEncoder(
        raw=nn.Identity(),
        graph=Modulation(places, SOURCES, width=4),
        joint=mlp([4, 8, 8], generator=generator()),
        embedding=places,
        dim=8,
    )
    with torch.no_grad():
        encoder.graph.weight.normal_(0.0, 3.0, generator=generator())
    return encoder


def test_modulation_by_hand():
    layer = Modulation(torch.tensor([[0.0], [2.0]]), torch.tensor([0]), width=1, bound=0.5)
    with torch.no_grad():
        layer.weight[:, 0, 0] = torch.tensor([1.0, -2.0])
    # One spread (1.0) from the source: 2 tanh(1/2) on the axis.
    place = 2.0 * torch.tanh(torch.tensor(0.5))
    scale, shift = layer(torch.tensor([[1.0]]))
    torch.testing.assert_close(scale, 1.0 + 0.5 * torch.tanh(place).reshape(1, 1))
    torch.testing.assert_close(shift, 0.5 * torch.tanh(-2.0 * place).reshape(1, 1))


def test_a_far_domain_cannot_run_away():
    x = torch.randn(5, 4, generator=generator())
    far, codes = PLACES.clone(), torch.full((5,), 2)
    size = []
    for factor in (1e2, 1e4):
        far[2] = PLACES[2] * factor
        both = [
            modulated(PLACES),
            DomainEncoder(
                nn.Identity(), nn.Identity(), mlp([6, 8, 8], generator=generator()), PLACES, 8
            ),
        ]
        for encoder in both:
            encoder.embedding = far
        size.append([encoder(x, codes).abs().max().item() for encoder in both])
    (bounded, endless), (still_bounded, worse) = size
    assert bounded == still_bounded
    assert worse > 50 * endless  # side by side it goes on without end


def test_labels_teach_nothing_about_directions_in_which_the_sources_agree():
    encoder = modulated()
    with torch.no_grad():
        encoder.graph.weight.zero_()
    x = torch.randn(6, 4, generator=generator())
    encoder(x, torch.tensor([0, 1, 0, 1, 0, 1])).square().sum().backward()
    gradient = encoder.graph.weight.grad
    assert gradient[:, 0].abs().max() > 0
    assert gradient[:, 1].abs().max() == 0


def test_an_axis_on_which_all_domains_agree_is_ignored():
    same = torch.tensor([[0.0, 0.7], [1.0, 0.7], [2.0, 0.7]])
    x = torch.randn(3, 4, generator=generator())
    assert modulated(same)(x, torch.arange(3)).isfinite().all()


def test_a_bounded_predictor_starts_at_zero_and_stays_in_bounds():
    layers = bounded_from_zero(mlp([2, 4, 3], generator=generator()), limit=1.5)
    x = 100 * torch.randn(20, 2, generator=generator())
    assert layers(x).abs().max() == 0
    with torch.no_grad():
        for weight in layers.parameters():
            weight.normal_(0.0, 10.0, generator=generator())
    assert 1.4 < layers(x).abs().max() <= 1.5
