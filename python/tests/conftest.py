"""Data and estimators that several tests share."""

import signal

import numpy as np
import pytest

import linsep

# What is started in the background ignores Ctrl-C, which a test sends.
signal.signal(signal.SIGINT, signal.default_int_handler)

NAMES = list(linsep.ESTIMATORS)


@pytest.fixture
def two():
    """Two classes that overlap a little, with counts that are not negative."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 12, size=(80, 5)).astype(float)
    y = (X @ [1.0, -2.0, 0.5, 1.0, 0.0] + rng.normal(0, 3, 80) > 2).astype(int)
    return X, y


@pytest.fixture
def apart():
    """Two classes that a plane separates, and data that every learner takes."""
    rng = np.random.default_rng(11)
    X = rng.integers(0, 9, size=(60, 4)).astype(float)
    score = X @ [2.0, -1.0, 1.0, -2.0]
    keep = abs(score) > 1
    return X[keep], np.where(score[keep] > 0, "up", "down")


@pytest.fixture
def three():
    """Three classes that are separable all at once."""
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0, 9], [9, 0, 0], [0, 9, 0]])
    y = np.repeat([0, 1, 2], 25)
    return centres[y] + rng.integers(0, 4, size=(75, 3)).astype(float), y
