"""Runs that end early: drivers that are killed or interrupted, limits, executors that lack the package."""

import os
import signal
import site
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linsep.spark import LocalCluster, OutOfTime, learn, separable
from linsep.spark.frame import SparkCluster

NAMES = ["a", "b", "c"]
ROWS = 20_000

#: A driver with a Spark of its own; the rounds that it has asked go to its output.
_DRIVER = """
import sys, time
sys.path[:0] = {path!r}
import test_runs
from conftest import session
spark = session({master!r}, {settings!r})
test_runs.{what}(spark, *sys.argv[1:])
"""


def _table():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(ROWS, len(NAMES)))
    frame = pd.DataFrame(X, columns=NAMES)
    frame["label"] = (X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=ROWS) > 0).astype(int)
    frame["id"] = np.arange(ROWS)
    return frame


def _frame(spark):
    return spark.createDataFrame(_table()).repartition(3)


_OPTIONS = {"label": "label", "id": "id", "block_rows": 4096}


def _driver(what, *arguments, master="local[1]", settings=None, environment=None):
    program = _DRIVER.format(path=[str(Path(__file__).parent)], master=master, settings=settings or {}, what=what)
    words = [sys.executable, "-u", "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})},
        start_new_session=True,
    )  # fmt: skip


def _finish(driver):
    """Ends the driver and its JVM, which is in its process group."""
    try:
        os.killpg(driver.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    driver.wait()


def _slow_run(spark, state):
    """A run that tells its rounds and dawdles after each."""

    def progress(told):
        print("round", told["round"], flush=True)
        time.sleep(0.5)

    learn.logistic(_frame(spark), C=0.1, tol=1e-9, resume=state, progress=progress, **_OPTIONS)


def test_a_killed_driver_goes_on_from_its_last_round(spark, tmp_path):
    state = tmp_path / "state"
    driver = _driver("_slow_run", state)
    try:
        for line in driver.stdout:
            if line.startswith("round 4"):
                os.kill(driver.pid, signal.SIGKILL)
                break
        assert driver.wait() == -signal.SIGKILL
    finally:
        _finish(driver)
    kept = sorted(path.name for path in state.glob("round-*.json"))
    assert kept == [f"round-{k:05}.json" for k in range(4)] and not list(state.glob("*.part"))
    with SparkCluster(_frame(spark), **_OPTIONS) as cluster:
        whole = learn.logistic(cluster, C=0.1, tol=1e-9)
        asked = []
        answered = cluster._ask
        cluster._ask = lambda *words: asked.append(1) or answered(*words)
        again = learn.logistic(cluster, C=0.1, tol=1e-9, resume=state)
    assert again.model.weights.tobytes() == whole.model.weights.tobytes() and again.gap == whole.gap
    # The survey is asked anew, to know the table again; three rounds were there.
    assert len(asked) == whole.rounds + whole.proof_rounds - 3
    changed = _table()
    changed.loc[17, "a"] += 1e-9
    with pytest.raises(ValueError, match="the table is another one than that of this state"):
        learn.logistic(spark.createDataFrame(changed), C=0.1, tol=1e-9, resume=state, **_OPTIONS)
    with pytest.raises(ValueError, match="is of another run"):
        learn.logistic(_frame(spark), C=0.2, tol=1e-9, resume=state, **_OPTIONS)


def _crawling():
    """Work that takes much longer than a job that is cancelled, and ends all the same; it travels by value, since executors
    have no tests."""

    def crawl(table, number, block, _):
        time.sleep(40)

    return crawl


def _resting():
    """Work that takes no time."""
    return lambda table, number, block, _: None


def test_an_interrupt_cancels_the_job_and_leaves_spark_as_it_was(hears_interrupts, spark):
    context = spark.sparkContext
    cached = set(context._jsc.getPersistentRDDs())  # frames that other tests have cached
    with SparkCluster(_frame(spark), **_OPTIONS) as cluster:
        cluster.rounds = 0
        pid = os.getpid()
        cluster.map_blocks(_resting(), None)  # the blocks are there
        helper = subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep(6); os.kill({pid}, 2)"])
        began = time.monotonic()
        try:
            with pytest.raises(KeyboardInterrupt):
                cluster.map_blocks(_crawling(), None)
            assert time.monotonic() - began < 38
        finally:
            helper.kill()
            helper.wait()
        end = time.monotonic() + 30
        while context.statusTracker().getActiveJobsIds() and time.monotonic() < end:
            time.sleep(0.2)
        assert not context.statusTracker().getActiveJobsIds()
        assert cluster._held is None  # the broadcast variable is gone, too
        assert learn.lda(cluster).model.classes == ["0", "1"]
    assert set(context._jsc.getPersistentRDDs()) <= cached


def test_a_time_limit_ends_a_round_in_the_middle(hears_interrupts, spark):
    with SparkCluster(_frame(spark), **_OPTIONS) as cluster:
        cluster.map_blocks(_resting(), None)
        cluster.deadline = time.monotonic() + 3
        began = time.monotonic()
        with pytest.raises(OutOfTime, match="time limit"):
            cluster.map_blocks(_crawling(), None)
        assert time.monotonic() - began < 35
        cluster.deadline = None
        found = separable(cluster, time_limit=600)
        assert found.verdict == "overlapping"
    with pytest.raises(OutOfTime, match="time limit"):
        learn.lda(_frame(spark), time_limit=0.0, **_OPTIONS)


def test_no_more_than_the_stated_bytes_are_collected(spark):
    with pytest.raises(ValueError, match=r"an answer has \d+ bytes, more than its share of \d+ bytes"):
        learn.logistic(_frame(spark), collect_limit=1_000, **_OPTIONS)
    assert learn.logistic(_frame(spark), collect_limit=100_000, C=0.1, **_OPTIONS).converged


def test_one_broadcast_variable_is_alive_at_a_time(spark, monkeypatch):
    from pyspark import SparkContext

    alive, most = set(), []
    make = SparkContext.broadcast

    def counted(self, value):
        held = make(self, value)
        alive.add(held)
        most.append(len(alive))
        destroy = held.destroy
        held.destroy = lambda *words: (alive.discard(held), destroy(*words))
        return held

    monkeypatch.setattr(SparkContext, "broadcast", counted)
    learn.logistic(_frame(spark), C=0.1, **_OPTIONS)
    assert max(most) == 1 and len(most) > 5 and not alive


def test_sums_that_workers_merge_first_give_the_bits_of_one_machine(spark, monkeypatch):
    frame = _table()

    def bits():
        return learn.lda(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096)).model.weights.tobytes()

    import linsep.spark.blocks as blocks

    monkeypatch.setattr(blocks, "GROUP", 1)
    monkeypatch.setattr(blocks, "_DRIVER_BYTES", 0)
    monkeypatch.setattr(blocks, "TOPS", 2)
    with SparkCluster(_frame(spark), **_OPTIONS) as cluster:
        assert (cluster.table.blocks, cluster.table.groups, cluster.table.fan) == (5, 5, 3)
        assert learn.lda(cluster).model.weights.tobytes() == bits()


def _verdict(spark):
    try:
        separable(_frame(spark), **_OPTIONS)
    except Exception as error:
        print("told", type(error).__name__, error)


def test_executors_without_the_wheel_are_told_of(tmp_path):
    """Executors run a Python that has all packages of this one but linsep."""
    bare = tmp_path / "packages"
    bare.mkdir()
    for folder in site.getsitepackages():
        for entry in Path(folder).iterdir():
            if not entry.name.startswith("linsep"):
                (bare / entry.name).symlink_to(entry)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{bare}:$PYTHONPATH" exec {os.path.realpath(sys.executable)} -S "$@"\n')
    python.chmod(0o755)
    driver = _driver("_verdict", master="local-cluster[1,1,1024]", environment={"PYSPARK_PYTHON": str(python)})
    try:
        told = [line for line in driver.stdout if line.startswith("told")]
    finally:
        _finish(driver)
    assert told == ["told RuntimeError linsep: executors have no linsep of this version; install the wheel on every node, "
                    "or ship an environment with spark.archives\n"]  # fmt: skip
