"""Images decoded on demand, here and in worker processes."""

import multiprocessing
import os
import pickle
import signal
import time

import numpy as np
import pytest
from PIL import Image

from grada.data import ImageRows, UnreadableRowError
from grada.data import _images as images
from grada.data._workers import spread


@pytest.fixture
def photos(tmp_path) -> list[str]:
    rng = np.random.default_rng(0)
    paths = [str(tmp_path / f"{n}.jpg") for n in range(20)]
    for path in paths:
        Image.fromarray(rng.integers(256, size=(30, 40, 3), dtype=np.uint8)).save(path)
    return paths


def pids(items):
    return [os.getpid() for _ in items]


def fall(items):
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(items)


def first_pixel(rows: ImageRows) -> float:
    return float(rows[:][0, 0, 0, 0])


def test_workers_give_the_same_pixels_in_the_same_order(photos):
    alone, spread_out = ImageRows(photos, 16, workers=1), ImageRows(photos, 16, workers=2)
    rows = np.random.default_rng(1).permutation(np.r_[np.arange(20), 3, 3])
    np.testing.assert_array_equal(spread_out[rows], alone[rows])
    assert set(pids([0] * 20)) == {os.getpid()}
    used = set(spread(pids, [0] * 20, 2, least=16))
    assert used
    assert os.getpid() not in used
    assert set(spread(pids, [0] * 15, 2, least=16)) == {os.getpid()}


def test_rows_travel_to_other_processes(photos):
    rows = ImageRows(photos, 16, workers=2)
    here = first_pixel(rows)  # with a pool of workers behind it
    assert first_pixel(pickle.loads(pickle.dumps(rows))) == here  # noqa: S301
    there = multiprocessing.get_context("fork")
    answer = there.SimpleQueue()
    process = there.Process(target=lambda: answer.put(first_pixel(rows)))
    process.start()
    process.join(60)
    assert process.exitcode == 0  # it has neither failed nor waited for workers of its own
    assert answer.get() == here


def test_a_worker_that_dies_is_done_without():
    with pytest.warns(UserWarning, match="A worker process died"):
        assert spread(fall, list(range(20)), 2, least=16) == list(range(20))
    assert spread(pids, [0] * 20, 2, least=16)  # and a new pool is there for the next


def test_large_photos_are_decoded_small_without_moving(tmp_path):
    # Four colours, one a quarter: the shortcut for large JPEGs must not shift or scale the cut.
    pixels = np.zeros((700, 1001, 3), dtype=np.uint8)
    pixels[:350, :500, 0] = pixels[:350, 500:, 1] = pixels[350:, :500, 2] = 255
    path = str(tmp_path / "large.jpg")
    Image.fromarray(pixels).save(path, quality=95)
    for box, size in ((None, 40), ((300, 150, 700, 550), 40), ((300, 150, 700, 550), 7)):
        rows = ImageRows([path], size, boxes=None if box is None else [box], workers=1)
        shown = rows[0] * images.DEVIATION[:, None, None] + images.MEAN[:, None, None]
        half = size // 2
        near, far = slice(0, half), slice(size - half, size)
        for channel, quarter in enumerate([(near, near), (near, far), (far, near)]):
            assert shown[channel][quarter].mean() > 0.9
            assert shown[channel].mean() == pytest.approx(0.25, abs=0.06)


def test_what_cannot_be_read_is_told_by_place(photos):
    os.truncate(photos[4], 900)
    rows = ImageRows([*photos, "gone.jpg"], 16, workers=1)
    values, problems = rows.read(np.array([4, 0, 20, 4]))
    assert sorted(problems) == [0, 2, 3]
    assert problems[0].startswith(photos[4])
    assert "gone.jpg" in problems[2]
    assert not values[[0, 2, 3]].any()
    np.testing.assert_array_equal(values[1], rows[0])
    with pytest.raises(UnreadableRowError, match=r"gone\.jpg"):
        rows[19:]
    assert sorted(rows.check_headers()) == [20]


def test_the_fingerprint_follows_files_size_and_boxes(photos):
    rows = ImageRows(photos, 16)
    assert rows.fingerprint() == ImageRows(photos, 16).fingerprint()
    boxes = [(0, 0, 9, 9)] * 20
    others = [ImageRows(photos, 17), ImageRows(photos, 16, boxes=boxes), rows.take(np.arange(19))]
    others += [rows.take(np.arange(20)[::-1])]
    prints = {other.fingerprint() for other in others} | {rows.fingerprint()}
    os.utime(photos[0], ns=(0, time.time_ns() - 10**12))
    assert len(prints | {rows.fingerprint()}) == 6
