"""The rows of the table: which job on which data against whom, with its floor and its goal."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from comparison import linsep as commands
from comparison import quality
from comparison.contest import Bars, Standard
from comparison.data import (
    A9A_FEATURES,
    DENSE_FEATURES,
    HELD_DENSE,
    HELD_IMAGE,
    HELD_LEVELS,
    HELD_TEXT,
    HELD_ZIPF,
    MNIST_FEATURES,
    NEWS20_FEATURES,
    ZIPF_FEATURES,
)

CERTIFIED = Standard("(P-D)/D", at_most=1e-3)
STATIONARY = Standard("stationarity", at_most=1e-9)
WIDEST = Standard("1 - margin/widest", at_most=1e-9)
RIGHT = Standard("verdict", at_least=1.0)
# Five epochs of a perceptron end where they end: better than guessing is all that can be asked.
ROUGHLY_RIGHT = Standard("accuracy", at_least=0.6)
UNJUDGED = Standard("quality")
# LDA on pixels that are always 0 needs a little of the identity; the same share for everybody.
IMAGE_SHRINKAGE = 1e-3
RIDGE = 1.0
# HiGHS needs minutes or hours where linsep needs seconds: a bound of the ratio is enough there.
SEPARATION_LIMIT = 60
# A file in memory that every Linux has.
TMPFS = Path("/dev/shm")

HELD_IMAGE_FEATURES = HELD_IMAGE["side"] ** 2
FEATURES = {
    "a9a.svm": A9A_FEATURES, "news20.svm": NEWS20_FEATURES, "news20-rest.svm": NEWS20_FEATURES,
    "news20count.svm": NEWS20_FEATURES, "mnist.svm": MNIST_FEATURES, "mnist-parity.svm": MNIST_FEATURES,
    "dense.svm": DENSE_FEATURES, "zipf.svm": ZIPF_FEATURES, "separable-text.svm": 47_000, "margin.svm": 40,
    "held-text.svm": HELD_TEXT["features"], "held-text-rest.svm": HELD_TEXT["features"],
    "held-textcount.svm": HELD_TEXT["features"], "held-image.svm": HELD_IMAGE_FEATURES,
    "held-image-parity.svm": HELD_IMAGE_FEATURES, "held-dense.svm": HELD_DENSE["features"],
    "held-zipf.svm": HELD_ZIPF["features"], "held-onehot.svm": sum(HELD_LEVELS),
    "held-separable-text.svm": 60_000, "held-margin.svm": 120,
}  # fmt: skip
# linsep reads a dense table as CSV, what LIBLINEAR has to read as svmlight: the same numbers.
AS_TABLE = {"dense.svm": "dense.csv", "held-dense.svm": "held-dense.csv"}
# On these, programs for dense data can be run at all.
DENSE = {
    "a9a.svm", "mnist.svm", "mnist-parity.svm", "dense.svm", "held-onehot.svm", "held-image.svm",
    "held-image-parity.svm", "held-dense.svm",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A job on one data set."""

    data: str
    standard: Standard
    contenders: object  # Bench -> (linsep or None, peers)


@dataclass(frozen=True)
class Row:
    name: str
    job: str
    bars: Bars
    case: Case
    held_out: Case  # the same job on data that nobody tunes on
    repeats: tuple | None = None  # (full, quick) where they differ from the usual
    limit: float | None = None  # seconds of one run, where they differ from the usual

    @property
    def data(self):
        return self.case.data

    @property
    def cases(self):
        return (("", self.case), ("held-out", self.held_out))


