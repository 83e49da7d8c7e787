"""Writes the files of this folder: one table as pandas, polars and pyarrow write it, and as CSV.

    pip install pandas polars pyarrow
    python make.py

The rows follow from a fixed rule, so that only the versions of the three programs change the bytes.
"""

import datetime

import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet

ROWS = 40


def column(rule):
    return [rule(i) for i in range(ROWS)]


table = {
    "length": column(lambda i: round(0.1 * (i * 7 % 31) + 0.05, 2)),
    "weight_g": column(lambda i: (i * 37 % 101 - 50) / 3.0),
    "count": column(lambda i: i * 5 % 17 - 4),
    "colour": column(lambda i: ["red", "green", "blue"][i * i % 3]),
    "seen": column(lambda i: datetime.date(2024, 1, 1) + datetime.timedelta(days=i * 3)),
    "ripe": column(lambda i: i % 4 == 1),
    "species": column(lambda i: ["setosa", "virginica"][(i * 7 % 31 + i * 5 % 17) > 20]),
}
gaps = dict(table, length=[None if i % 9 == 4 else x for i, x in enumerate(table["length"])])
gaps["colour"] = [None if i % 13 == 2 else x for i, x in enumerate(table["colour"])]


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def write_csv(name, table):
    with open(name, "w", newline="\n") as out:
        out.write(",".join(table) + "\n")
        for row in zip(*table.values()):
            out.write(",".join(map(text, row)) + "\n")


for name, content in [("table", table), ("gaps", gaps)]:
    write_csv(f"{name}.csv", content)
    frame = pandas.DataFrame(content)
    frame["seen"] = pandas.to_datetime(frame["seen"])
    frame.to_parquet(f"{name}-pandas.parquet")
    frame.to_feather(f"{name}-pandas.feather")
    polars.DataFrame(content).write_parquet(f"{name}-polars.parquet")
    polars.DataFrame(content).write_ipc(f"{name}-polars.arrow")
    arrow = pyarrow.table(content)
    pyarrow.parquet.write_table(arrow, f"{name}-pyarrow.parquet")

# Narrow types, a dictionary, several row groups and record batches, other codecs, a stream.
narrow = pyarrow.table(table)
for name, kind in [("count", pyarrow.int8()), ("species", pyarrow.dictionary(pyarrow.int8(), pyarrow.string()))]:
    at = narrow.schema.get_field_index(name)
    narrow = narrow.set_column(at, name, narrow[name].cast(kind))
pyarrow.parquet.write_table(narrow, "table-groups.parquet", row_group_size=13, compression="zstd")
pyarrow.parquet.write_table(narrow, "table-version1.parquet", version="1.0", compression="gzip", data_page_version="1.0")
pyarrow.parquet.write_table(narrow, "table-pages2.parquet", compression="lz4", data_page_version="2.0", use_dictionary=False)
pyarrow.feather.write_feather(narrow, "table-batches.feather", compression="zstd", chunksize=13)
with pyarrow.OSFile("table-stream.arrows", "wb") as out:
    with pyarrow.ipc.new_stream(out, narrow.schema) as writer:
        writer.write_table(narrow, max_chunksize=13)

# pandas keeps an index that is no range as a column.
indexed = pandas.DataFrame(table)
indexed["seen"] = pandas.to_datetime(indexed["seen"])
indexed.index = [3 * i + 7 for i in range(ROWS)]
indexed.to_parquet("table-index.parquet")
