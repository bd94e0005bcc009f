import numpy as np
import pytest
from candidates import RUN, data_of
from cases import drift

from grada.methods import Plain, Propagation
from grada.selection.evidence import target_hops
from grada.selection.scores import LabelFree
from grada.selection.targets import InTargets, second_opinion, surplus
from grada.selection.trials import Trial, try_candidate


def _tried(kind, splits=((2,), (1, 2)), method=None):
    data = data_of(drift(kind))
    lens, trial = LabelFree(data), Trial("it", method or Plain())
    rows = [np.flatnonzero(np.isin(data.codes, hidden)) for hidden in splits]
    try_candidate(trial, data, lens.rows, rows, RUN, np.inf)
    return lens, trial


def test_one_that_knows_has_an_opinion_of_all_by_hand():
    """Doubts of 4 and 8 in targets at two and three hops; one is off by 2, and one by 1."""
    lens, plain = _tried("regression")
    _, knows = _tried("regression")
    _, strange = _tried("regression")
    trials = [plain, knows, strange]
    assert second_opinion(trials, lens) is None  # nobody knows
    hops = target_hops(lens)
    near, far = int(hops.min()), int(hops.max())
    assert near < far
    of_domain = np.zeros(lens.data.graph.n_domains)
    of_domain[lens.targets] = np.where(hops == near, 4.0, 8.0)
    knows.doubt = of_domain[lens.data.codes[lens.rows]]
    strange.output = strange.output + 2.0
    plain.output = plain.output + 1.0
    found = second_opinion(trials, lens)
    assert found.shape == (12, 3)
    # Where there are no targets, it is that of the nearest hops with some.
    np.testing.assert_allclose(found[:near], np.tile(np.log([1, 4 / 5, 8 / 5]), (near, 1)))
    np.testing.assert_allclose(
        found[far - 1 :], np.tile(np.log([1, 8 / 9, 12 / 9]), (13 - far, 1)), atol=1e-12
    )


def test_what_a_process_doubts_is_kept_for_the_targets():
    lens, trial = _tried("regression", method=Propagation())
    assert np.isfinite(second_opinion([trial], lens)).all()
    codes = lens.data.codes[lens.rows]
    for code in np.unique(codes):
        assert np.ptp(trial.doubt[codes == code]) == 0
    assert len(np.unique(trial.doubt)) > 1


def test_values_that_spread_as_labels_do_are_no_error():
    lens, plain = _tried("regression")
    assert surplus([plain], lens).shape == (12, 1)
    assert (surplus([plain], lens) < 0.05).all()


@pytest.mark.parametrize("times", [3.0, 10.0])
def test_a_spread_is_an_error_by_what_no_source_shows(times):
    """Values of so many times the widest spread of labels miss them by that less one, squared."""
    lens, plain = _tried("regression")
    data, codes = lens.data, lens.data.codes[lens.rows]
    spreads = [data.y[data.labelled[data.codes[data.labelled] == s]].std() for s in data.sources]
    # A plain alternation has a spread of one in every domain, whatever its level.
    nth = np.concatenate([np.arange((codes == code).sum()) for code in np.unique(codes)])
    order = np.argsort(codes, kind="stable")
    plain.output[order] = 5.0 + times * max(spreads) * np.where(nth % 2, 1.0, -1.0)[:, None]
    found = surplus([plain], lens)
    least = (times * max(spreads) - 1.6 * max(spreads)) ** 2
    most = (times * max(spreads) - min(spreads)) ** 2
    assert (found > least).all()
    assert (found < most).all()
    both = InTargets.of([plain], lens)
    assert both.opinion is None
    np.testing.assert_array_equal(both.surplus, found)
