"""What is loaded is what was saved, to the bit."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from cases import drift, quick
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from models import METHODS, SPECIAL, fitted, said, same, table

from grada import AdaptedClassifier, DomainGraph, artefact, load, methods

CASES = [*METHODS, *((name, kind) for name, (kind, _) in SPECIAL.items())]
ROWS = artefact._registry.ROWS
#: These hold rows, but not as they came.
ENCODED = {"in a space", "pipeline"}

pytestmark = pytest.mark.filterwarnings("ignore::grada.AdaptationWarning")


@pytest.mark.parametrize(("name", "kind"), CASES, ids=[f"{n}-{k[:5]}" for n, k in CASES])
def test_every_model_comes_back_as_it_was(tmp_path, name, kind):
    model, X, domain = fitted(name, kind)
    before = said(model, X, domain)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again) is type(model)
    assert same(before, said(again, X, domain))
    assert str(again.report_) == str(model.report_)
    assert again.history_.to_frame().equals(model.history_.to_frame())
    assert again.history_.messages == model.history_.messages
    assert again.graph_ == model.graph_
    assert again.get_params().keys() == model.get_params().keys()
    check_card(tmp_path / "m", model._features.transform(X), encoded=name in ENCODED)
    # What is extended after loading is what is extended before.
    more = DomainGraph.from_edges([(5, "new")])
    new = np.full(4, "new", dtype=object)
    try:
        extended = model.extend(more, X[:4], new)
    except NotImplementedError:
        return
    assert same(said(extended, X[:4], new), said(again.extend(more, X[:4], new), X[:4], new))
    extended.save(tmp_path / "m")  # over the first one
    assert same(said(extended, X[:4], new), said(load(tmp_path / "m"), X[:4], new))


def check_card(folder, rows, *, encoded):
    """The card says that rows are in the folder if, and only if, their numbers are."""
    values = np.concatenate([array.ravel() for array in numbers_in(folder)]).astype(np.float32)
    # By chance a number of a row may be there, but not most numbers of a row.
    found = encoded or bool((np.isin(rows, values).mean(axis=1) > 0.6).any())
    assert (ROWS in artefact.describe(folder)["holds"]) == found
    assert ("Yes: this folder holds rows" in (folder / "card.md").read_text()) == found


def numbers_in(folder):
    """All floating-point arrays in a model folder, also those of scikit-learn's parts."""
    loaded = list(safetensors.numpy.load_file(folder / "tensors.safetensors").values())
    for part in folder.glob("*.skops"):
        with np.load(part, allow_pickle=False) as arrays:
            loaded += [np.asarray(arrays[name]) for name in arrays.files]
    return [array for array in loaded if array.dtype.kind == "f"]


def test_another_process_says_the_same(tmp_path):
    chosen = [case for case in CASES if case[0] in {"grda", "auto", "gradual", "boosting"}]
    for at, case in enumerate(chosen):
        model, X, domain = fitted(*case)
        model.save(tmp_path / f"m{at}")
        np.savez(tmp_path / f"in{at}.npz", X=X, domain=domain.astype(int))
    script = """if True:
        import sys, numpy as np
        from models import said
        from grada import load
        for at in range(int(sys.argv[2])):
            asked = np.load(f"{sys.argv[1]}/in{at}.npz")
            answers = said(load(f"{sys.argv[1]}/m{at}"), asked["X"], asked["domain"])
            np.savez(f"{sys.argv[1]}/out{at}.npz", **answers)
    """
    here = Path(__file__).parent
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(len(chosen))],
        check=True,
        env={
            "PYTHONPATH": f"{here}:{here.parent / 'methods'}",
            "PYTHONHASHSEED": "7",
            "OMP_NUM_THREADS": "1",
        },
    )
    for at, case in enumerate(chosen):
        with np.load(tmp_path / f"out{at}.npz") as answers:
            assert same(said(*fitted(*case)), dict(answers)), case


@pytest.mark.parametrize(
    "labels", [["yes", "no"], [3, 7, -1], [True, False], [1.0, 2.0], ["é", "\ud800", "<b>"]]
)
def test_labels_of_any_type(tmp_path, labels):
    model, frame = table(labels)
    model.save(tmp_path)
    again = load(tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.feature_names_in_.tolist() == ["Größe", "colour", "state"]
    assert same(said(model, frame), said(again, frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"Größe": "size"}))


def test_several_outputs(tmp_path):
    model, frame = table(None, n_outputs=2)
    model.save(tmp_path)
    assert load(tmp_path).predict(frame).shape == (60, 2)
    assert same(said(model, frame), said(load(tmp_path), frame))


