"""Measure how many events a second a scheme in Python handles: `python python/bench/events.py`.

Each line has the class, the number of runs at a time, the events that its methods received, the seconds that the race took beyond the same race of the
built-in slow start, and the events per second of that difference.
"""

from __future__ import annotations

import time

import firstflight as ff

#: A path on which slow start lasts: a large queue, and no loss.
PATH = ff.Path(rate="200mbit", rtt="100ms", queue="40bdp")
RUNS = 8

calls = 0


class OnAck(ff.SlowStart):
    """A typical body: it compares RTTs at each ACK."""

    def __init__(self) -> None:
        self.rises = 0

    def on_ack(self, ack: ff.Acked, path: ff.PathState) -> ff.Exit | None:
        global calls
        calls += 1
        if path.srtt and path.min_rtt and ack.growth and path.srtt > 40 * path.min_rtt:
            self.rises += 1
            if self.rises > 1000:
                return ff.exit("delay", window=path.flight // 2)
        return None


class Whole(ff.Scheme):
    """Every event and every plan, in Python."""

    uses = {"marks"}

    def __init__(self) -> None:
        self.window = 0
        self.open = False

    def on(self, event: ff.Event, path: ff.PathState) -> ff.Exit | None:
        global calls
        calls += 1
        match event:
            case ff.Acked():
                self.window += event.slow_start_growth
            case ff.Begin():
                self.window = self.initial_segments * path.mss
            case ff.Established():
                self.open = True
            case ff.Lost() if event.opens_episode:
                return ff.exit("loss", window=self.window)
        return None

    def plan(self, path: ff.PathState) -> ff.Plan:
        global calls
        calls += 1
        return ff.Plan(self.window, pacing=None if self.open else "hold")


def seconds(scheme: str | type[ff.Scheme], jobs: int) -> float:
    """Return the seconds of the fastest of three races."""
    global calls
    best = float("inf")
    for _ in range(3):
        calls = 0
        began = time.perf_counter()
        ff.race(PATH, schemes=[scheme], size="30MB", runs=RUNS, jobs=jobs, progress=False)
        best = min(best, time.perf_counter() - began)
    return best


def main() -> None:
    """Print the figures."""
    for jobs in (1, 2):
        built_in = seconds("slow-start", jobs)
        for scheme in (OnAck, Whole):
            own = seconds(scheme, jobs)
            more = own - built_in
            print(
                f"{scheme.name:8} jobs={jobs} calls={calls} race={own:.2f} s, built in {built_in:.2f} s: {calls / more:,.0f} calls/s"
            )


if __name__ == "__main__":
    main()
