"""linsep's commands. What its JSON calls things is mapped here and nowhere else."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

from comparison.contest import LINSEP, Contender, Run
from comparison.process import Failed

BENCH = Path(__file__).resolve().parent.parent

# The answers of `separable`: separable, not separable, undecided.
VERDICTS = (0, 1, 5)
# Bytes of a weight and of what a proof of it needs, for each class and feature.
BYTES_OF_A_WEIGHT = 24
# A limit that was reached on purpose: all epochs of a perceptron, the one update of a reading.
LIMIT_REACHED = 5

READ_ONLY = ("--learner", "perceptron", "--epochs", 1, "--updates", 1, "--verdict", "off")
CERTIFIED = ("--c", 1, "--gap", 1e-3, "--intercept", "none")
SQUARED_HINGE = ("--learner", "svm", "--loss", "squared-hinge", *CERTIFIED)
LOGISTIC = ("--learner", "logistic", *CERTIFIED)
ONE_VERSUS_REST = (*SQUARED_HINGE, "--multiclass", "ovr")
SOFTMAX = (*LOGISTIC, "--multiclass", "softmax")
SPARSE_LOGISTIC = (*LOGISTIC, "--penalty", "l1")
HARD_MARGIN = ("--learner", "hard-margin")
CRAMMER_SINGER = ("--learner", "svm", "--multiclass", "crammer-singer", *CERTIFIED)
# On the values as they are, as scikit-learn's perceptron learns.
PERCEPTRON = (
    "--learner", "perceptron", "--epochs", 5, "--stop", "limit", "--verdict", "off", "--scale", "none",
)  # fmt: skip


def binary():
    """The binary that LINSEP names, or a new release build."""
    if given := os.environ.get("LINSEP"):
        return Path(given).resolve()
    build = ["cargo", "build", "--release", "--package", "linsep-cli"]
    build += ["--message-format", "json-render-diagnostics"]
    done = subprocess.run(build, cwd=BENCH.parent, stdout=subprocess.PIPE, text=True, check=True)
    messages = map(json.loads, done.stdout.splitlines())
    return Path([m["executable"] for m in messages if m.get("executable")][-1])


class Linsep:
    def __init__(self, program, launcher, scratch):
        self.program = program
        self.launcher = launcher
        self.model = scratch / "model.linsep"
        self.certificate = scratch / "certificate.json"
        self.predictions = scratch / "linsep.predictions"

    def version(self):
        return self.launcher.run([self.program, "--version"], 60).output.strip()

    def train(self, data, flags, time_of, judge=None):
        """A contender that learns from a file; `time_of` picks the compared time from the Run."""

        def attempt(_tolerance, limit):
            self.model.unlink(missing_ok=True)
            words = [self.program, "train", data, *flags, "-o", self.model, "--json", "--verbose"]
            done = self.launcher.run(words, limit, good_exits=(0, LIMIT_REACHED))
            answer = json.loads(done.output)
            parts = seconds_of(answer)
            quality = judge(*read_model(self.model)) if judge else None
            times = parts | {"wall": done.seconds}
            return Run(
                times[time_of], parts["load"], parts["train"], done.peak_mib, quality, done.cpu,
                memory_of(answer, data),
            )  # fmt: skip

        return Contender(LINSEP, attempt)

    def score(self, training, flags, data):
        """A contender that predicts; its model is made first, outside the time."""

        def attempt(_tolerance, limit):
            if not attempt.has_model:
                words = [self.program, "train", training, *flags, "-o", self.model, "--quiet"]
                self.launcher.run(words, limit, good_exits=(0, LIMIT_REACHED))
                attempt.has_model = True
            words = [self.program, "predict", self.model, data, "-o", self.predictions, "--quiet"]
            done = self.launcher.run(words, limit)
            return Run(done.seconds, peak_mib=done.peak_mib, cpu=done.cpu)

        attempt.has_model = False
        return Contender(LINSEP, attempt)

    def separable(self, data, truth):
        """A contender that decides and proves. Its quality is 1 if the verdict is the truth."""

        def attempt(_tolerance, limit):
            words = [self.program, "separable", data, "--cert", self.certificate, "--json", "--quiet"]
            done = self.launcher.run(words, limit, good_exits=VERDICTS)
            answer = json.loads(done.output)
            seconds = answer["seconds"]
            decide = seconds["decide"] + seconds.get("prove", 0.0)
            is_right = verdict_of(answer) == truth
            return Run(decide, seconds["read"], decide, done.peak_mib, float(is_right), done.cpu)

        return Contender(LINSEP, attempt)

    def verify(self, data):
        """A contender that checks a certificate, made first and outside the time: the whole command."""

        def attempt(_tolerance, limit):
            if not attempt.has_certificate:
                words = [self.program, "separable", data, "--cert", self.certificate, "--quiet"]
                self.launcher.run(words, limit, good_exits=VERDICTS)
                attempt.has_certificate = True
            words = [self.program, "verify", self.certificate, data, "--json", "--quiet"]
            done = self.launcher.run(words, limit)
            holds = json.loads(done.output)["holds"]
            return Run(done.seconds, peak_mib=done.peak_mib, quality=float(holds), cpu=done.cpu)

        attempt.has_certificate = False
        return Contender(LINSEP, attempt)

    def reading(self, data, flags):
        """linsep's own reader as somebody to compare with."""

        def attempt(_tolerance, limit):
            words = [self.program, "train", data, *READ_ONLY, *flags, "-o", self.model, "--json", "--quiet"]
            done = self.launcher.run(words, limit, good_exits=(0, LIMIT_REACHED))
            load = seconds_of(json.loads(done.output))["load"]
            return Run(load, load, peak_mib=done.peak_mib, quality=1.0, cpu=done.cpu)

        return Contender("reading it with linsep", attempt)


