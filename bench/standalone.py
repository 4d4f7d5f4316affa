#!/usr/bin/env python3
"""A Standalone cluster of Fairlead's Master and two Workers, and one of Spark's own, in one run: how long drivers wait, and for the Master.

usage: standalone.py BUILD [--spark VERSION] [--applications N] [--kills N] [--drivers N] [--starts N] [--takeovers N] [--only PART]
executors: an application connects -> its first executor is RUNNING, as Spark's own driver logs it (most of it is that JVM's first messages), and
           without a JVM, as bench_standalone_load sees it; an executor is killed with -9 -> another one is RUNNING, by the driver's log.
drivers:   a submission by REST -> its status is RUNNING.
master:    started -> /json/ answers; -> ALIVE. Killed with -9 and started at once -> ALIVE with both Workers, with an application that runs
           (recovery FILESYSTEM); of two with a ZooKeeper (session 2 s) -> the other one ALIVE with both Workers. That of Spark's own is not
           measured: its session is of a minute.
idle:      resident memory of the Master with two Workers.
load:      1,000 Workers and 1,000 applications, which are connections of one process (bench/standalone_load.cc): resident memory of the Master,
           and reports that an executor has ended or runs, per second of its CPU time, while 64 at a time are replaced.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import peers  # noqa: E402
import row_file  # noqa: E402
import spark_cluster  # noqa: E402
from jobs import PausedJob  # noqa: E402
import waiting  # noqa: E402

peers.JVM.clear()  # Java's daemons are measured as they start by themselves

LOGGING = """rootLogger.level = info
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{UNIX_MILLIS} %m%n
"""
RUNNING = r"^(\d+) Executor updated: \S+ is now RUNNING"


class Cluster:
    """One kind's Master and Workers, ended together."""

    def __init__(self, kind, spark, **spec):
        self.directory = tempfile.TemporaryDirectory(prefix="fairlead-standalone-", ignore_cleanup_errors=True)
        path = pathlib.Path(self.directory.name) / "cluster"
        path.mkdir()
        self.cluster = spark_cluster.SparkCluster(path, spark_cluster.Spec(spark=spark, master=kind, worker=kind, **spec))

    def __enter__(self):
        self.cluster.start()
        return self.cluster

    def __exit__(self, *_):
        self.cluster.stop()
        self.directory.cleanup()

until = functools.partial(waiting.until, seconds=120, pause=0.001)  # a long pause would be measured, too


def job(cluster, name):
    """A job with two executors whose tasks stand still, and whose driver's log has times."""
    work = cluster.directory / name
    work.mkdir()
    logging = cluster.directory / "log4j2.properties"
    logging.write_text(LOGGING)
    return PausedJob(cluster, work, "--driver-java-options", f"-Dlog4j2.configurationFile=file:{logging}")


def first_executor_ms(cluster, number):
    one = job(cluster, f"job-{number}")
    one.await_round()
    text = one.text()
    began = int(re.search(r"^(\d+) Connecting to master", text, re.M)[1])
    runs = int(re.search(RUNNING, text, re.M)[1])
    one.release()
    one.result()
    return runs - began


def load(build, cluster, *words):
    """What bench_standalone_load says."""
    run = subprocess.run([str(word) for word in (build / "bench/bench_standalone_load", cluster.home, "--port", cluster.port, *words)], capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"bench_standalone_load: {run.stderr}")
    return json.loads(run.stdout)


def bare_first_executor_ms(build, cluster):
    took = load(build, cluster, "--first")["first_executor_ms"]
    until(lambda: cluster.page(timeout=1)["coresused"] == 0, "the executor's end", pause=0.1)
    return took


