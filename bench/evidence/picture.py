#!/usr/bin/env python3
"""Draws the picture of the README: completion time and drops of every scheme over one path.

    bench/evidence/picture.py FIRSTFLIGHT [FILE]        FILE is docs/images/schemes.svg if absent; `-` is standard output
"""

import csv
import io
import sys
from xml.sax.saxutils import escape

import evidence

RACE = ["race", "--rate", "20mbit", "--rtt", "100ms", "--size", "2MB", "--schemes", "all", "--csv"]
WIDTH, HEIGHT, TOP, BOTTOM = 900, 400, 56, 372
# Left ends and widths of the two panels.
TIME, TIME_WIDTH = 150, 430
DROPS, DROPS_WIDTH = 650, 190
COLOURS = {"alone": "#2563eb", "other": "#94a3b8"}


def text(x, y, words, anchor="start", size=12, colour="#1e293b"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def bar(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def drawn(rows):
    rows = sorted(rows, key=lambda row: float(row["fct_s"]))
    step = (BOTTOM - TOP) / len(rows)
    most_time = max(float(row["fct_s"]) for row in rows)
    most_drops = max(1, max(int(row["packets_lost"]) for row in rows))
    ideal = TIME + TIME_WIDTH * float(rows[0]["ideal_fct_s"]) / most_time
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" role="img">',
        "<title>Completion time and drops of every start-up scheme: 2 MB over 20 Mbit/s and 100 ms</title>",
        f"<desc>firstflight {escape(' '.join(RACE))}</desc>",
        bar(0, 0, WIDTH, HEIGHT, "#ffffff"),
        text(TIME, 22, "2 MB over 20 Mbit/s and 100 ms: completion time, s", size=14),
        text(DROPS, 22, "packets dropped", size=14),
        text(ideal, 44, f"ideal {float(rows[0]['ideal_fct_s']):.2f}", "middle", colour="#475569"),
    ]
    for number, row in enumerate(rows):
        y = TOP + number * step
        colour = COLOURS["alone" if row["deploy"] == "alone" else "other"]
        time, drops = float(row["fct_s"]), int(row["packets_lost"])
        length, loss = TIME_WIDTH * time / most_time, DROPS_WIDTH * drops / most_drops
        middle = y + step / 2 + 4
        lines += [
            text(TIME - 8, middle, row["scheme"], "end"),
            bar(TIME, y + 2, length, step - 4, colour),
            text(TIME + length + 6, middle, f"{time:.2f}", size=11),
            bar(DROPS, y + 2, loss, step - 4, "#dc2626"),
            text(DROPS + loss + 6, middle, str(drops), size=11),
        ]
    lines += [
        f'<line x1="{ideal:.1f}" y1="{TOP - 6}" x2="{ideal:.1f}" y2="{BOTTOM}" stroke="#475569" stroke-dasharray="3 3"/>',
        bar(TIME, 382, 10, 10, COLOURS["alone"]), text(TIME + 16, 391, "deployed by a sender alone", size=11),
        bar(TIME + 190, 382, 10, 10, COLOURS["other"]),
        text(TIME + 206, 391, "with an earlier connection or the routers' help", size=11),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main():
    if not 2 <= len(sys.argv) <= 3:
        raise SystemExit(__doc__)
    file = sys.argv[2] if len(sys.argv) > 2 else evidence.ROOT / "docs" / "images" / "schemes.svg"
    svg = drawn(list(csv.DictReader(io.StringIO(evidence.said([sys.argv[1], *RACE])))))
    if file == "-":
        sys.stdout.write(svg)
    else:
        with open(file, "w", encoding="utf-8") as out:
            out.write(svg)


main()
