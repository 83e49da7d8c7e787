"""Smooth losses with an l2 penalty in rounds: Newton's method, and L-BFGS where columns are many.

A round of Newton's method answers a matrix of columns × columns, and few rounds are needed. A round of L-BFGS answers a few
numbers for each column. It begins where blocks end that learn alone, averaged, which spares its first steps.
"""

import math
from dataclasses import dataclass

import numpy as np

from linsep import _linsep
from linsep.spark import work
from linsep.spark.cluster import OutOfTime

#: More columns than this are learned by L-BFGS, unless it is said otherwise; for softmax more weights in all.
MOST_COLUMNS, MOST_WEIGHTS = 1500, 3000


@dataclass(frozen=True)
class Limits:
    """When a run ends, and who is told of its rounds."""

    tol: float
    max_iter: int
    progress: object

    def tell(self, round, objective, gap):
        if self.progress:
            self.progress({"round": round, "objective": objective, "gap": gap})


@dataclass(frozen=True)
class Found:
    """Where a run has come to, and what is to be proved of it."""

    planes: tuple
    steps: int
    objective: float
    gap: float
    proofs: list


def solved(cluster, learner, problem, limits, began, how):
    """The planes of a problem; ``how`` is the solver that was asked for and the sum of weights."""
    solver, total = how
    classes, width = len(cluster.table.classes), cluster.table.width
    is_joint = learner == "logistic" and classes > 2
    is_wide = width > MOST_COLUMNS or (is_joint and classes * (width + 1) > MOST_WEIGHTS)
    if solver == "lbfgs" or (solver == "auto" and is_wide):
        start = lambda loss: _start(cluster, loss, total, is_joint)
        return (_wide_joint if is_joint else _descended)(cluster, problem, limits, began, start)
    return (_softmax if is_joint else _descended)(cluster, problem, limits, began, None)


class _Newton:
    """A run of Newton's method of one plane."""

    ask, merge = staticmethod(work.newton), staticmethod(work.merge_newton)

    def __init__(self, problem, width, tol, start=None):
        # Half of the square of Newton's decrement is a good guess of the gap; the bound is the judge.
        self.inner = _linsep.NewtonRounds(problem, width, tol / 10)

    @property
    def candidate(self):
        return self.inner.candidate

    @property
    def plane(self):
        return self.inner.plane

    def step(self, answer):
        return self.inner.step(answer)


class _Wide:
    """A run of L-BFGS of one plane, or of all classes at once."""

    ask, merge = staticmethod(work.slopes), staticmethod(work.merge_slopes)

    def __init__(self, problem, width, tol, start, classes=2):
        # Half of the tolerance is for what the likely gap leaves out.
        self.inner = _linsep.WideRounds(problem, classes, width, tol / 2)
        self.planes, self.zero = start
        if self.planes is not None:
            self.inner.begin(self.planes)

    @property
    def candidate(self):
        return _only(self.inner.candidate)

    @property
    def plane(self):
        return _only(self.inner.planes)

    def step(self, answer):
        more, inner = self.inner.step(answer), self.inner
        # A start that is worse than planes of zeros is given up.
        if self.planes is not None and inner.rounds == 1 and not inner.objective <= self.zero:
            weights, biases = self.planes
            inner.begin(([[0.0] * len(weight) for weight in weights], [0.0] * len(biases)))
            self.planes = None
            return True
        return more


def _only(planes):
    [weights], [bias] = planes
    return weights, bias


