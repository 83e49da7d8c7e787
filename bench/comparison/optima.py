"""Reference optima of the judge that need a method of their own. Each ends when it has proved its bound.

    softmax       P(W) = ½Σ|w_k|² + Σ log Σ_k exp(w_k·xᵢ) − w_yᵢ·xᵢ
    l1-logistic   P(w) = Σ|w_j| + Σ log(1 + exp(−yᵢ w·xᵢ))
    margin        the widest gap between two classes, halved

Softmax: the probabilities at any W are feasible in the dual, as the slopes of the two smooth losses are.
L1 logistic: the dual asks for |Σ αᵢ yᵢ xᵢⱼ| ≤ 1 in every column j; the slopes at w are scaled down until that
holds. Margin: half the distance of any two points of the classes' convex hulls is an upper bound.
"""

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.special import logsumexp, xlogy

MOST_STEPS = 400
# Columns that enter the working set of the L1 method at once, at least.
LEAST_ENTERING = 50
# What half the distance of the hulls has to be known to, relative to itself.
MARGIN_GAP = 1e-11
# Up to this many values rows are unpacked: products with dense rows are faster.
MOST_DENSE_VALUES = 60_000_000


class NotReached(Exception):
    """A reference that is not known to the precision it needs."""


def dense_if_small(rows):
    return rows.toarray() if sparse.issparse(rows) and np.prod(rows.shape) <= MOST_DENSE_VALUES else rows


# ---------------------------------------------------------------- softmax


def softmax_primal(rows, labels, classes, planes):
    scores = rows @ planes.T
    own = scores[np.arange(len(labels)), np.searchsorted(classes, labels)]
    return 0.5 * np.square(planes).sum() + (logsumexp(scores, axis=1) - own).sum()


def softmax_reference(rows, labels, gap):
    """Newton's method, its steps by conjugate gradients. Returns the dual value and how near it is."""
    rows = dense_if_small(rows)
    classes = np.unique(labels)
    targets = (labels[:, None] == classes[None, :]).astype(float)
    weights = np.zeros((rows.shape[1], len(classes)))
    scores = rows @ weights
    best, reached = -np.inf, np.inf
    for _ in range(MOST_STEPS):
        chances = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        value = softmax_value(weights, scores, targets)
        image = rows.T @ (targets - chances)
        best = max(best, -xlogy(chances, chances).sum() - 0.5 * np.square(image).sum())
        reached = (value - best) / best if best > 0 else np.inf
        if reached <= gap / 10:
            break
        gradient = weights - image
        step = softmax_step(rows, chances, gradient)
        moves, slope = rows @ step, (gradient * step).sum()
        length = 1.0
        while length > 1e-10:
            trial = softmax_value(weights + length * step, scores + length * moves, targets)
            if trial <= value + 1e-4 * length * slope:
                break
            length /= 2
        weights, scores = weights + length * step, scores + length * moves
    if reached > gap:
        raise NotReached(f"the reference dual is only known to {reached:.1e}")
    return float(best), float(reached)


def softmax_value(weights, scores, targets):
    return 0.5 * np.square(weights).sum() + (logsumexp(scores, axis=1) - (scores * targets).sum(axis=1)).sum()


def softmax_step(rows, chances, gradient):
    step, residual = np.zeros_like(gradient), -gradient
    direction, product = residual.copy(), np.square(gradient).sum()
    size = np.sqrt(product)
    wanted = min(0.1, np.sqrt(size)) * 0.1 * size
    for _ in range(300):
        scores = rows @ direction
        curved = chances * (scores - (chances * scores).sum(axis=1, keepdims=True))
        image = direction + rows.T @ curved
        length = product / (direction * image).sum()
        step += length * direction
        residual = residual - length * image
        product, before = np.square(residual).sum(), product
        if np.sqrt(product) <= wanted:
            break
        direction = residual + (product / before) * direction
    return step


# ---------------------------------------------------------------- L1


def l1_primal(rows, signs, weights, loss):
    return np.abs(weights).sum() + loss.value(signs * (rows @ weights))


def l1_dual(rows, signs, alpha, loss):
    """The value of the slopes, scaled down until no column exceeds 1."""
    largest = np.abs(rows.T @ (alpha * signs)).max()
    return loss.dual_sum(alpha / max(1.0, largest))


