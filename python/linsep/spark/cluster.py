"""Who holds blocks and works on them: a small interface, and the form of it that needs no cluster.

``map_blocks(work, state)`` gives ``work(table, number, block, state)`` of every block, in the order of their
numbers. ``reduce_blocks(work, merge, state)`` merges such answers in a fixed tree of depth two: four consecutive
blocks from the first to the last, then these sums from the first to the last. So no answer depends on who
worked on which block.
"""

from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from multiprocessing import get_context

import numpy as np

from linsep import _input
from linsep.spark.blocks import DIGEST_ROWS, GROUP, Block, Table, pack, rows_of_a_block, unpack


class Cluster:
    """What a driver asks. ``rounds`` counts passes over the blocks."""

    table: Table
    rounds = 0

    def map_blocks(self, work, state):
        """``work(table, number, block, state)`` of every block, in order."""
        self.rounds += 1
        return self._map(work, state)

    def reduce_blocks(self, work, merge, state):
        """The same, merged in the fixed tree."""
        self.rounds += 1
        return reduce(merge, self._groups(work, merge, state))

    def close(self):
        """Lets the blocks go."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class LocalCluster(Cluster):
    """Blocks on this machine, with as many processes as asked for.

    Parameters
    ----------
    X, y : arrays
        Rows in the order of the table, and their labels.
    processes : int
        1 works in this process.
    """

    def __init__(self, X, y, *, sample_weight=None, names=None, block_rows=None, processes=1):
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2 or len(matrix) == 0:
            raise ValueError("X: a table with rows and columns is needed")
        if not np.isfinite(matrix).all():
            row, column = (int(k[0]) for k in np.nonzero(~np.isfinite(matrix)))
            raise ValueError(f"X[{row}, {column}] is {matrix[row, column]}; drop such rows or fill them first")
        classes, codes = _input.labels(y)
        names = tuple(names or (f"x{k + 1}" for k in range(matrix.shape[1])))
        size = check_block_rows(block_rows, len(names))
        columns = [{"name": name, "position": k} for k, name in enumerate(names)]
        self.table = Table(
            names,
            tuple(_input.class_texts(classes)),
            size,
            input={"columns": columns, "features": len(names)},
            labels=tuple(classes.tolist()),
        )
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._blocks = [
            pack(Block(matrix[k : k + size], codes[k : k + size], None if weights is None else weights[k : k + size]))
            for k in range(0, len(matrix), size)
        ]
        self._pool = None
        if processes > 1:
            self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))

    def _map(self, work, state):
        return self._run([(work, self.table, k, block, state) for k, block in enumerate(self._blocks)], _one)

    def _groups(self, work, merge, state):
        numbered = list(enumerate(self._blocks))
        groups = [numbered[k : k + GROUP] for k in range(0, len(numbered), GROUP)]
        return self._run([(work, merge, self.table, group, state) for group in groups], merged_group)

    def _run(self, tasks, what):
        return list((self._pool.map if self._pool else map)(what, tasks))

    def close(self):
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def cluster_of(table, **options):
    """The cluster of a Spark data frame, or the cluster itself."""
    if isinstance(table, Cluster):
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise ValueError(f"{', '.join(given)}: a cluster has its columns already")
        return table
    from linsep.spark.frame import SparkCluster

    return SparkCluster(table, **options)


def check_block_rows(block_rows, width):
    """The rows of a block: as asked, or as many as fit."""
    if block_rows is None:
        return rows_of_a_block(width)
    if block_rows < 1 or block_rows % DIGEST_ROWS:
        raise ValueError(f"block_rows={block_rows} is no multiple of {DIGEST_ROWS}, the rows of a block of the digest")
    return block_rows


def _one(task):
    work, table, number, block, state = task
    return work(table, number, unpack(block), state)


def merged_group(task):
    """The answers of consecutive blocks, merged from the first to the last."""
    work, merge, table, group, state = task
    return reduce(merge, (work(table, number, unpack(block), state) for number, block in group))
