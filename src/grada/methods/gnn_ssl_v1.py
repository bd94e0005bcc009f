"""GNN-SSL-V1: semi-supervised learning on a graph of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from grada.data import DomainData
from grada.methods._base import FittedMethod, Run
from grada.methods._gnn import GraphMethod, GraphNetwork
from grada.nn import mlp
from grada.nn.gcn import domain_propagation, gcn_layer
from grada.training import History


@dataclass(kw_only=True, eq=False, repr=False)
class GNNSSLV1(GraphMethod):
    r"""Graph convolution over rows joined within and between adjacent domains.

    .. math::
        \min_{W, b} \; \mathbb{E}^s[h(h^{(L)}_i, y_i)], \qquad
        h^{(l+1)}_i = \sigma\Big(b^{(l)} + \sum_{j \in N(i)}
        \frac{a_{ij}}{\sqrt{d_i d_j}} W^{(l)} h^{(l)}_j\Big), \qquad d_i = \sum_{j \in N(i)} a_{ij}

    Rows are nodes with their features as :math:`h^{(0)}`; :math:`a_{ij}` is 1 within a domain (the
    row itself included) and the weight of the edge between two domains. All rows of a domain have
    the same neighbours, so **all get the same prediction, whatever their features** (Theorem C.1
    of the paper: exactly 50% where two classes are equally frequent in each domain). It is here
    because the paper compares with it; do not use it where rows of one domain differ in label.

    No edge between rows is ever made: a layer runs over domains
    (:func:`grada.nn.gcn.gcn_layer`), and so does the loss. After one sum per domain a step costs
    what the domains and their edges cost, however many rows there are.

    Further rows get the prediction of their domain. A domain without rows gets what a row of
    average features would hear there from the rows of adjacent domains, and from itself.

    Parameters
    ----------
    layers : int
        Graph convolutions, with ReLU between them; the last one makes the prediction.
    width : int
        Width between them. For the settings of the training see GraphMethod.

    References
    ----------
    Variant 1 in appendix C of Xu et al.: Graph-Relational Domain Adaptation. ICLR 2022.
    Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks. ICLR 2017.
    """

    name: ClassVar[str] = "gnn-ssl-v1"
    citation: ClassVar[str] = (
        "Kipf and Welling, ICLR 2017; as a baseline in Xu et al., Graph-Relational Domain "
        "Adaptation. ICLR 2022"
    )
    one_answer_per_domain: ClassVar[bool] = True

    def _network(self, data: DomainData, run: Run) -> GraphNetwork:
        sizes = self._sizes(data.X.shape[1], data.n_outputs)
        layers = mlp(sizes, generator=run.torch_generator())
        counts = np.bincount(data.codes, minlength=data.graph.n_domains)
        return DomainNetwork(
            [layer for layer in layers if isinstance(layer, nn.Linear)],
            domain_propagation(data.graph.weights, counts),
            _sums(data.codes, data.X, len(counts)) / np.maximum(counts, 1)[:, None],
            DomainLoss(data),
        )


class DomainNetwork(GraphNetwork):
    """Graph convolutions over all rows, one state a domain."""

    propagation: Tensor
    means: Tensor

    def __init__(
        self,
        layers: list[nn.Linear],
        propagation: Tensor,
        means: NDArray[np.float64],
        domain_loss: DomainLoss,
    ):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.domain_loss = domain_loss
        self.register_buffer("propagation", propagation.float())
        self.register_buffer("means", torch.from_numpy(means).float())

    def forward(self) -> list[Tensor]:
        """Mean features of each domain, its state after every hidden layer, and the output."""
        states = [self.means]
        for layer in self.layers:
            state = gcn_layer(states[-1], self.propagation, layer)
            states.append(state if layer is self.layers[-1] else state.relu())
        return states

    def loss(self) -> Tensor:
        """Mean loss over the labelled rows."""
        loss: Tensor = self.domain_loss(self()[-1])
        return loss

    @torch.no_grad()
    def fitted(self, history: History) -> FittedMethod:
        """The states before the last layer, and the outputs."""
        states = self.cpu().double()()
        return FittedDomains(states[-2], states[-1], self.domain_loss.kind, history)


class DomainLoss(nn.Module):
    r"""Mean loss over the labelled rows when all rows of a domain get the same output.

    Cross-entropy of outputs :math:`o`, with :math:`w_{uc}` the weight of the labels :math:`c` in
    domain :math:`u` and :math:`n` the number of labels:
    :math:`-\tfrac1n \sum_{uc} w_{uc} \log \mathrm{softmax}(o_u)_c`. Squared error, with
    :math:`\bar y_u` the weighted mean of the labels:
    :math:`\tfrac1n \sum_u w_u |o_u - \bar y_u|^2 + \tfrac1n \sum_i w_i |y_i - \bar y_{u_i}|^2`,
    averaged over the outputs.
    """

    weight: Tensor
    mean: Tensor
    spread: Tensor

    def __init__(self, data: DomainData):
        super().__init__()
        self.kind = data.kind
        rows, n_domains = data.labelled, data.graph.n_domains
        codes, y = data.codes[rows], data.y[rows]
        share = data.weight[rows].astype(np.float64) / len(rows)
        if data.kind == "classification":
            by_class = sparse.coo_array((share, (codes, y)), shape=(n_domains, data.n_outputs))
            weight, spread = by_class.toarray(), 0.0
            mean = np.zeros((n_domains, 1))
        else:
            share = share[:, None]
            weight = _sums(codes, share, n_domains)
            mean = _sums(codes, share * y, n_domains) / np.where(weight > 0, weight, 1.0)
            spread = float(np.sum(share * (y - mean[codes]) ** 2)) / data.n_outputs
        for name, value in {"weight": weight, "mean": mean, "spread": spread}.items():
            self.register_buffer(name, torch.tensor(value, dtype=torch.float32))

    def forward(self, output: Tensor) -> Tensor:
        """Loss of one output for each domain (n_domains, n_outputs)."""
        if self.kind == "classification":
            return -(self.weight * output.log_softmax(dim=1)).sum()
        return (self.weight * (output - self.mean).square()).mean(dim=1).sum() + self.spread


class FittedDomains(FittedMethod):
    """One encoding and one prediction for each domain."""

    def __init__(self, encodings: Tensor, outputs: Tensor, kind: str, history: History):
        self.encodings = encodings.numpy()
        output = outputs.softmax(dim=1) if kind == "classification" else outputs
        self.predictions = output.numpy()
        self.history = history

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The prediction of each row's domain."""
        return self.predictions[codes]

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The state of each row's domain before the last layer."""
        return self.encodings[codes]


def _sums(codes: NDArray[np.int64], values: NDArray[Any], n_domains: int) -> NDArray[np.float64]:
    """Sum of the values (n, k) of each domain, in double precision."""
    place = (codes, np.arange(len(codes)))
    member = sparse.csr_array((np.ones(len(codes)), place), shape=(n_domains, len(codes)))
    return np.asarray(member @ values.astype(np.float64))
