r"""Columns that are in another unit in some targets: pounds for kilograms, pence for pounds.

Where all labels are in kilograms, no label tells that a target weighs in pounds: every candidate
that trusts its inputs is wrong there by a factor, and hidden sources say that all is well. The
inputs tell. A column is taken to be in another unit in a group of targets if

- all its values are above zero;
- the means :math:`m_u` of its logarithms in the domains fall into two groups, all sources in one of
  them, and the other at least a factor of 1.4 away;
- the two are far apart, :math:`|\bar m_1 - \bar m_2| \ge (4 + 40 / n) w` with :math:`n` domains
  and the deviation :math:`w` of the means within the groups, where that is chance: not more than
  1.5 times what the spread of the rows makes of it. Where domains of a group truly differ,
  :math:`15 w` are asked for;
- the logarithms spread within domains, and alike in both groups: a unit multiplies, and changes
  nothing else.

Values that differ from domain to domain, as incomes and sizes do, are not like that: there the
means fill the gap. Who weighs in pounds may drive miles: once one column is found, :math:`3.5 w`
are enough for others, since one error may make up for another, and mending one of the two would
then do harm. The column is divided by the factor, the report says so, and a warning too.
Where both groups have labels these tell what is right, and nothing is mended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from grada.data import DomainData

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: Middles of two groups, and which domains are in the other one.
_Groups = tuple[Floats, NDArray[np.bool_]]

#: Domains with fewer rows do not say which unit they have; they are like the nearest group.
_ENOUGH_ROWS = 5
#: Each group has so many domains at least.
_ENOUGH_DOMAINS = 3
_SMALLEST_FACTOR = 1.4
#: Deviations within the groups that lie between them, if those are chance: so many, and more with
#: few domains, which fall into groups by chance.
_APART, _MORE_WITH_FEW = 4.0, 40.0
#: The same for a column that is not the first, and if deviations within are no chance.
_APART_TOO, _FAR_APART = 3.5, 15.0
#: Times the deviation that rows drawn at random give: more is no chance.
_CHANCE = 1.5
#: Logarithms spread by this much at least within domains: what is the same in all rows of a domain
#: is no quantity of rows but a mark of the domain. The logs of the spreads differ by this at most.
_LEAST_SPREAD, _ALIKE = 0.05, 0.25
_NOTHING = 1e-9
#: Of a scaled number.
_ROUNDING = 1e-5
_NAMED = 3


@dataclass(frozen=True)
class OtherUnit:
    """One column in two units.

    Attributes
    ----------
    column : int
        Its place among the features.
    name : str
    zero : float
        Where zero lies in the scaled column.
    middles : array of shape (2,)
        Mean logarithm in domains like the sources, and in the others.
    other : bool array of shape (n_domains,)
        Domains in which the unit is another.
    """

    column: int
    name: str
    zero: float
    middles: Floats
    other: NDArray[np.bool_]

    @property
    def factor(self) -> float:
        """By how much values are larger in the others."""
        return float(np.exp(self.middles[1] - self.middles[0]))

    def mend(self, values: Floats, codes: Codes) -> Floats:
        """The column in one unit."""
        above = values - self.zero
        mended: Floats = self.zero + np.where(self.other[codes], above / self.factor, above)
        return mended

    def grown(self, n_domains: int, values: Floats, codes: Codes) -> OtherUnit:
        """With new domains, each like the nearer group, or like the sources without rows."""
        other = np.zeros(n_domains, dtype=bool)
        other[: len(self.other)] = self.other
        for code in np.unique(codes[codes >= len(self.other)]):
            logs = np.log(np.maximum(values[codes == code] - self.zero, _NOTHING))
            other[code] = np.abs(logs.mean() - self.middles).argmin()
        return replace(self, other=other)


@dataclass(frozen=True)
class Units:
    """All columns with another unit in some targets; none, as a rule.

    Attributes
    ----------
    columns : tuple of OtherUnit

    Examples
    --------
    >>> from grada.graph import DomainGraph
    >>> domain = np.repeat(list("abcdefgh"), 20)
    >>> weight = np.random.default_rng(0).lognormal(sigma=0.5, size=(160, 1))
    >>> weight[domain > "d"] *= 1000
    >>> y = np.where(domain < "c", 1.0, np.nan)
    >>> graph = DomainGraph.chain(list("abcdefgh"))
    >>> data = DomainData.from_table(weight, y, domain, graph=graph, kind="regression")
    >>> found = Units.of(data).columns[0]
    >>> round(found.factor, -2), [graph.names[code] for code in np.flatnonzero(found.other)]
    (900.0, ['e', 'f', 'g', 'h'])
    """

    columns: tuple[OtherUnit, ...] = ()

    @classmethod
    def of(cls, data: DomainData) -> Units:
        """What the inputs show."""
        if data.quantities is None or not len(data.targets):
            return cls()
        zero = data.quantities.zero
        numbers = data.X[:, : len(zero)]
        above = numbers.min(axis=0) > zero + _ROUNDING * (1 + np.abs(zero))
        positive = np.flatnonzero(above).tolist()
        first = _ask(positive, data, _APART + _MORE_WITH_FEW / len(np.unique(data.codes)))
        if not first:
            return cls()
        rest = [column for column in positive if column not in first]
        found = first | _ask(rest, data, _APART_TOO)
        names = data.quantities.names
        return cls(
            tuple(
                OtherUnit(column, names[column], float(zero[column]), *found[column])
                for column in sorted(found)
            )
        )

    def mended(self, data: DomainData) -> DomainData:
        """The data with each column in one unit."""
        return replace(data, X=self.mend(data.X, data.codes)) if self.columns else data

    def mend(self, X: NDArray[np.float32], codes: Codes) -> NDArray[np.float32]:
        """Rows with each column in one unit."""
        if not self.columns:
            return X
        mended = X.copy()
        for each in self.columns:
            mended[:, each.column] = each.mend(X[:, each.column].astype(np.float64), codes)
        return mended

    def grown(self, n_domains: int, X: NDArray[np.float32], codes: Codes) -> Units:
        """With the new domains of a larger graph."""
        return Units(
            tuple(
                each.grown(n_domains, X[:, each.column].astype(np.float64), codes)
                for each in self.columns
            )
        )

    def told(self, data: DomainData) -> str:
        """What was found, in words."""
        return " ".join(_told(each, data) for each in self.columns)


def _ask(columns: Iterable[int], data: DomainData, apart: float) -> dict[int, _Groups]:
    """Those of some columns that are in two units, so many deviations apart."""
    assert data.quantities is not None
    found = {}
    for column in columns:
        above = data.X[:, column].astype(np.float64) - data.quantities.zero[column]
        groups = _look(np.log(above), data, apart)
        if groups is not None:
            found[column] = groups
    return found


def _look(logs: Floats, data: DomainData, enough: float) -> _Groups | None:
    """Middles of the two groups and the domains of the other one, if there is another unit."""
    n_domains = data.graph.n_domains
    count = np.bincount(data.codes, minlength=n_domains)
    mean = np.bincount(data.codes, logs, minlength=n_domains) / np.maximum(count, 1)
    square = np.bincount(data.codes, (logs - mean[data.codes]) ** 2, minlength=n_domains)
    known = np.flatnonzero(count >= _ENOUGH_ROWS)
    if len(known) < 2 * _ENOUGH_DOMAINS:
        return None
    order = known[np.argsort(mean[known])]
    groups = _split(mean[order])
    low, high = order[:groups], order[groups:]
    low_has, high_has = (bool(np.isin(data.sources, group).any()) for group in (low, high))
    if low_has == high_has:
        return None
    like, others = (low, high) if low_has else (high, low)
    middles = np.array([mean[like].mean(), mean[others].mean()])
    apart = abs(middles[1] - middles[0])
    deviations = [
        mean[group] - middle for group, middle in zip((like, others), middles, strict=True)
    ]
    within = np.sqrt((np.concatenate(deviations) ** 2).sum() / (len(known) - 2))
    chance = np.sqrt((square[known].sum() / (count[known] - 1).sum() / count[known]).mean())
    asked = enough if within <= _CHANCE * chance else _FAR_APART
    if apart < max(np.log(_SMALLEST_FACTOR), asked * within):
        return None
    spreads = [np.sqrt(square[each].sum() / (count[each] - 1).sum()) for each in (like, others)]
    if min(spreads) < _LEAST_SPREAD or abs(np.log(spreads[1] / spreads[0])) > _ALIKE:
        return None
    nearer = np.abs(mean[:, None] - middles).argmin(axis=1) == 1
    other = (count > 0) & nearer
    other[data.sources] = False
    return middles, other


def _split(ordered: Floats) -> int:
    """Length of the first of two groups with the smallest squares of deviations."""
    n = len(ordered)
    first = np.arange(_ENOUGH_DOMAINS, n - _ENOUGH_DOMAINS + 1)
    sums = np.cumsum(ordered - ordered.mean())
    # What the middles of the groups explain; the whole sum is zero.
    between = sums[first - 1] ** 2 * (1 / first + 1 / (n - first))
    return int(first[between.argmax()])


def _told(unit: OtherUnit, data: DomainData) -> str:
    names = [repr(str(data.graph.names[code])) for code in np.flatnonzero(unit.other)]
    some = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return (
        f"In {len(names)} domain{'s' * (len(names) > 1)} ({some}) column {unit.name} looks as if "
        f"it were in another unit: its values are {unit.factor:.2g} times those in all others, and "
        "the same else. They were divided by that; with mend_units=False they are left as they are."
    )
