"""What is known of a model on its rows, domain by domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from grada.data import LazyRows
from grada.graph import DomainGraph
from grada.report.page.data import Role, class_name, clean
from grada.report.page.rows import Bools, Codes, Floats, Rows
from grada.report.page.scores import (
    Scores,
    check_truth,
    label_scale,
    losses,
    per_domain,
    scores_of,
)

#: Of more rows, some are predicted.
_MAX_ROWS = 50_000
_MAX_LAZY_ROWS = 5_000
#: Of more classes or outputs, the first are shown.
_MAX_OUTPUTS = 12


@dataclass(frozen=True)
class Facts:
    """A model, its rows, a sample of them, and the predictions for these.

    Attributes
    ----------
    all_rows, rows : Rows
        All, and those that were predicted.
    predicted : array
    count, labelled : int arrays of shape (n_domains,)
        Rows, and rows with a visible label.
    hops : array of shape (n_domains,)
    remarks : list of str
        What did not work out on the way.
    """

    model: Any
    graph: DomainGraph
    all_rows: Rows
    rows: Rows
    predicted: NDArray[Any]
    count: Codes
    labelled: Codes
    hops: Floats
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, model: Any, X: Any, y: Any, sample_domain: Any, truth: Any, random_state: int
    ) -> Facts:
        """Check what is given, and predict."""
        if not hasattr(model, "graph_"):
            raise ValueError("The model is not fitted: call fit first.")
        graph: DomainGraph = model.graph_
        every = Rows.read(model, X, y, sample_domain, truth)
        if not len(every):
            raise ValueError("There are no rows to report on.")
        if hasattr(model, "classes_"):
            check_truth(every.truth, model.classes_)
        most = _MAX_LAZY_ROWS if isinstance(X, LazyRows) else _MAX_ROWS
        rows = every.sampled(most, np.random.default_rng(random_state))
        labelled = np.bincount(every.codes[every.visible.known], minlength=graph.n_domains)
        return cls(
            model,
            graph,
            every,
            rows,
            np.asarray(model.predict(rows.X, sample_domain=rows.names)),
            np.bincount(every.codes, minlength=graph.n_domains),
            labelled,
            graph.hops_from(np.flatnonzero(labelled)),
        )

    @property
    def classes(self) -> NDArray[Any] | None:
        """Classes of a classifier."""
        return getattr(self.model, "classes_", None)

    @property
    def kind(self) -> Literal["classification", "regression"]:
        """What the model predicts."""
        return "regression" if self.classes is None else "classification"

    @property
    def metric(self) -> str:
        """What a score is."""
        return "squared error" if self.classes is None else "accuracy"

    @property
    def report(self) -> Any:
        """What ``auto`` said, or None."""
        return getattr(self.model, "report_", None)

    @cached_property
    def names(self) -> list[str]:
        """Names of the domains, as text."""
        return [clean(name) for name in self.graph.names]

    @property
    def targets(self) -> Bools:
        """Domains with rows but no visible label."""
        found: Bools = (self.count > 0) & (self.labelled == 0)
        return found

    def role(self, code: int) -> Role:
        """Role of a domain."""
        if self.labelled[code]:
            return "source"
        return "target" if self.count[code] else "no rows"

    @property
    def history(self) -> Any:
        """What happened in the training, or None."""
        return getattr(self.model, "history_", None)

    @cached_property
    def scale(self) -> Floats | None:
        """Deviation of each output among the visible labels; None for classes."""
        return label_scale(self.all_rows.visible) if self.classes is None else None

    def scores(self) -> Scores:
        """Scores of all domains."""
        scale = self.scale
        truth = losses(self.predicted, self.rows.truth, scale)
        seen = losses(self.predicted, self.rows.visible, scale)
        plain = np.full(len(self.rows), np.nan)
        if (self.rows.truth.known & ~self.rows.visible.known).any():
            predicted = self._plain_predictions()
            if predicted is not None:
                plain = losses(predicted, self.rows.truth, scale)
        return scores_of(self.report, self.rows, truth, plain, seen, self.graph)

    def _plain_predictions(self) -> NDArray[Any] | None:
        """Predictions of the plain model, fitted on the same rows; None if it cannot be."""
        if getattr(self.model.method_, "name", "") == "plain":
            return None
        if isinstance(self.rows.X, LazyRows):
            self.remarks.append("No plain model beside it: the rows are read from files.")
            return None
        # What says how to read the rows, and nothing that would write files or use up randomness.
        given = self.model.get_params(deep=False)
        own = {name: given[name] for name in ("domain", "class_weight") if name in given}
        own |= {"method": "plain", "graph": self.graph, "random_state": 0}
        rows, visible = self.rows, self.rows.visible
        labels = visible.values.astype(object)  # a copy, in which None is "no label"
        labels[~visible.known] = None
        try:
            plain = type(self.model)(**own).fit(rows.X, labels, sample_domain=rows.names)
            return np.asarray(plain.predict(rows.X, sample_domain=rows.names))
        except (ValueError, TypeError) as error:  # one class left in the sample, images, ...
            self.remarks.append(f"No plain model beside it: {clean(error)}")
            return None

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the classes or outputs that are shown."""
        if self.classes is not None:
            return tuple(class_name(name) for name in self.classes.tolist()[:_MAX_OUTPUTS])
        n_outputs = 1 if self.predicted.ndim == 1 else self.predicted.shape[1]
        if n_outputs == 1:
            return ("prediction",)
        return tuple(f"output {at + 1}" for at in range(min(n_outputs, _MAX_OUTPUTS)))

    def values(self) -> Floats:
        """Share of each predicted class, or mean prediction, in each domain."""
        if self.classes is not None:
            shown = self.classes[:_MAX_OUTPUTS]
            columns = [np.asarray(self.predicted == name, dtype=float) for name in shown]
        else:
            table = self.predicted.reshape(len(self.predicted), -1)
            columns = list(table.T[:_MAX_OUTPUTS])
        every = np.ones(len(self.rows), dtype=bool)
        means = [per_domain(each, self.rows.codes, every, len(self.graph)) for each in columns]
        return np.stack(means, axis=1)

    def confidence(self) -> Floats:
        """Mean probability of the predicted class in each domain; NaN for values."""
        if self.classes is None:
            return np.full(len(self.graph), np.nan)
        proba = self.model.predict_proba(self.rows.X, sample_domain=self.rows.names)
        every = np.ones(len(self.rows), dtype=bool)
        return per_domain(np.max(proba, axis=1), self.rows.codes, every, len(self.graph))

    def width(self) -> Floats:
        """Mean half width of the 90 % intervals in each domain; NaN where there are none."""
        none = np.full(len(self.graph), np.nan)
        if self.classes is not None:
            return none
        try:
            low, high = self.model.predict_interval(self.rows.X, sample_domain=self.rows.names)
        except ValueError:  # fitted without calibration
            return none
        half = (np.asarray(high) - np.asarray(low)).reshape(len(self.rows), -1).mean(axis=1) / 2
        every = np.ones(len(self.rows), dtype=bool)
        return per_domain(half, self.rows.codes, every, len(self.graph))

    def sampling_notes(self) -> list[str]:
        """What is shown of a part only."""
        found = list(self.remarks)
        if len(self.rows) < len(self.all_rows):
            found.append(
                f"Predictions and scores are of {len(self.rows):,} sampled rows out of "
                f"{len(self.all_rows):,}; row counts are of all."
            )
        n_estimated = 0 if self.report is None else len(self.report.domains)
        if 0 < n_estimated < self.targets.sum():
            found.append(f"Scores were estimated for {n_estimated:,} sampled target domains.")
        if self.classes is not None and len(self.classes) > _MAX_OUTPUTS:
            found.append(f"Shares of the first {_MAX_OUTPUTS} of {len(self.classes)} classes.")
        return found
