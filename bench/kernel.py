#!/usr/bin/env python3
"""What the schemes cost in Linux's TCP: medians of interleaved runs. Needs root, iperf3 and bpftool.

bench/kernel.py FIRSTFLIGHT [--runs N] [--only SCHEME,...] [--seconds S]

- Load: from the start of the process to the line that says the scheme is registered.
- CPU: seconds of user and system for a gigabyte through `firstflight emulate`, all processes of a run, over those of the kernel's reno
  at the same rate and pacing; MB is what a run carried. The path is faster than the pacing and drops nothing, so that slow-start stays in
  start-up all along; a scheme that leaves by its own rule is reno from there on.
- Nanoseconds an ACK: the run time of the scheme's `cong_control`, or of the policy's `pkts_acked` and `cong_avoid`, by the kernel's own
  statistics (kernel.bpf_stats_enabled).

Nothing else should run beside it. A void run is repeated up to three times."""

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time

PATH = "--rate 200mbit --rtt 40ms --queue 2bdp"
# A train leaves whole only out of a buffer that holds it.
BUFFER = "sysctl -qw net.ipv4.tcp_wmem='4096 4194304 33554432'"
STATS = "/proc/sys/kernel/bpf_stats_enabled"


def die_with_parent():
    """Nothing stays loaded if this is killed."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def load(program, scheme, name):
    """The process that keeps the scheme, and the seconds until it was registered; None if the kernel refuses it."""
    words = [program, "kernel", "load", scheme, "--handover", "reno", "--name", name]
    begun = time.monotonic()
    kept = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=die_with_parent)
    line = kept.stdout.readline()
    took = time.monotonic() - begun
    if "is registered" in line:
        return kept, took
    kept.wait()
    return None, took


def unload(kept):
    kept.send_signal(signal.SIGTERM)
    kept.wait()


def transfer(program, control, seconds):
    """CPU seconds and gigabytes of one run, and the run's result."""
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        client = f"{BUFFER}; exec iperf3 -c {{B}} -t {seconds} -i 0 -C {control} --fq-rate 100M"
        words = [program, "emulate", *PATH.split(), "--json", "--", "sh", "-c", client, "--", "iperf3", "-s", "-1"]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not done.stdout:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)
        if not result["void"]:
            break
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, result["forward"]["bytes_out"] / 1e9, result


def programs():
    """Run time in nanoseconds and runs of every program of ours that the kernel calls with an ACK, by program."""
    said = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout
    ours = [one for one in json.loads(said) if one.get("name") in ("ff_cong_control", "ff_pkts_acked", "ff_cong_avoid")]
    return {one["id"]: (one.get("run_time_ns", 0), one.get("run_cnt", 0)) for one in ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench/kernel.py needs root")
    said = subprocess.run([options.program, "kernel", "list"], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    schemes = said.stdout.rsplit("Can be loaded: ", 1)[1].replace("\n", " ").strip().split(", ")
    schemes = [one.strip() for one in schemes if not options.only or one.strip() in options.only.split(",")]
    loads, costs, amounts, acks, refused = {}, {}, {}, {}, []
    for scheme in schemes:
        for _ in range(options.runs):
            kept, took = load(options.program, scheme, "ff_bench")
            if kept is None:
                refused.append(scheme)
                break
            loads.setdefault(scheme, []).append(took)
            unload(kept)
    schemes = [scheme for scheme in schemes if scheme not in refused]
    for _ in range(options.runs):
        for control in ["reno", *schemes]:
            if control == "reno":
                cpu, gigabytes, _ = transfer(options.program, "reno", options.seconds)
            else:
                kept, _ = load(options.program, control, "ff_bench")
                cpu, gigabytes, _ = transfer(options.program, "ff_bench", options.seconds)
                unload(kept)
            costs.setdefault(control, []).append(cpu / gigabytes)
            amounts.setdefault(control, []).append(gigabytes)
    with open(STATS, encoding="ascii") as file:
        were = file.read()
    try:
        with open(STATS, "w", encoding="ascii") as file:
            file.write("1")
        for scheme in schemes:
            before = set(programs())
            kept, _ = load(options.program, scheme, "ff_bench")
            transfer(options.program, "ff_bench", options.seconds)
            own = [figures for number, figures in programs().items() if number not in before]
            unload(kept)
            spent, count = sum(time for time, _ in own), max((runs for _, runs in own), default=0)
            acks[scheme] = spent / count if count else float("nan"), count
    finally:
        with open(STATS, "w", encoding="ascii") as file:
            file.write(were)
    reno = statistics.median(costs["reno"])
    print(f"kernel {os.uname().release}, load {os.getloadavg()[0]:.1f}, medians of {options.runs} interleaved runs")
    print(f"{'':18}{'load, ms':>10}{'MB':>8}{'CPU s/GB':>10}{'of reno':>10}{'ns an ACK':>11}{'ACKs':>8}")
    sent = {control: 1000 * statistics.median(amounts[control]) for control in amounts}
    print(f"{'reno':18}{'-':>10}{sent['reno']:8.1f}{reno:10.2f}{1:10.3f}{'-':>11}{'-':>8}")
    for scheme in schemes:
        median = statistics.median(costs[scheme])
        nanos, count = acks[scheme]
        ms = 1000 * statistics.median(loads[scheme])
        print(f"{scheme:18}{ms:10.1f}{sent[scheme]:8.1f}{median:10.2f}{median / reno:10.3f}{nanos:11.0f}{count:8}")
    for scheme in refused:
        print(f"{scheme:18}refused by this kernel")


main()
