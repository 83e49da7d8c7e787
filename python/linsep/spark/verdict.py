"""Separable or not, of a table on a cluster, with the proof.

The driver holds few *active* rows and decides about them exactly. A plane that separates them is shown to all
rows, and the rows that it gets wrong become active; so does each row with which a claim about the active rows
fails. The end is a claim that the exact checker has confirmed on every block. A claim of rows that show that no
plane separates holds of every table that has these rows.
"""

import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np

from linsep import _linsep
from linsep._results import Certificate, Checked
from linsep.spark import work
from linsep.spark.blocks import Block, data_of
from linsep.spark.cluster import cluster_of

#: Claims about a verdict; others about the active rows say nothing of the table.
_VERDICTS = {
    "separable", "inseparable", "touching", "overlapping",
    "joint-separable", "joint-inseparable", "joint-touching", "joint-overlapping",
}  # fmt: skip

_PREFIX = b"linsep.digest/2\n"


class ClusterVerdict:
    """The answer to whether planes separate the classes.

    Attributes
    ----------
    verdict : str
        separable, touching, overlapping, inseparable or undecided.
    certificate : Certificate
        The proof; ``to_json`` is what ``linsep verify`` reads.
    rows : list of int
        The rows of the witness, by their place in the order of the table.
    names : list
        The names of these rows, where there is a column of names.
    order : str
        What orders the rows: ``id:COLUMN``, ``file`` or ``digest``.
    rounds : int
        Passes over the blocks.
    """

    def __init__(self, verdict, certificate, rows, names, order, rounds, active):
        self.verdict, self.certificate, self.rows, self.names = verdict, certificate, rows, names
        self.order, self.rounds, self.active = order, rounds, active

    def __bool__(self):
        return self.verdict == "separable"

    def save(self, path):
        """Writes the certificate, whole or not at all."""
        path = Path(path)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_text(self.certificate.to_json(), encoding="utf-8")
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    def __repr__(self):
        return f"<linsep verdict: {self.verdict}, {self.rounds} rounds, rows by {self.order}>"


def separable(
    table, *, label=None, features=None, id=None, weight=None, block_rows=None, most_rounds=100, time_limit=None, progress=None
):
    """Decides whether planes separate the classes of a table on a cluster.

    Parameters
    ----------
    table : pyspark.sql.DataFrame or Cluster
    label : str
        The column of the classes.
    features : list of str or str, optional
        Numeric or boolean columns, or one column of vectors; all other columns where it is not given.
    id : str, optional
        A column of distinct names. Without it rows are ordered by file and place in it where the frame was read from
        Parquet files, else by a digest of their values.
    weight : str, optional
        A column of weights; a row without weight takes no part.
    most_rounds, time_limit : int, float
        Then the answer is ``undecided``.
    progress : callable, optional
        Called after each round with a dict.
    """
    options = {"label": label, "features": features, "id": id, "weight": weight, "block_rows": block_rows}
    cluster = cluster_of(table, **options)
    try:
        return _Search(cluster, most_rounds, time_limit, progress).run()
    finally:
        if cluster is not table:
            cluster.close()


def verify(certificate, table, *, label=None, features=None, id=None, weight=None, block_rows=None):
    """Checks the claims of a certificate on a table on a cluster, in exact arithmetic.

    The columns are those that the certificate names where none are given. The rows need the order that they had
    when it was made.
    """
    text = certificate.to_json() if hasattr(certificate, "to_json") else str(certificate)
    held = json.loads(_linsep.Certificate.from_json(text).to_json())
    columns = held.get("input") or {}
    if label is None and not hasattr(table, "map_blocks"):
        label = (columns.get("label") or {}).get("name")
        features = features or [column["name"] for column in columns.get("columns", [])] or None
    cluster = cluster_of(table, label=label, features=features, id=id, weight=weight, block_rows=block_rows)
    try:
        return _verified(held, cluster)
    finally:
        if cluster is not table:
            cluster.close()


