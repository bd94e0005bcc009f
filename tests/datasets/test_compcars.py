"""CompCars on a small tree in the dataset's own layout, drawn here, from files to predictions."""

import colorsys
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from grada import AdaptedClassifier, methods
from grada.data import ImageRows, UnreadableRowError
from grada.datasets import compcars
from grada.datasets._files import DataNotFoundError
from grada.nn import AlexNet, compute_features, mlp

TYPES = ("MPV", "SUV", "sedan", "hatchback")
VIEWS = ("front", "rear", "side", "front-side", "rear-side")
YEARS = range(2009, 2015)
SHORT = {"steps_per_epoch": 5, "head_start": 5, "probe_every": 100, "width": 16}

pytestmark = pytest.mark.filterwarnings("ignore::grada.AdaptationWarning")


def draw(path: Path, kind: int, view: int, year: int, rng: np.random.Generator) -> None:
    """A car of 48 x 36 pixels: its place and colour tell its type; both shift with the domain."""
    hue = kind / 4 + 0.02 * (year - 2009) + 0.02 * (view - 1)
    pixels = rng.uniform(60, 90, size=(36, 48, 3))
    upper, left = 6 + 10 * (kind // 2) + rng.integers(3), 10 + 12 * (kind % 2) + view
    pixels[upper : upper + 12, left : left + 12] = 255 * np.array(colorsys.hsv_to_rgb(hue, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(path, quality=90)


def add(root: Path, name: str, kind: int, view: int, year: object, rng, model: int = 0) -> Path:
    place = f"7/{model or 10 + kind}/{year}/{name}"
    image, label = root / "image" / f"{place}.jpg", root / "label" / f"{place}.txt"
    draw(image, kind, max(view, 1), year if year in YEARS else 2009, rng)
    label.parent.mkdir(parents=True, exist_ok=True)
    label.write_text(f"{view}\n1\n{9 + view} 5 {40 + view} 33\n")
    return image


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """30 domains with 4 cars, the source and its neighbour with 24; and some that do not count."""
    root = tmp_path_factory.mktemp("compcars")
    rng = np.random.default_rng(0)
    (root / "misc").mkdir()
    lines = ["model_id maximum_speed displacement door_number seat_number type"]
    lines += [f"{10 + kind} 200 1.8 5 5 {kind + 1}" for kind in range(4)] + ["50 0 0 0 0 9"]
    (root / "misc" / "attributes.txt").write_text("\n".join(lines) + "\n")
    for year in YEARS:
        for view in range(1, 6):
            copies = 6 if year <= 2010 and view == 1 else 1
            for n in range(4 * copies):
                add(root, f"{view}-{n}", n % 4, view, year, rng)
    add(root, "truck", 0, 1, 2009, rng, model=50)
    add(root, "old", 0, 1, 2001, rng)
    add(root, "when", 0, 1, "unknown", rng)
    add(root, "whence", 0, -1, 2009, rng)
    return root


@pytest.fixture
def broken(tree, tmp_path) -> Path:
    """A copy to damage; times are kept."""
    return Path(shutil.copytree(tree, tmp_path / "cars"))


@pytest.fixture(scope="module")
def encoder() -> AlexNet:
    return AlexNet("conv")


@pytest.fixture(scope="module")
def features(tree, encoder):
    return compute_features(compcars(tree, image_size=64), encoder)


def test_the_tree_becomes_a_task(tree, monkeypatch):
    monkeypatch.setenv("GRADA_DATA_HOME", str(tree.parent))
    shutil.copytree(tree, tree.parent / "compcars", dirs_exist_ok=True)
    task = compcars(image_size=64)
    assert task.X.shape == (28 * 4 + 2 * 24, 3, 64, 64)
    assert task.sources == ("front 2009",)
    assert set(task.sources + task.targets) == {f"{v} {y}" for v in VIEWS for y in YEARS}
    assert task.metadata["left_out"] == {"other type": 1, "other year": 2, "unknown viewpoint": 1}
    assert task.metadata["skipped"] == 0
    assert task.metadata["year"]["rear-side 2014"] == 2014
    # The label of each row is that of its own file: the model's folder tells the type.
    for path, label, domain in zip(task.X.paths, task.reveal(), task.domain, strict=True):
        model, year, name = Path(path).parts[-3:]
        assert TYPES[int(model) - 10] == label
        assert domain == f"{VIEWS[int(name[0]) - 1]} {year}"
    hidden = task.domain != "front 2009"
    assert all(label is None for label in task.y[hidden])


def test_both_graphs(tree):
    grid, paper = (compcars(tree, graph).graph for graph in ("grid", "paper"))
    assert grid.names == paper.names
    assert (grid.n_edges, paper.n_edges) == (89, 315)
    assert set(grid.neighbors("front 2009")) == {"rear 2009", "front 2010", "rear 2010"}
    assert "front-side 2014" in paper.neighbors("front 2009")  # nearby views, whatever the years
    assert "rear 2010" in paper.neighbors("front 2009")  # nearby years, whatever the views
    assert "rear 2011" not in paper.neighbors("front 2009")
    assert "side 2009" not in grid.neighbors("front 2009")
    assert "rear-side 2014" not in paper.neighbors("front-side 2009")
    with pytest.raises(ValueError, match="'grid' or 'paper'"):
        compcars(tree, "ring")


def test_images_come_when_asked_for(tree):
    rows = compcars(tree, image_size=32).X
    first = rows[:3]
    assert (first.shape, first.dtype) == ((3, 3, 32, 32), np.float32)
    assert rows[[2, 0, 2]] == pytest.approx(first[[2, 0, 2]])
    assert rows[1] == pytest.approx(first[1])
    assert rows.take(np.array([2, 1]))[0] == pytest.approx(first[2])
    assert rows[5:5].shape == (0, 3, 32, 32)
    # The square in the middle (columns 6 to 42 of 48), by hand.
    with Image.open(rows.paths[0]) as image:
        small = image.crop((6, 0, 42, 36)).resize((32, 32), Image.Resampling.BILINEAR)
    by_hand = (np.asarray(small) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(first[0], by_hand.transpose(2, 0, 1), atol=0.05)
    with pytest.raises(IndexError):
        rows[len(rows)]
    with pytest.raises(TypeError, match="compute_features"):
        np.asarray(rows)


def test_cars_are_cut_out_by_their_box(tree):
    rows = compcars(tree, image_size=28, crop="box").X
    with Image.open(rows.paths[0]) as image:  # a front view: columns 10 to 41, from 1, and so on
        small = image.crop((9, 4, 41, 33)).resize((28, 28), Image.Resampling.BILINEAR)
    by_hand = (np.asarray(small) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(rows[0], by_hand.transpose(2, 0, 1), atol=0.05)


def test_features_learned_in_the_source_work_next_door(features):
    X, y, domain = features.visible()
    assert X.shape == (160, 9216)
    for method in ("plain", methods.GRDA(epochs=6, batch_size=24, rows_per_domain=4, **SHORT)):
        model = AdaptedClassifier(method, features.graph, random_state=0)
        scores = features.evaluate(
            model.fit(X, y, sample_domain=domain).predict(X, sample_domain=domain)
        )
        assert scores.per_domain["front 2010"] >= 75.0, scores  # chance is 25
    assert features.metadata["unreadable"] == 0


class Watched(ImageRows):
    """Notes the largest number of images that are decoded at once."""

    most = 0

    def read(self, rows):
        Watched.most = max(Watched.most, len(rows))
        return super().read(rows)


def test_a_network_of_ones_own_learns_from_the_images(tree):
    task = compcars(tree, image_size=24, workers=1)
    X = Watched(task.X.paths, 24, workers=1)
    layer = mlp([108, 16], generator=torch.Generator().manual_seed(0))
    own = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), layer)
    settings = {"batch_size": 12, "domains_per_step": 4, "rows_per_domain": 4} | SHORT
    method = methods.GRDA(encoder=own, epochs=12, learning_rate=1e-2, **settings)
    model = AdaptedClassifier(method, task.graph, random_state=0)
    model.fit(X, task.y, sample_domain=task.domain)
    near = np.flatnonzero(task.domain == "front 2010")
    assert 0 < Watched.most <= 28  # a batch, never the table
    predicted = model.predict(X.take(near), sample_domain=task.domain[near])
    assert np.mean(predicted == task.reveal()[near]) >= 0.75
    with pytest.raises(ValueError, match="compute_features"):
        AdaptedClassifier("grda", task.graph).fit(X, task.y, sample_domain=task.domain)


def test_the_task_can_be_changed_without_decoding(tree, monkeypatch):
    task = compcars(tree, image_size=32)
    monkeypatch.setattr(ImageRows, "read", None)
    shuffled = task.shuffled(0)
    assert shuffled.X.paths.tolist() != task.X.paths.tolist()
    kinds = [TYPES[int(Path(path).parts[-3]) - 10] for path in shuffled.X.paths]
    assert kinds == shuffled.reveal().tolist()
    assert task.with_sources(["rear 2009"]).X.shape == task.X.shape


def test_features_are_kept_until_something_changes(tree, tmp_path, features, encoder, monkeypatch):
    cache = tmp_path / "cache"
    task = compcars(tree, image_size=64)
    first = compute_features(task, encoder, cache=cache)
    np.testing.assert_array_equal(first.X, features.X)
    assert len(list(cache.iterdir())) == 2

    decoded = []
    read = ImageRows.read
    monkeypatch.setattr(ImageRows, "read", lambda self, rows: decoded.append(1) or read(self, rows))
    np.testing.assert_array_equal(compute_features(task, encoder, cache=cache).X, first.X)
    assert not decoded

    def is_decoded_again(task, encoder) -> bool:
        decoded.clear()
        compute_features(task, encoder, cache=cache)
        return bool(decoded)

    small = task._with(rows=np.arange(40))
    assert is_decoded_again(small, encoder)
    assert not is_decoded_again(small, encoder)
    other = AlexNet("conv", random_state=1)
    assert is_decoded_again(small, other)
    photo = Path(small.X.paths[0])
    os.utime(photo, ns=(0, photo.stat().st_mtime_ns + 10**9))
    assert is_decoded_again(small, encoder)
    for array in cache.glob("*.npy"):
        array.write_bytes(array.read_bytes()[:-100])
    assert is_decoded_again(small, encoder)
    for array in cache.glob("*.npy"):
        array.write_bytes(array.read_bytes()[:-4] + b"\0\0\0\1")
    assert is_decoded_again(small, encoder)


def test_a_truncated_photo_is_named_dropped_and_counted(broken, features, encoder, tmp_path):
    rows = compcars(broken, image_size=64).X
    victim = Path(rows.paths[100])  # not in the first batch
    victim.write_bytes(victim.read_bytes()[:-300])  # its header is sound
    task = compcars(broken, image_size=64)
    with pytest.raises(UnreadableRowError, match=str(victim)):
        task.X[98:102]
    for _ in range(2):  # computed, then from the cache
        with pytest.warns(UserWarning, match=f"1 of 160 .*\n  {victim}"):
            computed = compute_features(task, encoder, cache=tmp_path / "cache")
        assert computed.metadata["unreadable"] == 1
        np.testing.assert_allclose(computed.X, np.delete(features.X, 100, axis=0), atol=1e-4)
        assert computed.reveal().tolist() == np.delete(task.reveal(), 100).tolist()
        assert computed.domain.tolist() == np.delete(task.domain, 100).tolist()


def test_few_damaged_files_are_skipped(broken):
    paths = [Path(path) for path in compcars(broken).X.paths[:4]]
    labels = [broken / "label" / path.relative_to(broken / "image") for path in paths]
    labels = [label.with_suffix(".txt") for label in labels]
    paths[0].write_text("no image")
    labels[1].unlink()
    labels[2].write_text("front\n1\n1 1 9 9\n")
    with pytest.warns(UserWarning, match="3 of 161") as caught:
        task = compcars(broken)
    said = str(caught[0].message)
    assert len(caught) == 1
    assert f"{paths[0]}: is no image" in said
    assert f"{labels[1]}: there is no such label file" in said
    assert f"{labels[2]}, line 1: expected a whole number, found 'front'" in said
    assert task.metadata["skipped"] == 3
    assert len(task.X) == 157


def test_a_box_outside_the_photo_is_named(broken):
    photo = Path(compcars(broken).X.paths[0])
    label = broken / "label" / photo.relative_to(broken / "image").with_suffix(".txt")
    label.write_text("1\n1\n90 90 99 99\n")
    with pytest.warns(UserWarning, match=f"{photo}: the box .* does not lie in the image of 48"):
        compcars(broken, crop="box")
    label.write_text("1\n1\n9 9 5\n")
    with pytest.warns(UserWarning, match=f"{label}, line 3: expected 4 whole numbers, found '9 9"):
        compcars(broken, crop="box")


def test_many_damaged_files_are_refused(broken):
    shutil.rmtree(broken / "label" / "7" / "12" / "2009")
    with pytest.raises(UnreadableRowError, match=r"(?s)10 of 161 .* no such label .* and 7 more"):
        compcars(broken)


def test_wrong_folders_are_refused(broken, monkeypatch):
    with pytest.raises(DataNotFoundError, match=r"no image/<make>.*no misc/attributes.txt") as said:
        compcars(broken / "image")
    assert str(broken / "image") in str(said.value)
    monkeypatch.setenv("GRADA_DATA_HOME", str(broken))
    with pytest.raises(DataNotFoundError, match=f"{broken}/compcars is not the folder"):
        compcars()
    shutil.rmtree(broken / "image" / "7")
    with pytest.raises(DataNotFoundError, match="not one photo"):
        compcars(broken)


def test_no_photo_of_the_source(broken):
    for path in broken.glob("image/*/*/2009/1-*.jpg"):
        path.unlink()
    with pytest.raises(DataNotFoundError, match="no photo of the source domain 'front 2009'"):
        compcars(broken)


def test_a_malformed_table_of_types(broken):
    table = broken / "misc" / "attributes.txt"
    table.write_text(table.read_text().replace("12 200 1.8 5 5 3", "12 200 1.8 5 sedan"))
    with pytest.raises(ValueError, match=f"{table}, line 4: expected model_id"):
        compcars(broken)


def test_without_pillow_the_extra_is_named(tree, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match=r"grada\[images\]"):
        compcars(tree)


def test_a_domain_without_photos_stays_in_the_graph(broken):
    for path in broken.glob("image/*/*/2014/5-*.jpg"):
        path.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task = compcars(broken)
    assert "rear-side 2014" in task.graph
    assert "rear-side 2014" not in task.targets
