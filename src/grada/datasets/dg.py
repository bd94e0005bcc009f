"""DG-15 and DG-60, the paper's synthetic tasks: the published files, and a generator of such."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from grada.datasets._files import DataFile, load_arrays, read_file
from grada.datasets._growing import grow
from grada.datasets._task import RandomState, Task
from grada.graph import DomainGraph

FloatArray = NDArray[np.float64]

# Below this cosine no edge is drawn. The published graphs bound it from above: their edges go
# down to a cosine of 0.245 (15 domains) and 0.218 (60 domains).
_SMALLEST_COSINE = 0.2


def make_dg(
    n_domains: int = 15,
    n_sources: int = 6,
    recipe: Literal["published", "paper"] = "published",
    rows_per_domain: int = 100,
    random_state: RandomState = 0,
) -> Task:
    r"""Draw a task like DG-15 and DG-60: two classes in the plane, turned a little in each domain.

    Domain :math:`i` has an angle :math:`\omega_i`; its classes are blobs around
    :math:`\pm r_i (\cos\omega_i, \sin\omega_i)`, so that domains of similar angle have similar
    boundaries, and are joined more often.

    *published*, after the authors' files: :math:`\omega_i` is uniform on :math:`[0, t\pi]`,
    the classes lie on a spiral and never overlap, and class 0 is on the positive side:

    .. math::
        r_i = 1 + (0.6 + 1.2 t)\, \omega_i / \pi, \qquad
        x \sim \mathcal{N}(\pm r_i (\cos\omega_i, \sin\omega_i), I)
        \text{ within distance 1}, \qquad
        P(A_{ij} = 1) = c_{ij} [c_{ij} \ge 0.2],\ c_{ij} = \cos(\omega_i - \omega_j)

    with :math:`t = \min(\sqrt{n / 15}, 2)`: half a turn and radius 2.8 for 15 domains, a whole
    turn and radius 7 for 60, as in the files. The sources are the start of the spiral.

    *paper*, after the text: a random direction :math:`(a_i, b_i)`,
    :math:`\omega_i = \mathrm{atan2}(b_i, a_i)`, class 1 from
    :math:`\mathcal{N}(\tfrac{\omega_i}{\pi} (a_i, b_i), I)`, class 0 opposite, and
    :math:`P(A_{ij} = 1) = (1 + c_{ij}) / 2`. The classes overlap: no method can pass about 68 %.
    (The text reads arcsin(b/a), which is undefined for most directions.) The sources are random.

    Parameters
    ----------
    n_domains : int
        Number of domains, at least 2. They are named 0, 1, ... Time and memory grow with its
        square, like the number of edges.
    n_sources : int
        Number of sources, from 1 to ``n_domains - 1``. They are connected: from the first one
        (of smallest angle, or random), the next is always a neighbour of those before.
    recipe : {"published", "paper"}
        See above.
    rows_per_domain : int
        At least 2; half of each class, or one more of class 0 if odd.
    random_state : int, numpy.random.Generator or None
        Seed.

    Returns
    -------
    Task
        Features of shape ``(n_domains * rows_per_domain, 2)``, labels 0 and 1, rows in random
        order within each domain, ``metadata["angle"]`` the angle of each domain. Angles and edges
        are drawn again until the graph is connected, so that every target can be reached.

    Examples
    --------
    >>> task = make_dg(n_domains=15, random_state=0)
    >>> task
    Task('make-dg15', classification, 1500 rows, 15 domains: 6 sources, 9 targets)
    >>> task.evaluate(task.reveal()).mean
    100.0

    References
    ----------
    .. [1] Xu, He, Lee, Wang and Wang. "Graph-Relational Domain Adaptation". ICLR 2022.
    """
    _check_sizes(n_domains, n_sources, rows_per_domain)
    if recipe not in _RECIPES:
        raise ValueError(f"recipe must be one of {', '.join(_RECIPES)}; got {recipe!r}.")
    rng = np.random.default_rng(random_state)
    draw_domains, draw_noise = _RECIPES[recipe]
    connected = False
    while not connected:  # half of the draws succeed at worst, and nearly all from 10 domains on
        angle, centre, probability = draw_domains(n_domains, rng)
        adjacent = np.triu(rng.random(probability.shape) < probability, k=1)
        adjacent |= adjacent.T
        connected = connected_components(adjacent, directed=False)[0] == 1
    priority = angle if recipe == "published" else rng.random(n_domains)

    label = rng.permuted(np.tile(np.arange(rows_per_domain) % 2, (n_domains, 1)), axis=1).ravel()
    domain = np.repeat(np.arange(n_domains), rows_per_domain)
    side = 2 * label - 1
    return _task(
        f"make-dg{n_domains}",
        X=side[:, None] * centre[domain] + draw_noise(len(domain), rng),
        label=label,
        domain=domain,
        adjacent=adjacent,
        angle=angle,
        sources=grow(adjacent, priority, n_sources),
    )


def dg15(*, stored_order: bool = False) -> Task:
    """DG-15 as its authors published it: 15 domains on half a turn of a spiral, 6 of them sources.

    Two features, two classes, 50 rows of each class a domain; 56 edges. The sources (0, 3, 4, 8,
    12 and 14) are the domains of smallest angle; 6 targets are one hop away and 3 are two.

    The file is looked for in the folder ``GRADA_DATA_HOME`` (by default the user's cache folder),
    and is otherwise downloaded once.

    Parameters
    ----------
    stored_order : bool
        The file stores all rows of class 0 before those of class 1, in every domain. That order
        gives the hidden labels away to a method that pairs rows of different domains by their
        position, so by default the rows of each domain are shuffled on their own, always in the
        same way. ``True`` keeps the order of the file, for leak tests and for the published
        protocol.

    Returns
    -------
    Task
        Features of shape (1500, 2) as stored, labels 0 and 1, domains 0 to 14;
        ``metadata["angle"]`` is the angle of each domain.

    Examples
    --------
    >>> dg15()  # doctest: +SKIP
    Task('dg15', classification, 1500 rows, 15 domains: 6 sources, 9 targets)

    References
    ----------
    .. [1] Xu, He, Lee, Wang and Wang. "Graph-Relational Domain Adaptation". ICLR 2022.
    """
    return _load("dg15", _DG15, (0, 3, 4, 8, 12, 14), stored_order)


def dg60(*, stored_order: bool = False) -> Task:
    """DG-60 as its authors published it: 60 domains on one turn of a spiral, 6 of them sources.

    Two features, two classes, 50 rows of each class a domain; 545 edges. The sources (2, 14, 23,
    33, 41 and 59) are the domains of smallest angle; 18 targets are one hop away, 26 two, and 10
    three. Otherwise as :func:`dg15`.

    Parameters
    ----------
    stored_order : bool
        Keep the order of the file, which gives the hidden labels away; see :func:`dg15`.

    Returns
    -------
    Task
        Features of shape (6000, 2) as stored, labels 0 and 1, domains 0 to 59;
        ``metadata["angle"]`` is the angle of each domain.

    Examples
    --------
    >>> dg60()  # doctest: +SKIP
    Task('dg60', classification, 6000 rows, 60 domains: 6 sources, 54 targets)

    References
    ----------
    .. [1] Xu, He, Lee, Wang and Wang. "Graph-Relational Domain Adaptation". ICLR 2022.
    """
    return _load("dg60", _DG60, (2, 14, 23, 33, 41, 59), stored_order)


def _draw_spiral(n_domains: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Angles, centres of class 1 and edge probabilities of the published recipe."""
    # A square root, for the span doubles from 15 to 60 domains; a second turn would bring
    # domains of equal direction and different radius together, so one turn is the most.
    half_turns = min(np.sqrt(n_domains / 15), 2.0)
    angle = rng.uniform(0, np.pi * half_turns, size=n_domains)
    # Linear in the angle, and exactly 2.8 and 7 at the end of the two published spirals.
    radius = 1 + (0.6 + 1.2 * half_turns) * angle / np.pi
    cosine = np.cos(angle[:, None] - angle)
    probability = np.where(cosine >= _SMALLEST_COSINE, cosine, 0.0)
    return angle, -radius[:, None] * _direction(angle), probability


def _draw_circle(n_domains: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Angles, centres of class 1 and edge probabilities of the paper's text."""
    a, b = rng.normal(size=(2, n_domains))
    angle = np.arctan2(b, a)
    probability = 0.5 * np.cos(angle[:, None] - angle) + 0.5
    return angle, (angle / np.pi)[:, None] * _direction(angle), probability


def _draw_disc(n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Points of the unit Gaussian within distance 1, by the inverse of the radius's distribution.

    The radius has P(R <= s) = (1 - exp(-s²/2)) / (1 - exp(-1/2)).
    """
    share = rng.random(n_rows)
    distance: FloatArray = np.sqrt(-2 * np.log1p(share * np.expm1(-0.5)))
    return distance[:, None] * _direction(rng.uniform(0, 2 * np.pi, size=n_rows))


def _draw_gaussian(n_rows: int, rng: np.random.Generator) -> FloatArray:
    return rng.normal(size=(n_rows, 2))


_RECIPES = {"published": (_draw_spiral, _draw_disc), "paper": (_draw_circle, _draw_gaussian)}


def _direction(angle: FloatArray) -> FloatArray:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _check_sizes(n_domains: int, n_sources: int, rows_per_domain: int) -> None:
    if n_domains < 2:
        raise ValueError(f"n_domains must be at least 2, a source and a target; got {n_domains}.")
    if not 1 <= n_sources < n_domains:
        raise ValueError(
            f"n_sources must be from 1 to n_domains - 1 = {n_domains - 1}, so that at least one "
            f"source and one target exist; got {n_sources}."
        )
    if rows_per_domain < 2:
        raise ValueError(f"rows_per_domain must be at least 2, one a class; got {rows_per_domain}.")


def _task(
    name: str,
    *,
    X: FloatArray,
    label: NDArray[Any],
    domain: NDArray[Any],
    adjacent: NDArray[Any],
    angle: FloatArray,
    sources: list[int],
) -> Task:
    names = range(len(angle))
    return Task(
        X,
        label.astype(np.int64),
        domain.astype(np.int64),
        graph=DomainGraph.from_adjacency(adjacent.astype(float), names=names),
        sources=sources,
        kind="classification",
        name=name,
        metadata={"angle": dict(zip(names, angle.tolist(), strict=True))},
    )


_GITHUB = "https://raw.githubusercontent.com/Wang-ML-Lab/GRDA/main/data/"
_INSTEAD = "Without the file: grada.datasets.make_dg(n_domains={}) draws a task of the same kind."
_DG15 = DataFile(
    name="toy_d15_spiral_tight_boundary.pkl",
    url=_GITHUB + "toy_d15_spiral_tight_boundary.pkl",
    sha256="46de00f5cbb33afb315c22ce55cc127d6fead57ea09d7a578f4152c1d6900a96",
    otherwise=_INSTEAD.format(15),
)
_DG60 = DataFile(
    name="toy_d60_spiral.pkl",
    url=_GITHUB + "toy_d60_spiral.pkl",
    sha256="b3bb65f047fda93d68e641eb8ea6bd9edcc32bf38279f4409161f35b5d6a6f18",
    otherwise=_INSTEAD.format(60),
)


def _load(name: str, file: DataFile, sources: tuple[int, ...], stored_order: bool) -> Task:
    stored = load_arrays(read_file(file))
    task = _task(
        name,
        X=stored["data"],
        label=stored["label"],
        domain=stored["domain"],
        adjacent=stored["A"],
        angle=stored["angle"],
        sources=list(sources),
    )
    return task if stored_order else task.shuffled(random_state=0)
