"""Results of commands, as tables, texts and pages."""

from __future__ import annotations

import html
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Self

from firstflight import _call
from firstflight._native import Answer, Table
from firstflight._scheme import Scheme

if TYPE_CHECKING:
    import pandas
    import polars

#: A value of a row.
Value = str | bool | int | float | None


#: The name of a file.
Name = str | os.PathLike[str]


def file_name(name: Name) -> str:
    """Return the name of a file as an argument: a name that begins with a dash is no option."""
    text = os.fspath(name)
    return f"./{text}" if text.startswith("-") else text


class Row(Mapping[str, Value]):
    """One row of a table. Its fields are items and attributes: `row["cost"]` and `row.cost`."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Value]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Value:
        return self._fields[name]

    def __reduce__(self) -> tuple[type[Row], tuple[dict[str, Value]]]:
        return Row, (self._fields,)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"the row has no field `{name}`; `list(row)` has its fields") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Row({self._fields!r})"


class Page:
    """A report: one HTML file that opens offline. A notebook shows it in a frame."""

    def __init__(self, text: str, *, height: int = 720) -> None:
        self.html = text
        self.height = height

    def _repr_html_(self) -> str:
        framed = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{framed}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Page({len(self.html)} characters)"


@dataclass(frozen=True)
class Kept:
    """What a command printed and computed."""

    #: The bytes for standard output.
    printed: bytes
    #: The lines for standard error: notes and warnings.
    said: str
    #: The tables of results, by name.
    tables: dict[str, Table]
    #: The texts of results, by name.
    texts: dict[str, str]
    #: The heads of the table that people see.
    heads: list[str]
    #: Whether each of its columns has numbers.
    is_numbers: list[bool]
    #: The cells of its rows.
    cells: list[list[str]]

    @classmethod
    def of(cls, answer: Answer) -> Kept:
        """Keep an answer of the extension module, which cannot be pickled."""
        tables, texts = dict(answer.tables), dict(answer.texts)
        return cls(answer.printed, answer.said, tables, texts, answer.heads, answer.is_numbers, answer.cells)


class Result:
    """The result of a command: rows, as an Arrow table, and a verdict.

    polars, pandas, pyarrow and DuckDB read the result without a copy: `polars.DataFrame(result)`, `pyarrow.table(result)`,
    `duckdb.sql("from result")`.
    """

    def __init__(
        self, arguments: Sequence[str], answer: Answer, schemes: Sequence[type[Scheme]] = ()
    ) -> None:
        self._arguments = list(arguments)
        self._kept = Kept.of(answer)
        self._schemes = list(schemes)

    @classmethod
    def _of(
        cls,
        arguments: Sequence[str],
        *,
        progress: _call.Progress | bool | None = None,
        schemes: Sequence[type[Scheme]] = (),
    ) -> Self:
        return cls(arguments, _call.run(arguments, progress=progress, schemes=schemes), schemes)

    def _table(self, name: str) -> Table:
        """Return the command's table of this name; an empty one if it has none."""
        return self._kept.tables.get(name) or Table.from_json(b"")

    def _text(self, name: str) -> str:
        """Return the command's text of this name; empty if it has none."""
        return self._kept.texts.get(name, "")

    def _again(self, *more: str) -> Answer:
        """Carry out the command again with further options. The same command gives the same results."""
        return _call.run([*self._arguments, *more], schemes=self._schemes)

    @property
    def rows(self) -> Table:
        """The rows, with the columns of `--parquet`: `rows.units` and `rows.meanings` describe them."""
        return self._table("rows")

    @property
    def verdict(self) -> str:
        """The verdict in words, and its notes, each in a line."""
        return self._text("verdict")

    @property
    def notes(self) -> list[str]:
        """What the command noted on its input, each in a line."""
        return self._kept.said.splitlines()

    @property
    def title(self) -> str:
        """The subject of the result in words; empty if the verdict says it."""
        return self._text("title")

    @property
    def command(self) -> str | None:
        """The command line of a shell that gives the same bytes; `None` if there is none."""
        program = _call.program(self._schemes)
        if program is None:
            return None
        return self._text("command") or f"{program} {shlex.join(self._arguments)}"

    @property
    def text(self) -> str:
        """What the command prints."""
        return self._kept.printed.decode()

    def report(self, path: str | File | None = None) -> Page:
        """Return the report, and write it to `path` if that is given. The command runs again for it."""
        with tempfile.TemporaryDirectory(prefix="firstflight-") as folder:
            file = File(path) if path is not None else File(folder) / "report.html"
            self._again(f"--report={file}")
            return Page(file.read_text(encoding="utf-8"))

    def to_parquet(self, path: str | File) -> None:
        """Write the rows as Parquet: the bytes that `--parquet` writes."""
        File(path).write_bytes(self.rows.parquet())

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a frame of polars, without a copy."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a frame of pandas."""
        import pandas

        return pandas.DataFrame({name: self.rows.column(name) for name in self.rows.columns})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return (Row(fields) for fields in self.rows.rows())

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        return self._shown()

    def _shown(self, rows: int | None = None) -> str:
        """Return title, verdict and the first `rows` rows of the table as HTML."""
        kept = self._kept
        if not kept.cells:
            return f"<pre>{html.escape(self.text)}</pre>"
        title = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        verdict = verdict_html(self.verdict) if self.verdict else ""
        return title + verdict + table_html(kept.heads, kept.is_numbers, kept.cells[:rows])


def verdict_html(verdict: str) -> str:
    """Return a verdict as HTML: its first line in bold, and its notes below."""
    first, *notes = verdict.splitlines() or [""]
    return f"<p><b>{html.escape(first)}</b></p>" + "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def table_html(heads: Sequence[str], is_numbers: Sequence[bool], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML. Numbers are aligned on the right."""
    align = ["right" if is_number else "left" for is_number in is_numbers]

    def line(cells: Sequence[str], tag: str) -> str:
        shown = (
            f'<{tag} style="text-align:{side}">{html.escape(cell)}</{tag}>'
            for cell, side in zip(cells, align, strict=True)
        )
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    return f"<table><thead>{line(heads, 'th')}</thead><tbody>{body}</tbody></table>"
