"""Verdicts, certificates, files, and planes of other programs."""

import json
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import linsep

AND = (np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 0, 1])
XOR = (AND[0], [0, 1, 1, 0])
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def test_a_verdict_knows_what_it_proves():
    yes, no = linsep.separable(*AND), linsep.separable(*XOR)
    assert yes and not no
    assert (yes.verdict, no.verdict) == ("separable", "overlapping")
    assert yes.witness == [] and no.witness == [(0, 1), (1, 1), (2, 1), (3, 1)] and no.rows == [0, 1, 2, 3]
    lower, upper = yes.margin
    # The widest plane has the margin 1/√17 in (w, b): x1 + x2 - 1.5 of length √4.25, and 0.5 away.
    assert 0 < lower <= 0.5 / 4.25**0.5 * (1 + 1e-9) <= upper * (1 + 1e-9)
    weights, bias = yes.plane
    scores = AND[0] @ weights + bias
    assert (scores[:3] < 0).all() and scores[3] > 0
    assert no.plane is None
    assert [word for _, _, word in no.coefficients] == ["finite"] * 3
    assert [name for _, name, _ in yes.coefficients] == ["intercept", "x0", "x1"]
    assert {word for _, _, word in yes.coefficients} <= {"+inf", "-inf", "undetermined"}
    for verdict in (yes, no):
        assert linsep.verify(verdict, *(AND if verdict else XOR))
        assert verdict.plot().svg.startswith("<svg") and verdict.verdict in verdict._repr_html_()


def test_touching_rows_and_columns_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"dose": [0.0, 1.0, 1.0, 2.0], "age": [3.0, 1.0, 2.0, 5.0]})
    verdict = linsep.separable(frame[["dose"]], ["no", "no", "yes", "yes"])
    assert verdict.verdict == "touching"
    assert ("dose", "+inf") in [(name, word) for _, name, word in verdict.coefficients]


def test_three_classes_at_once(three):
    X, y = three
    verdict = linsep.separable(X, y)
    assert verdict and [word for _, _, word in verdict.pairs] == ["separable"] * 3
    assert linsep.verify(verdict.certificate, X, y)


def test_a_certificate_of_other_data_does_not_hold():
    certificate = linsep.separable(*AND).certificate
    assert linsep.verify(certificate, *AND)
    for X, y in (XOR, (AND[0] + 1, AND[1])):
        found = linsep.verify(certificate, X, y)
        assert not found and found[0]["finding"] == "false"
    text = certificate.to_json()
    assert linsep.verify(text, *AND)
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    data = json.loads(text)
    data["claims"][0]["plane"]["bias"] = 5.0
    assert not linsep.verify(json.dumps(data), *AND)


def test_weights_of_zero_take_no_part():
    X, y = XOR
    assert linsep.separable(X, y, sample_weight=[1, 1, 1, 0])
    assert not linsep.separable(X, y, sample_weight=[1, 1, 1, 1e-9])


def test_models_and_certificates_are_read_back(tmp_path, apart):
    X, y = apart
    learner = linsep.LogisticRegression(C=0.5, penalty="l1").fit(X, y)
    learner.save(tmp_path / "model.linsep")
    for read in (linsep.read, linsep.load):
        again = read(tmp_path / "model.linsep")
        assert isinstance(again, linsep.LogisticRegression)
        assert (again.C, again.penalty) == (0.5, "l1") and list(again.classes_) == ["down", "up"]
        np.testing.assert_array_equal(again.predict_proba(X), learner.predict_proba(X))
        assert again.verify(X, y)
    (tmp_path / "and.cert").write_text(linsep.separable(*AND).certificate.to_json())
    assert linsep.read(tmp_path / "and.cert").verify(*AND)
    assert linsep.verify(tmp_path / "and.cert", *AND)
    with pytest.raises(OSError):
        linsep.read(tmp_path / "nothing")
    content = bytearray((tmp_path / "model.linsep").read_bytes())
    content[-5] ^= 1
    (tmp_path / "bad.linsep").write_bytes(content)
    with pytest.raises(ValueError, match="bad.linsep"):
        linsep.load(tmp_path / "bad.linsep")


def test_the_program_reads_models_of_python(tmp_path, apart):
    X, y = apart
    linsep.LinearDiscriminantAnalysis().fit(X, y).save(tmp_path / "m.linsep")
    done = subprocess.run(
        [sys.executable, "-m", "linsep", "show", "--json", str(tmp_path / "m.linsep")],
        capture_output=True, text=True,
    )
    assert done.returncode == 0 and json.loads(done.stdout)["classes"] == ["down", "up"]
    asked = subprocess.run([sys.executable, "-m", "linsep", "nonsense"], capture_output=True, text=True)
    assert asked.returncode == 2 and "nonsense" in asked.stderr


def test_what_a_model_proves_is_checked_by_verify(two, apart):
    X, y = apart
    hard = linsep.HardMargin().fit(X, y)
    assert hard.verdict_ == "separable" and hard.verify(X, y)
    scores = hard.decision_function(X)
    assert hard.margin_ == pytest.approx(abs(scores).min() / np.linalg.norm(hard.coef_))
    others = [linsep.Perceptron().fit(X, y), linsep.LinearSVC(C=1e6).fit(X, y)]
    assert all(other.margin_ is None or other.margin_ <= hard.margin_ * (1 + 1e-9) for other in others)
    X, y = two
    learner = linsep.LogisticRegression(tol=1e-6).fit(X, y)
    assert learner.verify(X, y) and learner.gap_ <= 1e-6
    assert not learner.verify(X, 1 - y)
    assert not learner.verify(X[::-1], y[::-1]) or (X[::-1] == X).all()
    assert "optimal" in repr(learner.certificate_) and "optimal" in learner.certificate_._repr_html_()
    assert learner.plot(X, y).svg.startswith("<svg")


