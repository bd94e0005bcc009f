import numpy as np
import pytest
from sklearn.datasets import load_digits

from grada.datasets import rotating_digits

IMAGES, LABELS = load_digits(return_X_y=True)


def test_each_image_once_and_evenly():
    task = rotating_digits(span=0)  # nothing turns, so that every image can be found again
    assert task.X.shape == (1797, 64)
    np.testing.assert_allclose(task.X, task.X.round(), atol=1e-9)
    ours, given = np.lexsort(task.X.round().T), np.lexsort(IMAGES.T)
    np.testing.assert_array_equal(task.X.round()[ours], IMAGES[given])
    assert (task.reveal()[ours] == LABELS[given]).all()
    counts = np.zeros((30, 10), dtype=int)
    np.add.at(counts, (task.domain, task.reveal()), 1)
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_rows_at_the_same_place_are_not_the_same_digit():
    task = rotating_digits()
    assert (np.diff(task.domain) >= 0).all()
    labels = np.array([task.reveal()[task.domain == code][:59] for code in range(30)])
    agreement = (labels[:, None] == labels).mean(axis=2)[np.triu_indices(30, 1)]
    assert agreement.mean() == pytest.approx(0.1, abs=0.01)


def test_turned_by_the_angle_of_the_domain():
    """Quarter turns move pixels and mix none: the same deal of images, turned by NumPy."""
    upright = rotating_digits(5, 0, 2)
    task = rotating_digits(5, 360, 2)
    assert task.metadata["angle"] == {0: 0, 1: 90, 2: 180, 3: 270, 4: 360}
    shape = (-1, *task.metadata["image_shape"])
    for code in range(5):
        mine = task.X[task.domain == code].reshape(shape)
        expected = np.rot90(upright.X[upright.domain == code].reshape(shape), code, axes=(1, 2))
        np.testing.assert_allclose(mine, expected, atol=1e-6)


def test_slanted_images_stay_in_range_and_keep_their_ink():
    task = rotating_digits(4, 135, 1)
    assert task.X.min() == 0
    assert task.X.max() == 16
    ink = np.array([task.X[task.domain == code].mean() for code in range(4)])
    np.testing.assert_allclose(ink, ink[0], rtol=0.04)


def test_chain_and_ring():
    chain, ring = rotating_digits(6, 180, 2), rotating_digits(6, 360, 2, graph="ring")
    assert list(chain.metadata["angle"].values()) == pytest.approx([0, 36, 72, 108, 144, 180])
    assert list(ring.metadata["angle"].values()) == pytest.approx([0, 60, 120, 180, 240, 300])
    assert chain.graph.n_edges == 5
    assert chain.graph.neighbors(5) == (4,)
    assert ring.graph.n_edges == 6
    assert set(ring.graph.neighbors(5)) == {0, 4}
    assert chain.sources == ring.sources == (0, 1)


def test_the_seed_deals():
    first, again, other = (rotating_digits(5, 90, 2, random_state=seed) for seed in (1, 1, 2))
    assert (first.X == again.X).all()
    assert (first.X != other.X).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_domains": 175}, "from 2 .* to 174, so that every domain gets an image of each digit"),
        ({"n_domains": 1}, "n_domains"),
        ({"n_domains": 2, "n_sources": 1, "graph": "ring"}, r"from 3 \(for a ring\)"),
        ({"n_sources": 30}, "from 1 to n_domains - 1 = 29"),
        ({"n_sources": 0}, "n_sources"),
        ({"graph": "star"}, "chain, ring"),
        ({"span": np.inf}, "degrees"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        rotating_digits(**change)
