#!/usr/bin/env python3
"""Draws rows of bench/public.py as bars: what was published and what is measured here; of Philly, which has no published figures, its rules.

usage: bench/public_pictures.py build/bench/public.json DIR

Writes DIR/public-SET.svg for each set that TITLES names. No script and no outside address; readable on light and dark pages.
"""
import html
import json
import pathlib
import sys

LINE, LEFT, BAR, FIGURES = 22, 360, 380, 90
STYLE = "<style>text{font:13px sans-serif;fill:#555}.published{fill:#9aa7b4}.ours{fill:#2f6f9f}@media(prefers-color-scheme:dark){text{fill:#bbb}}</style>"


def label(row, name):
    """The row's name without the set's and the unit's."""
    if name == "philly":
        return row["name"].removeprefix("philly, ").replace(" of the largest use", "").split(": mean wait")[0] + (", of those that start" if row["further"]["never"] else "")
    return row["name"].removeprefix(name).split(", % given")[0].removesuffix(", mean s").strip(" ,")


def picture(title, rows, name):
    most = max(max(filter(None, (row["published"], row["ours"])), default=0) for row in rows) or 1  # data that are made up may wait for nothing
    y, parts = 2 * LINE, [f'<text x="8" y="{LINE}" font-weight="bold">{html.escape(title)}</text>']
    for row in rows:
        parts.append(f'<text x="8" y="{y + 16}">{html.escape(label(row, name))}</text>')
        for kind in ("published", "ours"):
            if row[kind] is None:
                continue
            width = round(BAR * row[kind] / most, 1)
            parts.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{width}" height="{LINE - 6}"/>')
            parts.append(f'<text x="{LEFT + width + 6}" y="{y + 16}">{row[kind]} {kind if kind == "published" else "here"}</text>')
            y += LINE
        y += 6
    size = (LEFT + BAR + FIGURES + 40, y + 8)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" role="img">'
            f"<title>{html.escape(title)}</title>{STYLE}{''.join(parts)}</svg>\n")


TITLES = {"decima": "Completion time of TPC-H jobs on 50 executors, seconds (less is better)",
          "gpu2023": "Device room given when all of it was asked for, percent (more is better)",
          "lublin": "Mean bounded slowdown of batch jobs (less is better)",
          "philly": "Mean wait of jobs that want all of their GPUs at once, seconds, by part of the largest use (less is better)"}


def drawn(row, name):
    if name == "philly":  # at 100 % nobody waits
        return row["name"].startswith(name) and not row["name"].startswith("philly, 100 %")
    return row["name"].startswith(name) and isinstance(row["published"], (int, float)) and " / " not in row["name"]


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    rows, out = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, title in TITLES.items():
        of = [row for row in rows if drawn(row, name)]
        if of:
            (out / f"public-{name}.svg").write_text(picture(title, of, name), encoding="utf-8")
            print(out / f"public-{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
