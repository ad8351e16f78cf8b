#!/usr/bin/env python3
"""Schemes on real packets beside the simulator, over six paths: medians of interleaved runs. Needs root.

bench/habitats.py FIRSTFLIGHT [--runs N] [--only PATH,...] [--habitats LIST]

A void run is repeated up to three times; runs that stay void are counted and do not count. Nothing else should run beside it.
A difference that matters is marked: an FCT by more than 5 %, drops by more than 3 packets and 5 %, a rate found by more than 10 %."""

import argparse
import json
import os
import subprocess
import sys

SCHEMES = "slow-start,slow-start-paced,hystart++,limited,paced"

# Name: options of the path, its rate in bit/s, and by how much its runs are more than those of the others, for what is drawn.
PATHS = {
    "20 Mbit/s, 40 ms, 50 p, 2 MB, every segment acknowledged":
        ("--rate 20mbit --rtt 40ms --queue 50p --size 2MB --ack every", 20e6, 1),
    "5 Mbit/s, 100 ms, 1 BDP, 1 MB, delayed ACKs":
        ("--rate 5mbit --rtt 100ms --queue 1bdp --size 1MB --ack delayed", 5e6, 1),
    "50 Mbit/s, 20 ms, 0.5 BDP, 4 MB, every segment acknowledged":
        ("--rate 50mbit --rtt 20ms --queue 0.5bdp --size 4MB --ack every", 50e6, 1),
    "100 Mbit/s, 60 ms, 2 BDP, 10 MB, delayed ACKs":
        ("--rate 100mbit --rtt 60ms --queue 2bdp --size 10MB --ack delayed", 100e6, 1),
    "10 Mbit/s, 200 ms, 3 BDP, 2 MB, Linux's ACKs":
        ("--rate 10mbit --rtt 200ms --queue 3bdp --size 2MB --ack linux", 10e6, 1),
    "20 Mbit/s, 80 ms, 1 BDP, 1 MB, 0.5 % lost at random, delayed ACKs":
        ("--rate 20mbit --rtt 80ms --queue 1bdp --size 1MB --loss 0.5% --ack delayed", 20e6, 4),
}

# From which difference on a number matters: in its unit, and as a share.
MATTERS = {"fct_s": (0, 0.05), "packets_lost": (3, 0.05), "exit_rate_bps": (0, 0.1)}


def rows(program, options, runs, habitats):
    words = [program, "compare", *options.split(), "--schemes", SCHEMES, "--runs", str(runs), "--json"]
    words += ["--habitats", habitats] if habitats else []
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not done.stdout:
        sys.exit(done.stderr)
    print(done.stderr, end="", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def beside(row, field, show):
    """A number, its range, and its difference from the simulator's; bold if it matters."""
    value, difference = row[field], row[f"{field}_difference"]
    if value is None:
        return "-"
    text = show(value)
    if row["runs"] > 1 and row[f"{field}_min"] != row[f"{field}_max"]:
        text += f" ({show(row[f'{field}_min'])}-{show(row[f'{field}_max'])})"
    if difference is None:
        return text
    theirs = value - difference
    absolute, share = MATTERS[field]
    matters = abs(difference) > max(absolute, share * abs(theirs))
    is_count = field == "packets_lost"
    text += f" {difference:+.4g}" if is_count else f" {100 * difference / theirs:+.1f} %" if theirs else ""
    return f"**{text}**" if matters else text


def figures(row, rate):
    found = beside(row, "exit_rate_bps", lambda bps: f"{bps / 1e6:.2f}")
    if row["exit_rate_bps"] is not None:
        found += f"; of the link {100 * (row['exit_rate_bps'] / rate - 1):+.1f} %"
    habitat = row["habitat"] + (f" {row['congestion_control']}" if row["congestion_control"] else "")
    cells = [
        row["scheme"],
        habitat,
        f"{row['runs']}" + (f" ({row['void']} void)" if row["void"] else ""),
        beside(row, "fct_s", lambda s: f"{s:.3f}"),
        beside(row, "packets_lost", lambda packets: f"{packets:g}"),
        row["exit_cause"] or "-",
        found,
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="numbers of paths, from 1")
    parser.add_argument("--habitats")
    given = parser.parse_args()
    wanted = [int(place) - 1 for place in given.only.split(",")] if given.only else range(len(PATHS))
    print(f"Medians of {given.runs} interleaved runs, with the least and the greatest; {os.cpu_count()} cores, kernel "
          f"{os.uname().release}.")
    for place in wanted:
        name, (options, rate, more) = list(PATHS.items())[place]
        print(f"\n{name}; load {os.getloadavg()[0]:.1f}:\n", flush=True)
        print("| scheme | habitat | runs | FCT, s | drops | left by | found, Mbit/s |")
        print("|---|---|---:|---|---|---|---|")
        for row in rows(given.program, options, given.runs * more, given.habitats):
            print(figures(row, rate), flush=True)


main()
