import numpy as np
import pytest
from cases import drift, predictions, quick


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
