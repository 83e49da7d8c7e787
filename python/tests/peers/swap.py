"""A pytest plugin that runs scikit-learn's tests with linsep's classes in the place of scikit-learn's.

    PYTHONPATH=python/tests/peers pytest -p swap --pyargs sklearn.linear_model.tests.test_perceptron

Which tests have to pass, and why others are left out, is read from the table in
``docs/python/scikit-learn-tests.md``. A test that is not in the table is an error, and so are a row of the
table without a test and a test that passes without any class of linsep. ``--peers=all`` runs the tests that
are left out, too, to see which of them could pass.

Tests say which exception or warning has to come, and often the words of its message. The type is behaviour
and is tested; the words are scikit-learn's own, so ``match=`` is not looked at.
"""

import functools

import adapters
import pytest
import table

adapters.swap()


def without_words(function):
    """``pytest.raises`` or ``pytest.warns`` that looks at the type only."""

    @functools.wraps(function)
    def wrapped(*arguments, match=None, **options):
        return function(*arguments, **options)

    return wrapped


pytest.raises = without_words(pytest.raises)
pytest.warns = without_words(pytest.warns)

#: Whether the table leaves a test out.
LEFT_OUT = pytest.StashKey[bool]()


def pytest_addoption(parser):
    parser.addoption("--peers", choices=("table", "all"), default="table", help="which tests to run")


def pytest_collection_modifyitems(config, items):
    """Leaves out what the table leaves out, and refuses what it does not know."""
    if config.getoption("--peers") == "all":
        return
    rows = table.rows()
    used, unknown = set(), []
    for item in items:
        module = item.module.__name__
        row = table.row_of(rows, module, item.name)
        if row is None:
            unknown.append(f"{module}::{item.name}")
            continue
        used.add(row)
        item.stash[LEFT_OUT] = row.reason is not None
        if row.reason:
            item.add_marker(pytest.mark.skip(reason=row.reason))
    modules = {item.module.__name__ for item in items}
    stale = [row for row in rows if row.module in modules and row not in used]
    words = [f"no row for {name}" for name in unknown]
    if not config.getoption("-k") and not any("::" in argument for argument in config.args):
        words += [f"no test for the row {row.module}::{row.pattern}" for row in stale]
    if words:
        raise pytest.UsageError("\n".join(words))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What has to pass may not be skipped by the test itself."""
    report = (yield).get_result()
    if report.skipped and not item.stash.get(LEFT_OUT, True):
        report.outcome = "failed"
        report.longrepr = f"the table says that {item.name} passes, and it is skipped: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A test that never makes an estimator of linsep says nothing about it."""
    before = adapters.made
    outcome = yield
    if outcome.excinfo is None and adapters.made == before:
        outcome.force_exception(AssertionError("the test made no estimator of linsep"))
