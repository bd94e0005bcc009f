"""Auto: try a portfolio, choose without a target label, and say how far that can be trusted."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods import FittedMethod, Method, Run, register
from grada.selection.blending import HopBlend
from grada.selection.choice import Choice, choose
from grada.selection.evidence import output_of
from grada.selection.holdout import GraphHoldout
from grada.selection.intervals import Calibration, with_temperature
from grada.selection.plausible import Plausible
from grada.selection.portfolio import is_slow, named_portfolio, spreads_labels
from grada.selection.report import Report
from grada.selection.scores import LabelFree
from grada.selection.trials import FittedLater, Trial, hops_from, recall, record, try_candidate
from grada.selection.units import Units
from grada.training import AdaptationWarning

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Estimated accuracy above which no network is trained to do better.
_SOLVED = 0.97
#: Times the plain model's error below which no network is trained to do better.
_FAR_BETTER = 0.8
#: Percentage of rows whose values are held from which on that is said.
_FEW_HELD = 0.1


@register
@dataclass(kw_only=True, eq=False, repr=False)
class Auto(Method):
    r"""Try several methods, choose without target labels, and keep to the plain model in doubt.

    .. math::
        m = \arg\max_i s_i \;\text{ if }\; \max_i s_i \ge s_{\text{plain}} + 0.04,
        \;\text{ else plain}, \qquad s_i = \hat a_i + h_i - h_{\text{plain}}

    with the estimated accuracy :math:`\hat a_i` of candidate :math:`i` in the targets and its
    accuracy :math:`h_i` on hidden labels; for values,
    the blend with the smallest expected error at each number of hops from the labels, where that
    is 2 % below the plain model's (:mod:`grada.selection.blending`), held within what labels have
    shown (:mod:`grada.selection.plausible`).

    Every candidate is fitted on all that is visible, and again with the labels of some sources
    hidden (:class:`GraphHoldout`). How well it does there, and how plausible its predictions for
    the targets are (:class:`LabelFree`), make an estimate of its score in each target. The best
    one is taken - for values, the best blend - if the evidence speaks clearly for it; otherwise
    the plain model. ``report_`` says what was tried, what it scored, why this one, and how well
    it is expected to do in each target, with an interval.

    Parameters
    ----------
    budget : float, optional
        Seconds. Candidates that train networks are tried last, and those for which no time is
        left are left out, which the report says: with a budget the choice can depend on the
        speed of the machine. A fit that was killed goes on with what was left, and what was left
        out stays out. None: try everything.
    portfolio : sequence of names or methods, or mapping of names to methods, optional
        Candidates instead of the default ones; the plain model is always among them.
    n_splits : int
        How often sources are hidden; once only for classifiers that train networks.
    mend_units : bool
        Whether a column that is plainly in another unit in some targets, such as pounds for
        kilograms, is brought to that of the sources (:mod:`grada.selection.units`). The report and
        a warning say so.

    References
    ----------
    Saito et al.: Tune it the Right Way: Unsupervised Validation of Domain Adaptation via Soft
    Neighborhood Density. ICCV 2021.
    """

    budget: float | None = 60.0
    portfolio: Sequence[str | Method] | Mapping[str, Method] | None = None
    n_splits: int = 3
    mend_units: bool = True

    name: ClassVar[str] = "auto"
    citation: ClassVar[str] = (
        "Saito et al.: Tune it the Right Way: Unsupervised Validation of Domain Adaptation via "
        "Soft Neighborhood Density. ICCV 2021."
    )
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "portfolio": [list, tuple, dict, None],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "mend_units": ["boolean"],
    }

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Try the candidates and choose."""
        self.check(data)
        clock = run.clock
        start = clock()
        until = np.inf if self.budget is None else start + self.budget
        units = Units.of(data) if self.mend_units else Units()
        found, data = units.told(data), units.mended(data)
        lens = LabelFree(data, random_state=run.random_state)
        trials = [Trial(*each) for each in named_portfolio(self.portfolio, data).items()]
        try:
            self._try_all(trials, data, lens, run, until)
        finally:
            _tell(run, len(trials), trials)
        choice = choose(trials, lens)
        for trial in trials:
            for note in trial.notes if trial.name in choice.shares else ():
                warnings.warn(f"{trial.name}: {note}", AdaptationWarning, stacklevel=2)
            if trial.name in choice.shares and isinstance(trial.fitted, FittedLater):
                trial.fitted = trial.fitted.now
        report = Report.of(choice, trials, lens, seconds=clock() - start)
        fitted = FittedAuto(choice, trials, lens, report, units)
        verdict = report.verdict + _held(fitted, lens)
        if found:
            warnings.warn(found, AdaptationWarning, stacklevel=2)
            verdict = f"{verdict} {found}"
        fitted.report = replace(report, verdict=verdict)
        return fitted

    def _try_all(
        self, trials: Sequence[Trial], data: DomainData, lens: LabelFree, run: Run, until: float
    ) -> None:
        holdout = GraphHoldout(self.n_splits, random_state=run.random_state)
        splits = list(holdout.split_rows(data))
        domains_hidden = bool(splits) and holdout.can_split(data)
        first = trials[0]
        _tell(run, 0, trials)
        try_candidate(first, data, lens.rows, splits, run.part("0 plain"), np.inf)
        if first.problem is not None:  # the user's data are at fault, not the candidate
            raise ValueError(f"The plain model cannot be fitted. {first.problem}")
        too_slow = False
        for number, trial in enumerate(trials[1:], 1):
            # Classes are judged by more than hidden sources: once will do for networks.
            once = is_slow(trial.method) and data.kind == "classification"
            _tell(run, number, trials)
            part = run.part(f"{number} {trial.name}")
            if recall(trial, data, part):
                too_slow = too_slow or (is_slow(trial.method) and trial.out_of_time)
                continue
            if data.kind not in trial.method.kinds:
                trial.problem = f"It does {' and '.join(trial.method.kinds)} only."
            elif not len(data.targets):
                trial.problem = "There is no target."
            elif data.kind == "regression" and not (
                domains_hidden or (splits and not spreads_labels(trial.method))
            ):  # rows hidden within a source say nothing about what the graph is good for
                trial.problem = "No source could be hidden, so nothing would speak for it."
            elif run.clock() > until:
                trial.problem = "No time was left."
            elif is_slow(trial.method) and too_slow:
                trial.problem = "No time was left: a quicker network took too long."
            elif is_slow(trial.method) and _solved(trials, lens):
                trial.problem = "A quicker candidate leaves next to nothing to gain."
            else:
                wanted = splits[:1] if once else splits
                try_candidate(trial, data, lens.rows, wanted, part, until)
                too_slow = too_slow or (is_slow(trial.method) and trial.out_of_time)
            record(trial, part)


