"""Images as rows: decoded with Pillow when they are asked for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grada.data._lazy import LazyRows
from grada.data._workers import spread

#: Mean and deviation of the channels of natural images, as most published weights expect them.
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)

_FORMATS = ("JPEG", "PNG")
_LEAST_IMAGES = 16
_LEAST_HEADERS = 2000

Box = tuple[int, ...]
Job = tuple[str, Box | None, int]


class ImageRows(LazyRows):
    """Images in files, as rows of shape (3, size, size).

    Each image is cut to the square in its middle, or to a box, and resized; colours are
    standardised by the mean and deviation usual for natural images. Batches of some size are
    decoded in worker processes, which are started when first needed.

    Parameters
    ----------
    paths : array-like of str, shape (n_rows,)
        JPEG or PNG files.
    size : int
        Height and width of a row.
    boxes : int array-like of shape (n_rows, 4), optional
        Part of each image to take: left, upper, right, lower, from 0, the ends not included. It
        is stretched to a square, so that nothing of it is lost.
    workers : int, optional
        Processes that decode; by default one a processor. 1: this process alone.
    """

    def __init__(
        self,
        paths: ArrayLike,
        size: int,
        *,
        boxes: ArrayLike | None = None,
        workers: int | None = None,
    ):
        _pillow()
        if size < 1:
            raise ValueError(f"The size of an image must be at least 1 pixel; got {size}.")
        self.paths = np.array(paths, dtype=object)
        self.size = int(size)
        self.boxes = None if boxes is None else np.array(boxes, dtype=np.int64)
        self.workers = workers

    @property
    def shape(self) -> tuple[int, ...]:
        """(n_rows, 3, size, size)."""
        return (len(self.paths), 3, self.size, self.size)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the images, in a given order."""
        boxes = None if self.boxes is None else self.boxes[rows]
        return type(self)(self.paths[rows], self.size, boxes=boxes, workers=self.workers)

    def read(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float32], dict[int, str]]:
        """Decode images; see :meth:`LazyRows.read`."""
        once, place = np.unique(rows, return_inverse=True)
        decoded = spread(
            _decode_all,
            [self._job(row) for row in once.tolist()],
            self.workers,
            least=_LEAST_IMAGES,
        )
        # Bytes until here: a quarter of the way from the workers and of the memory.
        pixels = np.zeros((len(once), self.size, self.size, 3), dtype=np.uint8)
        wrong = {}
        for i, image in enumerate(decoded):
            if isinstance(image, str):
                wrong[i] = image
            else:
                pixels[i] = image
        values = np.moveaxis(pixels, 3, 1).astype(np.float32, order="C")
        values -= 255 * MEAN[:, None, None]
        values /= 255 * DEVIATION[:, None, None]
        values[list(wrong)] = 0.0
        problems = {at: wrong[i] for at, i in enumerate(place.tolist()) if i in wrong}
        return values if np.array_equal(once, rows) else values[place], problems

    def check_headers(self) -> dict[int, str]:
        """Open every file, without decoding it.

        Returns
        -------
        dict
            For the position of each file that is no image, or does not hold its box: the name
            of the file, and what is wrong.
        """
        jobs = [self._job(row) for row in range(len(self))]
        messages = spread(_open_all, jobs, self.workers, least=_LEAST_HEADERS)
        return {row: message for row, message in enumerate(messages) if message}

    def fingerprint(self) -> str:
        """Hash of names, sizes and times of the files, and of how they are cut and resized."""
        digest = hashlib.sha256(f"{self.size} {MEAN} {DEVIATION}".encode())
        for row, path in enumerate(self.paths):
            box = None if self.boxes is None else self.boxes[row].tolist()
            digest.update(f"{path}\0{_stamp(path)}\0{box}\n".encode())
        return digest.hexdigest()

    def _job(self, row: int) -> Job:
        box = None if self.boxes is None else tuple(self.boxes[row].tolist())
        return self.paths[row], box, self.size


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("Images need Pillow: pip install grada[images]") from error
    return Image


def _stamp(path: str) -> str:
    try:
        stat = os.stat(path)  # noqa: PTH116 - one call for each of many files
    except OSError:
        return "gone"
    return f"{stat.st_size} {stat.st_mtime_ns}"


def _open_all(jobs: Sequence[Job]) -> list[str]:
    return [_open(path, box) for path, box, _ in jobs]


def _open(path: str, box: Box | None) -> str:
    """What is wrong with the header of an image; empty if nothing is."""
    try:
        with _pillow().open(path, formats=_FORMATS) as image:
            _part(box, *image.size)
            return ""
    except Exception as error:  # Pillow raises nearly anything on a damaged file
        return _complaint(path, error)


def _decode_all(jobs: Sequence[Job]) -> list[Any]:
    return [_decode(*job) for job in jobs]


def _decode(path: str, box: Box | None, size: int) -> NDArray[np.uint8] | str:
    """An image as bytes of shape (size, size, 3), or what is wrong with it."""
    pillow = _pillow()
    try:
        with pillow.open(path, formats=_FORMATS) as image:
            width, height = image.size
            left, upper, right, lower = _part(box, width, height)
            # A large JPEG is decoded at a half, a quarter or an eighth of its size if that will
            # do: several times faster.
            shrink = max(1.0, min(right - left, lower - upper) / size)
            image.draft("RGB", (int(width / shrink), int(height / shrink)))
            x, y = image.size[0] / width, image.size[1] / height
            part = (left * x, upper * y, min(right * x, image.width), min(lower * y, image.height))
            small = image.convert("RGB").resize((size, size), pillow.Resampling.BILINEAR, box=part)
            return np.asarray(small)
    except Exception as error:
        return _complaint(path, error)


def _part(box: Box | None, width: int, height: int) -> Box:
    if box is None:
        side = min(width, height)
        left, upper = (width - side) // 2, (height - side) // 2
        return left, upper, left + side, upper + side
    left, upper = max(box[0], 0), max(box[1], 0)
    right, lower = min(box[2], width), min(box[3], height)
    if not (left < right and upper < lower):
        raise ValueError(f"the box {box} does not lie in the image of {width} x {height} pixels")
    return left, upper, right, lower


def _complaint(path: str, error: Exception) -> str:
    # Pillow's own words for "no image" name the file a second time.
    what = "is no image" if type(error).__name__ == "UnidentifiedImageError" else str(error)
    return f"{path}: {what}"
