r"""What the predictions of candidates for the targets say of their errors there, without a label.

Hidden sources show what candidates did where labels were hidden. The targets may lie elsewhere, and
two things are known of the predictions there:

- what one that knows what it does not know, a Gaussian process, thinks of them
  (:func:`second_opinion`);
- how widely they spread within a domain (:func:`surplus`): values of a spread :math:`s_f` miss
  those of a spread :math:`s_y` by :math:`(s_f - s_y)^2` at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grada.data import DomainData
from grada.selection.evidence import output_of, target_hops
from grada.selection.scores import LabelFree
from grada.selection.trials import MAX_HOPS, Trial

Floats = NDArray[np.float64]

#: Domains with fewer rows say nothing of how widely values spread.
_ENOUGH_ROWS = 8
#: Spreads differ from domain to domain by so much in any case, as a share of themselves,
_LEAST_DIFFERENCE = 0.1
#: and by so much where one domain alone has labels.
_UNKNOWN_DIFFERENCE = 0.5
#: What a logarithm is taken of is not smaller.
_NOTHING = 1e-12


class InTargets(NamedTuple):
    """What is known of the candidates in the targets at one, two, ... hops from the labels.

    Where there are no targets, it is what is known at the nearest number of hops that some have.

    Attributes
    ----------
    opinion : array of shape (12, n_candidates), optional
        See :func:`second_opinion`.
    surplus : array of shape (12, n_candidates)
        See :func:`surplus`.
    doubt : array of shape (12,), optional
        Squared error that a candidate that knows expects of itself.
    """

    opinion: Floats | None
    surplus: Floats
    doubt: Floats | None = None

    @classmethod
    def of(cls, trials: Sequence[Trial], lens: LabelFree) -> InTargets:
        """Of candidates that were fitted, the plain model first."""
        return cls(second_opinion(trials, lens), surplus(trials, lens), _own_doubt(trials, lens))


def second_opinion(trials: Sequence[Trial], lens: LabelFree) -> Floats | None:
    r"""What one that knows what it does not know thinks of all candidates, in the targets.

    A candidate :math:`p` with predictions :math:`f_p` that says itself which squared error
    :math:`v_p` it expects also expects an error of others, :math:`v_p + |f_i - f_p|^2`, from all
    labels.

    Parameters
    ----------
    trials : sequence of Trial
        With sources hidden, the plain model first.
    lens : LabelFree

    Returns
    -------
    array of shape (12, n_candidates), optional
        Logs of the expected errors over the plain model's. None if no candidate knows.
    """
    judge = judge_of(trials)
    if judge is None or judge.doubt is None:
        return None
    missed = [judge.doubt + _square(output_of(trial) - output_of(judge)) for trial in trials]
    expected = np.stack([lens.per_target(each) for each in missed], axis=1)
    logs = np.log(_by_hops(expected, lens) + _NOTHING)
    opinion: Floats = logs - logs[:, :1]
    return opinion


def _own_doubt(trials: Sequence[Trial], lens: LabelFree) -> Floats | None:
    judge = judge_of(trials)
    if judge is None or judge.doubt is None:
        return None
    return _by_hops(lens.per_target(judge.doubt), lens)


def judge_of(trials: Sequence[Trial]) -> Trial | None:
    """The candidate that knows what it does not know, if there is one."""
    return next((trial for trial in trials if trial.doubt is not None), None)


def surplus(trials: Sequence[Trial], lens: LabelFree) -> Floats:
    r"""Squared error that candidates have because their values spread too widely in the targets.

    .. math:: \sum_o \max(s_{uo} - e^{m_o + \tau_o}, 0)^2

    with the spread :math:`s_{uo}` of the values predicted for target :math:`u`, and the mean
    :math:`m_o` and the standard deviation :math:`\tau_o` of the logarithms of the spreads of labels
    within the sources, without what is chance in them. A line whose inputs grow predicts values
    that spread more and more, and nothing near the labels would tell.

    Parameters
    ----------
    trials : sequence of Trial
    lens : LabelFree

    Returns
    -------
    array of shape (12, n_candidates)
    """
    widest = _widest(lens.data)
    codes, found = lens.data.codes[lens.rows], np.zeros((len(lens.targets), len(trials)))
    for row, target in enumerate(lens.targets):
        inside = np.flatnonzero(codes == target)
        if len(inside) < _ENOUGH_ROWS:
            continue
        for column, trial in enumerate(trials):
            too_wide = np.maximum(output_of(trial)[inside].std(axis=0) - widest, 0.0)
            found[row, column] = (too_wide**2).sum()
    return _by_hops(found, lens)


def _widest(data: DomainData) -> Floats:
    """How widely the values of a domain may spread, in each output."""
    logs, chance = [], []
    for source in data.sources:
        rows = data.labelled[data.codes[data.labelled] == source]
        if len(rows) >= _ENOUGH_ROWS:
            logs.append(np.log(data.y[rows].std(axis=0, ddof=1) + _NOTHING))
            chance.append(1 / (2 * (len(rows) - 1)))  # variance of such a logarithm
    if not logs:
        return np.full(data.n_outputs, np.inf)
    square = np.full(data.n_outputs, _UNKNOWN_DIFFERENCE**2)
    if len(logs) > 1:
        square = np.maximum(np.var(logs, axis=0, ddof=1) - np.mean(chance), 0.0)
    widest: Floats = np.exp(np.mean(logs, axis=0) + np.sqrt(square + _LEAST_DIFFERENCE**2))
    return widest


def _by_hops(per_target: Floats, lens: LabelFree) -> Floats:
    """Means over the targets at one, two, ... hops, or at the nearest number that some have."""
    level, steps = np.clip(target_hops(lens), 1, MAX_HOPS), np.arange(1, MAX_HOPS + 1)
    present = np.unique(level)
    nearest = np.abs(steps[:, None] - present).argmin(axis=1)
    means = np.stack([per_target[level == at].mean(axis=0) for at in present])
    return np.asarray(means[nearest])


def _square(difference: Floats) -> Floats:
    """Squared difference of each row, over the outputs."""
    square: Floats = (difference**2).sum(axis=1)
    return square
