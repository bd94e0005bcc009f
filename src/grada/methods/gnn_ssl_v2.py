"""GNN-SSL-V2: semi-supervised learning on a graph of rows and domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from grada.data import DomainData
from grada.methods._base import FittedMethod, Run
from grada.methods._gnn import GraphMethod, GraphNetwork
from grada.methods._neural import (
    _PREDICT_ROWS,
    POSITIVE,
    POSITIVE_REAL,
    _own_seed,
    domain_embedding,
)
from grada.nn import prediction_loss
from grada.training import History


@dataclass(kw_only=True, eq=False, repr=False)
class GNNSSLV2(GraphMethod):
    r"""Graph convolution over rows and domains: rows joined to their domain, domains to neighbours.

    .. math::
        \min_{W, b} \; \mathbb{E}^s[h(h^{(L)}_i, y_i)], \qquad
        h^{(l+1)}_i = \sigma\Big(b^{(l)} + \sum_{j \in N(i)}
        \frac{a_{ij}}{\sqrt{d_i d_j}} W^{(l)} h^{(l)}_j\Big), \qquad d_i = \sum_{j \in N(i)} a_{ij}

    Rows and domains are nodes; :math:`a_{ij}` is 1 between a row and its domain, the weight of
    the edge between two domains, and ``self_weight`` for a node with itself. Of the features of a
    node, the first part is the domain's and the second the row's: :math:`h^{(0)} = (z_u, 0)` for a
    domain, with the node embedding :math:`z_u` that all methods are given, and :math:`(0, x)` for
    a row. A domain without rows is a node like any other. Memory and a step cost what rows and
    edges together cost.

    A further row is attached to its domain as a leaf: it hears the states that the domains had in
    the fitted graph, and nobody hears it. So its prediction does not depend on the other rows
    asked about, and a row of the fit gets what it got in the fit.

    Needs ``pip install "grada[gnn]"``.

    Parameters
    ----------
    self_weight : float
        What a node counts for itself; 1 is Kipf and Welling's. Over three layers a row then hears
        the mean of its domain four times as loud as itself, and means that differ by chance move
        the predictions. At 3 the two are about equal.
    embedding : str
        Node embedding of the domains, see :meth:`grada.DomainGraph.embed`.
    embedding_dim : int, optional
        Its dimension; by default it grows slowly with the number of domains.
    layers : int
        Graph convolutions, with ReLU between them; the last one makes the prediction. A row hears
        the rows of its own domain from two layers on, and those of adjacent domains from three.
    width : int
        Width between them. For the settings of the training see GraphMethod.

    References
    ----------
    Variant 2 in appendix C of Xu et al.: Graph-Relational Domain Adaptation. ICLR 2022.
    Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks. ICLR 2017.
    """

    layers: int = 3
    self_weight: float = 3.0
    embedding: str = "reconstruction"
    embedding_dim: int | None = None

    name: ClassVar[str] = "gnn-ssl-v2"
    citation: ClassVar[str] = (
        "Kipf and Welling, ICLR 2017; as a baseline in Xu et al., Graph-Relational Domain "
        "Adaptation. ICLR 2022"
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **GraphMethod._parameter_constraints,
        "self_weight": [POSITIVE_REAL],
        "embedding": [str],
        "embedding_dim": [POSITIVE, None],
    }

    def _network(self, data: DomainData, run: Run) -> GraphNetwork:
        gcn = _torch_geometric_gcn()
        embedding = domain_embedding(data, self.embedding, self.embedding_dim, run)
        x = torch.from_numpy(data.X)
        features = torch.cat([F.pad(embedding, (0, x.shape[1])), F.pad(x, (embedding.shape[1], 0))])
        # GCNConv draws its initial weights from the global generator.
        with _own_seed(run.random_state, needed=True):
            layers = [
                gcn.GCNConv(n_in, n_out, normalize=False)
                for n_in, n_out in pairwise(self._sizes(features.shape[1], data.n_outputs))
            ]
        # Normalised once, not in every layer of every step.
        edges, weight = gcn.gcn_norm(
            *row_domain_edges(data, self.self_weight), len(features), add_self_loops=False
        )
        return RowDomainNetwork(layers, features, edges, weight, data, self.self_weight)


class RowDomainNetwork(GraphNetwork):
    """Graph convolutions over domains and rows; the domains are the first nodes."""

    features: Tensor
    edges: Tensor
    edge_weight: Tensor
    labelled: Tensor
    y: Tensor
    weight: Tensor

    def __init__(
        self,
        layers: list[nn.Module],
        features: Tensor,
        edges: Tensor,
        edge_weight: Tensor,
        data: DomainData,
        self_weight: float,
    ):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.kind = data.kind
        self.self_weight = self_weight
        counts = np.bincount(data.codes, minlength=data.graph.n_domains)
        self.domain_degree = self_weight + counts + data.graph.weights.sum(axis=1)
        rows = data.labelled
        buffers = {
            "features": features,
            "edges": edges,
            "edge_weight": edge_weight,
            "labelled": torch.from_numpy(rows + data.graph.n_domains),
            "y": torch.from_numpy(data.y[rows]),
            "weight": torch.from_numpy(data.weight[rows]),
        }
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self) -> list[Tensor]:
        """Features of all nodes, their state after every hidden layer, and the output."""
        states = [self.features]
        for layer in self.layers[:-1]:
            states.append(layer(states[-1], self.edges, self.edge_weight).relu())
        return [*states, self.layers[-1](states[-1], self.edges, self.edge_weight)]

    def loss(self) -> Tensor:
        """Mean loss over the labelled rows."""
        return prediction_loss(self()[-1][self.labelled], self.y, self.weight, self.kind)

    @torch.no_grad()
    def fitted(self, history: History) -> FittedMethod:
        """The linear maps, and what each domain tells its rows in every layer."""
        states = self.cpu().double()()
        n_domains = len(self.domain_degree)
        row_degree = 1.0 + self.self_weight
        scale = torch.from_numpy(1.0 / np.sqrt(row_degree * self.domain_degree))[:, None]
        layers: list[Any] = list(self.layers)
        return FittedLeaves(
            [(layer.lin.weight.detach(), layer.bias.detach()) for layer in layers],
            [scale * state[:n_domains] for state in states[:-1]],
            self.self_weight / row_degree,
            self.kind,
            history,
        )


class FittedLeaves(FittedMethod):
    """Attaches each row to its domain as a leaf of the fitted graph."""

    def __init__(
        self,
        layers: list[tuple[Tensor, Tensor]],
        told: list[Tensor],
        kept: float,
        kind: str,
        history: History,
    ):
        self.layers = layers
        self.told = told
        self.kept = kept
        self.kind = kind
        self.history = history

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values, batch by batch."""
        output = self._states(X, codes)[1]
        return (output.softmax(dim=1) if self.kind == "classification" else output).numpy()

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """State of each row before the last layer."""
        return self._states(X, codes)[0].numpy()

    @torch.no_grad()
    def _states(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """State before the last layer, and after it."""
        parts = []
        for start in range(0, max(len(X), 1), _PREDICT_ROWS):
            rows = slice(start, start + _PREDICT_ROWS)
            x, places = torch.from_numpy(X[rows]).double(), torch.from_numpy(codes[rows])
            before, output = x, F.pad(x, (self.told[0].shape[1] - x.shape[1], 0))
            for index, ((weight, bias), told) in enumerate(
                zip(self.layers, self.told, strict=True)
            ):
                before = output.relu() if index else output
                output = F.linear(self.kept * before + told[places], weight, bias)
            parts.append((before, output))
        befores, outputs = zip(*parts, strict=True)
        return torch.cat(befores), torch.cat(outputs)


def row_domain_edges(data: DomainData, self_weight: float) -> tuple[Tensor, Tensor]:
    """Edges (2, n_edges), each both ways, and their weights; domains are the first nodes."""
    links = data.graph.weights.tocoo()
    row = data.graph.n_domains + np.arange(len(data.codes))
    node = np.arange(data.graph.n_domains + len(row))
    edges = [
        np.concatenate([row, data.codes, links.row, node]),
        np.concatenate([data.codes, row, links.col, node]),
    ]
    loops = np.full(len(node), self_weight)
    weight = np.concatenate([np.ones(2 * len(row)), links.data, loops])
    return torch.from_numpy(np.stack(edges)), torch.from_numpy(weight).float()


def _torch_geometric_gcn() -> Any:
    """The module with GCNConv; an extra, so it is not imported before it is needed."""
    try:
        from torch_geometric.nn.conv import gcn_conv
    except ImportError as error:
        raise ImportError(
            "Method 'gnn-ssl-v2' needs torch_geometric: pip install \"grada[gnn]\"."
        ) from error
    return gcn_conv
