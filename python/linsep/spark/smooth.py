"""Smooth losses with an l2 penalty in rounds: Newton's method, and L-BFGS where columns are many.

A round of Newton's method answers a matrix of columns × columns, and few rounds are needed. It begins at the optimum of a
sample of the rows that came with the survey, and near the end its rounds do with the matrix of an earlier one. A round of
L-BFGS answers a few numbers for each column. It begins where blocks end that learn alone, averaged, which spares its first
steps.
"""

import math
from dataclasses import dataclass

import numpy as np

from linsep import _linsep
from linsep.spark import work
from linsep.spark.blocks import Block, data_of, joined
from linsep.spark.cluster import OutOfTime

#: More columns than this are learned by L-BFGS, unless it is said otherwise; for softmax more weights in all.
MOST_COLUMNS, MOST_WEIGHTS = 1500, 3000

#: One row of so many is a sample, of at most so many bytes; of fewer rows for each column it is no start.
_SHARE, _SAMPLE_BYTES, _FEWEST = 8, 16 << 20, 16

#: A plane of a sample for which a step promises less than this share of the objective is near enough.
_CLOSE = 1e-6

#: A step that promises less than this share of the objective is lost in its rounding.
_ROUNDING = 2.0**-52


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


@dataclass(frozen=True)
class Begun:
    """What the first round has told: the survey, the sum of weights, rows for a start, and what the checker asks first."""

    surveys: list
    total: float
    sample: object
    firsts: list


