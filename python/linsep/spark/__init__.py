"""Verdicts and models of tables that live on a cluster.

The table is cut into blocks of rows that workers hold; a driver asks them in few rounds. :func:`separable`,
:func:`verify` and the functions of :mod:`linsep.spark.learn` take a Spark data frame or a
:class:`~linsep.spark.cluster.LocalCluster`. There are no estimators of pyspark.ml yet.
pyspark is imported when a data frame comes.
"""

from linsep.spark.cluster import LocalCluster, cluster_of
from linsep.spark.verdict import ClusterVerdict, separable, verify

__all__ = ["ClusterVerdict", "LocalCluster", "cluster_of", "separable", "verify"]
