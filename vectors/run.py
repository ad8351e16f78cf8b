#!/usr/bin/env python3
"""Feeds test vectors to a controller, and compares its decisions.

    run.py VECTOR.json... -- COMMAND...

COMMAND is a program that reads lines of JSON: first the vector's `config`, then each step without `expect`. It answers each step by a line
of JSON with its decision: `cwnd_bytes`, and `ssthresh_bytes`, `pacing_bytes_per_second` and `phase` if it has them. run.py exits with 1 if
a decision differs, and names the first such step of each vector.
"""
import json
import subprocess
import sys


def difference(vector, answers):
    """Returns the first difference, as a sentence; None if there is none."""
    for number, step in enumerate(vector["steps"], 1):
        at = f"step {number} of {len(vector['steps'])}, {step['event']} at {step['time_us'] / 1000} ms"
        at += f" ({step['note']})" if "note" in step else ""
        try:
            answer = dict(json.loads(answers[number - 1]))
        except (IndexError, TypeError, ValueError):
            return f"{at}: the program gives no decision"
        for key, right in step.get("expect", {}).items():
            found = answer.get(key, None if key == "cwnd_bytes" else right)
            numbers = isinstance(found, (int, float)) and isinstance(right, int)
            within = vector["tolerance"] * right if numbers else 0
            if not (abs(found - right) <= within if numbers else found == right):
                return f"{at}: {key} is {found}, and must be {right}"


if "--" not in sys.argv[2:-1]:
    sys.exit(__doc__)
end, failed = sys.argv.index("--"), 0
for name in sys.argv[1:end]:
    try:
        vector = json.load(open(name))
        steps = [{key: step[key] for key in step if key != "expect"} for step in vector["steps"]]
        lines = "".join(json.dumps(line) + "\n" for line in [vector["config"], *steps])
        program = subprocess.run(sys.argv[end + 1:], input=lines, stdout=subprocess.PIPE, text=True)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{name}: {error}")
    found = difference(vector, program.stdout.splitlines())
    failed += found is not None
    print(f"{name}: {found}\n    {vector['spec']}: {vector['says']}" if found else f"{name}: ok")
print(f"{end - 1 - failed} of {end - 1} vectors agree")
sys.exit(failed > 0)
