"""The same numbers in every form give the same model, bit for bit."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import linsep
from conftest import NAMES


def quietly(estimator, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **options)


def forms(X):
    """The rows of an array of whole numbers in every form that holds them exactly."""
    strided = np.zeros((2 * len(X), 3 * X.shape[1]))
    strided[::2, ::3] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    found = {
        "C order": np.ascontiguousarray(X),
        "Fortran order": np.asfortranarray(X),
        "strided": strided[::2, ::3],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": frozen,
        "unaligned": unaligned,
        "big-endian": X.astype(">f8"),
        "list": X.tolist(),
        "objects": X.astype(object),
    }
    for kind in "f4 f2 i1 i2 i4 i8 u1 u2 u4 u8 >i4 longdouble".split():
        found[kind] = X.astype(kind)
        found[f"{kind} by columns"] = np.asfortranarray(X.astype(kind))
    scipy = pytest.importorskip("scipy.sparse")
    for kind in ("csr", "csc", "coo", "lil", "dok"):
        found[f"{kind} matrix"] = getattr(scipy, f"{kind}_matrix")(X)
        found[f"{kind} array"] = getattr(scipy, f"{kind}_array")(X)
    wide = scipy.csr_array(X.astype(np.float32))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    found["csr with 64 bits"] = wide
    doubled = scipy.csr_array(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(X.shape[1]), len(X)), 2),
         np.arange(len(X) + 1) * 2 * X.shape[1]), shape=X.shape)
    found["csr with repeated entries"] = doubled
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_form_gives_the_same_bits(name, apart):
    X, y = apart
    estimator = linsep.ESTIMATORS[name]()
    expected = quietly(estimator, X, y)
    scores = expected.decision_function(X)
    content = expected.certificate_.to_json()
    for form, rows in forms(X).items():
        other = quietly(linsep.ESTIMATORS[name](), rows, y)
        np.testing.assert_array_equal(other.decision_function(rows), scores, err_msg=form)
        np.testing.assert_array_equal(other.predict(rows), expected.predict(X), err_msg=form)
        assert other.certificate_.to_json() == content, form


@pytest.mark.parametrize("name", NAMES)
def test_threads_change_nothing(name, two):
    X, y = two
    if name == "HardMargin":
        y = (X[:, 0] > 5).astype(int)
    one = quietly(linsep.ESTIMATORS[name](n_jobs=1), X, y)
    many = quietly(linsep.ESTIMATORS[name](n_jobs=4), X, y)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize(
    "learner, name",
    [(entry["name"], name) for name, entry in linsep._registry.learners().items()],
)
def test_the_program_learns_the_same_bits(learner, name, apart, tmp_path):
    """The same rows through a file and the program, which is the Rust library, have the same planes."""
    X, y = apart
    lines = [",".join([*(repr(value) for value in row), label]) for row, label in zip(X.tolist(), y)]
    header = ",".join(["a", "b", "c", "d", "label"])
    (tmp_path / "rows.csv").write_text("\n".join([header, *lines]) + "\n")
    model = tmp_path / "model.linsep"
    command = [sys.executable, "-m", "linsep", "train", str(tmp_path / "rows.csv"), "-o", str(model)]
    command += ["--learner", learner, "--seed", "0", "--reading", "binary64", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert model.exists(), done.stderr
    loaded = linsep.load(model)
    own = quietly(linsep.ESTIMATORS[name](random_state=0) if "random_state" in
                  linsep.ESTIMATORS[name]().get_params() else linsep.ESTIMATORS[name](), X, y)
    np.testing.assert_array_equal(loaded._model.weights, own._model.weights)
    np.testing.assert_array_equal(loaded._model.biases, own._model.biases)
    assert list(loaded.feature_names_in_) == ["a", "b", "c", "d"]
    assert bool(loaded.verify(X, y)) == bool(own.verify(X, y))


def frames(X, names):
    """The rows as data frames."""
    columns = {name: X[:, j] for j, name in enumerate(names)}
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    mixed = pandas.DataFrame(columns)
    mixed["b"] = mixed["b"].astype("Int64")
    mixed["c"] = mixed["c"].astype("float32")
    table = pyarrow.table(columns)
    return {
        "pandas": pandas.DataFrame(columns),
        "pandas of several types": mixed,
        "polars": polars.DataFrame(columns),
        "pyarrow table": table,
        "pyarrow batch": table.to_batches()[0],
        "stream of batches": Stream(table),
    }


class Stream:
    """Something that speaks the Arrow interface and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_the_arrow_interface_needs_no_pyarrow(monkeypatch):
    polars = pytest.importorskip("polars")
    columns = {
        "half": np.arange(12, dtype=np.float32) / 2,
        "byte": np.arange(12, dtype=np.int8),
        "long": np.arange(12, dtype=np.uint64) * 3,
        "flag": np.arange(12) % 3 == 0,
    }
    y = ["low"] * 5 + ["high"] * 7
    table, array = polars.DataFrame(columns), np.column_stack(list(columns.values())).astype(float)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ours, plain = (linsep.LinearSVC().fit(X, y) for X in (Stream(table), array))
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    np.testing.assert_array_equal(ours.predict(Stream(table)), plain.predict(array))
    assert ours.feature_names_in_.tolist() == list(columns)
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(Stream(table.rename({"half": "whole"})))
    with pytest.raises(ValueError, match="3 features"):
        ours.predict(Stream(table.drop("flag")))
    gaps = table.with_columns(polars.Series("byte", [None, *range(1, 12)], dtype=polars.Int8))
    with pytest.raises(ValueError, match=r"X\[0, 1\]"):
        linsep.LinearSVC().fit(Stream(gaps), y)
    lists = table.with_columns(polars.Series("byte", [[1]] * 12))
    with pytest.warns(linsep.ColumnsWarning, match="byte"):
        linsep.LinearSVC().fit(Stream(lists), y)


