"""What workers do with a block: functions of ``(table, number, block, state)``, found by name on every machine."""

import json
from dataclasses import replace

import numpy as np

from linsep import _linsep
from linsep.spark.blocks import Block, data_of, joined, part
from linsep.spark.rows import Sparse, column_sums, first_negative, row_values

#: 2^-64, for sums that would overflow.
_UNIT = 2.0**-64


def form_of(learner, numbers):
    """A learner that is made of sums, by its name; ``numbers`` are its l2, shrinkage, smoothing or alpha, and what
    else it has."""
    return getattr(_linsep.ClosedForm, learner.replace("-", "_"))(*numbers)


def survey(table, number, block, any_order):
    """Rows, rows and weights of the classes, and hashes of the digest.

    With ``any_order`` also the product of the rows for the digest that no order changes.
    """
    data = data_of(block, table)

    def compute():
        count = len(table.classes)
        rows = np.bincount(block.codes, minlength=count)
        weights = np.bincount(block.codes, weights=block.weights, minlength=count).astype(float)
        multiset = data.multiset() if any_order else None
        return {"rows": rows, "weights": weights, "hashes": data.block_hashes(), "multiset": multiset}

    return block.noted(("survey", any_order), compute)


def survey_and_sample(table, number, block, state):
    """The survey of the block, a share of its rows, and what it answers to the first questions of the checker."""
    any_order, share, asks = state
    found, data = survey(table, number, block, any_order), data_of(block, table)
    firsts = [_linsep.Proof.partial(data, ask) for ask in asks]
    if not share:
        return found, None, firsts
    # Which rows are taken follows from their numbers, and from no pattern in them.
    rows = np.arange(number * table.block_rows, number * table.block_rows + len(block.codes), dtype=np.uint64)
    chosen = part(block, np.flatnonzero(_mixed(rows) < np.uint64(int(share * 2.0**64))))
    with np.errstate(over="ignore"):
        small = chosen.matrix.astype(np.float32)
    # A start need not be exact.
    finite = np.isfinite(small.values if isinstance(small, Sparse) else small).all()
    return found, Block(small if finite else chosen.matrix, chosen.codes, chosen.weights), firsts


def _mixed(numbers):
    """Whole numbers from all over 64 bits for numbers that follow each other (splitmix64)."""
    with np.errstate(over="ignore"):
        z = numbers * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def gaps(table, number, block, _):
    """Of each column the sum of the values that are there, the same in units of 2^64, and how many are missing."""
    with np.errstate(over="ignore"):
        sums, missing = column_sums(block.matrix)
    return sums, column_sums(block.matrix, _UNIT)[0], missing, len(block.codes)


def add_gaps(all, next):
    """The answers of some blocks and of those that follow."""
    with np.errstate(over="ignore"):
        return tuple(one + other for one, other in zip(all, next))


def means_of(found):
    """The mean of each column, and 0 of one without values."""
    sums, scaled, missing, rows = found
    there = np.maximum(rows - missing, 1)
    # The sum of numbers next to 1e308 overflows, their mean does not.
    return np.where(np.isfinite(sums), sums / there, scaled / there / _UNIT)


def ranks(table, number, block, state):
    """Of each column, how many values have which next byte, among those that begin with the bytes that are known of the two
    in the middle."""
    shift, known = state
    if isinstance(block.matrix, Sparse):
        raise ValueError("linsep: missing='median' is for columns, and vectors are sparse here; use 'mean', 'zero' or 'drop-row'")
    matrix = block.matrix.astype(np.float64) + 0.0
    counts = np.zeros((2, matrix.shape[1], 256), dtype=np.int64)
    for column in range(matrix.shape[1]):
        values = np.ascontiguousarray(matrix[:, column])
        keys = _keys(values[~np.isnan(values)])
        for which in (0, 1):
            if known is None:
                chosen = keys
            elif which and known[0][column] == known[1][column]:
                counts[1, column] = counts[0, column]
                continue
            else:
                chosen = keys[keys >> np.uint64(shift + 8) == known[which][column]]
            bytes = ((chosen >> np.uint64(shift)) & np.uint64(255)).astype(np.int64)
            counts[which, column] = np.bincount(bytes, minlength=256)
    return counts


def add_ranks(all, next):
    """The counts of some blocks and of those that follow."""
    return all + next


