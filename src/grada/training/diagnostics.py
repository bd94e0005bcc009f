"""Telling a game that converged from one that only looks like it, and naming what went wrong."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

from grada.training.history import History

#: A discriminator loss this close to its bound counts as being there ...
AT_BOUND = 0.03
#: ... and a retrained discriminator that stays this close to it confirms the alignment.
PROBE_MARGIN = 0.05
#: Below this share of the bound at the end, the encoder never fooled the discriminator.
NOT_FOOLED = 0.8


class AdaptationWarning(UserWarning):
    """Something about the data or the training that a user should know."""


class TrainingError(RuntimeError):
    """The training cannot go on; the message says why and what to do."""


def check_finite(figures: Mapping[str, float], epoch: int) -> None:
    """Stop at the first loss that is NaN or infinite, and name it."""
    for name, value in figures.items():
        if not math.isfinite(value):
            raise TrainingError(
                f"{name} became {value} in epoch {epoch}. Lower learning_rate or strength, set "
                "clip=1.0 if it is off, or look for extreme values in the features."
            )


def plateaued(values: Sequence[float], patience: int, tolerance: float = 1e-3) -> bool:
    """Whether the last ``patience`` values brought no new best by more than ``tolerance``.

    Examples
    --------
    >>> plateaued([3.0, 2.0, 1.0, 1.0, 1.0], patience=2)
    True
    >>> plateaued([3.0, 2.0, 1.0], patience=2)
    False
    """
    if len(values) <= patience:
        return False
    return min(values[-patience:]) > min(values[:-patience]) - tolerance


def settled(history: History, patience: int, probe_loss: float) -> bool:
    """Whether the discriminator loss has stayed for ``patience`` epochs where it cannot be beaten.

    That is at its bound, or at what a retrained one reaches if that is more: when the encoder
    hides things that even a blind discriminator is meant to know.
    """
    losses, bounds = history["discriminator_loss"], history["discriminator_bound"]
    return len(losses) >= patience and all(
        abs(loss - max(bound, probe_loss)) <= AT_BOUND * max(bound, probe_loss)
        for loss, bound in zip(losses[-patience:], bounds[-patience:], strict=True)
    )


def fooled(history: History, patience: int) -> bool:
    """Whether the discriminator has done no better than a blind one for ``patience`` epochs."""
    losses, bounds = history["discriminator_loss"], history["discriminator_bound"]
    return len(losses) >= patience and all(
        loss >= (1.0 - AT_BOUND) * bound
        for loss, bound in zip(losses[-patience:], bounds[-patience:], strict=True)
    )


def aligned(probe_loss: float, bound: float) -> bool:
    """Whether a discriminator retrained on frozen encodings cannot beat the bound."""
    return probe_loss >= (1.0 - PROBE_MARGIN) * bound


def review_game(history: History) -> str | None:
    """What was wrong with the game between encoder and discriminator, with advice, if anything."""
    losses, bound = history["discriminator_loss"], history["discriminator_bound"][-1]
    probe = history["probe_loss"][-1]
    if bound < 1e-6:
        return None
    if losses[-1] < NOT_FOOLED * bound:
        return (
            f"The encoder never fooled the discriminator: its loss ended at {losses[-1]:.3f}, "
            f"clearly below the bound {bound:.3f}, so the domains are not aligned. Raise strength "
            "or epochs, or lower discriminator_learning_rate."
        )
    if not aligned(probe, bound):
        learned = min(losses) < (1.0 - AT_BOUND) * bound
        what = "fell behind" if learned else "never learned"
        return (
            f"The discriminator {what}: its loss ended at {losses[-1]:.3f}, where a blind one has "
            f"{bound:.3f}, but one retrained on the same encodings reaches {probe:.3f}. The "
            "domains are not aligned. Raise discriminator_learning_rate or epochs, or lower "
            "strength or smoothness."
        )
    return None


def warn(history: History, message: str) -> None:
    """Warn once, and keep the message in the history."""
    history.messages.append(message)
    warnings.warn(message, AdaptationWarning, stacklevel=2)
