from collections import Counter

import numpy as np
import pytest

from grada.benchmark._zoo import zoo


@pytest.mark.parametrize(("part", "least"), [("tuning", (32, 16)), ("unseen", (16, 8))])
def test_every_task_can_be_made(part, least):
    entries = zoo(part)
    kinds = Counter(entry.kind for entry in entries)
    assert kinds["classification"] >= least[0]
    assert kinds["regression"] >= least[1]
    for entry in entries:
        task = entry.make()
        assert (task.name, task.kind) == (entry.name, entry.kind)
        assert all(isinstance(name, str) for name in task.graph.names)
        assert len(task.domain) <= 6000
        assert task.targets
        assert np.isfinite(task.X).all()
        if task.kind == "classification":  # else a target could not be right
            seen = set(task.y[np.isin(task.domain, task.sources)])
            assert set(task.reveal()) == seen


@pytest.mark.parametrize("part", ["tuning", "unseen"])
def test_draws_repeat_and_another_seed_is_another_draw(part):
    for first, again, other in zip(zoo(part)[::6], zoo(part)[::6], zoo(part, 1)[::6], strict=True):
        task = first.make()
        assert np.array_equal(task.X, first.make().X)
        assert np.array_equal(task.reveal(), again.make().reveal())
        fresh = other.make()
        assert fresh.name == task.name
        assert not np.array_equal(fresh.X, task.X)


def test_the_unseen_part_has_other_kinds():
    tuning, unseen = zoo("tuning"), zoo("unseen")
    assert {entry.family for entry in tuning}.isdisjoint(entry.family for entry in unseen)
    names = [entry.name for entry in tuning + unseen]
    assert len(names) == len(set(names))


def test_the_order_of_the_rows_says_nothing_of_real_classes():
    task = next(entry for entry in zoo("tuning") if entry.name == "shape-wine").make()
    truth = task.reveal().astype(float)
    falls = sum((np.diff(truth[task.domain == name]) < 0).sum() for name in task.graph.names)
    assert falls > 10


def test_unknown_part_is_refused():
    with pytest.raises(ValueError, match="'tuning' or 'unseen'"):
        zoo("test")
