"""Inference agrees with statsmodels where it has the same, and says what is infinite."""

import pickle

import linsep
import numpy as np
import pytest

rng = np.random.default_rng(7)
X = rng.normal(size=(300, 3))
y = (X @ [1.0, -0.5, 0.0] + 0.3 + rng.logistic(size=300) > 0).astype(int)


def test_two_classes_agree_with_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    peer = statsmodels.Logit(y, statsmodels.add_constant(X)).fit(disp=0, tol=1e-14)
    found = linsep.infer(X, y)
    np.testing.assert_allclose(found.params, peer.params, rtol=1e-7)
    np.testing.assert_allclose(found.bse, peer.bse, rtol=1e-7)
    np.testing.assert_allclose(found.pvalues_, peer.pvalues, rtol=1e-6)
    np.testing.assert_allclose(found.conf_int("wald"), peer.conf_int(), rtol=1e-6)
    np.testing.assert_allclose([found.llf, found.aic, found.bic], [peer.llf, peer.aic, peer.bic], rtol=1e-9)
    robust = statsmodels.GLM(y, statsmodels.add_constant(X), family=statsmodels.families.Binomial())
    robust = robust.fit(cov_type="HC0", tol=1e-14)
    np.testing.assert_allclose(linsep.infer(X, y, se="robust").bse, robust.bse, rtol=1e-7)


def test_several_classes_agree_with_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    kinds = np.digitize(X[:, 0] + rng.logistic(size=300), [-0.8, 0.8])
    peer = statsmodels.MNLogit(kinds, statsmodels.add_constant(X)).fit(disp=0, method="newton", tol=1e-14)
    found = linsep.infer(X, kinds, profile=False)
    np.testing.assert_allclose(found.params, peer.params.T.ravel(), rtol=1e-6)
    np.testing.assert_allclose(found.bse, peer.bse.T.ravel(), rtol=1e-6)


def test_an_estimator_has_results_with_the_names_of_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "dose", "noise"])
    learner = linsep.LogisticRegression(penalty=None, tol=1e-9).fit(frame, y)
    table = learner.summary_frame()
    assert list(table.index) == ["(bias)", "age", "dose", "noise"]
    np.testing.assert_allclose(table["estimate"].iloc[1:], learner.coef_[0], rtol=1e-3)
    results = learner.results()
    inside = results.profile
    assert (inside[:, 0] < results.params).all() and (results.params < inside[:, 1]).all()
    assert (results.profile_widths < 1e-5).all()
    again = pickle.loads(pickle.dumps(learner))
    assert (again.predict(frame) == learner.predict(frame)).all()
    with pytest.raises(AttributeError, match="the rows are gone"):
        again.results()
    with pytest.raises(AttributeError):
        linsep.LogisticRegression().fit(X, y).summary_frame()


def test_infinite_coefficients_have_one_end_and_firth_has_numbers():
    rows, labels = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    found = linsep.infer(rows, labels)
    assert found.standings == ["-inf", "+inf"] and found.params[1] == np.inf
    lower, upper = found.profile[1]
    assert np.isfinite(lower) and upper == np.inf and np.isnan(found.bse[1])
    assert found.separation == {"kind": "separable", "rows": 4}
    firth = linsep.infer(rows, labels, penalty="firth")
    assert np.isfinite(firth.params).all() and np.isfinite(firth.profile).all()


def test_residuals_and_offsets():
    found = linsep.infer(X, y, offset=np.full(300, 0.5), residuals=True)
    plain = linsep.infer(X, y)
    np.testing.assert_allclose(found.params[0] + 0.5, plain.params[0], rtol=1e-8)
    np.testing.assert_allclose((found.residuals["deviance"] ** 2).sum(), found.deviance, rtol=1e-9)
    np.testing.assert_allclose(found.residuals["leverage"].sum(), 4, rtol=1e-9)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="no count"):
        linsep.infer(X, y, sample_weight=np.full(300, 1.5))
    assert linsep.infer(X, y, sample_weight=np.full(300, 1.5), weights_as="analytic").nobs == 300
    with pytest.raises(ValueError, match="penalty"):
        linsep.infer(X, y, penalty="l2")
    with pytest.raises(ValueError, match="numbers for 300 rows"):
        linsep.infer(X, y, offset=[0.0])
