"""Estimators of pyspark.ml: for pipelines, cross-validation, saving and loading.

An estimator has the params of pyspark.ml where they mean the same, and linsep's where they do not. Its model adds
columns to a frame with the Rust engine in the executors. What it holds is a ``.linsep`` file.
"""

import warnings

from pyspark.ml.classification import Classifier
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFitIntercept,
    HasMaxIter,
    HasProbabilityCol,
    HasRegParam,
    HasSolver,
    HasTol,
    HasWeightCol,
)
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable

from linsep.spark import learn, mlmodel
from linsep.spark.mlparams import HasTable, accessors


class LinearEstimator(Classifier, HasTable, HasWeightCol, DefaultParamsReadable, DefaultParamsWritable):
    """What all estimators share. ``_learn`` is a function of :mod:`linsep.spark.learn`, ``_model`` the class of models,
    ``_options`` the option of the learner that each param is, and ``_defaults`` the values of params."""

    _learn = _model = None

    def __init__(self, **params):
        super().__init__()
        self._progress = None
        self._setDefault(missing="error", unknownLevel="error", **self._defaults)
        self.setParams(**params)

    def setParams(self, **params):
        """Sets params by name."""
        for name in params:
            if not self.hasParam(name):
                known = [param.name for param in self.params]
                raise TypeError(f"linsep: {type(self).__name__} has no param {name!r}; it has {', '.join(known)}")
        return self._set(**self._columns_first(params))

    def setProgress(self, callback):
        """Called after each round with a dict; it is no param and is not saved."""
        self._progress = callback
        return self

    def setWeightCol(self, value):
        """Sets the value of :py:attr:`weightCol`."""
        return self._set(weightCol=value)

    def _fit(self, dataset):
        kind = type(self)
        options = {
            "label": self.getLabelCol(),
            "features": self._features(),
            "missing": self.getOrDefault("missing"),
            "unknown_level": self.getOrDefault("unknownLevel"),
        }
        for param, option in {"idCol": "id", "weightCol": "weight", "timeLimit": "time_limit", **kind._options}.items():
            if self.isDefined(param):
                options[option] = self.getOrDefault(param)
        # A penalty has one name; the default of the other steps back.
        if "reg_param" in options:
            for param, option in kind._options.items():
                if option in ("C", "l2") and not self.isSet(param):
                    del options[option]
        if self._progress and ("maxIter" in kind._options or kind is HardMargin):
            options["progress"] = self._progress
        fitted = kind._learn(dataset, **options)
        if not fitted.converged and fitted.wrong is not None:
            words = f"{fitted.wrong} rows are on the wrong side after {fitted.rounds} rounds; nothing is claimed"
            warnings.warn(f"{kind.__name__}: {words}", stacklevel=3)
        elif not fitted.converged:
            gap = f"the gap at {fitted.gap:.3g}" if fitted.gap < float("inf") else "no bound of the gap"
            words = f"{kind.__name__}: a limit was reached after {fitted.rounds} rounds, with {gap}"
            warnings.warn(words, stacklevel=3)
        is_text = dict(dataset.dtypes)[self.getLabelCol()] == "string"
        model = kind._model(fitted.model, is_text, fitted)
        model._resetUid(self.uid)
        return self._copyValues(model)


class _HasProbability(HasProbabilityCol):
    """The column of probabilities."""

    def setProbabilityCol(self, value):
        """Sets the value of :py:attr:`probabilityCol`."""
        return self._set(probabilityCol=value)


@accessors
class _HasPenalty(HasRegParam):
    """C, or regParam in its place."""

    C = Param(
        Params._dummy(),
        "C",
        "weight of the losses: C Σ loss + ½ |w|²; instead of regParam",
        typeConverter=TypeConverters.toFloat,
    )

    def setRegParam(self, value):
        """Sets the value of :py:attr:`regParam`: mean loss + ½ regParam |w|²; C is 1 / (regParam Σ weights)."""
        return self._set(regParam=value)


class _Smooth(_HasPenalty, HasFitIntercept, HasTol, HasMaxIter, HasSolver):
    """Params of smooth losses."""

    _options = {"C": "C", "regParam": "reg_param", "fitIntercept": "fit_intercept", "tol": "tol", "maxIter": "max_iter"}
    _options["solver"] = "solver"
    _defaults = {"C": 1.0, "fitIntercept": True, "tol": 1e-6, "maxIter": 100, "solver": "auto"}

    def setFitIntercept(self, value):
        """Sets the value of :py:attr:`fitIntercept`."""
        return self._set(fitIntercept=value)

    def setTol(self, value):
        """Sets the value of :py:attr:`tol`: the relative duality gap at which a run ends."""
        return self._set(tol=value)

    def setMaxIter(self, value):
        """Sets the value of :py:attr:`maxIter`: the most rounds."""
        return self._set(maxIter=value)

    def setSolver(self, value):
        """Sets the value of :py:attr:`solver`: ``newton``, ``lbfgs``, or ``auto``, which is ``newton`` up to 1,500 columns."""
        return self._set(solver=value)


