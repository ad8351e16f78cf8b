#!/usr/bin/env python3
"""Files of 0 bytes to 1 GB each way over an emulated path, with both ends killed at random moments and resumed. Needs root.

bench/killed.py FIRSTFLIGHT [--schemes LIST] [--path OPTIONS] [--largest BYTES] [--seed N]

FIRSTFLIGHT may have schemes of its own: examples/own-scheme has step-back. Each file is transferred by one scheme, and sent on by the
next. Before its last try each file is killed once or twice with SIGKILL: at the client, or at the server, which starts again. After each
kill no file may have its name unless it is whole. At the end all bytes are compared."""

import argparse
import filecmp
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

SCHEMES = "slow-start,hystart++,paced,suss,limited,step-back"
PATH = "--rate 200mbit --rtt 20ms --queue 500p"
PORTS = {"serve": 4433, "uploads": 5000}
# How long a silent peer is waited for: the end that was not killed lets go of the file after it.
TIMEOUT = "3s"


def sizes(largest):
    """Twenty sizes from nothing to the largest, around segments and chunks too."""
    small = [0, 1, 2, 1451, 1452, 1453, 14_520, 65_535, 65_536, 65_537, 262_144]
    shares = [1 / 1000, 1 / 300, 1 / 100, 1 / 50, 1 / 30, 1 / 20, 1 / 10, 1 / 4, 1]
    return small + [round(largest * share) for share in shares]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--schemes", default=SCHEMES)
    parser.add_argument("--path", default=PATH)
    parser.add_argument("--largest", type=int, default=1_000_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", nargs=2, metavar=("END", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.program = os.path.abspath(given.program)
    if given.at:
        return client(given) if given.at[0] == "a" else servers(given)
    with tempfile.TemporaryDirectory(prefix="firstflight-killed") as folder:
        for name in ("there", "here", "back"):
            os.mkdir(f"{folder}/{name}")
        for size in sizes(given.largest):
            write(f"{folder}/there/f{size}", size)
        own = [sys.executable, os.path.abspath(__file__), given.program, "--schemes", given.schemes, "--largest",
               str(given.largest), "--seed", str(given.seed), "--at"]
        words = [given.program, "emulate", *given.path.split(), "--json", "--", *own, "a", folder, "--", *own, "b", folder]
        done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        told = json.loads(done.stdout) if done.stdout else {}
        if not told or told["a"]["exit_code"]:
            sys.exit(f"the clients ended with {told.get('a', {}).get('exit_code')}")
        compare(given, folder)
        late = told["lateness"]["p99_us"]
        print(f"the path: {given.path}; lateness of its deliveries, 99 % under {late:.0f} us; {told['duration_s']:.0f} s")


def write(path, size):
    with open(path, "wb") as file:
        while size > 0:
            chunk = os.urandom(min(size, 1 << 20))
            file.write(chunk)
            size -= len(chunk)


def compare(given, folder):
    whole = 0
    for size in sizes(given.largest):
        for name in (f"here/f{size}", f"back/f{size}"):
            if not filecmp.cmp(f"{folder}/there/f{size}", f"{folder}/{name}", shallow=False):
                sys.exit(f"{name} is another file than what was sent")
            whole += 1
    left = [name for place in ("there", "here", "back") for name in os.listdir(f"{folder}/{place}") if not name.startswith("f")]
    if left:
        sys.exit(f"left over: {left}")
    print(f"{whole} files are whole, and nothing else is there")


def servers(given):
    """The servers at host B. Each starts again when it is killed, which is asked for by a file of its name."""
    folder = given.at[1]
    bind = ["--bind", os.environ["FIRSTFLIGHT_B"], "--timeout", TIMEOUT]
    commands = {
        "serve": [given.program, "serve", f"{folder}/there", "--schemes", given.schemes, "--port", str(PORTS["serve"]), *bind],
        "uploads": [given.program, "serve", f"{folder}/back", "--uploads", "--port", str(PORTS["uploads"]), *bind],
    }
    running = {name: start(words) for name, words in commands.items()}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        while True:
            for name, words in commands.items():
                if os.path.exists(f"{folder}/kill-{name}"):
                    running[name].kill()
                    running[name].wait()
                    running[name] = start(words)
                    os.unlink(f"{folder}/kill-{name}")
                elif running[name].poll() is not None:
                    sys.exit(f"{name} ended by itself")
            time.sleep(0.01)
    finally:
        for one in running.values():
            one.kill()


def start(words):
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def client(given):
    """The clients at host A."""
    folder, host = given.at[1], os.environ["FIRSTFLIGHT_B"]
    draw = random.Random(given.seed)
    schemes = given.schemes.split(",")
    counts = dict(client=0, server=0, resumed=0, refused=0)
    time.sleep(0.5)
    for number, size in enumerate(sizes(given.largest)):
        name = f"f{size}"
        scheme, port = schemes[number % len(schemes)], PORTS["serve"] + number % len(schemes)
        fetch = [given.program, "get", f"{host}:{port}/{name}", "--output", f"{folder}/here/{name}"]
        one(given, "serve", fetch, f"{folder}/here", name, size, draw, counts)
        put = [given.program, "put", f"{folder}/here/{name}", f"{host}:{PORTS['uploads']}"]
        other = schemes[(number + 1) % len(schemes)]
        one(given, "uploads", [*put, "--schemes", other], f"{folder}/back", name, size, draw, counts)
        print(f"{size} bytes came by {scheme} and went back by {other}", file=sys.stderr)
    print("kills of the client {client}, of the server {server}; {resumed} tries went on where another ended, "
          "{refused} ended with a line".format(**counts), file=sys.stderr)


def one(given, server, words, folder, name, size, draw, counts):
    """A file: killed once or twice, and then transferred."""
    for _ in range(draw.choice((1, 2))):
        child = subprocess.Popen([*words, "--timeout", TIMEOUT], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # At 200 Mbit/s and less: within the transfer, or within the handshake.
        time.sleep(draw.random() * (0.1 + size * 8 / 150e6))
        if draw.random() < 0.5:
            child.kill()
            counts["client"] += 1
        else:
            asked = f"{os.path.dirname(folder)}/kill-{server}"
            open(asked, "w").close()
            while os.path.exists(asked):
                time.sleep(0.005)
            counts["server"] += 1
        said = child.communicate()[1]
        if child.returncode > 0:
            counts["refused"] += 1
            if len(said.splitlines()) != 1 or not said.startswith("error: "):
                sys.exit(f"{words} said {said}")
        whole, part = f"{folder}/{name}", f"{folder}/.{name}.part"
        if os.path.exists(whole):
            if os.path.getsize(whole) != size:
                sys.exit(f"{whole} is half a file")
            return
        if os.path.exists(part):
            counts["resumed"] += os.path.getsize(part) > 0
    for _ in range(20):
        done = subprocess.run([*words, "--timeout", TIMEOUT], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # The end that was not killed waits for the other, and has the file as long.
        if done.returncode == 0 or "exists; --force replaces it" in done.stderr:
            return
        if len(done.stderr.splitlines()) != 1 or not done.stderr.startswith("error: "):
            sys.exit(f"{words} said {done.stderr}")
        counts["refused"] += 1
        time.sleep(0.5)
    sys.exit(f"{words}: {done.stderr}")


main()
