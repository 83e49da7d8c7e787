"""Estimators of pyspark.ml on Spark itself: pipelines, cross-validation, saving, scoring of frames of all kinds."""

import numpy as np
import pandas as pd
import pytest
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
from pyspark.ml.feature import IndexToString, OneHotEncoder, StringIndexer, VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

import linsep
import linsep.spark
from linsep import _linsep
from linsep.spark import LinearSVC, LocalCluster, LogisticRegression, MultinomialNB, learn

ROWS = 3_000
NAMES = ["a", "b", "c"]


def _frame(classes=2):
    rng = np.random.default_rng(11)
    X = rng.integers(0, 40, size=(ROWS, len(NAMES))) / 8
    scores = X @ [1.0, -1.0, 0.5] + rng.normal(size=ROWS) - 1.25
    found = pd.DataFrame(X, columns=NAMES)
    found["label"] = np.digitize(scores, [0.0, 2.0][: classes - 1]).astype(float)
    found["id"] = np.arange(ROWS)
    return found


@pytest.fixture(scope="module")
def two(spark):
    table = VectorAssembler(inputCols=NAMES, outputCol="features").transform(spark.createDataFrame(_frame()).repartition(3))
    return table.cache()


@pytest.fixture(scope="module")
def three(spark):
    return spark.createDataFrame(_frame(3)).repartition(2).cache()


def _collected(frame):
    return frame.orderBy("id").toPandas()


#: What the estimators are given where their defaults do not fit the rows.
OPTIONS = {"BernoulliNB": {"binarize": 2.5}, "Perceptron": {"maxIter": 3}}


