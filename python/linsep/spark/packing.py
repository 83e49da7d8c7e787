"""Arrow batches as chunks of blocks, in the executors. What is wrong is named with its column and its place."""

import numpy as np

from linsep import __version__
from linsep.spark.blocks import Block, pack
from linsep.spark.columns import settled
from linsep.spark.rows import filled

#: Partition of the sorted rows, place in it, rows, partition of the frame, and the packed rows.
CHUNKS = "part int, start bigint, rows bigint, source int, payload binary"


class Packing:
    """Takes rows in the order of the table: keys ``k…``, features ``x…``, label ``y``, weight ``w``, partition ``p``."""

    def __init__(self, columns, codes, missing, weight, id, order):
        self.columns, self.codes, self.missing = columns, codes, missing
        self.weight, self.id, self.order, self.version = weight, id, order, __version__

    def __call__(self, batches):
        import pyarrow as pa
        from pyspark import TaskContext

        if __version__ != self.version:
            versions = f"the driver has version {self.version} and an executor {__version__}"
            raise ValueError(f"linsep: {versions}; install one version")
        number = TaskContext.get().partitionId()
        start, before = 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            place = self.places(batch)
            names = None
            if self.id is not None:
                names = batch.column("k0").to_pylist()
                before = self.distinct(before, names, batch.column("p").to_pylist())
            block = self.block(batch, names, place)
            rows = len(block.codes)
            if rows == 0:
                continue
            columns = [[number], [start], [rows], [batch.column("p")[0].as_py()], [pack(block)]]
            kinds = [pa.int32(), pa.int64(), pa.int64(), pa.int32(), pa.binary()]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds)]
            yield pa.RecordBatch.from_arrays(arrays, ["part", "start", "rows", "source", "payload"])
            start += rows

    def places(self, batch):
        """Where a row is, in the words of the frame: its partition, and its name or its file."""

        def place(row):
            words = f"partition {batch.column('p')[int(row)].as_py()}"
            if self.id is not None:
                words += f", {self.id}={batch.column('k0')[int(row)].as_py()!r}"
            elif self.order == "file":
                name = str(batch.column("k0")[int(row)].as_py()).rsplit("/", 1)[-1]
                words += f", row {batch.column('k1')[int(row)].as_py()} of {name}"
            return words

        return place

    def block(self, batch, names, place):
        arrays = [batch.column(f"x{k}") for k in range(len(self.columns.names))]
        matrix, lacking = self.columns.features(arrays, place)
        labels = [self.codes.get(value) for value in batch.column("y").to_pylist()]
        weights = None
        if self.weight is not None:
            weights = self.columns.numbers(self.weight, batch.column("w"), place, lacking)
        if self.missing == "drop-row":
            keep = ~lacking & np.array([label is not None for label in labels], dtype=bool)
            rows = np.flatnonzero(keep)
            matrix, labels = matrix[rows], [labels[row] for row in rows]
            weights = None if weights is None else weights[rows]
            names = None if names is None else [names[row] for row in rows]
        if None in labels:
            raise ValueError(f"linsep: {place(labels.index(None))}: the labels changed while the table was read")
        if self.missing == "zero":
            matrix = filled(matrix, np.zeros(matrix.shape[1]))
        if weights is not None and not (weights >= 0).all():
            row = int(np.argmin(weights >= 0))
            raise ValueError(f"linsep: column {self.weight!r}, {place(row)}: {weights[row]} is no weight")
        return Block(settled([matrix]), np.array(labels, dtype=np.uint32), weights, names)

    def distinct(self, before, names, sources):
        for name, source in zip(names, sources):
            if name is None:
                raise ValueError(f"linsep: column {self.id!r}, partition {source}: a row without a name; fill it or drop the row")
            if name == before:
                raise ValueError(f"linsep: column {self.id!r}, partition {source}: {name!r} names two rows; names have to differ")
            before = name
        return before
