import json
from dataclasses import replace

import numpy as np
import pytest

from grada.benchmark import DamagedStoreError, Job, Store
from grada.benchmark._jobs import Record, code_fingerprint


def record(key: str = "k", **changes) -> Record:
    fields = {
        "key": key,
        "task": "dg15",
        "method": "plain",
        "seed": 0,
        "protocol": "leak-free",
        "backbone": "plain",
        "sources": [0, "a b"],
        "settings": {"estimator": "linear"},
        "metric": "accuracy",
        "mean": 50.0,
        "worst": 0.0,
        "levels": {"1": 50.0},
        "domains": [(1, 50.0), ("Île-de-France", 12.5)],
        "seconds": 0.5,
        "data": "d",
        "code": code_fingerprint(),
        "versions": {"python": "3"},
    }
    return Record(**{**fields, **changes})


def test_a_run_comes_back_as_it_was(tmp_path):
    store = Store(tmp_path / "new folder" / "runs.jsonl")
    assert store.read() == []
    store.append(record())
    assert store.read() == [record()]  # names keep their types
    assert len(store.path.read_text().splitlines()) == 1


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_half_a_line_is_not_counted_and_not_built_upon(tmp_path, kept):
    """What a kill in the middle of a write leaves; -1: all of the line but its newline."""
    store = Store(tmp_path / "runs.jsonl")
    store.append(record("whole"))
    with store.path.open("ab") as file:
        file.write((record("half").to_json() + "\n").encode()[:kept])
    assert [found.key for found in store.read()] == ["whole"]
    store.append(record("next"))
    assert [found.key for found in store.read()] == ["whole", "next"]
    for line in store.path.read_text().splitlines():
        json.loads(line)


def test_a_damaged_line_is_named(tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    store.append(record("a"))
    for damage in ("{", "[]", "{}", '"text"'):
        store.path.write_text(f"{record('a').to_json()}\n{damage}\n{record('b').to_json()}\n")
        with pytest.raises(DamagedStoreError, match=r"runs.jsonl, line 2: "):
            store.read()


def test_a_run_counts_once_and_only_for_the_code_that_made_it(tmp_path, data_home):
    store, job = Store(tmp_path / "runs.jsonl"), Job("dg15", "plain", 0)
    first = record(job.key)
    store.append(first)
    store.append(replace(first, mean=99.0))  # the same run by another process
    assert store.finished([job]) == {job: first}
    other = Job("dg15", "plain", 1)
    store.append(record(other.key, code="older"))
    assert store.finished([job, other]) == {job: first}
    assert set(store.finished([job, other], any_code=True)) == {job, other}


def test_what_makes_a_run_another_one(data_home):
    job = Job("dg15", "grda", 0)
    keys = {
        job.key,
        replace(job, seed=1).key,
        replace(job, method="dann").key,
        replace(job, protocol="published").key,
        replace(job, backbone="adagraph").key,
        replace(job, sources=(0, 3)).key,
        replace(job, task="dg60").key,
    }
    assert len(keys) == 7
    assert Job("dg15", "grda", 0).key == job.key
    assert replace(job, sources=[np.int64(3), 0]) == replace(job, sources=(0, 3))
    for wrong in ({"task": "dg16"}, {"protocol": "publishd"}):
        with pytest.raises(ValueError, match="Unknown"):
            replace(job, **wrong)
