"""Estimators whose claims are about every row, basis functions in pipelines, many columns, rows of files, Spark Connect."""

import numpy as np
import pandas as pd
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.linalg import Vectors

import linsep
from linsep.spark import (
    BasisExpansion,
    BernoulliNB,
    HardMargin,
    LinearSVC,
    LocalCluster,
    LogisticRegression,
    Perceptron,
    learn,
    separable,
)
from linsep.spark.asked import context_of
from linsep.spark.frame import SparkCluster

NAMES = ["a", "b"]
ROWS = 9_000
PARTITIONS = [1, 2, 4, 7]


def _ring(rows=ROWS):
    """Two classes that a circle separates, with room between them."""
    rng = np.random.default_rng(3)
    X = rng.integers(-64, 65, size=(4 * rows, 2)) / 16
    far = (X**2).sum(axis=1)
    X = X[(far < 4.0) | (far > 5.0)][:rows]
    frame = pd.DataFrame(X, columns=NAMES)
    frame["label"] = ((X**2).sum(axis=1) > 4.5).astype(float)
    frame["id"] = np.arange(len(X))
    return frame


def _flat(rows=ROWS):
    """Two classes that a line separates."""
    frame = _ring(2 * rows)
    scores = frame["a"] - 2 * frame["b"] + 0.25
    frame = frame[scores.abs() > 0.3].head(rows).reset_index(drop=True)
    frame["label"] = (frame["a"] - 2 * frame["b"] + 0.25 > 0).astype(float)
    frame["id"] = np.arange(len(frame))
    return frame


def _shuffled(spark, frame, partitions):
    return spark.createDataFrame(frame.sample(frac=1.0, random_state=partitions)).repartition(partitions)


def test_basis_functions_in_a_pipeline_are_saved_and_loaded_and_separate_a_circle(spark, tmp_path):
    frame = _ring()
    table = _shuffled(spark, frame, 3)
    stages = [BasisExpansion(inputCols=NAMES), Perceptron(featuresCol="expanded", idCol="id", epochs=100)]
    fitted = Pipeline(stages=stages).fit(table)
    model = fitted.stages[1]
    assert model.summary.converged and [kind for kind, _ in model._inner.kinds] == ["separable"]
    found = fitted.transform(table).orderBy("id").toPandas()
    assert (found["prediction"] == found["label"]).all()
    expanded = linsep.BasisExpansion(basis="poly:2").fit_transform(frame[NAMES].to_numpy())
    np.testing.assert_array_equal(np.vstack([row.toArray() for row in found["expanded"]]), expanded)
    # The model is about what the basis makes, on one machine, too.
    assert model._inner.predict(expanded).tolist() == frame["label"].astype(int).tolist()
    fitted.save(str(tmp_path / "fitted"))
    again = PipelineModel.load(str(tmp_path / "fitted"))
    assert again.stages[0].getBasis() == "poly:2" and again.stages[0].getInputCols() == NAMES
    assert again.transform(table).orderBy("id").toPandas()["prediction"].tolist() == found["prediction"].tolist()
    Pipeline(stages=stages).save(str(tmp_path / "plan"))
    plan = Pipeline.load(str(tmp_path / "plan")).getStages()
    assert (plan[0].uid, plan[1].getMaxIter(), plan[1].getEpochs()) == (stages[0].uid, 100, 100)


