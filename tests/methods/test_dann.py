"""DANN shows its idea on a translation: the encoder subtracts what names the domain."""

from math import log

import pytest
from cases import gain_over_source_only, step
from torch import nn

from grada import methods


def test_losses_by_hand():
    # The discriminator says what the encoding is: (0, 0) and (ln 3, 0) for domains 0 and 1.
    drawn = step([[0.0, 0.0], [0.0, 0.0], [log(3), 0.0]], [0, 0, 1], [0], strength=0.5)
    dann = methods.DANN()
    # -log 1/2 for the first, -log 1/4 for the second
    named = (log(2) + log(4)) / 2
    assert dann.discriminator_loss(nn.Identity(), drawn.encoding, drawn).item() == (
        pytest.approx(named)
    )
    # The labelled row costs ln 2.
    assert dann.encoder_loss(nn.Identity(), drawn).item() == pytest.approx(log(2) - 0.5 * named)


def test_undoes_a_translation():
    assert gain_over_source_only("dann", "translation") >= 10


def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("dann", "none") >= -2
