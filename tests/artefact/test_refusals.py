"""Damaged, foreign and evil folders are refused in words, and nothing in them is run."""

import hashlib
import io
import json
import os
import pickle
import re
import resource
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import skops.io as sio
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.preprocessing import FunctionTransformer

sys.path.insert(0, str(Path(__file__).parent))
from models import fitted, said, same, table

from grada import AdaptedClassifier, AdaptedRegressor, ArtefactError, artefact, load, methods
from grada.artefact._folder import _checksum, _json, _seal

FILES = ["model.json", "tensors.safetensors", "graph.json", "card.md", "parts.skops"]


@pytest.fixture
def folder(tmp_path):
    fitted("plain", "regression")[0].save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder, change) -> None:
    """Change model.json as somebody would who knows how it is sealed."""
    main = json.loads((folder / "model.json").read_text())
    change(main)
    main["checksum"] = _checksum(main)
    (folder / "model.json").write_bytes(_json(main))


def reseal(folder, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    edit(folder, lambda main: main["files"].update({name: _seal(data)}))


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_cut_and_gap_is_noticed(folder, name):
    whole = (folder / name).read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(len(whole), size=20).tolist():
        changed = bytes([whole[at] ^ 1 << int(rng.integers(8))])
        (folder / name).write_bytes(whole[:at] + changed + whole[at + 1 :])
        with pytest.raises(ArtefactError, match=re.escape(str(folder))):
            load(folder)
        (folder / name).write_bytes(whole[:at])
        with pytest.raises(ArtefactError, match=re.escape(str(folder))):
            load(folder)
    (folder / name).unlink()
    with pytest.raises(ArtefactError, match=f"there is no {name}"):
        load(folder)
    (folder / name).write_bytes(whole)
    load(folder)


def test_a_swapped_tensor_is_noticed(folder, tmp_path):
    other, _ = table(["yes", "no"])
    other.save(tmp_path / "other")
    (folder / "tensors.safetensors").write_bytes(
        (tmp_path / "other" / "tensors.safetensors").read_bytes()
    )
    with pytest.raises(
        ArtefactError, match=r"tensors\.safetensors is damaged or belongs to another"
    ):
        load(folder)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda at: None, "There is no model folder"),
        (lambda at: at.write_text("x"), "is a file"),
        (lambda at: at.mkdir(), r"there is no model\.json"),
        (lambda at: (at.mkdir(), (at / "model.json").write_text("{")), "no valid JSON"),
        (lambda at: (at.mkdir(), (at / "model.json").write_text("[" * 10**6)), "no valid JSON"),
        (lambda at: (at.mkdir(), (at / "model.json").write_text("1" * 10**5)), "no valid JSON"),
        (lambda at: (at.mkdir(), (at / "model.json").write_bytes(b"\xff\xfe{")), "no valid JSON"),
        (lambda at: (at.mkdir(), (at / "model.json").write_text("[1]")), "not one of grada"),
        (lambda at: (at.mkdir(), (at / "model.json").write_text("{}")), "not one of grada"),
        (lambda at: (at.mkdir(), os.mkfifo(at / "model.json")), "no ordinary file"),
        (lambda at: (at.mkdir(), (at / "model.json").mkdir()), "no ordinary file"),
        (lambda at: (at.mkdir(), (at / "model.json").symlink_to("/etc/passwd")), "no ordinary"),
    ],
)
def test_what_is_no_model(tmp_path, make, said):
    make(tmp_path / "x")
    for read in (load, artefact.describe):
        with pytest.raises(ArtefactError, match=said):
            read(tmp_path / "x")


@pytest.mark.parametrize("path", [None, 3, "", "a\0b", "x" * 5000])
def test_what_is_no_path(path):
    with pytest.raises(ArtefactError):
        load(path)


@pytest.mark.parametrize(
    "version",
    [0, artefact.FORMAT_VERSION - 1, artefact.FORMAT_VERSION + 1, 10**400, "5", None, True],
)
def test_another_format_version_is_named(folder, version):
    edit(folder, lambda main: main.update(format_version=version))
    reads = rf"has format version .* this grada reads version {artefact.FORMAT_VERSION}"
    with pytest.raises(ArtefactError, match=reads):
        load(folder)


