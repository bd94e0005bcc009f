"""Hiding source domains that look like targets: validation without a target label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph, csr_array

from grada.data import DomainData
from grada.graph import DomainGraph, Name

_MAX_SEEDS = 24
_SHARES = (0.2, 1 / 3, 0.5)
#: Levels of a domain: 1, 2, 3 or more hops from a label, and unreachable.
_N_LEVELS = 4
# What a candidate is judged by beside its hops: how much of the weight around a hidden domain
# leads to a label, how far outside the labelled domains it lies, repeats of what other splits
# hide, classes or most rows lost, and rows lost where there are few for the features: a model
# that is short of rows looks far worse with some hidden than it is.
_SUPPORT, _OUTSIDE, _REPEAT, _LOST_CLASS, _LOST_ROWS = 1.0, 1.0, 0.5, 10.0, 4.0
_SHORT_OF_ROWS = 10.0
#: Rows are not few with ten for each feature.
_ENOUGH = 0.1
#: Where no domain can be hidden, rows are, in so many parts; not if there are fewer rows.
_N_FOLDS = 3
_FEWEST_ROWS = 12

Flags = NDArray[np.bool_]


class GraphHoldout:
    r"""Splits that hide the labels of sources which lie in the graph as the targets do.

    A split hides sources :math:`h` and keeps the others. Among many patches of sources it takes
    those whose hops to the nearest kept source are spread like the hops of the targets:

    .. math::
        \min_h \; \sum_{l} | F_h(l) - F_T(l) | + | \bar s_h - \bar s_T | + | \bar o_h - \bar o_T |

    with :math:`F(l)` the share of domains at most :math:`l` hops away (1, 2, 3 or more,
    unreachable), :math:`\bar s` the mean share of a domain's edge weight that leads to labels, and
    :math:`\bar o` how much farther than the labelled domains it lies from their centre, in a
    spectral embedding of the graph. Only labels are hidden: the rows stay, as those of real
    targets do. (Leaving out one source at a time nearly always hides a domain between labelled
    neighbours, which says little about targets far away.)

    Parameters
    ----------
    n_splits : int, default=3
        The most splits to make. Each hides other sources than those before as far as it can; with
        few sources there are fewer splits.
    share : float, optional
        Share of the sources that a split hides, between 0 and 1; at least one is hidden and one
        kept. By default a fifth to a half, whichever resembles the targets most.
    random_state : int, Generator or None, default=0

    Examples
    --------
    >>> graph = DomainGraph.chain(9)  # labels in 0 to 5, none in 6, 7 and 8
    >>> for kept, hidden in GraphHoldout(2).split(graph, [0, 1, 2, 3, 4, 5], [6, 7, 8]):
    ...     print(kept, hidden)
    (0, 1, 2) (3, 4, 5)
    (3, 4, 5) (0, 1, 2)
    """

    def __init__(
        self,
        n_splits: int = 3,
        *,
        share: float | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or n_splits < 1:
            raise ValueError(f"n_splits must be a positive integer, got {n_splits!r}.")
        if share is not None and (not isinstance(share, Real) or not 0 < share < 1):
            raise ValueError(f"share must be between 0 and 1, both excluded; got {share!r}.")
        self.n_splits: int = int(n_splits)
        self.share: float | None = share
        self.random_state: int | np.random.Generator | None = random_state

    def __repr__(self) -> str:
        return f"GraphHoldout({self.n_splits}, share={self.share})"

    @staticmethod
    def can_split(data: DomainData) -> bool:
        """Whether the labels of a source can be hidden and enough be left to learn from.

        Parameters
        ----------
        data : DomainData

        Returns
        -------
        bool
            False with one source, or if one class would be left whichever source is hidden.
        """
        sources = data.sources
        if len(sources) < 2:
            return False
        present = _classes_present(data, sources)
        one_out = ~np.eye(len(sources), dtype=bool)
        return present is None or bool(_classes_left(one_out, present).any())

    def split(
        self,
        graph: DomainGraph,
        sources: Iterable[Name],
        targets: Iterable[Name] = (),
        *,
        classes: Mapping[Name, Iterable[Any]] | None = None,
    ) -> Iterator[tuple[tuple[Name, ...], tuple[Name, ...]]]:
        """Sources to keep and sources to hide, by name.

        Parameters
        ----------
        graph : DomainGraph
        sources, targets : iterable of names
            Domains with labels, and domains to imitate. Without targets the sources are scattered
            over splits at random.
        classes : mapping of names to labels, optional
            Which classes each source has: a class stays in a kept source where possible.

        Yields
        ------
        kept, hidden : tuple of names
            In the order of the graph; together the sources.
        """
        source_codes = np.unique(graph.index(list(sources)))
        target_codes = np.setdiff1d(graph.index(list(targets)), source_codes)
        names = [graph.names[code] for code in source_codes]
        present = None
        if classes is not None:
            known = sorted({label for name in names for label in classes.get(name, ())}, key=repr)
            present = np.array(
                [[label in set(classes.get(name, ())) for label in known] for name in names],
                dtype=bool,
            ).reshape(len(names), -1)
        problem = _Problem(graph, source_codes, target_codes, present)
        for hidden in self._choose(problem):
            yield (
                tuple(name for name, out in zip(names, hidden, strict=True) if not out),
                tuple(name for name, out in zip(names, hidden, strict=True) if out),
            )

    def split_codes(self, data: DomainData) -> Iterator[NDArray[np.int64]]:
        """Domains to hide, for :meth:`grada.data.DomainData.hiding`.

        Parameters
        ----------
        data : DomainData

        Yields
        ------
        int64 array
            Codes of the sources to hide, sorted.
        """
        sources = data.sources
        rows = np.bincount(data.codes[data.labelled], minlength=data.graph.n_domains)[sources]
        present = _classes_present(data, sources)
        width = np.prod(data.X.shape[1:]) / len(data.labelled)
        problem = _Problem(
            data.graph,
            sources,
            data.targets,
            present,
            rows=rows.astype(np.float64),
            short_of_rows=float(np.clip(width - _ENOUGH, 0.0, 1.0)),
        )
        for hidden in self._choose(problem):
            yield sources[hidden]

    def split_rows(self, data: DomainData) -> Iterator[NDArray[np.int64]]:
        """Labelled rows to hide, for :meth:`grada.data.DomainData.hiding_rows`.

        Parameters
        ----------
        data : DomainData

        Yields
        ------
        int64 array
            The rows of sources that are hidden; where no source can be hidden, every third row.
            Nothing if labels are too few even for that.
        """
        if self.can_split(data):
            for hidden in self.split_codes(data):
                yield data.labelled[np.isin(data.codes[data.labelled], hidden)]
            return
        yield from row_folds(data, self.random_state)

    def _choose(self, problem: _Problem) -> list[Flags]:
        """Masks over the sources: greedily the candidate that costs least, repeats included."""
        n_sources = len(problem.sources)
        if n_sources < 2:
            raise ValueError(
                f"Labels can be hidden only where two domains or more have some, but there "
                f"{'is 1' if n_sources == 1 else 'are 0'}. Label another domain, or choose "
                "without hiding labels."
            )
        rng = np.random.default_rng(self.random_state)
        candidates = _candidates(problem, self._sizes(n_sources), rng)
        if problem.classes is not None and problem.classes.shape[1] > 1:
            enough = _classes_left(~candidates, problem.classes)
            if not enough.any():
                raise ValueError(
                    "Whichever source is hidden, labels of one class are left only: each source "
                    "has a class of its own. Choose without hiding labels."
                )
            candidates = candidates[enough]
        cost = problem.cost(candidates)
        times, chosen = np.zeros(n_sources), []
        for _ in range(min(self.n_splits, len(candidates))):
            repeat = (candidates @ np.minimum(times, 2)) / candidates.sum(axis=1)
            best = int(np.argmin(cost + _REPEAT * repeat))
            chosen.append(candidates[best])
            times += candidates[best]
            cost[best] = np.inf
        return chosen

    def _sizes(self, n_sources: int) -> list[int]:
        shares = _SHARES if self.share is None else (float(self.share),)
        sizes = {int(np.clip(round(share * n_sources), 1, n_sources - 1)) for share in shares}
        return sorted(sizes)


def row_folds(
    data: DomainData, random_state: int | np.random.Generator | None = 0
) -> Iterator[NDArray[np.int64]]:
    """Every third labelled row, drawn at random; classes stay in proportion.

    Parameters
    ----------
    data : DomainData
    random_state : int, Generator or None, default=0

    Yields
    ------
    int64 array
        Rows to hide. Nothing if labels are few, or if one class would be left.
    """
    rows = np.random.default_rng(random_state).permutation(data.labelled)
    if len(rows) < _FEWEST_ROWS:
        return
    classes = data.kind == "classification"
    if classes:
        rows = rows[np.argsort(data.y[rows], kind="stable")]
    for first in range(_N_FOLDS):
        kept = np.delete(rows, np.s_[first::_N_FOLDS])
        if not classes or len(np.unique(data.y[kept])) > 1:
            yield np.sort(rows[first::_N_FOLDS])


@dataclass(frozen=True)
class _Problem:
    """What a split has to imitate."""

    graph: DomainGraph
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    classes: Flags | None = None  # (n_sources, n_classes)
    rows: NDArray[np.float64] | None = None  # labelled rows of each source
    short_of_rows: float = 0.0  # features for each labelled row, from a tenth on

    @cached_property
    def place(self) -> NDArray[np.float64]:
        """Where each domain lies in the graph."""
        return self.graph.embed("spectral", random_state=0)

    def cost(self, hidden: Flags) -> NDArray[np.float64]:
        """How unlike the targets each candidate is, shape (n_candidates,)."""
        cost = np.zeros(len(hidden))
        if len(self.targets):
            # The targets themselves first: all sources are kept for them.
            alike = np.vstack([np.ones((1, len(self.sources)), dtype=bool), ~hidden])
            level, support = self._position(alike)
            wanted = _spread(level[self.targets, :1])[0], support[self.targets, 0].mean()
            own_level, own_support = level[self.sources, 1:], support[self.sources, 1:]
            reached = _spread(own_level, hidden.T)
            size = hidden.sum(axis=1)
            supported = (own_support * hidden.T).sum(axis=0) / size
            cost += np.abs(reached - wanted[0]).sum(axis=1)
            cost += _SUPPORT * np.abs(supported - wanted[1])
            cost += _OUTSIDE * self._unlike_outside(hidden)
        if self.classes is not None:
            has = self.classes.any(axis=0).sum()
            cost += _LOST_CLASS * (has - ((~hidden @ self.classes) > 0).sum(axis=1))
        if self.rows is not None:
            lost = hidden @ self.rows / self.rows.sum()
            cost += _LOST_ROWS * np.maximum(lost - 0.6, 0)
            cost += _SHORT_OF_ROWS * self.short_of_rows * lost
        return cost

    def _unlike_outside(self, hidden: Flags) -> NDArray[np.float64]:
        """How differently from the targets hidden domains lie outside the kept, per candidate."""
        own, other = self.place[self.sources], self.place[self.targets]
        centre = own.mean(axis=0)
        wanted = _length(other - centre).mean() - _length(own - centre).mean()
        kept = ~hidden
        n_kept, n_hidden = kept.sum(axis=1), hidden.sum(axis=1)
        centres = (kept @ own) / n_kept[:, None]
        # |a - c|² = |a|² - 2 a'c + |c|², for all sources and candidates at once.
        square = (own**2).sum(axis=1) - 2 * centres @ own.T + (centres**2).sum(axis=1)[:, None]
        away = np.sqrt(np.maximum(square, 0))
        outside = (away * hidden).sum(axis=1) / n_hidden - (away * kept).sum(axis=1) / n_kept
        return np.asarray(np.abs(outside - wanted))

    def _position(self, kept: Flags) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Level and support of every domain for each set of kept sources, (n_domains, n_sets)."""
        weights = self.graph.weights
        labels = np.zeros((self.graph.n_domains, len(kept)), dtype=np.float32)
        labels[self.sources] = kept.T
        adjacent = csr_array(
            (np.ones(weights.nnz, np.float32), weights.indices, weights.indptr), weights.shape
        )
        once: Flags = np.asarray(adjacent @ labels) > 0
        twice: Flags = np.asarray(adjacent @ once.astype(np.float32)) > 0
        n_parts, part = csgraph.connected_components(weights, directed=False)
        lit = np.zeros((n_parts, len(kept)), dtype=bool)
        np.logical_or.at(lit, part[self.sources], kept.T)
        level = np.where(once, 0, np.where(twice, 1, np.where(lit[part], 2, 3)))
        degree: NDArray[np.float64] = np.asarray(weights.sum(axis=1)).ravel()
        support = (weights @ labels) / np.maximum(degree, 1e-300)[:, None]
        return level, support


