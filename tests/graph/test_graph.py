"""DomainGraph: what it takes, what it refuses, and that its answers agree with networkx."""

from __future__ import annotations

import copy
import math
import pickle
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from grada.graph import DomainGraph, UnknownDomainError

odd_names = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["New York", "it's", 'a "quoted" one', "Österreich", "東京", " ", "1", "a,b"]),
    st.integers(-(10**20), 10**20),
)


@st.composite
def graphs(draw: st.DrawFn, min_size: int = 1, max_size: int = 8) -> DomainGraph:
    """Any small graph, weighted, with odd names."""
    names = draw(st.lists(odd_names, min_size=min_size, max_size=max_size, unique=True))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    weights = st.one_of(st.none(), st.just(1.0), st.floats(1e-300, 1.0))
    drawn = draw(st.lists(weights, min_size=len(pairs), max_size=len(pairs)))
    edges = [(*pair, w) for pair, w in zip(pairs, drawn, strict=True) if w is not None]
    return DomainGraph.from_edges(edges, names=names)


# ------------------------------------------------------------------------ round trips


@given(graphs())
def test_every_way_out_leads_back_in(graph: DomainGraph) -> None:
    assert DomainGraph.from_networkx(graph.to_networkx()) == graph
    assert DomainGraph.from_adjacency(graph.weights, graph.names) == graph
    assert DomainGraph.from_adjacency(graph.weights.toarray(), graph.names) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph  # noqa: S301
    edges = list(graph.to_networkx().edges(data="weight"))
    assert DomainGraph.from_edges(edges, names=graph.names) == graph
    both_ways = edges + [(b, a, w) for a, b, w in edges]
    assert DomainGraph.from_edges(both_ways, names=graph.names) == graph
    frame = pd.DataFrame(edges, columns=["a", "b", "weight"], dtype=object)
    assert DomainGraph.from_frame(frame, source="a", target="b", names=graph.names) == graph


@given(graphs(), st.randoms(use_true_random=False))
def test_frame_with_shuffled_columns(graph: DomainGraph, random: object) -> None:
    index = pd.Index(graph.names, dtype=object)
    frame = pd.DataFrame(graph.weights.toarray(), index=index, columns=index)
    order = list(range(len(graph)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert DomainGraph.from_adjacency(frame.iloc[:, order]) == graph


@given(graphs())
def test_weights_are_canonical(graph: DomainGraph) -> None:
    weights = graph.weights
    assert isinstance(weights, sparse.csr_array)
    assert weights.dtype == np.float64
    assert weights.has_sorted_indices
    dense = weights.toarray()
    assert np.array_equal(dense, dense.T)
    assert not dense.diagonal().any()
    assert weights.data.all()
    assert dense.max(initial=0) <= 1
    assert graph.n_edges == np.count_nonzero(np.triu(dense))


# --------------------------------------------------------------- answers, by brute force


@given(graphs(), st.data())
def test_hops_are_shortest_paths(graph: DomainGraph, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.sampled_from(graph.names), max_size=3))
    truth = dict.fromkeys(graph.names, math.inf)
    if sources:
        truth |= nx.multi_source_dijkstra_path_length(
            graph.to_networkx(), set(sources), weight=lambda *_: 1
        )
    assert graph.hops(sources) == truth
    assert dict(zip(graph.names, graph.hop_array(sources), strict=True)) == truth


@given(graphs())
def test_answers_agree_with_networkx(graph: DomainGraph) -> None:
    other = graph.to_networkx()
    parts = {frozenset(part) for part in nx.connected_components(other)}
    assert {frozenset(part) for part in graph.components} == parts
    assert [len(part) for part in graph.components] == sorted(map(len, parts), reverse=True)
    assert set(graph.isolated) == set(nx.isolates(other))
    for name in graph:
        assert set(graph.neighbors(name)) == set(other[name])
    size = len(graph)
    pairs = [graph.weights[i, j] for i in range(size) for j in range(size)]
    assert graph.expected_edge == pytest.approx(sum(pairs) / size**2)


@given(graphs(), st.data())
def test_subgraph_keeps_what_lies_between(graph: DomainGraph, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.sampled_from(graph.names), min_size=1, unique=True))
    part = graph.subgraph(kept)
    assert part.names == tuple(kept)
    for name in kept:
        assert set(part.neighbors(name)) == set(graph.neighbors(name)) & set(kept)
    assert part.subgraph(kept[::-1]) == graph.subgraph(kept[::-1])
    whole = part.with_domains(graph.names)
    assert set(whole.names) == set(graph.names)
    assert whole.subgraph(kept) == part


