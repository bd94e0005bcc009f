import numpy as np
import pandas as pd
import pytest

from grada import DomainGraph
from grada.data import DomainData, FeatureEncoder, LabelCoder, Labels

MISSING_CLASS_LABELS = {
    "floats": np.array([0.0, 1.0, np.nan]),
    "objects": np.array(["no", "yes", None], dtype=object),
    "list": ["no", "yes", None],
    "series": pd.Series(["no", "yes", pd.NA]),
    "nullable": pd.Series([3, 7, None], dtype="Int64"),
    "boolean": pd.Series([False, True, None], dtype="boolean"),
    "categorical": pd.Series(pd.Categorical(["no", "yes", None], categories=["yes", "no", "?"])),
    "codes": pd.Categorical(["no", "yes", None], categories=["yes", "no", "?"]),
    "string dtype": pd.Series(["no", "yes", None], dtype="string"),
}


@pytest.mark.parametrize("form", MISSING_CLASS_LABELS)
def test_labels_with_gaps_in_every_form(form):
    labels = Labels.read(MISSING_CLASS_LABELS[form], kind="classification")
    coder = LabelCoder.fit(labels)
    np.testing.assert_array_equal(coder.encode(labels), [0, 1, -1])
    decoded = coder.decode(np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert list(decoded) == list(np.asarray(MISSING_CLASS_LABELS[form], dtype=object)[:2])


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"missing_label": 5}])
def test_codes_are_read_as_the_labels_they_stand_for(settings):
    y = [12, 5, None, 12, 3, 5, 12]
    codes = pd.Categorical(y, categories=[12, 99, 3, 5])
    weight = [1.0, 2.0, 3.0, 0.0, 1.0, 1.0, 1.0]
    given, coded = (
        Labels.read(form, kind="classification", sample_weight=weight, **settings)
        for form in (np.array(y, dtype=object), codes)
    )
    np.testing.assert_array_equal(coded.values, given.values)
    np.testing.assert_array_equal(coded.weight, given.weight)
    np.testing.assert_array_equal(coded.classes, given.classes)
    assert coded.classes.dtype == given.classes.dtype
    assert weight == [1.0, 2.0, 3.0, 0.0, 1.0, 1.0, 1.0]


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


def read(y, **settings):
    return Labels.read(y, kind="classification", **settings)


def test_weights_multiply_and_have_mean_one():
    y = ["a", "a", "a", "b", None]
    labels = read(y, sample_weight=[1, 1, 0, 3, 9], class_weight="balanced")
    assert labels.known.tolist() == [True, True, False, True, False]
    assert labels.weight[labels.known].mean() == pytest.approx(1.0)
    assert labels.weight[3] / labels.weight[0] == pytest.approx(6.0)  # 3 / 1 and 2 rows to 1
    with pytest.raises(ValueError, match="zero"):
        read(y, sample_weight=[0, 0, 0, 0, 1])
    for bad in ({"a": -1.0}, {"a": float("nan")}):
        with pytest.raises(ValueError, match="class_weight must be"):
            read(y, class_weight=bad)


def test_a_label_of_weight_zero_is_not_looked_at():
    """Else hiding labels by their weight would leak them through scale and classes."""
    values = [Labels.read([1.0, 3.0, hidden], kind="regression", sample_weight=[1, 1, 0])
              for hidden in (2.0, 1e9)]  # fmt: skip
    first, second = (LabelCoder.fit(labels) for labels in values)
    assert first.center == second.center
    assert first.scale == second.scale
    hidden = LabelCoder.fit(read(["a", "b", "secret"], sample_weight=[1, 1, 0]))
    assert hidden.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("unit", [1e-13, 1.0, 1e30])
def test_the_unit_of_y_does_not_matter(unit):
    y = np.array([1.0, 2.0, 4.0]) * unit
    labels = Labels.read(y, kind="regression")
    coder = LabelCoder.fit(labels)
    np.testing.assert_allclose(coder.decode(coder.encode(labels).astype(float)), y, rtol=1e-6)


def test_mixed_labels_and_the_right_culprit_are_named():
    with pytest.raises(ValueError, match=r"mixes texts and other labels: 'a' and 1 \(row 1\)"):
        read(["a", 1])
    with pytest.raises(ValueError, match="Row 2 of y holds 'high'"):
        Labels.read([1.0, 2.0, "high"], kind="regression")
    with pytest.raises(ValueError, match=r"infinity.*row 1"):
        Labels.read([1.0, np.inf], kind="regression")
    with pytest.raises(ValueError, match="give one value"):
        read(["a", "b"], missing_label=["a", "b"])
    assert read(["a", "b", None], missing_label=pd.NA).known.sum() == 2


def test_kinds_of_columns_are_settled_in_fit():
    frame = pd.DataFrame({"level": pd.Categorical([1, 2, 1]), "size": [1.0, 2.0, 3.0]})
    encoder = FeatureEncoder().fit(frame)
    same = frame.assign(level=[1.0, 2.0, 1.0])
    np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(same))
    with pytest.raises(ValueError, match=r"'size' is numeric, but row 1 holds '2,5'"):
        encoder.transform(frame.assign(size=["1", "2,5", "3"]))
    with pytest.raises(ValueError, match="same columns in the same order"):
        encoder.transform(frame[["size", "level"]])
    with pytest.raises(ValueError, match="DataFrame"):
        encoder.transform(np.ones((3, 2)))


def test_tables_that_users_really_have():
    numbers = pd.DataFrame({0: ["red", "blue"], 1: [1.0, 2.0], 2: [5.0, 7.0]})
    assert FeatureEncoder().fit(numbers).transform(numbers).shape == (2, 4)
    objects = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]}).astype(object)
    assert FeatureEncoder().fit(objects).transform(objects).shape == (2, 2)
    with pytest.raises(ValueError, match="'when' holds dates"):
        FeatureEncoder().fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))
    with pytest.raises(ValueError, match="more than one column 'a'"):
        FeatureEncoder().fit(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
    small = FeatureEncoder().fit(np.array([[1.0], [2.0]]))
    with pytest.raises(ValueError, match="column 0, row 0, is too large"):
        small.transform(np.array([[1e60]]))
    images = np.zeros((3, 1, 2, 2))
    images[2, 0, 1, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN: place \(0, 1, 0\), row 2"):
        FeatureEncoder().fit(images, allow_nd=True)