@pytest.mark.parametrize("key", ["files", "structure", "versions", "checksum"])
def test_missing_keys(folder, key):
    main = json.loads((folder / "model.json").read_text())
    del main[key]
    if key != "checksum":
        main["checksum"] = _checksum(main)
    (folder / "model.json").write_bytes(_json(main))
    with pytest.raises(ArtefactError, match=f"'{key}' is missing"):
        load(folder)


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "..", "a/b.skops", "parts.skops/../../x", "parts.pkl", ""]
)
def test_no_path_leads_out_of_the_folder(folder, name):
    secret = folder.parent / "x"
    secret.write_bytes(b"secret")
    edit(folder, lambda main: main["files"].update({name: _seal(b"secret")}))
    with pytest.raises(ArtefactError, match=r"names the file .* refused"):
        load(folder)


def test_no_link_is_followed(folder):
    data = (folder / "parts.skops").read_bytes()
    (folder.parent / "x").write_bytes(data)
    (folder / "parts.skops").unlink()
    (folder / "parts.skops").symlink_to("../x")
    with pytest.raises(ArtefactError, match=r"parts\.skops is no ordinary file"):
        load(folder)


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


EVIL_NODES = [
    {"object": "os.system", "state": {}},
    {"object": "subprocess.Popen", "state": {"args": "true"}},
    {"object": "builtins.eval", "state": {}},
    {"module": "torch.nn.modules.module.Module", "state": {}},
    {"module": "grada.methods.plain.FittedPlain", "state": {}},
    {"object": "torch.nn.modules.linear.Linear", "state": {}},
    {"object": ["os.system"], "state": {}},
    {"object": "grada.methods.plain.FittedPlain"},
    {"object": "grada.methods.plain.FittedPlain", "state": {}},
    {"object": "grada.methods.plain.FittedPlain", "state": [1]},
    {"call": "os.system"},
    {"same": 99},
    {"same": [1]},
    {"id": 1},
    {},
    [],
    None,
    7,
    {"array": "999"},
    {"array": None},
    {"array": "0", "dtype": "O"},
    {"array": "0", "dtype": "V99999"},
    {"names": ["a"], "shape": [10**30], "dtype": "object"},
    {"names": ["a"], "shape": [1], "dtype": "<U999999999999"},
    {"sparse": "load_npz", "shape": [1, 1], "parts": ["x", "y", "z"]},
    {"sparse": "csr_array", "shape": [10**30, -1], "parts": [1, 2, 3]},
    {"torch dtype": "load"},
    {"device": "../x"},
    {"graph": -1},
    {"graph": 10**30},
    {"scikit-learn": "../x"},
    {"scikit-learn": "card.md"},
    {"scalar": "O", "value": 1},
    {"float": "x"},
    {"dict": [[1]]},
    {"dict": [[{"list": []}, 1]]},
    {"tuple": 3},
    {"RandomState": {"tuple": [1, 2]}},
    {"encoder": "x", "numbers": {}, "replaced": {}, "training": True},
]


@pytest.mark.parametrize("node", EVIL_NODES, ids=[json.dumps(node)[:50] for node in EVIL_NODES])
def test_what_model_json_may_not_name(folder, node, monkeypatch):
    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("ran"))
    edit(folder, lambda main: main.update(structure=node))
    with pytest.raises(ArtefactError):
        load(folder)
    edit(folder, lambda main: main.update(structure={"list": [node, 1]}))
    with pytest.raises(ArtefactError):
        load(folder)


def test_deep_nesting_is_refused(folder):
    node = 1
    for _ in range(900):
        node = {"list": [node]}
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        edit(folder, lambda main: main.update(structure=node))
    finally:
        sys.setrecursionlimit(before)
    with pytest.raises(ArtefactError):
        load(folder)


@pytest.mark.parametrize("name", ["parts.skops", "tensors.safetensors", "graph.json"])
def test_a_planted_pickle_is_not_run(folder, name):
    mark = folder.parent / "ran"
    reseal(folder, name, pickle.dumps(Evil(mark)))
    with pytest.raises(ArtefactError):
        load(folder)
    assert not mark.exists()


