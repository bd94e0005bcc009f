import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grada.nn.augment import Compose, Mask, Mix, Noise, partners

SHAPES = {"table": (60, 4), "images": (60, 3, 5, 5)}
ALL = [Noise(), Mask(), Mix(), Compose()]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batch(shape) -> tuple[torch.Tensor, torch.Tensor]:
    """Two domains far apart and one of a single row."""
    codes = torch.tensor([3, 8] * 29 + [3, 5])
    x = torch.randn(shape, generator=generator()) + 1000.0 * codes.view(-1, *[1] * (len(shape) - 1))
    return x, codes


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("augment", ALL, ids=lambda a: type(a).__name__)
def test_rows_of_any_shape_change_but_stay_in_their_domain(augment, shape):
    x, codes = batch(SHAPES[shape])
    before = x.clone()
    view = augment(x, codes, generator(1))
    assert torch.equal(x, before)
    assert view.shape == x.shape
    assert view.dtype == x.dtype
    assert not torch.equal(view, x)
    assert float((view - x).abs().max()) < 10.0
    assert torch.equal(view, augment(x, codes, generator(1)))
    assert not torch.equal(view, augment(x, codes, generator(2)))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 1000))
def test_partners_are_other_rows_of_the_same_domain(codes, seed):
    codes = torch.tensor(codes)
    partner = partners(codes, generator(seed))
    assert torch.equal(codes[partner], codes)
    assert sorted(partner.tolist()) == list(range(len(codes)))
    alone = (codes[:, None] == codes).sum(dim=1) == 1
    assert torch.equal(partner == torch.arange(len(codes)), alone)


def test_each_does_as_much_as_its_settings_say():
    x = torch.randn((4000, 2), generator=generator())
    codes = torch.zeros(4000, dtype=torch.long)
    assert float((Noise(0.3)(x, codes, generator()) - x).std()) == pytest.approx(0.3, rel=0.05)
    masked = Mask(0.2)(x, codes, generator())
    hidden = masked != x
    assert float(hidden.float().mean()) == pytest.approx(0.2, abs=0.02)
    mean = x.mean(dim=0).expand_as(x)
    np.testing.assert_allclose(masked[hidden], mean[hidden], atol=1e-5)
    # Uniform up to 0.3 of the way to an independent row: E|part|² E|distance|² = 0.03 * 2.
    moved = (Mix(0.3)(x, codes, generator()) - x).square().mean()
    assert float(moved) == pytest.approx(0.06, rel=0.1)
    shifted = Compose((lambda x, codes, generator: x + 1.0,), chance=0.25)(x, codes, generator())
    changed = (shifted != x).float()
    assert torch.equal(changed[:, 0], changed[:, 1])
    assert float(changed.mean()) == pytest.approx(0.25, abs=0.03)
