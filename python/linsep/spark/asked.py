"""What a caller says about a data frame, and what Spark says when something is wrong."""

import difflib
import re
from dataclasses import dataclass

from linsep.spark.columns import MOST_LEVELS, Column, text_of

#: Different texts of a column that are looked at; some may be the same level.
MOST_RAW = 4 * MOST_LEVELS

_NUMERIC = {"tinyint", "smallint", "int", "bigint", "float", "double"}


@dataclass(frozen=True)
class Chosen:
    """The columns of a table by what they are for; ``vector`` says that the features are one column of vectors."""

    label: str
    features: list
    vector: bool
    id: str | None
    weight: str | None


def context_of(frame):
    """The Spark context of a frame."""
    try:
        return frame.sparkSession.sparkContext
    except Exception:
        raise ValueError(
            "linsep: a data frame of Spark Connect has no Spark context, and rounds need one; use a classic session, "
            "SparkSession.builder.master(...)"
        ) from None


def columns(frame, label, features, id, weight):
    """The columns that are asked for, all of which there are."""
    types = dict(frame.dtypes)
    if len(types) < len(frame.columns):
        double = next(name for name in frame.columns if frame.columns.count(name) > 1)
        raise ValueError(f"linsep: two columns are named {double!r}; rename one")
    label = known(types, label, "label")
    for name, what in ((id, "id"), (weight, "weight")):
        if name is not None:
            known(types, name, what)
    others = {name for name in (label, id, weight) if name is not None}
    if features is None:
        features = [name for name in types if name not in others]
    features = [features] if isinstance(features, str) else list(features)
    for name in features:
        known(types, name, "features")
        if name in others:
            raise ValueError(f"linsep: column {name!r} is a feature and something else")
    if not features:
        raise ValueError("linsep: there are no columns for features")
    if len(set(features)) < len(features):
        raise ValueError("linsep: a column is named twice among the features")
    vector = len(features) == 1 and types[features[0]] == "vector"
    return Chosen(label, features, vector, id, weight)


def of_map(frame, held):
    """The features of an input map: a column of vectors, if its names are places in one that there is."""
    types, names = dict(frame.dtypes), [column.get("name") or "" for column in held.get("columns", [])]
    if not names:
        raise ValueError("linsep: the certificate names no columns; say which with features=")
    vector = names[0].rpartition("[")[0]
    if types.get(vector) == "vector" and names == [f"{vector}[{place}]" for place in range(len(names))]:
        return vector
    return names


def known(types, name, what):
    if name is None:
        raise ValueError(f"linsep: {what}= names no column")
    if name not in types:
        near = difflib.get_close_matches(name, types, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(map(repr, types))}"
        raise ValueError(f"linsep: there is no column {name!r}{hint}")
    return name


def column(name, kind):
    """A column of features by its type; levels of texts are found later."""
    if kind in _NUMERIC or kind.startswith("decimal") or kind in ("string", "vector"):
        return Column(name)
    if kind == "boolean":
        return Column(name, ("true",), "false")
    raise ValueError(
        f"linsep: column {name!r} has type {kind}; features are numbers, booleans, texts with few levels, or one column of "
        "vectors"
    )


def levels(name, found):
    """The levels of a column of texts in rising order."""
    known = {text_of(text) for text in found} - {None}
    if len(known) > MOST_LEVELS or len(found) > MOST_RAW:
        raise ValueError(
            f"linsep: column {name!r} has type string and more than {MOST_LEVELS} levels; leave it out with features=, or "
            "make numbers of it"
        )
    if not known:
        raise ValueError(f"linsep: column {name!r} has no value at all; leave it out with features=")
    return tuple(sorted(known))


def order(frame, id, named):
    """What the rows are ordered by, and its name."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    if id is not None:
        return [F.col(quoted(id))], f"id:{id}"
    try:
        keys = [F.col("_metadata.file_path"), F.col("_metadata.row_index")]
        frame.select(*keys).schema
        return keys, "file"
    except AnalysisException:
        types, held = dict(frame.dtypes), [F.col(quoted(name)) for name in named]
        # Rows of one hash are told apart by their values; vectors, which have no order, by a second hash.
        plain = [F.xxhash64(F.lit(1), one) if types[name] == "vector" else one for name, one in zip(named, held)]
        return [F.xxhash64(*held), *plain], "digest"


def quoted(name):
    """A column's name as an expression has it."""
    return "`" + name.replace("`", "``") + "`"


def selected(frame, keys, features, label, weight, is_sorted=True):
    """Keys, features, label, weight and the partition of each row, in the order of the keys if asked for."""
    from pyspark.sql import functions as F

    found = [key.alias(f"k{place}") for place, key in enumerate(keys)]
    found += [F.col(quoted(name)).alias(f"x{place}") for place, name in enumerate(features)]
    found.append(F.col(quoted(label)).alias("y"))
    if weight:
        found.append(F.col(quoted(weight)).alias("w"))
    rows = frame.select(*found, F.spark_partition_id().alias("p"))
    return rows.orderBy(*(f"k{place}" for place in range(len(keys)))) if is_sorted else rows


def explain(error):
    """Raises what a job's error says in plain words, if it is known."""
    words = str(error)
    found = re.findall(r"ValueError: (linsep: .*)", words)
    if found:
        raise ValueError(found[-1].strip()) from None
    if "No module named 'linsep" in words:
        raise RuntimeError(
            "linsep: executors have no linsep of this version; install the wheel on every node, or ship an environment "
            "with spark.archives"
        ) from None
    if "maxResultSize" in words:
        raise RuntimeError(
            "linsep: the answers of a round have more bytes than spark.driver.maxResultSize; raise it, or use fewer columns"
        ) from None
    drift = re.search(r"reading file (\S+?)\.? Data type mismatches when reading Parquet column \[?`?(.*?)`?\]?\. Expected", words)
    drift = drift or re.search(r"file (\S+)\.[\s\S]*?column: \[(.*?)\],", words)
    if drift and "arquet" in words:
        raise ValueError(
            f"linsep: column {drift[2]!r}, file {drift[1].rsplit('/', 1)[-1]}: the type is another one than in the schema of "
            "the table; write all parts with one schema"
        ) from None
