"""Figures: bands over runs, scales of axes, cost against loss, and figures for papers whose bytes repeat."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, cast

import firstflight as ff
import pytest
from firstflight._plot import Band

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib")
matplotlib.use("agg")
np = pytest.importorskip("numpy", reason="figures need numpy")
plt = pytest.importorskip("matplotlib.pyplot")

SCHEMES = ["slow-start", "hystart++", "leap"]


@pytest.fixture(scope="module")
def race() -> ff.Race:
    path = ff.Path(rate="20mbit", rtt="60ms", cross="tcp:1", size="500kB")
    return ff.race(path, [*SCHEMES, "careful-resume"], runs=6, series=True)


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def drawn(race: ff.Race, quantity: str = "cwnd_bytes", **options: Any) -> Any:
    figure, ax = cast("tuple[Any, Any]", race.plot(quantity, **options))
    plt.close(figure)
    return ax


def test_a_plot_has_a_line_and_a_band_for_each_scheme(race: ff.Race) -> None:
    ax = drawn(race, schemes=SCHEMES)
    assert set(lines(ax)) == {*SCHEMES, "start-up ends"}
    assert len(ax.collections) == 3
    assert ax.get_ylabel() == "Congestion window (kB)"
    assert ax.get_xlabel() in {"Time since the SYN (s)", "Time since the SYN (ms)"}


def test_the_line_is_the_median_over_runs_at_each_time(race: ff.Race) -> None:
    ax = drawn(race, schemes=["leap"], exits=False)
    times, values = (np.asarray(data) for data in lines(ax)["leap"].get_data())
    times = times * (1e-3 if "(ms)" in ax.get_xlabel() else 1)
    runs: dict[int, list[tuple[float, float]]] = {}
    for row in race.series.rows():
        if row["scheme"] == "leap":
            runs.setdefault(cast(int, row["seed"]), []).append((cast(float, row["time_s"]), cast(float, row["cwnd_bytes"])))
    for at in range(0, len(times), 97):
        in_force = []
        for points in runs.values():
            first = points[0][0]
            before = [value for time, value in points if time - first <= times[at] * (1 + 1e-12)]
            if times[at] <= points[-1][0] - first:
                in_force.append(before[-1])
        assert 2 * len(in_force) >= len(runs)
        assert values[at] == pytest.approx(np.median(in_force) / 1e3)


def test_the_band_of_minimum_and_maximum_contains_every_run(race: ff.Race) -> None:
    wide = drawn(race, schemes=["slow-start"], band="min-max").collections[0].get_paths()[0].get_extents()
    narrow = drawn(race, schemes=["slow-start"], band="p25-p75").collections[0].get_paths()[0].get_extents()
    largest = max(cast(int, row["cwnd_bytes"]) for row in race.series.rows() if row["scheme"] == "slow-start")
    assert wide.ymax >= narrow.ymax
    assert wide.ymax <= largest / 1e3


def test_without_a_band_each_run_is_a_line(race: ff.Race) -> None:
    ax = drawn(race, schemes=["leap"], band=None, exits=False)
    assert len(ax.get_lines()) == 6
    assert len(ax.collections) == 0
    assert list(lines(ax)) == ["leap"]


def test_an_exit_is_marked_at_its_time_since_the_syn(race: ff.Race) -> None:
    ax = drawn(race, schemes=["hystart++"])
    marked = [line for line in ax.get_lines() if line.get_marker() == "o" and line.get_label() == "_nolegend_"]
    (mark,) = marked
    times = [row["exit_time_s"] for row in race.runs.rows() if row["scheme"] == "hystart++"]
    # The first data follows the handshake, of one RTT and the queue.
    since_data = float(np.median(times))
    scale = 1e-3 if "(ms)" in ax.get_xlabel() else 1
    assert 0.06 <= mark.get_xdata()[0] * scale - since_data <= 0.3


def test_a_scheme_with_parameters_of_the_path_has_its_exit_too(race: ff.Race) -> None:
    ax = drawn(race, schemes=["careful-resume"])
    assert "start-up ends" in lines(ax)


def test_rates_in_slots_are_drawn_in_readable_units(race: ff.Race) -> None:
    figure, ax = cast("tuple[Any, Any]", ff.plot(race.slots("50ms"), "rate_bps", schemes=["leap"]))
    plt.close(figure)
    assert ax.get_ylabel() == "Rate (Mbit/s)"
    assert max(lines(ax)["leap"].get_ydata()) > 1


def test_axes_and_settings_of_the_user_stay(race: ff.Race) -> None:
    figure, (ax, other) = plt.subplots(1, 2)
    before = dict(matplotlib.rcParams)
    found_figure, found = race.plot("rtt_s", ax=ax, schemes=["leap"])
    assert found is ax
    assert found_figure is figure
    assert not other.get_lines()
    assert ax.get_ylabel() == "RTT (ms)"
    assert dict(matplotlib.rcParams) == before
    plt.close(figure)


def test_the_colours_are_those_of_the_cycle_or_those_given(race: ff.Race) -> None:
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["#111111", "#222222"])}):
        ax = drawn(race, schemes=["slow-start", "leap"])
    assert [lines(ax)[name].get_color() for name in ("slow-start", "leap")] == ["#111111", "#222222"]
    ax = drawn(race, schemes=["leap", "slow-start"], colours=ff.COLOURS)
    assert lines(ax)["leap"].get_color() == ff.COLOURS[0]
    ax = drawn(race, schemes=["leap"], colours={"leap": "red"})
    assert lines(ax)["leap"].get_color() == "red"
    with pytest.raises(ValueError, match="no colour for 'slow-start'"):
        race.plot(schemes=["slow-start"], colours={"leap": "red"})


def test_an_unknown_quantity_scheme_band_or_flow_names_what_there_is(race: ff.Race) -> None:
    with pytest.raises(ValueError, match="'cwnd' .* there are cwnd_bytes"):
        race.plot("cwnd")
    with pytest.raises(ValueError, match="'link' in the series"):
        race.plot("link")
    with pytest.raises(ValueError, match="'vegas' .* there are slow-start"):
        race.plot(schemes=["vegas"])
    with pytest.raises(ValueError, match="'p5'.* p10-p90"):
        race.plot(band=cast(Band, "p5"))
    with pytest.raises(ValueError, match="no rows of flow 7"):
        race.plot(flow=7)


def test_the_front_joins_the_schemes_that_no_other_beats(race: ff.Race) -> None:
    figure, ax = cast("tuple[Any, Any]", race.tradeoff())
    rows = list(race)
    not_beaten = {
        (row.su_loss * 100, row.cost)
        for row in rows
        if not any(
            other.su_loss <= row.su_loss and other.cost <= row.cost and (other.su_loss, other.cost) != (row.su_loss, row.cost)
            for other in rows
        )
    }
    front = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    if len(not_beaten) > 1:
        points = zip(*front[0].get_data(), strict=True)
        assert sorted((float(x), float(y)) for x, y in points) == [pytest.approx(point) for point in sorted(not_beaten)]
    else:
        assert not front
    assert ax.get_xlabel() == "Start-up loss (%)"
    assert {text.get_text() for text in ax.texts} == {*SCHEMES, "careful-resume"}
    plt.close(figure)


def test_the_front_is_of_steps_between_the_best() -> None:
    table = ff.Table.from_json(
        b'{"scheme":"a","su_loss":0.1,"cost":1}\n{"scheme":"b","su_loss":0.05,"cost":2}\n'
        b'{"scheme":"c","su_loss":0.2,"cost":3}\n{"scheme":"d","su_loss":null,"cost":1}\n'
    )
    figure, ax = cast("tuple[Any, Any]", ff.tradeoff(table))
    (front,) = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert [list(data) for data in front.get_data()] == [[pytest.approx(5), pytest.approx(10)], [2, 1]]
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c"}
    plt.close(figure)


@pytest.mark.parametrize(("columns", "inches"), [(1, 3.33), (2, 7.0)])
def test_a_figure_for_a_paper_has_the_width_of_its_columns(race: ff.Race, tmp_path: Path, columns: Any, inches: float) -> None:
    text = ff.paper_figure(race, tmp_path / "a.pdf", ["cwnd_bytes", "rtt_s"], columns=columns).read_bytes()
    box = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+) ([0-9.]+) ?\]", text)
    assert box is not None
    assert float(box[1]) == pytest.approx(72 * inches)


def test_a_figure_for_a_paper_has_the_same_bytes_each_time(race: ff.Race, tmp_path: Path) -> None:
    one = ff.paper_figure(race, tmp_path / "one.pdf").read_bytes()
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 20}):
        two = ff.paper_figure(race, tmp_path / "two.pdf").read_bytes()
    assert one == two
    assert b"CreationDate" not in one
    assert ff.paper_figure(race, tmp_path / "one.svg").read_bytes() == ff.paper_figure(race, tmp_path / "two.svg").read_bytes()


def test_another_process_writes_the_bytes_of_a_figure_too(race: ff.Race, tmp_path: Path) -> None:
    here = ff.paper_figure(race, tmp_path / "here.pdf").read_bytes()
    program = (
        "import sys, firstflight as ff\n"
        "path = ff.Path(rate='20mbit', rtt='60ms', cross='tcp:1', size='500kB')\n"
        f"race = ff.race(path, {[*SCHEMES, 'careful-resume']}, runs=6, series=True)\n"
        "ff.paper_figure(race, sys.argv[1])"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "there.pdf")], check=True)
    assert (tmp_path / "there.pdf").read_bytes() == here


def test_the_fonts_of_a_figure_are_embedded_as_type_42(race: ff.Race, tmp_path: Path) -> None:
    text = ff.paper_figure(race, tmp_path / "a.pdf").read_bytes()
    assert b"/Type3" not in text
    assert b"/FontFile2" in text
    sizes = {
        float(size)
        for stream in re.findall(rb"stream\r?\n(.*?)endstream", text, re.DOTALL)
        for size in re.findall(rb"/\S+ ([0-9.]+) Tf", _unpacked(stream))
    }
    assert sizes == {8.0}


def _unpacked(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_another_format_or_width_is_refused(race: ff.Race, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a name that ends with \.pdf, \.png, \.svg is wanted"):
        ff.paper_figure(race, tmp_path / "a.docx")
    with pytest.raises(ValueError, match="1 or 2 columns, not of 3"):
        ff.paper_figure(race, tmp_path / "a.pdf", columns=cast(Any, 3))
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_a_figure_says_what_to_install() -> None:
    program = (
        "import sys\nsys.modules['matplotlib'] = None\n"
        "import firstflight as ff\nrace = ff.race(rate='20mbit', size='20kB', schemes=['leap'], series=True)\n"
        "try:\n    race.plot()\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "figures need matplotlib: pip install 'firstflight[plot]'\n"


def test_a_line_over_an_equal_one_is_dashed() -> None:
    path = ff.Path(rate="20mbit", rtt="60ms", size="300kB")
    ax = drawn(ff.race(path, ["slow-start", "slow-start:as=twin", "leap"]))
    assert {name: line.get_linestyle() for name, line in lines(ax).items() if name in {"slow-start", "twin", "leap"}} == {
        "slow-start": "-",
        "twin": "--",
        "leap": "-",
    }


def test_a_population_of_flows_is_drawn_without_exits(tmp_path: Path) -> None:
    path = ff.Path(rate="20mbit", rtt="60ms", topology="dumbbell:hosts=4", flows=4, size="100kB")
    for each_flow in (False, True):
        race = ff.race(path, ["slow-start", "leap"], each_flow=each_flow)
        assert "start-up ends" not in lines(drawn(race))
        ff.paper_figure(race, tmp_path / "flows.pdf")


def test_a_quantity_without_values_draws_nothing() -> None:
    race = ff.race(ff.Path(rate="20mbit", rtt="60ms"), "slow-start", size="500kB", runs=2)
    ax = drawn(race, "ssthresh_bytes")
    assert len(lines(ax)["slow-start"].get_xdata()) == 0


def test_a_dot_marks_an_exit_of_at_least_half_the_runs(race: ff.Race) -> None:
    exits = [row["exit_time_s"] is not None for row in race.runs.rows() if row["scheme"] == "slow-start"]
    ax = drawn(race, schemes=["slow-start"])
    assert ("start-up ends" in lines(ax)) == (2 * sum(exits) >= len(exits))
    assert "start-up ends" not in lines(drawn(race, schemes=["slow-start"], band=None))
    assert set(lines(drawn(race, schemes="leap"))) == {"leap", "start-up ends"}
