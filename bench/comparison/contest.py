"""The rules of a comparison: who counts, at which tolerance, and what the ratio is. No numpy here."""

import statistics
import time
from dataclasses import dataclass, field

from comparison.process import Failed, TookTooLong

LINSEP = "linsep"
# A peer this much slower than the fastest one so far is stopped; it cannot be the one that counts.
HOPELESS = 4
# ... but never before this time, for a short job may have a slow start.
LEAST_PATIENCE = 5.0
# A peer this much slower than the fastest one is not repeated.
NOT_REPEATED = 3
# A peer this much slower whose result is too loose is not asked for a tighter one, which would take longer.
NOT_TIGHTENED = 1.5
# Rounds of repeats that take more than so many budgets are not begun at all.
LONGEST_ROUND = 2
# Where no peer gets there in time, peers are given what shows that the floor is met, up to so many seconds.
LONGEST_PATIENCE = 300.0
# Memory that is made ready before a run: as much as the contender held in its last one, within these limits.
LEAST_WARM_MIB, MOST_WARM_MIB = 64, 1024

GOAL_MET, FLOOR_MET, BELOW_FLOOR, LOST = "goal met", "floor met", "below the floor", "lost"
OVER_LIMIT = "over the limit"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Run:
    """What one run measured. `seconds` is the time that is compared."""

    seconds: float
    load: float | None = None
    train: float | None = None
    peak_mib: float | None = None
    quality: float | None = None
    cpu: float | None = None  # of all threads, for the part that `seconds` is about, or the whole process
    memory: dict | None = None  # what the peak consists of, in bytes, where the program says so


@dataclass(frozen=True)
class Bars:
    """What a ratio is held against. Where lower is better, floor and goal are upper limits."""

    floor: float
    goal: float
    lower_is_better: bool = False

    def word(self, ratio):
        if self.lower_is_better:
            if ratio > self.floor:
                return OVER_LIMIT
            return GOAL_MET if ratio <= self.goal else FLOOR_MET
        if ratio < 1:
            return LOST
        if ratio < self.floor:
            return BELOW_FLOOR
        return GOAL_MET if ratio >= self.goal else FLOOR_MET


@dataclass(frozen=True)
class Standard:
    """What a result needs to count: a quality within these limits. Without limits everything counts."""

    name: str  # what the quality is
    at_most: float | None = None
    at_least: float | None = None

    def met(self, quality):
        if quality is None:
            return self.at_most is None and self.at_least is None
        above = self.at_least is None or quality >= self.at_least
        return above and (self.at_most is None or quality <= self.at_most)


@dataclass
class Contender:
    """Somebody who does the job: `attempt(tolerance, limit)` gives a Run, or raises Failed."""

    name: str
    attempt: object
    ladder: tuple = (None,)
    close: object = lambda: None
    peak_mib: float | None = None  # of the last run

    def run(self, tolerance, limit, warm):
        """An attempt, after so much memory has been made ready as it will need."""
        needed = MOST_WARM_MIB if self.peak_mib is None else 1.1 * self.peak_mib
        warm(int(min(MOST_WARM_MIB, max(LEAST_WARM_MIB, needed))))
        run = self.attempt(tolerance, limit)
        self.peak_mib = run.peak_mib
        return run


def no_warming(_mib):
    """For machines whose free memory stays theirs, and for tests of the rules."""


@dataclass
class Result:
    name: str
    runs: list = field(default_factory=list)
    tolerance: float | None = None
    failure: str | None = None
    stopped_at: float | None = None  # the time limit that it ran into, looser tolerances being too loose
    tried: list = field(default_factory=list)  # (tolerance, seconds, quality) of the ladder
    quality: float | None = None
    counts: bool = False

    @property
    def seconds(self):
        return statistics.median(run.seconds for run in self.runs) if self.runs else None

    @property
    def spread(self):
        times = [run.seconds for run in self.runs]
        return (min(times), max(times)) if times else None

    def median(self, part):
        values = [getattr(run, part) for run in self.runs]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None

    @property
    def peak_mib(self):
        values = [run.peak_mib for run in self.runs if run.peak_mib is not None]
        return max(values) if values else None


def climb(contender, standard, limit, hopeless=None, warm=no_warming):
    """The first tolerance of the ladder, from loose to tight, whose result meets the standard. A run that
    took longer than `hopeless` seconds and is not good enough ends the climb: a tighter one takes longer."""
    result = Result(contender.name)
    for tolerance in contender.ladder:
        try:
            run = contender.run(tolerance, limit, warm)
        except Failed as failure:
            place = "" if tolerance is None else f" at {tolerance:g}"
            result.failure = f"{failure}{place}"
            result.stopped_at = getattr(failure, "limit", None)
            return result
        result.tried.append((tolerance, run.seconds, run.quality))
        result.quality = run.quality
        if standard.met(run.quality):
            result.runs = [run]
            result.tolerance = tolerance
            result.counts = True
            return result
        result.runs, result.tolerance = [run], tolerance
        if hopeless is not None and run.seconds > hopeless:
            break
    if tolerance is None:
        place = ""
    elif tolerance == contender.ladder[-1]:
        place = " at its tightest tolerance"
    else:
        place = f" at {tolerance:g}, and too slow already to try a tighter one"
    reached = "unknown" if result.quality is None else f"{result.quality:.2e}"
    result.failure = f"{standard.name} {reached}{place}"
    return result


