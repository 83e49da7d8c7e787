"""What is wrong with the input is said with its place, and never a crash."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import linsep

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
Y = [0, 0, 1, 1]


@pytest.mark.parametrize("value, words", [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("kind", ["f8", "f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_value_that_is_no_number_is_named_with_its_place(value, words, kind, order):
    rows = np.array(X, dtype=kind, order=order)
    rows[2, 1] = value
    for call in (lambda: linsep.LogisticRegression().fit(rows, Y), lambda: linsep.separable(rows, Y)):
        with pytest.raises(ValueError, match=rf"X\[2, 1\].*{words}"):
            call()
    learner = linsep.LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=rf"X\[2, 1\].*{words}"):
        learner.predict(rows)


def test_the_first_bad_value_of_many_is_named():
    learner = linsep.LogisticRegression().fit(X, Y)
    rows = np.zeros((5000, 2))
    rows[4000, 0] = rows[1500, 1] = np.nan
    with pytest.raises(ValueError, match=r"X\[1500, 1\]"):
        learner.predict(rows)


def test_sparse_values_are_named_too():
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.csr_array(X)
    rows.data[0] = np.nan
    with pytest.raises(ValueError, match=r"X\[0, 1\].*NaN"):
        linsep.LinearSVC().fit(rows, Y)
    rows = sparse.csr_array(X)
    rows.indices[0] = 7
    with pytest.raises(ValueError):
        linsep.LinearSVC().fit(rows, Y)
    rows = sparse.csr_array(X)
    rows.indptr = rows.indptr + 100
    with pytest.raises((ValueError, IndexError)):
        linsep.LinearSVC().fit(rows, Y)


@pytest.mark.parametrize("rows, labels, words", [
    (X[0], Y, "Expected 2D array"),
    (X[None], Y, "dim 3"),
    (X[:0], [], "0 sample"),
    (X[:, :0], Y, "0 feature"),
    (X, Y[:3], "inconsistent numbers of samples"),
    (X, [1, 1, 1, 1], "one class"),
    (X, [0.5, 1.5, 2.5, 3.5], "Unknown label type"),
    (X, [0, 0, 1, np.nan], r"y contains NaN"),
    (X, None, "y"),
    (X.astype(complex), Y, "Complex data"),
    (X.astype(str), Y, "strings"),
    (np.array([["a", 1.0]] * 4, dtype=object), Y, "could not convert"),
    (X, [["a"], ["b"]], "inconsistent|1d"),
    (X, ["a", "a", " a", "b"], "same in normal form|two names"),
])
def test_shapes_and_labels_are_refused_with_words(rows, labels, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError), match=words):
            linsep.LogisticRegression().fit(rows, labels)


@pytest.mark.parametrize("weights, words", [
    ([1, 1, -1, 1], r"sample_weight\[2\]"),
    ([1, np.nan, 1, 1], r"sample_weight\[1\]"),
    ([0, 0, 0, 0], "zero"),
    ([1, 1], "sample_weight"),
    ([[1, 1], [1, 1]], "1D"),
])
def test_weights_are_refused_with_their_place(weights, words):
    with pytest.raises(ValueError, match=words):
        linsep.LogisticRegression().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("options, words", [
    ({"C": 0}, "'C'"), ({"C": -1.0}, "'C'"), ({"tol": "x"}, "'tol'"), ({"penalty": "l3"}, "penalty"),
    ({"max_iter": 0}, "max_iter"), ({"random_state": -1}, "random_state"), ({"n_jobs": 0}, "n_jobs"),
    ({"multiclass": "ovo"}, "ovo|one-versus-one"), ({"class_weight": "heavy"}, "class_weight"),
])
def test_parameters_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        linsep.LogisticRegression(**options).fit(X, Y)


def test_errors_have_stable_codes():
    with pytest.raises(ValueError) as found:
        linsep.separable([[np.nan]], [1])
    assert found.value.code == "E0105"
    with pytest.raises(linsep.NotSeparableError) as found:
        linsep.HardMargin().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert sorted(found.value.rows) == [0, 1, 2]


def test_integers_that_no_float_equals_are_refused():
    with pytest.raises(ValueError, match=r"X\[0, 0\].*9007199254740993"):
        linsep.separable(np.array([[2**53 + 1], [1]]), [0, 1])


def test_what_happens_to_the_array_after_fit_has_begun_changes_nothing():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 20))
    labels = (rows[:, 0] > 0).astype(int)
    expected = linsep.LogisticRegression(tol=1e-9).fit(rows, labels).coef_

    def spoil(progress):
        rows[:] = np.nan

    found = linsep.LogisticRegression(tol=1e-9, callback=spoil).fit(rows.copy(), labels).coef_
    np.testing.assert_array_equal(found, expected)
    shared = rows = rng.normal(size=(3000, 20))
    expected = linsep.LogisticRegression(tol=1e-9).fit(shared.copy(), labels).coef_
    found = linsep.LogisticRegression(tol=1e-9, callback=spoil).fit(shared, labels).coef_
    np.testing.assert_array_equal(found, expected)


def hard_rows():
    """Rows on which a perceptron without a verdict never ends."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 30))
    return rows, rng.integers(0, 2, 2000)


