import json
import subprocess
import sys
from pathlib import Path

import pytest

from grada import methods

GRADA = Path(sys.executable).with_name("grada")


def grada(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GRADA, *arguments], capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_demo_ends_with_a_table_and_a_verdict():
    done = grada("demo", "--domains", "8", "--sources", "4")
    assert done.returncode == 0, done.stderr
    for word in ("Logistic regression", "Source-Only", "GRDA", "worst", "hop", "seconds"):
        assert word in done.stdout
    assert "Adapting along the graph" in done.stdout


@pytest.mark.slow
def test_demo_json_is_one_object_and_nothing_else():
    done = grada("demo", "--domains", "6", "--sources", "3", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert set(figures["methods"]) == {"plain", "source-only", "grda"}
    assert set(figures["methods"]["grda"]) == {"mean", "worst", "levels", "seconds"}


def test_wrong_use_is_answered_in_words():
    done = grada("demo", "--domains", "4", "--sources", "4")
    assert done.returncode == 2
    assert "fewer than the 4 domains" in done.stderr
    assert "Traceback" not in done.stderr
    assert grada("--version").stdout.startswith("grada ")


def test_bench_prints_what_the_design_says(data_home):
    done = grada("bench", "dg15", "--methods", "plain", "--seeds", "2", "--json")
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
    assert "plain" in grada("bench", "dg15", "--methods", "plain", "--seeds", "1").stdout


def test_bench_names_what_it_does_not_know():
    for arguments in (("bench", "dg16"), ("bench", "dg15", "--methods", "gdra")):
        done = grada(*arguments)
        assert done.returncode == 2
        assert "Known:" in done.stderr


def test_bench_with_a_backbone(data_home):
    arguments = ("bench", "dg15", "--backbone", "adagraph", "--seeds", "1", "--json")
    done = grada(*arguments, "--methods", "source-only")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["backbone"] == "adagraph"
    refused = grada(*arguments, "--methods", "plain")
    assert refused.returncode == 2
    assert "Unknown method 'plain'. Known: adda," in refused.stderr


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
