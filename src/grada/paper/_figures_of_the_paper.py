"""The figures that the paper prints, to be shown beside ours.

Xu, He, Lee, Wang, Wang: Graph-Relational Domain Adaptation. ICLR 2022. Accuracy in %, and on
TPT-48 the squared error summed over six months. ``"all"`` is the mean over the targets, the other
keys are levels. The numbers are facts; everything around them is ours.
"""

from __future__ import annotations

from collections.abc import Mapping

Figures = Mapping[str, Mapping[str, float]]

_METHODS = ("source-only", "dann", "adda", "cdann", "mdd", "grda")


def _row(*figures: float) -> dict[str, float]:
    return dict(zip(_METHODS, figures, strict=True))


def _by_method(
    rows: Mapping[str, Mapping[str, float]], **others: float
) -> dict[str, dict[str, float]]:
    """From level -> method -> figure to method -> level -> figure."""
    table = {name: {level: row[name] for level, row in rows.items()} for name in _METHODS}
    return table | {name.replace("_", "-"): {"all": figure} for name, figure in others.items()}


#: Tables 1, 2 and 3, and the tables of the appendix on SSL and SENTRY: task, method, level.
RESULTS: Mapping[str, Figures] = {
    "dg15": _by_method(
        {"all": _row(39.77, 72.11, 69.00, 72.44, 51.33, 84.44)},
        sentry=43.67,
        gnn_ssl_v1=50.00,
        gnn_ssl_v2=60.15,
    ),
    "dg60": _by_method(
        {"all": _row(38.39, 61.98, 32.17, 61.70, 66.24, 96.76)},
        sentry=47.80,
        gnn_ssl_v1=50.00,
        gnn_ssl_v2=35.07,
    ),
    "tpt48-ew": _by_method(
        {
            "all": _row(1.926, 2.679, 2.254, 2.108, 1.335, 1.297),
            "1": _row(1.852, 3.942, 2.449, 0.902, 0.993, 0.936),
            "2": _row(1.992, 2.186, 2.401, 2.335, 1.383, 1.025),
            "3+": _row(1.942, 1.939, 1.966, 3.002, 1.603, 1.830),
        },
        sentry=2.73,
    ),
    "tpt48-ns": _by_method(
        {
            "all": _row(2.426, 2.600, 2.709, 2.621, 2.054, 1.165),
            "1": _row(2.255, 1.851, 2.172, 0.924, 1.159, 0.754),
            "2": _row(1.900, 1.964, 2.600, 6.434, 2.087, 0.882),
            "3+": _row(3.032, 4.015, 3.462, 1.882, 3.149, 1.889),
        },
        sentry=9.44,
    ),
    "compcars": _by_method({"all": _row(46.5, 50.2, 46.1, 48.2, 49.0, 51.0)}, sentry=31.39),
}

#: CompCars with the AdaGraph backbone: mean and deviation.
ADAGRAPH: Mapping[str, tuple[float, float]] = {
    "source-only": (55.05, 0.87),
    "dann": (55.87, 1.22),
    "adda": (55.12, 1.28),
    "cdann": (55.82, 1.16),
    "mdd": (56.63, 0.64),
    "grda": (56.56, 0.38),
}

#: DG-15 by number of sources.
BY_SOURCES: Mapping[str, Mapping[int, float]] = {
    "grda": {1: 64.7, 2: 74.1, 4: 81.5, 6: 84.4, 8: 100.0},
    "dann": {1: 42.1, 2: 44.6, 4: 33.5, 6: 72.11, 8: 88.7},
}
