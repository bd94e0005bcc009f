"""What ``method="auto"`` tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from grada.data import DomainData, Kind
from grada.methods import Method, Plain, Propagation, resolve

#: Name of the model that every other candidate has to beat.
YARDSTICK = "plain"


def default_portfolio(kind: Kind) -> dict[str, Method]:
    """Candidates by name, the quick ones first.

    Parameters
    ----------
    kind : {"classification", "regression"}

    Returns
    -------
    dict of str to Method

    Examples
    --------
    >>> list(default_portfolio("regression"))[:2]
    ['plain', 'plain, domain means']
    """
    quick = {
        YARDSTICK: Plain(),
        "plain, domain means": Plain(append="means"),
        "plain, centred": Plain(per_domain="center"),
        "plain, standardized": Plain(per_domain="standardize"),
        "propagation": Propagation(),
        **{name: resolve(name) for name in _QUICK[kind]},
        # After these, which win more often: on a busy machine trees can take the whole budget.
        "trees": Plain(estimator="gradient-boosting"),
        "trees, standardized": Plain(estimator="gradient-boosting", per_domain="standardize"),
    }
    return quick | {name: resolve(name) for name in _SLOW[kind]}


#: So many domains with labels, and one more, are needed for every mean that is fitted to them,
_DOMAINS_PER_MEAN = 1.5
#: and so many where a candidate has so little of the error of the best other one on hidden sources.
_DOMAINS_OF_LEADER, _CLEAR_LEAD = 1.0, 0.75
#: Other quick candidates that spread labels. None for values: on the tuned kinds ``auto`` was no
#: better with gradual than without, as it was chosen wrongly as often as rightly; docs/trust.md has
#: the regret against it.
_QUICK: Mapping[Kind, Sequence[str]] = MappingProxyType(
    {"classification": ("gradual",), "regression": ()}
)
#: Candidates that train networks: tried last, as long as the budget lasts. None for values: there
#: networks correct the plain model, take far longer than all the others together, and gained less
#: than propagation when they were tried on the tuning tasks.
_SLOW: Mapping[Kind, Sequence[str]] = MappingProxyType(
    {"classification": ("source-only", "grda", "class-aware-grda"), "regression": ()}
)


def is_slow(method: Method) -> bool:
    """Whether a candidate trains a network."""
    return "epochs" in method.get_params(deep=False)


def spreads_labels(method: Method) -> bool:
    """Whether a candidate may carry labels from domain to domain, as the plain models do not."""
    return not isinstance(method, Plain)


def treats_domains_alike(method: Method) -> bool:
    """Whether a candidate looks at nothing but the features of a row.

    Rows that are hidden in a source speak for such a candidate, and for no other: what it does in
    that domain, centred or not, says nothing of what it does in another one.
    """
    plain = isinstance(method, Plain)
    return plain and (method.append, method.per_domain) == ("nothing", "nothing")


def lacks_domains(method: Method, data: DomainData, lead: float = 1.0) -> bool:
    """Whether a candidate fits domain means, and too few domains with labels bear them out.

    With as many means as domains anything can be explained, and now and then hidden domains too,
    by chance. With a few more, a clear lead on hidden domains is hardly chance.

    Parameters
    ----------
    method : Method
    data : DomainData
    lead : float
        Its error on hidden sources over that of the best other candidate.

    Returns
    -------
    bool
        False for candidates that do not look at domain means.
    """
    fits_means = isinstance(method, Plain) and method.append in ("means", "both")
    needed = _DOMAINS_OF_LEADER if lead <= _CLEAR_LEAD else _DOMAINS_PER_MEAN
    return fits_means and len(data.sources) <= needed * int(np.prod(data.X.shape[1:]))


def named_portfolio(
    portfolio: Mapping[str, str | Method] | Sequence[str | Method] | None, data: DomainData
) -> dict[str, Method]:
    """The candidates to try: those given and the plain model, or the default ones.

    Parameters
    ----------
    portfolio : mapping of names to methods, or sequence of names or methods, optional
    data : DomainData

    Returns
    -------
    dict of str to Method
        The plain model first.
    """
    if portfolio is None:
        return default_portfolio(data.kind)
    chosen: dict[str, Method] = {YARDSTICK: Plain()}
    if isinstance(portfolio, Mapping):
        chosen |= {name: resolve(method) for name, method in portfolio.items()}
        if not isinstance(chosen[YARDSTICK], Plain):
            raise ValueError(
                f"{YARDSTICK!r} is the model that the others have to beat: give "
                f"{type(chosen[YARDSTICK]).__name__} another name in the portfolio."
            )
        return chosen
    for entry in portfolio:
        method = resolve(entry)
        name, number = method.name, 2
        if isinstance(entry, str) and entry == YARDSTICK:
            continue
        while name in chosen:
            name, number = f"{method.name} {number}", number + 1
        chosen[name] = method
    return chosen