def renamed(loader: str, module: str, cls: str) -> bytes:
    """A part as skops writes it, but of another class."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sio.dumps(Ridge()))) as real:
        schema = json.loads(real.read("schema.json"))
    schema |= {"__loader__": loader, "__module__": module, "__class__": cls}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    return file.getvalue()


@pytest.mark.parametrize(
    "named",
    [
        ("ObjectNode", "os", "system"),
        ("FunctionNode", "os", "system"),
        ("FunctionNode", "builtins", "eval"),
        ("TypeNode", "subprocess", "Popen"),
        ("OperatorFuncNode", "operator", "methodcaller"),
        ("MethodNode", "builtins", "str"),
        ("PartialNode", "functools", "partial"),
        ("ConstructorFromReduceNode", "os", "system"),
        ("ObjectNode", "grada.estimators", "AdaptedClassifier"),
        ("ObjectNode", "sklearn.utils._testing", "check_output"),
        ("ObjectNode", "sklearn.ensemble._base", "warn"),
    ],
    ids="-".join,
)
def test_a_part_that_is_not_scikit_learns_is_refused_by_name(folder, named):
    reseal(folder, "parts.skops", renamed(*named))
    with pytest.raises(ArtefactError, match=rf"parts\.skops: it holds .*{named[2]}"):
        load(folder)


def test_a_function_that_skops_wrote_is_refused(folder):
    evil = FunctionTransformer(os.system)
    reseal(folder, "parts.skops", sio.dumps(evil))
    with pytest.raises(ArtefactError, match=r"it holds posix\.system"):
        load(folder)


@pytest.mark.parametrize(
    "saved",
    [b"", b"{}", b'{"graphs": 3}', b'{"graphs": [{"names": [], "edges": []}]}',
     b'{"graphs": [{"names": ["a"], "edges": [["a", "b", 1]]}]}',
     b'{"graphs": [{"names": ["a", "b"], "edges": [["a", "b", 1e999]]}]}'],
)  # fmt: skip
def test_a_graph_that_is_none(folder, saved):
    reseal(folder, "graph.json", saved)
    with pytest.raises(ArtefactError, match=r"graph\.json is malformed"):
        load(folder)


def test_tensors_of_another_shape_or_type(folder):
    fitted("source-only", "regression")[0].save(folder)
    arrays = safetensors.numpy.load_file(folder / "tensors.safetensors")
    half = {name: array.astype(np.float16) for name, array in arrays.items()}
    reseal(folder, "tensors.safetensors", safetensors.numpy.save(half))
    with pytest.raises(ArtefactError, match=r"is of torch\.float16"):
        load(folder)


def test_only_models_are_replaced(tmp_path):
    model, frame = table(["yes", "no"])
    (tmp_path / "model.json").write_text('{"format": "layers-model"}')
    with pytest.raises(FileExistsError, match="holds other files"):
        model.save(tmp_path)
    assert (tmp_path / "model.json").read_text() == '{"format": "layers-model"}'
    model.save(tmp_path / "m")
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds other files"):
        model.save(tmp_path / "m")
    assert (tmp_path / "m" / "notes.txt").read_text() == "mine"
    assert same(said(load(tmp_path / "m"), frame), said(model, frame))


def test_no_room_leaves_the_old_model(tmp_path):
    model, frame = table(["yes", "no"])
    model.save(tmp_path / "m")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot write .*m: .*nothing was left"):
            model.save(tmp_path / "m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    assert same(said(load(tmp_path / "m"), frame), said(model, frame))


class OwnRidge(Ridge):
    pass


def log(X):
    return np.log1p(np.abs(X))


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (methods.Plain(estimator=OwnRidge()), "OwnRidge"),
        (methods.Plain(estimator=FunctionTransformer(log).fit([[0.0]])), "log"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, method, said):
    model = AdaptedRegressor("plain").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    model.method = method
    with pytest.raises(ArtefactError, match=f"{said}"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_an_estimator_that_is_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        AdaptedClassifier("plain").save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_checksum_is_of_the_content():
    assert _seal(b"x") == {"sha256": hashlib.sha256(b"x").hexdigest(), "bytes": 1}
