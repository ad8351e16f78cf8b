"""Results in Python are the command's, to the byte."""

from __future__ import annotations

import pickle
import random
import shlex
from pathlib import Path
from typing import Any

import firstflight as ff
import pytest

from conftest import Command

SCHEMES = ["slow-start", "hystart", "hystart++", "paced", "search", "suss", "leap", "rapid-start", "bbr", "vegas", "limited"]


def scenario(number: int) -> tuple[ff.Path, list[str]]:
    """Return a path and some schemes, drawn by a number."""
    draw = random.Random(number)
    keys = {
        "rate": f"{10 ** draw.uniform(6, 8.5):.0f}bit",
        "rtt": f"{10 ** draw.uniform(-2.3, -0.5):.6f}s",
        "queue": draw.choice(["0.2bdp", "1bdp", "40p", "100kB", "codel:300p", "fq-codel:300p"]),
        "size": f"{10 ** draw.uniform(4, 6.3):.0f}B",
        "runs": draw.randint(1, 3),
        "seed": draw.randint(1, 10**6),
        "loss": draw.choice([None, 0.001, "0.5%"]),
        "jitter": draw.choice([None, 0.001]),
        "ack": draw.choice([None, "every", "linux", "every:4"]),
        "cross": draw.choice([None, "tcp:1", ["tcp:1,bbr", "500kbit"]]),
        "timestamps": draw.choice([True, False]),
        "ecn": draw.choice([True, False]),
    }
    return ff.Path.of(keys), draw.sample(SCHEMES, 3)


@pytest.mark.parametrize("number", range(50))
def test_a_random_scenario_gives_the_bytes_of_the_command(number: int, command: Command, tmp_path: Path) -> None:
    path, schemes = scenario(number)
    race = ff.race(path, schemes)
    race.to_parquet(tmp_path / "python.parquet")
    arguments = [*path.arguments, f"--schemes={','.join(schemes)}"]
    printed = command(["race", *arguments, "--json", f"--parquet={tmp_path / 'command.parquet'}"])
    assert (tmp_path / "python.parquet").read_bytes() == (tmp_path / "command.parquet").read_bytes()
    assert ff.Table.from_json(printed).rows() == race.rows.rows()


#: Races of every kind: keys, schemes, and whether the rows are of flows.
KINDS: dict[str, tuple[dict[str, Any], list[str] | None, bool]] = {
    "plain": ({}, ["leap", "slow-start"], False),
    "labels and parameters": ({}, ["paced:first=4,as=four", "paced"], False),
    "several runs": ({"runs": 3, "jitter": "1ms", "seed": 7}, ["leap", "bbr"], False),
    "a preset": ({"rate": None, "rtt": None, "path": "quicly-leo"}, ["leap"], False),
    "restarts": ({"rounds": 3, "idle": "5s", "restart": "all"}, ["slow-start"], False),
    "a population": ({"topology": "dumbbell:hosts=4", "flows": 6, "arrivals": "poisson:10"}, ["slow-start", "leap"], False),
    "flows of a population": ({"topology": "dumbbell:hosts=4", "flows": 6, "arrivals": "poisson:10"}, ["slow-start"], True),
    "a script": ({"flow": ["size=100kB", "size=50kB,start=1s"], "size": None}, ["slow-start", "leap"], False),
    "a QUIC stack": ({"stack": "noq"}, ["slow-start", "leap"], False),
    "a trace": ({"rate": None, "rate_trace": "0s=20mbit,100ms=5mbit"}, ["leap"], False),
}


def raced(kind: str) -> ff.Race:
    keys, schemes, each_flow = KINDS[kind]
    return ff.race(ff.Path.of({"rate": "10mbit", "rtt": "40ms", "size": "100kB", **keys}), schemes, each_flow=each_flow)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_of_a_race_gives_its_bytes(kind: str, command: Command, tmp_path: Path) -> None:
    race = raced(kind)
    assert race.command is not None
    command([*shlex.split(race.command)[1:], f"--parquet={tmp_path / 'again.parquet'}"])
    assert (tmp_path / "again.parquet").read_bytes() == race.rows.parquet()


@pytest.mark.parametrize("kind", KINDS)
def test_a_race_of_any_kind_has_series_and_a_copy(kind: str) -> None:
    race = raced(kind)
    copied = pickle.loads(pickle.dumps(race))
    assert copied.rows.parquet() == race.rows.parquet()
    assert copied.verdict == race.verdict
    assert copied.command == race.command
    if kind != "a QUIC stack":
        assert len(copied.series) > 10


def test_a_race_runs_again_as_it_ran_when_its_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('rate = "20mbit"\nrtt = "40ms"\nsize = "100kB"\nschemes = ["leap"]\n')
    race = ff.race(file)
    recorded = ff.race(file, series=True).series.rows()
    file.write_text('rate = "1mbit"\nrtt = "40ms"\nsize = "100kB"\nschemes = ["leap"]\n')
    assert race.series.rows() == recorded


def test_series_and_runs_are_those_of_the_command(command: Command, tmp_path: Path) -> None:
    path = ff.Path(rate="10mbit", rtt="40ms", jitter="1ms")
    file = tmp_path / "series.parquet"
    command(["race", *path.arguments, "--size=300kB", "--runs=2", "--schemes=leap,slow-start", f"--series={file}"])
    recorded = ff.race(path, ["leap", "slow-start"], size="300kB", runs=2, series=True)
    later = ff.race(path, ["leap", "slow-start"], size="300kB", runs=2)
    assert recorded.series.rows() == later.series.rows() == ff.read(file).rows()
    printed = command(["race", *path.arguments, "--size=300kB", "--runs=2", "--schemes=leap,slow-start", "--each-run", "--json"])
    assert ff.Table.from_json(printed).rows() == later.runs.rows()


def test_a_sweep_and_its_score_are_those_of_the_command(command: Command, tmp_path: Path) -> None:
    population = ff.Population(12, rate=ff.log_uniform("1mbit", "50mbit"), rtt=["10ms", "60ms"], size="100kB", seed=5, give_up=20)
    swept = ff.sweep(population, ["slow-start", "leap"], out=tmp_path / "python")
    assert swept.toml is not None
    (tmp_path / "sweep.toml").write_text(swept.toml)
    command(["sweep", str(tmp_path / "sweep.toml"), f"--out={tmp_path / 'command'}"])
    assert [part.read_bytes() for part in swept.parts] == [
        part.read_bytes() for part in sorted((tmp_path / "command").glob("part-*"))
    ]
    printed = command(["score", str(tmp_path / "command"), "--json"])
    assert ff.Table.from_json(printed).rows() == swept.score().rows.rows()


def test_the_page_of_a_race_is_that_of_the_command(command: Command, tmp_path: Path) -> None:
    path = ff.Path(rate="10mbit", rtt="40ms", size="200kB")
    page = ff.race(path, "leap,slow-start").report()
    command(["race", *path.arguments, "--schemes=leap,slow-start", f"--report={tmp_path / 'page.html'}"])
    assert page.html == (tmp_path / "page.html").read_text(encoding="utf-8")
