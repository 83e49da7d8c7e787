"""One Spark on loopback for all tests: a driver and two executors, each a process of its own.

LINSEP_SPARK_MASTER names another master; with ``local[2]``, which starts sooner, tests that kill executors cannot run.
"""

import os
import signal
import sys
import tempfile

# What is started in the background ignores Ctrl-C, which a test sends.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["SPARK_LOCAL_HOSTNAME"] = "localhost"
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

import pytest

#: Whether whoever started the tests has Ctrl-C ignored. Spark's processes inherit that, and tasks of a job that is cancelled
#: then go on to their end.
DEAF = signal.getsignal(signal.SIGINT) is signal.SIG_IGN

#: Seconds that a test has; one that waits for something that does not come fails, and the others go on.
LIMIT = 240


@pytest.fixture
def hears_interrupts():
    """For tests that end a job in the middle."""
    if DEAF:
        pytest.skip("Ctrl-C is ignored where these tests were started, so jobs cannot be ended in the middle")


@pytest.fixture(autouse=True)
def bounded():
    """Ends a test that takes too long."""

    def end(*_):
        raise TimeoutError(f"a test took more than {LIMIT} s")

    # The program, which tests run in this process, takes Ctrl-C for itself, and a shell may have it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def session(master, settings=None):
    """A session on loopback."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("linsep tests")
    usual = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
        "spark.log.level": "FATAL",
    }
    for name, value in {**usual, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark():
    found = session(os.environ.get("LINSEP_SPARK_MASTER", "local-cluster[2,1,1024]"))
    yield found
    found.stop()