class LogisticRegression(LinearEstimator, _Smooth, _HasProbability):
    """Logistic regression: C Σ ln(1 + exp(−m)) + ½ |w|², softmax for more than two classes, until the duality gap is
    below ``tol``: by Newton's method, and by L-BFGS where columns are many.

    ``regParam`` is that of pyspark.ml with ``elasticNetParam=0`` and ``standardization=False``.
    """

    _learn, _model = staticmethod(learn.logistic), mlmodel.LogisticRegressionModel


class LinearSVC(LinearEstimator, _Smooth):
    """A support vector machine with the squared hinge: C Σ max(0, 1 − m)² + ½ |w|², each class against the rest."""

    _learn, _model = staticmethod(learn.svm), mlmodel.LinearSVCModel


@accessors
class LeastSquaresClassifier(LinearEstimator, HasRegParam):
    """Least squares on coded classes: Σ (s − t)² + l2 |w|². ``regParam`` is l2 / Σ weights."""

    l2 = Param(Params._dummy(), "l2", "weight of the penalty, instead of regParam", typeConverter=TypeConverters.toFloat)
    _learn, _model = staticmethod(learn.least_squares), mlmodel.LeastSquaresClassifierModel
    _options, _defaults = {"l2": "l2", "regParam": "reg_param"}, {"l2": 0.0}

    def setRegParam(self, value):
        """Sets the value of :py:attr:`regParam`."""
        return self._set(regParam=value)


@accessors
class _HasShrinkage(Params):
    shrinkage = Param(
        Params._dummy(), "shrinkage", "share of the identity in the covariance, 0 to 1", typeConverter=TypeConverters.toFloat
    )
    _options, _defaults = {"shrinkage": "shrinkage"}, {"shrinkage": 0.0}


class FisherDiscriminant(LinearEstimator, _HasShrinkage):
    """Fisher's discriminant, from statistics of one round."""

    _learn, _model = staticmethod(learn.fisher), mlmodel.FisherDiscriminantModel


class LinearDiscriminantAnalysis(LinearEstimator, _HasShrinkage, _HasProbability):
    """Linear discriminant analysis, from statistics of one round."""

    _learn, _model = staticmethod(learn.lda), mlmodel.LinearDiscriminantAnalysisModel


@accessors
class MultinomialNB(LinearEstimator, _HasProbability):
    """Naive Bayes of counts."""

    smoothing = Param(Params._dummy(), "smoothing", "added to each count", typeConverter=TypeConverters.toFloat)
    _learn, _model = staticmethod(learn.multinomial_nb), mlmodel.MultinomialNBModel
    _options, _defaults = {"smoothing": "alpha"}, {"smoothing": 1.0}


@accessors
class BernoulliNB(LinearEstimator, _HasProbability):
    """Naive Bayes of values that are on above ``binarize``."""

    smoothing = Param(Params._dummy(), "smoothing", "added to each count", typeConverter=TypeConverters.toFloat)
    binarize = Param(
        Params._dummy(), "binarize", "values above it are on, all others off", typeConverter=TypeConverters.toFloat
    )
    _learn, _model = staticmethod(learn.bernoulli_nb), mlmodel.BernoulliNBModel
    _options, _defaults = {"smoothing": "alpha", "binarize": "binarize"}, {"smoothing": 1.0, "binarize": 0.0}


class HardMargin(LinearEstimator):
    """The plane of the widest margin between two classes that a plane separates; an error where none does."""

    _learn, _model = staticmethod(learn.hard_margin), mlmodel.HardMarginModel
    _options, _defaults = {}, {}


@accessors
class Perceptron(LinearEstimator, HasMaxIter):
    """Perceptrons of the blocks, averaged after each round, until planes separate and the exact checker has confirmed it."""

    epochs = Param(Params._dummy(), "epochs", "most epochs of a block in a round", typeConverter=TypeConverters.toInt)
    blockRows = Param(
        Params._dummy(), "blockRows", "rows of a block, a multiple of 4096", typeConverter=TypeConverters.toInt
    )
    _learn, _model = staticmethod(learn.perceptron), mlmodel.PerceptronModel
    _options = {"maxIter": "max_iter", "epochs": "epochs", "blockRows": "block_rows"}
    _defaults = {"maxIter": 100, "epochs": 5}

    def setMaxIter(self, value):
        """Sets the value of :py:attr:`maxIter`: the most rounds."""
        return self._set(maxIter=value)


@accessors
class SharedVarianceNB(LinearEstimator, _HasProbability):
    """Naive Bayes of normal features whose variances the classes share."""

    varSmoothing = Param(
        Params._dummy(), "varSmoothing", "share of the largest variance added to each", typeConverter=TypeConverters.toFloat
    )
    _learn, _model = staticmethod(learn.shared_variance_nb), mlmodel.SharedVarianceNBModel
    _options, _defaults = {"varSmoothing": "var_smoothing"}, {"varSmoothing": 1e-9}
