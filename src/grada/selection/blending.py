r"""Blends of candidates for values: shares that depend on how far a domain is from the labels.

A candidate is expected to have the error

.. math:: \hat e_i(h) = P_{ii}^{1 - \lambda_i} \, J_i(h)^{\lambda_i} + s_i(h)

:math:`h` hops from the labels, with its error :math:`P_{ii}` on hidden sources, the error
:math:`J_i` that a candidate that knows what it does not know, as a Gaussian process does, expects
of it in the targets at these hops, as a multiple of the plain model's
(:func:`grada.selection.targets.second_opinion`), and the error :math:`s_i` that it must have
because its values spread too widely there (:func:`grada.selection.targets.surplus`). Such an
opinion is worth :math:`\lambda` = 40 % for candidates that spread labels over the graph, and 15 %
for others, which may see what it does not, a curve for example.

Where no candidate knows, the log ratio on hidden sources grows by :math:`b_i (h - \bar h)` from
their mean hops :math:`\bar h` on. The trend :math:`b_i` is the slope of that ratio over the hops of
the hidden sources, drawn to 0.15 for candidates that spread labels, and to zero for others, as if
one more source had shown that. A lead may shrink farther than was seen, and does so in the
estimate; it does not grow farther than was seen. The lead of a candidate that spreads labels is not
taken to become a loss: it shrinks by 5 % a hop at most, since what comes from afar fades rather
than misleads.

Shares are means over draws of the hidden sources, so that a single source does not decide. Where a
blend has more than 0.8 times the plain model's error, that model has a part in it, up to 60 %. So
it has where the candidate that knows expects more error of itself in the targets than 0.7 times
what the plain model had on hidden sources, up to 40 % of what candidates that spread labels had:
far from all labels a process falls back on what it thought before it saw any.

Two hidden sources tell one difference between domains, and no more: whether it comes from the
inputs or not, so whether rows are better centred, say, is a toss of a coin. There the plain model
takes the place of candidates that treat domains differently, all of it from 0.6 times its error on,
and none where they have less than 0.3 times that.

The settings were chosen on the zoo's tuning part and on temperatures before 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from grada.selection.targets import InTargets
from grada.selection.trials import MAX_HOPS, HeldOut, Trial

Floats = NDArray[np.float64]

#: The error of a blend has to be so much smaller than the plain model's, as a share of it.
CLEARLY_SMALLER = 0.02
#: From the first ratio on the plain model has a part in every blend: none here, and so much of it
#: where nothing would be gained. Where little is hoped for, little is lost by it, and much if hope
#: fails.
_LITTLE_HOPE, _PLAIN_PART = 0.8, 0.6
#: From the first to the second multiple of the plain model's error on hidden sources, expected in
#: the targets by a candidate that knows, the plain model takes a part of what those that spread
#: labels had: none, and so much of it.
_IN_DOUBT, _LOST, _DOUBTED_PART = 0.7, 2.0, 0.4
#: With two hidden sources, from the first to the second multiple of its error, the plain model
#: takes none and all of what candidates had that treat domains differently and spread no labels.
_TOLD_BY_TWO, _NOT_TOLD_BY_TWO = 0.3, 0.6
#: How much of the log ratio of errors is what one that knows expects in the targets, for candidates
#: that spread labels over the graph and for others; the rest is what hidden sources show.
_OPINION = {True: 0.4, False: 0.15}
#: A share of a blend below this is noise.
_SMALLEST_SHARE = 0.05
#: Candidates with so many times the error of the best usable one are left out of a blend.
_HOPELESS = 3.0
#: Pull of a blend towards equal shares: with few hidden sources the errors are known badly.
_PULL = 0.01
#: A domain that is hard for all candidates does not decide alone: products of errors are divided
#: by this power of the usual error there; what is less than a share of the mean error is no
#: reason to listen to a domain the more.
_EVENED, _NOT_HARD = 0.5, 0.3
#: Trend of the log ratio per hop before anything is seen, of candidates that spread labels over
#: the graph and of others, and how many sources that is worth.
_USUAL_TREND = {True: 0.15, False: 0.0}
_WORTH = 1.0
#: The lead of a candidate that spreads labels shrinks by this share with every hop, at most.
_FADING = 0.05
#: Draws of the hidden sources, with replacement, over which shares are averaged.
_N_DRAWS = 16
#: Power of these means: much of what single draws speak for is chance.
_SHARPER = 1.5
_LARGEST_LOG_RATIO = 3.0
_HEAVY = 1e3
#: Squared error, in standard units, that is none at all.
_NO_ERROR = 1e-12


@dataclass(frozen=True)
class HopBlend:
    """Shares of candidates in domains at one, two, ... hops from the labels.

    Attributes
    ----------
    shares : array of shape (12, n_candidates)
    ratio : array of shape (12,)
        Expected error as a multiple of the plain model's.
    """

    shares: Floats
    ratio: Floats

    @classmethod
    def same_everywhere(cls, shares: Floats) -> HopBlend:
        """One and the same blend at all hops."""
        n_hops = int(MAX_HOPS)
        return cls(np.tile(shares, (n_hops, 1)), np.ones(n_hops))

    def at(self, hops: Floats) -> Floats:
        """Shares in domains or for rows at these hops, shape (n, n_candidates)."""
        return self.shares[_level(hops)]

    def ratio_at(self, hops: Floats) -> float:
        """Mean expected ratio over domains at these hops."""
        return float(self.ratio[_level(hops)].mean()) if len(hops) else 1.0


def blend_by_hops(
    trials: Sequence[Trial],
    *,
    usable: NDArray[np.bool_] | None = None,
    spreading: NDArray[np.bool_] | None = None,
    differing: NDArray[np.bool_] | None = None,
    targets: InTargets | None = None,
) -> HopBlend:
    """The best blend at each number of hops, and the plain model where none is clearly better.

    Parameters
    ----------
    trials : sequence of Trial
        Tested on the same hidden sources, the plain model first.
    usable : bool array of shape (n_candidates,), optional
        Candidates that may have a share; the plain model always may.
    spreading : bool array of shape (n_candidates,), optional
        Candidates that spread labels over the graph; none by default.
    differing : bool array of shape (n_candidates,), optional
        Candidates that spread none, but treat domains differently; none by default.
    targets : InTargets, optional
        What is known of the candidates in the targets. Without an opinion of these, trends over
        the hops of the hidden sources go on.

    Returns
    -------
    HopBlend
    """
    none = np.zeros(len(trials), dtype=bool)
    spreading = none if spreading is None else spreading
    differing = none if differing is None else differing
    hidden = _Hidden(*_by_domain(trials), targets)
    n_hops, rng = int(MAX_HOPS), np.random.default_rng(0)
    drawn = [hidden.draw(rng) for _ in range(_N_DRAWS)]
    expected, lead = (each.expected(spreading) for each in (hidden, hidden.unspread()))
    of_draws = [each.expected(spreading) for each in drawn]
    lead_of_draws = [each.unspread().expected(spreading) for each in drawn]
    shares, ratio = np.zeros((n_hops, len(trials))), np.ones(n_hops)
    shares[:, 0] = 1.0
    for level in range(n_hops):
        # That its values spread too widely is no reason to leave the plain model: a line may be
        # right all the same. It tells those apart that lead without it.
        for shown, draws in ((expected, of_draws), (lead, lead_of_draws)):
            found = _shares_of([each[level] for each in draws], usable)
            reached = [_times_plain(found, each[level]) for each in (expected, lead)]
            if max(reached) <= 1 - CLEARLY_SMALLER:
                hoped = _times_plain(found, shown[level])
                doubted = hidden.doubted_part(level) * float(found[spreading].sum())
                untold = hidden.untold_part(hoped) * float(found[differing].sum())
                part = max(_plain_part(hoped), doubted, untold)
                shares[level] = _with_plain(found, part)
                ratio[level] = _times_plain(shares[level], shown[level])
                break
    return HopBlend(shares, ratio)


def _shares_of(draws: Sequence[Floats], usable: NDArray[np.bool_] | None) -> Floats:
    """Shares over draws of the hidden sources."""
    mean = np.mean([blend(each, usable=usable) for each in draws], axis=0)
    return _without_crumbs(_add_up(mean**_SHARPER))


def blended_held_out(trials: Sequence[Trial], blended: HopBlend) -> HeldOut:
    """Predictions of a blend for hidden sources."""
    parts = [trial.held_out for trial in trials if trial.held_out is not None]
    shares = blended.at(parts[0].hops)
    output = np.einsum("nc,cno->no", shares, np.stack([part.output for part in parts]))
    return replace(parts[0], output=output)


def hidden_errors(trials: Sequence[Trial]) -> Floats:
    """Mean squared error of each candidate on hidden sources, all hidden domains alike."""
    products, count, _ = _by_domain(trials)
    errors: Floats = count @ np.einsum("daa->da", products) / count.sum()
    return errors


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
    able = np.ones(len(errors), dtype=bool) if usable is None else usable.copy()
    able[0] = True
    # The best of those that may have a share: one that may not would leave the others without.
    allowed = able & (errors <= _HOPELESS * errors[able].min())
    allowed[0] = True

    # Non-negative least squares with one more, very heavy equation: the shares add up to one.
    root = np.linalg.cholesky(p[np.ix_(allowed, allowed)] + (_PULL + 1e-9) * np.eye(allowed.sum()))
    equations = np.vstack([root.T, np.full(len(root), _HEAVY)])
    found, _ = nnls(equations, np.append(np.zeros(len(root)), _HEAVY))
    shares = np.zeros(len(products))
    shares[allowed] = found / found.sum()
    return _without_crumbs(shares)


def _without_crumbs(shares: Floats) -> Floats:
    return _add_up(np.where(shares < _SMALLEST_SHARE, 0.0, shares))


def _with_plain(shares: Floats, part: float) -> Floats:
    """With at least so much of the plain model."""
    if shares[0] >= part:
        return shares
    mixed: Floats = shares * (1 - part) / (1 - shares[0])
    mixed[0] = part
    return mixed


def _add_up(shares: Floats) -> Floats:
    scaled: Floats = shares / shares.sum()
    return scaled


def _times_plain(shares: Floats, products: Floats) -> float:
    """Error of a blend over the plain model's, or one: nothing is to be gained without error."""
    plain = float(products[0, 0])
    return float(shares @ products @ shares) / plain if plain > _NO_ERROR else 1.0


