"""Rows of a block, dense or sparse.

Dense rows are an array of two dimensions. Sparse rows hold what is not zero, row after row, as scipy's CSR does;
scipy itself is not needed. No function here makes sparse rows dense, but :func:`row_values` of a single row.
"""

import numpy as np

#: Vectors are held as sparse rows where no more than this share of their entries is stored.
SPARSE_SHARE = 0.25

_NARROW = (np.uint8, np.int16, np.float32)


class Sparse:
    """Rows of which only the values other than zero are held."""

    __slots__ = ("indices", "indptr", "values", "width")

    def __init__(self, indptr, indices, values, width):
        self.indptr, self.indices, self.values, self.width = indptr, indices, values, width

    @property
    def shape(self):
        return len(self.indptr) - 1, self.width

    def __len__(self):
        return len(self.indptr) - 1

    def astype(self, kind):
        return Sparse(self.indptr, self.indices, self.values.astype(kind), self.width)

    def __getitem__(self, rows):
        """Some rows: a slice, or an array of places."""
        places = np.arange(len(self))[rows]
        starts, lengths = self.indptr[places], np.diff(self.indptr)[places]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        chosen = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Sparse(indptr, self.indices[chosen], self.values[chosen], self.width)

    @property
    def form(self):
        """As the Rust side takes them."""
        return self.indptr, self.indices, self.values, self.width


def sparse_of(matrix):
    """Rows as sparse ones."""
    if isinstance(matrix, Sparse):
        return matrix
    places, columns = np.nonzero(matrix)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(matrix)))]).astype(np.int64)
    return Sparse(indptr, columns.astype(np.int32), matrix[places, columns], matrix.shape[1])


def stacked(parts):
    """Rows one after the other; sparse if some are."""
    parts = list(parts)
    if not any(isinstance(one, Sparse) for one in parts):
        return np.concatenate(parts)
    parts = [sparse_of(one) for one in parts]
    ends = np.cumsum([0] + [one.indptr[-1] for one in parts])
    indptr = np.concatenate([[0], *(one.indptr[1:] + end for one, end in zip(parts, ends))]).astype(np.int64)
    indices = np.concatenate([one.indices for one in parts])
    return Sparse(indptr, indices, np.concatenate([one.values for one in parts]), parts[0].width)


def narrow(matrix):
    """The same values in the narrowest type that holds all of them."""
    if isinstance(matrix, Sparse):
        return Sparse(matrix.indptr, matrix.indices, narrow(matrix.values), matrix.width)
    for kind in _NARROW:
        with np.errstate(all="ignore"):
            # Most often a few values tell that a type is too narrow.
            few = matrix[:16]
            if not np.array_equal(few.astype(kind), few):
                continue
            small = matrix.astype(kind)
        # A negative zero is a zero to the digest and to every proof.
        if np.array_equal(small, matrix):
            return np.ascontiguousarray(small)
    return np.ascontiguousarray(matrix)


def row_values(matrix, place):
    """A row as binary64."""
    if not isinstance(matrix, Sparse):
        return matrix[place].astype(np.float64)
    values = np.zeros(matrix.width)
    held = slice(matrix.indptr[place], matrix.indptr[place + 1])
    values[matrix.indices[held]] = matrix.values[held]
    return values


def first_negative(matrix):
    """Row, column and value of the first value below zero, or none."""
    if isinstance(matrix, Sparse):
        found = np.flatnonzero(matrix.values < 0)[:1]
        if len(found):
            row = int(np.searchsorted(matrix.indptr, found[0], side="right")) - 1
            return row, int(matrix.indices[found[0]]), matrix.values[found[0]]
        return None
    found = np.argwhere(matrix < 0)[:1]
    return (int(found[0][0]), int(found[0][1]), matrix[tuple(found[0])]) if len(found) else None


def filled(matrix, fills):
    """The rows with the value of its column where there is none."""
    if isinstance(matrix, Sparse):
        gaps = np.isnan(matrix.values)
        values = np.where(gaps, fills[matrix.indices], matrix.values)
        return Sparse(matrix.indptr, matrix.indices, values, matrix.width)
    return np.where(np.isnan(matrix), fills, matrix)


def column_sums(matrix, unit=1.0):
    """Of each column the sum of the values that are there, in units, and how many are missing."""
    matrix = matrix.astype(np.float64)
    if isinstance(matrix, Sparse):
        there = ~np.isnan(matrix.values)
        sums = np.bincount(matrix.indices[there], weights=matrix.values[there] * unit, minlength=matrix.width)
        return sums, np.bincount(matrix.indices[~there], minlength=matrix.width)
    gaps = np.isnan(matrix)
    return np.where(gaps, 0.0, matrix * unit).sum(axis=0), gaps.sum(axis=0)
