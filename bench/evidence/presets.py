#!/usr/bin/env python3
"""Measures docs/evidence/presets.md: the completion times of all schemes on each path that has a name, and draws them.

    bench/evidence/presets.py FIRSTFLIGHT         races on every path, writes the tables, and draws; some minutes of one core
    bench/evidence/presets.py --draw [FILE]       draws the tables; FILE is docs/images/presets.svg if absent, `-` is standard output
"""

import csv
import io
import json
import math
import sys
from xml.sax.saxutils import escape

import evidence

NAME = "presets"
SIZES = ["100kB", "2MB"]
REFERENCE = "slow-start"
RUNS = "10"
PICTURE = evidence.ROOT / "docs" / "images" / "presets.svg"

# Geometry of the picture.
LEFT, TOP, CELL, LINE, GAP = 190, 128, 33, 16, 24
# Colours of ratios below and above 1, from near 1 to far from it, and the ratios above 1 at which they begin.
FASTER = ["#dbeafe", "#bfdbfe", "#93c5fd", "#60a5fa"]
SLOWER = ["#ffedd5", "#fed7aa", "#fdba74", "#fb923c"]
EQUAL = "#f8fafc"
STEPS = [1.02, 1.1, 1.25, 1.6]


def race(program, path, size):
    command = [program, "race", "--path", path, "--size", size, "--schemes", "all", "--runs", RUNS, "--csv"]
    rows = csv.DictReader(io.StringIO(evidence.said(command)))
    return {row["scheme"]: row["fct_s"] for row in rows if row["deploy"] == "alone"}


def measure(program):
    paths = [json.loads(line)["name"] for line in evidence.said([program, "paths", "--json"]).splitlines()]
    times = []
    for path in paths:
        for size in SIZES:
            found = race(program, path, size)
            times += [[path, size, scheme, f"{float(time):.4g}" if time else ""] for scheme, time in sorted(found.items())]
        print(path, file=sys.stderr)
    evidence.write_table(NAME, "times", [["path", "size", "scheme", "fct_s"], *times])
    evidence.write_table(NAME, "summary", summary())
    evidence.measured(NAME, "completion times", program)


def ratios():
    """Returns the ratio of each completion time to that of slow start, by path, size and scheme, and the times of slow start."""
    _, *rows = evidence.table(NAME, "times")
    base = {(path, size): float(time) for path, size, scheme, time in rows if scheme == REFERENCE}
    found = {}
    for path, size, scheme, time in rows:
        found.setdefault(path, {}).setdefault(size, {})[scheme] = float(time) / base[path, size] if time else None
    return found, base


def summary():
    found, base = ratios()
    rows = [["path", *[f"{head}, {size}" for size in SIZES for head in ("slow start s", "best", "worst")]]]
    for path, sizes in found.items():
        cells = []
        for size in SIZES:
            known = {scheme: ratio for scheme, ratio in sizes[size].items() if ratio}
            ends = [pick(known.items(), key=lambda one: (one[1], one[0])) for pick in (min, max)]
            cells += [f"{base[path, size]:.3g}", *[f"{ratio:.2f} `{scheme}`" if abs(ratio - 1) >= 0.005 else "–" for scheme, ratio in ends]]
        rows.append([f"`{path}`", *cells])
    return rows


def colour(ratio):
    if ratio is None:
        return "#e2e8f0"
    distance = math.exp(abs(math.log(ratio)))
    step = sum(distance >= bound for bound in STEPS)
    return EQUAL if step == 0 else (FASTER if ratio < 1 else SLOWER)[step - 1]


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def drawn():
    found, _ = ratios()
    schemes = [scheme for scheme in next(iter(found.values()))[SIZES[0]] if scheme != REFERENCE]

    def mean(scheme):
        logs = [math.log(sizes[SIZES[1]][scheme]) for sizes in found.values() if sizes[SIZES[1]].get(scheme)]
        return sum(logs) / len(logs)

    schemes.sort(key=mean)
    panel = len(schemes) * CELL
    width, height = LEFT + 2 * panel + GAP + 12, TOP + len(found) * LINE + 44
    title = "Completion time of each start-up scheme on each named path, relative to slow start"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="10" fill="#1e293b" role="img">',
        f"<title>{title}</title>",
        f"<desc>bench/evidence/presets.py: firstflight race --path NAME --size SIZE --runs {RUNS}</desc>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        text(12, 22, title, more=' font-size="14"'),
    ]
    squares = {}
    words, numbers = [], []
    for number, size in enumerate(SIZES):
        left = LEFT + number * (panel + GAP)
        words.append(text(left, 42, f"{size[:-2]} {size[-2:]} to transfer", more=' font-size="12"'))
        for at, scheme in enumerate(schemes):
            x = left + (at + 0.5) * CELL
            words.append(text(x + 3, TOP - 6, scheme, more=f' transform="rotate(-50 {x + 3:g} {TOP - 6})"'))
            for line, (path, sizes) in enumerate(found.items()):
                ratio = sizes[size].get(scheme)
                y = TOP + line * LINE
                squares.setdefault(colour(ratio), []).append(f"M{left + at * CELL:g} {y}h{CELL - 1}v{LINE - 1}h-{CELL - 1}z")
                numbers.append(f'<text x="{x:g}" y="{y + 11.5:g}">{f"{ratio:.2f}" if ratio else "–"}</text>')
    for line, path in enumerate(found):
        words.append(text(LEFT - 6, TOP + line * LINE + 11.5, path, "end"))
    lines += [f'<path fill="{fill}" d="{"".join(shapes)}"/>' for fill, shapes in sorted(squares.items())] + words
    lines += ['<g text-anchor="middle">', *numbers, "</g>"]
    y, x = height - 26, LEFT
    bounds = [f"{1 / bound:.2f}" for bound in reversed(STEPS)] + [f"{bound:.2f}" for bound in STEPS]
    for at, fill in enumerate([*reversed(FASTER), EQUAL, *SLOWER]):
        lines.append(f'<rect x="{x + at * 46}" y="{y}" width="45" height="10" fill="{fill}" stroke="#cbd5e1"/>')
    lines += [text(x + (at + 1) * 46, y + 21, bound, "middle") for at, bound in enumerate(bounds)]
    lines.append(text(x + 9 * 46 + 10, y + 9, "of slow start's completion time: blue is faster, orange is slower"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def draw(file):
    svg = drawn()
    if file == "-":
        sys.stdout.write(svg)
    else:
        with open(file, "w", encoding="utf-8") as out:
            out.write(svg)


def main():
    match sys.argv[1:]:
        case ["--draw"]:
            draw(PICTURE)
        case ["--draw", file]:
            draw(file)
        case [program] if not program.startswith("-"):
            measure(program)
            draw(PICTURE)
        case _:
            raise SystemExit(__doc__)


main()
