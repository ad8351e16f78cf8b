#!/usr/bin/env python3
"""Measures the races of docs/evidence/linux.md: where `--stack rfc` and `--stack linux` differ.

    bench/evidence/stacks.py FIRSTFLIGHT

Half a minute of one core.
"""

import csv
import io
import sys

import evidence

CASES = [
    ("20 Mbit/s, 80 ms, 2 MB", "--rate 20mbit --rtt 80ms --size 2MB", ["slow-start", "hystart-linux", "suss"], "packets_lost", "lost"),
    ("10 Mbit/s, 40 ms, 30 kB, 10 % loss, 1000 runs", "--rate 10mbit --rtt 40ms --size 30kB --loss 10% --runs 1000",
     ["slow-start", "hystart-linux"], None, None),
    ("20 Mbit/s, 80 ms, 2 MB, 1 % loss, 200 runs", "--rate 20mbit --rtt 80ms --size 2MB --loss 1% --runs 200",
     ["slow-start", "hystart-linux"], None, None),
    ("20 Mbit/s, 80 ms, 3 MB, `--ecn --queue codel:1000p,ecn`", "--rate 20mbit --rtt 80ms --size 3MB --ecn --queue codel:1000p,ecn",
     ["hystart-linux", "slow-start"], "packets_marked", "marked"),
    ("100 Mbit/s, 20 ms, 1 MB, 30 packets, `--recovery newreno`",
     "--rate 100mbit --rtt 20ms --size 1MB --queue 30p --recovery newreno", ["hystart-linux", "slow-start"], "packets_lost", "lost"),
]


def cell(row, field, unit):
    if field:
        return f"{float(row['fct_s']):.3f} s, {row[field]} {unit}"
    return f"{float(row['fct_s']):.3f} ± {float(row['fct_s_ci95']):.3f} s"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    rows = [["path", "scheme", "`rfc`", "`linux`"]]
    for path, options, schemes, field, unit in CASES:
        cells = {}
        for stack in ("rfc", "linux"):
            command = [sys.argv[1], "race", *options.split(), "--avoidance", "own", "--stack", stack, "--schemes", ",".join(schemes),
                       "--csv"]
            for row in csv.DictReader(io.StringIO(evidence.said(command))):
                cells.setdefault(row["scheme"], []).append(cell(row, field, unit))
        for scheme in schemes:
            rows.append([path, f"`{scheme}`", *cells[scheme]])
    evidence.write_table("linux", "races", rows)
    evidence.measured("linux", "races", sys.argv[1])


main()
