"""A day of the accident that the article on FairScheduler's allocation tells of: twelve nodes of 100 GB and 32 cores that stopped serving because nodes were
reserved. The article names the cluster and the cause; the jobs are made up here: streams that never end leave 40 GiB free on each node, twelve reports want a
container of 50 GiB each, and users come with small jobs all day."""
import csv
import json
import pathlib
import subprocess
import tempfile

import public_data as data

FILES = ()
NODES, NODE_MIB, NODE_CORES = 12, 100 << 10, 32
DAY_MS = 24 * 3600 * 1000
REPORTS_AT_MS = 2 * 3600 * 1000
PROFILES = ("yarn-fair", "fairlead")


def container(start_ms, run_ms, mib, cores, count=1):
    return {"container.start.ms": start_ms, "container.end.ms": start_ms + run_ms, "container.priority": 20, "container.type": "map",
            "container.memory-mb": mib, "container.vcores": cores, "container.count": count}


def job(name, queue, start_ms, tasks):
    return {"am.type": "mapreduce", "job.start.ms": start_ms, "job.end.ms": max(task["container.end.ms"] for task in tasks), "job.queue.name": queue,
            "job.id": name, "job.user": queue, "job.tasks": tasks}


def jobs():
    day = [job("streams", "streams", 0, [container(0, DAY_MS, 60 << 10, 8, NODES)])]
    day += [job(f"report_{i}", "reports", REPORTS_AT_MS + i * 1000, [container(REPORTS_AT_MS, 600_000, 50 << 10, 4)]) for i in range(NODES)]
    day += [job(f"small_{i}", "users", at, [container(at, 60_000, 1 << 10, 1, 10)]) for i, at in enumerate(range(600_000, DAY_MS - 3_600_000, 120_000))]
    return sorted(day, key=lambda one: one["job.start.ms"])


def small_waits(build, profile, trace, out):
    """Seconds from submission to the first container of each user's job that started within the day, and how many users' jobs there were."""
    command = [build / "fairlead", "sim", "run", trace, "--profile", profile, "--nodes", NODES, "--node-memory", NODE_MIB, "--node-vcores", NODE_CORES, "--out", out]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"fairlead sim run: {done.stderr or done.stdout}")
    with open(pathlib.Path(out) / "jobs.csv", encoding="utf-8") as file:
        small = [one for one in csv.DictReader(file) if one["job"].startswith("small_")]
    ended = [one for one in small if float(one["end_s"]) * 1000 <= DAY_MS]
    return sorted(float(one["first_start_s"]) - float(one["submit_s"]) for one in small), len(ended)


def rows(options):
    submitted = sum(1 for one in jobs() if one["job.user"] == "users")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "day.json"
        trace.write_text("\n".join(json.dumps(one) for one in jobs()))
        for profile in PROFILES:
            waits, ended = small_waits(options.build, profile, trace, pathlib.Path(folder) / profile)
            stalls = profile == "yarn-fair"
            goal = "stalls: few" if stalls else "all"
            met = ended < submitted / 4 if stalls else ended == submitted
            yield data.row(f"accident, {profile}: small jobs of {submitted} that ended within the day", goal, None, ended, met,
                           longest_wait_s=round(waits[-1], 1) if waits else None)
