"""Graph convolution over the rows of many domains, at the cost of one over the domains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor


def domain_propagation(
    weights: sparse.csr_array[np.float64, tuple[int, int]], counts: NDArray[np.int64]
) -> Tensor:
    r"""What a row of one domain hears of a row of another, summed over all rows of the other.

    .. math::
        P_{uv} = \frac{n_v (A + I)_{uv}}{\sqrt{d_u d_v}}, \qquad d_u = \sum_v n_v (A + I)_{uv}

    This is the operator :math:`\hat D^{-1/2} \hat A \hat D^{-1/2}` of the graph whose nodes are
    the rows, joined with weight 1 within a domain (a row with itself included) and with the weight
    of the edge between domains. All rows of a domain have the same neighbours and the same degree
    :math:`d_u`, so :math:`P` has one line a domain and as many entries as the domains have edges.

    A domain without rows hears what a single row with zero features would hear if it were placed
    there, and nobody hears it: :math:`n_u = 1` on the diagonal and in :math:`d_u`, and 0 elsewhere.

    Parameters
    ----------
    weights : sparse array of shape (n_domains, n_domains)
        Symmetric, with an empty diagonal.
    counts : int array of shape (n_domains,)
        Rows of each domain.

    Returns
    -------
    sparse Tensor of float64, shape (n_domains, n_domains)

    Examples
    --------
    >>> weights = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> domain_propagation(weights, np.array([1, 3])).to_dense()
    tensor([[0.2500, 0.7500],
            [0.2500, 0.7500]], dtype=torch.float64)
    """
    own = np.maximum(counts, 1).astype(np.float64)
    heard = weights.astype(np.float64) @ sparse.diags_array(counts.astype(np.float64))
    joined = (heard + sparse.diags_array(own)).tocoo()
    degree: NDArray[np.float64] = np.asarray(joined.sum(axis=1))
    scaled = joined.data / np.sqrt(degree[joined.row] * degree[joined.col])
    place = np.stack([joined.row, joined.col]).astype(np.int64)
    return torch.sparse_coo_tensor(
        torch.from_numpy(place), torch.from_numpy(scaled), joined.shape, check_invariants=False
    ).coalesce()


def gcn_layer(state: Tensor, propagation: Tensor, linear: Callable[[Tensor], Tensor]) -> Tensor:
    r"""One graph convolution over rows, for all rows of a domain at once.

    .. math:: h'_u = W \sum_v P_{uv} h_v + b

    Every row of domain :math:`u` gets :math:`h'_u` (Theorem C.1 of the paper). Of the rows of a
    domain only the mean counts, so :math:`h_v` is the mean of the features in the first layer and
    the common state of the rows after it.

    Parameters
    ----------
    state : Tensor of shape (n_domains, n_in)
    propagation : sparse Tensor of shape (n_domains, n_domains)
        From :func:`domain_propagation`, in the dtype of ``state``.
    linear : nn.Linear from n_in to n_out, or the like
        The map :math:`x \mapsto W x + b`.

    Returns
    -------
    Tensor of shape (n_domains, n_out)

    Examples
    --------
    >>> propagation = domain_propagation(sparse.csr_array((2, 2)), np.array([5, 0]))
    >>> state = torch.tensor([[2.0], [0.0]]).double()
    >>> gcn_layer(state, propagation, lambda heard: 10.0 * heard + 1.0)
    tensor([[21.],
            [ 1.]], dtype=torch.float64)

    References
    ----------
    Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks. ICLR 2017.
    """
    return linear(torch.sparse.mm(propagation, state))
