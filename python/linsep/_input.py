"""Arrays, sparse matrices and data frames on their way to the door of the library.

A matrix leaves here in one of three forms, which Rust borrows: an array of two dimensions that is
contiguous by rows or by columns, a tuple ``(indptr, indices, data, columns)``, or a list of columns. What
is in such a form already is not copied. Messages follow those of scikit-learn where it has one.
"""

import sys
import warnings

import numpy as np

from linsep._linsep import ArrowTable
from linsep._tables import Table

#: Types that the library takes as they are.
TAKEN = frozenset("f8 f4 i1 i2 i4 i8 u1 u2 u4 u8".split())


class Matrix:
    """A matrix at the door: its form, its shape and the names of its columns."""

    __slots__ = ("form", "names", "shape")

    def __init__(self, form, shape, names=None):
        self.form = form
        self.shape = shape
        self.names = names


def matrix(X, owner="linsep", tables=False):
    """The form in which the library takes ``X``; with ``tables`` a frame may have columns of texts."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        return _checked(_sparse(X), owner)
    X = readable(X)
    if is_frame(X):
        try:
            taken = _frame(X)
        except _NotNumeric as column:
            if not tables:
                raise ValueError(
                    f"{column}; leave it out, or encode it first, for example with "
                    "sklearn.preprocessing.OneHotEncoder"
                ) from None
            taken = table(X)
        return _checked(taken, owner)
    return _checked(_dense(X, owner), owner)


def table(X):
    """A frame that goes through the reader of tables, whatever is in its columns."""
    X = readable(X)
    shape = X.shape if hasattr(X, "shape") else (X.num_rows, X.num_columns)
    return Matrix(Table(X), tuple(shape), column_names(X))


class _NotNumeric(Exception):
    """A column has something else than numbers."""


def readable(X):
    """``X`` itself, or the rows of a table of which only the Arrow interface is known."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__arrow_c_stream__"):
        return X
    known = type(X).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")
    return X if known else ArrowTable(X)


