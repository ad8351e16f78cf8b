"""What the tests share: the program, sweeps, folders compared to the byte, and the closing lines that `make test` reads."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from firstflight_cluster.command import main

CLUSTER = Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(os.environ.get("FIRSTFLIGHT", CLUSTER.parent / "target/debug/firstflight"))

# A dozen parts of a few hundredths of a second each.
SWEEP = """
paths = 24
seed = 3
part = 2
give-up = 20
schemes = ["slow-start", "paced"]
[path]
rate = { log-uniform = ["20mbit", "200mbit"] }
rtt = { log-uniform = ["5ms", "80ms"] }
queue = { log-uniform = ["0.2bdp", "2bdp"] }
size = { log-uniform = ["4MB", "10MB"] }
cross = { one-of = ["none", { cbr = { uniform = ["0%", "80%"] } }, "tcp:1"] }
"""
PARTS = 12


class Place:
    """A sweep's file in a new folder, and the folder that its parts go to."""

    def __init__(self, folder):
        self.folder, self.file, self.out = folder, folder / "sweep.toml", folder / "out"
        self.file.write_text(SWEEP)
        self.started = []

    def command(self, *words, program=PROGRAM, sweep=None, out=None):
        """The driver's command; `words` are the kind of cluster and what is behind it, or options before them."""
        line = [sys.executable, "-m", "firstflight_cluster", sweep or self.file, "--out", out or self.out, "--program", program]
        return [str(word) for word in (*line, *words)]

    def start(self, *words, **more):
        """Starts the driver."""
        pipe = subprocess.PIPE
        command = self.command(*words, **more)
        # A driver that is killed leaves its temporary folder.
        env = {**os.environ, "TMPDIR": str(self.folder)}
        self.started.append(
            subprocess.Popen(command, cwd=CLUSTER, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
        )
        return self.started[-1]

    def drive(self, *words, **more):
        """Runs the driver to its end: exit status, standard output, standard error without progress."""
        return ended(self.start(*words, **more))

    def whole(self):
        """Names and bytes of what is in the folder, hidden files aside."""
        return whole(self.out)

    def stand_in(self, name, script):
        """A program that does `script`, in which `$REAL` is the true one."""
        file = self.folder / name
        file.write_text(f"#!/bin/sh\nREAL='{PROGRAM}'\nHERE='{self.folder}'\n{script}\n")
        file.chmod(0o755)
        return str(file)


def ended(driver):
    """Waits for the driver: exit status, standard output, and standard error without the lines of progress that a busy machine adds."""
    out, err = driver.communicate(timeout=300)
    lines = err.splitlines(keepends=True)
    return driver.returncode, out, "".join(line for line in lines if not re.match(r"\d+ of \d+ shards, ", line))


def one_line(err):
    assert err.startswith("error: ") and err.count("\n") == 1, err
    return err


def whole(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith(".")}


def sweep(place, *words):
    """Starts `firstflight sweep` itself."""
    return subprocess.Popen([PROGRAM, "sweep", place.file, "--out", place.out, *words], stdout=subprocess.DEVNULL)


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path)
    yield place
    # What a failed test leaves.
    for process in place.started:
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


@pytest.fixture
def refused(place, capsys):
    """Runs the command in this process, where it must be refused in a line before a cluster starts; returns that line."""

    def refused(*words, **more):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("distributed.Client", None)
            try:
                status = main(place.command(*words, **more)[3:])
            except SystemExit as end:
                status = end.code
        out, err = capsys.readouterr()
        assert (status, out) == (2, ""), err
        return one_line(err)

    return refused


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """What one process on one thread writes."""
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    assert sweep(place, "--jobs", "1").wait() == 0
    parts = place.whole()
    assert sorted(parts) == [*(f"part-{part:06}.parquet" for part in range(PARTS)), "sweep.json"]
    return parts


def racing(driver, wait=120):
    """A process of the program that a worker of `driver` runs for a shard, stopped in the middle of it, and that worker."""
    until = time.monotonic() + wait
    while time.monotonic() < until:
        for child in psutil.Process(driver.pid).children(recursive=True):
            try:
                if "--shard" in child.cmdline() and child.ppid() != driver.pid:
                    child.suspend()
                    # Which takes a moment; one that has ended meanwhile is none.
                    while child.status() not in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}:
                        time.sleep(0.001)
                    if child.status() == psutil.STATUS_STOPPED:
                        return child, child.parent()
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.002)
    raise AssertionError("no worker races anything")


def until(condition, what, wait=120):
    """Waits until something is so."""
    end = time.monotonic() + wait
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def pytest_terminal_summary(terminalreporter):
    """What `.ci/test` reads: a line for each test that was skipped, and cargo's closing line. In cargo's, which knows of no test that
    skips itself, such a test passed."""
    stats = terminalreporter.stats
    skipped, failed = stats.get("skipped", []), stats.get("failed", []) + stats.get("error", [])
    for report in skipped:
        terminalreporter.write_line(f"skipped: {report.longrepr[2].removeprefix('Skipped: ')}")
    passed = len(stats.get("passed", [])) + len(skipped)
    terminalreporter.write_line(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {len(failed)} failed; 0 ignored")
