"""Verdicts and models of tables that live on a cluster.

The table is cut into blocks of rows that workers hold; a driver asks them in few rounds. :func:`separable`,
:func:`verify` and the functions of :mod:`linsep.spark.learn` take a Spark data frame or a
:class:`~linsep.spark.cluster.LocalCluster`. :mod:`linsep.spark.ml` has estimators of pyspark.ml.
pyspark is imported when a data frame or an estimator comes.
"""

from linsep.spark.cluster import LocalCluster, OutOfTime, cluster_of
from linsep.spark.verdict import ClusterVerdict, separable, verify

#: The estimators of pyspark.ml, and the module of their models.
ESTIMATORS = (
    "BernoulliNB",
    "FisherDiscriminant",
    "HardMargin",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MultinomialNB",
    "Perceptron",
    "SharedVarianceNB",
)


def __getattr__(name):
    """Estimators and their models; pyspark is imported with the first of them."""
    if name in ESTIMATORS:
        from linsep.spark import ml

        return getattr(ml, name)
    if name == "BasisExpansion":
        from linsep.spark.mlbasis import BasisExpansion

        return BasisExpansion
    if name.endswith("Model") and name[: -len("Model")] in ESTIMATORS:
        from linsep.spark import mlmodel

        return getattr(mlmodel, name)
    raise AttributeError(f"module 'linsep.spark' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, "BasisExpansion", *ESTIMATORS, *(f"{name}Model" for name in ESTIMATORS)])


__all__ = ["ClusterVerdict", "LocalCluster", "OutOfTime", "cluster_of", "separable", "verify"]