def test_basis_functions_of_vectors_dense_and_sparse_and_what_they_refuse(spark):
    rows = [(Vectors.dense([1.0, 2.0]), "t"), (Vectors.sparse(2, [1], [3.0]), "u")]
    table = spark.createDataFrame(rows, ["features", "text"])
    made = BasisExpansion(basis="#1*#2,#2^2", outputCol="more").transform(table).select("more").toPandas()["more"]
    assert [row.toArray().tolist() for row in made] == [[1.0, 2.0, 2.0, 4.0], [0.0, 3.0, 0.0, 9.0]]
    assert BasisExpansion().transform(table.filter("text = 'x'")).count() == 0
    for options, words in (
        ({"basis": "rbf:3,1"}, "Gaussians have centres among the rows"),
        ({"inputCol": "text"}, "column 'text' has type string"),
        ({"inputCol": "featurs"}, "did you mean 'features'"),
        ({"outputCol": "text"}, "has a column 'text' already"),
    ):
        with pytest.raises(ValueError, match=words):
            BasisExpansion(**options).transform(table)
    with pytest.raises(TypeError, match="no param 'degree'"):
        BasisExpansion(degree=3)
    with pytest.raises(Exception, match="poly:x"):
        BasisExpansion(inputCols=["a"], basis="poly:x").transform(spark.createDataFrame([(1.0,)], ["a"]))
    with pytest.raises(Exception, match=r"column 'a', partition \d+: nan is no finite number"):
        BasisExpansion(inputCols=["a"]).transform(spark.createDataFrame([(float("nan"),)], ["a"])).collect()


@pytest.mark.parametrize(
    ("kind", "fit", "options"),
    [
        (HardMargin, learn.hard_margin, {}),
        (Perceptron, learn.perceptron, {}),
        (BernoulliNB, learn.bernoulli_nb, {"binarize": 0.5}),
        (LogisticRegression, learn.logistic, {"solver": "lbfgs"}),
        (LinearSVC, learn.svm, {"solver": "lbfgs"}),
    ],
)
def test_models_have_the_bits_of_one_machine_for_any_partitions_and_are_saved(spark, tmp_path, kind, fit, options):
    frame = _flat()
    alone = fit(LocalCluster(frame[NAMES], frame["label"], names=NAMES), **options).model
    for partitions in PARTITIONS:
        model = kind(featuresCol=NAMES, idCol="id", **options).fit(_shuffled(spark, frame, partitions))
        assert model._inner.weights.tobytes() == alone.weights.tobytes()
        assert model._inner.biases.tobytes() == alone.biases.tobytes()
        assert model._inner.kinds == alone.kinds
    folder = str(tmp_path / "model")
    model.save(folder)
    again = type(model).load(folder)
    table = _shuffled(spark, frame, 3)
    found, loaded = (one.transform(table).orderBy("id").toPandas()["prediction"] for one in (model, again))
    expected = linsep.load(tmp_path / "model" / "model.linsep").predict(frame[NAMES].to_numpy())
    assert found.tolist() == loaded.tolist() == [float(label) for label in expected]
    if kind in (HardMargin, Perceptron):
        assert found.tolist() == frame["label"].tolist()


def test_classes_that_no_plane_separates(spark):
    frame = _flat(5_000)
    frame.loc[77, "label"] = 1 - frame.loc[77, "label"]
    table = _shuffled(spark, frame, 2)
    with pytest.raises(ValueError, match="the classes are overlapping; a hard margin is for those"):
        HardMargin(featuresCol=NAMES, idCol="id").fit(table)
    with pytest.warns(UserWarning, match=r"Perceptron: \d+ rows are on the wrong side after \d+ rounds; nothing is claimed"):
        model = Perceptron(featuresCol=NAMES, idCol="id", maxIter=3).fit(table)
    assert [kind for kind, _ in model._inner.kinds] == ["unproved"] and model.summary.wrong > 0


def test_fifty_thousand_columns_of_sparse_vectors_are_learned_with_proof(spark):
    rng = np.random.default_rng(6)
    width, rows = 50_000, 3_000
    planes, table = rng.normal(size=width), []
    for k in range(rows):
        places = np.unique(np.minimum((rng.pareto(0.6, size=25) * 20).astype(int), width - 1))
        values = rng.integers(1, 4, size=len(places)).astype(float)
        label = float((planes[places] * values).sum() + 4 * rng.normal() > 0)
        table.append((k, Vectors.sparse(width, places.tolist(), values.tolist()), label))
    frame = spark.createDataFrame(table, ["id", "features", "label"])
    found = [
        LogisticRegression(C=0.01, idCol="id").fit(frame.repartition(partitions)) for partitions in (2, 3)
    ]
    assert found[0].summary.converged and [kind for kind, _ in found[0]._inner.kinds] == ["optimal"]
    assert found[0]._inner.weights.tobytes() == found[1]._inner.weights.tobytes()


