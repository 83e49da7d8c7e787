"""Models of a table on a cluster: after a survey of it, statistics in one round, Newton's method in a round for each step.

>>> import numpy as np
>>> from linsep.spark import LocalCluster, learn
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> with LocalCluster(X, [0, 1, 0, 1]) as cluster:
...     learn.logistic(cluster, tol=1e-9).model.classes
['0', '1']

A model is a model file as every other and loads on one machine. What is claimed of it is what the exact checker
shows in passes over the blocks, each of them a round, and ``linsep verify`` confirms it on one machine. With
``prove=False`` nothing is claimed and these rounds are saved.
"""

import json
from dataclasses import dataclass

from linsep import _linsep
from linsep.spark import work
from linsep.spark.cluster import OutOfTime, running
from linsep.spark.verdict import _Search, certificate_of, surveyed

_UNPROVED = "no proof was asked for"
_OUT_OF_TIME = "the time limit was reached before there was a proof"

#: Learners whose sums are of rows less a shift, and those with probabilities.
_CENTRED = {"least-squares", "fisher", "lda", "shared-variance-nb"}
_PROBABILITIES = {"logistic", "lda", "multinomial-nb", "bernoulli-nb", "shared-variance-nb"}


@dataclass(frozen=True)
class Fitted:
    """A model with what its run was like.

    Attributes
    ----------
    model : Model
    rounds, proof_rounds : int
        Passes over the blocks of the run, and those of the checker after it.
    objective, gap : float
        The objective and its relative gap: as they are proved, else in binary64.
    converged : bool
        Whether the gap is as small as was asked for.
    """

    model: object
    rounds: int
    objective: float | None = None
    gap: float | None = None
    converged: bool = True
    proof_rounds: int = 0

    def save(self, path):
        """Writes the model file."""
        self.model.save(path)


def least_squares(table, *, l2=0.0, reg_param=None, prove=True, **options):
    """Least squares on coded classes: Σ (s − t)² + l2 |w|²; ``reg_param`` is l2 divided by the sum of weights."""
    _one_of(l2=(l2, 0.0), reg_param=(reg_param, None))

    def settings(total):
        number = float(l2) if reg_param is None else _positive(reg_param) * total
        return (number,), {"l2": repr(number), "left-out": "never"}

    return _closed(table, "least-squares", settings, prove, options)


def fisher(table, *, shrinkage=0.0, prove=True, **options):
    """Fisher's discriminant."""
    return _closed(table, "fisher", lambda _: ((float(shrinkage),), _share(shrinkage)), prove, options)


def lda(table, *, shrinkage=0.0, prove=True, **options):
    """Linear discriminant analysis."""
    return _closed(table, "lda", lambda _: ((float(shrinkage),), _share(shrinkage)), prove, options)


def multinomial_nb(table, *, alpha=1.0, prove=True, **options):
    """Naive Bayes of counts."""
    settings = {"alpha": repr(float(alpha))}
    return _closed(table, "multinomial-nb", lambda _: ((float(alpha),), settings), prove, options)


def bernoulli_nb(table, *, alpha=1.0, binarize=0.0, prove=True, **options):
    """Naive Bayes of values that are on above ``binarize``."""
    settings = {"alpha": repr(float(alpha)), "binarize": repr(float(binarize))}
    return _closed(table, "bernoulli-nb", lambda _: ((float(alpha), float(binarize)), settings), prove, options)


def shared_variance_nb(table, *, var_smoothing=1e-9, prove=True, **options):
    """Gaussian naive Bayes with one variance for each column."""
    settings = {"var-smoothing": repr(float(var_smoothing))}
    return _closed(table, "shared-variance-nb", lambda _: ((float(var_smoothing),), settings), prove, options)


def hard_margin(table, *, most_rounds=100, progress=None, **options):
    """The plane of the widest margin between two classes that a plane separates, with the exact proof that it is."""
    limits = {name: options.pop(name, None) for name in ("time_limit", "resume")}
    with running(table, options, **limits) as cluster:
        classes, began = list(cluster.table.classes), cluster.rounds
        if len(classes) != 2:
            raise ValueError(f"linsep: a hard margin is between two classes, and there are {len(classes)}")
        search = _Search(cluster, most_rounds, progress)
        verdict = search.run().verdict
        if verdict != "separable":
            raise ValueError(f"linsep: the classes are {verdict}; a hard margin is for those that a plane separates")
        found, held = search.widest()
        planes, rounds = ([found.weights[0].tolist()], [float(found.biases[0])]), cluster.rounds - began
        certificate = _linsep.Certificate.from_json(json.dumps(held))
        model = _linsep.model_of_planes("hard-margin", {}, classes, planes, False, certificate, rounds)
        return Fitted(model, rounds)