def replaced_ms(cluster, kills):
    one = job(cluster, "killed")
    app_id = one.await_round()
    took = []
    for _ in range(kills):
        before = len(re.findall(RUNNING, one.text(), re.M))
        number, pid = max(cluster.processes_of(app_id).items(), key=lambda item: int(item[0]))
        killed = time.time() * 1000
        os.kill(pid, signal.SIGKILL)
        runs = until(lambda: len(found := re.findall(RUNNING, one.text(), re.M)) > before and found, f"what replaces executor {number}", pause=0.02)
        took.append(int(runs[-1]) - killed)
        until(lambda: len(cluster.processes_of(app_id)) == 2, "two executors", pause=0.1)
    one.stop()
    return took


def rest(cluster, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{cluster.rest}/v1/submissions/{path}", method="POST" if body else "GET",
                                     data=json.dumps(body).encode() if body else None, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def driver_ms(cluster):
    """The driver, whose jar is empty, is killed once it is RUNNING."""
    jar = cluster.directory / "empty.jar"
    jar.write_bytes(b"PK\x05\x06" + bytes(18))
    began = time.monotonic()
    answer = rest(cluster, "create", {
        "action": "CreateSubmissionRequest", "appResource": f"file:{jar}", "mainClass": "org.example.None", "appArgs": [],
        "clientSparkVersion": cluster.spec.spark, "environmentVariables": {},
        "sparkProperties": {"spark.app.name": "bench", "spark.master": cluster.url, "spark.driver.memory": "512m"}})
    assert answer["success"], answer
    driver = answer["submissionId"]
    until(lambda: rest(cluster, f"status/{driver}")["driverState"] == "RUNNING", "the driver")
    took = (time.monotonic() - began) * 1000
    rest(cluster, f"kill/{driver}", {"action": "KillSubmissionRequest"})
    until(lambda: rest(cluster, f"status/{driver}")["driverState"] not in ("RUNNING", "SUBMITTED"), "the driver's end", pause=0.1)
    return took


def alive(cluster, workers):
    page = cluster.page(timeout=1)
    return page["status"] == "ALIVE" and page["aliveworkers"] == workers


def start_ms(cluster):
    """Without Workers and recovery: to the first answer, and to ALIVE."""
    began = time.monotonic()
    cluster.start_master()
    until(lambda: cluster.page(timeout=1), "an answer")
    answered = time.monotonic()
    until(lambda: alive(cluster, 0), "ALIVE")
    took = ((answered - began) * 1000, (time.monotonic() - began) * 1000)
    cluster.kill("master")
    return took


def back_ms(cluster):
    cluster.kill("master")
    began = time.monotonic()
    cluster.start_master()
    until(lambda: alive(cluster, 2), "the Master with its Workers")
    return (time.monotonic() - began) * 1000


def takeover_ms(cluster):
    first = cluster.leader
    began = time.monotonic()
    cluster.kill(cluster.master_name(first))
    cluster.await_leader(other_than=first)
    until(lambda: alive(cluster, 2), "the other Master with the Workers")
    took = (time.monotonic() - began) * 1000
    cluster.start_master(first)
    until(lambda: cluster.status(first) == "STANDBY", "a Master that stands by", pause=0.1)
    return took


def resident_mib(cluster):
    status = pathlib.Path(f"/proc/{cluster.processes['master'].pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def under_load(build, cluster):
    """Both figures of "load"; each is one run."""
    said = load(build, cluster, "--pid", cluster.processes["master"].pid)
    return {"load_resident_mib": [said["resident_full_mib"]], "load_changes_per_cpu_s": [said["changes_per_master_cpu_s"]]}


def figures(kind, arguments):
    """{name: samples} of one kind."""
    parts, out = arguments.only or ["executors", "drivers", "master", "idle", "load"], {}
    with Cluster(kind, arguments.spark) as cluster:
        if "idle" in parts:
            out["idle_resident_mib"] = [resident_mib(cluster)]
        if "drivers" in parts:
            out["driver_running_ms"] = [driver_ms(cluster) for _ in range(arguments.drivers)]
        if "executors" in parts:
            out["bare_first_executor_ms"] = [bare_first_executor_ms(arguments.build, cluster) for _ in range(arguments.kills)]
            out["first_executor_ms"] = [first_executor_ms(cluster, number) for number in range(arguments.applications)]
            out["replacement_ms"] = replaced_ms(cluster, arguments.kills)
    if "load" in parts:
        with Cluster(kind, arguments.spark, workers=()) as cluster:
            out.update(under_load(arguments.build, cluster))
    if "master" not in parts:
        return out
    with Cluster(kind, arguments.spark, workers=()) as cluster:
        cluster.kill("master")
        took = [start_ms(cluster) for _ in range(arguments.starts)]
        out["start_answer_ms"], out["start_alive_ms"] = ([each[i] for each in took] for i in (0, 1))
    files = (("spark.deploy.recoveryMode", "FILESYSTEM"), ("spark.deploy.recoveryDirectory", "{directory}/recovery"))
    with Cluster(kind, arguments.spark, conf=files) as cluster:
        one = job(cluster, "job")
        one.await_round()
        out["back_files_ms"] = [back_ms(cluster) for _ in range(arguments.starts)]
        one.release()
        one.result()
    if kind == "fairlead" and arguments.takeovers:
        zookeeper = (("spark.deploy.recoveryMode", "ZOOKEEPER"), ("spark.deploy.zookeeper.url", "{zookeeper}"))
        with Cluster(kind, arguments.spark, masters=2, conf=zookeeper) as cluster:
            out["back_zookeeper_ms"] = [takeover_ms(cluster) for _ in range(arguments.takeovers)]
    return out


def half(ours, peer):
    return peer and ours <= peer / 2


def ten_thousand(ours, _):
    return ours >= 10_000


# What is wanted: a bound, or half of Spark's; and of which part of the samples.
GOALS = {"first_executor_ms": (half, 0.5), "bare_first_executor_ms": (half, 0.5), "replacement_ms": (half, 0.5), "driver_running_ms": (half, 0.5), "start_answer_ms": (100, 0.5),
         "start_alive_ms": (100, 0.5), "back_files_ms": (500, 0.5), "back_zookeeper_ms": (3000, 0.99), "idle_resident_mib": (30, 0.5),
         "load_resident_mib": (30, 0.5), "load_changes_per_cpu_s": (ten_thousand, 0.5)}
WORDS = {half: "half of Spark's", ten_thousand: "at least 10,000"}


def row(name, ours, theirs, version):
    goal, part = GOALS[name]
    pick = statistics.median if part == 0.5 else lambda samples: sorted(samples)[min(len(samples) - 1, int(len(samples) * part))]
    mine, peer = pick(ours), pick(theirs) if theirs else None
    met = goal(mine, peer) if callable(goal) else mine <= goal
    wanted = WORDS[goal] if callable(goal) else goal
    print(f"{name}: ours {mine:.3g}, Spark's {f'{peer:.3g}' if peer else 'not measured'}, goal {wanted}, {'met' if met else 'missed'}", flush=True)
    return {"name": f"standalone/{name}", "ours": mine, "samples": len(ours), "peer": peer or "not measured",
            "peer_version": f"Spark {version}" if peer else None, "ratio": peer / mine if peer else None, "goal": wanted, "met": bool(met), "checks_ok": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--spark", default="4.3.0")
    parser.add_argument("--applications", type=int, default=7)
    parser.add_argument("--kills", type=int, default=11)
    parser.add_argument("--drivers", type=int, default=11)
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--takeovers", type=int, default=20)
    parser.add_argument("--only", action="append", choices=["executors", "drivers", "master", "idle", "load"])
    arguments = parser.parse_args()
    peers.fetch(f"spark-{arguments.spark}")
    ours, theirs = figures("fairlead", arguments), figures("spark", arguments)
    rows = [row(name, samples, theirs.get(name), arguments.spark) for name, samples in ours.items()]
    row_file.write(arguments.build, "standalone", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
