"""Batch normalisation with statistics, scale and bias of every domain, mixed over the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from grada.nn.neighborhood import Neighborhood, Place

#: How many rows with the statistics of its neighbours are added to the rows of a domain.
SHRINKAGE = 2.0
#: What a domain's running statistics keep of its earlier batches with every new one.
_MEMORY = 0.9
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


class DomainBatchNorm(nn.Module):
    r"""Normalise every row by the statistics of its own domain.

    .. math::
        y = \hat\gamma_u \frac{x - \mu_u}{\sqrt{\sigma^2_u + \epsilon}} + \hat\beta_u, \qquad
        \hat\gamma_u = \sum_v a_{uv} \gamma_v, \quad \hat\beta_u = \sum_v a_{uv} \beta_v

    over the domain and its neighbours, with :math:`a_{uv} \propto A_{uv} + 1_{u = v}`. A domain's
    own scale is :math:`\gamma_v = \gamma + G z_v`, linear in its node embedding, and so is its
    bias: no table has to be swept in every step, and domains without labels get a sensible one
    too. With one-hot embeddings every domain has a free scale and bias.

    A domain with few rows borrows statistics: to its n rows come k (``shrinkage``) more that
    have the statistics of its neighbours,

    .. math::
        \mu_u = \frac{n m_u + k \sum_v b_{uv} \mu'_v}{n + k}, \qquad
        \mu'_v = \frac{n_v m_v + k \bar m}{n_v + k}

    and the same for the variances. The weights b are those of the neighbours that have rows; for
    a domain without such neighbours those of the nearest domains that have, and the average
    :math:`\bar m` of all where no path leads to any. In training the rows of the batch are
    n, and the k are borrowed from the running statistics of the domain, shrunk the same way.

    Parameters
    ----------
    width : int
        Number of channels.
    neighborhood : Neighborhood
        Of the encoder that the layer is part of.
    eps : float
    affine : bool
        Whether there are scale and bias.
    shrinkage : float
        k.

    References
    ----------
    Mancini, Rota Bulò, Caputo, Ricci: AdaGraph: Unifying Predictive and Continuous Domain
    Adaptation Through Graphs. CVPR 2019.
    """

    mean: Tensor
    var: Tensor
    count: Tensor
    overall_mean: Tensor
    overall_var: Tensor
    overall_count: Tensor
    weight: nn.Parameter | None
    bias: nn.Parameter | None

    def __init__(
        self,
        width: int,
        neighborhood: Neighborhood,
        *,
        eps: float = 1e-5,
        affine: bool = True,
        shrinkage: float = SHRINKAGE,
    ):
        super().__init__()
        n_domains, dim = neighborhood.embedding.shape
        self.width = width
        self.eps = eps
        self.shrinkage = shrinkage
        # In a tuple, so that it is not registered once a layer: the encoder owns it.
        self._shared = (neighborhood,)
        self._fresh: tuple[Tensor, Tensor, Tensor] | None = None
        self.register_buffer("mean", torch.zeros(n_domains, width))
        self.register_buffer("var", torch.ones(n_domains, width))
        self.register_buffer("count", torch.zeros(n_domains))
        self.register_buffer("overall_mean", torch.zeros(width))
        self.register_buffer("overall_var", torch.ones(width))
        self.register_buffer("overall_count", torch.zeros(()))
        self.weight = self.bias = None
        if affine:
            self.weight = nn.Parameter(torch.ones(width))
            self.bias = nn.Parameter(torch.zeros(width))
            self.weight_of_domain = nn.Parameter(torch.zeros(dim, width))
            self.bias_of_domain = nn.Parameter(torch.zeros(dim, width))

    def forward(self, x: Tensor) -> Tensor:
        """Normalised rows, of the shape (n, width, ...) they came in."""
        place = self._place(x)
        if self.training:
            mean, var = self._moments(x, place)
            self._remember(place, mean.detach(), var.detach())
            share = self._share(torch.minimum(place.count, self._rows(place.domains)))
            running_mean, running_var = self.statistics(place)
            mean = running_mean + share * (mean - running_mean)
            var = running_var + share * (var - running_var)
        else:
            if self._fresh is not None:
                _merge(self._fresh, place, *self._moments(x, place), memory=1.0)
            mean, var = self.statistics(place)
        scale = (var + self.eps).rsqrt()
        shift = -mean * scale
        if self.weight is not None and self.bias is not None:
            domain = self._shared[0].embedding[place.domains]
            weight = self.weight + domain @ self.weight_of_domain
            scale, shift = scale * weight, shift * weight
            shift = shift + self.bias + domain @ self.bias_of_domain
        return torch.addcmul(_spread(shift, place, x), x, _spread(scale, place, x))

    @torch.no_grad()
    def statistics(self, place: Place) -> tuple[Tensor, Tensor]:
        """Means and variances (D, width) of the domains in a batch as known so far."""
        near, shape = place.neighbor, (len(place.domains), self.width)
        known = self._known(near)
        seen = torch.where(known > 0, place.weight, 0.0)
        total = seen.new_zeros(shape[0]).index_add_(0, place.owner, seen)
        trust = (seen / total[place.owner].clamp(min=1e-12))[:, None] * self._share(known)
        left = 1.0 - trust.new_zeros(shape[0], 1).index_add_(0, place.owner, trust)
        share = self._share(self._known(place.domains))
        estimates = []
        for table, overall in ((self.mean, self.overall_mean), (self.var, self.overall_var)):
            mixed = table.new_zeros(shape).index_add_(0, place.owner, trust * table[near])
            mixed += left * overall
            estimates.append(mixed + share * (table[place.domains] - mixed))
        return estimates[0], estimates[1]

    def begin_pass(self) -> None:
        """Start to collect new statistics from the rows that come by, in eval mode."""
        self._fresh = (
            torch.zeros_like(self.count),
            torch.zeros_like(self.mean),
            torch.zeros_like(self.var),
        )

    def end_pass(self) -> bool:
        """Put them in the place of the old ones; whether any has changed."""
        if self._fresh is None:
            raise RuntimeError("begin_pass must come before end_pass.")
        count, mean, var = self._fresh
        self._fresh = None
        changed = not (torch.equal(mean, self.mean) and torch.equal(var, self.var))
        self.count, self.mean, self.var = count, mean, var
        seen = count > 0
        if seen.any():
            average = self._average(self._known(seen.nonzero()[:, 0]), mean[seen], var[seen])
            self.overall_mean, self.overall_var = average
        return changed

    def _place(self, x: Tensor) -> Place:
        place = self._shared[0].place
        if place is None:
            raise RuntimeError(
                "A domain-specific normalisation was called outside of its encoder, so the "
                "domains of the rows are not known. Call the encoder with rows and codes."
            )
        if len(place.index) != len(x):
            raise ValueError(
                f"A normalisation layer of the encoder got {len(x)} rows where "
                f"{len(place.index)} are encoded. backbone='adagraph' needs an encoder that "
                "keeps the first dimension as it is."
            )
        return place

    def _moments(self, x: Tensor, place: Place) -> tuple[Tensor, Tensor]:
        """Mean and variance (D, width) of each domain in the batch."""
        mean = _domain_mean(x, place)
        return mean, _domain_mean((x - _spread(mean, place, x)).square(), place)

    @torch.no_grad()
    def _remember(self, place: Place, mean: Tensor, var: Tensor) -> None:
        if not len(mean):
            return
        _merge((self.count, self.mean, self.var), place, mean, var, memory=_MEMORY)
        rows = torch.minimum(place.count, self._rows(place.domains))
        self.overall_count.mul_(_MEMORY).add_(1.0)
        share = 1.0 / self.overall_count
        overall_mean, overall_var = self._average(rows, mean, var)
        self.overall_mean.lerp_(overall_mean, share)
        self.overall_var.lerp_(overall_var, share)

    def _average(self, rows: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor]:
        """Average domain: its mean and the variance within domains.

        Domains of one row say nothing about the variance within; if there are only such, the
        variance of all rows has to do.
        """
        rows = rows[:, None]
        trust = self._share(rows[:, 0])
        average = (trust * mean).sum(0) / trust.sum()
        total = (rows * (var + (mean - average).square())).sum(0) / rows.sum()
        return average, ((rows * var).sum(0) + total) / ((rows - 1.0).sum() + 1.0)

    def _rows(self, domains: Tensor) -> Tensor:
        return self._shared[0].rows[domains]

    def _known(self, domains: Tensor) -> Tensor:
        """How many rows the running statistics rest on: one drawn twice counts once."""
        return torch.minimum(self.count[domains], self._rows(domains))

    def _share(self, rows: Tensor) -> Tensor:
        """What a domain's own rows weigh against borrowed ones, n / (n + k)."""
        share: Tensor = (rows / (rows + self.shrinkage).clamp(min=1e-12))[:, None]
        return share

    def extra_repr(self) -> str:
        """Width and number of domains."""
        return f"{self.width}, n_domains={len(self.count)}, shrinkage={self.shrinkage:g}"


def convert_batch_norm(module: nn.Module, neighborhood: Neighborhood) -> nn.Module:
    """Replace every batch normalisation in a module by a domain-specific one.

    Learned scales and biases are taken over as those that all domains share.

    Parameters
    ----------
    module : nn.Module
        Changed in place, unless it is itself a batch normalisation.
    neighborhood : Neighborhood
        Of the encoder that the module becomes part of.

    Returns
    -------
    nn.Module
    """
    new: dict[int, nn.Module] = {}

    def converted(part: nn.Module) -> nn.Module:
        if id(part) not in new:
            new[id(part)] = part
            if isinstance(part, _BATCH_NORMS):
                new[id(part)] = _domain_specific(part, neighborhood)
            # Not named_children(): it leaves out a layer that is used a second time.
            for name, child in part._modules.items():
                if child is not None:
                    part._modules[name] = converted(child)
        return new[id(part)]

    return converted(module)


def has_batch_norm(module: nn.Module) -> bool:
    """Whether there is anything in a module for :func:`convert_batch_norm` to replace."""
    return any(isinstance(part, _BATCH_NORMS) for part in module.modules())


@torch.no_grad()
def refresh_statistics(
    encoder: nn.Module, passes: Callable[[], Iterable[tuple[Tensor, Tensor]]]
) -> None:
    """Work out the statistics of every domain that has rows from all of them.

    In each pass every layer collects the statistics of its inputs while it normalises by those
    of the pass before. After pass i the first i layers, in the order in which the encoder calls
    them, are exact; so there are at most as many passes as layers.

    Parameters
    ----------
    encoder : nn.Module
        Takes rows and the codes of their domains. It is left in eval mode.
    passes : callable
        Every call goes over all rows, batch by batch.
    """
    layers = [layer for layer in encoder.modules() if isinstance(layer, DomainBatchNorm)]
    encoder.eval()
    for _ in layers:
        for layer in layers:
            layer.begin_pass()
        for x, codes in passes():
            encoder(x, codes)
        changed = [layer.end_pass() for layer in layers]
        if not any(changed):
            break


def _domain_specific(
    norm: nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d | nn.SyncBatchNorm,
    neighborhood: Neighborhood,
) -> DomainBatchNorm:
    layer = DomainBatchNorm(norm.num_features, neighborhood, eps=norm.eps, affine=norm.affine)
    if norm.affine:
        layer.weight = norm.weight
        if norm.bias is not None:
            layer.bias = norm.bias
    return layer


def _domain_mean(x: Tensor, place: Place) -> Tensor:
    row = x if x.dim() == 2 else x.flatten(2).mean(2)
    total = row.new_zeros(len(place.domains), row.shape[1]).index_add(0, place.index, row)
    return total / place.count[:, None]


def _spread(values: Tensor, place: Place, x: Tensor) -> Tensor:
    """Values (D, width) of the domains for every row, in a shape that fits x."""
    rows = values.index_select(0, place.index)
    return rows.reshape(*x.shape[:2], *[1] * (x.dim() - 2))


def _merge(
    table: tuple[Tensor, Tensor, Tensor],
    place: Place,
    mean: Tensor,
    var: Tensor,
    *,
    memory: float,
) -> None:
    """Add the rows of a batch to the counts, means and variances of their domains."""
    counts, means, variances = table
    before = memory * counts[place.domains]
    counts[place.domains] = before + place.count
    share = (place.count / (before + place.count))[:, None]
    step = mean - means[place.domains]
    spread = share * (1.0 - share) * step.square()
    variances[place.domains] = torch.lerp(variances[place.domains], var, share) + spread
    means[place.domains] += share * step
