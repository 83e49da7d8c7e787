"""Runs on a cluster that go on later, and rows with missing values, on the form of a cluster that needs none."""

import json

import numpy as np
import pytest

from linsep.spark import LocalCluster, OutOfTime, learn, separable
from linsep.spark.blocks import Block, Table, data_of, opened, pack, part
from linsep.spark.rows import Sparse, filled, first_negative, row_values, sparse_of, stacked

ROWS = 20_000


def _rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(ROWS, 4))
    return X, (X @ [1.0, -1.0, 2.0, 0.0] + rng.normal(size=ROWS) > 0).astype(int)


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_a_run_goes_on_from_the_rounds_that_are_there(tmp_path, stop):
    X, y = _rows()
    whole = learn.logistic(LocalCluster(X, y, block_rows=4096), C=0.1, tol=1e-9)

    class Killed(BaseException):
        pass

    def progress(told):
        if told["round"] == stop + 1:
            raise Killed

    state = tmp_path / "state"
    with pytest.raises(Killed):
        learn.logistic(LocalCluster(X, y, block_rows=4096), C=0.1, tol=1e-9, resume=state, progress=progress)
    assert len(list(state.iterdir())) == stop + 1
    again = learn.logistic(LocalCluster(X, y, block_rows=4096), C=0.1, tol=1e-9, resume=state)
    assert again.model.to_bytes() == whole.model.to_bytes() and again.rounds == whole.rounds
    verdict = separable(LocalCluster(X, y, block_rows=4096), resume=tmp_path / "verdict")
    later = separable(LocalCluster(X, y, block_rows=4096), resume=tmp_path / "verdict")
    assert later.certificate == verdict.certificate


def test_a_state_of_something_else_or_with_a_changed_byte_is_refused(tmp_path):
    X, y = _rows()
    learn.lda(LocalCluster(X, y, block_rows=4096), resume=tmp_path)
    with pytest.raises(ValueError, match="round-00000.json is of another run"):
        learn.fisher(LocalCluster(X, y, block_rows=4096), resume=tmp_path)
    X[3, 3] += 1e-9
    with pytest.raises(ValueError, match="the table is another one"):
        learn.lda(LocalCluster(X, y, block_rows=4096), resume=tmp_path)
    X[3, 3] -= 1e-9
    X, y = _rows()
    path = tmp_path / "round-00001.json"
    content = bytearray(path.read_bytes())
    content[-30] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="is damaged"):
        learn.lda(LocalCluster(X, y, block_rows=4096), resume=tmp_path)
    with pytest.raises(ValueError, match="the state of a run is a folder"):
        learn.lda(LocalCluster(X, y, block_rows=4096), resume=path)


def test_a_time_limit_ends_a_run():
    X, y = _rows()
    with pytest.raises(OutOfTime):
        learn.lda(LocalCluster(X, y), time_limit=0.0)
    rounds = []

    def progress(told):
        rounds.append(told)
        cluster.deadline = 0.0

    cluster = LocalCluster(X, y)
    fitted = learn.logistic(cluster, tol=1e-12, progress=progress)
    assert len(rounds) == 1 and not fitted.converged and fitted.gap == float("inf")
    assert cluster.deadline is None


