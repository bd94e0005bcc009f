import numpy as np
import pytest

from grada import DomainGraph
from grada.data import DomainData
from grada.datasets import make_shifts
from grada.selection.scores import LabelFree, consensus


def _data(task):
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)


@pytest.fixture(scope="module")
def turning():
    task = make_shifts(shift="rotation", graph="chain", n_domains=10, n_sources=3, random_state=2)
    return task, LabelFree(_data(task))


def _one_hot(labels, n_classes=2):
    return np.eye(n_classes)[labels.astype(int)]


def test_the_truth_scores_high_and_a_swapped_domain_low(turning):
    task, lens = turning
    truth = _one_hot(task.reveal())
    swapped = truth.copy()
    position = len(lens.targets) // 2
    swapped[lens.data.codes == lens.targets[position]] = swapped[
        lens.data.codes == lens.targets[position]
    ][:, ::-1]
    right, wrong = lens.scores(truth[lens.rows]), lens.scores(swapped[lens.rows])
    for name in ("agreement", "contact"):
        assert right[name].min() > 0.9
        assert wrong[name][position] < 0.2
    assert right["smoothness"].min() > 0.9


def test_noise_is_rough_and_one_class_for_all_is_out_of_balance(turning):
    task, lens = turning
    rng = np.random.default_rng(0)
    noise = _one_hot(rng.integers(2, size=len(task.X)))
    constant = _one_hot(np.zeros(len(task.X)))
    assert lens.scores(noise[lens.rows])["smoothness"].max() < 0.8
    assert lens.scores(constant[lens.rows])["balance"].max() < 0.7


def test_known_labels_stand_in_the_place_of_predictions(turning):
    """So a method cannot look plausible by contradicting the labels that are there."""
    task, lens = turning
    truth = _one_hot(task.reveal())
    garbled = truth.copy()
    garbled[lens.data.labelled] = garbled[lens.data.labelled][:, ::-1]
    for name, score in lens.scores(truth[lens.rows]).items():
        np.testing.assert_array_equal(lens.scores(garbled[lens.rows])[name], score)


def test_values_that_jump_or_collapse_score_low():
    task = make_shifts(
        kind="regression", shift="offset", graph="chain", n_domains=10, n_sources=5, random_state=1
    )
    lens = LabelFree(_data(task))
    y = (task.reveal() - np.nanmean(task.y)) / np.nanstd(task.y)
    truth = y.reshape(-1, 1)[lens.rows]
    right = lens.scores(truth)
    assert lens.scores(np.zeros_like(truth))["spread"].max() < 0.01 < right["spread"].min()
    position = len(lens.targets) // 2
    jumped = truth + 20 * (lens.data.codes[lens.rows] == lens.targets[position])[:, None]
    assert lens.scores(jumped)["level"][position] < 0.1 < right["level"].min()


def test_large_domains_and_graphs_are_sampled():
    rng = np.random.default_rng(0)
    graph = DomainGraph.chain(400)
    codes = np.concatenate([np.arange(400), np.zeros(1000, dtype=int)])
    y = np.where(codes < 40, rng.integers(2, size=len(codes)), -1)
    ones = (y >= 0).astype(np.float32)
    X = rng.normal(size=(len(codes), 2)).astype(np.float32)
    lens = LabelFree(DomainData(X, codes, y, ones, graph, "classification", 2))
    assert len(lens.targets) == 200
    assert np.bincount(codes[lens.rows]).max() == 200
    scores = lens.scores(np.full((len(lens.rows), 2), 0.5))
    assert all(np.isfinite(score).all() for score in scores.values())


def test_consensus_by_hand():
    outputs = np.array([[[1.0, 0.0]], [[0.8, 0.2]], [[0.0, 1.0]]])
    np.testing.assert_allclose(consensus(outputs, "classification")[:, 0], [0.5, 0.5, 0])
    values = np.array([[[0.0]], [[1.0]], [[4.0]]])
    np.testing.assert_allclose(consensus(values, "regression")[:, 0], [1, 0, 9])
