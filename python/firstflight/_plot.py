"""Figures of results by matplotlib: a quantity over time, and cost against loss.

A function draws on `ax`, or on new axes, with the settings of matplotlib (`rcParams`) as they are. It returns the figure and the axes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Floats = npt.NDArray[np.float64]

__all__ = ["COLOURS", "Band", "Colours", "Rows", "axes", "plot", "tradeoff"]

#: Seven colours that readers with any colour vision distinguish (Okabe and Ito 2008), without the yellow, which is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")

Band = Literal["p10-p90", "p25-p75", "min-max"]

_PERCENTILES: dict[str, tuple[float, float]] = {"p10-p90": (10, 90), "p25-p75": (25, 75), "min-max": (0, 100)}

#: The number of points of the common time grid of several runs.
_GRID = 1000


Colours = Sequence[str] | Mapping[str, str]


class Rows(Protocol):
    """A table of results, as far as figures read it."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        ...

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""
        ...

    def column(self, name: str) -> list[Any]:
        """Return the values of a column; `None` where a row has none."""
        ...

    def doubles(self, name: str) -> bytes:
        """Return a column of numbers as the bytes of doubles; NaN where a row has none."""
        ...


@dataclass(frozen=True)
class _Run:
    """A run of a scheme: times in seconds since the run's first row, and the value in force from each on."""

    times: Floats
    values: Floats

    def at(self, grid: Floats) -> Floats:
        """Return the values in force at these times; NaN after the end of the run and before its beginning."""
        import numpy as np

        places = np.searchsorted(self.times, grid, side="right") - 1
        found = np.where(places >= 0, self.values[np.maximum(places, 0)], np.nan)
        return cast("Floats", np.where(grid <= self.times[-1], found, np.nan))


#: The words of a quantity's axis, for those whose name does not say enough.
_NAMES = {
    "cwnd_bytes": "Congestion window",
    "ssthresh_bytes": "Slow-start threshold",
    "flight_bytes": "Data in flight",
    "pipe_bytes": "Estimate of data in flight",
    "rtt_s": "RTT",
    "queue_packets": "Queue",
    "delivered_bytes": "Delivered",
    "rate_bps": "Rate",
    "cost": "Cost (FCT / ideal FCT)",
    "su_loss": "Start-up loss",
    "loss": "Loss",
    "fct_s": "Flow completion time",
    "su_time_s": "Time in start-up",
    "throughput_bps": "Throughput",
}

_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "\N{MICRO SIGN}s")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
}


def _scale(unit: str, largest: float) -> tuple[float, str]:
    """Return the divisor of an axis and the unit that it then has, so that the largest value is between 1 and 10,000 if it can be."""
    scales = _SCALES.get(unit)
    if scales is None:
        return 1.0, "" if unit == "1" else unit
    # Below four units of bytes or bits, the next smaller one has rounder ticks.
    enough = 1 if unit == "s" else 4
    for divisor, name in scales:
        if largest >= enough * divisor:
            return divisor, name
    return scales[-1]


def _share(column: str) -> bool:
    """Check whether a column is a share, which axes show in per cent."""
    return column in {"loss", "su_loss"}


def _label(column: str, unit: str) -> str:
    """Return the label of an axis."""
    name = _NAMES.get(column)
    if name is None:
        words = column
        for ending in ("_bytes", "_s", "_packets", "_bps"):
            words = words.removesuffix(ending)
        name = words.replace("_", " ").capitalize()
    return f"{name} ({unit})" if unit else name


def _doubles(table: Rows, name: str) -> Floats:
    import numpy as np

    return np.frombuffer(table.doubles(name), dtype=np.float64)


def _names(table: Rows) -> list[str]:
    """Return the name of each row's scheme, with its parameters if they differ from the defaults."""
    schemes: list[str] = [name if name is not None else "" for name in table.column("scheme")]
    columns = table.columns
    if "params" in columns:
        pairs = zip(schemes, table.column("params"), strict=True)
        schemes = [f"{scheme}:{params}" if params else scheme for scheme, params in pairs]
    if "label" in columns:
        labels = table.column("label")
        schemes = [label or scheme for label, scheme in zip(labels, schemes, strict=True)]
    return schemes


def _short(names: Iterable[str]) -> dict[str, str]:
    """Return for each name the scheme without its parameters, if no other name has this scheme; the name otherwise."""
    all_names = list(dict.fromkeys(names))
    bare = [name.partition(":")[0] for name in all_names]
    pairs = zip(all_names, bare, strict=True)
    return {name: scheme if bare.count(scheme) == 1 else name for name, scheme in pairs}


