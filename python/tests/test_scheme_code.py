"""The code of classes that are schemes: its hash, and the command that runs it again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import firstflight as ff
import pytest
from test_scheme import ENVIRONMENT, PATH, StepBack


def test_the_command_of_a_race_gives_the_same_bytes(tmp_path: Path) -> None:
    race = ff.race(PATH, schemes=["slow-start", StepBack.with_(rise=0.5)], size="400kB", progress=False)
    assert race.command is not None and race.command.startswith("python -m firstflight --with ")
    assert " --schemes slow-start,step-back:rise=50%" in race.command
    file = tmp_path / "rows.parquet"
    command = race.command.replace("python -m", f"{sys.executable} -m", 1)
    subprocess.run(f"{command} --parquet {file}", shell=True, check=True, capture_output=True)
    assert file.read_bytes() == race.rows.parquet()


def test_a_class_of_no_file_has_no_command() -> None:
    class Inner(ff.SlowStart):
        pass

    assert ff.race(PATH, schemes=[Inner], size="100kB", progress=False).command is None
