"""AlexNet as an encoder of images, with random weights or those of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

Output = Literal["conv", "fc6", "fc7"]
Layer = TypeVar("Layer", nn.Conv2d, nn.Linear)

#: Smaller images vanish before the last pooling.
SMALLEST = 63
_CONNECTED = {"conv": 0, "fc6": 1, "fc7": 2}


class AlexNet(nn.Module):
    """AlexNet without its last layer: from images to vectors.

    Five convolutions with 64, 192, 384, 256 and 256 channels and two fully connected layers of
    4096, in one tower. The layers have the names and shapes of the checkpoints in common use
    (``features.0.weight``, ..., ``classifier.4.bias``), so that these can be given as ``weights``.

    Parameters
    ----------
    output : {"fc7", "fc6", "conv"}
        Where to stop: after the second or the first fully connected layer (4096 values), or after
        the convolutions (9216 values, and 23 times fewer weights than with both).
    weights : str or path, optional
        File with the weights: ``.safetensors``, or a state dict written by ``torch.save``, which
        is opened without running any code in it. Layers after ``output`` are not looked at.
    random_state : int
        Seed of the weights if no file is given. It has a fixed default, so that features computed
        by one AlexNet and kept on disk are those of the next.

    Examples
    --------
    >>> encoder = AlexNet("conv").eval()
    >>> encoder(torch.zeros(2, 3, 64, 64)).shape
    torch.Size([2, 9216])

    References
    ----------
    Krizhevsky: One weird trick for parallelizing convolutional neural networks. 2014.
    """

    def __init__(
        self,
        output: Output = "fc7",
        *,
        weights: str | Path | None = None,
        random_state: int = 0,
    ):
        super().__init__()
        if output not in _CONNECTED:
            raise ValueError(f"output must be one of {', '.join(_CONNECTED)}; got {output!r}.")
        generator = torch.Generator().manual_seed(random_state)
        self.features = nn.Sequential(
            _conv(3, 64, 11, generator, stride=4, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
            _conv(64, 192, 5, generator, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
            _conv(192, 384, 3, generator, padding=1),
            nn.ReLU(),
            _conv(384, 256, 3, generator, padding=1),
            nn.ReLU(),
            _conv(256, 256, 3, generator, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(6)
        self.classifier = nn.Sequential()
        for n_in in (256 * 6 * 6, 4096)[: _CONNECTED[output]]:
            self.classifier.extend([nn.Dropout(), _linear(n_in, 4096, generator), nn.ReLU()])
        if weights is not None:
            self._load(Path(weights))

    def forward(self, x: Tensor) -> Tensor:
        """Vectors (n, 4096) or (n, 9216) of images (n, 3, height, width)."""
        if x.ndim != 4 or x.shape[1] != 3 or min(x.shape[2:]) < SMALLEST:
            raise ValueError(
                f"AlexNet takes images of shape (n, 3, height, width) with at least {SMALLEST} "
                f"pixels a side; got {tuple(x.shape)}."
            )
        vectors: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return vectors

    def _load(self, path: Path) -> None:
        given, own = _read_weights(path), self.state_dict()
        missing = [name for name in own if name not in given]
        if missing:
            raise ValueError(
                f"{path} holds no weights for {_some(missing)}. It holds: {_some(list(given))}."
            )
        for name, tensor in own.items():
            if given[name].shape != tensor.shape:
                raise ValueError(
                    f"{path}: {name} has shape {tuple(given[name].shape)}, but AlexNet has "
                    f"{tuple(tensor.shape)} there. It is the one-tower layout with 64, 192, 384, "
                    "256 and 256 channels."
                )
        self.load_state_dict({name: given[name] for name in own})


def _read_weights(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file of weights at {path}.")
    content: Any
    try:
        if path.suffix == ".safetensors":
            content = load_file(path)
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files raise nearly anything
        raise ValueError(
            f"{path} cannot be read as weights: it is damaged, or holds more than tensors, and "
            f"nothing else is opened, as it could run code. Save the state dict alone. ({error})"
        ) from error
    if isinstance(content, Mapping) and isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]  # a training checkpoint, with other things beside it
    if not isinstance(content, Mapping) or not content:
        raise ValueError(f"{path} holds no state dict, but a {type(content).__name__}.")
    return {str(name): value for name, value in content.items() if isinstance(value, Tensor)}


def _conv(
    n_in: int, n_out: int, kernel: int, generator: torch.Generator, **options: int
) -> nn.Conv2d:
    # Left empty first: the draw that nn.Conv2d makes itself would use the global seed.
    layer: nn.Conv2d = nn.utils.skip_init(nn.Conv2d, n_in, n_out, kernel, **options)  # type: ignore[no-untyped-call]
    return _drawn(layer, generator)


def _linear(n_in: int, n_out: int, generator: torch.Generator) -> nn.Linear:
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, n_in, n_out)  # type: ignore[no-untyped-call]
    return _drawn(layer, generator)


def _drawn(layer: Layer, generator: torch.Generator) -> Layer:
    # He's scale: signals keep their size through the layers, trained or not.
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
