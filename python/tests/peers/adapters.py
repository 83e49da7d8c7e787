"""linsep's estimators under the names and the constructor arguments of scikit-learn's.

An adapter only renames: it is a subclass of linsep's estimator whose constructor has scikit-learn's
signature, with a property for every parameter that linsep calls or counts in another way. What linsep does
not have is refused with :class:`Missing`, so a test that needs it fails instead of passing by luck.
"""

import contextlib
import inspect

import numpy as np
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.svm

import linsep


class Missing(Exception):
    """A feature of scikit-learn's class that linsep's does not have; no test waits for this exception."""


#: How many adapters have been made; the plugin compares it before and after a test.
made = 0


def adapter(theirs, ours, translated, refused):
    """A subclass of ``ours`` that is constructed as ``theirs`` is.

    ``translated`` has, for parameters of linsep, a value or a function of the estimator; ``refused`` has,
    for parameters of scikit-learn, the only values that linsep has something for.
    """
    signature = inspect.signature(theirs.__init__)

    def __init__(self, *given, **named):
        global made
        made += 1
        bound = signature.bind(self, *given, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature
    members = {"__init__": __init__, "__module__": theirs.__module__, "__qualname__": theirs.__name__}
    for name, parameter in inspect.signature(ours.__init__).parameters.items():
        if name not in signature.parameters and name != "self":
            members[name] = parameter.default
    members.update(translated=translated, refused=refused)
    return type(theirs.__name__, (Translated, ours), members)


class Translated:
    """Learns with the parameters of linsep, and keeps those of scikit-learn."""

    def fit(self, X, y, sample_weight=None):
        with self._in_the_words_of_linsep():
            return super().fit(X, y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        with self._in_the_words_of_linsep():
            return super().partial_fit(X, y, classes, sample_weight)

    @contextlib.contextmanager
    def _in_the_words_of_linsep(self):
        for name, values in self.refused.items():
            value = getattr(self, name)
            if not any(value is known or (np.ndim(value) == 0 and value == known) for known in values):
                raise Missing(f"{type(self).__name__} of linsep has nothing for {name}={value!r}")
        kept = self.get_params(deep=False)
        ours = {name: value(self) if callable(value) else value for name, value in self.translated.items()}
        self.__dict__.update(ours)
        try:
            yield
        finally:
            for name in ours:
                del self.__dict__[name]
            self.__dict__.update(kept)


def order(estimator):
    """The rows one after the other, or shuffled."""
    return "shuffle" if estimator.shuffle else "cyclic"


def stop(estimator):
    """Without a tolerance a run goes on to its last epoch."""
    return "limit" if estimator.tol is None else "clean-epoch"


def gap(estimator):
    """The gap that a gradient as small as ``tol`` leaves: near an optimum one is the square of the other."""
    return min(1e-4, max(float(estimator.tol) ** 2, 1e-14))


def penalty(estimator):
    """By ``C`` and ``l1_ratio``, or as it was said before scikit-learn 1.8."""
    if estimator.penalty is None or np.isinf(estimator.C):
        return None
    if estimator.penalty in ("deprecated", "elasticnet"):
        return {0.0: "l2", 1.0: "l1"}.get(float(estimator.l1_ratio or 0.0), "elasticnet")
    return estimator.penalty


def bias_of_liblinear(estimator):
    """LIBLINEAR penalises the bias as a weight."""
    return "penalised" if estimator.fit_intercept else False


def bias_of_logistic(estimator):
    """A bias that is free, but for LIBLINEAR."""
    return bias_of_liblinear(estimator) if estimator.solver == "liblinear" else bool(estimator.fit_intercept)


ONLINE = {
    "warm_start": (False,),
    "fit_intercept": (True,),
    "early_stopping": (False,),
}

NAIVE_BAYES = {"class_prior": (None,), "force_alpha": (True,)}

priors = {"priors": lambda estimator: "data" if estimator.fit_prior else "uniform"}

#: Adapter by module and name of the class whose place it takes.
ADAPTERS = {
    (sklearn.linear_model, "Perceptron"): adapter(
        sklearn.linear_model.Perceptron,
        linsep.Perceptron,
        {"verdict": False, "order": order, "stop": stop, "scale": None, "multiclass": "ovr"},
        {**ONLINE, "penalty": (None,)},
    ),
    (sklearn.linear_model, "PassiveAggressiveClassifier"): adapter(
        sklearn.linear_model.PassiveAggressiveClassifier,
        linsep.PassiveAggressive,
        {
            "rule": lambda estimator: {"hinge": "pa1", "squared_hinge": "pa2"}[estimator.loss],
            "order": order,
            "stop": stop,
            "scale": None,
        },
        {**ONLINE, "average": (False,)},
    ),
    (sklearn.linear_model, "LogisticRegression"): adapter(
        sklearn.linear_model.LogisticRegression,
        linsep.LogisticRegression,
        {
            "C": lambda estimator: 1.0 if np.isinf(estimator.C) else estimator.C,
            "penalty": penalty,
            "l1_ratio": lambda estimator: estimator.l1_ratio if penalty(estimator) == "elasticnet" else 0.5,
            "tol": gap,
            "fit_intercept": bias_of_logistic,
            "solver": "auto",
        },
        {"warm_start": (False,), "intercept_scaling": (1,)},
    ),
    (sklearn.linear_model, "RidgeClassifier"): adapter(
        sklearn.linear_model.RidgeClassifier,
        linsep.LeastSquaresClassifier,
        {"l2": lambda estimator: estimator.alpha},
        {"fit_intercept": (True,), "positive": (False,)},
    ),
    (sklearn.svm, "LinearSVC"): adapter(
        sklearn.svm.LinearSVC,
        linsep.LinearSVC,
        {
            "tol": gap,
            "fit_intercept": bias_of_liblinear,
            "multiclass": lambda estimator: estimator.multi_class,
        },
        {"intercept_scaling": (1,)},
    ),
    (sklearn.discriminant_analysis, "LinearDiscriminantAnalysis"): adapter(
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis,
        linsep.LinearDiscriminantAnalysis,
        {
            "priors": "data",
            "shrinkage": lambda estimator: "ledoit-wolf" if estimator.shrinkage == "auto" else estimator.shrinkage,
        },
        {"priors": (None,), "covariance_estimator": (None,), "n_components": (None,)},
    ),
    (sklearn.naive_bayes, "MultinomialNB"): adapter(
        sklearn.naive_bayes.MultinomialNB, linsep.MultinomialNB, priors, NAIVE_BAYES
    ),
    (sklearn.naive_bayes, "BernoulliNB"): adapter(
        sklearn.naive_bayes.BernoulliNB, linsep.BernoulliNB, priors, NAIVE_BAYES
    ),
}


def swap():
    """Puts linsep's classes in the place of scikit-learn's, for whoever imports them afterwards."""
    for (module, name), made_class in ADAPTERS.items():
        setattr(module, name, made_class)
