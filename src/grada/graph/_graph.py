"""The graph of domains: frozen, sparse, and cheap to share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Literal, NoReturn, Self

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse import csgraph

from grada.graph import _edges, _shapes
from grada.graph._discovery import discover_graph, sorted_domains
from grada.graph._embedding import embed, generator_from
from grada.graph._mixing import mix_graphs
from grada.graph._names import as_names, factorise, normalise_name, positions_of, unknown_domains
from grada.graph._rewiring import rewire
from grada.graph._types import Codes, Floats, Name, Names, RandomState, Weights
from grada.graph._weights import checked_weights, weights_from_pairs


class DomainGraph:
    """Domains and the edges between them; it never changes once made.

    The graph is a symmetric matrix of weights ``A`` with ``0 <= A_ij <= 1`` and ``A_ii = 0``,
    where ``A_ij = 0`` says that domains ``i`` and ``j`` are no neighbours. It is stored sparse, so
    that cost follows the number of edges.

    Parameters
    ----------
    names : sequence of str or int, length n_domains
        One distinct name a domain. NumPy scalars and whole floats become Python strings and ints.
    weights : array or sparse array of shape (n_domains, n_domains)
        Symmetric, in [0, 1], with an empty diagonal.
    rescale : bool, default=False
        Divide the weights by the largest one, for weights above 1.

    Attributes
    ----------
    names : tuple of str or int, length n_domains
    weights : scipy.sparse.csr_array of float64, shape (n_domains, n_domains)
        A read-only view.

    Examples
    --------
    >>> graph = DomainGraph.from_edges([("OH", "PA"), ("PA", "NY"), ("CA", "OR")])
    >>> graph
    DomainGraph(5 domains, 3 edges, 2 components)
    >>> graph.neighbors("PA")
    ('OH', 'NY')
    >>> graph.hops("OH")
    {'OH': 0, 'PA': 1, 'NY': 2, 'CA': inf, 'OR': inf}

    References
    ----------
    .. [1] Z. Xu, H. He, G.-H. Lee, Y. Wang, H. Wang. Graph-Relational Domain Adaptation.
       ICLR 2022.
    """

    names: tuple[Name, ...]
    _weights: Weights
    _positions: dict[Name, int]

    def __init__(self, names: Names, weights: object, *, rescale: bool = False) -> None:
        own_names = as_names(names)
        if not own_names:
            raise ValueError("a graph needs at least one domain")
        # The class refuses assignment, so the three fields are set behind its back, once.
        fields = self.__dict__
        fields["names"] = own_names
        fields["_positions"] = positions_of(own_names)
        fields["_weights"] = checked_weights(own_names, weights, rescale=rescale)

    # ---------------------------------------------------------------- builders

    @classmethod
    def from_edges(
        cls, edges: Iterable[Any], *, names: Names | None = None, rescale: bool = False
    ) -> Self:
        """Build a graph from pairs of names.

        Parameters
        ----------
        edges : iterable of pairs or triples, or array of shape (n_edges, 2) or (n_edges, 3)
            ``(first, second)`` or ``(first, second, weight)``.
            Edges without direction; without a weight it is 1. The same edge may come twice, or
            both ways, as long as the weights agree.
        names : sequence of str or int, optional
            All domains in their order, including those without an edge. By default the domains
            stand in the order in which the edges mention them.
        rescale : bool, default=False
            Divide the weights by the largest one.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.from_edges([("OH", "PA"), ("PA", "NY", 0.5)], names=["NY", "OH", "PA"])
        DomainGraph(3 domains, 2 weighted edges)
        """
        return cls(*_edges.edges_to_graph(edges, names), rescale=rescale)

    @classmethod
    def from_adjacency(
        cls, matrix: Any, names: Names | None = None, *, rescale: bool = False
    ) -> Self:
        """Build a graph from a matrix of weights.

        Parameters
        ----------
        matrix : array, DataFrame or sparse array of shape (n_domains, n_domains)
            Symmetric weights. A DataFrame names the domains by its index and its columns, which
            may come in different orders.
        names : sequence of str or int, length n_domains, optional
            By default ``0, 1, ..., n_domains - 1``, or the labels of the DataFrame.
        rescale : bool, default=False
            Divide the weights by the largest one.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.from_adjacency([[0, 1], [1, 0]], names=["left", "right"])
        DomainGraph(2 domains, 1 edge)
        """
        return cls(*_edges.matrix_to_graph(matrix, names), rescale=rescale)

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph[Any], *, weight: str | None = "weight", rescale: bool = False
    ) -> Self:
        """Build a graph from a networkx graph.

        Parameters
        ----------
        graph : networkx.Graph
            Its nodes are the domains. A directed graph is taken if every edge goes both ways with
            the same weight.
        weight : str or None, default="weight"
            Edge attribute that holds the weight; 1 where an edge has none. None ignores weights.
        rescale : bool, default=False
            Divide the weights by the largest one.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> import networkx as nx
        >>> DomainGraph.from_networkx(nx.cycle_graph(5))
        DomainGraph(5 domains, 5 edges)
        """
        return cls(*_edges.networkx_to_graph(graph, weight), rescale=rescale)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        names: Names | None = None,
        rescale: bool = False,
    ) -> Self:
        """Build a graph from a table with one edge a row.

        Parameters
        ----------
        frame : DataFrame of shape (n_edges, n_columns)
            Edges without direction.
        source, target : str, default="source", "target"
            Columns with the names of the two ends.
        weight : str, optional
            Column with the weight, by default ``"weight"`` if there is such a column, else all
            weights are 1.
        names : sequence of str or int, optional
            All domains in their order, including those without an edge.
        rescale : bool, default=False
            Divide the weights by the largest one.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> frame = pd.DataFrame({"source": ["OH", "PA"], "target": ["PA", "NY"]})
        >>> DomainGraph.from_frame(frame)
        DomainGraph(3 domains, 2 edges)
        """
        parts = _edges.frame_to_graph(frame, source, target, weight, names)
        return cls(*parts, rescale=rescale)

    @classmethod
    def from_tree(cls, tree: Mapping[Any, Any], *, siblings: bool = False) -> Self:
        """Build a graph from a taxonomy: every node is a domain, joined to its parent.

        Parameters
        ----------
        tree : mapping
            Either child to parent, with None as the parent of a root, such as
            ``{"cat": "mammal", "dog": "mammal"}``; or nested from the roots down, such as
            ``{"mammal": {"cat": {}, "dog": {}}}``, where a list of names may stand for children
            that are all leaves. Several roots are allowed.
        siblings : bool, default=False
            Also join the children of a node to each other. With ``subgraph(leaves)`` this leaves a
            graph of the leaves alone. A node of k children adds k (k - 1) / 2 edges.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.from_tree({"cat": "mammal", "dog": "mammal", "mammal": "animal"})
        DomainGraph(4 domains, 3 edges)
        >>> DomainGraph.from_tree({"mammal": ["cat", "dog"]}, siblings=True)
        DomainGraph(3 domains, 3 edges)
        """
        return cls(*_shapes.tree_to_graph(tree, siblings=siblings))

    @classmethod
    def from_regions(
        cls, regions: Any, *, name: str | None = None, contact: Literal["edge", "point"] = "edge"
    ) -> Self:
        """Join regions that share a border.

        Parameters
        ----------
        regions : GeoDataFrame or GeoSeries of shape (n_domains, ...)
            One region a row. Needs the extra ``pip install grada[geo]``.
        name : str, optional
            Column with the names, by default the index.
        contact : {"edge", "point"}, default="edge"
            ``"edge"`` joins regions whose borders share a line or that overlap; ``"point"`` also
            those that meet in a corner only, such as Utah and New Mexico.

        Returns
        -------
        DomainGraph
            Regions without contact, such as islands, have no edge. A gap parts two regions, however
            thin it is.

        Examples
        --------
        >>> import geopandas, shapely  # doctest: +SKIP
        >>> squares = [shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)]  # doctest: +SKIP
        >>> regions = geopandas.GeoSeries(squares, index=["west", "east"])  # doctest: +SKIP
        >>> DomainGraph.from_regions(regions)  # doctest: +SKIP
        DomainGraph(2 domains, 1 edge)
        """
        return cls(*_shapes.regions_to_graph(regions, name, contact))

    @classmethod
    def clique(cls, names: Names | int) -> Self:
        """Join every domain to every other.

        Parameters
        ----------
        names : sequence of str or int, or int
            The domains, or their number: ``clique(3)`` has the domains 0, 1 and 2.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.clique(["a", "b", "c"])
        DomainGraph(3 domains, 3 edges)
        """
        every = as_names(names)
        return cls(every, 1.0 - np.eye(len(every)))

    @classmethod
    def chain(cls, names: Names | int) -> Self:
        """Join every domain to the next one.

        Parameters
        ----------
        names : sequence of str or int, or int
            The domains in their order, or their number.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.chain([1990, 2000, 2010]).neighbors(2000)
        (1990, 2010)
        """
        every = as_names(names)
        steps = np.arange(len(every) - 1)
        return cls(every, weights_from_pairs(every, steps, steps + 1))

    @classmethod
    def star(cls, center: Name, leaves: Names) -> Self:
        """Join one domain to all others.

        Parameters
        ----------
        center : str or int
        leaves : sequence of str or int

        Returns
        -------
        DomainGraph
            The center comes first.

        Examples
        --------
        >>> DomainGraph.star("national", ["north", "south"]).neighbors("south")
        ('national',)
        """
        every = (normalise_name(center), *as_names(leaves, what="leaves"))
        ends = np.arange(1, len(every))
        return cls(every, weights_from_pairs(every, np.zeros_like(ends), ends))

    @classmethod
    def grid(cls, rows: Names | int, columns: Names | int, *, diagonal: bool = False) -> Self:
        """Join the cells of a table to the cells beside, above and below.

        Parameters
        ----------
        rows, columns : int or sequence of str or int
            Their number or their labels. Numbers give names such as ``"r0c0"``; labels give
            ``"row/column"``, such as ``"monday/9"``.
        diagonal : bool, default=False
            Also join cells that meet in a corner.

        Returns
        -------
        DomainGraph
            Row by row.

        Examples
        --------
        >>> DomainGraph.grid(2, 2).names
        ('r0c0', 'r0c1', 'r1c0', 'r1c1')
        >>> DomainGraph.grid(["monday", "tuesday"], [9, 10]).neighbors("monday/9")
        ('monday/10', 'tuesday/9')
        """
        return cls(*_shapes.grid_to_graph(rows, columns, diagonal=diagonal))

    @classmethod
    def knn(
        cls,
        coordinates: Any,
        n_neighbors: int = 5,
        names: Names | None = None,
        *,
        weighted: bool = False,
    ) -> Self:
        r"""Join every domain to its nearest ones.

        .. math:: A_{ij} = 1 \quad \text{or, weighted,} \quad A_{ij} = 1 / (1 + (d_{ij} / s)^2)

        with :math:`d_{ij}` the Euclidean distance and :math:`s` its median over all edges.

        Parameters
        ----------
        coordinates : array or DataFrame of shape (n_domains, n_coordinates) or (n_domains,)
            Where the domains lie. Longitudes and latitudes should be projected first.
        n_neighbors : int, default=5
            An edge stands if at least one of its ends counts the other among its nearest.
        names : sequence of str or int, length n_domains, optional
            By default the index of a DataFrame, else ``0, 1, ..., n_domains - 1``.
        weighted : bool, default=False
            Let weights fall with the distance.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.knn([1990, 1995, 2010], n_neighbors=1, names=["a", "b", "c"]).neighbors("b")
        ('a', 'c')
        """
        return cls(*_shapes.points_to_graph(coordinates, n_neighbors, names, weighted=weighted))

    @classmethod
    def discover(
        cls,
        X: Any,
        sample_domain: Any,
        *,
        metadata: Any = None,
        distance: Literal["sliced-wasserstein", "energy", "mmd"] = "sliced-wasserstein",
        metadata_share: float = 0.5,
        n_neighbors: int | None = None,
        random_state: RandomState = 0,
    ) -> Self:
        r"""Find which domains are near each other, from rows without labels.

        .. math:: A_{ij} = 1 / (1 + l_{ij}^2), \quad
            l_{ij} = |s_i - s_j| / \sqrt{\sigma_i \sigma_j}

        with :math:`s_i` a sketch of the rows of domain :math:`i`, such that :math:`|s_i - s_j|` is
        a distance between distributions, and :math:`\sigma_i` its distance to the eighth nearest
        domain. An edge stands where each end counts the other among its nearest; a shortest
        spanning tree keeps the graph in one part.

        Rows say nothing about a domain whose classes have changed places: it looks the same.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_features)
            Standardised inside; columns of text become a column a category.
        sample_domain : array-like of shape (n_rows,)
            Name of each row's domain.
        metadata : DataFrame, or mapping of column to values, optional
            What else is known: a value a row, or a value a domain (the index, or an inner mapping,
            names the domains). Columns ``latitude`` and ``longitude`` (or ``lat``, ``lon``) count
            by the great circle, numbers, tuples of them and times by difference, other values by
            being the same.
        distance : {"sliced-wasserstein", "energy", "mmd"}, default="sliced-wasserstein"
            What to compare along random directions: quantiles, distribution functions, or random
            Fourier features.
        metadata_share : float, default=0.5
            What metadata counts beside the rows, from 0 to 1.
        n_neighbors : int, optional
            How many near domains an end may count; by default 3, and 4 from 1,000 domains on.
        random_state : int, RandomState, Generator or None, default=0
            Source of the random directions.

        Returns
        -------
        DomainGraph
            Connected, with weights in (0, 1]; names sorted, numbers first.

        Examples
        --------
        >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]
        >>> years = [1990, 1990, 2000, 2000, 2010, 2010]
        >>> DomainGraph.discover(X, years, n_neighbors=1).neighbors(2000)
        (1990, 2010)

        References
        ----------
        .. [1] N. Bonneel, J. Rabin, G. Peyre, H. Pfister. Sliced and Radon Wasserstein Barycenters
           of Measures. JMIV 51, 2015.
        .. [2] L. Zelnik-Manor, P. Perona. Self-Tuning Spectral Clustering. NeurIPS 2004.
        """
        parts = discover_graph(
            X,
            sample_domain,
            metadata=metadata,
            distance=distance,
            metadata_share=metadata_share,
            n_neighbors=n_neighbors,
            random_state=random_state,
        )
        return cls(*parts)

    @classmethod
    def without_edges(cls, names: Names) -> Self:
        """Name domains and join none of them.

        Parameters
        ----------
        names : sequence, array or Series of str or int
            Names of domains, such as the domain of each row of a table: any may come twice.

        Returns
        -------
        DomainGraph
            Sorted, numbers before text.

        Examples
        --------
        >>> DomainGraph.without_edges(["b", "a", "b"]).names
        ('a', 'b')
        """
        every = sorted_domains(names)[1]
        return cls(every, sparse.csr_array((len(every), len(every))))

    @classmethod
    def mix(cls, graphs: Sequence[DomainGraph], shares: Sequence[float] | None = None) -> Self:
        r"""Average several graphs of the same domains.

        .. math:: A_{ij} = \sum_g \theta_g A^{(g)}_{ij}, \quad \theta_g \ge 0,\
            \sum_g \theta_g = 1

        Parameters
        ----------
        graphs : sequence of DomainGraph
            With weights of any kind in [0, 1]. A domain that a graph lacks has no edge in it.
        shares : sequence of float, length n_graphs, optional
            What each graph counts, brought to sum 1; by default all the same.

        Returns
        -------
        DomainGraph
            All domains, in the order in which the graphs mention them.

        Examples
        --------
        >>> roads = DomainGraph.chain(["a", "b", "c"])
        >>> rivers = DomainGraph.from_edges([("a", "b"), ("a", "c")])
        >>> DomainGraph.mix([roads, rivers], [0.75, 0.25]).to_networkx()["a"]["c"]["weight"]
        0.25
        """
        return cls(*mix_graphs(graphs, shares))

    # ------------------------------------------------------------ what it holds

    @property
    def weights(self) -> Weights:
        """Weights of the edges, a read-only sparse array of shape (n_domains, n_domains)."""
        # A new wrapper around the same arrays: assigning to an entry of a sparse array would
        # otherwise replace the arrays inside the graph.
        own = self._weights
        view = sparse.csr_array((own.data, own.indices, own.indptr), shape=own.shape, copy=False)
        view.has_canonical_format = True
        return view

    @property
    def n_domains(self) -> int:
        """Number of domains."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return int(self._weights.nnz) // 2

    @property
    def expected_edge(self) -> float:
        """Expected weight between two domains drawn independently and uniformly.

        ``E[A_ij] = sum_ij A_ij / n_domains ** 2``

        Examples
        --------
        >>> DomainGraph.clique(4).expected_edge
        0.75
        """
        return float(self._weights.sum()) / self.n_domains**2

    @cached_property
    def components(self) -> tuple[tuple[Name, ...], ...]:
        """The parts of the graph that no edge joins, largest first.

        Examples
        --------
        >>> DomainGraph.from_edges([(0, 1), (2, 3), (3, 4)]).components
        ((2, 3, 4), (0, 1))
        """
        _, labels = csgraph.connected_components(self._weights, directed=False)
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        # The sort is stable, so parts of one size keep the order of their first domains.
        groups.sort(key=lambda group: (-len(group), int(group[0])))
        return tuple(tuple(self.names[at] for at in group.tolist()) for group in groups)

    @property
    def isolated(self) -> tuple[Name, ...]:
        """The domains without an edge.

        Examples
        --------
        >>> DomainGraph.from_edges([("OH", "PA")], names=["OH", "PA", "HI"]).isolated
        ('HI',)
        """
        alone = np.flatnonzero(np.diff(self._weights.indptr) == 0)
        return tuple(self.names[at] for at in alone.tolist())

    # ---------------------------------------------------------------- questions

    def index(self, names: Names) -> Codes:
        """Find the position of every name.

        Parameters
        ----------
        names : sequence, array or Series of str or int, shape (n_rows,)
            Names of domains, such as the domain of each row of a table.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
            Positions in ``graph.names``.

        Raises
        ------
        UnknownDomainError
            If a name is no domain of the graph.

        Examples
        --------
        >>> DomainGraph.chain(["a", "b", "c"]).index(["c", "a", "c"])
        array([2, 0, 2])
        """
        codes, distinct = factorise(names, what="the column of domains")
        unknown = [name for name in distinct if name not in self._positions]
        if unknown:
            raise unknown_domains(unknown, self.names)
        return np.array([self._positions[name] for name in distinct], dtype=np.int64)[codes]

    def hop_array(self, sources: Names | Name) -> Floats:
        """Count the edges between each domain and its nearest source.

        Parameters
        ----------
        sources : name or sequence of names
            Where to start.

        Returns
        -------
        ndarray of float64, shape (n_domains,)
            In the order of ``graph.names``; infinite where no source can be reached.

        Examples
        --------
        >>> DomainGraph.chain(4).hop_array([0])
        array([0., 1., 2., 3.])
        """
        return self.hops_from(self.index([sources] if isinstance(sources, str | int) else sources))

    def hops_from(self, codes: Codes) -> Floats:
        """Count the edges between each domain and the nearest of some, given by position.

        Parameters
        ----------
        codes : int array
            Positions in ``graph.names``.

        Returns
        -------
        ndarray of float64, shape (n_domains,)
            Infinite where none of them can be reached.

        Examples
        --------
        >>> DomainGraph.chain(4).hops_from(np.array([1]))
        array([1., 0., 1., 2.])
        """
        starts = np.unique(codes)
        if not len(starts):
            return np.full(self.n_domains, np.inf)
        return csgraph.dijkstra(self._weights, unweighted=True, indices=starts, min_only=True)

    def hops(self, sources: Names | Name) -> dict[Name, int | float]:
        """Count the edges between each domain and its nearest source, by name.

        Parameters
        ----------
        sources : name or sequence of names
            Where to start.

        Returns
        -------
        dict of name to int
            ``math.inf`` where no source can be reached.

        Examples
        --------
        >>> DomainGraph.star("hub", ["a", "b"]).hops(["a"])
        {'hub': 1, 'a': 0, 'b': 2}
        """
        distances = self.hop_array(sources).tolist()
        return {
            name: int(distance) if math.isfinite(distance) else math.inf
            for name, distance in zip(self.names, distances, strict=True)
        }

    def neighbors(self, name: Name) -> tuple[Name, ...]:
        """Name the domains that share an edge with one domain.

        Parameters
        ----------
        name : str or int

        Returns
        -------
        tuple of str or int
            In the order of ``graph.names``.

        Examples
        --------
        >>> DomainGraph.chain(["a", "b", "c"]).neighbors("b")
        ('a', 'c')
        """
        at = int(self.index([name])[0])
        own = self._weights
        found = own.indices[own.indptr[at] : own.indptr[at + 1]]
        return tuple(self.names[other] for other in found.tolist())

    def embed(
        self,
        kind: str = "reconstruction",
        dim: int | None = None,
        *,
        random_state: RandomState = None,
    ) -> Floats:
        """Place every domain in the unit ball, so that neighbours lie near each other.

        ``L = E_ij[-A_ij log s(z_i'z_j) - (1 - A_ij) log(1 - s(z_i'z_j))]`` for the kind
        ``"reconstruction"``, with ``s`` the sigmoid.

        Parameters
        ----------
        kind : str, default="reconstruction"
            ``"reconstruction"`` fits the loss above; ``"spectral"`` takes the leading eigenvectors
            of the normalised weights; ``"node2vec"`` [2]_ brings together what random walks meet
            together; ``"line"`` [3]_ neighbours and domains with the same neighbours; ``"vgae"``
            [4]_ is a variational graph auto-encoder and needs torch_geometric
            (``pip install "grada[gnn]"``); ``"one-hot"`` gives each domain an axis of its own.
        dim : int, optional
            Length of an embedding, by default
            ``max(2, min(16, ceil(log2(n_domains)) + 1))``, and ``n_domains`` for ``"one-hot"``.
        random_state : int, RandomState, Generator or None, default=None
            An int gives the same embeddings every time. The global seeds are never touched.

        Returns
        -------
        ndarray of float64, shape (n_domains, dim)
            Every row has a norm of at most 1.

        Examples
        --------
        >>> DomainGraph.chain(30).embed(random_state=0).shape
        (30, 6)

        References
        ----------
        .. [1] Z. Xu, H. He, G.-H. Lee, Y. Wang, H. Wang. Graph-Relational Domain Adaptation.
           ICLR 2022, section 3.
        .. [2] A. Grover, J. Leskovec. node2vec: Scalable Feature Learning for Networks. KDD 2016.
        .. [3] J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan, Q. Mei. LINE: Large-scale Information
           Network Embedding. WWW 2015.
        .. [4] T. N. Kipf, M. Welling. Variational Graph Auto-Encoders. NeurIPS Workshop on
           Bayesian Deep Learning, 2016.
        """
        return embed(self.weights, kind, dim, random_state=random_state)

    # ------------------------------------------------------------- other graphs

    def subgraph(self, names: Names) -> Self:
        """Keep some domains and the edges between them.

        Parameters
        ----------
        names : sequence of str or int
            The domains to keep, in their new order; a set keeps the old one.

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.chain(["a", "b", "c"]).subgraph(["c", "b"]).names
        ('c', 'b')
        """
        kept = self.index(names)
        if isinstance(names, Set):
            kept.sort()
        return type(self)([self.names[at] for at in kept.tolist()], self._weights[kept][:, kept])

    def with_domains(self, names: Names) -> Self:
        """Add domains without edges; those the graph has already stay as they are.

        Parameters
        ----------
        names : sequence of str or int

        Returns
        -------
        DomainGraph

        Examples
        --------
        >>> DomainGraph.chain(["a", "b"]).with_domains(["b", "island"]).names
        ('a', 'b', 'island')
        """
        every = tuple(dict.fromkeys(self.names + tuple(factorise(names)[1])))
        own = self._weights
        ends = np.pad(own.indptr, (0, len(every) - self.n_domains), mode="edge")
        shape = (len(every), len(every))
        return type(self)(every, sparse.csr_array((own.data, own.indices, ends), shape=shape))

    def rewired(self, random_state: RandomState = None) -> Self:
        """Join other domains at random, so that each keeps its number of neighbours.

        What a graph is worth shows against such graphs, which share its density and its hubs and
        nothing else. See :func:`grada.selection.graph_value`.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        DomainGraph
            With the weights of this graph, on other edges; the same graph where no other has these
            numbers of neighbours, such as a clique or a star.

        Examples
        --------
        >>> DomainGraph.chain(20).rewired(random_state=0).n_edges
        19
        """
        return type(self)(self.names, rewire(self.weights, generator_from(random_state)))

    def to_networkx(self) -> nx.Graph[Name]:
        """Turn the graph into a networkx graph with the weights as attribute ``"weight"``.

        Returns
        -------
        networkx.Graph

        Examples
        --------
        >>> DomainGraph.chain(["a", "b"]).to_networkx().edges(data="weight")
        EdgeDataView([('a', 'b', 1.0)])
        """
        above = sparse.triu(self._weights, 1, format="coo")
        graph: nx.Graph[Name] = nx.Graph()
        graph.add_nodes_from(self.names)
        graph.add_weighted_edges_from(
            (self.names[first], self.names[second], weight)
            for first, second, weight in zip(
                above.row.tolist(), above.col.tolist(), above.data.tolist(), strict=True
            )
        )
        return graph

    # ------------------------------------------------------------- the protocol

    def __repr__(self) -> str:
        weighted = "weighted " if self._weights.nnz and self._weights.data.min() < 1 else ""
        text = f"{_count(self.n_domains, 'domain')}, {_count(self.n_edges, weighted + 'edge')}"
        if len(self.components) > 1:
            text += f", {len(self.components)} components"
        return f"{type(self).__name__}({text})"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        # A lookup alone would find 1 when asked for True.
        return isinstance(name, str | numbers.Integral) and (
            not isinstance(name, bool) and name in self._positions
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DomainGraph):
            return NotImplemented
        if self is other:
            return True
        ours, theirs = self._weights, other._weights
        return self.names == other.names and all(
            np.array_equal(getattr(ours, part), getattr(theirs, part))
            for part in ("indptr", "indices", "data")
        )

    @cached_property
    def _hash(self) -> int:
        return hash((self.names, self.n_edges))

    def __hash__(self) -> int:
        return self._hash

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Nothing can change it, so a copy would only cost memory; scikit-learn's clone asks often.
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.weights)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"a DomainGraph never changes, so {name!r} cannot be set: build a new one"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a DomainGraph never changes, so {name!r} cannot be deleted")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
