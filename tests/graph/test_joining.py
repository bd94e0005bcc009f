import pytest

from grada import DomainGraph
from grada.graph._joining import grown


def test_old_domains_keep_their_place_and_their_edges():
    old = DomainGraph.from_edges([("a", "b", 0.5)]).with_domains(["c"])
    other = DomainGraph.from_edges([("new one", "a", 0.25), ("b", "a", 1.0), ("new one", "far", 1)])
    joined = grown(old, other)
    assert joined.names[:3] == old.names
    assert set(joined.names[3:]) == {"new one", "far"}
    weights = joined.weights.toarray()
    a, b, new = (joined.names.index(name) for name in ("a", "b", "new one"))
    assert weights[a, b] == weights[b, a] == 0.5
    assert weights[new, a] == weights[a, new] == 0.25
    assert joined.neighbors("far") == ("new one",)


@pytest.mark.parametrize("other", [DomainGraph.chain(["a", "b"]), DomainGraph.chain(["b", "a"])])
def test_nothing_new_changes_nothing(other):
    old = DomainGraph.chain(["a", "b"])
    assert grown(old, other) == old
