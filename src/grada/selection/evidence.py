r"""From label-free scores and hidden sources to an estimate of how well each candidate does.

The accuracy of a candidate in a target domain is estimated by

.. math:: \hat a = \sigma(b + \sum_s w_s \, l(s) + v \, l(h)), \qquad w, v > 0

with the scores :math:`s` of its predictions in the domain (:class:`LabelFree`), its accuracy
:math:`h` on hidden sources as far from the labels as the domain is, and :math:`l` the logit of a
share that is cut at 0.02 and 0.98. Where no source can be hidden, :math:`h` is the accuracy on rows
that were hidden in the sources, with weights of its own. One set of weights ranks candidates; a
second one, for those that come out first, says how well they do, since who wins looks better than
he is. All were fitted on generated tasks, the tuning part of the zoo;
``python -m benchmarks.evidence_weights`` does it again, measures the estimates on families of tasks
that were left out, and writes ``weights.json``.

The squared error of values is estimated by that on hidden sources, plus what the predictions for
the targets differ more between the candidates than those for hidden sources, times the usual ratio.

The intervals span the 5th to the 95th percentile of the errors of these estimates on the tasks that
were left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grada.selection.scores import LabelFree, consensus
from grada.selection.trials import HeldOut, Trial, hops_from

Floats = NDArray[np.float64]

#: Scores that speak about the accuracy in a domain, in the order of the weights.
CLASS_SCORES = ("agreement", "contact", "smoothness", "balance")
_CUT = 0.02


@dataclass(frozen=True)
class Estimate:
    """Estimated score in each target and overall, with intervals of 90 %.

    Attributes
    ----------
    mean, low, high : arrays of shape (n_targets,)
        Accuracy from 0 to 1; or squared error summed over the outputs, in standard units.
    overall, overall_low, overall_high : float
        Of the mean over targets.
    """

    mean: Floats
    low: Floats
    high: Floats
    overall: float
    overall_low: float
    overall_high: float


def class_features(trial: Trial, lens: LabelFree, yardstick: Trial) -> Floats:
    """Logits of what is known about the accuracy of a candidate in each target.

    Parameters
    ----------
    trial : Trial
    lens : LabelFree
    yardstick : Trial
        Of the plain model. A candidate that was tried on some of the splits only is judged by
        its lead over the plain model there.

    Returns
    -------
    array of shape (n_targets, 4 or 5)
        Scores of the domain and, if labels were hidden, the accuracy there.
    """
    scores, hops = lens.scores(output_of(trial)), target_hops(lens)
    columns = [scores[name] for name in CLASS_SCORES]
    if trial.held_out is not None and yardstick.held_out is not None:
        score = hidden_score(trial.held_out, hops)
        same = yardstick.held_out.first(len(trial.held_out.rows))
        if len(same.rows) < len(yardstick.held_out.rows):
            lead = score - hidden_score(same, hops)
            score = np.clip(hidden_score(yardstick.held_out, hops) + lead, 0, 1)
        columns.append(score)
    return logit(np.stack(columns, axis=1))


def basis(trial: Trial) -> str:
    """What a candidate was tested on: "hidden" sources, "rows" hidden in them, or nothing."""
    if trial.held_out is None:
        return "none hidden"
    return "rows" if trial.held_out.within else "hidden"


def weights_of(tested: str, stage: str) -> Floats:
    """A constant and the weights of the features.

    Parameters
    ----------
    tested : {"hidden", "rows", "none hidden"}
        See :func:`basis`.
    stage : {"rank", "winner"}
        To compare candidates, or to say how well the best of them does.

    Returns
    -------
    array of shape (1 + n_features,)
    """
    return np.array(load_weights()["classification"][tested][stage])


def accuracy(features: Floats, weights: Floats) -> Floats:
    """Estimated accuracy.

    Parameters
    ----------
    features : array of shape (..., n_features)
        See :func:`class_features`.
    weights : array of shape (1 + n_features,)

    Returns
    -------
    array of shape (...)
    """
    return sigmoid(weights[0] + features @ weights[1:])


def hidden_lead(features: Sequence[Floats]) -> Floats:
    """Lead of candidates over the plain model, which comes first, on hidden labels.

    It counts once more beside the estimates when candidates are compared. The weights of these
    are fitted to all candidates in all targets, where what is true of all of them - that a target
    is hard - weighs most; on tuning tasks that were left out, this halved the regret.

    Parameters
    ----------
    features : sequence of arrays of shape (n_targets, n_features)
        Of each candidate.

    Returns
    -------
    array of shape (n_candidates,)
        In accuracy; zero if nothing was hidden.
    """
    if features[0].shape[-1] == len(CLASS_SCORES):
        return np.zeros(len(features))
    right = np.array([sigmoid(each[:, -1]).mean() for each in features])
    lead: Floats = right - right[0]
    return lead


def accuracy_estimate(features: Floats, tested: str) -> Estimate:
    """Estimate for the candidate that was chosen."""
    errors = load_weights()["classification"]["errors"]
    mean = accuracy(features, weights_of(tested, "winner"))
    overall = float(mean.mean())
    low, _, high = (_end(logit(mean) + error) for error in errors["domain"])
    of_all = [float(_end(logit(overall) + error)) for error in errors["overall"]]
    return Estimate(
        mean=mean,
        low=np.minimum(low, mean),
        high=np.maximum(high, mean),
        overall=overall,
        overall_low=min(of_all[0], overall),
        overall_high=max(of_all[2], overall),
    )


def _end(value: Floats) -> Floats:
    """End of an interval as a share; beyond where logits are cut, it is 0 or 1."""
    share = sigmoid(value)
    end: Floats = np.where(share >= 1 - _CUT, 1.0, np.where(share <= _CUT, 0.0, share))
    return end


def error_estimate(held_out: HeldOut | None, surplus: Floats, lens: LabelFree) -> Estimate:
    """Estimate of the squared error in each target.

    Parameters
    ----------
    held_out : HeldOut, optional
        Of the blend that was chosen; without it nothing is known.
    surplus : array of shape (n_targets,)
        What the candidates differ more in a target than in hidden sources.
    lens : LabelFree

    Returns
    -------
    Estimate
    """
    n_targets = len(lens.targets)
    if held_out is None:
        unknown = np.full(n_targets, np.nan)
        return Estimate(unknown, unknown, unknown, np.nan, np.nan, np.nan)
    errors = load_weights()["regression"]["errors"]
    first = hidden_score(held_out, target_hops(lens)) + surplus
    low, mean, high = (first * np.exp(error) for error in errors["domain"])
    of_all = [float(first.mean() * np.exp(error)) for error in errors["overall"]]
    return Estimate(mean, low, high, of_all[1], of_all[0], of_all[2])


def lead_interval(ratio: float) -> tuple[float, float]:
    """Between what the error over the plain model's is with 90 % confidence, where it is expected.

    Parameters
    ----------
    ratio : float
        Expected error of a blend as a multiple of the plain model's.

    Returns
    -------
    low, high : float
        By how far such expectations were off on generated tasks.
    """
    low, _, high = load_weights()["regression"]["errors"]["lead"]
    return ratio * float(np.exp(min(low, 0.0))), ratio * float(np.exp(max(high, 0.0)))


def hidden_score(held_out: HeldOut, hops: Floats) -> Floats:
    """Mean score on hidden sources as seen from domains at these hops, shape of ``hops``.

    A hidden domain weighs exp(-difference of hops).
    """
    _, score, hidden_hops = held_out.per_domain()
    weight = np.exp(-np.abs(hops[:, None] - hidden_hops[None, :]))
    seen: Floats = weight @ score / weight.sum(axis=1)
    return seen


def disagreement(trials: Sequence[Trial], lens: LabelFree) -> tuple[Floats, Floats]:
    """How far candidates are from the median of all, in targets and in hidden sources.

    Parameters
    ----------
    trials : sequence of Trial
        With the same sources hidden.
    lens : LabelFree

    Returns
    -------
    arrays of shapes (n_candidates, n_targets) and (n_candidates,)
    """
    outputs = np.stack([output_of(trial) for trial in trials])
    apart = consensus(outputs, "regression")
    in_targets = np.stack([lens.per_target(each) for each in apart])
    hidden = np.stack([trial.held_out.output for trial in trials if trial.held_out is not None])
    return in_targets, consensus(hidden, "regression").mean(axis=1)


def target_hops(lens: LabelFree) -> Floats:
    """Hops of the targets from the nearest source."""
    return hops_from(lens.data.graph, lens.data.sources)[lens.targets]


@cache
def load_weights() -> Mapping[str, Any]:
    """The weights of the estimates, and where they come from."""
    text = resources.files("grada.selection").joinpath("weights.json").read_text("utf-8")
    weights: Mapping[str, Any] = json.loads(text)
    return weights


def logit(share: Floats | float) -> Floats:
    """Logit of a share that is cut at 0.02 and 0.98."""
    cut = np.clip(share, _CUT, 1 - _CUT)
    transformed: Floats = np.log(cut / (1 - cut))
    return transformed


def sigmoid(value: Floats | float) -> Floats:
    """The other way round."""
    share: Floats = 1 / (1 + np.exp(-np.asarray(value)))
    return share


def output_of(trial: Trial) -> Floats:
    """Predictions of a candidate that was fitted."""
    if trial.output is None:
        raise ValueError(f"{trial.name} has no predictions: {trial.problem}")
    return trial.output
