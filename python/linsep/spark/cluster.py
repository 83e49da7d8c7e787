"""Who holds blocks and works on them: a small interface, and the form of it that needs no cluster.

``map_blocks(work, state)`` gives ``work(table, number, block, state)`` of every block, in the order of their
numbers. ``reduce_blocks(work, merge, state)`` merges such answers in a fixed tree: consecutive blocks of a group
from the first to the last, then the groups from the first to the last; where their sums are many bytes, parts of
the groups first. The tree depends on the table alone, so no answer depends on who worked on which block.
"""

import logging
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from multiprocessing import get_context

import numpy as np

from linsep import _input
from linsep.spark import work as _work
from linsep.spark.blocks import DIGEST_ROWS, KEPT, Block, Table, class_names, opened, pack, rows_of_a_block, share_of_memory
from linsep.spark.journal import Journal

#: What is done with rows in which a value is missing.
MISSING = ("error", "drop-row", "mean", "median", "zero")

_log = logging.getLogger("linsep.spark")


class OutOfTime(RuntimeError):
    """A run has reached its time limit."""


class Cluster:
    """What a driver asks.

    ``rounds`` counts passes over the blocks; ``deadline`` is the time (``time.monotonic``) after which a round ends
    with :class:`OutOfTime`; ``journal`` keeps the answers of rounds for a run that goes on later.
    """

    table: Table
    rounds = 0
    deadline = None
    journal = None

    def map_blocks(self, work, state):
        """``work(table, number, block, state)`` of every block, in order."""
        return self._round(work, state, lambda: self._map(work, state))

    def reduce_blocks(self, work, merge, state):
        """The same, merged in the fixed tree."""
        return self._round(work, state, lambda: reduce(merge, self._tops(work, merge, state)))

    def first(self, work, state):
        """``work(table, 0, block, state)`` of the first block alone: a look, and no round."""
        return self._first(work, state)

    def close(self):
        """Lets the blocks go."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _round(self, work, state, ask):
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise OutOfTime("linsep: the time limit was reached before there was an answer")
        self.rounds += 1
        began = time.monotonic()
        answer, kept = self.journal.round(work.__name__, state, ask) if self.journal else (ask(), False)
        seconds = time.monotonic() - began
        _log.info("round %d: %s, %.2f s%s", self.rounds, work.__name__, seconds, ", from the state" if kept else "")
        return answer

    def _fill(self, missing):
        """The table with the values that stand for missing ones; blocks have NaN there so far."""
        if missing not in ("mean", "median"):
            return self.table
        if missing == "mean":
            means = _work.means_of(self.reduce_blocks(_work.gaps, _work.add_gaps, None))
        else:
            means = _work.medians(self)
        columns = self.table.input.get("columns", [])
        spans = [len(column["levels"]) if "levels" in column else 1 for column in columns]
        firsts = np.cumsum([0, *spans])
        columns = [
            column if "levels" in column else {**column, "missing": float(means[first])}
            for column, first in zip(columns, firsts)
        ]
        held = {**self.table.input, "columns": columns}
        return replace(self.table, fills=tuple(means.tolist()), input=held, token=token_of_a_table())


class LocalCluster(Cluster):
    """Blocks on this machine, with as many processes as asked for.

    Parameters
    ----------
    X, y : arrays
        Rows in the order of the table, and their labels.
    missing : str
        What is done where ``X`` has NaN: ``error``, ``drop-row``, ``mean``, ``median`` or ``zero``.
    processes : int
        1 works in this process.
    """

    def __init__(self, X, y, *, sample_weight=None, names=None, missing="error", block_rows=None, processes=1):
        check_missing(missing)
        matrix, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        if matrix.ndim != 2 or len(matrix) == 0:
            raise ValueError("X: a table with rows and columns is needed")
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        gaps = np.isnan(matrix)
        if missing == "drop-row":
            keep = ~gaps.any(axis=1)
            matrix, y, gaps = matrix[keep], y[keep], gaps[keep]
            weights = None if weights is None else weights[keep]
        bad = ~np.isfinite(matrix) & ~(gaps if missing != "error" else False)
        if bad.any():
            row, column = (int(k[0]) for k in np.nonzero(bad))
            raise ValueError(f"X[{row}, {column}] is {matrix[row, column]}; drop such rows or fill them first")
        if missing == "zero":
            matrix = np.where(gaps, 0.0, matrix)
        classes, codes = _input.labels(y)
        names = tuple(names or (f"x{k + 1}" for k in range(matrix.shape[1])))
        size = check_block_rows(block_rows, len(names))
        gap = {"missing": 0.0} if missing in ("mean", "median", "zero") else {}
        columns = [{"name": name, "position": k, **gap} for k, name in enumerate(names)]
        self.table = Table(
            names,
            class_names(classes.tolist()),
            size,
            input={"columns": columns, "features": len(names), **dropping(missing)},
            labels=tuple(classes.tolist()),
            rows=len(matrix),
            token=token_of_a_table(),
            cache=share_of_memory(processes),
        )
        self._blocks = [
            pack(Block(matrix[k : k + size], codes[k : k + size], None if weights is None else weights[k : k + size]))
            for k in range(0, len(matrix), size)
        ]
        self._pools = []
        if processes > 1:
            # Each process holds its groups of blocks, as executors do; only questions and answers travel.
            held, group = list(enumerate(self._blocks)), self.table.group
            for place in range(processes):
                own = {number: block for number, block in held if number // group % processes == place}
                pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_hold, initargs=(own,))
                self._pools.append(pool)
        self.table = self._fill(missing)

    def _first(self, work, state):
        return _one((work, self.table, 0, self._blocks[0], state))

    def _map(self, work, state):
        tasks = [(work, self.table, k, block, state) for k, block in enumerate(self._blocks)]
        return self._run(tasks, _one, [task[:3] + (None, state) for task in tasks], lambda k: k // self.table.group)

    def _tops(self, work, merge, state):
        numbered, size, fan = list(enumerate(self._blocks)), self.table.group, self.table.fan
        groups = [numbered[k : k + size] for k in range(0, len(numbered), size)]
        tasks = [(work, merge, self.table, group, state) for group in groups]
        short = [(work, merge, self.table, [(k, None) for k, _ in group], state) for group in groups]
        sums = self._run(tasks, merged_group, short, lambda group: group)
        return [reduce(merge, sums[k : k + fan]) for k in range(0, len(sums), fan)]

    def _run(self, tasks, what, short, group_of):
        """The answers; processes have the blocks already and take tasks without them."""
        if not self._pools:
            return list(map(what, tasks))
        asked = [self._pools[group_of(k) % len(self._pools)].submit(what, task) for k, task in enumerate(short)]
        return [one.result() for one in asked]

    def close(self):
        KEPT.drop(self.table.token)
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)
        self._pools = []


def cluster_of(table, **options):
    """The cluster of a Spark data frame, or the cluster itself."""
    if isinstance(table, Cluster):
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise ValueError(f"{', '.join(given)}: a cluster has its columns already")
        return table
    from linsep.spark.frame import SparkCluster

    return SparkCluster(table, **{name: value for name, value in options.items() if value is not None})


@contextmanager
def running(table, options, time_limit=None, resume=None):
    """The cluster of a table for a run with its limit and its state; one that was made for the run is closed."""
    end = None if time_limit is None else time.monotonic() + time_limit
    cluster = cluster_of(table, **options, **({} if isinstance(table, Cluster) else {"time_limit": time_limit}))
    cluster.deadline, cluster.journal = end, None if resume is None else Journal(resume)
    try:
        yield cluster
    finally:
        cluster.deadline = cluster.journal = None
        if cluster is not table:
            cluster.close()


def check_block_rows(block_rows, width):
    """The rows of a block: as asked, or as many as fit."""
    if block_rows is None:
        return rows_of_a_block(width)
    if block_rows < 1 or block_rows % DIGEST_ROWS:
        raise ValueError(f"block_rows={block_rows} is no multiple of {DIGEST_ROWS}, the rows of a block of the digest")
    return block_rows


def check_missing(missing):
    """Refuses a rule for missing values that there is not."""
    if missing not in MISSING:
        raise ValueError(f"missing={missing!r} is none of {', '.join(map(repr, MISSING))}")


def dropping(missing):
    """How an input map says that rows with a missing value were left out."""
    return {"drop_missing": True} if missing == "drop-row" else {}


def token_of_a_table():
    """A name that no other table has, under which processes keep its blocks."""
    return uuid.uuid4().hex


#: The blocks that a process of a pool holds.
_HELD = {}


def _hold(blocks):
    _HELD.update(blocks)


def _one(task):
    work, table, number, block, state = task
    return work(table, number, opened(block or _HELD[number], table, number), state)


def merged_group(task):
    """The answers of consecutive blocks, merged from the first to the last."""
    work, merge, table, group, state = task
    answers = (work(table, number, opened(block or _HELD[number], table, number), state) for number, block in group)
    return reduce(merge, answers)
