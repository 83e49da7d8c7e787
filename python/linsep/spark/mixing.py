"""Perceptrons of blocks, averaged: iterative parameter mixing.

Each block goes some epochs over its rows from the planes of all, and the next planes are the mean of where the blocks
came to, by the number of their updates. Where planes separate the classes, there comes a round without an update (McDonald,
Hall, Mann 2010). What is claimed then is what the exact checker confirms on every row.
"""

import json
from dataclasses import dataclass

import numpy as np

from linsep import _linsep
from linsep.spark import verdict, work
from linsep.spark.cluster import OutOfTime


@dataclass(frozen=True)
class Mixed:
    """The planes of the round with the fewest rows on the wrong side, how many these are, and rounds so far."""

    planes: tuple
    wrong: int
    rounds: int


def mixed(cluster, limits, epochs, began):
    """Rounds of perceptrons until no row is on the wrong side or a limit is reached."""
    classes, width = len(cluster.table.classes), cluster.table.width
    count = 1 if classes == 2 else classes
    planes, best, rounds = ([[0.0] * width] * count, [0.0] * count), None, 0
    try:
        # The last round counts what is wrong, and its updates are not used.
        while rounds <= limits.max_iter:
            wrong, updates, sums = cluster.reduce_blocks(work.epochs, work.add_epochs, (planes, epochs))
            best = Mixed(planes, wrong, rounds) if best is None or wrong < best.wrong else best
            rounds += 1
            if limits.progress:
                limits.progress({"round": cluster.rounds - began, "phase": "perceptron", "rows": wrong, "updates": updates})
            # Ties are wrong, and may be no reason for an update.
            if wrong == 0 or updates == 0:
                break
            mean = sums / updates
            planes = (mean[:, :-1].tolist(), mean[:, -1].tolist())
    except OutOfTime:
        if best is None:
            raise
    return Mixed(best.planes, best.wrong, max(1, rounds))


def claimed(cluster, surveys, found, prove):
    """The certificate: that the planes separate, if the exact checker confirms it on every row, else why nothing is claimed."""
    if not prove:
        return _unproved(cluster, surveys, "no proof was asked for")
    if found.wrong:
        rows = int(sum(survey["rows"].sum() for survey in surveys))
        return _unproved(cluster, surveys, f"{found.wrong} of {rows} rows are on the wrong side of the planes")
    claims = [_claim(cluster.table.classes, found.planes)]
    try:
        known = {row[0]: row for row in verdict._sample(cluster, 1)}
        findings, _ = verdict._checked(cluster, verdict.certificate_of(cluster, surveys, claims, known), claims, known, 0)
    except OutOfTime:
        return _unproved(cluster, surveys, "the time limit was reached before there was a proof")
    if any(finding != "true" for finding, _ in findings):
        return _unproved(cluster, surveys, "the exact checker did not confirm that the planes separate the rows")
    held = verdict.certificate_of(cluster, surveys, claims, known)
    return _linsep.Certificate.from_json(json.dumps(held))


def _claim(classes, planes):
    """That planes separate, as certificates have it."""
    weights, biases = planes
    if len(classes) == 2:
        sides = {"scheme": "binary", "positive": [classes[1]], "negative": [classes[0]]}
        return {"claim": "separable", **sides, "plane": {"weights": weights[0], "bias": biases[0]}}
    each = zip(classes, weights, biases)
    listed = [{"class": name, "weights": weight, "bias": bias} for name, weight, bias in each]
    return {"claim": "separable", "scheme": "joint", "planes": listed}


def _unproved(cluster, surveys, reason):
    held = verdict.certificate_of(cluster, surveys, [{"claim": "unproved", "reason": reason}])
    return _linsep.Certificate.from_json(json.dumps(held))
