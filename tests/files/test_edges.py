"""Reading and writing graphs of domains."""

import json

import pytest

from grada.files import FileError, read_edges, read_graph, write_graph
from grada.graph import DomainGraph


@pytest.fixture
def write(tmp_path):
    def writer(text, name="edges.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return writer


def refusal(path, domains=None):
    with pytest.raises(FileError) as caught:
        read_graph(path, domains)
    said = str(caught.value)
    assert said.startswith(f"{path.name}: ")
    assert "\n" not in said
    return said


def weight(graph, first, second):
    return graph.to_networkx()[first][second]["weight"]


def test_names_of_both_sides_are_matched(write):
    path = write("source,target,weight\n01,PA,0.5\nPA,NY,1\n")
    found = read_graph(path, ["01", "NY", "HI", "NY"])
    assert found.graph.names == ("01", "PA", "NY", "HI")
    assert weight(found.graph, "01", "PA") == 0.5
    assert found.without_edges == ["HI"]
    assert found.without_rows == ["PA"]
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("source,target\na,b\nb,c\n", None),
        ("Target,weight,Source\nb,1,a\nc,1,b\n", None),
        ("from,to\na,b\nb,c\n", "'from' and 'to' are taken as the two ends"),
        ("a,b\nb,c\n", "no header"),
        ("a,b,1\nb,c,1\n", "no header"),
        ("from,to,how near\na,b,1\nb,c,1\n", "'how near' as the weight"),
        ("source,target\na,b\nb,a\nb,c\nb,c\n", "1 edge given more than once"),
        ("source,target\na,b\nb,a\nb,c\n", "given both ways"),
        ("source,target\na,b\nb,c\nc,c\n", "to itself"),
        ("source,target,weight\na,b,4\nb,c,4\n", "up to 4"),
        ("source,target,weight\na,b,1\na,c,0\nb,c,1\n", "weight 0"),
    ],
)
def test_edge_lists_as_people_write_them(write, text, words):
    found = read_graph(write(text))
    assert sorted(found.graph.names) == ["a", "b", "c"]
    assert set(found.graph.neighbors("b")) == {"a", "c"}
    assert found.graph.n_edges == 2
    assert weight(found.graph, "a", "b") == 1
    assert words is None or any(words in note for note in found.notes)
    assert words is not None or found.notes == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("source,target\n", "has no edges"),
        ("source\na\n", "needs two columns"),
        ("source;target\na;b\n", "semicolons"),
        ("source,target,weight\na,b,1\nb,a,2\n", "'a' to 'b' weighs 1 in line 2, and the other"),
        ("source,target,weight\na,b,-1\n", "line 2: the weight '-1' is negative"),
        ("source,target,weight\na,b,nan\n", "line 2: the weight 'nan' is not a finite"),
        ("source,target,weight\na,b,\n", "line 2 has no weight"),
        ("source,target,weight\na,b,near\n", "line 2: the weight 'near' is not a number"),
        ("source,target\na,b\n,\n", "line 3 names no domain"),
        ("source,target\na,b,c\n", "line 2 has 3 fields"),
        ("{", "no valid JSON"),
        ("[" * 100_000, "no valid JSON"),
        ('{"domains": ["a"]}', "no graph"),
        ('{"domains": ["a", "a"], "edges": []}', "more than once"),
        ('{"edges": [["a"]]}', "edge 1 is not a list"),
        ('{"edges": [["a", "b"], ["a", null]]}', "edge 2: 'null' is no name"),
        ('{"edges": [["a", "b", NaN]]}', "edge 1: the weight"),
        ('{"edges": [["a", "b", "x"]]}', "edge 1: the weight"),
        ('{"edges": []}', "has no edges"),
    ],
)
def test_bad_graphs_are_refused_by_line(write, text, words):
    assert words in refusal(write(text))


@pytest.mark.parametrize(
    ("domains", "words"),
    [
        (["ohio", "utah"], "'ohio' and 'Ohio' differ in case only"),
        (["Ohio "], "differ in blanks only"),
        (["7"], "'7' and '007' differ in leading zeros only"),
        (["x", "y"], "Both must use the same names"),
    ],
)
def test_nothing_in_common_is_refused_with_a_hint(write, domains, words):
    said = refusal(write("source,target\nOhio,007\nPA,NY\n"), domains)
    assert words in said
    assert "'Ohio', '007', 'PA'" in said
    assert repr(domains[0]) in said


@pytest.mark.parametrize("name", ["graph.csv", "graph.tsv", "graph.json"])
def test_a_graph_comes_back_as_it_was_written(tmp_path, name):
    odd = ["a,b", 'c"d', "e\nf", " g", "007", "<b>", "é", "NA", "lone"]
    edges = [(odd[i], odd[i + 1], 1 / (i + 1)) for i in range(7)]
    graph = DomainGraph.from_edges(edges, names=odd)
    back = read_graph(write_graph(graph, tmp_path / name)).graph
    assert sorted(back.names) == sorted(odd)
    assert back.subgraph(odd) == graph
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_writing_needs_a_known_ending(tmp_path):
    with pytest.raises(FileError, match=r"\.csv, \.tsv or \.json"):
        write_graph(DomainGraph.chain(["a", "b"]), tmp_path / "graph.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_conflicts_are_listed_for_a_check(write):
    path = write(
        json.dumps({"edges": [["a", "b", 1], ["b", "a", 0.5], ["a", "b", 0.25]]}), "g.json"
    )
    edges = read_edges(path)
    assert len(edges.conflicts) == 2
    assert "the other way 0.5 in edge 2" in edges.conflict(edges.conflicts[0])
    assert "again 0.25 in edge 3" in edges.conflict(edges.conflicts[1])