def test_ctrl_c_ends_a_run_quickly():
    rows, labels = hard_rows()
    learner = linsep.Perceptron(verdict=False, max_iter=10**9)
    asked = []

    def ask():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, ask)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        learner.fit(rows, labels)
    # Not a measure: only that it does not wait for the run, which would take minutes.
    assert time.monotonic() - asked[0] < 10
    # The next run is not touched by the request that ended this one.
    assert linsep.Perceptron().fit(X, Y).score(X, Y) == 1.0


def test_python_goes_on_while_a_run_lasts():
    rows, labels = hard_rows()
    ticks = []
    learner = linsep.Perceptron(verdict=False, max_iter=2000)
    thread = threading.Thread(target=lambda: learner.fit(rows, labels))
    thread.start()
    while thread.is_alive():
        ticks.append(1)
        time.sleep(0.001)
    assert len(ticks) > 20


def test_callbacks_see_epochs_end_runs_and_may_raise():
    rows, labels = hard_rows()
    seen = []
    learner = linsep.Perceptron(verdict=False, max_iter=7, callback=seen.append).fit(rows, labels)
    assert [progress["epochs"] for progress in seen] == list(range(1, 8)) and learner.stop_ == "epoch-limit"
    early = linsep.Perceptron(verdict=False, max_iter=100, callback=lambda now: now["epochs"] >= 3)
    assert early.fit(rows, labels).n_iter_ == 3 and early.stop_ == "interrupted"

    def fail(progress):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        linsep.Perceptron(verdict=False, callback=fail).fit(rows, labels)


def test_warnings_have_data(capsys):
    with pytest.warns(linsep.NotSeparableWarning) as found:
        linsep.Perceptron().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert sorted(found[0].message.rows) == [0, 1, 2]
    rows, labels = hard_rows()
    with pytest.warns(linsep.ConvergenceWarning) as found:
        linsep.LogisticRegression(tol=1e-12, max_iter=1, verbose=1).fit(rows, labels)
    assert found[0].message.stop == "epoch-limit"
    assert "epoch" in capsys.readouterr().err


def test_parameters_have_the_names_of_python():
    X, y = [[0.0], [1.0]], [0, 1]
    for settings, words in (
        ({"C": -1}, "The 'C' parameter of LogisticRegression is no number above 0. Got -1 instead."),
        ({"penalty": "l3"}, "must be one of 'l2', 'l1', 'elasticnet', None. Got 'l3' instead."),
        ({"solver": "lbfgs"}, "The 'solver' parameter of LogisticRegression must be one of 'auto', 'newton'"),
        ({"tol": "small"}, "The 'tol' parameter of LogisticRegression"),
    ):
        with pytest.raises(ValueError) as caught:
            linsep.LogisticRegression(**settings).fit(X, y)
        assert words in str(caught.value)
        assert caught.value.code


def test_the_spelling_of_python_is_taken():
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    ours = linsep.LinearDiscriminantAnalysis(shrinkage="ledoit_wolf").fit(X, y)
    np.testing.assert_array_equal(ours.coef_, linsep.LinearDiscriminantAnalysis(shrinkage="ledoit-wolf").fit(X, y).coef_)
