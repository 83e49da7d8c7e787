"""The files that everybody reads: unpacked, cut, rescaled or generated once, then kept in bench/data.

`FULL` and `QUICK` differ in the number of rows alone: quick takes every fifth row of real data (so
that all classes stay) and a fifth of the rows of generated data. Seeds are fixed and every number is
rounded before it is used, so the text in a file is the data, to the last digit.
"""

import gzip
import hashlib
import math
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

from comparison import generate

BENCH = Path(__file__).resolve().parent.parent
FOLDER = BENCH / "data" / "compare"
SEED = 5

DENSE_FEATURES = 100
ZIPF_FEATURES = 1_000_000
ZIPF_DRAWS = 64  # some are drawn twice, so about 50 are left
POSITIVE_CLASS = "0"
MNIST_FEATURES = 784
NEWS20_FEATURES = 130_108
A9A_FEATURES = 123
SCORING_TRAIN_STRIDE = 5

# Held-out sets: seeds and shapes that no other set has.
HELD_SEED = 7100
HELD_TEXT = {"rows": 15_000, "features": 90_000, "classes": 12, "typical_length": 150}
HELD_TEXT_TESTS = 4  # one document in so many is for scoring
HELD_IMAGE = {"rows": 30_000, "side": 20, "classes": 7}
HELD_IMAGE_TESTS = 6
HELD_ZIPF = {"rows": 300_000, "features": 400_000}
HELD_DENSE = {"rows": 400_000, "features": 60}
HELD_LEVELS = (5, 20, 9, 2, 41, 7, 16, 3, 12, 6, 30, 8, 25, 4, 10, 2)
HELD_ONE_HOT_ROWS = 60_000


class DataError(Exception):
    """Data that is not there."""


@dataclass(frozen=True)
class Sizes:
    name: str
    stride: int
    dense_rows: int
    zipf_rows: int
    letter_bytes: int


FULL = Sizes("full", 1, 1_000_000, 500_000, 100_000_000)
QUICK = Sizes("quick", 5, 200_000, 100_000, 20_000_000)