class Liar:
    """Objects that break the rules of the interface."""

    def __init__(self, answer):
        self.answer = answer

    def __arrow_c_stream__(self, requested_schema=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_streams_that_are_none_are_refused():
    for answer, kind in ((None, TypeError), (7, TypeError), (RuntimeError("gone"), RuntimeError)):
        with pytest.raises(kind):
            linsep.separable(Liar(answer), [0, 1])
    spent = polars_capsule()
    linsep.separable(Liar(spent), [0, 1])
    with pytest.raises(ValueError, match="Arrow"):
        linsep.separable(Liar(spent), [0, 1])
    # A capsule of another name.
    import datetime

    with pytest.raises((ValueError, TypeError)):
        linsep.separable(Liar(datetime.datetime_CAPI), [0, 1])


def polars_capsule():
    polars = pytest.importorskip("polars")
    return polars.DataFrame({"x": [0.0, 1.0]}).__arrow_c_stream__()


def test_data_frames_are_their_numbers_with_names(apart):
    X, y = apart
    plain = linsep.LogisticRegression().fit(X, y)
    for form, frame in frames(X, "abcd").items():
        other = linsep.LogisticRegression().fit(frame, y)
        np.testing.assert_array_equal(other.coef_, plain.coef_, err_msg=form)
        np.testing.assert_array_equal(other.predict(frame), plain.predict(X), err_msg=form)
        assert other._model.feature_names == list("abcd"), form
        assert linsep.separable(frame, y).verdict == "separable", form


def test_names_are_compared_at_predict(apart):
    pandas = pytest.importorskip("pandas")
    X, y = apart
    frame = pandas.DataFrame(X, columns=list("abcd"))
    learner = linsep.LogisticRegression().fit(frame, y)
    assert list(learner.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        learner.predict(frame[list("dcba")])


def test_missing_values_in_frames_are_refused_with_their_column(apart):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = apart
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["c"] = frame["c"].astype("Int64")
    frame.loc[4, "c"] = pandas.NA
    with pytest.raises(ValueError, match=r'X\[4, 2\] \(column "c"\)'):
        linsep.LinearSVC().fit(frame, y)
    rows = polars.DataFrame({"a": [1, None, 3], "b": [0.5, 1.5, 2.5]})
    with pytest.raises(ValueError, match=r'X\[1, 0\] \(column "a"\)'):
        linsep.separable(rows, [0, 1, 0])
    # Beside a column of texts as well, where the reader of tables finds it.
    frame["d"] = "red"
    with pytest.raises(ValueError, match=r'missing.*X\[4, 2\] \(column "c"\).*SimpleImputer'):
        linsep.LinearSVC().fit(frame, y)


@pytest.mark.parametrize("labels", [
    ["a", "b"], [3, 7], [-1, 1], [False, True], [1.0, 2.0], ["10", "9"], np.array(["x", "yy"], dtype=object),
])
def test_labels_keep_their_type_and_order(labels, apart):
    X, y = apart
    target = np.asarray(labels)[(y == "up").astype(int)]
    learner = linsep.LogisticRegression().fit(X, target)
    assert learner.classes_.tolist() == sorted(np.asarray(labels).tolist())
    assert learner.predict(X).dtype == target.dtype
    assert learner.score(X, target) == 1.0
    positive = learner.decision_function(X) > 0
    np.testing.assert_array_equal(learner.predict(X)[positive], np.full(positive.sum(), learner.classes_[1]))


def test_series_of_labels(apart):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = apart
    for target in (pandas.Series(y), pandas.Series(y).astype("category"), polars.Series(y.tolist())):
        assert linsep.LinearSVC().fit(X, target).score(X, y) == 1.0


def test_one_row_is_predicted_as_many_are(three):
    X, y = three
    for name in ("LogisticRegression", "BernoulliNB", "VotedPerceptron"):
        learner = quietly(linsep.ESTIMATORS[name](), X, y)
        expected = learner.predict(X)
        assert [learner.predict_one(row) for row in X] == expected.tolist()
        assert learner.predict_one(X[0].tolist()) == expected[0]
        with pytest.raises(ValueError, match="features"):
            learner.predict_one([1.0])
