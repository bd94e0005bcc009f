import numpy as np

from grada import DomainGraph
from grada.data import DomainData
from grada.methods._frame import DomainFrame


def _data(X, codes, graph):
    y = np.zeros(len(X), dtype=np.int64)
    ones = np.ones(len(X), dtype=np.float32)
    return DomainData(np.asarray(X, np.float32), codes, y, ones, graph, "classification", 2)


def test_undoes_translation_and_scaling():
    """Drawn towards the usual mean and spread by a few rows, so only nearly."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(400, 3))
    moved = 5 + 3 * rng.normal(size=(400, 3))
    codes = np.repeat([0, 1], 400)
    data = _data(np.vstack([base, moved]), codes, DomainGraph.chain(2))
    seen = DomainFrame.of(data, "standardize").transform(data.X.astype(float), codes)
    for code in (0, 1):
        np.testing.assert_allclose(seen[codes == code].mean(axis=0), 0, atol=0.01)
        np.testing.assert_allclose(seen[codes == code].std(axis=0), 1, atol=0.02)
    centred = DomainFrame.of(data, "center").transform(data.X.astype(float), codes)
    np.testing.assert_allclose(centred[codes == 1].std() / centred[codes == 0].std(), 3, rtol=0.1)
    np.testing.assert_allclose((centred**2).mean(), 1, rtol=0.01)


def test_a_domain_without_rows_borrows_and_one_row_is_not_blown_up():
    graph = DomainGraph.chain(4)
    X = np.array([[0.0], [2.0], [4.0], [6.0], [100.0]])
    frame = DomainFrame.of(_data(X, np.array([0, 0, 2, 2, 3]), graph), "standardize")
    np.testing.assert_allclose(frame.mean[1], (frame.mean[0] + frame.mean[2]) / 2)
    assert frame.transform(np.array([[101.0]]), np.array([3]))[0, 0] < 2


def test_a_new_domain_brings_its_own_frame():
    data = _data(
        np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1]), DomainGraph.chain(2)
    )
    frame = DomainFrame.of(data, "center")
    larger = frame.extend(DomainGraph.chain(4), np.array([[50.0], [52.0]]), np.array([2, 2]))
    np.testing.assert_allclose(larger.mean[2], 51, atol=0.1)  # its own rows
    np.testing.assert_array_equal(larger.mean[3], frame.mean[1])  # carried from what was known
    np.testing.assert_array_equal(larger.mean[:2], frame.mean)


def test_chance_does_not_move_a_new_domain():
    """Domains that are all alike: the few rows of a new one do not make it different."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(20), 30)
    data = _data(rng.normal(size=(600, 200)), codes, DomainGraph.chain(20))
    new = rng.normal(size=(10, 200))
    larger = DomainFrame.of(data, "standardize").extend(DomainGraph.chain(21), new, np.full(10, 20))
    assert (larger.mean[20] ** 2).mean() < 0.3 * (new.mean(axis=0) ** 2).mean()
    own = np.log(new.std(axis=0))
    assert (np.log(larger.spread[20]) ** 2).mean() < 0.3 * (own**2).mean()
