"""CompCars: the type of a car in a photo; domains are viewpoints and years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from grada.data import ImageRows, UnreadableRowError, skip_or_refuse
from grada.datasets._files import DataNotFoundError, data_home
from grada.datasets._task import Task
from grada.graph import DomainGraph

#: Codes of the dataset; the code 0 or -1 stands for "unknown".
VIEWPOINTS = {1: "front", 2: "rear", 3: "side", 4: "front-side", 5: "rear-side"}
TYPES = {1: "MPV", 2: "SUV", 3: "sedan", 4: "hatchback"}
YEARS = range(2009, 2015)
SOURCE = "front 2009"

#: The viewpoints in the order in which one sees them on a walk from the front to the rear.
_AROUND = ("front", "front-side", "side", "rear-side", "rear")
_LAYOUT = {
    "image": "image/<make>/<model>/<year>/<name>.jpg",
    "label": "label/<make>/<model>/<year>/<name>.txt",
    "misc/attributes.txt": "misc/attributes.txt",
}
_PAGE = "http://mmlab.ie.cuhk.edu.hk/datasets/comp_cars/"

GraphKind = Literal["grid", "paper"]
Box = tuple[int, int, int, int]


def compcars(
    root: str | Path | None = None,
    graph: GraphKind = "grid",
    image_size: int = 224,
    *,
    crop: Literal["image", "box"] = "image",
    workers: int | None = None,
) -> Task:
    """CompCars: 4 types of cars, 30 domains (5 viewpoints x 6 years), one of them the source.

    The photos are given out by the authors of the dataset to those who sign their agreement, at
    http://mmlab.ie.cuhk.edu.hk/datasets/comp_cars/; with them the paper's task has 24,151 rows.
    The task is read from the dataset's own folders. Photos of other types, of other years and
    from an unknown viewpoint are left out.

    Parameters
    ----------
    root : str or path, optional
        Folder that holds ``image``, ``label`` and ``misc``; by default the folder ``compcars`` in
        ``GRADA_DATA_HOME``.
    graph : {"grid", "paper"}
        Which domains are neighbours. ``"grid"``, as in the code published with the paper: both
        the years and the codes of the viewpoints (1 front, 2 rear, 3 side, 4 front-side, 5
        rear-side) differ by at most 1; 89 edges, and front and front-side are not joined.
        ``"paper"``, as its text says, taken at its word: the years differ by at most 1, *or* the
        viewpoints are the same or nearby in the order front, front-side, side, rear-side, rear;
        315 of the 435 possible edges.
    image_size : int
        Height and width to which the photos are resized.
    crop : {"image", "box"}
        ``"image"``: the square in the middle of the photo. ``"box"``: the labelled box around the
        car, stretched to a square. The paper does not say what it used.
    workers : int, optional
        Processes that decode photos; by default one a processor.

    Returns
    -------
    Task
        ``X`` is lazy: an :class:`grada.data.ImageRows` of shape (n_rows, 3, image_size,
        image_size). Train a method with an encoder of its own on it, or compute feature vectors
        first (:func:`grada.nn.compute_features`). Domains are called ``"front 2009"`` and so on;
        one without photos stays in the graph. ``metadata`` has the ``viewpoint`` and ``year`` of
        each domain, how many photos were ``left_out`` and why, and how many ``skipped``.

    Raises
    ------
    DataNotFoundError
        The folder is not that of the dataset, or the source has no photos.
    UnreadableRowError
        A photo's label is missing or malformed, or it cannot be opened: up to 5 % of such photos
        (at least one) are skipped with a warning, more are an error.

    References
    ----------
    Yang, Luo, Loy, Tang: A Large-Scale Car Dataset for Fine-Grained Categorization and
    Verification. CVPR 2015.
    """
    if crop not in ("image", "box"):
        raise ValueError(f"crop must be 'image' or 'box'; got {crop!r}.")
    domains = _graph(graph)
    folder = _folder(root)
    found, left_out, problems = _photos(folder, with_box=crop == "box")
    n_relevant = len(found) + len(problems)
    photos = [photo for photo in found if photo.viewpoint in VIEWPOINTS]
    left_out["unknown viewpoint"] = len(found) - len(photos)
    boxes = [photo.box for photo in photos if photo.box is not None]
    images = ImageRows(
        [str(photo.path) for photo in photos],
        image_size,
        boxes=boxes if crop == "box" else None,
        workers=workers,
    )
    damaged = images.check_headers()
    problems += damaged.values()
    skip_or_refuse(problems, n_relevant)
    kept = [row for row in range(len(photos)) if row not in damaged]
    photos = [photos[row] for row in kept]
    if SOURCE not in {photo.domain for photo in photos}:
        raise DataNotFoundError(
            f"{folder / 'image'} has no photo of the source domain {SOURCE!r}: a front view of "
            f"2009 of type {', '.join(TYPES.values())}. Left out: {dict(left_out)}."
        )
    return Task(
        images.take(np.array(kept, dtype=np.intp)),
        [photo.type for photo in photos],
        [photo.domain for photo in photos],
        graph=domains,
        sources=[SOURCE],
        kind="classification",
        name="compcars",
        metadata={
            "viewpoint": {f"{view} {year}": view for year, view in _domains()},
            "year": {f"{view} {year}": year for year, view in _domains()},
            "left_out": dict(left_out),
            "skipped": len(problems),
        },
    )


@dataclass(frozen=True)
class _Photo:
    path: Path
    type: str
    year: int
    viewpoint: int
    box: Box | None

    @property
    def domain(self) -> str:
        return f"{VIEWPOINTS[self.viewpoint]} {self.year}"


def _domains() -> list[tuple[int, str]]:
    return [(year, view) for year in YEARS for view in VIEWPOINTS.values()]


def _graph(kind: GraphKind) -> DomainGraph:
    if kind not in ("grid", "paper"):
        raise ValueError(f"graph must be 'grid' or 'paper'; got {kind!r}.")
    order = list(_AROUND) if kind == "paper" else list(VIEWPOINTS.values())
    year = np.array([year for year, _ in _domains()])
    place = np.array([order.index(view) for _, view in _domains()])
    same_time = np.abs(year[:, None] - year) <= 1
    same_view = np.abs(place[:, None] - place) <= 1
    edges = same_time | same_view if kind == "paper" else same_time & same_view
    np.fill_diagonal(edges, False)
    return DomainGraph([f"{view} {year}" for year, view in _domains()], edges.astype(float))


def _folder(root: str | Path | None) -> Path:
    folder = data_home() / "compcars" if root is None else Path(root).expanduser()
    missing = [place for name, place in _LAYOUT.items() if not (folder / name).exists()]
    if missing:
        raise DataNotFoundError(
            f"{folder} is not the folder of CompCars: there is no {', no '.join(missing)}. "
            "Give the folder that holds image, label and misc as root, or put it at compcars in "
            f"the folder named by GRADA_DATA_HOME. The photos are given out at {_PAGE}."
        )
    return folder


def _photos(folder: Path, *, with_box: bool) -> tuple[list[_Photo], Counter[str], list[str]]:
    """Photos of the right years and types, why others were left out, and what is damaged."""
    types = _read_types(folder / "misc" / "attributes.txt")
    photos: list[_Photo] = []
    left_out: Counter[str] = Counter({"other type": 0, "other year": 0})
    problems: list[str] = []
    for path in _files(folder / "image"):
        model, year = path.parts[-3:-1]
        if year not in map(str, YEARS):
            left_out["other year"] += 1
        elif types.get(model) not in TYPES:
            left_out["other type"] += 1
        else:
            label = folder / "label" / path.relative_to(folder / "image").with_suffix(".txt")
            try:
                viewpoint, box = _read_label(label, with_box=with_box)
            except UnreadableRowError as error:
                problems.append(str(error))
            else:
                photos.append(_Photo(path, TYPES[types[model]], int(year), viewpoint, box))
    if not photos and not problems and not left_out.total():
        raise DataNotFoundError(f"There is not one photo {_LAYOUT['image']} in {folder}.")
    return photos, left_out, problems


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.glob("*/*/*/*")):
        if path.suffix.lower() in (".jpg", ".jpeg") and not path.name.startswith("."):
            yield path


def _read_types(path: Path) -> dict[str, int]:
    """Type of each model: first and last column of a table with six, under a heading."""
    types = {}
    for number, line in enumerate(
        path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
    ):
        fields = line.split()
        if not fields or (number == 1 and fields[0] == "model_id"):
            continue
        if len(fields) != 6 or not fields[-1].lstrip("-").isdecimal():
            raise ValueError(
                f"{path}, line {number}: expected model_id, maximum_speed, displacement, "
                f"door_number, seat_number and type (a whole number), found {line!r}."
            )
        types[fields[0]] = int(fields[-1])
    return types


def _read_label(path: Path, *, with_box: bool) -> tuple[int, Box | None]:
    """Viewpoint and, if needed, box (from 0, the ends not included) of a photo."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except FileNotFoundError:
        raise UnreadableRowError(f"{path}: there is no such label file") from None
    except OSError as error:
        raise UnreadableRowError(f"{path}: {error.strerror}") from error
    (viewpoint,) = _numbers(path, lines, 1, 1)
    if viewpoint != -1 and viewpoint not in VIEWPOINTS:
        raise UnreadableRowError(f"{path}, line 1: the viewpoint is -1 or 1 to 5, not {viewpoint}")
    if not with_box:
        return viewpoint, None
    left, upper, right, lower = _numbers(path, lines, 3, 4)
    if not (1 <= left <= right and 1 <= upper <= lower):
        raise UnreadableRowError(f"{path}, line 3: {lines[2]!r} is no box x1 y1 x2 y2")
    return viewpoint, (left - 1, upper - 1, right, lower)


def _numbers(path: Path, lines: list[str], number: int, count: int) -> list[int]:
    text = lines[number - 1] if number <= len(lines) else ""
    try:
        values = [int(field) for field in text.split()]
    except ValueError:
        values = []
    if len(values) != count:
        wanted = "a whole number" if count == 1 else f"{count} whole numbers"
        raise UnreadableRowError(f"{path}, line {number}: expected {wanted}, found {text!r}")
    return values
