"""Tests of the comparison itself: who counts, what a ratio is, and that the judge judges right.

    PYTHONPATH=bench python3 -m unittest comparison.test_comparison

The tests of the judge need numpy and scipy and are skipped without them; the environment that
bench/compare makes has both.
"""

import importlib.util
import json
import math
import re
import sys
import tempfile
import unittest
from pathlib import Path

from comparison import report
from comparison.contest import LINSEP, Contender, Failed, Goal, Run, TookTooLong, climb, compete, verdict
from comparison.process import Session

HAS_NUMPY = all(importlib.util.find_spec(name) for name in ("numpy", "scipy"))
if HAS_NUMPY:
    import numpy as np
    import scipy.sparse as sparse

    from comparison import linsep, peers, quality
needs_numpy = unittest.skipUnless(HAS_NUMPY, "needs numpy and scipy")

CERTIFIED = Goal("(P-D)/D", at_most=1e-3)


def contender(name, outcomes, asked=None):
    """A contender whose outcome at a tolerance is (seconds, quality), or an exception."""

    def attempt(tolerance, limit):
        if asked is not None:
            asked.append((name, tolerance, limit))
        outcome = outcomes[tolerance]
        if isinstance(outcome, Exception):
            raise outcome
        return Run(outcome[0], quality=outcome[1])

    return Contender(name, attempt, tuple(outcomes))


class Ladder(unittest.TestCase):
    def test_the_loosest_tolerance_that_reaches_the_quality_is_taken(self):
        asked = []
        steps = {0.1: (1.0, 2e-2), 0.01: (2.0, 9e-4), 0.001: (3.0, 1e-5)}
        result = climb(contender("peer", steps, asked), CERTIFIED, 60)
        self.assertTrue(result.counts)
        self.assertEqual((result.tolerance, result.seconds, result.quality), (0.01, 2.0, 9e-4))
        self.assertEqual([tolerance for _, tolerance, _ in asked], [0.1, 0.01])

    def test_a_peer_that_never_reaches_the_quality_does_not_count(self):
        result = climb(contender("peer", {0.1: (1.0, 0.5), 0.01: (2.0, 2e-3)}), CERTIFIED, 60)
        self.assertFalse(result.counts)
        self.assertIn("2.00e-03", result.failure)
        self.assertEqual(len(result.tried), 2)

    def test_a_time_limit_ends_the_ladder(self):
        result = climb(contender("peer", {0.1: (1.0, 0.5), 0.01: TookTooLong(60)}), CERTIFIED, 60)
        self.assertFalse(result.counts)
        self.assertEqual(result.failure, "over 60 s at 0.01")

    def test_a_quality_that_is_no_number_is_not_good_enough(self):
        self.assertFalse(CERTIFIED.met(math.nan))
        self.assertFalse(CERTIFIED.met(None))
        self.assertTrue(Goal("accuracy", at_least=0.9).met(0.95))
        self.assertTrue(Goal("quality").met(None))


