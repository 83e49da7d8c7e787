"""Measures how long linsep takes to decide separability, against linear programming and against its
own perceptron. Started by the script `verdict`; README.md says what is measured and what is fair."""

import argparse
import datetime
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sparse
from scipy.optimize import linprog

BENCH = Path(__file__).resolve().parent
DATA = BENCH / "data"

DATA_SEED = 1
THREADS = (1, 2)
# Far above any expected time; it only keeps a run that hangs from hanging the benchmark.
COMMAND_LIMIT_SECONDS = 1800

WHOLE_LP_BAR = 20
GENERATION_BAR = 1
PASSES_BAR = 15
ZIPF_EPOCHS = 5
NEWS20_EPOCHS = 12

# The default of R's detectseparation: the largest variable that still counts as zero.
DETECTSEPARATION_TOLERANCE = 1e-3
# What a peer answers that ran into its time limit.
CUT_OFF = "time limit"
# The largest t of the feasibility problem that still counts as zero.
FEASIBILITY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Sizes:
    rows: int
    columns: int
    tall_rows: int
    zipf_rows: int
    zipf_features: int
    news20_classes: int | None  # None: all


FULL = Sizes(100_000, 50, 1_000_000, 20_000, 47_000, None)
QUICK = Sizes(10_000, 20, 50_000, 2_000, 5_000, 2)


class BenchError(Exception):
    """A command that failed or an answer that cannot be measured."""


# ---------------------------------------------------------------- data


def write_gaussian(rows, columns, flips):
    """Writes normal rows cut by a random plane through 0, with `flips` wrong labels, once.

    The points depend on the size and the seed alone: cases that differ in flips share them.
    """
    path = DATA / f"gaussian-{rows}x{columns}-seed{DATA_SEED}-flips{flips}.csv"
    if path.exists():
        return path
    rng = np.random.default_rng(DATA_SEED)
    normal = rng.standard_normal(columns)
    is_flipped = np.zeros(rows, dtype=bool)
    is_flipped[np.random.default_rng(DATA_SEED + 1).choice(rows, flips, replace=False)] = True

    partial = path.with_suffix(".partial")
    block_rows = 100_000
    with partial.open("w") as out:
        out.write(",".join(["label"] + [f"x{j}" for j in range(columns)]) + "\n")
        for start in range(0, rows, block_rows):
            flipped = is_flipped[start : start + block_rows]
            # Rounded before the labels are given: the file itself must be separable, to its last digit.
            points = np.round(rng.standard_normal((len(flipped), columns)), 6)
            labels = np.where((points @ normal > 0) != flipped, 1, -1)
            formats = ["%d"] + ["%.6f"] * columns
            np.savetxt(out, np.column_stack([labels, points]), delimiter=",", fmt=formats)
    partial.rename(path)
    return path


