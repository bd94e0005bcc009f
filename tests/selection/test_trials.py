import re
import warnings

import numpy as np
import pytest
from candidates import RUN, Made, data_of, fail
from cases import drift, quick

from grada import DomainGraph, TrainingError
from grada.data import DomainData
from grada.methods import Run
from grada.selection import trials
from grada.selection.trials import HeldOut, Trial, hold_out, hops_from, try_candidate
from grada.training import Callback

NEVER = np.inf
PAST = -np.inf


@pytest.fixture
def data():
    return data_of(drift("classification", graph=DomainGraph.chain(6), n_sources=4))


def _try(method, data, splits=(), until=NEVER, run=RUN) -> Trial:
    trial = Trial("it", method)
    try_candidate(trial, data, np.arange(10), [_rows(data, each) for each in splits], run, until)
    return trial


def _rows(data, domains):
    return np.flatnonzero(np.isin(data.codes, domains))


def test_the_labels_of_hidden_sources_are_hidden_and_their_rows_are_not(data):
    seen: list[DomainData] = []
    splits = [_rows(data, [3]), _rows(data, [0, 3])]
    held_out = hold_out(Made(look=seen.append), data, splits, RUN)
    for fit, hidden in zip(seen, ([3], [0, 3]), strict=True):
        there = np.isin(fit.codes, hidden)
        assert (fit.y[there] == -1).all()
        assert (fit.weight[there] == 0).all()
        assert fit.X is data.X
        kept = ~there & (data.y >= 0)
        np.testing.assert_array_equal(fit.y[kept], data.y[kept])
    np.testing.assert_array_equal(np.bincount(held_out.codes), [20, 0, 0, 40])
    np.testing.assert_array_equal(held_out.truth, data.y[held_out.rows])
    assert (held_out.truth >= 0).all()
    # Labels are left in 0, 1, 2; then in 1 and 2 only.
    np.testing.assert_array_equal(held_out.hops, np.ones(60))
    assert not held_out.within
    assert hops_from(data.graph, np.array([0])).tolist() == [0, 1, 2, 3, 4, 5]


def test_hidden_rows_of_a_source_are_no_hop_away(data):
    held_out = hold_out(Made(), data, [np.arange(5)], RUN)
    assert held_out.within
    assert (held_out.hops == 0).all()


def test_scores_by_hand():
    output = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    rows, codes = np.arange(3), np.array([5, 5, 2])
    classes = HeldOut(rows, codes, np.array([0, 0, 1]), output, np.array([1.0, 1.0, 3.0]))
    assert classes.score.tolist() == [1, 0, 1]
    for found, expected in zip(classes.per_domain(), ([2, 5], [1, 0.5], [3, 1]), strict=True):
        np.testing.assert_allclose(found, expected)
    values = HeldOut(rows, codes, np.zeros((3, 2)), output, np.ones(3))
    np.testing.assert_allclose(values.score, [0.82, 0.68, 0.52])
    assert classes.first(2).score.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        (Made(look=fail(ValueError("no luck"))), "ValueError: no luck"),
        (Made(look=fail(TrainingError("exploded"))), "TrainingError: exploded"),
        (Made(look=fail(ImportError("install it"))), "ImportError: install it"),
        (Made(answer=lambda X, codes: np.full((len(X), 2), np.nan)), "not finite"),
        (Made(answer=lambda X, codes: np.ones((len(X), 1))), r"shape \(10, 1\) for 10 rows"),
    ],
)
def test_a_candidate_that_fails_is_left_out_with_the_reason(method, problem, data):
    trial = _try(method, data)
    assert trial.fitted is None
    assert re.search(problem, trial.problem)


def test_a_candidate_that_fails_without_some_labels_is_left_out_too(data):
    def picky(seen):
        if len(seen.sources) < 4:
            raise ValueError("too few")

    assert _try(Made(look=picky), data).fitted is not None
    trial = _try(Made(look=picky), data, [[1]])
    assert trial.fitted is None
    assert trial.held_out is None
    assert trial.problem == "ValueError: too few"


def test_what_is_interrupted_by_the_user_is_not_a_failed_candidate(data):
    with pytest.raises(KeyboardInterrupt):
        _try(Made(look=fail(KeyboardInterrupt())), data)


def test_a_training_past_the_deadline_is_cut(data):
    class Count(Callback):
        epochs = 0

        def on_epoch_end(self, epoch, history):
            self.epochs += 1

    count = Count()
    method = quick("source-only", epochs=30, early_stopping=False)
    run = Run(0, RUN.device, (count,))
    trial = _try(method, data, until=PAST, run=run)
    assert count.epochs == 1
    assert trial.fitted is None
    assert "budget was spent before the training ended" in trial.problem
    assert _try(method, data, run=run).problem is None
    assert count.epochs == 31


def test_no_further_fit_is_begun_past_the_deadline(data):
    seen = []
    trial = _try(Made(look=seen.append), data, [[0], [1]], until=PAST)
    assert len(seen) == 1
    assert trial.fitted is None
    assert trial.out_of_time
    assert "budget was too small" in trial.problem


def test_warnings_are_written_down_but_not_those_about_hidden_sources(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trial = _try(Made(warning="{} sources"), data, [[1]])
    assert trial.notes == ["4 sources"]


def test_many_hidden_rows_are_sampled_alike_for_all_candidates(data, monkeypatch):
    monkeypatch.setattr(trials, "_MAX_HIDDEN_ROWS", 7)
    one, other = (hold_out(Made(), data, [_rows(data, [0, 1])], RUN) for _ in range(2))
    assert len(one.rows) == 7
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.truth, data.y[one.rows])
