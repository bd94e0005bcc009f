"""A player: parameters with a loss and an optimiser of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class Player:
    """One side of the game.

    Its gradient comes from its own loss only: whatever else the loss touches (another player's
    network, say) is differentiated through but never moved.

    Parameters
    ----------
    name : str
        Its loss appears in the history as ``<name>_loss``.
    parameters : iterable of nn.Parameter
    loss : callable
        From the step that was dealt to a scalar tensor.
    learning_rate : float
    clip : float, optional
        Largest norm of the gradient; None leaves it as it is.
    """

    def __init__(
        self,
        name: str,
        parameters: Iterable[nn.Parameter],
        loss: Callable[[Any], Tensor],
        *,
        learning_rate: float,
        clip: float | None = None,
    ):
        self.name = name
        self.parameters = [p for p in parameters if p.requires_grad]
        self.loss = loss
        self.learning_rate = learning_rate
        self.clip = clip
        # The fused update is one call for all parameters: on small networks the optimiser
        # would otherwise cost as much as the gradient.
        self.optimizer = torch.optim.Adam(self.parameters, lr=learning_rate, fused=True)

    def update(self, step: Any) -> Tensor:
        """Take one optimiser step on this player's own loss, and return that loss."""
        loss = self.loss(step)
        gradients = torch.autograd.grad(loss, self.parameters, allow_unused=True)
        scale = self._clipping(gradients)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            # Multiplied into a new tensor: what autograd returns may share its memory.
            parameter.grad = gradient if gradient is None or scale == 1.0 else gradient * scale
        self.optimizer.step()
        return loss.detach()

    def _clipping(self, gradients: Sequence[Tensor | None]) -> float:
        """Factor that brings the norm of all gradients together down to ``clip``."""
        if self.clip is None:
            return 1.0
        norm = float(nn.utils.get_total_norm([g for g in gradients if g is not None]))
        return self.clip / norm if norm > self.clip else 1.0

    def scale_learning_rate(self, factor: float) -> None:
        """Set the learning rate to ``factor`` times the initial one."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * factor
