"""Blocks of rows as bytes, and what all blocks of a table share.

A block has the rows from ``number * block_rows`` on, in the order of the table, so which rows it has depends on
the table alone and not on how a cluster holds it. It is small: values are kept in the narrowest type that
holds all of them exactly.
"""

import pickle
from dataclasses import dataclass, field

import numpy as np

from linsep import _linsep

#: Rows of a block of the digest; blocks of the cluster have a multiple of it.
DIGEST_ROWS = 4096

#: Blocks that are merged where they are, before their sum travels.
GROUP = 4

_BLOCK_BYTES = 8 << 20
_NARROW = (np.uint8, np.int16, np.float32)


@dataclass(frozen=True)
class Table:
    """What all blocks share: names, classes, the size of a block, and what orders the rows."""

    names: tuple
    classes: tuple
    block_rows: int
    order: str = "given"
    input: dict = field(default_factory=dict)
    labels: tuple = ()

    @property
    def width(self):
        return len(self.names)


@dataclass(frozen=True)
class Block:
    """The rows of a block."""

    matrix: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None = None
    ids: list | None = None


def rows_of_a_block(width):
    """How many rows a block has: a power of two times 4,096, about 8 MiB of binary64."""
    rows = DIGEST_ROWS
    while rows < 1 << 20 and 2 * rows * max(width, 1) * 8 <= _BLOCK_BYTES:
        rows *= 2
    return rows


def pack(block):
    """A block as bytes, with narrow values."""
    content = (narrow(block.matrix), block.codes, block.weights, block.ids)
    return pickle.dumps(content, protocol=5)


def unpack(content):
    """The block that some bytes are."""
    return Block(*pickle.loads(content))


def joined(blocks):
    """Blocks one after the other."""
    blocks = list(blocks)
    weights = None if blocks[0].weights is None else np.concatenate([b.weights for b in blocks])
    ids = None if blocks[0].ids is None else [name for b in blocks for name in b.ids]
    matrix = np.concatenate([b.matrix for b in blocks])
    return Block(matrix, np.concatenate([b.codes for b in blocks]), weights, ids)


def part(block, rows):
    """Some rows of a block."""
    weights = None if block.weights is None else block.weights[rows]
    ids = None
    if block.ids is not None:
        places = range(*rows.indices(len(block.ids))) if isinstance(rows, slice) else rows
        ids = [block.ids[place] for place in places]
    return Block(block.matrix[rows], block.codes[rows], weights, ids)


def narrow(matrix):
    """The same values in the narrowest type that holds all of them."""
    for kind in _NARROW:
        with np.errstate(all="ignore"):
            small = matrix.astype(kind)
        # A negative zero is a zero to the digest and to every proof.
        if np.array_equal(small, matrix):
            return np.ascontiguousarray(small)
    return np.ascontiguousarray(matrix)


def data_of(block, table):
    """The rows of a block as the Rust side takes them."""
    return _linsep.Data(
        np.ascontiguousarray(block.matrix),
        np.asarray(block.codes, dtype=np.int64),
        list(table.classes),
        weights=block.weights,
        names=list(table.names),
    )
