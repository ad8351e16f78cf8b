"""Races of schemes over one path."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, Unpack

from firstflight import _call
from firstflight._keys import Keys
from firstflight._keys import Scheme as Name
from firstflight._native import Answer, Table, read_parquet
from firstflight._path import Path, arguments, number, texts
from firstflight._plot import Band, Colours, plot, tradeoff
from firstflight._results import Result, Row, file_name
from firstflight._scheme import Choice, Scheme, chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Schemes: names with parameters (`"paced:first=4"`), classes, or lists of them.
Schemes = Name | str | type[Scheme] | Choice | Sequence[Name | str | type[Scheme] | Choice]


def race(
    scenario: Path | str | os.PathLike[str] | None = None,
    schemes: Schemes | None = None,
    *,
    series: bool = False,
    each_flow: bool = False,
    jobs: int | None = None,
    progress: _call.Progress | bool | None = None,
    **keys: Unpack[Keys],
) -> Race:
    """Race schemes over one path, and return the result: a row for each scheme, best first.

    `scenario` is a `Path`, or the name of a scenario file. Further keys go over it: `size`, `runs`, `seed` and all others of a path.
    `schemes` are names with parameters, as in `["slow-start", "paced:first=4"]` or `"all,-vegas"`, and subclasses of `Scheme`; without them
    all are raced, or those of the file. `series` records window, flight, RTT and queue over time in the first run already. `each_flow`
    gives a row for each flow of a population. `jobs` is the number of runs at a time; results do not depend on it.

    Raises ScenarioError for wrong input, with the place.
    """
    words: list[str] = []
    if scenario is None:
        words += ["race"]
    elif isinstance(scenario, Path):
        words += ["race", *scenario.with_(**keys).arguments]
    else:
        words += ["run", file_name(scenario)]
    if not isinstance(scenario, Path):
        words += arguments(texts(keys))
    classes: list[type[Scheme]] = []
    if schemes is not None:
        names, classes = chosen(schemes)
        words.append(f"--schemes={names}")
    if each_flow:
        words.append("--each-flow")
    if jobs is not None:
        words.append(f"--jobs={jobs}")
    if not series:
        return Race._of(words, progress=progress, schemes=classes)
    with tempfile.TemporaryDirectory(prefix="firstflight-") as folder:
        file = File(folder) / "series.parquet"
        answer = _call.run([*words, f"--series={file}"], progress=progress, schemes=classes)
        raced = Race(words, answer, classes)
        # This fills the cache.
        raced.__dict__["series"] = read_parquet(file)
        return raced


def _of_command(command: str) -> list[str]:
    """Return the arguments of a command line of a race: the words from the command's name on."""
    words = shlex.split(command)
    return words[words.index("race") :]


class Race(Result):
    """The result of a race: a row for each scheme, best first.

    With several runs, a field is a mean, and `<field>_ci95` is half its 95 % confidence interval.
    """

    @property
    def runs(self) -> Table:
        """A row for each scheme and seed."""
        return self._table("runs")

    @cached_property
    def series(self) -> Table:
        """Window, flight, RTT, queue and delivered bytes over time, of all runs.

        `race(…, series=True)` records them in the first run; otherwise the race runs again.
        """
        return self._series()

    def slots(self, length: str | float = "100ms") -> Table:
        """Return the rates of every flow and link in time slots of this length, a text or seconds. The race runs again for it."""
        return self._series(f"--slot={length if isinstance(length, str) else number(length) + 's'}")

    def _again(self, *more: str) -> Answer:
        """Carry out the race again with further options, as it was resolved: a scenario file may have changed since."""
        resolved = self._text("command")
        words = _of_command(resolved) if resolved else self._arguments
        return _call.run([*words, *self._flows(), *more], schemes=self._schemes)

    @property
    def command(self) -> str | None:
        """The command line of a shell that gives the same bytes; `None` for a class that is in no file."""
        resolved = super().command
        return None if resolved is None else shlex.join([*shlex.split(resolved), *self._flows()])

    def _flows(self) -> list[str]:
        return ["--each-flow"] if self._text("command") and "--each-flow" in self._arguments else []

    def _series(self, *more: str) -> Table:
        with tempfile.TemporaryDirectory(prefix="firstflight-") as folder:
            file = File(folder) / "series.parquet"
            self._again(f"--series={file}", *more)
            return read_parquet(file)

    @property
    def exits(self) -> Table | None:
        """The rows of single runs, if they say when start-up ended: those of a population of flows do not."""
        return self.runs if "exit_time_s" in self.runs.columns else None

    @property
    def best(self) -> Row:
        """The row of the best scheme that a sender can deploy alone."""
        rows = list(self)
        return next((row for row in rows if row.get("deploy", "alone") == "alone"), rows[0])

    def __getitem__(self, scheme: str) -> Row:
        """Return the row of a scheme, by its name or its label (`as=`). Raises KeyError for none, or for several."""
        named = [(row.get("label") or row["scheme"], row) for row in self]
        # A row with a label is found by its scheme, too, if that names no other row.
        found = [row for name, row in named if name == scheme] or [row for _, row in named if row["scheme"] == scheme]
        if len(found) == 1:
            return found[0]
        names = ", ".join(str(name) for name, _ in named)
        how_many = f"{len(found)} rows have" if found else "no row has"
        raise KeyError(f"{how_many} the scheme `{scheme}`; there are {names}")

    def plot(
        self,
        quantity: str = "cwnd_bytes",
        *,
        schemes: Sequence[str] | None = None,
        ax: Axes | None = None,
        band: Band | None = "p10-p90",
        exits: bool = True,
        flow: int = 0,
        colours: Colours | None = None,
        legend: bool = True,
    ) -> tuple[Figure, Axes]:
        """Draw a quantity of the series over time: for each scheme the median over runs, and a band between two percentiles.

        `quantity` is a column of `series`. With `band=None` each run is a line. With `exits`, a dot marks the median end of start-up, if at
        least half of the runs left it. Names
        in `schemes` and colours are those of the series. Without `ax` there are new axes; the settings of matplotlib stay as they are.

        Raises ValueError for a scheme, quantity or flow that the series does not have, and ImportError without matplotlib.
        """
        return plot(
            self.series,
            quantity,
            schemes=schemes,
            ax=ax,
            band=band,
            exits=self.exits if exits else None,
            flow=flow,
            colours=colours,
            legend=legend,
        )

    def tradeoff(
        self,
        x: str = "su_loss",
        y: str = "cost",
        *,
        schemes: Sequence[str] | None = None,
        ax: Axes | None = None,
        front: bool = True,
        colours: Colours | None = None,
    ) -> tuple[Figure, Axes]:
        """Draw one quantity against another, a point for each scheme: its mean over runs with 95 % intervals.

        With `front`, a line joins the schemes that no other beats in both quantities, if lower is better. Colours follow `schemes`, or the
        ranking.

        Raises ValueError for a scheme or a quantity that the rows do not have, and ImportError without matplotlib.
        """
        return tradeoff(self.rows, x, y, schemes=schemes, ax=ax, front=front, colours=colours)

    def figure(self, path: str | File, **options: Any) -> None:
        """Write the figure of `--figure`: windows, queues and exits as SVG, PNG or PDF, by the name's end.

        Options are `until`, `overlay`, `size` and `font`, as those of the command. The race runs again for it.
        """
        words = [f"--figure={path}"]
        for name, value in options.items():
            words.append(f"--figure-{name}" if value is True else f"--figure-{name}={value}")
        self._again(*words)
