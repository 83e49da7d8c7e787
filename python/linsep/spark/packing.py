"""Arrow batches as chunks of blocks, in the executors. What is wrong is named with its column and its place."""

import numpy as np

from linsep import __version__
from linsep.spark.blocks import Block, pack
from linsep.spark.columns import settled
from linsep.spark.rows import filled

#: Partition, run in it, place in the run, rows, partition of the frame, file with its first and last row, and the packed
#: rows. Runs are rows that follow each other in a file; rows that were sorted are one run, without a file.
CHUNKS = "part int, run int, start bigint, rows bigint, source int, file string, low bigint, high bigint, payload binary"

#: More runs of a partition than this are rows that no file has in this order; a chunk with this number of a run says so.
MOST_RUNS, TORN = 1000, -1


class Packing:
    """Takes rows in the order of the table, or with ``runs_of_files`` in the order of their files: keys ``k…``, features
    ``x…``, label ``y``, weight ``w``, partition ``p``."""

    def __init__(self, columns, codes, missing, weight, id, order, runs_of_files=False):
        self.columns, self.codes, self.missing = columns, codes, missing
        self.weight, self.id, self.order, self.version = weight, id, order, __version__
        self.runs_of_files = runs_of_files

    def __call__(self, batches):
        from pyspark import TaskContext

        if __version__ != self.version:
            versions = f"the driver has version {self.version} and an executor {__version__}"
            raise ValueError(f"linsep: {versions}; install one version")
        number = TaskContext.get().partitionId()
        self.run, self.start, self.last, self.is_torn, before = 0, 0, None, False, None
        for whole in batches:
            # What is left is read all the same, so that the process can go on to the next task.
            for batch in [] if self.is_torn else self.runs(whole) if self.runs_of_files else [whole]:
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
                file, low, high = self.last if self.runs_of_files else (None, None, None)
                source = batch.column("p")[0].as_py()
                yield _chunk(number, self.run, self.start, rows, source, file, low, high, pack(block))
                self.start += rows
        if self.is_torn:
            empty = Block(np.zeros((0, 1)), np.zeros(0, dtype=np.uint32))
            yield _chunk(number, TORN, 0, 0, number, None, None, None, pack(empty))

    def runs(self, batch):
        """The pieces of a batch in which rows follow each other in one file."""
        import pyarrow.compute as pc

        rows = batch.column("k1").to_numpy(zero_copy_only=False)
        files = pc.dictionary_encode(batch.column("k0"))
        codes, names = files.indices.to_numpy(zero_copy_only=False), files.dictionary.to_pylist()
        ends = np.flatnonzero((np.diff(codes) != 0) | (np.diff(rows) <= 0)) + 1
        if self.run + len(ends) > MOST_RUNS:
            self.is_torn = True
            return
        for low, high in zip([0, *ends.tolist()], [*ends.tolist(), len(rows)]):
            if low == high:
                continue
            file, first, last = names[codes[low]], int(rows[low]), int(rows[high - 1])
            if self.last is not None and (self.last[0] != file or first <= self.last[2]):
                self.run, self.start = self.run + 1, 0
            self.last = file, first, last
            yield batch.slice(low, high - low)

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


def _chunk(*values):
    import pyarrow as pa

    kinds = {"int": pa.int32(), "bigint": pa.int64(), "string": pa.string(), "binary": pa.binary()}
    names, types = zip(*(part.split() for part in CHUNKS.split(", ")))
    return pa.RecordBatch.from_arrays([pa.array([value], kinds[type]) for value, type in zip(values, types)], list(names))
