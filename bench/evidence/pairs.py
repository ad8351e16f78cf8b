#!/usr/bin/env python3
"""Measures docs/evidence/pairs.md: each scheme and slow start begin together over one path.

    bench/evidence/pairs.py FIRSTFLIGHT

Some seconds of one core.
"""

import csv
import io
import json
import sys

import evidence

RTTS = ["20ms", "50ms", "100ms", "200ms"]


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    program = sys.argv[1]
    schemes = [json.loads(line) for line in evidence.said([program, "schemes", "--json"]).splitlines()]
    schemes = [one["name"] for one in schemes if one["kind"] == "scheme"]
    rows = [["scheme", *RTTS]]
    refused = []
    for scheme in schemes:
        cells = []
        for rtt in RTTS:
            # A saved path is that of an earlier connection: the link's fair share over this RTT.
            saved = f":saved={int(20e6 / 8 * int(rtt[:-2]) / 1000)}B,rtt={rtt}" if scheme in ("careful-resume", "leap-saved") else ""
            command = [program, "race", "--rate", "40mbit", "--rtt", rtt, "--avoidance", "own", "--timer-noise", "none", "--duration", "5s",
                       "--flow", f"scheme={scheme}{saved}", "--flow", "scheme=slow-start", "--each-flow", "--csv"]
            try:
                found = {row["flow"]: float(row["throughput_bps"]) for row in csv.DictReader(io.StringIO(evidence.said(command)))}
            except evidence.subprocess.CalledProcessError:
                refused.append(scheme)
                break
            one, other = found["0"] / 1e6, found["1"] / 1e6
            cells.append(f"{one:.1f} / {other:.1f}, {(one + other) * 1500 / 1460 / 40:.3f}")
        else:
            rows.append([f"`{scheme}`", *cells])
    evidence.write_table("pairs", "pairs", rows)
    evidence.measured("pairs", "pairs", program)
    if refused:
        print(f"refused: {', '.join(refused)}; data/pairs.toml has to say why", file=sys.stderr)


main()
