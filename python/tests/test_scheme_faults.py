"""Faults of classes that are schemes: each is an error with its line."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import firstflight as ff
import pytest
from test_scheme import ENVIRONMENT, PATH, ROUGH, StepBack


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
    time.sleep(1)
    print("used", "much" if time.process_time() - before > 0.25 else "little")
'''

SPINS = "while True: pass"
WAITS_AND_SPINS = """try:
            time.sleep(2.4)
        except BaseException:
            pass
        while True: pass"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("body", "after"), [(SPINS, 0.5), (SPINS, 4), (WAITS_AND_SPINS, 0.5), ("time.sleep(4)", 0.5), ("time.sleep(1000)", 0.5)]
)
def test_after_an_interrupt_no_thread_runs_on_and_the_process_ends(body: str, after: float, jobs: int) -> None:
    code = INTERRUPTED.format(body=body, jobs=jobs)
    words = [sys.executable, "-c", code, str(after)]
    ended = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "used little\n", "")


class CallsLibrary(ff.SlowStart):
    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> None:
        self.mean = statistics.mean([])


def test_the_line_of_a_fault_in_a_library_is_the_class_s_own() -> None:
    with pytest.raises(ff.SchemeError, match="StatisticsError in `on_ack`") as raised:
        ff.race(PATH, schemes=[CallsLibrary], size="100kB", progress=False)
    assert raised.value.file == __file__ and raised.value.line is not None
    assert "statistics.mean([])" in Path(__file__).read_text().splitlines()[raised.value.line - 1]


class HasLock(ff.SlowStart):
    def __init__(self) -> None:
        self.count = [0]
        self.lock: threading.Lock | None = None

    def on_round(self, ack: ff.Acked, path: ff.PathState) -> None:
        self.lock = threading.Lock()


def test_an_attribute_that_cannot_be_copied_is_named_at_its_instant() -> None:
    with pytest.raises(ff.SchemeError, match="TypeError in `copy`, at .*`self.lock` cannot be copied") as raised:
        ff.race(ROUGH, schemes=[HasLock], size="600kB", runs=4, progress=False)
    error = raised.value
    assert (error.method, error.file, error.event) == ("copy", __file__, "the copy for undo") and error.time > 0
    assert isinstance(error.__cause__, TypeError)


class SetsHook(ff.SlowStart):
    def __init__(self) -> None:
        self.on_ack = lambda ack, path: None  # type: ignore[method-assign]


def test_a_hook_that_is_set_in_an_object_is_refused() -> None:
    with pytest.raises(ff.SchemeError, match="`self.on_ack` is a function that no connection calls"):
        ff.race(PATH, schemes=[SetsHook], size="100kB", progress=False)


@pytest.mark.parametrize(("hook", "text"), [("on_acks", "is `on_ack` meant"), ("on_zzzz", "hooks are on_begin, ")])
@pytest.mark.parametrize("base", [ff.SlowStart, ff.Scheme])
def test_a_mistyped_hook_is_refused_when_the_class_is_made(base: type[ff.Scheme], hook: str, text: str) -> None:
    with pytest.raises(TypeError, match=f"Typo defines `{hook}`, which is no hook: {text}"):
        type("Typo", (base,), {hook: lambda self, ack, path: None})


def test_a_hook_that_is_mistyped_later_is_refused_by_the_race() -> None:
    later = type("Later", (ff.SlowStart,), {"on_time": 3})
    ff.race(PATH, schemes=[later], size="100kB", progress=False)
    later.on_lost = lambda self, loss, path: None  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="is `on_loss` meant"):
        ff.race(PATH, schemes=[later], size="100kB", progress=False)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (ff.Parameter(-1), r"Bad\.rise has the default -1: allowed is 0 to 9007199254740992; min= and max= set others"),
        (ff.Parameter(2.5), r"Bad\.rise has the default 2.5: allowed is 0 to 1.0; min= and max= set others"),
        (ff.Parameter(5000.0, max=1e4), r"Bad\.rise has max=10000.0: allowed is a number from 0 to 4294.967295"),
        (ff.Parameter(5, max=4, min=1), r"Bad\.rise has the default 5: allowed is 1 to 4$"),
        (ff.Parameter("slow", words=["fast"]), r"Bad\.rise has the default 'slow': allowed is one of words=\['fast'\]"),
        (ff.Parameter(float("nan")), r"Bad\.rise has the default nan"),
        (ff.Parameter(0.5, unit="time"), r"Bad\.rise has unit='time' and a fraction"),
        (ff.Parameter(True), r"Bad\.rise has the default True: allowed is an int, a float or a str"),
    ],
)
def test_a_wrong_parameter_is_refused_with_its_class_and_name(parameter: object, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        type("Bad", (ff.SlowStart,), {"rise": parameter})


@pytest.mark.parametrize("label", ["x,hystart++", "a b", "", "a:b", "a=b"])
def test_a_label_that_would_name_another_scheme_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="the label is .*: allowed are letters, digits"):
        StepBack.with_(as_=label)
    with pytest.raises(ValueError, match="the value of rise is .*: allowed are letters, digits"):
        StepBack.with_(rise=label)


def test_words_that_are_no_set_are_one_word_or_an_error() -> None:
    one = type("One", (ff.SlowStart,), {"uses": "marks"})
    ff.race(PATH, schemes=[one], size="100kB", progress=False)
    with pytest.raises(TypeError, match="uses of Number is 3: allowed is a word, or a set of words"):
        ff.race(PATH, schemes=[type("Number", (ff.SlowStart,), {"uses": 3})], size="100kB", progress=False)


@pytest.mark.parametrize("cases", [0, -1])
def test_a_check_of_no_case_is_refused(cases: int) -> None:
    with pytest.raises(ValueError, match=f"cases is {cases}: allowed is a whole number from 1"):
        ff.check_scheme(StepBack, cases=cases)
