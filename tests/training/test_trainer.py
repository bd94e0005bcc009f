"""The loop on games small enough to be worked out by hand."""

import numpy as np
import pytest
import torch

from grada.training import Callback, History, Player, Progress, Trainer, TrainingError


class Bowl:
    """One player who rolls to the bottom of (x - 3)²; NaN from a chosen step on, if wanted."""

    adversarial = False

    def __init__(self, break_at: int | None = None):
        self.x = torch.nn.Parameter(torch.zeros(()))
        self.n_steps = 0
        self.break_at = break_at
        self.players = [Player("roller", [self.x], self.loss, learning_rate=0.3)]

    def loss(self, step):
        return (self.x - 3.0) ** 2 * (float("nan") if step == self.break_at else 1.0)

    def begin(self, rng):
        pass

    def deal(self, rng, strength_factor):
        self.n_steps += 1
        return self.n_steps

    def measure(self, step):
        return {"prediction_loss": ((self.x - 3.0) ** 2).detach()}

    def conclude(self, figures):
        return figures


class Duel(Bowl):
    """A game whose discriminator loss, bound and probe are scripted."""

    adversarial = True

    def __init__(self, losses, probes):
        super().__init__()
        self.losses, self.probes, self.revived = list(losses), list(probes), 0

    def conclude(self, figures):
        loss = self.losses.pop(0) if len(self.losses) > 1 else self.losses[0]
        return {**figures, "discriminator_loss": loss, "discriminator_bound": 1.0}

    def probe(self, rng):
        return self.probes.pop(0) if len(self.probes) > 1 else self.probes[0]

    def examine(self, rng):
        return self.probes[0]

    def revive(self):
        self.revived += 1


class Recorder(Callback):
    def __init__(self):
        self.calls = []

    def on_start(self, n_epochs):
        self.calls.append("start")

    def on_epoch_end(self, epoch, history):
        self.calls.append(epoch)
        assert history.n_epochs == epoch + 1

    def on_end(self, history):
        self.calls.append("end")


def rng():
    return np.random.default_rng(0)


def test_stops_when_nothing_improves_any_more():
    game, recorder = Bowl(), Recorder()
    trainer = Trainer(epochs=500, steps_per_epoch=5, patience=5, callbacks=(recorder,))
    history = trainer.train(game, rng())
    assert float(game.x.detach()) == pytest.approx(3.0, abs=0.05)
    assert history.n_epochs < 500
    assert "converged" in history.stopped
    assert recorder.calls == ["start", *range(history.n_epochs), "end"]


def test_a_nan_is_named_and_the_callbacks_are_closed():
    recorder = Recorder()
    trainer = Trainer(epochs=9, steps_per_epoch=2, callbacks=(recorder, Progress()))
    with pytest.raises(TrainingError, match=r"roller_loss became nan in epoch 2.*learning_rate"):
        trainer.train(Bowl(break_at=5), rng())
    assert recorder.calls[-1] == "end"


def play(losses, probes, **settings):
    game = Duel(losses, probes)
    trainer = Trainer(epochs=60, steps_per_epoch=5, patience=5, **{"probe_every": 2, **settings})
    return game, trainer


def test_at_the_bound_and_confirmed_by_a_probe_is_converged():
    game, trainer = play([0.5, 0.7, 1.0], [0.98])
    history = trainer.train(game, rng())
    assert "converged" in history.stopped
    assert game.revived == 0
    assert not history.messages


def test_at_the_bound_but_beaten_by_a_probe_is_revived_until_it_is_not():
    game, trainer = play([1.0], [0.4, 0.6, 0.97])
    history = trainer.train(game, rng())
    assert game.revived == 2
    assert "converged" in history.stopped


def test_worse_than_blind_is_revived_too():
    game, trainer = play([1.5, 1.5, 1.5, 1.5, 1.0], [0.4, 0.97])
    assert "converged" in trainer.train(game, rng()).stopped
    assert game.revived == 1


@pytest.mark.parametrize(
    ("losses", "probe", "message"),
    [
        ([1.0], 0.4, "never learned"),
        ([1.5], 0.4, "never learned"),
        ([0.5, 1.0], 0.4, "fell behind"),
        ([0.5], 0.4, "never fooled"),
    ],
)
def test_a_bad_game_never_passes_for_a_good_one(losses, probe, message):
    game, trainer = play(losses, [probe])
    with pytest.warns(UserWarning, match=message):
        history = trainer.train(game, rng())
    assert history.n_epochs == 60
    assert message in history.messages[0]


def test_without_early_stopping_all_epochs_are_played():
    game, trainer = play([1.0], [1.0], early_stopping=False)
    assert trainer.train(game, rng()).n_epochs == 60


def test_clipping_bounds_the_gradient_and_nothing_else():
    parameter = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    player = Player(
        "p", [parameter], lambda step: 10 * parameter.sum(), learning_rate=0.1, clip=1.0
    )
    player.update(None)
    assert float(parameter.grad.norm()) == pytest.approx(1.0)
    assert parameter.grad[0] == parameter.grad[1]


def test_schedules_reach_players_and_steps():
    game = Bowl()
    Trainer(
        epochs=200, steps_per_epoch=1, learning_rate_schedule="halving", early_stopping=False
    ).train(game, rng())
    assert game.players[0].optimizer.param_groups[0]["lr"] == pytest.approx(0.15)


def test_history_is_a_table():
    history = History()
    history.append({"a": 1.0})
    history.append({"a": 2.0, "b": 3.0})
    history.note(c=4.0)
    frame = history.to_frame()
    assert frame.shape == (2, 3)
    assert frame["b"].isna().tolist() == [True, False]
    assert frame["c"].iloc[-1] == 4.0
