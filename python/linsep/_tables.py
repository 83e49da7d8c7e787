"""Data frames with columns of texts, categories or dates: tables that become features as files do.

A frame of numbers goes to the library column by column (`_input`). One with other columns goes as an Arrow
stream through the reader of the program: texts of few levels become a 0/1 feature for each level, dates and
texts with many levels are left out and named, gaps are refused with their place. The model keeps what was decided, so a
frame is encoded for prediction as it was for learning.
"""

import warnings

import numpy as np

from linsep._linsep import ArrowTable
from linsep._warnings import ColumnsWarning


class Table:
    """A data frame on its way to the reader."""

    def __init__(self, frame):
        self.frame = frame

    def stream(self, **more):
        """The table as an Arrow stream, with more columns behind its own: labels, and perhaps weights."""
        if isinstance(self.frame, ArrowTable):
            columns = [(name, np.asarray(values).tolist()) for name, values in more.items()]
            return self.frame.stream(*columns)
        if hasattr(self.frame, "get_column") and hasattr(self.frame, "write_ipc_stream"):
            return _of_polars(self.frame, more)
        return _of_arrow(_arrow_table(self.frame), more)

    def free_name(self, name):
        """A name like this one that no column has."""
        taken = set(map(str, getattr(self.frame, "column_names", None) or self.frame.columns))
        while name in taken:
            name += "_"
        return name


def tell(notes):
    """Warns of what was decided, once for all columns."""
    if notes:
        warnings.warn(ColumnsWarning("; ".join(notes), notes), stacklevel=4)


def _of_polars(frame, more):
    import polars

    # Truth values are the numbers 0 and 1, as in arrays.
    truth = [polars.col(name).cast(polars.UInt8) for name, kind in frame.schema.items() if kind == polars.Boolean]
    added = [polars.Series(name, values) for name, values in more.items()]
    return frame.with_columns(truth + added).write_ipc_stream(None).getvalue()


def _arrow_table(frame):
    try:
        import pyarrow
    except ImportError:
        raise TypeError(
            f"{type(frame).__name__} has columns that are no numbers, for which pyarrow has to be installed; or "
            "encode them first, for example with sklearn.preprocessing.OneHotEncoder"
        ) from None
    if type(frame).__module__.split(".")[0] == "pandas":
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    return pyarrow.table(frame)


def _of_arrow(table, more):
    import pyarrow

    for place, field in enumerate(table.schema):
        if pyarrow.types.is_boolean(field.type):
            numbers = table.column(place).cast(pyarrow.uint8())
            table = table.set_column(place, field.name, numbers)
    for name, values in more.items():
        table = table.append_column(name, pyarrow.array(np.asarray(values).tolist()))
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
