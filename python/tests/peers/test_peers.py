"""scikit-learn's tests of its linear classifiers pass with linsep's, as far as the table says."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

sklearn = pytest.importorskip("sklearn")

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import table  # noqa: E402


def run(*arguments):
    """pytest with the swapped classes, in a process of its own."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "swap", "-p", "no:cacheprovider", "-q", *arguments]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


@pytest.mark.skipif(
    sklearn.__version__ != table.version(),
    reason=f"the table lists the tests of scikit-learn {table.version()}",
)
@pytest.mark.parametrize("module", table.modules())
def test_scikit_learn_tests_pass(module):
    done = run("--pyargs", module)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) > 0


def test_every_file_of_the_goal_is_in_the_table():
    names = "perceptron passive_aggressive logistic ridge svm discriminant_analysis naive_bayes".split()
    assert sorted(module.rpartition("test_")[2] for module in table.modules()) == sorted(names)


def test_a_test_that_uses_no_estimator_of_linsep_fails(tmp_path):
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    done = run("--peers=all", str(tmp_path))
    assert done.returncode == 1 and "made no estimator of linsep" in done.stdout


def test_a_test_without_a_row_is_an_error(tmp_path):
    (tmp_path / "test_new.py").write_text("def test_new():\n    pass\n")
    done = run(str(tmp_path))
    assert done.returncode != 0 and "no row for test_new::test_new" in done.stdout + done.stderr


def test_the_longest_row_that_fits_counts():
    rows = [table.Row("m", "test_a", None), table.Row("m", "test_a[*-x]", "a reason")]
    assert table.row_of(rows, "m", "test_a[1-y]").reason is None
    assert table.row_of(rows, "m", "test_a[1-x]").reason == "a reason"
    assert table.row_of(rows, "m", "test_ab") is None
    assert table.row_of(rows, "n", "test_a") is None
