#!/usr/bin/env python3
"""Measures docs/evidence/kernel-parity.md: reads the outputs of two commands into its tables.

    kernel/check --acks 10000 FIRSTFLIGHT >OUTPUT && bench/evidence/kernel.py parity FIRSTFLIGHT OUTPUT
    bench/kernel.py --seconds 2 FIRSTFLIGHT >OUTPUT && bench/evidence/kernel.py cost FIRSTFLIGHT OUTPUT

Both commands need root. `cost` needs a machine without other load. The findings in `data/kernel-parity.toml` are written by hand from the
tables: read them again after each run.
"""

import os
import re
import sys

import evidence

CHECKED = re.compile(r"(\S+): (\d+) decisions, of which (\d+) at ACKs, in (\d+) connections(, all equal|, not all equal|); "
                     r"state (\S+) bytes; drops (\S+); ")
COST = ["scheme or policy", "loaded after, ms", "MB", "CPU s/GB", "of reno's", "ns an ACK", "at ACKs"]


def parity(lines):
    defaults = [["scheme or policy", "state, bytes", "decisions equal", "at ACKs", "connections", "drops"]]
    varied = [["scheme or policy", "decisions equal", "at ACKs"]]
    for line in lines:
        if not (found := CHECKED.match(line)):
            continue
        scheme, decisions, acks, connections, equal, state, drops = found.groups()
        decisions = f"{int(decisions):,} of {int(decisions):,}" if equal == ", all equal" else f"not all of {int(decisions):,}"
        if ":" in scheme:
            varied.append([f"`{scheme}`", decisions, f"{int(acks):,}"])
        else:
            defaults.append([scheme, state, decisions, f"{int(acks):,}", connections, drops])
    if len(defaults) == 1 or len(varied) == 1:
        raise SystemExit("the output has no row of kernel/check with and without parameters")
    evidence.write_table("kernel-parity", "parity", defaults)
    evidence.write_table("kernel-parity", "parameters", varied)


def cost(lines):
    rows = [COST]
    for line in lines:
        words = line.split()
        if len(words) == 7 and words[0] not in ("load,", "reno") and words[1] != "-":
            rows.append(words)
        elif words and words[0] == "reno":
            rows.insert(1, ["reno of the kernel", "–", words[2], words[3], words[4], "–", "–"])
    if len(rows) == 1:
        raise SystemExit("the output has no row of bench/kernel.py")
    evidence.write_table("kernel-parity", "cost", rows)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("parity", "cost"):
        raise SystemExit(__doc__)
    with open(sys.argv[3], encoding="utf-8") as file:
        lines = list(file)
    {"parity": parity, "cost": cost}[sys.argv[1]](lines)
    evidence.measured("kernel-parity", sys.argv[1], sys.argv[2], machine=f"Linux {os.uname().release}, load {os.getloadavg()[0]:.1f}")


main()