def test_rows_of_files_are_packed_where_they_are_and_have_the_bits_of_sorted_ones(spark, tmp_path, monkeypatch):
    from linsep.spark import frame as of_frame

    folder = str(tmp_path / "table.parquet")
    _shuffled(spark, _ring().drop(columns="id"), 3).write.parquet(folder)
    table, options = spark.read.parquet(folder), {"label": "label", "block_rows": 4096}
    chosen = []
    starts = of_frame._starts
    monkeypatch.setattr(of_frame, "_starts", lambda heads: chosen.append(starts(heads)) or chosen[-1])

    def bits(frame):
        with SparkCluster(frame, **options) as cluster:
            assert cluster.table.order == "file"
            return separable(cluster).certificate.to_json(), learn.lda(cluster).model.to_bytes()

    own = bits(table)
    assert len(chosen) == 1 and chosen[0] is not None
    # Rows that were moved among partitions still know their files, and are sorted.
    chosen.clear()
    assert bits(table.repartition(5)) == own and chosen[0] is None and len(chosen) == 2
    chosen.clear()
    assert bits(table.orderBy("a", "b")) == own and len(chosen) == 2
    half = table.filter("a > 0")
    with SparkCluster(half, **options) as cluster:
        assert cluster.table.rows == half.count()


def test_a_process_keeps_as_many_bytes_of_blocks_as_it_is_told(spark):
    table, options = _shuffled(spark, _flat(), 2), {"label": "label", "id": "id", "block_rows": 4096}
    with SparkCluster(table, **options) as cluster:
        assert cluster.table.cache == -1

        def kept(table, number, block, _):
            from linsep.spark.blocks import KEPT

            block.data()
            return [one.bytes for key, one in KEPT._held.items() if key[0] == table.token]

        assert sum(map(sum, cluster.map_blocks(kept, None))) > 0
    conf = spark.sparkContext._conf
    for said, bytes in (("0", 0), ("512k", 512 << 10), ("2g", 2 << 30)):
        conf.set("spark.linsep.cache", said)
        try:
            with SparkCluster(table, **options) as cluster:
                assert cluster.table.cache == bytes
        finally:
            conf._jconf.remove("spark.linsep.cache") if conf._jconf is not None else conf._conf.pop("spark.linsep.cache")
    from linsep.spark.frame import _bytes_of

    with pytest.raises(ValueError, match="spark.linsep.cache='much' is no number of bytes"):
        _bytes_of("much")


def test_the_process_that_packs_a_block_answers_for_it(spark):
    if not spark.sparkContext.master.startswith("local-cluster[2,1,"):
        pytest.skip("an executor of more cores has more processes")
    table = _shuffled(spark, _flat(), 2)
    with SparkCluster(table, label="label", id="id", block_rows=4096) as cluster:

        def rows(table, number, block, _):
            from linsep.spark.blocks import ABSENT

            block.data()
            return len(block.codes), block._content is ABSENT

        # Spark may give a task away where an executor is busy, so not every round has to do without bytes.
        rounds = [cluster.map_blocks(rows, None) for _ in range(4)]
        assert {sum(count for count, _ in found) for found in rounds} == {cluster.table.rows}
        assert any(all(absent for _, absent in found) for found in rounds[:2])


def test_frames_of_spark_connect_are_refused_with_what_to_use():
    class Session:
        @property
        def sparkContext(self):
            raise AttributeError("JVM_ATTRIBUTE_NOT_SUPPORTED")

    class Frame:
        sparkSession = Session()

    with pytest.raises(ValueError, match=r"a data frame of Spark Connect has no Spark context.*classic session"):
        context_of(Frame())
    with pytest.raises(ValueError, match="Spark Connect"):
        separable(Frame(), label="y")
