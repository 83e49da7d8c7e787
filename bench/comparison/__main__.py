"""Runs linsep and its peers on the same files and prints who is how much faster. Started by the script
`compare`; README.md says what is measured and what is fair."""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from comparison import data, linsep, peers, quality, report, rows
from comparison.contest import compete
from comparison.environment import Environment
from comparison.process import Failed, Launcher

BENCH = Path(__file__).resolve().parent.parent


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
    flag("--budget", type=float, help="seconds after which a row is not repeated any more [default: none]")
    flag("--limit", type=float, help="seconds that one run may take [default: 600, quick: 60]")
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
        print("\n".join(f"{row.name:<24} {row.job}, {row.data}: {row.bar:g}x" for row in selected))
        return 0
    cores = pin(arguments.cores)
    date = datetime.date.today().isoformat()
    out = arguments.out or BENCH / "runs" / (date + ("-quick" if arguments.quick else ""))
    out.mkdir(parents=True, exist_ok=True)
    limit = arguments.limit or (60 if arguments.quick else 600)
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
        for row in selected:
            repeats = arguments.repeat or (1 if arguments.quick else 5)
            if row.repeats and arguments.repeat is None:
                repeats = row.repeats[1 if arguments.quick else 0]
            try:
                contender, others = row.contenders(bench)
                if arguments.prepare:
                    print(f"{row.name} is prepared", flush=True)
                    continue
                contender = contender if program else None
                result = report.raw(row, compete(contender, others, row.goal, repeats, limit, arguments.budget))
            except (data.DataError, quality.QualityError, Failed, OSError, subprocess.SubprocessError) as error:
                # The other rows are still worth measuring; this one counts as missed.
                result = report.failed_row(row, error)
            measured.append(result)
            print(report.progress(result), flush=True)
            about["machine"]["load after"] = load_average()
            # After every row: a run that is stopped leaves what it has.
            write(out, about, measured)
    if not arguments.prepare:
        print("\n" + report.markdown(about, measured))
    return 0


def write(out, about, measured):
    (out / "compare.md").write_text(report.markdown(about, measured))
    (out / "compare.json").write_text(json.dumps({"about": about, "rows": measured}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
