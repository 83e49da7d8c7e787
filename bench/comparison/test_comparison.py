"""Tests of the comparison itself: who counts, what a ratio is, and that the judge judges right.

    PYTHONPATH=bench python3 -m unittest comparison.test_comparison

The tests of the judge need numpy and scipy and are skipped without them; the environment that
bench/compare makes has both.
"""

import importlib.machinery
import importlib.util
import json
import math
import re
import sys
import tempfile
import unittest
from pathlib import Path

from comparison import plot, report
from comparison.contest import (
    LINSEP,
    Bars,
    Contender,
    Failed,
    Run,
    Standard,
    TookTooLong,
    climb,
    compete,
    verdict,
)
from comparison.process import Session, complaint

HAS_NUMPY = all(importlib.util.find_spec(name) for name in ("numpy", "scipy"))
if HAS_NUMPY:
    import numpy as np
    import scipy.sparse as sparse

    from comparison import data, generate, linsep, optima, peers, quality, rows, svmlight
needs_numpy = unittest.skipUnless(HAS_NUMPY, "needs numpy and scipy")

CERTIFIED = Standard("(P-D)/D", at_most=1e-3)


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

    def test_a_peer_that_is_too_slow_already_is_not_asked_for_more(self):
        asked = []
        steps = {0.1: (5.0, 0.5), 0.01: (9.0, 1e-4)}
        result = climb(contender("peer", steps, asked), CERTIFIED, 60, hopeless=3.0)
        self.assertFalse(result.counts)
        self.assertEqual(len(asked), 1)
        self.assertIn("too slow already", result.failure)

    def test_a_quality_that_is_no_number_is_not_good_enough(self):
        self.assertFalse(CERTIFIED.met(math.nan))
        self.assertFalse(CERTIFIED.met(None))
        self.assertTrue(Standard("accuracy", at_least=0.9).met(0.95))
        self.assertTrue(Standard("quality").met(None))


