import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import grada
from grada.benchmark import Job, Store, _jobs, make_trust, run_jobs
from grada.benchmark import _trust as trust
from grada.benchmark import _trust_extras as extras
from grada.benchmark import _trust_zoo as trust_zoo
from grada.benchmark._jobs import Record, execute
from grada.benchmark._runner import FailedRunsError
from grada.benchmark._tasks import load_task, zoo_task
from grada.benchmark._trust_context import Context
from grada.benchmark._trust_table import Limit, Row, Trust
from grada.benchmark._zoo import zoo
from grada.cli import app
from grada.datasets import make_dg
from grada.estimators import AdaptedClassifier
from grada.methods import Plain
from grada.selection import portfolio

CLASSES, VALUES = "zoo-tuning/none-chain@7", "zoo-tuning/offset-chain@7"


@pytest.fixture
def small_portfolio(monkeypatch):
    """Two quick candidates."""
    small = {"plain": Plain(), "plain, domain means": Plain(append="means")}
    monkeypatch.setattr(portfolio, "default_portfolio", lambda kind: small)


def context(tmp_path, **options) -> Context:
    store = Store(tmp_path / "runs.jsonl")
    return Context(lambda jobs: run_jobs(jobs, store), store, say=lambda text: None, **options)


def test_generated_tasks_and_halves_have_names(data_home):
    (drawn,) = [task for task in zoo("tuning", 7) if task.name == "offset-chain"]
    np.testing.assert_array_equal(load_task(VALUES).X, drawn.make().X)
    assert Job(VALUES, "plain", 0).load().kind == "regression"
    halves = [load_task(f"tpt48-half-{number}") for number in range(3)]
    assert len({half.sources for half in halves}) == 3
    assert {len(half.sources) for half in halves} == {24}
    for half in halves:
        assert len(half.graph.subgraph(half.sources).components) == 1
    for name in ("zoo-tuning/offset-chain", "zoo-tuning/nothing@7", "tpt48-half-x", "zoo-old/a@1"):
        with pytest.raises(ValueError, match="Unknown task"):
            Job(name, "plain", 0)


@pytest.mark.parametrize("task_name", [CLASSES, VALUES])
def test_a_record_holds_what_auto_said_and_what_was_true(task_name, small_portfolio):
    record, plain = execute(Job(task_name, "auto", 0)), execute(Job(task_name, "plain", 0))
    said, task = record.said, load_task(task_name)
    assert plain.said is None
    assert set(said["candidates"]) == {"plain", "plain, domain means"}
    assert said["candidates"]["plain"] == pytest.approx(plain.mean)
    assert said["own"] == pytest.approx(record.mean)
    assert sum(said["shares"].values()) == pytest.approx(1)
    visible = task.y[~np.isnan(task.y)]
    unit = 1.0 if task.kind == "classification" else visible.std() ** 2
    assert said["estimate"]["truth"] == pytest.approx(record.mean / unit)
    per_domain = {domain["domain"]: domain["truth"] * unit for domain in said["domains"]}
    assert per_domain == pytest.approx(record.per_domain)
    if task.kind == "regression":
        assert 0.3 < said["interval"]["covered"] <= 1
        assert 0 < said["interval"]["finite"] <= 1
    else:
        assert said["interval"] is None
        assert 1 < said["estimate"]["overall"] <= 100
    assert Record.from_json(record.to_json()) == record
    old = json.loads(record.to_json())
    del old["said"]
    assert Record.from_json(json.dumps(old)).said is None


def test_learned_weights_count_as_code(tmp_path, monkeypatch):
    real, home = Path(grada.__file__).parent, tmp_path / "grada"
    for part in ("benchmark", "selection"):
        ignored = shutil.ignore_patterns("*.pyc", "_zoo*")
        shutil.copytree(real / part, home / part, ignore=ignored)
    monkeypatch.setattr(grada, "__file__", str(home / "__init__.py"))
    before = _jobs.code_fingerprint.__wrapped__()
    with (home / "benchmark" / "_trust.py").open("a") as file:
        file.write("only_plans_and_prints = True\n")
    assert _jobs.code_fingerprint.__wrapped__() == before
    (home / "selection" / "weights.json").write_text("{}")
    assert _jobs.code_fingerprint.__wrapped__() != before


