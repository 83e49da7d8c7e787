"""Spark data frames as blocks.

Rows are put into the order of the table once, packed into blocks in the executors, and kept by Spark as
serialised bytes; what is lost with an executor is made again from the frame. Blocks hold the same rows however the
frame is partitioned, because their order is that of names: a column of names, file and place in it, or a hash
of the values and then the values themselves.
"""

import difflib
import pickle
import re

import numpy as np

from linsep import _input
from linsep.spark.blocks import GROUP, Block, Table, joined, pack, part, unpack
from linsep.spark.cluster import Cluster, check_block_rows, merged_group

#: More classes than this are a column of numbers or of names.
MOST_CLASSES = 1000

_NUMERIC = {"tinyint", "smallint", "int", "bigint", "float", "double", "boolean"}
_CHUNKS = "part int, start bigint, rows bigint, payload binary"


class SparkCluster(Cluster):
    """The blocks of a data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    label, features, id, weight, block_rows
        As :func:`linsep.spark.separable` has them.
    """

    def __init__(self, frame, *, label=None, features=None, id=None, weight=None, block_rows=None):
        self._spark = frame.sparkSession
        self._context = self._spark.sparkContext
        self._kept = []
        try:
            self._take(frame, label, features, id, weight, block_rows)
        except BaseException:
            self.close()
            raise

    def _take(self, frame, label, features, id, weight, block_rows):
        types = dict(frame.dtypes)
        label = _column(types, label, "label")
        others = {name for name in (label, id, weight) if name is not None}
        for name in (id, weight):
            if name is not None:
                _column(types, name, "id" if name == id else "weight")
        features, vector = _features(frame, types, features, others)
        values = self._classes(frame, label)
        texts = _input.class_texts(np.asarray(values))
        keys, order = _order(frame, id, [*features, label, *([weight] if weight else [])])
        chosen = _selected(frame, keys, features, vector, label, weight)
        packing = _Packing(features, vector, dict(zip(values, range(len(values)))), bool(weight), id)
        chunks = self._keep(chosen.mapInArrow(packing, _CHUNKS).rdd.map(tuple))
        heads = self._collected(chunks.map(lambda chunk: (*chunk[:3], _width(chunk[3]))))
        if not heads:
            raise ValueError("linsep: the table has no rows")
        names = _names(features, vector, {head[3] for head in heads})
        size = check_block_rows(block_rows, len(names))
        positions = {name: place for place, name in enumerate(types)}
        self.table = Table(names, tuple(texts), size, order, _input_map(names, vector, label, positions), tuple(values))
        starts, total = {}, 0
        for number in sorted({head[0] for head in heads}):
            starts[number] = total
            total += sum(head[2] for head in heads if head[0] == number)
        groups = -(-total // (size * GROUP))
        count = max(1, min(groups, max(self._context.defaultParallelism, chunks.getNumPartitions())))
        pieces = chunks.flatMap(_Cut(starts, size))
        self._blocks = self._keep(pieces.groupByKey(count, _itself).mapValues(_assembled))

    def _classes(self, frame, label):
        """The distinct labels in rising order."""
        rows = self._asked(lambda: frame.select(label).distinct().limit(MOST_CLASSES + 1).collect())
        values = [row[0] for row in rows]
        if any(value is None or value != value for value in values):
            raise ValueError(f"linsep: column {label!r} has rows without a label; drop them first")
        if len(values) > MOST_CLASSES:
            raise ValueError(f"linsep: column {label!r} has more than {MOST_CLASSES} values; is it a label?")
        if not values:
            raise ValueError("linsep: the table has no rows")
        if len(values) == 1:
            raise ValueError(f"linsep: column {label!r} has one class, {values[0]!r}; a classifier needs at least two")
        return _input.labels(np.asarray(values))[0].tolist()

    def _keep(self, rdd):
        from pyspark import StorageLevel

        kept = rdd.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        return kept

    def _map(self, work, state):
        table = self.table
        return [answer for _, answer in self._round(state, lambda held: lambda group: _answers(work, table, group, held.value))]

    def _groups(self, work, merge, state):
        table = self.table
        task = lambda held: lambda group: [(group[0], merged_group((work, merge, table, group[1], held.value)))]
        return [answer for _, answer in self._round(state, task)]

    def _round(self, state, task):
        held = self._context.broadcast(state)
        try:
            return sorted(self._collected(self._blocks.flatMap(task(held))), key=lambda pair: pair[0])
        finally:
            # One broadcast is alive at a time.
            held.destroy()

    def _collected(self, rdd):
        return self._asked(rdd.collect)

    def _asked(self, ask):
        """What a job answers; an error of a worker says what was wrong and not where Spark's code was."""
        try:
            return ask()
        except Exception as error:
            words = str(error)
            found = re.findall(r"ValueError: (linsep: .*)", words)
            if found:
                raise ValueError(found[-1].strip()) from None
            if "No module named 'linsep" in words:
                raise RuntimeError(
                    "linsep: executors have no linsep of this version; install the wheel on every node, or ship an "
                    "environment with spark.archives"
                ) from None
            raise

    def close(self):
        for kept in self._kept:
            kept.unpersist()
        self._kept = []


def _column(types, name, what):
    if name is None:
        raise ValueError(f"linsep: {what}= names no column")
    if name not in types:
        near = difflib.get_close_matches(name, types, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(map(repr, types))}"
        raise ValueError(f"linsep: there is no column {name!r}{hint}")
    return name


def _features(frame, types, features, others):
    """The columns of the features, and whether they are one column of vectors."""
    if features is None:
        features = [name for name in types if name not in others]
    features = [features] if isinstance(features, str) else list(features)
    for name in features:
        _column(types, name, "features")
        if name in others:
            raise ValueError(f"linsep: column {name!r} is a feature and something else")
    if not features:
        raise ValueError("linsep: there are no columns for features")
    if len(set(features)) < len(features):
        raise ValueError("linsep: a column is named twice among the features")
    if len(features) == 1 and types[features[0]] == "vector":
        return features, True
    for name in features:
        if types[name] not in _NUMERIC and not types[name].startswith("decimal"):
            raise ValueError(
                f"linsep: column {name!r} has type {types[name]}; features are numbers or booleans, or one column of "
                "vectors (StringIndexer and OneHotEncoder make vectors of texts)"
            )
    return features, False


def _order(frame, id, columns):
    """What the rows are ordered by, and its name."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    if id is not None:
        return [F.col(_quoted(id))], f"id:{id}"
    try:
        keys = [F.col("_metadata.file_path"), F.col("_metadata.row_index")]
        frame.select(*keys).schema
        return keys, "file"
    except AnalysisException:
        held = [F.col(_quoted(name)) for name in columns]
        plain = [_plain(frame, name) for name in columns]
        return [F.xxhash64(*held), *plain], "digest"


def _plain(frame, name):
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions as F

    column = F.col(_quoted(name))
    return vector_to_array(column) if dict(frame.dtypes)[name] == "vector" else column


def _quoted(name):
    return "`" + name.replace("`", "``") + "`"


def _selected(frame, keys, features, vector, label, weight):
    """Names, features, label and weight, in order."""
    from pyspark.sql import functions as F

    names = [key.alias(f"k{place}") for place, key in enumerate(keys)]
    values = [_plain(frame, name).alias(f"x{place}") for place, name in enumerate(features)]
    rest = [F.col(_quoted(label)).alias("y")] + ([F.col(_quoted(weight)).cast("double").alias("w")] if weight else [])
    return frame.select(*names, *values, *rest).orderBy(*(f"k{place}" for place in range(len(keys))))


def _names(features, vector, widths):
    if not vector:
        return tuple(features)
    if len(widths) > 1:
        raise ValueError(f"linsep: vectors of column {features[0]!r} have {sorted(widths)} entries in different parts")
    return tuple(f"{features[0]}[{place}]" for place in range(widths.pop()))


def _input_map(names, vector, label, positions):
    """How columns become features, as certificates and models say it."""
    found = {"label": {"name": label, "position": positions[label]}, "source_columns": len(positions), "features": len(names)}
    if vector:
        return {"features": len(names), "columns": [{"name": name, "position": k} for k, name in enumerate(names)]}
    return {**found, "columns": [{"name": name, "position": positions[name]} for name in names]}


class _Packing:
    """Arrow batches as chunks of blocks, in the executors; what is wrong is named with partition and column."""

    def __init__(self, features, vector, codes, weighted, id):
        self.features, self.vector, self.codes, self.weighted, self.id = features, vector, codes, weighted, id

    def __call__(self, batches):
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        start, before = 0, None
        for batch in batches:
            if batch.num_rows == 0:
                continue
            names = None
            if self.id is not None:
                names = batch.column("k0").to_pylist()
                before = self.distinct(before, names, number)
            block = Block(self.matrix(batch, number), self.labels(batch, number), self.weights(batch, number), names)
            columns = [[number], [start], [batch.num_rows], [pack(block)]]
            kinds = [pa.int32(), pa.int64(), pa.int64(), pa.binary()]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds)]
            yield pa.RecordBatch.from_arrays(arrays, ["part", "start", "rows", "payload"])
            start += batch.num_rows

    def distinct(self, before, names, number):
        for name in names:
            if name is None:
                raise ValueError(f"linsep: column {self.id!r}, partition {number}: a row without a name; fill it or drop the row")
            if name == before:
                raise ValueError(f"linsep: column {self.id!r}, partition {number}: {name!r} names two rows; names have to differ")
            before = name
        return before

    def matrix(self, batch, number):
        if self.vector:
            return self.vectors(batch.column("x0"), number)
        columns = [self.numbers(batch.column(f"x{k}"), name, number) for k, name in enumerate(self.features)]
        return np.column_stack(columns)

    def vectors(self, column, number):
        name = self.features[0]
        self.refuse(column, name, number)
        lengths = set(column.value_lengths().to_pylist())
        if len(lengths) > 1:
            raise ValueError(f"linsep: column {name!r}, partition {number}: vectors have {sorted(lengths)} entries")
        values = column.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
        self.finite(values, name, number)
        return values.reshape(len(column), -1)

    def numbers(self, column, name, number):
        self.refuse(column, name, number)
        if str(column.type).startswith("decimal"):
            column = column.cast("float64")
        values = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind in "iu" and (np.abs(values.astype(np.float64)) > 2.0**53).any():
            raise ValueError(f"linsep: column {name!r}, partition {number}: a whole number beyond 2^53 is no binary64")
        values = values.astype(np.float64)
        self.finite(values, name, number)
        return values

    def refuse(self, column, name, number):
        if column.null_count:
            raise ValueError(
                f"linsep: column {name!r}, partition {number}: {column.null_count} rows without a value; drop such rows "
                "(dropna) or fill them (fillna, Imputer)"
            )

    def finite(self, values, name, number):
        bad = values[~np.isfinite(values)]
        if len(bad):
            raise ValueError(f"linsep: column {name!r}, partition {number}: {bad[0]} is no finite number; drop or fill such rows")

    def labels(self, batch, number):
        codes = [self.codes.get(value) for value in batch.column("y").to_pylist()]
        if None in codes:
            raise ValueError(f"linsep: partition {number}: the labels changed while the table was read")
        return np.array(codes, dtype=np.uint32)

    def weights(self, batch, number):
        if not self.weighted:
            return None
        values = self.numbers(batch.column("w"), "weight", number)
        if (values < 0).any():
            raise ValueError(f"linsep: partition {number}: a weight below 0")
        return values


class _Cut:
    """Chunks as pieces of blocks: (group, (block, place in it, piece))."""

    def __init__(self, starts, size):
        self.starts, self.size = starts, size

    def __call__(self, chunk):
        number, start, rows, payload = chunk
        first, block = self.starts[number] + start, unpack(payload)
        while rows:
            at, place = divmod(first, self.size)
            count = min(rows, self.size - place)
            yield at // GROUP, (at, place, pack(part(block, slice(0, count))))
            block = part(block, slice(count, rows))
            first, rows = first + count, rows - count


def _assembled(pieces):
    """The blocks of a group, in order."""
    found = {}
    for number, place, piece in pieces:
        found.setdefault(number, []).append((place, piece))
    return [(number, pack(joined(unpack(piece) for _, piece in sorted(found[number])))) for number in sorted(found)]


def _answers(work, table, group, state):
    return [(number, work(table, number, unpack(block), state)) for number, block in group[1]]


def _itself(group):
    return group


def _width(payload):
    return pickle.loads(payload)[0].shape[1]