class Ratio(unittest.TestCase):
    def results(self, ours, *others, repeats=1):
        own = contender(LINSEP, {None: ours}) if ours else None
        rivals = [contender(name, {0.1: outcome}) for name, outcome in others]
        return compete(own, rivals, CERTIFIED, repeats, 60)

    def test_the_fastest_peer_of_the_wanted_quality_is_compared(self):
        results = self.results(
            (1.0, 1e-4), ("hasty", (0.5, 1e-2)), ("slow", (9.0, 1e-6)), ("good", (4.0, 1e-4))
        )
        for bars, word in (
            (Bars(3, 4), "goal met"), (Bars(3, 5), "floor met"), (Bars(5, 9), "below the floor"),
        ):  # fmt: skip
            found = verdict(results, bars)
            self.assertEqual((found.ratio, found.word, found.text), (4.0, word, word))

    def test_a_row_that_is_slower_than_its_peer_is_lost_whatever_the_floor(self):
        found = verdict(self.results((8.0, 1e-4), ("good", (4.0, 1e-4))), Bars(0.4, 2))
        self.assertEqual((found.ratio, found.word, found.floor_met), (0.5, "lost", False))

    def test_where_lower_is_better_the_bars_are_upper_limits(self):
        results = self.results((5.0, 1e-4), ("reading", (4.0, 1e-4)))
        for bars, word in (
            (Bars(1.2, 1.05, True), "over the limit"), (Bars(1.3, 1.05, True), "floor met"),
            (Bars(1.5, 1.3, True), "goal met"),
        ):  # fmt: skip
            found = verdict(results, bars)
            self.assertEqual((found.ratio, found.word), (1.25, word))

    def test_a_command_that_fails_is_a_miss_with_its_reason(self):
        found = verdict(self.results(Failed("no such learner"), ("good", (4.0, 1e-4))), Bars(3, 4))
        self.assertEqual((found.ratio, found.word, found.text), (None, "not measured", "failed: no such learner"))

    def test_linsep_has_to_reach_the_quality_too(self):
        found = verdict(self.results((1.0, 2e-3), ("good", (4.0, 1e-4))), Bars(3, 4))
        self.assertFalse(found.floor_met)
        self.assertIn("failed: (P-D)/D 2.00e-03", found.text)

    def test_peers_that_are_all_stopped_give_a_lower_bound_of_the_ratio(self):
        results = self.results((1.0, 1e-4), ("late", TookTooLong(60)), ("later", TookTooLong(90)))
        found = verdict(results, Bars(5, 100))
        self.assertEqual((found.ratio, found.word), (60.0, "floor met"))
        # Not below the floor: nobody knows how far above 60 the ratio is.
        self.assertEqual(verdict(results, Bars(61, 100)).word, "not measured")
        # A peer that fails otherwise says nothing about its time.
        broken = self.results((1.0, 1e-4), ("late", TookTooLong(60)), ("broken", Failed("no")))
        self.assertFalse(verdict(broken, Bars(5, 9)).floor_met)

    def test_without_a_peer_no_bar_is_met(self):
        self.assertFalse(verdict(self.results((1.0, 1e-4)), Bars(3, 4)).floor_met)

    def test_a_hopeless_peer_is_stopped_early_and_linsep_never(self):
        asked = []
        own = contender(LINSEP, {None: (0.1, 1e-4)}, asked)
        rivals = [contender("fast", {0.1: (1.0, 1e-4)}, asked), contender("late", {0.1: (8.0, 1e-4)}, asked)]
        compete(own, rivals, CERTIFIED, 1, 600)
        self.assertEqual([limit for _, _, limit in asked], [600, 600, 5.0])

    def test_peers_may_take_what_shows_that_the_floor_is_met(self):
        asked = []
        own = contender(LINSEP, {None: (2.0, 1e-4)}, asked)
        results = compete(own, [contender("late", {0.1: TookTooLong(42)}, asked)], CERTIFIED, 1, 10, floor=20)
        self.assertEqual([limit for _, _, limit in asked], [10, 42.0])
        found = verdict(results, Bars(20, 100))
        self.assertEqual((found.word, found.is_bound), ("floor met", True))
        self.assertIn("| > 21.00 |", report.markdown(ABOUT, [report.raw(Line, Line, results)]))

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
        found = verdict(compete(own, [contender("a", {0.1: (1.0, 1e-4)})], CERTIFIED, 2, 60), Bars(1, 2))
        self.assertIn("in a repeat", found.text)

    def test_every_session_is_closed_even_after_an_error(self):
        closed = []
        broken = Contender("broken", lambda _tolerance, _limit: 1 / 0, close=lambda: closed.append("broken"))
        with self.assertRaises(ZeroDivisionError):
            compete(None, [broken], CERTIFIED, 1, 60)
        self.assertEqual(closed, ["broken"])


class Line:
    """A row and its case in one."""

    name, job, data, bars, standard = "train-x", "training", "x & y", Bars(2, 6), CERTIFIED


ABOUT = {"date": "d", "quick": True, "machine": {}, "versions": {}, "missing": {"vw": "no wheel"}}


