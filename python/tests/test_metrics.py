"""Metrics, thresholds and costs of the program against scikit-learn, and models with a threshold in Python."""

import json
import subprocess
import sys

import numpy as np
import pytest

import linsep

pytest.importorskip("sklearn")

from sklearn import metrics  # noqa: E402
from sklearn.calibration import calibration_curve  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_iris  # noqa: E402

TOLERANCE = 1e-12


@pytest.fixture
def folder(tmp_path):
    """A folder with training and test rows of two sets, some of them with weights."""
    for name, load in [("cancer", load_breast_cancer), ("iris", load_iris)]:
        X, y = load(return_X_y=True)
        X = X[:, :6]
        weights = 1 + np.arange(len(y)) % 3
        for part, rows in [("learn", np.arange(len(y)) % 3 != 0), ("test", np.arange(len(y)) % 3 == 0)]:
            head = ",".join([*(f"x{j}" for j in range(X.shape[1])), "w", "class"])
            lines = [f"{','.join(map(repr, map(float, x)))},{w},c{k}" for x, k, w in zip(X[rows], y[rows], weights[rows])]
            (tmp_path / f"{name}-{part}.csv").write_text("\n".join([head, *lines]) + "\n")
    return tmp_path


def program(folder, line):
    run = subprocess.run([sys.executable, "-m", "linsep", *line.split()], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout) if "--json" in line else run.stdout


def table(folder, name):
    lines = [line.split(",") for line in (folder / f"{name}-test.csv").read_text().splitlines()[1:]]
    X = np.array([list(map(float, line[:-2])) for line in lines])
    return X, np.array([int(line[-1][1:]) for line in lines]), np.array([float(line[-2]) for line in lines])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["cancer", "iris"])
@pytest.mark.parametrize("learner", ["logistic", "shared-variance-nb"])
def test_metrics_are_those_of_scikit_learn(folder, name, learner, weighted):
    program(folder, f"train {name}-learn.csv --label class --drop w --learner {learner} -o m.linsep")
    weight = "--weight w" if weighted else ""
    said = program(folder, f"evaluate m.linsep {name}-test.csv {weight} --metrics all --bins 7 --json")
    X, y, w = table(folder, name)
    w = w if weighted else np.ones(len(y))
    model = linsep.read(folder / "m.linsep")
    p = model.predict_proba(X)
    predicted = np.array([int(c[1:]) for c in model.predict(X)])
    two = p.shape[1] == 2
    wanted = {
        "accuracy": metrics.accuracy_score(y, predicted, sample_weight=w),
        "balanced-accuracy": metrics.balanced_accuracy_score(y, predicted, sample_weight=w),
        "mcc": metrics.matthews_corrcoef(y, predicted, sample_weight=w),
        "kappa": metrics.cohen_kappa_score(y, predicted, sample_weight=w),
        "brier": np.average(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1) / (2 if two else 1), weights=w),
        "log-loss": np.average(-np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1)), weights=w),
    }
    for average in ["macro", "weighted"]:
        for measure in ["precision", "recall", "f1"]:
            score = getattr(metrics, f"{measure}_score")
            wanted[f"{measure}-{average}"] = score(y, predicted, average=average, sample_weight=w, zero_division=0)
    if two:
        wanted["auc"] = metrics.roc_auc_score(y, model.decision_function(X), sample_weight=w)
        wanted["average-precision"] = metrics.average_precision_score(y, model.decision_function(X), sample_weight=w)
    else:
        own = np.eye(3)[y]
        for average, suffix in [("macro", ""), ("weighted", "-weighted")]:
            given = {"average": average, "sample_weight": w}
            wanted[f"auc{suffix}"] = metrics.roc_auc_score(own, p, **given)
            wanted[f"average-precision{suffix}"] = metrics.average_precision_score(own, p, **given)
        wanted["top-2"] = metrics.top_k_accuracy_score(y, p, k=2, sample_weight=w)
    found = {measure["metric"]: measure["value"] for measure in said["metrics"]}
    for metric, value in wanted.items():
        assert found[metric] == pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE), metric
    if two and not weighted:
        share, mean = calibration_curve(y, p[:, 1], n_bins=7)
        bins = [bin for bin in said["calibration"]["bins"] if bin["rows"]]
        np.testing.assert_allclose([bin["probability"] for bin in bins], mean, rtol=TOLERANCE)
        np.testing.assert_allclose([bin["frequency"] for bin in bins], share, rtol=TOLERANCE)


@pytest.mark.parametrize("asked", ["0.9", "f1", "youden", "rate=0.01"])
def test_python_predicts_with_the_threshold_of_the_model(folder, asked):
    train = "train cancer-learn.csv --label class --drop w --learner logistic -o m.linsep"
    said = program(folder, f"{train} --threshold {asked} --json")["threshold"]["decision"]["threshold"]
    X, _, _ = table(folder, "cancer")
    model = linsep.read(folder / "m.linsep")
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(scores >= said["score"], "c1", "c0"))
    lines = program(folder, "predict m.linsep cancer-test.csv").split()[1:]
    np.testing.assert_array_equal(model.predict(X), lines)
    # The threshold on a probability is where that probability begins, as it is computed.
    if asked == "0.9":
        np.testing.assert_array_equal(scores >= said["score"], model.predict_proba(X)[:, 1] >= 0.9)


def test_tuning_scores_each_point_as_cross_validation_does(folder):
    train = "train cancer-learn.csv --label class --drop w --learner logistic --scale standard -o m.linsep"
    grid = program(folder, f"{train} --tune c=log:0.001..10:5 --metric log-loss --cv 4 --json")["tuned"]
    assert [point["settings"]["c"] for point in grid["points"]] == ["0.001", "0.01", "0.1", "1", "10"]
    best = min(grid["points"], key=lambda point: point["mean"])
    assert grid["chosen"] == best["settings"]
    for point in grid["points"]:
        # The same value alone, without a run before it to go on from: equal up to the gap of the solutions.
        one = program(folder, f"{train} --tune c={point['settings']['c']} --metric log-loss --cv 4 --gap 1e-6 --json")["tuned"]
        assert one["points"][0]["mean"] == pytest.approx(point["mean"], rel=0.02)
        assert point["standard_error"] == pytest.approx(np.std(point["folds"], ddof=1) / 2, rel=1e-9)
