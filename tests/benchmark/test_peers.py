import sys

import numpy as np
import pytest
import sklearn
from cases import drift, estimator, predictions

from grada import DomainGraph, methods
from grada.benchmark import _peers, run
from grada.benchmark._peers import peers
from grada.datasets import Task, make_dg
from grada.training import AdaptationWarning

pytest.importorskip("skada")

EACH = [(kind, name) for kind in ("classification", "regression") for name in peers(kind)]


def mixed(kind: str) -> Task:
    """Sources between the targets: skada gives rows of sources back before those of targets."""
    return drift(kind, sizes=[12, 20, 15, 20, 18, 16]).with_sources([1, 3, 4])


def two_outputs() -> Task:
    task = mixed("regression")
    y = np.column_stack([task.reveal(), np.sin(task.X[:, 1])])
    return Task(task.X, y, task.domain, graph=task.graph, sources=task.sources, kind="regression")


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_hidden_labels_do_not_matter(kind, name):
    task = mixed(kind)
    first, again = (predictions(t, peers(kind)[name])[1] for t in (task, task.scrambled(0)))
    assert first.shape == ((len(task.y), 2) if kind == "classification" else (len(task.y),))
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first.round(6))) > 1


@pytest.mark.parametrize("name", peers("classification"))
def test_order_of_rows_gives_nothing_away(name):
    # Left to itself, skada puts labels on rows at the same place in another domain.
    task = make_dg(n_domains=8, n_sources=3, rows_per_domain=30, random_state=1)
    assert sorted(task.sources) != list(range(3))
    method = peers(task.kind)[name]
    scores = [run(t, method).evaluation for t in (task.sorted_by_class(), task.shuffled(0))]
    assert scores[0].mean == pytest.approx(scores[1].mean, abs=3)
    assert scores[1].mean > 60
    assert np.mean(list(scores[1].sources.values())) > 60


@pytest.mark.parametrize("name", peers("regression"))
def test_several_outputs(name):
    task = two_outputs()
    method = peers("regression")[name]
    both = predictions(task, method)[1]
    assert both.shape == task.y.shape
    agreement = np.corrcoef(both.T, task.reveal().T)[:2, 2:]
    assert (agreement.argmax(axis=1) == [0, 1]).all()


def test_jdot_is_the_same_for_an_output_alone():
    task, alone = two_outputs(), mixed("regression")
    method = peers("regression")["skada-jdot"]
    np.testing.assert_allclose(predictions(task, method)[1][:, 0], predictions(alone, method)[1])


def test_as_skada_itself():
    """The same predictions for targets as from skada's own pipelines."""
    import skada
    from sklearn.svm import SVC

    task = mixed("classification")
    X, y, domain = task.visible()
    source = ~np.isnan(y)
    order = np.argsort(~source, kind="stable")
    scaled = sklearn.preprocessing.StandardScaler().fit_transform(X).astype(np.float32)
    rows, labels = scaled[order].astype(float), np.where(source, y, -1).astype(int)[order]
    signed = np.where(source, domain.astype(int) + 1, -1)[order]
    target = signed < 0
    for name, peer in peers("classification").items():
        with sklearn.config_context(enable_metadata_routing=True):
            if name == "skada-jdot":
                theirs = skada.JDOTClassifier()
            else:
                theirs = getattr(skada, peer.algorithm)(SVC())
            theirs.fit(rows, labels.copy(), sample_domain=signed)
            expected = theirs.predict(rows[target], sample_domain=signed[target])
        ours = predictions(task, peer)[1].argmax(axis=1)[order][target]
        np.testing.assert_array_equal(ours, expected, err_msg=name)


def test_jcpot_takes_sources_as_one_where_a_class_is_missing():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 40)
    X = rng.normal(size=(120, 2)) * 0.3 + 3 * np.column_stack([y == 1, y == 2])
    domain = np.repeat([0, 1, 2], 40)
    kept = ~((domain == 0) & (y == 0))
    graph = DomainGraph.chain(3)
    task = Task(X[kept], y[kept], domain[kept], graph=graph, sources=[0, 1], kind="classification")
    with pytest.warns(AdaptationWarning, match="as one source"):
        assert run(task, peers(task.kind)["skada-jcpot"]).evaluation.mean > 95


def test_jcpot_says_that_targets_are_out_of_reach():
    task = drift("classification", n_features=1500)  # distances for which exp(-d²) is zero
    with pytest.warns(AdaptationWarning, match="60 rows of targets are too far"):
        run(task, peers(task.kind)["skada-jcpot"])


def test_rows_that_were_not_there_in_the_fit():
    task = mixed("classification")
    for peer in peers(task.kind).values():
        model, _ = predictions(task, peer)
        alone = model.predict_proba(task.X[-3:] + 0.01, sample_domain=task.domain[-3:])
        assert alone.shape == (3, 2)


def test_refusals():
    task = mixed("classification")
    X, y, domain = task.visible()
    model = estimator(task.kind, peers(task.kind)["skada-tca"], task.graph)
    with pytest.raises(ValueError, match="skada-tca takes no sample_weight"):
        model.fit(X, y, sample_domain=domain, sample_weight=1 + np.arange(len(y)))
    with pytest.raises(ValueError, match="needs rows without a label"):
        model.fit(X, task.reveal(), sample_domain=domain)


def test_peers_are_no_methods_of_ours():
    assert not set(peers("classification")) & set(methods.available())


def test_a_missing_skada_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skada", None)
    task = mixed("regression")
    with pytest.raises(ImportError, match=r"grada\[skada\]"):
        run(task, peers(task.kind)["skada-coral"])


def test_importing_skada_changes_no_setting_of_sklearn(monkeypatch):
    def imported(name):
        sklearn.set_config(enable_metadata_routing=True)

    monkeypatch.setattr(_peers.importlib, "import_module", imported)
    with sklearn.config_context(enable_metadata_routing=False):
        _peers._skada()
        assert not sklearn.get_config()["enable_metadata_routing"]