def test_a_stream_learns_what_one_epoch_in_order_does(two):
    X, y = two
    stream = linsep.Perceptron()
    for start in range(0, len(y), 9):
        stream.partial_fit(X[start:start + 9], y[start:start + 9], classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = linsep.Perceptron(verdict=False, order="cyclic", scale=None, max_iter=1).fit(X, y)
    np.testing.assert_array_equal(stream.coef_, whole.coef_)
    np.testing.assert_array_equal(stream.intercept_, whole.intercept_)
    assert not hasattr(linsep.LogisticRegression(), "partial_fit")
    assert not hasattr(linsep.Adaline(), "partial_fit") and hasattr(linsep.Adaline(eta0=0.01), "partial_fit")
    with pytest.raises(ValueError, match="classes"):
        linsep.Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="none of the classes"):
        linsep.Perceptron().partial_fit(X, y, classes=[0, 5])


def test_probabilities_only_where_they_are_honest(two, three):
    assert hasattr(linsep.LogisticRegression(), "predict_proba")
    assert not hasattr(linsep.LinearSVC(), "predict_proba")
    assert not hasattr(linsep.Perceptron(), "predict_proba")
    X, y = three
    softmax = linsep.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(softmax.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    assert not hasattr(linsep.LogisticRegression(multiclass="ovr").fit(X, y), "predict_proba")


@pytest.mark.parametrize("scheme", ["joint", "ovr", "ovr_k_1", "ovo"])
def test_schemes_of_many_classes(scheme, three):
    X, y = three
    learner = linsep.Perceptron(multiclass=scheme).fit(X, y)
    scores = learner.decision_function(X)
    assert scores.shape == (75, 3)
    np.testing.assert_array_equal(learner.classes_[scores.argmax(axis=1)], learner.predict(X))
    planes = {"joint": 3, "ovr": 3, "ovr_k_1": 2, "ovo": 3}[scheme]
    assert learner.coef_.shape == (planes, 3) and learner.intercept_.shape == (planes,)


def test_weights_can_be_bounded_and_classes_weighted(two):
    X, y = two
    free = linsep.LogisticRegression().fit(X, y)
    bounded = linsep.LogisticRegression(lower=0.0, upper=1.0).fit(X, y)
    assert free.coef_.min() < 0 <= bounded.coef_.min() and bounded.coef_.max() <= 1
    doubled = linsep.LogisticRegression(tol=1e-10, class_weight={1: 2.0}).fit(X, y)
    weighted = linsep.LogisticRegression(tol=1e-10).fit(X, y, sample_weight=np.where(y == 1, 2.0, 1.0))
    np.testing.assert_array_equal(doubled.coef_, weighted.coef_)
    assert doubled.verify(X, y)


def test_the_package_needs_numpy_only():
    """Functions and estimators without scikit-learn, scipy and pandas."""
    program = (
        "import sys\n"
        "for name in ('sklearn', 'scipy', 'pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "import linsep\n"
        "X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 2.0]], ['a', 'a', 'b', 'b']\n"
        "assert linsep.separable(X, y)\n"
        "learner = linsep.LogisticRegression(C=2.0).fit(X, y)\n"
        "assert learner.score(X, y) == 1.0 and learner.get_params()['C'] == 2.0\n"
        "assert repr(learner) == 'LogisticRegression(C=2.0)'\n"
        "assert learner.set_params(C=3.0).C == 3.0 and learner.verify(X, y)\n"
        "import pickle\n"
        "assert pickle.loads(pickle.dumps(learner)).predict(X).tolist() == y\n"
        "try: linsep.LogisticRegression().predict(X)\n"
        "except ValueError as error: assert 'not fitted' in str(error)\n"
        "else: raise AssertionError\n"
        "try: learner.predict([[1.0]])\n"
        "except ValueError as error: assert 'expecting 2 features' in str(error)\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_imports_nothing_but_numpy():
    # What makes it quick; bench/python measures the time.
    program = (
        "import sys\n"
        "import linsep\n"
        "late = {'sklearn', 'scipy', 'pandas', 'pyarrow', 'polars', 'linsep._estimators', 'linsep._basis'}\n"
        "assert not late & set(sys.modules), late & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name, shape, classes", [
    ("iris.csv", (150, 4), ["setosa", "versicolor", "virginica"]),
    ("heart_scale.svm", (270, 13), [-1, 1]),
    ("spambase.csv.gz", (4601, 57), [-1, 1]),
])
def test_files_of_data_are_rows(name, shape, classes):
    rows = linsep.read(EXAMPLES / name)
    X, y = rows
    assert X.shape == shape and len(rows.feature_names) == shape[1]
    assert np.unique(y).tolist() == classes
    assert rows.sample_weight is None and rows.notes
    # The same answer as from the file.
    command = [sys.executable, "-m", "linsep", "separable", str(EXAMPLES / name), "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert linsep.separable(X, y).verdict == said["verdict"]


def test_the_label_of_a_file_may_be_chosen(tmp_path):
    (tmp_path / "f.csv").write_text("a,b,kind\n1,x,p\n2,y,q\n3,x,p\n4,y,q\n")
    rows = linsep.read(tmp_path / "f.csv", label="b")
    assert rows.y.tolist() == ["x", "y", "x", "y"]
    assert rows.feature_names == ["a", "kind=p", "kind=q"]
    with pytest.raises(ValueError, match="no column|nothing"):
        linsep.read(tmp_path / "f.csv", label="nothing")
