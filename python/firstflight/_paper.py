"""Figures of papers: their claims, measured anew."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firstflight import _call
from firstflight._native import Table
from firstflight._plot import axes
from firstflight._results import Result, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

__all__ = ["Figure", "Papers", "paper", "papers"]


def paper(name: str, *, jobs: int | None = None, progress: _call.Progress | bool | None = None) -> Figure:
    """Run the figure of a paper, as `"hystart/figure-9"`, and return its values and claims. `papers()` lists all.

    Some figures take seconds, others minutes. `jobs` is the number of runs at a time; results do not depend on it.

    Raises ScenarioError for a name that the ledger does not have.
    """
    words = ["paper", "run", name]
    if jobs is not None:
        words.append(f"--jobs={jobs}")
    return Figure._of(words, progress=progress)


def papers(*names: str) -> Papers:
    """Return the figures of papers that can be run: all, or those of the papers or with the names that are given."""
    return Papers._of(["paper", "list", *names], progress=False)


class Papers(Result):
    """The figures of papers, a row for each, with the numbers of claims that are recorded with each status.

    The field `name` is that for `paper`. Figures with `fast` take a second or two.
    """


class Figure(Result):
    """A figure of a paper, run anew: the points of its curves, its curves over time, and its claims."""

    @property
    def claims(self) -> Table:
        """A row for each claim: what the paper says and prints, what is expected, measured and recorded, and the status."""
        return self._table("claims")

    @property
    def series(self) -> Table:
        """The curves over time: `plot`, `curve`, `time_s` and `value`, in SI units."""
        return self._table("series")

    @property
    def plots(self) -> Table:
        """A row for each plot: its title, its kind, and the labels, units and scales of its axes."""
        return self._table("plots")

    def plot(self, number: int = 1, *, ax: Axes | None = None, notes: bool = True) -> tuple[Drawing, Axes]:
        """Draw the plot of this number, from 1, on `ax` or on new axes. With `notes`, the paper's printed numbers are below it.

        The axes have the units and scales of the paper. Raises ValueError for a plot that the figure does not have, and ImportError without
        matplotlib.
        """
        rows = {row["plot"]: Row(row) for row in self.plots.rows()}
        if number not in rows:
            raise ValueError(f"there is no plot {number}; there are {', '.join(map(str, rows)) or 'none'}")
        plot = rows[number]
        import matplotlib as mpl

        figure, ax = self._axes(ax)
        curves = self._curves(number, plot)
        _FORMS[str(plot.kind)](ax, curves)
        if plot.log_x:
            ax.set_xscale("log")
        if plot.log_y:
            ax.set_yscale("log")
        ax.set_xlabel(plot.x_label)
        ax.set_ylabel(plot.y_label)
        ax.set_title(plot.title)
        if len(ax.get_legend_handles_labels()[1]) > 1:
            ax.legend()
        if notes and (lines := self.printed()):
            below = "\n".join(textwrap.fill(line, 85, subsequent_indent="    ") for line in lines)
            # The labels of the axis are above.
            down = -(4.2 if plot.x_label else 2.4) * mpl.rcParams["font.size"]
            ax.annotate(
                below, (0, 0), xytext=(0, down), xycoords="axes fraction", textcoords="offset points", va="top", fontsize="small"
            )
        return figure, ax

    def plot_printed(self, *, ax: Axes | None = None) -> tuple[Drawing, Axes]:
        """Draw the measured numbers over those that the paper prints, a line for each claim: at 1 both are equal.

        The bars are 95 % intervals over runs. Raises ValueError if the paper prints no number other than zero, and ImportError without
        matplotlib.
        """
        claims = [Row(row) for row in self.claims.rows() if row["printed"] and row["measured"] is not None]
        if not claims:
            raise ValueError("the paper prints no number for a claim of this figure")
        figure, ax = self._axes(ax)
        for at, claim in enumerate(claims):
            ends = [value for value in (claim.low, claim.high) if value is not None]
            if len(ends) == 2:
                ax.plot([end / claim.printed for end in ends], [at, at], color="0.5", zorder=1)
            filled = claim.status.startswith("holds")
            ax.plot([claim.measured / claim.printed], [at], "o", color="C0", fillstyle="full" if filled else "none")
        ax.axvline(1, color="0.7", zorder=0)
        names = [f"{claim.claim.rpartition('/')[2]} ({claim.printed:g})" for claim in claims]
        ax.set_yticks(range(len(claims)), names)
        ax.set_ylim(len(claims) - 0.5, -0.5)
        ax.set_xlabel("Measured over printed (open: does not hold)")
        return figure, ax

    def printed(self) -> list[str]:
        """Return a line for each number that the paper prints, with the measured one."""
        return [
            f"{row['says']}: printed {row['printed']:g}, here {row['result']}"
            for row in self.claims.rows()
            if row["printed"] is not None
        ]

    @staticmethod
    def _axes(ax: Axes | None) -> tuple[Drawing, Axes]:
        """Return the axes to draw on and their figure. New ones have room for names and notes."""
        figure, found = axes(ax)
        if ax is None:
            figure.set_layout_engine("constrained")
        return figure, found

    def _curves(self, number: int, plot: Row) -> dict[str, list[_Point]]:
        """Return the points of each curve of a plot, in the units of its axes."""
        if plot.kind == "series":
            points = ((row["curve"], row["time_s"], row["value"], None, None) for row in _of_plot(self.series, number))
        else:
            points = ((row["curve"], row["x"], row["y"], row["ci95"], row["place"]) for row in _of_plot(self.rows, number))
        curves: dict[str, list[_Point]] = {}
        for curve, x, y, half, place in points:
            scaled = None if half is None else half / plot.y_unit
            point = (_number(x) / plot.x_unit, _number(y) / plot.y_unit, scaled, place)
            curves.setdefault(curve, []).append(point)
        return curves


#: A point: x, y, half the width of y's 95 % interval, and the name of x if it is no number.
_Point = tuple[float, float, float | None, str | None]


def _of_plot(table: Table, number: int) -> list[dict[str, Any]]:
    return [row for row in table.rows() if row["plot"] == number]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _halves(points: list[_Point]) -> list[float] | None:
    """Return half the widths of the points' intervals; `None` if no point has an interval."""
    halves = [half or 0.0 for _, _, half, _ in points]
    return halves if any(halves) else None


