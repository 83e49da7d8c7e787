"""scikit-learn's own checks of estimators, and its tools around them."""

import pickle
import warnings

import numpy as np
import pytest

import linsep

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from conftest import NAMES  # noqa: E402


def expected_failures(estimator):
    """Checks that cannot hold, each with its reason."""
    return {}


@parametrize_with_checks(
    [linsep.ESTIMATORS[name]() for name in NAMES], expected_failed_checks=expected_failures
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)
