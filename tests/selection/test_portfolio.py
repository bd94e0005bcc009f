import numpy as np
import pytest

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods import Plain, resolve
from grada.selection.portfolio import default_portfolio, is_slow, lacks_domains, spreads_labels


def data_with(n_sources, n_features):
    codes = np.repeat(np.arange(n_sources + 2), 3)
    return DomainData(
        X=np.zeros((len(codes), n_features), dtype=np.float32),
        y=np.zeros((len(codes), 1), dtype=np.float32),
        codes=codes,
        weight=(codes < n_sources).astype(np.float32),
        graph=DomainGraph.chain(n_sources + 2),
        kind="regression",
        n_outputs=1,
    )


@pytest.mark.parametrize(("n_sources", "lacking"), [(3, True), (4, True), (5, False), (40, False)])
def test_two_domain_means_need_more_than_three_labelled_domains(n_sources, lacking):
    data = data_with(n_sources, 3)
    assert lacks_domains(Plain(append="means"), data) == lacking
    assert lacks_domains(Plain(append="both"), data) == lacking
    assert not lacks_domains(Plain(), data)
    assert not lacks_domains(Plain(per_domain="center"), data)
    assert not lacks_domains(resolve("gradual"), data)


@pytest.mark.parametrize(("n_sources", "lacking"), [(3, True), (4, False)])
def test_a_clear_lead_on_hidden_sources_makes_up_for_few_labelled_domains(n_sources, lacking):
    data = data_with(n_sources, 3)
    assert lacks_domains(Plain(append="means"), data, lead=0.5) == lacking
    assert lacks_domains(Plain(append="means"), data, lead=0.9)


@pytest.mark.parametrize(
    ("kind", "quick"),
    [("classification", {"propagation", "gradual"}), ("regression", {"propagation"})],
)
def test_plain_comes_first_and_plain_models_spread_nothing(kind, quick):
    candidates = default_portfolio(kind)
    assert next(iter(candidates)) == "plain"
    spreading = {name for name, each in candidates.items() if spreads_labels(each)}
    assert {name for name in spreading if not is_slow(candidates[name])} == quick
    assert not any(name.startswith(("plain", "trees")) for name in spreading)
