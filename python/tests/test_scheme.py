"""A class is a start-up scheme like the built-in ones."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import firstflight as ff
import pytest

PATH = ff.Path(rate="20mbit", rtt="60ms", queue="0.5bdp")
#: A path with random losses, delayed ACKs and reordering, on which reductions are undone.
ROUGH = ff.Path(rate="20mbit", rtt="60ms", loss="0.1%", reorder="5%,20ms", ack="delayed")

#: The environment of another process of Python, from any folder.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ff.__file__).parents[1])}

#: Columns that say which scheme a row is of.
NAMES = ("scheme", "source_hash")


class Plain(ff.SlowStart):
    """slow start as it is built in"""


class AllHooks(ff.SlowStart):
    """Slow start whose hooks do nothing."""

    def on_begin(self, begin: ff.Begin, path: ff.PathState) -> None:
        pass

    def on_established(self, established: ff.Established, path: ff.PathState) -> None:
        pass

    def on_sent(self, sent: ff.Sent, path: ff.PathState) -> None:
        pass

    def on_round(self, ack: ff.Acked, path: ff.PathState) -> None:
        pass

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> None:
        pass

    def growth(self, ack: ff.Acked, path: ff.PathState) -> int:
        return ack.slow_start_growth

    def on_loss(self, loss: ff.Lost, path: ff.PathState) -> None:
        pass

    def on_mark(self, mark: ff.Marked, path: ff.PathState) -> None:
        pass

    def on_timeout(self, timeout: ff.TimedOut, path: ff.PathState) -> None:
        pass

    def on_spurious_loss(self, event: ff.SpuriousLoss, path: ff.PathState) -> None:
        pass

    def plan(self, path: ff.PathState) -> ff.Plan:
        return super().plan(path)


class FromScratch(ff.Scheme):
    """Slow start written in Python, without the built-in one."""

    uses = {"marks"}

    def __init__(self) -> None:
        self.window = 0
        self.threshold = self.initial_ssthresh
        self.open = False

    def on(self, event: ff.Event, path: ff.PathState) -> ff.Exit | None:
        match event:
            case ff.Begin():
                initial = self.initial_segments * path.mss
                if event.origin == "fresh":
                    self.window = initial
                    return None
                self.window = (
                    min(event.window or initial, initial) if event.origin != "after-timeout" else (event.window or 0)
                )
                self.threshold = event.ssthresh
                self.open = True
            case ff.Established():
                self.open = True
                if event.syn_lost:
                    self.window = path.mss
            case ff.Acked():
                self.window += event.slow_start_growth
            case ff.Lost() if event.opens_episode:
                return ff.exit("loss", window=self.window)
            case ff.Marked():
                return ff.exit("mark", window=self.window)
            case ff.TimedOut():
                return ff.exit("timeout", window=self.window)
            case ff.Advice() if event.kind == "window":
                self.window = event.window or 0
                self.threshold = event.ssthresh if event.ssthresh is not None else self.threshold
            case ff.MssChanged() if not self.open:
                self.window = self.initial_segments * path.mss
                return None
            case _:
                return None
        if self.threshold is not None and self.window >= self.threshold:
            return ff.exit("threshold", window=self.window, ssthresh=self.threshold)
        return None

    def plan(self, path: ff.PathState) -> ff.Plan:
        return ff.Plan(self.window, pacing=None if self.open else "hold", ssthresh=self.threshold)


class StepBack(ff.SlowStart):
    """slow start that halves its window and leaves once the smoothed RTT has risen"""

    rise = ff.Parameter(0.25, min=0.01, max=1.0, help="how far the smoothed RTT may be above the minimum")

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        if path.srtt is None or path.min_rtt is None or not ack.growth:
            return None
        if path.srtt > path.min_rtt + path.min_rtt * round(self.rise * 1e6) // 1_000_000:
            self.window = max(self.window // 2, 2 * path.mss)
            return ff.exit("delay")
        return None


class Remembers(ff.SlowStart):
    """Slow start whose state has lists, which an undo must restore."""

    def __init__(self) -> None:
        self.rounds: list[int] = []
        self.seen: dict[str, list[int]] = {"sent": [0]}
        self.here = self

    def on_round(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        self.rounds.append(path.now)
        assert self.here is self
        return ff.exit("delay") if len(self.rounds) > 5 else None

    def on_loss(self, loss: ff.Lost, path: ff.PathState) -> None:
        self.seen["sent"].append(loss.bytes)


def fields(race: ff.Race, scheme: str) -> dict[str, Any]:
    row = dict(race[scheme])
    return {name: value for name, value in row.items() if name not in NAMES}


@pytest.mark.parametrize("scheme", [Plain, AllHooks, FromScratch])
@pytest.mark.parametrize(
    "path", [PATH, ROUGH, ff.Path(rate="5mbit", rtt="60ms", rounds="3", idle="2s", ssthresh="30kB")]
)
def test_a_class_that_changes_nothing_equals_the_built_in_slow_start(scheme: type[ff.Scheme], path: ff.Path) -> None:
    race = ff.race(path, schemes=["slow-start", scheme], size="400kB", runs=3, progress=False)
    own, built_in = fields(race, scheme.name), fields(race, "slow-start")
    assert {name: own[name] for name in own if own[name] != built_in[name]} == {}
    runs = [row for row in race.runs.rows()]
    by_scheme = [
        [{k: v for k, v in row.items() if k not in NAMES} for row in runs if row["scheme"] == name]
        for name in (scheme.name, "slow-start")
    ]
    assert by_scheme[0] == by_scheme[1] and len(by_scheme[0]) == 3


def test_the_rows_of_the_example_in_rust_and_in_python_are_equal() -> None:
    program = Path(__file__).parents[2] / "target" / "debug" / "own-scheme"
    if not program.is_file():
        pytest.skip(f"there is no program {program} to compare with")
    choice = StepBack.with_(rise=0.5, as_="later")
    assert choice.text == "step-back:rise=50%,as=later"
    words = [str(program), "race", "--rate", "20mbit", "--rtt", "60ms", "--size", "2MB", "--runs", "3"]
    words += ["--schemes", f"slow-start,step-back,{choice.text}", "--json"]
    rust = subprocess.run(words, check=True, capture_output=True).stdout
    rows = ff.Table.from_json(rust).rows()
    path = ff.Path(rate="20mbit", rtt="60ms")
    race = ff.race(path, schemes=["slow-start", StepBack, choice], size="2MB", runs=3, progress=False)
    own = race.rows.rows()
    assert [row["exit_cause"] for row in own if row["scheme"] == "step-back"] == ["delay", "delay"]
    assert len({row["cost"] for row in own}) == len(own) == len(rows) == 3
    for mine, theirs in zip(own, rows, strict=True):
        assert mine["params"] == theirs["params"]
        different = {
            name: (mine[name], theirs.get(name))
            for name in mine
            if name not in NAMES and mine[name] != theirs.get(name)
        }
        assert different == {}


@pytest.mark.parametrize("jobs", [1, 4])
def test_results_do_not_depend_on_jobs_or_on_the_process(jobs: int) -> None:
    def race(jobs: int) -> bytes:
        return ff.race(
            ROUGH, schemes=["slow-start", StepBack, Remembers], size="300kB", runs=4, jobs=jobs, progress=False
        ).runs.parquet()

    assert race(jobs) == race(1)


def test_an_undo_restores_the_lists_of_a_class() -> None:
    at_undo: list[list[int]] = []

    class Undone(ff.SlowStart):
        def __init__(self) -> None:
            self.losses: list[int] = []

        def on_loss(self, loss: ff.Lost, path: ff.PathState) -> None:
            if loss.opens_episode:
                self.losses.append(path.now)

        def on_spurious_loss(self, event: ff.SpuriousLoss, path: ff.PathState) -> None:
            at_undo.append(list(self.losses))

    ff.race(ROUGH, schemes=[Undone], size="600kB", runs=10, progress=False)
    assert at_undo and all(losses == [] for losses in at_undo)


class Shares(ff.SlowStart):
    """Shares a list among all connections."""

    seen: list[int] = []

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        self.seen.append(path.now)
        return ff.exit("delay") if len(self.seen) % 37 == 0 else None


class Unforgetting(list[int]):
    """A list of which a copy is the list itself."""

    def __deepcopy__(self, memo: dict[int, object]) -> Unforgetting:
        return self


class SharesCopy(ff.SlowStart):
    """Shares a list with its copies."""

    def __init__(self) -> None:
        self.seen = Unforgetting()

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        self.seen.append(path.now)
        return ff.exit("delay") if len(self.seen) > 3 else None


class Dice(ff.SlowStart):
    """Leaves at random."""

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        return ff.exit("delay") if random.random() < 0.1 else None


class Counts(ff.SlowStart):
    """Changes its state when its plan is read."""

    def __init__(self) -> None:
        self.reads = 0

    def plan(self, path: ff.PathState) -> ff.Plan:
        self.reads += 1
        return ff.Plan(path.mss * (10 + self.reads), pacing="hold" if not path.nxt else None)


class Greedy(ff.SlowStart):
    """Grows far too fast."""

    def growth(self, ack: ff.Acked, path: ff.PathState) -> int:
        return 100 * ack.slow_start_growth


class Undeclared(ff.SlowStart):
    """Paces, which it does not declare."""

    def plan(self, path: ff.PathState) -> ff.Plan:
        return ff.Plan(self.window, pacing=ff.Pace(1e7) if path.srtt else "hold")


class BySack(ff.SlowStart):
    """Depends on a fact that it does not declare."""

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        return ff.exit("rate-flat") if ack.delivery_rate else None


@pytest.mark.parametrize(
    ("scheme", "law", "method"),
    [
        (Counts, "a plan does not depend on how often it is read", "plan"),
        (Greedy, "an ACK widens the window by at most what it acknowledges", "growth"),
        (Shares, "the same events make the same plans", "on_ack"),
        (SharesCopy, "a copy shares nothing with its original", "on_ack"),
        (Undeclared, "needs and uses name all that the scheme depends on", "plan"),
        (BySack, "needs and uses name all that the scheme depends on", "on_ack"),
    ],
)
def test_a_broken_law_is_named_with_the_event_and_the_method(scheme: type[ff.Scheme], law: str, method: str) -> None:
    with pytest.raises(ff.SchemeError, match=law) as raised:
        ff.check_scheme(scheme)
    assert (raised.value.scheme, raised.value.method) == (scheme.name, method)
    assert raised.value.file == __file__ and raised.value.line is not None
    assert f"def {method}" in Path(__file__).read_text().splitlines()[raised.value.line - 1]


def test_a_scheme_that_rolls_dice_breaks_the_laws() -> None:
    with pytest.raises(ff.SchemeError, match="the same events make the same plans|a copy shares nothing"):
        ff.check_scheme(Dice)


@pytest.mark.parametrize("scheme", [Plain, AllHooks, FromScratch, StepBack, Remembers])
def test_good_schemes_keep_the_laws(scheme: type[ff.Scheme]) -> None:
    ff.check_scheme(scheme, cases=60)


class Silent(ff.Scheme):
    needs = {"hold"}

    def on(self, event: ff.Event, path: ff.PathState) -> ff.Exit | None:
        return None

    def plan(self, path: ff.PathState) -> ff.Plan:
        return ff.Plan(10 * path.mss, pacing="hold")


def test_a_scheme_that_sends_nothing_ends_at_the_limit_of_the_path() -> None:
    race = ff.race(PATH, schemes=[Silent], size="400kB", limit="5s", progress=False)
    assert race["silent"]["fct_s"] is None


def test_a_class_is_swept_and_scored_next_to_built_in_schemes(tmp_path: Path) -> None:
    population = ff.Population(
        rate=ff.log_uniform("2mbit", "30mbit"), rtt=ff.log_uniform("5ms", "80ms"), size="200kB", paths=6, give_up=20
    )
    sweep = ff.sweep(population, schemes=["slow-start", StepBack], out=tmp_path / "rows", progress=False)
    score = sweep.score()
    assert score["step-back"]["cost_median"] is not None
    assert "step-back" in score.report().html
    again = ff.score(tmp_path / "rows", schemes=[StepBack])
    assert again.rows.parquet() == score.rows.parquet()


def test_the_report_and_the_series_of_a_class() -> None:
    race = ff.race(PATH, schemes=["slow-start", StepBack], size="400kB", progress=False)
    assert "step-back" in race.report().html
    assert "step-back" in set(race.series.column("scheme"))
    assert len({row["source_hash"] for row in race.rows.rows()}) == 2


def test_names_and_parameters_are_checked_as_on_the_command_line() -> None:
    class Leap(ff.SlowStart):
        pass

    with pytest.raises(ff.ScenarioError, match="there is another scheme of this name"):
        ff.race(PATH, schemes=[Leap], size="100kB", progress=False)
    with pytest.raises(ff.ScenarioError, match="rise is 200%, allowed is a fraction from 1% to 100%"):
        ff.race(PATH, schemes=[StepBack.with_(rise=2.0)], size="100kB", progress=False)
    with pytest.raises(TypeError, match="StepBack has no parameter fall: it has rise"):
        StepBack.with_(fall=1)


def test_parameters_of_every_kind_reach_the_object() -> None:
    seen: dict[str, object] = {}

    class Many(ff.SlowStart):
        count = ff.Parameter(3, min=1, max=9)
        part = ff.Parameter(0.5)
        wait_for = ff.Parameter(5 * ff.MS, unit="time", max=ff.S)
        speed = ff.Parameter(1_000_000, unit="rate")
        bytes_ = ff.Parameter(10_000, unit="size")
        mode = ff.Parameter("slow", words=["slow", "fast"])

        def __init__(self) -> None:
            seen.update(
                count=self.count,
                part=self.part,
                wait_for=self.wait_for,
                speed=self.speed,
                bytes_=self.bytes_,
                mode=self.mode,
            )

    ff.race(PATH, schemes=[Many], size="20kB", progress=False)
    assert seen == {
        "count": 3,
        "part": 0.5,
        "wait_for": 5_000_000,
        "speed": 1_000_000,
        "bytes_": 10_000,
        "mode": "slow",
    }
    choice = Many.with_(count=4, part=0.123456, wait_for=7 * ff.US, mode="fast")
    assert choice.text == "many:count=4,part=12.3456%,wait-for=7000ns,mode=fast"
    ff.race(PATH, schemes=[choice], size="20kB", progress=False)
    assert seen["wait_for"] == 7_000 and seen["part"] == 0.123456 and seen["mode"] == "fast"


def test_two_races_at_a_time_have_their_own_classes() -> None:
    rows: dict[str, bytes] = {}

    def race(scheme: type[ff.Scheme]) -> None:
        for _ in range(3):
            rows[scheme.name] = ff.race(PATH, schemes=[scheme], size="200kB", runs=2, progress=False).runs.parquet()

    threads = [threading.Thread(target=race, args=(scheme,)) for scheme in (StepBack, Remembers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for scheme in (StepBack, Remembers):
        assert rows[scheme.name] == ff.race(PATH, schemes=[scheme], size="200kB", runs=2, progress=False).runs.parquet()


def test_the_code_and_the_commands_of_the_page_run(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "python-schemes.md").read_text()

    def blocks(language: str) -> list[str]:
        return [rest.split("```\n")[0] for rest in page.split(f"```{language}\n")[1:]]

    code = "\n".join(blocks("python"))
    assert "class StepBack" in code and "class Fixed" in code
    (tmp_path / "page.py").write_text(code)
    subprocess.run([sys.executable, "page.py"], cwd=tmp_path, env=ENVIRONMENT, check=True)
    (tmp_path / "mine.py").write_text(blocks("python")[0].split("\n\npath = ")[0])
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert commands
    for command in commands:
        shown = subprocess.run(
            command.replace("python", sys.executable, 1),
            shell=True,
            cwd=tmp_path,
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
        )
        assert b"step-back" in shown.stdout


def test_every_attribute_of_the_page_exists() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "python-schemes.md").read_text()
    listed = page.split("`path` has ")[1].split(" An ACK has ")
    for text, of in ((listed[0], ff.PathState), (listed[1].split(". The help")[0], ff.Acked)):
        names = [word for word in text.split("`")[1::2]] + (["now"] if of is ff.PathState else [])
        public = {name for name in dir(of) if not name.startswith("_")}
        assert set(names) == public


def test_a_negative_fraction_is_written_exactly() -> None:
    texts = [StepBack.with_(rise=value).text for value in (-0.123456, -0.5, 0.000001, 0.0)]
    assert texts == [f"step-back:rise={value}" for value in ("-12.3456%", "-50%", "0.0001%", "0%")]


def test_plans_and_exits_show_all_that_they_have() -> None:
    plan = ff.Plan(1, ask=5)
    assert plan.ask == 5 and ff.Plan(1).ask is None
    assert repr(plan) == "Plan(1, pacing=None, tag=0, wake=None, ssthresh=None, ask=5)"
    assert repr(ff.exit("delay", rate=5)) == "exit('delay', window=None, ssthresh=None, rate=5)"