class Report(unittest.TestCase):
    def rows(self, *cases):
        """As they come back from a file."""
        return json.loads(json.dumps(list(cases)))

    def test_a_failed_row_stays_in_the_table(self):
        results = Ratio().results(Failed("no such learner"), ("good", (4.0, 1e-4)))
        rows = self.rows(report.raw(Line, Line, results), report.failed_case(Line, Line, "no data"))
        text = report.markdown(ABOUT, rows)
        self.assertIn("0 of 2 floors are met, 0 of them with the goal; 0 are below the floor, 0 are lost", text)
        self.assertIn("2 are not measured", text)
        self.assertIn("failed: no such learner", text)
        self.assertIn("failed: no data", text)
        self.assertIn("- vw: no wheel", text)
        self.assertIn("| good | 4 |", text.replace("| 0.1 ", ""))
        self.assertIn("does not list what its memory consists of", text)

    def test_held_out_data_stands_beside_its_row_and_is_counted_apart(self):
        row = report.raw(Line, Line, Ratio().results((1.0, 1e-4), ("good", (4.0, 1e-4))))
        row["held_out"] = report.raw(Line, Line, Ratio().results((8.0, 1e-4), ("good", (4.0, 1e-4))))
        text = report.markdown(ABOUT, self.rows(row))
        self.assertIn("| 4.00 | 2 | 6 | floor met | 0.50 | lost | x & y |", text)
        self.assertIn("1 of 1 floors are met, 0 of them with the goal", text)
        self.assertIn("Held-out data: 0 of 1 floors are met, 0 of them with the goal; 0 are below the floor, 1 are lost", text)

    def test_a_row_of_which_less_is_better_says_so(self):
        class Verify(Line):
            bars = Bars(1.2, 1.05, lower_is_better=True)

        row = report.raw(Verify, Verify, Ratio().results((5.0, 1e-4), ("reading", (4.0, 1e-4))))
        self.assertIn("| 1.25 ↓ | ≤ 1.2 | ≤ 1.05 | over the limit |", report.markdown(ABOUT, self.rows(row)))

    def test_a_peak_is_held_against_the_parts_that_the_program_lists(self):
        mib = 2**20
        parts = {"store": 10 * mib, "layouts": {"by columns": 20 * mib}, "weights": 5 * mib, "file": 15 * mib}
        own = Contender(LINSEP, lambda _tolerance, _limit: Run(1.0, peak_mib=61.0, quality=1e-4, memory=parts))
        row = report.raw(Line, Line, compete(own, [contender("a", {0.1: (1.0, 1e-4)})], CERTIFIED, 1, 60))
        self.assertEqual((row["memory"]["bound_mib"], row["memory"]["goal_mib"]), (60.0, 12.0))
        self.assertFalse(row["memory"]["within"])
        text = report.markdown(ABOUT, self.rows(row))
        self.assertIn("0 of 1 peaks are within", text)
        self.assertIn("above the bound; by columns is larger than the store", text)

    def test_the_reason_of_a_failure_is_found_among_notes(self):
        self.assertEqual(complaint('note: a table\n{"code": "E1", "message": "no such column"}'), "no such column")
        self.assertEqual(complaint("note: a table\nerror: no such file"), "error: no such file")
        self.assertEqual((complaint("what"), complaint("")), ("what", ""))


class Plot(unittest.TestCase):
    def test_the_picture_is_well_formed_and_has_a_mark_for_each_measured_case(self):
        from xml.etree import ElementTree

        class Verify(Line):
            name, bars = "verify", Bars(1.2, 1.05, lower_is_better=True)

        good = report.raw(Line, Line, Ratio().results((1.0, 1e-4), ("good", (4.0, 1e-4))))
        good["held_out"] = report.raw(Line, Line, Ratio().results((8.0, 1e-4), ("good", (4.0, 1e-4))))
        verify = report.raw(Verify, Verify, Ratio().results((5.0, 1e-4), ("reading", (4.0, 1e-4))))
        rows = [good, verify, report.failed_case(Line, Line, "no data")]
        picture = ElementTree.fromstring(plot.svg(ABOUT, json.loads(json.dumps(rows))))
        found = "{http://www.w3.org/2000/svg}"
        circles = picture.findall(f"{found}circle")
        self.assertEqual(len(circles), 2)
        # The held-out ratio is below 1, that of the table above: left and right of each other.
        self.assertLess(*(float(circle.get("cx")) for circle in circles))
        self.assertEqual(len(picture.findall(f"{found}rect")), 2)  # the page and the row of which less is better
        self.assertIn("train-x: 4.00, floor met, held-out 0.50", picture.find(f"{found}desc").text)

    def test_a_run_without_any_ratio_has_a_picture_too(self):
        self.assertIn("</svg>", plot.svg(ABOUT, [report.failed_case(Line, Line, "no data")]))


