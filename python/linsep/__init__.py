"""Linear classification with proof.

>>> import numpy as np
>>> import linsep
>>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
>>> bool(linsep.separable(X, [0, 0, 0, 1]))
True
>>> linsep.separable(X, [0, 1, 1, 0]).verdict
'overlapping'

Functions need numpy only. Estimators follow the contract of scikit-learn where it is installed, and work
without it. ``linsep.ESTIMATORS`` lists them; each is made from the registry of the library the first time
that it is asked for.
"""

from linsep import _registry
from linsep._linsep import __version__
from linsep._functions import certify, load, read, separable, verify
from linsep._inference import LogisticResults, infer
from linsep._results import Certificate, Certified, Rows, Verdict
from linsep._warnings import ColumnsWarning, NotSeparableError, NotSeparableWarning

_LAZY = ("ConvergenceWarning", "ESTIMATORS")


def __getattr__(name):
    """Makes estimators when they are asked for, so that importing the package stays quick."""
    if name == "BasisExpansion":
        from linsep._basis import BasisExpansion

        return BasisExpansion
    if name in _LAZY or name in _registry.class_names():
        import linsep._estimators as estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'linsep' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, *_registry.class_names()])


__all__ = [
    "BasisExpansion",
    "Certificate",
    "Certified",
    "ColumnsWarning",
    "ConvergenceWarning",
    "ESTIMATORS",
    "LogisticResults",
    "NotSeparableError",
    "NotSeparableWarning",
    "Rows",
    "Verdict",
    "__version__",
    "certify",
    "infer",
    "load",
    "read",
    "separable",
    "verify",
]
