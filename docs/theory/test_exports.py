#!/usr/bin/env python3
"""Exports run in the programs that they are for: onnxruntime and LIBLINEAR.

A million random rows, many of them on or near the planes, get the class of `linsep predict` and, in float64,
the same scores to the last bit. Needs numpy and onnxruntime; LIBLINEAR (liblinear-official) is asked where it
is installed. With LINSEP_NEEDS_ONNX=1 a missing onnxruntime is a failure, else the tests are skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import onnxruntime
except ImportError as error:
    if os.environ.get("LINSEP_NEEDS_ONNX"):
        raise
    print(f"WARNING: {error}; that exports run elsewhere is NOT tested here", file=sys.stderr)
    numpy = onnxruntime = None

try:
    from liblinear import liblinearutil
except ImportError:
    liblinearutil = None

LINSEP = os.environ.get("LINSEP", "target/ci/linsep")
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
MILLION = 10**6

# Names that a careless writer would let out of their place.
NAMES = ['a"b', "c\\", "*/ int x; /*", "??/ ??>", "%s%n", "größe 漢字 \u202e", "two\nlines", "x';--", "{{}}", "$HOME"]


def linsep(*arguments, ok=0):
    """Runs the program; gives what it printed."""
    run = subprocess.run([LINSEP, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != ok:
        raise AssertionError(f"{arguments}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stderr if ok else run.stdout


def table(path, names, rows, labels=None):
    """Writes a CSV file with the shortest numbers that read back the same."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write(",".join(quoted + (["label"] if labels is not None else [])) + "\n")
        for at, row in enumerate(rows.tolist()):
            line = ",".join(map(repr, row))
            if labels is not None:
                line += ',"' + labels[at].replace('"', '""') + '"'
            out.write(line + "\n")


