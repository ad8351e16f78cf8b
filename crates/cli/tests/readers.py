"""Reads a race's rows as JSON lines, CSV and Parquet with pandas, polars and DuckDB, and compares them.

Arguments: the JSON lines, the CSV, the Parquet file, and the columns as JSON lines of name, unit and kind.
"""

import json
import math
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet

rows_file, csv_file, parquet_file, columns_file = sys.argv[1:]
rows = [json.loads(line) for line in open(rows_file, encoding="utf-8")]
columns = {column["name"]: column for column in map(json.loads, open(columns_file, encoding="utf-8"))}
names = []
for row in rows:
    names += [name for name in row if name not in names]


def kind_of(name):
    """What a row's values make of a column: several runs make means of counts."""
    if name == "runs" or name.endswith("_runs"):
        return "Unsigned"
    if name == "exit_causes":
        return "Text"
    column = columns[name.removesuffix("_ci95")]
    is_mean = name.endswith("_ci95") or name + "_ci95" in names
    return "Real" if is_mean and column["kind"] != "Text" else column["kind"]


def same(read, meant, what):
    if meant is None or meant == "":
        assert read is None or read == meant or (isinstance(read, float) and math.isnan(read)), (what, read, meant)
    elif isinstance(meant, dict):
        # How many runs left by each cause: text of JSON where there are no objects.
        assert json.loads(read) == meant, (what, read, meant)
    else:
        assert read == meant, (what, read, meant)


def check(reader, found, is_csv):
    """`found` has a name, a type and values of each column."""
    assert {name for name, _, _ in found} == set(names), reader
    for name, dtype, values in found:
        meant = [row.get(name) for row in rows]
        what = (reader, name, str(dtype))
        assert len(values) == len(rows), what
        for read, one in zip(values, meant):
            same(read, one, what)
        kind, dtype = kind_of(name), str(dtype).lower()
        if is_csv and all(one is None or one == "" for one in meant):
            # Nothing in a CSV says what an empty column would hold.
            continue
        is_text = any(word in dtype for word in ("str", "object", "varchar"))
        is_whole = "int" in dtype
        is_real = any(word in dtype for word in ("float", "double"))
        if kind == "Text":
            # A column of hashes may happen to be all digits; a reader of CSV then takes it for a number.
            assert is_text or is_csv, what
        elif is_csv:
            assert is_whole or is_real, what
        else:
            # pandas has no integers with nulls, unless asked: it reads them as reals.
            has_nulls = any(one is None for one in meant)
            assert is_real if kind == "Real" else is_whole or (reader == "pandas" and has_nulls), what
            if kind == "Unsigned" and reader == "polars":
                assert dtype.startswith("int"), what


def of_pandas(frame):
    return [(name, frame[name].dtype, frame[name].tolist()) for name in frame.columns]


def of_polars(frame):
    return [(name, frame[name].dtype, frame[name].to_list()) for name in frame.columns]


def of_duckdb(relation):
    table = relation.fetchall()
    return [
        (name, dtype, [row[at] for row in table]) for at, (name, dtype) in enumerate(zip(relation.columns, relation.types))
    ]


check("pandas", of_pandas(pandas.read_parquet(parquet_file)), False)
check("polars", of_polars(polars.read_parquet(parquet_file)), False)
check("duckdb", of_duckdb(duckdb.read_parquet(parquet_file)), False)
check("pandas", of_pandas(pandas.read_csv(csv_file)), True)
check("polars", of_polars(polars.read_csv(csv_file, infer_schema_length=None)), True)
check("duckdb", of_duckdb(duckdb.read_csv(csv_file)), True)

for field in pyarrow.parquet.read_schema(parquet_file):
    column = columns.get(field.name.removesuffix("_ci95"))
    if column is None:
        # Only what several runs add is in no list.
        assert field.name in ("runs", "exit_causes") or field.name.endswith("_runs"), field.name
        continue
    said = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    assert said.get("unit", "") == column["unit"], (field.name, said)
    assert column["meaning"] in said["description"], (field.name, said)

print(f"{len(rows)} rows, {len(names)} columns")
