#!/usr/bin/env python3
"""How exactly the packets of trains leave: the gaps on the wire beside those that the scheme `paced` asked for. Needs root and dumpcap.

bench/gaps.py FIRSTFLIGHT TRANSFER [--runs N] [--rates MBIT,...]

`transfer` sends over `firstflight emulate`, whose path makes trains of the gaps wanted: the first is at twice a packet's time. The
gaps asked for are those of the connection's trace. Those on the wire are the kernel's times of the packets at the sender's device,
and besides the times at which the emulator's relay read them. An error is a gap less the one asked for, in per cent of that."""

import argparse
import json
import os
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile

BYTES = 3_500_000
PORT = 4433
SCHEME = "paced:first=100"
WINDOW = "rwnd=4MB"
# Two trains of 200 and 400 packets and the filling of the pipe need a long path.
PATH = "--rtt 400ms --queue 2bdp"
# What a run asks for follows what it measured of the path: gaps, in µs, are told by their size. Closer ones than the first meet the
# relay, which watches the clock for 60 µs before each packet, at a real-time priority.
SIZES = [100, 250, 400, 500, 700, 1000, 2000]


def blocks(capture):
    """Every packet of a pcapng file: the name of its interface, its time in ns, its bytes from the IP header on, whether it left."""
    names, units, at = [], [], 0
    while at + 12 <= len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        body = capture[at + 8 : at + length - 4]
        at += length
        if kind == 1:
            options = dict(tlv(body[8:]))
            resolution = options.get(9, b"\6")[0]
            names.append(options.get(2, b"").decode().rstrip("\0"))
            units.append(10 ** (9 - resolution))
        elif kind == 6:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", body)
            packet = body[20 : 20 + captured]
            flags = dict(tlv(body[20 + (captured + 3) // 4 * 4 :])).get(2)
            left = flags is None or flags[0] & 3 == 2
            yield names[interface], (high << 32 | low) * units[interface], packet, left


def tlv(options):
    while len(options) >= 4:
        code, length = struct.unpack_from("<HH", options)
        if code == 0:
            return
        yield code, options[4 : 4 + length]
        options = options[4 + (length + 3) // 4 * 4 :]


def departures(path, interface):
    """When each data packet to the server left for the first time, by its place among them."""
    with open(path, "rb") as file:
        capture = file.read()
    times = {}
    for name, at, packet, left in blocks(capture):
        head = (packet[0] & 15) * 4
        if name != interface or not left or packet[9] != 17 or struct.unpack_from(">H", packet, head + 2)[0] != PORT:
            continue
        tcp = head + 8
        data = len(packet) - tcp - (packet[tcp + 12] >> 4) * 4
        if data > 0 and not packet[tcp + 13] & 2:
            times.setdefault(struct.unpack_from(">I", packet, tcp + 4)[0], at)
    return list(times.values())


def trains(path):
    """The gap after each data packet that was asked for, in ns; None after the last of a train, and where there was no train."""
    gaps, pacing, tag = [], None, None
    with open(path) as file:
        for line in file:
            told = json.loads(line)
            call = told.get("call")
            sent = call.get("sent") if isinstance(call, dict) else None
            if sent and sent.get("retransmission"):
                return gaps
            plan = told.get("plan", {})
            pacing = plan.get("pacing", pacing)
            if sent:
                # The gap before the packet is known now: it is one of the train to which both belong.
                if gaps and tag != sent.get("tag"):
                    gaps[-1] = None
                tag = sent.get("tag")
                gaps.append(pacing["train"]["gap_ns"] if isinstance(pacing, dict) and "train" in pacing else None)
    return gaps


def run(given, rate, folder):
    """The pairs of gaps, asked for and on the wire, of one transfer: at the device and at the relay; and whether it was void."""
    log, wire, trace = (f"{folder}/{name}" for name in ("relay.pcapng", "device.pcapng", "trace.jsonl"))
    client = (
        f"dumpcap -q -i path0 -w {wire} 2>/dev/null & capture=$!; sleep 1; "
        f"{shlex.quote(given.transfer)} send {{B}}:{PORT} {SCHEME} {BYTES} {WINDOW} trace={trace}; status=$?; "
        "sleep 0.5; kill -INT $capture; wait $capture; exit $status"
    )
    words = [given.firstflight, "emulate", "--rate", f"{rate}mbit", *PATH.split(), "--log", log, "--json"]
    words += ["--", "sh", "-c", client, "--", given.transfer, "serve", f"{{B}}:{PORT}", SCHEME, WINDOW]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not done.stdout or done.returncode > 1:
        sys.exit(done.stderr)
    result = json.loads(done.stdout)
    if not os.path.exists(trace) or result["a"]["exit_code"] != 0:
        sys.exit(done.stderr)
    asked = trains(trace)
    pairs = []
    for file, interface in ((wire, "path0"), (log, "A")):
        times = departures(file, interface)
        if len(times) < len(asked):
            sys.exit(f"{file} has {len(times)} data packets, the trace {len(asked)}\n{done.stderr}")
        pairs.append([(gap, later - at) for gap, at, later in zip(asked, times, times[1:]) if gap])
    return *pairs, result["void"]


def row(sizes, where, pairs):
    errors = sorted(100 * (real / asked - 1) for asked, real in pairs)
    at = lambda share: errors[min(int(share * len(errors)), len(errors) - 1)]
    size = statistics.median(abs(error) for error in errors)
    asked, real = (statistics.median(column) / 1000 for column in zip(*pairs))
    cells = [where, sizes, f"{asked:.1f}", len(errors), f"{real:.1f}", f"{size:.2f}"]
    cells += [f"{at(share):+.2f}" for share in (0.05, 0.5, 0.95)]
    print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("firstflight")
    parser.add_argument("transfer")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--rates", default="20,40")
    given = parser.parse_args()
    rates = [int(rate) for rate in given.rates.split(",")]
    found = {"device": [], "relay": []}
    void = 0
    for number in range(given.runs):
        for rate in rates:
            print(f"run {number + 1} of {given.runs}: {rate} Mbit/s", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="firstflight-gaps") as folder:
                device, relay, is_void = run(given, rate, folder)
            found["device"] += device
            found["relay"] += relay
            void += is_void
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"Gaps of trains, {given.runs} interleaved runs, {void} of the paths void; load {load} on {os.cpu_count()} cores.\n")
    print("| at the | gaps of, µs | asked for in the median | gaps | median, µs | error's size in the median, % "
          "| error, 5th percentile, % | median | 95th |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for where, pairs in found.items():
        for low, high in zip(SIZES, SIZES[1:]):
            same = [pair for pair in pairs if low * 1000 <= pair[0] < high * 1000]
            if same:
                row(f"{low} to {high}", where, same)


main()
