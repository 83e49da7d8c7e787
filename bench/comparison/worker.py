"""A Python peer as a session: `worker.py PEER FOLDER FEATURES FORM`.

Loads the arrays of `data.Matrix` (FORM: sparse, columns for sparse columns, dense, or dense32 for single
precision), says how long
that took, and then answers every line "METHOD TOLERANCE OUT" with the seconds of the fit alone. The
planes go to OUT as raw doubles, feature by feature, the order in which LIBLINEAR has them.

PEER polars, vw, programming and separation take other arguments and requests, see below.
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
        magnitudes = {"penalty": "l1", "dual": False}
        return {
            "logistic": make(snapml.LogisticRegression, 1),
            "logistic-threads": make(snapml.LogisticRegression, cores),
            "l1-logistic": make(snapml.LogisticRegression, 1, **magnitudes),
            "l1-logistic-threads": make(snapml.LogisticRegression, cores, **magnitudes),
            "squared-hinge": make(machine, 1, **hinge),
            "squared-hinge-threads": make(machine, cores, **hinge),
        }
    if peer == "celer":
        from celer import LogisticRegression

        return {"l1-logistic": lambda tolerance: LogisticRegression(C=1.0, tol=tolerance, fit_intercept=False)}
    if peer == "skglm":
        from skglm import SparseLogisticRegression

        # Its losses are a mean, so a weight of 1 beside their sum is one n-th; n is known when it is fitted.
        class SumOfLosses(SparseLogisticRegression):
            def fit(self, rows, labels):
                self.alpha = 1.0 / rows.shape[0]
                return super().fit(rows, labels)

        return {"l1-logistic": lambda tolerance: SumOfLosses(tol=tolerance, fit_intercept=False)}
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
    if form in ("sparse", "columns"):
        return (rows if form == "sparse" else rows.tocsc()), labels
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
    if peer == "skglm":
        warm_up(methods, rows, labels)
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


def warm_up(methods, rows, labels):
    """A peer that is compiled when it is first called is compiled before it is timed."""
    some = np.concatenate([np.flatnonzero(labels == one)[:500] for one in np.unique(labels)])
    for make in methods.values():
        # Tight enough that every loop of it is entered.
        make(1e-5).fit(rows.tocsr()[some].tocsc(), labels[some])


# ---------------------------------------------------------------- programming


def serve_programming(folder, features):
    """The widest margin as a quadratic program, ½|w|² subject to z·w ≥ 1 for the signed rows z. Requests:
    "quadprog 0 OUT" and "highs TOLERANCE OUT". No bias: the data is its own mirror image."""
    seconds, _, (rows, labels) = timed(lambda: load(Path(folder), int(features), "dense"))
    signed_rows = np.sign(labels)[:, None] * rows
    say(load=seconds)
    for method, tolerance, out in requests():
        solve = {"quadprog": by_quadprog, "highs": by_highs}[method]
        try:
            seconds, cpu, plane = timed(lambda: solve(signed_rows, float(tolerance)))
        except Exception as error:  # whatever a peer raises is its failure, not ours
            say(error=f"{type(error).__name__}: {error}")
            continue
        np.asarray(plane, dtype="<f8").tofile(out)
        say(seconds=seconds, cpu=cpu, planes=1, labels=[1, -1], biases=[0.0])


def by_quadprog(signed_rows, _tolerance):
    import quadprog

    count, features = signed_rows.shape
    return quadprog.solve_qp(np.eye(features), np.zeros(features), signed_rows.T, np.ones(count))[0]


def by_highs(signed_rows, tolerance):
    import highspy

    count, features = signed_rows.shape
    free = np.full(features, highspy.kHighsInf)
    model = highspy.HighsModel()
    program = model.lp_
    program.num_col_, program.num_row_ = features, count
    program.col_cost_, program.col_lower_, program.col_upper_ = np.zeros(features), -free, free
    program.row_lower_, program.row_upper_ = np.ones(count), np.full(count, highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.arange(count + 1) * features
    program.a_matrix_.index_ = np.tile(np.arange(features), count)
    program.a_matrix_.value_ = signed_rows.ravel()
    square = model.hessian_
    square.dim_, square.format_ = features, highspy.HessianFormat.kTriangular
    square.start_, square.index_ = np.arange(features + 1), np.arange(features)
    square.value_ = np.ones(features)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("primal_feasibility_tolerance", tolerance)
    solver.setOptionValue("dual_feasibility_tolerance", tolerance)
    solver.passModel(model)
    solver.run()
    return solver.getSolution().col_value


def serve_separation(source, features):
    """Linear programs by constraint generation, as in bench/verdict. `source` is a CSV table, or the arrays
    of a `data.Matrix`. Requests: "generation SEED"."""
    from verdict import constraint_generation

    seconds, _, signed_rows = timed(lambda: load_signed_rows(Path(source), int(features)))
    say(load=seconds)
    for _, seed in requests():
        _, cpu, answer = timed(lambda: constraint_generation(signed_rows, int(seed)))
        say(seconds=answer["seconds"], cpu=cpu, verdict=answer["verdict"])


def load_signed_rows(source, features):
    """The rows ±(1, x), which a separating (bias, weights) has on its positive side."""
    import scipy.sparse as sparse

    if source.suffix == ".csv":
        import polars

        table = polars.read_csv(source).to_numpy().astype(np.float64)
        signs = table[:, :1].copy()
        table[:, 0] = 1.0  # the label's column becomes that of the bias
        return table * signs
    rows, labels = load(source, features, "sparse")
    signs = np.sign(labels)
    return sparse.hstack([sparse.csr_matrix(signs[:, None]), sparse.diags(signs) @ rows], format="csr")


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
    elif peer == "programming":
        serve_programming(*rest)
    elif peer == "separation":
        serve_separation(*rest)
    else:
        folder, features, form = rest
        serve_models(peer, folder, int(features), form)


if __name__ == "__main__":
    main()