def _plain_part(ratio: float) -> float:
    """What a ratio of errors asks for of the plain model."""
    return _PLAIN_PART * min(max(ratio - _LITTLE_HOPE, 0.0) / (1 - _LITTLE_HOPE), 1.0)


@dataclass(frozen=True)
class _Hidden:
    """Errors in hidden sources, see :func:`_by_domain`, and what is known of the targets."""

    products: Floats
    count: Floats
    hops: Floats
    targets: InTargets | None

    def draw(self, rng: np.random.Generator) -> _Hidden:
        """As many of the sources, some of them several times."""
        times = rng.multinomial(len(self.count), np.full(len(self.count), 1 / len(self.count)))
        some = times > 0
        count = (self.count * times)[some]
        return _Hidden(self.products[some], count, self.hops[some], self.targets)

    def unspread(self) -> _Hidden:
        """The same, without what is known of how widely values spread."""
        if self.targets is None:
            return self
        none = np.zeros_like(self.targets.surplus)
        return replace(self, targets=self.targets._replace(surplus=none))

    def doubted_part(self, level: int) -> float:
        """What the plain model takes of candidates that spread labels, as they are in doubt."""
        if self.targets is None or self.targets.doubt is None:
            return 0.0
        plain = float(self.count @ self.products[:, 0, 0] / self.count.sum())
        times = max(float(self.targets.doubt[level]) / (plain + _NO_ERROR), _NO_ERROR)
        way = np.log(times / _IN_DOUBT) / np.log(_LOST / _IN_DOUBT)
        return _DOUBTED_PART * float(np.clip(way, 0.0, 1.0))

    def untold_part(self, ratio: float) -> float:
        """What the plain model takes of candidates that treat domains differently."""
        if round(self.count.sum()) != 2:
            return 0.0
        way = (ratio - _TOLD_BY_TWO) / (_NOT_TOLD_BY_TWO - _TOLD_BY_TWO)
        return min(max(way, 0.0), 1.0)

    def expected(self, spreading: NDArray[np.bool_]) -> Floats:
        """Expected products of errors at one, two, ... hops, shape (12, n, n)."""
        weight = self.count / self.count.sum()
        mean = np.tensordot(weight, _evened(self.products, weight), axes=1)
        errors = np.diag(mean) + _NO_ERROR
        lead = np.log(errors / errors[0])
        opinion = None if self.targets is None else self.targets.opinion
        if opinion is None:
            grown = self._grown_by_trend(spreading, lead, weight)
        else:
            grown = np.where(spreading, _OPINION[True], _OPINION[False]) * (opinion - lead)
        if self.targets is not None:
            grown = grown + np.log1p(self.targets.surplus / (errors * np.exp(grown)))
        size = np.exp(grown / 2)
        expected: Floats = mean * size[:, :, None] * size[:, None, :]
        return expected

    def _grown_by_trend(self, spreading: NDArray[np.bool_], lead: Floats, weight: Floats) -> Floats:
        """What is added to the logs of the errors at one, two, ... hops, shape (12, n)."""
        usual = np.where(spreading, _USUAL_TREND[True], _USUAL_TREND[False])
        slope = _trend(self.products, self.count, self.hops, usual)
        lead = np.where(spreading, np.minimum(lead, 0.0), 0.0)
        all_grown = np.empty((int(MAX_HOPS), len(lead)))
        for level in range(len(all_grown)):
            # A trend that is only thought likely is no lead near the labels: not nearer than seen.
            there = max(level + 1, self.hops.min())
            believed = np.where(slope < 0, min(there, self.hops.max()), there)
            away = believed - weight @ self.hops
            faded = lead * np.expm1(-_FADING * np.maximum(away, 0.0))
            grown = np.where((lead < 0) & (away > 0), np.minimum(slope * away, faded), slope * away)
            all_grown[level] = grown
        return all_grown