def _length(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _spread(level: NDArray[np.int64], counted: Flags | None = None) -> NDArray[np.float64]:
    """Share of the counted domains up to each level, shape (n_sets, n_levels - 1)."""
    counted = np.ones(level.shape, dtype=bool) if counted is None else counted
    at_most = [(counted & (level <= highest)).sum(axis=0) for highest in range(_N_LEVELS - 1)]
    share: NDArray[np.float64] = np.stack(at_most, axis=1) / counted.sum(axis=0)[:, None]
    return share


def _candidates(problem: _Problem, sizes: list[int], rng: np.random.Generator) -> Flags:
    """Distinct sets of sources that might be hidden, shape (n_candidates, n_sources).

    Patches around a source; all but a patch around a source; whole parts of the graph; and
    scattered sources.
    """
    sources, n_sources = problem.sources, len(problem.sources)
    seeds = rng.permutation(n_sources)[:_MAX_SEEDS]
    graph = problem.graph.weights.copy()
    graph.data = 1 / graph.data  # the stronger an edge, the shorter
    away = csgraph.dijkstra(graph, directed=False, indices=sources[seeds])[:, sources]
    place = problem.place[sources]
    apart = np.stack([_length(place - place[seed]) for seed in seeds])
    # Of equally many hops, by place in the graph; what is equal in that too, in random order.
    order = np.lexsort((rng.random(away.shape), apart.round(6), away), axis=1)
    rank = np.argsort(order, axis=1)
    sets = [rank < size for size in sizes]
    sets += [rank >= n_sources - size for size in sizes]
    whole = np.isfinite(away)
    sets.append(whole[whole.sum(axis=1) <= max(sizes)])
    scattered = np.argsort(rng.random((len(seeds), n_sources)), axis=1)
    sets += [scattered < size for size in sizes]
    found = np.unique(np.vstack(sets), axis=0)
    size = found.sum(axis=1)
    # Shuffled, so that ties are not settled by the order of the names.
    return np.asarray(rng.permutation(found[(size > 0) & (size < n_sources)]))


def _classes_present(data: DomainData, sources: NDArray[np.int64]) -> Flags | None:
    if data.kind != "classification":
        return None
    present = np.zeros((data.graph.n_domains, data.n_outputs), dtype=bool)
    present[data.codes[data.labelled], data.y[data.labelled]] = True
    return present[sources]


def _classes_left(kept: Flags, classes: Flags) -> Flags:
    """Whether two classes or more are left in each set of kept sources."""
    return np.asarray(((kept @ classes) > 0).sum(axis=1) > 1)
