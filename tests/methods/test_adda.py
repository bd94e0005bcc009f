"""ADDA shows its idea on a translation: the targets' own encoder moves them onto the sources."""

from math import log

import numpy as np
import pytest
import torch
from cases import drift, gain_over_source_only, predictions, quick, step
from torch import nn

from grada import methods
from grada.methods.adda import TwoEncoders


def test_losses_by_hand():
    # Logit of "source": 0 for the labelled row, ln 3 for the row of the target.
    drawn = step([[0.0], [log(3)]], [0, 1], [0], strength=0.5)
    adda = methods.ADDA()
    loss = adda.discriminator_loss(nn.Identity(), drawn.encoding, drawn)
    assert loss.item() == pytest.approx((log(2) + log(4)) / 2)
    # With inverted labels: -log 3/4. The labelled row plays no part.
    inverted = adda.encoder_loss(nn.Identity(), drawn)
    assert inverted.item() == pytest.approx(0.5 * log(4 / 3))
    (gradient,) = torch.autograd.grad(inverted, drawn.encoding)
    assert gradient[0].item() == 0


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_the_sources_keep_what_they_learned_first(kind):
    """In the source domains ADDA is Source-Only; in the targets it has moved."""
    task = drift(kind)
    model, adapted = predictions(task, quick("adda", epochs=6, base="none"))
    encoder = model.fitted_.network.encoder
    assert isinstance(encoder, TwoEncoders)
    source = np.isin(task.domain, task.sources)
    X = torch.from_numpy(model._features.transform(task.X)).double()
    codes = torch.from_numpy(task.graph.index(task.domain))
    with torch.no_grad():
        learned = model.fitted_.network.predictor(encoder.source(X, codes))
    learned = learned.softmax(dim=1).numpy() if kind == "classification" else learned[:, 0].numpy()
    if kind == "regression":
        learned = model._coder.decode(learned[:, None]).ravel()
    np.testing.assert_allclose(adapted[source], learned[source], atol=1e-12)
    assert np.abs(adapted - learned)[~source].max() > 1e-3
    history = model.history_
    assert history.n_epochs == 12  # two stages of six
    assert np.isnan(history["discriminator_loss"][5])
    assert np.isfinite(history["discriminator_loss"][6])


class Folded(nn.Module):
    """An encoder that cannot take zero rows, with a layer that its owner has frozen."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(3, 4).requires_grad_(False)
        self.free = nn.Linear(4, 4)

    def forward(self, x):
        return self.free(self.frozen(x)).view(x.shape[0], -1)


def test_a_users_encoder_keeps_its_frozen_layers():
    encoder = Folded()
    task = drift("classification")
    model, _ = predictions(task, methods.ADDA(encoder=encoder, epochs=3, head_start=2))
    trained = model.fitted_.network.encoder.target.raw
    assert torch.equal(trained.frozen.weight, encoder.frozen.weight)
    assert not torch.equal(trained.free.weight, encoder.free.weight)
    one_domain = task.domain == task.domain[0]
    model.predict(task.X[one_domain], sample_domain=task.domain[one_domain])


@pytest.mark.slow
def test_undoes_a_translation():
    assert gain_over_source_only("adda", "translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("adda", "none") >= -2
