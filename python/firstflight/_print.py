"""Figures that are ready for a paper of two columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from firstflight._plot import COLOURS, Band, Colours, Rows, plot
from firstflight._race import Race

__all__ = ["paper_figure"]

#: The width of a column, and of a page of two, in inches: those of ACM and IEEE.
_WIDTHS = {1: 3.33, 2: 7.0}

#: The settings of a figure for print: text of eight points, thin lines, and fonts that a publisher's check takes.
_PRINT: dict[str, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "firstflight",
    "savefig.bbox": "standard",
    "figure.dpi": 100,
}


def paper_figure(
    results: Race | Rows,
    path: str | Path,
    quantity: str | Sequence[str] = "cwnd_bytes",
    *,
    columns: Literal[1, 2] = 1,
    height: float | None = None,
    schemes: Sequence[str] | None = None,
    band: Band | None = "p10-p90",
    exits: Rows | None = None,
    flow: int = 0,
    colours: Colours | None = COLOURS,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a figure for a paper of two columns: PDF, or PNG or SVG if the name ends so. Return the path.

    The figure is as wide as one column (3.33 inches) or the page (7 inches), so that it is included without scaling. Text has eight
    points, and fonts are embedded as Type 42. The legend is below. Several quantities are panels: below each other in one column, next to
    each other over two. The file's bytes depend only on the results, the arguments, and the versions of matplotlib and its fonts.

    `results` is a race with its series, whose runs then give the exits, or a series. `height` is in inches (default: three fifths of a
    panel's width, and the legend). `settings` replaces settings of matplotlib, as in `{"font.family": "serif"}`. The other arguments are
    those of `plot`.

    Raises `ValueError` as `plot` does and for a format that is not one of these, and `ImportError` without matplotlib.
    """
    path = Path(path)
    formats: dict[str, dict[str, str | None]] = {
        ".pdf": {"CreationDate": None},
        ".png": {},
        ".svg": {"Date": None},
    }
    metadata = formats.get(path.suffix.lower())
    if metadata is None:
        raise ValueError(f"{path}: a name that ends with {', '.join(formats)} is wanted")
    if columns not in _WIDTHS:
        raise ValueError(f"a figure has the width of 1 or 2 columns, not of {columns}")
    quantities = [quantity] if isinstance(quantity, str) else list(quantity)
    from firstflight._race import Race

    series: Rows
    if isinstance(results, Race):
        series = results.series
        exits = results.exits if exits is None else exits
    else:
        series = results
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'firstflight[plot]'") from error
    with mpl.rc_context():
        # The settings of the program are left out, because the file's bytes would depend on them.
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, _PRINT | dict(settings or {})))
        across = len(quantities) if columns == 2 else 1
        down = 1 if columns == 2 else len(quantities)
        width = _WIDTHS[columns]
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(down, across, squeeze=False, sharex=columns == 1).ravel().tolist()
        for at, (name, panel) in enumerate(zip(quantities, panels, strict=True)):
            plot(
                series,
                name,
                schemes=schemes,
                ax=panel,
                band=band,
                exits=exits,
                flow=flow,
                colours=colours,
                legend=False,
            )
            if columns == 1 and at + 1 < len(panels):
                panel.set_xlabel("")
        handles, labels = panels[0].get_legend_handles_labels()
        beside = _legend_columns(labels, width)
        figure.legend(
            handles, labels, loc="outside lower center", ncols=beside, frameon=False, handlelength=1.5, columnspacing=1.2
        )
        of_legend = 0.16 * math.ceil(len(labels) / beside)
        figure.set_size_inches(width, height or 0.55 * width / across * down + 0.2 + of_legend)
        figure.savefig(path, metadata=metadata, dpi=300)
    return path


def _legend_columns(labels: Sequence[str], width: float) -> int:
    """Return how many columns of names fit into a legend of `width` inches."""
    for columns in range(len(labels), 1, -1):
        down = math.ceil(len(labels) / columns)
        if columns > math.ceil(len(labels) / down):
            continue
        # A letter of eight points is 0.065 inches wide on average; the line and the space take 0.35 inches.
        longest = (max(map(len, labels[at : at + down])) for at in range(0, len(labels), down))
        if sum(0.065 * letters + 0.35 for letters in longest) <= width:
            return columns
    return 1
