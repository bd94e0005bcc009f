import subprocess
import sys

import numpy as np
import pytest
import torch
from cases import drift, estimator, predictions, quick

from grada import DomainGraph, datasets, methods
from grada.data import DomainData
from grada.methods import Run
from grada.training import History

pytest.importorskip("torch_geometric")
RUN = Run(0, torch.device("cpu"))


@pytest.mark.parametrize("self_weight", [1.0, 2.0])
@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_loss_by_hand(kind, self_weight):
    """Domains a and b, rows 1 and 2 in a with labels, row 3 in b: a 5 x 5 matrix."""
    classify = kind == "classification"
    y = np.array([0, 1, -1]) if classify else np.array([[1.0], [-2.0], [np.nan]], np.float32)
    data = DomainData(
        X=np.array([[1.0], [3.0], [2.0]], dtype=np.float32),
        codes=np.array([0, 0, 1]),
        y=y,
        weight=np.array([0.5, 1.5, 0.0], dtype=np.float32),
        graph=DomainGraph.from_edges([("a", "b", 0.5)]),
        kind=kind,
        n_outputs=2 if classify else 1,
    )
    network = methods.GNNSSLV2(
        layers=2, width=2, embedding_dim=1, self_weight=self_weight
    )._network(data, RUN)
    weights = np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([[1.0, 0.5], [-1.0, 2.0]])
    biases = np.array([0.25, -0.5]), np.array([0.1, -0.3])
    outputs = slice(data.n_outputs)
    with torch.no_grad():
        network.features[:2, 0] = torch.tensor([0.6, -0.4])  # instead of the embedding
        network.layers[0].lin.weight.copy_(torch.from_numpy(weights[0]))
        network.layers[0].bias.copy_(torch.from_numpy(biases[0]))
        network.layers[1].lin.weight.copy_(torch.from_numpy(weights[1][outputs]))
        network.layers[1].bias.copy_(torch.from_numpy(biases[1][outputs]))

    s = self_weight
    #                      a    b    1    2    3
    joined = np.array([
        [s, 0.5, 1.0, 1.0, 0.0],
        [0.5, s, 0.0, 0.0, 1.0],
        [1.0, 0.0, s, 0.0, 0.0],
        [1.0, 0.0, 0.0, s, 0.0],
        [0.0, 1.0, 0.0, 0.0, s],
    ])  # fmt: skip
    degree = np.array([s + 2.5, s + 1.5, s + 1.0, s + 1.0, s + 1.0])
    spread = joined / np.sqrt(np.outer(degree, degree))
    features = np.array([[0.6, 0.0], [-0.4, 0.0], [0.0, 1.0], [0.0, 3.0], [0.0, 2.0]])
    hidden = np.maximum(spread @ features @ weights[0].T + biases[0], 0.0)
    output = spread @ hidden @ weights[1].T + biases[1]
    if classify:
        log_sum = np.log(np.exp(output).sum(axis=1))
        by_hand = (0.5 * (log_sum[2] - output[2, 0]) + 1.5 * (log_sum[3] - output[3, 1])) / 2
    else:
        by_hand = (0.5 * (output[2, 0] - 1.0) ** 2 + 1.5 * (output[3, 0] + 2.0) ** 2) / 2
    assert network.loss().item() == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_a_leaf_gets_what_the_whole_graph_gives_its_row(kind, layers):
    graph = DomainGraph.from_edges([(0, 1, 0.3), (1, 2, 0.9), (2, 3, 0.5)], names=range(6))
    task = drift(kind, graph=graph, sizes=[9, 4, 1, 12, 3, 1])
    X, y, domain = task.visible()
    there = domain != 2  # a domain without rows amid the others
    data = DomainData.from_table(X[there], y[there], domain[there], graph=graph, kind=kind)
    network = methods.GNNSSLV2(layers=layers)._network(data, RUN)
    with torch.no_grad():
        states = network()
    whole = states[-1][graph.n_domains :]
    expected = whole.softmax(dim=1) if kind == "classification" else whole
    fitted = network.fitted(History())
    np.testing.assert_allclose(fitted.predict(data.X, data.codes), expected, atol=1e-5)
    np.testing.assert_allclose(
        fitted.encode(data.X, data.codes), states[-2][graph.n_domains :], atol=1e-5
    )


def test_a_prediction_does_not_depend_on_the_other_rows_asked_about():
    task = drift("regression")
    model, together = predictions(task, quick("gnn-ssl-v2"))
    for row in (0, 50, 119):
        alone = model.predict(task.X[[row]], sample_domain=task.domain[[row]])
        np.testing.assert_allclose(alone, together[[row]], rtol=1e-12)


def test_memory_follows_rows_and_edges():
    task = drift("classification", sizes=[50] * 6)
    X, y, domain = task.visible()
    data = DomainData.from_table(X, y, domain, graph=task.graph, kind="classification")
    network = methods.GNNSSLV2()._network(data, RUN)
    # Each row with its domain, each edge of the chain, both ways; each node with itself.
    assert network.edges.shape == (2, 2 * 300 + 2 * 5 + 306)


def test_learns_from_the_mean_of_a_domain():
    """The shift it is made for: the label follows the row and the mean of its domain."""
    rng = np.random.default_rng(0)
    centre, noise = rng.normal(size=24), 2.0 * rng.normal(size=960)
    domain = np.repeat(np.arange(24), 40)
    X, y = (centre[domain] + noise)[:, None], noise + 3.0 * centre[domain]
    target = domain % 3 == 2
    scores = {}
    alone = methods.SourceOnly(base="none")
    for name, method in {"gnn-ssl-v2": "gnn-ssl-v2", "source-only": alone}.items():
        model = estimator("regression", method, DomainGraph.chain(24))
        model.fit(X, np.where(target, np.nan, y), sample_domain=domain)
        scores[name] = model.score(X[target], y[target], sample_domain=domain[target])
    assert scores["gnn-ssl-v2"] > scores["source-only"] + 0.2


@pytest.mark.parametrize("name", ["dg15", "dg60"])
def test_runs_on_the_published_tasks(name, data_home):
    task = getattr(datasets, name)()
    X, _, domain = task.visible()
    model, _ = predictions(task, methods.GNNSSLV2(epochs=10))
    scores = task.evaluate(model.predict(X, sample_domain=domain))
    assert min(scores.sources.values()) > 80.0  # it learned; the targets are another matter


def test_without_torch_geometric_the_advice_is_to_install_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.nn.conv", None)
    task = drift("classification")
    with pytest.raises(ImportError, match=r'pip install "grada\[gnn\]"'):
        predictions(task, quick("gnn-ssl-v2"))


def test_torch_geometric_is_not_imported_before_it_is_needed():
    code = "import sys, grada.methods; sys.exit('torch_geometric' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
