#!/usr/bin/env python3
"""Judges `leap` on the families of scenarios/, by the protocol of docs/evidence/leap-log.md.

    bench/leap.py PROGRAM seed                      the report's seed, from the scheme's files
    bench/leap.py PROGRAM look  OUT FAMILY SEED N   N paths of a family with a tuning seed (1 to 99), and its table
    bench/leap.py PROGRAM report OUT [FAMILY …]     PATHS (default 2,000) paths of each family with the report's seed, and its table
    bench/leap.py PROGRAM laws OUT [N]              N paths of F0 with the report's seed, all start-ups under reno and under cubic
    bench/leap.py PROGRAM memory OUT [N]            N paths of F0 with memory that is exact, four times too much, and a quarter
    bench/leap.py PROGRAM habitats OUT [N]          N paths simulated, on sockets and in this kernel, with cubic behind; needs root
    bench/leap.py PROGRAM front OUT SEED PATHS LAW SCHEME …
                                                    the three tables of designs, all under LAW: reno, cubic, bbr, or own
    bench/leap.py PROGRAM alike OUT SEED PATHS LAW SCHEME …
                                                    the first of them: PATHS paths of F0 with a tuning seed, cost against harm
    bench/leap.py PROGRAM crowds OUT LAW SCHEME …   the second: a hundred flows of one scheme on a dumbbell, at eight loads
    bench/leap.py PROGRAM neighbour OUT LAW SCHEME …
                                                    the third: what a bulk flow loses to a transfer that joins it

SCHEME is written as in a race: `leap:train=16,rise=2,as=16r2`; two of one scheme need `as=`. The first that is a slow start is the
measure of the others, and `slow-start` is added if there is none.
OUT is a folder for what is raced; a sweep that is there goes on, and a race that is there is read. JOBS (default 2) processes race.
"""

import functools
import hashlib
import json
import math
import os
import random
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = {"F0": "grid", "F1": "grid-jitter", "F2": "grid-aggregation", "F3": "grid-aqm", "F4": "grid-way-back",
            "F5": "grid-policers", "FD": "grid-departures"}
ALONE = "leap:profile=alone,as=alone"
SCHEMES = ["leap", ALONE, "bbr", "suss", "hystart-linux", "rapid-start", "slow-start"]
# The best of which is the measure of F1, F2 and F4.
RIVALS = ["bbr", "suss", "hystart-linux", "rapid-start"]
LAWS = ["leap", ALONE, "suss", "hystart-linux", "rapid-start", "slow-start"]
# The axes in which the goals of F0 are stated.
CLASSES = [("all", ""), ("loss<=0.1%", "loss<=0.1%"), ("alone", "loss<=0.1%,cross=none"), ("cbr", "loss<=0.1%,cross=cbr"),
           ("tcp", "loss<=0.1%,cross=tcp"), ("bdp<100", "bdp<100"), ("bdp<1k", "bdp>=100,bdp<1000"),
           ("bdp<10k", "bdp>=1000,bdp<10000"), ("bdp>=10k", "bdp>=10000")]
JOBS = os.environ.get("JOBS", "2")
# A hundred flows of 1 MB: four crowds at 350 to 1,100 % of the rate, three draws at 82 % of it, and one at 16 %.
CROWDS = [("every 1 ms, 40 ms", "--rate 1gbit --arrivals every:1ms --rtt 40ms"),
          ("every 0.7 ms, 40 ms", "--rate 1gbit --arrivals every:700us --rtt 40ms"),
          ("every 2.3 ms, 80 ms", "--rate 1gbit --arrivals every:2300us --rtt 80ms"),
          ("every 1 ms, 15 ms", "--rate 1gbit --arrivals every:1ms --rtt 15ms"),
          *((f"82 %, seed {seed}", f"--rate 100mbit --arrivals poisson:10 --rtt 40ms --seed {seed}") for seed in (1, 2, 3)),
          ("16 %", "--rate 1gbit --arrivals every:50ms --rtt 40ms")]