def test_what_model_json_and_the_card_say(tmp_path):
    model, _ = table(["yes", "no"])
    model.save(tmp_path)
    told = artefact.describe(tmp_path)
    assert told["estimator"] == "AdaptedClassifier"
    assert told["method"]["name"] == "plain"
    assert told["classes"] == ["no", "yes"]
    assert told["domains"] == ["OH", "PA", "NY"]
    assert told["features"]["categorical"] == ["colour"]
    assert told["data"] == {"rows": 60, "labelled": 40, "sources": ["OH", "PA"], "targets": ["NY"]}
    assert told["versions"]["torch"] == torch.__version__
    assert set(told["files"]) == {path.name for path in tmp_path.iterdir()} - {"model.json"}
    graph = json.loads((tmp_path / "graph.json").read_text())["graphs"][0]
    assert graph["edges"] == [["OH", "PA", 1.0], ["PA", "NY", 1.0]]
    card = (tmp_path / "card.md").read_text()
    for words in ("60 rows, 40 of them", "2: OH, PA", "1: NY", "2: no, yes", "grada.load"):
        assert words in card


def test_names_of_a_user_are_text_in_the_card(tmp_path):
    evil = ["<script>alert(1)</script>", "a|b`c`\n# d", "[x](http://y)"]
    graph = DomainGraph.chain(evil)
    X, domain = np.arange(9.0)[:, None], np.repeat(np.array(evil, dtype=object), 3)
    AdaptedClassifier("plain", graph).fit(X, list("ababab") + [None] * 3, domain).save(tmp_path)
    card = (tmp_path / "card.md").read_text()
    assert "<script>" not in card
    assert "\n# d" not in card
    assert "](http" not in card
    assert load(tmp_path).graph_.names == tuple(evil)


def test_the_verdict_of_auto_is_on_the_card(tmp_path):
    model, _, _ = fitted("auto", "classification")
    model.save(tmp_path)
    assert artefact.describe(tmp_path)["verdict"] == model.report_.verdict
    assert str(model.report_).splitlines()[-1] in (tmp_path / "card.md").read_text()


def test_equal_things_stay_one_thing(tmp_path):
    model, _, _ = fitted("auto", "regression")
    model.save(tmp_path)
    again = load(tmp_path)
    assert again.history_ is again.fitted_.history
    assert again.graph_ is again._calibration.graph


def test_a_path_for_checkpoints_does_not_travel(tmp_path):
    model, _ = table(["yes", "no"])
    model.checkpoint = "/secret/place"
    model.save(tmp_path)
    assert load(tmp_path).checkpoint is None
    assert "secret" not in (tmp_path / "model.json").read_text()


class Tower(nn.Module):
    """An encoder as a user writes one, with a number that is no parameter and tied weights."""

    def __init__(self, width: int = 4):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Tanh())
        self.one, self.other = nn.Linear(width, width), nn.Linear(width, width)
        self.other.weight = self.one.weight
        self.register_buffer("factor", torch.tensor(1.5))

    def forward(self, x):
        return self.factor * self.other(torch.relu(self.one(self.layers(x))))


def flat() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())


@pytest.mark.parametrize("make", [Tower, flat])
@pytest.mark.parametrize(
    ("name", "backbone"), [("source-only", "plain"), ("source-only", "adagraph"), ("adda", "plain")]
)
def test_an_encoder_of_the_users_own_is_given_again(tmp_path, make, name, backbone):
    X, y, domain = drift("classification").visible()
    method = quick(name, epochs=1, encoder=make(), backbone=backbone)
    model = AdaptedClassifier(method, DomainGraph.chain(6), random_state=0)
    model.fit(X, y, sample_domain=domain).save(tmp_path)
    given = make()
    before = {name: value.clone() for name, value in given.state_dict().items()}
    again = load(tmp_path, encoder=given)
    assert same(said(model, X, domain), said(again, X, domain))
    assert all(torch.equal(before[name], value) for name, value in given.state_dict().items())
    # The untrained one is a setting, and comes back as it was too.
    start = zip(again.method.encoder.parameters(), model.method.encoder.parameters(), strict=True)
    assert all(torch.equal(ours, theirs) for ours, theirs in start)
    with pytest.raises(artefact.ArtefactError, match=r"encoder of your own .*encoder=module"):
        load(tmp_path)
    with pytest.raises(artefact.ArtefactError, match="not the one this model was fitted with"):
        load(tmp_path, encoder=nn.Linear(3, 4))
    with pytest.raises(TypeError, match="must be a torch module"):
        load(tmp_path, encoder="tower")
    assert "encoder=module" in (tmp_path / "card.md").read_text()


def test_shared_parameters_stay_shared(tmp_path):
    X, y, domain = drift("classification").visible()
    method = methods.SourceOnly(epochs=1, encoder=Tower())
    AdaptedClassifier(method, DomainGraph.chain(6)).fit(X, y, domain).save(tmp_path)
    raw = load(tmp_path, encoder=Tower()).fitted_.network.encoder.raw
    assert raw.one.weight is raw.other.weight


def test_other_versions_are_told(tmp_path, monkeypatch):
    model, _ = table(["yes", "no"])
    model.save(tmp_path)
    monkeypatch.setattr(
        artefact._folder, "versions", lambda: {**artefact._summary.versions(), "torch": "9.9"}
    )
    with pytest.warns(UserWarning, match=r"saved with torch .* \(here 9\.9\)"):
        load(tmp_path)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path)