def _chosen(present: Iterable[str], schemes: Sequence[str] | None) -> list[str]:
    """Return the schemes that are drawn, in order of appearance or as asked."""
    names = list(dict.fromkeys(present))
    schemes = [schemes] if isinstance(schemes, str) else schemes
    if schemes is None:
        return names
    for scheme in schemes:
        if scheme not in names:
            raise ValueError(f"there is no scheme {scheme!r} in the table; there are {', '.join(names)}")
    return list(schemes)


def _runs(series: Rows, quantity: str, schemes: Sequence[str] | None, flow: int) -> dict[str, list[_Run]]:
    """Return the runs of each scheme in order of seed."""
    import numpy as np

    columns = series.columns
    if "time_s" not in columns or "scheme" not in columns:
        raise ValueError("the table has no series: race with series=True")
    if quantity not in columns or quantity not in series.units:
        given = {"time_s", "scheme", "population", "seed", "flow", "link"}
        there = ", ".join(name for name in columns if name not in given)
        raise ValueError(f"there is no quantity {quantity!r} in the series; there are {there}")
    names = np.array(_names(series), dtype=object)
    seeds = _doubles(series, "seed")
    # Rows of links have no flow.
    is_flow = _doubles(series, "flow") == flow
    times, values = _doubles(series, "time_s"), _doubles(series, quantity)
    is_slots = "link" in columns
    found: dict[str, list[_Run]] = {}
    for scheme in _chosen(names[is_flow].tolist(), schemes):
        is_scheme = is_flow & (names == scheme)
        found[scheme] = []
        for seed in np.unique(seeds[is_scheme]):
            at = is_scheme & (seeds == seed)
            first = times[at][0]
            if is_slots:
                # The slots begin with the run, in which other flows may be first.
                sent = np.flatnonzero(values[at] > 0)
                first = times[at][max(int(sent[0]) - 1, 0)] if sent.size else first
                at &= times >= first
            found[scheme].append(_Run(times[at] - first, values[at]))
    if not found:
        raise ValueError(f"the series has no rows of flow {flow}")
    return found