class Scaling(unittest.TestCase):
    """bench/scaling, a script without a suffix."""

    def setUp(self):
        path = Path(__file__).resolve().parents[1] / "scaling"
        loader = importlib.machinery.SourceFileLoader("scaling", str(path))
        self.scaling = importlib.util.module_from_spec(importlib.util.spec_from_loader("scaling", loader))
        # Data classes look their module up by its name.
        sys.modules["scaling"] = self.scaling
        loader.exec_module(self.scaling)

    def test_growth_is_the_exponent_between_neighbouring_sizes(self):
        points = [self.scaling.Point("ridge", size, time, time, 50.0) for size, time in ((10, 0.1), (100, 10.0))]
        self.assertAlmostEqual(self.scaling.growth(*points, "train"), 2.0)
        self.assertAlmostEqual(self.scaling.growth(*points, "peak_mib"), 0.0)
        axis = self.scaling.axes(False, 10**7)[0]
        text, steep = self.scaling.axis_table(axis, points)
        self.assertIn("| 2.00 | 2.00 | 0.00 | above linear |", text)
        self.assertEqual(steep, ["ridge, rows 10 to 100: 2.00, 2.00, 0.00"])

    def test_times_that_are_too_short_are_not_called_steep(self):
        points = [self.scaling.Point("ridge", size, time, time, 50.0) for size, time in ((10, 0.001), (100, 0.5))]
        self.assertFalse(self.scaling.is_steep(*points))
        failed = self.scaling.Point("ridge", 100, note="over 30 s")
        self.assertFalse(self.scaling.is_steep(points[0], failed))


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


    def test_a_softmax_of_two_classes_by_hand(self):
        # One row x = 1 of the first of two classes, planes 1/2 and -1/2: 1/4 + log(1 + exp(-1)).
        rows, planes = np.array([[1.0]]), np.array([[0.5], [-0.5]])
        value = optima.softmax_primal(rows, np.array([3.0]), np.array([3.0, 7.0]), planes)
        self.assertAlmostEqual(value, 0.25 + math.log1p(math.exp(-1)), places=14)

    def test_softmax_references_are_bounds(self):
        rng = np.random.default_rng(3)
        rows, labels = sparse.csr_matrix(rng.standard_normal((80, 6))), rng.integers(0, 4, 80).astype(float)
        best, gap = optima.softmax_reference(rows, labels, 1e-8)
        self.assertLessEqual(gap, 1e-8)
        for size in (0.0, 0.1, 1.0):
            planes = size * rng.standard_normal((4, 6))
            self.assertLessEqual(best, optima.softmax_primal(rows, labels, np.arange(4.0), planes))

    def test_l1_references_are_bounds_even_if_columns_depend_on_each_other(self):
        rng = np.random.default_rng(4)
        points = rng.standard_normal((90, 5))
        points = np.column_stack([points, points[:, 0] + points[:, 1], points[:, 2]])
        rows, signs = sparse.csr_matrix(points), np.sign(points[:, 0] + rng.standard_normal(90))
        best, gap = optima.l1_reference(rows, signs, quality.Logistic, 1e-8)
        self.assertLessEqual(gap, 1e-8)
        for size in (0.0, 0.1, 1.0):
            weights = size * rng.standard_normal(7)
            self.assertLessEqual(best, optima.l1_primal(rows, signs, weights, quality.Logistic))
            alpha = quality.Logistic.dual_variables(signs * (rows @ weights))
            self.assertLessEqual(optima.l1_dual(rows, signs, alpha, quality.Logistic), best * (1 + 1e-7))

    def test_the_widest_margin_by_hand(self):
        # The hulls are nearest between (0, 1) and the edge from (-3, -1) to (3, -1).
        rows = np.array([[0.0, 1.0], [5.0, 4.0], [-3.0, -1.0], [3.0, -1.0]])
        signs = np.array([1.0, 1.0, -1.0, -1.0])
        widest, gap = optima.margin_reference(rows, signs)
        self.assertAlmostEqual(widest, 1.0, places=12)
        self.assertLessEqual(gap, optima.MARGIN_GAP)
        self.assertAlmostEqual(optima.margin(rows, signs, np.array([0.0, 7.0])), 1.0, places=15)
        self.assertLess(optima.margin(rows, signs, np.array([0.1, 1.0])), 1.0)

    def test_mirrored_data_has_its_widest_plane_through_0(self):
        made = generate.mirrored_gap(5, 60, 4, gap=0.5, degrees=5)
        signed = made.labels[:, None] * made.points
        widest, _ = optima.margin_reference(made.points, made.labels)
        # Every row and its mirror image are one signed row: half the gap is the distance of each from 0.
        without_bias, _ = optima.margin_reference(np.vstack([signed, -signed]), np.repeat([1, -1], len(signed)))
        self.assertAlmostEqual(widest, without_bias, places=12)


