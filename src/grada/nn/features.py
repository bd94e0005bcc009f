"""Feature vectors of images: computed once by a fixed encoder, and kept on disk."""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch import nn

from grada.data import LazyRows, skip_or_refuse


class _Task(Protocol):
    """What is asked of a task; datasets are none of the networks' business."""

    X: Any
    name: str

    def with_features(
        self, X: Any, rows: NDArray[np.intp] | None, metadata: Mapping[str, Any] | None
    ) -> Self: ...


AnyTask = TypeVar("AnyTask", bound=_Task)
Problems = dict[int, str]


def compute_features(
    task: AnyTask,
    encoder: nn.Module,
    *,
    cache: str | Path | None = None,
    batch_size: int = 64,
    progress: bool = False,
) -> AnyTask:
    """Replace the images of a task by feature vectors, on which every method trains fast.

    Parameters
    ----------
    task : Task
        Its ``X`` is lazy, such as that of :func:`grada.datasets.compcars`.
    encoder : nn.Module
        Maps images (n, 3, height, width) to vectors. It is used as it is, in evaluation mode, on
        the device where its weights are.
    cache : str or path, optional
        Folder in which features are kept. They are found again as long as the files (names,
        sizes, times), the size of the images, the layers and all weights of the encoder are the
        same; its code is not looked at. The folder may be deleted at any time.
    batch_size : int
        Images in memory at a time.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Task
        With ``X`` of shape (n_rows, n_features). Images that cannot be decoded are dropped, with
        a warning, and counted in ``metadata["unreadable"]``; more than 5 % of them are an error.
    """
    images = task.X
    if not isinstance(images, LazyRows):
        raise TypeError(f"The task {task.name!r} holds no images in files: X is no LazyRows.")
    store = None if cache is None else _Store(Path(cache), _key(images, encoder))
    found = None if store is None else store.load()
    features, problems = found or _compute(images, encoder, batch_size, progress)
    skip_or_refuse(list(problems.values()), len(images))
    if store is not None and found is None:
        store.save(features, problems)
    rows = np.setdiff1d(np.arange(len(images)), list(problems)).astype(np.intp)
    return task.with_features(features, rows, {"unreadable": len(problems)})


@torch.no_grad()
def _compute(
    images: LazyRows, encoder: nn.Module, batch_size: int, progress: bool
) -> tuple[NDArray[np.float32], Problems]:
    """Features of the images that can be decoded, and what is wrong with the others."""
    device = next((tensor.device for tensor in encoder.parameters()), torch.device("cpu"))
    was_training = encoder.training
    encoder.eval()
    features, problems = [], {}
    try:
        starts = range(0, len(images), batch_size)
        for start in track(starts, "features", transient=True, disable=not progress):
            rows = np.arange(start, min(start + batch_size, len(images)))
            pixels, wrong = images.read(rows)
            problems.update({start + place: message for place, message in wrong.items()})
            good = np.delete(pixels, list(wrong), axis=0)
            if len(good):
                vectors = encoder(torch.from_numpy(good).to(device)).flatten(1)
                features.append(vectors.float().cpu().numpy())
    finally:
        encoder.train(was_training)
    if not features:  # all are unreadable, which the caller refuses
        return np.empty((0, 1), dtype=np.float32), problems
    table = np.concatenate(features)
    if not np.isfinite(table).all():
        raise ValueError("The encoder gives NaN or infinity for some images.")
    return table, problems


def _key(images: LazyRows, encoder: nn.Module) -> str:
    """Hash of all that the features depend on."""
    digest = hashlib.sha256(f"{images.fingerprint()}\n{encoder!r}".encode())
    for name, tensor in itertools.chain(encoder.named_parameters(), encoder.named_buffers()):
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class _Store:
    """Features under a key: an array, and a text beside it that vouches for the array.

    Both get their names only when they are complete, the text last. What does not fit together,
    for whatever reason, counts as absent.
    """

    def __init__(self, folder: Path, key: str):
        self.key = key
        self.array = folder / f"features-{key[:16]}.npy"
        self.text = self.array.with_suffix(".json")

    def load(self) -> tuple[NDArray[np.float32], Problems] | None:
        try:
            said = json.loads(self.text.read_text(encoding="utf-8"))
            features: NDArray[np.float32] = np.load(self.array, allow_pickle=False)
            if (said["key"], said["sha256"]) != (self.key, _hash(features)):
                return None
            return features, {int(row): str(message) for row, message in said["problems"].items()}
        except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def save(self, features: NDArray[np.float32], problems: Problems) -> None:
        said = {"key": self.key, "sha256": _hash(features), "problems": problems}
        self.array.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.array.parent, prefix=".writing-") as folder:
            array, text = Path(folder, "array.npy"), Path(folder, "text.json")
            np.save(array, features, allow_pickle=False)
            text.write_text(json.dumps(said, indent=1), encoding="utf-8")
            array.replace(self.array)
            text.replace(self.text)


def _hash(features: NDArray[np.float32]) -> str:
    digest = hashlib.sha256(f"{features.dtype} {features.shape}".encode())
    digest.update(np.ascontiguousarray(features).data)
    return digest.hexdigest()