class Ratio(unittest.TestCase):
    def results(self, ours, *others, repeats=1):
        own = contender(LINSEP, {None: ours}) if ours else None
        rivals = [contender(name, {0.1: outcome}) for name, outcome in others]
        return compete(own, rivals, CERTIFIED, repeats, 60)

    def test_the_fastest_peer_of_the_wanted_quality_is_compared(self):
        results = self.results(
            (1.0, 1e-4), ("hasty", (0.5, 1e-2)), ("slow", (9.0, 1e-6)), ("good", (4.0, 1e-4))
        )
        found = verdict(results, 3)
        self.assertEqual((found.ratio, found.met, found.text), (4.0, True, "met"))
        self.assertEqual(verdict(results, 5).text, "missed")

    def test_a_command_that_fails_is_a_miss_with_its_reason(self):
        found = verdict(self.results(Failed("no such learner"), ("good", (4.0, 1e-4))), 3)
        self.assertEqual((found.ratio, found.met, found.text), (None, False, "failed: no such learner"))

    def test_linsep_has_to_reach_the_quality_too(self):
        found = verdict(self.results((1.0, 2e-3), ("good", (4.0, 1e-4))), 3)
        self.assertFalse(found.met)
        self.assertIn("failed: (P-D)/D 2.00e-03", found.text)

    def test_peers_that_are_all_stopped_give_a_lower_bound_of_the_ratio(self):
        results = self.results((1.0, 1e-4), ("late", TookTooLong(60)), ("later", TookTooLong(90)))
        found = verdict(results, 5)
        self.assertEqual((found.ratio, found.met), (60.0, True))
        self.assertFalse(verdict(results, 61).met)
        # A peer that fails otherwise says nothing about its time.
        broken = self.results((1.0, 1e-4), ("late", TookTooLong(60)), ("broken", Failed("no")))
        self.assertFalse(verdict(broken, 5).met)

    def test_without_a_peer_no_bar_is_met(self):
        self.assertFalse(verdict(self.results((1.0, 1e-4)), 3).met)

    def test_a_hopeless_peer_is_stopped_early_and_linsep_never(self):
        asked = []
        own = contender(LINSEP, {None: (0.1, 1e-4)}, asked)
        rivals = [contender("fast", {0.1: (1.0, 1e-4)}, asked), contender("late", {0.1: (8.0, 1e-4)}, asked)]
        compete(own, rivals, CERTIFIED, 1, 600)
        self.assertEqual([limit for _, _, limit in asked], [600, 600, 10.0])

    def test_repeats_take_turns_and_leave_out_the_slow(self):
        asked = []
        own = contender(LINSEP, {None: (0.1, 1e-4)}, asked)
        rivals = [contender(name, {0.1: (s, 1e-4)}, asked) for name, s in (("a", 1.0), ("b", 2.0), ("c", 9.0))]
        compete(own, rivals, CERTIFIED, 3, 600)
        order = [name for name, _, _ in asked]
        self.assertEqual(order, [LINSEP, "a", "b", "c", LINSEP, "a", "b", LINSEP, "a", "b"])

    def test_a_repeat_that_misses_the_quality_takes_the_count_away(self):
        outcomes = iter([Run(1.0, quality=1e-4), Run(1.0, quality=5e-3)])
        own = Contender(LINSEP, lambda _tolerance, _limit: next(outcomes))
        found = verdict(compete(own, [contender("a", {0.1: (1.0, 1e-4)})], CERTIFIED, 2, 60), 1)
        self.assertIn("in a repeat", found.text)

    def test_every_session_is_closed_even_after_an_error(self):
        closed = []
        broken = Contender("broken", lambda _tolerance, _limit: 1 / 0, close=lambda: closed.append("broken"))
        with self.assertRaises(ZeroDivisionError):
            compete(None, [broken], CERTIFIED, 1, 60)
        self.assertEqual(closed, ["broken"])


class Report(unittest.TestCase):
    def test_a_failed_row_stays_in_the_table(self):
        class Line:
            name, job, data, bar, goal = "train-x", "training", "x", 2, CERTIFIED

        results = Ratio().results(Failed("no such learner"), ("good", (4.0, 1e-4)))
        about = {"date": "d", "quick": True, "machine": {}, "versions": {}, "missing": {"vw": "no wheel"}}
        rows = [report.raw(Line, results), report.failed_row(Line, "no data")]
        text = report.markdown(about, json.loads(json.dumps(rows)))
        self.assertIn("0 of 2 bars are met", text)
        self.assertIn("failed: no such learner", text)
        self.assertIn("failed: no data", text)
        self.assertIn("- vw: no wheel", text)
        self.assertIn("| good | 4 |", text.replace("| 0.1 ", ""))


class Sessions(unittest.TestCase):
    PROGRAM = """
import sys, time
print('{"load": 0.5}', flush=True)
for line in sys.stdin:
    word = line.split()[0]
    if word == "sleep": time.sleep(60)
    if word == "die": sys.exit("no more")
    print('{"error": "cannot"}' if word == "fail" else '{"seconds": 1.5}', flush=True)
"""

    def setUp(self):
        self.session = Session([sys.executable, "-c", self.PROGRAM], 30)
        self.addCleanup(self.session.close)

    def test_requests_are_answered_and_failures_told(self):
        self.assertEqual(self.session.ready["load"], 0.5)
        with self.assertRaisesRegex(Failed, "cannot"):
            self.session.ask("fail", limit=30)
        self.assertEqual(self.session.ask("train", 0.1, limit=30)["seconds"], 1.5)

    def test_a_session_that_is_too_slow_is_ended(self):
        with self.assertRaises(TookTooLong):
            self.session.ask("sleep", limit=0.2)
        self.assertIsNotNone(self.session.process.poll())

    def test_the_last_words_of_a_session_that_dies_are_told(self):
        with self.assertRaisesRegex(Failed, "no more"):
            self.session.ask("die", limit=30)


