"""The same answers as scikit-learn's own estimators, where both solve the same problem."""

import pathlib

import numpy as np
import pytest

import linsep

pytest.importorskip("sklearn")

from sklearn import datasets, discriminant_analysis, linear_model, naive_bayes, svm  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

DATA = ["iris", "wine", "breast_cancer", "digits"]
LARGER = ["spambase", "a9a"]
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def load(name, scaled=True):
    if name == "a9a":
        # Zeros and ones, as compressed sparse rows; LIBLINEAR takes indices of 32 bits only.
        X, y = datasets.load_svmlight_file(str(EXAMPLES / "a9a.svm.gz"))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, y
    if name == "spambase":
        table = np.loadtxt(EXAMPLES / "spambase.csv.gz", delimiter=",", skiprows=1)
        X, y = table[:, 1:], table[:, 0].astype(int)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y


def logistic_objective(learner, X, y, C):
    """C · losses + ½ |w|², for two classes and for softmax."""
    scores = learner.decision_function(X)
    if scores.ndim == 1:
        losses = np.logaddexp(0, -np.where(y == learner.classes_[1], 1, -1) * scores)
    else:
        losses = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), np.searchsorted(learner.classes_, y)]
    return C * losses.sum() + 0.5 * (learner.coef_**2).sum()


@pytest.mark.parametrize("name", DATA + LARGER)
def test_logistic_regression(name):
    X, y = load(name)
    ours = linsep.LogisticRegression(tol=1e-8).fit(X, y)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=100_000).fit(X, y)
    a, b = (logistic_objective(learner, X, y, 1.0) for learner in (ours, theirs))
    assert a <= b * (1 + 1e-8) and abs(a - b) <= 1e-6 * b
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    assert ours.gap_ <= 1e-8
    certified = linsep.certify(theirs, X, y)
    assert certified and certified.gap < 1e-5


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc(name, loss):
    X, y = load(name)
    options = {"loss": loss, "C": 0.1}
    ours = linsep.LinearSVC(fit_intercept="penalised", tol=1e-7, **options).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-9, max_iter=1_000_000, dual=True, random_state=0, **options).fit(X, y)

    def objective(learner):
        signs = np.where(y[:, None] == learner.classes_, 1, -1) if len(learner.classes_) > 2 else (
            np.where(y == learner.classes_[1], 1, -1)[:, None])
        scores = learner.decision_function(X).reshape(len(y), -1)
        lack = np.maximum(0, 1 - signs * scores) ** (2 if loss == "squared_hinge" else 1)
        return 0.1 * lack.sum() + 0.5 * ((learner.coef_**2).sum() + (learner.intercept_**2).sum())

    a, b = objective(ours), objective(theirs)
    assert a <= b * (1 + 1e-6) and abs(a - b) <= 1e-4 * b
    certified = linsep.certify(theirs, X, y)
    assert certified and certified.gap < 1e-3
    assert sum(certified.bound) <= b * (1 + 1e-12) <= sum(certified.objective) * (1 + 1e-9)


@pytest.mark.parametrize("name", LARGER)
def test_squared_hinge_on_more_rows(name):
    X, y = load(name)
    ours = linsep.LinearSVC(loss="squared_hinge", fit_intercept="penalised", C=0.1, tol=1e-7).fit(X, y)
    theirs = svm.LinearSVC(loss="squared_hinge", C=0.1, dual=False, tol=1e-8, max_iter=100_000).fit(X, y)
    signs = np.where(y == ours.classes_[1], 1, -1)

    def objective(learner):
        lack = np.maximum(0, 1 - signs * learner.decision_function(X)) ** 2
        return 0.1 * lack.sum() + 0.5 * ((learner.coef_**2).sum() + (learner.intercept_**2).sum())

    a, b = objective(ours), objective(theirs)
    assert a <= b * (1 + 1e-7) and abs(a - b) <= 1e-6 * b
    assert linsep.certify(theirs, X, y).gap < 1e-5


@pytest.mark.parametrize("name", [*DATA[:3], "spambase"])
def test_linear_discriminant_analysis(name):
    X, y = load(name)
    ours = linsep.LinearDiscriminantAnalysis().fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    a, b = ours.predict_log_proba(X), theirs.predict_log_proba(X)
    finite = np.isfinite(a) & np.isfinite(b)
    # scikit-learn divides the scatter by n, as this does; scores are compared norm-wise.
    assert np.linalg.norm((a - b)[finite]) <= 1e-9 * np.linalg.norm(b[finite])


