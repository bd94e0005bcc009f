import numpy as np

from grada.datasets._states import STATES, border_graph


def test_numbers_follow_the_names():
    assert [state.number for state in STATES] == list(range(1, 49))
    names = [state.name for state in STATES]
    assert names == sorted(names)
    assert len({state.code for state in STATES}) == 48


def test_borders():
    graph = border_graph()
    assert graph.names == tuple(state.code for state in STATES)
    assert graph.n_edges == 105
    for state in STATES:  # listed at both ends
        assert set(graph.neighbors(state.code)) == set(state.neighbours.split())
    assert len(graph.components) == 1
    assert graph.neighbors("ME") == ("NH",)
    assert set(graph.neighbors("TN")) == {"AL", "AR", "GA", "KY", "MO", "MS", "NC", "VA"}
    for corner in (("AZ", "CO"), ("NM", "UT")):
        assert corner[1] not in graph.neighbors(corner[0])


def test_neighbours_lie_near_each_other():
    """A slip of a digit or a sign in a position, or a wrong code in a border."""
    place = np.array([(state.longitude, state.latitude) for state in STATES])
    assert (place > [-125, 25]).all()
    assert (place < [-67, 49.5]).all()
    between = place[:, None] - place
    between[..., 0] *= np.cos(np.deg2rad(39))
    distance = np.linalg.norm(between, axis=2)
    adjacent = border_graph().weights.toarray() > 0
    assert distance[adjacent].max() < 8.5  # in degrees of latitude
    nearest = np.where(np.eye(48, dtype=bool), np.inf, distance).argmin(axis=1)
    assert adjacent[np.arange(48), nearest].sum() >= 44
