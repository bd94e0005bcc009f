"""A crash at any moment of ``save`` leaves a whole model, old or new."""

import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest

from grada import AdaptedRegressor, load

KILLS = 25


def model(slope: float) -> AdaptedRegressor:
    rows = np.random.default_rng(0).normal(size=(3000, 20))
    return AdaptedRegressor("propagation", random_state=0).fit(rows, slope * rows[:, 0])


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def save_for_ever(saved: AdaptedRegressor, place: Path) -> None:
    while True:
        saved.save(place)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::grada.AdaptationWarning")
def test_no_kill_leaves_half_a_model(tmp_path):
    asked = np.random.default_rng(1).normal(size=(5, 20))
    old, new = model(1.0), model(-2.0)
    answers = [each.predict(asked).tolist() for each in (old, new)]
    place, rng = tmp_path / "m", np.random.default_rng(2)
    old.save(place)
    seen, leftovers = set(), 0
    # Forked, because a new interpreter would take seconds to import everything.
    fork = multiprocessing.get_context("fork")
    for kill in range(KILLS):
        writer = fork.Process(target=save_for_ever, args=((new, old)[kill % 2], place))
        writer.start()
        until = time.monotonic() + rng.uniform(0.02, 0.6)
        while time.monotonic() < until:  # also while it is being replaced
            assert load(place).predict(asked).tolist() in answers
        writer.kill()
        writer.join()
        assert writer.exitcode == -9
        assert len(hidden(tmp_path)) <= 1
        leftovers += len(hidden(tmp_path))
        said = load(place).predict(asked).tolist()
        assert said in answers
        seen.add(answers.index(said))
    assert seen == {0, 1}
    assert leftovers  # else no kill came in the middle of a save
    old.save(place)
    assert hidden(tmp_path) == []
    assert load(place).predict(asked).tolist() == answers[0]
