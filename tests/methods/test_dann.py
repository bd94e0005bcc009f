"""DANN shows its idea on a translation: the encoder subtracts what names the domain."""

from math import log

import numpy as np
import pytest
from cases import gain_over_source_only, step
from torch import nn

from grada import AdaptationWarning, AdaptedClassifier, DomainGraph, methods
from grada.datasets import Task


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


@pytest.mark.parametrize("name", ["dann", "cdann", "cida", "pcida"])
@pytest.mark.parametrize("n_domains", [15, 60])
def test_a_discriminator_too_smooth_to_see_is_found_out(name, n_domains):
    """A feature names the domain and nothing is aligned: the last probe must say so."""
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(n_domains), 20)
    X = np.column_stack(
        [domain + 0.01 * rng.normal(size=len(domain)), rng.normal(size=len(domain))]
    )
    task = Task(
        X,
        X[:, 1] > 0,
        domain,
        graph=DomainGraph.chain(n_domains),
        sources=range(8),
        kind="classification",
    )
    X, y, domain = task.visible()
    method = methods.resolve(name).set_params(strength=1e-6, epochs=10)
    model = AdaptedClassifier(method, task.graph, random_state=0)
    with pytest.warns(AdaptationWarning, match="not aligned"):
        model.fit(X, y, sample_domain=domain)


@pytest.mark.slow
def test_undoes_a_translation():
    assert gain_over_source_only("dann", "translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("dann", "none") >= -2
