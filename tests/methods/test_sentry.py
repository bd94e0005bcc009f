"""SENTRY: its loss by hand, the shift it undoes, and what it does with values and images."""

from math import log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import drift, estimator, predictions, quick
from torch import nn

from grada import AdaptationWarning, AdaptedClassifier, DomainGraph, methods
from grada.data import DomainData
from grada.datasets import Task
from grada.methods import Run
from grada.methods.sentry import CommitteeStep
from grada.training.batches import PooledDealer

CPU = torch.device("cpu")


def table(task: Task) -> DomainData:
    X, y, domain = task.visible()
    return DomainData.from_table(X, y, domain, graph=task.graph, kind=task.kind)


def game(method, data: DomainData):
    run = Run(0, CPU)
    return method._game(method._network(data, run), data, run)


def by_hand_step(kind: str, labelled, y, codes, own, views, average=None) -> CommitteeStep:
    """A step in which the encodings of the labelled rows are already the outputs."""
    rows = slice(0, len(y))
    batch = SimpleNamespace(
        labelled=rows, y=torch.tensor(y), weight=None, aligned_codes=torch.tensor(codes), cache={}
    )
    network = SimpleNamespace(predictor=nn.Identity())
    return CommitteeStep(
        batch,
        torch.tensor(labelled),
        network,
        kind,
        0.5,
        own=torch.tensor(own),
        views=torch.tensor(views),
        average=torch.tensor(average or []),
    )


def test_loss_on_classes_by_hand():
    step = by_hand_step(
        "classification",
        labelled=[[log(3), 0.0]],
        y=[0],
        codes=[1, 1],
        own=[[log(3), 0.0], [0.0, log(3)]],
        views=[
            [[log(4), 0.0], [0.0, log(2)]],
            [[0.0, log(5)], [log(9), 0.0]],
            [[log(7), 0.0], [log(6), 0.0]],
        ],
        average=[0.4, 0.6],
    )
    # Row 0: two of three views agree, the first of them has probabilities 0.8 and 0.2.
    trusted = 0.8 * log(1 / 0.8) + 0.2 * log(1 / 0.2)
    # Row 1: two of three disagree, the first of them has probabilities 0.9 and 0.1.
    doubted = 0.9 * log(1 / 0.9) + 0.1 * log(1 / 0.1)
    # The mean prediction for the two rows is one half for each class.
    diversity = 0.5 * log(0.4) + 0.5 * log(0.6)
    expected = log(4 / 3) + 0.5 * ((trusted - doubted) / 2 + 0.2 * diversity)
    played = game(methods.SENTRY(diversity=0.2), table(drift("classification")))
    assert float(played.encoder_loss(step)) == pytest.approx(expected, abs=1e-6)
    assert step.batch.cache["consistent"].tolist() == [1.0, 0.0]


def test_loss_on_values_by_hand():
    step = by_hand_step(
        "regression",
        labelled=[[1.0]],
        y=[[0.5]],
        codes=[1, 1, 2, 2],
        own=[[0.0], [2.0], [10.0], [12.0]],
        views=[[[0.1], [2.5], [12.0], [12.0]], [[0.3], [2.9], [10.0], [12.0]]],
    )
    # Both domains have variance 1; 0.01 is always added. Tolerance 0.5: the top is at spread 1.
    agrees = (0.1**2 + 0.3**2) / 2 / 1.01
    parts = (0.5**2 + 0.9**2) / 2 / 1.01
    beyond = 2.0**2 / 2 / 1.01
    spread = (agrees - parts - (2 - beyond) + 0) / 4
    moments = 6**2 + (sqrt((6**2 + 4**2 + 4**2 + 6**2) / 4) - 1) ** 2
    expected = 0.25 + 0.5 * (spread + 0.2 * moments)
    played = game(methods.SENTRY(diversity=0.2), table(drift("regression")))
    assert float(played.encoder_loss(step)) == pytest.approx(expected, rel=1e-6)
    assert step.batch.cache["consistent"].tolist() == [1.0, 0.0, 0.0, 1.0]


def two_domains(seed: int, shift: float) -> Task:
    """Two classes four apart with a gap between them; the target moved along the line."""
    rng = np.random.default_rng(seed)
    label, domain = rng.integers(2, size=400), np.repeat(["here", "there"], 200)
    X = 0.5 * rng.normal(size=(400, 2))
    X[:, 0] += 2.0 * (2 * label - 1) + np.where(domain == "there", shift, 0.0)
    graph = DomainGraph.chain(["here", "there"])
    return Task(X, label, domain, graph=graph, sources=["here"], kind="classification")


def mean_accuracy(method, shift: float) -> float:
    scores = []
    for seed in range(5):
        task = two_domains(seed, shift)
        model, _ = predictions(task, method, random_state=seed)
        scores.append(task.evaluate(model.predict(task.X, sample_domain=task.domain)).mean)
    return float(np.mean(scores))


