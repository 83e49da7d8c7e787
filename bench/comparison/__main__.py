"""Runs linsep and its peers on the same files and prints who is how much faster. Started by the script
`compare`; README.md says what is measured and what is fair."""

import argparse
import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from comparison import data, linsep, peers, plot, quality, report, rows
from comparison.contest import compete
from comparison.environment import Environment
from comparison.process import Failed, Launcher

BENCH = Path(__file__).resolve().parent.parent
# Chosen so that a full run of all rows ends within 75 minutes on two cores.
BUDGET_SECONDS = 15
LIMIT_SECONDS, QUICK_LIMIT_SECONDS = 150, 60
# Held-out data is a check of the main figure: fewer repeats will do.
HELD_OUT_REPEATS, HELD_OUT_BUDGET_SHARE = 3, 0.5


def machine(cores):
    """What a reader needs to know to place the times."""
    facts = {"cpu": platform.processor() or platform.machine()}
    for line in text_of("/proc/cpuinfo"):
        if line.startswith("model name"):
            facts["cpu"] = line.partition(":")[2].strip()
            break
    for line in text_of("/proc/meminfo"):
        if line.startswith("MemTotal"):
            facts["memory"] = f"{int(line.split()[1]) / 2**20:.1f} GiB"
    # Builds of kernels have names of their own, which say nothing about speed.
    release = platform.release().split("-")[0]
    facts["system"] = " ".join([platform.system(), release, platform.machine(), *platform.libc_ver()])
    facts["cores used"] = ",".join(str(core) for core in cores)
    return facts


def text_of(path):
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def load_average():
    return f"{os.getloadavg()[0]:.2f}"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/compare", description=__doc__)
    flag = parser.add_argument
    flag("--quick", action="store_true", help="a fifth of the rows, one repeat, under 15 minutes")
    flag("--only", metavar="NAME", help="only the rows whose name contains this")
    flag("--repeat", type=int, metavar="N", help="repeats of each time [default: 5, quick: 1]")
    flag("--out", type=Path, metavar="DIR", help="where to write [default: bench/runs/<date>]")
    flag("--cores", help="the cores that everybody is pinned to, such as 0,1 [default: all]")
    flag("--budget", type=float, default=BUDGET_SECONDS,
         help="seconds after which a row is not repeated any more [default: %(default)s]")
    flag("--limit", type=float, help="seconds that one run may take [default: 150, quick: 60]")
    flag("--no-held-out", action="store_true", help="leave the held-out data out")
    flag("--peers-only", action="store_true", help="leave linsep out: the times to beat")
    flag("--prepare", action="store_true", help="make environment, data and references, measure nothing")
    flag("--list", action="store_true", help="list the rows")
    arguments = parser.parse_args()
    if arguments.repeat is not None and arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    if not rows.chosen(arguments.only):
        parser.error(f"no row has {arguments.only!r} in its name; --list shows them")
    return arguments


