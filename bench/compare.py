"""The benchmark scenarios side by side: Firstflight, and ns-2 and ns-3 where they are.

    bench/compare.py [--quick] [--runs N] [--only s1,s2,s3] [--programs firstflight,ns-2,ns-3] [--rows FILE]

Every run is a process of its own; counted is its user CPU time as the kernel has it (getrusage), start of the program
included. Runs are interleaved, one of each program in turn, so that a machine whose speed drifts treats all alike. A program
that takes minutes for a scenario runs once, after the others. What TCP did there, so that the work compared is known to be
the same, comes from the same runs or, where counting costs time, from one more that is not timed. Run it by `make bench` or
`.ci/bench`, which build what it needs.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
WORK = os.path.join(ROOT, "target", "bench")
OURS = os.path.join(ROOT, "target", "release", "firstflight")
NS3 = os.path.join(WORK, "ns3")

# What S1, S2 and S3 are to take at most, in seconds of user CPU.
GOALS = {"s1": 0.08, "s2": 0.03, "s3": 0.25}
# ns-3 takes minutes for S3.
SLOW = {("s3", "ns-3")}
CBR_PACKETS = 250_000
# How long S3's flows go on.
BULK_SECONDS = 60
PROGRAMS = ("firstflight", "ns-2", "ns-3")
FIELDS = ("date,commit,machine,scenario,program,runs,user_min_s,user_median_s,data_packets,packet_hops,peak_kib,"
          "goodput_mbps,packets_lost,timeouts,su_time_s")


class Outcome:
    """What TCP did in a run: payload in Mbit/s, data packets that left their senders, those of them that the network dropped,
    timeouts, and the su-times of flows that have one, where there are two flows at most."""

    def __init__(self, goodput, sent, lost, timeouts, startups):
        self.goodput, self.sent, self.lost, self.timeouts = float(goodput), int(sent), int(lost), int(timeouts)
        self.startups = " ".join(f"{float(startup):.3f}" for startup in startups if startup)


def run(command):
    """Runs it to the end; gives its output, user seconds and peak memory in KiB."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if child.returncode != 0:
        sys.exit(f"compare.py: `{' '.join(command)}` ended with {child.returncode}")
    return text, usage.ru_utime, usage.ru_maxrss


def scenario(name):
    return os.path.join(HERE, name + ".toml")


def with_sack1(name):
    """The scenario with ns-2's own rules of recovery, which its programs have; written anew."""
    path = os.path.join(WORK, name + "-ns2-sack1.toml")
    with open(scenario(name)) as ours, open(path, "w") as out:
        out.write(ours.read() + 'recovery = "ns2-sack1"\n')
    return path


def flows(name):
    """The list of transfers that the peers carry: what Firstflight drew."""
    return os.path.join(WORK, name + ".csv")


def of_race(text):
    """Of our row of S1."""
    row = json.loads(text)
    return Outcome(row["throughput_bps"] / 1e6, row["packets_sent"], row["packets_lost"], row["timeouts"],
                   [row["su_time_s"]])


def of_flows(text):
    """Of our list of all flows, those that do not count included: the peers count those too."""
    rows = list(csv.DictReader(text.splitlines()))
    total = lambda column: sum(int(row[column]) for row in rows)
    ends = [float(row["start_s"]) + float(row["fct_s"]) for row in rows if row["fct_s"]]
    over = max(ends, default=BULK_SECONDS)
    # A flow's throughput is over its own life.
    life = lambda row: float(row["fct_s"] or over - float(row["start_s"]))
    goodput = sum(float(row["throughput_bps"] or 0) * life(row) for row in rows) / over
    startups = [row["su_time_s"] for row in rows] if len(rows) <= 2 else []
    return Outcome(goodput / 1e6, total("packets_sent"), total("packets_lost"), total("timeouts"), startups)


def of_reference(text):
    """Of a row of ns2/race.tcl, under its header."""
    row = next(csv.DictReader(text.splitlines()))
    return Outcome(row["goodput_mbps"], row["packets_sent"], row["packets_lost"], row["timeouts"], [row["su_time_s"]])