class Bench:
    """What the rows are made with."""

    def __init__(self, data, linsep, peers, references, scratch):
        self.data = data
        self.linsep = linsep
        self.peers = peers
        self.references = references
        self.scratch = scratch
        self.matrices = {}

    def matrix(self, name):
        if name not in self.matrices:
            self.matrices.clear()  # one at a time: they are large
            self.matrices[name] = self.data.exact(name, FEATURES[name])
        return self.matrices[name]

    def optimality(self, name, objective):
        """Judges planes by (P − D)/D."""
        matrix = self.matrix(name)
        reference_dual = self.references.dual(matrix, objective)

        def judge(classes, planes, _biases):
            return quality.excess(matrix, objective, classes, widened(planes, matrix), reference_dual)

        return judge

    def accuracy(self, name):
        matrix = self.matrix(name)

        def judge(classes, planes, biases):
            return quality.accuracy(matrix.rows, matrix.labels, classes, widened(planes, matrix), biases)

        return judge

    def widest(self, name):
        """Judges planes by their margin."""
        return self.optimality(name, "margin")

    def stationarity(self, name):
        matrix = self.matrix(name)

        def judge(classes, planes, biases):
            return quality.stationarity(
                matrix.rows, matrix.labels, classes, widened(planes, matrix), biases, RIDGE
            )

        return judge

    def learn(self, name, flags, time_of, judge):
        """linsep on the data of this name."""
        if name in AS_TABLE:
            name, flags = AS_TABLE[name], (*flags, "--label", "label")
        return self.linsep.train(self.data.path(name), flags, time_of, judge)

    # ------------------------------------------------ the kinds of rows

    def read_svmlight(self, name):
        path = self.data.path(name)
        return self.linsep.train(path, commands.READ_ONLY, "load"), self.peers.svmlight_readers(path)

    def read_csv(self, name, types="inferred"):
        path = self.data.path(name)
        flags = (*commands.READ_ONLY, "--label", "label")
        return self.linsep.train(path, flags, "load"), self.peers.csv_readers(path, types)

    def file_to_model(self, name, objective, flags, in_memory=False):
        judge = self.optimality(name, objective)
        path = self.data.path(name)
        if in_memory and TMPFS.is_dir():
            path = Path(shutil.copy(path, self.scratch / name))
        peers = self.peers.file_to_model(path, self.matrix(name), objective, judge)
        return self.linsep.train(path, flags, "wall", judge), peers

    def training(self, name, objective, flags):
        judge = self.optimality(name, objective)
        matrix = self.matrix(name)
        peers = self.peers.training(matrix, objective, judge, name in DENSE)
        return self.learn(name, flags, "train", judge), peers

    def ridge(self, name):
        judge = self.stationarity(name)
        matrix = self.matrix(name)
        peers = self.peers.estimator("sklearnex", "ridge", matrix, "dense", judge, name="sklearnex ridge")
        peers += self.peers.estimator(
            "sklearnex", "ridge", matrix, "dense32", judge, name="sklearnex ridge, single precision"
        )
        peers += self.peers.estimator("sklearn", "ridge", matrix, "dense", judge)
        flags = ("--learner", "least-squares", "--l2", RIDGE)
        return self.learn(name, flags, "train", judge), peers

    def lda(self, name, shrinkage):
        judge = self.accuracy(name)
        matrix = self.matrix(name)
        peers = self.peers.estimator("sklearn", "lda", matrix, "dense", judge, parameter=shrinkage)
        flags = ("--learner", "lda", *(("--shrinkage", shrinkage) if shrinkage else ()))
        return self.learn(name, flags, "train", judge), peers

    def counts(self, name):
        judge = self.accuracy(name)
        matrix = self.matrix(name)
        peers = self.peers.estimator("sklearn", "multinomial-nb", matrix, "sparse", judge)
        return self.learn(name, ("--learner", "multinomial-nb"), "train", judge), peers

    def perceptron(self, name):
        judge = self.accuracy(name)
        matrix = self.matrix(name)
        form = "dense" if name in AS_TABLE else "sparse"
        peers = self.peers.estimator("sklearn", "perceptron", matrix, form, judge)
        return self.learn(name, commands.PERCEPTRON, "train", judge), peers

    def scoring(self, name, classes):
        path = self.data.path
        peers = self.peers.scorers(
            path(f"{name}.fifth.svm"), path(f"{name}.test.svm"), path(f"{name}.fifth.vw"),
            path(f"{name}.test.vw"), classes,
        )  # fmt: skip
        flags = ("--learner", "perceptron", "--epochs", 1, "--verdict", "off")
        return self.linsep.score(path(f"{name}.fifth.svm"), flags, path(f"{name}.test.svm")), peers

    def hard_margin(self, name):
        judge = self.widest(name)
        peers = self.peers.hard_margin(self.matrix(name), judge)
        return self.learn(name, commands.HARD_MARGIN, "train", judge), peers

    def separable(self, name, truth):
        path = self.data.path(name)
        if name in FEATURES:
            source, features = self.matrix(name).arrays, FEATURES[name]
        else:
            source, features = path, 0
        return self.linsep.separable(path, truth), self.peers.separation(source, features, truth)

    def verify(self, name):
        """Against reading the file: whoever checks a claim about rows has to read them."""
        path = self.data.path(name)
        return self.linsep.verify(path), [self.linsep.reading(path, ("--label", "label"))]


