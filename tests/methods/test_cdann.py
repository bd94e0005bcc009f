"""CDANN shows its idea on a translation, class by class."""

from math import log

import numpy as np
import pytest
import torch
from cases import gain_over_source_only, step
from torch import nn

from grada import DomainGraph, methods
from grada.data import DomainData


class ReadsThePrediction(nn.Module):
    """Says that the domain is the predicted class."""

    def forward(self, seen):
        return seen[:, 2:].log()


def tiny():
    """Predicted classes (1/2, 1/2) in domain 0 and (3/4, 1/4) in domain 1."""
    return step([[0.0, 0.0], [0.0, 0.0], [log(3), 0.0]], [0, 0, 1], [0], strength=0.5)


def test_losses_by_hand():
    drawn = tiny()
    cdann = methods.CDANN()
    named = (log(2) + log(4)) / 2
    loss = cdann.discriminator_loss(ReadsThePrediction(), drawn.encoding, drawn)
    assert loss.item() == pytest.approx(named)
    assert cdann.encoder_loss(ReadsThePrediction(), drawn).item() == (
        pytest.approx(log(2) - 0.5 * named)
    )


def test_no_gradient_flows_through_the_prediction():
    drawn = tiny()
    loss = methods.CDANN().encoder_loss(ReadsThePrediction(), drawn)
    (gradient,) = torch.autograd.grad(loss, drawn.encoding)
    assert gradient[0].abs().sum() > 0  # the labelled row teaches
    assert gradient[1:].abs().sum() == 0  # a discriminator that reads the prediction does not


def test_the_bound_is_what_the_class_leaves_open():
    X = np.zeros((2, 1))
    graph = DomainGraph.chain(2)
    data = DomainData.from_table(X, [1.0, np.nan], [0, 1], graph=graph, kind="regression")
    cdann = methods.CDANN()
    # Domain 0 is class 0 with 99 %, domain 1 is class 1 with 99 %.
    sure = [[0.0, 0.0], [log(99), 0.0], [0.0, log(99)]]
    chance = cdann.chance(step(sure, [0, 0, 1], [0])).item()
    # I = ln 2 - H(0.01); of that (2 - 1)(2 - 1) / (2 * 2 rows) is expected by chance.
    told = log(2) + 0.99 * log(0.99) + 0.01 * log(0.01) - 1 / 4
    assert chance == pytest.approx(told)
    assert cdann.chance(tiny()).item() == 0  # less than chance finds among so few rows
    assert cdann.bound(data, chance) == pytest.approx(log(2) - told)


@pytest.mark.slow
def test_undoes_a_translation():
    assert gain_over_source_only("cdann", "translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("cdann", "none") >= -2
