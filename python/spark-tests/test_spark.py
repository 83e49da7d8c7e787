"""Tables in Spark: the same bits however they are partitioned, whoever dies, and clear errors."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep import _linsep
from linsep.spark import LocalCluster, learn, separable, verify
from linsep.spark.frame import SparkCluster

ROWS = 30_000
NAMES = ["a", "b", "c", "d"]
PARTITIONS = [1, 2, 4, 7]


def _frame(kind="overlapping"):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, len(NAMES))) * [1, 2, 3, 4] + 2
    scores = X @ [1.0, -1.0, 0.5, 0.25] - 1.0
    y = (scores > 0).astype(int)
    if kind == "overlapping":
        y[4321] = 1 - y[4321]
    found = pd.DataFrame(X, columns=NAMES)
    found["label"] = y
    found["id"] = np.arange(ROWS)
    return found


def _shuffled(spark, frame, partitions):
    """The rows in another order, in so many partitions."""
    mixed = frame.sample(frac=1.0, random_state=partitions)
    return spark.createDataFrame(mixed).repartition(partitions)


def _claims(certificate):
    held = json.loads(certificate.to_json())
    return held["claims"], held["data"]


def _fits(table, **options):
    small = {"C": 0.01, **options}
    models = [learn.logistic(table, **small), learn.svm(table, **small)]
    models += [fit(table, **options) for fit in (learn.lda, learn.fisher, learn.least_squares, learn.shared_variance_nb)]
    # What is proved has the same bits, too.
    claims = [_claims(fitted.model.certificate)[0] for fitted in models]
    assert {claim["claim"] for held in claims for claim in held} == {"optimal", "stationary", "counts"}
    planes = [(fitted.model.weights.tobytes(), fitted.model.biases.tobytes()) for fitted in models]
    return list(zip(planes, claims))


@pytest.mark.parametrize("kind", ["separable", "overlapping"])
def test_the_verdict_has_the_same_bits_for_any_partitions_and_for_one_machine(spark, kind):
    frame = _frame(kind)
    alone = separable(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096))
    assert alone.verdict == kind
    for partitions in PARTITIONS:
        found = separable(_shuffled(spark, frame, partitions), label="label", id="id", block_rows=4096)
        assert _claims(found.certificate) == _claims(alone.certificate)
        assert (found.rows, found.names, found.order) == (alone.rows, alone.rows, "id:id")


def test_models_have_the_same_bits_for_any_partitions_and_for_one_machine(spark):
    frame = _frame()
    alone = _fits(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096))
    for partitions in PARTITIONS:
        with SparkCluster(_shuffled(spark, frame, partitions), label="label", id="id", block_rows=4096) as cluster:
            assert _fits(cluster) == alone


def test_rows_without_names_have_the_order_of_their_digest(spark):
    frame = _frame().drop(columns="id")
    found = [separable(_shuffled(spark, frame, partitions), label="label") for partitions in (1, 3)]
    assert {one.order for one in found} == {"digest"}
    assert found[0].certificate == found[1].certificate
    assert verify(found[0].certificate, _shuffled(spark, frame, 7))


def test_certificates_go_from_the_cluster_to_one_machine_and_back(spark, tmp_path, capfd):
    folder = str(tmp_path / "table.parquet")
    _shuffled(spark, _frame().drop(columns="id"), 3).write.parquet(folder)
    frame = spark.read.parquet(folder)
    found = separable(frame, label="label")
    assert found.order == "file" and found.verdict == "overlapping"
    found.save(tmp_path / "cluster.json")
    assert _linsep.run_program(["linsep", "verify", str(tmp_path / "cluster.json"), folder]) == 0
    own = str(tmp_path / "own.json")
    assert _linsep.run_program(["linsep", "separable", folder, "--label", "label", "--cert", own]) == 1
    lines = verify(Path(own).read_text(), frame)
    assert [line["finding"] for line in lines if line["claim"] != "coefficients"] == ["true"]
    fitted = learn.lda(frame, label="label")
    fitted.save(tmp_path / "model.linsep")
    assert _linsep.run_program(["linsep", "predict", str(tmp_path / "model.linsep"), folder, "--limit", "2"]) == 0
    assert _linsep.run_program(["linsep", "verify", str(tmp_path / "model.linsep"), folder]) == 0
    assert verify(fitted.model.certificate, frame)
    changed = spark.createDataFrame(_frame().assign(a=lambda f: f["a"] + 1))
    assert not verify(found.certificate, changed, id="id")
    capfd.readouterr()


def test_a_table_without_names_may_be_written_in_any_order(spark, tmp_path, capfd):
    table, folder = _shuffled(spark, _frame().drop(columns="id"), 3), str(tmp_path / "turned.parquet")
    found, fitted = separable(table, label="label"), learn.logistic(table, label="label", C=0.01)
    found.save(tmp_path / "proof.json")
    fitted.save(tmp_path / "model.linsep")
    _shuffled(spark, _frame().drop(columns="id"), 5).write.parquet(folder)
    for name in ("proof.json", "model.linsep"):
        assert _linsep.run_program(["linsep", "verify", str(tmp_path / name), folder]) == 0
        assert "in another order" in capfd.readouterr().out
    assert verify(found.certificate, spark.read.parquet(folder))
    other = str(tmp_path / "other.parquet")
    changed = _frame().drop(columns="id")
    changed.loc[17, "a"] += 1e-9
    _shuffled(spark, changed, 5).write.parquet(other)
    assert _linsep.run_program(["linsep", "verify", str(tmp_path / "proof.json"), other]) == 1


def _ancestors(pid):
    """The processes above one, by what the kernel says."""
    chain = []
    while pid > 1:
        chain.append(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])
    return chain


def _kill_an_executor(spark):
    """Ends an executor that this very run reports, found by the process tree."""
    workers = spark.sparkContext.parallelize(range(2), 2).map(lambda _: os.getpid()).collect()
    chain = _ancestors(workers[0])
    assert os.getpid() in chain
    backend = [pid for pid in chain if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(backend) == 1
    os.kill(backend[0], signal.SIGKILL)


@pytest.mark.parametrize("phase", [3, 4])
def test_a_killed_executor_changes_no_bit_of_a_verdict(spark, phase):
    frame = _frame("separable")
    alone = separable(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096))
    killed = []

    def progress(told):
        if told["round"] == phase and not killed:
            _kill_an_executor(spark)
            killed.append(phase)

    table = _shuffled(spark, frame, 4)
    found = separable(table, label="label", id="id", block_rows=4096, progress=progress)
    assert killed and _claims(found.certificate) == _claims(alone.certificate)


def test_a_killed_executor_changes_no_bit_of_newton_or_of_statistics(spark):
    frame = _frame()
    alone = _fits(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096))
    with SparkCluster(_shuffled(spark, frame, 4), label="label", id="id", block_rows=4096) as cluster:
        killed = []

        def progress(told):
            if told["round"] == 3 and not killed:
                _kill_an_executor(spark)
                killed.append(True)

        assert _fits(cluster) == alone
        fitted = learn.logistic(cluster, C=0.01, progress=progress)
        assert killed and fitted.model.weights.tobytes() == alone[0][0][0]
        _kill_an_executor(spark)
        assert learn.lda(cluster).model.weights.tobytes() == alone[2][0][0]


def test_executors_killed_while_a_table_is_packed_surveyed_and_proved_change_no_bit(spark, monkeypatch):
    from linsep.spark import frame as of_frame

    frame = _frame()
    alone = learn.logistic(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096), C=0.01)
    killed, starts = [], of_frame._starts

    def between(heads):
        # Rows are packed, and blocks are not made of them yet.
        _kill_an_executor(spark)
        killed.append("packing")
        return starts(heads)

    monkeypatch.setattr(of_frame, "_starts", between)
    with SparkCluster(_shuffled(spark, frame, 4), label="label", id="id", block_rows=4096) as cluster:
        ask, asked = cluster._ask, []

        def counted(*words):
            asked.append(len(asked))
            if len(asked) in (1, alone.rounds, alone.rounds + alone.proof_rounds):
                _kill_an_executor(spark)
                killed.append(len(asked))
            return ask(*words)

        cluster._ask = counted
        fitted = learn.logistic(cluster, C=0.01)
    assert len(killed) == 4 and len(asked) == alone.rounds + alone.proof_rounds
    assert fitted.model.weights.tobytes() == alone.model.weights.tobytes()
    assert _claims(fitted.model.certificate)[0] == _claims(alone.model.certificate)[0]


def test_empty_partitions_and_a_label_in_one_partition_are_no_matter(spark):
    frame = _frame()
    table = spark.createDataFrame(frame[frame["label"] == 0]).coalesce(1)
    table = table.union(spark.createDataFrame(frame[frame["label"] == 1]).coalesce(1))
    empty = spark.createDataFrame(frame.head(20)).filter("a > 1e9").repartition(5)
    found = separable(table.union(empty), label="label", id="id", block_rows=4096)
    alone = separable(LocalCluster(frame[NAMES], frame["label"], names=NAMES, block_rows=4096))
    assert _claims(found.certificate) == _claims(alone.certificate)


def _with_value(name, value, kind):
    def make(spark):
        frame = _frame().head(50).astype(object)
        if name not in frame:
            frame[name] = 1.0
        frame.loc[30, name] = value
        types = {**dict.fromkeys(NAMES, "double"), "label": "int", "id": "int", name: kind}
        return spark.createDataFrame(frame.values.tolist(), ", ".join(f"{n} {types[n]}" for n in frame.columns))

    return make


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (_with_value("b", None, "double"), {}, r"column 'b', partition \d+, id=30: 1 rows without a value"),
        (_with_value("c", float("nan"), "double"), {}, r"column 'c', partition \d+, id=30: nan is no finite number"),
        (_with_value("d", float("inf"), "double"), {}, r"column 'd', partition \d+, id=30: inf is no finite number"),
        (_with_value("label", None, "int"), {}, "column 'label' has rows without a label"),
        (_with_value("id", 7, "int"), {}, r"column 'id', partition \d+: 7 names two rows"),
        (_with_value("id", None, "int"), {}, r"column 'id', partition \d+: a row without a name"),
        (lambda s: s.createDataFrame(_frame().head(9).assign(label=1)), {}, "has one class, 1"),
        (lambda s: s.createDataFrame(_frame().head(9)).filter("a > 1e9"), {}, "the table has no rows"),
        (lambda s: s.createDataFrame(_frame().head(9)).selectExpr("*", "array(a) z"), {}, "column 'z' has type array"),
        (
            lambda s: s.createDataFrame(_frame().head(99).assign(a=lambda f: f["id"].astype(str) + "x")),
            {},
            "column 'a' has type string and more than 50 levels",
        ),
        (lambda s: s.createDataFrame(_frame().head(9).assign(a="NA")), {}, "column 'a' has no value at all"),
        (_with_value("w", -1.0, "double"), {"weight": "w"}, r"column 'w', partition \d+, id=30: -1.0 is no weight"),
        (lambda s: s.createDataFrame(_frame().head(9)), {"missing": "mode"}, "missing='mode' is none of"),
        (lambda s: s.createDataFrame(_frame().head(9)), {"label": "lable"}, "did you mean 'label'"),
        (lambda s: s.createDataFrame(_frame().head(9)), {"features": ["a", "z"]}, "there is no column 'z'"),
        (lambda s: s.createDataFrame(_frame().head(9)), {"features": ["a", "label"]}, "a feature and something else"),
        (lambda s: s.createDataFrame(_frame().head(9).assign(a=2**60 + 1)), {}, "beyond 2"),
    ],
)
def test_bad_tables_are_refused_with_partition_and_column(spark, make, options, words):
    with pytest.raises(ValueError, match=words):
        separable(make(spark), **{"label": "label", "id": "id", **options})


def test_vectors_of_different_lengths_are_refused(spark):
    from pyspark.ml.linalg import Vectors

    rows = [(Vectors.dense([1.0, 2.0]), 0), (Vectors.sparse(3, [0], [1.0]), 1)]
    with pytest.raises(ValueError, match=r"column 'x', partition 0: a vector has \d entries where \d are expected"):
        separable(spark.createDataFrame(rows, ["x", "y"]).coalesce(1), label="y")
    far = [(Vectors.dense([1.0, 2.0]), k, k % 2) for k in range(6)] + [(Vectors.dense([1.0]), k, k % 2) for k in range(6, 12)]
    table = spark.createDataFrame(far[:6], ["x", "id", "y"]).coalesce(1)
    table = table.union(spark.createDataFrame(far[6:], ["x", "id", "y"]).coalesce(1))
    with pytest.raises(ValueError, match=r"column 'x'.* entr"):
        separable(table, label="y", id="id")


def test_nothing_listens_outside_loopback():
    """Every listening socket of this process and those below it is on 127.0.0.1 or ::1."""
    below = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
    mine, sockets = [], set()
    for pid in below:
        try:
            if os.getpid() in _ancestors(pid):
                mine.append(pid)
                sockets |= {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    assert len(mine) > 3  # the driver's JVM and two executors at least
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.append(fields[1].split(":")[0])
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert found and set(found) <= loopback