@pytest.mark.slow
def test_moves_the_boundary_into_the_gap():
    """A translation by half the distance of the classes: one of them lies on the old boundary.

    Rows of the same class on either side of the boundary are doubted, the rest are trusted, and
    the boundary moves to where no row is: the gap.
    """
    sentry, plain = methods.SENTRY(epochs=80), methods.SourceOnly(epochs=80)
    assert mean_accuracy(sentry, shift=2.0) > mean_accuracy(plain, shift=2.0) + 10.0
    assert mean_accuracy(sentry, shift=0.0) > mean_accuracy(plain, shift=0.0) - 2.0


@pytest.mark.slow
def test_values_stay_bounded_however_strong():
    task = drift("regression", sizes=[40] * 6)
    _, output = predictions(task, methods.SENTRY(strength=10.0, epochs=100))
    known = task.visible()[1]
    assert np.abs(output).max() < 5 * np.nanmax(np.abs(known))


def test_classes_and_guesses_come_up_alike_and_targets_only():
    rng = np.random.default_rng(0)
    domain, label = np.repeat([0, 1, 2], 1000), (rng.random(3000) < 0.1).astype(float)
    y = np.where(domain == 0, label, np.nan)
    graph = DomainGraph.chain(3)
    data = DomainData.from_table(
        rng.normal(size=(3000, 2)), y, domain, graph=graph, kind="classification"
    )
    dealer = PooledDealer(data, batch_size=500, device=CPU)
    batch = dealer.deal(rng)
    assert float(batch.y.float().mean()) == pytest.approx(0.5, abs=0.1)
    assert set(batch.aligned_codes.tolist()) == {1, 2}
    dealer.remember(torch.arange(1000, 3000), torch.from_numpy(label[1000:]).long())
    guess = label[dealer.deal(rng).row.numpy()]
    assert guess.mean() == pytest.approx(0.5, abs=0.1)


def test_the_game_remembers_its_guesses_and_its_mean_prediction():
    played = game(methods.SENTRY(batch_size=64), table(drift("classification")))
    step = played.deal(np.random.default_rng(0), 1.0)
    guess = step.own.argmax(dim=1)
    np.testing.assert_array_equal(played.pool._guess[step.batch.row.numpy()], guess.numpy())
    mean = step.own.detach().softmax(dim=1).mean(dim=0)
    torch.testing.assert_close(step.average, 0.7 * torch.tensor([0.5, 0.5]) + 0.3 * mean)
    assert step.views.shape == (3, 64, 2)
    assert not torch.equal(step.views[0], step.views[1])
    played = game(methods.SENTRY(balance_targets=False), table(drift("classification")))
    played.deal(np.random.default_rng(0), 1.0)
    assert (played.pool._guess == -1).all()  # all alike, so drawn uniformly


def test_nothing_to_adapt_to_is_said_and_trains_as_source_only():
    task = drift("classification")
    X, y, domain = task.X, task.reveal(), task.domain
    outputs = []
    for name in ("sentry", "source-only"):
        model = estimator("classification", quick(name, epochs=100), task.graph)
        if name == "sentry":
            with pytest.warns(AdaptationWarning, match="Training goes on without adaptation"):
                model.fit(X, y, sample_domain=domain)
        else:
            model.fit(X, y, sample_domain=domain)
        outputs.append(model.predict_proba(X, sample_domain=domain))
    np.testing.assert_array_equal(*outputs)


def test_images_with_the_default_and_with_an_augmentation_of_ones_own():
    task = drift("classification", n_features=16)
    X, y, domain = task.visible()
    images, encoder = X.reshape(-1, 1, 4, 4), nn.Sequential(nn.Flatten(), nn.Linear(16, 8))
    seen = set()

    def flip(x, codes, generator):
        assert isinstance(generator, torch.Generator)
        assert len(codes) == len(x)
        seen.add(tuple(x.shape[1:]))
        return x.flip(-1)

    outputs = []
    for augment in (None, flip):
        method = quick("sentry", encoder=encoder, augment=augment)
        model = AdaptedClassifier(method, task.graph, random_state=0)
        model.fit(images, y, sample_domain=domain)
        outputs.append(model.predict_proba(images, sample_domain=domain))
    assert seen == {(1, 4, 4)}
    assert np.isfinite(outputs).all()
    assert not np.array_equal(*outputs)


def test_an_augmentation_that_writes_into_its_rows_leaves_the_batch_alone():
    data = table(drift("classification"))
    method = methods.SENTRY(augment=lambda x, codes, generator: x.mul_(2.0))
    batch = game(method, data).deal(np.random.default_rng(0), 1.0).batch
    np.testing.assert_array_equal(batch.x[batch.aligned].numpy(), data.X[batch.row.numpy()])


def test_an_augmentation_that_changes_the_shape_is_refused():
    task = drift("classification")
    X, y, domain = task.visible()
    method = methods.SENTRY(augment=lambda x, codes, generator: x[:, :1])
    with pytest.raises(ValueError, match=r"augment must return .*\(2, 3\), not .*\(2, 1\)"):
        AdaptedClassifier(method, task.graph).fit(X, y, sample_domain=domain)
