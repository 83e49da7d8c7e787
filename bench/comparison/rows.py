"""The rows of the table: which job on which data against whom, and the bar."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from comparison import linsep as commands
from comparison import quality
from comparison.contest import Goal
from comparison.data import (
    A9A_FEATURES,
    DENSE_FEATURES,
    MNIST_FEATURES,
    NEWS20_FEATURES,
    ZIPF_FEATURES,
)

CERTIFIED = Goal("(P-D)/D", at_most=1e-3)
STATIONARY = Goal("stationarity", at_most=1e-9)
# Five epochs of a perceptron end where they end: better than guessing is all that can be asked.
ROUGHLY_RIGHT = Goal("accuracy", at_least=0.6)
UNJUDGED = Goal("quality")
# LDA on pixels that are always 0 needs a little of the identity; the same share for everybody.
MNIST_SHRINKAGE = 1e-3
RIDGE = 1.0
# A file in memory that every Linux has.
TMPFS = Path("/dev/shm")

FEATURES = {
    "a9a.svm": A9A_FEATURES, "news20.svm": NEWS20_FEATURES, "news20-rest.svm": NEWS20_FEATURES,
    "news20count.svm": NEWS20_FEATURES, "mnist.svm": MNIST_FEATURES, "mnist-parity.svm": MNIST_FEATURES,
    "dense.svm": DENSE_FEATURES, "zipf.svm": ZIPF_FEATURES,
}  # fmt: skip
# linsep reads a dense table as CSV, what LIBLINEAR has to read as svmlight: the same numbers.
AS_TABLE = {"dense.svm": "dense.csv"}
# On these, programs for dense data can be run at all.
DENSE = {"a9a.svm", "mnist.svm", "mnist-parity.svm", "dense.svm"}


@dataclass(frozen=True)
class Row:
    name: str
    job: str
    data: str
    bar: float
    goal: Goal
    contenders: object  # Bench -> (linsep or None, peers)
    repeats: tuple | None = None  # (full, quick) where they differ from the usual


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
        form = "dense" if name == "dense.svm" else "sparse"
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


def widened(planes, matrix):
    """Features that no row of a file has are not in a model of it; their weights are 0."""
    missing = matrix.features - planes.shape[1]
    return np.pad(planes, ((0, 0), (0, missing))) if missing else planes


def training_rows(name, label, file, bar):
    return [
        Row(
            f"train-{name}-{short}", f"training only, {title}", label, bar, CERTIFIED,
            lambda bench, file=file, objective=objective, flags=flags: bench.training(file, objective, flags),
        )
        for short, title, objective, flags in (
            ("svm", "L2-SVM", "squared-hinge", commands.SQUARED_HINGE),
            ("lr", "LR", "logistic", commands.LOGISTIC),
        )
    ]  # fmt: skip


READ_SVM, READ_CSV = "svmlight file → memory", "CSV file → memory"
FILE_MODEL = "file → saved certified model"
ROWS = [
    Row("read-svm-news20", READ_SVM, "news20", 10, UNJUDGED, lambda b: b.read_svmlight("news20.svm")),
    Row("read-svm-mnist", READ_SVM, "mnist", 10, UNJUDGED, lambda b: b.read_svmlight("mnist.svm")),
    Row("read-csv-letter", READ_CSV, "letter repeated", 2, UNJUDGED, lambda b: b.read_csv("letter.csv")),
    Row("read-csv-mnist", READ_CSV, "mnist", 2, UNJUDGED, lambda b: b.read_csv("mnist.csv", "float")),
    Row("read-csv-dense", READ_CSV, "dense 1M x 100", 2, UNJUDGED, lambda b: b.read_csv("dense.csv")),
    Row(
        "file-news20", f"{FILE_MODEL}, L2-SVM one v rest", "news20, 20 classes", 6, CERTIFIED,
        lambda b: b.file_to_model("news20.svm", "ovr-squared-hinge", commands.ONE_VERSUS_REST),
    ),
    Row(
        "file-zipf", f"{FILE_MODEL}, L2-SVM", "zipf 500k x 1M", 4, CERTIFIED,
        lambda b: b.file_to_model("zipf.svm", "squared-hinge", commands.SQUARED_HINGE),
    ),
    Row(
        "file-a9a", f"{FILE_MODEL}, L2-SVM", "a9a in tmpfs", 3, CERTIFIED,
        lambda b: b.file_to_model("a9a.svm", "squared-hinge", commands.SQUARED_HINGE, in_memory=True),
        repeats=(50, 10),
    ),
    *training_rows("news20", "news20, class 0 v rest", "news20-rest.svm", 2),
    *training_rows("zipf", "zipf 500k x 1M", "zipf.svm", 2),
    *training_rows("a9a", "a9a", "a9a.svm", 2),
    *training_rows("mnist", "mnist even/odd", "mnist-parity.svm", 5),
    *training_rows("dense", "dense 1M x 100", "dense.svm", 5),
    Row(
        "crammer-singer-mnist", "Crammer-Singer", "mnist, 10 classes", 5, CERTIFIED,
        lambda b: b.training("mnist.svm", "crammer-singer", commands.CRAMMER_SINGER),
    ),
    Row(
        "crammer-singer-news20", "Crammer-Singer", "news20, 20 classes", 3, CERTIFIED,
        lambda b: b.training("news20.svm", "crammer-singer", commands.CRAMMER_SINGER),
    ),
    Row("ridge-mnist", "ridge", "mnist, 10 classes", 2, STATIONARY, lambda b: b.ridge("mnist.svm")),
    Row("ridge-dense", "ridge", "dense 1M x 100", 2, STATIONARY, lambda b: b.ridge("dense.svm")),
    Row(
        "lda-mnist", "LDA", "mnist, 10 classes", 8, Goal("accuracy", at_least=0.85),
        lambda b: b.lda("mnist.svm", MNIST_SHRINKAGE),
    ),
    Row(
        "lda-dense", "LDA", "dense 1M x 100", 8, Goal("accuracy", at_least=0.88),
        lambda b: b.lda("dense.svm", 0.0),
    ),
    Row(
        "nb-news20", "multinomial naive Bayes", "news20count", 3, Goal("accuracy", at_least=0.75),
        lambda b: b.counts("news20count.svm"),
    ),
    Row(
        "perceptron-dense", "perceptron, 5 epochs", "dense 1M x 100", 6, ROUGHLY_RIGHT,
        lambda b: b.perceptron("dense.svm"),
    ),
    Row(
        "perceptron-zipf", "perceptron, 5 epochs", "zipf 500k x 1M", 2, ROUGHLY_RIGHT,
        lambda b: b.perceptron("zipf.svm"),
    ),
    Row(
        "perceptron-mnist", "perceptron, 5 epochs", "mnist even/odd", 6, ROUGHLY_RIGHT,
        lambda b: b.perceptron("mnist-parity.svm"),
    ),
    Row("score-mnist", "scoring a file", "mnist.test", 4, UNJUDGED, lambda b: b.scoring("mnist", 10)),
    Row("score-news20", "scoring a file", "news20.test", 4, UNJUDGED, lambda b: b.scoring("news20", 20)),
]  # fmt: skip


def chosen(pattern):
    """All rows, or those whose name contains the pattern."""
    return [row for row in ROWS if pattern is None or pattern in row.name]
