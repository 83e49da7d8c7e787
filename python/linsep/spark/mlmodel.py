"""Models of pyspark.ml around the content of a ``.linsep`` file."""

import json

import numpy as np
from pyspark.ml.classification import ClassificationModel
from pyspark.ml.linalg import DenseMatrix, DenseVector, Vectors, VectorUDT
from pyspark.ml.param.shared import HasProbabilityCol
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from linsep import _linsep
from linsep.spark.columns import Columns
from linsep.spark.mlparams import HasTable
from linsep.spark.scoring import Scoring, both_sides

#: The model file in a folder that a model was saved to.
FILE = "model.linsep"


class LinearModel(ClassificationModel, HasTable, MLReadable, MLWritable):
    """A model that scores the rows of a frame in the executors.

    Attributes
    ----------
    summary : linsep.spark.learn.Fitted or None
        Rounds, objective, gap and whether the run converged; ``None`` for a model that was loaded.
    """

    def __init__(self, model=None, is_text=False, summary=None):
        super().__init__()
        self._inner, self._is_text, self.summary = model, is_text, summary

    @property
    def labels(self):
        """The classes in the order of scores: texts, or numbers as they were."""
        return [label if self._is_text else _number(label) for label in self._inner.classes]

    @property
    def numClasses(self):
        """How many classes there are."""
        return len(self._inner.classes)

    @property
    def numFeatures(self):
        """How many features a row has."""
        return self._inner.features

    @property
    def coefficientMatrix(self):
        """The weights of the planes, a row for each."""
        weights = np.asarray(self._inner.weights)
        return DenseMatrix(*weights.shape, weights.ravel(order="F"))

    @property
    def interceptVector(self):
        """The intercepts of the planes."""
        return Vectors.dense(self._inner.biases)

    @property
    def coefficients(self):
        """The weights of the only plane."""
        return Vectors.dense(self._only(self._inner.weights))

    @property
    def intercept(self):
        """The intercept of the only plane."""
        return float(self._only(self._inner.biases))

    @property
    def certificate(self):
        """What is proved of the model."""
        from linsep._results import Certificate

        return Certificate(self._inner.certificate)

    def saveLinsep(self, path):
        """Writes the model file to a path of this machine, for ``linsep predict`` and ``linsep.load``."""
        self._inner.save(path)

    def predict(self, value):
        """The class of one vector."""
        return self.labels[int(self._inner.predict(_row(value))[0])]

    def predictRaw(self, value):
        """The scores of one vector, one for each class."""
        return DenseVector(both_sides(self._inner.scores(_row(value)))[0])

    def write(self):
        """Who writes the model."""
        return _Writer(self)

    @classmethod
    def read(cls):
        """Who reads a model."""
        return _Reader(cls)

    def _only(self, planes):
        if len(planes) != 1:
            raise ValueError(f"linsep: there are {len(planes)} planes; see coefficientMatrix and interceptVector")
        return planes[0]

    def _transform(self, dataset):
        names = self._features()
        names = [names] if isinstance(names, str) else list(names)
        types = dict(dataset.dtypes)
        for name in names:
            if name not in types:
                raise ValueError(f"linsep: there is no column {name!r}; the model needs {', '.join(map(repr, names))}")
        vector = names[0] if len(names) == 1 and types[names[0]] == "vector" else None
        columns = Columns.of_map(input_of(self._inner), vector)
        if vector is None and sorted(columns.names) != sorted(names):
            known, given = (", ".join(map(repr, listed)) for listed in (columns.names, names))
            raise ValueError(f"linsep: the model has the columns {known}, not {given}")
        outputs, fields = [], []
        for what, name, kind in self._outputs():
            if name in types:
                raise ValueError(f"linsep: the frame has a column {name!r} already; choose another {what}Col")
            outputs.append((what, name))
            fields.append(StructField(name, kind, True))
        scoring = Scoring(self._inner.to_bytes(), columns, outputs, None if self._is_text else self.labels)
        return dataset.mapInArrow(scoring, StructType([*dataset.schema.fields, *fields]))

    def _outputs(self):
        """The columns that are added; one whose name is empty is left out."""
        found = [("rawPrediction", self.getRawPredictionCol(), VectorUDT())]
        if isinstance(self, HasProbabilityCol):
            found.append(("probability", self.getProbabilityCol(), VectorUDT()))
        found.append(("prediction", self.getPredictionCol(), StringType() if self._is_text else DoubleType()))
        return [one for one in found if one[1]]


class ProbabilityModel(LinearModel, HasProbabilityCol):
    """A model whose scores become probabilities."""

    def predictProbability(self, value):
        """The probability of each class for one vector."""
        return DenseVector(self._inner.probabilities(_row(value))[0])


class LogisticRegressionModel(ProbabilityModel):
    """What :class:`~linsep.spark.LogisticRegression` learned."""


class LinearSVCModel(LinearModel):
    """What :class:`~linsep.spark.LinearSVC` learned."""


class LeastSquaresClassifierModel(LinearModel):
    """What :class:`~linsep.spark.LeastSquaresClassifier` learned."""


class FisherDiscriminantModel(LinearModel):
    """What :class:`~linsep.spark.FisherDiscriminant` learned."""


class LinearDiscriminantAnalysisModel(ProbabilityModel):
    """What :class:`~linsep.spark.LinearDiscriminantAnalysis` learned."""


class MultinomialNBModel(ProbabilityModel):
    """What :class:`~linsep.spark.MultinomialNB` learned."""


class BernoulliNBModel(ProbabilityModel):
    """What :class:`~linsep.spark.BernoulliNB` learned."""


class HardMarginModel(LinearModel):
    """What :class:`~linsep.spark.HardMargin` learned."""


class PerceptronModel(LinearModel):
    """What :class:`~linsep.spark.Perceptron` learned."""


class SharedVarianceNBModel(ProbabilityModel):
    """What :class:`~linsep.spark.SharedVarianceNB` learned."""


def input_of(model):
    """The input map of a model."""
    return json.loads(model.export("json"))["input"]


def _number(label):
    return {"false": 0.0, "true": 1.0}.get(label) if label in ("false", "true") else float(label)


def _row(value):
    return np.asarray([value.toArray() if hasattr(value, "toArray") else value], dtype=np.float64)


class _Writer(MLWriter):
    """Params as pyspark.ml writes them, beside the model file."""

    def __init__(self, instance):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path):
        spark = self.sparkSession
        # The file first: a folder without metadata is no model.
        _put(spark, path, self.instance._inner.to_bytes())
        DefaultParamsWriter.saveMetadata(self.instance, path, spark, extraMetadata={"isText": self.instance._is_text})


class _Reader(MLReader):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def load(self, path):
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        wanted = f"{self.kind.__module__}.{self.kind.__name__}"
        if metadata["class"] != wanted:
            raise ValueError(f"linsep: {path} is of class {metadata['class']}, not {wanted}")
        content = spark.read.format("binaryFile").load(f"{path}/{FILE}").first()["content"]
        instance = self.kind(_linsep.Model.from_bytes(bytes(content)), bool(metadata["isText"]))
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance


def _put(spark, folder, content):
    """Writes a file by Spark's file systems, whole or not at all."""
    hadoop = spark.sparkContext._jvm.org.apache.hadoop.fs
    path, beside = hadoop.Path(folder, FILE), hadoop.Path(folder, f".{FILE}.part")
    files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    if files.exists(path):
        raise ValueError(f"linsep: {path.toString()} exists; write().overwrite() replaces it")
    stream = files.create(beside, True)
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()
    if not files.rename(beside, path):
        raise OSError(f"linsep: {path.toString()} could not be written")