@given(graphs(), st.data())
def test_index_finds_every_row(graph: DomainGraph, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.sampled_from(graph.names), max_size=20))
    found = graph.index(rows)
    assert found.dtype == np.int64
    assert [graph.names[at] for at in found] == rows
    column = pd.Series(rows, dtype=object)
    assert np.array_equal(graph.index(column), found)
    assert np.array_equal(graph.index(column.astype("category")), found)


# ----------------------------------------------------------------------------- names


def test_names_become_python_strings_and_ints() -> None:
    graph = DomainGraph([np.str_("a"), np.int32(1), 2.0, np.float64(3)], np.zeros((4, 4)))
    assert graph.names == ("a", 1, 2, 3)
    assert [type(name) for name in graph.names] == [str, int, int, int]
    assert graph.index(np.array([3.0, 1.0])).tolist() == [3, 1]
    assert graph.index(pd.Series([3, 1], dtype="Int64")).tolist() == [3, 1]
    assert 1 in graph
    assert True not in graph
    assert "1" not in graph


def test_a_string_is_never_its_number() -> None:
    graph = DomainGraph.from_edges([("1", 1), (1, "a")])
    assert graph.names == ("1", 1, "a")
    assert graph.index(["1", 1]).tolist() == [0, 1]


@pytest.mark.parametrize("name", [True, np.bool_(False), None, math.nan, 1.5, pd.NA, ("a", "b")])
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises((TypeError, ValueError), match="domain name"):
        DomainGraph(["a", name], np.zeros((2, 2)))
    with pytest.raises((TypeError, ValueError), match=r"domain name|has no domain"):
        DomainGraph.from_edges([("a", 1), (1, name)])
    with pytest.raises((TypeError, ValueError), match=r"domain name|has no domain"):
        DomainGraph.chain(["a", 1, 0]).index(["a", name, 1])


@pytest.mark.parametrize(
    ("graph", "rows", "hint"),
    [
        (DomainGraph.chain(["1", "2"]), [1, 2, 2], r"2 domains.*'1' \(str\) where 1 \(int\)"),
        (DomainGraph.chain([1, 2]), ["2"], r"1 domain is.*2 \(int\) where '2' \(str\)"),
        (DomainGraph.chain(["Ohio", "Iowa"]), ["Ohio ", "Iowa"], "'Ohio ' was given.*spaces"),
        (DomainGraph.chain(["Ohio", "Iowa"]), ["OHIO"], "'Ohio' where 'OHIO'.*case"),
        (DomainGraph.chain(["Ohio", "Iowa"]), ["Utah"], "'Utah'.*with_domains"),
    ],
)
def test_unknown_domains_are_named(graph: DomainGraph, rows: list[object], hint: str) -> None:
    with pytest.raises(UnknownDomainError, match=hint) as caught:
        graph.index(rows)
    assert set(caught.value.domains) <= set(rows)
    assert pickle.loads(pickle.dumps(caught.value)).domains == caught.value.domains  # noqa: S301


def test_index_names_the_row_without_a_domain() -> None:
    with pytest.raises(ValueError, match="1 of 3 rows, the first at position 2"):
        DomainGraph.chain(["a", "b"]).index(pd.Series(["a", "b", None]))
    with pytest.raises(TypeError, match="sequence of domain names, got 'a'"):
        DomainGraph.chain(["a", "b"]).index("a")
    with pytest.raises(ValueError, match="one column"):
        DomainGraph.chain(["a", "b"]).index(pd.DataFrame({"state": ["a", "b"]}))


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        (-0.5, "negative"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        (2.0, "rescale=True"),
    ],
)
def test_a_wrong_weight_names_its_pair(weight: float, reason: str) -> None:
    edges = [("a b", "c", 1.0), ("c", "d'e", weight)]
    with pytest.raises(ValueError, match=rf"(?s)'c' and \"d'e\".*{reason}"):
        DomainGraph.from_edges(edges)


def test_rescale_divides_by_the_largest() -> None:
    graph = DomainGraph.from_edges([("a", "b", 4), ("b", "c", 1)], rescale=True)
    assert graph.weights.toarray().tolist() == [[0, 1, 0], [1, 0, 0.25], [0, 0.25, 0]]


