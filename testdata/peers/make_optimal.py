#!/usr/bin/env python3
"""Writes forty random problems with the weights that other programs find for them, for
crates/linsep/tests/learners/objectives.rs.

Not run by the tests. From the root of the repository, in an environment of its own:

    python3 -m venv peers && peers/bin/pip install scikit-learn==1.9.1 liblinear-official==2.50.0
    peers/bin/python testdata/peers/make_optimal.py
"""
import json
import pathlib
import warnings

import numpy as np
from liblinear.liblinearutil import parameter, problem, train
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).resolve().parent

# name, rows, columns, classes, share of zeros
SHAPES = {
    "tall": (90, 4, 2, 0.0),
    "dense": (60, 12, 2, 0.0),
    "wide": (24, 60, 2, 0.0),
    "sparse": (70, 40, 2, 0.85),
    "three": (75, 5, 3, 0.0),
    "five": (60, 30, 5, 0.8),
}


def table(shape, seed):
    rows, columns, classes, zeros = SHAPES[shape]
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, columns)) * rng.choice([0.5, 1.0, 3.0], columns), 2)
    x[rng.random(x.shape) < zeros] = 0.0
    truth = rng.normal(size=(columns, classes))
    y = np.argmax(x @ truth + 0.8 * rng.normal(size=(rows, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return x, y


def problems():
    """Specifications of the problems, by turns over shapes, losses, penalties and intercepts."""
    seed = 0
    for shape in ["tall", "dense", "wide", "sparse"]:
        for loss, penalty, intercept in [
            ("logistic", "l2", "free"),
            ("logistic", "l2", "none"),
            ("logistic", "l1", "free"),
            ("logistic", "elastic-net", "none"),
            ("squared-hinge", "l2", "penalised"),
            ("squared-hinge", "l1", "none"),
            ("hinge", "l2", "penalised"),
        ]:
            seed += 1
            yield dict(
                shape=shape, loss=loss, penalty=penalty, intercept=intercept,
                c=[0.1, 1.0, 10.0][seed % 3], weighted=seed % 4 == 0, seed=seed,
            )
    for shape in ["three", "five"]:
        for loss, intercept in [
            ("softmax", "free"),
            ("softmax", "none"),
            ("crammer-singer", "penalised"),
            ("crammer-singer", "none"),
            ("ovr-squared-hinge", "penalised"),
            ("ovr-hinge", "none"),
        ]:
            seed += 1
            yield dict(
                shape=shape, loss=loss, penalty="l2", intercept=intercept,
                c=[0.1, 1.0, 10.0][seed % 3], weighted=False, seed=seed,
            )


def planes(coef, intercept):
    coef = np.atleast_2d(coef)
    intercept = np.broadcast_to(intercept, len(coef))
    return [{"weights": list(map(float, w)), "bias": float(b)} for w, b in zip(coef, intercept)]


def liblinear(solver, x, y, c, bias):
    """The planes of LIBLINEAR at a small tolerance; a penalised bias is a column of ones."""
    data = np.hstack([x, np.ones((len(x), 1))]) if bias else x
    rows = csr_matrix(data)
    model = train(problem(y.astype(float), rows), parameter(f"-s {solver} -c {c} -e 1e-9 -q"))
    labels = model.get_labels()
    found = []
    for k in range(len(labels) if len(labels) > 2 or solver == 4 else 1):
        w, _ = model.get_decfun(k)
        found.append((labels[k], np.array(w)))
    if len(found) == 1:
        # The first label is the positive side.
        w = found[0][1] if found[0][0] == 1 else -found[0][1]
        found = [(1, w)]
    found.sort(key=lambda pair: pair[0])
    coef = np.array([w[: x.shape[1]] for _, w in found])
    biases = np.array([w[x.shape[1]] if bias else 0.0 for _, w in found])
    return planes(coef, biases)


def peers(spec, x, y, weights):
    loss, penalty, intercept, c = spec["loss"], spec["penalty"], spec["intercept"], spec["c"]
    free = intercept == "free"
    answers = {}

    def unweighted(solver, bias):
        """LIBLINEAR's package takes no weights of rows."""
        if weights is None:
            answers[f"liblinear -s {solver}"] = liblinear(solver, x, y, c, bias)

    def sklearn(name, model):
        model.fit(x, y, sample_weight=weights)
        answers[name] = planes(model.coef_, model.intercept_)

    many = dict(max_iter=200000, tol=1e-10)
    if loss in ("logistic", "softmax") and penalty == "l2":
        for solver in ["lbfgs", "newton-cholesky", "newton-cg"]:
            sklearn(solver, LogisticRegression(C=c, fit_intercept=free, solver=solver, **many))
    if loss == "logistic" and penalty == "l2" and not free:
        unweighted(0, False)
        unweighted(7, False)
    if loss == "logistic" and penalty == "l1":
        sklearn("saga", LogisticRegression(C=c, l1_ratio=1.0, fit_intercept=free, solver="saga", **many))
    if loss == "logistic" and penalty == "elastic-net":
        sklearn("saga", LogisticRegression(C=c, l1_ratio=0.5, fit_intercept=free, solver="saga", **many))
    bias = intercept == "penalised"
    if loss.endswith("squared-hinge") and penalty == "l2":
        unweighted(1, bias)
        unweighted(2, bias)
        sklearn("LinearSVC", LinearSVC(C=c, fit_intercept=bias, **many))
    if loss == "squared-hinge" and penalty == "l1":
        unweighted(5, bias)
        sklearn("LinearSVC", LinearSVC(C=c, penalty="l1", dual=False, fit_intercept=bias, **many))
    if loss in ("hinge", "ovr-hinge"):
        unweighted(3, bias)
        sklearn("LinearSVC", LinearSVC(C=c, loss="hinge", fit_intercept=bias, **many))
    if loss == "crammer-singer":
        unweighted(4, bias)
    return answers


def main():
    cases = []
    for spec in problems():
        x, y = table(spec["shape"], spec["seed"])
        weights = None
        if spec["weighted"]:
            weights = np.random.default_rng(1000 + spec["seed"]).choice([0.5, 1.0, 2.0], len(y))
        cases.append({
            **spec,
            "rows": [[[int(j), float(v)] for j, v in enumerate(row) if v != 0.0] for row in x],
            "columns": x.shape[1],
            "labels": y.tolist(),
            "weights": None if weights is None else weights.tolist(),
            "peers": peers(spec, x, y, weights),
        })
        print(len(cases), spec, {name: len(p) for name, p in cases[-1]["peers"].items()})
    path = HERE / "optimal.json"
    path.write_text("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
