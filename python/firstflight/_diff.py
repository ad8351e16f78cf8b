"""Comparisons of two results, path by path and seed by seed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path as File
from typing import Protocol

from firstflight import _call
from firstflight._native import Answer, Table
from firstflight._results import Name, Page, Result, file_name
from firstflight._sweep import Sweep

__all__ = ["Diff", "diff"]


class HasRuns(Protocol):
    """A result with a row for each scheme and seed."""

    @property
    def runs(self) -> Table:
        """A row for each scheme and seed."""
        ...


def diff(
    before: HasRuns | Table | Sweep | Name,
    after: HasRuns | Table | Sweep | Name,
    *,
    by_name: bool = False,
    numbers: str | Sequence[str] | None = None,
) -> Diff:
    """Compare two results, and return a row for each number of each scheme, with its change and the change's interval.

    A result is a race, a sweep, a table of rows, a file that `--parquet`, `--json` or `--csv` wrote, or the folder of a sweep. Of races the
    runs are compared, by pairs of equal seeds. `by_name` matches paths by their numbers and schemes by their names even if the scenarios
    differ. `numbers` are the fields to compare (default: those that decide a choice).

    Raises ScenarioError if the results have no path in common.
    """
    folder = tempfile.mkdtemp(prefix="firstflight-")
    try:
        words = ["diff", _file(before, folder, "before"), _file(after, folder, "after")]
        if by_name:
            words.append("--by-name")
        if numbers is not None:
            words.append(f"--numbers={numbers if isinstance(numbers, str) else ','.join(numbers)}")
        return Diff(words, _call.run(words, progress=False), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _file(side: HasRuns | Table | Sweep | Name, folder: str, name: str) -> str:
    """Return the file of a result. One in memory is written into the folder."""
    if isinstance(side, Sweep):
        return file_name(side.folder)
    if isinstance(side, str | os.PathLike):
        return file_name(side)
    file = File(folder) / f"{name}.parquet"
    table = side if isinstance(side, Table) else side.runs
    file.write_bytes(table.parquet())
    return str(file)


class Diff(Result):
    """The changes from one result to another."""

    def __init__(self, arguments: Sequence[str], answer: Answer, folder: str) -> None:
        super().__init__(arguments, answer)
        # A report compares the results again.
        self._folder = folder
        weakref.finalize(self, shutil.rmtree, folder, True)

    def _named(self, text: str) -> str:
        """Return a text with `before` and `after` for results in memory, which have no file of a user."""
        return re.sub(re.escape(self._folder + os.sep) + r"(before|after)\.parquet", r"\1", text)

    @property
    def title(self) -> str:
        """The names of both results."""
        return self._named(super().title)

    @property
    def text(self) -> str:
        """What the command prints."""
        return self._named(super().text)

    @property
    def command(self) -> str | None:
        """The command line of a shell that gives the same bytes; `None` if a result was in memory."""
        return None if any(word.startswith(self._folder) for word in self._arguments) else super().command

    def report(self, path: Name | None = None) -> Page:
        """Return the report, and write it to `path` if that is given."""
        page = Page(self._named(super().report().html))
        if path is not None:
            File(path).write_text(page.html, encoding="utf-8")
        return page