def test_direction_loops_and_conflicts_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'a' and 'b' weighs 0\.5 one way and 0\.25"):
        DomainGraph(["a", "b"], [[0, 0.5], [0.25, 0]])
    with pytest.raises(ValueError, match="'b' has an edge to itself"):
        DomainGraph(["a", "b"], [[0, 0.5], [0.5, 1]])
    with pytest.raises(ValueError, match="'b' has an edge to itself"):
        DomainGraph.from_edges([("a", "b"), ("b", "b")])
    with pytest.raises(ValueError, match=r"'a' and 'b' is given twice, with weights 0\.5 and 1"):
        DomainGraph.from_edges([("a", "b", 0.5), ("b", "a", 1)])
    with pytest.raises(ValueError, match="more than one 'a'"):
        DomainGraph(["a", "b", "a"], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="mention 'z'"):
        DomainGraph.from_edges([("a", "z")], names=["a", "b"])
    with pytest.raises(ValueError, match="from 'a' to 'b' has no counterpart"):
        DomainGraph.from_networkx(nx.DiGraph([("a", "b")]))
    with pytest.raises(ValueError, match=r"but 0 \(int\) is in the index only"):
        DomainGraph.from_adjacency(pd.DataFrame([[0, 1], [1, 0]], columns=["0", "1"]))
    with pytest.raises(ValueError, match="no column 'target', only 'source', 'to'"):
        DomainGraph.from_frame(pd.DataFrame({"source": ["a"], "to": ["b"]}))
    with pytest.raises(ValueError, match="at least one domain"):
        DomainGraph.from_edges([])
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        DomainGraph(["a", "b"], np.zeros((3, 3)))


def test_rounding_is_forgiven() -> None:
    third = 1 / 3
    graph = DomainGraph(["a", "b"], [[0, third], [third * (1 + 1e-15), 0]])
    assert graph.weights[0, 1] == graph.weights[1, 0]
    assert DomainGraph(["a", "b"], [[0, 1 + 1e-12], [1 + 1e-12, 0]]).weights[0, 1] == 1


# ----------------------------------------------------------------------------- builders


def test_edges_in_any_form() -> None:
    graph = DomainGraph.from_edges([(3, 1), (1, 2)])
    assert graph.names == (3, 1, 2)
    assert DomainGraph.from_edges(np.array([[3, 1], [1, 2]])) == graph
    assert DomainGraph.from_edges(np.array([[3, 1, 1.0], [1, 2, 1.0]])) == graph
    assert DomainGraph.from_edges(iter([(3, 1), [1, 2]])) == graph
    frame = pd.DataFrame({"source": [3.0, 1.0], "target": [1, 2]})
    assert DomainGraph.from_frame(frame) == graph


def test_a_directed_graph_that_goes_both_ways() -> None:
    there_and_back = nx.DiGraph([("a", "b"), ("b", "a")])
    assert DomainGraph.from_networkx(there_and_back) == DomainGraph.chain(["a", "b"])
    weighted = nx.Graph()
    weighted.add_edge("a", "b", weight=5)
    assert DomainGraph.from_networkx(weighted, weight=None) == DomainGraph.chain(["a", "b"])


def test_trees_flat_and_nested() -> None:
    flat = DomainGraph.from_tree({"cat": "mammal", "dog": "mammal", "mammal": None, "fish": None})
    nested = DomainGraph.from_tree({"mammal": {"cat": {}, "dog": None}, "fish": []})
    assert set(flat.neighbors("mammal")) == set(nested.neighbors("mammal")) == {"cat", "dog"}
    assert flat.isolated == nested.isolated == ("fish",)
    family = DomainGraph.from_tree({"mammal": ["cat", "dog", "cow"]}, siblings=True)
    assert family.subgraph(["cat", "dog", "cow"]).n_edges == 3
    with pytest.raises(ValueError, match="'a' is its own ancestor"):
        DomainGraph.from_tree({"a": "b", "b": "c", "c": "a"})
    with pytest.raises(ValueError, match="'cat' stands in the tree more than once"):
        DomainGraph.from_tree({"mammal": ["cat"], "pet": ["cat"]})
    deep = {"n0": {}}
    for level in range(1, 3000):
        deep = {f"n{level}": deep}
    assert DomainGraph.from_tree(deep).n_edges == 2999


def test_plain_shapes() -> None:
    assert DomainGraph.clique(4).n_edges == 6
    assert DomainGraph.chain(1).names == (0,)
    assert DomainGraph.star("hub", ["a", "b"]).neighbors("hub") == ("a", "b")
    grid = DomainGraph.grid(3, 4)
    assert nx.is_isomorphic(grid.to_networkx(), nx.grid_2d_graph(3, 4))
    assert grid.hops("r0c0")["r2c3"] == 5
    assert DomainGraph.grid(3, 4, diagonal=True).hops("r0c0")["r2c3"] == 3
    assert DomainGraph.grid(["x"], 2).names == ("x/c0", "x/c1")


