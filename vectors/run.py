#!/usr/bin/env python3
"""Feeds test vectors to a controller, and compares its decisions.

    run.py VECTOR.json... -- COMMAND...

COMMAND is a program that reads lines of JSON: first the vector's `config`, then each step without `expect`. It answers each step by a line
of JSON with its decision: `cwnd_bytes`, and `ssthresh_bytes`, `pacing_bytes_per_second` and `phase` if it has them. Exits with 1 if a
decision differs, and names the first such step of each vector.
"""
import json
import subprocess
import sys


def first_difference(vector, program):
    send = lambda value: print(json.dumps(value), file=program.stdin, flush=True)
    send(vector["config"])
    for number, step in enumerate(vector["steps"], 1):
        send({key: value for key, value in step.items() if key != "expect"})
        line = program.stdout.readline()
        at = f"step {number} of {len(vector['steps'])}, {step['event']} at {step['time_us'] / 1000} ms"
        at += f" ({step['note']})" if "note" in step else ""
        if not line:
            return f"{at}: the program gives no answer"
        answer = json.loads(line)
        for key, right in step.get("expect", {}).items():
            if key not in answer and key != "cwnd_bytes":
                continue
            found, within = answer.get(key), vector["tolerance"] * (right if isinstance(right, int) else 0)
            numbers = isinstance(found, (int, float)) and isinstance(right, int)
            if not (abs(found - right) <= within if numbers else found == right):
                return f"{at}: {key} is {found}, and must be {right}"


if "--" not in sys.argv[2:-1]:
    sys.exit(__doc__)
end = sys.argv.index("--")
failed = 0
for name in sys.argv[1:end]:
    with open(name) as file, subprocess.Popen(sys.argv[end + 1:], stdin=-1, stdout=-1, text=True) as program:
        vector = json.load(file)
        difference = first_difference(vector, program)
        program.kill()
    failed += difference is not None
    print(f"{name}: {difference or 'ok'}" + (f"\n    {vector['spec']}: {vector['says']}" if difference else ""))
print(f"{end - 1 - failed} of {end - 1} vectors agree")
sys.exit(failed > 0)