def l1_reference(rows, signs, loss, gap):
    """An interior-point method on a working set of columns, which grows by the worst violators of the dual."""
    columns = rows.tocsc()
    weights = np.zeros(rows.shape[1])
    working = np.array([], dtype=int)
    best, reached = -np.inf, np.inf
    for _ in range(MOST_STEPS):
        margins = signs * (rows @ weights)
        alpha = loss.dual_variables(margins)
        value = np.abs(weights).sum() + loss.value(margins)
        best = max(best, l1_dual(rows, signs, alpha, loss))
        reached = (value - best) / best if best > 0 else np.inf
        if reached <= gap:
            break
        excess = np.abs(rows.T @ (alpha * signs)) - 1.0
        excess[working] = 0.0
        entering = np.argsort(-excess)[: max(LEAST_ENTERING, len(working))]
        if len(working) and not (excess[entering] > 0).any():
            break
        working = np.union1d(working, entering[excess[entering] > 0]).astype(int)
        weights[working] = l1_interior(columns[:, working].toarray(), signs, loss, gap / 100)
    if reached > gap:
        raise NotReached(f"the reference dual is only known to {reached:.1e}")
    return float(best), float(reached)


def l1_interior(rows, signs, loss, gap):
    """The barrier method: |w| as the least a − μ log(a² − w²), which is a = μ + √(μ² + w²), for falling μ.
    Its slope w/a is below 1, so where the whole slope is 0 the dual constraints hold, and the gap is about
    2μ for each column."""
    weights = np.zeros(rows.shape[1])
    margins = np.zeros(len(signs))
    value = loss.value(margins)
    least = gap * value / len(weights)
    mu = value / len(weights)
    while mu > least / 10:
        mu = mu / 10
        weights = barrier_newton(rows, signs, weights, loss, mu)
    return weights


def barrier_newton(rows, signs, weights, loss, mu):
    def whole(trial, margins):
        above = mu + np.hypot(mu, trial)
        return (above - mu * np.log(above / mu)).sum() + loss.value(margins)

    margins = signs * (rows @ weights)
    value = whole(weights, margins)
    for _ in range(60):
        root = np.hypot(mu, weights)
        above = mu + root
        gradient = weights / above - rows.T @ (loss.dual_variables(margins) * signs)
        scaled = rows * np.sqrt(loss.curvature(margins))[:, None]
        hessian = scaled.T @ scaled
        # The last term keeps it from being singular by rounding; it shortens steps a little, no more.
        bend = (above - weights**2 / root) / above**2 + 1e-14 * hessian.trace()
        hessian[np.diag_indices_from(hessian)] += bend
        step = -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), gradient)
        slope = gradient @ step
        # Half the squared Newton decrement: far below what the barrier itself leaves open.
        if -slope < 1e-3 * mu:
            break
        moves, length = signs * (rows @ step), 1.0
        while length > 1e-10:
            trial = whole(weights + length * step, margins + length * moves)
            if trial <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        weights, margins, value = weights + length * step, margins + length * moves, trial
    return weights


# ---------------------------------------------------------------- the widest margin


def margin(rows, signs, plane):
    """Half the gap that a plane of this direction leaves, wherever its best bias is; negative if none."""
    scores = rows @ plane
    return (scores[signs > 0].min() - scores[signs < 0].max()) / (2.0 * np.linalg.norm(plane))


def margin_reference(rows, signs):
    """Wolfe's method for the shortest vector between the hulls of two classes. Returns half its length,
    which no margin exceeds, and how near the margin of its own direction comes."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    above, below = rows[signs > 0], rows[signs < 0]
    corners = (above[0] - below[0])[None, :]
    shares = np.ones(1)
    reached = np.inf
    for _ in range(100 * rows.shape[1]):
        shortest = shares @ corners
        scores_above, scores_below = above @ shortest, below @ shortest
        nearest, farthest = scores_above.argmin(), scores_below.argmax()
        length2 = shortest @ shortest
        reached = 1.0 - (scores_above[nearest] - scores_below[farthest]) / length2
        if reached <= MARGIN_GAP / 10:
            break
        corners = np.vstack([corners, above[nearest] - below[farthest]])
        shares = np.append(shares, 0.0)
        corners, shares = shortest_of(corners, shares)
    if reached > MARGIN_GAP:
        raise NotReached(f"the widest margin is only known to {reached:.1e}")
    return float(np.linalg.norm(shares @ corners) / 2.0), float(max(reached, 0.0))


def shortest_of(corners, shares):
    """The shortest vector of the corners' hull: that of their affine hull, corners that it would need a
    negative share of being left out one by one."""
    while True:
        count = len(corners)
        system = np.ones((count + 1, count + 1))
        system[0, 0] = 0.0
        system[1:, 1:] = corners @ corners.T
        right = np.zeros(count + 1)
        right[0] = 1.0
        wanted = np.linalg.lstsq(system, right, rcond=None)[0][1:]
        if (wanted > 1e-15).all():
            return corners, wanted / wanted.sum()
        falling = wanted <= 1e-15
        drops = np.where(falling, shares / np.maximum(shares - wanted, 1e-300), np.inf)
        shares = shares + min(1.0, drops.min()) * (wanted - shares)
        shares[drops.argmin()] = 0.0
        kept = shares > 1e-15
        corners, shares = corners[kept], shares[kept] / shares[kept].sum()
