"""Earlier results, and lists of what can be raced."""

from __future__ import annotations

import json
import os
from pathlib import Path as File
from typing import Any

from firstflight import _call
from firstflight._errors import ScenarioError
from firstflight._native import Table, read_parquet


def read(path: str | os.PathLike[str]) -> Table:
    """Read the rows that a command wrote: Parquet, JSON lines, or the folder of a sweep.

    Raises ScenarioError for another kind of file, and OSError if it cannot be read.
    """
    file = File(path)
    try:
        return _read(file)
    except ValueError as error:
        raise ScenarioError(str(error)) from None


def _read(file: File) -> Table:
    if file.is_dir():
        parts = sorted(file.glob("part-*.parquet"))
        if not parts:
            raise ScenarioError(f"{file}: the folder has no part of a sweep")
        return Table.joined([read_parquet(part) for part in parts])
    if file.suffix in {".json", ".jsonl"}:
        return Table.from_json(file.read_bytes())
    if file.suffix in {".parquet", ".pq"}:
        return read_parquet(file)
    raise ScenarioError(
        f"{file}: a file that ends with .parquet, .pq, .json or .jsonl, or the folder of a sweep is wanted; pandas and polars read CSV"
    )


def schemes() -> list[dict[str, Any]]:
    """Return schemes, restart policies and laws: `kind`, `name`, `summary`, `source`, `parameters`, `needs`, `deploy` and more of each."""
    return [json.loads(line) for line in _call.run(["schemes", "--json"]).printed.splitlines()]
