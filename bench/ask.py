#!/usr/bin/env python3
"""What questions about the future cost (docs/ask.md), beside the goals.

usage: bench/ask.py BUILD [--calibration [--true-run-times] [--seeds N...] [--data DIR] [--profiles NAME...]]

By profile: what the deciding thread pays for a copy of the scheduler of 10,000 nodes with 200,000 containers, and how long an hour ahead of
1,000 full nodes with some 100,000 grants takes off that thread. Milliseconds of CPU, of BUILD/src/process/ask/process_ask_bench; the least of
three runs. Rows go to BUILD/bench/ask.json. A minute or two.

--calibration: how well the estimates of `fairlead when` hold, on days of other seeds than anything was tuned on (BUILD/bench/bench_when_calibration
says what is counted); --data DIR: on the files that docs/public-results.md names as well; --true-run-times: with forecasts that know how long every
container runs, so that what they still miss is not what was learned. Rows go to BUILD/bench/ask_calibration.json. Some minutes.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys

import public_data
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


# Small cuts of both days, overloaded: without a queue there is nothing to foresee. Scale, hours, nodes.
DAYS = {"google": ("0.005", "3", "30"), "tdw": ("0.01", "3", "25")}
# Files of --data, where they are published: docs/public-results.md. How many times as fast, hours of the file, nodes of 16 cores.
FILES = {"lublin1.swf": ("1", "120", "20"), "lublin2.swf": ("1", "120", "12"), "philly.csv": ("1", "48", "7"), "FB-2009_samples_24_times_1hr_0.tsv": ("8", "24", "12")}
GOALS = {  # what: its bounds
    "told": (0.80, 1), "within_p90": (0.85, 0.95), "close": (0.80, 1), "median_error": (0, 0.25), "ms_an_ask": (0, 1)}
WORDS = {"told": "asks with an estimate", "within_p90": "started before their p90", "close": "p50 within a minute or a tenth of the wait", "median_error": "median error, of the wait",
         "ms_an_ask": "ms of CPU for each ask that waits"}
# What the reader of the Standard Workload Format takes.
LONGEST_S = 24 * 86_400


def philly(path):
    """Two days of the largest cluster, from the middle of its jobs on, in the Standard Workload Format: a GPU is a processor."""
    clusters = {}
    for number, line in enumerate(public_data.lines(path).splitlines()[1:], 2):
        if not line.strip():
            continue
        try:
            at, seconds, gpus, _, cluster = line.split(",")
            job = (datetime.datetime.fromisoformat(at).timestamp(), float(seconds), int(gpus))
        except ValueError:
            raise SystemExit(f"{path}:{number}: a row is timestamp,duration,num_gpus,gpu_time,cluster") from None
        clusters.setdefault(cluster, []).append(job)
    jobs = sorted(max(clusters.values(), key=len, default=[]))
    jobs = jobs[len(jobs) // 2:]
    return "; made of Philly\n" + "".join(f"{i} {at - jobs[0][0]:.0f} -1 {min(max(seconds, 1), LONGEST_S):.0f} {gpus}" + " -1" * 13 + "\n" for i, (at, seconds, gpus) in enumerate(jobs, 1))


def days(data, seeds):
    """(what it is called, words of the program, its standard input)"""
    for name, (scale, hours, nodes) in DAYS.items():
        for seed in seeds:
            yield f"{name} {seed}", (name, str(seed), scale, hours, nodes), None
    for name, (faster, hours, nodes) in FILES.items() if data else ():
        path = public_data.find(data, name)
        if path is None:
            print(f"{name}: not in {data}, left out; {public_data.PAGE}")
            continue
        yield name.partition(".")[0].partition("_")[0], ("-", "0", faster, hours, nodes), philly(path) if name == "philly.csv" else public_data.text(path)


def calibrate(arguments):
    known = ["--true-run-times"] if arguments.true_run_times else []
    for profile in arguments.profiles:
        for name, words, jobs in days(arguments.data, arguments.seeds):
            run = subprocess.run([arguments.build / "bench/bench_when_calibration", *known, *words, profile], input=jobs, capture_output=True, text=True)
            if run.returncode != 0:
                raise SystemExit(f"{name}: {run.stderr}")
            found = json.loads(run.stdout)
            for what, (low, high) in GOALS.items():
                bounds = f"{low} to {high}" if what == "within_p90" else f"<= {high}" if low == 0 else f">= {low}"
                yield {"name": f"{profile}, {name}{', run times known' if known else ''}, {found['asks']} asks: {WORDS[what]}", "unit": "", "ours": found[what], "goal": bounds,
                       "met": low <= found[what] <= high}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--calibration", action="store_true")
    parser.add_argument("--true-run-times", action="store_true")
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, nargs="*", default=[601, 602])
    parser.add_argument("--profiles", nargs="+", default=["fairlead", "tdw"])
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        raise SystemExit(f"{arguments.data}: no such folder")
    if arguments.calibration:
        made = []
        for row in calibrate(arguments):
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