def _descended(cluster, problem, limits, began, start):
    """Two classes, or each class against all others, all in the same rounds."""
    classes, width = cluster.table.classes, cluster.table.width
    wanted = [1] if len(classes) == 2 else list(range(len(classes)))
    starts = dict(zip(wanted, start((problem, wanted)))) if start else {}
    kind = _Wide if start else _Newton
    drivers = {k: kind(problem, width, limits.tol, starts.get(k)) for k in wanted}
    gaps, before, moving, steps = dict.fromkeys(drivers, float("inf")), {}, dict(drivers), 0
    try:
        while moving and steps < limits.max_iter:
            asked = [(k, driver.candidate) for k, driver in moving.items()]
            answers = cluster.reduce_blocks(kind.ask, kind.merge, (problem, asked))
            steps += 1
            resting = [k for (k, driver), answer in zip(moving.items(), answers) if not driver.step(answer)]
            gaps.update(_gaps(cluster, problem, {k: drivers[k] for k in resting}))
            # Steps are over when the gap is small, or when they change nothing any more.
            for k in resting:
                if gaps[k] <= limits.tol or drivers[k].inner.objective == before.get(k):
                    del moving[k]
                before[k] = drivers[k].inner.objective
            objective = sum(driver.inner.objective for driver in drivers.values())
            gap = max(gaps.values()) if len(before) == len(drivers) else None
            limits.tell(cluster.rounds - began, objective, gap)
        open = {k: driver for k, driver in moving.items() if k not in before or gaps[k] > limits.tol}
        gaps.update(_gaps(cluster, problem, open))
    except OutOfTime:
        # What was reached is a model all the same; before the first step there is none.
        if steps == 0:
            raise
    proofs = [
        _linsep.Proof.against_rest(problem, classes, k, *run.plane, run.inner.objective, run.inner.objective / (1 + gaps[k]))
        for k, run in drivers.items()
    ]
    weights, biases = zip(*(run.plane for run in drivers.values()))
    objective = sum(run.inner.objective for run in drivers.values())
    return Found((list(weights), list(biases)), steps, objective, max(gaps.values()), proofs)


def _gaps(cluster, problem, drivers):
    """How far objectives are above their bounds at most, as shares of the bounds, in binary64."""
    if not drivers:
        return {}
    asked = [(k, run.plane, run.inner.factors) for k, run in drivers.items()]
    parts = cluster.map_blocks(work.dual, (problem, asked))
    gaps = {}
    for place, (k, run) in enumerate(drivers.items()):
        bound, objective = run.inner.bound(sum(part[place] for part in parts)), run.inner.objective
        gaps[k] = max(0.0, (objective - bound) / bound) if bound > 0 else float("inf")
    return gaps


def _softmax(cluster, problem, limits, began, _):
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
    return _joint(problem, classes, driver, limits.tol / 10 if not more else float("inf"))


def _wide_joint(cluster, problem, limits, began, start):
    """L-BFGS for all classes at once."""
    classes, width = cluster.table.classes, cluster.table.width
    problem = ("softmax", *problem[1:])
    [begun] = start((problem, [None]))
    run = _Wide(problem, width, limits.tol, begun, len(classes))
    more, steps = True, 0
    try:
        while more and steps < limits.max_iter:
            [answer] = cluster.reduce_blocks(work.joint_slopes, work.merge_slopes, (problem, run.inner.candidate))
            more = run.step(answer)
            steps += 1
            limits.tell(cluster.rounds - began, run.inner.objective, None)
    except OutOfTime:
        if steps == 0:
            raise
    return _joint(problem, classes, run.inner, run.inner.likely_gap)


def _joint(problem, classes, driver, gap):
    near = driver.objective / (1 + min(gap, 1.0))
    proofs = [_linsep.Proof.smooth(problem, classes, driver.planes, driver.objective, near)]
    return Found(driver.planes, driver.rounds, driver.objective, gap, proofs)


def _start(cluster, asked, total, is_joint):
    """For each of some problems the mean of the planes that blocks learn alone, or none, and the objective at planes of
    zeros."""
    problem, wanted = asked
    loss, strength, _ = problem
    sums = cluster.reduce_blocks(work.alone, work.add_alone, (problem, total, tuple(wanted)))
    each = {"logistic": math.log(2.0), "squared-hinge": 1.0, "softmax": math.log(len(cluster.table.classes))}[loss]
    starts = []
    for weight, planes in sums:
        mean = planes / weight if weight > 0 else np.full(1, np.nan)
        if not np.isfinite(mean).all() or (is_joint and len(planes) != len(cluster.table.classes)):
            starts.append((None, 0.0))
            continue
        starts.append(((mean[:, :-1].tolist(), mean[:, -1].tolist()), strength * total * each))
    return starts