def _middle(runs: Sequence[_Run], limits: tuple[float, float]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a time grid, and the median and two percentiles over runs at each of its times.

    A percentile is over the runs that have a value then. Where fewer than half of the runs have one, there is none, because the remaining
    runs are the slow ones.
    """
    import numpy as np

    grid = np.linspace(min(run.times[0] for run in runs), max(run.times[-1] for run in runs), _GRID)
    values = np.array([run.at(grid) for run in runs])
    enough = 2 * np.isfinite(values).sum(axis=0) >= len(runs)
    grid, values = grid[enough], values[:, enough]
    if not grid.size:
        return grid, grid, grid, grid
    low, middle, high = np.nanpercentile(values, [limits[0], 50, limits[1]], axis=0, method="linear")
    return grid, middle, low, high


def axes(ax: Axes | None) -> tuple[Figure, Axes]:
    """Return the axes to draw on and their figure; new ones if none are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'firstflight[plot]'") from error
    if ax is None:
        return plt.subplots()
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("the axes belong to no figure")
    return figure, ax


def _cycle(ax: Axes, colours: Colours | None, schemes: Sequence[str]) -> list[Any]:
    """Return a colour for each scheme: the one given for it, the next one of a list, or the next one of the axes' cycle."""
    if isinstance(colours, Mapping):
        for scheme in schemes:
            if scheme not in colours:
                raise ValueError(f"there is no colour for {scheme!r}")
        return [colours[scheme] for scheme in schemes]
    if colours is not None:
        return [colours[at % len(colours)] for at in range(len(schemes))]
    # A line without data takes the next colour of the cycle, whatever the version of matplotlib.
    taken: list[Any] = []
    for _ in schemes:
        (line,) = ax.plot([], [])
        taken.append(line.get_color())
        line.remove()
    return taken


def _exits(runs: Rows) -> dict[str, list[float]]:
    """Return the times at which the runs of each scheme left start-up, in seconds since their first data."""
    found: dict[str, list[float]] = {}
    times = _doubles(runs, "exit_time_s")
    names = _names(runs)
    short = _short(names)
    for name, time in zip(names, times, strict=True):
        if math.isfinite(time):
            found.setdefault(name, []).append(float(time))
    # The path gives some schemes parameters, which the rows have and the series has not.
    return found | {short[name]: each for name, each in found.items()}


def _first_data(flights: Mapping[str, list[_Run]]) -> dict[str, list[float]]:
    """Return the time of the first data of each run: exits are counted from there."""
    import numpy as np

    def of(run: _Run) -> float:
        sent = np.flatnonzero(run.values > 0)
        return float(run.times[sent[0]]) if sent.size else float(run.times[0])

    return {scheme: [of(run) for run in runs] for scheme, runs in flights.items()}


def _same(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> bool:
    """Return whether two lines have the same points."""
    import numpy as np

    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def plot(
    series: Rows,
    quantity: str = "cwnd_bytes",
    *,
    schemes: Sequence[str] | None = None,
    ax: Axes | None = None,
    band: Band | None = "p10-p90",
    exits: Rows | None = None,
    flow: int = 0,
    colours: Colours | None = None,
    legend: bool = True,
) -> tuple[Figure, Axes]:
    """Draw a quantity over time, a line for each scheme.

    With several runs the line is the median over runs and the band is between two percentiles of them, both at each time; with `band=None`
    each run is a line. Values hold until the next row, as steps. A line ends where fewer than half of the runs go on. A line over an equal
    one is dashed. Time begins with the first packet of the flow, its SYN; that of rates with the slot before its first data.

    `series` is the table of `--series`, or of rates in time slots (then `quantity="rate_bps"`). `exits` has the rows of single runs; with
    it, a dot on the median marks the median time at which a scheme left start-up, if at least half of its runs did, except on rates. `flow`
    is the number of the flow in the series. `colours` replaces the cycle of matplotlib, by a list or by a colour for each scheme; `COLOURS`
    has some for readers with any colour vision.

    Raises `ValueError` for a scheme, quantity or flow that the table does not have, and `ImportError` without matplotlib.
    """
    import numpy as np

    if band is not None and band not in _PERCENTILES:
        raise ValueError(f"there is no band {band!r}; there are {', '.join(_PERCENTILES)} and None")
    runs = _runs(series, quantity, schemes, flow)
    figure, ax = axes(ax)
    largest = max(float(np.nanmax(run.values, initial=0)) for each in runs.values() for run in each)
    divisor, unit = _scale(series.units.get(quantity, ""), largest)
    longest = max(float(run.times[-1]) for each in runs.values() for run in each)
    seconds, time_unit = _scale("s", longest)
    began: dict[str, list[float]] = {}
    left: dict[str, list[float]] = {}
    if exits is not None:
        left = _exits(exits)
        # A series of rates has no flight; there the run's first data is within the first slots.
        if "flight_bytes" in series.columns:
            began = _first_data(_runs(series, "flight_bytes", list(runs), flow))
    is_marked = False
    drawn: list[tuple[Floats, Floats]] = []
    for (scheme, each), colour in zip(runs.items(), _cycle(ax, colours, list(runs)), strict=True):
        grid, middle = each[0].times, each[0].values
        if len(each) > 1:
            limits = _PERCENTILES[band] if band is not None else (0.0, 100.0)
            grid, middle, low, high = _middle(each, limits)
            if band is not None:
                ax.fill_between(grid / seconds, low / divisor, high / divisor, step="post", color=colour, alpha=0.2, linewidth=0)
        if band is not None or len(each) == 1:
            line = (grid, middle)
            # Over an equal line, dashes leave both visible.
            style = (0, (3, 3)) if any(_same(line, other) for other in drawn) else "-"
            drawn.append(line)
            ax.step(grid / seconds, middle / divisor, where="post", color=colour, label=scheme, linestyle=style)
        else:
            for run in each:
                name = scheme if run is each[0] else "_nolegend_"
                ax.step(run.times / seconds, run.values / divisor, where="post", color=colour, label=name, alpha=0.5)
        has_median = band is not None or len(each) == 1
        if has_median and grid.size and began and 2 * len(left.get(scheme, [])) >= len(each):
            at = float(np.median(left[scheme]) + np.median(began[scheme]))
            place = max(int(np.searchsorted(grid, at, side="right")) - 1, 0)
            is_marked = True
            ax.plot(
                [at / seconds],
                [middle[place] / divisor],
                marker="o",
                linestyle="none",
                color=colour,
                markeredgecolor=ax.get_facecolor(),
                zorder=4,
                label="_nolegend_",
            )
    if is_marked:
        ax.plot([], [], marker="o", linestyle="none", color="0.4", label="start-up ends")
    ax.set_xlabel(f"Time ({time_unit})" if "link" in series.columns else f"Time since the SYN ({time_unit})")
    ax.set_ylabel(_label(quantity, unit))
    ax.set_xlim(left=0)
    if quantity != "rtt_s":
        ax.set_ylim(bottom=0)
    if legend:
        ax.legend()
    return figure, ax


def tradeoff(
    rows: Rows,
    x: str = "su_loss",
    y: str = "cost",
    *,
    schemes: Sequence[str] | None = None,
    ax: Axes | None = None,
    front: bool = True,
    colours: Colours | None = None,
) -> tuple[Figure, Axes]:
    """Draw one quantity against another, a point for each scheme, as cost against loss in start-up.

    Each point is the mean over runs, with its 95 % confidence intervals. With `front`, a line of steps joins the schemes that no other
    scheme beats in both quantities, if lower is better. Schemes without both quantities are left out.

    `rows` has a row for each scheme. Colours follow `schemes`, or the order of the rows, which is that of the ranking. Raises `ValueError`
    for a scheme or a quantity that it does not have, and `ImportError` without matplotlib.
    """
    import numpy as np

    for name in (x, y):
        if name not in rows.columns:
            raise ValueError(f"there is no quantity {name!r} in the rows; `rows.columns` lists all")
    names = _names(rows)
    short = _short(names)
    names = [name if name in (schemes or ()) else short[name] for name in names]
    chosen = _chosen(names, schemes)
    values = {name: _doubles(rows, name) for name in (x, y)}
    largest = {name: float(np.nanmax(values[name], initial=0)) for name in (x, y)}
    scales = {name: _scale(rows.units.get(name, ""), largest[name]) for name in (x, y)}
    for name in (x, y):
        if _share(name):
            scales[name] = (0.01, "%")
    halves = {
        name: _doubles(rows, f"{name}_ci95") if f"{name}_ci95" in rows.columns else np.full(len(names), np.nan) for name in (x, y)
    }
    points: list[tuple[str, float, float, float, float]] = []
    for scheme in chosen:
        at = names.index(scheme)
        numbers = [values[name][at] / scales[name][0] for name in (x, y)]
        half = [float(np.nan_to_num(halves[name][at])) / scales[name][0] for name in (x, y)]
        if all(math.isfinite(number) for number in numbers):
            points.append((scheme, float(numbers[0]), float(numbers[1]), half[0], half[1]))
    if not points:
        raise ValueError(f"no scheme has both {x} and {y}")
    figure, ax = axes(ax)
    if front:
        best = _front([(point[1], point[2]) for point in points])
        if len(best) > 1:
            ax.step(
                [one for one, _ in best],
                [two for _, two in best],
                where="post",
                color="0.6",
                linestyle="--",
                zorder=1,
                label="_nolegend_",
            )
    taken = _cycle(ax, colours, [scheme for scheme, *_ in points])
    for (scheme, across, up, half_x, half_y), colour in zip(points, taken, strict=True):
        ax.errorbar(
            [across],
            [up],
            xerr=[half_x] if half_x > 0 else None,
            yerr=[half_y] if half_y > 0 else None,
            marker="o",
            linestyle="none",
            color=colour,
            label=scheme,
            # A point at zero is on the edge of the axes.
            clip_on=False,
        )
    for at, name in enumerate((x, y)):
        (ax.set_xlabel, ax.set_ylabel)[at](_label(name, scales[name][1]))
    ax.margins(0.15)
    # An interval may end below zero, but no value is there.
    lowest = min(across - half for _, across, _, half, _ in points)
    ax.set_xlim(left=lowest if lowest < 0 else 0.0, right=1.0 if largest[x] == 0 else None)
    _name_points(ax, [(scheme, across, up) for scheme, across, up, _, _ in points], taken)
    return figure, ax


def _front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other point beats in one coordinate and equals in the other, from left to right."""
    best: list[tuple[float, float]] = []
    for point in sorted(set(points)):
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def _name_points(ax: Axes, points: Sequence[tuple[str, float, float]], colours: Sequence[Any]) -> None:
    """Write the names of points next to them, in their colours, each where it covers no other name, point or edge."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    renderer = cast(Any, figure.canvas).get_renderer()
    inside = ax.get_window_extent(renderer)
    marks = [ax.transData.transform((across, up)) for _, across, up in points]
    taken: list[Any] = []
    places = [(6, 4, "left", "bottom"), (-6, 4, "right", "bottom"), (6, -4, "left", "top"), (-6, -4, "right", "top")]
    places += [(0, 8 * step, "center", "bottom") for step in (1, 2, 3)]
    places += [(0, -8 * step, "center", "top") for step in (1, 2, 3)]
    places += [(12, 10 * step, "left", "center") for step in (-3, -2, 2, 3, 4, 5)]
    for at, (scheme, across, up) in enumerate(points):
        text: Any = None
        for right, above, horizontal, vertical in places:
            if text is not None:
                text.remove()
            text = ax.annotate(
                scheme,
                (across, up),
                xytext=(right, above),
                textcoords="offset points",
                ha=cast(Any, horizontal),
                va=cast(Any, vertical),
                fontsize="small",
                color=colours[at],
            )
            box = text.get_window_extent(renderer)
            hits = any(box.overlaps(other) for other in taken)
            others = (mark for other, mark in enumerate(marks) if other != at)
            covers = any(box.contains(mark[0], mark[1]) for mark in others)
            fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
            if fits and not hits and not covers:
                break
        taken.append(text.get_window_extent(renderer))