def of_words(text):
    """Of a line `name value name value …`, as ns2/dumbbell.tcl and ns3/peers.cc write."""
    parts = text.split()
    found = dict(zip(parts[::2], parts[1::2]))
    startups = found["su_time_s"].removeprefix("none").split(",")
    # ns-2's packet 0 is the SYN, of each of its flows.
    return Outcome(found["goodput_mbps"], int(found["packets_sent"]) - int(found.get("flows", 0)),
                   found["packets_lost"], found["timeouts"], startups)


class Program:
    """A program at a scenario: the command that is timed, and what its outcome is read from: its own output, or that of
    the command given for it."""

    def __init__(self, name, command, read, counting=None):
        self.name, self.command, self.read, self.counting = name, command, read, counting
        self.times, self.peak, self.outcome = [], 0, None

    def run(self):
        text, user, peak = run(self.command)
        self.times.append(user)
        self.peak = max(self.peak, peak)
        if not self.counting:
            self.outcome = self.read(text)

    def count(self):
        if self.counting:
            self.outcome = self.read("".join(run(command)[0] for command in self.counting))

    def kind(self):
        return self.name.split(",")[0]


def programs(name):
    """The programs of a scenario; the first is ours."""
    ours = lambda path, *more: [OURS, "run", path, *more]
    timed, listed = ("--json", "--jobs", "1"), ("--each-flow", "--csv")
    race = ["ns", os.path.join(HERE, "ns2", "race.tcl")]
    dumbbell = ["ns", os.path.join(HERE, "ns2", "dumbbell.tcl"), "-flows", flows(name)]
    if name == "s1":
        counted = lambda *more: [race + ["-header"], [*race, *more]]
        return [
            Program("firstflight", ours(scenario(name), *timed), of_race),
            Program("firstflight, ns2-sack1", ours(with_sack1(name), *timed), of_race),
            Program("ns-2", race + ["-measure", "0", "-edges", "1"], of_reference, counted("-edges", "1")),
            Program("ns-2, our links", race + ["-measure", "0"], of_reference, counted()),
            Program("ns-3", [NS3, name], of_words),
        ]
    if name == "s3":
        dumbbell += "-bw_mbps 400 -oneway_ms 120 -queue 8000 -hosts 1 -edge_mbps 4000 -packet 1500".split()
        dumbbell += ["-until_s", str(BULK_SECONDS)]
    return [
        Program("firstflight", ours(scenario(name), *timed), of_flows, [ours(scenario(name), *listed)]),
        Program("firstflight, ns2-sack1", ours(with_sack1(name), *timed), of_flows, [ours(with_sack1(name), *listed)]),
        Program("ns-2", dumbbell, of_words, [dumbbell + ["-measure", "1"]]),
        Program("ns-3", [NS3, name, flows(name)], of_words),
    ]


def present(program):
    if program.startswith("ns-2"):
        return any(os.access(os.path.join(path, "ns"), os.X_OK) for path in os.environ["PATH"].split(os.pathsep))
    return program != "ns-3" or os.access(NS3, os.X_OK)


def hops(name, program, packets):
    """Packets crossing a link: a data packet and its ACK over three links each, and the constant bit rate over three."""
    if program.endswith("our links"):
        # The access link and the bottleneck, and back; the constant bit rate enters at the bottleneck.
        return 4 * packets + CBR_PACKETS
    return 6 * packets + (3 * CBR_PACKETS if name == "s1" else 0)


def measure(name, runs, asked):
    """So many runs of each program in turn. Gives the programs that ran, and a line for each run that there was not."""
    if name != "s1":
        with open(flows(name), "w") as out:
            out.write(run([OURS, "run", scenario(name), "--each-flow", "--csv"])[0])
    there, missing = [], []
    for program in programs(name):
        if program.kind() not in asked.programs:
            missing.append(f"not run: {name} {program.name}: not asked for")
        elif not present(program.name):
            missing.append(f"not run: {name} {program.name}: it is not installed and could not be")
        elif asked.quick and (name, program.name) in SLOW:
            missing.append(f"not run: {name} {program.name}: it takes minutes")
        else:
            there.append(program)
    slow = [program for program in there if (name, program.name) in SLOW]
    for _ in range(runs):
        for program in there:
            if program not in slow:
                program.run()
    for program in slow:
        program.run()
        if runs > 1:
            missing.append(f"run once, not {runs} times: {name} {program.name}: it takes minutes")
    for program in there:
        program.count()
    return there, missing


