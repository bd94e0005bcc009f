"""CIDA shows its idea on a translation along the coordinate that it hides."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import drift, gain_over_source_only, predictions, quick, step
from torch import nn

from grada import AdaptationWarning, AdaptedClassifier, DomainGraph, methods
from grada.data import DomainData
from grada.methods.cida import CoordinateDiscriminator


def standard_coordinates(method):
    """The years 1990, 1992 and, for a domain without rows, nothing."""
    graph = DomainGraph.chain(["a", "b", "c"])
    X, y = np.zeros((2, 1)), [1.0, np.nan]
    data = DomainData.from_table(X, y, ["a", "b"], graph=graph, kind="regression")
    return method._coordinates(data, SimpleNamespace())[:2]


def test_losses_by_hand():
    cida = methods.CIDA(coordinates={"a": 1990, "b": 1992})
    coordinates = standard_coordinates(cida).double()
    np.testing.assert_allclose(coordinates, [[-1.0], [1.0]])
    # One labelled row, then one row each of a and b, of which it says 1/2 and 0.
    drawn = step([[3.0], [0.5], [0.0]], [0, 0, 1], [[2.0]], kind="regression", strength=0.5)
    asked = CoordinateDiscriminator(nn.Identity(), coordinates)
    error = (1.5**2 + 1.0**2) / 2
    loss = cida.discriminator_loss(asked, drawn.encoding, drawn)
    assert loss.item() == pytest.approx(error)
    assert cida.encoder_loss(asked, drawn).item() == pytest.approx(1.0 - 0.5 * error)


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ({0: 1.0}, r"no entry for the domains \[1, 2, 3, 4, 5\]"),
        ({**dict.fromkeys(range(5), 1.0), 5: [1.0, 2.0]}, "of one length"),
        ({**dict.fromkeys(range(5), 1.0), 5: "west"}, "a number"),
        ({**dict.fromkeys(range(5), 1.0), 5: np.nan}, "finite"),
    ],
)
def test_wrong_coordinates_are_refused_in_words(coordinates, message):
    task = drift("classification")
    with pytest.raises(ValueError, match=message):
        predictions(task, quick("cida", coordinates=coordinates))


def test_equal_coordinates_leave_nothing_to_align():
    task = drift("classification")
    X, y, domain = task.visible()
    model = AdaptedClassifier(
        quick("cida", coordinates=dict.fromkeys(range(6), 7.0)), task.graph, random_state=0
    )
    with pytest.warns(AdaptationWarning, match="same coordinates"):
        model.fit(X, y, sample_domain=domain)


def test_an_embedding_that_tells_nothing_leaves_nothing_to_align():
    """VGAE cannot tell the domains of a clique apart."""
    task = drift("classification", graph=DomainGraph.clique(4))
    X, y, domain = task.visible()
    model = AdaptedClassifier(quick("cida", embedding="vgae"), task.graph, random_state=0)
    with pytest.warns(AdaptationWarning, match="'vgae' puts all domains with rows in one place"):
        model.fit(X, y, sample_domain=domain)


@pytest.mark.slow
def test_undoes_a_translation():
    assert gain_over_source_only("cida", "translation") >= 10


@pytest.mark.slow
def test_does_no_harm_without_a_shift():
    assert gain_over_source_only("cida", "none") >= -2
