#!/usr/bin/env python3
"""Measures the random races of docs/evidence/inspect.md: reads the output of the test of agreement into its tables.

    RACES=5000 SEED=20261125 THREADS=2 cargo test --profile quick -p firstflight-fuzz-bodies --test it agreement -- --nocapture \\
        >OUTPUT && bench/evidence/agreement.py OUTPUT

The findings in `data/inspect.toml` are written by hand from the tables: read them again after each run.
"""

import re
import sys

import evidence

CAUSE = re.compile(r" *(\d+)  (\S+) reported as (\S+)$")
SCHEMES = "schemes: "
VERDICT = re.compile(r" *(\d+)  ([^:]+): (Agrees|Nature|Listed|Undefined|Wrong)(?:\(\"?(.*?)\"?\))?$")

def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = list(file)
    causes, verdicts, schemes = {}, {}, []
    for line in lines:
        if line.startswith(SCHEMES):
            schemes = line[len(SCHEMES):].split()
        elif found := CAUSE.match(line):
            causes.setdefault(found[2], []).append((int(found[1]), found[3]))
        elif found := VERDICT.match(line):
            verdicts.setdefault(found[2], []).append((int(found[1]), found[3], found[4]))
    if not causes or not verdicts or not schemes:
        raise SystemExit("the output has no table of the test of agreement")
    exits = sum(count for count, *_ in verdicts["exit"])
    rows = [["Recorded", "reported as"]]
    for cause, reported in sorted(causes.items()):
        reported.sort(key=lambda one: -one[0])
        words = (f"{word if word == 'undefined' else f'`{word}`'} {count:,}" for count, word in reported)
        rows.append([f"{cause} ({sum(count for count, _ in reported):,})", ", ".join(words)])
    evidence.write_table("inspect", "causes", rows)
    rows = [["field", "compared", "agrees", "undefined", "differs", "wrong"]]
    for field, counts in verdicts.items():
        sums = dict.fromkeys(["Agrees", "Undefined", "Nature", "Wrong"], 0)
        for count, verdict, _ in counts:
            sums["Wrong" if verdict == "Listed" else verdict] += count
        rows.append([field, f"{sum(sums.values()):,}", *(f"{count:,}" for count in sums.values())])
    evidence.write_table("inspect", "fields", rows)
    for which, kinds, head in (("differs", ["Nature"], "Differs by"), ("wrong", ["Listed", "Wrong"], "Wrong because")):
        counts = sorted(((count, why) for count, kind, why in verdicts["exit"] if kind in kinds), reverse=True)
        rows = [[head, f"of {exits:,}"], *([why or "none of these", str(count)] for count, why in counts)]
        evidence.write_table("inspect", which, rows)
    evidence.set_list("inspect", "names", schemes)
    evidence.measured("inspect", "random paths")


main()
