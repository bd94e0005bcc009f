import json

import numpy as np
import pytest
from candidates import Made, fail
from cases import drift, estimator

from grada import DomainGraph
from grada.methods import Plain
from grada.selection import Auto
from grada.selection.report import CandidateReport, DomainReport, Report


def written(metric="accuracy", **changes) -> Report:
    candidates = (
        CandidateReport("plain", 0.0, 0.5, 0.4, {"balance": 1.0}, 0.1, None),
        CandidateReport("broken", 0.0, None, None, {}, 0.1, "ValueError: no luck"),
        CandidateReport("grda", 1.0, 0.75, 0.7, {"balance": 0.9}, 2.0, None, ("careful",)),
    )
    domains = (DomainReport("New York", np.inf, 0.8, 0.6, 0.9),)
    values = {"verdict": "So be it.", "adapted": True, "metric": metric, "estimate": 0.8}
    values |= {"low": 0.6, "high": 0.9, "candidates": candidates, "domains": domains}
    return Report(**(values | {"seconds": 2.2} | changes))


def test_in_words():
    lines = str(written()).splitlines()
    assert lines[0] == "So be it."
    assert lines[1] == "Expected accuracy in the targets: 80 % (90 % interval 60 % to 90 %)."
    assert [line.split()[:3] for line in lines[3:]] == [
        ["100", "%", "grda"],
        ["plain", "estimate", "50"],
        ["broken", "left", "out:"],
    ]
    assert "no luck" in lines[5]
    assert "(90 % interval 0.6 to 0.9)" in str(written("squared error"))
    assert "as no source could be hidden" in str(written(estimate=np.nan))
    assert "as there is none" in str(written(estimate=np.nan, domains=()))


def test_the_best_comes_first_and_those_left_out_last():
    assert written().candidates_frame.index.tolist() == ["grda", "plain", "broken"]
    by_error = written("squared error").candidates_frame
    assert by_error.index.tolist() == ["plain", "grda", "broken"]
    assert by_error.loc["plain", "balance"] == 1.0
    assert np.isnan(by_error.loc["broken", "estimate"])
    frame = written().domains_frame
    assert frame.loc[0].tolist() == ["New York", np.inf, 0.8, 0.6, 0.9]
    assert written(domains=()).domains_frame.columns.tolist() == frame.columns.tolist()


def test_json_knows_no_nan_and_no_infinity():
    told = json.loads(json.dumps(written(low=np.nan).to_dict(), allow_nan=False))
    assert told["low"] is None
    assert told["domains"][0] == {
        "domain": "New York", "hops": None, "estimate": 0.8, "low": 0.6, "high": 0.9
    }  # fmt: skip
    assert told["candidates"][2]["notes"] == ["careful"]
    assert told["candidates"][2]["scores"] == {"balance": 0.9}


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_it_tells_what_was_done(kind):
    graph = DomainGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d e")], names=[*"abc", "d e", 5])
    task = drift(kind, graph=graph, n_sources=3)
    X, y, domain = task.visible()
    portfolio = {"means": Plain(append="means"), "broken": Made(look=fail(ValueError("no luck")))}
    model = estimator(kind, Auto(portfolio=portfolio), graph).fit(X, y, sample_domain=domain)
    report = model.report_
    assert {each.name: each.share for each in report.candidates if each.share} == pytest.approx(
        dict(model.fitted_.shares)
    )
    assert sum(each.share for each in report.candidates) == pytest.approx(1)
    assert [(each.domain, each.hops) for each in report.domains] == [("d e", 1.0), (5, np.inf)]
    if kind == "classification":
        assert report.estimate == pytest.approx(np.mean([each.estimate for each in report.domains]))
    assert report.low < report.estimate < report.high
    plain, means, broken = report.candidates
    assert broken.problem == "ValueError: no luck"
    assert broken.estimate is None
    assert {"agreement"} <= set(plain.scores) == set(means.scores)
    json.dumps(report.to_dict(), allow_nan=False)
    assert "d e" in report.domains_frame["domain"].tolist()


def test_only_auto_writes_one():
    task = drift("regression")
    X, y, domain = task.visible()
    assert estimator("regression", "plain", task.graph).fit(X, y, domain).report_ is None
