import numpy as np
import pytest
import torch
from cases import drift, estimator, predictions, quick

from grada import AdaptationWarning, DomainGraph, datasets, methods
from grada.data import DomainData
from grada.methods import Run
from grada.methods.gnn_ssl_v1 import DomainLoss
from grada.nn import prediction_loss

RUN = Run(0, torch.device("cpu"))


def tiny(kind):
    """Rows 1 and 3 in the first domain, with labels, and row 2 in the second; an edge of 0.5."""
    y = np.array([0, 1, -1]) if kind == "classification" else np.array([[1.0], [-2.0], [np.nan]])
    return DomainData(
        X=np.array([[1.0], [3.0], [2.0]], dtype=np.float32),
        codes=np.array([0, 0, 1]),
        y=y if kind == "classification" else y.astype(np.float32),
        weight=np.array([0.5, 1.5, 0.0], dtype=np.float32),
        graph=DomainGraph.from_edges([("a", "b", 0.5)]),
        kind=kind,
        n_outputs=2 if kind == "classification" else 1,
    )


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_loss_by_hand(kind):
    """Row by row: degrees 1 + 1 + 0.5 twice, and 0.5 + 0.5 + 1."""
    data = tiny(kind)
    network = methods.GNNSSLV1(width=2)._network(data, RUN)
    first, last = network.layers
    n_out = data.n_outputs
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0], [-2.0]]))
        first.bias.copy_(torch.tensor([0.25, 0.5]))
        last.weight.copy_(torch.tensor([[1.0, 0.5], [-1.0, 2.0]])[:n_out])
        last.bias.copy_(torch.tensor([0.1, -0.3])[:n_out])
    # sqrt(2.5 * 2) = sqrt(5); sum over the neighbours, itself included.
    heard = [1.0 / 2.5 + 3.0 / 2.5 + 0.5 * 2.0 / 5**0.5, (1.0 + 3.0) * 0.5 / 5**0.5 + 2.0 / 2.0]
    hidden = [(max(h + 0.25, 0.0), max(-2.0 * h + 0.5, 0.0)) for h in heard]
    again = [
        2 * hidden[0][k] / 2.5 + 0.5 * hidden[1][k] / 5**0.5 for k in range(2)
    ]  # what both labelled rows hear
    output = [again[0] + 0.5 * again[1] + 0.1, -again[0] + 2.0 * again[1] - 0.3]
    if kind == "classification":
        total = np.log(np.exp(output[0]) + np.exp(output[1]))
        by_hand = (0.5 * (total - output[0]) + 1.5 * (total - output[1])) / 2
    else:
        by_hand = (0.5 * (output[0] - 1.0) ** 2 + 1.5 * (output[0] + 2.0) ** 2) / 2
    assert network.loss().item() == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_loss_over_domains_is_the_mean_over_labelled_rows(kind):
    rng = np.random.default_rng(0)
    codes = rng.integers(5, size=40)
    weight = np.where(codes < 3, rng.random(40), 0.0).astype(np.float32)
    if kind == "classification":
        y, n_outputs = rng.integers(3, size=40), 3
    else:
        y, n_outputs = 100.0 + rng.normal(size=(40, 2)).astype(np.float32), 2
    graph = DomainGraph.chain(5)
    data = DomainData(np.zeros((40, 1), np.float32), codes, y, weight, graph, kind, n_outputs)
    output = torch.from_numpy(rng.normal(size=(5, n_outputs)).astype(np.float32))
    rows = data.labelled
    expected = prediction_loss(
        output[codes[rows]], torch.from_numpy(y[rows]), torch.from_numpy(weight[rows]), kind
    )
    torch.testing.assert_close(DomainLoss(data)(output), expected)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_all_rows_of_a_domain_get_one_embedding(layers):
    """Theorem C.1 of the paper; a row far from all others makes no exception."""
    task = drift("regression", sizes=[5, 1, 9, 2, 7, 4])
    model, output = predictions(task, quick("gnn-ssl-v1", layers=layers))
    encodings = model.transform(task.X, sample_domain=task.domain)
    for name in task.graph.names:
        rows = task.domain == name
        assert np.ptp(encodings[rows], axis=0).max() == 0.0
        assert np.ptp(output[rows]) == 0.0
    assert len(np.unique(output)) == 6
    far = model.predict(task.X + 1000.0, sample_domain=task.domain)
    np.testing.assert_array_equal(far, output)


@pytest.mark.parametrize("name", ["dg15", "dg60"])
def test_one_embedding_is_worth_exactly_half(name, data_home):
    """Each domain has as many rows of one class as of the other."""
    task = getattr(datasets, name)()
    for seed in range(3):
        X, _, domain = task.visible()
        model, _ = predictions(task, methods.GNNSSLV1(), random_state=seed)
        scores = task.evaluate(model.predict(X, sample_domain=domain))
        assert scores.mean == 50.0
        assert set(scores.per_domain.values()) == {50.0}


def test_learns_what_domains_have_in_common():
    """The shift it is made for: the label follows the mean of a domain and of its neighbours."""
    rng = np.random.default_rng(0)
    centre = np.sin(np.arange(30) / 3.0)
    domain = np.repeat(np.arange(30), 20)
    X = centre[domain, None] + rng.normal(size=(600, 1))
    y = 3.0 * centre[domain] + 0.1 * rng.normal(size=600)
    target = domain % 3 == 2
    model = estimator("regression", methods.GNNSSLV1(), DomainGraph.chain(30))
    model.fit(X, np.where(target, np.nan, y), sample_domain=domain)
    assert model.score(X[target], y[target], sample_domain=domain[target]) > 0.9


def test_sixty_domains_of_ten_thousand_rows():
    """A hundred copies of every row: the same shares, so the same network, of the same size."""
    task = datasets.make_dg(60, 6, rows_per_domain=100, random_state=100)
    X, y, domain = task.visible()
    model = estimator("classification", quick("gnn-ssl-v1"), task.graph)
    few = model.fit(X, y, sample_domain=domain).predict_proba(X, sample_domain=domain)
    many = model.fit(*(np.repeat(part, 100, axis=0) for part in (X, y)),
                     sample_domain=np.repeat(domain, 100))  # fmt: skip
    np.testing.assert_allclose(many.predict_proba(X, sample_domain=domain), few, atol=1e-4)


def test_an_isolated_domain_without_rows_gets_a_finite_answer():
    graph = DomainGraph.from_edges([("a", "b")], names=list("abc"))
    task = drift("regression", graph=graph, n_sources=2)
    X, y, domain = task.visible()
    there = domain != "c"
    model = estimator("regression", quick("gnn-ssl-v1"), task.graph)
    model.fit(X[there], y[there], sample_domain=domain[there])
    assert np.isfinite(model.predict(X, sample_domain=domain)).all()


@pytest.mark.parametrize("name", ["gnn-ssl-v1", "gnn-ssl-v2"])
def test_a_target_that_hears_no_label_is_named(name):
    graph = DomainGraph.from_edges([("a", "b")], names=["a", "b", "c d"])
    task = drift("classification", graph=graph, n_sources=1)
    X, y, domain = task.visible()
    model = estimator("classification", quick(name), graph)
    with pytest.warns(AdaptationWarning, match="'c d'") as caught:
        model.fit(X, y, sample_domain=domain)
    assert caught[0].filename == __file__
    assert any("'c d'" in message for message in model.history_.messages)