def is_frame(X):
    """Whether ``X`` is a table with named columns."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, ArrowTable):
        return True
    return hasattr(X, "__arrow_c_stream__") or (hasattr(X, "columns") and hasattr(X, "__dataframe__"))


def column_names(X):
    """The names of the columns, if all of them are texts."""
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or callable(names):
        return None
    names = list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def _checked(taken, owner):
    rows, columns = taken.shape
    for count, what in ((rows, "sample"), (columns, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={(rows, columns)}) while a minimum of 1 is "
                f"required by {owner}."
            )
    return taken


def _dense(X, owner):
    if not isinstance(X, np.ndarray):
        if isinstance(X, (str, bytes)) or X is None:
            raise ValueError(f"Expected 2D array, got {type(X).__name__} instead")
        X = np.asarray(X)
    if X.ndim < 2:
        words = "scalar array" if X.ndim == 0 else "1D array"
        raise ValueError(
            f"Expected 2D array, got {words} instead:\narray={X}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    if X.ndim > 2:
        raise ValueError(f"Found array with dim {X.ndim}, while dim <= 2 is required by {owner}.")
    return Matrix(numbers(X), X.shape)


def numbers(array):
    """The same numbers in a type and an order that the library takes."""
    kind = array.dtype.kind
    if kind == "b":
        # A byte that is neither 0 nor 1 is no truth value of Rust, but it is a number.
        array = np.ascontiguousarray(array) if not _is_contiguous(array) else array
        return array.view(np.uint8)
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    if kind in "SUV":
        raise ValueError(
            "dtype='numeric' is not compatible with arrays of bytes/strings: could not convert string "
            "to float. Convert your data to numeric values explicitly."
        )
    if kind not in "biuf" or array.dtype.str[1:] not in TAKEN:
        # Objects, half precision and long doubles.
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not (_is_contiguous(array) and array.flags.aligned):
        array = np.array(array, order="C", copy=True)
    return np.asarray(array)


def _is_contiguous(array):
    return array.flags.c_contiguous or array.flags.f_contiguous


def _sparse(X):
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D input, got input with shape {X.shape}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    rows = X if X.format == "csr" else X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    parts = (rows.indptr, rows.indices, rows.data)
    indptr, indices, data = (numbers(np.asarray(part)) for part in parts)
    return Matrix((indptr, indices, data, int(X.shape[1])), X.shape)


def _frame(X):
    names = column_names(X)
    if type(X).__module__.split(".")[0] == "pandas":
        kinds = {dtype for dtype in X.dtypes}
        if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype):
            if next(iter(kinds)).kind in "biuf":
                array = X.to_numpy()
                return Matrix(numbers(array), array.shape, names)
        columns = [_pandas_column(X.iloc[:, j], X.columns[j]) for j in range(X.shape[1])]
        return Matrix(columns, X.shape, names)
    if isinstance(X, ArrowTable):
        other = X.first_other()
        if other is not None:
            _refuse(*other)
        return Matrix(X.columns(), X.shape, names)
    if hasattr(X, "column_names"):
        columns = [_arrow_column(X.column(j), name) for j, name in enumerate(X.column_names)]
        return Matrix(columns, (X.num_rows, X.num_columns), names)
    columns = [_polars_column(X.get_column(name), name) for name in X.columns]
    return Matrix(columns, X.shape, names)


def _refuse(name, kind):
    raise _NotNumeric(f"column {name!r} has values of type {kind}, which are no numbers")


def _pandas_column(series, name):
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biuf":
            return numbers(series.to_numpy()), None
        if dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{series}\n")
        if dtype.kind == "O":
            try:
                return series.to_numpy().astype(np.float64), None
            except (TypeError, ValueError):
                _refuse(name, dtype)
        _refuse(name, dtype)
    if getattr(dtype, "_is_numeric", False) or getattr(dtype, "_is_boolean", False):
        missing = series.isna().to_numpy()
        values = series.to_numpy(dtype=_filled_type(dtype), na_value=0)
        return _with_marks(numbers(values), missing)
    _refuse(name, dtype)


def _filled_type(dtype):
    """The type of numpy behind a nullable type of pandas."""
    numpy_type = getattr(dtype, "numpy_dtype", None)
    return np.dtype(np.float64) if numpy_type is None else np.dtype(numpy_type)


def _with_marks(values, missing):
    if not missing.any():
        return values, None
    return values, np.ascontiguousarray(~missing).view(np.uint8)


def _polars_column(series, name):
    if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
        _refuse(name, series.dtype)
    missing = series.is_null().to_numpy()
    if missing.any():
        series = series.fill_null(False if str(series.dtype) == "Boolean" else 0)
    return _with_marks(numbers(np.asarray(series.to_numpy())), missing)


def _arrow_column(column, name):
    import pyarrow.types as types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        _refuse(name, kind)
    missing = np.asarray(column.is_null())
    if missing.any():
        column = column.fill_null(False if types.is_boolean(kind) else 0)
    values = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    return _with_marks(numbers(np.asarray(values)), missing)


def labels(y):
    """The classes of a target in rising order, and the place of each label among them."""
    if y is None:
        raise ValueError("this needs y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
            "to (n_samples,), for example using ravel().",
            _conversion_warning(),
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{y}\n")
    if y.dtype.kind == "f":
        bad = ~np.isfinite(y)
        if bad.any():
            row = int(np.argmax(bad))
            what = "NaN" if np.isnan(y[row]) else "infinity or a value too large for dtype('float64')"
            raise ValueError(f"Input y contains {what} at y[{row}]")
        fraction = y != np.floor(y)
        if fraction.any():
            row = int(np.argmax(fraction))
            raise ValueError(
                f"Unknown label type: continuous. y[{row}] is {y[row]!r}; a classifier learns classes, "
                "which are whole numbers, texts or booleans"
            )
    if y.dtype.kind == "O":
        missing = [row for row, label in enumerate(y) if label is None or label != label]
        if missing:
            raise ValueError(f"Input y contains NaN: there is no label at y[{missing[0]}]")
        if len({isinstance(label, str) for label in y}) > 1:
            raise ValueError("Unknown label type: unknown. y has texts and other values")
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError("Unknown label type: unknown. The labels of y cannot be sorted") from None
    return classes, codes.astype(np.int64, copy=False)


def _conversion_warning():
    exceptions = sys.modules.get("sklearn.exceptions")
    return exceptions.DataConversionWarning if exceptions else UserWarning


def class_texts(classes):
    """The names of classes as files and certificates write them."""
    if classes.dtype.kind == "b":
        return ["true" if label else "false" for label in classes]
    if classes.dtype.kind in "iu":
        return [str(int(label)) for label in classes]
    if classes.dtype.kind == "f":
        return [repr(float(label)) for label in classes]
    return [str(label) for label in classes]


def weights(sample_weight, rows):
    """Row weights as an array of one dimension, or ``None``."""
    if sample_weight is None:
        return None
    array = np.asarray(sample_weight)
    if array.ndim == 0:
        array = np.full(rows, float(array))
    if array.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if array.shape[0] != rows:
        raise ValueError(f"sample_weight.shape == {array.shape}, expected {(rows,)}!")
    return numbers(array)


def same_length(X, codes):
    """Refuses labels that are not one for each row."""
    if X.shape[0] != codes.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {codes.shape[0]}]"
        )


def typed_classes(names):
    """The classes that names of a file stand for: whole numbers, booleans, or texts."""
    if sorted(names) == ["false", "true"]:
        return np.asarray([name == "true" for name in names])
    try:
        return np.asarray([int(name) for name in names])
    except ValueError:
        return np.asarray(names)
