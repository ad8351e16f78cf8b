#!/usr/bin/env python3
"""Scharf's Figure 14 in this machine's kernel: response times of nginx to curl with Quick-Start and without. Needs root, nginx and curl.

bench/quick_start.py FIRSTFLIGHT [--runs N] [--iw SEGMENTS]

- The path is the paper's: 10 Mbit/s and 100 ms; the server asks for 5.12 Mbit/s, under Reno and under CUBIC. Sizes are from 1 kB to 10 MB.
- A response time is the paper's: from the end of the handshake, curl's `time_connect`, to the last byte. A time is the median of the runs.
- Linux 2.6.20 began with three segments, so that --iw is 3 unless said.
- Downloads of a run follow each other with pauses longer than the router remembers an approval. A void run is repeated up to three times."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PATH = "--rate 10mbit --rtt 100ms --queue 1000p --sender b --json"
SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
CONFIGURATION = """daemon off; master_process off; error_log stderr; pid {root}/pid;
events {{ }}
http {{ access_log off; sendfile on; {temporary} server {{ listen 8080; root {root}; }} }}
"""
# A buffer of 8 MB, as the paper has; no connection learns from the one before.
SERVER = """sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_wmem='4096 8388608 33554432'
ip route change 10.0.0.1/32 dev path0 initcwnd {iw} congctl {law} || exit
exec nginx -p {root} -c {root}/nginx.conf"""
CLIENT = """sysctl -qw net.ipv4.tcp_rmem='4096 8388608 33554432'
for size in {sizes}; do
    curl -sS -o /dev/null -w "$size %{{time_connect}} %{{time_total}}\\n" http://10.0.0.2:8080/$size || exit
    sleep 1
done"""


def run(program, root, law, asks, iw):
    """The response times of a run by size, in seconds, and how often a rate was approved."""
    begin = ["kernel", "run", "quick-start:request=5.12mbit", "--handover", law] if asks else ["emulate"]
    client = CLIENT.format(sizes=" ".join(str(size) for size in SIZES))
    server = SERVER.format(iw=iw, law=law, root=root)
    words = [program, *begin, *PATH.split(), "--", "sh", "-c", client, "--", "sh", "-c", server]
    for _ in range(4):
        with tempfile.TemporaryFile("w+", encoding="ascii") as told:
            # With --json the commands' output goes to standard error.
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=told, text=True, stdin=subprocess.DEVNULL)
            told.seek(0)
            lines = told.read()
        if not done.stdout:
            sys.exit(lines)
        result = json.loads(done.stdout)
        if not result["void"]:
            break
    times = {}
    for line in lines.splitlines():
        words_of = line.split()
        if len(words_of) == 3 and words_of[0].isdigit():
            times[int(words_of[0])] = float(words_of[2]) - float(words_of[1])
    if sorted(times) != SIZES:
        sys.exit(lines)
    approved = sum(one["outcome"] == "approved" for one in result.get("quick_start", []))
    return times, approved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--iw", type=int, default=3)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench/quick_start.py needs root")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    columns = [(law, asks) for law in ("reno", "cubic") for asks in (False, True)]
    times, approved = {column: [] for column in columns}, {column: 0 for column in columns}
    with tempfile.TemporaryDirectory() as root:
        temporary = "".join(f"{name}_temp_path {root}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{root}/nginx.conf", "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(root=root, temporary=temporary))
        for size in SIZES:
            with open(f"{root}/{size}", "wb") as file:
                file.write(bytes(size))
        os.chmod(root, 0o755)
        for _ in range(options.runs):
            for law, asks in columns:
                found, count = run(options.program, root, law, asks, options.iw)
                times[law, asks].append(found)
                approved[law, asks] += count
    print(f"kernel {os.uname().release}, load {os.getloadavg()[0]:.1f}, medians of {options.runs} runs, first window {options.iw}; seconds")
    print(f"{'bytes':>10}{'reno':>9}{'asked':>9}{'factor':>8}{'cubic':>9}{'asked':>9}{'factor':>8}")
    for size in SIZES:
        line = f"{size:>10}"
        for law in ("reno", "cubic"):
            plain, asked = (statistics.median(one[size] for one in times[law, asks]) for asks in (False, True))
            line += f"{plain:9.3f}{asked:9.3f}{plain / asked:8.2f}"
        print(line)
    print("approved: " + ", ".join(f"{approved[law, True]} of {options.runs * len(SIZES)} under {law}" for law in ("reno", "cubic")))


main()
