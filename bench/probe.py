#!/usr/bin/env python3
"""`firstflight probe` over emulated paths beside the truth: to a reflector, and by the ACKs of a server. Needs root.

bench/probe.py FIRSTFLIGHT [--paths N] [--first N] [--seed N] [--probings N] [--by reflector,acks] [--json FILE]

The paths are drawn as those of papers/past/text-ptr.toml are, from a seed: 2 to 50 Mbit/s and 10 to 200 ms, both even in the
logarithm, constant-rate traffic across of 5 to 90 % of the rate, 100 packets of queue. What counts of a path is the median of its
probings. A path whose run is void is run again, up to three times; one that stays void is named and counts as missed. Criterion:
PTR within 15 % of the truth on 80 % of the paths, with at most 10 round trips and 300 packets a probing. Exits with 1 if it is missed."""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

PACKET = 1500
FAR = {"reflector": ("reflect --bind 10.0.0.2 --port 4432", 4432), "acks": ("serve . --bind 10.0.0.2 --port 4433", 4433)}
WITHIN, SHARE, MOST_TRIPS, MOST_PACKETS = 0.15, 0.8, 10, 300
# Round trips before the trains: who is there, and of a server the connection.
BEFORE = {"reflector": 1, "acks": 2}


def paths(seed, count):
    """Rate in bit/s, round trip in seconds and traffic across in bit/s, of each path."""
    draw = random.Random(seed)
    even = lambda least, most: math.exp(draw.uniform(math.log(least), math.log(most)))
    drawn = []
    for _ in range(count):
        rate, rtt = round(even(2e6, 50e6)), round(even(10e-3, 200e-3), 4)
        drawn.append((rate, rtt, round(rate * draw.uniform(0.05, 0.9))))
    return drawn


def run(program, path, seed, by, probings):
    """The rows of a path's probings, how often a run was void, and how late its packets were; no rows if all were void."""
    rate, rtt, cross = path
    far, port = FAR[by]
    near = f"probe 10.0.0.2:{port} --by {by} --runs {probings} --each-run --json"
    options = f"--rate {rate}bit --rtt {rtt * 1e3:g}ms --cross {cross}bit --queue 100p --packet {PACKET}B --seed {seed}"
    words = [program, "emulate", *options.split(), "--json", "--", program, *near.split(), "--", program, *far.split()]
    for void in range(4):
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not done.stdout:
            sys.exit(done.stderr)
        told = json.loads(done.stdout)
        if not told["void"]:
            break
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    if told["a"]["exit_code"] == 2 or told["b"]["exit_code"] == 2:
        sys.exit(done.stderr)
    if len(rows) != probings:
        print(f"  {' '.join(words)}\n{done.stderr}", file=sys.stderr)
    return [] if told["void"] else rows, void + told["void"], told["lateness"]["p99_us"]


def median(values):
    """Of values of which some may be undefined: an undefined one is the greatest, so that most of them must be there."""
    values = sorted(math.inf if value is None else value for value in values)
    middle = statistics.median_low(values) if values else math.inf
    return None if math.isinf(middle) else middle


def share(of, all_of):
    return f"{of} of {all_of} ({100 * of / all_of:.0f} %)" if all_of else "-"


