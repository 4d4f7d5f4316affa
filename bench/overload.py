#!/usr/bin/env python3
"""Some overloaded minutes on a real cluster of this machine, once under each setting: profile `fairlead` as it is, without wishes, yarn-fair.

usage: bench/overload.py BUILD [--seed N] [--jobs N] [--minutes N] [--load N]

Two node agents of 16 cores; real drivers and executors of one core each, whose tasks wait (bench/overload_job.cc). Jobs come by chance over --minutes and
bring --load times what the cluster can do meanwhile: of ten, six have 1 to 4 tasks, three have 5 to 20, one has 60 to 120. A job's slowdown is its
time from submission to end, divided by its time on the cluster alone: its waves of tasks and 2 s. Real processes start, so runs differ by some
percent; times of the profile (a minute in which a master may be parked) are not cut to the length of the run.
"""
import argparse
import dataclasses
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import row_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/interop"))
import cluster as lab  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402

CORES, NODES, START_S = 16, 2, 2
QUEUES = ("alpha", "beta")
SETTINGS = {
    "fairlead, nothing set": (("fairlead.scheduler.profile", "fairlead"),),
    "fairlead, wishes none": (("fairlead.scheduler.profile", "fairlead"), ("fairlead.scheduler.wishes", "none")),
    "yarn-fair": (("fairlead.scheduler.profile", "yarn-fair"),),
}
SPEC = registry.Spec(nodes=("fairlead",) * NODES, history=False, allocations="<allocations><queue name='alpha'/><queue name='beta'/></allocations>", yarn_site=(
    ("yarn.nodemanager.resource.cpu-vcores", CORES), ("yarn.nodemanager.resource.memory-mb", 512 * CORES), ("yarn.nodemanager.aux-services", "spark_shuffle"),
    ("yarn.resourcemanager.max-completed-applications", 100_000)))


@dataclasses.dataclass
class Job:
    at: float
    queue: str
    tasks: int
    ms: int

    def alone(self):
        return START_S + -(-self.tasks // (CORES * NODES - 1)) * self.ms / 1000


def day(seed, count, seconds, load):
    rng = random.Random(seed)
    jobs = []
    for number in range(count):
        low, high = rng.choices(((1, 4), (5, 20), (60, 120)), (6, 3, 1))[0]
        jobs.append(Job(rng.uniform(0, seconds), QUEUES[number % 2], rng.randint(low, high), rng.randint(500, 3500)))
    work = sum(job.tasks * job.ms / 1000 + START_S for job in jobs)
    stretch = load * CORES * NODES * seconds / work
    for job in jobs:
        job.ms = round(job.ms * stretch)
    return sorted(jobs, key=lambda job: job.at)


def run(build, name, keys, jobs):
    """Slowdowns, and the seconds until all had ended."""
    with tempfile.TemporaryDirectory(prefix="fairlead-overload-") as work:
        pathlib.Path(work).chmod(0o755)
        cluster = lab.Cluster(pathlib.Path(work) / "cluster", dataclasses.replace(SPEC, yarn_site=SPEC.yarn_site + keys))
        try:
            cluster.start()
            begin = time.monotonic()
            submitted = []
            for number, job in enumerate(jobs):
                time.sleep(max(0, begin + job.at - time.monotonic()))
                words = [build / "fairlead", "submit", "--hadoop-conf", cluster.conf, "--detach", "--queue", f"root.{job.queue}", "--name", number,
                         "--executors", job.tasks, "--executors-min", 0, "--executor-idle", 1, "--executor-memory", 256, "--driver-memory", 256,
                         build / "bench/bench_overload_job", job.tasks, job.ms]
                submitted.append(subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL))
            failed = sum(one.wait() != 0 for one in submitted)
            ended, told = [], begin
            while len(ended) < len(jobs) - failed:
                time.sleep(1)
                ended = (cluster.get("/ws/v1/cluster/apps?states=FINISHED,FAILED,KILLED")["apps"] or {}).get("app", [])
                if time.monotonic() > told + 10:
                    told = time.monotonic()
                    print(f"{name}: {len(ended)} of {len(jobs)} jobs have ended after {told - begin:.0f} s", file=sys.stderr, flush=True)
            bad = failed + sum(app["finalStatus"] != "SUCCEEDED" for app in ended)
            slow = [app["elapsedTime"] / 1000 / jobs[int(app["name"])].alone() for app in ended]
            span = max(app["finishedTime"] for app in ended) - min(app["startedTime"] for app in ended)
            return sorted(slow), span / 1000, bad
        finally:
            cluster.stop()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=150)
    options.add_argument("--minutes", type=float, default=3)
    options.add_argument("--load", type=float, default=1.6)
    wanted = options.parse_args()
    if min(wanted.jobs, wanted.minutes, wanted.load) <= 0:
        options.error("--jobs, --minutes and --load are above 0")
    peers.BINARY = wanted.build / "fairlead"
    jobs = day(wanted.seed, wanted.jobs, wanted.minutes * 60, wanted.load)
    rows = []
    for name, keys in SETTINGS.items():
        slow, span, bad = run(wanted.build, name, keys, jobs)
        rows.append({"name": name, "mean_slowdown": round(statistics.fmean(slow), 2), "median_slowdown": round(statistics.median(slow), 2),
                     "p99_slowdown": round(slow[int(len(slow) * 0.99)], 2), "seconds": round(span), "jobs": len(slow), "not_succeeded": bad, "checks_ok": bad == 0})
        print(f"{name:24} mean slowdown {rows[-1]['mean_slowdown']:7}, median {rows[-1]['median_slowdown']:7}, p99 {rows[-1]['p99_slowdown']:7}, "
              f"all ended after {span:.0f} s, {bad} did not succeed", flush=True)
    row_file.write(wanted.build, "overload", rows)
    return 0 if all(row["checks_ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
