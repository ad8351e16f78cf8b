"""Figures of papers: claims, values, and drawings with the printed numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import firstflight as ff
import pytest
from conftest import Command


@pytest.fixture(scope="module")
def figure() -> ff.Figure:
    return ff.paper("hystart/figure-9")


def test_the_list_has_a_row_for_each_figure() -> None:
    papers = ff.papers()
    assert len(papers) > 100
    assert {row.name.partition("/")[0] for row in papers} >= {"hystart", "past", "rbp"}
    (one,) = ff.papers("hystart/figure-9")
    assert one.claims == one.holds + one.does_not_hold + one.unsettled + one.not_testable
    assert one.fast is True
    assert "<p></p>" not in papers._repr_html_()


def test_the_claims_are_those_of_the_command(figure: ff.Figure, command: Command) -> None:
    there = [json.loads(line) for line in command(["paper", "run", "hystart/figure-9", "--json"]).splitlines()]
    here = figure.claims.rows()
    assert [row["claim"] for row in here] == [row["id"] for row in there]
    assert [row["measured"] for row in here] == [row["measured"] for row in there]
    assert [cast(str, row["status"]).replace(" ", "_") for row in here] == [row["status"] for row in there]
    assert all(row["as_recorded"] for row in here)


def test_the_values_are_those_of_the_command(figure: ff.Figure, command: Command) -> None:
    pl = pytest.importorskip("polars", reason="CSV is read by polars")
    there = pl.read_csv(command(["paper", "run", "hystart/figure-9", "--csv"]))
    assert pl.DataFrame(figure.rows)["y"].to_list() == there["y"].to_list()
    assert figure.rows.columns == there.columns


def test_a_claim_of_a_printed_number_has_the_number(figure: ff.Figure) -> None:
    (row,) = [row for row in figure.claims.rows() if row["printed"] is not None]
    assert row["claim"] == "hystart/figure-9/hystart-870"
    assert row["printed"] == 870
    (line,) = figure.printed()
    assert line.endswith(f": printed 870, here {row['result']}")


def test_a_figure_is_drawn_in_the_units_of_the_paper(figure: ff.Figure) -> None:
    pytest.importorskip("matplotlib").use("agg")
    plt: Any = pytest.importorskip("matplotlib.pyplot")
    drawing, ax = figure.plot(1)
    assert ax.get_ylabel() == "cwnd (packets)"
    first = max(cast(float, row["value"]) for row in figure.series.rows() if row["curve"] == "slow-start")
    (line,) = [line for line in ax.get_lines() if line.get_label() == "slow-start"]
    assert max(cast(Any, line.get_ydata())) == pytest.approx(first / 1404)
    assert any("printed 870" in text.get_text() for text in ax.texts)
    other, bars = figure.plot(2, notes=False)
    assert len(bars.patches) == 6
    assert not bars.texts
    assert figure.plot(1, ax=bars)[1] is bars
    for each in (drawing, other):
        plt.close(each)
    with pytest.raises(ValueError, match="no plot 3; there are 1, 2"):
        figure.plot(3)


def test_every_kind_of_plot_is_drawn() -> None:
    pytest.importorskip("matplotlib").use("agg")
    plt: Any = pytest.importorskip("matplotlib.pyplot")
    kinds = set()
    for name in ("quick-start/figure-14", "hystart/figure-5", "past/figure-2", "past/figure-6", "rbp/text-mix"):
        figure = ff.paper(name)
        for plot in figure.plots.rows():
            drawing, ax = figure.plot(cast(int, plot["plot"]))
            assert ax.get_lines() or ax.patches or ax.containers, f"{name}, plot {plot['plot']}"
            assert ax.get_ylabel() == plot["y_label"]
            assert (ax.get_xscale() == "log") == plot["log_x"]
            plt.close(cast(Any, drawing))
            kinds.add(plot["kind"])
    assert kinds >= {"lines", "table", "series"}


def test_printed_numbers_are_drawn_next_to_measured_ones() -> None:
    pytest.importorskip("matplotlib").use("agg")
    plt: Any = pytest.importorskip("matplotlib.pyplot")
    drawing, ax = ff.paper("past/table-2").plot_printed()
    plt.close(cast(Any, drawing))
    assert "case-1-gap (1.1429)" in [label.get_text() for label in ax.get_yticklabels()]
    with pytest.raises(ValueError, match="prints no number"):
        ff.paper("past/figure-6").plot_printed()


def test_the_report_is_the_page_of_the_command(figure: ff.Figure, tmp_path: Path) -> None:
    page = figure.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html
    assert "hystart-870" in page.html
    assert figure.command == "firstflight paper run hystart/figure-9"
    assert "does not hold" in figure._repr_html_()


def test_an_unknown_figure_names_the_one_that_is_meant() -> None:
    with pytest.raises(ff.ScenarioError, match="figure-9"):
        ff.paper("hystart/figure-99")