class Data:
    """Names of files to files, each made the first time it is asked for."""

    def __init__(self, sizes, folder=FOLDER):
        self.sizes = sizes
        self.folder = folder / sizes.name
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        path = self.folder / name
        if not path.exists():
            partial = self.folder / f"{name}.partial"
            self.MAKERS[name](self, partial)
            partial.rename(path)
        return path

    def fewer(self, rows):
        """Generated data of a quick run has a fifth of the rows."""
        return rows // self.sizes.stride

    def exact(self, name, features):
        return Matrix(self.path(name), features)

    # ------------------------------------------------ real data

    def unpack(self, source, target):
        """Copies every `stride`-th row of an svmlight file from the folder LINSEP_DATA."""
        folder = os.environ.get("LINSEP_DATA")
        packed = Path(folder) / source if folder else None
        if packed is None or not packed.exists():
            raise DataError(f"{source} is not in the folder that LINSEP_DATA names")
        with gzip.open(packed, "rb") as rows, target.open("wb") as out:
            if self.sizes.stride == 1:
                shutil.copyfileobj(rows, out, 1 << 20)
            else:
                out.writelines(row for i, row in enumerate(rows) if i % self.sizes.stride == 0)

    def relabel(self, source, positive, target):
        """Two classes: 1 where `positive` says so of the label, -1 elsewhere."""
        with self.path(source).open() as rows, target.open("w") as out:
            for row in rows:
                label, _, values = row.partition(" ")
                out.write(f"{1 if positive(label) else -1} {values}")

    def write_mnist_table(self, target):
        """The pixels as the svmlight file spells them, and 0 where it has none."""
        with self.path("mnist.svm").open() as rows, target.open("w") as out:
            out.write(",".join(["label", *(f"p{j}" for j in range(1, MNIST_FEATURES + 1))]) + "\n")
            for row in rows:
                label, *pairs = row.split()
                cells = [label] + ["0"] * MNIST_FEATURES
                for pair in pairs:
                    index, value = pair.split(":")
                    cells[int(index)] = value
                out.write(",".join(cells) + "\n")

    def write_letters(self, target):
        folder = os.environ.get("LINSEP_DATA")
        source = Path(folder) / "letter.csv" if folder else None
        if source is None or not source.exists():
            raise DataError("letter.csv is not in the folder that LINSEP_DATA names")
        header, _, body = source.read_bytes().partition(b"\n")
        with target.open("wb") as out:
            out.write(header + b"\n")
            for _ in range(math.ceil(self.sizes.letter_bytes / len(body))):
                out.write(body)

    def write_subset(self, source, target):
        """A fifth of the rows: enough to give the planes whose speed in scoring is measured."""
        stride = SCORING_TRAIN_STRIDE // self.sizes.stride
        with self.path(source).open() as rows, target.open("w") as out:
            out.writelines(row for i, row in enumerate(rows) if i % stride == 0)

    def write_vw(self, source, target):
        """The format of vw: labels from 1, then the same pairs."""
        with self.path(source).open() as rows, target.open("w") as out:
            for row in rows:
                label, _, values = row.partition(" ")
                out.write(f"{int(float(label)) + 1} | {values}")

    # ------------------------------------------------ generated data

    def dense_block(self):
        """Normal points and labels of a random plane, with a noise of the score that gives one label
        in ten the other sign: those near the plane."""
        rng = np.random.default_rng(SEED)
        normal = rng.standard_normal(DENSE_FEATURES)
        points = np.round(rng.standard_normal((self.sizes.dense_rows, DENSE_FEATURES)), 4)
        noise = math.tan(math.pi / 10) * np.linalg.norm(normal)
        scores = points @ normal + noise * rng.standard_normal(len(points))
        return points, np.where(scores > 0, 1, -1)

    def write_dense_table(self, target):
        import polars

        points, labels = self.dense_block()
        columns = {"label": labels} | {f"x{j + 1}": points[:, j] for j in range(DENSE_FEATURES)}
        polars.DataFrame(columns).write_csv(target, float_precision=4)

    def write_dense_rows(self, target):
        from sklearn.datasets import dump_svmlight_file

        points, labels = self.dense_block()
        dump_svmlight_file(points, labels, str(target), zero_based=False)

    def write_zipf(self, target):
        """Word counts by Zipf's law, as tf-idf of unit length, labelled by a plane in one word of
        twenty and a noise in the score."""
        from sklearn.datasets import dump_svmlight_file

        rng = np.random.default_rng(SEED + 1)
        rows = self.sizes.zipf_rows
        # Log-uniform: the k-th word is drawn about 1/k as often as the first. Words in mixed order.
        ranks = np.exp(rng.random(rows * ZIPF_DRAWS) * math.log(ZIPF_FEATURES)).astype(np.int64)
        words = rng.permutation(ZIPF_FEATURES).astype(np.int32)[np.minimum(ranks, ZIPF_FEATURES) - 1]
        starts = np.arange(0, rows * ZIPF_DRAWS + 1, ZIPF_DRAWS)
        counts = sparse.csr_matrix(
            (np.ones(len(words)), words, starts), shape=(rows, ZIPF_FEATURES), copy=False
        )
        counts.sum_duplicates()
        document_counts = np.bincount(counts.indices, minlength=ZIPF_FEATURES)
        idf = 1 + np.log(rows / np.maximum(document_counts, 1))
        counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
        lengths = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
        values = counts.data / np.repeat(lengths, np.diff(counts.indptr))
        counts.data = np.round(values, 5)

        is_used = rng.random(ZIPF_FEATURES) < 0.05
        plane = np.where(is_used, rng.standard_normal(ZIPF_FEATURES), 0.0)
        scores = counts @ plane
        scores += 0.3 * scores.std() * rng.standard_normal(rows)
        dump_svmlight_file(counts, np.where(scores > 0, 1, -1), str(target), zero_based=False)

    def long_rows(self):
        return generate.long_rows(
            SEED + 2, self.fewer(1_500), values_in_row=10_000, most_gap=19, decimals=5, largest=99_999
        )

    def cut_by_plane(self, seed, rows, features, decimals=6, **more):
        return generate.cut_by_plane(seed, self.fewer(rows), features, decimals, **more)

    def separable_text(self):
        """The size of case e of bench/verdict."""
        return generate.text_by_plane(
            SEED + 4, self.fewer(20_000), 47_000, typical_length=60, noise=0.0, steepness=1, bare_share=0.9
        )

    def margin_rows(self):
        return generate.mirrored_gap(SEED + 5, self.fewer(20_000), features=40, gap=0.3, degrees=30)

    # ------------------------------------------------ held-out data

    def held_text(self, kind, is_test):
        """`kind`: 0 for counts, 1 for tf-idf of the same documents."""
        shape = HELD_TEXT | {"rows": self.fewer(HELD_TEXT["rows"])}
        documents = generate.text_of_classes(HELD_SEED, **shape)[kind]
        return every_nth(documents, HELD_TEXT_TESTS, is_test)

    def held_image(self, is_test):
        shape = HELD_IMAGE | {"rows": self.fewer(HELD_IMAGE["rows"])}
        return every_nth(generate.images(HELD_SEED + 1, **shape), HELD_IMAGE_TESTS, is_test)

    def held_zipf(self):
        return generate.text_by_plane(
            HELD_SEED + 2, self.fewer(HELD_ZIPF["rows"]), HELD_ZIPF["features"], typical_length=40, noise=0.6,
            steepness=1.05, bare_share=0.8,
        )  # fmt: skip

    def held_dense(self):
        rows, features = self.fewer(HELD_DENSE["rows"]), HELD_DENSE["features"]
        return generate.correlated_table(HELD_SEED + 3, rows, features, noise=0.6)

    def held_one_hot(self):
        return generate.one_hot(HELD_SEED + 4, self.fewer(HELD_ONE_HOT_ROWS), HELD_LEVELS)

    def held_integers(self):
        return generate.integer_table(HELD_SEED + 5, self.fewer(600_000), classes=8)

    def held_long_rows(self):
        return generate.long_rows(
            HELD_SEED + 6, self.fewer(500), values_in_row=22_000, most_gap=5, decimals=2, largest=9_999
        )

    def held_separable_text(self):
        return generate.text_by_plane(
            HELD_SEED + 7, self.fewer(12_000), 60_000, typical_length=110, noise=0.0, steepness=1.1, bare_share=0.0
        )

    def held_margin_rows(self):
        return generate.mirrored_gap(HELD_SEED + 8, self.fewer(6_000), features=120, gap=0.5, degrees=4)

    MAKERS = {
        "a9a.svm": lambda self, out: self.unpack("a9a.svm.gz", out),
        "news20.svm": lambda self, out: self.unpack("news20.svm.gz", out),
        "news20.test.svm": lambda self, out: self.unpack("news20.test.svm.gz", out),
        "news20count.svm": lambda self, out: self.unpack("news20count.svm.gz", out),
        "mnist.svm": lambda self, out: self.unpack("mnist.svm.gz", out),
        "mnist.test.svm": lambda self, out: self.unpack("mnist.test.svm.gz", out),
        "news20-rest.svm": lambda self, out: self.relabel("news20.svm", is_positive, out),
        "mnist-parity.svm": lambda self, out: self.relabel("mnist.svm", is_even, out),
        "mnist.csv": write_mnist_table,
        "letter.csv": write_letters,
        "dense.csv": write_dense_table,
        "dense.svm": write_dense_rows,
        "zipf.svm": write_zipf,
        "long.svm": lambda self, out: self.long_rows().write(out),
        "separable-tall.csv": lambda self, out: self.cut_by_plane(SEED + 3, 1_000_000, 50, 4).write_table(out),
        "separable-wide.csv": lambda self, out: self.cut_by_plane(SEED + 3, 100_000, 400, 4).write_table(out),
        "separable-text.svm": lambda self, out: self.separable_text().write(out),
        "claim.csv": lambda self, out: self.cut_by_plane(SEED + 6, 2_000_000, 50).write_table(out),
        "margin.svm": lambda self, out: self.margin_rows().write(out),
        "held-text.svm": lambda self, out: self.held_text(1, False).write(out),
        "held-text.test.svm": lambda self, out: self.held_text(1, True).write(out),
        "held-textcount.svm": lambda self, out: self.held_text(0, False).write(out),
        "held-text-rest.svm": lambda self, out: self.relabel("held-text.svm", is_positive, out),
        "held-image.svm": lambda self, out: self.held_image(False).write(out),
        "held-image.test.svm": lambda self, out: self.held_image(True).write(out),
        "held-image.csv": lambda self, out: self.held_image(False).write_table(out, "p"),
        "held-image-parity.svm": lambda self, out: self.relabel("held-image.svm", is_even, out),
        "held-zipf.svm": lambda self, out: self.held_zipf().write(out),
        "held-dense.csv": lambda self, out: self.held_dense().write_table(out),
        "held-dense.svm": lambda self, out: self.held_dense().write(out),
        "held-onehot.svm": lambda self, out: self.held_one_hot().write(out),
        "held-integers.csv": lambda self, out: self.held_integers().write_table(out),
        "held-long.svm": lambda self, out: self.held_long_rows().write(out),
        "held-separable-tall.csv": lambda self, out: self.cut_by_plane(
            HELD_SEED + 9, 300_000, 80, 3, uniform=True
        ).write_table(out),
        "held-overlapping-wide.csv": lambda self, out: self.cut_by_plane(
            HELD_SEED + 10, 60_000, 250, 3, flipped=1
        ).write_table(out),
        "held-separable-text.svm": lambda self, out: self.held_separable_text().write(out),
        "held-claim.csv": lambda self, out: self.cut_by_plane(
            HELD_SEED + 11, 500_000, 60, 5, uniform=True
        ).write_table(out),
        "held-margin.svm": lambda self, out: self.held_margin_rows().write(out),
    }
    # Scoring: a fifth of the rows to learn from, and both files in the format of vw.
    for scored in ("mnist", "news20", "held-image", "held-text"):
        MAKERS |= {
            f"{scored}.fifth.svm": lambda self, out, name=scored: self.write_subset(f"{name}.svm", out),
            f"{scored}.fifth.vw": lambda self, out, name=scored: self.write_vw(f"{name}.fifth.svm", out),
            f"{scored}.test.vw": lambda self, out, name=scored: self.write_vw(f"{name}.test.svm", out),
        }
    del scored


