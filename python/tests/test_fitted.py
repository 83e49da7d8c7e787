"""What is there after ``fit``: planes that cannot be overwritten, densities, and predictions that refuse NaN."""

import numpy as np
import pytest

import linsep


def test_planes_cannot_be_overwritten(two):
    learner = linsep.LogisticRegression().fit(*two)
    with pytest.raises(ValueError, match="read-only"):
        learner.coef_[:] = 0
    with pytest.raises(AttributeError):
        learner.intercept_ = np.zeros(1)
    assert not hasattr(linsep.LogisticRegression(), "coef_")
    assert not hasattr(linsep.VotedPerceptron().fit(*two), "coef_")


def test_a_class_weight_of_no_class_is_refused(two):
    X, y = two
    with pytest.raises(ValueError, match="class_weight has the class 7"):
        linsep.LinearSVC(class_weight={7: 2.0}).fit(X, y)
    # A fold may lack a class that has a weight.
    linsep.LinearSVC(class_weight={0: 1.0, 1: 2.0, 7: 3.0}).fit(X, y)


def test_densities_are_those_of_scikit_learn(two):
    pytest.importorskip("sklearn")
    from sklearn import discriminant_analysis, naive_bayes

    X, y = two
    peers = [
        (linsep.LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr")),
        (linsep.MultinomialNB(), naive_bayes.MultinomialNB()),
        (linsep.BernoulliNB(binarize=5.0), naive_bayes.BernoulliNB(binarize=5.0)),
    ]
    names = ["priors_", "means_", "covariance_", "class_log_prior_", "feature_log_prob_"]
    compared = 0
    for ours, theirs in peers:
        ours.fit(X, y)
        theirs.fit(X, y)
        for name in names:
            if hasattr(ours, name):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
                compared += 1
    assert compared == 7
    ours = linsep.SharedVarianceNB().fit(X, y)
    theirs = naive_bayes.GaussianNB().fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-12)
    within = theirs.class_prior_ @ theirs.var_
    np.testing.assert_allclose(ours.var_, within, rtol=1e-6)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("name", ["LogisticRegression", "VotedPerceptron", "BernoulliNB", "LinearSVC"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (1500, 4), (2999, 2)])
def test_prediction_refuses_what_is_not_finite(two, name, kind, bad, place):
    X, y = two
    # The last column has the weight 0 in every plane of a linear model.
    X = np.hstack([X[:, :4], np.zeros((len(X), 1))]).astype(kind)
    learner = linsep.ESTIMATORS[name](n_jobs=2).fit(X, y)
    rows = np.tile(X, (40, 1))[:3000].copy()
    rows[place] = bad
    for method in ("predict", "decision_function"):
        with pytest.raises(ValueError, match=rf"X\[{place[0]}, {place[1]}\]"):
            getattr(learner, method)(rows)


def test_scores_that_overflow_are_no_fault_of_the_rows(two):
    learner = linsep.LogisticRegression().fit(*two)
    row = np.copysign(np.full(5, np.finfo(float).max), learner.coef_[0])[None]
    large = learner.decision_function(100 * np.sign(row))
    assert large[0] > 0
    assert list(learner.predict(row)) == [1]


def test_priors_are_those_of_scikit_learn(two):
    pytest.importorskip("sklearn")
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = two
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.8, 0.2]).fit(X, y)
    for priors in ([0.8, 0.2], {0: 0.8, 1: 0.2}):
        ours = linsep.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7)
        assert ours.verify(X, y)
    with pytest.raises(ValueError, match="2 classes"):
        linsep.LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="add up to"):
        linsep.LinearDiscriminantAnalysis(priors={0: 0.8, 1: 0.3}).fit(X, y)
