#!/usr/bin/env python3
"""Measures docs/evidence/score.md: the tables of the parts of a sweep.

    bench/evidence/score.py DIR [--partial] [--program target/release/firstflight]

DIR is the result of `firstflight sweep scenarios/grid.toml --out DIR`, complete, or with --partial a shard of it. The discussion in
`data/score.toml` is written by hand from the tables: read it again after each run.
"""

import argparse
import json
import math
import pathlib

import evidence


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    arguments.add_argument("folder", metavar="DIR", type=pathlib.Path)
    arguments.add_argument("--partial", action="store_true")
    arguments.add_argument("--program", default="target/release/firstflight")
    given = arguments.parse_args()
    command = [given.program, "score", given.folder.resolve(), "--json", *(["--partial"] if given.partial else [])]
    records = [json.loads(line) for line in evidence.said(command).splitlines()]
    give_up = json.loads((given.folder / "sweep.json").read_text(encoding="utf-8")).get("give_up")
    beyond = f">{give_up}" if give_up else "unfinished"
    groups = {}
    for record in records:
        groups.setdefault((record["axis"], record["class"]), []).append(record)
    (everything, *classes) = [sorted(group, key=by_cost) for group in groups.values()]
    evidence.write_table("score", "standings", standings(everything, beyond))
    evidence.write_table("score", "winners", winners(classes, beyond))
    evidence.measured("score", "the grid", given.program)


def by_cost(one):
    """Returns the order of the tables: the percentiles of the cost, then the fewest runs given up."""
    numbers = (one[f"cost_{at}"] for at in ("median", "p90", "p99"))
    return (*(math.inf if number is None else number for number in numbers), one["unfinished"])


def standings(group, beyond):
    first = group[0]["scheme"]
    head = ["scheme", "law", "given up", "cost", "under 1", "loss, %", "queue, base RTTs", "timeouts", "harm during, %",
            "beyond fair", "within 1 % of the best", f"faster than {first}", "slower"]
    rows = [head]
    for one in group:
        decided = one["races"] - one["races_nobody_finished"]
        rows.append([
            one["scheme"], one["avoidance"] or "several", share(one["unfinished"], one["rows"]),
            three(one, "cost", 1, beyond), share(one["under_ideal"], one["rows"]), three(one, "loss", 100),
            three(one, "queue_rtts", 1), three(one, "timeouts", 1), three(one, "harm_during", 100),
            share(one["beyond_fair_share"], one["beside_tcp"]), share(one["near_best"], decided), *against_first(one),
        ])
    return rows


def winners(classes, beyond):
    rows = [["class", "paths", "lowest median cost", "not distinguished from the first", "faster than it more often",
             "within 1 % of the best"]]
    for group in classes:
        decided = group[0]["races"] - group[0]["races_nobody_finished"]
        least = (f"{one['scheme']} {significant(one['cost_median'], beyond)}" for one in group[:3])
        near = sorted((one for one in group if one["near_best"]), key=lambda one: -one["near_best"])[:3]
        near = (f"{one['scheme']} {100 * one['near_best'] / decided:.0f} %" for one in near)
        same = (one["scheme"] for one in group[1:] if one["told_from_first"] is False)
        faster = (one["scheme"] for one in group[1:] if mark(one) == " <")
        rows.append([f"{group[0]['axis']}: {group[0]['class']}", str(group[0]["paths"]),
                     *(", ".join(names) or "–" for names in (least, same, faster, near))])
    return rows


def mark(one):
    """Returns the mark of the sign test: not distinguished from the first scheme, or faster more often."""
    if one["told_from_first"] is False:
        return " ?"
    return " <" if one["told_from_first"] and one["faster_than_first"] > one["slower_than_first"] else ""


def against_first(one):
    faster, slower = one["faster_than_first"], one["slower_than_first"]
    if not faster + slower:
        return "–", "–"
    races = faster + slower + one["as_fast_as_first"]
    return share(faster, races) + mark(one), share(slower, races)


def three(one, name, factor, beyond="–"):
    if not one[f"{name}_rows"]:
        return "–"
    values = (one[f"{name}_{at}"] for at in ("median", "p90", "p99"))
    return " / ".join(significant(None if value is None else value * factor, beyond) for value in values)


def share(part, whole):
    return f"{significant(100 * part / whole)} %" if whole else "–"


def significant(value, missing="–"):
    """Returns a number with three significant digits, as the program prints it."""
    if value is None:
        return missing
    if value == 0:
        return "0"
    size = abs(value)
    least = [99.95, 9.995, 0.9995, 0.09995, 0.009995, 0.0009995, 0.00009995]
    decimals = next((digits for digits, first in enumerate(least) if size >= first), 7)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals >= 4 else text


if __name__ == "__main__":
    main()
