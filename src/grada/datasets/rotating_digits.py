"""Rotating digits: real handwritten digits, turned a little more from domain to domain."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.datasets import load_digits

from grada.datasets._task import RandomState, Task
from grada.graph import DomainGraph

_GRAPHS = ("chain", "ring")


def rotating_digits(
    n_domains: int = 30,
    span: float = 180,
    n_sources: int = 8,
    graph: Literal["chain", "ring"] = "chain",
    random_state: RandomState = 0,
) -> Task:
    """Handwritten digits in domains that turn, upright in the first; the first ones are sources.

    The images are scikit-learn's 1797 digits of 8 x 8 pixels, so that nothing is downloaded. Each
    is in one domain only, and is rotated anticlockwise by the angle of its domain. At a half turn
    a 6 looks like a 9: only the way there through the domains between tells them apart.

    Parameters
    ----------
    n_domains : int
        Number of domains, named 0, 1, ... Every one has images of all ten digits, so there are
        at most 174.
    span : float
        Angle that the domains spread over, in degrees.
    n_sources : int
        The domains 0 to ``n_sources - 1`` are sources.
    graph : {"chain", "ring"}
        "chain": angles from 0 to ``span``, each domain joined to the next. "ring": the last
        domain is joined to the first, too, and the angles stop one step before ``span``, so that
        a span of 360 is one even turn.
    random_state : int, numpy.random.Generator or None
        Seed of the draw that gives each image its domain.

    Returns
    -------
    Task
        Features of shape (1797, 64), the pixels from 0 to 16; labels 0 to 9; rows by domain, in
        random order within each. Domains differ by one image at most, overall and in each digit.
        ``metadata["angle"]`` is the angle of each domain in degrees, and
        ``metadata["image_shape"]`` is (8, 8).

    Examples
    --------
    >>> rotating_digits()
    Task('rotating-digits', classification, 1797 rows, 30 domains: 8 sources, 22 targets)

    References
    ----------
    .. [1] Alpaydin and Kaynak. "Optical Recognition of Handwritten Digits". UCI repository, 1998.
    .. [2] Wang, He and Katabi. "Continuously Indexed Domain Adaptation". ICML 2020.
    """
    images, labels = load_digits(return_X_y=True)
    _check(n_domains, span, n_sources, graph, most=int(np.bincount(labels).min()))
    names = np.arange(n_domains)
    angles = np.linspace(0, span, n_domains, endpoint=graph == "chain")
    domain, order = _deal(labels, n_domains, np.random.default_rng(random_state))
    turned = _rotate(images.reshape(-1, 8, 8), domain, angles)
    edges = [(i, i + 1) for i in range(n_domains - 1)]
    if graph == "ring":
        edges.append((n_domains - 1, 0))
    return Task(
        turned.reshape(len(labels), -1)[order],
        labels[order],
        domain[order],
        graph=DomainGraph.from_edges(edges, names=names.tolist()),
        sources=names[:n_sources].tolist(),
        kind="classification",
        name="rotating-digits",
        metadata={
            "angle": dict(zip(names.tolist(), angles.tolist(), strict=True)),
            "image_shape": (8, 8),
        },
    )


def _check(n_domains: int, span: float, n_sources: int, graph: str, most: int) -> None:
    if graph not in _GRAPHS:
        raise ValueError(f"graph must be one of {', '.join(_GRAPHS)}; got {graph!r}.")
    fewest = 3 if graph == "ring" else 2
    if not fewest <= n_domains <= most:
        raise ValueError(
            f"n_domains must be from {fewest} (for a {graph}) to {most}, so that every domain gets "
            f"an image of each digit; got {n_domains}."
        )
    if not 1 <= n_sources < n_domains:
        raise ValueError(
            f"n_sources must be from 1 to n_domains - 1 = {n_domains - 1}, so that at least one "
            f"source and one target exist; got {n_sources}."
        )
    if not np.isfinite(span):
        raise ValueError(f"span must be a number of degrees; got {span!r}.")


def _deal(
    labels: NDArray[np.int64], n_domains: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Domain of each image, and an order of the images by domain.

    The images are dealt out like cards, digit after digit, so that every domain gets as many.
    """
    domain = np.empty(len(labels), dtype=np.int64)
    domain[np.lexsort((rng.random(len(labels)), labels))] = np.arange(len(labels)) % n_domains
    # Not in the order of dealing, in which rows at the same place would be the same digit.
    return domain, np.lexsort((rng.random(len(labels)), domain))


def _rotate(
    images: NDArray[np.float64], domain: NDArray[np.int64], angles: NDArray[np.float64]
) -> NDArray[np.float64]:
    # Slanted domains should differ in nothing but their angle: cubic interpolation blurs less than
    # linear, and "grid-constant" also interpolates over the rim, where a fifth of the ink of a
    # slanted digit would be lost otherwise.
    turned = np.empty_like(images)
    for code, angle in enumerate(angles):
        rows = domain == code
        turned[rows] = ndimage.rotate(
            images[rows], angle, axes=(2, 1), reshape=False, order=3, mode="grid-constant"
        )
    return turned.clip(0, 16)  # splines overshoot at sharp edges
