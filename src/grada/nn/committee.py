"""What a committee of augmented views makes of rows without labels, as losses."""

from __future__ import annotations

import torch
from torch import Tensor

from grada.nn.augment import domain_mean

#: Added to the variance of predictions, in standard units: each domain may have one row only.
_SMALLEST_VARIANCE = 0.01


def selective_entropy(views: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    r"""Entropy of a view on rows where the committee agrees, minus entropy where it does not.

    .. math:: \frac1n \sum_i s_i H(p(\tilde x_i)), \qquad s_i = \pm 1

    Parameters
    ----------
    views : Tensor of shape (k, n, n_classes)
        Logits of the augmented views.
    own : Tensor of shape (n, n_classes)
        Logits of the rows themselves.

    Returns
    -------
    scalar Tensor
    Tensor of shape (n,)
        1 where most views name the class that is predicted for the row itself, else 0.

    Examples
    --------
    >>> one_view = torch.zeros(1, 1, 2)
    >>> selective_entropy(one_view, torch.tensor([[1.0, 0.0]]))  # a tie names the first class
    (tensor(0.6931), tensor([1.]))
    >>> selective_entropy(one_view, torch.tensor([[0.0, 1.0]]))
    (tensor(-0.6931), tensor([0.]))
    """
    agree = views.argmax(dim=2) == own.argmax(dim=1)
    consistent = 2 * agree.sum(dim=0) > len(views)
    # The first view on the side of the verdict.
    chosen = (agree == consistent).int().argmax(dim=0)
    log_p = views[chosen, torch.arange(views.shape[1], device=views.device)].log_softmax(dim=1)
    entropy = -(log_p.exp() * log_p).sum(dim=1)
    return torch.where(consistent, entropy, -entropy).mean(), consistent.to(own.dtype)


def class_imbalance(own: Tensor, average: Tensor) -> Tensor:
    """E[sum_c p_c log q_c]: lowest when the classes predicted are those that are rare so far.

    Its gradient is that of minus the entropy of the mean prediction, taken at ``average``.
    """
    return (own.softmax(dim=1) @ average.clamp(min=1e-6).log()).mean()


def selective_spread(
    views: Tensor, own: Tensor, codes: Tensor, tolerance: float
) -> tuple[Tensor, Tensor]:
    r"""What :func:`selective_entropy` is for classes, for values: spread instead of entropy.

    .. math:: \frac1n \sum_i s_i \min(h_i, 2 - h_i), \qquad h_i = \frac{v_i}{4 t^2}, \qquad
              v_i = \frac{1}{k \sigma^2} \sum_j |\tilde f_{ji} - f_i|^2

    with :math:`\sigma^2` the variance of the predictions f around the mean of their domain.

    Parameters
    ----------
    views : Tensor of shape (k, n, m)
    own : Tensor of shape (n, m)
        The gradient flows through these too, so that this is an objective with a minimum and not
        a chase of the views after rows that move along.
    codes : Tensor of shape (n,)
        Domains of the rows.
    tolerance : float

    Returns
    -------
    scalar Tensor
    Tensor of shape (n,)
        1 where the spread is below the square of ``tolerance``, else 0.
    """
    variance = (own - domain_mean(own, codes)).square().mean() + _SMALLEST_VARIANCE
    spread = (views - own).square().mean(dim=(0, 2)) / variance
    consistent = spread < tolerance**2
    height = spread / (2 * tolerance) ** 2
    doubt = torch.minimum(height, 2.0 - height)
    return torch.where(consistent, doubt, -doubt).mean(), consistent.to(own.dtype)


def moment_mismatch(own: Tensor) -> Tensor:
    """Squared distance of mean and deviation of the predictions (n, m) from those of the labels.

    The labels are in standard units: mean zero, deviation one.
    """
    deviation = own.var(dim=0, correction=0).clamp(min=1e-12).sqrt()
    return (own.mean(dim=0).square() + (deviation - 1.0).square()).mean()
