from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grada.benchmark import load_task
from grada.benchmark._published import PositionDealer, PublishedGRDA
from grada.benchmark._settings import PAPER_METHODS, method_for, method_names, published_tasks
from grada.data import DomainData
from grada.datasets import Task
from grada.graph import DomainGraph
from grada.methods import available
from grada.methods.grda import GRDA
from grada.nn import GraphDiscriminator
from grada.nn.losses import edge_logits, pair_loss


def chain_of_three() -> Task:
    """Three domains of four rows each, one with two rows more; the feature is the row's number."""
    domain = ["a"] * 4 + ["b"] * 6 + ["c"] * 4
    X = np.arange(14.0)[:, None]
    y = np.tile([0, 1], 7)
    graph = DomainGraph.chain(["a", "b", "c"])
    return Task(X, y, domain, graph=graph, sources=["a"], kind="classification")


def dealt():
    task = chain_of_three()
    X, y, domain = task.visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind="classification")
    dealer = PositionDealer(
        data, rows_per_domain=3, batch_size=9, domains_per_step=3, device=torch.device("cpu")
    )
    return dealer.deal(np.random.default_rng(0))


def test_rows_at_the_same_positions_come_together():
    batch = dealt()
    a, b, c = batch.row.reshape(3, 3).tolist()
    for first, last in zip(a, c, strict=True):
        assert first == last - 10  # both have four rows
    for first, middle in zip(a, b, strict=True):
        assert first == (middle - 4) % 4  # a short domain starts over
    assert batch.n_labelled == 3  # the rows of the only source at these positions


def test_published_pair_loss_by_hand():
    """Row b with row b of another domain, i < j, balanced: as the published code writes it."""
    batch = dealt()
    z = torch.randn(9, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    pairs = PublishedGRDA(pair_loss="balanced")._pairs(batch)
    found = pair_loss(edge_logits(z, "inner"), pairs)
    place = z.reshape(3, 3, 2)
    loss = {True: [], False: []}
    for i in range(3):
        for j in range(i + 1, 3):
            edge = bool(batch.edges[i, j])
            logits = (place[i] * place[j]).sum(dim=1)
            target = torch.full_like(logits, float(edge))
            loss[edge].append(torch.nn.functional.binary_cross_entropy_with_logits(logits, target))
    by_hand = (torch.stack(loss[True]).mean() + torch.stack(loss[False]).mean()) / 2
    assert found.item() == pytest.approx(by_hand.item())


def test_the_loss_is_multiplied_by_the_number_of_domains():
    batch = dealt()
    encoding = torch.randn(len(batch.x), 2, generator=torch.Generator().manual_seed(0))
    network = SimpleNamespace(encoder=SimpleNamespace(embedding=torch.zeros(3, 2)))
    step = SimpleNamespace(batch=batch, network=network)
    settings = {"pair_loss": "balanced", "logits": "inner"}
    discriminator = GraphDiscriminator(torch.nn.Identity(), logits="inner", bias=False)
    ours = GRDA(**settings)
    ours._pairs = PublishedGRDA(**settings)._pairs
    once = ours.discriminator_loss(discriminator, encoding, step)
    times_n = PublishedGRDA(**settings).discriminator_loss(discriminator, encoding, step)
    assert times_n.item() == pytest.approx(3 * once.item())


def test_no_user_comes_across_it():
    assert "PublishedGRDA" not in {info.method.__name__ for info in available().values()}


@pytest.mark.parametrize("name", [name for name in published_tasks() if name != "compcars"])
def test_every_method_of_the_paper_has_published_settings(name, data_home):
    task = load_task(name, "published")
    for method in PAPER_METHODS:
        found = method_for(method, task, "published")
        assert found.name == method
    assert type(method_for("grda", task, "published")) is PublishedGRDA
    assert type(method_for("grda", task, "leak-free")) is not PublishedGRDA
    assert set(method_names(task.kind, "published")) == {"plain", *PAPER_METHODS}


def test_published_windows_start_in_any_month(data_home):
    assert len(load_task("tpt48-ew", "published").X) == 24 * 133 + 24 * 12
    assert len(load_task("tpt48-ew").X) == 48 * 12
