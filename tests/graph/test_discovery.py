import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from grada import AdaptationWarning, AdaptedClassifier
from grada.datasets import dg15, dg60, make_dg
from grada.graph import DomainGraph, domain_distances, edge_auc
from grada.graph._nearness import near_pairs
from grada.graph._sketch import sketch

DISTANCES = ("sliced-wasserstein", "energy", "mmd")


def rows_at(places, n_rows=40, noise=0.3, random_state=0):
    """Rows around a place of each domain, in the order of the domains, and their domains."""
    rng = np.random.default_rng(random_state)
    places = np.asarray(places, dtype=float)
    places = places[:, None] if places.ndim == 1 else places
    codes = np.repeat(np.arange(len(places)), n_rows)
    return places[codes] + noise * rng.standard_normal((len(codes), places.shape[1])), codes


def auc(task, X=None, **settings):
    distances = domain_distances(task.X if X is None else X, task.domain, **settings)
    return edge_auc(task.graph, distances)


@pytest.mark.parametrize("distance", DISTANCES)
def test_distances_order_the_edges_of_generated_tasks(distance):
    tasks = [make_dg(n, rows_per_domain=40, random_state=s) for n in (15, 60) for s in (2000, 2001)]
    found = [auc(task, distance=distance) for task in tasks]
    assert np.mean(found[:2]) > 0.85
    # Rows alone, without ways from domain to domain, reach about 0.81 here.
    assert np.mean(found[2:]) > 0.84


def test_distances_order_the_edges_of_the_published_tasks(data_home):
    assert auc(dg15()) >= 0.8
    assert auc(dg60()) >= 0.8


def test_columns_of_noise_hardly_matter():
    gaps = []
    for seed in range(3):
        task = make_dg(30, random_state=2000 + seed)
        noise = 2 * np.random.default_rng(seed).standard_normal((len(task.X), 20))
        gaps.append(auc(task) - auc(task, X=np.hstack([task.X, noise])))
    assert np.mean(gaps) < 0.04


def test_wasserstein_distance_of_a_translation_is_its_length():
    one = np.random.default_rng(0).normal(size=(40, 2))
    way = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [12.0, 16.0]])
    X, codes = (way[:, None] + one).reshape(-1, 2), np.repeat(np.arange(4), 40)
    points = sketch(X, codes, "sliced-wasserstein", np.random.default_rng(0))
    lengths = np.linalg.norm(points - points[0], axis=1)
    assert lengths / lengths[1] == pytest.approx([0, 1, 2, 4])


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_chain_is_found_in_any_order_of_rows_and_names(distance):
    X, codes = rows_at(np.arange(12), noise=0.2)
    names = np.array([*range(6), *"fedcba"], dtype=object)[codes]
    graph = DomainGraph.discover(X, names, n_neighbors=2, distance=distance)
    assert graph.names == (0, 1, 2, 3, 4, 5, "a", "b", "c", "d", "e", "f")
    assert {0, 2} <= set(graph.neighbors(1))
    assert {5, "e"} <= set(graph.neighbors("f"))
    order = np.random.default_rng(1).permutation(len(X))
    again = DomainGraph.discover(X[order], names[order], n_neighbors=2, distance=distance)
    assert np.allclose(graph.weights.toarray(), again.weights.toarray())


