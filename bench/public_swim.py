"""SWIM's day of Facebook's cluster (2009), which names neither queues nor users: dealt over both, through every profile."""
import json
import subprocess

import public_data as data

FILES = ("FB-2009_samples_24_times_1hr_0.tsv",)
DEAL = ("--deal-queues", 4, "--deal-users", 5)
CLUSTER = ("--nodes", 12, "--node-memory", 49152, "--node-vcores", 16)


def rows(options):
    path = data.need(options.data, FILES[0])
    command = [options.build / "fairlead", "sim", "compare", path, *DEAL, *CLUSTER, "--scheduler-only", "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr or done.stdout}")
    runs = {run["profile"]: run for run in json.loads(done.stdout)["runs"]}
    others = min(run["meanSlowdown"] for profile, run in runs.items() if profile != "fairlead")
    for profile, run in runs.items():
        ours = run["meanSlowdown"]
        goal, met = (f"<= the best other ({others:.2f})", ours <= others) if profile == "fairlead" else ("-", True)
        yield data.row(f"swim, {profile}: mean slowdown (p99 {run['p99Slowdown']:.1f}, makespan {run['makespanSeconds']:.0f} s)", goal, None, round(ours, 2), met)
