"""Rows scored in the executors: Arrow batches in, the same batches with more columns out."""

import numpy as np

from linsep import _linsep


class Scoring:
    """Adds what ``outputs`` lists, pairs of ``rawPrediction``, ``probability`` or ``prediction`` and the name of a column;
    ``labels`` are numbers, or ``None`` for texts."""

    def __init__(self, content, columns, outputs, labels):
        self.content, self.columns, self.outputs, self.labels = content, columns, outputs, labels

    def __call__(self, batches):
        import pyarrow as pa
        from pyspark import TaskContext

        model = _linsep.Model.from_bytes(self.content)
        labels = model.classes if self.labels is None else self.labels
        place = lambda row: f"partition {TaskContext.get().partitionId()}"
        for batch in batches:
            names = list(batch.schema.names)
            if batch.num_rows:
                arrays = [batch.column(name) for name in self.columns.names]
                matrix, lacking = self.columns.features(arrays, place)
                form = matrix if isinstance(matrix, np.ndarray) else matrix.form
            else:
                form, lacking = np.zeros((0, model.features)), np.zeros(0, dtype=bool)
            # A row in which a value is missing has no prediction if the model was taught without such rows.
            absent = lacking if self.columns.drops else np.zeros_like(lacking)
            if absent.any():
                form = _without_gaps(form)
            made = []
            for what, _ in self.outputs:
                if what == "rawPrediction":
                    made.append(vectors(both_sides(_of(model.scores, form)), absent))
                elif what == "probability":
                    made.append(vectors(_of(model.probabilities, form), absent))
                else:
                    codes = _of(model.predict, form)
                    kind = pa.string() if self.labels is None else pa.float64()
                    chosen = [labels[code] for code in codes]
                    made.append(pa.array(chosen, kind, mask=absent))
            yield pa.RecordBatch.from_arrays([*batch.columns, *made], names + [name for _, name in self.outputs])


def both_sides(scores):
    """One score for each class: of two classes, −s and s."""
    return np.column_stack([-scores[:, 0], scores[:, 0]]) if scores.shape[1] == 1 else scores


def _of(score, form):
    """What the engine says of the rows; without rows, nothing."""
    rows = len(form) if isinstance(form, np.ndarray) else len(form[0]) - 1
    return score(form) if rows else np.zeros((0, 1) if score.__name__ != "predict" else 0)


def _without_gaps(form):
    if isinstance(form, np.ndarray):
        return np.nan_to_num(form)
    indptr, indices, values, width = form
    return indptr, indices, np.nan_to_num(values), width


def vectors(values, absent):
    """Rows as dense vectors of Spark."""
    import pyarrow as pa

    rows, width = values.shape
    numbers = pa.array(np.ascontiguousarray(values, dtype=np.float64).ravel())
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * width)
    listed = pa.ListArray.from_arrays(offsets, numbers, type=pa.list_(pa.field("element", pa.float64(), False)))
    fields = [
        pa.field("type", pa.int8(), False),
        pa.field("size", pa.int32()),
        pa.field("indices", pa.list_(pa.field("element", pa.int32(), False))),
        pa.field("values", listed.type),
    ]
    arrays = [pa.array(np.ones(rows, np.int8)), pa.nulls(rows, pa.int32()), pa.nulls(rows, fields[2].type), listed]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=pa.array(absent))
