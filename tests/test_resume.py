"""A fit that is stopped anywhere, in the middle of a step too, goes on to the same model."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import drift, estimator, quick
from torch import nn

from grada import AdaptedClassifier, DomainGraph, methods
from grada.methods import _adversarial
from grada.selection import trials
from grada.training import Checkpoint, Player, trainer
from grada.training._state_file import read_state
from grada.training.fingerprint import fingerprint

NETWORKS = [name for name in methods.available() if "epochs" in methods.resolve(name).get_params()]
# Batches that leave something of a pass, and steps large enough for guesses to be trusted.
QUICK = {
    "steps_per_epoch": 3,
    "epochs": 5,
    "batch_size": 25,
    "learning_rate": 0.02,
    "embedding": "spectral",
}


class Stopped(BaseException):
    """Not an Exception, which ``auto`` would take for a candidate's fault."""


class Updates:
    """Counts the updates of all players, and stops before one of them."""

    def __init__(self, monkeypatch):
        self.count, self.stop_at = 0, None
        update = Player.update

        def counted(player, step):
            if self.count == self.stop_at:
                raise Stopped
            self.count += 1
            return update(player, step)

        monkeypatch.setattr(Player, "update", counted)

    def of(self, work, stop_at=None):
        """How many updates some work takes, stopped or not."""
        self.count, self.stop_at = 0, stop_at
        if stop_at is None:
            work()
        else:
            with pytest.raises(Stopped):
                work()
        return self.count


@pytest.fixture
def updates(monkeypatch):
    monkeypatch.setattr(_adversarial, "_PROBE_STEPS", 20)
    return Updates(monkeypatch)


def fitted(model, task):
    X, y, domain = task.visible()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_domain=domain)
    return model


def output(model, task):
    X, _, domain = task.visible()
    return model._output(X, domain)


def all_kept(folder):
    """Fingerprints of all states in a folder, times left out."""
    states = {file.name: read_state(file)["state"] for file in folder.glob("*.safetensors")}
    return {
        name: fingerprint({key: value for key, value in state.items() if key != "seconds"})
        for name, state in states.items()
    }


