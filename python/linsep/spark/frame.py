"""Spark data frames as blocks.

Rows are put into the order of the table once, packed into blocks in the executors, and kept by Spark as
serialised bytes; what is lost with an executor is made again from the frame. Blocks hold the same rows however the
frame is partitioned, because their order is that of names: a column of names, file and place in it, or a hash
of the values and then the values themselves.
"""

import pickle
import threading
import time
import uuid
from collections import deque
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from linsep import _input
from linsep.spark import asked
from linsep.spark.blocks import ABSENT, Block, Missing, Table, class_names, joined, pack, part, unpack
from linsep.spark.cluster import (
    Cluster,
    OutOfTime,
    check_block_rows,
    check_missing,
    dropping,
    merged_group,
    opened,
    token_of_a_table,
)
from linsep.spark.columns import Columns, settled, text_of
from linsep.spark.packing import CHUNKS, TORN, Packing
from linsep.spark.work import survey

#: More classes than this are a column of numbers or of names.
MOST_CLASSES = 1000

_TOO_LATE = "linsep: the time limit was reached before there was an answer"

#: What tells processes of Python that work on blocks, and who changes it; threads may work on tables side by side.
_MARK, _USERS = "LINSEP_BLOCKS", threading.Lock()

#: Seconds that a job which was cancelled has to end.
_MOST_WAIT = 30.0

#: Most bytes of the answers of a round that the driver takes, unless it is said otherwise.
COLLECT_LIMIT = 1 << 30

#: Partitions of blocks for each core, and about the bytes of the largest.
_WAVES, _PART_BYTES = 4, 256 << 20


