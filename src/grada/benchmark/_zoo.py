"""A zoo of generated tasks: one part to tune on, and one that nobody who tunes may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from zlib import crc32

import numpy as np

from grada.data import Kind
from grada.datasets import Task, make_shifts

Maker = Callable[[str, np.random.Generator], Task]


@dataclass(frozen=True)
class ZooTask:
    """A task of the zoo, drawn when :meth:`make` is called.

    Attributes
    ----------
    name : str
        Name of the task, unique in the zoo.
    family : str
        Its kind, such as "rotation/chain": what regret is reported per.
    kind : {"classification", "regression"}
    random_state : int
        Seed; together with the name it fixes the draw.
    """

    name: str
    family: str
    kind: Kind
    random_state: int
    maker: Maker = field(repr=False)

    def make(self) -> Task:
        """Draw the task: the same one at every call."""
        # With the name, so that a task stays as it is when others are added to the zoo.
        seed = [self.random_state, crc32(self.name.encode())]
        return self.maker(self.name, np.random.default_rng(seed))


def zoo(part: Literal["tuning", "unseen"], random_state: int = 0) -> list[ZooTask]:
    """The tasks on which settings are chosen, or those on which the choice is judged.

    Parameters
    ----------
    part : {"tuning", "unseen"}
        The unseen part has kinds of task that the tuning part does not have.
    random_state : int
        Another one gives fresh draws of the same kinds.

    Returns
    -------
    list of ZooTask

    Examples
    --------
    >>> [task.name for task in zoo("tuning")][:2]
    ['rotation-chain', 'rotation-chain-turn']
    """
    # Imported late: what they make is of this module.
    if part == "tuning":
        from grada.benchmark import (
            _zoo_blind_values,
            _zoo_fresh_values,
            _zoo_further_classes,
            _zoo_further_values,
            _zoo_later_values,
            _zoo_more_classes,
            _zoo_more_values,
            _zoo_past_values,
        )
        from grada.benchmark._zoo_shapes import SHAPES

        shifts = [
            ZooTask(
                name=name,
                family=_family(settings),
                kind=settings["kind"],
                random_state=random_state,
                maker=_shifts(settings),
            )
            for name, settings in _TUNING.items()
        ]
        shapes = [
            ZooTask(name, family, kind, random_state, maker)
            for name, (family, kind, maker) in SHAPES.items()
        ]
        return [
            *shifts,
            *shapes,
            *named("more", _zoo_more_classes.CLASSES, "classification", random_state),
            *named("more", _zoo_more_values.VALUES, "regression", random_state),
            *named("further", _zoo_further_classes.CLASSES, "classification", random_state),
            *named("further", _zoo_further_values.VALUES, "regression", random_state),
            *named("later", _zoo_later_values.VALUES, "regression", random_state),
            *named("fresh", _zoo_fresh_values.VALUES, "regression", random_state),
            *named("past", _zoo_past_values.VALUES, "regression", random_state),
            *named("blind", _zoo_blind_values.VALUES, "regression", random_state),
        ]
    if part == "unseen":
        from grada.benchmark._zoo_unseen import unseen_tasks

        return unseen_tasks(random_state)
    raise ValueError(f"part must be 'tuning' or 'unseen'; got {part!r}.")


def named(
    prefix: str, makers: Mapping[str, tuple[str, Maker]], kind: Kind, random_state: int
) -> list[ZooTask]:
    """Tasks from their families and makers by name."""
    return [
        ZooTask(f"{prefix}-{name}", family, kind, random_state, maker)
        for name, (family, maker) in makers.items()
    ]


def _family(settings: dict[str, Any]) -> str:
    family = f"{settings['shift']}/{settings['graph']}"
    # Errors of the two kinds have different units: they share no family.
    return family if settings["kind"] == "classification" else f"{family}, regression"


def _shifts(settings: dict[str, Any]) -> Maker:
    return lambda name, rng: make_shifts(**settings, name=name, random_state=rng)


def _classify(shift: str, graph: str, n_domains: int, n_sources: int, **more: Any) -> Any:
    sizes = {"n_domains": n_domains, "n_sources": n_sources}
    return {"kind": "classification", "shift": shift, "graph": graph, **sizes, **more}


def _regress(shift: str, graph: str, n_domains: int, n_sources: int, **more: Any) -> Any:
    return {**_classify(shift, graph, n_domains, n_sources, **more), "kind": "regression"}


_UNEVEN = (30, 150)
_TOUCH = "touching"

_TUNING: dict[str, dict[str, Any]] = {
    # Turning classes: after a half turn two of them have changed places.
    "rotation-chain": _classify("rotation", "chain", 20, 4, span=0.9),
    "rotation-chain-turn": _classify("rotation", "chain", 40, 3, span=2.0, prefix="stop "),
    "rotation-chain-touching": _classify("rotation", "chain", 30, 6, classes=_TOUCH, span=1.0),
    "rotation-chain-random": _classify("rotation", "chain", 30, 10, sources="random", span=1.5),
    "rotation-ring": _classify("rotation", "ring", 24, 4, span=2.0),
    "rotation-ring-touching": _classify("rotation", "ring", 30, 8, span=2.0, classes=_TOUCH),
    "rotation-ring-5-classes": _classify(
        "rotation", "ring", 30, 3, n_classes=5, span=2.0, rows_per_domain=80
    ),
    "rotation-grid": _classify("rotation", "grid", 25, 5, span=1.0, n_classes=3),
    "rotation-grid-mixed": _classify(
        "rotation", "grid", 36, 9, span=1.0, n_features=6, extra="mixed", prefix="cell "
    ),
    "rotation-tree": _classify("rotation", "tree", 30, 5, span=1.2),
    "rotation-geometric": _classify(
        "rotation", "geometric", 40, 6, span=1.0, rows_per_domain=(25, 110), class_drift=0.5
    ),
    "rotation-uninformative": _classify("rotation", "uninformative", 30, 8, span=0.8),
    # Moving clouds.
    "translation-chain": _classify("translation", "chain", 15, 3, span=1.0),
    "translation-chain-one": _classify("translation", "chain", 12, 1, span=0.6, n_classes=4),
    "translation-ring": _classify("translation", "ring", 20, 5, classes=_TOUCH, span=0.8),
    "translation-grid": _classify(
        "translation", "grid", 30, 6, span=1.0, n_classes=3, rows_per_domain=(30, 120)
    ),
    "translation-tree": _classify(
        "translation", "tree", 25, 5, span=1.0, class_drift=0.6, prefix="branch "
    ),
    "translation-geometric": _classify(
        "translation", "geometric", 30, 10, sources="random", classes=_TOUCH, n_features=5
    ),
    "translation-uninformative": _classify("translation", "uninformative", 25, 6, span=0.8),
    # Growing clouds.
    "scaling-chain": _classify("scaling", "chain", 15, 3, n_classes=3, span=1.0),
    "scaling-tree": _classify("scaling", "tree", 20, 6, span=0.8, classes=_TOUCH),
    "scaling-geometric": _classify(
        "scaling", "geometric", 30, 5, n_classes=4, n_features=8, extra="mixed", span=1.5
    ),
    "scaling-uninformative": _classify("scaling", "uninformative", 20, 5, n_classes=3),
    # Along an arc.
    "arc-chain": _classify("arc", "chain", 30, 6, span=1.0),
    "arc-chain-touching": _classify("arc", "chain", 25, 8, classes=_TOUCH, span=0.8),
    "arc-ring": _classify("arc", "ring", 30, 5, span=2.0, n_classes=3),
    "arc-tree": _classify("arc", "tree", 30, 8, span=0.9, rows_per_domain=_UNEVEN),
    "arc-geometric": _classify("arc", "geometric", 40, 1, span=1.0, prefix="site "),
    "arc-uninformative": _classify("arc", "uninformative", 30, 10, span=0.8),
    # Nothing moves: adaptation can only do harm.
    "none-chain": _classify("none", "chain", 15, 3, classes=_TOUCH, n_classes=3),
    "none-grid": _classify(
        "none", "grid", 25, 1, rows_per_domain=30, classes=_TOUCH, n_features=10
    ),
    "none-geometric": _classify(
        "none", "geometric", 30, 15, sources="random", class_drift=0.8, classes=_TOUCH, n_classes=4
    ),
    "none-uninformative": _classify("none", "uninformative", 20, 4, classes=_TOUCH, noise=1.5),
    # Regression: the level, the coefficients, or only the inputs move.
    "offset-chain": _regress("offset", "chain", 24, 12, sources="random", span=0.5),
    "offset-grid": _regress("offset", "grid", 36, 12, sources="random", rows_per_domain=30),
    "offset-geometric": _regress(
        "offset", "geometric", 40, 20, sources="random", rows_per_domain=(10, 100), n_features=6
    ),
    "offset-tree": _regress("offset", "tree", 30, 8, span=0.7, prefix="branch "),
    "slope-chain": _regress("slope", "chain", 20, 10, sources="random", span=1.0),
    "slope-ring": _regress("slope", "ring", 30, 10, sources="random", span=1.0),
    "slope-geometric": _regress("slope", "geometric", 40, 15, sources="random", span=0.8),
    "slope-uninformative": _regress("slope", "uninformative", 20, 10, sources="random", span=1.0),
    "covariate-chain": _regress("covariate", "chain", 20, 6, span=0.7),
    "covariate-grid": _regress("covariate", "grid", 25, 8, n_features=5, extra="mixed"),
    "covariate-tree": _regress("covariate", "tree", 30, 15, sources="random", prefix="leaf "),
    "translation-chain-regression": _regress("translation", "chain", 20, 5, span=0.5),
    "rotation-ring-regression": _regress("rotation", "ring", 24, 6, span=1.0),
    "scaling-geometric-regression": _regress("scaling", "geometric", 30, 6, span=0.5),
    "offset-uninformative": _regress("offset", "uninformative", 30, 12, sources="random", span=0.5),
    "none-tree-regression": _regress("none", "tree", 20, 5, n_features=10, rows_per_domain=30),
    "none-uninformative-regression": _regress("none", "uninformative", 25, 3, noise=4.0),
}
