"""What tables have in them: missing values, texts, booleans, parts of other types; and the shell on the same table."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linsep import _linsep
from linsep.spark import LocalCluster, learn, separable, verify

NAMES = ["a", "b"]
ROWS = 9_000


def _frame():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(ROWS, 2))
    frame = pd.DataFrame(X, columns=NAMES)
    frame["label"] = (X @ [1.0, -2.0] + rng.normal(size=ROWS) > 0).astype(float)
    frame.loc[::7, "a"] = np.nan
    frame["id"] = np.arange(ROWS)
    return frame


@pytest.mark.parametrize("missing", ["drop-row", "mean", "median", "zero"])
def test_missing_values_give_the_bits_of_one_machine_for_any_partitions(spark, missing):
    frame = _frame()
    alone = LocalCluster(frame[NAMES], frame["label"], names=NAMES, missing=missing, block_rows=4096)
    model = learn.logistic(alone, C=0.1).model
    told = json.loads(separable(alone).certificate.to_json())
    for partitions in (1, 5):
        table = spark.createDataFrame(frame.sample(frac=1.0, random_state=1)).repartition(partitions)
        options = {"label": "label", "id": "id", "missing": missing, "block_rows": 4096}
        found = learn.logistic(table, C=0.1, **options).model
        assert found.weights.tobytes() == model.weights.tobytes()
        certificate = json.loads(separable(table, **options).certificate.to_json())
        assert (certificate["data"], certificate["claims"]) == (told["data"], told["claims"])
        fills = [column.get("missing") for column in certificate["input"]["columns"]]
        assert fills == [column.get("missing") for column in told["input"]["columns"]]
        assert (certificate["input"].get("drop_missing", False), None in fills) == (missing == "drop-row", missing == "drop-row")


def _mixed():
    frame = _frame().head(6_000).drop(columns="id")
    frame["colour"] = np.array(["red", "blue", "green"], dtype=object)[np.arange(6_000) % 3]
    frame.loc[4::11, "colour"] = None
    frame["old"] = np.arange(6_000) % 5 == 0
    frame["kind"] = np.where(frame["label"] == 1, "yes", "no")
    return frame.drop(columns="label")


@pytest.mark.parametrize("missing", ["drop-row", "mean", "zero"])
def test_certificates_of_texts_and_missing_values_go_to_the_shell_and_back(spark, tmp_path, capfd, missing):
    folder = tmp_path / "table.parquet"
    folder.mkdir()
    table = pa.Table.from_pandas(_mixed(), preserve_index=False)
    for part in range(3):
        pq.write_table(table.slice(part * 2_000, 2_000), folder / f"part-{part}.parquet")
    frame = spark.read.parquet(str(folder))
    found = separable(frame, label="kind", missing=missing)
    assert found.order == "file" and found.verdict == "overlapping"
    found.save(tmp_path / "cluster.json")
    assert _linsep.run_program(["linsep", "verify", str(tmp_path / "cluster.json"), str(folder)]) == 0
    assert verify(found.certificate, frame)
    own = str(tmp_path / "own.json")
    words = ["linsep", "separable", str(folder), "--label", "kind", "--missing", missing, "--drop", "old", "--cert", own]
    assert _linsep.run_program(words) == 1
    lines = verify((tmp_path / "own.json").read_text(), frame)
    assert [line["finding"] for line in lines if line["claim"] != "coefficients"] == ["true"]
    capfd.readouterr()


def test_the_place_of_a_bad_value_is_its_file_and_row(spark, tmp_path):
    folder = tmp_path / "table.parquet"
    folder.mkdir()
    frame = pd.DataFrame({"a": np.arange(100.0), "y": np.arange(100) % 2})
    frame.to_parquet(folder / "one.parquet")
    frame.loc[17, "a"] = np.inf
    frame.to_parquet(folder / "two.parquet")
    with pytest.raises(ValueError, match=r"column 'a', partition \d+, row 17 of two.parquet: inf is no finite number"):
        separable(spark.read.parquet(str(folder)), label="y")


def test_a_part_with_another_type_is_named_with_its_column(spark, tmp_path):
    folder = tmp_path / "table.parquet"
    folder.mkdir()
    frame = pd.DataFrame({"a": np.arange(100.0), "b": 1.0, "y": np.arange(100) % 2})
    frame.to_parquet(folder / "one.parquet")
    frame.assign(a=frame["a"].astype(str)).to_parquet(folder / "two.parquet")
    table = spark.read.schema("a double, b double, y bigint").parquet(str(folder))
    with pytest.raises(ValueError, match=r"column 'a', file two.parquet: the type is another one"):
        separable(table, label="y")
    # A part without a column has no values there.
    frame.drop(columns="b").to_parquet(folder / "two.parquet")
    with pytest.raises(ValueError, match=r"column 'b', partition \d+, row \d+ of two.parquet: \d+ rows without a value"):
        separable(table, label="y")


def test_labels_as_doubles_are_the_classes_that_files_have(spark, tmp_path, capfd):
    frame = _frame().dropna().head(500)
    folder = str(tmp_path / "table.parquet")
    spark.createDataFrame(frame).coalesce(1).write.parquet(folder)
    fitted = learn.logistic(spark.read.parquet(folder), label="label", features=NAMES, C=0.1)
    assert fitted.model.classes == ["0", "1"]
    fitted.save(tmp_path / "model.linsep")
    assert _linsep.run_program(["linsep", "evaluate", str(tmp_path / "model.linsep"), folder]) == 0
    assert "accuracy" in capfd.readouterr().out
