"""Generated tasks of many kinds: what moves from domain to domain, and which graph says so."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from grada.data import Kind
from grada.datasets._growing import grow
from grada.datasets._task import RandomState, Task
from grada.graph import DomainGraph

FloatArray = NDArray[np.float64]
Shift = Literal["none", "rotation", "translation", "scaling", "arc", "offset", "slope", "covariate"]
Layout = Literal["chain", "ring", "grid", "tree", "geometric", "uninformative"]

_REGRESSION_ONLY = ("offset", "slope", "covariate")
_ARC_RADIUS = 3.0
_RANDOM_DEGREE = 4  # average degree of the uninformative graph


def make_shifts(
    *,
    kind: Kind = "classification",
    shift: Shift = "rotation",
    graph: Layout = "chain",
    n_domains: int = 20,
    n_sources: int = 5,
    sources: Literal["connected", "random"] = "connected",
    rows_per_domain: int | tuple[int, int] = 60,
    n_classes: int = 2,
    classes: Literal["separated", "touching"] = "separated",
    class_drift: float = 0.0,
    n_features: int = 2,
    extra: Literal["noise", "mixed"] = "noise",
    span: float = 1.0,
    noise: float = 1.0,
    prefix: str = "d",
    name: str = "make-shifts",
    random_state: RandomState = 0,
) -> Task:
    r"""Draw a task in which the data move smoothly from domain to domain.

    Domain :math:`u` has a place on its graph and an amount :math:`a_u \in [0, 1]` that depends
    smoothly on it. A row has a hidden point :math:`z` in the plane, whose label is the same
    everywhere, and is seen where the shift of its domain puts it:

    .. math:: x = T(z;\; s\, a_u) \text{ and further features}, \qquad y = f(z) + \text{noise}

    with :math:`s` the ``span``. For classification :math:`z` is from blobs on the unit circle, one
    a class; for regression it is Gaussian, and :math:`f` linear with a wave and a product on top.

    Parameters
    ----------
    kind : {"classification", "regression"}
    shift : str
        "none"; "rotation" about the origin, by ``span`` half turns; "translation" by
        ``4 * span`` in a random direction (and, on a grid or in a square, at a right angle to it);
        "scaling" of a cloud beside the origin, up to the factor ``1 + 2 * span``; "arc": the
        cloud turns along an arc of ``span`` half turns, its classes side by side across the arc.
        For regression also "offset": the level of y rises by ``3 * span``, x stays; "slope": the
        coefficients turn by ``span`` quarter turns, x stays; "covariate": z itself moves by
        ``3 * span`` and y follows the same function.
    graph : str
        "chain", "ring", "grid", "tree" (random; the amount diffuses along it), "geometric"
        (places in a square, near ones joined) or "uninformative" (random edges, drawn apart from
        the amounts). On a ring whole turns (an even ``span``) of a rotation or an arc go once
        around; everything else goes forth and back.
    n_domains, n_sources : int
        Number of domains, and of those with labels, from 1 to ``n_domains - 1``.
    sources : {"connected", "random"}
        Grown over the graph from the domain of the smallest amount, or drawn anywhere.
    rows_per_domain : int or (int, int)
        At least ``n_classes``. With two numbers each domain has its own, log-uniform between them.
    n_classes : int
        For classification, at least 2.
    classes : {"separated", "touching"}
        Blobs that never overlap, or Gaussian ones that do.
    class_drift : float
        How much the shares of the classes differ between domains; 0 for equal shares.
    n_features : int
        At least 2; what is past the plane is noise.
    extra : {"noise", "mixed"}
        Whether the plane is the first two features, or lies askew among all of them.
    span : float
        How far the shift goes from one end to the other.
    noise : float
        Factor of all noise.
    prefix : str
        Domains are named by it and a number: "d00", "d01", ...
    name : str
        Name of the task.
    random_state : int, numpy.random.Generator or None
        Seed.

    Returns
    -------
    Task
        Rows in random order within each domain; ``metadata["amount"]`` is the amount of each.

    Examples
    --------
    >>> make_shifts(shift="arc", graph="grid", n_domains=12, n_sources=3, n_classes=3)
    Task('make-shifts', classification, 720 rows, 12 domains: 3 sources, 9 targets)
    """
    few, many = np.broadcast_to(rows_per_domain, 2).tolist()
    _check_choices(kind, shift, graph, sources, classes, extra)
    _check_sizes(n_domains, n_sources, few, many, n_features, n_classes if kind[0] == "c" else 2)
    rng = np.random.default_rng(random_state)
    adjacent, place = _LAYOUTS[graph](n_domains, rng)
    whole_turns = graph == "ring" and shift in ("rotation", "arc") and span > 0 and span % 2 == 0
    amount = np.arange(n_domains) / n_domains if whole_turns else _amount(place, rng)
    if sources == "connected":
        chosen = grow(adjacent, amount, n_sources)
    else:
        chosen = rng.choice(n_domains, n_sources, replace=False).tolist()
    sizes = np.exp(rng.uniform(np.log(few), np.log(many), size=n_domains)).round().astype(int)
    domain = np.repeat(np.arange(n_domains), sizes)
    far = span * amount[domain]
    if kind == "classification":
        label = draw_labels(sizes, n_classes, class_drift, rng)
        y: NDArray[np.int64] | FloatArray = label
        plane = _draw_classes(label, n_classes, classes, noise, shift == "arc", rng)
    else:
        plane, y = _draw_responses(shift, far, noise, rng)
    across = place[:, 1] if graph in ("grid", "geometric") else np.zeros(n_domains)
    plane = _move(plane, shift, far, span * across[domain], rng)
    names = [f"{prefix}{i:0{len(str(n_domains - 1))}d}" for i in range(n_domains)]
    return Task(
        _add_features(plane, n_features, extra, noise, rng),
        y,
        np.array(names, dtype=object)[domain],
        graph=DomainGraph.from_adjacency(adjacent.astype(float), names=names),
        sources=[names[code] for code in chosen],
        kind=kind,
        name=name,
        metadata={"amount": dict(zip(names, amount.tolist(), strict=True))},
    )


def draw_labels(
    sizes: NDArray[np.int_], n_classes: int, class_drift: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Labels of all rows, domain by domain, in random order, at least one of each class."""
    domain = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(domain)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    taste = np.exp(class_drift * rng.normal(size=(len(sizes), n_classes)))
    share = np.cumsum(taste / taste.sum(axis=1, keepdims=True), axis=1)
    # Evenly spread quantiles, so that the shares are those drawn and not noise of small domains.
    quantile = (within + 0.5 - n_classes) / np.maximum(sizes[domain] - n_classes, 1)
    label = (quantile[:, None] > share[domain, :-1]).sum(axis=1)
    label = np.where(within < n_classes, within, label)
    order = np.lexsort((rng.random(len(domain)), domain))
    return label[order].astype(np.int64)