def verdict_of(answer):
    """Of two classes: touching classes are not separable either."""
    return "separable" if answer["verdict"] == "separable" else "not separable"


def memory_of(answer, data):
    """What the peak may consist of, in bytes, if the program lists it: the rows as they are stored, other
    layouts of them, the weights, and the file while it is mapped."""
    listed = answer.get("memory")
    if not listed:
        return None
    return {
        "store": listed["store_bytes"],
        "layouts": {layout["name"]: layout["bytes"] for layout in listed.get("layouts", [])},
        "weights": BYTES_OF_A_WEIGHT * len(answer["classes"]) * answer["features"],
        "file": Path(data).stat().st_size,
    }


def seconds_of(answer):
    """`train` is all the work between the file and the model, the certificate included."""
    seconds = answer["seconds"]
    load = seconds["load"] if "load" in seconds else seconds["read"]
    return {"load": load, "train": seconds["train"] + seconds.get("prove", 0.0)}


def read_model(path):
    """Classes (as numbers, ascending), planes and biases. One plane speaks for the second class."""
    raw = path.read_bytes()
    classes, planes, biases = of_text(json.loads(raw)) if raw[:1] == b"{" else of_tensors(raw)
    return ascending(np.array([float(name) for name in classes]), planes, biases)


def of_tensors(raw):
    """A model of version 2: a safetensors file, which is read here with numpy alone."""
    size = int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    types = {"F64": "<f8", "I64": "<i8", "U8": "u1"}

    def tensor(name):
        start, stop = header[name]["data_offsets"]
        return np.frombuffer(data[start:stop], types[header[name]["dtype"]]).reshape(header[name]["shape"])

    biases = tensor("bias").copy()
    if "weights" in header:
        planes = tensor("weights").copy()
    else:
        features = json.loads(tensor("input").tobytes())["features"]
        planes = np.zeros((len(biases), features))
        starts, columns, values = tensor("indptr"), tensor("indices"), tensor("values")
        for row, first, last in zip(planes, starts[:-1], starts[1:], strict=True):
            row[columns[first:last]] = values[first:last]
    return json.loads(tensor("classes").tobytes()), planes, biases


def of_text(model):
    """A model of version 1: one JSON object."""
    features = model["input"]["features"] if "features" in model["input"] else len(model["input"]["columns"])
    planes = np.zeros((len(model["planes"]), features))
    for row, plane in zip(planes, model["planes"], strict=True):
        if "sparse" in plane:
            for index, value in plane["sparse"]:
                row[index] = value
        else:
            row[:] = plane["weights"]
    biases = np.array([plane.get("bias", 0.0) for plane in model["planes"]])
    return model["classes"], planes, biases


def ascending(classes, planes, biases):
    """The same model with its classes in ascending order."""
    order = np.argsort(classes)
    if len(planes) == 1:
        sign = 1.0 if order[0] == 0 else -1.0
        return classes[order], sign * planes, sign * biases
    if len(planes) != len(classes):
        raise Failed(f"{len(planes)} planes for {len(classes)} classes")
    return classes[order], planes[order], biases[order]
