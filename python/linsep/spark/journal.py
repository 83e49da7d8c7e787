"""The answers of rounds on disk, so that a run whose driver was killed goes on where it was.

The loops of the driver do the same on the same answers. So the state of a run is what the rounds have answered: a
folder with a file for each round, which is written beside its place and moved there, with the question and a
SHA-256 of all of it. A run with the same folder takes from it what is there and asks only for the rest. The first
round, the survey with the digest of all rows, is asked in any case: a state of another table is refused.

Files are JSON without types of Python; nothing in them is run.
"""

import base64
import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path

import numpy as np

from linsep.spark.blocks import Block
from linsep.spark.rows import Sparse

_FORMAT = "linsep.rounds/1"

#: Rounds whose answer says which table it is.
_SURVEYS = {"survey", "survey_and_sums", "survey_and_sample"}


class Journal:
    """The rounds of a run in a folder."""

    def __init__(self, folder):
        self.folder, self.number = Path(folder), 0
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"linsep: resume={str(folder)!r} is a file; the state of a run is a folder")
        self.folder.mkdir(parents=True, exist_ok=True)

    def round(self, name, state, ask):
        """The answer to a question, and whether it was there already."""
        path = self.folder / f"round-{self.number:05}.json"
        self.number += 1
        question = hashlib.sha256(f"{name}\n{_written(state)}".encode()).hexdigest()
        kept = self._read(path, name, question) if path.exists() else None
        if kept is not None and name not in _SURVEYS:
            return _value(kept), True
        answer = ask()
        written = _written(answer)
        if kept is not None and json.dumps(kept, allow_nan=True) != written:
            raise ValueError(f"linsep: {path}: the table is another one than that of this state; begin with an empty folder")
        if kept is None:
            self._write(path, name, question, written)
        return answer, False

    def _read(self, path, name, question):
        head, _, body = path.read_text(encoding="ascii").partition("\n")
        try:
            format, of, asked, sha256 = head.split(" ")
        except ValueError:
            format = of = asked = sha256 = ""
        if format != _FORMAT or hashlib.sha256(body.encode()).hexdigest() != sha256:
            raise ValueError(f"linsep: {path} is damaged; remove it and those after it")
        if (of, asked) != (name, question):
            raise ValueError(f"linsep: {path} is of another run: other options, or another version; begin with an empty folder")
        return json.loads(body)

    def _write(self, path, name, question, body):
        sha256 = hashlib.sha256(body.encode()).hexdigest()
        beside = path.with_suffix(".part")
        with open(beside, "w", encoding="ascii") as file:
            file.write(f"{_FORMAT} {name} {question} {sha256}\n{body}")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)


def _written(value):
    return json.dumps(_plain(value), allow_nan=True)


def _plain(value):
    """A value as JSON has it; what JSON has no form for is a list with its name in front."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, bytes):
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, np.ndarray):
        content = np.ascontiguousarray(value)
        return ["array", content.dtype.str, list(content.shape), base64.b64encode(content.tobytes()).decode()]
    if isinstance(value, Sparse):
        return ["sparse", *(_plain(part) for part in value.form)]
    if isinstance(value, Block):
        return ["block", *(_plain(getattr(value, field.name)) for field in fields(Block))]
    if isinstance(value, (list, tuple)):
        return ["list" if isinstance(value, list) else "tuple", *map(_plain, value)]
    if isinstance(value, dict):
        return ["dict", *([_plain(key), _plain(held)] for key, held in value.items())]
    raise TypeError(f"linsep: a state has no form for {type(value).__name__}")


def _value(held):
    if not isinstance(held, list):
        return held
    kind, *parts = held
    if kind == "bytes":
        return base64.b64decode(parts[0])
    if kind == "array":
        kind, shape, content = parts
        return np.frombuffer(base64.b64decode(content), dtype=np.dtype(kind)).reshape(shape).copy()
    values = [_value(part) for part in parts] if kind != "dict" else parts
    if kind == "sparse":
        return Sparse(*values)
    if kind == "block":
        return Block(*values)
    if kind == "dict":
        return {_value(key): _value(found) for key, found in values}
    return values if kind == "list" else tuple(values)
