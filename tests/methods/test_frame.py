import numpy as np

from grada import DomainGraph
from grada.data import DomainData
from grada.methods._frame import DomainFrame


def _data(X, codes, graph):
    y = np.zeros(len(X), dtype=np.int64)
    ones = np.ones(len(X), dtype=np.float32)
    return DomainData(np.asarray(X, np.float32), codes, y, ones, graph, "classification", 2)


def test_undoes_translation_and_scaling():
    """Shrunk towards the usual spread by three rows, so only nearly."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(400, 3))
    moved = 5 + 3 * rng.normal(size=(400, 3))
    codes = np.repeat([0, 1], 400)
    data = _data(np.vstack([base, moved]), codes, DomainGraph.chain(2))
    seen = DomainFrame.of(data, "standardize").transform(data.X.astype(float), codes)
    for code in (0, 1):
        np.testing.assert_allclose(seen[codes == code].mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(seen[codes == code].std(axis=0), 1, atol=0.02)
    centred = DomainFrame.of(data, "center").transform(data.X.astype(float), codes)
    np.testing.assert_allclose(centred[codes == 1].std() / centred[codes == 0].std(), 3, rtol=0.1)
    np.testing.assert_allclose((centred**2).mean(), 1, rtol=0.01)


def test_a_domain_without_rows_borrows_and_one_row_is_not_blown_up():
    graph = DomainGraph.chain(4)
    X = np.array([[0.0], [2.0], [4.0], [6.0], [100.0]])
    frame = DomainFrame.of(_data(X, np.array([0, 0, 2, 2, 3]), graph), "standardize")
    assert frame.mean[1, 0] == (1 + 5) / 2
    assert frame.transform(np.array([[101.0]]), np.array([3]))[0, 0] < 2


def test_a_new_domain_brings_its_own_frame():
    data = _data(
        np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1]), DomainGraph.chain(2)
    )
    frame = DomainFrame.of(data, "center")
    larger = frame.extend(DomainGraph.chain(4), np.array([[50.0], [52.0]]), np.array([2, 2]))
    assert larger.mean[2, 0] == 51  # its own rows
    assert larger.mean[3, 0] == 11  # carried from what was known
    np.testing.assert_allclose(larger.mean[:2], frame.mean)