def _lines(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Draw points with intervals and the lines between them."""
    for name, points in curves.items():
        ax.errorbar(
            [x for x, *_ in points],
            [y for _, y, *_ in points],
            yerr=_halves(points),
            marker="o" if len(points) < 40 else None,
            markersize=4,
            capsize=2,
            label=name,
        )
    _places(ax, curves)


def _steps(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Draw distributions."""
    for name, points in curves.items():
        ax.step([x for x, *_ in points], [y for _, y, *_ in points], where="post", label=name)


def _points(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Draw points without lines."""
    for name, points in curves.items():
        ax.plot([x for x, *_ in points], [y for _, y, *_ in points], marker=".", linestyle="none", label=name)


def _trace(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Draw curves over time, whose values hold until the next."""
    for name, points in curves.items():
        ax.step([x for x, *_ in points], [y for _, y, *_ in points], where="post", label=name, linewidth=1)


def _bars(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Draw a group of bars for each place, with a bar for each curve. A table is drawn so, too."""
    places: dict[float, str] = {}
    for points in curves.values():
        for x, _, _, place in points:
            places.setdefault(x, place or f"{x:g}")
    if len(places) == 1:
        # The bars of a single group are named below.
        for name, points in curves.items():
            ax.bar(name, [y for _, y, *_ in points], 0.7, yerr=_halves(points), capsize=2)
        return
    width = 0.8 / max(len(curves), 1)
    for at, (name, points) in enumerate(curves.items()):
        groups = [list(places).index(x) for x, *_ in points]
        ax.bar(
            [group + (at - (len(curves) - 1) / 2) * width for group in groups],
            [y for _, y, *_ in points],
            width,
            yerr=_halves(points),
            capsize=2,
            label=name,
        )
    ax.set_xticks(range(len(places)), list(places.values()))


def _places(ax: Axes, curves: dict[str, list[_Point]]) -> None:
    """Write the names of places that are no numbers."""
    named = {x: place for points in curves.values() for x, _, _, place in points if place is not None}
    if named:
        ax.set_xticks(list(named), list(named.values()))


_FORMS: dict[str, Callable[[Axes, dict[str, list[_Point]]], None]] = {
    "lines": _lines,
    "cdf": _steps,
    "ordered": _points,
    "plane": _points,
    "series": _trace,
    "bars": _bars,
    "table": _bars,
}
