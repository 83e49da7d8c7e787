"""Discriminants project rows on their axes as scikit-learn's discriminant analysis does."""

import pickle

import numpy as np
import pytest

import linsep

pytest.importorskip("sklearn")

from sklearn.datasets import load_iris, load_wine  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402

NAMES = ["FisherDiscriminant", "LinearDiscriminantAnalysis"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_axes_are_those_of_scikit_learn(name, load):
    X, y = load(return_X_y=True)
    X, y = X[:-15], y[:-15]  # Classes of different sizes.
    ours = linsep.ESTIMATORS[name]().fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    centred = X @ ours.scalings_
    np.testing.assert_allclose(ours.transform(X), centred - centred.mean(axis=0), rtol=1e-7, atol=1e-8)
    ours, theirs = ours.transform(X), theirs.transform(X)
    theirs = theirs - theirs.mean(axis=0)
    signs = np.sign((ours * theirs).sum(axis=0))
    np.testing.assert_allclose(ours, signs * theirs, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_spread_within_the_classes_is_one(name):
    X, y = load_iris(return_X_y=True)
    Z = linsep.ESTIMATORS[name]().fit_transform(X, y)
    assert Z.shape == (150, 2)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    within = sum(np.cov(Z[y == k].T, bias=True) * np.mean(y == k) for k in range(3))
    np.testing.assert_allclose(within, np.eye(2), atol=1e-9)


def test_two_classes_have_one_axis_and_weights_are_repeated_rows():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], np.array(["a", "b"])[y[:100]]
    weights = np.where(np.arange(100) % 3 == 0, 2, 1)
    weighted = linsep.FisherDiscriminant().fit(X, y, sample_weight=weights)
    repeated = linsep.FisherDiscriminant().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.transform(X).shape == (100, 1)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-8)


def test_output_pickles_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    estimator = linsep.FisherDiscriminant().set_output(transform="pandas").fit(X, y)
    assert list(estimator.transform(X).columns) == ["fisherdiscriminant0", "fisherdiscriminant1"]
    assert isinstance(estimator.transform(X), pandas.DataFrame)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(X), estimator.transform(X))
    estimator.save(tmp_path / "m.linsep")
    with pytest.raises(AttributeError, match="no axes"):
        linsep.load(tmp_path / "m.linsep").transform(X)