def machine():
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} processors"


def commit():
    ask = lambda *what: subprocess.run(["git", "-C", ROOT, *what], capture_output=True, text=True).stdout.strip()
    changed = ask("status", "--porcelain", "--untracked-files=no")
    return ask("rev-parse", "--short", "HEAD") + ("+" if changed else "")


def show(table):
    """A table with a head; all but the first two columns are numbers."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        cells = [cell.ljust(width) if column < 2 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    print()


def main():
    parser = argparse.ArgumentParser(description="the benchmark scenarios beside ns-2 and ns-3")
    parser.add_argument("--runs", type=int, help="of each program; 7, with --quick 3")
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--only", default=",".join(GOALS), help="scenarios, by commas")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="programs, by commas; ours always runs")
    parser.add_argument("--rows", help="write the figures to this file, as rows of history.csv")
    asked = parser.parse_args()
    names = asked.only.split(",")
    asked.programs = ["firstflight", *asked.programs.split(",")]
    runs = asked.runs if asked.runs is not None else 3 if asked.quick else 7
    if not set(names) <= set(GOALS) or not set(asked.programs) <= set(PROGRAMS) or runs < 1:
        parser.error(f"--only takes {', '.join(GOALS)}; --programs {', '.join(PROGRAMS)}; --runs is at least 1")
    os.makedirs(WORK, exist_ok=True)

    times = [("scenario", "program", "runs", "user s median", "min", "ours is faster", "by min", "packet-hops",
              "ns a hop", "MiB")]
    outcomes = [("scenario", "program", "payload Mbit/s", "data packets", "lost", "loss", "timeouts", "su-time s")]
    rows, notes = [], []
    day, where, at = time.strftime("%Y-%m-%d"), machine(), commit()
    for name in names:
        there, missing = measure(name, runs, asked)
        notes += missing
        ours = there[0].times
        if statistics.median(ours) > GOALS[name]:
            notes.append(f"over its goal: {name} takes {statistics.median(ours):.3f} s, and is to take {GOALS[name]} s at "
                         "most")
        for program in there:
            median, least, tcp = statistics.median(program.times), min(program.times), program.outcome
            crossed = hops(name, program.name, tcp.sent)
            ratios = ["", ""]
            if program is not there[0]:
                ratios = [f"{median / statistics.median(ours):.1f} times", f"{least / min(ours):.1f}"]
            times.append((name, program.name, str(len(program.times)), f"{median:.3f}", f"{least:.3f}", *ratios,
                          f"{crossed / 1e6:.2f} M", f"{median * 1e9 / crossed:.0f}", f"{program.peak / 1024:.0f}"))
            outcomes.append((name, program.name, f"{tcp.goodput:.2f}", str(tcp.sent), str(tcp.lost),
                             f"{100 * tcp.lost / tcp.sent:.3f} %", str(tcp.timeouts), tcp.startups))
            rows.append((day, at, where, name, program.name, len(program.times), f"{least:.4f}", f"{median:.4f}", tcp.sent,
                         crossed, program.peak, f"{tcp.goodput:.3f}", tcp.lost, tcp.timeouts, tcp.startups))
    print(f"\n{where}; {at}; load {os.getloadavg()[0]:.1f} at the end\n")
    show(times)
    show(outcomes)
    for line in notes:
        print(line)
    print("not run: htsim, which no package manager has; bench/README.md has its figures as they were given")
    if asked.rows:
        with open(asked.rows, "w", newline="") as out:
            out.write(FIELDS + "\n")
            csv.writer(out, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
