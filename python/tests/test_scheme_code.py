"""The code of classes that are schemes: its hash, and the command that runs it again."""

from __future__ import annotations

import importlib
import linecache
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

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


def loaded(folder: Path, name: str, text: str) -> ModuleType:
    """Return a module of this text, imported from a folder that is on the path, as if for the first time."""
    (folder / f"{name}.py").write_text(text)
    linecache.clearcache()
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def raced(*schemes: type[ff.Scheme]) -> ff.Race:
    return ff.race(PATH, schemes=["slow-start", *schemes], size="300kB", progress=False)


def hashed(*schemes: type[ff.Scheme]) -> object:
    return raced(*schemes)[schemes[0].name]["source_hash"]


BASE = """
import firstflight as ff

class Base(ff.SlowStart):
    k = ff.Parameter(2)
    limit = 1

    def on_ack(self, ack, path):
        if path.delivered > self.limit * 100_000:
            return ff.exit("delay")
"""
SUB = """
from base import Base

class Sub(Base):
    limit = 2
"""
DATA = """
from dataclasses import dataclass, field
import firstflight as ff

@dataclass
class Data(ff.SlowStart):
    seen: list = field(default_factory=list)

    def on_ack(self, ack, path):
        if path.delivered > 100_000:
            return ff.exit("delay")
"""


def test_a_changed_dataclass_has_another_hash(folder: Path) -> None:
    before = hashed(loaded(folder, "data", DATA).Data)
    assert before == hashed(loaded(folder, "data", DATA).Data)
    assert before != hashed(loaded(folder, "data", DATA.replace("delivered", "flight")).Data)


def test_a_changed_class_of_exec_has_another_hash() -> None:
    def made(text: str) -> type[ff.Scheme]:
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(text, names)
        scheme = names["Base"]
        assert isinstance(scheme, type) and issubclass(scheme, ff.Scheme)
        return scheme

    inner = BASE.replace("return ff", "return (lambda: path.flight and None)() or ff")
    hashes = [hashed(made(text)) for text in (BASE, BASE, BASE.replace("delivered", "flight"), inner)]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3
    assert hashed(made(inner.replace("path.flight", "path.pipe"))) not in hashes


def test_a_changed_class_without_a_method_has_another_hash(folder: Path) -> None:
    loaded(folder, "base", BASE)
    before = hashed(loaded(folder, "sub", SUB).Sub)
    assert before == hashed(loaded(folder, "sub", SUB).Sub)
    assert before != hashed(loaded(folder, "sub", SUB + "\nMORE = 1\n").Sub)
    loaded(folder, "base", BASE.replace("delivered", "flight"))
    assert before != hashed(loaded(folder, "sub", SUB).Sub)


def test_data_of_the_class_and_around_it_change_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(limit: int) -> type[ff.Scheme]:
        class Made(ff.SlowStart):
            part: ClassVar[tuple[object, ...]] = (1, frozenset({"a", "b"}))

            def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
                return ff.exit("delay") if path.delivered > limit else None

        return Made

    first, second = made(1), made(2)
    before = hashed(first)
    assert before == hashed(made(1)) and before != hashed(second)
    monkeypatch.setattr(first, "part", (2,))
    assert before != hashed(first)


def test_the_hash_does_not_depend_on_the_order_of_classes(folder: Path) -> None:
    base, data = loaded(folder, "base", BASE).Base, loaded(folder, "data", DATA).Data
    assert hashed(base, data) == hashed(data, base)


def bytes_of_command(race: ff.Race, folder: Path) -> bytes:
    """Return the table that the command of a race writes."""
    assert race.command is not None
    file = folder / "rows.parquet"
    command = race.command.replace("python -m", f"{sys.executable} -m", 1)
    subprocess.run(
        f"{command} --parquet {file}", shell=True, check=True, capture_output=True, cwd=folder, env=ENVIRONMENT
    )
    return file.read_bytes()


def test_the_command_of_a_class_runs_with_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    base, sub = loaded(folder, "base", BASE).Base, loaded(folder, "sub", SUB).Sub
    two = loaded(folder, "two", BASE + BASE.replace("Base", "Other").replace("limit", "most"))
    for schemes in ([sub], [base, sub], [two.Other], [two.Other, sub]):
        race = raced(*schemes)
        assert bytes_of_command(race, folder) == race.rows.parquet(), race.command
    assert raced(sub).command == (raced(two.Other).command or "").replace("two.py", "sub.py").replace("other", "sub")


def test_a_class_of_a_script_or_a_package_has_no_command(folder: Path) -> None:
    (folder / "script.py").write_text(
        BASE + "\nprint(ff.race(ff.Path(rate='20mbit'), [Base], size='100kB', progress=False).command)\n"
    )
    shown = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )
    assert shown.stdout == "None\n"
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "base.py").write_text(BASE)
    assert raced(importlib.import_module("package.base").Base).command is None


@pytest.mark.parametrize("words", [["--with"], ["--with="], ["--with", ""]])
def test_a_missing_file_of_with_is_one_line(words: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-m", "firstflight", *words], env=ENVIRONMENT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (2, "error: --with needs a file\n")


FACTORY = """
import firstflight as ff

class Common(ff.Scheme):
    def plan(self, path):
        return ff.Plan(self.segments * path.mss)

class Few(Common):
    segments = 4

    def on(self, event, path):
        if isinstance(event, ff.Lost) and event.opens_episode:
            return ff.exit("loss")

def made(segments):
    class Made(Few):
        def plan(self, path):
            return ff.Plan(segments * path.mss)
    Made.name = f"made-{segments}"
    return Made

Eight, Nine = made(8), made(9)
"""


def test_the_command_finds_a_class_from_a_function_and_skips_bases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    module = loaded(folder, "factory", FACTORY)
    for schemes in ([module.Few], [module.Nine], [module.Eight.with_(as_="few"), module.Nine]):
        race = raced(*schemes)
        assert bytes_of_command(race, folder) == race.rows.parquet(), race.command
    assert hashed(module.Eight) != hashed(module.Nine)
    assert raced(module.made(9)).command is None


def test_with_writes_no_compiled_file(folder: Path) -> None:
    (folder / "base.py").write_text(BASE)
    words = [sys.executable, "-m", "firstflight", "--with", "base.py", "schemes", "base"]
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
    assert [file.name for file in folder.iterdir()] == ["base.py"]
