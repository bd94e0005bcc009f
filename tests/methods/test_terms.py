import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grada import DomainGraph
from grada.data import DomainData
from grada.methods import Plain, Run, _process
from grada.methods._residuals import adapt_residuals
from grada.methods._terms import TERMS, bent, bent_size, rates, terms_of

RUN = Run(0, torch.device("cpu"))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(0.1, 30.0))
def test_curves_have_a_covariance(seed, n_features, scale):
    x = scale * np.random.default_rng(seed).normal(size=(25, n_features))
    covariance = bent(x, x)
    np.testing.assert_allclose(np.diag(covariance), bent_size(x))
    np.testing.assert_allclose(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
    assert (np.abs(covariance) <= 1).all()


def test_curves_level_off_and_differ_on_the_two_sides():
    """Far out all is alike on one side; the two sides are unlike."""
    x = np.array([[-40.0], [0.0], [20.0], [40.0]])
    covariance = bent(x, x)
    assert covariance[2, 3] > 0.95
    assert covariance[0, 3] < -0.9
    # By hand, at the origin: 2 / pi * arcsin(2 / 3).
    assert covariance[1, 1] == pytest.approx(2 / np.pi * np.arcsin(2 / 3))


def test_many_features_are_not_looked_at_one_by_one():
    assert terms_of(300) == TERMS
    assert set(terms_of(3)) - set(TERMS) == {("all", "each bent")}
    free = rates(terms_of(3)) == 0
    assert [name for name, is_free in zip(terms_of(3), free, strict=True) if is_free] == [
        ("all", "one"),
        ("all", "linear"),
    ]


def steps(seed):
    """A step in one of six features and a wave in another; means differ from domain to domain.

    Returns the data, with labels in eight of twenty domains, and what is missed in the others.
    """
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(20), 40)
    X = rng.normal(size=(len(codes), 6)) + 0.6 * rng.normal(size=(20, 6))[codes]
    truth = 0.8 * (X[:, 0] > 0.5) + np.sin(X[:, 1]) + 0.4 * X[:, 2]
    seen = codes < 8
    y = np.where(seen, truth + 0.3 * rng.normal(size=len(codes)), np.nan)
    data = DomainData(
        X=X.astype(np.float32),
        codes=codes,
        y=y[:, None].astype(np.float32),
        weight=seen.astype(np.float32),
        graph=DomainGraph.from_adjacency(np.zeros((20, 20))),
        kind="regression",
        n_outputs=1,
    )

    def missed(fitted):
        predicted = fitted.predict(data.X[~seen], codes[~seen])[:, 0]
        return float(((predicted - truth[~seen]) ** 2).mean())

    return data, missed


def test_curves_in_single_features_are_found_among_others(monkeypatch):
    data, missed = steps(0)
    with_curves = missed(adapt_residuals(None, data, RUN))
    assert with_curves < 0.5 * missed(Plain().adapt(data, RUN))
    monkeypatch.setattr(_process, "terms_of", lambda n_features: TERMS)
    assert with_curves < 0.7 * missed(adapt_residuals(None, data, RUN))
