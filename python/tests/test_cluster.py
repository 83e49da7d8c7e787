"""Tables on a cluster, on the form of it that needs none: the same bits for any number of processes."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep.spark import LocalCluster, learn, separable, smooth, verify, work

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
    assert fitted.rounds == 1  # the survey of the table and the sums together
    np.testing.assert_allclose(fitted.model.weights, alone.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fitted.model.biases, alone.intercept_, rtol=1e-8, atol=1e-10)
    assert fitted.proof_rounds <= 12
    kind = "counts" if fit is learn.shared_variance_nb else "stationary"
    assert [kind for kind, _ in fitted.model.kinds] == [kind]
    assert [kind for kind, _ in fit(LocalCluster(X, y), prove=False).model.kinds] == ["unproved"]


def test_counts_give_the_model_of_one_machine_and_negative_ones_are_refused():
    X, scores, _ = _rows()
    counts = np.abs(X).round()
    y = (scores > 0).astype(int)
    fitted = learn.multinomial_nb(LocalCluster(counts, y, block_rows=4096))
    np.testing.assert_array_equal(fitted.model.weights, linsep.MultinomialNB().fit(counts, y).coef_)
    assert [kind for kind, _ in fitted.model.kinds] == ["counts"]
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
    # The objective and the gap are those that the checker has measured.
    shown = fitted.model.certificate.optimality
    assert [(objective, gap) for objective, _, gap in shown] == [(fitted.objective, fitted.gap)]
    assert fitted.proof_rounds <= 2


def test_a_sample_of_the_rows_spares_rounds_and_a_start_that_is_no_good_is_given_up(monkeypatch):
    X, scores, rng = _rows()
    # Rows that come nearly in the order of their classes.
    order = np.argsort(scores)
    X, y = X[order], (scores + rng.normal(size=ROWS) * 20 > 0).astype(int)[order]

    def run(**options):
        asked, real = [], work.newton
        with LocalCluster(X, y, block_rows=4096) as cluster:
            reduce_blocks = cluster.reduce_blocks

            def watched(ask, merge, state):
                if ask is real:
                    asked.append(state[1][0][2])
                return reduce_blocks(ask, merge, state)

            cluster.reduce_blocks = watched
            return learn.logistic(cluster, C=0.01, tol=1e-8, **options), asked

    fitted, asked = run()
    assert fitted.converged and fitted.rounds == 1 + len(asked) <= 6 and sum(asked) <= 2, asked
    unproved, _ = run(prove=False)
    # Without a proof the gap is measured in a round of its own.
    assert unproved.rounds == fitted.rounds + 1 and unproved.gap == pytest.approx(fitted.gap, rel=1e-2)
    assert unproved.model.weights.tobytes() == fitted.model.weights.tobytes()
    for start in ([[1e4] * 5], [3.0]), None:
        monkeypatch.setattr(smooth, "_start_of_sample", lambda cluster, asked, known: [(start, 0.01 * ROWS * np.log(2.0))])
        other, asked = run()
        assert other.converged and len(asked) > fitted.rounds - 1
        np.testing.assert_allclose(other.model.weights, fitted.model.weights, rtol=1e-4)


def test_what_blocks_do_not_learn_is_refused_with_what_to_use():
    X, y = _cases()["three classes"]
    with pytest.raises(ValueError, match=r"loss='hinge' is not learned on a cluster.*LinearSVC\(loss='hinge'\) on one machine"):
        learn.svm(LocalCluster(X, y > 0), loss="hinge")
    with pytest.raises(ValueError, match="a hard margin is between two classes, and there are 3.*learn.svm"):
        learn.hard_margin(LocalCluster(X, y))
    with pytest.raises(ValueError, match="missing='mode' is none of 'error', 'drop-row', 'mean', 'median', 'zero'"):
        LocalCluster(X, y, missing="mode")


def _classes(count):
    X, scores, rng = _rows()
    noisy = scores + rng.normal(size=ROWS) * 20
    return X, np.digitize(noisy, np.quantile(noisy, np.arange(1, count) / count))


FITS = {
    "logistic": lambda table, **options: learn.logistic(table, C=0.01, tol=1e-7, **options),
    "svm": lambda table, **options: learn.svm(table, C=0.01, tol=1e-7, **options),
    "least squares": learn.least_squares,
    "ridge": lambda table, **options: learn.least_squares(table, l2=2.5, **options),
    "fisher": learn.fisher,
    "lda": lambda table, **options: learn.lda(table, shrinkage=0.125, **options),
    "bernoulli": lambda table, **options: learn.bernoulli_nb(table, binarize=3.0, **options),
    "shared variances": learn.shared_variance_nb,
}


KINDS = {"logistic": "optimal", "svm": "optimal", "bernoulli": "counts", "shared variances": "counts"}


def _written(path, X, y):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{k + 1}": X[:, k] for k in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "label": y}), path)
    return path


def _of_file(X, y, **changes):
    """Blocks of the table that ``_written`` writes, as a data frame of it would have them."""
    cluster = LocalCluster(X, y, block_rows=4096)
    width = X.shape[1]
    input = {**cluster.table.input, "label": {"name": "label", "position": width}, "source_columns": width + 1}
    cluster.table = dataclasses.replace(cluster.table, input=input, **changes)
    return cluster


def _program(*arguments):
    command = [sys.executable, "-m", "linsep", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", list(FITS))
def test_what_is_proved_on_blocks_is_confirmed_by_the_program_and_no_changed_bit_is(name, classes, tmp_path):
    X, y = _classes(classes)
    cluster = _of_file(X, y)
    fitted = FITS[name](cluster)
    kinds = [kind for kind, _ in fitted.model.kinds]
    assert set(kinds) == {KINDS.get(name, "stationary")}
    assert len(kinds) == (3 if name == "svm" and classes == 3 else 1)
    fitted.save(tmp_path / "model.linsep")
    table = _written(tmp_path / "table.parquet", X, y)
    answer = _program("verify", tmp_path / "model.linsep", table)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    # Blocks confirm it, too, and what one machine has proved.
    assert verify(fitted.model.certificate, cluster)
    # One bit of the data.
    changed = X.copy()
    changed[11, 1] = np.nextafter(changed[11, 1], np.inf)
    answer = _program("verify", tmp_path / "model.linsep", _written(tmp_path / "changed.parquet", changed, y))
    assert answer.returncode == 1, answer.stdout
    assert not verify(fitted.model.certificate, LocalCluster(changed, y, block_rows=4096))


def test_proofs_of_one_machine_are_confirmed_on_blocks_and_wrong_ones_are_not():
    X, y = _classes(2)
    cluster = LocalCluster(X, y, block_rows=4096)
    models = [linsep.LogisticRegression(C=0.01), linsep.LinearDiscriminantAnalysis(), linsep.BernoulliNB(binarize=3.0)]
    for model in models:
        held = json.loads(model.fit(X, y).certificate_.to_json())
        assert verify(model.certificate_, cluster), held["claims"][0]["claim"]
        plane = held["claims"][0]["plane"]
        plane["weights"][0] += abs(plane["weights"][0]) + 1.0
        lines = verify(linsep.Certificate.from_json(json.dumps(held)), cluster)
        assert [line["finding"] for line in lines] == ["false"]


def test_softmax_in_rounds_is_that_of_one_machine():
    X, y = _classes(4)
    fitted = learn.logistic(LocalCluster(X, y, block_rows=4096), C=0.01, tol=1e-8)
    alone = linsep.LogisticRegression(C=0.01, tol=1e-9).fit(X, y)
    assert fitted.converged and fitted.rounds <= 12
    np.testing.assert_allclose(fitted.model.weights, alone.coef_, rtol=1e-3, atol=1e-5)
    primal, bound, _ = alone.certificate_._inner.optimality[0]
    assert bound * (1 - 1e-7) <= fitted.objective <= primal * (1 + 1e-7)


@pytest.mark.parametrize("processes", [2, 4])
def test_who_holds_which_blocks_changes_no_bit_of_a_proof(processes):
    X, y = _classes(3)

    def models(count):
        with LocalCluster(X, y, block_rows=4096, processes=count) as cluster:
            return [FITS[name](cluster).model.to_bytes() for name in ("logistic", "svm", "lda", "bernoulli")]

    assert models(1) == models(processes)


def test_the_widest_margin_of_blocks_is_that_of_one_machine(tmp_path):
    X, scores, rng = _rows()
    X, y = X.round(2), (scores > 0).astype(int)
    keep = abs(X @ np.arange(1.0, 6.0) - 20.0) > 0.5
    X, y = X[keep], y[keep]
    cluster = _of_file(X, y)
    fitted = learn.hard_margin(cluster)
    alone = linsep.HardMargin().fit(X, y)
    np.testing.assert_array_equal(fitted.model.weights, alone.coef_)
    held = [json.loads(found.to_json())["claims"] for found in (fitted.model.certificate, alone.certificate_)]
    gammas = [claim["gamma2"] for claims in held for claim in claims if claim["claim"] == "geometric-margin"]
    assert len(gammas) == 2 and gammas[0] == gammas[1]
    fitted.save(tmp_path / "model.linsep")
    answer = _program("verify", tmp_path / "model.linsep", _written(tmp_path / "table.parquet", X, y))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert verify(fitted.model.certificate, cluster) and verify(alone.certificate_, cluster)
    with pytest.raises(ValueError, match="the classes are overlapping"):
        learn.hard_margin(LocalCluster(*_cases()["overlapping"], block_rows=4096))


def _any_order(X, y):
    """A cluster whose rows have no order but that of their values."""
    return _of_file(X, y, order="digest")


def test_rows_in_another_order_are_the_same_table_and_others_are_not(tmp_path):
    X, y = _cases()["overlapping"]
    X, y = np.concatenate([X, X[:50]]), np.concatenate([y, y[:50]])
    found = separable(_any_order(X, y))
    found.save(tmp_path / "proof.json")
    fitted = learn.logistic(_any_order(X, y), C=0.01)
    fitted.save(tmp_path / "model.linsep")
    order = np.random.default_rng(1).permutation(len(y))
    turned = _written(tmp_path / "turned.parquet", X[order], y[order])
    for path in ("proof.json", "model.linsep"):
        answer = _program("verify", tmp_path / path, turned)
        assert answer.returncode == 0 and "in another order" in answer.stdout, answer.stdout + answer.stderr
    assert verify(found.certificate, LocalCluster(X[order], y[order], block_rows=4096))
    assert verify(fitted.model.certificate, LocalCluster(X[order], y[order], block_rows=8192))
    # A bit of a value, a label, and one of two equal rows for another one.
    other, labels, twice = X[order].copy(), y[order].copy(), order.copy()
    other[5, 2] = np.nextafter(other[5, 2], np.inf)
    labels[9] = 1 - labels[9]
    twice[np.flatnonzero(order == 3)[0]] = 60
    for values, classes in [(other, y[order]), (X[order], labels), (X[twice], y[twice])]:
        changed = _written(tmp_path / "changed.parquet", values, classes)
        for path in ("proof.json", "model.linsep"):
            assert _program("verify", tmp_path / path, changed).returncode == 1
        assert not verify(found.certificate, LocalCluster(values, classes, block_rows=4096))
    # A bit of the witness, of the digest, of the hash of a row.
    for change in (
        lambda held: held["claims"][0]["witness"][0].update(row=held["claims"][0]["witness"][0]["row"] ^ 1),
        lambda held: held["data"]["multiset"].update(sha256="0" + held["data"]["multiset"]["sha256"][:63]),
        lambda held: held["data"]["multiset"]["rows"][0].__setitem__(1, "0" * 64),
    ):
        held = json.loads(found.certificate.to_json())
        change(held)
        (tmp_path / "changed.json").write_text(json.dumps(held))
        assert _program("verify", tmp_path / "changed.json", turned).returncode == 1


def test_the_independent_checker_knows_tables_in_another_order(tmp_path):
    X, y = _cases()["overlapping"]
    X, y = X[1200:1300].round(3), y[1200:1300]
    found = separable(_any_order(X, y))
    found.save(tmp_path / "proof.json")
    order = np.random.default_rng(2).permutation(len(y))
    root = next(folder for folder in Path(__file__).resolve().parents if (folder / "docs").exists())

    def checked(values, classes):
        lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(values.tolist(), classes)]
        (tmp_path / "table.csv").write_text("\n".join(["x1,x2,x3,x4,x5,label", *lines]) + "\n")
        command = [sys.executable, str(root / "docs/theory/check_certificate.py")]
        command += [str(tmp_path / "proof.json"), str(tmp_path / "table.csv")]
        return subprocess.run(command, capture_output=True, text=True)

    answer = checked(X[order], y[order])
    assert answer.returncode == 0 and "in another order" in answer.stdout, answer.stdout + answer.stderr
    changed = X[order].copy()
    changed[0, 0] += 0.001
    assert checked(changed, y[order]).returncode == 1


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
    with pytest.raises(ValueError, match="has its columns already"):
        separable(LocalCluster(X[:9], np.arange(9) % 3), label="y")
