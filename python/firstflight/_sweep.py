"""Sweeps over populations of paths, and their scores."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path as File

from firstflight import _call
from firstflight._native import Answer, Table, read_parquet
from firstflight._population import Population
from firstflight._race import Schemes
from firstflight._results import Result, Row, file_name, table_html, verdict_html
from firstflight._scheme import Scheme, chosen


def sweep(
    population: Population | str | os.PathLike[str],
    schemes: Schemes | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: _call.Progress | bool | None = None,
) -> Sweep:
    """Race schemes over a population of paths, or over those of a sweep's file, and return the folder with the rows.

    `out` is the folder. A sweep can be interrupted or killed; the same call goes on where it stopped. Without `out` the folder is a
    temporary one, which lasts as long as the result. A file has its own schemes, and `schemes` is not allowed then.

    Raises ScenarioError for wrong input, or for a folder of another sweep.
    """
    temporary = tempfile.TemporaryDirectory(prefix="firstflight-") if out is None else None
    folder = File(temporary.name if temporary is not None else os.fspath(out or ""))
    more = [f"--out={folder}"] + ([] if jobs is None else [f"--jobs={jobs}"])
    if isinstance(population, Population):
        names, classes = chosen(schemes or "all")
        with population.files(names) as (words, text):
            answer = _call.run(["sweep", *words, *more], progress=progress, schemes=classes)
        return Sweep(folder, answer, temporary, toml=text, schemes=classes)
    if schemes is not None:
        raise TypeError("schemes: the sweep's file has its own")
    words = ["sweep", file_name(population), *more]
    answer = _call.run(words, progress=progress)
    command = None if temporary is not None else shlex.join([_call.PROGRAM, *words])
    return Sweep(folder, answer, temporary, command=command)


class Sweep:
    """The folder of a sweep: its parts, as Parquet, with a row for each path, scheme and seed."""

    def __init__(
        self,
        folder: File,
        answer: Answer,
        temporary: tempfile.TemporaryDirectory[str] | None = None,
        *,
        toml: str | None = None,
        command: str | None = None,
        schemes: Sequence[type[Scheme]] = (),
    ) -> None:
        #: The classes among the schemes.
        self.schemes = list(schemes)
        self.folder = folder
        #: The text of the sweep's file, if a `Population` gave it.
        self.toml = toml
        #: The command line of a shell that races the same sweep into the same folder; `None` for a population, whose file is `toml`.
        self.command = command
        self._text = answer.printed.decode().rstrip("\n")
        #: What the command noted on its input, each in a line.
        self.notes = answer.said.splitlines()
        self._temporary = temporary

    @property
    def parts(self) -> list[File]:
        """The files of the parts."""
        return sorted(self.folder.glob("part-*.parquet"))

    @property
    def rows(self) -> Table:
        """All rows, in the order of paths, schemes and seeds."""
        return Table.joined([read_parquet(part) for part in self.parts])

    def score(self, where: str | None = None, *, partial: bool = False) -> Score:
        """Return the score of the sweep, as `firstflight.score` does."""
        return score(self, where, partial=partial)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return self._text


def score(
    folder: Sweep | str | os.PathLike[str],
    where: str | None = None,
    *,
    partial: bool = False,
    schemes: Sequence[type[Scheme]] = (),
) -> Score:
    """Score a sweep: each scheme's cost, loss, queue, timeouts and harm, and the best schemes by class of path.

    `where` selects paths, as in `"loss<=0.1%,cross=none"`. `partial` scores the parts that are there, even if some are missing. `schemes`
    are the classes in the sweep of a folder; a `Sweep` knows its own.

    Raises ScenarioError for a folder that is no sweep, or that lacks parts.
    """
    words = ["score", file_name(folder.folder if isinstance(folder, Sweep) else folder)]
    words += [] if where is None else [f"--where={where}"]
    words += ["--partial"] if partial else []
    scored = Score._of(words, schemes=folder.schemes if isinstance(folder, Sweep) else schemes)
    # A temporary folder lasts as long as its score, whose page reads it.
    scored._sweep = folder if isinstance(folder, Sweep) else None
    return scored


#: Columns of the table of a score: the head, and the field.
_COLUMNS = (
    ("cost, median × ideal", "cost_median"),
    ("90th percentile", "cost_p90"),
    ("99th percentile", "cost_p99"),
    ("loss, median", "loss_median"),
    ("loss, 90th percentile", "loss_p90"),
    ("given up", "unfinished"),
)


class Score(Result):
    """The score of a sweep: a row for each scheme in each class of paths. The class `all` has all paths."""

    def __init__(
        self, arguments: Sequence[str], answer: Answer, schemes: Sequence[type[Scheme]] = ()
    ) -> None:
        super().__init__(arguments, answer, schemes)
        self._sweep: Sweep | None = None

    @property
    def command(self) -> str | None:
        """The command line of a shell that gives the same bytes; `None` for a temporary folder."""
        is_temporary = self._sweep is not None and self._sweep._temporary is not None
        return None if is_temporary else super().command

    @property
    def all_paths(self) -> list[Row]:
        """The rows over all paths, the lowest median cost first. A scheme without one is last."""
        rows = [row for row in self if row["axis"] == "all"]
        return sorted(rows, key=lambda row: (row.cost_median is None, row.cost_median or 0.0))

    @property
    def best(self) -> Row:
        """The row over all paths of the scheme with the lowest median cost among those that a sender can deploy alone."""
        rows = self.all_paths
        return next((row for row in rows if row["deploy"] == "alone"), rows[0])

    def __getitem__(self, scheme: str) -> Row:
        """Return the row of a scheme over all paths. Raises KeyError if there is none."""
        for row in self.all_paths:
            if row["scheme"] == scheme:
                return row
        raise KeyError(f"no row has the scheme `{scheme}`; there are {', '.join(row.scheme for row in self.all_paths)}")

    def _repr_html_(self) -> str:
        def cell(value: object) -> str:
            return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

        rows = [[row.scheme, *(cell(row.get(field)) for _, field in _COLUMNS)] for row in self.all_paths]
        heads = ["scheme", *(head for head, _ in _COLUMNS)]
        return verdict_html(self.verdict) + table_html(heads, [False, *(True for _ in _COLUMNS)], rows)