def widened(planes, matrix):
    """Features that no row of a file has are not in a model of it; their weights are 0."""
    missing = matrix.features - planes.shape[1]
    return np.pad(planes, ((0, 0), (0, missing))) if missing else planes


# ---------------------------------------------------------------- the table


def row(name, job, floor, goal, standard, main, held_out, lower_is_better=False, **more):
    """`main` and `held_out`: what the data is called, what makes the contenders and, where the held-out data
    asks for another one, a standard."""

    def case(data, contenders, own=standard):
        return Case(data, own, contenders)

    return Row(name, job, Bars(floor, goal, lower_is_better), case(*main), case(*held_out), **more)


# The held-out sets as they are called in the table.
TEXT, TEXT_REST = "text 11k x 90k, 12 classes", "text 11k x 90k, class 0 v rest"
IMAGE, IMAGE_PARITY = "images 25k x 400, 7 classes", "images 25k x 400, even/odd"
TABLE, ONE_HOT, ZIPF = "table 400k x 60", "one-hot 60k x 200", "zipf 300k x 400k"

READ_SVM, READ_CSV = "svmlight file → memory", "CSV file → memory"
FILE_MODEL = "file → saved certified model"


def training_rows(name, main, held_out, svm_bars, lr_bars):
    """A row for the squared hinge and one for the logistic loss. `main` and `held_out`: label, file."""
    rows = []
    for short, title, objective, flags, bars in (
        ("svm", "L2-SVM", "squared-hinge", commands.SQUARED_HINGE, svm_bars),
        ("lr", "LR", "logistic", commands.LOGISTIC, lr_bars),
    ):

        def on(label, file, objective=objective, flags=flags):
            return label, lambda bench: bench.training(file, objective, flags)

        rows.append(row(f"train-{name}-{short}", f"training only, {title}", *bars, CERTIFIED, on(*main), on(*held_out)))
    return rows


def reading_rows():
    return [
        row(
            "read-svm-news20", READ_SVM, 9, 16, UNJUDGED,
            ("news20", lambda b: b.read_svmlight("news20.svm")), (TEXT, lambda b: b.read_svmlight("held-text.svm")),
        ),
        row(
            "read-svm-mnist", READ_SVM, 9, 16, UNJUDGED,
            ("mnist", lambda b: b.read_svmlight("mnist.svm")), (IMAGE, lambda b: b.read_svmlight("held-image.svm")),
        ),
        row(
            "read-svm-long", READ_SVM, 9, 16, UNJUDGED,
            ("long rows: 1,500 of 10k values", lambda b: b.read_svmlight("long.svm")),
            ("long rows: 500 of 22k values", lambda b: b.read_svmlight("held-long.svm")),
        ),
        row(
            "read-csv-letter", READ_CSV, 2, 3, UNJUDGED,
            ("letter repeated", lambda b: b.read_csv("letter.csv")),
            ("integers 600k x 24", lambda b: b.read_csv("held-integers.csv")),
        ),
        row(
            "read-csv-mnist", READ_CSV, 2, 3, UNJUDGED,
            ("mnist", lambda b: b.read_csv("mnist.csv", "float")),
            (IMAGE, lambda b: b.read_csv("held-image.csv", "float")),
        ),
        row(
            "read-csv-dense", READ_CSV, 2, 3, UNJUDGED,
            ("dense 1M x 100", lambda b: b.read_csv("dense.csv")), (TABLE, lambda b: b.read_csv("held-dense.csv")),
        ),
    ]  # fmt: skip