def figures(kind="classification", **changes):
    """One generated task on which all is well."""
    good = {"task": "zoo-unseen/a@0", "part": "unseen", "family": "f", "kind": kind}
    good |= {"auto": 90.0, "plain": 90.0, "best": 90.0, "best_candidate": "plain"}
    good |= {"chosen": "plain", "regret": 0.0, "harm": 0.0, "estimate": 90.0, "truth": 90.0}
    good |= {"covered": True, "domains": [True], "interval": None, "finite": None}
    good |= {"regret_of_all": 0.0}
    return {**good, "seconds": 1.0, "out_of_time": 0, **changes}


def reached(rows, *words):
    (row,) = [row for row in rows if all(word in row.what for word in words)]
    return row


def test_harm_regret_and_coverage_are_counted():
    tasks = [figures() for _ in range(17)]
    tasks += [figures(harm=6.0, regret=9.0, estimate=70.0, covered=False, domains=[True, False])]
    tasks += [figures("regression", harm=19.0, regret=19.0, interval=0.9, finite=1.0)]
    tasks[-1]["regret_of_all"] = 60.0
    tasks += [figures("regression", harm=21.0, regret=-1.0, estimate=np.nan, covered=None)]
    rows = trust_zoo.rows_of("all", tasks)
    assert reached(rows, "harm over").reached == pytest.approx(10)  # 6 points, and 21 %
    assert reached(rows, "harm over").holds is False
    assert reached(rows, "classification", "mean regret").reached == pytest.approx(0.5)
    assert reached(rows, "classification", "largest harm").verdict == "holds"
    assert reached(rows, "regression", "mean regret").reached == pytest.approx(9)
    assert reached(rows, "regression", "mean regret").verdict == "holds, goal missed"
    assert reached(rows, "regression", "largest harm").reached == 21
    assert reached(rows, "regression", "gradual too").reached == pytest.approx(30)
    assert reached(rows, "estimate of the accuracy").reached == pytest.approx(20 / 18)
    assert reached(rows, "the accuracy of the mean").reached == pytest.approx(100 * 17 / 18)
    assert reached(rows, "the accuracy of single").reached == pytest.approx(100 * 18 / 19)
    assert reached(rows, "the error of the mean").reached == 100  # of those that said one
    assert reached(rows, "predict_interval").reached == pytest.approx(90)


