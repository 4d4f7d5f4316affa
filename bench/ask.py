#!/usr/bin/env python3
"""What questions about the future cost (docs/ask.md), beside the goals.

usage: bench/ask.py BUILD [--calibration [--seeds N...] [--profiles NAME...]]

By profile: what the deciding thread pays for a copy of the scheduler of 10,000 nodes with 200,000 containers, and how long an hour ahead of
1,000 full nodes with some 100,000 grants takes off that thread. Milliseconds of CPU, of BUILD/src/process/ask/process_ask_bench; the least of
three runs. Rows go to BUILD/bench/ask.json. A minute or two.

--calibration: how well the estimates of `fairlead when` hold, on days of other seeds than anything was tuned on (BUILD/bench/bench_when_calibration
says what is counted). Rows go to BUILD/bench/ask_calibration.json. Some minutes.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import row_file

PROFILES = ("fairlead", "tdw", "yarn-fair", "yarn-capacity")
REPEATS = 3
FORK_MS = 1.0
# Profiles that grant at once, and those that wait for heartbeats.
HOUR_MS = {"fairlead": 300, "tdw": 300, "yarn-fair": 1000, "yarn-capacity": 1000}


def measure(build):
    """{(benchmark, profile): [run of the library]}"""
    run = subprocess.run([build / "src/process/ask/process_ask_bench", "--benchmark_format=json", f"--benchmark_repetitions={REPEATS}", "--benchmark_min_time=0.2"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stderr)
    found = {}
    for one in json.loads(run.stdout)["benchmarks"]:
        if one["run_type"] != "iteration":
            continue
        name, profile = one["run_name"].split("/profile:")
        found.setdefault((name, PROFILES[int(profile)]), []).append(one)
    return found


def rows(found):
    for (name, profile), runs in found.items():
        ours = min(run["cpu_time"] for run in runs)
        fork = name == "BM_Fork"
        goal = FORK_MS if fork else HOUR_MS[profile]
        what = "a copy of 10,000 nodes and 200,000 containers" if fork else f"an hour ahead of 1,000 nodes, {runs[0]['grants']:.0f} grants"
        yield {"name": f"{profile}: {what}", "unit": "ms", "ours": round(ours, 2), "goal": f"<= {goal}", "met": ours <= goal}


# Small cuts of both days, overloaded: without a queue there is nothing to foresee.
DAYS = {"google": ("0.005", "3", "30"), "tdw": ("0.01", "3", "25")}
GOALS = {  # what: its bounds
    "told": (0.80, 1), "within_p90": (0.85, 0.95), "close": (0.80, 1), "median_error": (0, 0.25)}
WORDS = {"told": "asks with an estimate", "within_p90": "started before their p90", "close": "p50 within a minute or a tenth of the wait", "median_error": "median error, of the wait"}


def calibrate(build, seeds, profiles):
    for profile in profiles:
        for day, (scale, hours, nodes) in DAYS.items():
            for seed in seeds:
                run = subprocess.run([build / "bench/bench_when_calibration", day, str(seed), scale, hours, nodes, profile], capture_output=True, text=True)
                if run.returncode != 0:
                    raise SystemExit(run.stderr)
                found = json.loads(run.stdout)
                for what, (low, high) in GOALS.items():
                    bounds = f"{low} to {high}" if what == "within_p90" else f"<= {high}" if low == 0 else f">= {low}"
                    yield {"name": f"{profile}, {day} {seed}, {found['asks']} asks: {WORDS[what]}", "unit": "", "ours": found[what], "goal": bounds, "met": low <= found[what] <= high}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="+", default=[601, 602])
    parser.add_argument("--profiles", nargs="+", default=["fairlead", "tdw"])
    arguments = parser.parse_args()
    if arguments.calibration:
        made = []
        for row in calibrate(arguments.build, arguments.seeds, arguments.profiles):
            made.append(row)
            print(f"{row['name']}: goal {row['goal']}, ours {row['ours']}, {'met' if row['met'] else 'not met'}", flush=True)
        row_file.write(arguments.build, "ask_calibration", made)
        return 0
    made = list(rows(measure(arguments.build)))
    for row in made:
        print(f"{row['name']}: goal {row['goal']} ms, ours {row['ours']} ms, {'met' if row['met'] else 'not met'}")
    row_file.write(arguments.build, "ask", made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