@needs_numpy
class Table(unittest.TestCase):
    def test_every_row_has_its_bars_in_order_and_held_out_data_of_its_own(self):
        names = [row.name for row in rows.ROWS]
        self.assertEqual(len(set(names)), len(names))
        for row in rows.ROWS:
            floor, goal = row.bars.floor, row.bars.goal
            self.assertTrue(goal < floor if row.bars.lower_is_better else 1 <= floor < goal, row.name)
            self.assertNotEqual(row.case.data, row.held_out.data)


@needs_numpy
class Files(unittest.TestCase):
    def test_rows_are_written_as_they_are(self):
        units = [[0, 5, -1, 0, 120000], [7, 0, 0, 0, 0], [0, 0, 100, -20050, 3]]
        made = generate.Rows(np.array([1, -1, 12]), sparse.csr_matrix(units), 4)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.svm")
            for block in (1, 2, 1000):
                svmlight.BLOCK_TOKENS = block
                made.write(path)
                text = "1 2:0.0005 3:-0.0001 5:12\n-1 1:0.0007\n12 3:0.01 4:-2.005 5:0.0003\n"
                self.assertEqual(path.read_text(), text)

    def test_generated_data_is_the_same_each_time(self):
        for make in (
            lambda: generate.text_of_classes(1, 40, 300, 3, 20)[1], lambda: generate.images(1, 30, 8, 3),
            lambda: generate.one_hot(1, 50, (3, 4, 5)), lambda: generate.long_rows(1, 4, 50, 5, 3, 99),
            lambda: generate.text_by_plane(1, 40, 300, 20, 0.1, 1, 0.5),
        ):  # fmt: skip
            first, second = make(), make()
            self.assertEqual((first.units != second.units).nnz, 0)
            self.assertEqual(first.labels.tolist(), second.labels.tolist())
            self.assertGreater(len(set(first.labels.tolist())), 1)

    def test_a_table_that_is_cut_by_a_plane_has_as_many_wrong_labels_as_asked(self):
        clean, wrong = (generate.cut_by_plane(3, 50, 4, 3, flipped=flipped) for flipped in (0, 2))
        self.assertEqual((clean.points != wrong.points).sum(), 0)
        self.assertEqual((clean.labels != wrong.labels).sum(), 2)

    def test_every_file_of_a_row_has_somebody_to_make_it(self):
        missing = [name for name in rows.FEATURES if name not in data.Data.MAKERS]
        self.assertEqual(missing, [])


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
        header, *lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
        lines = [line for line in lines if not line[0].startswith("---")]
        ratio, verdict = header.index("ratio"), header.index("verdict")
        # Rows of which less is better cannot be won or lost; one that is not measured is not won.
        raced = [line[ratio] for line in lines if "↓" not in line[ratio]]
        won = sum(text != "–" and float(text.removeprefix("> ")) > 1 for text in raced)
        self.assertIn(f"{won} of {len(raced)} rows won, {len(raced) - won} lost", readme)
        # "met" alone is how tables with one bar said it.
        met = sum(line[verdict] == "met" or line[verdict].startswith(("goal met", "floor met")) for line in lines)
        self.assertIn(f"{met} of {len(lines)} are met", readme)


if __name__ == "__main__":
    unittest.main()
