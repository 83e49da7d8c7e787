"""Blocks of rows as bytes, and what all blocks of a table share.

A block has the rows from ``number * block_rows`` on, in the order of the table, so which rows it has depends on
the table alone and not on how a cluster holds it. It is small: values are kept in the narrowest type that
holds all of them exactly.
"""

import pickle
from dataclasses import dataclass, field

import numpy as np

from linsep import _input, _linsep
from linsep.spark.rows import Sparse, filled, narrow, stacked

#: Rows of a block of the digest; blocks of the cluster have a multiple of it.
DIGEST_ROWS = 4096

#: Fewest blocks that are merged where they are, before their sum travels, and most sums of such groups.
GROUP, MOST_GROUPS = 4, 4096

#: Sums that a driver merges without help, in bytes; of more, so many parts are merged by workers first.
_DRIVER_BYTES, TOPS = 64 << 20, 16

_BLOCK_BYTES = 8 << 20


@dataclass(frozen=True)
class Table:
    """What all blocks share: names, classes, the size of a block, and what orders the rows."""

    names: tuple
    classes: tuple
    block_rows: int
    order: str = "given"
    input: dict = field(default_factory=dict)
    labels: tuple = ()
    fills: tuple | None = None
    rows: int = 0

    @property
    def width(self):
        return len(self.names)

    @property
    def blocks(self):
        """How many blocks there are."""
        return -(-self.rows // self.block_rows)

    @property
    def group(self):
        """Blocks that are merged one after the other."""
        size = GROUP
        while -(-self.blocks // size) > MOST_GROUPS:
            size *= 2
        return size

    @property
    def groups(self):
        """How many groups of blocks there are."""
        return -(-self.blocks // self.group)

    @property
    def fan(self):
        """Groups whose sums workers merge, or 1 where the driver merges all of them."""
        message = 8 * (self.width + 1) ** 2
        return 1 if self.groups * message <= _DRIVER_BYTES else -(-self.groups // TOPS)


@dataclass(frozen=True)
class Block:
    """The rows of a block."""

    matrix: np.ndarray | Sparse
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


def opened(content, table):
    """The block that some bytes are, with what the table has for missing values."""
    block = unpack(content)
    if table.fills is None:
        return block
    return Block(filled(block.matrix, np.asarray(table.fills)), block.codes, block.weights, block.ids)


def joined(blocks):
    """Blocks one after the other."""
    blocks = list(blocks)
    weights = None if blocks[0].weights is None else np.concatenate([b.weights for b in blocks])
    ids = None if blocks[0].ids is None else [name for b in blocks for name in b.ids]
    matrix = stacked(b.matrix for b in blocks)
    return Block(matrix, np.concatenate([b.codes for b in blocks]), weights, ids)


def part(block, rows):
    """Some rows of a block."""
    weights = None if block.weights is None else block.weights[rows]
    ids = None
    if block.ids is not None:
        places = range(*rows.indices(len(block.ids))) if isinstance(rows, slice) else rows
        ids = [block.ids[place] for place in places]
    return Block(block.matrix[rows], block.codes[rows], weights, ids)


def class_names(values):
    """The names of classes as files write them: 1.0 is the class 1."""
    return tuple(
        str(int(value)) if isinstance(value, float) and value.is_integer() else text
        for value, text in zip(values, _input.class_texts(np.asarray(values)))
    )


def data_of(block, table):
    """The rows of a block as the Rust side takes them."""
    matrix = block.matrix
    return _linsep.Data(
        matrix.form if isinstance(matrix, Sparse) else np.ascontiguousarray(matrix),
        np.asarray(block.codes, dtype=np.int64),
        list(table.classes),
        weights=block.weights,
        names=list(table.names),
    )
