#!/usr/bin/env python3
"""How long `fairlead sim migrate` takes for a day of 10,000 jobs of 50 tasks (docs/simulator.md).

usage: bench/migrate.py BUILD [--jobs N] [--tasks N] [--seed N]

A drawn day of jobs (seed) in ten queues on 240 nodes, under a fair-scheduler.xml and under the capacity-scheduler.xml of the same shares. Seconds of
the whole command, from files to reports, and of its processor. A row goes to BUILD/bench/migrate.json. Half a minute.
"""
import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

import row_file

GOAL_S = 30
NODES = ("--nodes", "240", "--node-vcores", "8", "--node-memory", "8192")
QUEUES = [f"q{number}" for number in range(10)]
DAY_MS = 24 * 3600 * 1000


def write_trace(path, jobs, tasks, seed):
    """An SLS trace: starts are even over the day, tasks take a minute to eight, which fills some nine tenths of the cluster on the mean."""
    draw = random.Random(seed)
    with open(path, "w") as file:
        for number in range(jobs):
            start = draw.randrange(DAY_MS)
            ends = [start + draw.randrange(60_000, 480_000) for _ in range(tasks)]
            json.dump({"am.type": "mapreduce", "job.start.ms": start, "job.end.ms": max(ends), "job.queue.name": draw.choice(QUEUES), "job.id": f"job_{number + 1}",
                       "job.user": f"user{draw.randrange(50)}",
                       "job.tasks": [{"container.start.ms": start, "container.end.ms": end, "container.priority": 20, "container.type": "map"} for end in ends]}, file)
            file.write("\n")


def write_queues(directory):
    queues = "".join(f'<queue name="{name}"><weight>{number + 1}</weight></queue>' for number, name in enumerate(QUEUES))
    (directory / "fair-scheduler.xml").write_text(f"<allocations>{queues}</allocations>\n")
    keys = {"root.queues": ",".join(QUEUES), "maximum-am-resource-percent": "1",
            **{f"root.{name}.capacity": f"{number + 1}w" for number, name in enumerate(QUEUES)},
            **{f"root.{name}.user-limit-factor": "-1" for name in QUEUES}}
    properties = "".join(f"<property><name>yarn.scheduler.capacity.{key}</name><value>{value}</value></property>\n" for key, value in keys.items())
    (directory / "capacity-scheduler.xml").write_text(f"<configuration>\n{properties}</configuration>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write_trace(directory / "day.json", options.jobs, options.tasks, options.seed)
        write_queues(directory)
        begun = time.monotonic()
        run = subprocess.run([options.build / "fairlead", "sim", "migrate", "--from", directory / "fair-scheduler.xml", "--to", directory / "capacity-scheduler.xml",
                              "--trace", directory / "day.json", *NODES, "--out", directory / "out"], capture_output=True, text=True)
        seconds = time.monotonic() - begun
        if run.returncode != 0:
            raise SystemExit(run.stderr[-3000:])
        report = json.loads((directory / "out/report.json").read_text())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = [report[side]["ended"] for side in ("from", "to")]
    row = {"name": f"sim migrate: {options.jobs} jobs of {options.tasks} tasks", "unit": "s", "ours": round(seconds, 1), "cpu": round(used.ru_utime + used.ru_stime, 1),
           "peak_mib": used.ru_maxrss // 1024, "jobs_ended": ended, "goal": f"<= {GOAL_S}", "met": seconds <= GOAL_S}
    row_file.write(options.build, "migrate", [row])
    print(f"{row['name']}: {seconds:.1f} s, {row['cpu']} s of processors, {row['peak_mib']} MiB, {ended[0]} and {ended[1]} jobs ended; goal {row['goal']}: {'met' if row['met'] else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