def medians(cluster):
    """The middle value of each column, or the middle between two, in eight rounds: each finds a byte."""
    known, left = None, None
    for shift in range(56, -8, -8):
        counts = cluster.reduce_blocks(ranks, add_ranks, (shift, known))
        if left is None:
            there = counts[0].sum(axis=1)
            left = np.stack([np.maximum(there - 1, 0) // 2, there // 2])
            known = np.zeros(left.shape, dtype=np.uint64)
        ends = counts.cumsum(axis=2)
        bytes = np.minimum((ends <= left[:, :, None]).sum(axis=2), 255)
        before = np.take_along_axis(ends, np.maximum(bytes - 1, 0)[:, :, None], axis=2)[:, :, 0]
        left = left - np.where(bytes > 0, before, 0)
        known = (known << np.uint64(8)) | bytes.astype(np.uint64)
    low, high = (_values(keys) for keys in known)
    return np.where(there == 0, 0.0, np.where(low == high, low, low / 2.0 + high / 2.0))


def _keys(values):
    """Whole numbers in the order of some numbers."""
    bits = values.view(np.uint64)
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def _values(keys):
    """The numbers that have these keys."""
    top = np.uint64(1 << 63)
    return np.where(keys & top, keys & ~top, ~keys).view(np.float64)


def spread(table, number, block, state):
    """Rows spread over every so many-th block, and the first row of each class."""
    each, step = state
    rows = _taking_part(block)
    apart = max(1, len(rows) // each)
    chosen = rows[::apart][:each] if number % step == 0 else rows[:0]
    firsts = np.concatenate([rows[block.codes[rows] == code][:1] for code in range(len(table.classes))])
    return _named(table, number, block, chosen), {row[2]: row for row in _named(table, number, block, firsts)}


def add_spread(all, next):
    """The rows of some blocks and of those that follow, and the first rows of the classes."""
    return all[0] + next[0], {**next[1], **all[1]}


def add_rows(all, next):
    """The rows of some blocks and of those that follow."""
    return all + next


def fetch(table, number, block, state):
    """The rows with these numbers, as far as the block has them."""
    start = number * table.block_rows
    places = [row - start for row in state if start <= row < start + len(block.codes)]
    return _named(table, number, block, np.array(places, dtype=np.int64))


def find(table, number, block, hashes):
    """The rows that have one of these hashes, with it."""
    wanted = set(hashes)
    found = [(place, hash) for place, hash in enumerate(data_of(block, table).row_hashes()) if hash in wanted]
    rows = _named(table, number, block, [place for place, _ in found])
    return list(zip((hash for _, hash in found), rows))


def wrong(table, number, block, state):
    """How many rows of two classes have a margin of ``least`` or less, as far as floats can tell, and the rows with the
    smallest margins: those on the right side that are next to the plane will be the next to be wrong."""
    weights, bias, most, least = state
    scores = data_of(block, table).scores(weights, bias)
    rows = _taking_part(block)
    # A margin that is no number is as wrong as can be.
    margins = np.nan_to_num(np.where(block.codes == 1, scores, -scores)[rows], nan=-np.inf)
    near = rows if len(rows) <= most else rows[margins <= np.partition(margins, most - 1)[most - 1]]
    found = np.nan_to_num(np.where(block.codes[near] == 1, scores[near], -scores[near]), nan=-np.inf)
    order = np.lexsort((near, found))[:most]
    named = _named(table, number, block, near[order])
    return int((margins <= least).sum()), [(float(one), row) for one, row in zip(found[order], named)]


class Worst:
    """Merges what :func:`wrong` answers, and keeps so many of the worst rows."""

    def __init__(self, most):
        self.most = most

    def __call__(self, all, next):
        worst = sorted(all[1] + next[1], key=lambda pair: (pair[0], pair[1][0]))
        return all[0] + next[0], worst[: self.most]


class First:
    """Merges what :func:`check` answers: of each claim the first finding that is not true, and so many rows."""

    def __init__(self, most):
        self.most = most

    def __call__(self, all, next):
        pairs = zip(all[0], next[0])
        found = [one if one[0] != "true" or other[0] == "true" else other for one, other in pairs]
        return found, (all[1] + next[1])[: self.most]


def check(table, number, block, state):
    """What the exact checker finds of claims on the rows of the block.

    A claim about a table says that some rows have a property together, and that every row has another. It holds of
    the table if it holds of each block with those rows put in front. Where it fails, up to ``most`` rows of
    the block are named with which it fails.
    """
    certificate, front, most = state
    findings, failing = [], []
    for claim in certificate["claims"]:
        finding = _finding(certificate, claim, front, block, table)
        findings.append((finding["finding"], finding["words"]))
        if finding["finding"] == "false" and most:
            found = []
            _search(certificate, claim, front, block, table, np.arange(len(block.codes)), most, found)
            failing.extend(found)
    return findings, _named(table, number, block, np.array(sorted(set(failing)), dtype=np.int64))


def _search(certificate, claim, front, block, table, rows, most, found):
    """Rows with which the claim fails, by halving."""
    if len(found) >= most or len(rows) == 0:
        return
    if _finding(certificate, claim, front, part(block, rows), table)["finding"] != "false":
        return
    if len(rows) == 1:
        found.append(int(rows[0]))
        return
    middle = len(rows) // 2
    for half in (rows[:middle], rows[middle:]):
        _search(certificate, claim, front, block, table, half, most, found)


def _finding(certificate, claim, front, block, table):
    data = data_of(joined([front, bare(block)]), table)
    identity = {"sha256": data.digest(), "digest": 2, "rows": data.rows}
    claims = {**certificate, "data": identity, "claims": [claim]}
    claims.pop("input", None)
    return _linsep.Certificate.from_json(json.dumps(claims)).verify(data)[0]


def bare(block):
    """The rows of a block that take part, without weights or names."""
    rows = _taking_part(block)
    if len(rows) == len(block.codes):
        return Block(block.matrix.astype(np.float64), block.codes)
    return Block(block.matrix[rows].astype(np.float64), block.codes[rows])


def shift(table, number, block, _):
    """Short numbers near the values of the first block, less which rows are added up."""
    return form_of("lda", (0.0,)).shift(data_of(block, table))


def survey_and_sums(table, number, block, state):
    """The survey of the block, and the sums of a learner that is made of sums, in one round."""
    any_order, learner, numbers, shift = state
    found = first_negative(block.matrix) if learner == "multinomial-nb" else None
    if found:
        row, column, value = found
        raise ValueError(
            f"linsep: column {table.names[column]!r} has {value} in row {number * table.block_rows + row}; "
            "multinomial naive Bayes needs counts"
        )
    sums = form_of(learner, numbers).partial(data_of(block, table), shift)
    return [survey(table, number, block, any_order)], sums


class MergeSums:
    """Merges what :func:`survey_and_sums` answers; it travels, so it says what it is in words."""

    def __init__(self, learner, numbers):
        self.learner, self.numbers = learner, numbers

    def __call__(self, all, next):
        return all[0] + next[0], form_of(self.learner, self.numbers).merge(all[1], next[1])


def newton(table, number, block, state):
    """Losses, slopes and, where they are asked for, second derivatives at planes, each of a class against all others."""
    problem, asked = state
    data = data_of(block, table)
    return [_linsep.NewtonRounds.partial(data, problem, *plane, positive, second) for positive, plane, second in asked]


def merge_newton(all, next):
    """Adds what blocks answer, plane by plane."""
    return [_linsep.NewtonRounds.merge(*pair) for pair in zip(all, next)]


def dual(table, number, block, state):
    """The parts of a block in the bounds."""
    problem, planes = state
    data = data_of(block, table)
    return [_linsep.NewtonRounds.dual_part(data, problem, *plane, factors, positive) for positive, plane, factors in planes]


def slopes(table, number, block, state):
    """Losses, slopes and the diagonal of second derivatives at planes, each of a class against all others."""
    problem, asked = state
    data = data_of(block, table)
    return [_linsep.WideRounds.partial(data, problem, _listed(plane), positive) for positive, plane, _ in asked]


def joint_slopes(table, number, block, state):
    """The same at planes of all classes at once."""
    problem, planes = state
    return [_linsep.WideRounds.partial(data_of(block, table), problem, planes)]


def merge_slopes(all, next):
    """Adds what blocks answer, plane by plane."""
    return [_linsep.WideRounds.merge(*pair) for pair in zip(all, next)]


def _listed(plane):
    weights, bias = plane
    return [weights], [bias]


def alone(table, number, block, state):
    """Planes that a block learns of its own rows, as many times as it has rows: for each class against all others, or
    for all at once. The weight of the losses is as if the block were the table."""
    problem, total, wanted = state
    loss, strength, fit_intercept = problem
    rows = _taking_part(block)
    weight = float(len(rows) if block.weights is None else block.weights[rows].sum())
    found = []
    for positive in wanted:
        codes, names = (block.codes, table.classes) if positive is None else (block.codes == positive, ("0", "1"))
        count = 1 if positive is not None else len(names)
        nothing = (0.0, np.zeros((count, table.width + 1)))
        if len(np.unique(codes[rows])) < len(names):
            # A block without some class knows nothing of a plane.
            found.append(nothing)
            continue
        own = Block(block.matrix, np.asarray(codes, dtype=np.uint32), block.weights)
        settings = {
            "c": repr(strength * total / weight),
            "intercept": "free" if fit_intercept else "none",
            "gap": "0.01",
        }
        learner = "svm" if loss == "squared-hinge" else "logistic"
        try:
            model = _linsep.fit(learner, settings, data_of(own, replace(table, classes=names)), epochs=20)
        except (RuntimeError, ValueError):
            found.append(nothing)
            continue
        planes = np.column_stack([model.weights, model.biases])
        found.append((weight, weight * planes) if np.isfinite(planes).all() else nothing)
    return found


def add_alone(all, next):
    """The planes of some blocks and of those that follow."""
    return [(one[0] + other[0], one[1] + other[1]) for one, other in zip(all, next)]


def epochs(table, number, block, state):
    """Rows on the wrong side of planes, updates of some epochs of the perceptron from there, and where these led, as many
    times as there were updates."""
    planes, count = state
    data = data_of(block, table)
    wrong = int(_wrong(block, data, planes).sum())
    found, updates = _linsep.perceptron_epochs(data, planes, count) if wrong else (planes, 0)
    return wrong, updates, updates * np.column_stack(found)


def add_epochs(all, next):
    """The same of some blocks and of those that follow."""
    return tuple(one + other for one, other in zip(all, next))


def _wrong(block, data, planes):
    """Which rows are not strictly on their side, as far as floats can tell; of rows that take part."""
    scores = np.column_stack([data.scores(*plane) for plane in zip(*planes)])
    codes = np.asarray(block.codes, dtype=np.int64)
    if scores.shape[1] == 1:
        margins = np.where(codes == 1, scores[:, 0], -scores[:, 0])
    else:
        own = scores[np.arange(len(codes)), codes]
        scores[np.arange(len(codes)), codes] = -np.inf
        margins = own - scores.max(axis=1)
    taking = True if block.weights is None else block.weights > 0
    return ~(margins > 0) & taking


def softmax(table, number, block, state):
    """Losses, slopes and second derivatives at planes of all classes at once."""
    return _linsep.SoftmaxRounds.partial(data_of(block, table), *state)


def merge_softmax(all, next):
    """Adds what blocks answer."""
    return _linsep.SoftmaxRounds.merge(all, next)


def prove(table, number, block, asks):
    """What the block answers to the exact checker, which asks for sums over the rows for each of some claims."""
    data = data_of(block, table)
    return [_linsep.Proof.partial(data, ask) for ask in asks]


def merge_proofs(all, next):
    """Adds what blocks answer to the checker."""
    return [_linsep.Proof.merge(*pair) for pair in zip(all, next)]


def proved(cluster, proofs, firsts=None):
    """Asks all blocks what the checker wants to know, until it has found what it can of each claim. ``firsts`` are the
    answers to its first questions, where they are known."""
    for proof, answer in zip(proofs, firsts or []):
        if proof.step() is not None:
            proof.take(answer)
    while asks := [(proof, ask) for proof in proofs if (ask := proof.step()) is not None]:
        answers = cluster.reduce_blocks(prove, merge_proofs, [ask for _, ask in asks])
        for (proof, _), answer in zip(asks, answers):
            proof.take(answer)
    return proofs


def _taking_part(block):
    """The rows with a weight."""
    if block.weights is None:
        return np.arange(len(block.codes))
    return np.nonzero(block.weights > 0)[0]


def _named(table, number, block, places):
    """Rows with their numbers: (row, values, code, name)."""
    start = number * table.block_rows
    name = (lambda place: None) if block.ids is None else (lambda place: block.ids[place])
    return [
        (start + int(place), row_values(block.matrix, place), int(block.codes[place]), name(place))
        for place in places
    ]