def tell(by, found):
    """The figures of one way; whether the criterion holds."""
    errors = {key: [one[key] for one in found] for key in ("ptr_error", "igi_error", "capacity_error")}
    near = {key: sum(error is not None and abs(error) <= WITHIN for error in all_of) for key, all_of in errors.items()}
    have = [one for one in found if one["ptr_error"] is not None]
    print(f"\n| {by} | |\n|---|---|")
    print(f"| PTR within 15 % of the truth, medians | {share(near['ptr_error'], len(found))} |")
    for low, high in ((0, 0.3), (0.3, 0.6), (0.6, 1)):
        part = [one for one in found if low <= one["share"] < high]
        of = sum(one["ptr_error"] is not None and abs(one["ptr_error"]) <= WITHIN for one in part)
        print(f"| where {low:.0%} to {high:.0%} is available | {share(of, len(part))} |")
    if have:
        ptr = sorted(one["ptr_error"] for one in have)
        print(f"| its error: least, median, greatest | {ptr[0]:+.1%}, {statistics.median(ptr):+.1%}, {ptr[-1]:+.1%} |")
    print(f"| IGI within 15 % | {share(near['igi_error'], len(found))} |")
    print(f"| the capacity within 15 % | {share(near['capacity_error'], len(found))} |")
    single = [row for one in found for row in one["rows"]]
    print(f"| probings with an estimate | {share(sum(row['ptr_bps'] is not None for row in single), len(single))} |")
    between = [(row, one["truth"]) for one in found for row in one["rows"] if row["low_bps"] and row["high_bps"]]
    held = sum(row["low_bps"] <= truth <= row["high_bps"] for row, truth in between)
    print(f"| the truth is between at least and at most | {share(held, len(between))} |")
    trips = [row["trains"] + BEFORE[by] for row in single]
    packets = [row["packets"] for row in single]
    if single:
        print(f"| round trips a probing: mean, most | {statistics.mean(trips):.1f}, {max(trips)} |")
        print(f"| packets of trains a probing: mean, most | {statistics.mean(packets):.0f}, {max(packets)} |")
        print(f"| time a probing: median, most | {statistics.median(row['elapsed_s'] for row in single):.2f} s, "
              f"{max(row['elapsed_s'] for row in single):.2f} s |")
    print(f"| paths void, runs void | {sum(not one['rows'] for one in found)}, {sum(one['void'] for one in found)} |")
    late = sorted(one["p99_us"] for one in found)
    print(f"| 99th percentile of lateness, µs: median, most | {statistics.median(late):.0f}, {late[-1]:.0f} |")
    frugal = all(trip <= MOST_TRIPS for trip in trips) and all(packet <= MOST_PACKETS for packet in packets)
    return near["ptr_error"] >= SHARE * len(found) and frugal


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--paths", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="only so many of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--probings", type=int, default=5)
    parser.add_argument("--by", default="reflector,acks")
    parser.add_argument("--json", help="write every path with its probings")
    given = parser.parse_args()
    program = os.path.abspath(given.program)
    drawn = paths(given.seed, given.paths)[: given.first or None]
    ways = given.by.split(",")
    found = {by: [] for by in ways}
    began = time.time()
    for place, path in enumerate(drawn):
        rate, rtt, cross = path
        truth = rate - cross
        for by in ways:
            rows, void, late = run(program, path, given.seed + place, by, given.probings)
            off = lambda field, right: (lambda bps: bps and bps / right - 1)(median([row[field] for row in rows]))
            one = {"path": place, "by": by, "rate": rate, "rtt": rtt, "truth": truth, "share": truth / rate, "void": void,
                   "p99_us": late, "ptr_error": off("ptr_bps", truth), "igi_error": off("igi_bps", truth),
                   "capacity_error": off("capacity_bps", rate), "rows": rows}
            found[by].append(one)
            error = "none" if one["ptr_error"] is None else f"{one['ptr_error']:+.1%}"
            print(f"path {place}, {by}: {rate / 1e6:.1f} Mbit/s, {rtt * 1e3:.1f} ms, {one['share']:.0%} available: PTR {error}, "
                  f"{void} void", file=sys.stderr)
            if given.json:
                with open(given.json, "w") as file:
                    json.dump(found, file)
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{len(drawn)} paths of seed {given.seed}, {given.probings} probings each, in {time.time() - began:.0f} s; load {load} on "
          f"{os.cpu_count()} cores, kernel {os.uname().release}, {time.strftime('%-d %b %Y', time.gmtime())}.")
    held = [tell(by, found[by]) for by in ways]
    for by, holds in zip(ways, held):
        print(f"\n{by}: the criterion {'holds' if holds else 'is MISSED'}.")
    sys.exit(not all(held))


main()