def load_signed_rows(path):
    """The rows ±(1, x), which a separating (bias, weights) has on its positive side."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :1] * np.column_stack([np.ones(len(table)), table[:, 1:]])


def open_text(path):
    return gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def write_endless(source, positive, target):
    """Copies svmlight rows with the labels 1 (the class) and -1 (all others), and adds the first row
    with the wrong label.

    Two labels, so that a perceptron learns one plane and not one for each class. A contradiction, so
    that it makes all the passes it is asked for: a run that separates the classes ends early and then
    spends time on a proof, which is not part of a pass.
    """
    contradiction = None
    signs = set()
    with open_text(source) as rows, target.open("w") as out:
        for row in rows:
            label, _, values = row.partition(" ")
            # linsep calls the class of the label +1 by the name 1.
            sign = 1 if label.removeprefix("+") == positive else -1
            signs.add(sign)
            out.write(f"{sign} {values}")
            contradiction = contradiction or f"{-sign} {values}"
        out.write(contradiction)
    if len(signs) != 2:
        raise BenchError(f"{source.name} has no rows of class {positive}, or no others")


# ---------------------------------------------------------------- linsep


def linsep_binary():
    """The binary that LINSEP names, or a new release build."""
    if given := os.environ.get("LINSEP"):
        return Path(given).resolve()
    build = ["cargo", "build", "--release", "--package", "linsep-cli"]
    build += ["--message-format", "json-render-diagnostics"]
    done = subprocess.run(build, cwd=BENCH.parent, stdout=subprocess.PIPE, text=True, check=True)
    # Cargo says where the binary went: its target folder can be set in many places.
    messages = map(json.loads, done.stdout.splitlines())
    return Path([m["executable"] for m in messages if m.get("executable")][-1])


class Linsep:
    def __init__(self, binary, scratch):
        self.binary = binary
        self.scratch = scratch
        # A train command that also gives a verdict must not spend its time on it here.
        self.train_flags = ["--verdict", "off"] if "--verdict" in self.text("train", "--help") else []

    def run(self, arguments, good_exits):
        words = [str(word) for word in (self.binary, *arguments)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_LIMIT_SECONDS)
        if done.returncode not in good_exits:
            shown = " ".join(Path(word).name if os.sep in word else word for word in words)
            raise BenchError(f"`{shown}` ended with exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def text(self, *arguments):
        return self.run(arguments, (0,)).strip()

    def json(self, *arguments, good_exits):
        return json.loads(self.run((*arguments, "--json", "--quiet"), good_exits))

    def separable(self, data, threads, question=()):
        """Decides and proves; leaves the certificate in `self.certificate`."""
        answer = self.json(
            "separable", data, *question, "--threads", threads, "--cert", self.certificate,
            good_exits=(0, 1, 5),
        )  # fmt: skip
        seconds = answer["seconds"]
        return {
            "read": seconds["read"],
            "decide": seconds["decide"] + seconds.get("prove", 0.0),
            "verdict": answer["verdict"],
            "passes": answer["claims"][0]["passes"],
        }

    @property
    def certificate(self):
        return self.scratch / "certificate.json"

    def verify(self, data, threads, read_seconds):
        """Checks the last certificate. The check is timed by linsep itself if it says so, otherwise
        it is the time of the whole command less `read_seconds`."""
        start = time.perf_counter()
        answer = self.json("verify", self.certificate, data, "--threads", threads, good_exits=(0, 1))
        wall = time.perf_counter() - start
        parts = {part: value for part, value in answer.get("seconds", {}).items() if part != "read"}
        check = sum(parts.values()) if parts else max(0.0, wall - read_seconds)
        return {"holds": answer["holds"], "check": check}

    def perceptron_passes(self, data, epochs, threads):
        """Seconds of `epochs` passes of the perceptron over data of `write_endless`."""
        answer = self.json(
            "train", data, "--learner", "perceptron", "--epochs", epochs, "--threads", threads,
            "--output-file", self.scratch / "model.linsep", *self.train_flags,
            good_exits=(5,),
        )  # fmt: skip
        if len(answer["classes"]) != 2 or answer["epochs"] != epochs:
            raise BenchError(
                f"the perceptron made {answer['epochs']} passes over {len(answer['classes'])} classes, "
                f"not {epochs} over 2"
            )
        return answer["seconds"]["train"]


# ---------------------------------------------------------------- peers


def whole_problem_lp(signed_rows, time_limit):
    """The model of R's detectseparation (Konis): maximise the sum of all products Z b, subject to
    Z b >= 0 and -1 <= b <= 1. Only b = 0 is feasible exactly if the classes overlap."""
    start = time.perf_counter()
    result = linprog(
        -signed_rows.sum(axis=0),
        A_ub=-signed_rows,
        b_ub=np.zeros(len(signed_rows)),
        bounds=(-1, 1),
        method="highs",
        options={"time_limit": time_limit},
    )
    seconds = time.perf_counter() - start
    if result.status != 0:
        return {"seconds": seconds, "verdict": CUT_OFF if result.status == 1 else result.message}
    separated = np.abs(result.x).max() > DETECTSEPARATION_TOLERANCE
    return {"seconds": seconds, "verdict": "separable" if separated else "not separable"}


def constraint_generation(signed_rows, seed):
    """Maximises t subject to z·w >= t on a growing set of rows and |w_j| <= 1, until w has every row
    on its side or t is 0."""
    start = time.perf_counter()
    row_count, dimension = signed_rows.shape
    batch = min(4 * dimension, row_count)
    active = np.random.default_rng(seed).choice(row_count, batch, replace=False)
    objective = np.append(np.zeros(dimension), -1.0)
    bounds = [(-1, 1)] * dimension + [(None, None)]
    rounds = 0
    while True:
        rounds += 1
        result = linprog(
            objective,
            A_ub=constraints(signed_rows[active]),
            b_ub=np.zeros(len(active)),
            bounds=bounds,
            method="highs",
        )
        if result.status != 0:
            verdict = result.message
            break
        if result.x[-1] <= FEASIBILITY_TOLERANCE:
            verdict = "not separable"
            break
        products = signed_rows @ result.x[:-1]
        violated = np.flatnonzero(products <= 0)
        if len(violated) == 0:
            verdict = "separable"
            break
        if len(violated) > batch:
            violated = violated[np.argpartition(products[violated], batch)[:batch]]
        fresh = np.setdiff1d(violated, active)
        if len(fresh) == 0:
            # Active rows are violated: the solver's tolerance is coarser than the margin.
            verdict = "undecided"
            break
        active = np.concatenate([active, fresh])
    return {
        "seconds": time.perf_counter() - start,
        "verdict": verdict,
        "rounds": rounds,
        "active_rows": len(active),
    }


def constraints(signed_rows):
    """t − z·w, which must not be above 0, for rows that may be sparse."""
    slack = np.ones((signed_rows.shape[0], 1))
    if sparse.issparse(signed_rows):
        return sparse.hstack([-signed_rows, slack], format="csr")
    return np.hstack([-signed_rows, slack])


# ---------------------------------------------------------------- cases


def only(values, what):
    """The one value that all repeats gave."""
    if len(set(values)) != 1:
        raise BenchError(f"{what} differs between repeats: {sorted(set(values))}")
    return values[0]


def verdict_and_passes(runs):
    """What linsep said in all its runs, whatever the number of threads."""
    every = [run for thread_runs in runs.values() for run in thread_runs]
    return {
        "verdict": only([run["verdict"] for run in every], "the verdict"),
        "passes": only([run["passes"] for run in every], "the number of passes"),
    }


def times_by_threads(runs, part):
    return {threads: [run[part] for run in thread_runs] for threads, thread_runs in runs.items()}


def gaussian_case(linsep, path, repeats, lp_repeats, lp_limit):
    """linsep and, unless `lp_repeats` is None, its peers on the same file, alternating."""
    has_peers = lp_repeats is not None
    runs = {threads: [] for threads in THREADS}
    generation, whole = [], []
    case = {}
    if has_peers:
        start = time.perf_counter()
        signed_rows = load_signed_rows(path)
        case["numpy_load"] = time.perf_counter() - start
    for repeat in range(repeats):
        for threads in THREADS:
            runs[threads].append(linsep.separable(path, threads))
        if has_peers:
            generation.append(constraint_generation(signed_rows, seed=repeat))
            if repeat < lp_repeats:
                whole.append(whole_problem_lp(signed_rows, lp_limit))
    last = runs[THREADS[-1]][-1]
    case |= verdict_and_passes(runs)
    case |= {
        "file": path.name,
        "holds": linsep.verify(path, THREADS[-1], last["read"])["holds"],
        "read": times_by_threads(runs, "read"),
        "decide": times_by_threads(runs, "decide"),
    }
    if has_peers:
        case |= {"constraint_generation": generation, "whole_problem": whole}
    return case


def zipf_case(linsep, sizes, repeats):
    path = DATA / f"zipf-{sizes.zipf_rows}x{sizes.zipf_features}.svm"
    # Written anew in each run: the generator belongs to the linsep that is measured.
    linsep.text(
        "generate", "zipf", "--rows", sizes.zipf_rows, "--features", sizes.zipf_features,
        "--output-file", path,
    )  # fmt: skip
    endless = linsep.scratch / "endless.svm"
    write_endless(path, "1", endless)
    runs = {threads: [] for threads in THREADS}
    for _ in range(repeats):
        for threads in THREADS:
            run = linsep.separable(path, threads)
            run |= linsep.verify(path, threads, run["read"])
            run["perceptron"] = linsep.perceptron_passes(endless, ZIPF_EPOCHS, threads)
            runs[threads].append(run)
    return verdict_and_passes(runs) | {
        "file": path.name,
        "holds": all(run["holds"] for thread_runs in runs.values() for run in thread_runs),
        **{part: times_by_threads(runs, part) for part in ("read", "decide", "check", "perceptron")},
    }


def news20_case(linsep, path, repeats, class_limit):
    classes = [one["name"] for one in linsep.json("inspect", path, good_exits=(0,))["classes"]]
    questions = {}
    for positive in classes[:class_limit]:
        endless = linsep.scratch / "endless.svm"
        write_endless(path, positive, endless)
        runs = {threads: [] for threads in THREADS}
        for _ in range(repeats):
            for threads in THREADS:
                run = linsep.separable(path, threads, question=("--positive", positive))
                run["perceptron"] = linsep.perceptron_passes(endless, NEWS20_EPOCHS, threads)
                runs[threads].append(run)
        last = runs[THREADS[-1]][-1]
        questions[positive] = verdict_and_passes(runs) | {
            "holds": linsep.verify(path, THREADS[-1], last["read"])["holds"],
            **{part: times_by_threads(runs, part) for part in ("read", "decide", "perceptron")},
        }
        print(f"  class {positive}: {questions[positive]['verdict']}", file=sys.stderr)
    return {"file": path.name, "questions": questions}


# ---------------------------------------------------------------- report


def seconds_text(value):
    """Three significant digits, as plain decimals."""
    for least, digits in ((100, 0), (10, 1), (1, 2), (0.1, 3)):
        if value >= least:
            return f"{value:.{digits}f}"
    return f"{value:.4f}"


def ratio_text(value):
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def spread_text(times):
    """The median, and the range of the repeats where there is more than one."""
    text = seconds_text(statistics.median(times))
    if len(times) == 1:
        return text
    return f"{text} [{seconds_text(min(times))}, {seconds_text(max(times))}]"


def bar_text(is_met):
    return "met" if is_met else "**missed**"


def proof_text(case):
    if case["verdict"] == "undecided":
        return "none"
    return "checked" if case["holds"] else "**does not hold**"


def markdown_table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def decide_rows(name, case):
    """One line of a table for each number of threads."""
    verdict = f"{case['verdict']}; proof {proof_text(case)}"
    return [
        [name, f"linsep --threads {threads}", spread_text(case["decide"][threads]), "", "", verdict]
        for threads in THREADS
    ]


def peer_row(name, case, peer, words, meets_bar):
    times = [run["seconds"] for run in case[peer]]
    verdicts = ", ".join(sorted({run["verdict"] for run in case[peer]}))
    ratios = [statistics.median(times) / statistics.median(case["decide"][t]) for t in THREADS]
    ratio = " / ".join(map(ratio_text, ratios))
    bar = bar_text(meets_bar(ratios[0]))
    if CUT_OFF in verdicts:
        # The peer would have taken longer: the ratio is a lower bound, which can only meet a bar.
        ratio = f"≥ {ratio}"
        bar = bar if meets_bar(ratios[0]) else "open"
    return [name, words, spread_text(times), ratio, bar, f"{verdicts}; no proof"]


def peers_report(cases):
    decide, load = [], []
    for name, case in cases.items():
        decide += decide_rows(name, case)
        decide.append(
            peer_row(
                name, case, "constraint_generation", "HiGHS, constraint generation",
                lambda ratio: ratio > GENERATION_BAR,
            )
        )  # fmt: skip
        if case["whole_problem"]:
            decide.append(
                peer_row(
                    name, case, "whole_problem", "HiGHS, whole problem",
                    lambda ratio: ratio >= WHOLE_LP_BAR,
                )
            )  # fmt: skip
        reads = [spread_text(case["read"][threads]) for threads in THREADS]
        load.append([name, *reads, seconds_text(case["numpy_load"])])
    return [
        "## Against linear programming (a, b, c)",
        "Seconds to decide: median [least, most]. The ratio is peer / linsep, with 1 / 2 threads of "
        f"linsep; the bar counts the first: at least {WHOLE_LP_BAR} for the whole problem, above "
        f"{GENERATION_BAR} for constraint generation.",
        markdown_table(["case", "who", "seconds", "ratio", "bar", "verdict"], decide),
        "Seconds to read the same file, not part of the above:",
        markdown_table(
            ["case", *(f"linsep --threads {threads}" for threads in THREADS), "numpy, once"], load
        ),
    ]


def tall_report(case):
    row = [
        case["passes"],
        bar_text(case["passes"] <= PASSES_BAR),
        *(spread_text(case["decide"][threads]) for threads in THREADS),
        *(spread_text(case["read"][threads]) for threads in THREADS),
        f"{case['verdict']}; proof {proof_text(case)}",
    ]
    header = ["passes", "bar", "decide, 1 thread", "2 threads", "read, 1 thread", "2 threads", "verdict"]
    return [
        "## Passes over a tall set (d)",
        f"`{case['file']}`, seconds; the bar is at most {PASSES_BAR} passes.",
        markdown_table(header, [row]),
    ]


def zipf_report(case):
    rows = []
    for threads in THREADS:
        parts = [case[part][threads] for part in ("decide", "perceptron", "check")]
        decide, perceptron, check = map(statistics.median, parts)
        ratio = decide / (perceptron + check)
        rows.append([threads, *map(spread_text, parts), ratio_text(ratio), bar_text(ratio <= 1)])
    passes = f"{ZIPF_EPOCHS} perceptron passes"
    return [
        "## Sparse text by Zipf's law (e)",
        f"`{case['file']}`: {case['verdict']}; proof {proof_text(case)}; {case['passes']} passes. "
        f"Seconds; the bar is decide ≤ {passes} + check.",
        markdown_table(["threads", "decide", passes, "check", "decide / allowed", "bar"], rows),
    ]


def news20_report(case):
    rows = []
    met = dict.fromkeys(THREADS, 0)
    for positive, question in case["questions"].items():
        row = [positive, question["verdict"], proof_text(question), question["passes"]]
        for threads in THREADS:
            parts = [question[part][threads] for part in ("decide", "perceptron")]
            decide, perceptron = map(statistics.median, parts)
            is_met = question["verdict"] != "undecided" and decide <= perceptron
            met[threads] += is_met
            row += [*map(spread_text, parts), ratio_text(decide / perceptron), bar_text(is_met)]
        rows.append(row)
    passes = f"{NEWS20_EPOCHS} perceptron passes"
    header = ["class", "verdict", "proof", "passes"]
    for threads in THREADS:
        header += [f"decide, --threads {threads}", passes, "ratio", "bar"]
    summary = " and ".join(f"{met[threads]} with --threads {threads}" for threads in THREADS)
    return [
        "## One class against the rest, news20 (f)",
        f"`{case['file']}`, seconds; the bar is a proved verdict with decide ≤ {passes} over the same "
        f"two classes. Of {len(rows)} questions the bar is met by {summary}.",
        markdown_table(header, rows),
    ]


def problems_of(results):
    """What no measurement excuses: wrong or unchecked verdicts and commands that failed."""
    found = [f"case {name}: {message}" for name, message in results["failed"].items()]
    answers = {name: case for name, case in results["cases"].items() if "verdict" in case}
    for positive, question in results["cases"].get("f", {}).get("questions", {}).items():
        answers[f"f, class {positive}"] = question
    for name, answer in answers.items():
        if answer["verdict"] == "undecided":
            found.append(f"case {name}: linsep is undecided")
            continue
        if not answer["holds"]:
            found.append(f"case {name}: the proof does not hold")
        if name in ("a", "d") and answer["verdict"] != "separable":
            found.append(f"case {name}: {answer['verdict']}, but it is separable by construction")
        # Floats against a proof: a difference calls for a look, whoever is right.
        ours = "separable" if answer["verdict"] == "separable" else "not separable"
        for peer in ("constraint_generation", "whole_problem"):
            for theirs in sorted({run["verdict"] for run in answer.get(peer, [])} - {ours, CUT_OFF}):
                found.append(f"case {name}: linsep says {ours}, {peer} says {theirs}")
    return found


def report(results):
    cases, about = results["cases"], results["about"]
    parts = [
        f"# The verdict, measured {about['date']}",
        f"{about['linsep']}; numpy {about['numpy']}, scipy {about['scipy']} (HiGHS), Python "
        f"{about['python']}; {about['cpu']}, {about['cores']} cores, load {about['load_before']} before "
        f"and {about['load_after']} after; {about['repeats']} repeats ({about['lp_repeats']} of the "
        f"whole-problem LP, limit {about['lp_limit']:g} s). See the README of this benchmark.",
    ]
    if about["quick"]:
        parts.append("**Quick run: small sizes, the bars are meant for the full ones.**")
    if with_peers := {name: cases[name] for name in "abc" if name in cases}:
        parts += peers_report(with_peers)
    for name, write in (("d", tall_report), ("e", zipf_report), ("f", news20_report)):
        if name in cases:
            parts += write(cases[name])
    parts += [f"Case {name} was skipped: {reason}." for name, reason in results["skipped"].items()]
    problems = problems_of(results)
    parts += ["## Problems", "\n".join(f"- {line}" for line in problems) or "None."]
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------- main


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def load_average():
    return f"{os.getloadavg()[0]:.2f}"


def news20_path(flag):
    """The file of case f, or None: no place is built in."""
    if flag is not None:
        return flag
    folder = os.environ.get("LINSEP_DATA")
    path = Path(folder) / "news20.svm.gz" if folder else None
    return path if path and path.exists() else None


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/verdict", description=__doc__)
    flag = parser.add_argument
    flag("--quick", action="store_true", help="small sizes, under a minute")
    flag("--cases", default="abcdef", help="which cases, such as abc [default: all]")
    flag("--repeats", type=int, default=5, help="repeats of each time [default: 5]")
    flag("--lp-repeats", type=int, default=1, help="repeats of the whole-problem LP [default: 1]")
    flag("--lp-limit", type=float, default=600.0, help="seconds given to each of them [default: 600]")
    flag("--news20", type=Path, help="svmlight file [default: news20.svm.gz in the folder LINSEP_DATA]")
    flag("--name", help="folder under runs/ to write to [default: the date]")
    arguments = parser.parse_args()
    if not set(arguments.cases) <= set("abcdef"):
        parser.error("--cases takes letters from a to f")
    if arguments.repeats < 1 or arguments.lp_repeats < 0:
        parser.error("--repeats must be at least 1 and --lp-repeats at least 0")
    if arguments.news20 and not arguments.news20.exists():
        parser.error(f"--news20: there is no file {arguments.news20}")
    return arguments


def main():
    arguments = parse_arguments()
    binary = linsep_binary()
    sizes = QUICK if arguments.quick else FULL
    date = datetime.date.today().isoformat()
    name = (arguments.name or date) + ("-quick" if arguments.quick else "")
    run_folder = BENCH / "runs" / name
    run_folder.mkdir(parents=True, exist_ok=True)
    DATA.mkdir(exist_ok=True)

    results = {"about": {}, "cases": {}, "failed": {}, "skipped": {}}
    with tempfile.TemporaryDirectory(dir=DATA) as scratch:
        linsep = Linsep(binary, Path(scratch))
        results["about"] = {
            "date": date,
            "quick": arguments.quick,
            "linsep": linsep.text("--version"),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "load_before": load_average(),
            "repeats": arguments.repeats,
            "lp_repeats": min(arguments.lp_repeats, arguments.repeats),
            "lp_limit": arguments.lp_limit,
        }

        def gaussian(rows, flips, lp_repeats):
            path = write_gaussian(rows, sizes.columns, flips)
            return gaussian_case(linsep, path, arguments.repeats, lp_repeats, arguments.lp_limit)

        news20 = news20_path(arguments.news20)
        cases = {
            "a": lambda: gaussian(sizes.rows, 0, arguments.lp_repeats),
            "b": lambda: gaussian(sizes.rows, 1, arguments.lp_repeats),
            "c": lambda: gaussian(sizes.rows, sizes.rows // 10, arguments.lp_repeats),
            "d": lambda: gaussian(sizes.tall_rows, 0, None),
            "e": lambda: zipf_case(linsep, sizes, arguments.repeats),
            "f": lambda: news20_case(linsep, news20, arguments.repeats, sizes.news20_classes),
        }
        for letter in sorted(set(arguments.cases)):
            if letter == "f" and news20 is None:
                results["skipped"]["f"] = "no file was given by --news20 or LINSEP_DATA"
                continue
            print(f"case {letter}", file=sys.stderr)
            try:
                results["cases"][letter] = cases[letter]()
            except (BenchError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                # The other cases are still worth measuring; the report and the exit code tell.
                results["failed"][letter] = f"{type(error).__name__}: {error}"
    results["about"]["load_after"] = load_average()

    text = report(results)
    (run_folder / "verdict.md").write_text(text)
    (run_folder / "verdict.json").write_text(json.dumps(results, indent=1) + "\n")
    print(text)
    return 1 if problems_of(results) else 0


if __name__ == "__main__":
    sys.exit(main())
