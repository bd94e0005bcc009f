"""Taking up a training where it was kept: the states of networks, optimisers and generators."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from grada.training.checkpoint import CheckpointError, Kept
from grada.training.history import History

if TYPE_CHECKING:
    from grada.training.trainer import Game


class Training:
    """Keeps the state of a training, and takes it up again.

    Parameters
    ----------
    kept : Kept, optional
        Without it nothing is done.
    game : Game
    rng : numpy Generator
    history : History
    """

    _NAME = "training"

    def __init__(self, kept: Kept | None, game: Game, rng: np.random.Generator, history: History):
        self._kept, self._game, self._rng, self._history = kept, game, rng, history
        self._last = time.monotonic()

    def resume(self) -> bool:
        """Take up the training where it was kept, if it was; whether it was over by then."""
        state = None if self._kept is None else self._kept.load(self._NAME)
        if state is None:
            return False
        try:
            self._rng.bit_generator.state = state["rng"]
            for player, each in zip(self._game.players, state["players"], strict=True):
                restore_optimizer(player.optimizer, each)
            self._game.restore(state["game"])
            self._history.restore(state["history"])
        except (KeyError, ValueError, TypeError, RuntimeError) as error:
            folder = None if self._kept is None else self._kept.folder
            raise CheckpointError(
                f"The checkpoint in {folder} does not fit the networks: {error}. Give another "
                "folder, or delete it."
            ) from error
        return bool(state["over"])

    def epoch_end(self) -> None:
        """Keep the training if it is time to."""
        if self._kept is not None and time.monotonic() - self._last >= self._kept.every:
            self._save(over=False)

    def finish(self) -> None:
        """Keep the end of the training."""
        if self._kept is not None:
            self._save(over=True)

    def _save(self, *, over: bool) -> None:
        assert self._kept is not None
        state = {
            "over": over,
            "rng": self._rng.bit_generator.state,
            "players": [optimizer_state(player.optimizer) for player in self._game.players],
            "game": self._game.state(),
            "history": self._history.state(),
        }
        self._kept.save(self._NAME, state)
        self._last = time.monotonic()


def optimizer_state(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """What an optimiser remembers of each parameter, in order; nothing of those it never moved."""
    state = optimizer.state_dict()
    count = sum(len(group["params"]) for group in state["param_groups"])
    return [dict(state["state"].get(place, {})) for place in range(count)]


def restore_optimizer(optimizer: torch.optim.Optimizer, state: list[dict[str, Any]]) -> None:
    """Have an optimiser remember this instead."""
    whole = optimizer.state_dict()
    count = sum(len(group["params"]) for group in whole["param_groups"])
    if count != len(state):
        raise ValueError(f"{len(state)} parameters instead of {count}")
    whole["state"] = {place: each for place, each in enumerate(state) if each}
    optimizer.load_state_dict(whole)


def module_state(module: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers, also those that ``state_dict`` leaves out."""
    tensors = dict([*module.named_parameters(), *module.named_buffers()])
    return {name: tensor for name, tensor in tensors.items() if tensor.layout == torch.strided}


def restore_module(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Set all parameters and buffers, in place."""
    copy_all(module_state(module), state)


@torch.no_grad()
def copy_all(tensors: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    """Set tensors in place, each to that of the same name."""
    for name in tensors.keys() ^ state.keys():
        raise ValueError(f"{name} is missing on one side")
    for name, tensor in tensors.items():
        if tensor.shape != state[name].shape:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}, not {state[name].shape}")
        tensor.copy_(state[name])


def global_random_state() -> list[Tensor]:
    """Of torch's own generators, which a user's module may draw from."""
    gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return [torch.random.get_rng_state(), *gpus]


def restore_global_random_state(state: list[Tensor]) -> None:
    """Set them."""
    torch.random.set_rng_state(state[0])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state[1:])
