"""Comparisons of results in memory and in files."""

from __future__ import annotations

import gc
from pathlib import Path

import firstflight as ff
import pytest

PATH = ff.Path(rate="20mbit", rtt="60ms", size="300kB", loss="0.5%")
SCHEMES = ["slow-start", "hystart++"]


@pytest.fixture(scope="module")
def before() -> ff.Race:
    return ff.race(PATH, SCHEMES, runs=12)


@pytest.fixture(scope="module")
def after() -> ff.Race:
    return ff.race(PATH.with_(iw="30p"), SCHEMES, runs=12)


def test_races_are_compared_run_by_run(before: ff.Race, after: ff.Race) -> None:
    compared = ff.diff(before, after, by_name=True, numbers=["cost"])
    (slow,) = [row for row in compared if row.scheme == "slow-start"]
    assert slow.pairs == 12
    costs = [[row["cost"] for row in race.runs.rows() if row["scheme"] == "slow-start"] for race in (before, after)]
    assert slow.up == sum(a > b for b, a in zip(*costs, strict=True))
    assert slow.down == sum(a < b for b, a in zip(*costs, strict=True))
    assert slow.standing == "better"
    assert slow.change_low <= slow.change <= slow.change_high


def test_files_and_tables_give_the_same_rows(before: ff.Race, after: ff.Race, tmp_path: Path) -> None:
    files = [tmp_path / "before.parquet", tmp_path / "after.parquet"]
    for file, race in zip(files, (before, after), strict=True):
        file.write_bytes(race.runs.parquet())
    by_files = ff.diff(*files, by_name=True)
    assert by_files.rows.rows() == ff.diff(before, after, by_name=True).rows.rows()
    assert by_files.rows.rows() == ff.diff(before.runs, after.runs, by_name=True).rows.rows()
    assert by_files.command == f"firstflight diff {files[0]} {files[1]} --by-name"


def test_equal_results_have_no_change(before: ff.Race) -> None:
    compared = ff.diff(before, ff.race(PATH, SCHEMES, runs=12))
    assert {row.standing for row in compared} == {"equal"}
    assert "equal" in compared.verdict


def test_different_paths_are_not_compared_unless_by_name(before: ff.Race, after: ff.Race) -> None:
    with pytest.raises(ff.ScenarioError, match="--by-name"):
        ff.diff(before, after)


def test_results_in_memory_are_named_before_and_after(before: ff.Race, after: ff.Race, tmp_path: Path) -> None:
    compared = ff.diff(before, after, by_name=True)
    assert compared.command is None
    assert compared.title == "after against before"
    page = compared.report(tmp_path / "page.html")
    for text in (compared._repr_html_(), repr(compared), page.html):
        assert compared._folder not in text
    assert (tmp_path / "page.html").read_text() == page.html


def test_the_files_of_results_in_memory_go_with_the_comparison(before: ff.Race) -> None:
    compared = ff.diff(before, before)
    folder = Path(compared._folder)
    assert sorted(file.name for file in folder.iterdir()) == ["after.parquet", "before.parquet"]
    del compared
    gc.collect()
    assert not folder.exists()