def seed():
    """The first eight hex digits of the SHA-256 of the scheme's files, one after the other."""
    core = ROOT / "crates/library/core/src/schemes"
    text = b"".join(file.read_bytes() for file in (core / "leap.rs", *sorted((core / "leap").glob("*.rs"))))
    return int(hashlib.sha256(text).hexdigest()[:8], 16)


def sweep(program, out, family, number, paths=None, schemes=SCHEMES, law="own", name=None):
    """Races a family under one law, by default under each scheme's own; returns the folder."""
    text = (ROOT / f"scenarios/{FAMILIES[family]}.toml").read_text()
    text = re.sub(r"^seed = .*$", f"seed = {number}", text, flags=re.M)
    if paths:
        text = re.sub(r"^paths = .*$", f"paths = {paths}", text, flags=re.M)
    text = re.sub(r"^schemes = .*$", f"schemes = {json.dumps(schemes)}", text, flags=re.M)
    text = text.replace("[path]\n", f'[path]\navoidance = "{law}"\n')
    name = name or f"{family}-{seed():08x}-{number}" + (f"-{paths}" if paths else "") + (f"-{law}" if law != "own" else "")
    file = out / f"{name}.toml"
    out.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    run = subprocess.run([program, "sweep", str(file), "--out", str(out / name), "--jobs", JOBS], stderr=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return out / name


def score(program, folder, where=""):
    """The records of `score --json`: one of each scheme in each class."""
    arguments = [program, "score", str(folder), "--json"] + (["--where", where] if where else [])
    run = subprocess.run(arguments, capture_output=True, text=True)
    if run.returncode:
        # A small sweep may have no path of a class.
        print(f"{folder.name} {where}: {run.stderr.strip()}", file=sys.stderr)
        return []
    return [json.loads(line) for line in run.stdout.splitlines()]


def whole(records):
    return {record.get("label", record["scheme"]): record for record in records if record["axis"] == "all"}


def number(value, digits=2):
    return ">20" if value is None else f"{value:.{digits}f}"


def table(program, folder, classes=CLASSES):
    """A line for each class: the cost of each scheme, and what stands to the bound."""
    for title, where in classes:
        records = whole(score(program, folder, where))
        cells = [f"{label} {number(r['cost_median'])}/{number(r['cost_p90'])}" for label, r in records.items()]
        leap = records.get("leap")
        if leap:
            over = f"; leap over the bound {number(leap['over_bound_median'])}/{number(leap['over_bound_p90'])}"
            print(f"{folder.name} {title} ({leap['races']}): {'; '.join(cells)}{over}")
    for title, where in [("all", ""), ("without random loss", "loss<=0"), ("cross=tcp", "cross=tcp"), ("alone", "cross=none")]:
        for label, r in whole(score(program, folder, where)).items():
            lost = [f"{100 * r[f'queue_loss_{q}']:.2f}" for q in ("median", "p90")]
            fair = f", beyond fair {100 * r['beyond_fair_share'] / r['beside_tcp']:.0f} %" if r["beside_tcp"] else ""
            harm = ["-" if r.get(f"harm_during_{q}") is None else f"{100 * r[f'harm_during_{q}']:.1f}" for q in ("median", "p90")]
            print(f"{folder.name} {title}, {label}: queue loss {lost[0]}/{lost[1]} %, mean {100 * r['queue_loss_mean']:.2f} %; "
                  f"harm during {harm[0]}/{harm[1]} %{fair}; within 5 % of the bound {100 * r['near_bound'] / max(r['bounded_rows'], 1):.0f} %")
    overshoot(program, folder)
    worst(program, folder)


def overshoot(program, folder):
    """What short queues dropped of the overshoot, alone: needs rows, which `sweep` writes as Parquet, and polars to read them."""
    try:
        import polars
    except ImportError:
        return
    rows = polars.concat([polars.read_parquet(part) for part in sorted(folder.glob("part-*.parquet"))], how="diagonal_relaxed")
    rows = rows.filter((polars.col("path_queue_bdp") < 0.25) & (polars.col("path_cross") == "none"))
    rows = rows.with_columns(name=polars.coalesce("label", "scheme") if "label" in rows.columns else polars.col("scheme"))
    for (scheme,), of in rows.group_by("name", maintain_order=True):
        few = (of["overshoot_lost_packets"] <= 0.5 * of["path_bdp_packets"]).mean()
        print(f"{folder.name} queue under a quarter BDP, alone ({len(of)}), {scheme}: overshoot of at most half a BDP in {100 * few:.1f} %")


def worst(program, folder):
    """The classes of 50 paths or more in which leap's median or ninetieth percentile is over that of the best of the others."""
    classes = {}
    for record in score(program, folder):
        classes.setdefault((record["axis"], record["class"]), {})[record.get("label", record["scheme"])] = record
    lines = []
    for (axis, name), records in classes.items():
        leap = records["leap"]
        for what in ("cost_median", "cost_p90"):
            others = [r[what] for label, r in records.items() if label in RIVALS and r[what] is not None]
            if leap["paths"] >= 50 and others and (leap[what] is None or leap[what] > min(others)):
                ratio = leap[what] / min(others) if leap[what] else float("inf")
                lines.append((ratio, f"{folder.name} loses in {axis} {name}, {what}: {number(leap[what])} against {number(min(others))}"))
    for _, line in sorted(lines, reverse=True):
        print(line)
    if not lines:
        print(f"{folder.name}: leap loses in no class of 50 paths or more, neither in median nor in the ninetieth percentile")


def laws(program, out, paths):
    """Start-ups under one law. Rapid Start has the beta of CUBIC as a parameter, and Reno's under Reno."""
    for law in ("reno", "cubic"):
        schemes = [name + (":beta=50" if name == "rapid-start" and law == "reno" else "") for name in LAWS]
        alike(program, out, seed(), paths, law, schemes)


def memory(program, out, paths):
    """What an earlier connection found: the truth, four times it, a quarter of it."""
    file = out / f"memory-{paths}.toml"
    out.mkdir(parents=True, exist_ok=True)
    file.write_text(re.sub(r"^seed = .*$", f"seed = {seed()}", (ROOT / "scenarios/grid.toml").read_text(), flags=re.M))
    costs = {label: [] for label in ("leap", "exact", "four", "quarter", "alone", "alone-exact")}
    losses = {label: [] for label in costs}
    for path in range(paths):
        shown = subprocess.run([program, "sweep", str(file), "--show", str(path)], capture_output=True, text=True, check=True)
        words = shlex.split(shown.stdout.splitlines()[-1])[1:]
        del words[words.index("--schemes"):words.index("--schemes") + 2]
        given = dict(zip(words[1::2], words[2::2]))
        row = rows(program, words, "leap")[0]
        if not row.get("ideal_fct_s"):
            continue
        # The ideal takes one and a half round trips, and the transfer at the rate available.
        rtt = seconds(given["--rtt"])
        size = octets(given["--size"])
        share = size / max(row["ideal_fct_s"] - 1.5 * rtt, 1e-9)
        saved = lambda times: f"leap-saved:saved={min(max(int(share * rtt * times), 1), 1 << 30)}B,rtt={max(int(rtt * 1e6), 1)}us"
        schemes = (f"leap,{saved(1)},as=exact,{saved(4)},as=four,{saved(0.25)},as=quarter,"
                   f"{ALONE},{saved(1)},profile=alone,as=alone-exact")
        for row in rows(program, words, schemes):
            label = row.get("label") or row["scheme"]
            costs[label].append(row["fct_s"] / row["ideal_fct_s"] if row["fct_s"] else math.inf)
            losses[label].append(row["loss"] or 0.0)
    for label, values in costs.items():
        values, lost = sorted(values), sorted(losses[label])
        at = lambda share, of: of[min(int(len(of) * share), len(of) - 1)]
        print(f"memory {label} ({len(values)}): {at(.5, values):.2f}/{at(.9, values):.2f}, loss {100 * at(.5, lost):.2f}/{100 * at(.9, lost):.2f} %")


def habitats(program, paths):
    """FCT on sockets and in the kernel over that of the simulator with the same stack."""
    dice = random.Random(seed())
    log = lambda least, most: math.exp(dice.uniform(math.log(least), math.log(most)))
    over = {}
    for _ in range(paths):
        words = ["--rate", f"{int(log(2e3, 100e3))}kbit", "--rtt", f"{int(log(10, 150))}ms", "--queue", f"{log(.25, 2):.2f}bdp",
                 "--size", f"{int(log(200, 5000))}kB"]
        run = subprocess.run([program, "compare", *words, "--schemes", "leap:avoidance=cubic-linux", "--json"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{' '.join(words)}: {run.stderr}")
        records = [json.loads(line) for line in run.stdout.splitlines()]
        of = {record["habitat"]: record for record in records if record["scheme"] == "leap"}
        cells = []
        for habitat, stack in [("live-rfc", "sim-rfc"), ("live-linux", "sim-linux"), ("kernel-bpf", "sim-linux")]:
            record = of.get(habitat)
            if record and record["finished"]:
                ratio = record["fct_s"] / of[stack]["fct_s"]
                over.setdefault(habitat, []).append(ratio)
                cells.append(f"{habitat} {ratio:.3f} lost {record['packets_lost']:.0f} ({of[stack]['packets_lost']:.0f} simulated)")
            else:
                cells.append(f"{habitat} void")
        print(" ".join(words), "; ".join(cells), flush=True)
    for habitat, ratios in over.items():
        ratios.sort()
        near = sum(abs(ratio - 1) <= 0.1 for ratio in ratios)
        print(f"{habitat}: median {ratios[len(ratios) // 2]:.3f} of the simulator's FCT, {ratios[0]:.3f} to {ratios[-1]:.3f}; within 10 % on {near} of {len(ratios)}")


def label(scheme):
    """The name of a scheme's rows."""
    given = re.search(r"[:,]as=([^,]+)", scheme)
    return given[1] if given else scheme.split(":")[0]


def designs(schemes):
    """The schemes with a slow start among them, and the label of it."""
    slow = [label(scheme) for scheme in schemes if scheme.split(":")[0] == "slow-start"]
    return (schemes, slow[0]) if slow else ([*schemes, "slow-start"], "slow-start")


@functools.cache
def build(program):
    return hashlib.sha256(Path(program).read_bytes()).hexdigest()


def digest(program, *words):
    """Names what a program makes of words: rows of another build are not read."""
    return hashlib.sha256("\0".join([build(program), *words]).encode()).hexdigest()[:12]


def line(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(cells):
    line(cells)
    print("|" + "---|" * len(cells))


def alike(program, out, tuning, paths, law, schemes):
    """A row for each scheme: its cost, and its harm, on the same paths and under the same law. Needs polars."""
    import polars

    schemes, slow = designs(schemes)
    folder = sweep(program, out, "F0", tuning, paths, schemes, law, f"alike-{tuning}-{paths}-{law}-{digest(program, *schemes)}")
    scores = {where: whole(score(program, folder, where)) for where in ("", "cross=none", "cross=cbr", "cross=tcp")}
    every = polars.concat([polars.read_parquet(part) for part in sorted(folder.glob("part-*.parquet"))], how="diagonal_relaxed")
    # As `score` defines it: harm during the flow as a share of the rate. Its bytes for each own byte leave out what comes after the flow's
    # end, which a few short flows decide.
    every = every.filter(polars.col("path_cross") == "tcp").with_columns(
        harm=polars.col("harm_during_bps") / (polars.col("path_rate_bps") * polars.col("path_crossings")),
        during=polars.col("harm_during_bps") * polars.col("fct_s") / 8 / polars.col("path_size_bytes"))
    rows = {}
    for row in every.iter_rows(named=True):
        rows.setdefault(row.get("label") or row["scheme"], {})[row["path"], row["seed"]] = row
    mean = lambda values: sum(values) / len(values) if values else math.nan
    print(f"\nF0, seed {tuning}, {paths} paths ({len(rows.get(slow, {}))} next to TCP), law {law}; measured against `{slow}`\n")
    header(["scheme", "cost", "alone", "next to CBR", "next to TCP", "harm during %, TCP", f"over : under {slow} (p); mean harm %",
            f"harm per byte, TCP; over : under {slow} (p); mean over that of it", "harm per byte during the flow", "beyond fair %",
            "queue loss mean %", "within 5 % of the bound, %"])
    for name in map(label, schemes):
        of = {where: records.get(name) for where, records in scores.items()}
        pair = lambda where, what, times=1, digits=2: "-" if of[where] is None else "/".join(
            ("-" if what != "cost" else ">20") if of[where][f"{what}_{q}"] is None else f"{times * of[where][f'{what}_{q}']:.{digits}f}"
            for q in ("median", "p90"))
        all_, tcp = of[""], of["cross=tcp"]
        both = pairs(rows, name, slow, "harm")
        means = [100 * mean([pair[place] for pair in both]) for place in (0, 1)]
        ended = {what: pairs(rows, name, slow, what) for what in ("harm_per_byte", "during")}
        against = lambda what: "1.00" if name == slow else (
            f"{signs(ended[what])}; {mean([a for a, _ in ended[what]]) / (mean([b for _, b in ended[what]]) or math.nan):.2f}")
        line([name, *(pair(where, "cost") for where in scores), pair("cross=tcp", "harm_during", 100, 1),
              "-" if name == slow else f"{signs(both)}; {means[0]:.1f} against {means[1]:.1f}",
              pair("cross=tcp", "harm_per_byte") + f"; {against('harm_per_byte')}", against("during"),
              f"{100 * tcp['beyond_fair_share'] / max(tcp['beside_tcp'], 1):.1f}" if tcp else "-", f"{100 * all_['queue_loss_mean']:.2f}",
              f"{100 * all_['near_bound'] / max(all_['bounded_rows'], 1):.0f}"])


def pairs(rows, name, slow, what):
    """A number of two schemes on the same path with the same seed, where both have it."""
    both = [(row[what], rows[slow][at][what]) for at, row in rows.get(name, {}).items() if at in rows[slow]]
    return [pair for pair in both if None not in pair]


def signs(pairs):
    """How often it is over and under, and the two-sided probability of signs that are this uneven or more."""
    over, under = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    of = over + under
    chance = min(1.0, 2 * sum(math.comb(of, k) for k in range(min(over, under) + 1)) / 2 ** of)
    return f"{over}:{under} ({chance:.3f})"


def kept(program, out, words):
    """The records of a race, which is run once; None if it takes more than ten minutes."""
    file = out / f"race-{digest(program, words)}.jsonl"
    if not file.exists():
        try:
            run = subprocess.run([program, *words.split(), "--json"], capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode:
            sys.exit(f"{words}: {run.stderr}")
        part = file.with_suffix(".part")
        part.write_text(run.stdout)
        part.rename(file)
    return [json.loads(record) for record in file.read_text().splitlines()]


def races(program, out, commands):
    """The records of each race, JOBS at a time."""
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(int(JOBS)) as pool:
        return list(pool.map(lambda words: kept(program, out, words), commands))


def crowds(program, out, law, schemes):
    """A hundred flows of 1 MB between the hosts of a dumbbell, all with one scheme."""
    schemes, _ = designs(schemes)
    common = f"--topology dumbbell:hosts=10 --flows 100 --size 1MB --avoidance {law}"
    found = races(program, out, [f"race {load} {common} --schemes {scheme}" for scheme in schemes for _, load in CROWDS])
    print(f"\nA hundred flows of 1 MB, law {law}: mean FCT s/95th percentile s, loss %\n")
    header(["scheme", *(title for title, _ in CROWDS)])
    for place, scheme in enumerate(schemes):
        of = found[place * len(CROWDS):(place + 1) * len(CROWDS)]
        line([label(scheme), *("no end in 600 s" if one is None else
                               f"{figure(one[0].get('fct_mean_s'))}/{figure(one[0].get('fct_p95_s'))}, {100 * one[0]['loss']:.2f}"
                               for one in of)])


def figure(value):
    return "-" if value is None else f"{value:.3f}"


def neighbour(program, out, law, schemes):
    """What a bulk HyStart flow of 50 Mbit/s loses in the 20 s from the start of a transfer of 2 MB on: means of six starts."""
    schemes, _ = designs(schemes)
    starts = [10_000 + 1_530 * k for k in range(6)]
    own = "" if law == "own" else f",avoidance={law}"
    common = f"--rate 50mbit --rtt 40ms --duration 60s --flow scheme=hystart-linux{own},as=neighbour --avoidance {law}"
    found = races(program, out, [f"race {common} --windows {start}ms..{start + 20_000}ms --flow start={start}ms,size=2MB --schemes {scheme}"
                                 for scheme in schemes for start in starts])
    alone = kept(program, out, f"race {common}")[0]["packets_lost"]
    print(f"\nA transfer of 2 MB joins a bulk flow on 50 Mbit/s, 40 ms, law {law}: means of six starts\n")
    header(["scheme", "neighbour loses in 20 s, MB", f"its packets lost in 60 s (alone {alone})", "FCT s", "own loss %"])
    for place, scheme in enumerate(schemes):
        sums = [0.0] * 4
        for records in found[place * len(starts):(place + 1) * len(starts)]:
            bulk = next(record for record in records if record.get("label") == "neighbour")
            own = next(record for record in records if record is not bulk)
            goodput = next(value for key, value in bulk.items() if key.startswith("goodput_bps_"))
            # Packets of 1500 bytes carry 1460.
            for at, value in enumerate([(50e6 * 1460 / 1500 - goodput) * 20 / 8e6, bulk["packets_lost"], own["fct_mean_s"] or math.inf,
                                        100 * own["loss"]]):
                sums[at] += value / len(starts)
        line([label(scheme), f"{sums[0]:.2f}", f"{sums[1]:.0f}", f"{sums[2]:.2f}", f"{sums[3]:.2f}"])


def seconds(text):
    value, unit = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", text).groups()
    return float(value) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def octets(text):
    value, unit = re.fullmatch(r"([0-9.]+)(B|kB|MB|GB)", text).groups()
    return round(float(value) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit])


def rows(program, words, schemes):
    run = subprocess.run([program, *words, "--schemes", schemes, "--json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(words)}: {run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def main():
    program, what, *rest = sys.argv[1:]
    if what == "seed":
        print(f"{seed():08x} {seed()}")
        return
    out = Path(rest[0])
    if what == "look":
        family, tuning, paths = rest[1], int(rest[2]), int(rest[3])
        table(program, sweep(program, out, family, tuning, paths))
    elif what == "report":
        for family in rest[1:] or FAMILIES:
            table(program, sweep(program, out, family, seed(), int(os.environ.get("PATHS", "2000"))))
    elif what == "laws":
        laws(program, out, int(rest[1]) if rest[1:] else 2000)
    elif what == "habitats":
        habitats(program, int(rest[1]) if rest[1:] else 20)
    elif what in ("front", "alike"):
        alike(program, out, int(rest[1]), int(rest[2]), rest[3], rest[4:])
        if what == "front":
            crowds(program, out, rest[3], rest[4:])
            neighbour(program, out, rest[3], rest[4:])
    elif what == "crowds":
        crowds(program, out, rest[1], rest[2:])
    elif what == "neighbour":
        neighbour(program, out, rest[1], rest[2:])
    else:
        memory(program, out, int(rest[1]) if rest[1:] else 400)


if __name__ == "__main__":
    main()
