"""Perceptrons that are averaged, many columns, and what processes keep, on the form of a cluster that needs none."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

import linsep
from linsep.spark import LocalCluster, blocks, learn, separable, verify
from linsep.spark.rows import sparse_of

ROWS = 20_000


def _rows(gap=0.0, classes=2):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(ROWS, 3))
    scores = X @ [1.0, -2.0, 0.5] + 0.25
    keep = np.abs(scores) >= gap
    if classes == 2:
        return X[keep], (scores[keep] > 0).astype(int)
    corners = np.array([[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]])
    sides = X @ corners.T
    sides.sort(axis=1)
    keep = sides[:, 2] - sides[:, 1] > gap
    return X[keep], (X @ corners.T).argmax(axis=1)[keep]


def _of_file(X, y, **options):
    """Blocks of a table, as a data frame of its file would have them."""
    cluster = LocalCluster(X, y, block_rows=4096, **options)
    width = X.shape[1]
    held = {**cluster.table.input, "label": {"name": "label", "position": width}, "source_columns": width + 1}
    cluster.table = dataclasses.replace(cluster.table, input=held)
    return cluster


def _program(*arguments):
    return subprocess.run([sys.executable, "-m", "linsep", *map(str, arguments)], capture_output=True, text=True, timeout=600)


def _written(path, X, y):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({**{f"x{k + 1}": X[:, k] for k in range(X.shape[1])}, "label": y}), path)
    return path


@pytest.mark.parametrize("classes", [2, 3])
def test_averaged_perceptrons_end_with_planes_that_the_checker_confirms(classes, tmp_path):
    X, y = _rows(0.05, classes)
    told = []
    fitted = learn.perceptron(_of_file(X, y), progress=told.append)
    assert fitted.converged and fitted.wrong == 0 and told[-1]["rows"] == 0
    assert [kind for kind, _ in fitted.model.kinds] == ["separable"]
    assert fitted.model.predict(X).tolist() == y.tolist()
    fitted.save(tmp_path / "model.linsep")
    answer = _program("verify", tmp_path / "model.linsep", _written(tmp_path / "table.parquet", X, y))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    other = y.copy()
    other[17] = (other[17] + 1) % classes
    assert not verify(fitted.model.certificate, LocalCluster(X, other, block_rows=4096))
    # A plane that one row refutes is no claim, whoever says so.
    held = json.loads(fitted.model.certificate.to_json())
    plane = held["claims"][0]["plane"] if classes == 2 else held["claims"][0]["planes"][0]
    plane["bias"] += 100.0
    lines = verify(linsep.Certificate.from_json(json.dumps(held)), _of_file(X, y))
    assert [line["finding"] for line in lines] == ["false"]


def test_averaged_perceptrons_of_classes_that_overlap_say_how_many_rows_are_wrong():
    X, y = _rows(0.05)
    y = y.copy()
    y[::100] = 1 - y[::100]
    fitted = learn.perceptron(_of_file(X, y), max_iter=7)
    assert not fitted.converged and fitted.rounds <= 9
    wrong = int((fitted.model.predict(X) != y).sum())
    assert fitted.wrong == wrong and wrong < len(y) // 20
    [(kind, _)] = fitted.model.kinds
    held = json.loads(fitted.model.certificate.to_json())["claims"]
    assert kind == "unproved" and held[0]["reason"] == f"{wrong} of {len(y)} rows are on the wrong side of the planes"
    for options, words in (({"max_iter": 0}, "max_iter=0 is below 1"), ({"epochs": 0}, "epochs=0 is below 1")):
        with pytest.raises(ValueError, match=words):
            learn.perceptron(LocalCluster(X, y), **options)


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_change_no_bit_of_perceptrons_and_of_many_columns(processes):
    X, y = _rows(0.02)
    noisy = np.where(np.arange(len(y)) % 11 == 0, 1 - y, y)

    def models(count):
        with LocalCluster(X, y, block_rows=4096, processes=count) as one:
            found = [learn.perceptron(one, max_iter=5), learn.hard_margin(one), learn.bernoulli_nb(one)]
        with LocalCluster(X, noisy, block_rows=4096, processes=count) as one:
            found += [fit(one, C=0.1, solver="lbfgs") for fit in (learn.logistic, learn.svm)]
        return [fitted.model.to_bytes() for fitted in found]

    assert models(1) == models(processes)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit", [learn.logistic, learn.svm])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lbfgs_ends_where_newton_does_and_is_proved(fit, classes, fit_intercept):
    X, y = _rows(0.0, classes)
    rng = np.random.default_rng(4)
    y = np.where(rng.random(len(y)) < 0.2, rng.integers(0, classes, len(y)), y)
    cluster = LocalCluster(X * [1.0, 10.0, 0.1], y, block_rows=4096)
    options = {"C": 0.05, "tol": 1e-8, "fit_intercept": fit_intercept}
    newton, lbfgs = fit(cluster, solver="newton", **options), fit(cluster, solver="lbfgs", **options)
    assert newton.converged and lbfgs.converged and lbfgs.gap <= 1e-8
    assert {kind for kind, _ in lbfgs.model.kinds} == {"optimal"}
    np.testing.assert_allclose(lbfgs.objective, newton.objective, rtol=1e-7)
    np.testing.assert_allclose(lbfgs.model.weights, newton.model.weights, rtol=1e-2, atol=1e-3)


def _thin(classes, width, rows=9_000):
    """Rows with few values in many columns, as counts of words are; CSR."""
    rng = np.random.default_rng(12)
    each = 20
    columns = np.sort(np.minimum((rng.pareto(0.6, size=(rows, each)) * 20).astype(int), width - 1), axis=1)
    indices = np.concatenate([np.unique(row) for row in columns])
    lengths = np.array([len(np.unique(row)) for row in columns])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(1, 5, size=len(indices)).astype(float)
    planes = rng.normal(size=(classes, width))
    scores = np.array(
        [[(planes[k, indices[a:b]] * values[a:b]).sum() for k in range(classes)] for a, b in zip(indptr[:-1], indptr[1:])]
    )
    return (indptr, indices, values, width), (scores + 6 * rng.normal(size=scores.shape)).argmax(axis=1)


@pytest.mark.parametrize(("fit", "classes"), [(learn.logistic, 2), (learn.logistic, 3), (learn.svm, 2), (learn.svm, 3)])
def test_fifty_thousand_columns_are_learned_from_sparse_rows_with_proof(fit, classes):
    (indptr, indices, values, width), y = _thin(classes, 50_000)
    table = blocks.Table(
        tuple(f"x{k}" for k in range(width)),
        tuple(map(str, range(classes))),
        4096,
        input={"columns": [{"name": f"x{k}", "position": k} for k in range(width)], "features": width},
        labels=tuple(range(classes)),
        rows=len(y),
    )
    whole = blocks.Sparse(indptr.astype(np.int64), indices.astype(np.int32), values, width)
    cluster = LocalCluster(np.eye(2), [0, 1])
    cluster.table = table
    cluster._blocks = [
        blocks.pack(blocks.Block(whole[k : k + 4096], y[k : k + 4096].astype(np.uint32))) for k in range(0, len(y), 4096)
    ]
    told = []
    fitted = fit(cluster, C=0.01, tol=1e-6, progress=told.append)
    assert fitted.converged and fitted.gap <= 1e-6 and len(told) <= 60
    assert {kind for kind, _ in fitted.model.kinds} == {"optimal"}
    assert np.mean(fitted.model.predict(whole.form) == y) > 0.6
    if fit is learn.logistic and classes == 2:
        data = linsep._linsep.Data(whole.form, y, ["0", "1"])
        alone = linsep._linsep.fit("logistic", {"c": "0.01", "gap": "1e-7"}, data)
        primal, bound, _ = alone.certificate.optimality[0]
        assert bound * (1 - 1e-6) <= fitted.objective <= primal * (1 + 1e-6)


def test_what_is_not_learned_on_a_cluster_is_refused_with_what_is():
    X, y = _rows(classes=3)
    cluster = LocalCluster(X, y)
    with pytest.raises(ValueError, match=r"loss='hinge' is not learned on a cluster.*squared_hinge.*on one machine"):
        learn.svm(cluster, loss="hinge")
    with pytest.raises(ValueError, match="solver='sag' is none of"):
        learn.logistic(cluster, solver="sag")
    with pytest.raises(ValueError, match=r"between two classes, and there are 3.*learn.svm"):
        learn.hard_margin(cluster)


def test_processes_keep_blocks_as_far_as_there_is_room_and_bits_stay():
    X, y = _rows()
    y[::7] = 1 - y[::7]
    with LocalCluster(X, y, block_rows=4096) as cluster:
        assert cluster.table.cache > 0
        found = learn.logistic(cluster, C=0.1).model.to_bytes()
        held = [key for key in blocks.KEPT._held if key[0] == cluster.table.token]
        assert len(held) == cluster.table.blocks
        small = LocalCluster(X, y, block_rows=4096)
        small.table = dataclasses.replace(small.table, cache=300_000)
        assert learn.logistic(small, C=0.1).model.to_bytes() == found
        kept = [kept for key, kept in blocks.KEPT._held.items() if key[0] == small.table.token]
        assert 0 < len(kept) < small.table.blocks and sum(one.bytes for one in kept) <= 300_000
        none = LocalCluster(X, y, block_rows=4096)
        none.table = dataclasses.replace(none.table, token="")
        assert learn.logistic(none, C=0.1).model.to_bytes() == found
    assert not [key for key in blocks.KEPT._held if key[0] == cluster.table.token]
    small.close()
    assert not blocks.KEPT._held and blocks.KEPT._bytes == 0


def test_a_sparse_table_and_a_dense_one_give_one_model():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((6000, 40)) < 0.1, rng.integers(1, 9, (6000, 40)), 0).astype(float)
    y = (X[:, :20].sum(axis=1) + rng.normal(size=6000) > X[:, 20:].sum(axis=1)).astype(int)
    dense, thin = LocalCluster(X, y, block_rows=4096), LocalCluster(X, y, block_rows=4096)
    parts = ((X[k : k + 4096], y[k : k + 4096]) for k in (0, 4096))
    thin._blocks = [blocks.pack(blocks.Block(sparse_of(rows), codes.astype(np.uint32))) for rows, codes in parts]
    for fit in (learn.perceptron, lambda one: learn.logistic(one, C=0.1, solver="lbfgs"), learn.bernoulli_nb):
        assert fit(dense).model.weights.tobytes() == fit(thin).model.weights.tobytes()
    assert separable(dense).certificate == separable(thin).certificate
