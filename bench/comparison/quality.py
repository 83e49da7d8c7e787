"""One judge for everybody: the primal value P of a weight vector, and reference duals.

All objectives have no bias and C = 1, in LIBLINEAR's convention:

    squared hinge    P(w) = ½|w|² + Σ max(0, 1 − yᵢ w·xᵢ)²
    logistic         P(w) = ½|w|² + Σ log(1 + exp(−yᵢ w·xᵢ))
    Crammer-Singer   P(W) = ½Σ|w_k|² + Σ max_k ([k ≠ yᵢ] + w_k·xᵢ − w_yᵢ·xᵢ)
    softmax, L1 logistic, hard margin: see optima.py

A quality is (P − D)/D for the reference dual D of the data. For the two smooth losses D comes from a
Newton method here: the slopes of the loss at w, taken as dual variables, are feasible, and their dual
value is P − ½|∇P|² exactly, so the method ends when it has proved its D to the wanted precision. For
Crammer-Singer it comes from native/crammer_singer.c, which ends by the same proof.
"""

import json
import subprocess
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from comparison import optima

# What the reference dual has to be known to, relative to itself.
REFERENCE_GAP = 1e-8
# Dual ascent on many classes is slow at its end; this is still a hundredth of what is judged.
CRAMMER_SINGER_GAP = 1e-5
# Up to this many features a Newton step solves with the whole Hessian, above it by conjugate gradients.
MOST_DIRECT_FEATURES = 1000
MOST_NEWTON_STEPS = 200
KEPT = Path(__file__).resolve().parent / "references.json"


class QualityError(Exception):
    """A reference that could not be computed to the precision it needs."""


# ---------------------------------------------------------------- losses


class SquaredHinge:
    name = "squared-hinge"

    @staticmethod
    def value(margins):
        return np.square(np.maximum(0.0, 1.0 - margins)).sum()

    @staticmethod
    def dual_variables(margins):
        """−loss'(margin): feasible in the dual, whatever the margins are."""
        return 2.0 * np.maximum(0.0, 1.0 - margins)

    @staticmethod
    def curvature(margins):
        return np.where(margins < 1.0, 2.0, 0.0)

    @staticmethod
    def dual_sum(alpha):
        """Σ −loss*(−α), the dual value without its quadratic term."""
        return (alpha - np.square(alpha) / 4.0).sum()


class Logistic:
    name = "logistic"

    @staticmethod
    def value(margins):
        return np.logaddexp(0.0, -margins).sum()

    @staticmethod
    def dual_variables(margins):
        return 0.5 * (1.0 - np.tanh(0.5 * margins))

    @staticmethod
    def curvature(margins):
        alpha = Logistic.dual_variables(margins)
        return alpha * (1.0 - alpha)

    @staticmethod
    def dual_sum(alpha):
        from scipy.special import xlogy

        return -(xlogy(alpha, alpha) + xlogy(1.0 - alpha, 1.0 - alpha)).sum()


LOSSES = {loss.name: loss for loss in (SquaredHinge, Logistic)}


# ---------------------------------------------------------------- values


def primal(rows, signs, weights, loss):
    return 0.5 * (weights @ weights) + loss.value(signs * (rows @ weights))


def dual(rows, signs, alpha, loss):
    point = rows.T @ (alpha * signs)
    return loss.dual_sum(alpha) - 0.5 * (point @ point)


def crammer_singer_primal(rows, labels, classes, planes):
    """`planes` has a row for each of `classes`."""
    scores = rows @ planes.T
    own = np.searchsorted(classes, labels)
    at = np.arange(len(labels))
    violations = scores + 1.0 - scores[at, own][:, None]
    violations[at, own] = 0.0
    return 0.5 * np.square(planes).sum() + violations.max(axis=1).sum()


def stationarity(rows, labels, classes, planes, biases, ridge):
    """The largest component of a ridge regression's gradient, relative to the right-hand side.

    The objective is Σ|W x + b − t|² + ridge·|W|² with one-hot targets, coded 0/1 or ±1: the judge
    takes the coding under which the planes are better, since programs differ in it. Two classes may
    have one plane.
    """
    at_class = (labels[:, None] == classes[None, :]).astype(float)
    if len(planes) == 1:
        at_class = at_class[:, 1:]
    worst = []
    fitted = rows @ planes.T + biases
    for targets in (at_class, 2.0 * at_class - 1.0):
        residual = fitted - targets
        by_weight = rows.T @ residual + ridge * planes.T
        size = max(np.abs(rows.T @ targets).max(), np.abs(targets.sum(axis=0)).max())
        worst.append(max(np.abs(by_weight).max(), np.abs(residual.sum(axis=0)).max()) / size)
    return float(min(worst))


def accuracy(rows, labels, classes, planes, biases):
    scores = rows @ planes.T + biases
    if len(planes) == 1:
        found = classes[(scores[:, 0] > 0).astype(int)]
    else:
        found = classes[scores.argmax(axis=1)]
    return float((found == labels).mean())


# ---------------------------------------------------------------- references