def check_resumes(make, task, folder, updates, *, stops=2):
    """Stopped several times, each time after some of what is left, it ends the same."""
    # Updates of an epoch; with a discriminator also those before the first and of two probes.
    params = make(None).get_params()
    alone = "method__head_start" not in params and "method__portfolio" not in params
    most_redone = 3 if alone else 2 * 3 + 10 + 2 * 20
    models = []
    uninterrupted = Checkpoint(folder.with_name("whole"), every=0)
    whole = updates.of(lambda: models.append(fitted(make(uninterrupted), task)))
    done, rng = [], np.random.default_rng(len(task.graph))
    checkpoint = Checkpoint(folder, every=0)
    for _ in range(stops):
        left = whole - sum(done)
        stop_at = int(rng.integers(max(left // 4, 1), max(left // 2, 2)))
        done.append(updates.of(lambda: fitted(make(checkpoint), task), stop_at))
    last = updates.of(lambda: models.append(fitted(make(checkpoint), task)))
    assert last < whole
    assert whole <= sum(done) + last <= whole + stops * most_redone
    again = updates.of(lambda: models.append(fitted(make(checkpoint), task)))
    assert again == 0
    assert all_kept(folder) == all_kept(folder.with_name("whole"))
    for model in models[1:]:
        assert np.array_equal(output(models[0], task), output(model, task))
        for name, column in models[0].history_.items():
            np.testing.assert_array_equal(column, model.history_[name])
        assert model.history_.stopped == models[0].history_.stopped
        assert model.history_.messages == models[0].history_.messages


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network(name, tmp_path, updates):
    if name == "gnn-ssl-v2":
        pytest.importorskip("torch_geometric")
    kind = methods.resolve(name).kinds[0]
    task = drift(kind)

    def make(checkpoint):
        return estimator(kind, quick(name, **QUICK), task.graph, checkpoint=checkpoint)

    check_resumes(make, task, tmp_path / "kept", updates)


class Noisy(nn.Module):
    """Draws from torch's own generator and has running statistics."""

    def __init__(self):
        super().__init__()
        generator = torch.random.get_rng_state()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5))
        torch.random.set_rng_state(generator)

    def forward(self, x):
        return self.layers(x)


@pytest.mark.parametrize(
    ("kind", "name", "settings"),
    [
        ("regression", "source-only", {}),  # corrects ridge: a network on sources kept apart too
        ("regression", "sentry", {}),
        ("classification", "adda", {"backbone": "adagraph"}),
        ("classification", "grda", {"encoder": Noisy()}),
        ("classification", "grda", {"domains_per_step": 2, "policy": "mixture"}),
        ("classification", "class-aware-grda", {"guide": "source-only"}),
    ],
)
def test_other_settings(kind, name, settings, tmp_path, updates):
    task = drift(kind)

    def make(checkpoint):
        method = quick(name, **QUICK, **settings)
        return estimator(kind, method, task.graph, checkpoint=checkpoint)

    check_resumes(make, task, tmp_path / "kept", updates)


def test_a_revived_discriminator(tmp_path, updates, monkeypatch):
    monkeypatch.setattr(trainer, "fooled", lambda *_: True)
    monkeypatch.setattr(trainer, "aligned", lambda *_: False)
    task = drift("classification")

    def make(checkpoint):
        return AdaptedClassifier(
            quick("dann", **QUICK), task.graph, random_state=0, checkpoint=checkpoint
        )

    check_resumes(make, task, tmp_path / "kept", updates)
    one, other = (fitted(make(each), task) for each in (None, tmp_path / "kept"))
    assert np.array_equal(output(one, task), output(other, task))


def test_a_training_that_ends_early(tmp_path, updates):
    task = drift("classification")

    def make(checkpoint):
        method = quick("source-only", steps_per_epoch=3, epochs=50, patience=8, learning_rate=0.1)
        return AdaptedClassifier(method, task.graph, random_state=0, checkpoint=checkpoint)

    check_resumes(make, task, tmp_path / "kept", updates)
    assert "converged" in fitted(make(tmp_path / "kept"), task).history_.stopped


def test_calibration(tmp_path, updates):
    task = drift("classification", graph=DomainGraph.chain(8), n_sources=5)

    def make(checkpoint):
        method = quick("source-only", **QUICK)
        return AdaptedClassifier(
            method, task.graph, calibrate=True, random_state=0, checkpoint=checkpoint
        )

    check_resumes(make, task, tmp_path / "kept", updates)
    one, other = (fitted(make(each), task) for each in (None, tmp_path / "kept"))
    X, _, domain = task.visible()
    assert np.array_equal(*(m.predict_proba(X, sample_domain=domain) for m in (one, other)))


PORTFOLIO = {
    "source-only": quick("source-only", **QUICK),
    "propagation": methods.resolve("propagation"),
    "mdd": quick("mdd", **QUICK),
}


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_auto(kind, tmp_path, updates):
    task = drift(kind, graph=DomainGraph.chain(8), n_sources=5)

    def make(checkpoint):
        method = methods.resolve("auto").set_params(portfolio=PORTFOLIO, budget=None, n_splits=1)
        return estimator(kind, method, task.graph, checkpoint=checkpoint)

    check_resumes(make, task, tmp_path / "kept", updates)
    one, other = (fitted(make(each), task).report_ for each in (None, tmp_path / "kept"))
    assert one.verdict == other.verdict
    assert [each.notes for each in one.candidates] == [each.notes for each in other.candidates]


def test_auto_counts_the_time_before_it_was_stopped(tmp_path, updates, monkeypatch):
    """A slow candidate that is stopped near the end of the budget does not get it anew."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    task = drift("classification", graph=DomainGraph.chain(8), n_sources=5)
    epoch = trainer.Trainer._epoch

    def slow(self, *arguments):
        now[0] += 1.0
        return epoch(self, *arguments)

    monkeypatch.setattr(trainer.Trainer, "_epoch", slow)
    method = methods.resolve("auto").set_params(
        portfolio={
            "slow": quick("source-only", steps_per_epoch=1, epochs=12, early_stopping=False)
        },
        budget=15.0,
    )
    model = AdaptedClassifier(
        method, task.graph, random_state=0, checkpoint=Checkpoint(tmp_path / "kept", every=0)
    )
    updates.of(lambda: fitted(model, task), 8)
    now[0] = 1000.0
    # Of the twelve seconds that one fit takes, eight are over; the fit on hidden sources is not
    # to be had in the three that are left after it.
    assert updates.of(lambda: fitted(model, task)) == 4
    assert "budget" in model.report_.candidates[1].problem
    # Once left out, it stays out.
    assert updates.of(lambda: fitted(model, task)) == 0
    assert "budget" in model.report_.candidates[1].problem


def test_what_auto_knows_of_a_candidate_is_not_found_out_again(tmp_path, updates, monkeypatch):
    task = drift("classification", graph=DomainGraph.chain(8), n_sources=5)
    method = methods.resolve("auto").set_params(portfolio=PORTFOLIO, budget=None, n_splits=1)
    model = AdaptedClassifier(method, task.graph, random_state=0, checkpoint=tmp_path / "kept")
    tried = []
    real = trials.hold_out
    monkeypatch.setattr(
        trials, "hold_out", lambda method, *rest: tried.append(method.name) or real(method, *rest)
    )
    fitted(model, task)
    assert tried == ["plain", "source-only", "propagation", "mdd"]
    tried.clear()
    fitted(model, task)
    assert tried == ["plain"]


# Real kills -----------------------------------------------------------------------------------

SCRIPT = """
import sys, warnings
import numpy as np
from grada import AdaptedClassifier, methods
from grada.datasets import make_dg
from grada.files.atomic import atomic_file
from grada.training import Checkpoint

warnings.simplefilter("ignore")
task = make_dg(n_domains=8, n_sources=5, rows_per_domain=30, random_state=0)
X, y, domain = task.visible()
short = dict(epochs=60, steps_per_epoch=10, early_stopping=False)
method = methods.GRDA(**short)
if sys.argv[1] == "auto":
    portfolio = {"propagation": methods.resolve("propagation"), "grda": methods.GRDA(**short),
                 "source-only": methods.resolve("source-only").set_params(**short)}
    method = methods.resolve("auto").set_params(portfolio=portfolio, budget=None, n_splits=1)
checkpoint = None if sys.argv[2] == "none" else Checkpoint(sys.argv[2], every=float(sys.argv[4]))
model = AdaptedClassifier(method, task.graph, random_state=0, checkpoint=checkpoint)
print("ready", flush=True)
model.fit(X, y, sample_domain=domain)
with atomic_file(sys.argv[3]) as file:
    np.save(file, model.predict_proba(X, sample_domain=domain))
"""


def start(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        stdout=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout.readline() == b"ready\n"  # imports take longer than the fit
    return process


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kills", "longest"), [("grda", 15, 1.2), ("auto", 10, 2.5)])
def test_killed_at_random_moments(name, kills, longest, tmp_path: Path):
    whole, ended = tmp_path / "whole.npy", tmp_path / "ended.npy"
    assert start(name, "none", whole, 0).wait() == 0
    lots = random.Random(0)
    killed, round_number = 0, 0
    while killed < kills:
        folder = tmp_path / f"kept {round_number}"
        round_number += 1
        while not ended.exists():
            # Mostly every epoch is kept, so that kills hit the writing too.
            process = start(name, folder, ended, lots.choice([0.0, 0.0, 0.3]))
            try:
                process.wait(timeout=lots.uniform(0.0, longest))
            except subprocess.TimeoutExpired:
                if killed >= kills:
                    process.wait()
                else:
                    process.kill()
                    process.wait()
                    killed += 1
            process.stdout.close()
            assert process.returncode in (0, -signal.SIGKILL)
        assert np.array_equal(np.load(whole), np.load(ended))
        assert not list(folder.glob(".*"))  # what killed writers left is cleared
        ended.unlink()
