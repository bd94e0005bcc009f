import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grada
from grada import AdaptedRegressor, DomainGraph
from grada.benchmark._zoo import zoo
from grada.data import DomainData
from grada.methods import Auto
from grada.selection.units import Units
from grada.training import AdaptationWarning

N_DOMAINS, N_SOURCES = 16, 6
NAMES = [f"depot {i}" for i in range(N_DOMAINS)]
GRAPH = DomainGraph.chain(NAMES)
POUNDS = np.arange(N_DOMAINS) >= N_DOMAINS // 2


def loads(rng, factor=2.2, rows=30, levels=0.0):
    """A positive quantity, in another unit in the second half of the domains, and one in none."""
    codes = np.repeat(np.arange(N_DOMAINS), rows)
    true = np.exp(0.5 * rng.normal(size=len(codes)) + levels * rng.normal(size=N_DOMAINS)[codes])
    noted = np.where(POUNDS[codes], factor * true, true)
    return codes, true, noted, rng.normal(size=len(codes))


def table(codes, noted, other):
    return pd.DataFrame({"colour": "red", "load in kg": noted, "slope": other})


def units_of(frame, codes, n_sources=N_SOURCES):
    y = np.where(codes < n_sources, 1.0, np.nan)
    y[:2] = 0.0
    names = np.array(NAMES)[codes]
    data = DomainData.from_table(frame, y, names, graph=GRAPH, kind="regression")
    return Units.of(data), data


@given(seed=st.integers(0, 10**6), log=st.floats(1.0, 7.0), small=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_factor_and_the_domains_are_found(seed, log, small):
    factor = np.exp(-log if small else log)
    codes, true, noted, other = loads(np.random.default_rng(seed), factor)
    units, data = units_of(table(codes, noted, other), codes)
    (found,) = units.columns
    assert found.factor == pytest.approx(factor, rel=0.2)
    assert found.other.tolist() == POUNDS.tolist()
    assert found.name == "'load in kg'"
    scaled = units.mended(data).X[:, found.column]
    (offset, slope), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(true), true]), scaled)
    misfit = scaled - offset - slope * true
    assert misfit.std() < 0.2 * scaled.std()
    rest = [i for i in range(data.X.shape[1]) if i != found.column]
    assert np.array_equal(units.mended(data).X[:, rest], data.X[:, rest])


@given(seed=st.integers(0, 10**6), levels=st.floats(0.1, 1.0))
@settings(max_examples=100, deadline=None)
def test_levels_that_differ_from_domain_to_domain_are_no_units(seed, levels):
    codes, _, noted, other = loads(np.random.default_rng(seed), 1.0, levels=levels)
    units, _ = units_of(table(codes, noted, other), codes)
    assert not units.columns


def test_a_factor_of_thousand_is_seen_among_domains_that_differ():
    codes, _, noted, other = loads(np.random.default_rng(0), 1000.0, levels=0.2)
    assert len(units_of(table(codes, noted, other), codes)[0].columns) == 1


def test_where_both_units_have_labels_nothing_is_mended():
    codes, _, noted, other = loads(np.random.default_rng(0))
    units, _ = units_of(table(codes, noted, other), codes, n_sources=N_DOMAINS // 2 + 1)
    assert not units.columns


@pytest.mark.parametrize("change", ["signed", "with zeros", "mark of the domain", "wider"])
def test_what_is_no_unit(change):
    codes, true, noted, other = loads(np.random.default_rng(0))
    if change == "signed":
        noted[0] = -1.0
    elif change == "with zeros":
        noted[::5] = 0.0
    elif change == "mark of the domain":
        noted = 1.0 + POUNDS[codes]
    else:
        noted = np.where(POUNDS[codes], 2.2 * true**1.5, true)
    assert not units_of(table(codes, noted, other), codes)[0].columns


def test_of_all_kinds_of_the_zoo_freight_alone_has_other_units():
    found = set()
    for each in (*zoo("tuning", 2000), *zoo("unseen", 2000)):
        made = each.make()
        X, y, domain = made.visible()
        data = DomainData.from_table(X, y, domain, graph=made.graph, kind=each.kind)
        if Units.of(data).columns:
            found.add(each.name)
    assert found == {"blind-freight-units"}


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    codes, true, noted, other = loads(rng)
    y = 2.0 * true + 0.5 * other + 0.1 * rng.normal(size=len(codes))
    return table(codes, noted, other), y, codes, np.array(NAMES)[codes]


def error(model, task):
    frame, y, codes, names = task
    target = codes >= N_SOURCES
    predicted = model.predict(frame[target], sample_domain=names[target])
    return float(np.mean((predicted - y[target]) ** 2))


def test_auto_mends_and_says_so(task, tmp_path):
    frame, y, codes, names = task
    visible = np.where(codes < N_SOURCES, y, np.nan)
    model = AdaptedRegressor("auto", GRAPH, random_state=0)
    with pytest.warns(AdaptationWarning, match=r"'depot 8'.*'load in kg' looks as if .* 2\.\d "):
        model.fit(frame, visible, sample_domain=names)
    assert "another unit" in model.report_.verdict
    left = AdaptedRegressor(Auto(mend_units=False), GRAPH, random_state=0)
    left.fit(frame, visible, sample_domain=names)
    assert "another unit" not in left.report_.verdict
    assert error(model, task) < 0.1 < 0.5 < error(left, task)

    model.save(tmp_path / "model")
    assert error(grada.load(tmp_path / "model"), task) == error(model, task)


def test_a_new_domain_is_in_the_unit_that_its_rows_are_nearer_to(task):
    frame, y, codes, names = task
    first = codes < N_DOMAINS - 1
    visible = np.where(codes < N_SOURCES, y, np.nan)
    graph = GRAPH.subgraph(NAMES[:-1])
    model = AdaptedRegressor("auto", graph, random_state=0)
    with pytest.warns(AdaptationWarning):
        model.fit(frame[first], visible[first], sample_domain=names[first])
    before = model.predict(frame[first], sample_domain=names[first])
    larger = model.extend(GRAPH, frame[~first], sample_domain=names[~first])
    new = larger.predict(frame[~first], sample_domain=names[~first])
    assert np.mean((new - y[~first]) ** 2) < 0.1
    assert np.array_equal(larger.predict(frame[first], sample_domain=names[first]), before)
