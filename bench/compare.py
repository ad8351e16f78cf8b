"""The benchmark scenarios side by side: Firstflight, and ns-2 and ns-3 where they are.

    bench/compare.py [--runs N] [--quick] [--only s1,s2,s3] [--history FILE]

Every run is a process of its own; counted is its user CPU time as the kernel has it (getrusage), start of the program
included. Runs are interleaved, one of each program in turn, so that a machine whose speed drifts treats all alike; the
table has minimum and median. Run it by `make bench`, which builds what it needs.
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
FIELDS = "date,commit,machine,scenario,program,runs,user_min_s,user_median_s,data_packets,packet_hops,peak_kib"


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


def flows(name):
    """The list of transfers that the peers carry: what Firstflight drew."""
    return os.path.join(WORK, name + ".csv")


def words(text):
    """The numbers of a line `name value name value …`."""
    parts = text.split()
    return dict(zip(parts[::2], parts[1::2]))


# Data packets that left their senders, from what each program prints.
def of_rows(text):
    return sum(json.loads(line)["packets_sent"] for line in text.splitlines())


def of_flows(text):
    """Of all flows, those that do not count included: the peers count those too."""
    return sum(int(row["packets_sent"]) for row in csv.DictReader(text.splitlines()))


def of_ns2(text):
    found = words(text)
    # ns-2's packet 0 is the SYN.
    return int(found["packets_sent"]) - int(found.get("flows", 1))


def of_ns3(payload, seconds=None):
    def count(text):
        found = words(text)
        if seconds:
            return int(float(found["mbps"]) * 1e6 * seconds / 8 / payload) + int(found["dropped"])
        return int(found["bytes"]) // payload + int(found["dropped"])

    return count


def ns2_dumbbell(name, *more):
    return ["ns", os.path.join(HERE, "ns2", "dumbbell.tcl"), "-flows", flows(name), *more]


def programs(name):
    """(program, command, how to count its data packets) of a scenario; the first is ours."""
    ours = [OURS, "run", scenario(name), "--json", "--jobs", "1"]
    race = os.path.join(HERE, "ns2", "race.tcl")
    elephants = "-bw_mbps 400 -oneway_ms 120 -queue 8000 -hosts 1 -edge_mbps 4000 -packet 1500 -until_s 60".split()
    return {
        "s1": [
            ("firstflight", ours, of_rows),
            ("ns-2", ["ns", race, "-measure", "0", "-edges", "1"], of_ns2),
            ("ns-2, our links", ["ns", race, "-measure", "0"], of_ns2),
            ("ns-3", [NS3, "s1"], of_ns3(960, 50)),
        ],
        "s2": [
            ("firstflight", ours, of_rows),
            ("ns-2", ns2_dumbbell(name), of_ns2),
            ("ns-3", [NS3, "s2", flows(name)], of_ns3(960)),
        ],
        "s3": [
            ("firstflight", ours, of_rows),
            ("ns-2", ns2_dumbbell(name, *elephants), of_ns2),
            ("ns-3", [NS3, "s3", flows(name)], of_ns3(1460)),
        ],
    }[name]


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


def measure(name, runs, quick):
    """Seven runs each, in turn. Gives rows of (program, runs, [user], packets, peak)."""
    if name != "s1":
        listed, _, _ = run([OURS, "run", scenario(name), "--each-flow", "--csv"])
        with open(flows(name), "w") as out:
            out.write(listed)
        # Of all flows, as the peers have it; the row has those that are measured.
        ours = of_flows(listed)
    missing = []
    there = []
    for program, command, count in programs(name):
        if not present(program):
            missing.append(f"{name} {program}: it is not installed and could not be")
        elif (name, program) in SLOW and quick:
            missing.append(f"{name} {program}: takes minutes; make bench without quick runs it once")
        else:
            there.append([program, command, count, [], 0, 0])
    for turn in range(runs):
        for one in there:
            if turn and (name, one[0]) in SLOW:
                continue
            text, user, peak = run(one[1])
            one[3].append(user)
            one[4] = one[2](text)
            one[5] = max(one[5], peak)
    if name != "s1":
        there[0][4] = ours
    return [(program, times, packets, peak) for program, _, _, times, packets, peak in there], missing


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


def main():
    parser = argparse.ArgumentParser(description="the benchmark scenarios beside ns-2 and ns-3")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="three runs each, and nothing that takes minutes")
    parser.add_argument("--only", default="s1,s2,s3", help="scenarios, by commas")
    parser.add_argument("--history", help="append the figures to this file")
    asked = parser.parse_args()
    names = asked.only.split(",")
    unknown = [name for name in names if name not in GOALS]
    if unknown or asked.runs < 1:
        parser.error(f"--only takes {', '.join(GOALS)}; --runs is at least 1")
    runs = 3 if asked.quick else asked.runs
    os.makedirs(WORK, exist_ok=True)

    head = ("scenario", "program", "runs", "user s min", "median", "ours is faster", "data packets", "packet-hops",
            "ns a hop", "MiB")
    table, history, missing, missed = [head], [], [], []
    day, where, at = time.strftime("%Y-%m-%d"), machine(), commit()
    for name in names:
        found, absent = measure(name, runs, asked.quick)
        missing += absent
        median = statistics.median(found[0][1])
        if median > GOALS[name]:
            missed.append(f"{name} takes {median:.3f} s, and is to take {GOALS[name]} s at most")
        for program, times, packets, peak in found:
            middle, crossed = statistics.median(times), hops(name, program, packets)
            ratio = "" if program == "firstflight" else f"{middle / median:.1f} times"
            table.append((name, program, str(len(times)), f"{min(times):.3f}", f"{middle:.3f}", ratio, str(packets),
                          f"{crossed / 1e6:.2f} M", f"{middle * 1e9 / crossed:.0f}", f"{peak / 1024:.0f}"))
            history.append((day, at, where, name, program, len(times), f"{min(times):.4f}", f"{middle:.4f}", packets,
                            crossed, peak))
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    print(f"\n{where}; {at}\n")
    for row in table:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2])]
        print("  ".join(left + [cell.rjust(width) for cell, width in zip(row[2:], widths[2:])]))
    print()
    for line in missed:
        print(f"over its goal: {line}")
    for line in missing:
        print(f"not run: {line}")
    print("not run: htsim, which no package manager has; bench/README.md has its figures as they were given")
    if asked.history:
        new = not os.path.exists(asked.history)
        with open(asked.history, "a", newline="") as out:
            if new:
                out.write(FIELDS + "\n")
            csv.writer(out, lineterminator="\n").writerows(history)
        print(f"appended to {os.path.relpath(asked.history, ROOT)}")


if __name__ == "__main__":
    main()