def logistic(
    table, *, C=1.0, reg_param=None, fit_intercept=True, tol=1e-6, max_iter=100, progress=None, prove=True, **options
):
    """Logistic regression: C Σ ln(1 + exp(−m)) + ½ |w|² for two classes, softmax for more, until the gap is below ``tol``.

    With ``reg_param`` C is 1 / (reg_param Σ weights): the mean loss with ½ reg_param |w|², as pyspark.ml has it.
    """
    problem = ("logistic", _strength(C, reg_param), fit_intercept)
    return _smooth(table, "logistic", problem, _Limits(tol, max_iter, progress), prove, options)


def svm(table, *, C=1.0, reg_param=None, fit_intercept=True, tol=1e-6, max_iter=100, progress=None, prove=True, **options):
    """A support vector machine with the squared hinge: C Σ max(0, 1 − m)² + ½ |w|², each class against the rest where
    there are more than two. ``reg_param`` as in :func:`logistic`.
    """
    problem = ("squared-hinge", _strength(C, reg_param), fit_intercept)
    return _smooth(table, "svm", problem, _Limits(tol, max_iter, progress), prove, options)


def _share(shrinkage):
    return {"shrinkage": repr(float(shrinkage)) if shrinkage else "none"}


def _strength(C, reg_param):
    """C of the sum of weights."""
    _one_of(C=(C, 1.0), reg_param=(reg_param, None))
    return (lambda _: float(C)) if reg_param is None else (lambda total: 1.0 / (_positive(reg_param) * total))


def _one_of(**given):
    """Refuses two names for one number."""
    said = [name for name, (value, usual) in given.items() if value != usual]
    if len(said) > 1:
        raise ValueError(f"linsep: {' and '.join(said)} are two names for one penalty; give one of them")


def _positive(reg_param):
    if not 0 < reg_param < float("inf"):
        raise ValueError(f"linsep: reg_param={reg_param} is not above 0; without a penalty an optimum may not exist")
    return float(reg_param)


def _closed(table, learner, settings_of, prove, options):
    def run(cluster, surveys, began):
        numbers, settings = settings_of(_total(surveys))
        form = work.form_of(learner, numbers)
        shift = surveys[0]["shift"] if learner in _CENTRED else [0.0] * cluster.table.width
        merged = cluster.reduce_blocks(work.closed_form, _MergeSums(learner, numbers), (learner, numbers, shift))
        planes, rounds = form.planes(shift, merged), cluster.rounds - began
        proofs = [_linsep.Proof.closed(form, cluster.table.classes, planes)] if prove else []
        binarize = numbers[1] if learner == "bernoulli-nb" else None
        model = _model(cluster, surveys, learner, settings, planes, 1, proofs, binarize)
        return Fitted(model, rounds, proof_rounds=cluster.rounds - began - rounds)

    return _with(table, options, run)


def _total(surveys):
    """The sum of the weights of all rows."""
    return float(sum(found["weights"].sum() for found in surveys))


class _MergeSums:
    """Adds the sums of blocks; it travels, so it says what it is in words."""

    def __init__(self, learner, numbers):
        self.learner, self.numbers = learner, numbers

    def __call__(self, all, next):
        return work.form_of(self.learner, self.numbers).merge(all, next)


def _smooth(table, learner, asked, limits, prove, options):
    loss, strength, fit_intercept = asked

    def run(cluster, surveys, began):
        problem = (loss, strength(_total(surveys)), fit_intercept)
        settings = {"c": repr(problem[1]), "intercept": "free" if fit_intercept else "none"}
        is_joint = learner == "logistic" and len(cluster.table.classes) > 2
        found = (_softmax if is_joint else _newton)(cluster, problem, limits, began)
        rounds = cluster.rounds - began
        model = _model(cluster, surveys, learner, settings, found.planes, found.steps, found.proofs if prove else [])
        objective, gap, shown = found.objective, found.gap, model.certificate.optimality
        if shown and len(shown) == len(found.proofs):
            objective, gap = sum(primal for primal, _, _ in shown), max(gap for _, _, gap in shown)
        return Fitted(model, rounds, objective, gap, gap <= limits.tol, cluster.rounds - began - rounds)

    return _with(table, options, run)


@dataclass(frozen=True)
class _Limits:
    """When a run of Newton's method ends, and who is told of its rounds."""

    tol: float
    max_iter: int
    progress: object

    def tell(self, round, objective, gap):
        if self.progress:
            self.progress({"round": round, "objective": objective, "gap": gap})


@dataclass(frozen=True)
class _Found:
    """Where Newton's method has come to, and what is to be proved of it."""

    planes: tuple
    steps: int
    objective: float
    gap: float
    proofs: list


