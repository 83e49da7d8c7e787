"""What fitted classifiers of scikit-learn minimise, in the words of the registry."""

import numpy as np


def objective_of(estimator, y, tol):
    """Learner, settings, weights and biases of a fitted linear classifier."""
    name = type(estimator).__name__
    if not hasattr(estimator, "coef_"):
        raise ValueError(f"this {name} has no coef_: it is not fitted, or it is not linear")
    known = {
        "LogisticRegression": _logistic,
        "LinearSVC": _linear_svc,
        "SGDClassifier": _sgd,
        "RidgeClassifier": _ridge,
        "RidgeClassifierCV": _ridge,
    }
    if name not in known:
        raise TypeError(f"certify knows {', '.join(known)} of scikit-learn, not {name}")
    learner, settings = known[name](estimator, len(np.asarray(y)))
    weights = np.asarray(estimator.coef_, dtype=np.float64)
    if weights.ndim == 1:
        weights = weights[None, :]
    biases = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64).ravel(), len(weights))
    if learner != "least-squares":
        settings = {"gap": repr(float(tol)), **settings}
    if getattr(estimator, "class_weight", None) == "balanced":
        settings["class-weight"] = "balanced"
    return learner, settings, weights.tolist(), biases.tolist()


def with_class_weights(estimator, y, sample_weight):
    """Weights of rows that have those of the classes in them, if the estimator lists some."""
    factors = getattr(estimator, "class_weight", None)
    if factors is None or isinstance(factors, str):
        return sample_weight
    of_rows = np.asarray([factors.get(label, 1.0) for label in np.asarray(y).tolist()], dtype=np.float64)
    return of_rows if sample_weight is None else of_rows * np.asarray(sample_weight, dtype=np.float64)


def _penalty(penalty, l1_ratio):
    """Settings of a penalty."""
    if penalty == "elasticnet":
        return {"penalty": "elastic-net", "l1-ratio": repr(float(l1_ratio))}
    if penalty in (None, "none"):
        return {"penalty": "none"}
    return {"penalty": penalty} if penalty != "l2" else {}


def _logistic(estimator, rows):
    penalty, ratio = estimator.penalty, getattr(estimator, "l1_ratio", None)
    if penalty == "deprecated":
        # The share alone says which penalty it is, and an infinite C that there is none.
        if np.isinf(estimator.C):
            penalty = None
        else:
            penalty = {0.0: "l2", None: "l2", 1.0: "l1"}.get(ratio, "elasticnet")
    settings = _penalty(penalty, ratio)
    settings["c"] = repr(float(estimator.C)) if np.isfinite(estimator.C) else "1"
    liblinear = estimator.solver == "liblinear"
    free = "penalised" if liblinear else "free"
    settings["intercept"] = free if estimator.fit_intercept else "none"
    if liblinear and estimator.intercept_scaling != 1:
        raise ValueError("certify: intercept_scaling other than 1 has another objective")
    if len(estimator.classes_) > 2:
        settings["multiclass"] = "ovr" if liblinear else "softmax"
    return "logistic", settings


def _linear_svc(estimator, rows):
    if estimator.intercept_scaling != 1:
        raise ValueError("certify: intercept_scaling other than 1 has another objective")
    settings = _penalty(estimator.penalty, None)
    settings["c"] = repr(float(estimator.C))
    settings["loss"] = estimator.loss.replace("_", "-")
    settings["intercept"] = "penalised" if estimator.fit_intercept else "none"
    if len(estimator.classes_) > 2:
        settings["multiclass"] = estimator.multi_class.replace("_", "-")
    return "svm", settings


def _sgd(estimator, rows):
    losses = {"log_loss": None, "hinge": "hinge", "squared_hinge": "squared-hinge"}
    if estimator.loss not in losses:
        raise ValueError(f"certify: no bound is known for the loss {estimator.loss!r} of SGDClassifier")
    if not estimator.alpha > 0:
        raise ValueError("certify: alpha=0 has no bound")
    settings = _penalty(estimator.penalty, estimator.l1_ratio)
    # It minimises mean loss + alpha · penalty; here it is c · sum of losses + penalty.
    settings["c"] = repr(1.0 / (float(estimator.alpha) * rows))
    settings["intercept"] = "free" if estimator.fit_intercept else "none"
    learner = "logistic" if estimator.loss == "log_loss" else "svm"
    if learner == "svm":
        settings["loss"] = losses[estimator.loss]
    if len(estimator.classes_) > 2:
        settings["multiclass"] = "ovr"
    return learner, settings


def _ridge(estimator, rows):
    alpha = np.asarray(getattr(estimator, "alpha_", estimator.alpha if hasattr(estimator, "alpha") else None))
    if alpha.ndim or not alpha > 0:
        raise ValueError(
            f"certify: a RidgeClassifier with one alpha above 0 is expected, not {alpha.tolist()!r}; without a ridge "
            "LeastSquaresClassifier has the claim `stationary`, which says how exact the solution is"
        )
    if not estimator.fit_intercept or getattr(estimator, "positive", False):
        raise ValueError("certify: a RidgeClassifier with fit_intercept=True and positive=False is expected")
    return "least-squares", {"l2": repr(float(alpha))}