def is_positive(label):
    return label == POSITIVE_CLASS


def is_even(label):
    return int(label) % 2 == 0


def every_nth(rows, nth, is_chosen):
    """One row in `nth`, or all the others."""
    return rows.part((np.arange(len(rows.labels)) % nth == 0) == is_chosen)


class Matrix:
    """The rows of an svmlight file in memory, from arrays that are kept beside the file.

    The Python peers and the judge of the quality start from these; the arrays are double precision
    and hold what the file says.
    """

    def __init__(self, path, features):
        self.path = path
        self.features = features
        self.arrays = path.with_suffix(".arrays")
        if not self.arrays.exists():
            self.parse()

    def parse(self):
        from sklearn.datasets import load_svmlight_file

        rows, labels = load_svmlight_file(str(self.path), n_features=self.features, zero_based=False)
        partial = self.path.with_suffix(".arrays.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        np.save(partial / "labels.npy", labels)
        np.save(partial / "values.npy", rows.data)
        # 32-bit: some peers refuse wider indices.
        np.save(partial / "indices.npy", rows.indices.astype(np.int32))
        np.save(partial / "starts.npy", rows.indptr.astype(np.int32))
        partial.rename(self.arrays)

    def part(self, name):
        return np.load(self.arrays / f"{name}.npy")

    @cached_property
    def labels(self):
        return self.part("labels")

    @cached_property
    def rows(self):
        parts = (self.part("values"), self.part("indices"), self.part("starts"))
        return sparse.csr_matrix(parts, shape=(len(self.labels), self.features))

    @property
    def shape(self):
        return (len(self.labels), self.features)

    def raw(self):
        """A dense copy as plain doubles, and the labels, for programs without numpy."""
        dense, labels = self.arrays / "dense.f64", self.arrays / "labels.f64"
        if not dense.exists():
            self.labels.astype("<f8").tofile(labels)
            self.rows.toarray().astype("<f8").tofile(dense)
        return dense, labels

    @cached_property
    def digest(self):
        """Of the file, so that a kept reference is never used for other data."""
        kept = self.arrays / "sha256"
        if not kept.exists():
            with self.path.open("rb") as file:
                kept.write_text(hashlib.file_digest(file, "sha256").hexdigest())
        return kept.read_text().strip()