def _newton(cluster, problem, limits, began):
    """Newton's method for two classes, or for each class against all others, all in the same rounds."""
    classes = cluster.table.classes
    wanted = [1] if len(classes) == 2 else range(len(classes))
    # Half of the square of Newton's decrement is a good guess of the gap; the bound is the judge.
    drivers = {k: _linsep.NewtonRounds(problem, cluster.table.width, limits.tol / 10) for k in wanted}
    gaps, before, moving, steps = dict.fromkeys(drivers, float("inf")), {}, dict(drivers), 0
    try:
        while moving and steps < limits.max_iter:
            asked = [(k, driver.candidate) for k, driver in moving.items()]
            answers = cluster.reduce_blocks(work.newton, work.merge_newton, (problem, asked))
            steps += 1
            resting = [k for (k, driver), answer in zip(moving.items(), answers) if not driver.step(answer)]
            gaps.update(_gaps(cluster, problem, {k: drivers[k] for k in resting}))
            # Steps are over when the gap is small, or when they change nothing any more.
            for k in resting:
                if gaps[k] <= limits.tol or drivers[k].objective == before.get(k):
                    del moving[k]
                before[k] = drivers[k].objective
            objective = sum(driver.objective for driver in drivers.values())
            gap = max(gaps.values()) if len(before) == len(drivers) else None
            limits.tell(cluster.rounds - began, objective, gap)
        open = {k: driver for k, driver in moving.items() if k not in before or gaps[k] > limits.tol}
        gaps.update(_gaps(cluster, problem, open))
    except OutOfTime:
        # What was reached is a model all the same; before the first step there is none.
        if steps == 0:
            raise
    proofs = [
        _linsep.Proof.against_rest(problem, classes, k, *driver.plane, driver.objective, driver.objective / (1 + gaps[k]))
        for k, driver in drivers.items()
    ]
    weights, biases = zip(*(driver.plane for driver in drivers.values()))
    objective = sum(driver.objective for driver in drivers.values())
    return _Found((list(weights), list(biases)), steps, objective, max(gaps.values()), proofs)


def _gaps(cluster, problem, drivers):
    """How far objectives are above their bounds at most, as shares of the bounds, in binary64."""
    if not drivers:
        return {}
    asked = [(k, driver.plane, driver.factors) for k, driver in drivers.items()]
    parts = cluster.map_blocks(work.dual, (problem, asked))
    gaps = {}
    for place, (k, driver) in enumerate(drivers.items()):
        bound = driver.bound(sum(part[place] for part in parts))
        gaps[k] = max(0.0, (driver.objective - bound) / bound) if bound > 0 else float("inf")
    return gaps


def _softmax(cluster, problem, limits, began):
    """Newton's method for all classes at once; its decrement stands for the gap until the checker has measured it."""
    classes, width = cluster.table.classes, cluster.table.width
    problem = ("softmax", *problem[1:])
    driver = _linsep.SoftmaxRounds(problem, len(classes), width, limits.tol / 10)
    more = True
    try:
        while more and driver.rounds < limits.max_iter:
            more = driver.step(cluster.reduce_blocks(work.softmax, work.merge_softmax, (problem, driver.candidate)))
            limits.tell(cluster.rounds - began, driver.objective, None)
    except OutOfTime:
        if driver.rounds == 0:
            raise
    gap = limits.tol / 10 if not more else float("inf")
    near = driver.objective / (1 + min(gap, 1.0))
    proofs = [_linsep.Proof.smooth(problem, classes, driver.planes, driver.objective, near)]
    return _Found(driver.planes, driver.rounds, driver.objective, gap, proofs)


def _model(cluster, surveys, learner, settings, planes, rounds, proofs, binarize=None):
    """The model of planes with what is proved of them; nothing is where the time is over before."""
    certificate = _certificate(cluster, surveys, _UNPROVED if not proofs else None, binarize)
    try:
        for proof in work.proved(cluster, proofs):
            certificate = proof.certificate(certificate)
    except OutOfTime:
        certificate = _certificate(cluster, surveys, _OUT_OF_TIME, binarize)
    classes = list(cluster.table.classes)
    known, rest = learner in _PROBABILITIES, learner == "svm"
    return _linsep.model_of_planes(learner, settings, classes, planes, known, certificate, rounds, rest)


def _certificate(cluster, surveys, reason, binarize):
    """A certificate to which claims are added, or that says why there is none."""
    held = certificate_of(cluster, surveys, [] if reason is None else [{"claim": "unproved", "reason": reason}])
    if binarize is not None:
        held["input"] = {**held["input"], "binarize": binarize}
    return _linsep.Certificate.from_json(json.dumps(held))


def _with(table, options, run):
    limits = {name: options.pop(name, None) for name in ("time_limit", "resume")}
    with running(table, options, **limits) as cluster:
        began = cluster.rounds
        surveys = surveyed(cluster)
        weights = sum(found["weights"] for found in surveys)
        for name, weight in zip(cluster.table.classes, weights):
            if not weight > 0:
                raise ValueError(f"linsep: no row of class {name!r} has a weight; a classifier needs at least two")
        return run(cluster, surveys, began)
