#!/usr/bin/env python3
"""Measures docs/evidence/ns2.md: the built-in path in Firstflight and in ns-2.

    bench/evidence/ns2.py FIRSTFLIGHT

Half a minute of one core. ns-2's results are the files of bench/ns2, which `bench/ns2/reference.sh` makes. The tables of restarts and of
CPU time are recorded by hand in `data/ns2`.
"""

import csv
import io
import statistics
import sys

import evidence

LOADS = ["0", "10", "20", "30", "40", "50", "60", "70", "80", "90"]
FIELDS = [("throughput_bps", 1e-6, "goodput_mbps"), ("su_time_s", 1, "su_time_s"), ("su_loss", 1, "su_loss"),
          ("cwnd_before_first_cut_packets", 1, "cwnd_before_first_cut"), ("timeouts", 1, "timeouts")]


def reference(name):
    """Returns the rows of ns-2's results by load of cross traffic."""
    rows = {}
    with open(evidence.ROOT / "bench" / "ns2" / f"{name}.csv", encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["cbr_mbps"], []).append(row)
    return rows


def race(program, load, seed, *options):
    """Returns the row of one race of slow start over the built-in path."""
    cross = f"{load}mbit" if load != "0" else "none"
    command = [program, "race", "--schemes", "slow-start", "--cross", cross, "--seed", str(seed), *options, "--csv"]
    return next(csv.DictReader(io.StringIO(evidence.said(command))))


def mean(rows, column, factor=1):
    return statistics.fmean(float(row[column]) * factor for row in rows if row[column])


def share(ours, theirs):
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else "equal" if ours == theirs else f"{ours:.3f} more"


def results(plain, jittered):
    rows = [["cross, Mbit/s", "throughput, Mbit/s", "su-time, s", "su-loss", "cwnd before the first cut", "timeouts", "throughput, jitter",
             "su-time, jitter", "su-loss, jitter", "of 12 with a timeout in start-up"]]
    for load in LOADS:
        few, many = plain[load], jittered[load]

        def spread(column, digits):
            values = [float(row[column]) for row in many if row[column]]
            return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"

        timeouts = sum(float(row["su_timeouts"]) > 0 for row in many)
        rows.append([load, f"{mean(few, 'throughput_mbps'):.1f}", f"{mean(few, 'su_time_s'):.2f}", f"{mean(few, 'su_loss'):.3f}",
                     f"{mean(few, 'cwnd_before_first_cut'):.0f}", f"{mean(few, 'timeouts'):.0f}",
                     f"{statistics.median(float(row['throughput_mbps']) for row in many):.1f}", spread("su_time_s", 2), spread("su_loss", 3),
                     str(timeouts)])
    return rows


def compared(program, plain):
    rows = [["cross, Mbit/s", "throughput", "su-time, s", "su-loss", "cwnd before the first cut", "timeouts a run"]]
    for load in LOADS:
        ours = [race(program, load, seed, "--recovery", "ns2-sack1") for seed in (1, 2, 3)]
        cells = [load]
        for field, factor, column in FIELDS:
            one, other = mean(ours, field, factor), mean(plain[load], column)
            cells.append(f"{one:.3f} / {other:.3f} ({share(one, other)})")
        rows.append(cells)
    return rows


def newreno(program, theirs):
    rows = [["cross, Mbit/s", "ns-2", "`--limited-transmit ns2`", "`rfc3042` (the default)", "lost in the run, ours / ns-2"]]
    for load in LOADS:
        other = next(row for row in theirs[load] if row["seed"] == "1")
        options = ["--recovery", "newreno", "--min-rto", "1s", "--limited-transmit"]
        alike, rfc = (race(program, load, 1, *options, rule) for rule in ("ns2", "rfc3042"))
        time = float(other["su_time_s"])
        cells = (f"{float(one['su_time_s']):.3f} ({share(float(one['su_time_s']), time)})" for one in (alike, rfc))
        rows.append([load, f"{time:.3f}", *cells, f"{alike['packets_lost']} / {other['packets_lost']}"])
    return rows


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    program, plain = sys.argv[1], reference("reference")
    evidence.write_table("ns2", "results", results(plain, reference("reference-jitter")))
    evidence.write_table("ns2", "compared", compared(program, plain))
    evidence.write_table("ns2", "newreno", newreno(program, reference("reference-newreno")))
    evidence.measured("ns2", "the built-in path", program)


main()
