"""Exports are those of the program, byte for byte, and what cannot be exported is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import linsep

X, y = load_iris(return_X_y=True)
TARGETS = {"onnx": "to_onnx", "json": "to_json", "c": "to_c", "liblinear": "to_liblinear"}


def by_the_program(learner, to, folder):
    learner.save(folder / "m.linsep")
    command = [sys.executable, "-m", "linsep", "export", str(folder / "m.linsep"), "--to", to, "-o", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("rows", [100, 150])
def test_exports_are_those_of_the_program(to, rows, tmp_path):
    learner = linsep.LogisticRegression().fit(X[:rows], y[:rows])
    mine = getattr(learner, TARGETS[to])()
    mine = mine if isinstance(mine, bytes) else mine.encode()
    assert mine == by_the_program(learner, to, tmp_path)


def test_float32_comes_with_a_certificate_or_is_refused(tmp_path):
    learner = linsep.LinearSVC().fit(X, y)
    graph, proved = learner.to_onnx_float32(X, y)
    assert set(proved.kinds) == {"optimal"} and linsep.verify(proved, X, y)
    rounded = np.asarray([claim["plane"]["weights"] for claim in proved.claims])
    np.testing.assert_array_equal(rounded, learner.coef_.astype(np.float32))
    # The same bytes as those of the program.
    learner.save(tmp_path / "m.linsep")
    lines = ["a,b,c,d,class", *(",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "linsep", "export", "m.linsep", "--to", "onnx-f32", "--check", "d.csv", "-o", "f.onnx"]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "f.onnx").read_bytes() == graph
    # Rows that float32 does not tell apart.
    near = np.asarray([[1.0], [1.0 + 1e-12]])
    tight = linsep.HardMargin().fit(near, [0, 1])
    with pytest.raises(ValueError, match="float32|binary32"):
        tight.to_onnx_float32(near, [0, 1])


def test_what_an_export_cannot_hold_is_refused():
    names = np.array(["setosa", "versicolor"])[y[:100]]
    learner = linsep.LogisticRegression().fit(X[:100], names)
    with pytest.raises(ValueError, match="LIBLINEAR|whole"):
        learner.to_liblinear()
    assert json.loads(learner.to_json())["classes"] == ["setosa", "versicolor"]
    with pytest.raises(Exception, match="not fitted"):
        linsep.LogisticRegression().to_c()
