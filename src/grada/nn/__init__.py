"""Networks: encoders, discriminators, and the losses they are trained on."""

from grada.nn.discriminators import GraphDiscriminator
from grada.nn.encoders import DomainEncoder, Network, mlp
from grada.nn.losses import PairWeights, edge_logits, pair_loss, pair_weights, prediction_loss

__all__ = [
    "DomainEncoder",
    "GraphDiscriminator",
    "Network",
    "PairWeights",
    "edge_logits",
    "mlp",
    "pair_loss",
    "pair_weights",
    "prediction_loss",
]
