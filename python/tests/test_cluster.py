"""Tables on a cluster, on the form of it that needs none: the same bits for any number of processes."""

import json

import numpy as np
import pytest

import linsep
from linsep.spark import LocalCluster, learn, separable, verify

ROWS = 20_000


def _rows(seed=3, width=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, width)) * (1 + np.arange(width)) + 3
    return X, X @ np.arange(1.0, width + 1) - 20.0, rng


def _cases():
    X, scores, rng = _rows()
    flipped = (scores > 0).astype(int)
    flipped[1234] = 1 - flipped[1234]
    grid = rng.integers(0, 3, size=(ROWS, 4)).astype(float)
    sums = grid.sum(axis=1)
    touching = np.where(sums == 4, rng.integers(0, 2, ROWS), sums > 4).astype(int)
    flat = np.column_stack([grid, np.ones(ROWS), grid[:, 0] + grid[:, 1]])
    return {
        "separable": (X, (scores > 0).astype(int)),
        "overlapping": (X, flipped),
        "touching": (grid, touching),
        "dependent columns": (flat, rng.integers(0, 2, ROWS)),
        "three classes": (X, np.digitize(scores, [-15.0, 15.0])),
    }


@pytest.mark.parametrize("name", list(_cases()))
def test_the_verdict_on_blocks_is_that_of_one_machine_and_its_proof_holds_there(name):
    X, y = _cases()[name]
    cluster = LocalCluster(X, y, block_rows=4096)
    found = separable(cluster)
    assert found.verdict == linsep.separable(X, y).verdict
    assert found.rounds <= 20
    # One machine checks what blocks proved, and blocks check what one machine proved.
    assert all(line["finding"] == "true" for line in found.certificate.verify(X, y))
    assert verify(found.certificate, cluster)
    whole = linsep.separable(X, y).certificate
    lines = verify(whole, cluster)
    assert len(lines) >= 2 and all(line["finding"] == "true" for line in lines if line["claim"] != "coefficients")


def test_a_certificate_of_other_rows_is_refused():
    X, y = _cases()["overlapping"]
    found = separable(LocalCluster(X, y, block_rows=4096))
    changed = X.copy()
    changed[7, 0] += 1e-9
    assert [line["finding"] for line in verify(found.certificate, LocalCluster(changed, y))] == ["false"]
    # The right digest does not help a wrong witness.
    held = json.loads(found.certificate.to_json())
    held["claims"][0]["witness"][0]["lambda"] = "1"
    lines = verify(linsep.Certificate.from_json(json.dumps(held)), LocalCluster(X, y, block_rows=4096))
    assert [line["finding"] for line in lines] == ["false"]


def test_a_plane_that_one_row_of_one_block_refutes_is_refused():
    X, y = _cases()["separable"]
    held = json.loads(separable(LocalCluster(X, y)).certificate.to_json())
    low, high = X @ held["claims"][0]["plane"]["weights"], held["claims"][0]["plane"]["bias"]
    worst = int(np.argmin(np.abs(low + high)))
    other = y.copy()
    other[worst] = 1 - other[worst]
    cluster = LocalCluster(X, other, block_rows=4096)
    held["data"] = json.loads(linsep.separable(X, other).certificate.to_json())["data"]
    lines = verify(linsep.Certificate.from_json(json.dumps(held)), cluster)
    assert [line["finding"] for line in lines] == ["false"]


def test_processes_and_runs_change_no_bit():
    X, y = _cases()["overlapping"]

    def answers(processes):
        with LocalCluster(X, y, block_rows=4096, processes=processes) as cluster:
            models = [learn.logistic(cluster, C=0.1), learn.svm(cluster, C=0.1), learn.lda(cluster)]
            return separable(cluster).certificate.to_json(), [fitted.model.to_bytes() for fitted in models]

    assert answers(1) == answers(2)


