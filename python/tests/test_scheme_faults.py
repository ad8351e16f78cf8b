"""Faults of classes that are schemes: each is an error with its line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import firstflight as ff
import pytest
from test_scheme import ENVIRONMENT, PATH, StepBack


class Divides(ff.SlowStart):
    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        return ff.exit("delay", window=path.flight // (path.recovering * 0))


class Raises(ff.SlowStart):
    def __init__(self) -> None:
        raise KeyError("no state")


class Negative(ff.SlowStart):
    def on_loss(self, loss: ff.Lost, path: ff.PathState) -> ff.Exit | None:
        return ff.exit("loss", window=-1)


class NotANumber(ff.SlowStart):
    def on_round(self, ack: ff.Acked, path: ff.PathState) -> None:
        self.window = float("nan")


class Word(ff.SlowStart):
    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        return "delay"  # type: ignore[return-value]


class UnknownCause(ff.SlowStart):
    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        return ff.exit("boredom")  # type: ignore[arg-type]


class NoGrowth(ff.SlowStart):
    def growth(self, ack: ff.Acked, path: ff.PathState) -> int:
        return "much"  # type: ignore[return-value]


class NoPlan(ff.SlowStart):
    def plan(self, path: ff.PathState) -> ff.Plan:
        return None  # type: ignore[return-value]


class RateZero(ff.SlowStart):
    def plan(self, path: ff.PathState) -> ff.Plan:
        return ff.Plan(self.window, pacing=ff.Pace(0))


class WakesForEver(ff.SlowStart):
    needs = {"ack-clock", "timer"}

    def plan(self, path: ff.PathState) -> ff.Plan:
        return ff.Plan(self.window, wake=path.now)


@pytest.mark.parametrize(
    ("scheme", "text", "code"),
    [
        (Divides, "ZeroDivisionError in `on_ack`", 'return ff.exit("delay", window=path.flight //'),
        (Raises, "KeyError in `__init__`", 'raise KeyError("no state")'),
        (
            Negative,
            "the window of exit is -1 (int): allowed is a number of bytes from 0",
            'return ff.exit("loss", window=-1)',
        ),
        (NotANumber, "window is nan (float): allowed is a number of bytes from 0", 'self.window = float("nan")'),
        (Word, "`on_ack` returned 'delay' (str): allowed is None, or exit(cause, …)", "def on_ack"),
        (UnknownCause, "the cause of exit is 'boredom' (str): allowed is threshold, delay", 'ff.exit("boredom")'),
        (NoGrowth, "`growth` returned 'much' (str): allowed is a number of bytes from 0", "def growth"),
        (NoPlan, "`plan` returned None: allowed is a Plan(window, …)", "def plan"),
        (RateZero, "the rate of Pace is 0 (int): allowed is a number of bits per second from 1", "pacing=ff.Pace(0)"),
        (WakesForEver, "`plan` returned a plan whose wake-up was due at once, 10000 times within ", "def plan"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_of_a_class_is_raised_with_its_line(scheme: type[ff.Scheme], text: str, code: str, jobs: int) -> None:
    with pytest.raises(ff.SchemeError) as raised:
        ff.race(PATH, schemes=["slow-start", scheme], size="2MB", runs=4, jobs=jobs, progress=False)
    error = raised.value
    assert text in str(error) and error.scheme == scheme.name
    assert f"{Path(__file__).name}:{error.line}, in " in str(error)
    assert error.line is not None and code in Path(__file__).read_text().splitlines()[error.line - 1], str(error)


def test_the_exception_of_the_class_is_the_cause() -> None:
    with pytest.raises(ff.SchemeError) as raised:
        ff.race(PATH, schemes=[Divides], size="400kB", progress=False)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert (raised.value.method, raised.value.event) == ("on_ack", "Acked") and raised.value.time > 0


class Endless(ff.SlowStart):
    time_limit = 0.3

    def on_round(self, ack: ff.Acked, path: ff.PathState) -> None:
        while True:
            try:
                path = path
            except Exception:
                pass


class Sleeps(ff.SlowStart):
    time_limit = 0.2

    def on_round(self, ack: ff.Acked, path: ff.PathState) -> None:
        time.sleep(6)


def test_a_call_without_end_is_an_error_with_its_line() -> None:
    began = time.monotonic()
    with pytest.raises(ff.SchemeError, match=r"`on_round` did not end within 0.3 s") as raised:
        ff.race(PATH, schemes=["slow-start", Endless], size="400kB", runs=2, progress=False)
    assert time.monotonic() - began < 5
    line = raised.value.line or 0
    first = next(
        number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "while True:" in text
    )
    assert first <= line <= first + 4


def test_a_call_that_cannot_be_interrupted_is_left_with_an_error() -> None:
    began = time.monotonic()
    with pytest.raises(ff.SchemeError, match=r"cannot be interrupted.*\n.*in on_round\n *time.sleep\(6\)"):
        ff.race(PATH, schemes=[Sleeps], size="400kB", progress=False)
    assert time.monotonic() - began < 5


class Forever(Endless):
    time_limit = 1000.0


def test_an_interrupt_ends_a_call_without_end() -> None:
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ff.race(PATH, schemes=[Forever], size="400kB", progress=False)
    timer.join()
    assert time.monotonic() - sent[0] < 0.5


def test_after_a_fault_the_next_race_is_as_if_there_was_none() -> None:
    before = ff.race(PATH, schemes=[StepBack], size="400kB", progress=False)
    with pytest.raises(ff.SchemeError):
        ff.race(PATH, schemes=[Divides], size="400kB", progress=False)
    after = ff.race(PATH, schemes=[StepBack], size="400kB", progress=False)
    assert before.rows.parquet() == after.rows.parquet()


def test_a_fault_in_a_sweep_leaves_no_rows_of_it(tmp_path: Path) -> None:
    population = ff.Population(rate=ff.log_uniform("2mbit", "30mbit"), rtt="20ms", size="200kB", paths=6, give_up=20)
    with pytest.raises(ff.SchemeError, match="ZeroDivisionError"):
        ff.sweep(population, schemes=["slow-start", Divides], out=tmp_path / "rows", progress=False)
    assert not list((tmp_path / "rows").glob("part-*.parquet"))


def test_the_command_tells_a_fault_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import firstflight as ff\n\nclass Mine(ff.SlowStart):\n    def on_ack(self, ack, path):\n        return path.nothing\n"
    )
    words = [sys.executable, "-m", "firstflight", f"--with={file}", "race", "--schemes", "mine", "--size", "100kB"]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: mine: AttributeError in `on_ack`, at ")
    assert f"{file}:5, in on_ack\n    return path.nothing" in ended.stderr
    listed = subprocess.run([*words[:4], "schemes", "mine"], capture_output=True, text=True, check=True)
    assert "mine" in listed.stdout
    missing = subprocess.run([*words[:3], "--with", "nowhere.py", "schemes"], capture_output=True, text=True)
    assert missing.returncode == 2 and "nowhere.py" in missing.stderr


def _no_scheme() -> list[tuple[Callable[[], type], type[Exception], str]]:
    def missing() -> type:
        return type("Missing", (ff.Scheme,), {"on": lambda self, event, path: None})

    def both() -> type:
        return type(
            "Both", (ff.SlowStart,), {"on": lambda self, event, path: None, "on_ack": lambda self, ack, path: None}
        )

    def slots() -> type:
        return type("Slots", (ff.SlowStart,), {"__slots__": ("state",)})

    def needs() -> type:
        return type("Needs", (ff.SlowStart,), {"needs": {"luck"}})

    def limit() -> type:
        return type("Limit", (ff.SlowStart,), {"time_limit": 0})

    return [
        (missing, TypeError, "defines no `plan`"),
        (both, TypeError, "defines `on` and on_ack"),
        (slots, TypeError, "has __slots__"),
        (needs, ValueError, "needs: `luck` is not allowed; ack-clock, rate"),
        (limit, ValueError, "the time_limit of Limit"),
        (lambda: int, TypeError, "is no scheme"),
        (lambda: ff.SlowStart, TypeError, "is the base of schemes"),
    ]


@pytest.mark.parametrize(("make", "error", "text"), _no_scheme())
def test_a_class_that_is_no_scheme_is_refused_before_the_race(
    make: Callable[[], type], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        ff.race(PATH, schemes=[make()], size="100kB", progress=False)


#: A race of an endless call, which an interrupt ends after some seconds. Then the process must be idle.
INTERRUPTED = '''
import os, signal, sys, threading, time
import firstflight as ff

class Endless(ff.SlowStart):
    time_limit = 1000

    def on_ack(self, ack, path):
        {body}

threading.Timer(float(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    ff.race(ff.Path(rate="20mbit", rtt="60ms"), [Endless], size="1MB", jobs={jobs}, runs=2, progress=False)
except KeyboardInterrupt:
    before = time.process_time()
    time.sleep(0.5)
    print("used", "much" if time.process_time() - before > 0.25 else "little")
'''

SPINS = "while True: pass"
CATCHES_ALL = """while True:
            try:
                while True: pass
            except:
                pass"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("body", "after"), [(SPINS, 0.5), (SPINS, 4), (CATCHES_ALL, 0.5), ("time.sleep(4)", 0.5), ("time.sleep(1000)", 0.5)]
)
def test_after_an_interrupt_no_thread_runs_on_and_the_process_ends(body: str, after: float, jobs: int) -> None:
    code = INTERRUPTED.format(body=body, jobs=jobs)
    words = [sys.executable, "-c", code, str(after)]
    ended = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "used little\n", "")
