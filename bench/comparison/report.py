"""The table in Markdown and the raw results. No numpy here."""

from comparison.contest import (
    BELOW_FLOOR,
    FLOOR_MET,
    GOAL_MET,
    LINSEP,
    LOST,
    NOT_MEASURED,
    OVER_LIMIT,
    fastest_peer,
    verdict,
)

MIB = 2**20
# What a peak may exceed the sum of its named parts by.
MEMORY_SLACK = 1.2


def raw(row, case, results):
    """What is kept of one case of a row, with every single time."""
    found = verdict(results, row.bars)
    return description(row, case) | {
        "ratio": found.ratio,
        "is_bound": found.is_bound,
        "word": found.word,
        "verdict": found.text,
        "memory": memory(results),
        "results": [
            {
                "name": result.name,
                "counts": result.counts,
                "failure": result.failure,
                "tolerance": result.tolerance,
                "seconds": result.seconds,
                "spread": result.spread,
                "quality": result.quality,
                "stopped_at": result.stopped_at,
                "load": result.median("load"),
                "train": result.median("train"),
                "cpu": result.median("cpu"),
                "peak_mib": result.peak_mib,
                "runs": [run.__dict__ for run in result.runs],
                "ladder": result.tried,
            }
            for result in results
        ],
    }


def failed_case(row, case, reason):
    """A case that could not be measured at all."""
    return description(row, case) | {
        "ratio": None, "is_bound": False, "word": NOT_MEASURED, "verdict": f"failed: {reason}", "memory": None, "results": [],
    }  # fmt: skip


def description(row, case):
    return {
        "name": row.name,
        "job": row.job,
        "data": case.data,
        "floor": row.bars.floor,
        "goal": row.bars.goal,
        "lower_is_better": row.bars.lower_is_better,
        "standard": case.standard.name,
    }


def memory(results):
    """linsep's peak and the bound of it, in MiB, with the parts of the bound, where the program lists them."""
    own = next((result for result in results if result.name == LINSEP and result.runs), None)
    parts = own and own.runs[-1].memory
    if not parts:
        return None
    listed = {"store": parts["store"], **parts["layouts"], "weights": parts["weights"], "file": parts["file"]}
    bound = MEMORY_SLACK * sum(listed.values()) / MIB
    return {
        "peak_mib": own.peak_mib,
        "bound_mib": bound,
        "goal_mib": MEMORY_SLACK * parts["store"] / MIB,
        "parts_mib": {name: size / MIB for name, size in listed.items()},
        "within": own.peak_mib <= bound,
        # Each other layout is to be no larger than the rows themselves.
        "large_layouts": [name for name, size in parts["layouts"].items() if size > parts["store"]],
    }


# ---------------------------------------------------------------- text


def seconds_text(seconds, spread=None):
    if seconds is None:
        return "–"
    text = f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"
    if spread and spread[1] > spread[0]:
        text += f" ({spread[0]:.3g}–{spread[1]:.3g})"
    return text


def quality_text(quality, standard):
    if quality is None:
        return "–"
    if standard == "verdict":
        return "right" if quality >= 1 else "wrong"
    return f"{100 * quality:.1f} %" if standard == "accuracy" else f"{quality:.1e}"


def number_text(value, form):
    return "–" if value is None else format(value, form)


def ratio_text(case):
    """A ratio of which less is better carries an arrow that says so, one that is only a bound a sign."""
    text = number_text(case["ratio"], ".2f")
    if case["is_bound"]:
        return f"> {text}"
    return f"{text} ↓" if case["lower_is_better"] and case["ratio"] is not None else text


def bar_text(case, bar):
    return f"≤ {case[bar]:g}" if case["lower_is_better"] else f"{case[bar]:g}"


def own_and_peer(case):
    """linsep's result and that of the fastest peer, of those that count."""
    counting = [result for result in case["results"] if result["counts"]]
    own = next((result for result in counting if result["name"] == LINSEP), None)
    peers = [result for result in counting if result["name"] != LINSEP]
    return own or {}, min(peers, key=lambda result: result["seconds"], default={})


def line_of(row):
    """A line of the main table."""
    own, peer = own_and_peer(row)
    held_out = row.get("held_out")
    bound = row["memory"] and row["memory"]["bound_mib"]
    return [
        row["job"],
        row["data"],
        seconds_text(own.get("seconds"), own.get("spread")),
        quality_text(own.get("quality"), row["standard"]),
        number_text(own.get("peak_mib"), ".0f"),
        number_text(bound, ".0f"),
        peer.get("name", "–"),
        seconds_text(peer.get("seconds"), peer.get("spread")),
        quality_text(peer.get("quality"), row["standard"]),
        number_text(peer.get("peak_mib"), ".0f"),
        ratio_text(row),
        bar_text(row, "floor"),
        bar_text(row, "goal"),
        row["verdict"],
        ratio_text(held_out) if held_out else "–",
        held_out["verdict"] if held_out else "–",
        held_out["data"] if held_out else "–",
    ]


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


