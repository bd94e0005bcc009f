"""Which candidate, or which blend of candidates: the decision, and the reasons for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grada.selection.blending import (
    CLEARLY_SMALLER,
    HopBlend,
    blend_by_hops,
    blended_held_out,
    hidden_errors,
)
from grada.selection.evidence import (
    Estimate,
    accuracy,
    accuracy_estimate,
    basis,
    class_features,
    disagreement,
    error_estimate,
    hidden_lead,
    lead_interval,
    output_of,
    target_hops,
    weights_of,
)
from grada.selection.intervals import with_temperature
from grada.selection.portfolio import (
    YARDSTICK,
    is_slow,
    lacks_domains,
    spreads_labels,
    treats_domains_alike,
)
from grada.selection.scores import LabelFree
from grada.selection.targets import InTargets, judge_of
from grada.selection.trials import HeldOut, Trial

Floats = NDArray[np.float64]

#: By how much the standing of a candidate has to exceed that of the plain model, in accuracy.
CLEARLY_BETTER = 0.04
#: Networks are tested once only, and never were much better than all quick candidates on the
#: tuning tasks: they have to lead these by so much.
_NETWORKS_BEHIND = 0.05
#: A candidate that does so much worse on the labels it was given than the plain model has not
#: learned enough; asked only where no source can be hidden.
_MUCH_WORSE = 0.1
#: A candidate that differs from the others so many times more in the targets has gone astray.
_WILD = 20.0
#: It is said that the choice was hardly tested if it differs from other candidates so many times
#: more in the targets than in hidden sources, and by so much of the error there.
_UNTESTED = 3.0
_MATTERS = 0.1


@dataclass(frozen=True)
class Choice:
    """What is predicted with, and what is expected of it.

    Attributes
    ----------
    shares : mapping of candidates to shares of the blend, which add up to one
        Means over the targets.
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
        Expected error as a multiple of the plain model's; one for classes.
    blended : HopBlend, optional
        Shares of the same candidates by the hops of a domain, if they depend on these.
    """

    shares: Mapping[str, float]
    why: str
    rank: Mapping[str, float]
    estimate: Estimate
    held_out: HeldOut | None
    temperature: Floats
    ratio: float = 1.0
    blended: HopBlend | None = None

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
    tested = basis(trials[0])
    weights = weights_of(tested, "rank")
    rank = np.array([accuracy(each, weights).mean() for each in features])
    lead = hidden_lead(features)
    standing = rank + lead - _NETWORKS_BEHIND * np.array([is_slow(each.method) for each in trials])
    if tested != "hidden":
        right = np.array([_known_right(trial, lens) for trial in trials])
        standing = np.where(right < right[0] - _MUCH_WORSE, 0.0, standing)
    best = int(standing.argmax())
    clear = bool(standing[best] - standing[0] >= CLEARLY_BETTER)
    chosen = best if clear else 0
    names = [trial.name for trial in trials]
    why = _why_class(names, rank, lead, best, clear=clear, tested=tested)
    estimate = accuracy_estimate(features[chosen], tested)
    return Choice(
        shares={names[chosen]: 1.0},
        why=why,
        rank=dict(zip(names, rank.tolist(), strict=True)),
        estimate=estimate,
        held_out=_hidden_domains(trials[chosen]),
        temperature=_temperatures(output_of(trials[chosen]), estimate.mean, lens),
    )


def _known_right(trial: Trial, lens: LabelFree) -> float:
    """Share of the known labels which a candidate gets right, of hidden rows if there are any."""
    if trial.held_out is not None:
        return float(trial.held_out.score.mean())
    known = lens.data.weight[lens.rows] > 0
    right = output_of(trial)[known].argmax(axis=1) == lens.data.y[lens.rows][known]
    return float(right.mean()) if len(right) else 1.0


_JUDGED_BY = {
    "hidden": "hidden sources and the plausibility of the predictions",
    "rows": "rows hidden in the sources and the plausibility of the predictions, as no whole "
    "source could be hidden",
    "none hidden": "the plausibility of the predictions alone, as no source could be hidden",
}


def _why_class(
    names: Sequence[str], rank: Floats, lead: Floats, best: int, *, clear: bool, tested: str
) -> str:
    by, own, plain = _JUDGED_BY[tested], f"{100 * rank[best]:.0f} %", f"{100 * rank[0]:.0f} %"
    if clear:
        ahead = f", and {100 * lead[best]:+.0f} points on hidden labels" if lead.any() else ""
        return (
            f"{names[best]} comes out first, with an estimate of {own} against {plain} for the "
            f"plain model{ahead}, judged by {by}."
        )
    return (
        f"No candidate is clearly better than the plain model ({plain}; the best, {names[best]}, "
        f"{own}), judged by {by}. Adaptation is not worth its risk here."
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
    spreading = np.array([spreads_labels(trial.method) for trial in tested])
    alike = np.array([treats_domains_alike(trial.method) for trial in tested])
    errors = hidden_errors(tested)
    lacking = np.array(
        [
            lacks_domains(trial.method, lens.data, lead)
            for trial, lead in zip(tested, _leads(errors), strict=True)
        ]
    )
    found = blend_by_hops(
        tested,
        usable=~wild & ~lacking & (alike | (not trials[0].held_out.within)),
        spreading=spreading,
        differing=~spreading & ~alike,
        targets=InTargets.of(tested, lens),
    )
    rank = {trial.name: float(error) for trial, error in zip(tested, errors, strict=True)}
    hops = target_hops(lens)
    shares, ratio = found.at(hops), found.ratio_at(hops)
    mean_shares = shares.mean(axis=0)
    if mean_shares[0] == 1 or ratio > 1 - CLEARLY_SMALLER:
        why = (
            "No candidate and no blend has a clearly smaller error on hidden sources than the "
            "plain model. Adaptation is not worth its risk here."
        ) + _untested(in_targets[0], in_hidden[0], rank[YARDSTICK])
        estimate = error_estimate(_hidden_domains(trials[0]), surplus[0], lens)
        return replace(no_blend, why=why, rank=rank, estimate=estimate)
    held_out = None if trials[0].held_out.within else blended_held_out(tested, found)
    return Choice(
        shares={trial.name: float(w) for trial, w in zip(tested, mean_shares, strict=True) if w},
        blended=replace(found, shares=found.shares[:, mean_shares > 0]),
        why=_why_blend(tested, mean_shares, ratio, float(np.mean(shares[:, 0] == 1)))
        + _untested(mean_shares @ in_targets, mean_shares @ in_hidden, mean_shares @ errors),
        rank=rank,
        estimate=error_estimate(held_out, (shares.T * surplus).sum(axis=0), lens),
        held_out=held_out,
        temperature=np.ones(lens.data.graph.n_domains),
        ratio=ratio,
    )


def _leads(errors: Floats) -> Floats:
    """Error of each candidate over that of the best other one."""
    others = [np.delete(errors, i).min(initial=np.inf) for i in range(len(errors))]
    leads: Floats = errors / np.maximum(others, np.finfo(np.float64).tiny)
    return leads


def _hidden_domains(trial: Trial) -> HeldOut | None:
    """What is known from hidden domains: rows hidden in a source say too little of a target."""
    return None if trial.held_out is None or trial.held_out.within else trial.held_out


def _why_blend(trials: Sequence[Trial], shares: Floats, ratio: float, kept: float) -> str:
    main = trials[int(shares.argmax())].name
    low, high = lead_interval(ratio)
    if trials[0].held_out is not None and trials[0].held_out.within:
        return (
            f"The blend (mostly {main}) has {ratio:.2f} times the error of the plain model on rows "
            "hidden in the source. No whole source could be hidden, so nothing tells how either "
            "does in other domains."
        )
    judge = judge_of(trials)
    beside = (
        "how errors grow with the distance from labels"
        if judge is None
        else f"what {judge.name} expects in the targets"
    )
    why = (
        f"The blend (mostly {main}) is expected to have {ratio:.2f} times the error of the plain "
        f"model ({low:.2f} to {high:.2f} with 90 % confidence), judged by hidden sources and "
        f"{beside}."
    )
    if kept > 0:
        why += f" For {100 * kept:.0f} % of the targets, the farthest, the plain model is kept."
    return why


def _untested(in_targets: Floats, in_hidden: float, error: float) -> str:
    """A warning, if the candidates part only where nothing is known."""
    apart = float(in_targets.mean())
    times = apart / in_hidden if in_hidden > 0 else 1.0
    if times < _UNTESTED or apart < _MATTERS * error:
        return ""
    return (
        f" Take care: this differs from the other candidates {times:.0f} times as much in the "
        "targets as on hidden sources, so that which of them is right there was hardly tested."
    )


def _keep(plain: Trial, lens: LabelFree, why: str) -> Choice:
    """The plain model; its error is estimated, if it was tested, and its accuracy is not."""
    values = lens.data.kind == "regression" and len(lens.targets) > 0
    known = _hidden_domains(plain) if values else None
    return Choice(
        shares={plain.name: 1.0},
        why=why,
        rank={},
        estimate=error_estimate(known, np.zeros(len(lens.targets)), lens),
        held_out=_hidden_domains(plain),
        temperature=np.ones(lens.data.graph.n_domains),
    )


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
