"""The one training loop, its players, callbacks and history."""

from grada.training.callbacks import Callback, Progress
from grada.training.checkpoint import Checkpoint, CheckpointError
from grada.training.diagnostics import AdaptationWarning, TrainingError
from grada.training.history import History
from grada.training.players import Player
from grada.training.trainer import Game, SoloGame, Trainer

__all__ = [
    "AdaptationWarning",
    "Callback",
    "Checkpoint",
    "CheckpointError",
    "Game",
    "History",
    "Player",
    "Progress",
    "SoloGame",
    "Trainer",
    "TrainingError",
]