ODD = {
    "one row each": (np.random.default_rng(0).normal(size=(30, 2)), np.arange(30)),
    "constant features": (np.ones((30, 2)), np.arange(30) // 2),
    "copies": (np.tile(np.arange(10.0)[:, None], (6, 2)), np.repeat(np.arange(6), 10)),
    "many features": (np.random.default_rng(0).normal(size=(40, 200)), np.arange(40) // 4),
    "far groups": rows_at(np.concatenate([np.arange(30), 1000 + np.arange(30)]), n_rows=3),
    "wild value": (np.r_[[[1e9]], rows_at(np.arange(9))[0]], np.r_[0, rows_at(np.arange(9))[1]]),
    "uneven": (rows_at([0, 1, 2])[0], np.r_[np.zeros(115, int), [1] * 4, [2]]),
    "images": (np.random.default_rng(0).normal(size=(20, 4, 4, 3)), np.arange(20) // 5),
    "one domain": (np.random.default_rng(0).normal(size=(5, 2)), np.zeros(5, int)),
    "two domains": (np.random.default_rng(0).normal(size=(5, 1)), np.arange(5) % 2),
}


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("case", ODD)
def test_odd_tables_give_a_connected_graph(case, distance):
    X, domain = ODD[case]
    graph = DomainGraph.discover(X, domain, distance=distance)
    assert graph.names == tuple(np.unique(domain).tolist())
    assert len(graph.components) == 1
    assert np.all((graph.weights.data > 0) & (graph.weights.data <= 1))
    assert graph.n_edges <= 2.5 * len(graph)
    assert np.isfinite(domain_distances(X, domain, distance=distance).to_numpy()).all()


def test_a_domain_of_one_row_is_near_those_around_its_row_not_near_other_single_rows():
    places = np.arange(9.0)
    X, codes = rows_at(places, noise=3.0, n_rows=200)
    X, codes = np.vstack([X, places[:, None]]), np.append(codes, np.arange(9, 18))
    distances = domain_distances(X, codes)
    for single in range(9, 18):
        assert distances[single].drop(single).idxmin() < 9


def test_a_wild_value_changes_little():
    X, codes = rows_at(np.column_stack([np.arange(9), np.arange(9)]))
    X[100, 0] = 1e9
    distances = domain_distances(X, codes)
    for domain in range(1, 8):
        assert set(distances[domain].nsmallest(3).index) == {domain - 1, domain, domain + 1}


def test_work_grows_with_the_number_of_domains_not_of_pairs():
    points = np.random.default_rng(0).normal(size=(3000, 3))
    assert near_pairs(points, 4).nnz < 40 * len(points)


# ------------------------------------------------------------------------- metadata


def noise_rows(n_domains, random_state=0):
    rng = np.random.default_rng(random_state)
    return rng.normal(size=(5 * n_domains, 2)), np.repeat(np.arange(n_domains), 5)


def test_coordinates_count_by_the_great_circle():
    X, codes = noise_rows(8)
    where = pd.DataFrame({"lat": 0.0, "Longitude": [-178, -130, -90, -40, 0, 60, 120, 179]})
    graph = DomainGraph.discover(X, codes, metadata=where, metadata_share=1, n_neighbors=2)
    assert 7 in graph.neighbors(0)
    assert graph.neighbors(4) == (3, 5)


@pytest.mark.parametrize("kind", ["numbers", "times", "periods", "tuples", "by row", "series"])
def test_times_and_numbers_count_by_difference(kind):
    X, codes = noise_rows(10)
    years = np.random.default_rng(3).permutation(10) + 2000
    dates = pd.Series(pd.to_datetime(years.astype(str)))
    metadata = {
        "numbers": {"year": dict(enumerate(years.tolist()))},
        "times": pd.DataFrame({"when": dates}),
        "periods": pd.DataFrame({"when": dates.dt.to_period("Y")}),
        "tuples": {"at": {code: (year, 5.0) for code, year in enumerate(years.tolist())}},
        "by row": {"year": years[codes]},
        "series": pd.Series(years[::-1], index=range(9, -1, -1), name="year"),
    }[kind]
    graph = DomainGraph.discover(X, codes, metadata=metadata, metadata_share=1, n_neighbors=2)
    order = np.argsort(years).tolist()
    for before, after in pairwise(order):
        assert after in graph.neighbors(before)


def test_categories_count_by_being_the_same_and_rows_count_beside():
    X, codes = rows_at([0, 1, 2, 0.5, 1.5, 2.5])
    sort = {code: "city" if code < 3 else "village" for code in range(6)}
    distances = domain_distances(X, codes, metadata={"sort": sort})
    assert distances.loc[0, 1] < distances.loc[0, 3]
    assert distances.loc[0, 1] < distances.loc[0, 2]


WRONG = {
    "gap": ({"metadata": {"year": {0: 1.0}}}, "'year' has no value for 1"),
    "nan": ({"metadata": {"year": {0: 1.0, 1: np.nan, 2: 0.0}}}, "'year' has no value .* 1"),
    "length": ({"metadata": {"year": [1.0]}}, "'year' has 1 values for 15 rows"),
    "latitude": ({"metadata": {"lat": dict.fromkeys(range(3), 95.0),
                               "lon": dict.fromkeys(range(3), 0.0)}}, "'lat' is 95 for domain 0"),
    "distance": ({"distance": "l2"}, "sliced-wasserstein, energy, mmd"),
    "share": ({"metadata_share": 2.0}, "from 0 to 1"),
    "neighbours": ({"n_neighbors": 0}, "at least 1"),
    "rows": ({"sample_domain": [0, 1]}, "X has 15 rows, but sample_domain has 2"),
    "NaN": ({"X": np.full((15, 2), np.nan)}, "contains NaN: column 0, row 0"),
    "NaN frame": ({"X": pd.DataFrame({"a": [np.nan] + [1.0] * 14})}, "column 'a' .* row 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_refused_in_the_users_words(case):
    changes, message = WRONG[case]
    X, codes = noise_rows(3)
    with pytest.raises(ValueError, match=message):
        DomainGraph.discover(**{"X": X, "sample_domain": codes, **changes})


def test_categories_in_the_rows_are_seen():
    codes = np.repeat(np.arange(6), 10)
    colour = np.where(codes % 2, "red", "blue")
    found = domain_distances(pd.DataFrame({"colour": colour, "one": 1.0}), codes)
    assert found.loc[0, 2] < found.loc[0, 1]


def test_edge_auc_aligns_names_and_counts_weights():
    names = ["c", "a", "b"]
    matrix = pd.DataFrame([[0, 3, 1], [3, 0, 2], [1, 2, 0]], index=names, columns=names)
    assert edge_auc(DomainGraph.from_edges([("c", "b")], names=["a", "b", "c", "x"]), matrix) == 1
    assert edge_auc(DomainGraph.from_edges([("a", "c")], names=["a", "b", "c"]), matrix) == 0
    assert edge_auc(DomainGraph.from_edges([("a", "b", 0.5)], names=names), matrix) == 0.5
    assert np.isnan(edge_auc(DomainGraph.clique(names), matrix))


# ----------------------------------------------------------------------- estimators


def test_an_estimator_without_a_graph_discovers_one_and_says_so():
    task = make_dg(15, random_state=2000, rows_per_domain=30)
    X, y, domain = task.visible()
    with pytest.warns(AdaptationWarning, match=r"15 domains: one with \d+ edges was discovered"):
        clf = AdaptedClassifier("plain", random_state=0).fit(X, y, sample_domain=domain)
    assert len(clf.graph_) == 15
    assert clf.graph_shares_ is None
    flipped = np.where(np.isnan(y), np.nan, 1 - y)
    order = np.random.default_rng(0).permutation(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AdaptationWarning)
        other = AdaptedClassifier("plain", graph="discover", random_state=0)
        other.fit(X[order], flipped[order], sample_domain=domain[order])
    assert other.graph_.names == clf.graph_.names
    assert np.allclose(other.graph_.weights.toarray(), clf.graph_.weights.toarray())
