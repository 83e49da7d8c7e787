"""The table of scikit-learn's tests: which pass with linsep's classes, which are left out, and why."""

import pathlib
import re
from collections import namedtuple

PATH = pathlib.Path(__file__).parents[3] / "docs" / "python" / "scikit-learn-tests.md"

#: A test, or those whose names a pattern with `*` fits. A test without a reason has to pass.
Row = namedtuple("Row", "module pattern reason")


def version():
    """The release of scikit-learn whose tests the table lists."""
    return re.search(r"scikit-learn (\d+\.\d+\.\d+)", PATH.read_text()).group(1)


def modules():
    """The test modules of the table, in its order."""
    return re.findall(r"^## `([\w.]+)`$", PATH.read_text(), re.MULTILINE)


def rows():
    """All rows."""
    found, module = [], None
    for line in PATH.read_text().splitlines():
        heading = re.fullmatch(r"## `([\w.]+)`", line)
        if heading:
            module = heading.group(1)
        elif module and line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            pattern, result = cells[0].strip("`"), cells[1]
            if result == "passes":
                found.append(Row(module, pattern, None))
            elif result.startswith("left out: ") and len(result) > 20:
                found.append(Row(module, pattern, result.removeprefix("left out: ")))
            else:
                raise ValueError(f"{pattern}: 'passes' or 'left out: ' and a reason, not {result!r}")
    return found


def row_of(rows, module, name):
    """The row for a test: the one with the longest pattern that fits. A pattern without brackets fits all cases."""
    fitting = [row for row in rows if row.module == module and _fits(row.pattern, name)]
    return max(fitting, key=lambda row: len(row.pattern), default=None)


def _fits(pattern, name):
    if "[" not in pattern:
        name = name.partition("[")[0]
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), name) is not None
