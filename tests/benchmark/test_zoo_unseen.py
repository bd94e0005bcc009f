from collections import Counter

import numpy as np
import pandas as pd
import pytest

from grada.benchmark._zoo import zoo
from grada.benchmark._zoo_parts import diffused, inherited
from grada.benchmark._zoo_unseen import unseen_tasks

ENTRIES = unseen_tasks()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_task_is_whole_repeats_and_hides(entry):
    task = entry.make()
    assert (task.name, task.kind) == (entry.name, entry.kind)
    assert task.sources
    assert task.targets
    assert len(task.sources) + len(task.targets) == len(set(task.domain))
    assert task.graph.n_domains <= 80
    assert len(task.y) <= 6000
    assert np.isfinite(task.X).all()
    hidden = np.isin(task.domain, task.targets)
    missing = np.asarray(pd.isna(task.y)).reshape(len(hidden), -1)
    assert (missing == hidden[:, None]).all()
    truth = task.reveal()
    assert len(np.unique(truth)) <= 6 if task.kind == "classification" else truth.dtype == float
    again = entry.make()
    assert np.array_equal(task.X, again.X)
    assert np.array_equal(truth, again.reveal())


@pytest.mark.parametrize("random_state", range(3))
def test_every_class_is_seen_in_the_sources(random_state):
    for entry in unseen_tasks(random_state):
        if entry.kind == "classification":
            task = entry.make()
            assert set(task.reveal()) == set(task.y[~pd.isna(task.y)]), entry.name


def test_another_seed_is_another_draw():
    for first, other in zip(ENTRIES, unseen_tasks(1), strict=True):
        one, two = first.make(), other.make()
        assert first.name == other.name
        assert one.X.shape != two.X.shape or not np.allclose(one.X, two.X)


def test_order_of_the_rows_says_nothing_of_the_domain():
    for entry in ENTRIES:
        codes = pd.factorize(entry.make().domain)[0]
        assert (np.diff(codes) < 0).sum() > len(codes) / 6, entry.name


def test_breadth():
    kinds = Counter(entry.kind for entry in ENTRIES)
    assert kinds["classification"] >= 14
    assert kinds["regression"] >= 20
    tasks = [entry.make() for entry in ENTRIES]
    sizes = [pd.Series(task.domain).value_counts() for task in tasks]
    assert min(size.min() for size in sizes) == 1
    assert max(size.max() for size in sizes) >= 300
    assert {1, 2}.issubset(len(task.sources) for task in tasks)


def test_names_and_families_are_new():
    others = zoo("tuning")
    for key in ("name", "family"):
        mine = [getattr(entry, key) for entry in ENTRIES]
        assert len(mine) == len(set(mine))
        assert set(mine).isdisjoint(getattr(entry, key) for entry in others)


def test_amounts_follow_the_graph():
    rng = np.random.default_rng(0)
    path = np.diag(np.ones(99), 1)
    path += path.T
    for amount in (diffused(path, rng), inherited(path, 1.0, rng)):
        assert np.diff(amount[:, 0]).std() < 0.5 * amount.std()
    alone = np.zeros((100, 100))
    alone[:99, :99] = path[:99, :99]
    assert np.abs(diffused(alone, rng, columns=50)[99]).max() < 5