def _chain(n_domains: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
    place = np.linspace(0, 1, n_domains)[:, None]
    return np.abs(np.subtract.outer(*[np.arange(n_domains)] * 2)) == 1, place


def _ring(n_domains: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
    steps = np.abs(np.subtract.outer(*[np.arange(n_domains)] * 2))
    angle = 2 * np.pi * np.arange(n_domains) / n_domains
    return (steps == 1) | ((steps == n_domains - 1) & (n_domains > 2)), -np.cos(angle)[:, None]


def _grid(n_domains: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
    columns = int(np.ceil(np.sqrt(n_domains)))
    place = np.column_stack(np.divmod(np.arange(n_domains), columns)).astype(float)
    return cdist(place, place, "cityblock") == 1, place / columns


def _tree(n_domains: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
    """Each domain hangs on one of the six before it: deeper than a tree of random parents."""
    adjacent = np.zeros((n_domains, n_domains), dtype=bool)
    place = np.zeros((n_domains, 1))
    for child in range(1, n_domains):
        parent = int(rng.integers(max(0, child - 6), child))
        adjacent[child, parent] = adjacent[parent, child] = True
        place[child] = place[parent] + rng.normal(0.5, 1)
    return adjacent, place


def _geometric(n_domains: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], FloatArray]:
    place = rng.random((n_domains, 2))
    distance = cdist(place, place)
    # About four neighbours each; the spanning tree makes one piece of the graph.
    tree = minimum_spanning_tree(distance).toarray() > 0
    adjacent = (distance < np.sqrt(4 / (np.pi * n_domains))) | tree | tree.T
    np.fill_diagonal(adjacent, False)
    return adjacent, place


def _uninformative(
    n_domains: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], FloatArray]:
    adjacent = _tree(n_domains, rng)[0]
    more = _RANDOM_DEGREE * n_domains // 2 - (n_domains - 1)
    free = np.flatnonzero(np.triu(~adjacent, k=1))
    adjacent.flat[rng.choice(free, min(max(more, 0), len(free)), replace=False)] = True
    return adjacent | adjacent.T, rng.random((n_domains, 1))


_LAYOUTS = {
    "chain": _chain,
    "ring": _ring,
    "grid": _grid,
    "tree": _tree,
    "geometric": _geometric,
    "uninformative": _uninformative,
}


def _amount(place: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A smooth function of the place with values from 0 to 1: how far along a direction it is."""
    direction = np.ones(1) if place.shape[1] == 1 else _direction(rng.uniform(0.2, 1.0))
    along: FloatArray = place @ direction
    amount: FloatArray = (along - along.min()) / max(float(np.ptp(along)), 1e-12)
    return amount


def _draw_classes(
    label: NDArray[np.int64],
    n_classes: int,
    classes: str,
    noise: float,
    side_by_side: bool,
    rng: np.random.Generator,
) -> FloatArray:
    """Points around the centre of their class, on the unit circle or on a line across the arc."""
    if side_by_side:
        centre = np.column_stack([np.linspace(-1, 1, n_classes), np.zeros(n_classes)])
        reach = 1 / (n_classes - 1)
    else:
        centre = _direction(2 * np.pi * (np.arange(n_classes) / n_classes + rng.random()))
        reach = np.sin(np.pi / n_classes)  # half of the distance between two centres
    if classes == "touching":
        return centre[label] + noise * reach / 1.6 * rng.normal(size=(len(label), 2))
    distance = 0.8 * reach * noise * np.sqrt(rng.random(len(label)))
    return centre[label] + distance[:, None] * _direction(rng.uniform(0, 2 * np.pi, len(label)))


def _draw_responses(
    shift: str, far: FloatArray, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Points and what a regression shall say of them, each shifted as far as told."""
    plane = rng.normal(size=(len(far), 2)) * [0.8, 0.6]
    if shift == "covariate":
        plane += 3 * far[:, None] * _direction(rng.uniform(0, np.pi / 2))
    turn = far * np.pi / 2 if shift == "slope" else np.zeros_like(far)
    z = _rotate(plane, turn + rng.uniform(0, 2 * np.pi))
    y = 1.2 * z[:, 0] + 0.4 * np.sin(2 * z[:, 1]) + 0.25 * z[:, 0] * z[:, 1]
    if shift == "offset":
        y += 3 * far
    return plane, y + 0.15 * noise * rng.normal(size=len(far))


def _move(
    plane: FloatArray,
    shift: str,
    far: FloatArray,
    across: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    if shift == "rotation":
        return _rotate(plane, np.pi * far)
    if shift == "translation":
        angle = rng.uniform(0, 2 * np.pi)
        sideways = _direction(angle + np.pi / 2)
        return plane + 4 * far[:, None] * _direction(angle) + 2 * across[:, None] * sideways
    if shift == "scaling":
        return (plane + 1.5 * _direction(rng.uniform(0, 2 * np.pi))) * (1 + 2 * far[:, None])
    if shift == "arc":
        return _rotate(plane + np.array([_ARC_RADIUS, 0.0]), np.pi * far)
    return plane


def _add_features(
    plane: FloatArray, n_features: int, extra: str, noise: float, rng: np.random.Generator
) -> FloatArray:
    further = 0.5 * noise * rng.normal(size=(len(plane), n_features - 2))
    features = np.column_stack([plane, further])
    if extra == "noise":
        return features
    basis: FloatArray = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    return features @ basis


def _direction(angle: float | FloatArray) -> FloatArray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _rotate(plane: FloatArray, angle: FloatArray) -> FloatArray:
    along, up = _direction(angle), _direction(angle + np.pi / 2)
    return plane[:, :1] * along + plane[:, 1:] * up


def _check_choices(
    kind: str, shift: str, graph: str, sources: str, classes: str, extra: str
) -> None:
    choices = {
        "kind": (kind, ("classification", "regression")),
        "shift": (shift, get_args(Shift)),
        "graph": (graph, tuple(_LAYOUTS)),
        "sources": (sources, ("connected", "random")),
        "classes": (classes, ("separated", "touching")),
        "extra": (extra, ("noise", "mixed")),
    }
    for what, (given, allowed) in choices.items():
        if given not in allowed:
            raise ValueError(f"{what} must be one of {', '.join(allowed)}; got {given!r}.")
    if kind == "classification" and shift in _REGRESSION_ONLY:
        raise ValueError(f"shift={shift!r} is for regression only.")


def _check_sizes(
    n_domains: int, n_sources: int, few: int, many: int, n_features: int, n_classes: int
) -> None:
    if n_domains < 2:
        raise ValueError(f"n_domains must be at least 2, a source and a target; got {n_domains}.")
    if not 1 <= n_sources < n_domains:
        raise ValueError(
            f"n_sources must be from 1 to n_domains - 1 = {n_domains - 1}; got {n_sources}."
        )
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2; got {n_classes}.")
    if not n_classes <= few <= many:
        raise ValueError(
            f"rows_per_domain must be at least {n_classes}, so that every class is seen, and the "
            f"smaller number first; got {few} to {many}."
        )
    if n_features < 2:
        raise ValueError(f"n_features must be at least 2; got {n_features}.")