def test_nearest_neighbours() -> None:
    generator = np.random.default_rng(0)
    points = generator.random((40, 2))
    graph = DomainGraph.knn(points, 3)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = distance <= np.sort(distance, axis=1)[:, 2:3]
    assert np.array_equal(graph.weights.toarray() > 0, near | near.T)
    weighted = DomainGraph.knn(pd.DataFrame(points), 3, weighted=True)
    assert weighted.weights.nnz == graph.weights.nnz
    first, second = weighted.weights.nonzero()
    order = np.argsort(distance[first, second])
    assert (np.diff(weighted.weights[first, second][order]) <= 1e-12).all()
    # All at one place: the point itself may be missing among its nearest.
    assert min(len(DomainGraph.knn(np.zeros(9), 2).neighbors(at)) for at in range(9)) >= 2
    with pytest.raises(ValueError, match="domain 1 are not finite"):
        DomainGraph.knn([0.0, math.nan, 1.0], 1)
    with pytest.raises(ValueError, match="between 1 and 2"):
        DomainGraph.knn([0.0, 1.0, 2.0], 3)


def test_regions_share_a_border() -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    squares = {
        "south west": shapely.box(0, 0, 1, 1),
        "south east": shapely.box(1, 0, 2, 1),
        "north west": shapely.box(0, 1, 1, 2),
        "north east": shapely.box(1, 1, 2, 2),
        "island": shapely.box(5, 5, 6, 6),
    }
    frame = geopandas.GeoDataFrame({"region": list(squares)}, geometry=list(squares.values()))
    graph = DomainGraph.from_regions(frame, name="region")
    assert graph.neighbors("south west") == ("south east", "north west")
    assert graph.isolated == ("island",)
    corners = DomainGraph.from_regions(frame.set_index("region"), contact="point")
    assert corners.neighbors("south west") == ("south east", "north west", "north east")
    apart = DomainGraph.from_regions(frame.iloc[[0, 3, 4]])
    assert apart.names == (0, 3, 4)
    assert apart.n_edges == 0
    with pytest.raises(ValueError, match="'island' has more than one row"):
        DomainGraph.from_regions(pd.concat([frame, frame.iloc[4:]]), name="region")
    frame.loc[1, "geometry"] = None
    with pytest.raises(ValueError, match="'south east' has no geometry"):
        DomainGraph.from_regions(frame, name="region")


# --------------------------------------------------------------------------- the object


def test_it_never_changes() -> None:
    graph = DomainGraph.chain(["a", "b", "c"])
    with pytest.raises(AttributeError, match="never changes"):
        graph.names = ("x",)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="never changes"):
        del graph.names
    view = graph.weights
    with pytest.raises(ValueError, match="read-only"):
        view.data[0] = 0.5
    view.data = np.full(4, 0.5)
    assert graph.weights.max() == 1
    given_weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    other = DomainGraph(["a", "b"], given_weights)
    given_weights[:] = 0
    assert other.n_edges == 1


def test_copies_are_the_graph_itself() -> None:
    graph = DomainGraph.chain(3)
    assert copy.copy(graph) is graph
    assert copy.deepcopy(graph) is graph
    assert clone(graph, safe=False) is graph


def test_equality_and_hash() -> None:
    graph = DomainGraph.chain(["a", "b"])
    same = DomainGraph.from_edges([("a", "b")])
    assert graph == same
    assert hash(graph) == hash(same)
    assert graph != DomainGraph.chain(["b", "a"])
    assert graph != DomainGraph.from_edges([("a", "b", 0.5)])
    assert graph != "graph"
    assert list(graph) == ["a", "b"]
    assert len(graph) == 2


def test_repr_is_short() -> None:
    assert repr(DomainGraph.chain(2)) == "DomainGraph(2 domains, 1 edge)"
    graph = DomainGraph.from_edges([("a", "b", 0.5), ("b", "c")], names=["a", "b", "c", "d"])
    assert repr(graph) == "DomainGraph(4 domains, 2 weighted edges, 2 components)"


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_large_graph(seed: int) -> None:
    generator = np.random.default_rng(seed)
    edges = generator.integers(0, 5_000, size=(20_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    graph = DomainGraph.from_edges(edges)
    assert graph.n_edges == len(np.unique(np.sort(edges, axis=1), axis=0))
    truth = nx.single_source_shortest_path_length(graph.to_networkx(), graph.names[0])
    found = graph.hops(graph.names[0])
    assert {name: hop for name, hop in found.items() if hop < math.inf} == truth
    assert len(graph.components[0]) >= len(truth)


def test_regions_without_the_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(ImportError, match=r"pip install grada\[geo\]"):
        DomainGraph.from_regions(None)