def file_to_model_rows():
    return [
        row(
            "file-news20", f"{FILE_MODEL}, L2-SVM one v rest", 5, 10, CERTIFIED,
            ("news20, 20 classes",
             lambda b: b.file_to_model("news20.svm", "ovr-squared-hinge", commands.ONE_VERSUS_REST)),
            (TEXT, lambda b: b.file_to_model("held-text.svm", "ovr-squared-hinge", commands.ONE_VERSUS_REST)),
        ),
        row(
            "file-zipf", f"{FILE_MODEL}, L2-SVM", 4, 6, CERTIFIED,
            ("zipf 500k x 1M", lambda b: b.file_to_model("zipf.svm", "squared-hinge", commands.SQUARED_HINGE)),
            (ZIPF, lambda b: b.file_to_model("held-zipf.svm", "squared-hinge", commands.SQUARED_HINGE)),
        ),
        row(
            "file-a9a", f"{FILE_MODEL}, L2-SVM", 3, 5, CERTIFIED,
            ("a9a in tmpfs",
             lambda b: b.file_to_model("a9a.svm", "squared-hinge", commands.SQUARED_HINGE, in_memory=True)),
            (f"{ONE_HOT} in tmpfs",
             lambda b: b.file_to_model("held-onehot.svm", "squared-hinge", commands.SQUARED_HINGE, in_memory=True)),
            repeats=(50, 10),
        ),
    ]  # fmt: skip


def objective_rows():
    """Training on data in memory, by objective."""
    return [
        *training_rows("news20", ("news20, class 0 v rest", "news20-rest.svm"), (TEXT_REST, "held-text-rest.svm"),
                       (1.5, 4), (1.5, 4)),
        *training_rows("zipf", ("zipf 500k x 1M", "zipf.svm"), (ZIPF, "held-zipf.svm"), (1.5, 4), (1.5, 4)),
        *training_rows("a9a", ("a9a", "a9a.svm"), (ONE_HOT, "held-onehot.svm"), (1.5, 4), (1.5, 4)),
        *training_rows("mnist", ("mnist even/odd", "mnist-parity.svm"), (IMAGE_PARITY, "held-image-parity.svm"),
                       (4, 8), (4, 8)),
        *training_rows("dense", ("dense 1M x 100", "dense.svm"), (TABLE, "held-dense.svm"), (6, 8), (2.5, 8)),
        row(
            "crammer-singer-mnist", "Crammer-Singer", 2, 20, CERTIFIED,
            ("mnist, 10 classes", lambda b: b.training("mnist.svm", "crammer-singer", commands.CRAMMER_SINGER)),
            (IMAGE, lambda b: b.training("held-image.svm", "crammer-singer", commands.CRAMMER_SINGER)),
        ),
        row(
            "crammer-singer-news20", "Crammer-Singer", 2, 8, CERTIFIED,
            ("news20, 20 classes", lambda b: b.training("news20.svm", "crammer-singer", commands.CRAMMER_SINGER)),
            (TEXT, lambda b: b.training("held-text.svm", "crammer-singer", commands.CRAMMER_SINGER)),
        ),
        row(
            "softmax-mnist", "softmax regression", 2, 5, CERTIFIED,
            ("mnist, 10 classes", lambda b: b.training("mnist.svm", "softmax", commands.SOFTMAX)),
            (IMAGE, lambda b: b.training("held-image.svm", "softmax", commands.SOFTMAX)),
        ),
        row(
            "l1-a9a", "L1 logistic regression", 1.2, 4, CERTIFIED,
            ("a9a", lambda b: b.training("a9a.svm", "l1-logistic", commands.SPARSE_LOGISTIC)),
            (ONE_HOT, lambda b: b.training("held-onehot.svm", "l1-logistic", commands.SPARSE_LOGISTIC)),
        ),
        row(
            "l1-news20", "L1 logistic regression", 1.2, 4, CERTIFIED,
            ("news20, class 0 v rest",
             lambda b: b.training("news20-rest.svm", "l1-logistic", commands.SPARSE_LOGISTIC)),
            (TEXT_REST, lambda b: b.training("held-text-rest.svm", "l1-logistic", commands.SPARSE_LOGISTIC)),
        ),
    ]  # fmt: skip


