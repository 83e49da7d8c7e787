"""scikit-learn's own checks of estimators, and its tools around them."""

import pickle
import warnings

import numpy as np
import pytest

import linsep

pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from conftest import NAMES  # noqa: E402

#: Learners that visit rows one at a time: a row of weight 2 is one step twice as long, not two visits.
ONE_AT_A_TIME = {
    "Perceptron",
    "MarginPerceptron",
    "Relaxation",
    "PassiveAggressive",
    "Romma",
    "AveragedPerceptron",
    "VotedPerceptron",
    "PocketPerceptron",
    "Adaline",
}

#: Checks that fit rows which no plane separates.
OF_INSEPARABLE_ROWS = (
    "check_classifier_data_not_an_array check_classifiers_train "
    "check_dict_unchanged check_dont_overwrite_parameters check_dtype_object check_estimator_sparse_array "
    "check_estimator_sparse_matrix check_estimator_sparse_tag check_estimators_dtypes "
    "check_estimators_nan_inf check_f_contiguous_array_estimator check_fit2d_predict1d "
    "check_fit_check_is_fitted check_fit_idempotent check_fit_score_takes_y "
    "check_methods_sample_order_invariance check_methods_subset_invariance check_n_features_in "
    "check_n_features_in_after_fitting check_positive_only_tag_during_fit check_sample_weights_list "
    "check_sample_weights_not_an_array check_sample_weights_pandas_series check_supervised_y_2d"
).split()


def expected_failures(estimator):
    """Checks that cannot hold, each with its reason."""
    name = type(estimator).__name__
    expected = {}
    if name in ONE_AT_A_TIME:
        reason = "a row of weight 2 is one step twice as long, not two visits, as in scikit-learn's Perceptron"
        expected["check_sample_weight_equivalence_on_dense_data"] = reason
        expected["check_sample_weight_equivalence_on_sparse_data"] = reason
    if name == "LogisticRegression":
        reason = "both solutions are within tol of the optimum; test_weights_are_repeated_rows has a small tol"
        expected["check_sample_weight_equivalence_on_dense_data"] = reason
        expected["check_sample_weight_equivalence_on_sparse_data"] = reason
    if name == "Relaxation":
        expected["check_sample_weights_list"] = "a weight of 3 goes three times as far, beyond 2, and diverges"
    if name == "MultinomialNB":
        expected["check_decision_proba_consistency"] = "the rows of the check are negative, and counts are not"
    if name == "Adaline":
        expected["check_class_weight_classifiers"] = (
            "steps of rows of weight 0.0001 are so small that an epoch of them counts as rest"
        )
    if name == "HardMargin":
        reason = "the rows of the check are not separable, so there is no plane of the largest margin"
        expected.update({check: reason for check in OF_INSEPARABLE_ROWS})
    return expected


@parametrize_with_checks(
    [linsep.ESTIMATORS[name]() for name in NAMES] + [linsep.BasisExpansion()],
    expected_failed_checks=expected_failures,
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
def test_clone_and_pickle_keep_everything(name, apart):
    X, y = apart
    estimator = linsep.ESTIMATORS[name](n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        again = clone(estimator).fit(X, y)
    assert is_classifier(estimator)
    for other in (again, pickle.loads(pickle.dumps(estimator))):
        assert type(other) is type(estimator) and other.get_params() == estimator.get_params()
        np.testing.assert_array_equal(other.decision_function(X), estimator.decision_function(X))
        assert other.certificate_ == estimator.certificate_
        assert (other.stop_, other.n_iter_) == (estimator.stop_, estimator.n_iter_)


def test_pipeline_grid_search_and_calibration():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), linsep.LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.01, 1.0, 100.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.94
    calibrated = CalibratedClassifierCV(linsep.LinearSVC(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (150, 3)
    assert cross_val_score(linsep.LinearDiscriminantAnalysis(), X, y, cv=5).mean() > 0.96


def test_basis_expansion_sets_its_output():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    out = linsep.BasisExpansion(basis="a*b").set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == ["a", "b", "a*b"] and list(out["a*b"]) == [3.0, 8.0]


def test_metadata_routing_hands_weights_on():
    from sklearn import config_context

    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 0, 2.0, 1.0)
    with config_context(enable_metadata_routing=True):
        learner = linsep.LogisticRegression().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, learner).fit(X, y, sample_weight=weights)
    plain = linsep.LogisticRegression().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, plain.coef_)


def test_weights_are_repeated_rows(two):
    X, y = two
    weights = np.arange(len(y)) % 3
    learner = linsep.LogisticRegression(tol=1e-12)
    weighted = learner.fit(X, y, sample_weight=weights).coef_.copy()
    repeated = learner.fit(X.repeat(weights, axis=0), y.repeat(weights)).coef_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


def test_parameters_are_those_of_the_registry():
    import inspect

    from linsep import _registry

    for name, cls in linsep.ESTIMATORS.items():
        parameters = inspect.signature(cls).parameters
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters.values())
        for parameter in _registry.learners()[name]["parameters"]:
            python = _registry.python_name(parameter)
            default = parameters[python].default
            assert _registry.registry_text(parameter, default) in (
                parameter["default"],
                repr(_registry.python_value(parameter, parameter["default"])),
            )
            assert python in cls.__doc__
        with pytest.raises(TypeError, match="unexpected keyword"):
            cls(no_such_parameter=1)
