#!/usr/bin/env python3
"""SIGKILL at random moments of `kernel load`, `compare`, `watch` and `emulate`, and what each leaves on the machine. Needs root.

bench/kills.py PROGRAM [--kills N] [--seed N]

PROGRAM has the feature `kernel`. Each kill is of one command, in a folder and a process group of its own; only the command's own process is
killed. After at most five seconds the machine is compared with its state before: BPF programs, maps and links, congestion controls, pins and
records, interfaces, namespaces, routes, processes of the group, and files. A hidden temporary file may remain until the next run that
writes into the folder; this run follows, and removes it. `bench/watch.py killed` measures the rows that a killed `watch` loses."""

import argparse
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

# The maximum time in which the kernel removes what a killed process held.
WITHIN = 5.0


def commands(program):
    """The command lines, by name. Each runs for some seconds, except for `--pin`, which is undone by the command after it."""
    path = ["--rate", "20mbit", "--rtt", "40ms"]
    return {
        "load": [program, "kernel", "load", "hystart++", "--name", "ff_kill_a"],
        "load --share": [program, "kernel", "load", "hystart++", "--name", "ff_kill_b", "--to", "10.77.0.0/16", "--share", "50%"],
        "load --pin": [program, "kernel", "load", "hystart++", "--name", "ff_kill_c", "--to", "10.78.0.0/16", "--pin"],
        "compare": [program, "compare", "--habitats", "sim-linux,kernel-bpf", "--schemes", "hystart++", "--size", "400kB", *path],
        "watch": [program, "watch", "--plain", "--loopback", "--rows", "rows.jsonl", "--parquet", "rows.parquet"],
        "emulate": [program, "emulate", *path, "--log", "log.pcapng", "--", "ping", "-q", "-i", "0.01", "-c", "300", "{B}", "--", "sleep", "9"],
    }


def state():
    """What a command could leave."""
    kinds = {}
    for kind in ("prog", "map", "link"):
        shown = subprocess.run(["bpftool", "-j", kind, "show"], stdout=subprocess.PIPE, text=True).stdout
        kinds[kind] = {(one["id"], one.get("name", one.get("type"))) for one in json.loads(shown or "[]")}
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        kinds["congestion control"] = set(file.read().split())
    kinds["files"] = {path for place in ("/sys/fs/bpf", "/run/firstflight*", "/run/netns")
                      for path in glob.glob(f"{place}/**", recursive=True)}
    kinds["interfaces"] = set(os.listdir("/sys/class/net"))
    spaces = subprocess.run(["lsns", "-n", "-o", "NS"], stdout=subprocess.PIPE, text=True).stdout
    kinds["namespaces"] = set(spaces.split())
    routes = subprocess.run("ip route show table all; ip -6 route show table all", shell=True, stdout=subprocess.PIPE, text=True).stdout
    kinds["routes"] = set(routes.splitlines())
    kinds["settings"] = {subprocess.run(["sysctl", "net.ipv4.tcp_congestion_control"], stdout=subprocess.PIPE, text=True).stdout}
    return kinds


def left(before):
    """What is there now and was not before, or is gone, by kind."""
    now = state()
    return {kind: sorted(map(str, now[kind] ^ before[kind])) for kind in before if now[kind] != before[kind]}


def group(leader):
    """The processes of a process group that are not zombies."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[2] == str(leader) and fields[0] != "Z":
            found.append(path.split("/")[2])
    return found


def kill_one(program, name, words, after):
    """Kills a command `after` seconds after its start. Returns what is wrong."""
    before = state()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="kills") as folder:
        with open(f"{folder}.said", "w+", encoding="utf-8") as said:
            running = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said, stdin=subprocess.DEVNULL, start_new_session=True)
            time.sleep(after)
            ended = running.poll()
            running.kill()
            running.wait()
            said.seek(0)
            text = said.read()
        os.unlink(f"{folder}.said")
        if ended not in (None, 0):
            wrong.append(f"it ended by itself with {ended}: {text.strip().splitlines()[-1:]}")
        if name == "load --pin":
            # The scheme was to stay. Either it does and can be taken back, or nothing is there.
            scheme = words[words.index("--name") + 1]
            undone = subprocess.run([program, "kernel", "undo", scheme], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if undone.returncode and f"no scheme is loaded as `{scheme}`" not in undone.stdout:
                wrong.append(f"undo ended with {undone.returncode}: {undone.stdout.strip()}")
        until = time.monotonic() + WITHIN
        while (remains := left(before)) or group(running.pid):
            if time.monotonic() > until:
                wrong.append(f"left: {remains}, processes {group(running.pid)}")
                break
            time.sleep(0.1)
        hidden = [file for file in os.listdir(folder) if file.startswith(".") and not file.endswith(".firstflight.tmp")]
        if hidden:
            wrong.append(f"hidden files: {hidden}")
        if any(file.endswith(".firstflight.tmp") for file in os.listdir(folder)):
            again = [program, "race", "--size", "100kB", "--schemes", "slow-start", "--report", f"{folder}/page.html"]
            subprocess.run(again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            if any(file.startswith(".") for file in os.listdir(folder)):
                wrong.append(f"a later run leaves {os.listdir(folder)}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    lines = commands(os.path.abspath(given.program))
    faults, counts = 0, dict.fromkeys(lines, 0)
    for number in range(given.kills):
        name = list(lines)[number % len(lines)]
        # Half of the kills are within the first half second, in which a command sets up.
        after = rng.uniform(0, 0.5) if rng.random() < 0.5 else rng.uniform(0.5, 6)
        wrong = kill_one(os.path.abspath(given.program), name, lines[name], after)
        counts[name] += 1
        for one in wrong:
            faults += 1
            print(f"{name}, killed after {after:.3f} s: {one}", flush=True)
    print("; ".join(f"{name}: {count}" for name, count in counts.items()))
    print(f"{given.kills} kills, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