def identity(surveys):
    """The digest of a table as one machine computes it, and its number of rows."""
    hashes = [digest for found in surveys for digest in found["hashes"]]
    rows = int(sum(found["rows"].sum() for found in surveys))
    return {"sha256": hashlib.sha256(_PREFIX + b"".join(hashes)).hexdigest(), "digest": 2, "rows": rows}


def certificate_of(cluster, surveys, claims):
    """The certificate of claims about the table, as JSON has it."""
    return {
        "format": "linsep.certificate/2",
        "data": identity(surveys),
        "input": cluster.table.input,
        "reading": {"default": "binary64", "binary64": []},
        "bias": True,
        "basis": None,
        "claims": claims,
    }


def _verified(held, cluster):
    surveys = cluster.map_blocks(work.survey, None)
    found = identity(surveys)
    if held["data"] != found:
        words = f"the data has {found['rows']} rows and digest {found['sha256']}, the certificate speaks of "
        words += f"{held['data']['rows']} rows and {held['data']['sha256']}; rows need the order that they had"
        return Checked({"claim": claim["claim"], "about": "", "finding": "false", "words": words} for claim in held["claims"])
    rows = sorted({row for claim in held["claims"] for row in _rows_of(claim)})
    known = {row[0]: row for found in cluster.map_blocks(work.fetch, rows) for row in found}
    for found in cluster.map_blocks(work.spread, 1):
        for row in found:
            known.setdefault(row[0], row)
    missing = [row for row in rows if row not in known]
    if missing:
        raise ValueError(f"the certificate names row {missing[0]}, which the table does not have")
    checked = []
    for claim in held["claims"]:
        if claim["claim"] not in _VERDICTS:
            words = "not a claim that is checked block by block; `linsep verify` checks it on one machine"
            checked.append({"claim": claim["claim"], "about": "", "finding": "unproved", "words": words})
            continue
        words, _ = _checked(cluster, held, [claim], known, 0)
        finding, words = words[0]
        if finding == "true":
            words = f"the exact checker confirms it on each of {len(surveys)} blocks, {held['data']['rows']} rows in all"
        checked.append({"claim": claim["claim"], "about": "", "finding": finding, "words": words})
    return Checked(checked)


def _rows_of(claim):
    return [entry["row"] for entry in claim.get("witness", [])]


def _checked(cluster, held, claims, known, most):
    """What the checker finds of claims on all blocks, and rows with which they fail."""
    front, places = _front(claims, known)
    moved = {**held, "claims": [_renumbered(claim, places) for claim in claims]}
    answers = cluster.map_blocks(work.check, (moved, front, most))
    findings = [_worst([found[k] for found, _ in answers]) for k in range(len(claims))]
    return findings, [row for _, rows in answers for row in rows]


def _worst(findings):
    """The first finding that is not true, else that of the first block."""
    return next((finding for finding in findings if finding[0] != "true"), findings[0])


def _front(claims, known):
    """The rows of witnesses and a row of each class as a block, and where each is in it."""
    wanted = {row for claim in claims for row in _rows_of(claim)}
    seen = {known[row][2] for row in wanted}
    for row in sorted(known):
        if known[row][2] not in seen:
            seen.add(known[row][2])
            wanted.add(row)
    rows = [known[row] for row in sorted(wanted)]
    block = Block(np.array([row[1] for row in rows]), np.array([row[2] for row in rows]))
    return block, {row[0]: place for place, row in enumerate(rows)}


def _renumbered(claim, places):
    if "witness" not in claim:
        return claim
    return {**claim, "witness": [{**entry, "row": places[entry["row"]]} for entry in claim["witness"]]}


