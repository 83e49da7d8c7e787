"""The table in Markdown and the raw results. No numpy here."""

from comparison.contest import LINSEP, fastest_peer, verdict


def raw(row, results):
    """What is kept of a row, with every single time."""
    found = verdict(results, row.bar)
    return {
        "name": row.name,
        "job": row.job,
        "data": row.data,
        "bar": row.bar,
        "goal": row.goal.name,
        "ratio": found.ratio,
        "met": found.met,
        "verdict": found.text,
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


def failed_row(row, reason):
    """A row that could not be measured at all."""
    return {
        "name": row.name, "job": row.job, "data": row.data, "bar": row.bar, "goal": row.goal.name,
        "ratio": None, "met": False, "verdict": f"failed: {reason}", "results": [],
    }  # fmt: skip


# ---------------------------------------------------------------- text


def seconds_text(seconds, spread=None):
    if seconds is None:
        return "–"
    text = f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"
    if spread and spread[1] > spread[0]:
        text += f" ({spread[0]:.3g}–{spread[1]:.3g})"
    return text


def quality_text(quality, goal):
    if quality is None:
        return "–"
    return f"{100 * quality:.1f} %" if goal == "accuracy" else f"{quality:.1e}"


def number_text(value, form):
    return "–" if value is None else format(value, form)


def line_of(row):
    """A line of the main table."""
    by_name = {result["name"]: result for result in row["results"]}
    own = by_name.get(LINSEP)
    peers = [r for r in row["results"] if r["counts"] and r["name"] != LINSEP]
    peer = min(peers, key=lambda r: r["seconds"], default=None)
    own_time = own if own and own["counts"] else {}
    peer = peer or {}
    return [
        row["job"],
        row["data"],
        seconds_text(own_time.get("seconds"), own_time.get("spread")),
        quality_text(own_time.get("quality"), row["goal"]),
        number_text(own_time.get("peak_mib"), ".0f"),
        peer.get("name", "–"),
        seconds_text(peer.get("seconds"), peer.get("spread")),
        quality_text(peer.get("quality"), row["goal"]),
        number_text(peer.get("peak_mib"), ".0f"),
        number_text(row["ratio"], ".2f"),
        f"{row['bar']:g}",
        row["verdict"],
    ]


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines])


def detail(row):
    lines = []
    for result in row["results"]:
        note = result["failure"] or ("" if result["counts"] else "does not count")
        lines.append(
            [
                result["name"],
                number_text(result["tolerance"], "g"),
                seconds_text(result["seconds"], result["spread"]),
                seconds_text(result["load"]),
                seconds_text(result["train"]),
                seconds_text(result["cpu"]),
                quality_text(result["quality"], row["goal"]),
                number_text(result["peak_mib"], ".0f"),
                str(len(result["runs"])),
                note,
            ]
        )
    head = ["who", "tolerance", "s", "load s", "train s", "cpu s", row["goal"], "peak MiB", "runs", "note"]
    return f"### {row['name']}: {row['job']}, {row['data']}\n\n{table(head, lines)}"


HEAD = [
    "job", "data", "linsep s", "quality", "MiB", "fastest peer", "its s", "quality", "MiB", "ratio", "bar",
    "verdict",
]  # fmt: skip


def markdown(about, rows):
    met = sum(row["met"] for row in rows)
    size = "Every data set has a fifth of its rows. " if about["quick"] else ""
    facts = [f"- {name}: {value}" for name, value in about["machine"].items()]
    facts += [f"- {name} {version}" for name, version in sorted(about["versions"].items())]
    missing = [f"- {name}: {reason}" for name, reason in about["missing"].items()]
    parts = [
        f"# linsep and its peers, {about['date']}{', quick' if about['quick'] else ''}",
        f"{met} of {len(rows)} bars are met. {size}Times are medians (least–most) in "
        "seconds; a ratio is the time of the fastest peer that counts over linsep's. Method: docs/benchmarks.",
        table(HEAD, [line_of(row) for row in rows]),
        "## Everybody, row by row",
        *(detail(row) for row in rows if row["results"]),
        "## Machine and versions",
        "\n".join(facts),
        "## Missing peers",
        "\n".join(missing) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def progress(row):
    """One line while the table grows."""
    ratio = number_text(row["ratio"], ".2f")
    peers = [r for r in row["results"] if r["counts"] and r["name"] != LINSEP]
    peer = min(peers, key=lambda r: r["seconds"], default=None)
    own = next((r for r in row["results"] if r["name"] == LINSEP and r["counts"]), None)
    return (
        f"{row['name']:<24} ratio {ratio:>7}  bar {row['bar']:>3g}  "
        f"linsep {seconds_text(own and own['seconds']):>8}  "
        f"{peer['name'] if peer else 'no peer'} {seconds_text(peer and peer['seconds'])}  {row['verdict']}"
    )


__all__ = ["failed_row", "fastest_peer", "markdown", "progress", "raw"]
