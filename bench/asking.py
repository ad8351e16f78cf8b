#!/usr/bin/env python3
"""300 kB from nginx to curl with Quick-Start in the kernel, beside Linux's window and pacing without it. Needs root, nginx and curl.

bench/asking.py FIRSTFLIGHT [--runs N]

The path: 20 Mbit/s, 40 ms, a queue of 100 packets, routers that approve what is left of 95 %. Runs are interleaved; the time is curl's, from
the start of the connection to the last byte. `slow-start-paced` with Reno behind it has Reno's window, paced as Quick-Start's sockets are
(twice the window a round trip in slow start); `slow-start` is not paced. Nothing else should run beside it."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

PATH = "--sender b --rate 20mbit --rtt 40ms --queue 100p --json"
SCHEMES = ["quick-start", "slow-start-paced", "slow-start"]
BYTES = 300_000


def configuration(root):
    places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    temporary = "".join(f"{place}_temp_path {root}/{place};" for place in places)
    return (
        f"daemon off; worker_processes 1; error_log stderr; pid {root}/nginx.pid; user root; "
        f"events {{ worker_connections 64; }} "
        f"http {{ access_log off; {temporary} server {{ listen 8080; root {root}; }} }}"
    )


def transfer(program, scheme, root):
    """Seconds of one transfer, and the run's result."""
    told = os.path.join(root, "time")
    client = f"until curl -sS -o /dev/null -w '%{{time_total}}' http://{{B}}:8080/page >{told} 2>/dev/null; do sleep 0.1; done"
    server = f"PATH=$PATH:/usr/sbin exec nginx -p {root} -c {root}/nginx.conf"
    words = [program, "kernel", "run", scheme, "--handover", "reno", *PATH.split()]
    for _ in range(4):
        output = subprocess.run([*words, "--", "sh", "-c", client, "--", "sh", "-c", server], capture_output=True, text=True)
        if not output.stdout:
            raise SystemExit(output.stderr)
        result = json.loads(output.stdout)
        if not result["void"]:
            break
    with open(told, encoding="ascii") as file:
        return float(file.read()), result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    times = {scheme: [] for scheme in SCHEMES}
    dropped, void, outcomes = 0, 0, set()
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(root, "page"), "wb") as file:
            file.write(bytes(BYTES))
        with open(os.path.join(root, "nginx.conf"), "w", encoding="ascii") as file:
            file.write(configuration(root))
        for _ in range(given.runs):
            for scheme in SCHEMES:
                seconds, result = transfer(given.program, scheme, root)
                times[scheme].append(seconds)
                void += bool(result["void"])
                if scheme == "quick-start":
                    dropped += result["forward"]["dropped"]["queue"]
                    outcomes |= {one["outcome"] for one in result["quick_start"]}
    print("| scheme | median, s | least | most | less time than slow-start-paced |\n|---|---:|---:|---:|---:|")
    beside = statistics.median(times["slow-start-paced"])
    for scheme, seconds in times.items():
        median = statistics.median(seconds)
        print(f"| {scheme} | {median:.3f} | {min(seconds):.3f} | {max(seconds):.3f} | {100 * (1 - median / beside):.1f} % |")
    print(f"\nquick-start: outcomes {', '.join(sorted(outcomes))}; {dropped} packets dropped by the queue; {void} of all runs void")


if __name__ == "__main__":
    main()
