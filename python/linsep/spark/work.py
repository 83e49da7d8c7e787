"""What workers do with a block: functions of ``(table, number, block, state)``, found by name on every machine."""

import json

import numpy as np

from linsep import _linsep
from linsep.spark.blocks import Block, data_of, joined, part


def form_of(learner, number):
    """A learner that is made of sums, by its name; ``number`` is its l2, shrinkage, smoothing or alpha."""
    return getattr(_linsep.ClosedForm, learner.replace("-", "_"))(number)


def survey(table, number, block, _):
    """Rows, rows and weights of the classes, hashes of the digest, and the shift of the first block."""
    data = data_of(block, table)
    count = len(table.classes)
    shift = form_of("lda", 0.0).shift(data) if number == 0 else None
    rows = np.bincount(block.codes, minlength=count)
    weights = np.bincount(block.codes, weights=block.weights, minlength=count).astype(float)
    return {"rows": rows, "weights": weights, "hashes": data.block_hashes(), "shift": shift}


def spread(table, number, block, state):
    """Rows spread over the block, and the first row of each class."""
    rows = _taking_part(block)
    step = max(1, len(rows) // max(state, 1))
    first = [rows[block.codes[rows] == code][:1] for code in range(len(table.classes))]
    return _named(table, number, block, np.unique(np.concatenate([rows[::step][: max(state, 1)], *first])))


def fetch(table, number, block, state):
    """The rows with these numbers, as far as the block has them."""
    start = number * table.block_rows
    places = [row - start for row in state if start <= row < start + len(block.codes)]
    return _named(table, number, block, np.array(places, dtype=np.int64))


def wrong(table, number, block, state):
    """How many rows a plane of two classes gets wrong, as far as floats can tell, and the worst of them."""
    weights, bias, most = state
    scores = data_of(block, table).scores(weights, bias)
    margins = np.where(block.codes == 1, scores, -scores)
    rows = _taking_part(block)
    # A margin that is no number is as wrong as can be.
    bad = rows[~(margins[rows] > 0.0)]
    order = np.lexsort((bad, np.nan_to_num(margins[bad], nan=-np.inf)))
    worst = bad[order[:most]]
    named = _named(table, number, block, worst)
    return len(bad), [(float(margins[place]), row) for place, row in zip(worst, named)]


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


def closed_form(table, number, block, state):
    """The sums of a learner that is made of sums."""
    learner, number_of_learner, shift = state
    if learner == "multinomial-nb" and (block.matrix < 0).any():
        row, column = (int(k[0]) for k in np.nonzero(block.matrix < 0))
        raise ValueError(
            f"linsep: column {table.names[column]!r} has {block.matrix[row, column]} in row "
            f"{number * table.block_rows + row}; multinomial naive Bayes needs counts"
        )
    return form_of(learner, number_of_learner).partial(data_of(block, table), shift)


def newton(table, number, block, state):
    """Losses, slopes and second derivatives at a plane."""
    problem, weights, bias = state
    return _linsep.NewtonRounds.partial(data_of(block, table), problem, weights, bias)


def dual(table, number, block, state):
    """The part of a block in the bound."""
    problem, weights, bias, factors = state
    return _linsep.NewtonRounds.dual_part(data_of(block, table), problem, weights, bias, factors)


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
        (start + int(place), block.matrix[place].astype(np.float64), int(block.codes[place]), name(place))
        for place in places
    ]