def compete(linsep, peers, standard, repeats, limit, budget=None, floor=0.0, warm=no_warming):
    """Everybody once, up the ladder; then those who count again, taking turns, until the budget of seconds
    for repeats is spent. A peer may take `limit` seconds, or what makes the ratio reach the floor. `warm` makes
    some MiB of memory ready before each run."""
    results = {}
    contenders = ([linsep] if linsep else []) + peers
    try:
        for contender in contenders:
            is_linsep = contender is linsep
            fastest = fastest_peer(results.values())
            patience, hopeless = limit, None
            if not is_linsep and LINSEP in results and results[LINSEP].counts:
                enough = 1.05 * floor * results[LINSEP].seconds
                patience = max(limit, min(LONGEST_PATIENCE, enough))
            if not is_linsep and fastest:
                patience = min(limit, max(LEAST_PATIENCE, HOPELESS * fastest.seconds))
                hopeless = NOT_TIGHTENED * fastest.seconds
            results[contender.name] = climb(contender, standard, patience, hopeless, warm)
        fastest = fastest_peer(results.values())
        again = []
        for contender in contenders:
            result = results[contender.name]
            slow = fastest and result.seconds and result.seconds > NOT_REPEATED * fastest.seconds
            if result.counts and (contender is linsep or not slow):
                again.append((contender, result))
        end = None if budget is None else time.monotonic() + budget
        round_seconds = sum(result.seconds for _, result in again)
        if budget is not None and round_seconds > LONGEST_ROUND * budget:
            repeats = 1
        for _ in range(repeats - 1):
            if end is not None and time.monotonic() > end:
                break
            for contender, result in again:
                if result.counts:
                    repeat(contender, result, standard, limit, warm)
    finally:
        for contender in contenders:
            contender.close()
    return list(results.values())


def repeat(contender, result, standard, limit, warm=no_warming):
    try:
        run = contender.run(result.tolerance, limit, warm)
    except Failed as failure:
        result.failure, result.counts = f"{failure} in a repeat", False
        return
    result.runs.append(run)
    if run.quality is not None and not standard.met(run.quality):
        result.failure, result.counts = f"{standard.name} {run.quality:.2e} in a repeat", False


def fastest_peer(results):
    counting = [result for result in results if result.counts and result.name != LINSEP]
    return min(counting, key=lambda result: result.seconds, default=None)


@dataclass(frozen=True)
class Verdict:
    ratio: float | None
    word: str  # one of the words above
    text: str  # the word, and the reason where there is one
    is_bound: bool = False  # the ratio is at least this

    @property
    def floor_met(self):
        return self.word in (FLOOR_MET, GOAL_MET)


def not_measured(reason):
    return Verdict(None, NOT_MEASURED, reason)


def verdict(results, bars):
    """The ratio of the fastest counting peer's time to linsep's, held against the bars. Where lower is
    better it is linsep's time over the peer's."""
    linsep = next((result for result in results if result.name == LINSEP), None)
    peer = fastest_peer(results)
    if linsep is None:
        return not_measured("linsep not run")
    if not linsep.counts:
        return not_measured(f"failed: {linsep.failure}")
    if peer is None:
        return against_the_limit(linsep, results, bars)
    ratio = linsep.seconds / peer.seconds if bars.lower_is_better else peer.seconds / linsep.seconds
    word = bars.word(ratio)
    return Verdict(ratio, word, word)


def against_the_limit(linsep, results, bars):
    """No peer counts. Those that were stopped would have needed longer still: the shortest of their
    limits gives a ratio that is too small, and good enough for a bar below it."""
    peers = [result for result in results if result.name != LINSEP]
    stopped = [result.stopped_at for result in peers if result.stopped_at is not None]
    if bars.lower_is_better or not peers or len(stopped) < len(peers):
        return not_measured("no peer to compare with")
    ratio = min(stopped) / linsep.seconds
    word = bars.word(ratio)
    # Below its bars such a ratio says nothing: the peers may be slower by any factor.
    if word not in (FLOOR_MET, GOAL_MET):
        return Verdict(ratio, NOT_MEASURED, "no peer got there in time", is_bound=True)
    return Verdict(ratio, word, f"{word}: no peer got there in time", is_bound=True)


__all__ = [
    "BELOW_FLOOR", "FLOOR_MET", "GOAL_MET", "LINSEP", "LOST", "NOT_MEASURED", "OVER_LIMIT", "Bars", "Contender",
    "Failed", "Result", "Run", "Standard", "TookTooLong", "Verdict", "climb", "compete", "fastest_peer", "verdict",
]  # fmt: skip