def reference(rows, signs, loss, gap=REFERENCE_GAP):
    """A dual value that is proved to lie within `gap` of the optimum, and the gap reached.

    Newton's method with a line search on the primal; D is the best dual value met on the way.
    """
    weights = np.zeros(rows.shape[1])
    direct = rows.shape[1] <= MOST_DIRECT_FEATURES
    if direct and sparse.issparse(rows):
        rows = rows.toarray()
    margins = np.zeros(rows.shape[0])
    best = -np.inf
    reached = np.inf
    for _ in range(MOST_NEWTON_STEPS):
        value = 0.5 * (weights @ weights) + loss.value(margins)
        alpha = loss.dual_variables(margins)
        gradient = weights - rows.T @ (alpha * signs)
        best = max(best, dual(rows, signs, alpha, loss))
        reached = (value - best) / best if best > 0 else np.inf
        # A few steps beyond what is asked: they are cheap, and the proof is then far from rounding.
        if reached <= gap / 10:
            break
        curvature = loss.curvature(margins)
        step = newton_direct(rows, curvature, gradient) if direct else newton_cg(rows, curvature, gradient)
        moves = signs * (rows @ step)
        slope = gradient @ step
        length = 1.0
        while length > 1e-12:
            trial = weights + length * step
            if 0.5 * (trial @ trial) + loss.value(margins + length * moves) <= value + 1e-4 * length * slope:
                break
            length /= 2
        weights = weights + length * step
        margins = margins + length * moves
    if reached > gap:
        raise QualityError(f"the reference dual is only known to {reached:.1e}")
    return float(best), float(reached)


def newton_direct(rows, curvature, gradient):
    used = curvature > 0
    scaled = rows[used] * np.sqrt(curvature[used])[:, None]
    hessian = scaled.T @ scaled
    hessian[np.diag_indices_from(hessian)] += 1.0
    return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), gradient)


def newton_cg(rows, curvature, gradient):
    """Conjugate gradients with the diagonal as preconditioner, to a tolerance that shrinks with the
    gradient, so that the steps end as Newton steps do."""
    diagonal = 1.0 + np.asarray(rows.multiply(rows).T @ curvature).ravel()
    step = np.zeros_like(gradient)
    residual = -gradient
    scaled = residual / diagonal
    direction = scaled.copy()
    product = residual @ scaled
    wanted = min(0.1, np.sqrt(np.linalg.norm(gradient))) * 0.1 * np.linalg.norm(gradient)
    for _ in range(1000):
        image = direction + rows.T @ (curvature * (rows @ direction))
        length = product / (direction @ image)
        step += length * direction
        residual = residual - length * image
        if np.linalg.norm(residual) <= wanted:
            break
        scaled = residual / diagonal
        product, before = residual @ scaled, product
        direction = scaled + (product / before) * direction
    return step


class References:
    """Reference duals by data and objective, kept in references.json under the data's digest."""

    def __init__(self, crammer_singer, kept=KEPT):
        self.crammer_singer = crammer_singer
        self.kept = kept
        self.values = self.read()

    def read(self):
        return json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def dual(self, matrix, objective):
        """`objective`: squared-hinge, logistic, ovr-squared-hinge (the sum over all classes),
        crammer-singer, softmax, l1-logistic or margin (half the distance of the hulls)."""
        key = f"{objective} {matrix.digest}"
        if key not in self.values:
            value, gap = self.compute(matrix, objective)
            # Read again: another run may have added to the file meanwhile.
            self.values |= self.read()
            self.values[key] = {
                "data": f"{matrix.path.parent.name}/{matrix.path.name}", "dual": value, "gap": gap
            }  # fmt: skip
            self.kept.write_text(json.dumps(self.values, indent=1, sort_keys=True) + "\n")
        return self.values[key]["dual"]

    def compute(self, matrix, objective):
        if objective == "crammer-singer":
            return self.run_crammer_singer(matrix)
        try:
            if objective == "softmax":
                return optima.softmax_reference(matrix.rows, matrix.labels, REFERENCE_GAP)
            if objective == "l1-logistic":
                return optima.l1_reference(matrix.rows, np.sign(matrix.labels), Logistic, REFERENCE_GAP)
            if objective == "margin":
                return optima.margin_reference(matrix.rows, matrix.labels)
        except optima.NotReached as error:
            raise QualityError(error) from error
        if objective == "ovr-squared-hinge":
            parts = [
                reference(matrix.rows, np.where(matrix.labels == one, 1.0, -1.0), SquaredHinge)
                for one in np.unique(matrix.labels)
            ]
            return sum(value for value, _ in parts), max(gap for _, gap in parts)
        return reference(matrix.rows, np.sign(matrix.labels), LOSSES[objective])

    def run_crammer_singer(self, matrix):
        folder = matrix.arrays
        rows, features = matrix.shape
        command = [self.crammer_singer, folder, rows, features, len(np.unique(matrix.labels)), CRAMMER_SINGER_GAP]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise QualityError(done.stderr.strip() or f"crammer_singer ended with {done.returncode}")
        answer = json.loads(done.stdout)
        return answer["dual"], answer["gap"]


def excess(matrix, objective, classes, planes, reference_dual):
    """(P − D)/D of planes that have a row for each of `classes`, or one row for the second of two."""
    if objective == "margin":
        # Here the reference bounds from above, and more is better.
        return float(1.0 - optima.margin(matrix.rows, matrix.labels, planes[0]) / reference_dual)
    if objective == "crammer-singer":
        value = crammer_singer_primal(matrix.rows, matrix.labels, classes, planes)
    elif objective == "softmax":
        value = optima.softmax_primal(matrix.rows, matrix.labels, classes, planes)
    elif objective == "l1-logistic":
        value = optima.l1_primal(matrix.rows, np.sign(matrix.labels), planes[0], Logistic)
    elif objective == "ovr-squared-hinge":
        value = sum(
            primal(matrix.rows, np.where(matrix.labels == one, 1.0, -1.0), plane, SquaredHinge)
            for one, plane in zip(classes, planes, strict=True)
        )
    else:
        value = primal(matrix.rows, np.sign(matrix.labels), planes[0], LOSSES[objective])
    return float((value - reference_dual) / reference_dual)
