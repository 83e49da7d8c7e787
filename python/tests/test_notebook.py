"""The notebook of the first ten minutes runs, and shows what it says it shows.

``python python/tests/test_notebook.py`` runs it and writes the outputs into the file.
"""

import ast
import contextlib
import io
import json
import pathlib
import warnings

PATH = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python" / "first-ten-minutes.ipynb"


def run(notebook):
    """Runs all cells of code in one process and returns the text that each one shows."""
    space, shown = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        printed, value = io.StringIO(), None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(ast.Module(body, []), str(PATH), "exec"), space)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), str(PATH), "eval"), space)
        shown.append((printed.getvalue(), value))
    return shown


def outputs(printed, value):
    """What a notebook stores for a cell."""
    found = []
    if printed:
        found.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if getattr(value, "_repr_svg_", None):
            data["image/svg+xml"] = value._repr_svg_().splitlines(True)
        found.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return found


def test_the_notebook_shows_what_it_says():
    import pytest

    pytest.importorskip("sklearn")
    notebook = json.loads(PATH.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 8
    for cell, (printed, value) in zip(cells, run(notebook), strict=True):
        assert outputs(printed, value) == cell["outputs"], "".join(cell["source"])


if __name__ == "__main__":
    content = json.loads(PATH.read_text())
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for cell, (printed, value) in zip(code, run(content), strict=True):
        cell["outputs"] = outputs(printed, value)
    PATH.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
