"""The ratios of a run as a picture: SVG text, made without any package. No numpy here.

One line for each row of the table, on a logarithmic axis: a disc for the data of the table, a ring for the
held-out data, a short stroke for the floor, a taller one for the goal. Right of 1 linsep is faster. Rows of
which less is better have squares, and their strokes are upper limits.
"""

import html
import math

LINE = 22
LEFT, RIGHT, TOP, BOTTOM = 190, 100, 64, 46
WIDTH = 1000
# Colours that can be told apart on white and on black, and by readers who do not see red or green.
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .soft { fill: #57606a; }
  .page { fill: #ffffff; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .one { stroke: #57606a; stroke-width: 1.5; }
  .bar { stroke: #57606a; stroke-width: 2; }
  .mark { stroke-width: 2; }
  .good { stroke: #0969da; } .good.full { fill: #0969da; }
  .weak { stroke: #b35900; } .weak.full { fill: #b35900; }
  .hollow { fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .soft { fill: #9198a1; } .page { fill: #0d1117; } .grid { stroke: #30363d; }
    .one, .bar { stroke: #9198a1; }
    .good { stroke: #58a6ff; } .good.full { fill: #58a6ff; }
    .weak { stroke: #f0a04b; } .weak.full { fill: #f0a04b; }
  }
"""


def svg(about, rows):
    """`rows` as report.raw leaves them."""
    least, most = span(rows)

    def at(ratio):
        share = math.log(ratio / least) / math.log(most / least)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    height = TOP + LINE * len(rows) + BOTTOM
    title = f"linsep and its peers, {about['date']}{', quick' if about['quick'] else ''}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title words">',
        f'<title id="title">{html.escape(title)}</title>',
        f'<desc id="words">{html.escape(in_words(rows))}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="16" y="24">{html.escape(title)}</text>',
        '<text class="soft" x="16" y="44">time of the fastest peer over linsep\'s; disc: data of the table, ring: '
        "held-out data; short stroke: floor, tall stroke: goal</text>",
        *axis(at, least, most, height),
    ]
    for number, row in enumerate(rows):
        parts += line(at, row, TOP + LINE * (number + 0.5))
    return "\n".join([*parts, "</svg>"]) + "\n"


def span(rows):
    """The least and the largest number to show, with some room."""
    numbers = [1.0]
    for row in rows:
        numbers += [row["floor"], row["goal"], row["ratio"], (row.get("held_out") or {}).get("ratio")]
    numbers = [number for number in numbers if number]
    return min(numbers) / 1.25, max(numbers) * 1.25


def axis(at, least, most, height):
    parts, foot = [], height - BOTTOM
    for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1):
        for digit in (1, 2, 5):
            value = digit * 10**power
            if least <= value <= most:
                x = at(value)
                kind = "one" if value == 1 else "grid"
                parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{foot}"/>')
                parts.append(f'<text class="soft" x="{x:.1f}" y="{foot + 18}" text-anchor="middle">{value:g}</text>')
    parts.append(
        f'<text class="soft" x="{at(1):.1f}" y="{foot + 36}" text-anchor="middle">← slower   faster →</text>'
    )
    return parts


def line(at, row, y):
    label = f"{row['name']} (lower is better)" if row["lower_is_better"] else row["name"]
    shown = f"{'> ' * row['is_bound']}{row['ratio']:.2f}" if row["ratio"] is not None else "–"
    parts = [f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{html.escape(label)}</text>']
    for bar, half in (("floor", 4), ("goal", 8)):
        x = at(row[bar])
        parts.append(f'<line class="bar" x1="{x:.1f}" x2="{x:.1f}" y1="{y - half:.1f}" y2="{y + half:.1f}"/>')
    held_out = row.get("held_out")
    # The ring is larger than the disc, so that both can be seen where they meet.
    for case, form, size in ((held_out, "hollow", 6.5), (row, "full", 4.0)):
        if case and case["ratio"]:
            parts.append(mark(at(case["ratio"]), y, case, form, size))
    parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y + 4:.1f}">{html.escape(shown)}</text>')
    return parts


def mark(x, y, case, form, size):
    colour = "good" if case["word"] in ("goal met", "floor met") else "weak"
    words = html.escape(f"{case['job']}, {case['data']}: {case['ratio']:.2f}, {case['verdict']}")
    kind = f'class="mark {colour} {form}"'
    if case["lower_is_better"]:
        shape = f'<rect {kind} x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size}" height="{2 * size}">'
        return f"{shape}<title>{words}</title></rect>"
    return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="{size}"><title>{words}</title></circle>'


def in_words(rows):
    """The picture for whoever does not see it."""
    said = []
    for row in rows:
        if row["ratio"] is not None:
            held_out = (row.get("held_out") or {}).get("ratio")
            text = f"{row['name']}: {row['ratio']:.2f}, {row['verdict']}"
            said.append(text + (f", held-out {held_out:.2f}" if held_out else ""))
    return "Ratios by row. " + "; ".join(said) + "."
