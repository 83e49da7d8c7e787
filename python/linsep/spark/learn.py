"""Models of a table on a cluster: statistics in one round, smooth losses in a round for each step after a survey.

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
from linsep.spark import mixing, smooth, work
from linsep.spark.cluster import OutOfTime, running
from linsep.spark.smooth import Limits
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
        Whether the gap is as small as was asked for; of a perceptron, whether no row is on the wrong side.
    wrong : int
        Of a perceptron: rows on the wrong side of its planes, as far as floats can tell.
    """

    model: object
    rounds: int
    objective: float | None = None
    gap: float | None = None
    converged: bool = True
    proof_rounds: int = 0
    wrong: int | None = None

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
            raise ValueError(
                f"linsep: a hard margin is between two classes, and there are {len(classes)}; separable() decides about "
                "more, and learn.svm with a large C has planes for each"
            )
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
    table,
    *,
    C=1.0,
    reg_param=None,
    fit_intercept=True,
    tol=1e-6,
    max_iter=100,
    solver=None,
    progress=None,
    prove=True,
    **options,
):
    """Logistic regression: C Σ ln(1 + exp(−m)) + ½ |w|² for two classes, softmax for more, until the gap is below ``tol``.

    With ``reg_param`` C is 1 / (reg_param Σ weights): the mean loss with ½ reg_param |w|², as pyspark.ml has it. ``solver``
    is ``newton``, whose rounds answer a matrix of columns × columns, or ``lbfgs`` with a few numbers for each column;
    without it, ``newton`` up to 1,500 columns.
    """
    problem = ("logistic", _strength(C, reg_param), fit_intercept, _solver(solver))
    return _smooth(table, "logistic", problem, Limits(tol, max_iter, progress), prove, options)


def svm(
    table,
    *,
    C=1.0,
    reg_param=None,
    loss="squared_hinge",
    fit_intercept=True,
    tol=1e-6,
    max_iter=100,
    solver=None,
    progress=None,
    prove=True,
    **options,
):
    """A support vector machine with the squared hinge: C Σ max(0, 1 − m)² + ½ |w|², each class against the rest where
    there are more than two. ``reg_param`` and ``solver`` as in :func:`logistic`.
    """
    if str(loss).replace("-", "_") != "squared_hinge":
        raise ValueError(
            f"linsep: loss={loss!r} is not learned on a cluster: rounds of sums need a loss with a slope everywhere; use "
            "loss='squared_hinge', or linsep.LinearSVC(loss='hinge') on one machine"
        )
    problem = ("squared-hinge", _strength(C, reg_param), fit_intercept, _solver(solver))
    return _smooth(table, "svm", problem, Limits(tol, max_iter, progress), prove, options)


def perceptron(table, *, max_iter=100, epochs=5, prove=True, progress=None, **options):
    """Perceptrons of the blocks, averaged after each round of at most ``epochs`` epochs, until no row is on the wrong side.

    Planes that separate are claimed as soon as the exact checker has confirmed them on every row. Where a limit comes
    first, the model has the planes of the round with the fewest rows on the wrong side, and nothing is claimed. The bits
    depend on the rows of the blocks and so on ``block_rows``, not on partitions or executors; they are not those of the
    perceptron on one machine.
    """
    for name, number in (("max_iter", max_iter), ("epochs", epochs)):
        if number < 1:
            raise ValueError(f"linsep: {name}={number} is below 1")

    def run(cluster, began):
        surveys = surveyed(cluster)
        _check_classes(cluster, surveys)
        found = mixing.mixed(cluster, Limits(0.0, max_iter, progress), epochs, began)
        rounds = cluster.rounds - began
        certificate = mixing.claimed(cluster, surveys, found, prove)
        settings = {"verdict": "off", "order": "cyclic", "scale": "none"}
        classes = list(cluster.table.classes)
        model = _linsep.model_of_planes("perceptron", settings, classes, found.planes, False, certificate, found.rounds * epochs)
        return Fitted(
            model, rounds, converged=found.wrong == 0, proof_rounds=cluster.rounds - began - rounds, wrong=found.wrong
        )

    return _with(table, options, run)


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


def _solver(name):
    if name not in (None, "auto", "newton", "lbfgs"):
        raise ValueError(f"linsep: solver={name!r} is none of 'auto', 'newton', 'lbfgs'")
    return name or "auto"


def _closed(table, learner, settings_of, prove, options):
    def run(cluster, began):
        # Sums do not depend on the penalty, which may be relative to the weights that they tell.
        numbers, _ = settings_of(1.0)
        shift = cluster.first(work.shift, None) if learner in _CENTRED else [0.0] * cluster.table.width
        state = (cluster.table.order == "digest", learner, numbers, shift)
        surveys, merged = cluster.reduce_blocks(work.survey_and_sums, work.MergeSums(learner, numbers), state)
        _check_classes(cluster, surveys)
        numbers, settings = settings_of(_total(surveys))
        form = work.form_of(learner, numbers)
        planes, rounds = form.planes(shift, merged), cluster.rounds - began
        proofs = [_linsep.Proof.closed(form, cluster.table.classes, planes)] if prove else []
        binarize = numbers[1] if learner == "bernoulli-nb" else None
        model = _model(cluster, surveys, learner, settings, planes, 1, (proofs, None), binarize)
        return Fitted(model, rounds, proof_rounds=cluster.rounds - began - rounds)

    return _with(table, options, run)


def _total(surveys):
    """The sum of the weights of all rows."""
    return float(sum(found["weights"].sum() for found in surveys))


def _smooth(table, learner, asked, limits, prove, options):
    loss, strength, fit_intercept, solver = asked

    def run(cluster, began):
        known = smooth.begun(cluster, learner, (loss, None, fit_intercept), solver, prove)
        surveys = known.surveys
        _check_classes(cluster, surveys)
        problem = (loss, strength(known.total), fit_intercept)
        settings = {"c": repr(problem[1]), "intercept": "free" if fit_intercept else "none"}
        # What is proved is measured by the checker.
        found = smooth.solved(cluster, learner, problem, limits, (solver, known, not prove, began))
        rounds = cluster.rounds - began
        proofs = (found.proofs, known.firsts) if prove else ([], None)
        model = _model(cluster, surveys, learner, settings, found.planes, found.steps, proofs)
        objective, gap, shown = found.objective, found.gap, model.certificate.optimality
        if shown and len(shown) == len(found.proofs):
            objective, gap = sum(primal for primal, _, _ in shown), max(gap for _, _, gap in shown)
        return Fitted(model, rounds, objective, gap, gap <= limits.tol, cluster.rounds - began - rounds)

    return _with(table, options, run)


def _model(cluster, surveys, learner, settings, planes, rounds, proofs, binarize=None):
    """The model of planes with what is proved of them; nothing is where the time is over before."""
    proofs, firsts = proofs
    certificate = _certificate(cluster, surveys, _UNPROVED if not proofs else None, binarize)
    try:
        for proof in work.proved(cluster, proofs, firsts):
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


def _check_classes(cluster, surveys):
    weights = sum(found["weights"] for found in surveys)
    for name, weight in zip(cluster.table.classes, weights):
        if not weight > 0:
            raise ValueError(f"linsep: no row of class {name!r} has a weight; a classifier needs at least two")


def _with(table, options, run):
    limits = {name: options.pop(name, None) for name in ("time_limit", "resume")}
    with running(table, options, **limits) as cluster:
        return run(cluster, cluster.rounds)