@pytest.mark.parametrize("missing", ["drop-row", "mean", "median", "zero"])
def test_missing_values_are_dropped_or_filled(missing):
    X, y = _rows()
    gaps = np.random.default_rng(1).random(X.shape) < 0.05
    holed = np.where(gaps, np.nan, X)
    whole = {
        "drop-row": (X[~gaps.any(axis=1)], y[~gaps.any(axis=1)]),
        "mean": (np.where(gaps, np.nanmean(holed, axis=0), X), y),
        "median": (np.where(gaps, np.nanmedian(holed, axis=0), X), y),
        "zero": (np.where(gaps, 0.0, X), y),
    }[missing]
    found = learn.lda(LocalCluster(holed, y, missing=missing, block_rows=4096))
    expected = learn.lda(LocalCluster(*whole, block_rows=4096))
    np.testing.assert_allclose(found.model.weights, expected.model.weights, rtol=1e-9)
    held = json.loads(found.model.export("json"))["input"]
    fills = [column.get("missing") for column in held["columns"]]
    if missing == "mean":
        np.testing.assert_allclose(fills, np.nanmean(holed, axis=0), rtol=1e-12)
    elif missing == "median":
        assert fills == np.nanmedian(holed, axis=0).tolist()
    else:
        assert fills == [0.0 if missing == "zero" else None] * 4
    assert held.get("drop_missing", False) == (missing == "drop-row")
    with pytest.raises(ValueError, match="is nan"):
        LocalCluster(holed, y)
    with pytest.raises(ValueError, match="missing='mode' is none of"):
        LocalCluster(holed, y, missing="mode")


def test_the_mean_of_the_largest_numbers_is_no_infinity():
    X = np.array([[1.5e308], [1.5e308], [np.nan], [1.0]])
    cluster = LocalCluster(X, [0, 1, 0, 1], missing="mean")
    np.testing.assert_allclose(cluster.table.fills, [1e308], rtol=1e-12)


def test_medians_are_the_middle_of_numbers_of_all_sizes():
    columns = [[3.0, np.nan, -1.0, 2.0], [1e308, 1e308, np.nan, np.nan], [0.0, -0.0, np.nan, -5e-324], [-7.0, np.nan, 1.0, np.nan]]
    cluster = LocalCluster(np.array(columns).T, [0, 1, 0, 1], missing="median")
    assert cluster.table.fills == (2.0, 1e308, 0.0, -3.0)
    assert cluster.rounds == 8


def test_a_penalty_relative_to_the_rows_is_the_same_as_its_number():
    X, y = _rows()
    cluster = LocalCluster(X, y)
    own, other = learn.logistic(cluster, reg_param=0.01), learn.logistic(cluster, C=1 / (0.01 * ROWS))
    assert own.model.weights.tobytes() == other.model.weights.tobytes()
    own, other = learn.least_squares(cluster, reg_param=0.5), learn.least_squares(cluster, l2=0.5 * ROWS)
    assert own.model.weights.tobytes() == other.model.weights.tobytes()
    with pytest.raises(ValueError, match="two names for one penalty"):
        learn.svm(cluster, C=2.0, reg_param=0.1)


def test_sparse_rows_are_the_same_data_as_dense_ones():
    rng = np.random.default_rng(9)
    X = np.where(rng.random((50, 30)) < 0.1, rng.normal(size=(50, 30)), 0.0)
    y = np.arange(50) % 2
    table = Table(tuple(f"x{k}" for k in range(30)), ("0", "1"), 4096, rows=50)
    sparse = Block(sparse_of(X), y)
    assert isinstance(sparse.matrix, Sparse)
    again = opened(pack(sparse), table)
    assert data_of(again, table).digest() == data_of(Block(X, y), table).digest()
    rows = np.array([3, 40, 3, 0])
    np.testing.assert_array_equal([row_values(part(again, rows).matrix, k) for k in range(4)], X[rows])
    np.testing.assert_array_equal(data_of(part(again, slice(10, 20)), table).dense(), X[10:20])
    both = stacked([sparse.matrix[:7], X[7:20], sparse.matrix[20:]])
    np.testing.assert_array_equal([row_values(both, k) for k in range(50)], X)
    found, expected = first_negative(again.matrix), np.argwhere(X < 0)[0]
    assert list(found[:2]) == expected.tolist() and found[2] == X[tuple(expected)]
    holed = Sparse(both.indptr, both.indices, np.where(both.values < 0, np.nan, both.values), 30)
    assert not np.isnan(filled(holed, np.arange(30.0)).values).any()
