"""A Python peer as a session: `worker.py PEER FOLDER FEATURES FORM`.

Loads the arrays of `data.Matrix` (FORM: sparse, dense, or dense32 for single precision), says how long
that took, and then answers every line "METHOD TOLERANCE OUT" with the seconds of the fit alone. The
planes go to OUT as raw doubles, feature by feature, the order in which LIBLINEAR has them.

PEER polars and vw take other arguments and requests, see below.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

MOST_STEPS = 10_000
PERCEPTRON_EPOCHS = 5


def say(**answer):
    # Not getrusage: that counts the memory of whoever started this process.
    status = Path("/proc/self/status").read_text().splitlines()
    answer["peak_kib"] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    print(json.dumps(answer), flush=True)


def timed(work):
    """Seconds on the wall, processor seconds of all threads, and what the work returned."""
    start, before = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - before, result


def requests():
    for line in sys.stdin:
        yield line.split()


# ---------------------------------------------------------------- models


def logistic(library, solver):
    def make(tolerance):
        return library.LogisticRegression(
            C=1.0, fit_intercept=False, tol=tolerance, solver=solver, max_iter=MOST_STEPS
        )

    return make


def methods_of(peer):
    """Methods to what makes an estimator for a tolerance. Imports only the library that is asked for."""
    if peer == "sklearn":
        from sklearn import discriminant_analysis, linear_model, naive_bayes

        return {
            "lbfgs": logistic(linear_model, "lbfgs"),
            "newton-cholesky": logistic(linear_model, "newton-cholesky"),
            "newton-cg": logistic(linear_model, "newton-cg"),
            "ridge": lambda _: linear_model.Ridge(alpha=1.0),
            "lda": lambda shrinkage: discriminant_analysis.LinearDiscriminantAnalysis(
                solver="lsqr", shrinkage=shrinkage or None
            ),
            "multinomial-nb": lambda _: naive_bayes.MultinomialNB(alpha=1.0),
            "perceptron": lambda _: linear_model.Perceptron(max_iter=PERCEPTRON_EPOCHS, tol=None),
        }
    if peer == "sklearnex":
        from sklearnex import linear_model

        return {
            "lbfgs": logistic(linear_model, "lbfgs"),
            "ridge": lambda _: linear_model.Ridge(alpha=1.0),
        }
    if peer == "snapml":
        import snapml

        # A regulariser of 1 is ½|w|² beside the sum of the losses, that is C = 1.
        def make(family, threads, **more):
            return lambda tolerance: family(
                max_iter=MOST_STEPS, regularizer=1.0, tol=tolerance, n_jobs=threads, **more
            )

        cores = len(os.sched_getaffinity(0))
        machine, hinge = snapml.SupportVectorMachine, {"loss": "squared_hinge"}
        return {
            "logistic": make(snapml.LogisticRegression, 1),
            "logistic-threads": make(snapml.LogisticRegression, cores),
            "squared-hinge": make(machine, 1, **hinge),
            "squared-hinge-threads": make(machine, cores, **hinge),
        }
    raise SystemExit(f"there is no peer {peer}")


def planes_of(model, method, features):
    """Planes by row and biases."""
    if method == "multinomial-nb":
        return model.feature_log_prob_, model.class_log_prior_
    # snapml has its planes in columns.
    coefficients = np.asarray(model.coef_, dtype=np.float64)
    planes = coefficients.reshape(-1, features) if coefficients.ndim == 1 else coefficients
    if planes.shape[1] != features:
        planes = planes.T
    biases = np.zeros(len(planes)) + np.ravel(getattr(model, "intercept_", 0.0))
    return planes, biases


def load(folder, features, form):
    import scipy.sparse as sparse

    labels, values, indices, starts = (
        np.load(folder / f"{name}.npy") for name in ("labels", "values", "indices", "starts")
    )
    rows = sparse.csr_matrix((values, indices, starts), shape=(len(labels), features))
    if form == "sparse":
        return rows, labels
    dense = rows.toarray()
    return (dense.astype(np.float32) if form == "dense32" else dense), labels


def targets_of(method, rows, labels):
    """Ridge regression has a column of ±1 for each class, or one for two classes."""
    if method != "ridge":
        return labels
    classes = np.unique(labels)
    if len(classes) == 2:
        return np.where(labels == classes[1], 1, -1).astype(rows.dtype)
    return np.where(labels[:, None] == classes[None, :], 1, -1).astype(rows.dtype)


def serve_models(peer, folder, features, form):
    methods = methods_of(peer)
    seconds, _, (rows, labels) = timed(lambda: load(Path(folder), features, form))
    classes = [int(one) for one in np.unique(labels)]
    say(load=seconds)
    for method, tolerance, out in requests():
        try:
            targets = targets_of(method, rows, labels)
            model = methods[method](float(tolerance))
            seconds, cpu, _ = timed(lambda: model.fit(rows, targets))
        except Exception as error:  # whatever a peer raises is its failure, not ours
            say(error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
            continue
        planes, biases = planes_of(model, method, features)
        np.ascontiguousarray(planes.T, dtype="<f8").tofile(out)
        # One plane speaks for the class that is named first.
        say(
            seconds=seconds,
            cpu=cpu,
            planes=len(planes),
            labels=classes[::-1] if len(planes) == 1 else classes,
            biases=[float(bias) for bias in biases],
        )


# ---------------------------------------------------------------- readers and scorers


def serve_polars():
    """Requests: "read FILE TYPES"; TYPES float says that all columns but the label are doubles."""
    import polars

    say(load=0.0)
    for _, path, types in requests():
        told = {}
        if types == "float":
            with open(path) as file:
                told = {name: polars.Float64 for name in file.readline().strip().split(",")[1:]}
        seconds, cpu, frame = timed(lambda: polars.read_csv(path, schema_overrides=told or None))
        say(seconds=seconds, cpu=cpu, rows=frame.height, columns=frame.width)


def serve_vw(training, model, classes):
    """Learns from `training` once; requests: "score FILE OUT"."""
    from vowpalwabbit import Workspace

    seconds, _, _ = timed(lambda: Workspace(f"--quiet --oaa {classes} -d {training} -f {model} -b 18").finish())
    say(load=seconds)
    for _, path, out in requests():
        seconds, cpu, _ = timed(lambda: Workspace(f"--quiet -t -i {model} -d {path} -p {out}").finish())
        say(seconds=seconds, cpu=cpu)


def main():
    warnings.simplefilter("ignore")
    peer, *rest = sys.argv[1:]
    if peer == "polars":
        serve_polars()
    elif peer == "vw":
        serve_vw(*rest)
    else:
        folder, features, form = rest
        serve_models(peer, folder, int(features), form)


if __name__ == "__main__":
    main()