def _tell(run: Run, number: int, trials: Sequence[Trial]) -> None:
    """Say which candidate comes next, or that all were tried."""
    name = trials[number].name if number < len(trials) else "choosing"
    for callback in run.callbacks:
        callback.on_trial(number, len(trials), name)


def _held(fitted: FittedAuto, lens: LabelFree) -> str:
    """What is said if some values are held, see :mod:`grada.selection.plausible`."""
    if fitted.plausible is None:
        return ""
    codes = lens.data.codes[lens.rows]
    shares = fitted.blended.at(fitted.hops[codes])
    parts = zip(shares.T, fitted.parts, strict=True)
    blended = np.sum([share[:, None] * fitted.tried[name] for share, name in parts], axis=0)
    asked = np.isin(codes, lens.targets)
    held = 100 * fitted.plausible.share_held(blended[asked], codes[asked])
    if held < _FEW_HELD:
        return ""
    return (
        f" {held:.1f} % of the rows in the targets are held back: their values would lie much "
        "farther from the middle of their domain than any label does."
    )


def _solved(trials: Sequence[Trial], lens: LabelFree) -> bool:
    """Whether a quicker candidate leaves next to nothing to gain."""
    choice = choose(trials, lens)
    if lens.data.kind == "classification":
        return choice.estimate.overall >= _SOLVED
    return choice.ratio <= _FAR_BETTER


