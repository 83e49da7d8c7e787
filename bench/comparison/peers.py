"""The peers as contenders: which of them can do a job, with which tolerances, and how they are run."""

import itertools
import json
import os
from pathlib import Path

import numpy as np

from comparison.contest import Contender, Run
from comparison.linsep import ascending
from comparison.process import Session

WORKER = Path(__file__).resolve().parent / "worker.py"

# From loose to tight around each solver's default; the first that reaches the quality counts.
DUAL_LADDER = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
PRIMAL_LADDER = (1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
SNAPML_LADDER = (1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5)
PYTHON_LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
# Those whose tolerance is met long before the plane is: they start looser, so as not to do too much.
LOOSE_LADDER = (100.0, 10.0, 3.0, 1.0, 0.3, *PYTHON_LADDER)
# LIBLINEAR's solvers by objective: dual coordinate descent and a Newton method on the primal.
LIBLINEAR_SOLVERS = {
    "squared-hinge": ((1, DUAL_LADDER), (2, PRIMAL_LADDER)),
    "ovr-squared-hinge": ((1, DUAL_LADDER), (2, PRIMAL_LADDER)),
    "logistic": ((7, DUAL_LADDER), (0, PRIMAL_LADDER)),
    "crammer-singer": ((4, DUAL_LADDER),),
    "l1-logistic": ((6, PRIMAL_LADDER),),
    "softmax": (),
}
# A hard margin: no loss can be paid for at this C, and the rest is the tolerance.
HARD_MARGIN_SOLVER = "3:1e6"
HARD_MARGIN_LADDER = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
HIGHS_LADDER = (1e-7, 1e-10)
# Above this a Newton method that solves with the whole Hessian makes no sense.
MOST_CHOLESKY_FEATURES = 2000
# Loading is outside the time of training; it is only kept from lasting for ever.
LOAD_LIMIT = 900
# Ends training after a step, where only the reading is measured.
NO_TRAINING = ("-s", 2, "-e", 1e9, "-q")


class Peers:
    def __init__(self, environment, launcher, scratch):
        self.environment = environment
        self.launcher = launcher
        self.scratch = scratch

    # ------------------------------------------------ training on data in memory

    def training(self, matrix, objective, judge, dense):
        """Everybody who can train this objective on this data, the likely fast ones first."""
        found = []
        if self.environment.liblinear:
            serve = [self.environment.liblinear, "serve", matrix.path, matrix.features]
            solvers = solvers_for(objective, *matrix.shape)
            found += self.sessions(
                serve, [(f"LIBLINEAR -s {s}", s, ladder) for s, ladder in solvers], judge
            )
        if objective in ("logistic", "squared-hinge", "l1-logistic") and self.environment.has("snapml"):
            form = "dense32" if dense else "sparse"
            method = objective
            chosen = [("snapml", method, SNAPML_LADDER)]
            # With threads it takes other steps: neither way is always the faster one.
            if len(os.sched_getaffinity(0)) > 1:
                chosen.append(("snapml, all cores", f"{method}-threads", SNAPML_LADDER))
            found += self.sessions(self.worker("snapml", matrix, form), chosen, judge)
        if objective == "logistic":
            found += self.logistic(matrix, judge, dense)
        if objective == "softmax":
            found += self.softmax(matrix, judge)
        if objective == "l1-logistic":
            found += self.sparse_logistic(matrix, judge)
        return found

    def softmax(self, matrix, judge):
        """snapml and LIBLINEAR have one-versus-rest instead, which is another objective."""
        found = []
        for peer, package, name, solvers, ladder in (
            ("sklearnex", "scikit-learn-intelex", "sklearnex", ("lbfgs",), LOOSE_LADDER),
            ("sklearn", "scikit-learn", "scikit-learn", ("newton-cg", "lbfgs"), PYTHON_LADDER),
        ):
            if self.environment.has(package):
                chosen = [(f"{name} {solver}", solver, ladder) for solver in solvers]
                found += self.sessions(self.worker(peer, matrix, "dense"), chosen, judge)
        return found

    def sparse_logistic(self, matrix, judge):
        """Programs that descend by columns get the columns."""
        found = []
        for peer in ("celer", "skglm"):
            if self.environment.has(peer):
                chosen = [(peer, "l1-logistic", LOOSE_LADDER)]
                found += self.sessions(self.worker(peer, matrix, "columns"), chosen, judge)
        return found

    def hard_margin(self, matrix, judge):
        found = []
        words = [self.environment.python, WORKER, "programming", matrix.arrays, matrix.features]
        if self.environment.has("quadprog"):
            found += self.sessions(words, [("quadprog", "quadprog", (None,))], judge)
        if self.environment.has("highspy"):
            found += self.sessions(words, [("HiGHS QP", "highs", HIGHS_LADDER)], judge)
        if self.environment.liblinear:
            serve = [self.environment.liblinear, "serve", matrix.path, matrix.features]
            chosen = [("LIBLINEAR -s 3, C = 1e6", HARD_MARGIN_SOLVER, HARD_MARGIN_LADDER)]
            found += self.sessions(serve, chosen, judge)
        return found

    def separation(self, source, features, truth):
        """HiGHS by constraint generation, from signed rows in memory. A new random start each time."""
        shared = SharedSession([self.environment.python, WORKER, "separation", source, features])
        seeds = itertools.count()

        def attempt(_tolerance, limit):
            answer = shared.get().ask("generation", next(seeds), limit=limit)
            seconds, is_right = answer["seconds"], answer["verdict"] == truth
            return Run(seconds, None, seconds, answer["peak_kib"] / 1024, float(is_right), answer["cpu"])

        return [Contender("HiGHS, constraint generation", attempt, close=shared.close)]

    def logistic(self, matrix, judge, dense):
        found = []
        form = "dense" if dense else "sparse"
        if self.environment.has("scikit-learn"):
            chosen = [("scikit-learn lbfgs", "lbfgs", PYTHON_LADDER)]
            if matrix.features <= MOST_CHOLESKY_FEATURES:
                chosen.append(("scikit-learn newton-cholesky", "newton-cholesky", PYTHON_LADDER))
            found += self.sessions(self.worker("sklearn", matrix, form), chosen, judge)
        if dense and self.environment.has("scikit-learn-intelex"):
            chosen = [("sklearnex lbfgs", "lbfgs", PYTHON_LADDER)]
            found += self.sessions(self.worker("sklearnex", matrix, form), chosen, judge)
        if dense and self.environment.linfa:
            rows, features = matrix.shape
            serve = [self.environment.linfa, *matrix.raw(), rows, features]
            found += self.sessions(serve, [("linfa", "logistic", PYTHON_LADDER)], judge)
        return found

    def estimator(self, peer, method, matrix, form, judge, parameter=0.0, name=None):
        """One fit without a ladder: closed forms and counted epochs."""
        package = {"sklearn": "scikit-learn", "sklearnex": "scikit-learn-intelex"}[peer]
        if not self.environment.has(package):
            return []
        chosen = [(name or f"{package} {method}", method, (None,))]
        return self.sessions(self.worker(peer, matrix, form), chosen, judge, parameter)

    def worker(self, peer, matrix, form):
        return [self.environment.python, WORKER, peer, matrix.arrays, matrix.features, form]

    def sessions(self, words, methods, judge, parameter=0.0):
        """Contenders that share a process which has loaded the data once. `parameter` is what a method
        without a tolerance is asked with."""
        shared = SharedSession(words)
        out = self.scratch / "weights.f64"

        def contender(name, method, ladder):
            def attempt(tolerance, limit):
                session = shared.get()
                asked = parameter if tolerance is None else tolerance
                answer = session.ask(method, asked, out, limit=limit)
                quality = judge(*read_weights(out, answer)) if judge else None
                peak = answer["peak_kib"] / 1024
                # Arrays that come ready from a binary file are no loading worth a name.
                load = session.ready["load"] if str(words[1]) == "serve" else None
                return Run(answer["seconds"], load, answer["seconds"], peak, quality, answer.get("cpu"))

            return Contender(name, attempt, ladder, shared.close)

        return [contender(*method) for method in methods]

    # ------------------------------------------------ files

    def file_to_model(self, path, matrix, objective, judge):
        """`liblinear-train` as Debian ships it, and the newest library behind a plain reader."""
        found = []
        for solver, ladder in solvers_for(objective, *matrix.shape):
            if self.environment.debian:
                found.append(self.debian_train(path, solver, ladder, judge))
            if self.environment.liblinear:
                found.append(self.library_train(path, solver, ladder, judge))
        return found

    def debian_train(self, path, solver, ladder, judge):
        model, phases = self.scratch / "debian.model", self.scratch / "phases.json"

        def attempt(tolerance, limit):
            words = [self.tool("train"), "-s", solver, "-e", tolerance, "-c", 1, "-q", path, model]
            phases.write_text("{}")
            done = self.launcher.run(words, limit, environment=self.environment.debian_environment(phases))
            parts = json.loads(phases.read_text())
            quality = judge(*read_liblinear(model))
            return Run(done.seconds, parts.get("load"), parts.get("train"), done.peak_mib, quality, done.cpu)

        return Contender(f"liblinear-train -s {solver}", attempt, ladder)

    def library_train(self, path, solver, ladder, judge):
        model = self.scratch / "library.model"

        def attempt(tolerance, limit):
            done = self.launcher.run([self.environment.liblinear, "train", solver, tolerance, path, model], limit)
            parts = json.loads(done.output)
            quality = judge(*read_liblinear(model))
            return Run(done.seconds, parts["load"], parts["train"], done.peak_mib, quality, done.cpu)

        return Contender(f"LIBLINEAR library -s {solver}", attempt, ladder)

    def svmlight_readers(self, path):
        found = []
        model, phases = self.scratch / "debian.model", self.scratch / "phases.json"

        def with_debian(_tolerance, limit):
            words = [self.tool("train"), *NO_TRAINING, path, model]
            done = self.launcher.run(words, limit, environment=self.environment.debian_environment(phases))
            load = json.loads(phases.read_text())["load"]
            return Run(load, load, peak_mib=done.peak_mib, cpu=done.cpu)

        def with_library(_tolerance, limit):
            session = Session([self.environment.liblinear, "serve", path, 0], limit)
            session.close()
            ready = session.ready
            return Run(ready["load"], ready["load"], peak_mib=ready["peak_kib"] / 1024, cpu=ready["cpu"])

        if self.environment.debian and self.environment.phases:
            found.append(Contender("liblinear-train's reader", with_debian))
        if self.environment.liblinear:
            found.append(Contender("plain C reader into LIBLINEAR's layout", with_library))
        return found

    def csv_readers(self, path, types):
        """`types`: inferred, or float where the first rows would make polars guess wrong."""
        if not self.environment.has("polars"):
            return []

        def attempt(_tolerance, limit):
            # A new process each time: a reader that is warm has its memory already.
            session = Session([self.environment.python, WORKER, "polars"], limit)
            answer = session.ask("read", path, types, limit=limit)
            session.close()
            seconds, peak = answer["seconds"], answer["peak_kib"] / 1024
            return Run(seconds, seconds, peak_mib=peak, cpu=answer["cpu"])

        name = "polars" if types == "inferred" else "polars, told the types"
        return [Contender(name, attempt)]

    def scorers(self, training, test, vw_training, vw_test, classes):
        found = []
        if self.environment.debian:
            found.append(self.debian_predict(training, test))
        if self.environment.has("vowpalwabbit"):
            model, out = self.scratch / "vw.model", self.scratch / "vw.predictions"
            words = [self.environment.python, WORKER, "vw", vw_training, model, classes]
            shared = SharedSession(words)

            def attempt(_tolerance, limit):
                answer = shared.get().ask("score", vw_test, out, limit=limit)
                return Run(answer["seconds"], peak_mib=answer["peak_kib"] / 1024, cpu=answer["cpu"])

            found.append(Contender("vw", attempt, close=shared.close))
        return found

    def debian_predict(self, training, test):
        model, out = self.scratch / "scoring.model", self.scratch / "liblinear.predictions"
        made = []

        def attempt(_tolerance, limit):
            environment = self.environment.debian_environment()
            if not made:
                words = [self.tool("train"), "-s", 2, "-e", 0.5, "-q", training, model]
                made.append(self.launcher.run(words, LOAD_LIMIT, environment=environment))
            done = self.launcher.run([self.tool("predict"), test, model, out], limit, environment=environment)
            return Run(done.seconds, peak_mib=done.peak_mib, cpu=done.cpu)

        return Contender("liblinear-predict", attempt)

    def tool(self, name):
        return self.environment.debian / "usr/bin" / f"liblinear-{name}"


def solvers_for(objective, rows, features):
    """LIBLINEAR's solvers, the likely faster one first: later ones are given up when they are hopeless."""
    solvers = LIBLINEAR_SOLVERS[objective]
    return solvers[::-1] if rows > 10 * features else solvers


class SharedSession:
    """A session that starts when it is first needed, and again after it was stopped."""

    def __init__(self, words):
        self.words = words
        self.session = None

    def get(self):
        if self.session is None or self.session.process.poll() is not None:
            self.session = Session(self.words, LOAD_LIMIT)
        return self.session

    def close(self):
        if self.session is not None:
            self.session.close()
            self.session = None


def read_weights(path, answer):
    """What a session wrote: classes ascending, planes, biases."""
    count = answer["planes"]
    planes = np.fromfile(path, dtype="<f8").reshape(-1, count).T
    biases = np.array(answer.get("biases", [0.0] * count))
    return in_order(np.array(answer["labels"], dtype=float), planes, biases)


def read_liblinear(path):
    """A model file of LIBLINEAR."""
    with path.open() as lines:
        for line in lines:
            word, *rest = line.split()
            if word == "label":
                labels = np.array(rest, dtype=float)
            elif word == "nr_feature":
                features = int(rest[0])
            elif word == "w":
                break
        planes = np.array(lines.read().split(), dtype=float).reshape(features, -1).T
    return in_order(labels, planes, np.zeros(len(planes)))


def in_order(labels, planes, biases):
    """LIBLINEAR's one plane of two classes speaks for the first label, ours for the second."""
    if len(planes) == 1:
        return ascending(labels[::-1], planes, biases)
    return ascending(labels, planes, biases)
