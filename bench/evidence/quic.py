#!/usr/bin/env python3
"""Measures the tables of docs/evidence/quic.md: one scheme in five hosts, QUIC's own start-ups over the grid.

    bench/evidence/quic.py hosts [PROGRAM]   as root, on a machine that does nothing else
    bench/evidence/quic.py grid FOLDER       from a finished sweep of scenarios/quic.toml

The findings in `data/quic.toml` are written by hand from the tables: read them again after each run.
"""

import json
import subprocess
import sys

import evidence
from score import by_cost, share, significant

PATHS = {
    "slow": "--rate 5mbit --rtt 100ms --queue 1bdp --size 500kB",
    "home": "--rate 20mbit --rtt 40ms --queue 50p --size 2MB",
    "fibre": "--rate 100mbit --rtt 20ms --queue 1bdp --size 5MB",
    "long": "--rate 50mbit --rtt 200ms --queue 1bdp --size 5MB",
    "shallow": "--rate 50mbit --rtt 60ms --queue 0.2bdp --size 3MB",
    "deep": "--rate 10mbit --rtt 60ms --queue 4bdp --size 1MB",
}
SAVED = {"careful-resume": ":saved=100kB,rtt=40ms", "leap-saved": ":saved=100kB,rtt=40ms"}
HOSTS = ["sim-rfc", "live-rfc", "sim-bytes", "kernel-bpf", "noq", "quinn"]
COMMON = "--cross none --ack delayed"


def main():
    what, *rest = sys.argv[1:]
    {"hosts": hosts, "grid": grid}[what](*rest)


def hosts(program="target/release/firstflight"):
    names = [line["name"] for line in records([program, "schemes", "--json"]) if line["kind"] == "scheme"]
    names = [name for name in names if name != "quick-start"]
    for name, path in PATHS.items():
        rows = [["scheme", *HOSTS]]
        cells = {}
        chosen = ",".join(name + SAVED.get(name, "") for name in names)
        shared = f"{path} {COMMON} --runs 1".split()
        for row in records([program, "compare", *shared, "--habitats", "sim-rfc,live-rfc,kernel-bpf", "--avoidance", "reno", "--schemes", chosen, "--json"]):
            cells[row["scheme"], row["habitat"]] = cell(row["fct_s"], row["packets_lost"], row["exit_cause"])
        for host, option in [("sim-bytes", "--slow-start-counts=bytes"), ("noq", "--stack=noq"), ("quinn", "--stack=quinn")]:
            for one in names:
                cells[one, host] = simulated([program, "race", *shared, "--avoidance", "reno", option, "--schemes", one + SAVED.get(one, "")])
        for one in names:
            rows.append([one, *(cells.get((one, host), "refused") for host in HOSTS)])
        evidence.write_table("quic", f"hosts-{name}", rows)
    evidence.measured("quic", "the five hosts", program)


def simulated(command):
    """Returns the cell of the run of a race with the middle completion time."""
    found = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=evidence.ROOT)
    if found.returncode:
        return "refused"
    runs = [json.loads(line) for line in found.stdout.splitlines()]
    runs = sorted((run for run in runs if run.get("fct_s")), key=lambda run: run["fct_s"])
    middle = runs[len(runs) // 2]
    return cell(middle["fct_s"], middle["packets_lost"], middle["exit_cause"])


def grid(folder, program="target/release/firstflight"):
    groups = {}
    for record in records([program, "score", folder, "--json", "--partial"]):
        groups.setdefault((record["axis"], record["class"]), []).append(record)
    everything = sorted(next(iter(groups.values())), key=by_cost)
    rows = [["controller in noq", "cost, median", "90th percentile", "90th percentile of the loss", "loss, mean in the queue", "given up"]]
    for one in everything:
        cost, high = (significant(one[f"cost_{name}"], ">20") for name in ("median", "p90"))
        interval = f"{significant(one['cost_median_low'], '>20')} to {significant(one['cost_median_high'], '>20')}"
        rows.append([one["scheme"], f"{cost} ({interval})", high, share(one["loss_p90"], 1), share(one["queue_loss_mean"], 1), f"{one['unfinished']} of {one['rows']}"])
    evidence.write_table("quic", "grid", rows)
    evidence.measured("quic", "the grid", program)


def cell(fct, lost, cause):
    if fct is None:
        return "not finished"
    return f"{fct * 1000:.0f} ms, {lost:.0f}, {cause or 'none'}"


def records(command):
    return [json.loads(line) for line in evidence.said(command).splitlines()]


if __name__ == "__main__":
    main()
