"""Separable or not, of a table on a cluster, with the proof.

The driver holds few *active* rows and decides about them exactly. A plane that separates them is shown to all
rows, and the rows that it gets wrong become active; so does each row with which a claim about the active rows
fails. The end is a claim that the exact checker has confirmed on every block. A claim of rows that show that no
plane separates holds of every table that has these rows.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from linsep import _linsep
from linsep._results import Certificate, Checked
from linsep.spark import work
from linsep.spark.blocks import Block, data_of
from linsep.spark.cluster import OutOfTime, running

#: Claims about a verdict; others about the active rows say nothing of the table.
_VERDICTS = {
    "separable", "inseparable", "touching", "overlapping",
    "joint-separable", "joint-inseparable", "joint-touching", "joint-overlapping", "geometric-margin",
}  # fmt: skip

#: Where claims name rows.
_LISTS = ("witness", "support")

#: Claims that the checker shows by sums over the rows.
_SUMS = {"optimal", "stationary", "counts"}

_SAMPLE_BYTES = 16 << 20

_PREFIX = b"linsep.digest/2\n"
_MULTISET = b"linsep.multiset/1\n"

#: The safe prime modulo which rows are multiplied.
_PRIME = 2**3072 - 1103717


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
    table,
    *,
    label=None,
    features=None,
    id=None,
    weight=None,
    missing=None,
    unknown_level=None,
    block_rows=None,
    collect_limit=None,
    most_rounds=100,
    time_limit=None,
    resume=None,
    progress=None,
):
    """Decides whether planes separate the classes of a table on a cluster.

    Parameters
    ----------
    table : pyspark.sql.DataFrame or Cluster
    label : str
        The column of the classes.
    features : list of str or str, optional
        Columns of numbers, booleans or texts, or one column of vectors; all other columns where it is not given. Texts
        of at most 50 levels are 0/1 features, one for each level.
    id : str, optional
        A column of distinct names. Without it rows are ordered by file and place in it where the frame was read from
        Parquet files, else by a digest of their values.
    weight : str, optional
        A column of weights; a row without weight takes no part.
    missing : str, optional
        What is done where a value is missing: ``error``, ``drop-row``, ``mean``, ``median`` or ``zero``.
    unknown_level : str, optional
        What a model does with a level that it has not seen: ``error``, or ``zeros`` for no feature.
    collect_limit : int, optional
        The most bytes that the driver takes in a round, 2^30 unless given; more is an error.
    most_rounds, time_limit : int, float
        Then the answer is ``undecided``. The time is in seconds and counts from the call; if it ends before the table is
        surveyed, :class:`~linsep.spark.OutOfTime` is raised.
    resume : str, optional
        A folder with the state of the run. A run whose driver was killed goes on from the last round in it.
    progress : callable, optional
        Called after each round with a dict: round, phase, verdict, rows (violators) and active.
    """
    options = {"label": label, "features": features, "id": id, "weight": weight, "missing": missing}
    options.update(unknown_level=unknown_level, block_rows=block_rows, collect_limit=collect_limit)
    with running(table, options, time_limit, resume) as cluster:
        return _Search(cluster, most_rounds, progress).run()


def verify(certificate, table, *, label=None, features=None, id=None, weight=None, missing=None, block_rows=None):
    """Checks the claims of a certificate on a table on a cluster, in exact arithmetic.

    Where no columns are given, they are read as the certificate says, with its levels and its values for missing ones.
    The rows need the order that they had when it was made.
    """
    text = certificate.to_json() if hasattr(certificate, "to_json") else str(certificate)
    held = json.loads(_linsep.Certificate.from_json(text).to_json())
    options = {"label": label, "features": features, "id": id, "weight": weight, "missing": missing}
    options["block_rows"] = block_rows
    if features is None and missing is None and held.get("input") and not hasattr(table, "map_blocks"):
        options.update(input=held["input"], label=label or (held["input"].get("label") or {}).get("name"))
    with running(table, options) as cluster:
        return _verified(held, cluster)


def identity(surveys):
    """The digest of a table as one machine computes it, and its number of rows."""
    hashes = [digest for found in surveys for digest in found["hashes"]]
    rows = int(sum(found["rows"].sum() for found in surveys))
    return {"sha256": hashlib.sha256(_PREFIX + b"".join(hashes)).hexdigest(), "digest": 2, "rows": rows}


def multiset(surveys):
    """The digest of the rows in any order, where the survey had their products."""
    if any(found["multiset"] is None for found in surveys):
        return None
    rows, product = 0, 1
    for found in surveys:
        rows += int.from_bytes(found["multiset"][:8], "little")
        product = product * int.from_bytes(found["multiset"][8:], "little") % _PRIME
    return hashlib.sha256(_MULTISET + rows.to_bytes(8, "little") + product.to_bytes(384, "little")).hexdigest()


def surveyed(cluster):
    """What is known of all blocks. Rows that only their values order may stand elsewhere in a file, so that their
    table is also known by a digest that no order changes."""
    return cluster.map_blocks(work.survey, cluster.table.order == "digest")


def certificate_of(cluster, surveys, claims, known=None):
    """The certificate of claims about the table, as JSON has it; ``known`` has the rows that they name."""
    data, sha256 = identity(surveys), multiset(surveys)
    if sha256 is not None:
        rows = sorted({row for claim in claims for row in _rows_of(claim)})
        data["multiset"] = {"sha256": sha256}
        if rows:
            block = Block(np.array([known[row][1] for row in rows]), np.array([known[row][2] for row in rows]))
            hashes = data_of(block, cluster.table).row_hashes()
            data["multiset"]["rows"] = [[row, hash.hex()] for row, hash in zip(rows, hashes)]
    return {
        "format": "linsep.certificate/2",
        "data": data,
        "input": cluster.table.input,
        "reading": {"default": "binary64", "binary64": []},
        "bias": True,
        "basis": None,
        "claims": claims,
    }


def _verified(held, cluster):
    any_order = held["data"].get("multiset")
    given = {key: value for key, value in held["data"].items() if key != "multiset"}
    surveys = cluster.map_blocks(work.survey, any_order is not None)
    found = identity(surveys)
    moved, places = given != found and any_order is not None and multiset(surveys) == any_order["sha256"], {}
    if moved:
        held, places = {**held, "data": found}, _found(cluster, any_order.get("rows", []))
    elif given != found:
        words = f"the data has {found['rows']} rows and digest {found['sha256']}, the certificate speaks of "
        words += f"{held['data']['rows']} rows and {held['data']['sha256']}; rows need the order that they had"
        return Checked({"claim": claim["claim"], "about": "", "finding": "false", "words": words} for claim in held["claims"])
    rows = sorted({row for claim in held["claims"] for row in _rows_of(claim)})
    if moved and any(row not in places for row in rows):
        words = "the rows are in another order, and the certificate does not say which ones it names"
        return Checked({"claim": claim["claim"], "about": "", "finding": "false", "words": words} for claim in held["claims"])
    if moved:
        held = {**held, "claims": [_renumbered(claim, places) for claim in held["claims"]]}
        rows = sorted(places[row] for row in rows)
    known = {row[0]: row for row in cluster.reduce_blocks(work.fetch, work.add_rows, rows)}
    for row in _sample(cluster, 1):
        known.setdefault(row[0], row)
    missing = [row for row in rows if row not in known]
    if missing:
        raise ValueError(f"the certificate names row {missing[0]}, which the table does not have")
    checked = []
    for claim in held["claims"]:
        if claim["claim"] in _SUMS:
            certificate = _linsep.Certificate.from_json(json.dumps({**held, "claims": [claim]}))
            proof = _linsep.Proof.check(certificate, 0, cluster.table.width)
            finding, words = work.proved(cluster, [proof])[0].finding
            checked.append({"claim": claim["claim"], "about": "", "finding": finding, "words": words})
            continue
        if claim["claim"] not in _VERDICTS:
            words = "not a claim that is checked block by block; `linsep verify` checks it on one machine"
            checked.append({"claim": claim["claim"], "about": "", "finding": "unproved", "words": words})
            continue
        words, _ = _checked(cluster, held, [claim], known, 0)
        finding, words = words[0]
        if finding == "true":
            words = f"the exact checker confirms it on each of {cluster.table.blocks} blocks, {held['data']['rows']} rows in all"
        checked.append({"claim": claim["claim"], "about": "", "finding": finding, "words": words})
    return Checked(checked)


def _found(cluster, named):
    """Where the rows are that a certificate names by their hashes: the numbers that they have here."""
    waiting = {}
    for row, hash in named:
        waiting.setdefault(bytes.fromhex(hash), []).append(row)
    found = cluster.reduce_blocks(work.find, work.add_rows, tuple(sorted(waiting))) if waiting else []
    return {waiting[hash].pop(0): row[0] for hash, row in found if waiting[hash]}


def _rows_of(claim):
    return [entry["row"] for name in _LISTS for entry in claim.get(name, [])]


def _checked(cluster, held, claims, known, most):
    """What the checker finds of claims on all blocks, and rows with which they fail."""
    front, places = _front(claims, known)
    moved = {**held, "claims": [_renumbered(claim, places) for claim in claims]}
    return cluster.reduce_blocks(work.check, work.First(4 * (cluster.table.width + 1)), (moved, front, most))


def _sample(cluster, most):
    """About so many rows spread over the table, and the first row of each class."""
    blocks = max(1, cluster.table.blocks)
    spread, firsts = cluster.reduce_blocks(work.spread, work.add_spread, (-(-most // blocks), -(-blocks // most)))
    return [*spread, *firsts.values()]


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
    lists = {name: claim[name] for name in _LISTS if name in claim}
    return {**claim, **{name: [{**entry, "row": places[entry["row"]]} for entry in list] for name, list in lists.items()}}


class _Search:
    """The loop of the driver."""

    def __init__(self, cluster, most_rounds, progress):
        self.cluster, self.most_rounds, self.progress = cluster, most_rounds, progress
        self.began = cluster.rounds
        self.surveys = surveyed(cluster)
        weights = sum(found["weights"] for found in self.surveys)
        absent = [name for name, weight in zip(cluster.table.classes, weights) if not weight > 0]
        if len(weights) < 2 or absent:
            words = f"no row of class {absent[0]!r} has a weight" if absent else "the label has one class"
            raise ValueError(f"{words}; a classifier needs at least two")
        self.most = 4 * (cluster.table.width + 1)
        # The more rows begin, the fewer rounds follow; up to 16 MiB of them.
        begin = max(self.most, min(8 * self.most, _SAMPLE_BYTES // (8 * cluster.table.width)))
        self.known = {row[0]: row for row in _sample(cluster, begin)}

    def run(self):
        try:
            return self.search()
        except OutOfTime:
            return self.limit()

    def search(self):
        while not self.is_over():
            # Floats find a plane between the active rows long before they are decided about exactly.
            plane = self.plane() if len(self.cluster.table.classes) == 2 else None
            verdict, claims = "separable", [self.claim(*plane)] if plane else None
            if plane is None:
                verdict, claims = self.decide()
                if verdict == "undecided":
                    break
            elif self.leaves(verdict, plane):
                continue
            if self.is_over():
                break
            held = certificate_of(self.cluster, self.surveys, claims, self.known)
            findings, failing = _checked(self.cluster, held, claims, self.known, 8)
            self.tell("check", verdict, len(failing))
            if all(finding == "true" for finding, _ in findings):
                return self.answer(verdict, claims)
            if not self.join(failing):
                break
        return self.limit()

    def leaves(self, verdict, plane):
        """Whether a plane leaves rows on the wrong side that were not active before; they are now."""
        count, worst = self.wrong(*plane)
        self.tell("violators", verdict, count)
        return count > 0 and self.join(worst)

    def limit(self):
        return self.answer("undecided", [{"claim": "unproved", "reason": "a limit was reached"}])

    def is_over(self):
        return self.cluster.rounds - self.began >= self.most_rounds

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

    def plane(self):
        """The plane of the widest margin between the active rows, if there is one: it leaves the fewest rows to join."""
        try:
            model = _linsep.fit("hard-margin", {}, self.active(sorted(self.known)))
            return model.weights[0].tolist(), float(model.biases[0])
        except (RuntimeError, ValueError):
            return None

    def claim(self, weights, bias):
        """That a plane separates, as certificates have it."""
        negative, positive = self.cluster.table.classes
        sides = {"scheme": "binary", "positive": [positive], "negative": [negative]}
        return {"claim": "separable", **sides, "plane": {"weights": weights, "bias": bias}}

    def widest(self):
        """The model of the widest margin between the rows of two classes that separate, with its exact proof.

        Rows within the margin of the active rows become active, so the margin shrinks until it is that of all rows.
        """
        while not self.is_over():
            order = sorted(self.known)
            model = _linsep.fit("hard-margin", {}, self.active(order))
            count, worst = self.wrong(model.weights[0].tolist(), float(model.biases[0]), 1.0 - 1e-9)
            self.tell("margin", "separable", count)
            if count and self.join(worst):
                continue
            places = dict(enumerate(order))
            claims = [_renumbered(claim, places) for claim in json.loads(model.certificate.to_json())["claims"]]
            held = certificate_of(self.cluster, self.surveys, claims, self.known)
            findings, failing = _checked(self.cluster, held, claims, self.known, 8)
            self.tell("check", "separable", len(failing))
            if all(finding == "true" for finding, _ in findings):
                return model, held
            if not self.join(failing):
                break
        raise RuntimeError("a limit was reached before the widest margin was found")

    def wrong(self, weights, bias, least=0.0):
        state = (weights, bias, self.most, least)
        count, worst = self.cluster.reduce_blocks(work.wrong, work.Worst(self.most), state)
        return count, [row for _, row in worst]

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
        text = json.dumps(certificate_of(self.cluster, self.surveys, claims, self.known))
        certificate = Certificate.from_json(text)
        rows = sorted({row for claim in claims[-1:] for row in _rows_of(claim)})
        names = [self.known[row][3] for row in rows if self.known[row][3] is not None]
        rounds = self.cluster.rounds - self.began
        return ClusterVerdict(verdict, certificate, rows, names, self.cluster.table.order, rounds, len(self.known))
