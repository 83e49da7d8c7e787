"""The rules of a comparison: who counts, at which tolerance, and what the ratio is. No numpy here."""

import statistics
import time
from dataclasses import dataclass, field

from comparison.process import Failed, TookTooLong

LINSEP = "linsep"
# A peer this much slower than the fastest one so far is stopped; it cannot be the one that counts.
HOPELESS = 10
# ... but never before this time, for a short job may have a slow start.
LEAST_PATIENCE = 5.0
# A peer this much slower than the fastest one is not repeated.
NOT_REPEATED = 3


@dataclass(frozen=True)
class Run:
    """What one run measured. `seconds` is the time that is compared."""

    seconds: float
    load: float | None = None
    train: float | None = None
    peak_mib: float | None = None
    quality: float | None = None
    cpu: float | None = None  # of all threads, for the part that `seconds` is about, or the whole process


@dataclass(frozen=True)
class Goal:
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


def climb(contender, goal, limit):
    """The first tolerance of the ladder, from loose to tight, whose result meets the goal."""
    result = Result(contender.name)
    for tolerance in contender.ladder:
        try:
            run = contender.attempt(tolerance, limit)
        except Failed as failure:
            place = "" if tolerance is None else f" at {tolerance:g}"
            result.failure = f"{failure}{place}"
            result.stopped_at = getattr(failure, "limit", None)
            return result
        result.tried.append((tolerance, run.seconds, run.quality))
        result.quality = run.quality
        if goal.met(run.quality):
            result.runs = [run]
            result.tolerance = tolerance
            result.counts = True
            return result
        result.runs, result.tolerance = [run], tolerance
    place = "" if tolerance is None else " at its tightest tolerance"
    reached = "unknown" if result.quality is None else f"{result.quality:.2e}"
    result.failure = f"{goal.name} {reached}{place}"
    return result


def compete(linsep, peers, goal, repeats, limit, budget=None):
    """Everybody once, up the ladder; then those who count again, taking turns, until the budget of seconds
    for repeats is spent."""
    results = {}
    contenders = ([linsep] if linsep else []) + peers
    try:
        for contender in contenders:
            is_linsep = contender is linsep
            fastest = fastest_peer(results.values())
            patience = limit
            if not is_linsep and fastest:
                patience = min(limit, max(LEAST_PATIENCE, HOPELESS * fastest.seconds))
            results[contender.name] = climb(contender, goal, patience)
        fastest = fastest_peer(results.values())
        again = []
        for contender in contenders:
            result = results[contender.name]
            slow = fastest and result.seconds and result.seconds > NOT_REPEATED * fastest.seconds
            if result.counts and (contender is linsep or not slow):
                again.append((contender, result))
        end = None if budget is None else time.monotonic() + budget
        for _ in range(repeats - 1):
            if end is not None and time.monotonic() > end:
                break
            for contender, result in again:
                if result.counts:
                    repeat(contender, result, goal, limit)
    finally:
        for contender in contenders:
            contender.close()
    return list(results.values())


def repeat(contender, result, goal, limit):
    try:
        run = contender.attempt(result.tolerance, limit)
    except Failed as failure:
        result.failure, result.counts = f"{failure} in a repeat", False
        return
    result.runs.append(run)
    if run.quality is not None and not goal.met(run.quality):
        result.failure, result.counts = f"{goal.name} {run.quality:.2e} in a repeat", False


def fastest_peer(results):
    counting = [result for result in results if result.counts and result.name != LINSEP]
    return min(counting, key=lambda result: result.seconds, default=None)


@dataclass(frozen=True)
class Verdict:
    ratio: float | None
    met: bool
    text: str


def verdict(results, bar):
    """The ratio of the fastest counting peer's time to linsep's, held against the bar."""
    linsep = next((result for result in results if result.name == LINSEP), None)
    peer = fastest_peer(results)
    if linsep is None:
        return Verdict(None, False, "linsep not run")
    if not linsep.counts:
        return Verdict(None, False, f"failed: {linsep.failure}")
    if peer is None:
        return against_the_limit(linsep, results, bar)
    ratio = peer.seconds / linsep.seconds
    met = ratio >= bar
    return Verdict(ratio, met, "met" if met else "missed")


def against_the_limit(linsep, results, bar):
    """No peer counts. Those that were stopped would have needed longer still: the shortest of their
    limits gives a ratio that is too small, and good enough for a bar below it."""
    peers = [result for result in results if result.name != LINSEP]
    if not peers or any(result.stopped_at is None for result in peers):
        return Verdict(None, False, "no peer to compare with")
    ratio = min(result.stopped_at for result in peers) / linsep.seconds
    met = ratio >= bar
    return Verdict(ratio, met, "met: no peer got there in time" if met else "no peer got there in time")


__all__ = [
    "LINSEP", "Contender", "Failed", "Goal", "Result", "Run", "TookTooLong", "Verdict", "climb", "compete",
    "fastest_peer", "verdict",
]  # fmt: skip
