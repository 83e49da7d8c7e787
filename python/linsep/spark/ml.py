"""Estimators for pipelines of pyspark.ml.

>>> from linsep.spark.ml import LogisticRegression          # doctest: +SKIP
>>> model = LogisticRegression(regParam=1e-4).fit(frame)    # doctest: +SKIP
>>> model.linsep.save("model.linsep")                       # doctest: +SKIP

Params have pyspark's names. ``regParam`` is pyspark's with ``standardization=False``: the mean loss plus
``regParam``/2 |w|². Rows are ordered by ``idCol`` where it is set, by a digest of their values otherwise.
"""

import base64

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasFitIntercept,
    HasLabelCol,
    HasMaxIter,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasRegParam,
    HasTol,
    HasWeightCol,
)
from pyspark.ml.util import DefaultParamsReader, DefaultParamsReadable, DefaultParamsWritable, DefaultParamsWriter
from pyspark.ml.util import MLReadable, MLReader, MLWritable, MLWriter

from linsep import _linsep
from linsep.spark import learn
from linsep.spark.frame import SparkCluster


class _Columns(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasRawPredictionCol, HasProbabilityCol, HasWeightCol):
    idCol = Param(Params._dummy(), "idCol", "a column of distinct names that orders the rows", TypeConverters.toString)


class _Learner(Estimator, _Columns, DefaultParamsWritable, DefaultParamsReadable):
    """What the estimators share."""

    def setParams(self, **params):
        """Sets params by their names."""
        return self._set(**params)

    def _fit(self, dataset):
        weight = self.getWeightCol() if self.isDefined(self.weightCol) and self.getWeightCol() else None
        id = self.getOrDefault(self.idCol) if self.isDefined(self.idCol) else None
        label, features = self.getLabelCol(), self.getFeaturesCol()
        with SparkCluster(dataset, label=label, features=features, weight=weight, id=id) as cluster:
            fitted = self._learn(cluster)
            labels = cluster.table.labels
        model = ClassificationModel(fitted, labels)
        for name in ("featuresCol", "labelCol", "predictionCol", "rawPredictionCol", "probabilityCol"):
            model._set(**{name: self.getOrDefault(name)})
        return model._resetUid(self.uid)


def _learner(name, doc, *numbers):
    """A class of estimators that have the given numbers as params: (name, default, words)."""

    def __init__(self, **params):
        _Learner.__init__(self)
        self._setDefault(**{number: default for number, default, _ in numbers})
        self._set(**params)

    def _learn(self, cluster):
        return getattr(learn, name[1])(cluster, **{number: self.getOrDefault(number) for number, _, _ in numbers})

    members = {
        number: Param(Params._dummy(), number, words, TypeConverters.toFloat) for number, _, words in numbers
    }
    kind = {"__init__": __init__, "_learn": _learn, "__doc__": doc, "__module__": __name__, **members}
    return type(name[0], (_Learner,), kind)


LeastSquaresClassifier = _learner(
    ("LeastSquaresClassifier", "least_squares"), "Least squares on coded classes.", ("l2", 0.0, "the factor of |w|^2")
)
FisherDiscriminant = _learner(
    ("FisherDiscriminant", "fisher"), "Fisher's discriminant.", ("shrinkage", 0.0, "the share of the identity")
)
LinearDiscriminantAnalysis = _learner(
    ("LinearDiscriminantAnalysis", "lda"),
    "Linear discriminant analysis.",
    ("shrinkage", 0.0, "the share of the identity"),
)
MultinomialNB = _learner(
    ("MultinomialNB", "multinomial_nb"), "Naive Bayes of counts.", ("alpha", 1.0, "what is added to every count")
)
SharedVarianceNB = _learner(
    ("SharedVarianceNB", "shared_variance_nb"),
    "Gaussian naive Bayes with one variance for each column.",
    ("var_smoothing", 1e-9, "the share of the largest variance that is added to every variance"),
)