class _Search:
    """The loop of the driver."""

    def __init__(self, cluster, most_rounds, time_limit, progress):
        self.cluster, self.most_rounds, self.progress = cluster, most_rounds, progress
        self.end = None if time_limit is None else time.monotonic() + time_limit
        self.began = cluster.rounds
        self.surveys = cluster.map_blocks(work.survey, None)
        weights = sum(found["weights"] for found in self.surveys)
        absent = [name for name, weight in zip(cluster.table.classes, weights) if not weight > 0]
        if len(weights) < 2 or absent:
            words = f"no row of class {absent[0]!r} has a weight" if absent else "the label has one class"
            raise ValueError(f"{words}; a classifier needs at least two")
        self.most = 4 * (cluster.table.width + 1)
        each = -(-self.most // max(1, len(self.surveys)))
        self.known = {row[0]: row for found in cluster.map_blocks(work.spread, each) for row in found}

    def run(self):
        while not self.is_over():
            verdict, claims = self.decide()
            if verdict == "undecided":
                break
            two = len(self.cluster.table.classes) == 2
            plane = self.plane(claims) if two and verdict == "separable" else None
            if plane is not None:
                count, worst = self.wrong(*plane)
                self.tell("violators", verdict, count)
                if count and self.join(worst):
                    continue
                claims = [{**claims[0], "plane": {"weights": plane[0], "bias": plane[1]}}] if not count else claims
            if self.is_over():
                break
            held = certificate_of(self.cluster, self.surveys, claims)
            findings, failing = _checked(self.cluster, held, claims, self.known, 8)
            self.tell("check", verdict, len(failing))
            if all(finding == "true" for finding, _ in findings):
                return self.answer(verdict, claims)
            if not self.join(failing):
                break
        return self.answer("undecided", [{"claim": "unproved", "reason": "a limit was reached"}])

    def is_over(self):
        late = self.end is not None and time.monotonic() > self.end
        return late or self.cluster.rounds - self.began >= self.most_rounds

    def decide(self):
        """The exact verdict on the active rows, and its claims about rows of the table."""
        order = sorted(self.known)
        verdict = _linsep.separable(self.active(order))
        claims = [c for c in json.loads(verdict.certificate.to_json())["claims"] if c["claim"] in _VERDICTS]
        places = dict(enumerate(order))
        return verdict.verdict, [_renumbered(claim, places) for claim in claims]

    def active(self, order):
        rows = [self.known[row] for row in order]
        block = Block(np.array([row[1] for row in rows]), np.array([row[2] for row in rows]))
        return data_of(block, self.cluster.table)

    def plane(self, claims):
        """The plane of the widest margin between the active rows: it leaves the fewest rows to join."""
        try:
            model = _linsep.fit("hard-margin", {}, self.active(sorted(self.known)))
            return model.weights[0].tolist(), float(model.biases[0])
        except (RuntimeError, ValueError):
            plane = claims[0].get("plane", {})
            weights, bias = plane.get("weights"), plane.get("bias")
            return (weights, bias) if isinstance(bias, float) and weights else None

    def wrong(self, weights, bias):
        answers = self.cluster.map_blocks(work.wrong, (weights, bias, self.most))
        worst = sorted((pair for _, pairs in answers for pair in pairs), key=lambda pair: (pair[0], pair[1][0]))
        return sum(count for count, _ in answers), [row for _, row in worst[: self.most]]

    def join(self, rows):
        before = len(self.known)
        for row in rows:
            self.known.setdefault(row[0], row)
        return len(self.known) > before

    def tell(self, phase, verdict, rows):
        if self.progress:
            rounds = self.cluster.rounds - self.began
            self.progress({"round": rounds, "phase": phase, "verdict": verdict, "rows": rows, "active": len(self.known)})

    def answer(self, verdict, claims):
        text = json.dumps(certificate_of(self.cluster, self.surveys, claims))
        certificate = Certificate.from_json(text)
        rows = sorted({row for claim in claims[-1:] for row in _rows_of(claim)})
        names = [self.known[row][3] for row in rows if self.known[row][3] is not None]
        rounds = self.cluster.rounds - self.began
        return ClusterVerdict(verdict, certificate, rows, names, self.cluster.table.order, rounds, len(self.known))
