"""PCIDA shows its idea on a translation, like CIDA."""

from math import atanh, log, pi

import pytest
import torch
from cases import gain_over_source_only, step
from torch import nn

from grada import methods
from grada.methods.cida import CoordinateDiscriminator


def test_losses_by_hand():
    # Means 1/2 and 0; variances 1 and 4 (the log-variance is 4 tanh(c / 4)).
    certainty = 4 * atanh(log(4) / 4)
    encoding = [[0.0, 0.0], [0.5, 0.0], [0.0, certainty]]
    drawn = step(encoding, [0, 0, 1], [[1.0, 0.0]], kind="regression", strength=0.5)
    coordinates = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
    asked = CoordinateDiscriminator(nn.Identity(), coordinates)
    first = (1.5**2 + log(2 * pi)) / 2
    second = (1.0**2 / 4 + log(2 * pi * 4)) / 2
    pcida = methods.PCIDA()
    loss = pcida.discriminator_loss(asked, drawn.encoding, drawn)
    assert loss.item() == pytest.approx((first + second) / 2)
    expected = 0.5 - 0.5 * (first + second) / 2
    assert pcida.encoder_loss(asked, drawn).item() == pytest.approx(expected)


@pytest.mark.slow
def test_undoes_a_translation():
    assert gain_over_source_only("pcida", "translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("pcida", "none") >= -2
