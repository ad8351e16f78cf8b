"""Captures and qlogs: rows, summary, paths to race on, and replays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import firstflight as ff
import pytest
from conftest import Command
from firstflight._inspect import keys, parsed

PATH = ff.Path(rate="20mbit", rtt="60ms", queue="40p", size="1MB")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with captures, logs and traces of two schemes."""
    folder = tmp_path_factory.mktemp("captures")
    words = ["race", *PATH.arguments, "--schemes=slow-start,hystart-linux"]
    words += [f"--pcap={folder}", f"--qlog={folder}", f"--events={folder}"]
    subprocess.run([sys.executable, "-m", "firstflight", *words], check=True, capture_output=True)
    return folder


def test_a_row_describes_the_start_of_a_sender(folder: Path) -> None:
    (row,) = ff.inspect(folder / "slow-start-client.pcapng")
    assert row.initial_window_segments == 10
    assert row.exit_cause == "loss"
    assert row.min_rtt_s == pytest.approx(0.06, rel=0.05)
    assert row["file"] == str(folder / "slow-start-client.pcapng")


def test_the_rows_are_those_of_the_command(folder: Path, command: Command) -> None:
    pl = pytest.importorskip("polars", reason="CSV is read by polars")
    files = [str(folder / f"{name}-client.pcapng") for name in ("slow-start", "hystart-linux")]
    inspection = ff.inspect(files)
    there = pl.read_csv(command(["inspect", *files, "--csv"]), infer_schema_length=None)
    here = pl.DataFrame(inspection)
    assert here.columns == there.columns
    for name in here.columns:
        if here[name].dtype.is_numeric():
            assert here[name].cast(pl.Float64).to_list() == there[name].cast(pl.Float64).to_list(), name
    assert inspection.command == f"firstflight inspect {files[0]} {files[1]}"


def test_the_summary_is_over_all_senders(folder: Path) -> None:
    inspection = ff.inspect([folder / "slow-start-client.pcapng", folder / "hystart-linux-client.pcapng"])
    assert inspection.summary["senders"] == 2
    assert sum(inspection.summary["exit_causes"].values()) == 2
    assert "packets" in inspection.verdict
    fewer, _ = sorted(row.retransmitted_segments for row in inspection)
    files = [folder / "slow-start-client.pcapng", folder / "hystart-linux-client.pcapng"]
    filtered = ff.inspect(files, filters=f"retransmitted_segments>{fewer}")
    assert len(filtered) == 1
    assert "--filter" in filtered.verdict


def test_the_path_that_a_sender_saw_is_raced(folder: Path) -> None:
    inspection = ff.inspect(folder / "slow-start-client.pcapng")
    (path,) = inspection.as_race()
    assert path.keys["rate"] == "20mbit"
    assert path.keys["rtt"] == "60ms"
    assert path.keys["size"] == "1MB"
    (seen,) = inspection.seen()
    assert any(line.startswith("--rate 20mbit: ") for line in seen.evidence)
    assert ff.race(path, ["slow-start"])["slow-start"].exit_cause == "loss"


def test_a_qlog_is_inspected_as_a_capture_is(folder: Path) -> None:
    (row,) = ff.inspect(folder / "slow-start.sqlog")
    assert row.exit_cause == "loss"


def test_keys_of_a_command_are_values_flags_and_comments() -> None:
    assert keys(["--rate", "1mbit", "--timestamps", "--mss", "1460"]) == {"rate": "1mbit", "timestamps": True, "mss": "1460"}
    text = (
        "# one\n# --rate 1mbit: seen\nfirstflight race --rate 1mbit --timestamps\n\n# two\nfirstflight race\n\n# Not shown: 3\n"
    )
    one, two = parsed(text)
    assert (one.sender, one.evidence) == ("one", ("--rate 1mbit: seen",))
    assert one.path == ff.Path(rate="1mbit", timestamps=True)
    assert (two.sender, two.path, two.evidence) == ("two", ff.Path(), ())


def test_a_file_that_is_no_capture_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "text.pcap").write_text("no capture")
    with pytest.raises(ff.ScenarioError, match=r"text\.pcap"):
        ff.inspect(tmp_path / "text.pcap")
    with pytest.raises(ff.ScenarioError, match="missing"):
        ff.inspect(tmp_path / "missing.pcap")
    with pytest.raises(ff.ScenarioError, match="cannot read"):
        ff.inspect("--help")


def test_a_notebook_shows_the_senders_and_the_report(folder: Path, tmp_path: Path) -> None:
    inspection = ff.inspect(folder / "slow-start-client.pcapng")
    assert "<table>" in inspection._repr_html_()
    assert "<p></p>" not in inspection._repr_html_()
    page = inspection.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html
    assert "<iframe srcdoc=" in page._repr_html_()


def test_the_recorded_scheme_decides_as_recorded(folder: Path) -> None:
    replay = ff.replay(folder / "slow-start.jsonl")
    assert "every decision as recorded" in replay.verdict
    assert replay.rows.columns[:3] == ["time_s", "call", "window_bytes"]
    assert [row.call for row in replay][0] == "begin"
    (left,) = [row for row in replay if "exit" in row.notes]
    assert left.call == "lost"
    assert "by loss" in left.notes


def test_another_scheme_names_the_first_line_that_differs(folder: Path) -> None:
    replay = ff.replay(folder / "slow-start.jsonl", "leap")
    assert "the first decision that slow-start did not make is on line" in replay.verdict
    assert replay.command == f"firstflight replay {folder / 'slow-start.jsonl'} --scheme=leap"


def test_every_call_has_a_row_if_that_is_asked(folder: Path) -> None:
    log = folder / "slow-start.sqlog"
    changes, calls = ff.replay(log, "slow-start"), ff.replay(log, "slow-start", every_call=True)
    assert len(calls) > len(changes)
    assert calls.verdict.startswith(f"{len(calls)} calls in open loop; slow-start leaves start-up")
    assert "further decisions" in calls._repr_html_()


def test_a_changed_trace_is_an_error_with_its_line(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "slow-start.jsonl").read_text().splitlines()
    changed = tmp_path / "changed.jsonl"
    at = next(number for number, line in enumerate(lines) if '"window":16060' in line)
    lines[at] = lines[at].replace('"window":16060', '"window":16061')
    changed.write_text("\n".join(lines) + "\n")
    with pytest.raises(ff.CheckError, match=f"line {at + 1}"):
        ff.replay(changed)


class Plain(ff.SlowStart):
    """slow start as it is built in"""


def test_a_class_decides_on_a_qlog_as_a_scheme_does(folder: Path) -> None:
    mine, builtin = ff.replay(folder / "slow-start.sqlog", Plain), ff.replay(folder / "slow-start.sqlog", "slow-start")
    # The first line of a verdict has the name.
    assert mine.verdict.replace("plain", "slow-start") == builtin.verdict
    assert mine.rows.rows() == builtin.rows.rows()


def test_a_qlog_without_a_scheme_asks_for_one(folder: Path) -> None:
    with pytest.raises(ff.ScenarioError, match="choose one with --scheme"):
        ff.replay(folder / "slow-start.sqlog")
    with pytest.raises(ff.FirstflightError, match="a replay has no report"):
        ff.replay(folder / "slow-start.sqlog", "leap").report()
