"""Trying candidates: fitted on all that is visible, and again with some sources hidden."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods import FittedMethod, Method, Run
from grada.training import Callback, CheckpointError, History

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MAX_HIDDEN_ROWS = 20_000
#: Rows of a domain that a method is asked how sure it is of.
_DOUBT_ROWS = 20
#: What of a trial is plain values.
_PLAIN = ("seconds", "problem", "notes", "out_of_time")
#: Hops are counted as far as this; a domain that cannot be reached is as far.
MAX_HOPS = 12.0


class OutOfTimeError(RuntimeError):
    """The budget is spent."""


class Deadline(Callback):
    """Ends a training when the time is up.

    Parameters
    ----------
    at : float
        In seconds of the clock.
    clock : callable
    """

    def __init__(self, at: float, clock: Callable[[], float] = time.monotonic):
        self.at = at
        self.clock = clock

    def on_epoch_end(self, epoch: int, history: History) -> None:
        """Look at the clock."""
        if self.clock() > self.at:
            raise OutOfTimeError("The budget was spent before the training ended.")


@dataclass(frozen=True)
class HeldOut:
    """Predictions for rows whose labels were hidden, and the truth.

    Attributes
    ----------
    rows : int array of shape (n,)
        Rows of the data; a row comes once for every split that hides its domain.
    codes : int array of shape (n,)
    truth : array of shape (n,) of class codes, or (n, n_outputs)
    output : array of shape (n, n_outputs)
    hops : array of shape (n,)
        From the nearest source that was not hidden; zero if its domain has other labels left.
    """

    rows: Codes
    codes: Codes
    truth: NDArray[np.float64] | NDArray[np.int64]
    output: Floats
    hops: Floats

    @property
    def score(self) -> Floats:
        """Of each row: whether its class is right, or its squared error over the outputs."""
        right = self.output.argmax(axis=1) == self.truth if self.truth.ndim == 1 else None
        missed = ((self.output - self.truth) ** 2).sum(axis=1) if right is None else right
        score: Floats = missed.astype(np.float64)
        return score

    @property
    def within(self) -> bool:
        """Whether rows were hidden, and no domain."""
        return not self.hops.any()

    def first(self, n: int) -> HeldOut:
        """The first rows, which are those of the first splits."""
        return HeldOut(
            self.rows[:n], self.codes[:n], self.truth[:n], self.output[:n], self.hops[:n]
        )

    def per_domain(self) -> tuple[Codes, Floats, Floats]:
        """Domains that were hidden, their mean score and their mean hops."""
        codes, group = np.unique(self.codes, return_inverse=True)
        count = np.bincount(group)
        score = np.bincount(group, self.score) / count
        return codes, score, np.bincount(group, self.hops) / count


@dataclass
class Trial:
    """What was learned about one candidate.

    Attributes
    ----------
    name : str
    method : Method
    fitted : FittedMethod, optional
        None if it failed or was not tried.
    output : array of shape (n_looked_at, n_outputs), optional
        Its predictions for the rows that are looked at.
    doubt : array of shape (n_looked_at,), optional
        Squared error that it expects there itself, the same for all rows of a domain.
    held_out : HeldOut, optional
    seconds : float
    problem : str, optional
        Why it is out.
    out_of_time : bool
        Whether it is out because the budget was too small.
    notes : list of str
        What it warned of when it was fitted on all that is visible.
    """

    name: str
    method: Method
    fitted: FittedMethod | None = None
    output: Floats | None = None
    doubt: Floats | None = None
    held_out: HeldOut | None = None
    seconds: float = 0.0
    problem: str | None = None
    notes: list[str] = field(default_factory=list)
    out_of_time: bool = False


def try_candidate(
    trial: Trial, data: DomainData, rows: Codes, splits: Sequence[Codes], run: Run, until: float
) -> None:
    """Fit a candidate and fill in its trial; what goes wrong is written there, not raised.

    Parameters
    ----------
    trial : Trial
    data : DomainData
    rows : int array
        Rows whose predictions are kept.
    splits : sequence of int arrays
        Rows whose labels are hidden, one fit each.
    run : Run
    until : float
        When to give up, by the clock of the run.
    """
    clock = run.clock
    start = clock()
    run = replace(run, callbacks=(*run.callbacks, Deadline(until, clock)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted = clone(trial.method).adapt(data, run)
            trial.output, trial.doubt = _predict(fitted, data, rows), _doubt(fitted, data, rows)
            now = clock()
            if now + len(splits) * (now - start) > until:
                raise OutOfTimeError("The budget was too small to hide sources from it.")
            held_out = hold_out(trial.method, data, splits, run, until) if splits else None
            trial.fitted, trial.held_out = fitted, held_out
        except OutOfTimeError as error:
            trial.problem, trial.out_of_time = str(error), True
        except CheckpointError:  # the disk is full, say: no fault of the candidate
            raise
        except Exception as error:  # one candidate, whatever is wrong with it, is not the rest
            trial.problem = f"{type(error).__name__}: {error}"
    told = [str(note.message) for note in caught if issubclass(note.category, UserWarning)]
    trial.notes = list(dict.fromkeys(told))
    trial.seconds = clock() - start


def record(trial: Trial, run: Run) -> None:
    """Keep a trial in the checkpoint of the fit, if it has one."""
    if run.checkpoint is None:
        return
    held_out = trial.held_out
    state = {
        "usable": trial.fitted is not None,
        "output": trial.output,
        "doubt": trial.doubt,
        "held_out": None if held_out is None else vars(held_out),
        **{name: getattr(trial, name) for name in _PLAIN},
    }
    run.checkpoint.save("trial", state)


def recall(trial: Trial, data: DomainData, run: Run) -> bool:
    """Fill in a trial that was kept; whether there is one.

    What was fitted is not kept: it is fitted again if and when it is asked.
    """
    state = None if run.checkpoint is None else run.checkpoint.load("trial")
    if state is None:
        return False
    trial.output, trial.doubt = state["output"], state["doubt"]
    trial.held_out = None if state["held_out"] is None else HeldOut(**state["held_out"])
    for name in _PLAIN:
        setattr(trial, name, state[name])
    trial.fitted = FittedLater(trial.method, data, run) if state["usable"] else None
    return True


class FittedLater(FittedMethod):
    """A method that is fitted when it is first asked.

    Parameters
    ----------
    method : Method
    data : DomainData
    run : Run
    """

    def __init__(self, method: Method, data: DomainData, run: Run):
        self._ask = method, data, run

    @cached_property
    def now(self) -> FittedMethod:
        """The fitted method."""
        method, data, run = self._ask
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the notes of the trial say it
            fitted: FittedMethod = clone(method).adapt(data, run)
        return fitted

    @property
    def history(self) -> History:  # type: ignore[override]
        """Of the fitted method."""
        return self.now.history

    def predict(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """What the fitted method says."""
        return self.now.predict(X, codes)

    def encode(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """What the fitted method says."""
        return self.now.encode(X, codes)

    def confidence(self, X: NDArray[np.float32], codes: Codes) -> Floats:
        """What the fitted method says."""
        return self.now.confidence(X, codes)

    def doubt(self, X: NDArray[np.float32], codes: Codes) -> Floats | None:
        """What the fitted method says."""
        return self.now.doubt(X, codes)


def hold_out(
    method: Method,
    data: DomainData,
    splits: Sequence[Codes],
    run: Run,
    until: float = np.inf,
) -> HeldOut:
    """Predictions for hidden rows, each split from a fit of its own.

    Parameters
    ----------
    method : Method
    data : DomainData
    splits : sequence of int arrays
        Rows to hide, see :meth:`GraphHoldout.split_rows`.
    run : Run
    until : float
        When to give up, by the clock of the run.

    Returns
    -------
    HeldOut
    """
    parts = []
    for number, hidden in enumerate(splits):
        if run.clock() > until:
            raise OutOfTimeError("The budget was spent before it was tested on hidden sources.")
        visible, rows = data.hiding_rows(hidden), hidden
        if len(rows) > _MAX_HIDDEN_ROWS:
            rows = np.sort(run.rng(100 + number).choice(rows, _MAX_HIDDEN_ROWS, replace=False))
        part = run.part(f"hidden {number}")
        fit_and_predict = partial(_fit_and_predict, method, visible, data, rows, part)
        output = part.keep("output", fit_and_predict)
        codes = data.codes[rows]
        hops = hops_from(data.graph, visible.sources)[codes]
        parts.append(HeldOut(rows, codes, data.y[rows], output, hops))
    names = ("rows", "codes", "truth", "output", "hops")
    return HeldOut(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _fit_and_predict(
    method: Method, visible: DomainData, data: DomainData, rows: Codes, run: Run
) -> Floats:
    with warnings.catch_warnings():
        # They would speak of domains that are hidden here only.
        warnings.simplefilter("ignore")
        fitted = clone(method).adapt(visible, run)
        return _predict(fitted, data, rows)


def hops_from(graph: DomainGraph, sources: Codes) -> Floats:
    """Hops of every domain from the nearest of some, at most twelve."""
    return np.minimum(graph.hops_from(sources), MAX_HOPS)


def _predict(fitted: FittedMethod, data: DomainData, rows: Codes) -> Floats:
    output = fitted.predict(data.X[rows], data.codes[rows])
    if output.shape != (len(rows), data.n_outputs):
        raise ValueError(
            f"It predicts an array of shape {output.shape} for {len(rows)} rows and "
            f"{data.n_outputs} outputs."
        )
    if not np.isfinite(output).all():
        raise FloatingPointError("It predicts values that are not finite.")
    return output


def _doubt(fitted: FittedMethod, data: DomainData, rows: Codes) -> Floats | None:
    """Error that a method expects in the domain of each row, from some rows of each domain."""
    codes = data.codes[rows]
    order = np.argsort(codes, kind="stable")
    domains, first, group, count = np.unique(
        codes[order], return_index=True, return_inverse=True, return_counts=True
    )
    # Evenly over the rows of a domain.
    step = np.maximum(count / _DOUBT_ROWS, 1)[group]
    nth = np.arange(len(rows)) - first[group]
    some = order[np.floor(nth / step) > np.floor((nth - 1) / step)]
    asked = fitted.doubt(data.X[rows[some]], data.codes[rows[some]])
    if asked is None:
        return None
    member = np.searchsorted(domains, codes)
    means = np.bincount(member[some], asked) / np.bincount(member[some])
    expected: Floats = means[member]
    return expected
