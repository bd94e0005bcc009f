from cases import drift, quick

from grada.benchmark import compare, run


def test_results_side_by_side():
    task = drift("classification")
    results = list(compare(task, ["plain", quick("grda")], random_state=0))
    assert [result.method for result in results] == ["plain", "grda"]
    assert results[0].to_dict()["mean"] == results[0].evaluation.mean
    assert results[0].seconds > 0


def test_scrambled_truth_changes_the_score_only():
    task = drift("regression")
    honest, noise = (run(t, "plain") for t in (task, task.scrambled(0)))
    assert honest.evaluation.sources == noise.evaluation.sources
    assert honest.evaluation.mean != noise.evaluation.mean
