import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from grada.nn import AlexNet

#: Names and shapes of the common one-tower checkpoints, without the layer of the 1000 classes.
LAYOUT = {
    "features.0": (64, 3, 11, 11),
    "features.3": (192, 64, 5, 5),
    "features.6": (384, 192, 3, 3),
    "features.8": (256, 384, 3, 3),
    "features.10": (256, 256, 3, 3),
    "classifier.1": (4096, 9216),
    "classifier.4": (4096, 4096),
}


def test_layers_are_those_of_the_common_checkpoints():
    shapes = {name: tuple(tensor.shape) for name, tensor in AlexNet().state_dict().items()}
    expected = {f"{name}.weight": shape for name, shape in LAYOUT.items()}
    expected |= {f"{name}.bias": shape[:1] for name, shape in LAYOUT.items()}
    assert shapes == expected
    # The usual 224 pixels leave 6 x 6 after the last pooling, as in the paper by that name.
    assert AlexNet("conv").features(torch.zeros(1, 3, 224, 224)).shape == (1, 256, 6, 6)


def test_random_weights_come_from_the_random_state_alone():
    before = torch.get_rng_state()
    one, same, other = (AlexNet("conv", random_state=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    x = torch.randn(2, 3, 63, 80, generator=torch.Generator().manual_seed(0))
    assert torch.equal(one(x), same(x))
    assert not torch.equal(one(x), other(x))
    assert 0.1 < one(x).std() < 10  # signals neither die out nor explode


@pytest.mark.parametrize("form", ["weights.pth", "weights.safetensors", "checkpoint.pth"])
def test_weights_of_a_file(tmp_path, form):
    given = AlexNet("conv", random_state=5)
    state = given.state_dict() | {"classifier.6.weight": torch.zeros(1000, 4096)}
    path = tmp_path / form
    if path.suffix == ".safetensors":
        save_file(state, path)
    else:
        torch.save({"state_dict": state, "epoch": 3} if form[0] == "c" else state, path)
    loaded = AlexNet("conv", weights=path).state_dict()
    assert all(torch.equal(loaded[name], state[name]) for name in loaded)


def test_weights_that_do_not_fit_are_named(tmp_path):
    state = AlexNet("conv").state_dict()
    path = tmp_path / "weights.pth"
    torch.save(state, path)
    with pytest.raises(ValueError, match=r"no weights for classifier.1.weight, classifier.1.bias"):
        AlexNet("fc6", weights=path)
    torch.save(state | {"features.3.weight": torch.zeros(256, 96, 5, 5)}, path)
    with pytest.raises(ValueError, match=r"features.3.weight has shape \(256, 96, 5, 5\)"):
        AlexNet("conv", weights=path)
    torch.save([1, 2], path)
    with pytest.raises(ValueError, match="no state dict, but a list"):
        AlexNet("conv", weights=path)
    path.write_bytes(b"no weights at all")
    with pytest.raises(ValueError, match=f"{path} cannot be read as weights"):
        AlexNet("conv", weights=path)
    with pytest.raises(FileNotFoundError, match=r"nowhere.pth"):
        AlexNet("conv", weights=tmp_path / "nowhere.pth")


class Trap:
    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("write", [torch.save, lambda thing, path: path.write_bytes(thing)])
def test_code_in_a_file_of_weights_is_not_run(tmp_path, write):
    path, sprung = tmp_path / "weights.pth", tmp_path / "sprung"
    trap = {"features.0.weight": Trap(sprung)}
    write(trap if write is torch.save else pickle.dumps(trap, protocol=2), path)
    with pytest.raises(ValueError, match="could run code"):
        AlexNet("conv", weights=path)
    assert not sprung.exists()


def test_images_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match=r"at least 63 pixels a side; got \(1, 3, 62, 80\)"):
        AlexNet("conv")(torch.zeros(1, 3, 62, 80))