def _by_domain(trials: Sequence[Trial]) -> tuple[Floats, Floats, Floats]:
    """Mean products of the errors of every two candidates in each hidden domain.

    A domain that was hidden at several distances counts in part at each of them. Returned are
    arrays of shapes (n, n_candidates, n_candidates), (n,) and (n,): products, counts and hops.
    """
    parts = [trial.held_out for trial in trials if trial.held_out is not None]
    pairs = np.stack([parts[0].codes, parts[0].hops], axis=1)
    seen, group = np.unique(pairs, axis=0, return_inverse=True)
    group = group.ravel()
    missed = np.stack([part.output - parts[0].truth for part in parts])
    products = np.zeros((len(seen), len(parts), len(parts)))
    np.add.at(products, group, np.einsum("ano,bno->nab", missed, missed))
    products /= np.bincount(group)[:, None, None]
    _, domain = np.unique(seen[:, 0], return_inverse=True)
    return products, 1 / np.bincount(domain)[domain], seen[:, 1]


def _evened(products: Floats, weight: Floats) -> Floats:
    """Products of errors, less uneven over the domains."""
    errors = np.einsum("daa->da", products)
    floor = _NOT_HARD * float((weight @ errors).mean()) + _NO_ERROR
    usual = np.log(errors + floor).mean(axis=1)
    scale = np.exp(_EVENED * (usual - weight @ usual))
    evened: Floats = products / scale[:, None, None]
    return evened


def _trend(products: Floats, count: Floats, hops: Floats, usual: Floats) -> Floats:
    """By how much the log ratio of each error to the plain model's grows with every hop."""
    errors = np.einsum("daa->da", products) + _NO_ERROR
    log_ratio = np.log(errors / errors[:, :1]).clip(-_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO)
    weight = count / count.sum()
    away = hops - weight @ hops
    moments = (count * away) @ (log_ratio - weight @ log_ratio)
    slope: Floats = (moments + _WORTH * usual) / (count @ away**2 + _WORTH)
    slope[0] = 0.0  # that of the plain model itself
    return slope


def _level(hops: Floats) -> NDArray[np.intp]:
    return np.clip(hops, 1, MAX_HOPS).astype(np.intp) - 1
