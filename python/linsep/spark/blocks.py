"""Blocks of rows as bytes, and what all blocks of a table share.

A block has the rows from ``number * block_rows`` on, in the order of the table, so which rows it has depends on
the table alone and not on how a cluster holds it. It is small: values are kept in the narrowest type that
holds all of them exactly.
"""

import os
import pickle
import threading
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
    """What all blocks share: names, classes, the size of a block, and what orders the rows.

    Processes keep up to ``cache`` bytes of blocks under ``token``; below 0 is a share of the memory of their machine.
    """

    names: tuple
    classes: tuple
    block_rows: int
    order: str = "given"
    input: dict = field(default_factory=dict)
    labels: tuple = ()
    fills: tuple | None = None
    rows: int = 0
    token: str = ""
    cache: int = 0

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


class Missing(Exception):
    """A block is not here: its bytes have to be sent."""


#: In place of the bytes of a block that were not sent.
ABSENT = object()


def opened(content, table, number=None):
    """The block that some bytes are, with what the table has for missing values; read when it is asked for."""
    return Held(content, table, number)


class Held:
    """A block as it travels. What the engine makes of it is kept by this process, as far as there is room."""

    def __init__(self, content, table, number):
        self._content, self._table, self._key = content, table, (table.token, number)
        self._block = None

    @property
    def block(self):
        """The rows themselves."""
        if self._block is None:
            if self._content is ABSENT:
                raise Missing
            block = unpack(self._content)
            if self._table.fills is not None:
                matrix = filled(block.matrix, np.asarray(self._table.fills))
                block = Block(matrix, block.codes, block.weights, block.ids)
            self._block = block
        return self._block

    @property
    def matrix(self):
        return self.block.matrix

    @property
    def ids(self):
        return self.block.ids

    @property
    def codes(self):
        kept = KEPT.get(self._key)
        return self.block.codes if kept is None else kept.codes

    @property
    def weights(self):
        kept = KEPT.get(self._key)
        return self.block.weights if kept is None else kept.weights

    def data(self):
        """The rows as the Rust side takes them."""
        kept = KEPT.get(self._key)
        if kept is not None:
            return kept.data
        block, table = self.block, self._table
        made = _data(block, table)
        if table.token:
            matrix = block.matrix
            values = matrix.values.nbytes + matrix.indices.nbytes if isinstance(matrix, Sparse) else matrix.nbytes
            most = share_of_memory(os.cpu_count() or 1) if table.cache < 0 else table.cache
            KEPT.put(self._key, Kept(made, block.codes, block.weights, values + 32 * len(block.codes)), most)
        return made

    def noted(self, name, compute):
        """What follows from the rows alone and is small, kept with them."""
        kept = KEPT.get(self._key)
        if kept is None:
            return compute()
        if name not in kept.notes:
            kept.notes[name] = compute()
        return kept.notes[name]


@dataclass(frozen=True)
class Kept:
    """What a process keeps of a block, and about how many bytes that is; ``notes`` are small answers."""

    data: object
    codes: np.ndarray
    weights: np.ndarray | None
    bytes: int
    notes: dict = field(default_factory=dict)


class _Cache:
    """Blocks that a process has read. Those of other tables make room; those of one table do not for each other, since
    each round asks for all of them in turn."""

    def __init__(self):
        self._held, self._bytes, self._lock = {}, 0, threading.Lock()

    def get(self, key):
        return self._held.get(key)

    def put(self, key, kept, most):
        with self._lock:
            for old in [old for old in self._held if old[0] != key[0]]:
                if self._bytes + kept.bytes <= most:
                    break
                self._bytes -= self._held.pop(old).bytes
            if key not in self._held and self._bytes + kept.bytes <= most:
                self._held[key] = kept
                self._bytes += kept.bytes

    def drop(self, token):
        """Lets the blocks of a table go."""
        with self._lock:
            for old in [old for old in self._held if old[0] == token]:
                self._bytes -= self._held.pop(old).bytes


#: What this process keeps.
KEPT = _Cache()


def share_of_memory(processes):
    """What each of so many processes may keep: together a quarter of the memory of this machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 4 << 30
    return memory // 4 // max(1, processes)


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
    return block.data() if isinstance(block, Held) else _data(block, table)


def _data(block, table):
    matrix = block.matrix
    return _linsep.Data(
        matrix.form if isinstance(matrix, Sparse) else np.ascontiguousarray(matrix),
        np.asarray(block.codes, dtype=np.int64),
        list(table.classes),
        weights=block.weights,
        names=list(table.names),
    )
