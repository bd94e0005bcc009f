"""Graphs from files of places, times, trees and regions, and their products."""

import json

import pytest

from grada.files import FileError
from grada.files.building import (
    graph_from_coordinates,
    graph_from_regions,
    graph_from_times,
    graph_from_tree,
    product_of,
)
from grada.graph import DomainGraph


@pytest.fixture
def write(tmp_path):
    def writer(text, name="file.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return writer


def test_places_are_joined_on_the_globe(write):
    """179 and -179 degrees are neighbours, however far apart as numbers."""
    path = write("town,lat,lon\nfiji,-17,179\nsamoa,-14,-179\nperth,-32,116\nalbany,-35,118\n")
    graph = graph_from_coordinates(path, 1)
    assert graph.neighbors("fiji") == ("samoa",)
    assert graph.neighbors("perth") == ("albany",)
    flat = graph_from_coordinates(write("x,y,name\n0,0,007\n1,0,8\n5,5,9\n"), 1)
    assert flat.neighbors("007") == ("8",)


def test_times_are_sorted_as_times(write):
    years = graph_from_times(write("year,x\n10,1\n9,1\n100,1\n9,1\n"))
    assert years.names == ("9", "10", "100")
    months = write("a,b\n1,2024-02\n1,2023-12\n1,2024-01\n")
    assert graph_from_times(months, "b").names == ("2023-12", "2024-01", "2024-02")
    assert graph_from_times(months, "b").n_edges == 2


def test_trees_by_parent_and_by_path(write):
    by_parent = graph_from_tree(write("name,parent\ncat,mammal\ndog,mammal\nmammal,\n"))
    assert set(by_parent.neighbors("mammal")) == {"cat", "dog"}
    assert by_parent.n_edges == 2
    path = write("category\nanimal/mammal/cat\nanimal/mammal/dog\nanimal\n")
    assert graph_from_tree(path).neighbors("animal/mammal/cat") == ("animal/mammal",)
    joined = graph_from_tree(path, siblings=True)
    assert "animal/mammal/dog" in joined.neighbors("animal/mammal/cat")


def test_regions_that_touch(write):
    pytest.importorskip("geopandas")

    def square(name, x):
        corners = [[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]
        shape = {"type": "Polygon", "coordinates": [corners]}
        return {"type": "Feature", "properties": {"NAME": name}, "geometry": shape}

    shapes = [square("a", 0), square("b", 1), square("c", 5)]
    path = write(json.dumps({"type": "FeatureCollection", "features": shapes}), "map.geojson")
    graph = graph_from_regions(path)
    assert graph.neighbors("a") == ("b",)
    assert graph.isolated == ("c",)
    with pytest.raises(FileError, match=r"map\.geojson: no column 'nom'"):
        graph_from_regions(path, "nom")
    with pytest.raises(FileError, match=r"bad\.geojson: cannot be read as regions"):
        graph_from_regions(write("{]", "bad.geojson"))


def test_products_step_in_one_part_or_in_both():
    places, years = DomainGraph.chain(["a", "b"]), DomainGraph.chain(["1", "2", "3"])
    straight = product_of([places, years])
    assert straight.names[:4] == ("a|1", "a|2", "a|3", "b|1")
    assert set(straight.neighbors("a|2")) == {"a|1", "a|3", "b|2"}
    strong = product_of([places, years], "strong")
    assert set(strong.neighbors("a|2")) == {"a|1", "a|3", "b|1", "b|2", "b|3"}
    with pytest.raises(ValueError, match=r"'x\|y' has a '\|' in its name"):
        product_of([DomainGraph.chain(["x|y", "z"]), years])


@pytest.mark.parametrize(
    ("build", "text", "words"),
    [
        (graph_from_coordinates, "name,x\na,1\n", "needs columns x and y, or lat and lon"),
        (graph_from_coordinates, "name,x,y\na,1,1\nb,2,\n", "line 3: 'b' has no coordinates"),
        (graph_from_coordinates, "name,x,y\na,1,1\nb,2,?\n", "line 3, column 'y': '?'"),
        (graph_from_coordinates, "name,x,y\na,1,1\na,2,2\n", "line 3: 'a' stands in line 2"),
        (graph_from_coordinates, "name,lat,lon\na,1,1\nb,99,2\n", "line 3: 99, 2 is no latitude"),
        (graph_from_coordinates, "name,x,y\na,1,1\n", "two places"),
        (graph_from_coordinates, "x,y\n1,1\n2,2\n", "no column with the names"),
        (graph_from_times, "a,b\n1,2\n", "which column holds the times"),
        (graph_from_times, "year\n2001\nlater\n", "line 2, column 'year'"),
        (graph_from_times, "year\n2001\n2001.0\n", "are the same time"),
        (graph_from_times, 'year\n""\n', "holds no times"),
        (graph_from_tree, "name,parent\na,b\nb,a\n", "its own ancestor"),
        (graph_from_tree, "name,parent\na,b\na,c\n", "line 3: 'a' is there already"),
        (graph_from_tree, "path\na//b\n", "line 2: 'a//b' has an empty part"),
        (graph_from_tree, "u,v\na,b\n", "needs a column parent"),
        (graph_from_tree, "path\n", "no rows"),
    ],
)
def test_what_makes_no_graph_is_refused_in_words(write, build, text, words):
    with pytest.raises(FileError) as caught:
        build(write(text))
    assert words in str(caught.value)
    assert str(caught.value).startswith("file.csv: ")