def detail(case):
    lines = []
    for result in case["results"]:
        note = result["failure"] or ("" if result["counts"] else "does not count")
        lines.append(
            [
                result["name"],
                number_text(result["tolerance"], "g"),
                seconds_text(result["seconds"], result["spread"]),
                seconds_text(result["load"]),
                seconds_text(result["train"]),
                seconds_text(result["cpu"]),
                quality_text(result["quality"], case["standard"]),
                number_text(result["peak_mib"], ".0f"),
                str(len(result["runs"])),
                note,
            ]
        )
    head = ["who", "tolerance", "s", "load s", "train s", "cpu s", case["standard"], "peak MiB", "runs", "note"]
    return table(head, lines)


def details(row):
    """All contenders of a row, and of its held-out data."""
    parts = []
    for kind, case in (("", row), ("held-out: ", row.get("held_out"))):
        if case and case["results"]:
            parts.append(f"### {row['name']}: {row['job']}, {kind}{case['data']}\n\n{detail(case)}")
    return parts


HEAD = [
    "job", "data", "linsep s", "quality", "MiB", "bound MiB", "fastest peer", "its s", "quality", "MiB", "ratio",
    "floor", "goal", "verdict", "held-out ratio", "held-out verdict", "held-out data",
]  # fmt: skip


def counts_text(cases):
    """How many stand where: one sentence."""
    words = [case["word"] for case in cases]
    at_goal, at_floor = words.count(GOAL_MET), words.count(FLOOR_MET)
    below = words.count(BELOW_FLOOR) + words.count(OVER_LIMIT)
    text = (
        f"{at_goal + at_floor} of {len(cases)} floors are met, {at_goal} of them with the goal; {below} are below "
        f"the floor, {words.count(LOST)} are lost (below 1)"
    )
    unknown = words.count(NOT_MEASURED)
    return text + (f", {unknown} are not measured." if unknown else ".")


def memory_section(rows):
    listed = [row for row in rows if row["memory"]]
    if not listed:
        return "This linsep does not list what its memory consists of; the table has the peaks alone."
    within = sum(row["memory"]["within"] for row in listed)
    lines = [
        [
            row["name"],
            number_text(row["memory"]["peak_mib"], ".0f"),
            number_text(row["memory"]["bound_mib"], ".0f"),
            number_text(row["memory"]["goal_mib"], ".0f"),
            ", ".join(f"{name} {size:.1f}" for name, size in row["memory"]["parts_mib"].items()),
            ("within" if row["memory"]["within"] else "above the bound")
            + "".join(f"; {name} is larger than the store" for name in row["memory"]["large_layouts"]),
        ]
        for row in listed
    ]
    head = ["row", "peak MiB", "bound MiB", "goal MiB", "parts of the bound, MiB", "verdict"]
    return (
        f"{within} of {len(listed)} peaks are within {MEMORY_SLACK} times the sum of the parts. The goal is "
        f"{MEMORY_SLACK} times the store alone.\n\n{table(head, lines)}"
    )


def markdown(about, rows):
    size = "Every data set has a fifth of its rows. " if about["quick"] else ""
    held_out = [row["held_out"] for row in rows if row.get("held_out")]
    facts = [f"- {name}: {value}" for name, value in about["machine"].items()]
    facts += [f"- {name} {version}" for name, version in sorted(about["versions"].items())]
    missing = [f"- {name}: {reason}" for name, reason in about["missing"].items()]
    parts = [
        f"# linsep and its peers, {about['date']}{', quick' if about['quick'] else ''}",
        counts_text(rows) + (f" Held-out data: {counts_text(held_out)}" if held_out else ""),
        f"{size}Times are medians (least–most) in seconds; a ratio is the time of the fastest peer that counts over "
        "linsep's, and at least what stands behind > where no peer got there in time. Where it has an arrow, ↓, it is linsep's time over the other's, and floor and goal are upper "
        "limits. Method: docs/benchmarks.",
        "![Ratios of all rows, with their floors and goals](compare.svg)",
        table(HEAD, [line_of(row) for row in rows]),
        "## Memory",
        memory_section(rows),
        "## Everybody, row by row",
        *(part for row in rows for part in details(row)),
        "## Machine and versions",
        "\n".join(facts),
        "## Missing peers",
        "\n".join(missing) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def progress(case, kind=""):
    """One line while the table grows."""
    own, peer = own_and_peer(case)
    name = f"{case['name']} {kind}".strip()
    return (
        f"{name:<32} ratio {ratio_text(case):>8}  floor {bar_text(case, 'floor'):>5}  "
        f"linsep {seconds_text(own.get('seconds')):>8}  "
        f"{peer.get('name', 'no peer')} {seconds_text(peer.get('seconds'))}  {case['verdict']}"
    )


__all__ = ["failed_case", "fastest_peer", "markdown", "progress", "raw"]
