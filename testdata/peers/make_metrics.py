#!/usr/bin/env python3
"""Writes metrics of scikit-learn on made-up predictions, for crates/linsep/tests/learners/metrics.rs.

Not run by the tests. From the root of the repository, in an environment of its own, and then the script of R, which adds
what pROC says of the same rows (packages r-base-core and r-cran-proc of Debian):

    python3 -m venv peers && peers/bin/pip install -r testdata/peers/requirements.txt
    peers/bin/python testdata/peers/make_metrics.py
    Rscript testdata/peers/make_auc.R
"""
import json
import pathlib
import warnings

import numpy as np
import sklearn
from sklearn import metrics as m

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).resolve().parent


def rows(classes, count, seed):
    """Truth, probabilities and weights; probabilities of few digits, so that many are tied."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, count, p=np.arange(1, classes + 1) / sum(range(1, classes + 1)))
    logits = rng.normal(0, 1, (count, classes))
    logits[np.arange(count), truth] += 1
    p = np.exp(logits)
    p = np.round(p / p.sum(axis=1, keepdims=True), 2)
    p[:, -1] = np.round(1 - p[:, :-1].sum(axis=1), 2)
    assert (p >= 0).all()
    return truth, p, rng.integers(1, 5, count)


def log_loss(truth, p, w):
    """With probabilities clipped at 1e-15, as linsep has it."""
    own = np.clip(p[np.arange(len(truth)), truth], 1e-15, 1)
    return float(np.average(-np.log(own), weights=w))


def of(truth, p, w):
    k = p.shape[1]
    two = k == 2
    predicted = (p[:, 1] >= 0.5).astype(int) if two else p.argmax(axis=1)
    found = {
        "accuracy": m.accuracy_score(truth, predicted, sample_weight=w),
        "balanced-accuracy": m.balanced_accuracy_score(truth, predicted, sample_weight=w),
        "mcc": m.matthews_corrcoef(truth, predicted, sample_weight=w),
        "kappa": m.cohen_kappa_score(truth, predicted, sample_weight=w),
        "log-loss": log_loss(truth, p, w),
    }
    for average in ("macro", "weighted"):
        given = {"average": average, "sample_weight": w, "zero_division": 0}
        found[f"precision-{average}"] = m.precision_score(truth, predicted, **given)
        found[f"recall-{average}"] = m.recall_score(truth, predicted, **given)
        found[f"f1-{average}"] = m.f1_score(truth, predicted, **given)
    if two:
        found["precision"] = m.precision_score(truth, predicted, sample_weight=w)
        found["recall"] = m.recall_score(truth, predicted, sample_weight=w)
        found["f1"] = m.f1_score(truth, predicted, sample_weight=w)
        found["auc"] = m.roc_auc_score(truth, p[:, 1], sample_weight=w)
        found["average-precision"] = m.average_precision_score(truth, p[:, 1], sample_weight=w)
        found["brier"] = m.brier_score_loss(truth, p[:, 1], sample_weight=w)
    else:
        own = np.eye(k)[truth]
        for average, suffix in (("macro", ""), ("weighted", "-weighted")):
            given = {"average": average, "sample_weight": w}
            found["auc" + suffix] = m.roc_auc_score(own, p, **given)
            found["average-precision" + suffix] = m.average_precision_score(own, p, **given)
        found["brier"] = float(np.average(((p - own) ** 2).sum(axis=1), weights=w))
    return found


def main():
    cases = []
    for classes, count, seed in [(2, 200, 1), (2, 31, 2), (3, 200, 3), (5, 300, 4)]:
        truth, p, w = rows(classes, count, seed)
        case = {
            "truth": truth.tolist(),
            "probabilities": p.tolist(),
            "weights": w.tolist(),
            "plain": of(truth, p, np.ones(count)),
            "weighted": of(truth, p, w),
        }
        if classes == 2:
            # Another score of the same rows, for paired tests.
            other = np.round(p[:, 1] + np.random.default_rng(seed + 50).normal(0, 0.3, count), 2)
            case["other"] = other.tolist()
        cases.append(case)
    text = json.dumps({"scikit-learn": sklearn.__version__, "cases": cases})
    (HERE / "metrics.json").write_text(text.replace('{"truth"', '\n{"truth"') + "\n")


main()
