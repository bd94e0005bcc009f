"""The commands of README and docs, typed as they are written."""

import re
from pathlib import Path

import pytest
from benchmarks.console_page import PAGE, commands, run

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_way_of_the_readme(data_home, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    (block,) = [each for each in blocks if "grada fit" in each]
    for command in block.splitlines():
        code, said = run(command, tmp_path)
        assert code == 0, f"{command}\n{said}"
    assert (tmp_path / "predictions.csv").stat().st_size > 10_000
    assert "<!doctype html>" in (tmp_path / "report.html").read_text(encoding="utf-8")[:20]


@pytest.mark.slow
def test_the_way_of_the_page_on_tables(data_home, tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    said = ""
    for command in commands(page):
        code, said = run(command, tmp_path)
        assert code == 0, f"{command}\n{said}"
    predicted, mean = map(float, re.findall(r"\d+\.\d+", said))
    assert predicted < 0.3 * mean
    assert said.strip() in page
