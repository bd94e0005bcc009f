import numpy as np
import pandas as pd
import pytest

from grada import DomainGraph
from grada.data import DomainData, FeatureEncoder, LabelCoder, Labels, label_weights

MISSING_CLASS_LABELS = {
    "floats": np.array([0.0, 1.0, np.nan]),
    "objects": np.array(["no", "yes", None], dtype=object),
    "list": ["no", "yes", None],
    "series": pd.Series(["no", "yes", pd.NA]),
    "nullable": pd.Series([3, 7, None], dtype="Int64"),
    "boolean": pd.Series([False, True, None], dtype="boolean"),
    "categorical": pd.Series(pd.Categorical(["no", "yes", None], categories=["yes", "no", "?"])),
    "string dtype": pd.Series(["no", "yes", None], dtype="string"),
}


@pytest.mark.parametrize("form", MISSING_CLASS_LABELS)
def test_labels_with_gaps_in_every_form(form):
    labels = Labels.read(MISSING_CLASS_LABELS[form], kind="classification")
    coder = LabelCoder.fit(labels)
    np.testing.assert_array_equal(coder.encode(labels), [0, 1, -1])
    decoded = coder.decode(np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert list(decoded) == list(np.asarray(MISSING_CLASS_LABELS[form], dtype=object)[:2])


def test_another_value_can_mean_missing():
    labels = Labels.read([0, 1, -1], kind="classification", missing_label=-1)
    assert labels.known.tolist() == [True, True, False]


@pytest.mark.parametrize("text", ["nan", "None", "<NA>"])
def test_the_text_of_a_missing_value_is_refused(text):
    with pytest.raises(ValueError, match=f"'{text}'.*missing_label"):
        Labels.read(np.array(["a", "b", text]), kind="classification")
    assert Labels.read(["a", "b", text], kind="classification", missing_label=text).known.sum() == 2


def test_several_outputs_round_trip_in_standard_units():
    y = np.random.default_rng(0).normal(5.0, 3.0, size=(10, 6))
    y[7:] = np.nan
    labels = Labels.read(y, kind="regression")
    coder = LabelCoder.fit(labels)
    units = coder.encode(labels)
    assert np.isnan(units[7:]).all()
    np.testing.assert_allclose(units[:7].mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(coder.decode(units[:7].astype(float)), y[:7], rtol=1e-5)


def test_refusals_of_labels():
    with pytest.raises(ValueError, match="No row has a label"):
        Labels.read([np.nan, np.nan], kind="regression")
    with pytest.raises(ValueError, match="Row 1 of y has labels for some outputs only"):
        Labels.read([[1.0, 2.0], [1.0, np.nan]], kind="regression")
    with pytest.raises(ValueError, match=r"'low'.*AdaptedClassifier"):
        Labels.read(["low", "high"], kind="regression")
    with pytest.raises(ValueError, match="infinity"):
        Labels.read([1.0, np.inf], kind="regression")


def test_columns_of_all_kinds_become_scaled_numbers():
    frame = pd.DataFrame(
        {
            "size": [1.0, 2.0, 3.0],
            "big": [True, False, True],
            "colour": pd.Categorical(["red", "blue", "red"]),
            "town": ["a b", "ü", "a b"],
            "count": pd.Series([1, 2, 3], dtype="Int64"),
        }
    )
    encoder = FeatureEncoder().fit(frame)
    encoded = encoder.transform(frame)
    assert encoded.shape == (3, 7)
    np.testing.assert_allclose(encoded[:, :3].mean(axis=0), 0.0, atol=1e-6)
    unseen = encoder.transform(frame.assign(colour="green"))
    assert np.isfinite(unseen).all()


def test_scaling_uses_all_rows_not_only_the_labelled_ones():
    graph = DomainGraph.chain(["a", "b"])
    data = DomainData.from_table(
        [[0.0], [2.0], [10.0], [12.0]],
        [0, 1, None, None],
        ["a", "a", "b", "b"],
        graph=graph,
        kind="classification",
    )
    np.testing.assert_allclose(data.X.mean(), 0.0, atol=1e-6)
    assert data.sources.tolist() == [0]
    assert data.targets.tolist() == [1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_features_that_are_no_number_are_named(bad):
    with pytest.raises(ValueError, match=r"column 'width', row 1.*SimpleImputer"):
        FeatureEncoder().fit(pd.DataFrame({"size": [1.0, 2.0], "width": [1.0, bad]}))
    with pytest.raises(ValueError, match=r"column 1, row 0"):
        FeatureEncoder().fit(np.array([[1.0, bad], [1.0, 2.0]]))
    with pytest.raises(ValueError, match=r"column 'width', row 1"):
        FeatureEncoder().fit(pd.DataFrame({"kind": ["a", "b"], "width": [1.0, bad]}))


def test_a_gap_in_a_category_is_named():
    with pytest.raises(ValueError, match=r"'kind' has no value in row 1"):
        FeatureEncoder().fit(pd.DataFrame({"kind": ["a", None], "size": [1.0, 2.0]}))


def test_weights_multiply_and_have_mean_one():
    labels = Labels.read(["a", "a", "a", "b", None], kind="classification")
    weight = label_weights(labels, sample_weight=[1, 1, 0, 3, 9], class_weight="balanced")
    assert weight[4] == 0
    assert weight[2] == 0
    assert weight[weight > 0].mean() == pytest.approx(1.0)
    assert weight[3] / weight[0] == pytest.approx(9.0)
    with pytest.raises(ValueError, match="zero"):
        label_weights(labels, sample_weight=[0, 0, 0, 0, 1])