def test_regret_is_against_candidates_that_were_left_out_too(
    tmp_path, small_portfolio, monkeypatch
):
    monkeypatch.setattr(trust_zoo, "zoo", lambda part, draw: zoo(part, draw)[:1])
    monkeypatch.setattr(trust_zoo, "DRAWS", {"tuning": 100})
    real, ran = execute, []

    def auto_without_propagation(jobs):
        ran.extend(job.method for job in jobs)
        records = [real(job) for job in jobs]
        for record in records:
            if record.method == "auto":
                record.said["left_out"] = {
                    "propagation": "No time was left.",
                    "gradual": "ValueError: it cannot.",
                    "trees": "No time was left.",  # no method of its own, so nothing to run
                }
        return records

    where = context(tmp_path)
    where.run = auto_without_propagation
    rows = trust_zoo.generated_classes(where)
    assert ran == ["auto", "propagation"]
    (task,) = where.tasks
    alone = real(Job(task["task"], "propagation", 0)).mean
    assert alone > max(task["auto"], task["plain"])  # half a turn: the graph is needed
    assert task["best_candidate"] == "propagation"
    assert task["regret"] == pytest.approx(alone - task["auto"])
    assert reached(rows[: len(rows) // 2], "mean regret").reached == pytest.approx(task["regret"])
    (family,) = where.details.values()
    assert family[0]["kind of task"] == "rotation/chain"


def one_with_values(name, tmp_path, monkeypatch):
    """Figures of one task with values alone, and the store of what was run for them."""
    monkeypatch.setattr(trust_zoo, "zoo", lambda part, draw: [zoo_task(name)])
    monkeypatch.setattr(trust_zoo, "DRAWS", {"tuning": 100})
    monkeypatch.setattr(trust_zoo, "_DRAWS_OF", {"regression": 1})
    where = context(tmp_path)
    trust_zoo.generated_values(where)
    (task,) = where.tasks
    return task, where.store


def test_a_method_that_is_no_candidate_counts_apart(tmp_path, monkeypatch):
    task, store = one_with_values("zoo-tuning/slope-chain@100", tmp_path, monkeypatch)
    (gradual,) = [record.mean for record in store.read() if record.method == "gradual"]
    assert task["best_candidate"] != "gradual"
    against_all = trust_zoo.loss("regression", task["auto"], min(gradual, task["best"]))
    assert task["regret_of_all"] == pytest.approx(against_all)


def test_harm_is_measured_with_inputs_as_they_were_given(tmp_path, monkeypatch):
    task, store = one_with_values("zoo-tuning/blind-freight-units@100", tmp_path, monkeypatch)
    records = {record.method: record for record in store.read()}
    said = records["auto"].said
    assert said["mended"] == ["0", "1"]  # one alone would do harm: their errors cancel in part
    assert task["plain"] == records["plain"].mean > said["candidates"]["plain"]
    assert task["best"] == min(said["candidates"].values())


def test_halves_compare_means_with_plain(data_home, tmp_path, small_portfolio, monkeypatch):
    monkeypatch.setattr(trust, "_HALVES", 2)
    where = context(tmp_path)
    (row,) = trust.halves(where)
    mean = {
        method: np.mean([r.mean for r in where.store.read() if r.method == method])
        for method in ("auto", "plain")
    }
    assert row.reached == pytest.approx(mean["auto"] / mean["plain"])


def test_a_domain_left_out_is_not_seen_before_extend(tmp_path, small_portfolio, monkeypatch):
    task = make_dg(8, n_sources=3, rows_per_domain=20, random_state=1)
    monkeypatch.setattr(extras, "load_task", lambda name: task)
    hops = task.graph.hops(task.sources)
    chosen = extras.spread_over_hops(task, 3)
    assert len(set(chosen)) == 3
    assert hops[chosen[0]] == min(hops[name] for name in task.targets)
    assert hops[chosen[-1]] == max(hops[name] for name in task.targets)
    seen, fit = [], AdaptedClassifier.fit

    def watched(self, X, y, sample_domain):
        seen.append((set(sample_domain), set(self.graph.names)))
        return fit(self, X, y, sample_domain=sample_domain)

    monkeypatch.setattr(AdaptedClassifier, "fit", watched)
    score = extras.extended_score("small", chosen[0])
    assert 0 <= score <= 100
    assert (score / 5) == pytest.approx(round(score / 5))  # 20 rows of one domain
    everything = set(task.graph.names) - {chosen[0]}
    assert seen == [(everything, everything)]


def test_figures_are_kept_and_failures_named(tmp_path):
    calls = []

    def work(value):
        calls.append(value)
        if value < 0:
            raise ValueError("no such figure")
        return {"value": value}

    where = context(tmp_path)
    assert where.compute({"a": (work, (1,)), "b": (work, (-1,))}) == {"a": {"value": 1}}
    assert where.failed == ["b: ValueError: no such figure"]
    assert context(tmp_path).compute({"a": (work, (1,))}) == {"a": {"value": 1}}
    assert calls == [1, -1]


def test_what_failed_is_a_row_and_the_rest_is_shown(tmp_path, data_home, small_portfolio):
    store = Store(tmp_path / "runs.jsonl")

    def run(jobs):
        done = run_jobs([job for job in jobs if job.seed != 1], store)
        if len(done) < len(jobs):
            raise FailedRunsError("1 of 2 runs failed")
        return done

    found = make_trust(["tpt48"], run=run, store=store, seeds=2, say=lambda text: None)
    assert [row.what for row in found.rows][:3] == ["tpt48-ew", "tpt48-ns", "tpt48-we"]
    assert all(row.reached > 0 for row in found.rows[:3])
    assert found.rows[-1].holds is False
    assert "1 of 2 runs failed" in found.rows[-1].note


def test_a_page_says_if_it_took_runs_of_earlier_code(tmp_path, monkeypatch):
    monkeypatch.setitem(trust.TRUST_PARTS, "speed", lambda context: [Row("Speed", "w", 1.0)])
    for stale in (True, False):
        store = Store(tmp_path / "runs.jsonl")
        page = make_trust(["speed"], run=list, store=store, stale=stale, say=print).to_markdown()
        assert f"code {_jobs.code_fingerprint()}." in page
        assert ("earlier versions of the code" in page) is stale
        assert ("--stale" in page) is stale


def test_a_page_made_in_parts_keeps_the_others():
    must = Limit(at_most=1)
    first = Trust([Row("a", "x", 0.5, must), Row("b", "y", 2.0, must)], {"more": [{"z": 1}]})
    page = first.to_markdown()
    assert "1 of 2 musts hold, 1 are missed" in page
    second = Trust([Row("b", "y", 0.7, must), Row("c", "n", None, must)], origins={"b": "By it."})
    grown = second.to_markdown(page)
    titles = [line for line in grown.splitlines() if line.startswith("#")][1:]
    assert titles == ["## a", "## b", "## more", "## c"]
    assert "2 of 3 musts hold, 0 are missed, 1 not known." in grown
    assert "## b\n\nBy it.\n\n|  | reached" in grown
    assert "| y | 2 |" not in grown
    assert "| x | 0.5 | <= 1 |" in grown
    assert second.to_markdown(grown) == grown


def test_a_limit_holds_or_not_in_words():
    assert Row("p", "w", 99.0, Limit(at_least=99)).verdict == "holds"
    assert Row("p", "w", 98.9, Limit(at_least=99), Limit(at_least=100)).verdict == "MISSED"
    assert Row("p", "w", 98.0, goal=Limit(80, 97)).verdict == "goal missed"
    assert Row("p", "w", None, Limit(at_least=99)).verdict == "not known"
    found = Trust([Row("p", "a|b", 98.9, Limit(at_least=99), note="n")], {"d": [{"x": np.nan}]})
    assert found.summary == "0 of 1 musts hold, 1 are missed, 0 not known."
    page = found.to_markdown()
    assert "| a\\|b | 98.9 | >= 99 |  | MISSED | n |" in page
    assert "There are 10 seeds on the real files" in " ".join(page.split())
    assert found.to_dict()["details"] == {"d": [{"x": None}]}  # NaN is no JSON


def test_the_command_prints_one_object_and_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    need = {"what": "seconds / 600", "ratio": {"median": 0.5}, "bound": "at most", "limit": 1.0}
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    content = {"figures": {"seconds": {"10000": 300.0}}, "requirements": [need]}
    (results / "gradual.json").write_text(json.dumps(content))
    arguments = ["bench", "trust", "--only", "speed", "--out", "docs"]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["holds"] for row in rows] == [True, None, None]
    page = tmp_path / "docs" / "trust.md"
    assert "300 s at 10000" in page.read_text()
    page.write_text(page.read_text() + "\n## Another part\n\nkept\n")
    assert "1 of 1 musts hold" in CliRunner().invoke(app, arguments).stdout
    assert "## Another part\n\nkept\n" in page.read_text()
    for wrong, word in (("--only=table-1", "table-1"), ("--methods=plain", "--methods")):
        refused = CliRunner().invoke(app, ["bench", "trust", wrong])
        assert refused.exit_code == 2
        assert word in refused.stderr


def test_readme_quotes_the_page():
    """The figures of `auto` in README are those of docs/trust.md."""
    root = Path(__file__).parents[2]
    page, readme = ((root / name).read_text() for name in ("docs/trust.md", "README.md"))
    quoted = readme.partition("<!-- trust:")[2].partition("<!-- end of trust -->")[0]
    cells = {
        line.split("|")[1].strip(): line.split("|")[3].strip() for line in quoted.splitlines()[3:]
    }
    for task, name in {"E → W": "ew", "N → S": "ns", "W → E": "we"}.items():
        assert f"| tpt48-{name} | {cells[f'TPT-48 {task}, error']} |" in page
    assert f"| {cells['TPT-48, random connected halves, error']} / " in page
    for number in (15, 60):
        mean, worst = cells[f"DG-{number}, accuracy in % (worst domain)"].rstrip(")").split(" (")
        part = page.partition(f"## DG-{number}: auto")[2]
        assert part.index(f"| mean over targets, % | {mean} |") < 300
        assert part.index(f"| worst domain of all seeds, % | {worst} |") < 400