@needs_numpy
class Judge(unittest.TestCase):
    def setUp(self):
        # x = 1 of class +1 and x = -2 of class -1, worked out by hand below.
        self.rows = sparse.csr_matrix([[1.0], [-2.0]])
        self.signs = np.array([1.0, -1.0])

    def test_the_squared_hinge_by_hand(self):
        # Margins 1/4 and 1/2: 1/32 + 9/16 + 1/4.
        value = quality.primal(self.rows, self.signs, np.array([0.25]), quality.SquaredHinge)
        self.assertAlmostEqual(value, 27 / 32, places=15)
        # The second row has a margin above 1 at the optimum w = 2/3, where P = 2/9 + 1/9.
        best, gap = quality.reference(self.rows, self.signs, quality.SquaredHinge)
        self.assertAlmostEqual(best, 1 / 3, places=9)
        self.assertLessEqual(gap, quality.REFERENCE_GAP)

    def test_the_logistic_loss_by_hand(self):
        value = quality.primal(self.rows, self.signs, np.array([0.0]), quality.Logistic)
        self.assertAlmostEqual(value, 2 * math.log(2), places=15)
        # One row x = 1: w = 1/(1 + exp w) at the optimum.
        low, high = 0.0, 1.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if middle < 1 / (1 + math.exp(middle)) else (low, middle)
        best, _ = quality.reference(self.rows[:1], self.signs[:1], quality.Logistic)
        self.assertAlmostEqual(best, low * low / 2 + math.log1p(math.exp(-low)), places=9)

    def test_no_dual_value_is_above_a_primal_value(self):
        rng = np.random.default_rng(1)
        for loss in quality.LOSSES.values():
            for columns in (5, quality.MOST_DIRECT_FEATURES + 1):
                rows = sparse.csr_matrix(rng.standard_normal((60, columns)))
                signs = np.sign(rng.standard_normal(60))
                best, gap = quality.reference(rows, signs, loss)
                self.assertLessEqual(gap, quality.REFERENCE_GAP)
                for _ in range(20):
                    weights = 0.1 * rng.standard_normal(columns)
                    value = quality.primal(rows, signs, weights, loss)
                    self.assertLessEqual(best, value)
                    alpha = loss.dual_variables(signs * (rows @ weights))
                    self.assertLessEqual(quality.dual(rows, signs, alpha, loss), best * (1 + 1e-7))

    def test_crammer_singer_by_hand(self):
        # One row x = 1 of the first of two classes, planes 1/4 and -1/4: 1/16 + (1 - 1/2).
        rows, planes = sparse.csr_matrix([[1.0]]), np.array([[0.25], [-0.25]])
        value = quality.crammer_singer_primal(rows, np.array([3.0]), np.array([3.0, 7.0]), planes)
        self.assertAlmostEqual(value, 9 / 16, places=15)

    def test_a_solved_ridge_regression_is_stationary_under_either_coding(self):
        rng = np.random.default_rng(2)
        rows, classes = rng.standard_normal((50, 3)), np.array([0.0, 1.0, 2.0])
        labels = rng.integers(0, 3, 50).astype(float)
        for low in (0.0, -1.0):
            targets = np.where(labels[:, None] == classes, 1.0, low)
            wide = np.column_stack([rows, np.ones(50)])
            solved = np.linalg.solve(wide.T @ wide + np.diag([1.0, 1.0, 1.0, 0.0]), wide.T @ targets)
            planes, biases = solved[:3].T, solved[3]
            self.assertLess(quality.stationarity(rows, labels, classes, planes, biases, 1.0), 1e-12)
            self.assertGreater(quality.stationarity(rows, labels, classes, planes * 1.01, biases, 1.0), 1e-4)


