"""Data frames with columns of texts: encoded as files are, for learning and for predicting."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linsep

FRAME = pd.DataFrame(
    {
        "colour": ["red", "blue", "green", "blue", "red", "green", "red", "blue"] * 3,
        "size": np.arange(24) % 7 + 0.5,
        "new": [True, False, False, True] * 6,
    }
)
Y = np.where((FRAME["colour"] == "red") | (FRAME["size"] > 5), "yes", "no")

FORMS = {
    "pandas": FRAME,
    "categories": FRAME.astype({"colour": "category"}),
    "strings": FRAME.astype({"colour": "string"}),
    "polars": pl.from_pandas(FRAME),
    "polars categories": pl.from_pandas(FRAME).with_columns(pl.col("colour").cast(pl.Categorical)),
    "arrow": pa.Table.from_pandas(FRAME, preserve_index=False),
}


class OnlyArrow:
    """A table of which nothing is known but the Arrow interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FORMS["arrow interface of polars"] = OnlyArrow(FORMS["polars"])
FORMS["arrow interface, three batches"] = OnlyArrow(
    pa.Table.from_batches(FORMS["arrow"].to_batches(max_chunksize=9), FORMS["arrow"].schema)
)


def fit(frame, learner=None, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner = (learner or linsep.LogisticRegression()).fit(frame, Y, **more)
    return learner, [w.message for w in caught if isinstance(w.message, linsep.ColumnsWarning)]


def by_hand():
    """The same features, made by hand: levels in the order of the alphabet."""
    levels = ["blue", "green", "red"]
    parts = [np.asarray(FRAME["colour"] == level, dtype=float) for level in levels]
    return np.column_stack([*parts, FRAME["size"], FRAME["new"].astype(float)])


@pytest.mark.parametrize("form", FORMS)
def test_every_frame_gives_the_features_of_the_levels(form):
    learner, told = fit(FORMS[form])
    plain = linsep.LogisticRegression().fit(by_hand(), Y)
    assert np.array_equal(learner.coef_, plain.coef_)
    assert np.array_equal(learner.intercept_, plain.intercept_)
    assert len(told) == 1 and "colour" in told[0].notes[0]
    assert np.array_equal(learner.predict(FORMS[form]), plain.predict(by_hand()))
    assert np.array_equal(learner.predict_proba(FORMS[form]), plain.predict_proba(by_hand()))
    assert learner.n_features_in_ == 3
    assert learner.verify(FORMS[form], Y)


def test_weights_go_with_the_rows():
    weights = np.arange(24) % 3
    learner, _ = fit(FRAME, sample_weight=weights)
    plain = linsep.LogisticRegression().fit(by_hand(), Y, sample_weight=weights)
    assert np.array_equal(learner.coef_, plain.coef_)


def test_dates_and_names_are_left_out_and_named():
    frame = FRAME.assign(day=pd.date_range("2024-01-01", periods=24), name=[f"n{k}" for k in range(24)])
    learner, told = fit(frame)
    assert learner.coef_.shape == (1, 5)
    words = " ".join(told[0].notes)
    assert "day" in words and "name" in words
    assert np.array_equal(learner.predict(frame), fit(FRAME)[0].predict(FRAME))


def test_a_new_level_and_an_array_are_refused():
    learner, _ = fit(FRAME)
    with pytest.raises(ValueError, match="yellow"):
        learner.predict(FRAME.assign(colour="yellow"))
    with pytest.raises(ValueError, match="data frame"):
        learner.predict(by_hand())
    plain = linsep.LogisticRegression().fit(FRAME[["size"]], Y)
    with pytest.raises(ValueError, match="size"):
        plain.predict(FRAME[["colour"]].rename(columns={"colour": "size"}))
    with pytest.raises(ValueError, match="colour"):
        linsep.Perceptron().partial_fit(FRAME, Y, classes=["no", "yes"])
    with pytest.raises(ValueError, match="colour"):
        linsep.BasisExpansion().fit(FRAME)


def test_missing_values_are_refused_with_their_place():
    frame = FRAME.copy()
    frame.loc[5, "colour"] = None
    with pytest.raises(ValueError, match=r"missing.*colour"):
        linsep.LogisticRegression().fit(frame, Y)


def test_a_model_of_a_frame_is_saved_and_predicts_files(tmp_path):
    learner, _ = fit(FRAME)
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.predict(FRAME), learner.predict(FRAME))
    learner.save(tmp_path / "m.linsep")
    loaded = linsep.load(tmp_path / "m.linsep")
    assert np.array_equal(loaded.predict(FRAME), learner.predict(FRAME))
    FRAME.astype({"new": int}).to_csv(tmp_path / "f.csv", index=False)
    command = [sys.executable, "-m", "linsep", "predict", str(tmp_path / "m.linsep"), str(tmp_path / "f.csv")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.split()[1:] == learner.predict(FRAME).tolist()


def test_separable_and_verify_take_tables():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = linsep.separable(FRAME, FRAME["colour"] == "red")
        assert verdict
        assert linsep.verify(verdict, FRAME, FRAME["colour"] == "red")
        assert not linsep.verify(verdict, FRAME, FRAME["colour"] == "blue")
