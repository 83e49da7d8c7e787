"""Models of a table on a cluster: after a survey of it, statistics in one round, Newton's method in a round for each step.

>>> import numpy as np
>>> from linsep.spark import LocalCluster, learn
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> with LocalCluster(X, [0, 1, 0, 1]) as cluster:
...     learn.logistic(cluster, tol=1e-9).model.classes
['0', '1']

A model is a model file as every other and loads on one machine. What is proved of it says ``unproved``: the
checker needs the rows in one place, and ``linsep certify`` proves how near the optimum it is. The gap that
``logistic`` and ``svm`` report is computed in binary64 from a dual point on all rows.
"""

import json
import time
from dataclasses import dataclass

from linsep import _linsep
from linsep.spark import work
from linsep.spark.cluster import cluster_of
from linsep.spark.verdict import certificate_of

_UNPROVED = "made on a cluster, where the checker does not have the rows in one place; certify it on one machine"


@dataclass(frozen=True)
class Fitted:
    """A model with what its run was like: rounds, objective, and the relative gap in binary64."""

    model: object
    rounds: int
    objective: float | None = None
    gap: float | None = None
    converged: bool = True

    def save(self, path):
        """Writes the model file."""
        self.model.save(path)


def least_squares(table, *, l2=0.0, **options):
    """Least squares on coded classes."""
    return _closed(table, "least-squares", l2, {"l2": repr(float(l2)), "left-out": "never"}, options)


def fisher(table, *, shrinkage=0.0, **options):
    """Fisher's discriminant."""
    return _closed(table, "fisher", shrinkage, _share(shrinkage), options)


def lda(table, *, shrinkage=0.0, **options):
    """Linear discriminant analysis."""
    return _closed(table, "lda", shrinkage, _share(shrinkage), options)


def multinomial_nb(table, *, alpha=1.0, **options):
    """Naive Bayes of counts."""
    return _closed(table, "multinomial-nb", alpha, {"alpha": repr(float(alpha))}, options)


def shared_variance_nb(table, *, var_smoothing=1e-9, **options):
    """Gaussian naive Bayes with one variance for each column."""
    return _closed(table, "shared-variance-nb", var_smoothing, {"var-smoothing": repr(float(var_smoothing))}, options)


def logistic(table, *, C=1.0, fit_intercept=True, tol=1e-6, max_iter=100, time_limit=None, progress=None, **options):
    """Logistic regression of two classes: C Σ ln(1 + exp(−m)) + ½ |w|², until the gap is below ``tol``."""
    settings = {"c": repr(float(C)), "intercept": "free" if fit_intercept else "none"}
    limits = (tol, max_iter, time_limit, progress)
    return _newton(table, "logistic", ("logistic", float(C), fit_intercept), settings, limits, options)


def svm(table, *, C=1.0, fit_intercept=True, tol=1e-6, max_iter=100, time_limit=None, progress=None, **options):
    """A support vector machine of two classes with the squared hinge: C Σ max(0, 1 − m)² + ½ |w|²."""
    settings = {"c": repr(float(C)), "intercept": "free" if fit_intercept else "none"}
    limits = (tol, max_iter, time_limit, progress)
    return _newton(table, "svm", ("squared-hinge", float(C), fit_intercept), settings, limits, options)


def _share(shrinkage):
    return {"shrinkage": repr(float(shrinkage)) if shrinkage else "none"}


def _closed(table, learner, number, settings, options):
    form = work.form_of(learner, float(number))

    def run(cluster, surveys, began):
        shift = surveys[0]["shift"] if learner != "multinomial-nb" else [0.0] * cluster.table.width
        merged = cluster.reduce_blocks(work.closed_form, _MergeSums(learner, float(number)), (learner, float(number), shift))
        planes = form.planes(shift, merged)
        return Fitted(_model(cluster, surveys, learner, settings, planes, 1), cluster.rounds - began)

    return _with(table, options, run)


class _MergeSums:
    """Adds the sums of blocks; it travels, so it says what it is in words."""

    def __init__(self, learner, number):
        self.learner, self.number = learner, number

    def __call__(self, all, next):
        return work.form_of(self.learner, self.number).merge(all, next)


def _merge_newton(all, next):
    return _linsep.NewtonRounds.merge(all, next)


def _newton(table, learner, problem, settings, limits, options):
    tol, max_iter, time_limit, progress = limits

    def run(cluster, surveys, began):
        if len(cluster.table.classes) != 2:
            raise ValueError(f"linsep: {learner} on a cluster is for two classes, and there are {len(cluster.table.classes)}")
        end = None if time_limit is None else time.monotonic() + time_limit
        # Half of the square of Newton's decrement is a good guess of the gap; the bound is the judge.
        driver = _linsep.NewtonRounds(problem, cluster.table.width, tol / 10)
        gap, before = float("inf"), None
        more = True
        while driver.rounds < max_iter and not (end and time.monotonic() > end):
            more = driver.step(cluster.reduce_blocks(work.newton, _merge_newton, (problem, *driver.candidate)))
            if not more:
                gap = _gap(cluster, driver, problem)
            if progress:
                progress({"round": cluster.rounds - began, "objective": driver.objective, "gap": None if more else gap})
            # Steps are over when the gap is small, or when they change nothing any more.
            if gap <= tol or (not more and driver.objective == before):
                break
            before = driver.objective
        if more:
            gap = _gap(cluster, driver, problem)
        weights, bias = driver.plane
        model = _model(cluster, surveys, learner, settings, ([weights], [bias]), driver.rounds)
        return Fitted(model, cluster.rounds - began, driver.objective, gap, gap <= tol)

    return _with(table, options, run)


def _gap(cluster, driver, problem):
    """How far the objective is above the bound at most, as a share of the bound, in binary64."""
    parts = cluster.map_blocks(work.dual, (problem, *driver.plane, driver.factors))
    bound = driver.bound(sum(parts))
    return max(0.0, (driver.objective - bound) / bound) if bound > 0 else float("inf")


def _model(cluster, surveys, learner, settings, planes, rounds):
    held = certificate_of(cluster, surveys, [{"claim": "unproved", "reason": _UNPROVED}])
    certificate = _linsep.Certificate.from_json(json.dumps(held))
    has_probabilities = learner in ("logistic", "lda", "multinomial-nb", "shared-variance-nb")
    classes = list(cluster.table.classes)
    return _linsep.model_of_planes(learner, settings, classes, planes, has_probabilities, certificate, rounds)


def _with(table, options, run):
    cluster = cluster_of(table, **options)
    try:
        began = cluster.rounds
        surveys = cluster.map_blocks(work.survey, None)
        weights = sum(found["weights"] for found in surveys)
        for name, weight in zip(cluster.table.classes, weights):
            if not weight > 0:
                raise ValueError(f"linsep: no row of class {name!r} has a weight; a classifier needs at least two")
        return run(cluster, surveys, began)
    finally:
        if cluster is not table:
            cluster.close()
