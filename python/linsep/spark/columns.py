"""Columns of a frame as features: the same for rows that are learned from and for rows that are scored.

Numbers are features as they are. A column of texts is one 0/1 feature for each level, a column of booleans one for
``true``; a column of vectors is as many features as its vectors have entries. The input map of a certificate or a
model says all of it, in the words that the program has for the columns of files, so that ``linsep verify`` and
``linsep predict`` make the same features of the same table.
"""

from dataclasses import dataclass

import numpy as np

from linsep.spark.rows import SPARSE_SHARE, Sparse, filled, stacked

#: More levels than this are no category.
MOST_LEVELS = 50

#: Texts that say that there is no value, as in files; so does a question mark.
_NO_VALUE = ("", "na", "n/a", "null")


def text_of(value):
    """A text as files have it, or ``None`` where it says that there is no value."""
    if value is None:
        return None
    text = value.strip(" \t\n\r\x0c")
    return None if text == "?" or text.lower() in _NO_VALUE else text


@dataclass(frozen=True)
class Column:
    """A column, and of texts and booleans the levels that are features."""

    name: str
    levels: tuple | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Columns:
    """The columns that are features, and what is done where a value is missing.

    ``gaps`` says that values may be missing, and ``fills`` what stands for those of each feature; where ``drops``, rows
    with a missing value are left out.
    """

    columns: tuple
    vector: bool = False
    gaps: bool = False
    drops: bool = False
    unknown_as_zeros: bool = False
    fills: tuple | None = None
    width: int | None = None

    @classmethod
    def of_map(cls, held, vector):
        """The columns of an input map; ``vector`` is the column of vectors, or ``None`` for named columns."""
        listed = held.get("columns", [])
        fills, has_fills = [], bool(listed)
        for column in listed:
            has_fills = has_fills and column.get("missing") is not None
            fills += [column.get("missing") or 0.0] * len(column.get("levels", [0]))
            if column.get("missing_level") is not None or column.get("indicator"):
                raise ValueError(f"linsep: column {column.get('name')!r}: the model marks missing values; use it on one machine")
        if held.get("basis") is not None:
            raise ValueError("linsep: the model has basis functions of its own; use it on one machine")
        if vector is not None:
            columns = (Column(vector),)
        else:
            columns = tuple(
                Column(column["name"], tuple(column["levels"]) if "levels" in column else None, column.get("reference"))
                for column in listed
            )
        unknown = any(column.get("unknown_as_zeros", False) for column in listed)
        drops = held.get("drop_missing", False)
        return cls(columns, vector is not None, has_fills or drops, drops, unknown, tuple(fills) if has_fills else None, held["features"])

    @property
    def names(self):
        """The names of the columns."""
        return [column.name for column in self.columns]

    def features(self, arrays, place):
        """The features of some rows, and which rows lack a value; ``place(row)`` says in messages where a row is."""
        lacking = np.zeros(len(arrays[0]), dtype=bool)
        if self.vector:
            matrix = self._vectors(self.names[0], arrays[0], place, lacking)
        else:
            parts = [self._part(column, array, place, lacking) for column, array in zip(self.columns, arrays)]
            matrix = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        if self.fills is not None:
            matrix = filled(matrix, np.asarray(self.fills))
        return matrix, lacking

    def _part(self, column, array, place, lacking):
        if column.levels is None:
            return self.numbers(column.name, array, place, lacking)[:, None]
        return self._levels(column, array, place, lacking)

    def numbers(self, name, array, place, lacking=None):
        """A column of numbers; NaN where there is none."""
        import pyarrow as pa

        missing = self._missing(name, array, place)
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.int8())
        if pa.types.is_decimal(array.type):
            array = array.cast(pa.float64())
        whole = array if missing is None else array.fill_null(0)
        values = whole.to_numpy(zero_copy_only=False)
        if values.dtype.kind in "iu":
            wide = np.flatnonzero(np.abs(values.astype(np.float64)) > 2.0**53)
            if len(wide):
                raise ValueError(f"linsep: column {name!r}, {place(wide[0])}: {values[wide[0]]} is beyond 2^53 and no binary64")
        values = values.astype(np.float64)
        if missing is not None:
            values[missing] = np.nan
        return self._finite(name, values, np.arange(len(values)), place, lacking)

    def _missing(self, name, array, place):
        """Which rows have no value, or ``None`` if all have one."""
        if not array.null_count:
            return None
        missing = array.is_null().to_numpy(zero_copy_only=False)
        if not self.gaps:
            raise ValueError(
                f"linsep: column {name!r}, {place(int(np.argmax(missing)))}: {array.null_count} rows without a value; "
                "drop or fill them with missing="
            )
        return missing

    def _finite(self, name, values, rows, place, lacking):
        """The values, if each is a number or a gap that is allowed; ``rows`` says whose each is."""
        absent = np.isnan(values)
        bad = np.flatnonzero(~np.isfinite(values) & ~(absent & self.gaps))
        if len(bad):
            raise ValueError(
                f"linsep: column {name!r}, {place(int(rows[bad[0]]))}: {values[bad[0]]} is no finite number; drop or fill "
                "such rows"
            )
        if lacking is not None:
            lacking[rows[absent]] = True
        return values

    def _levels(self, column, array, place, lacking):
        import pyarrow as pa

        if pa.types.is_boolean(array.type):
            held, codes = ["false", "true"], array.cast(pa.int8())
        else:
            coded = array.dictionary_encode()
            held, codes = [text_of(text) for text in coded.dictionary.to_pylist()], coded.indices
        codes = codes.fill_null(len(held)).to_numpy(zero_copy_only=False).astype(np.int64)
        known = {level: number for number, level in enumerate(column.levels)}
        known[column.reference] = len(known)
        width = len(column.levels)
        # Places beyond the levels set no feature: the reference, an unknown level, a missing value.
        places = np.array([self._known(column, known, level) for level in [*held, None]])
        found = places[codes]
        if (found == width + 1).any() and not self.unknown_as_zeros:
            row = int(np.argmax(found == width + 1))
            raise ValueError(
                f"linsep: column {column.name!r}, {place(row)}: {held[codes[row]]!r} is a level that was not there "
                "when the model learned; unknown_level='zeros' sets no feature for it"
            )
        absent = found == width + 2
        if absent.any() and not self.gaps:
            raise ValueError(
                f"linsep: column {column.name!r}, {place(int(np.argmax(absent)))}: {int(absent.sum())} rows without a "
                "value; drop or fill them with missing="
            )
        lacking[absent] = True
        block = np.zeros((len(codes), width))
        rows = np.flatnonzero(found < width)
        block[rows, found[rows]] = 1.0
        return block

    def _known(self, column, known, level):
        width = len(column.levels)
        if level is None:
            return width + 2
        return known.get(level, width + 1)

    def _vectors(self, name, array, place, lacking):
        """Vectors of Spark, dense and sparse, as they are."""
        if not array.null_count:
            return self._entries(name, array, np.arange(len(array)), place, lacking)
        missing = array.is_null().to_numpy(zero_copy_only=False)
        if not self.drops:
            raise ValueError(
                f"linsep: column {name!r}, {place(int(np.argmax(missing)))}: {array.null_count} rows without a vector; "
                "missing='drop-row' leaves them out"
            )
        lacking[missing] = True
        if missing.all():
            return np.zeros((len(array), self.width or 1))
        there = np.flatnonzero(~missing)
        matrix = self._entries(name, array.drop_null(), there, place, lacking)
        return matrix[np.maximum(np.cumsum(~missing) - 1, 0)]

    def _entries(self, name, array, rows, place, lacking):
        """The entries of vectors of which each is there; ``rows`` are their places."""
        is_sparse = array.field("type").to_numpy(zero_copy_only=False) == 0
        values = array.field("values")
        lengths = values.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        sizes = np.where(is_sparse, array.field("size").fill_null(0).to_numpy(zero_copy_only=False), lengths)
        wanted = self.width or int(sizes[0])
        other = np.flatnonzero(sizes != wanted)
        if len(other):
            row = int(other[0])
            found = f"a vector has {sizes[row]} entries where {wanted} are expected"
            raise ValueError(f"linsep: column {name!r}, {place(int(rows[row]))}: {found}")
        numbers = values.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
        numbers = self._finite(name, numbers, np.repeat(rows, lengths), place, lacking)
        if not is_sparse.any():
            return numbers.reshape(len(array), wanted)
        listed = array.field("indices").flatten().to_numpy(zero_copy_only=False)
        if not is_sparse.all():
            # Dense vectors among sparse ones list every place.
            parts = iter(np.split(listed, np.cumsum(lengths[is_sparse])[:-1]))
            listed = np.concatenate([next(parts) if sparse else np.arange(wanted, dtype=np.int32) for sparse in is_sparse])
        return Sparse(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), listed, numbers, wanted)


def settled(parts):
    """Rows one after the other, held densely unless few of their entries are other than zero."""
    matrix = stacked(parts)
    if not isinstance(matrix, Sparse):
        return matrix
    there = matrix.values != 0
    if there.sum() <= SPARSE_SHARE * len(matrix) * matrix.width:
        if there.all():
            return matrix
        rows = np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr))[there]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))]).astype(np.int64)
        return Sparse(indptr, matrix.indices[there], matrix.values[there], matrix.width)
    dense = np.zeros(matrix.shape)
    dense[np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr)), matrix.indices] = matrix.values
    return dense
