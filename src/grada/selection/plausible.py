r"""Values that are held within what labels have shown.

A linear model, and whatever corrects one, goes on forever: inputs ten times as far out as any that
had a label are given values ten times as far out. Labelled rows show how far values lie from the
middle of their own domain. Rows of a target are held within

.. math:: \tilde y_u \pm \max(1.5 \max_l |y_l - \tilde y_{u_l}|, \; 4.5 \, \sigma)

with the median :math:`\tilde y_u` of what is predicted for the target, those of the labels in each
source, and the spread :math:`\sigma` of the labels around these. The middle of a target may lie
anywhere. The figures were chosen on the zoo's tuning part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grada.data import DomainData

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Predict = Callable[[NDArray[np.float32], Codes], Floats]

#: Values may lie so many times as far out as the farthest label,
_FARTHER = 1.5
#: or so many spreads, if that is more: among few labels the farthest is not far.
_SPREADS = 4.5
#: With fewer labels than this, beside one for each source, nothing is held.
_ENOUGH = 20
#: Rows of a target by which its middle is found.
_ROWS = 200


@dataclass(frozen=True)
class Plausible:
    """How far from the middle of its domain a value may lie.

    Attributes
    ----------
    middle : array of shape (n_domains, n_outputs)
        Nan where nothing is held: in sources, and in domains without rows.
    reach : array of shape (n_outputs,)
    """

    middle: Floats
    reach: Floats

    @classmethod
    def of(cls, data: DomainData, predict: Predict) -> Plausible:
        """What labels show, around the middle of what is predicted for each target."""
        known = data.labelled
        deviation = data.y[known].astype(np.float64)
        for rows in _by_domain(data.codes[known]):
            deviation[rows] -= np.median(deviation[rows], axis=0)
        surplus = len(known) - len(data.sources)
        reach = np.full(data.n_outputs, np.inf)
        if surplus >= _ENOUGH:
            spread = np.sqrt((deviation**2).sum(axis=0) / surplus)
            reach = np.maximum(_FARTHER * np.abs(deviation).max(axis=0), _SPREADS * spread)
        nowhere = np.full((data.graph.n_domains, data.n_outputs), np.nan)
        rows = np.flatnonzero(np.isin(data.codes, data.targets))
        return cls(nowhere, reach).with_middles(data.X[rows], data.codes[rows], predict)

    def with_middles(self, X: NDArray[np.float32], codes: Codes, predict: Predict) -> Plausible:
        """The same, with the middle of what is predicted for the domains of these rows."""
        if not len(codes) or np.isinf(self.reach).all():
            return self
        groups = [rows[_evenly(len(rows))] for rows in _by_domain(codes)]
        asked = np.concatenate(groups)
        output, middle, start = predict(X[asked], codes[asked]), self.middle.copy(), 0
        for rows in groups:
            middle[codes[rows[0]]] = np.median(output[start : start + len(rows)], axis=0)
            start += len(rows)
        return replace(self, middle=middle)

    def grown(self, n_domains: int) -> Plausible:
        """The same with more domains, in which nothing is held."""
        new = np.full((n_domains - len(self.middle), self.middle.shape[1]), np.nan)
        return replace(self, middle=np.vstack([self.middle, new]))

    def share_held(self, output: Floats, codes: Codes) -> float:
        """Share of the rows with a value that is held."""
        held = (self.hold(output, codes) != output).any(axis=1)
        return float(held.mean()) if len(held) else 0.0

    def hold(self, output: Floats, codes: Codes) -> Floats:
        """Values, none of them too far out."""
        middle = self.middle[codes]
        low, high = middle - self.reach, middle + self.reach
        held: Floats = np.where(np.isnan(middle), output, np.clip(output, low, high))
        return held


def _by_domain(codes: Codes) -> list[NDArray[np.intp]]:
    """Places of the rows of each domain."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(codes) else []


def _evenly(n_rows: int) -> NDArray[np.intp]:
    """At most 200 of them."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS)).astype(np.intp))