def pin(words):
    """Pins this process, and with it all it starts, and tells libraries how many threads that makes."""
    cores = sorted({int(word) for word in words.split(",")} if words else os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = str(len(cores))
    return cores


def main():
    arguments = parse_arguments()
    selected = rows.chosen(arguments.only)
    if arguments.list:
        print("\n".join(listed(row) for row in selected))
        return 0
    cores = pin(arguments.cores)
    date = datetime.date.today().isoformat()
    out = arguments.out or BENCH / "runs" / (date + ("-quick" if arguments.quick else ""))
    out.mkdir(parents=True, exist_ok=True)
    environment = Environment(Path(os.environ["LINSEP_BENCH_ENV"]))
    program = None if arguments.peers_only or arguments.prepare else linsep.binary()

    measured = []
    scratch_parent = rows.TMPFS if rows.TMPFS.is_dir() else None
    with tempfile.TemporaryDirectory(dir=scratch_parent, prefix="linsep-compare-") as folder:
        scratch = Path(folder)
        launcher = Launcher(environment.measured, scratch)
        ours = linsep.Linsep(program, launcher, scratch)
        about = {
            "date": date,
            "quick": arguments.quick,
            "machine": machine(cores) | {"load before": load_average()},
            "versions": environment.versions | ({"linsep": ours.version()} if program else {}),
            "missing": environment.missing,
        }
        bench = rows.Bench(
            data.Data(data.QUICK if arguments.quick else data.FULL),
            ours,
            peers.Peers(environment, launcher, scratch),
            quality.References(environment.crammer_singer),
            scratch,
        )
        build = digest_of(program)
        started = time.strftime("%H:%M")
        for row in selected:
            result = measure(row, bench, arguments, program is not None)
            if arguments.prepare:
                continue
            measured.append(result)
            about["machine"]["load after"] = load_average()
            about["machine"]["sitting"] = f"{started} to {time.strftime('%H:%M')}, {one_build(program, build)}"
            # After every row: a run that is stopped leaves what it has.
            write(out, about, measured)
    if not arguments.prepare:
        print("\n" + report.markdown(about, measured))
    return 0


def digest_of(program):
    if program is None:
        return None
    with program.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def one_build(program, build):
    """A table speaks of one build: says which, or that the file was exchanged meanwhile."""
    if program is None:
        return "linsep not run"
    if digest_of(program) != build:
        return "more than one build of linsep: this table is not of one piece"
    return f"one build of linsep, SHA-256 {build[:16]}"


def listed(row):
    sign = "≤ " if row.bars.lower_is_better else ""
    bars = f"floor {sign}{row.bars.floor:g}, goal {sign}{row.bars.goal:g}"
    return f"{row.name:<24} {row.job}, {row.data}: {bars}; held-out: {row.held_out.data}"


def measure(row, bench, arguments, has_linsep):
    """A row on its data and on the held-out data, as the report keeps it. Only prepares, if that is asked."""
    result = None
    for kind, case in row.cases:
        if kind and arguments.no_held_out:
            continue
        try:
            contender, others = case.contenders(bench)
            if arguments.prepare:
                print(f"{row.name} {kind}".strip() + " is prepared", flush=True)
                continue
            repeats, limit, budget = effort(row, kind, arguments)
            own = contender if has_linsep else None
            floor = 0.0 if row.bars.lower_is_better else row.bars.floor
            results = compete(own, others, case.standard, repeats, limit, budget, floor, bench.peers.environment.warm)
            found = report.raw(row, case, results)
        except KeyboardInterrupt:
            raise
        except Exception as error:  # the other rows are still worth measuring; this one counts as not measured
            expected = (data.DataError, quality.QualityError, Failed, OSError, subprocess.SubprocessError)
            if not isinstance(error, expected):
                traceback.print_exc()
            found = report.failed_case(row, case, f"{error}" or type(error).__name__)
        print(report.progress(found, kind), flush=True)
        if kind:
            result["held_out"] = found
        else:
            result = found
    return result


def effort(row, kind, arguments):
    """Repeats, the limit of a run and the budget of repeats for one case of a row."""
    repeats = arguments.repeat or (1 if arguments.quick else 5)
    if row.repeats and arguments.repeat is None:
        repeats = row.repeats[1 if arguments.quick else 0]
    limit = arguments.limit or row.limit or (QUICK_LIMIT_SECONDS if arguments.quick else LIMIT_SECONDS)
    budget = arguments.budget
    if kind:
        repeats, budget = min(repeats, HELD_OUT_REPEATS), budget * HELD_OUT_BUDGET_SHARE
    return repeats, limit, budget


def write(out, about, measured):
    (out / "compare.md").write_text(report.markdown(about, measured))
    (out / "compare.svg").write_text(plot.svg(about, measured))
    (out / "compare.json").write_text(json.dumps({"about": about, "rows": measured}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
