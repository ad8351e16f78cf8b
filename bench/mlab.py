#!/usr/bin/env python3
"""Writes crates/lab/lab/src/sweep/mlab.csv from a clone of github.com/m-lab/iqb: bench/mlab.py CLONE.

The clone has M-Lab's percentiles of NDT tests for each territory and month, in prototype/cache/v0/CC_YYYY_MM.json. M-Lab's data have no
rights reserved (CC0, measurementlab.net/data). A territory is left out if it has fewer than 1,000 downloads or uploads in the month.
"""

import json
import pathlib
import re
import sys

PERCENTILES = ["p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"]
# The file's metric, and the factor to the table's whole numbers: kbit/s, kbit/s, microseconds, millionths.
METRICS = [
    ("download_throughput_mbps", 1e3),
    ("upload_throughput_mbps", 1e3),
    ("latency_ms", 1e3),
    ("packet_loss", 1e6),
]
FEWEST = 1000

out = pathlib.Path(__file__).resolve().parent.parent / "crates/lab/lab/src/sweep/mlab.csv"
lines = ["territory,month,downloads,uploads,down_kbit,up_kbit,rtt_us,retransmitted_ppm"]
for file in sorted(pathlib.Path(sys.argv[1]).glob("prototype/cache/v0/*.json")):
    territory, year, month = re.fullmatch(r"(\w+)_(\d{4})_(\d{2})\.json", file.name).groups()
    data = json.loads(file.read_text())
    tests = [data["sample_counts"][kind] for kind in ("downloads", "uploads")]
    if min(tests) < FEWEST:
        continue
    cells = [
        " ".join(str(round(data["metrics"][metric][percentile] * factor)) for percentile in PERCENTILES)
        for metric, factor in METRICS
    ]
    lines.append(",".join([territory.upper(), f"{year}-{month}", *map(str, tests), *cells]))
out.write_text("\n".join(lines) + "\n")
print(f"{out.name}: {len(lines) - 1} rows, {out.stat().st_size} bytes")
