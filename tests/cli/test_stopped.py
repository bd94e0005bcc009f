"""Stopped by the user or killed: nothing half-written, and a killed fit goes on."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

GRADA = Path(sys.executable).with_name("grada")
ROWS = ("rows.csv", "--domain", "state", "--label", "y", "--graph", "edges.csv")


def start(*arguments):
    return subprocess.Popen(
        [GRADA, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # Tests that run in the background of a shell ignore Ctrl-C, and would pass that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(process, condition):
    end = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "never began"
        time.sleep(0.01)


def names(folder):
    return {path.name for path in folder.iterdir()}


def interrupt(process):
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()  # one that was not stopped must not go on for ever
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert err.strip().endswith("Stopped. Nothing was left half-written.")


def test_ctrl_c_in_the_middle_of_a_fit(folder):
    before = names(folder)
    endless = ("--method", "grda", "--set", "epochs=1000000", "--set", "early_stopping=false")
    process = start("fit", *ROWS, *endless, "--checkpoint", "kept", "--out", "m")
    wait_for(process, lambda: any(folder.glob("kept/*")))
    interrupt(process)
    assert names(folder) == before | {"kept"}


def test_ctrl_c_in_the_middle_of_a_prediction(folder, grada):
    grada("fit", *ROWS, "--method", "plain", "--out", "m")
    header, *rows = Path("rows.csv").read_text().splitlines(keepends=True)
    Path("many.csv").write_text(header + "".join(rows) * 20_000)
    Path("p.csv").write_text("what was there before")
    before = names(folder)
    process = start("predict", "m", "many.csv", "--out", "p.csv")
    wait_for(process, lambda: names(folder) != before)
    interrupt(process)
    assert names(folder) == before
    assert Path("p.csv").read_text() == "what was there before"


#: Runs Python code in forks of itself, which need not import everything anew, and kills them.
DRIVER = """
import json, os, signal, sys, time, traceback
from grada.cli import main
from grada.tabular import load_table_model
from grada.training import Checkpoint

Checkpoint.__init__.__defaults__ = (0.1,)  # seconds between checkpoints
for line in sys.stdin:
    code, seconds = json.loads(line)
    if seconds == "here":
        exec(code)
        print("[0, 0]", flush=True)
        continue
    child = os.fork()
    if child == 0:
        sys.stdout = open(os.devnull, "w")
        try:
            exec(code)
            os._exit(0)
        except SystemExit as ended:
            os._exit(ended.code or 0)
        except BaseException:
            traceback.print_exc()
            os._exit(99)
    begun = time.monotonic()
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if seconds is not None and time.monotonic() > begun + seconds:
            os.kill(child, signal.SIGKILL)
            done = os.waitpid(child, 0)
            break
        time.sleep(0.002)
    print(json.dumps([os.waitstatus_to_exitcode(done[1]), time.monotonic() - begun]), flush=True)
"""
KILLED = -signal.SIGKILL


@pytest.fixture
def forked(folder):
    """Run code in another process, which is killed after some seconds: exit code, seconds.

    With "here" for the seconds it is not forked, so that what it makes is there for all forks.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    def run(code, seconds=None):
        process.stdin.write(json.dumps([code, seconds]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield run
    process.stdin.close()
    process.wait(timeout=300)
    process.stdout.close()


def command(*arguments):
    return f"sys.argv = {['grada', *arguments]!r}; main()"


@pytest.mark.slow
def test_a_fit_that_is_killed_again_and_again_ends_the_same(folder, grada, forked):
    training = ("--method", "grda", "--set", "epochs=60", "--set", "early_stopping=false")
    fit = ("fit", *ROWS, *training, "--json", "--out", "m")
    ended, whole = forked(command(*fit))
    assert ended == 0
    grada("predict", "m", "rows.csv", "--out", "expected.csv")
    expected = Path("expected.csv").read_bytes()
    rng = random.Random(0)
    kills = saved = 0
    while kills < 20:
        shutil.rmtree("m")
        shutil.rmtree("kept", ignore_errors=True)
        # After some kills a fit is let through: it goes on from where it was.
        for patience in [*rng.choices([0.1, 0.3, 0.6, 1.0], k=6), None]:
            seconds = None if patience is None else rng.uniform(0, patience) * whole
            ended, _ = forked(command(*fit, "--checkpoint", "kept"), seconds)
            assert ended in (0, KILLED)
            kills += ended == KILLED
            saved += any(Path("kept").glob("*"))
        assert ended == 0
        grada("predict", "m", "rows.csv", "--out", "p.csv")
        assert Path("p.csv").read_bytes() == expected
    assert saved > kills // 2, "checkpoints were used"
    assert not [name for name in names(folder) if "grada" in name]


LOADING = 'models = [load_table_model(path) for path in ("two", "one")]'
SAVING = """
while True:
    for model in models:
        model.save("m")
"""


@pytest.mark.slow
def test_kills_while_saving_leave_one_of_the_models(folder, grada, forked):
    grada("fit", *ROWS, "--method", "propagation", "--out", "one")
    grada("fit", *ROWS, "--method", "plain", "--out", "two")
    answers = []
    for name in ("one", "two"):
        grada("predict", name, "rows.csv", "--out", "p.csv")
        answers.append(Path("p.csv").read_bytes())
    shutil.copytree("one", "m")
    forked(LOADING, "here")
    rng = random.Random(0)
    seen = set()
    for _ in range(30):
        ended, _ = forked(SAVING, rng.uniform(0.02, 0.5))
        assert ended == KILLED
        grada("predict", "m", "rows.csv", "--out", "p.csv")
        seen.add(answers.index(Path("p.csv").read_bytes()))
    assert seen == {0, 1}
    grada("fit", *ROWS, "--method", "plain", "--out", "m")
    assert not [name for name in names(folder) if "grada" in name], "leftovers are cleared"