class _Newton(_Learner, HasRegParam, HasTol, HasMaxIter, HasFitIntercept):
    """Newton's method on a smooth loss of two classes."""

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol="features",
        labelCol="label",
        predictionCol="prediction",
        rawPredictionCol="rawPrediction",
        probabilityCol="probability",
        weightCol=None,
        idCol=None,
        regParam=1e-4,
        tol=1e-6,
        maxIter=100,
        fitIntercept=True,
    ):
        super().__init__()
        self._setDefault(regParam=1e-4, tol=1e-6, maxIter=100, fitIntercept=True)
        self._set(**{name: value for name, value in self._input_kwargs.items() if value is not None})

    def _learn(self, cluster):
        from linsep.spark import work

        strength = self.getRegParam()
        if not strength > 0:
            raise ValueError(f"linsep: regParam={strength} is not above 0; without a penalty an optimum may not exist")
        surveys = cluster.map_blocks(work.survey, None)
        total = float(sum(found["weights"].sum() for found in surveys))
        options = {"tol": self.getTol(), "max_iter": self.getMaxIter(), "fit_intercept": self.getFitIntercept()}
        return getattr(learn, self._learner)(cluster, C=1.0 / (strength * total), **options)


class LogisticRegression(_Newton):
    """Logistic regression of two classes with an l2 penalty."""

    _learner = "logistic"


class LinearSVC(_Newton):
    """A support vector machine of two classes with the squared hinge and an l2 penalty."""

    _learner = "svm"


class ClassificationModel(Model, _Columns, MLWritable, MLReadable):
    """A fitted classifier.

    ``linsep`` is the model as files hold it, ``gap`` and ``rounds`` tell of the run. The predictions are labels where
    these are numbers, else their places among the sorted labels.
    """

    def __init__(self, fitted=None, labels=()):
        super().__init__()
        self.linsep = None if fitted is None else fitted.model
        self.rounds, self.objective, self.gap = (None, None, None)
        if fitted is not None:
            self.rounds, self.objective, self.gap = fitted.rounds, fitted.objective, fitted.gap
        self.labels = tuple(labels)

    @property
    def coefficients(self):
        """The weights, a row for each plane."""
        return self.linsep.weights

    @property
    def intercepts(self):
        """The biases."""
        return self.linsep.biases

    def _transform(self, dataset):
        from pyspark.ml.functions import array_to_vector, vector_to_array
        from pyspark.sql.functions import pandas_udf

        content, values = self.linsep.to_bytes(), _values(self.labels)
        has_probabilities = self.linsep.has_probabilities

        def matrix(rows):
            return np.ascontiguousarray(np.stack(rows.to_numpy()).astype(np.float64))

        @pandas_udf("array<double>")
        def raw(rows: "pandas.Series") -> "pandas.Series":
            return _series(_scores(_linsep.Model.from_bytes(content), matrix(rows)))

        @pandas_udf("array<double>")
        def probability(rows: "pandas.Series") -> "pandas.Series":
            return _series(_linsep.Model.from_bytes(content).probabilities(matrix(rows)))

        @pandas_udf("double")
        def prediction(rows: "pandas.Series") -> "pandas.Series":
            import pandas

            return pandas.Series(np.asarray(values)[_linsep.Model.from_bytes(content).predict(matrix(rows))])

        rows = vector_to_array(dataset[self.getFeaturesCol()])
        found = dataset.withColumn(self.getRawPredictionCol(), array_to_vector(raw(rows)))
        if has_probabilities:
            found = found.withColumn(self.getProbabilityCol(), array_to_vector(probability(rows)))
        return found.withColumn(self.getPredictionCol(), prediction(rows))

    def write(self):
        """Who saves the model."""
        return _Writer(self)

    @classmethod
    def read(cls):
        """Who loads it."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def saveImpl(self, path):
        content = base64.b64encode(self.model.linsep.to_bytes()).decode("ascii")
        kept = {"linsep": content, "labels": list(self.model.labels), "gap": self.model.gap}
        DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession, extraMetadata=kept)


class _Reader(MLReader):
    def load(self, path):
        held = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        model = ClassificationModel()
        model.linsep = _linsep.Model.from_bytes(base64.b64decode(held["linsep"]))
        model.labels, model.gap = tuple(held["labels"]), held["gap"]
        model._resetUid(held["uid"])
        DefaultParamsReader.getAndSetParams(model, held)
        return model


def _values(labels):
    numbers = all(isinstance(label, (int, float)) for label in labels)
    return [float(label) for label in labels] if numbers else [float(place) for place in range(len(labels))]


def _scores(model, matrix):
    """A score for each class: of two classes the score and its negative, as pyspark has it."""
    scores = model.scores(matrix).reshape(len(matrix), -1)
    return np.column_stack([-scores, scores]) if scores.shape[1] == 1 else scores


def _series(rows):
    import pandas

    return pandas.Series(list(rows))


__all__ = [
    "ClassificationModel",
    "FisherDiscriminant",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MultinomialNB",
    "SharedVarianceNB",
]
