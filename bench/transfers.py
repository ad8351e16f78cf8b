#!/usr/bin/env python3
"""50 MB over the loopback, every byte checked, in turn: the endpoint on sockets, the kernel's TCP, and quinn. Medians.

bench/transfers.py TRANSFER PEERS [--runs N] [--bytes N]"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PORT = 14433
# Name: the program, the words that say what of it, and further words of the sender.
LIVE = {
    name: ("transfer", name, [])
    for name in ("slow-start", "slow-start-paced", "hystart++", "hystart++:avoidance=cubic", "paced")
}
SINGLY = {f"{name}, singly": ("transfer", name, ["singly"]) for name in ("slow-start", "hystart++:avoidance=cubic")}
CASES = {**LIVE, **SINGLY, "quinn, CUBIC, encrypted": ("peers", None, []), "the kernel's TCP": ("transfer", "tcp", [])}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transfer")
    parser.add_argument("peers")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--bytes", type=int, default=50_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firstflight-transfers") as folder:
        certificate = f"{folder}/certificate"
        words = {}
        for number, (program, scheme, _) in enumerate(CASES.values()):
            address = f"127.0.0.1:{PORT + number}"
            words[number] = [getattr(given, program)], [address, scheme or certificate]
        servers = [
            subprocess.Popen([*program, "serve", *of], stdout=subprocess.PIPE, text=True) for program, of in words.values()
        ]
        try:
            time.sleep(1)
            found = measure(given, words)
        finally:
            for server in servers:
                server.terminate()
            said = [server.communicate()[0] for server in servers]
    for name, told in zip(CASES, said):
        right = told.count(f"{given.bytes} bytes, all right")
        if right != given.runs or len(told.splitlines()) != right:
            sys.exit(f"{name}: {right} of {given.runs} transfers arrived as they were sent\n{told}")
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{given.bytes} bytes over the loopback, medians of {given.runs} interleaved runs, each byte checked; "
          f"load {load} on {os.cpu_count()} cores.\n")
    print("| | Mbit/s | least | sender's CPU a packet, µs | most |")
    print("|---|---:|---:|---:|---:|")
    for name, runs in found.items():
        rates, costs = zip(*runs)
        print(f"| {name} | {statistics.median(rates):.0f} | {min(rates):.0f} "
              f"| {statistics.median(costs):.2f} | {max(costs):.2f} |")


def measure(given, words):
    found = {name: [] for name in CASES}
    for run in range(given.runs):
        print(f"run {run + 1} of {given.runs}", file=sys.stderr)
        for (program, of), (name, (_, _, further)) in zip(words.values(), CASES.items()):
            command = [*program, "send", *of, str(given.bytes), *further]
            done = subprocess.run(command, capture_output=True, text=True)
            told = re.match(r"(\d+) Mbit/s, ([0-9.]+) us", done.stdout)
            if done.returncode or not told:
                sys.exit(f"{name}: {done.stdout}{done.stderr}")
            found[name].append((float(told[1]), float(told[2])))
    return found


main()