@pytest.mark.parametrize(
    ("fit", "estimator"),
    [
        (learn.least_squares, "LeastSquaresClassifier"),
        (learn.fisher, "FisherDiscriminant"),
        (learn.lda, "LinearDiscriminantAnalysis"),
        (learn.shared_variance_nb, "SharedVarianceNB"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_statistics_in_one_round_give_the_planes_of_one_machine(fit, estimator, classes):
    X, scores, _ = _rows()
    y = np.digitize(scores, [-15.0, 15.0][: classes - 1])
    fitted = fit(LocalCluster(X, y, block_rows=4096))
    alone = getattr(linsep, estimator)().fit(X, y)
    assert fitted.rounds == 2  # one to survey the table, one for the sums
    np.testing.assert_allclose(fitted.model.weights, alone.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fitted.model.biases, alone.intercept_, rtol=1e-8, atol=1e-10)
    assert [kind for kind, _ in fitted.model.kinds] == ["unproved"]


def test_counts_give_the_model_of_one_machine_and_negative_ones_are_refused():
    X, scores, _ = _rows()
    counts = np.abs(X).round()
    y = (scores > 0).astype(int)
    fitted = learn.multinomial_nb(LocalCluster(counts, y, block_rows=4096))
    np.testing.assert_array_equal(fitted.model.weights, linsep.MultinomialNB().fit(counts, y).coef_)
    counts[5000, 2] = -1
    with pytest.raises(ValueError, match=r"column 'x3' has -1\.?0? in row 5000"):
        learn.multinomial_nb(LocalCluster(counts, y, block_rows=4096))


@pytest.mark.parametrize(("fit", "estimator"), [(learn.logistic, "LogisticRegression"), (learn.svm, "LinearSVC")])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_newton_in_rounds_reaches_the_optimum(fit, estimator, fit_intercept):
    X, scores, rng = _rows()
    y = (scores + rng.normal(size=ROWS) * 20 > 0).astype(int)
    fitted = fit(LocalCluster(X, y, block_rows=4096), C=0.01, fit_intercept=fit_intercept, tol=1e-8)
    alone = getattr(linsep, estimator)(C=0.01, tol=1e-9, fit_intercept=fit_intercept).fit(X, y)
    assert fitted.converged and fitted.gap <= 1e-8
    np.testing.assert_allclose(fitted.model.weights, alone.coef_, rtol=1e-3, atol=1e-6)
    primal, bound, _ = alone.certificate_._inner.optimality[0]
    assert bound * (1 - 1e-7) <= fitted.objective <= primal * (1 + 1e-7)


def test_a_limit_ends_a_run_and_says_so():
    X, y = _cases()["separable"]
    cluster = LocalCluster(X, y, block_rows=4096)
    assert separable(cluster, most_rounds=3).verdict == "undecided"
    assert not separable(cluster, most_rounds=3).certificate
    fitted = learn.logistic(cluster, max_iter=1)
    assert not fitted.converged and fitted.gap > 1e-6


def test_models_of_a_cluster_load_and_are_certified_on_one_machine(tmp_path):
    X, scores, rng = _rows()
    y = (scores + rng.normal(size=ROWS) * 20 > 0).astype(int)
    learn.logistic(LocalCluster(X, y), C=0.5, tol=1e-8).save(tmp_path / "model.linsep")
    loaded = linsep.load(tmp_path / "model.linsep")
    assert np.mean(loaded.predict(X) == y) > 0.7
    from linsep import _linsep

    data = _linsep.Data(X, y, ["0", "1"])
    weights, biases = loaded.coef_.tolist(), loaded.intercept_.tolist()
    certificate, _ = _linsep.certify("logistic", {"c": "0.5", "gap": "1e-6"}, data, weights, biases)
    assert certificate.optimality and certificate.optimality[0][2] < 1e-5


def test_rows_without_weight_take_no_part():
    X, y = _cases()["overlapping"]
    weights = np.ones(ROWS)
    weights[1234] = 0.0
    found = separable(LocalCluster(X, y, sample_weight=weights, block_rows=4096))
    assert found.verdict == "separable"


def test_bad_tables_are_refused_with_the_place():
    X, y = _cases()["separable"]
    X = X.copy()
    X[17, 2] = np.nan
    with pytest.raises(ValueError, match=r"X\[17, 2\] is nan"):
        LocalCluster(X, y)
    with pytest.raises(ValueError, match="no multiple of 4096"):
        LocalCluster(X[:10], y[:10], block_rows=5000)
    with pytest.raises(ValueError, match="at least two"):
        separable(LocalCluster(X[:10], np.zeros(10, int)))
    with pytest.raises(ValueError, match="two classes, and there are 3"):
        learn.logistic(LocalCluster(X[:9], np.arange(9) % 3))
    with pytest.raises(ValueError, match="has its columns already"):
        separable(LocalCluster(X[:9], np.arange(9) % 3), label="y")