class SparkCluster(Cluster):
    """The blocks of a data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    label, features, id, weight, missing, unknown_level, block_rows, time_limit, collect_limit
        As :func:`linsep.spark.separable` has them.
    input : dict, optional
        An input map of a certificate, which says how columns become features.
    """

    def __init__(
        self,
        frame,
        *,
        label=None,
        features=None,
        id=None,
        weight=None,
        missing="error",
        unknown_level="error",
        block_rows=None,
        time_limit=None,
        collect_limit=COLLECT_LIMIT,
        input=None,
    ):
        check_missing(missing)
        if unknown_level not in ("error", "zeros"):
            raise ValueError(f"unknown_level={unknown_level!r} is none of 'error', 'zeros'")
        self._context = asked.context_of(frame)
        self._tag = f"linsep-{uuid.uuid4().hex}"
        self._kept, self._held, self._limit = [], None, collect_limit
        # Partitions without their content, where the blocks are, once these are there; see `_answered`.
        self._places = None
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        try:
            if input is not None:
                features, missing = asked.of_map(frame, input), "drop-row" if input.get("drop_missing") else "given"
            chosen = asked.columns(frame, label, features, id, weight)
            columns = self._columns(frame, chosen, missing, unknown_level, input)
            self._take(frame, chosen, columns, missing, input, block_rows)
        except BaseException:
            self.close()
            raise

    def _columns(self, frame, chosen, missing, unknown_level, input):
        if input is not None:
            return Columns.of_map(input, chosen.features[0] if chosen.vector else None)
        columns = self._levels(frame, chosen)
        return Columns(columns, chosen.vector, missing != "error", missing == "drop-row", unknown_level == "zeros")

    def _take(self, frame, chosen, columns, missing, input, block_rows):
        label, id, weight = chosen.label, chosen.id, chosen.weight
        codes, values = self._classes(frame, label, missing)
        keys, order = asked.order(frame, id, [*columns.names, label, *([weight] if weight else [])])
        chunks = heads = starts = None
        for runs_of_files in [True, False] if order == "file" else [False]:
            rows = asked.selected(frame, keys, columns.names, label, weight, not runs_of_files)
            packing = Packing(columns, codes, missing, weight, id, order, runs_of_files)
            # Spark takes samples of the keys here where it sorts, which is a job.
            chunks = self._keep(self._asked(lambda: rows.mapInArrow(packing, CHUNKS).rdd).map(tuple))
            heads = self._asked(chunks.map(lambda chunk: (*chunk[:8], _width(chunk[8]))).collect)
            if not heads:
                raise ValueError("linsep: the table has no rows")
            starts = _starts(heads)
            if starts is not None:
                break
            # Rows of a file that are not where the file has them are sorted.
            self._unpersist([chunks])
        _same_widths(columns, heads)
        types = dict(frame.dtypes)
        width, total = heads[0][8], sum(head[3] for head in heads)
        positions = {name: place for place, name in enumerate(types)}
        held = input or _input_map(columns, width, label, weight, positions, missing)
        names = tuple(_feature_names(held))
        size = check_block_rows(block_rows, width)
        kept = {"token": token_of_a_table(), "cache": self._cache()}
        self.table = Table(names, class_names(values), size, order, held, tuple(values), rows=total, **kept)
        self._parts = self._parts_of(self.table)
        # Where values are filled in later, what is made of blocks now serves nobody.
        assemble = _Assemble(replace(self.table, cache=0) if missing in ("mean", "median") else self.table)
        with self._own_workers():
            pieces = chunks.flatMap(_Cut(starts, size, self.table.group))
            self._blocks = self._keep(pieces.groupByKey(self._parts, _itself).map(assemble, preservesPartitioning=True))
        self.table = self._fill(missing)

    def _parts_of(self, table):
        """Partitions of blocks: some for each core, so that none waits long for another, and none above some 256 MiB."""
        most = -(-table.rows * table.width * 8 // _PART_BYTES)
        return max(1, min(table.groups, max(_WAVES * self._context.defaultParallelism, most)))

    def _cache(self):
        """Bytes of blocks that a process of an executor keeps ready: as ``spark.linsep.cache`` says, else a share of the
        memory of its machine where no container has a limit of its own, and little where one has."""
        conf = self._context.getConf()
        said = conf.get("spark.linsep.cache")
        if said is not None:
            return _bytes_of(said)
        if conf.get("spark.python.worker.reuse", "true").lower() != "true":
            # Every task has a new process then.
            return 0
        if conf.get("spark.executor.pyspark.memory") is None and self._context.master.startswith(("local", "spark://")):
            return -1
        return 64 << 20

    def _classes(self, frame, label, missing):
        """The place of the class of each label, and the classes in rising order."""
        found = self._distinct(frame, label, MOST_CLASSES)
        names = {value: text_of(value) if isinstance(value, str) else value for value in found}
        absent = [value for value, name in names.items() if name is None or name != name]
        if absent and missing != "drop-row":
            raise ValueError(f"linsep: column {label!r} has rows without a label; drop them first, or with missing='drop-row'")
        if len(found) > MOST_CLASSES:
            raise ValueError(f"linsep: column {label!r} has more than {MOST_CLASSES} values; is it a label?")
        there = {value: name for value, name in names.items() if value not in absent}
        if not there:
            raise ValueError("linsep: the table has no rows")
        if len(set(there.values())) == 1:
            only = next(iter(there.values()))
            raise ValueError(f"linsep: column {label!r} has one class, {only!r}; a classifier needs at least two")
        values = _input.labels(np.asarray(sorted(set(there.values()))))[0].tolist()
        places = {value: place for place, value in enumerate(values)}
        return {value: places[name] for value, name in there.items()}, values

    def _levels(self, frame, chosen):
        """The columns of features, with the levels of those that have some."""
        types, columns = dict(frame.dtypes), []
        for name in chosen.features:
            column = asked.column(name, types[name])
            if types[name] == "string":
                found = self._distinct(frame, name, asked.MOST_RAW)
                column = replace(column, levels=asked.levels(name, found))
            columns.append(column)
        return tuple(columns)

    def _distinct(self, frame, name, most):
        rows = self._asked(frame.select(asked.quoted(name)).distinct().limit(most + 1).collect)
        return [row[0] for row in rows]

    def _keep(self, rdd):
        from pyspark import StorageLevel

        kept = rdd.persist(StorageLevel.MEMORY_AND_DISK)
        self._kept.append(kept)
        return kept

    def _first(self, work, state):
        table = self.table
        [(_, answer)] = self._answered(lambda group: _answers(work, table, group, state, 1, COLLECT_LIMIT), {0})
        return pickle.loads(answer)

    def _map(self, work, state):
        table = self.table
        task = lambda held, most: lambda group: _answers(work, table, group, held.value, None, most)
        return self._ask(state, task, table.blocks)

    def _tops(self, work, merge, state):
        table = self.table
        task = lambda held, most: lambda group: _sum(work, merge, table, group, held.value, most)
        fan = table.fan
        if fan == 1:
            return self._ask(state, task, table.groups)
        tops = -(-table.groups // fan)
        together = lambda sums: sums.map(lambda one: (one[0] // fan, one)).groupByKey(tops, _itself).flatMap(_Top(merge))
        return self._ask(state, task, tops, together)

    def _ask(self, state, task, count, together=None):
        """The answers in order. Each may have its share of the bytes that the driver takes in all."""
        # One broadcast is alive at a time.
        self._held = self._context.broadcast(state)
        try:
            most = max(1, self._limit // count)
            work = task(self._held, most)
            if together is None:
                found = self._answered(work)
            else:
                blocks = self._ready()
                with self._own_workers():
                    found = self._asked(together(blocks.flatMap(work)).collect)
            return [pickle.loads(answer) for _, answer in sorted(found, key=lambda pair: pair[0])]
        finally:
            held, self._held = self._held, None
            held.destroy()

    def _answered(self, work, groups=None):
        """The answers about all groups, or about some. Processes keep what they have made of blocks, most of them when they
        packed them, so a round asks for numbers alone; only of groups that a process does not know, or knows no more, the
        bytes follow in a second job."""
        blocks, parts = self._ready(), self._parts
        wanted = set(range(self.table.groups)) if groups is None else groups
        found, absent = [], wanted
        if self.table.cache:
            places = None if groups is None else sorted({group % parts for group in groups})
            task = _Known(work, self.table, parts, wanted)
            for group, answers in self._asked(lambda: self._job(self._places, task, places)):
                found.extend(answers or [])
                absent = absent - {group} if answers is not None else absent
        if absent:
            task = lambda _, held: [answer for group in held if group[0] in absent for answer in work(group)]
            found.extend(self._asked(lambda: self._job(blocks, task, sorted({group % parts for group in absent}))))
        return found

    def _job(self, places, task, parts):
        """What a task answers of some partitions, or of all."""
        with self._own_workers():
            asked = places.mapPartitionsWithIndex(task)
            return asked.collect() if parts is None else self._context.runJob(asked, _all, parts)

    def _ready(self):
        """The blocks, which are there. Spark makes them without another process of Python beside the one that packs: a
        task of a round is more likely to meet the process that has its blocks where there are few."""
        from pyspark import RDD

        if self._places is None:
            self._asked(self._blocks._jrdd.count)
            # Once blocks are there, the rows that they were made of need no room.
            self._unpersist(self._kept[:-1])
            # Kept as well: else Spark reads all blocks in each round, to find that none is wanted.
            none = self._blocks._jrdd.sample(False, 0.0, 1)
            self._places = self._keep(RDD(none, self._context, self._blocks._jrdd_deserializer))
        return self._blocks

    @contextmanager
    def _own_workers(self):
        """Processes of Python of executors that work on blocks do nothing else: Spark tells them by their environment."""
        environment = self._context.environment
        with _USERS:
            environment[_MARK] = "1"
            self._context._linsep_users = getattr(self._context, "_linsep_users", 0) + 1
        try:
            yield
        finally:
            with _USERS:
                self._context._linsep_users -= 1
                if not self._context._linsep_users:
                    environment.pop(_MARK, None)

    def _asked(self, ask):
        """What a job answers. It is cancelled when the driver is interrupted and when the time is over.

        The job has a thread of its own, and with it a connection of its own to the JVM: this thread waits where signals
        reach it, and what cancels the job goes over a connection that no answer is awaited on.
        """
        from pyspark import InheritableThread

        context, found = self._context, []
        left = None if self.deadline is None else self.deadline - time.monotonic()
        if left is not None and left <= 0:
            raise OutOfTime(_TOO_LATE)

        def job():
            context.addJobTag(self._tag)
            context.setInterruptOnCancel(True)
            try:
                found.append((ask(), None))
            except BaseException as error:
                found.append((None, error))

        thread = InheritableThread(target=job, daemon=True)
        try:
            thread.start()
            thread.join(left)
            if thread.is_alive():
                self._cancelled(thread)
        except KeyboardInterrupt:
            self._cancelled(thread)
            raise
        answer, error = found[0] if found else (None, OutOfTime(_TOO_LATE))
        if error is None:
            return answer
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise OutOfTime(_TOO_LATE) from None
        if isinstance(error, Exception):
            asked.explain(error)
        raise error

    def _cancelled(self, thread):
        """Cancels the job of a thread, and waits for its end, but not for ever."""
        end = time.monotonic() + _MOST_WAIT
        while thread.is_alive() and time.monotonic() < end:
            # A job that has not begun yet cannot be cancelled, so it is tried again.
            self._context.cancelJobsWithTag(self._tag)
            thread.join(1.0)

    def _unpersist(self, which):
        for kept in which:
            kept.unpersist()
            self._kept.remove(kept)

    def close(self):
        self._unpersist(list(self._kept))


def _starts(heads):
    """The number of the first row of each run, or nothing where runs of a file lie among each other."""
    runs = {}
    for part, run, _, rows, _, file, low, high, _ in heads:
        if run == TORN:
            return None
        _, first, last, before = runs.get((part, run), (file, low or 0, high or 0, 0))
        runs[part, run] = (file or "", min(first, low or 0), max(last, high or 0), before + rows)
    starts, total, last = {}, 0, None
    for key, (file, low, high, rows) in sorted(runs.items(), key=lambda item: (item[1][:2], item[0])):
        if file and last is not None and last[0] == file and low <= last[1]:
            return None
        last = file, high
        starts[key] = total
        total += rows
    return starts


def _same_widths(columns, heads):
    widths = {}
    for head in heads:
        widths.setdefault(head[8], head[4])
    if len(widths) > 1:
        found = " and ".join(f"{width} entries in partition {source}" for width, source in sorted(widths.items()))
        raise ValueError(f"linsep: column {columns.names[0]!r}: vectors have {found}")


def _input_map(columns, width, label, weight, positions, missing):
    """How columns become features, as certificates and models say it."""
    gap = {"missing": 0.0} if missing in ("mean", "median", "zero") else {}
    if columns.vector:
        name = columns.names[0]
        listed = [{"name": f"{name}[{place}]", "position": place, **gap} for place in range(width)]
        return {"features": width, "columns": listed, **dropping(missing)}
    listed = []
    for column in columns.columns:
        entry = {"name": column.name, "position": positions[column.name], **gap}
        if column.levels is not None:
            entry["levels"] = list(column.levels)
            entry.update({"reference": column.reference} if column.reference else {})
            entry.update({"unknown_as_zeros": True} if columns.unknown_as_zeros else {})
        listed.append(entry)
    found = {"label": {"name": label, "position": positions[label]}, "source_columns": len(positions), "features": width}
    if weight:
        found["weight"] = {"name": weight, "position": positions[weight]}
    return {**found, "columns": listed, **dropping(missing)}


def _feature_names(held):
    for column in held["columns"]:
        if "levels" not in column:
            yield column["name"]
        yield from (f"{column['name']}={level}" for level in column.get("levels", []))


class _Cut:
    """Chunks as pieces of blocks: (group, (block, place in it, piece))."""

    def __init__(self, starts, size, group):
        self.starts, self.size, self.group = starts, size, group

    def __call__(self, chunk):
        number, run, start, rows, payload = *chunk[:4], chunk[8]
        first, block = self.starts[number, run] + start, unpack(payload)
        while rows:
            at, place = divmod(first, self.size)
            count = min(rows, self.size - place)
            yield at // self.group, (at, place, pack(part(block, slice(0, count))))
            block = part(block, slice(count, rows))
            first, rows = first + count, rows - count


class _Known:
    """The answers about the groups of a partition by what this process knows of their blocks; nothing where that is not
    all."""

    def __init__(self, work, table, parts, wanted):
        self.work, self.table, self.parts = work, table, parts
        self.wanted = None if len(wanted) == table.groups else wanted

    def __call__(self, part, nothing):
        # Spark ends processes that leave something of their input unread.
        deque(nothing, maxlen=0)
        table = self.table
        for group in range(part, table.groups, self.parts):
            if self.wanted is not None and group not in self.wanted:
                continue
            first = group * table.group
            numbers = range(first, min(first + table.group, table.blocks))
            try:
                yield group, self.work((group, [(number, ABSENT) for number in numbers]))
            except Missing:
                yield group, None


class _Top:
    """The sums of some groups merged from the first to the last, in an executor."""

    def __init__(self, merge):
        self.merge = merge

    def __call__(self, found):
        top, sums = found
        answers = [pickle.loads(answer) for _, answer in sorted(sums, key=lambda pair: pair[0])]
        merged = answers[0]
        for answer in answers[1:]:
            merged = self.merge(merged, answer)
        return [(top, pickle.dumps(merged, protocol=5))]


class _Assemble:
    """The blocks of a group, in order. This process keeps what the first rounds ask for."""

    def __init__(self, table):
        self.table = table

    def __call__(self, found):
        group, pieces = found
        held = {}
        for number, place, piece in pieces:
            held.setdefault(number, []).append((place, piece))
        return group, [(number, self.packed(number, held[number])) for number in sorted(held)]

    def packed(self, number, pieces):
        content = _whole(pieces)
        if self.table.cache:
            survey(self.table, number, opened(content, self.table, number), self.table.order == "digest")
        return content


def _whole(pieces):
    block = joined(unpack(piece) for _, piece in sorted(pieces, key=lambda pair: pair[0]))
    return pack(Block(settled([block.matrix]), block.codes, block.weights, block.ids))


def _answers(work, table, group, state, count, most):
    asked = group[1][:count]
    return [(number, _packed(work(table, number, opened(block, table, number), state), most)) for number, block in asked]


def _sum(work, merge, table, group, state, most):
    return [(group[0], _packed(merged_group((work, merge, table, group[1], state)), most))]


def _packed(answer, most):
    """An answer as bytes, if it is no more than its share of what the driver takes."""
    found = pickle.dumps(answer, protocol=5)
    if len(found) > most:
        raise ValueError(
            f"linsep: an answer has {len(found)} bytes, more than its share of {most} bytes of what the driver takes in a "
            "round; fewer columns, or a larger collect_limit="
        )
    return found


def _bytes_of(text):
    """Bytes as configurations of Spark have them: 512m, 2g."""
    number, unit = text.strip().lower().removesuffix("b"), 0
    if number and number[-1] in "kmgt":
        number, unit = number[:-1], 10 * ("kmgt".index(number[-1]) + 1)
    if not number.isdigit():
        raise ValueError(f"linsep: spark.linsep.cache={text!r} is no number of bytes, such as 512m or 2g")
    return int(number) << unit


def _itself(group):
    return group


def _all(found):
    return found


def _width(payload):
    return pickle.loads(payload)[0].shape[1]
