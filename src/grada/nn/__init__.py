"""Networks: encoders, discriminators, and the losses they are trained on."""

from grada.nn import vgae  # adds its kind to those of DomainGraph.embed
from grada.nn.adagraph import DomainBatchNorm
from grada.nn.alexnet import AlexNet
from grada.nn.discriminators import GraphDiscriminator, SmoothLayers
from grada.nn.encoders import DomainEncoder, Network, mlp
from grada.nn.features import compute_features
from grada.nn.losses import PairWeights, edge_logits, pair_loss, pair_weights, prediction_loss
from grada.nn.neighborhood import Neighborhood

__all__ = [
    "AlexNet",
    "DomainBatchNorm",
    "DomainEncoder",
    "GraphDiscriminator",
    "Neighborhood",
    "Network",
    "PairWeights",
    "SmoothLayers",
    "compute_features",
    "edge_logits",
    "mlp",
    "pair_loss",
    "pair_weights",
    "prediction_loss",
    "vgae",
]
