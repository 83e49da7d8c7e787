"""Every example of the documentation is run: pages, and docstrings of the package."""

import doctest
import importlib
import inspect
import pathlib

import pytest

import linsep

pytest.importorskip("sklearn")

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
MODULES = ["linsep", "linsep._functions", "linsep._basis", "linsep._results"]


@pytest.mark.parametrize("page", sorted(page.name for page in PAGES.glob("*.md")))
def test_pages(page):
    failed, tried = doctest.testfile(str(PAGES / page), module_relative=False, optionflags=FLAGS)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


def test_everything_public_is_documented():
    public = [getattr(linsep, name) for name in linsep.__all__ if not name.startswith("__")]
    for item in public + list(linsep.ESTIMATORS.values()):
        if callable(item):
            assert inspect.getdoc(item), item
    for cls in linsep.ESTIMATORS.values():
        for name, member in vars(cls.__mro__[1]).items():
            if not name.startswith("_") and callable(member):
                assert inspect.getdoc(member), name
