"""Which candidate, or which blend of candidates: the decision, and the reasons for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from grada.selection.evidence import (
    Estimate,
    accuracy,
    accuracy_estimate,
    class_features,
    disagreement,
    error_estimate,
    output_of,
    target_hops,
)
from grada.selection.intervals import with_temperature
from grada.selection.portfolio import YARDSTICK
from grada.selection.scores import LabelFree
from grada.selection.trials import HeldOut, Trial

Floats = NDArray[np.float64]

#: By how much the estimate of a candidate has to exceed that of the plain model: in accuracy, and
#: as a share of the error.
CLEARLY_BETTER = 0.04
_CLEARLY_SMALLER = 0.03
#: A share of a blend below this is noise.
_SMALLEST_SHARE = 0.05
#: Candidates with so many times the error of the best are left out of a blend.
_HOPELESS = 3.0
#: Pull of a blend towards equal shares: with few hidden sources the errors are known badly.
_PULL = 0.02
#: A candidate that differs from the others so many times more in the targets has gone astray.
_WILD = 20.0
_HEAVY = 1e3
#: Targets so many hops farther from the labels than hidden sources were are far away.
_FAR = 1.5
#: Squared error, in standard units, that is none at all.
_NO_ERROR = 1e-12


@dataclass(frozen=True)
class Choice:
    """What is predicted with, and what is expected of it.

    Attributes
    ----------
    shares : mapping of candidates to shares of the blend, which add up to one
    why : str
        In words.
    rank : mapping of candidates to what they were ranked by
        Estimated accuracy, or estimated squared error.
    estimate : Estimate
        Of the blend in each target.
    held_out : HeldOut, optional
        Predictions of the blend for hidden sources.
    temperature : array of shape (n_domains,)
        For class probabilities.
    ratio : float
        Error on hidden sources as a multiple of the plain model's; one for classes.
    """

    shares: Mapping[str, float]
    why: str
    rank: Mapping[str, float]
    estimate: Estimate
    held_out: HeldOut | None
    temperature: Floats
    ratio: float = 1.0

    @property
    def adapted(self) -> bool:
        """Whether anything but the plain model has a share."""
        return set(self.shares) != {YARDSTICK}


def choose(trials: Sequence[Trial], lens: LabelFree) -> Choice:
    """Decide by the estimates of the candidates that could be fitted.

    Parameters
    ----------
    trials : sequence of Trial
        That of the plain model first.
    lens : LabelFree

    Returns
    -------
    Choice
    """
    usable = [trial for trial in trials if trial.fitted is not None]
    if not len(lens.targets):
        return _keep(
            usable[0], lens, "There is no target, so the plain model is all that is needed."
        )
    if lens.data.kind == "classification":
        return _choose_classifier(usable, lens)
    return _choose_regressor(usable, lens)


def _choose_classifier(trials: Sequence[Trial], lens: LabelFree) -> Choice:
    features = [class_features(trial, lens, trials[0]) for trial in trials]
    rank = np.array([accuracy(each, "rank").mean() for each in features])
    best = int(rank.argmax())
    gain = rank[best] - rank[0]
    clear = bool(gain >= CLEARLY_BETTER)
    chosen = best if clear else 0
    names = [trial.name for trial in trials]
    why = _why_class(names, rank, best, clear=clear, hidden=trials[0].held_out is not None)
    estimate = accuracy_estimate(features[chosen])
    return Choice(
        shares={names[chosen]: 1.0},
        why=why,
        rank=dict(zip(names, rank.tolist(), strict=True)),
        estimate=estimate,
        held_out=trials[chosen].held_out,
        temperature=_temperatures(output_of(trials[chosen]), estimate.mean, lens),
    )


def _why_class(names: Sequence[str], rank: Floats, best: int, *, clear: bool, hidden: bool) -> str:
    by = (
        "hidden sources and the plausibility of the predictions"
        if hidden
        else ("the plausibility of the predictions alone, as no source could be hidden")
    )
    plain = f"{100 * rank[0]:.0f} %"
    if clear:
        return (
            f"{names[best]} has the highest estimate, {100 * rank[best]:.0f} % against {plain} for "
            f"the plain model, judged by {by}."
        )
    return (
        f"No candidate is clearly better than the plain model ({plain}; the best, {names[best]}, "
        f"{100 * rank[best]:.0f} %), judged by {by}. Adaptation is not worth its risk here."
    )


def _choose_regressor(trials: Sequence[Trial], lens: LabelFree) -> Choice:
    no_blend = _keep(
        trials[0],
        lens,
        "No source could be hidden, so nothing speaks for anything but the plain model.",
    )
    if trials[0].held_out is None:
        return no_blend
    tested = [trial for trial in trials if trial.held_out is not None]
    in_targets, in_hidden = disagreement(tested, lens)
    surplus = np.maximum(in_targets - in_hidden[:, None], 0)
    wild = in_targets.mean(axis=1) > _WILD * (in_hidden + lens.data.n_outputs)
    products = _hidden_products(tested)
    far = bool(_hops_beyond(tested[0], lens) > _FAR)
    shares = cautious_blend(products, usable=~wild) if far else blend(products, usable=~wild)
    errors = np.diag(products)
    rank = {trial.name: float(error) for trial, error in zip(tested, errors, strict=True)}
    best = tested[int(shares.argmax())].name
    # Nothing is to be gained where the plain model makes no error.
    reached = float(shares @ products @ shares)
    ratio = reached / float(errors[0]) if errors[0] > _NO_ERROR else 1.0
    if ratio > 1 - _CLEARLY_SMALLER or shares[0] == 1:
        why = (
            "No candidate and no blend has a clearly smaller error on hidden sources than the "
            f"plain model (the best, mostly {best}: {ratio:.2f} times its error). Adaptation is "
            "not worth its risk here."
        )
        estimate = error_estimate(trials[0].held_out, surplus[0], lens)
        return replace(no_blend, why=why, rank=rank, estimate=estimate)
    held_out = blended_held_out(tested, shares)
    return Choice(
        shares={trial.name: float(w) for trial, w in zip(tested, shares, strict=True) if w > 0},
        why=(
            f"The blend (mostly {best}) has {ratio:.2f} times the error of the plain model on "
            "hidden sources."
        ),
        rank=rank,
        estimate=error_estimate(held_out, shares @ surplus, lens),
        held_out=held_out,
        temperature=np.ones(lens.data.graph.n_domains),
        ratio=ratio,
    )


def _hops_beyond(trial: Trial, lens: LabelFree) -> float:
    """How many hops farther from the labels the targets are than the hidden sources were."""
    if trial.held_out is None:
        return 0.0
    return float(target_hops(lens).mean() - trial.held_out.per_domain()[2].mean())


def _keep(plain: Trial, lens: LabelFree, why: str) -> Choice:
    """The plain model; its error is estimated, if it was tested, and its accuracy is not."""
    values = lens.data.kind == "regression" and len(lens.targets) > 0
    known = plain.held_out if values else None
    return Choice(
        shares={plain.name: 1.0},
        why=why,
        rank={},
        estimate=error_estimate(known, np.zeros(len(lens.targets)), lens),
        held_out=plain.held_out,
        temperature=np.ones(lens.data.graph.n_domains),
    )


def blended_held_out(trials: Sequence[Trial], shares: Floats) -> HeldOut | None:
    """Predictions of a blend for hidden sources."""
    parts = [trial.held_out for trial in trials if trial.held_out is not None]
    if not parts:
        return None
    return replace(parts[0], output=np.tensordot(shares, [part.output for part in parts], axes=1))


def _hidden_products(trials: Sequence[Trial]) -> Floats:
    """Mean products of the errors of every two candidates on hidden sources.

    All hidden domains weigh the same.
    """
    parts = [trial.held_out for trial in trials if trial.held_out is not None]
    codes, group = np.unique(parts[0].codes, return_inverse=True)
    weight = 1 / np.bincount(group)[group] / len(codes)
    missed = np.stack([part.output - parts[0].truth for part in parts])
    products: Floats = np.einsum("ano,bno,n->ab", missed, missed, weight)
    return products


def blend(products: Floats, *, usable: NDArray[np.bool_] | None = None) -> Floats:
    r"""Shares of the candidates with the smallest expected error.

    .. math:: \min_{w \ge 0, \, \sum w = 1} w^\top P w / P_{00} + \rho |w|^2

    Parameters
    ----------
    products : array of shape (n, n)
        Mean products of the errors of every two candidates on hidden sources, the plain model
        first.
    usable : bool array of shape (n,), optional
        Candidates that may have a share; the plain model always may.

    Returns
    -------
    array of shape (n,)
        Shares below 0.05 are set to zero.

    Examples
    --------
    >>> blend(np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([0.5, 0.5])
    >>> blend(np.array([[1.0, 0.9], [0.9, 4.0]]))
    array([1., 0.])
    """
    errors = np.diag(products)
    p = products / max(float(errors[0]), _NO_ERROR)
    allowed = errors <= _HOPELESS * errors.min()
    if usable is not None:
        allowed &= usable
    allowed[0] = True

    # Non-negative least squares with one more, very heavy equation: the shares add up to one.
    root = np.linalg.cholesky(p[np.ix_(allowed, allowed)] + (_PULL + 1e-9) * np.eye(allowed.sum()))
    equations = np.vstack([root.T, np.full(len(root), _HEAVY)])
    found, _ = nnls(equations, np.append(np.zeros(len(root)), _HEAVY))
    shares = np.zeros(len(products))
    shares[allowed] = found / found.sum()
    shares[shares < _SMALLEST_SHARE] = 0
    total: Floats = shares / shares.sum()
    return total


def cautious_blend(products: Floats, *, usable: NDArray[np.bool_]) -> Floats:
    r"""Shares by one over the squared error, for targets much farther than hidden sources.

    .. math:: w_i \propto 1 / P_{ii}^2

    There a small error says little about which candidate carries farthest, and less about which
    errors make up for each other.

    Parameters
    ----------
    products : array of shape (n, n)
        See :func:`blend`.
    usable : bool array of shape (n,)
        Candidates that may have a share; the plain model always may.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> cautious_blend(np.diag([1.0, 2.0]), usable=np.array([True, True]))
    array([0.8, 0.2])
    """
    allowed = usable.copy()
    allowed[0] = True
    errors = np.maximum(np.diag(products), 1e-12)
    shares = np.where(allowed, (errors.min() / errors) ** 2, 0.0)
    shares /= shares.sum()
    shares[shares < _SMALLEST_SHARE] = 0
    total: Floats = shares / shares.sum()
    return total


def _temperatures(output: Floats, estimate: Floats, lens: LabelFree) -> Floats:
    """Temperature of each domain at which the mean confidence is the estimated accuracy."""
    grid = np.geomspace(0.1, 20.0, 60)
    sure = np.stack(
        [
            lens.per_target(with_temperature(output, np.full(len(output), t)).max(axis=1))
            for t in grid
        ]
    )
    best = np.abs(sure - estimate).argmin(axis=0)
    # Domains that were not looked at, and those without rows, are like the usual target.
    temperature = np.full(lens.data.graph.n_domains, np.median(grid[best]))
    temperature[lens.data.sources] = 1.0
    temperature[lens.targets] = grid[best]
    return temperature
