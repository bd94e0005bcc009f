import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from typer.testing import CliRunner

from grada import methods
from grada.cli import app
from grada.datasets import make_dg

GRADA = Path(sys.executable).with_name("grada")


def grada(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [GRADA, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)


@pytest.mark.slow
def test_demo_ends_with_a_table_and_a_verdict():
    done = grada("demo", "--domains", "8", "--sources", "4")
    assert done.returncode == 0, done.stderr
    for word in ("Logistic regression", "Source-Only", "GRDA", "auto chose", "worst", "seconds"):
        assert word in done.stdout
    assert done.stdout.count("Adapting along the graph") == 2
    assert "Handwritten digits" in done.stdout


@pytest.mark.slow
def test_demo_json_is_one_object_and_nothing_else():
    done = grada("demo", "--domains", "6", "--sources", "3", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert set(figures["methods"]) == {"plain", "source-only", "grda", "auto"}
    assert set(figures["methods"]["grda"]) == {"mean", "worst", "levels", "seconds"}
    assert set(figures["tasks"]) == {"make-dg6", "rotating-digits"}


def test_wrong_use_is_answered_in_words():
    done = grada("demo", "--domains", "4", "--sources", "4")
    assert done.returncode == 2
    assert "fewer than the 4 domains" in done.stderr
    assert "Traceback" not in done.stderr
    assert grada("--version").stdout.startswith("grada ")


def test_bench_prints_what_the_design_says(data_home, tmp_path):
    arguments = ("bench", "dg15", "--methods", "plain")
    done = grada(*arguments, "--seeds", "2", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {key: result[key] for key in ("task", "protocol", "metric")} == {
        "task": "dg15",
        "protocol": "leak-free",
        "metric": "accuracy",
    }
    figures = result["methods"]["plain"]
    assert set(figures) == {"mean", "std", "worst", "levels", "seconds", "seeds"}
    assert figures["mean"] == pytest.approx(49.1, abs=0.1)
    assert len((tmp_path / "grada-results.jsonl").read_text().splitlines()) == 2
    again = grada(*arguments, "--seeds", "3", folder=tmp_path)
    assert "plain" in again.stdout
    assert again.stderr.count("seed") == 1  # the two that are there are not run again
    assert len((tmp_path / "grada-results.jsonl").read_text().splitlines()) == 3


def test_bench_of_a_regression_speaks_degrees(data_home, tmp_path):
    arguments = ("bench", "tpt48-ew", "--methods", "plain", "--seeds", "1")
    figures = json.loads(grada(*arguments, "--json", folder=tmp_path).stdout)["methods"]["plain"]
    assert figures["mean"] == pytest.approx(0.28, abs=0.02)
    assert list(figures["levels"]) == ["1", "2", "3+"]
    assert figures["unit"] == "°F"
    assert "°F" in grada(*arguments, folder=tmp_path).stdout
    leaking = grada(*arguments, "--protocol", "published", folder=tmp_path).stdout
    assert "published (LEAKS labels of the targets)" in leaking
    assert "0.784" in leaking


@pytest.mark.slow
def test_bench_killed_halfway_finishes_the_rest_only(data_home, tmp_path):
    store = tmp_path / "grada-results.jsonl"
    arguments = ("bench", "dg15", "--methods", "plain,source-only", "--seeds", "4", "--jobs", "1")
    with subprocess.Popen(
        [GRADA, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        for line in process.stderr:
            if line.startswith("5/8"):
                os.killpg(process.pid, signal.SIGKILL)
                break
    before = store.read_text()
    assert 5 <= before.count("\n") < 8
    done = grada(*arguments, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    after = store.read_text()
    assert after.startswith(before[: before.rfind("\n") + 1])
    runs = [json.loads(line) for line in after.splitlines()]
    assert len(runs) == len({run["key"] for run in runs}) == 8
    assert done.stderr.count("seed") == 8 - before.count("\n")
    assert json.loads(done.stdout)["methods"]["source-only"]["seeds"] == 4


def test_bench_names_what_it_does_not_know(tmp_path):
    for arguments in (
        ("bench", "dg16"),
        ("bench", "rotating-digits", "--methods", "gdra"),
        ("bench", "rotating-digits", "--protocol", "published"),
        ("bench", "paper", "--only", "table-9"),
    ):
        done = grada(*arguments, folder=tmp_path)
        assert done.returncode == 2, arguments
        assert "Known:" in done.stderr


def test_bench_answers_bad_surroundings_in_words(tmp_path):
    store = tmp_path / "runs.jsonl"
    store.write_text("not a run\nnor this\n")
    arguments = ("bench", "rotating-digits", "--methods", "plain", "--seeds", "1")
    for options, said in (
        (("--store", str(store)), "runs.jsonl, line 1"),
        (("--store", str(tmp_path)), "directory"),
        (("--dask", "nonsense"), "Dask"),
    ):
        done = grada(*arguments, *options, folder=tmp_path)
        assert done.returncode == 2, options
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_bench_with_a_backbone(data_home, tmp_path):
    arguments = ("bench", "dg15", "--backbone", "adagraph", "--seeds", "1", "--json")
    done = grada(*arguments, "--methods", "source-only", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["backbone"] == "adagraph"
    refused = grada(*arguments, "--methods", "plain", folder=tmp_path)
    assert refused.returncode == 2
    assert "Unknown method 'plain'. Known: all, adda," in refused.stderr


def test_methods_are_listed():
    listing = json.loads(grada("methods", "--json").stdout)["methods"]
    assert set(listing) == set(methods.available())
    assert listing["grda"]["kinds"] == ["classification", "regression"]
    assert "grda" in grada("methods").stdout
    assert grada("methods", "--markdown").stdout.strip() == methods.markdown_table()


def test_readme_has_the_table_of_methods():
    """Stale? Put the output of `grada methods --markdown` between the two marks."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    _, _, rest = text.partition("<!-- methods: made by `grada methods --markdown` -->")
    table, end, _ = rest.partition("<!-- end of methods -->")
    assert end
    assert table.strip() == methods.markdown_table()


def test_graph_help_says_whether_the_graph_helps(tmp_path):
    task = make_dg(n_domains=20, rows_per_domain=40, random_state=1000)
    X, y, domain = task.visible()
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(place=domain, answer=y)
    rows.to_csv(tmp_path / "rows.tsv", sep="\t", index=False)
    renamed = rows.assign(place="p" + rows["place"].astype(str))
    renamed.to_csv(tmp_path / "others.csv", index=False)
    edges = nx.to_pandas_edgelist(task.graph.to_networkx())
    edges.to_csv(tmp_path / "edges.csv", index=False)
    options = ("--domain", "place", "--graph", str(tmp_path / "edges.csv"))

    def ask(table, label, *more):
        return CliRunner().invoke(
            app, ["graph", "help", str(tmp_path / table), *options, "--label", label, *more]
        )

    done = ask("rows.tsv", "answer", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["verdict"] == "yes"
    assert set(said["scores"]) == {"given", "clique", "empty", "rewired"}
    assert "Does the graph help? Yes." in ask("rows.tsv", "answer").stdout
    for table, label, words in (
        ("rows.tsv", "answr", "no column 'answr'"),
        ("others.csv", "answer", "No domain of the rows"),
        ("none.csv", "answer", "none.csv"),
    ):
        wrong = ask(table, label)
        assert wrong.exit_code == 2
        assert words in wrong.stderr
