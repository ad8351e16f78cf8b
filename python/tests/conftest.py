"""What the tests share: the command `firstflight`, as a program of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

#: Runs the program and returns what it printed.
Command = Callable[[Sequence[str]], bytes]


@pytest.fixture(scope="session")
def program() -> str:
    """Return the program `firstflight`, built from the same sources: `FIRSTFLIGHT`, or that of this checkout."""
    built = Path(__file__).parents[2] / "target" / "debug" / "firstflight"
    found = os.environ.get("FIRSTFLIGHT", str(built))
    if not Path(found).is_file():
        pytest.skip(f"there is no program {found} to compare with")
    return found


@pytest.fixture(scope="session")
def command(program: str) -> Command:
    """Return a function that runs the program."""

    def run(arguments: Sequence[str]) -> bytes:
        return subprocess.run([program, *arguments], check=True, capture_output=True).stdout

    return run