def closed_form_rows():
    # What LDA reaches on each set, whoever computes it, less a little.
    lda_mnist, lda_image = Standard("accuracy", at_least=0.85), Standard("accuracy", at_least=0.82)
    lda_dense, lda_table = Standard("accuracy", at_least=0.88), Standard("accuracy", at_least=0.8)
    return [
        row(
            "ridge-mnist", "ridge", 2, 4, STATIONARY,
            ("mnist, 10 classes", lambda b: b.ridge("mnist.svm")), (IMAGE, lambda b: b.ridge("held-image.svm")),
        ),
        row(
            "ridge-dense", "ridge", 2, 4, STATIONARY,
            ("dense 1M x 100", lambda b: b.ridge("dense.svm")), (TABLE, lambda b: b.ridge("held-dense.svm")),
        ),
        row(
            "lda-mnist", "LDA", 5, 20, lda_mnist,
            ("mnist, 10 classes", lambda b: b.lda("mnist.svm", IMAGE_SHRINKAGE)),
            (IMAGE, lambda b: b.lda("held-image.svm", IMAGE_SHRINKAGE), lda_image),
        ),
        row(
            "lda-dense", "LDA", 5, 20, lda_dense,
            ("dense 1M x 100", lambda b: b.lda("dense.svm", 0.0)),
            (TABLE, lambda b: b.lda("held-dense.svm", 0.0), lda_table),
        ),
        row(
            "nb-news20", "multinomial naive Bayes", 1.8, 10, Standard("accuracy", at_least=0.75),
            ("news20count", lambda b: b.counts("news20count.svm")),
            ("counts of the text", lambda b: b.counts("held-textcount.svm")),
        ),
    ]  # fmt: skip


def perceptron_rows():
    return [
        row(
            f"perceptron-{name}", "perceptron, 5 epochs", floor, goal, ROUGHLY_RIGHT,
            (main, lambda b, file=file: b.perceptron(file)), (held, lambda b, file=held_file: b.perceptron(file)),
        )
        for name, floor, goal, main, file, held, held_file in (
            ("dense", 3, 12, "dense 1M x 100", "dense.svm", TABLE, "held-dense.svm"),
            ("zipf", 1.5, 4, "zipf 500k x 1M", "zipf.svm", ZIPF, "held-zipf.svm"),
            ("mnist", 2, 10, "mnist even/odd", "mnist-parity.svm", IMAGE_PARITY, "held-image-parity.svm"),
        )
    ]  # fmt: skip


def scoring_rows():
    return [
        row(
            "score-mnist", "scoring a file", 2.5, 6, UNJUDGED,
            ("mnist.test", lambda b: b.scoring("mnist", 10)),
            ("images, 5k rows", lambda b: b.scoring("held-image", HELD_IMAGE["classes"])),
        ),
        row(
            "score-news20", "scoring a file", 2, 6, UNJUDGED,
            ("news20.test", lambda b: b.scoring("news20", 20)),
            ("text, 4k rows", lambda b: b.scoring("held-text", HELD_TEXT["classes"])),
        ),
    ]  # fmt: skip


def separation_rows():
    yes, no = "separable", "not separable"
    return [
        row(
            "separable-tall", "separable?", 20, 100, RIGHT,
            ("1M x 50", lambda b: b.separable("separable-tall.csv", yes)),
            ("300k x 80", lambda b: b.separable("held-separable-tall.csv", yes)),
            limit=SEPARATION_LIMIT,
        ),
        row(
            "separable-wide", "separable?", 20, 100, RIGHT,
            ("100k x 400", lambda b: b.separable("separable-wide.csv", yes)),
            ("60k x 250, one wrong label", lambda b: b.separable("held-overlapping-wide.csv", no)),
            limit=SEPARATION_LIMIT,
        ),
        row(
            "separable-text", "separable?", 20, 100, RIGHT,
            ("text 20k x 47k", lambda b: b.separable("separable-text.svm", yes)),
            ("text 12k x 60k", lambda b: b.separable("held-separable-text.svm", yes)),
            limit=SEPARATION_LIMIT,
        ),
        row(
            "verify", "verify a separable claim", 1.2, 1.05, RIGHT,
            ("2M x 50", lambda b: b.verify("claim.csv")), ("500k x 60", lambda b: b.verify("held-claim.csv")),
            lower_is_better=True,
        ),
        row(
            "hard-margin", "hard margin", 5, 50, WIDEST,
            ("40k x 40, mirrored", lambda b: b.hard_margin("margin.svm")),
            ("12k x 120, mirrored", lambda b: b.hard_margin("held-margin.svm")),
        ),
    ]  # fmt: skip


ROWS = [
    *reading_rows(), *file_to_model_rows(), *objective_rows(), *closed_form_rows(), *perceptron_rows(),
    *scoring_rows(), *separation_rows(),
]  # fmt: skip


def chosen(pattern):
    """All rows, or those whose name contains the pattern."""
    return [row for row in ROWS if pattern is None or pattern in row.name]
