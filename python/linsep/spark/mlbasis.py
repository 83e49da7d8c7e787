"""Basis functions as a stage of a pipeline: products of columns, so that planes become curved surfaces."""

import numpy as np
from pyspark.ml import Transformer
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCol, HasInputCols, HasOutputCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql.types import StructField, StructType

from linsep import _linsep
from linsep.spark import asked
from linsep.spark.columns import Columns
from linsep.spark.mlparams import accessors
from linsep.spark.scoring import vectors


@accessors
class BasisExpansion(Transformer, HasInputCol, HasInputCols, HasOutputCol, DefaultParamsReadable, DefaultParamsWritable):
    """Adds a column of vectors: the values of a row and products of them.

    ``basis`` is ``poly:D``, every product up to a degree, or products such as ``x1*x2,x1^2``, of columns by name or by number,
    ``#1*#2``. ``inputCol`` is one column of vectors, whose entries are named ``features[0]`` and so on, or ``inputCols`` are
    columns of numbers and booleans. Gaussians have centres among the rows, which a stage that learns nothing does not know.
    """

    basis = Param(
        Params._dummy(), "basis", "poly:D, or products of columns such as x1*x2,x1^2", typeConverter=TypeConverters.toString
    )

    def __init__(self, **params):
        super().__init__()
        self._setDefault(basis="poly:2", inputCol="features", outputCol="expanded")
        self.setParams(**params)

    def setParams(self, **params):
        """Sets params by name."""
        for name in params:
            if not self.hasParam(name):
                known = [param.name for param in self.params]
                raise TypeError(f"linsep: BasisExpansion has no param {name!r}; it has {', '.join(known)}")
        return self._set(**params)

    def setInputCol(self, value):
        """Sets the value of :py:attr:`inputCol`."""
        return self._set(inputCol=value)

    def setInputCols(self, value):
        """Sets the value of :py:attr:`inputCols`."""
        return self._set(inputCols=value)

    def setOutputCol(self, value):
        """Sets the value of :py:attr:`outputCol`."""
        return self._set(outputCol=value)

    def _transform(self, dataset):
        spec, output, types = self.getBasis(), self.getOutputCol(), dict(dataset.dtypes)
        if spec.startswith("rbf"):
            raise ValueError(
                f"linsep: basis={spec!r}: Gaussians have centres among the rows, and a stage that learns nothing knows none; "
                "use products, or linsep.BasisExpansion on one machine"
            )
        names = self.getInputCols() if self.isSet("inputCols") else [self.getInputCol()]
        for name in names:
            asked.known(types, name, "inputCols" if self.isSet("inputCols") else "inputCol")
            if types[name] == "string" or (types[name] == "vector" and len(names) > 1):
                raise ValueError(f"linsep: column {name!r} has type {types[name]}; products are of numbers or of one column of vectors")
        if output in types:
            raise ValueError(f"linsep: the frame has a column {output!r} already; choose another outputCol")
        columns = Columns(tuple(asked.column(name, types[name]) for name in names), types[names[0]] == "vector")
        if not columns.vector:
            # What a basis cannot be is said now and not in an executor.
            _basis(spec, names)
        expanding = _Expanding(spec, columns, output)
        return dataset.mapInArrow(expanding, StructType([*dataset.schema.fields, StructField(output, VectorUDT(), True)]))


def _basis(spec, names):
    data = _linsep.Data(np.ones((1, len(names))), np.zeros(1, dtype=np.int64), ["0"], names=list(names))
    return _linsep.Basis(spec, data, 0)


class _Expanding:
    """Arrow batches in, the same batches with a column of vectors out."""

    def __init__(self, spec, columns, output):
        self.spec, self.columns, self.output = spec, columns, output

    def __call__(self, batches):
        import pyarrow as pa
        from pyspark import TaskContext

        place, basis = (lambda row: f"partition {TaskContext.get().partitionId()}"), None
        for batch in batches:
            made = np.zeros((0, 1))
            if batch.num_rows:
                matrix, _ = self.columns.features([batch.column(name) for name in self.columns.names], place)
                basis = basis or _basis(self.spec, self._names(matrix.shape[1]))
                made = basis.transform(np.ascontiguousarray(matrix) if isinstance(matrix, np.ndarray) else matrix.form)
            added = vectors(made, np.zeros(len(made), dtype=bool))
            yield pa.RecordBatch.from_arrays([*batch.columns, added], [*batch.schema.names, self.output])

    def _names(self, width):
        if self.columns.vector:
            return [f"{self.columns.names[0]}[{place}]" for place in range(width)]
        return [column.name for column in self.columns.columns]
