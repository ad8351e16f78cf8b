"""Results in Python are the command's, to the byte."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

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


@pytest.mark.parametrize("number", [3, 17, 29])
def test_the_command_of_a_result_gives_its_bytes(number: int, command: Command, tmp_path: Path) -> None:
    path, schemes = scenario(number)
    race = ff.race(path, schemes)
    assert race.command is not None
    command([*shlex.split(race.command)[1:], f"--parquet={tmp_path / 'again.parquet'}"])
    assert (tmp_path / "again.parquet").read_bytes() == race.rows.parquet()


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
