from math import log

import numpy as np
import pytest
from cases import drift, predictions, quick, step

from grada.methods._neural import NeuralGame


def test_losses_by_hand():
    game = NeuralGame.__new__(NeuralGame)
    # Class 0 is right with probability 1/2 and 3/4.
    drawn = step([[0.0, 0.0], [log(3), 0.0]], [0, 0], [0, 0])
    assert game.encoder_loss(drawn).item() == pytest.approx((log(2) + log(4 / 3)) / 2)
    # Errors (1, 0) and (0, 2): squared, averaged over two outputs and two rows.
    drawn = step([[1.0, 1.0], [2.0, 2.0]], [0, 0], [[0.0, 1.0], [2.0, 0.0]], kind="regression")
    assert game.encoder_loss(drawn).item() == pytest.approx((1.0 + 4.0) / 4)


def test_is_grda_without_its_adversary():
    """The same encoder, the same batches: strength zero is Source-Only, to the last bit."""
    task = drift("classification")
    _, alone = predictions(task, quick("source-only"))
    _, disarmed = predictions(task, quick("grda", strength=0.0))
    np.testing.assert_array_equal(alone, disarmed)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_the_domain_is_an_input_of_the_encoder(kind):
    """In every domain another rule: the embedding must tell the network which."""
    task = drift(kind, n_sources=5)
    model, output = predictions(task, quick("source-only", epochs=20))
    moved = np.where(task.domain == 0, 4, 0)
    ask = model.predict_proba if kind == "classification" else model.predict
    assert np.abs(ask(task.X, sample_domain=moved) - output).max() > 1e-3