@pytest.mark.filterwarnings("ignore:Perceptron")
@pytest.mark.parametrize("name", [name for name in linsep.spark.ESTIMATORS if name != "HardMargin"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_those_of_the_model_on_one_machine(spark, two, three, name, classes, tmp_path):
    kind = getattr(linsep.spark, name)
    table, columns = (two, "features") if classes == 2 else (three, NAMES)
    model = kind(featuresCol=columns, idCol="id", **OPTIONS.get(name, {})).fit(table)
    assert isinstance(model, getattr(linsep.spark, f"{name}Model"))
    model.saveLinsep(str(tmp_path / "model.linsep"))
    alone = linsep.load(tmp_path / "model.linsep")
    found = _collected(model.transform(table))
    X = _frame(classes)[NAMES].to_numpy()
    assert list(found["label"]) == list(_frame(classes)["label"])  # other columns stay as they were
    expected = [float(label) for label in alone.predict(X)]
    assert list(found["prediction"]) == expected and set(expected) == set(range(classes))
    scores = np.vstack([raw.toArray() for raw in found["rawPrediction"]])
    own = alone.decision_function(X)
    np.testing.assert_array_equal(scores, np.column_stack([-own, own]) if own.ndim == 1 else own)
    assert ("probability" in found) == hasattr(alone, "predict_proba")
    if "probability" in found:
        np.testing.assert_array_equal(np.vstack([p.toArray() for p in found["probability"]]), alone.predict_proba(X))
    row = Vectors.dense(X[7])
    assert model.predict(row) == expected[7] and list(model.predictRaw(row)) == list(scores[7])
    assert (model.numClasses, model.numFeatures) == (classes, len(NAMES))


def test_pipelines_with_indexed_texts_are_saved_and_loaded(spark, tmp_path):
    frame = _frame()
    frame["word"] = np.where(frame["label"] == 1, "yes", "no")
    frame["colour"] = np.where(frame["a"] > 2, "red", "blue")
    table = spark.createDataFrame(frame)
    stages = [
        StringIndexer(inputCol="word", outputCol="index", stringOrderType="alphabetAsc"),
        StringIndexer(inputCol="colour", outputCol="hue"),
        OneHotEncoder(inputCols=["hue"], outputCols=["hot"]),
        VectorAssembler(inputCols=[*NAMES, "hot"], outputCol="features"),
        LogisticRegression(labelCol="index", regParam=0.01),
        IndexToString(inputCol="prediction", outputCol="said", labels=["no", "yes"]),
    ]
    fitted = Pipeline(stages=stages).fit(table)
    found = _collected(fitted.transform(table))
    assert (found["said"] == found["word"]).mean() > 0.75
    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    again = PipelineModel.load(str(tmp_path / "fitted"))
    assert list(_collected(again.transform(table))["said"]) == list(found["said"])
    Pipeline(stages=stages).save(str(tmp_path / "plan"))
    plan = Pipeline.load(str(tmp_path / "plan"))
    assert plan.getStages()[4].getRegParam() == 0.01 and plan.getStages()[4].uid == stages[4].uid


def test_a_saved_model_is_a_linsep_file_and_loads_with_its_params(two, tmp_path):
    model = LogisticRegression(C=0.5, predictionCol="p", probabilityCol="").fit(two)
    assert model.summary.converged and model.summary.gap <= 1e-6
    model.save(str(tmp_path / "model"))
    again = type(model).load(str(tmp_path / "model"))
    assert again.uid == model.uid and again.getPredictionCol() == "p"
    assert again.coefficients == model.coefficients and again.intercept == model.intercept
    found = _collected(again.transform(two))
    assert "probability" not in found and list(found["p"]) == list(_collected(model.transform(two))["p"])
    alone = linsep.load(tmp_path / "model" / "model.linsep")
    assert alone.coef_[0].tolist() == list(model.coefficients)
    assert not list(tmp_path.rglob(".model.linsep.part"))
    with pytest.raises(Exception, match="exist"):
        model.save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    with pytest.raises(ValueError, match="LogisticRegressionModel, not"):
        linsep.spark.LinearSVCModel.load(str(tmp_path / "model"))


def test_cross_validation_with_the_evaluators_of_pyspark(two, tmp_path):
    learner = LogisticRegression()
    grid = ParamGridBuilder().addGrid(learner.regParam, [10.0, 0.001]).build()
    judge = BinaryClassificationEvaluator()
    search = CrossValidator(estimator=learner, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=3, parallelism=2)
    found = search.fit(two)
    assert len(found.avgMetrics) == 2 and all(0.5 < area <= 1 for area in found.avgMetrics)
    assert judge.evaluate(found.transform(two)) > 0.8
    assert MulticlassClassificationEvaluator(metricName="accuracy").evaluate(found.transform(two)) > 0.75
    found.save(str(tmp_path / "search"))
    again = CrossValidatorModel.load(str(tmp_path / "search"))
    assert again.avgMetrics == found.avgMetrics
    assert again.bestModel.coefficients == found.bestModel.coefficients


def test_params_are_copied_and_listed_and_one_penalty_is_chosen(two):
    learner = LogisticRegression(C=2.0, maxIter=50).setTol(1e-5)
    other = learner.copy({learner.C: 3.0})
    assert (learner.getOrDefault("C"), other.getOrDefault("C"), other.uid) == (2.0, 3.0, learner.uid)
    listed = {param.name: value for param, value in learner.extractParamMap().items()}
    assert (listed["C"], listed["maxIter"], listed["tol"], listed["labelCol"]) == (2.0, 50, 1e-5, "label")
    assert "regParam" not in listed and "C" in learner.explainParams()
    with pytest.raises(TypeError, match="no param 'elasticNetParam'"):
        LogisticRegression(elasticNetParam=0.5)
    with pytest.raises(ValueError, match="two names for one penalty"):
        LogisticRegression(C=2.0, regParam=0.1).fit(two)
    with pytest.raises(ValueError, match="not above 0"):
        LogisticRegression(regParam=0.0).fit(two)


def test_reg_param_is_that_of_mllib_without_standardisation(two):
    from pyspark.ml.classification import LogisticRegression as Peer

    own = LogisticRegression(regParam=0.01, tol=1e-9).fit(two)
    peer = Peer(regParam=0.01, standardization=False, tol=1e-10, maxIter=200).fit(two)
    np.testing.assert_allclose(own.coefficients, peer.coefficients, rtol=1e-4)
    np.testing.assert_allclose(own.intercept, peer.intercept, rtol=1e-4)


def test_weights_count_rows(spark):
    frame = _frame().head(400)
    frame["weight"] = np.arange(400) % 3
    doubled = frame.loc[frame.index.repeat(frame["weight"])]
    learner = LogisticRegression(featuresCol=NAMES, regParam=0.1, tol=1e-10)
    one = learner.copy().setWeightCol("weight").fit(spark.createDataFrame(frame))
    other = learner.fit(spark.createDataFrame(doubled))
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-4)


@pytest.mark.parametrize("words", [True, False])
def test_labels_are_texts_or_numbers_that_are_no_places(spark, words):
    frame = _frame().head(300)
    frame["kind"] = np.where(frame["label"] == 1, "yes", "no") if words else np.where(frame["label"] == 1, 7, 3)
    model = LinearSVC(featuresCol=NAMES, labelCol="kind", C=0.1).fit(spark.createDataFrame(frame))
    found = _collected(model.transform(spark.createDataFrame(frame)))
    assert model.labels == (["no", "yes"] if words else [3.0, 7.0])
    assert set(found["prediction"]) == set(model.labels) and (found["prediction"] == found["kind"]).mean() > 0.75


def test_sparse_vectors_give_the_bits_of_dense_ones_and_stay_sparse(spark):
    rng = np.random.default_rng(2)
    counts = np.where(rng.random((500, 300)) < 0.02, rng.integers(1, 9, (500, 300)), 0).astype(float)
    y = (counts[:, :150].sum(axis=1) > counts[:, 150:].sum(axis=1)).astype(float)
    rows = [
        (k, Vectors.sparse(300, np.flatnonzero(x).tolist(), x[x != 0].tolist()), Vectors.dense(x), float(t))
        for k, (x, t) in enumerate(zip(counts, y))
    ]
    table = spark.createDataFrame(rows, ["id", "thin", "full", "label"]).repartition(3).cache()
    alone = learn.logistic(LocalCluster(counts, y), C=0.5).model
    for column in ("thin", "full"):
        model = LogisticRegression(featuresCol=column, idCol="id", C=0.5).fit(table)
        assert list(model.coefficients) == alone.weights[0].tolist()
        found = _collected(model.transform(table))
        assert [vector.numNonzeros() for vector in found["thin"]] == (counts != 0).sum(axis=1).tolist()
        assert list(found["prediction"]) == alone.predict(counts).astype(float).tolist()
    nb = MultinomialNB(featuresCol="thin", idCol="id").fit(table)
    np.testing.assert_array_equal(nb.coefficientMatrix.toArray(), linsep.MultinomialNB().fit(counts, y).coef_)
    from linsep.spark.frame import SparkCluster
    from linsep.spark.rows import Sparse

    with SparkCluster(table, label="label", features="thin", id="id") as cluster:
        # A function of this test travels by value; executors have no tests.
        def kind(table, number, block, _):
            return type(block.matrix).__name__

        kinds = cluster.map_blocks(kind, None)
    assert kinds == [Sparse.__name__]


def test_texts_booleans_and_missing_values_are_scored_as_on_one_machine(spark, tmp_path):
    frame = _frame().head(400).astype({"a": object})
    frame["colour"] = np.array(["red", "blue", " blue", None], dtype=object)[np.arange(400) % 4]
    frame["old"] = np.array([True, False, None], dtype=object)[np.arange(400) % 3]
    frame.loc[5, "a"] = None
    kinds = "a double, b double, c double, label double, id long, colour string, old boolean"
    table = spark.createDataFrame(frame.values.tolist(), kinds).repartition(3)
    columns = [*NAMES, "colour", "old"]
    model = LogisticRegression(featuresCol=columns, idCol="id", missing="mean").fit(table)
    held = _linsep.Model.from_bytes(model._inner.to_bytes())
    assert held.feature_names == [*NAMES, "colour=blue", "colour=red", "old=true"]
    found = _collected(model.transform(table))
    folder = str(tmp_path / "table.parquet")
    table.coalesce(1).sortWithinPartitions("id").write.parquet(folder)
    model.saveLinsep(str(tmp_path / "model.linsep"))
    output = tmp_path / "out.csv"
    words = ["linsep", "predict", str(tmp_path / "model.linsep"), folder, "-o", str(output), "--quiet"]
    assert _linsep.run_program(words) == 0
    said = pd.read_csv(output).iloc[:, 0].astype(float)
    assert list(said) == list(found["prediction"])
    dropped = LogisticRegression(featuresCol=columns, idCol="id", missing="drop-row").fit(table)
    found = _collected(dropped.transform(table))
    lacking = frame[columns].isna().any(axis=1)
    assert list(found["prediction"].isna()) == list(lacking) and list(found["rawPrediction"].isna()) == list(lacking)
    other = table.replace("red", "green", subset=["colour"])
    with pytest.raises(Exception, match=r"column 'colour', partition \d+: 'green' is a level that was not there"):
        model.transform(other).collect()
    open_minded = LogisticRegression(featuresCol=columns, missing="zero", unknownLevel="zeros").fit(table)
    assert open_minded.transform(other).count() == 400


def test_what_cannot_be_scored_is_refused(two):
    model = LogisticRegression(rawPredictionCol="", probabilityCol="").fit(two)
    with pytest.raises(ValueError, match="has a column 'prediction' already"):
        model.transform(model.transform(two))
    with pytest.raises(ValueError, match="no column 'features'"):
        model.transform(two.drop("features"))
    short = VectorAssembler(inputCols=NAMES[:2], outputCol="features").transform(two.drop("features"))
    with pytest.raises(Exception, match=r"column 'features', partition \d+: a vector has 2 entries where 3 are expected"):
        model.transform(short).collect()
    empty = model.transform(two.filter("a > 1e9"))
    assert empty.count() == 0 and empty.schema["prediction"].dataType.simpleString() == "double"
    with pytest.warns(UserWarning, match="a limit was reached"):
        LogisticRegression(maxIter=1, tol=1e-12).fit(two)