@pytest.mark.parametrize("name", DATA + LARGER)
def test_naive_bayes_of_counts(name):
    X, y = load(name, scaled=False)
    for ours, theirs in (
        (linsep.MultinomialNB(), naive_bayes.MultinomialNB()),
        (linsep.BernoulliNB(binarize=3.0), naive_bayes.BernoulliNB(binarize=3.0)),
    ):
        a, b = ours.fit(X, y).predict_log_proba(X), theirs.fit(X, y).predict_log_proba(X)
        finite = np.isfinite(a) & np.isfinite(b)
        assert np.linalg.norm((a - b)[finite]) <= 1e-9 * np.linalg.norm(b[finite])


@pytest.mark.parametrize("name", DATA[:3])
def test_certified_ridge(name):
    X, y = load(name, scaled=False)
    classes, counts = np.unique(y, return_counts=True)
    balanced = (len(y) / (len(classes) * counts))[np.searchsorted(classes, y)]
    listed = np.where(y == 0, 2.0, 1.0)
    for class_weight, of_rows in ((None, np.ones(len(y))), ("balanced", balanced), ({0: 2.0}, listed)):
        theirs = linear_model.RidgeClassifier(alpha=7.5, class_weight=class_weight).fit(X, y)
        certified = linsep.certify(theirs, X, y)
        assert certified.gap < 1e-10, certified
        assert linsep.verify(certified, X, y, sample_weight=certified.sample_weight)
        # The objective that is stated is that of the planes.
        scores = theirs.decision_function(X).reshape(len(y), -1)
        targets = np.where(y[:, None] == classes[-scores.shape[1] :], 1.0, -1.0)
        stated = (of_rows[:, None] * (scores - targets) ** 2).sum(0) + theirs.alpha * (np.atleast_2d(theirs.coef_) ** 2).sum(1)
        np.testing.assert_allclose(certified.objective, stated, rtol=1e-10)
        assert not linsep.verify(certified, X + 1e-7, y, sample_weight=certified.sample_weight)


def test_rough_ridges_are_found_out():
    X, y = load("wine", scaled=False)
    certified = linsep.certify(linear_model.RidgeClassifier(solver="lsqr").fit(X, y), X, y)
    assert 1e-3 < certified.gap < 0.1
    assert len(certified.flips) > 0
    with pytest.raises(ValueError, match="alpha above 0"):
        linsep.certify(linear_model.RidgeClassifier(alpha=0).fit(X, y), X, y)
    with pytest.raises(ValueError, match="fit_intercept"):
        linsep.certify(linear_model.RidgeClassifier(fit_intercept=False).fit(X, y), X, y)
    assert linsep.certify(linear_model.RidgeClassifierCV().fit(X, y), X, y).gap < 1e-9


@pytest.mark.parametrize("name", DATA[:3])
def test_ridge_classifier(name):
    X, y = load(name)
    ours = linsep.LeastSquaresClassifier(l2=2.0).fit(X, y)
    theirs = linear_model.RidgeClassifier(alpha=2.0, solver="svd").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if len(theirs.classes_) == 2:
        np.testing.assert_allclose(ours.coef_.ravel(), theirs.coef_.ravel(), rtol=1e-8, atol=1e-12)


def test_sgd_is_certified():
    X, y = load("breast_cancer")
    for loss in ("log_loss", "hinge"):
        learner = linear_model.SGDClassifier(loss=loss, alpha=0.01, random_state=0, max_iter=5000, tol=1e-8).fit(X, y)
        certified = linsep.certify(learner, X, y)
        assert certified and 0 <= certified.gap < 0.5
        assert linsep.verify(certified, X, y)


def test_predictions_that_no_better_model_changes():
    X, y = load("breast_cancer")
    rough = linear_model.LogisticRegression(max_iter=12).fit(X, y)
    certified = linsep.certify(rough, X, y)
    best = linsep.LogisticRegression(tol=1e-9).fit(X, y)
    changed = np.flatnonzero(best.predict(X) != rough.predict(X))
    assert set(changed) <= set(certified.flips) and 0 < len(certified.flips) < 100
    exact = linear_model.LogisticRegression(max_iter=10_000, tol=1e-10).fit(X, y)
    assert len(linsep.certify(exact, X, y).flips) == 0
    X, y = load("iris")
    assert linsep.certify(linear_model.LogisticRegression().fit(X, y), X, y).flips is None


def test_what_cannot_be_certified_is_refused():
    X, y = load("iris")
    with pytest.raises(TypeError, match="Perceptron"):
        linsep.certify(linear_model.Perceptron().fit(X, y), X, y)
    with pytest.raises(ValueError, match="not fitted"):
        linsep.certify(linear_model.LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="features"):
        linsep.certify(linear_model.LogisticRegression().fit(X, y), X[:, :2], y)
