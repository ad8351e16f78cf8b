#!/usr/bin/env python3
"""Figures of time of emulated paths: medians of interleaved runs with real packets. Needs root, iperf3 and ping.

bench/emulate.py FIRSTFLIGHT [--runs N] [--only CASE,...]

A void run is repeated up to three times; a case whose runs stay void is named. Nothing else should run beside it."""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys

# Name: options of the path, commands at A and at B, and the nominal rate in bit/s.
UDP = "iperf3 -u -l 1448 -b {0}M -c {{B}} -t 4 -i 0", "iperf3 -s -1"
# CUBIC that the kernel does not pace.
PLAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sender.py")
TCP = f"python3 {shlex.quote(PLAIN)} send {{B}} 5 cubic", f"python3 {shlex.quote(PLAIN)} receive"
# iperf3 sets the algorithm of a connection that is open already: where the system's default is BBR, the kernel paces this CUBIC.
IPERF3 = "iperf3 -c {B} -t 5 -i 0 -C cubic", "iperf3 -s -1"
PACED = "iperf3 -c {B} -t 5 -i 0 -C bbr", "iperf3 -s -1"


def udp(rate):
    client, server = UDP
    return f"--rate {rate}mbit --rtt 40ms --queue 1bdp", client.format(round(rate * 1.3)), server, rate * 10**6


def tcp(rate, commands=TCP):
    return f"--rate {rate}mbit --rtt 40ms --queue 1bdp", *commands, rate * 10**6


CASES = {
    "ping 20": ("--rate 20mbit --rtt 40ms", "ping -q -c 100 -i 0.02 {B}", "sleep 60", None),
    **{f"udp {rate}": udp(rate) for rate in (2, 20, 50, 100, 400)},
    **{f"plain cubic {rate}": tcp(rate) for rate in (20, 100, 400)},
    **{f"iperf3 -C cubic {rate}": tcp(rate, IPERF3) for rate in (100, 400)},
    **{f"iperf3 -C bbr {rate}": tcp(rate, PACED) for rate in (100, 400)},
}


def run(program, case):
    """One run, repeated while void: its result, what the programs said, and how many were void."""
    options, client, server, _ = case
    for void in range(4):
        words = [program, "emulate", *options.split(), "--json", "--", *shlex.split(client), "--", *shlex.split(server)]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if not done.stdout:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)
        if not result["void"]:
            break
    return result, done.stderr, void + result["void"]


def figures(name, case, runs):
    nominal = case[3]
    way = [result["forward"] for result, _, _ in runs]
    late = [result["lateness"] for result, _, _ in runs]
    median = statistics.median
    busiest = [one["busiest_second_bps"] for one in way if one["busiest_second_bps"]]
    rate = off = rtt = "-"
    if nominal and busiest:
        rate = f"{median(busiest) / 1e6:.3f}"
        off = f"{100 * (median(busiest) / nominal - 1):+.2f} %"
    least = [re.search(r"rtt min/avg/max/mdev = ([0-9.]+)/([0-9.]+)", said) for _, said, _ in runs]
    if all(least):
        rtt = " / ".join(f"{median(float(one[at]) for one in least):.3f}" for at in (1, 2))
    delay = sum(median(result[to]["base_delay_ms"] for result, _, _ in runs) for to in ("forward", "reverse"))
    cells = [
        name,
        str(len(runs)),
        str(sum(void for _, _, void in runs)),
        rate,
        off,
        rtt,
        f"{delay:.3f}",
        *(f"{median(one[key] for one in late):.0f}" for key in ("mean_us", "p50_us", "p99_us", "max_us")),
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=",".join(CASES))
    given = parser.parse_args()
    wanted = {name: CASES[name] for name in given.only.split(",")}
    runs = {name: [] for name in wanted}
    for number in range(given.runs):
        for name, case in wanted.items():
            print(f"run {number + 1} of {given.runs}: {name}", file=sys.stderr)
            runs[name].append(run(given.program, case))
    default = open("/proc/sys/net/ipv4/tcp_congestion_control").read().strip()
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"Medians of {given.runs} interleaved runs; load {load} on {os.cpu_count()} cores; kernel {os.uname().release}, whose default is "
          f"{default}.\n")
    print("| case | runs | void | busiest second, Mbit/s | off | ping's least / mean RTT, ms | least delays, ms "
          "| late, mean µs | p50 | p99 | most |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, case in wanted.items():
        print(figures(name, case, runs[name]))


main()
