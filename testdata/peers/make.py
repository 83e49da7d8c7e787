#!/usr/bin/env python3
"""Writes the weights that scikit-learn gives on the data sets of examples/, for crates/linsep/tests/learners/peers.rs.

Not run by the tests. From the root of the repository, in an environment of its own:

    python3 -m venv peers && peers/bin/pip install -r testdata/peers/requirements.txt
    peers/bin/python testdata/peers/make.py
"""
import csv
import gzip
import json
import pathlib
import sys

import numpy as np
import sklearn
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(ROOT / "examples" / name, "rt", newline="") as file:
        rows = list(csv.reader(file))
    at = next(j for j, column in enumerate(rows[0]) if column in ("label", "species"))
    x = np.array([[float(v) for j, v in enumerate(row) if j != at] for row in rows[1:]])
    labels = [row[at] for row in rows[1:]]
    if rows[0][at] == "species":
        return x, np.unique(labels, return_inverse=True)[1]
    return x, np.array(list(map(int, labels)))


def targets(y):
    classes = np.unique(y)
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)
    return (y[:, None] == classes[None, :]).astype(float)


def regression(peer, x, y):
    peer.fit(x, targets(y))
    return np.atleast_2d(peer.coef_), np.atleast_1d(peer.intercept_)


def discriminant(x, y, priors, shrinkage):
    k = len(np.unique(y))
    peer = LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=shrinkage, priors=None if priors == "data" else np.full(k, 1 / k)
    ).fit(x, y)
    return peer.coef_, peer.intercept_


def bayes(peer, x, y):
    peer.fit(x, y)
    if isinstance(peer, BernoulliNB):
        off = np.log1p(-np.exp(peer.feature_log_prob_))
        weights, bias = peer.feature_log_prob_ - off, peer.class_log_prior_ + off.sum(axis=1)
    else:
        weights, bias = peer.feature_log_prob_, peer.class_log_prior_
    if len(peer.classes_) == 2:
        return weights[1:] - weights[:1], bias[1:] - bias[:1]
    return weights, bias


def cases(name):
    x, y = load(name)
    yield "least-squares", {}, regression(LinearRegression(), x, y)
    if name in ("digits.csv", "letter.csv.gz"):  # Many planes of many weights: the plain cases are enough.
        yield "lda", {}, discriminant(x, y, "data", None)
        yield "multinomial-nb", {}, bayes(MultinomialNB(), x, y)
        if name == "letter.csv.gz":
            yield "least-squares", {"l2": "2.5"}, regression(Ridge(alpha=2.5, solver="svd"), x, y)
            yield "bernoulli-nb", {"binarize": "7.0"}, bayes(BernoulliNB(binarize=7.0), x, y)
        return
    yield "least-squares", {"l2": "2.5"}, regression(Ridge(alpha=2.5, solver="svd"), x, y)
    yield "lda", {}, discriminant(x, y, "data", None)
    yield "lda", {"priors": "uniform"}, discriminant(x, y, "uniform", None)
    yield "lda", {"shrinkage": "0.25"}, discriminant(x, y, "data", 0.25)
    # The estimators speak of one covariance, so the peer's share is that of rows about their class means.
    centred = np.vstack([x[y == k] - x[y == k].mean(axis=0) for k in np.unique(y)])
    share = ledoit_wolf_shrinkage(centred, assume_centered=True)
    yield "lda", {"shrinkage": "ledoit-wolf"}, discriminant(x, y, "data", share)
    if x.min() >= 0:
        yield "multinomial-nb", {"alpha": "0.5"}, bayes(MultinomialNB(alpha=0.5), x, y)
    threshold = float(np.median(x))
    yield "bernoulli-nb", {"binarize": repr(threshold)}, bayes(BernoulliNB(binarize=threshold), x, y)


def main():
    for file in ["iris.csv", "wine.csv", "breast_cancer.csv", "digits.csv", "spambase.csv.gz", "letter.csv.gz"]:
        name, all_cases = file.split(".")[0], []
        for learner, settings, (weights, bias) in cases(file):
            planes = [{"weights": list(map(float, w)), "bias": float(b)} for w, b in zip(weights, bias)]
            all_cases.append({"learner": learner, "settings": settings, "planes": planes})
        content = {
            "peer": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}",
            "data": file,
            "cases": all_cases,
        }
        path = pathlib.Path(__file__).with_name(f"{name}.json")
        lines = ",\n".join("  " + json.dumps(case) for case in content.pop("cases"))
        head = json.dumps(content)[:-1]
        path.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
