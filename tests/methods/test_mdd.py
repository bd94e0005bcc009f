"""MDD shows its idea where a class lies on the old boundary: there predictors can differ."""

from math import log

import pytest
from cases import gain_over_source_only, step
from torch import nn

from grada import methods


class Twice(nn.Module):
    def forward(self, encoding):
        return 2 * encoding


def test_losses_by_hand_classification():
    # Both predictors say the encoding. Source: class 0 with 3/4. Target: class 1 with 3/4.
    drawn = step([[log(3), 0.0], [0.0, log(3)]], [0, 1], [0], strength=0.5)
    mdd = methods.MDD(margin=4.0)
    disparity = (4 * log(4 / 3) + log(4)) / 5
    loss = mdd.discriminator_loss(nn.Identity(), drawn.encoding, drawn)
    assert loss.item() == pytest.approx(disparity)
    expected = log(4 / 3) - 0.5 * disparity
    assert mdd.encoder_loss(nn.Identity(), drawn).item() == pytest.approx(expected)


def test_losses_by_hand_regression():
    # F says 1 and 2, F' twice that: they differ by 1 on the source and by 2 on the target.
    drawn = step([[1.0], [2.0]], [0, 1], [[0.5]], kind="regression", strength=0.5)
    mdd = methods.MDD(margin=4.0)
    disparity = (4 * (1 / 2) + (1 - 4 / 5)) / 5
    loss = mdd.discriminator_loss(Twice(), drawn.encoding, drawn)
    assert loss.item() == pytest.approx(disparity)
    assert mdd.encoder_loss(Twice(), drawn).item() == pytest.approx(0.25 - 0.5 * disparity)


@pytest.mark.slow
def test_undoes_half_a_translation():
    assert gain_over_source_only("mdd", "half translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("mdd", "none") >= -2