@unittest.skipIf(onnxruntime is None, "onnxruntime is not installed")
class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def random_rows(self, width, count=MILLION):
        """Measurements, and small whole numbers, which meet planes and ties."""
        draw = numpy.random.default_rng(20261117)
        rows = draw.normal(3.0, 2.0, (count, width))
        rows[count // 2 :] = draw.integers(-3, 8, (count - count // 2, width))
        rows[count // 4 : count // 2] = numpy.round(rows[count // 4 : count // 2], 1)
        return rows

    def rows_of(self, names, count):
        """Random rows with these columns, as numbers and as a file."""
        path = self.at / f"{names[0]}-{len(names)}-{count}.csv"
        rows = self.random_rows(len(names), count)
        if not path.exists():
            table(path, names, rows)
        return rows, path

    def predicted(self, model, path):
        """What linsep predicts: labels and scores."""
        out = self.at / "predicted.csv"
        linsep("predict", model, path, "--output", "scores", "-q", "-o", out)
        with open(out, encoding="utf-8") as lines:
            next(lines)
            split = [line.rstrip("\n").split(",") for line in lines]
        labels = numpy.array([fields[0] for fields in split])
        return labels, numpy.array([list(map(float, fields[1:])) for fields in split])

    def run_onnx(self, path, rows):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        labels, scores = [], []
        for start in range(0, len(rows), 100_000):
            label, score = session.run(["label", "scores"], {"x": rows[start : start + 100_000]})
            labels.append(label)
            scores.append(score)
        return numpy.concatenate(labels).astype(str), numpy.concatenate(scores)

    def same(self, name, data, flags, names, count=MILLION):
        """Trains, exports, and compares so many rows."""
        model, graph = self.at / f"{name}.linsep", self.at / f"{name}.onnx"
        subprocess.run([LINSEP, "train", data, *flags, "-o", model, "-q"], capture_output=True)
        linsep("export", model, "--to", "onnx", "-o", graph, "--check", data)
        rows, path = self.rows_of(names, count)
        labels, scores = self.predicted(model, path)
        found, values = self.run_onnx(graph, rows)
        self.assertEqual(values.dtype, numpy.float64)
        wrong = numpy.flatnonzero(found != labels)
        self.assertEqual(len(wrong), 0, f"{name}: row {wrong[:3]}")
        # 0 and -0 are one score; every other bit counts.
        self.assertTrue((values == scores).all(), name)
        self.assertGreater(len(set(labels)), 1, name)
        return model, rows, labels

    BANKNOTE = ["f0", "f1", "f2", "f3"]
    IRIS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]

    def test_a_million_rows_get_the_same_scores_and_labels(self):
        iris, banknote = EXAMPLES / "iris.csv", EXAMPLES / "banknote.csv"
        self.same("joint", iris, [], self.IRIS)
        for scheme in ["ovr", "ovo"]:
            self.same(scheme, iris, ["--multiclass", scheme], self.IRIS)
        self.same("binary", banknote, [], self.BANKNOTE)

    def test_every_other_kind_of_model_is_the_same(self):
        iris, banknote, few = EXAMPLES / "iris.csv", EXAMPLES / "banknote.csv", MILLION // 10
        self.same("last", iris, ["--multiclass", "ovr-k-1"], self.IRIS, few)
        self.same("votes", iris, ["--learner", "voted", "--multiclass", "ovo"], self.IRIS, few)
        self.same("logistic", iris, ["--learner", "logistic"], self.IRIS, few)
        self.same("basis", iris, ["--basis", "poly:3"], self.IRIS, few)
        self.same("ballot", banknote, ["--learner", "voted"], self.BANKNOTE, few)
        for threshold in ["0.5", "-0.5"]:
            flags = ["--learner", "bernoulli-nb", "--binarize", threshold]
            self.same("threshold" + threshold, banknote, flags, self.BANKNOTE, few)

    def test_many_features_make_many_blocks(self):
        data, names = self.at / "wide.csv", [f"f{j}" for j in range(21)]
        rows = self.random_rows(21, 400)
        kinds = [str(int(row[:7].sum() > row[7:14].sum()) + int(row[20] > 4)) for row in rows]
        table(data, names, rows, kinds)
        flags = ["--label", "label", "--epochs", "50"]
        self.same("wide", data, flags, names, MILLION // 10)

    def test_a_score_of_zero_is_the_second_class(self):
        data = self.at / "and.csv"
        data.write_text("a,b,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n")
        for target, kind in [("onnx", numpy.float64), ("onnx-f32", numpy.float32)]:
            self.at.joinpath("and.json").write_text(
                '{"weights": [1, 1], "bias": -2, "classes": ["no", "yes"]}'
            )
            graph = self.at / f"and-{target}.onnx"
            linsep("export", self.at / "and.json", "--to", target, "-o", graph, "--check", data)
            rows = numpy.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=kind)
            labels, _ = self.run_onnx(graph, rows)
            self.assertEqual(list(labels), ["no", "no", "no", "yes"])

    def test_float32_keeps_every_row_of_the_data_or_is_refused(self):
        for name, data, flags in [
            ("iris", EXAMPLES / "iris.csv", []),
            ("iris-ovr", EXAMPLES / "iris.csv", ["--multiclass", "ovr"]),
            ("banknote", EXAMPLES / "banknote.csv", ["--learner", "svm"]),
        ]:
            model, graph = self.at / f"{name}.linsep", self.at / f"{name}-f32.onnx"
            proof = self.at / f"{name}-f32.json"
            subprocess.run([LINSEP, "train", data, *flags, "-o", model, "-q"], capture_output=True)
            linsep("export", model, "--to", "onnx-f32", "-o", graph, "--check", data, "--cert", proof)
            linsep("verify", proof, data)
            labels, _ = self.predicted(model, data)
            with open(data, encoding="utf-8") as lines:
                header = next(lines).strip().split(",")
                fields = [line.strip().split(",") for line in lines]
            session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
            names = json.loads(session.get_modelmeta().custom_metadata_map["linsep.features"])
            places = [header.index(name) for name in names]
            rows = numpy.array([[float(row[at]) for at in places] for row in fields], numpy.float32)
            found, _ = session.run(None, {"x": rows})
            self.assertEqual(list(found), list(labels))
        linsep("export", self.at / "iris.linsep", "--to", "onnx-f32", ok=2)

    def test_names_survive(self):
        data = self.at / "names.csv"
        rows = self.random_rows(len(NAMES), 60)
        for at, row in enumerate(rows):
            row[at % 10] += 40
        labels = [NAMES[at % 10] for at in range(60)]
        table(data, NAMES, rows, labels)
        model, graph = self.at / "names.linsep", self.at / "names.onnx"
        linsep("train", data, "--label", "label", "-o", model, "-q")
        linsep("export", model, "--to", "onnx", "-o", graph, "--check", data)
        session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        properties = session.get_modelmeta().custom_metadata_map
        self.assertEqual(json.loads(properties["linsep.features"]), NAMES)
        self.assertEqual(sorted(json.loads(properties["linsep.classes"])), sorted(NAMES))
        found, _ = session.run(None, {"x": rows})
        self.assertEqual(list(found), labels)
        text = linsep("export", model, "--to", "json", "-o", "-", "-q")
        whole = json.loads(text)
        self.assertEqual(whole["features"], NAMES)
        self.assertEqual(sorted(whole["classes"]), sorted(NAMES))

    @unittest.skipIf(liblinearutil is None, "liblinear-official is not installed")
    def test_liblinear_predicts_the_same(self):
        banknote = EXAMPLES / "banknote.csv"
        numbered = self.at / "numbered.csv"
        kinds = {"setosa": "3", "versicolor": "-7", "virginica": "20"}
        text = (EXAMPLES / "iris.csv").read_text()
        for word, number in kinds.items():
            text = text.replace(word, number)
        numbered.write_text(text)
        for name, data, flags in [
            ("two", banknote, ["--learner", "logistic"]),
            ("three", numbered, ["--learner", "logistic", "--multiclass", "ovr"]),
            ("joint", numbered, []),
            ("last", numbered, ["--multiclass", "ovr-k-1"]),
        ]:
            model, out = self.at / f"{name}.linsep", self.at / f"{name}.model"
            subprocess.run([LINSEP, "train", data, *flags, "-o", model, "-q"], capture_output=True)
            linsep("export", model, "--to", "liblinear", "-o", out, "--check", data)
            loaded = liblinearutil.load_model(str(out))
            names = self.BANKNOTE if data == banknote else self.IRIS
            rows = self.random_rows(4, 20_000)
            path = self.at / f"few{name}.csv"
            table(path, names, rows)
            labels, scores = self.predicted(model, path)
            found, _, values = liblinearutil.predict([], rows.tolist(), loaded, "-q")
            wrong = numpy.flatnonzero(numpy.array(found) != labels.astype(float))
            # LIBLINEAR adds in an order of its own: only where two scores are as near as rounding.
            ordered = numpy.sort(numpy.abs(scores) if scores.shape[1] == 1 else scores, axis=1)
            lead = ordered[:, -1] - (0 if scores.shape[1] == 1 else ordered[:, -2])
            self.assertTrue((lead[wrong] < 1e-12 * (1 + numpy.abs(ordered[wrong, -1]))).all(), name)
            self.assertLess(len(wrong), 20, name)


if __name__ == "__main__":
    unittest.main()
