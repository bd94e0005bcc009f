"""The folder of a checkpoint: what it accepts, what it refuses, what it keeps."""

import errno
import json
import os
from functools import partial

import numpy as np
import pytest
import torch
from cases import drift, quick
from sklearn.base import clone
from torch import nn

from grada import AdaptedClassifier, methods
from grada.training import AdaptationWarning, Checkpoint, CheckpointError, checkpoint
from grada.training._state_file import DamagedFileError, read_state, write_state
from grada.training.fingerprint import fingerprint

TASK = drift("classification")


def fit(folder, *, X=None, y=None, domain=None, random_state=0, graph=None, **settings):
    seen = TASK.visible()
    short = {"epochs": 2, "steps_per_epoch": 2, **settings}
    model = AdaptedClassifier(
        quick("source-only", **short),
        graph or TASK.graph,
        random_state=random_state,
        checkpoint=folder,
    )
    X, y, domain = (
        own if given is None else given for own, given in zip(seen, (X, y, domain), strict=True)
    )
    return model.fit(X, y, sample_domain=domain)


def test_a_state_comes_back_as_it_was(tmp_path):
    shared = torch.arange(6.0)
    state = {
        "tensors": [shared, shared[::2], torch.tensor(True), torch.zeros(0, 3)],
        "half": torch.ones(2, dtype=torch.bfloat16),
        "array": np.arange(4, dtype=np.int64)[::-1],
        "plain": {"nan": float("nan"), "third": 1 / 3, "large": 2**127 + 1, "none": None},
    }
    write_state(tmp_path / "a", state)
    back = read_state(tmp_path / "a")
    for one, other in zip(back["tensors"], state["tensors"], strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    assert back["half"].dtype == torch.bfloat16
    assert np.array_equal(back["array"], [3, 2, 1, 0])
    assert back["plain"]["third"] == 1 / 3
    assert back["plain"]["large"] == 2**127 + 1
    assert np.isnan(back["plain"]["nan"])
    assert back["plain"]["none"] is None


def test_any_damage_to_a_file_is_seen(tmp_path):
    file = tmp_path / "a"
    write_state(file, {"x": torch.arange(50.0), "text": "words"})
    whole = file.read_bytes()
    for place in range(0, len(whole), 7):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedFileError, match="damaged"):
            read_state(file)
    for length in (0, 5, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(DamagedFileError):
            read_state(file)


def test_a_damaged_file_starts_over_with_a_warning(tmp_path):
    first = fit(tmp_path / "kept")
    file = tmp_path / "kept" / "training.safetensors"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.warns(AdaptationWarning, match="training.safetensors is damaged"):
        second = fit(tmp_path / "kept")
    X, _, domain = TASK.visible()
    assert np.array_equal(first._output(X, domain), second._output(X, domain))


def other_feature():
    X = TASK.visible()[0].copy()
    X[-1, 0] += 1e-3
    return X


def other_label():
    y = TASK.visible()[1].copy()
    y[0] = 1 - y[0]
    return y


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"X": other_feature()}, "the data differ"),
        ({"y": other_label()}, "the data differ"),
        ({"domain": TASK.visible()[2][::-1]}, "the data differ"),
        ({"graph": TASK.graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 5)])}, "the data differ"),
        ({"learning_rate": 0.002}, "the settings differ"),
        ({"random_state": 1}, "random_state differs"),
        ({"random_state": 1, "epochs": 3}, "the settings and random_state differ"),
    ],
)
def test_the_folder_of_another_fit_is_refused_and_left_alone(change, what, tmp_path):
    folder = tmp_path / "kept"
    fit(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(CheckpointError, match=f"another fit: {what}.*another folder, or delete"):
        fit(folder, **change)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_other_versions_are_refused_by_name(tmp_path):
    fit(tmp_path)
    note = json.loads((tmp_path / "checkpoint.json").read_text())
    note["versions"]["torch"] = "1.0"
    (tmp_path / "checkpoint.json").write_text(json.dumps(note))
    with pytest.raises(CheckpointError, match=r"other versions \(torch 1.0\)"):
        fit(tmp_path)


def test_any_random_state_is_that_of_the_folder(tmp_path):
    X, _, domain = TASK.visible()
    outputs = [fit(tmp_path / "kept", random_state=None)._output(X, domain) for _ in range(2)]
    assert np.array_equal(*outputs)
    assert not np.array_equal(outputs[0], fit(None, random_state=None)._output(X, domain))


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_damaged_note_is_refused(text, tmp_path):
    (tmp_path / "checkpoint.json").write_text(text, encoding="latin-1")
    with pytest.raises(CheckpointError, match=r"checkpoint.json is damaged"):
        fit(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CheckpointError, match="holds other files"):
        fit(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_cannot_be_made_is_refused_before_training(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "kept"):
        with pytest.raises(CheckpointError, match="is a file"):
            fit(path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(CheckpointError, match="not writable"):
        fit(tmp_path / "kept")


def test_what_a_killed_writer_left_is_no_obstacle(tmp_path):
    (tmp_path / ".checkpoint.json.grada-new-0a0b0c0d-.json").write_text("{")
    fit(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint.json",
        "done",
        "training.safetensors",
    ]


def test_refused_input_makes_no_folder(tmp_path):
    with pytest.raises(ValueError, match="epochs"):
        fit(tmp_path / "kept", epochs=-1)
    assert not (tmp_path / "kept").exists()


def test_a_full_disk_is_not_taken_for_the_fault_of_a_candidate(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_state", full)
    method = methods.resolve("auto").set_params(
        portfolio={"network": quick("source-only", epochs=1)}, budget=None
    )
    X, y, domain = TASK.visible()
    model = AdaptedClassifier(method, TASK.graph, checkpoint=tmp_path / "kept")
    with pytest.raises(CheckpointError, match=r"kept cannot be kept: No space left"):
        model.fit(X, y, sample_domain=domain)


@pytest.mark.parametrize("path", ["", None, 3, "a\0b", b"bytes"])
def test_a_wrong_path_is_refused(path):
    with pytest.raises(ValueError, match="path of a folder"):
        Checkpoint(path)


@pytest.mark.parametrize("every", [-1, "5", None, float("nan"), float("inf"), True])
def test_a_wrong_interval_is_refused(every):
    with pytest.raises(ValueError, match="number of seconds"):
        Checkpoint("folder", every)


def test_the_estimator_can_be_cloned(tmp_path):
    model = AdaptedClassifier("grda", checkpoint=Checkpoint(tmp_path, 2.0))
    assert clone(model).checkpoint == model.checkpoint


def twice(x, codes, generator):
    return 2 * x


def test_fingerprints_see_what_matters():
    def layer(value):
        module = nn.Linear(2, 1)
        nn.init.constant_(module.weight, value)
        nn.init.constant_(module.bias, 0.0)
        return module

    frozen = layer(1.0).requires_grad_(False)
    values = [
        layer(1.0),
        layer(2.0),
        frozen,
        twice,
        partial(twice, codes=1),
        lambda x: x * 2,
        lambda x: x * 3,
        np.array([1.0]),
        np.array([1]),
        np.array([[1]]),
        ["ab", "c"],
        ["a", "bc"],
        methods.GRDA(strength=2.0),
        methods.GRDA(strength=1.0),
        methods.DANN(strength=1.0),
        TASK.graph,
        np.random.RandomState(0),
        np.random.RandomState(1),
    ]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint(layer(1.0)) == fingerprint(layer(1.0))
    assert fingerprint(np.random.RandomState(0)) == fingerprint(np.random.RandomState(0))
    loop = []
    loop.append(loop)
    assert fingerprint(loop) == fingerprint(loop)


def test_work_that_is_done_over_is_not_counted_twice(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    clock = checkpoint.Clock()
    now[0] += 3.0
    assert clock() == 3.0
    clock.forward_to(10.0)
    now[0] += 1.0
    assert clock() == 11.0
    clock.forward_to(5.0)
    assert clock() == 11.0
