#!/usr/bin/env python3
"""Measures docs/evidence/territories.md: the start-ups for users in two territories.

    bench/evidence/territories.py [PROGRAM]

The findings in `data/territories.toml` are written by hand from the tables: read them again after each run.
"""

import json
import sys
import tempfile

import evidence
from score import by_cost, mark, share, significant, three, winners

TERRITORIES = ["DE", "IN"]
CORRELATIONS = ["0", "0.5", "0.9"]
FILE = "scenarios/population.toml"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/firstflight"
    medians = [["scheme", *(f"{territory}, {correlation}" for territory in TERRITORIES for correlation in CORRELATIONS)]]
    columns = []
    for territory in TERRITORIES:
        for correlation in CORRELATIONS:
            groups = scored(program, f"mlab:{territory},2025-10,rank-correlation={correlation}")
            (everything, *classes) = [sorted(group, key=by_cost) for group in groups.values()]
            columns.append({one["scheme"]: interval(one, "cost_median") for one in everything})
            if correlation == "0.5":
                evidence.write_table("territories", f"{territory.lower()}-standings", standings(everything))
                evidence.write_table("territories", f"{territory.lower()}-winners", winners(classes, ">20"))
    order = list(columns[1])
    evidence.write_table("territories", "medians", medians + [[scheme, *(column[scheme] for column in columns)] for scheme in order])
    evidence.measured("territories", "the sweeps", program)


def scored(program, population):
    with tempfile.TemporaryDirectory() as folder:
        evidence.said([program, "sweep", FILE, "--population", population, "--out", folder])
        groups = {}
        for line in evidence.said([program, "score", folder, "--json"]).splitlines():
            record = json.loads(line)
            groups.setdefault((record["axis"], record["class"]), []).append(record)
        return groups


def interval(one, name):
    """Returns a quantile with its 95 % confidence interval."""
    value, low, high = (significant(one[f"{name}{end}"], ">20") for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})"


def standings(group):
    first = group[0]["scheme"]
    rows = [["scheme", "cost, median", "90th percentile", "99th percentile", "completion, ms", "loss, %", "given up",
             "within 1 % of the best", f"faster than {first}", "slower"]]
    for one in group:
        races = one["faster_than_first"] + one["slower_than_first"] + one["as_fast_as_first"]
        against = [share(one["faster_than_first"], races) + mark(one), share(one["slower_than_first"], races)]
        rows.append([
            one["scheme"], interval(one, "cost_median"), interval(one, "cost_p90"), interval(one, "cost_p99"),
            three(one, "fct_s", 1000, "never"), three(one, "loss", 100), share(one["unfinished"], one["rows"]),
            share(one["near_best"], one["races"] - one["races_nobody_finished"]),
            *(against if one is not group[0] else ["–", "–"]),
        ])
    return rows


if __name__ == "__main__":
    main()
