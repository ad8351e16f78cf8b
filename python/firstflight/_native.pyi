"""The extension module: commands in this process, and their results as Arrow tables."""

from collections.abc import Callable, Sequence
from os import PathLike

class Table:
    """A table: rows of typed columns, read without a copy by what speaks Arrow's C stream (polars, pandas, pyarrow, DuckDB)."""

    @staticmethod
    def from_json(lines: bytes) -> Table:
        """Return the table of JSON lines that a command printed. Values that are no scalars become JSON text."""

    @staticmethod
    def joined(tables: Sequence[Table]) -> Table:
        """Return the rows of several tables, one after the other. A column that a table lacks has no values there."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each column that has one."""

    def column(self, name: str) -> list[str | bool | int | float | None]:
        """Return the values of a column; `None` where a row has none."""

    def doubles(self, name: str) -> bytes:
        """Return a column of numbers as doubles for `numpy.frombuffer`; NaN where a row has none."""

    def rows(self) -> list[dict[str, str | bool | int | float | None]]:
        """Return the rows, each as a dictionary."""

    def parquet(self) -> bytes:
        """Return the bytes of the file that `--parquet` writes."""

class Answer:
    """The result of a command."""

    code: int
    error: str
    printed: bytes
    said: str
    tables: list[tuple[str, Table]]
    texts: list[tuple[str, str]]
    heads: list[str]
    is_numbers: list[bool]
    cells: list[list[str]]

def run(
    arguments: Sequence[str | PathLike[str]],
    *,
    progress: Callable[[int, int, str], object] | None = None,
    width: int | None = None,
) -> Answer:
    """Carry out a command in this process, and return its result."""

def main(arguments: Sequence[str], program: Sequence[str]) -> int:
    """Carry out the command line of this process, and return its exit code."""

def keys() -> list[dict[str, object]]:
    """Return the keys of a path, in the order of the help."""

def read_parquet(path: str | PathLike[str]) -> Table:
    """Read a Parquet file that a command wrote."""
