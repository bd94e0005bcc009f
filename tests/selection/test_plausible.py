import numpy as np
import pytest

from grada import AdaptedRegressor, DomainGraph
from grada.data import DomainData
from grada.selection.plausible import Plausible


def _data(n_sources=3, rows=20, seed=0):
    """Values around -5, 0, 5, ... with spread one; two targets without labels."""
    rng = np.random.default_rng(seed)
    n_domains = n_sources + 2
    codes = np.repeat(np.arange(n_domains), rows)
    y = 5.0 * codes - 5 + rng.normal(size=len(codes))
    known = codes < n_sources
    y = np.where(known, y, np.nan).astype(np.float32)[:, None]
    X = rng.normal(size=(len(codes), 1)).astype(np.float32)
    graph = DomainGraph.chain(n_domains)
    return DomainData(X, codes, y, known.astype(np.float32), graph, "regression", 1)


def _line(X, codes):
    """What is predicted: ten times the input, around a hundred."""
    del codes
    return 100.0 + 10.0 * X.astype(float)


def test_the_reach_by_hand():
    data = _data()
    y = data.y[data.labelled, 0].reshape(3, -1).astype(float)
    deviation = y - np.median(y, axis=1)[:, None]
    spread = np.sqrt((deviation**2).sum() / (deviation.size - 3))
    expected = max(1.5 * np.abs(deviation).max(), 4.5 * spread)
    found = Plausible.of(data, _line)
    np.testing.assert_allclose(found.reach, expected)
    middle = np.median(_line(data.X, data.codes)[data.codes == 4])
    np.testing.assert_allclose(found.middle[4], middle)
    held = found.hold(_line(data.X, data.codes), data.codes)
    target = data.codes >= 3
    assert np.abs(held[data.codes == 4] - middle).max() == pytest.approx(expected)
    np.testing.assert_array_equal(held[~target], _line(data.X, data.codes)[~target])
    assert 0 < found.share_held(_line(data.X, data.codes)[target], data.codes[target]) < 1


def test_with_few_labels_nothing_is_held():
    """Nor with one row a source, where labels show no spread at all."""
    for data in (_data(rows=5), _data(n_sources=60, rows=1)):
        output = _line(data.X, data.codes)
        np.testing.assert_array_equal(Plausible.of(data, _line).hold(output, data.codes), output)


def _bent(scale):
    """A line, and a target that has one row ten or ten thousand times as far out as all others."""
    rng = np.random.default_rng(0)
    domain = np.repeat(np.arange(6), 40)
    X = rng.normal(size=(240, 2))
    y = X @ [1.0, -1.0] + 0.1 * rng.normal(size=240)
    X[-1] = scale, 0.0
    return X, np.where(domain < 4, y, np.nan), domain


def test_auto_holds_what_lies_far_out_and_says_so():
    graph = DomainGraph.chain(6)
    outputs = []
    for scale in (1.0, 100.0):
        X, y, domain = _bent(scale)
        model = AdaptedRegressor("auto", graph, random_state=0).fit(X, y, sample_domain=domain)
        outputs.append(model.predict(X, sample_domain=domain))
        assert ("held back" in model.report_.verdict) == (scale > 1)
    largest = np.abs(y[domain < 4]).max()
    assert largest < outputs[1][-1] < 2.5 * largest
    # A new domain is held as well, around its own middle.
    larger = model.extend(DomainGraph.from_edges([(5, "new")]), X[-40:], ["new"] * 40)
    assert larger.predict(X[-1:], sample_domain=["new"])[0] < 2.5 * largest