def begun(cluster, learner, problem, solver, prove):
    """The first round."""
    table, proofs = cluster.table, []
    is_joint, is_wide = _shape(table, learner, solver)
    if prove:
        # What it asks first is which rows there are, whatever the planes.
        nothing, classes, zeros = ("softmax" if is_joint else problem[0], 1.0, problem[2]), table.classes, [0.0] * table.width
        if is_joint:
            planes = [zeros] * len(classes), [0.0] * len(classes)
            proofs = [_linsep.Proof.smooth(nothing, classes, planes, 1.0, 1.0)]
        else:
            proofs = [_linsep.Proof.against_rest(nothing, classes, k, zeros, 0.0, 1.0, 1.0) for k in _wanted(classes)]
    rows = min(table.rows // _SHARE, _SAMPLE_BYTES // (4 * max(1, table.width)))
    share = 0.0 if is_joint or is_wide or rows < _FEWEST * (table.width + 1) else rows / table.rows
    state = (table.order == "digest", share, [proof.step() for proof in proofs])
    found = cluster.map_blocks(work.survey_and_sample, state)
    surveys, firsts = [one for one, _, _ in found], found[0][2]
    for _, _, answers in found[1:]:
        firsts = work.merge_proofs(firsts, answers)
    sample = joined(rows for _, rows, _ in found) if share else None
    return Begun(surveys, float(sum(one["weights"].sum() for one in surveys)), sample, firsts)


def _shape(table, learner, solver):
    """Whether all classes are learned at once, and whether by L-BFGS."""
    classes, width = len(table.classes), table.width
    is_joint = learner == "logistic" and classes > 2
    is_wide = width > MOST_COLUMNS or (is_joint and classes * (width + 1) > MOST_WEIGHTS)
    return is_joint, solver == "lbfgs" or (solver == "auto" and is_wide)


def _wanted(classes):
    """The classes that are learned against all others."""
    return [1] if len(classes) == 2 else list(range(len(classes)))


def solved(cluster, learner, problem, limits, how):
    """The planes of a problem; ``how`` is the solver that was asked for, what is known, whether the gap is measured here,
    and the rounds before."""
    solver, known, measures, began = how
    is_joint, is_wide = _shape(cluster.table, learner, solver)
    if is_wide:
        start = lambda loss: _start(cluster, loss, known.total, is_joint)
        return (_wide_joint if is_joint else _descended)(cluster, problem, limits, began, start, (_Wide, measures))
    if is_joint:
        return _softmax(cluster, problem, limits, began)
    start = lambda loss: _start_of_sample(cluster, loss, known)
    return _descended(cluster, problem, limits, began, start, (_Newton, measures))


class _Steps:
    """A run of one plane, or of all classes at once, that may begin at planes which are worse than zeros."""

    def __init__(self, inner, start):
        self.inner = inner
        self.planes, self.zero = start
        if self.planes is not None:
            self.begin(self.planes)

    def step(self, answer):
        more, inner = self.inner.step(answer), self.inner
        # A start that is worse than planes of zeros is given up.
        if self.planes is not None and inner.rounds == 1 and not inner.objective <= self.zero:
            weights, biases = self.planes
            self.begin(([[0.0] * len(weight) for weight in weights], [0.0] * len(biases)))
            self.planes = None
            return True
        return more


class _Newton(_Steps):
    """A run of Newton's method of one plane."""

    ask, merge = staticmethod(work.newton), staticmethod(work.merge_newton)

    def __init__(self, problem, width, tol, start):
        super().__init__(_linsep.NewtonRounds(problem, width, _ROUNDING), start)
        self.tol = tol

    def begin(self, planes):
        self.inner.begin(*_only(planes))

    @property
    def question(self):
        return self.inner.candidate, self.inner.wants_second

    @property
    def plane(self):
        return self.inner.plane

    def step(self, answer):
        # Half of the tolerance is for what the likely gap leaves out.
        return super().step(answer) and not self.inner.likely_gap <= self.tol / 2


class _Wide(_Steps):
    """A run of L-BFGS of one plane, or of all classes at once."""

    ask, merge = staticmethod(work.slopes), staticmethod(work.merge_slopes)

    def __init__(self, problem, width, tol, start, classes=2):
        # Half of the tolerance is for what the likely gap leaves out.
        super().__init__(_linsep.WideRounds(problem, classes, width, tol / 2), start)

    def begin(self, planes):
        self.inner.begin(planes)

    @property
    def question(self):
        return _only(self.inner.candidate), False

    @property
    def plane(self):
        return _only(self.inner.planes)


def _only(planes):
    [weights], [bias] = planes
    return weights, bias


def _descended(cluster, problem, limits, began, start, how):
    """Two classes, or each class against all others, all in the same rounds."""
    kind, measures = how
    classes, width = cluster.table.classes, cluster.table.width
    wanted = _wanted(classes)
    starts = dict(zip(wanted, start((problem, wanted))))
    drivers = {k: kind(problem, width, limits.tol, starts[k]) for k in wanted}
    gaps, before, moving, steps = dict.fromkeys(drivers, float("inf")), {}, dict(drivers), 0
    try:
        while moving and steps < limits.max_iter:
            asked = [(k, *driver.question) for k, driver in moving.items()]
            answers = cluster.reduce_blocks(kind.ask, kind.merge, (problem, asked))
            steps += 1
            resting = [k for (k, driver), answer in zip(moving.items(), answers) if not driver.step(answer)]
            # Steps are over when the gap is small, or when they change nothing any more.
            for k in resting:
                gaps[k] = drivers[k].inner.likely_gap
                if gaps[k] <= limits.tol or drivers[k].inner.objective == before.get(k):
                    del moving[k]
                before[k] = drivers[k].inner.objective
            objective = sum(driver.inner.objective for driver in drivers.values())
            gap = max(gaps.values()) if len(before) == len(drivers) else None
            limits.tell(cluster.rounds - began, objective, gap)
        gaps = {k: driver.inner.likely_gap for k, driver in drivers.items()}
        if measures:
            gaps.update(_gaps(cluster, problem, drivers))
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
    return _joint(problem, classes, driver, limits.tol / 10 if not more else float("inf"))


def _wide_joint(cluster, problem, limits, began, start, _):
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
    zero = strength * total * _loss_of_zeros(loss, len(cluster.table.classes))
    starts = []
    for weight, planes in sums:
        mean = planes / weight if weight > 0 else np.full(1, np.nan)
        if not np.isfinite(mean).all() or (is_joint and len(planes) != len(cluster.table.classes)):
            starts.append((None, 0.0))
            continue
        starts.append(((mean[:, :-1].tolist(), mean[:, -1].tolist()), zero))
    return starts


def _loss_of_zeros(loss, classes):
    """The loss of a row of weight 1 at planes of zeros."""
    return {"logistic": math.log(2.0), "squared-hinge": 1.0, "softmax": math.log(classes)}[loss]


def _start_of_sample(cluster, asked, known):
    """For each of some problems the plane that the driver finds for the sample of rows, or none, and the objective at
    zeros."""
    (loss, strength, fit_intercept), wanted = asked
    table, sample, zero = cluster.table, known.sample, strength * known.total * _loss_of_zeros(loss, 2)
    weight = 0.0 if sample is None else float(len(sample.codes) if sample.weights is None else sample.weights.sum())
    if not weight > 0:
        return [(None, zero)] * len(wanted)
    block = Block(sample.matrix.astype(np.float64), sample.codes, sample.weights)
    data, starts = data_of(block, table), []
    there = np.unique(sample.codes if sample.weights is None else sample.codes[sample.weights > 0])
    for positive in wanted:
        if positive not in there or len(there) < 2:
            starts.append((None, zero))
            continue
        # The weight of the losses is as if the sample were the table.
        problem = (loss, strength * known.total / weight, fit_intercept)
        run, more = _linsep.NewtonRounds(problem, table.width, _CLOSE), True
        while more and run.rounds < 50:
            (weights, bias), second = run.candidate, run.wants_second
            more = run.step(_linsep.NewtonRounds.partial(data, problem, weights, bias, positive, second))
        weights, bias = run.plane
        finite = all(map(math.isfinite, [*weights, bias]))
        starts.append((([weights], [bias]) if finite else None, zero))
    return starts
