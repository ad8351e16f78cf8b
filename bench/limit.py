#!/usr/bin/env python3
"""How much work `--limit 10s` allows: the processor time and memory of random races beside other traffic.

    bench/limit.py PROGRAM [COUNT [SEED]]

Races one scheme over COUNT random paths (500), most of which are too much for their limit: rates from 10 kbit/s to 1 Gbit/s,
round trips from 10 us to 2 s, segments from 100 bytes, applications that write little, traffic of any kind that may exceed the path.
Prints the worst as commands. A path that the program refuses is drawn again.
"""

import os
import random
import subprocess
import sys
import tempfile


def power(draw, least, most):
    return int(10 ** draw.uniform(least, most))


def cross(draw, rate):
    share = draw.choice([0.1, 0.3, 0.8, 1.3])
    kbit = max(1, int(rate * share / 1000))
    return draw.choice(
        [
            "none",
            f"{kbit}kbit",
            f"tcp:{draw.randint(1, 8)}",
            f"onoff:{kbit}kbit,{draw.randint(200, 2000)}ms,{draw.randint(200, 2000)}ms",
            f"poisson:{kbit}kbit,{draw.choice([1, 10, 100])}kB",
            f"users:{draw.randint(1, 20)},{draw.choice([1, 10, 100])}kB",
            f"web:{int(share * 100)}%",
        ]
    )


def race(draw):
    rate = power(draw, 4, 9)
    command = ["race", "--json", "--jobs", "1", "--limit", "10s", "--schemes"]
    command += [draw.choice(["slow-start", "hystart++", "paced", "bbr", "search", "careful-resume"])]
    command += ["--rate", f"{rate}bit", "--rtt", f"{power(draw, 1, 6.3)}us", "--cross", cross(draw, rate)]
    command += ["--size", f"{power(draw, 3, 8)}B", "--seed", str(draw.randint(1, 10**6))]
    command += ["--queue", draw.choice(["50p", "1bdp", "4bdp", "codel:1000p", "fq-codel:1000p,ecn"])]
    if draw.random() < 0.4:
        command += ["--mss", str(draw.choice([100, 500, 8960]))]
    if draw.random() < 0.4:
        command += ["--app", f"{draw.randint(1, 64)}kB,{draw.choice(['1ms', '100ms', '1s'])}"]
    if draw.random() < 0.2:
        command += ["--loss", draw.choice(["0.1%", "2%"])]
    return command


def run(program, command):
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([program, *command], stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    runs = []
    while len(runs) < count:
        command = race(draw)
        status, seconds, megabytes = run(program, command)
        if status == 2:
            continue
        runs.append((seconds, megabytes, status, command))
    runs.sort(reverse=True)
    print(f"{count} races, {sum(one[0] for one in runs):.0f} s of processor time; the worst five:")
    for seconds, megabytes, status, command in runs[:5]:
        print(f"{seconds:6.1f} s {megabytes:6.0f} MB, status {status}: firstflight {' '.join(command)}")
    print(f"most memory: {max(one[1] for one in runs):.0f} MB")


if __name__ == "__main__":
    main()
