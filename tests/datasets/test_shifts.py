from typing import get_args

import numpy as np
import pytest
from scipy import sparse

from grada.datasets import make_shifts
from grada.datasets.shifts import Layout, Shift

LAYOUTS = get_args(Layout)
REGRESSION_ONLY = ("offset", "slope", "covariate")


def amounts(task):
    return np.array([task.metadata["amount"][name] for name in task.graph.names])


def centres(task, classes=(0, 1)):
    """Mean point of each class in each domain, in the order of the graph."""
    truth, rows = task.reveal(), task.graph.index(task.domain)
    return np.array(
        [
            [task.X[(rows == code) & (truth == c)].mean(axis=0) for c in classes]
            for code in range(len(task.graph))
        ]
    )


@pytest.mark.parametrize("shift", get_args(Shift))
@pytest.mark.parametrize("graph", LAYOUTS)
def test_sizes_are_as_asked_and_draws_repeat(shift, graph):
    kind = "regression" if shift in REGRESSION_ONLY else "classification"
    asked = {"kind": kind, "shift": shift, "graph": graph, "n_domains": 13, "n_sources": 4}
    asked |= {"rows_per_domain": (5, 20), "n_classes": 3, "n_features": 4, "prefix": "a place "}
    task = make_shifts(**asked, random_state=3)
    sizes = np.bincount(task.graph.index(task.domain))
    assert len(sizes) == 13
    assert sizes.min() >= 5
    assert sizes.max() <= 20
    assert len(set(sizes)) > 3
    assert (len(task.sources), task.X.shape[1], len(task.graph.components)) == (4, 4, 1)
    assert task.graph.names[2] == "a place 02"
    source_rows = task.graph.index(task.sources)
    joined = task.graph.weights[source_rows][:, source_rows]
    assert sparse.csgraph.connected_components(joined)[0] == 1
    if kind == "classification":
        for name in task.graph.names:
            assert set(task.reveal()[task.domain == name]) == {0, 1, 2}

    again = make_shifts(**asked, random_state=3)
    assert (again.X == task.X).all()
    assert (again.reveal() == task.reveal()).all()
    assert not np.array_equal(make_shifts(**asked, random_state=4).X[:20], task.X[:20])


def edge_ratio(graph, random_state):
    """Mean difference of the amounts over edges, against that over all pairs."""
    task = make_shifts(
        graph=graph, n_domains=40, rows_per_domain=2, span=0.5, random_state=random_state
    )
    apart = np.abs(np.subtract.outer(*[amounts(task)] * 2))
    return apart[task.graph.weights.toarray() > 0].mean() / apart[~np.eye(40, dtype=bool)].mean()


@pytest.mark.parametrize("graph", LAYOUTS)
def test_edges_join_similar_domains_unless_they_are_uninformative(graph):
    ratio = np.mean([edge_ratio(graph, seed) for seed in range(10)])
    if graph == "uninformative":
        assert 0.9 < ratio < 1.1
    else:
        assert ratio < 0.6


def test_rotation_turns_by_the_span():
    task = make_shifts(shift="rotation", graph="chain", n_domains=11, span=1.0, noise=0.1)
    between = centres(task) @ [1, 1j]
    turned = np.angle((between[:, 1] - between[:, 0]) / (between[0, 1] - between[0, 0]))
    np.testing.assert_allclose(np.abs(turned), np.linspace(0, np.pi, 11), atol=0.05)


def test_whole_turns_close_the_ring():
    middle = centres(make_shifts(shift="arc", graph="ring", n_domains=20, span=2.0)).mean(axis=1)
    steps = np.linalg.norm(middle - np.roll(middle, 1, axis=0), axis=1)
    assert steps.max() < 2 * steps.min()


def test_offset_moves_the_level_and_nothing_else():
    task = make_shifts(kind="regression", shift="offset", n_domains=10, rows_per_domain=400)
    rows = task.graph.index(task.domain)
    level = np.bincount(rows, task.reveal()) / 400
    np.testing.assert_allclose(level - level[0], np.linspace(0, 3, 10), atol=0.4)
    assert np.abs([task.X[rows == code].mean(axis=0) for code in range(10)]).max() < 0.2


def test_separated_classes_do_not_overlap_and_touching_ones_do():
    def nearest_is_right(classes):
        task = make_shifts(shift="none", classes=classes, n_classes=4, rows_per_domain=100)
        centre = centres(task, range(4)).mean(axis=0)
        nearest = np.linalg.norm(task.X[:, None] - centre, axis=2).argmin(axis=1)
        return (nearest == task.reveal()).mean()

    assert nearest_is_right("separated") == 1
    assert 0.8 < nearest_is_right("touching") < 0.97


def test_class_shares_drift_only_when_asked():
    def spread(class_drift):
        task = make_shifts(class_drift=class_drift, rows_per_domain=100)
        return np.std(np.bincount(task.graph.index(task.domain), task.reveal()) / 100)

    assert spread(0.0) < 0.01
    assert spread(0.5) > 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shift": "sideways"}, "shift must be one of none, rotation"),
        ({"shift": "offset"}, "for regression only"),
        ({"n_sources": 20}, "n_domains - 1 = 19"),
        ({"rows_per_domain": (50, 20)}, "smaller number first"),
        ({"rows_per_domain": 3, "n_classes": 4}, "at least 4"),
        ({"n_features": 1}, "n_features must be at least 2"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make_shifts(**settings)