@needs_numpy
class Models(unittest.TestCase):
    def test_liblinear_writes_the_plane_of_its_first_label(self):
        text = "solver_type L2R_LR\nnr_class 2\nlabel {}\nnr_feature 2\nbias -1\nw\n0.5 \n-2 \n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            for labels, sign in (("1 -1", 1.0), ("-1 1", -1.0)):
                path.write_text(text.format(labels))
                classes, planes, _ = peers.read_liblinear(path)
                self.assertEqual(classes.tolist(), [-1.0, 1.0])
                self.assertEqual(planes.tolist(), [[sign * 0.5, sign * -2.0]])

    def test_planes_of_many_classes_are_put_in_order(self):
        weights = np.array([[20.0, 10.0, 30.0], [21.0, 11.0, 31.0]])  # feature by feature, as sessions write
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "weights")
            weights.tofile(path)
            classes, planes, _ = peers.read_weights(path, {"planes": 3, "labels": [2, 1, 3]})
        self.assertEqual(classes.tolist(), [1.0, 2.0, 3.0])
        self.assertEqual(planes.tolist(), [[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])

    def test_dense_and_sparse_planes_of_linsep_are_read(self):
        model = {
            "input": {"features": 3},
            "classes": ["10", "9"],
            "planes": [{"weights": [1.0, 2.0, 3.0], "bias": 4.0}, {"sparse": [[1, 5.0]], "bias": 6.0}],
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.linsep")
            path.write_text(json.dumps(model))
            classes, planes, biases = linsep.read_model(path)
        self.assertEqual(classes.tolist(), [9.0, 10.0])
        self.assertEqual(planes.tolist(), [[0.0, 5.0, 0.0], [1.0, 2.0, 3.0]])
        self.assertEqual(biases.tolist(), [6.0, 4.0])

    def test_planes_in_tensors_are_read(self):
        classes, sparse_map = b'["10","9"]', b'{"features":3}'
        dense = {"bias": np.array([4.0, 6.0]), "weights": np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 0.0]])}
        sparse = {"bias": dense["bias"], "indptr": np.array([0, 3, 4]), "indices": np.array([0, 1, 2, 1]),
                  "values": np.array([1.0, 2.0, 3.0, 5.0])}
        for tensors in (dense, sparse):
            header, data = {}, b""
            texts = {"classes": np.frombuffer(classes, "u1"), "input": np.frombuffer(sparse_map, "u1")}
            for name, tensor in (tensors | texts).items():
                kind = {"f": "F64", "i": "I64", "u": "U8"}[tensor.dtype.kind]
                end = len(data) + tensor.nbytes
                header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), end]}
                data += tensor.tobytes()
            text = json.dumps(header).encode()
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.linsep")
                path.write_bytes(len(text).to_bytes(8, "little") + text + data)
                found, planes, biases = linsep.read_model(path)
            self.assertEqual(found.tolist(), [9.0, 10.0])
            self.assertEqual(planes.tolist(), [[0.0, 5.0, 0.0], [1.0, 2.0, 3.0]])
            self.assertEqual(biases.tolist(), [6.0, 4.0])

    def test_the_certificate_is_paid_for_in_the_time_of_training(self):
        parts = linsep.seconds_of({"seconds": {"load": 1.0, "train": 2.0, "prove": 0.5, "write": 3.0}})
        self.assertEqual(parts, {"load": 1.0, "train": 2.5})
        self.assertEqual(linsep.seconds_of({"seconds": {"read": 1.0, "train": 2.0}})["load"], 1.0)


class Readme(unittest.TestCase):
    """The rows that the README calls won and lost are those of the run that it links to."""

    def test_the_rows_won_and_lost_are_those_of_the_run(self):
        root = Path(__file__).resolve().parents[2]
        readme = (root / "README.md").read_text()
        [run] = set(re.findall(r"bench/runs/[^/]+/compare\.md", readme))
        table = (root / run).read_text().split("\n## ")[0]
        header, *rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
        ratios = [float(row[header.index("ratio")]) for row in rows if not row[0].startswith("---")]
        won = sum(ratio > 1 for ratio in ratios)
        self.assertIn(f"{won} of {len(ratios)} rows won, {len(ratios) - won} lost", readme)
        met = sum(row[header.index("verdict")] == "met" for row in rows)
        self.assertIn(f"{met} of {len(ratios)} are met", readme)


if __name__ == "__main__":
    unittest.main()