class FittedAuto(FittedMethod):
    """The chosen candidates and their shares."""

    def __init__(
        self,
        choice: Choice,
        trials: Sequence[Trial],
        lens: LabelFree,
        report: Report,
        units: Units,
    ):
        by_name = {trial.name: trial for trial in trials}
        self.shares = dict(choice.shares)
        self.parts: dict[str, FittedMethod] = {}
        for name in self.shares:
            fitted = by_name[name].fitted
            if fitted is not None:
                self.parts[name] = fitted
        #: Predictions of all candidates for the rows that were looked at, and these rows.
        self.tried = {trial.name: output_of(trial) for trial in trials if trial.fitted is not None}
        self.rows = lens.rows
        self.report = report
        #: Rows that are asked for may have columns in another unit; the parts know one only.
        self.units = units
        self.kind = lens.data.kind
        self.targets = lens.data.targets
        self.temperature = choice.temperature
        self.sources = lens.data.sources
        self.hops = hops_from(lens.data.graph, self.sources)
        alone = HopBlend.same_everywhere(np.ones(len(self.shares)))
        self.blended = alone if choice.blended is None else choice.blended
        self.calibration = (
            None if choice.held_out is None else Calibration.of(choice.held_out, lens.data)
        )
        main = max(self.shares, key=lambda name: self.shares[name])
        self.main = self.parts[main]
        self.history = self.main.history
        self.plausible = Plausible.of(lens.data, self._blend) if self.kind == "regression" else None

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> Floats:
        """The blend of the parts, at the temperature of each domain, or held within reason."""
        blended = self._blend(self.units.mend(X, codes), codes)
        if self.plausible is None:
            return with_temperature(blended, self.temperature[codes])
        return self.plausible.hold(blended, codes)

    def _blend(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> Floats:
        shares = self.blended.at(self.hops[codes])
        blended: Floats = np.sum(
            [
                share[:, None] * part.predict(X, codes)
                for share, part in zip(shares.T, self.parts.values(), strict=True)
            ],
            axis=0,
        )
        return blended

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> Floats:
        """Encodings of the part with the largest share."""
        return self.main.encode(self.units.mend(X, codes), codes)

    def confidence(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> Floats:
        """That of the parts by their shares."""
        X, shares = self.units.mend(X, codes), self.blended.at(self.hops[codes])
        parts = zip(shares.T, self.parts.values(), strict=True)
        mean: Floats = np.sum([share * part.confidence(X, codes) for share, part in parts], axis=0)
        return mean

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedAuto:
        """All parts for the larger graph; new domains are at the usual temperature of targets."""
        extended = copy.copy(self)
        extended.units = self.units.grown(graph.n_domains, X, codes)
        X = extended.units.mend(X, codes)
        extended.parts = {name: part.extend(graph, X, codes) for name, part in self.parts.items()}
        extended.hops = hops_from(graph, self.sources)
        extended.main = extended.parts[max(self.shares, key=lambda name: self.shares[name])]
        new = graph.n_domains - len(self.temperature)
        usual = np.median(self.temperature[self.targets]) if len(self.targets) else 1.0
        extended.temperature = np.append(self.temperature, np.full(new, usual))
        if self.calibration is not None:
            extended.calibration = replace(self.calibration, graph=graph)
        if self.plausible is not None:
            grown = self.plausible.grown(graph.n_domains)
            extended.plausible = grown.with_middles(X, codes, extended._blend)
        return extended
