#!/usr/bin/env python3
"""Fairlead's resource manager and node agents beside Hadoop's own, in one run, with Hadoop's client classes on both sides.

usage: yarn.py BUILD [--rounds N] [--pairs N] [--hadoop VERSION] [--seconds N] [--only latency|load|idle|memory|pollers|why]
latency: each pair starts a cluster of either kind (one resource manager, two nodes), in alternating order, and measures it alone.
load:    grants a second through one resource manager by an open-loop generator (bench/yarn_load.cc), as many containers ending.
idle:    9,860 masters that only call and 5,000 nodes that only beat; what an allocate call takes then, and the memory.
pollers: the load of `idle`, by turns alone and beside 20 readers of the REST addresses and of what the pages ask for, each once a second; then
         what a poll of /ws/v1/cluster/metrics costs the thread that decides (fairlead_rm_web_seconds).
why:     10,000 nodes and 1,000 masters that wait, by turns alone and asked ten times a second why one of them waits.
memory:  2,000 such masters and 1,000 nodes, for both resource managers (Hadoop's does not take the load of `idle` on a small machine).
Memory is what the process has of its own (anonymous pages: heap with its gaps, stacks) beside Hadoop's live heap after a full
collection; both leave out the program's code.
"""
import argparse
import contextlib
import json
import pathlib
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as clusters  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import row_file  # noqa: E402

peers.JVM.clear()  # Java's daemons are measured as they start by themselves

GOALS_MS = {"master-start": 150, "ask-to-grant": 2, "grant-call": 2, "ask-to-process": 30}


def measure(kind, rounds, hadoop):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    directory.chmod(0o755)
    stamps = directory / "stamps"
    stamps.mkdir()
    stamps.chmod(0o777)
    cluster = clusters.Cluster(directory / "cluster", registry.Spec(hadoop=hadoop, rm=kind, nodes=(kind, kind)))
    samples = {}
    try:
        cluster.start()
        run = cluster.java(ROOT / "bench/java/YarnLatency.java", stamps, rounds, timeout=900)
        registry.require_success(run, f"YarnLatency on {kind}")
        for line in run.stdout.splitlines():
            name, _, nanos = line.partition(" ")
            if name in GOALS_MS:
                samples.setdefault(name, []).append(int(nanos) / 1e6)
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return samples


LOADS = {
    "load": ["--nodes", 1000, "--busy", 50, "--batch", 100, "--rate", 110000],
    "idle": ["--nodes", 5000, "--idle", 9850, "--busy", 10, "--batch", 10, "--rate", 5000],
    "why": ["--nodes", 10000, "--waiting", 1000, "--busy", 10, "--node-mb", 12288, "--batch", 10, "--rate", 500,
            "--heartbeat-ms", 3000],
    "memory": ["--nodes", 1000, "--idle", 2000, "--busy", 10, "--batch", 10, "--rate", 500],
}


PAIRS = 3  # windows of either kind
METRICS_POLLS = 500
WHY_RATE = 10
OPEN_FILES = 65536


def live_heap_mib(pid):
    """What is alive in a JVM after a full collection."""
    subprocess.run([peers.java_home() + "/bin/jcmd", str(pid), "GC.run"], check=True, capture_output=True)
    text = subprocess.run([peers.java_home() + "/bin/jcmd", str(pid), "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return sum(int(kib) for kib in re.findall(r"^ *(?:def new generation|tenured generation|garbage-first heap).* used (\d+)K", text, re.M)) / 1024


def raise_open_files():
    """The daemons take connections for three quarters of their limit; with 20,000 files that is what `idle` needs."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(hard, OPEN_FILES),) * 2)
    except ValueError:  # only root may raise it
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


@contextlib.contextmanager
def resource_manager(kind, hadoop):
    """One resource manager without nodes."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    cluster = clusters.Cluster(directory, registry.Spec(hadoop=hadoop, rm=kind, nodes=(), yarn_site=(("yarn.scheduler.maximum-allocation-mb", "8192"), ("yarn.resourcemanager.bind-host", "0.0.0.0"))))
    try:
        cluster.write()
        cluster.start_rm(heap=3000)
        for port in (cluster.tracker, cluster.scheduler, cluster.client):  # Hadoop's pages come before its services
            cluster.wait(lambda port=port: listens(port), f"the resource manager's port {port}")
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)


def own_address():
    """An address of this machine that is not loopback: calls to it come from it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        return probe.getsockname()[0]


def generator(cluster, name, build, seconds):
    ports = ["--tracker", cluster.tracker, "--scheduler", cluster.scheduler, "--client", cluster.client, "--queue", "root.alpha", "--others-to", own_address()]
    return [build / "bench/bench_yarn_load", *ports, *LOADS[name], "--seconds", seconds]


def put_under_load(kind, name, build, seconds, hadoop):
    """Runs one resource manager and the generator; gives the generator's figures, and the memory in MiB."""
    with resource_manager(kind, hadoop) as cluster:
        words = generator(cluster, name, build, seconds)
        run = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=900)
        registry.require_success(run, f"the generator against {kind}")
        figures = json.loads(run.stdout)
        pid = cluster.processes["rm"].pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        figures["resident_mib"] = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        figures["memory_mib"] = live_heap_mib(pid) if kind == "java" else int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024
        return figures


def web_seconds(cluster):
    """(sum, count) of what requests to the web port took on the thread that decides."""
    with urllib.request.urlopen(f"http://127.0.0.1:{cluster.web}/metrics") as answer:
        text = answer.read().decode()
    return tuple(float(re.search(rf"^fairlead_rm_web_seconds_{part} (\S+)$", text, re.M)[1]) for part in ("sum", "count"))


def waiting_apps(cluster):
    with urllib.request.urlopen(f"http://127.0.0.1:{cluster.web}/fairlead/v1/apps?group=running&offset=900&limit=100") as answer:
        return [app["id"] for app in json.load(answer)["apps"] if app.get("pending")]


def ask_why(cluster, apps, seconds):
    """Ten times a second; gives what each answer took, in ms."""
    took, begin = [], time.monotonic()
    for i in range(int(seconds * WHY_RATE)):
        time.sleep(max(0, begin + i / WHY_RATE - time.monotonic()))
        asked = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{cluster.web}/fairlead/v1/apps/{apps[i % len(apps)]}") as answer:
            if not json.load(answer)["pending"]:
                raise SystemExit("bench/yarn: an application that waits is not told why")
        took.append(1000 * (time.monotonic() - asked))
    return took


def why_rows(build, seconds, hadoop):
    """Windows alone and with questions take turns on one resource manager."""
    p99, took = {"alone": [], "asked": []}, []
    with resource_manager("fairlead", hadoop) as cluster:
        words = [*generator(cluster, "why", build, seconds), "--windows", 2 * PAIRS + 1]
        with subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, text=True) as load:
            load.stdout.readline()  # the nodes fill
            apps = waiting_apps(cluster)
            if not apps:
                raise SystemExit("bench/yarn: no application waits")
            for _ in range(PAIRS):
                p99["alone"].append(json.loads(load.stdout.readline())["allocate_p99_ms"])
                took += ask_why(cluster, apps, seconds)
                p99["asked"].append(json.loads(load.stdout.readline())["allocate_p99_ms"])
            load.terminate()
    alone, asked = statistics.median(p99["alone"]), statistics.median(p99["asked"])
    p95 = statistics.quantiles(took, n=20)[-1]
    print(f"why: an answer takes {statistics.median(took):.1f} ms, p95 {p95:.1f} ms; allocate p99 {alone:.2f} ms alone, {asked:.2f} ms beside ten questions a second")
    yield {"name": "yarn/why/p95_ms", "ours": p95, "peer": "not measured", "goal": 100, "met": p95 <= 100, "checks_ok": True}
    yield {"name": "yarn/why/allocate_p99_growth", "ours": asked / alone - 1, "peer": "not measured", "goal": 0.05, "met": asked / alone <= 1.05,
           "checks_ok": True, "all": p99}


def pollers_rows(build, seconds, hadoop):
    """Windows alone and with readers take turns on one resource manager."""
    p99 = {"alone": [], "polled": []}
    with resource_manager("fairlead", hadoop) as cluster:
        words = [*generator(cluster, "idle", build, seconds), "--windows", 2 * PAIRS + 1]
        readers = [str(build / "bench/bench_yarn_pollers"), "--web", str(cluster.web)]
        with subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, text=True) as load:
            for pair in range(PAIRS):
                p99["alone"].append(json.loads(load.stdout.readline())["allocate_p99_ms"])
                with subprocess.Popen(readers) as polling:
                    p99["polled"].append(json.loads(load.stdout.readline())["allocate_p99_ms"])
                    alive = polling.poll() is None
                    polling.terminate()
            before = web_seconds(cluster)
            for _ in range(METRICS_POLLS):
                urllib.request.urlopen(f"http://127.0.0.1:{cluster.web}/ws/v1/cluster/metrics").read()
            after = web_seconds(cluster)
            load.stdout.read()
    alone, polled = statistics.median(p99["alone"]), statistics.median(p99["polled"])
    poll_us = 1e6 * (after[0] - before[0]) / (after[1] - before[1])
    print(f"pollers: allocate p99 {alone:.2f} ms alone, {polled:.2f} ms with readers; a poll of metrics takes {poll_us:.0f} us of the thread that decides")
    yield {"name": "yarn/pollers/allocate_p99_growth", "ours": polled / alone - 1, "peer": "not measured", "goal": 1 / 3, "met": polled / alone < 4 / 3,
           "checks_ok": alive, "all": p99}
    yield {"name": "yarn/pollers/metrics_us", "ours": poll_us, "peer": "not measured", "goal": 50, "met": poll_us < 50, "checks_ok": alive}


LOAD_GOALS = {
    "load": ("grants_per_second", lambda ours, goal: ours >= goal, lambda theirs: 100000),
    "idle": ("allocate_p99_ms", lambda ours, goal: ours <= goal, lambda theirs: 5),
    "memory": ("memory_mib", lambda ours, goal: ours <= goal, lambda theirs: theirs["memory_mib"] / 10),
}


def show_load(name, figures):
    print(f"{name}: {figures['grants_per_second']:,.0f} grants/s, {figures['ends_per_second']:,.0f} ends/s, allocate p50 "
          f"{figures['allocate_p50_ms']:.2f} ms, p99 {figures['allocate_p99_ms']:.2f} ms, {figures['memory_mib']:.1f} MiB of "
          f"{figures['resident_mib']:.0f} MiB resident", flush=True)


def load_row(name, build, seconds, hadoop):
    ours = put_under_load("fairlead", name, build, seconds, hadoop)
    show_load(name, ours)
    theirs = put_under_load("java", name, build, seconds, hadoop) if name == "memory" else None
    if theirs:
        show_load(name + ", Hadoop", theirs)
    field, meets, goal_of = LOAD_GOALS[name]
    goal, peer = goal_of(theirs), theirs[field] if theirs else None
    return {"name": f"yarn/{name}/{field}", "ours": ours[field], "peer": peer or "not measured", "peer_version": f"Hadoop {hadoop}" if peer else None,
            "ratio": peer / ours[field] if peer else None, "goal": goal, "met": meets(ours[field], goal), "checks_ok": ours["tokens_verified"] > 0,
            "all": ours}


def latency_rows(arguments):
    kinds = {"fairlead": {}, "java": {}}
    for pair in range(arguments.pairs):
        for kind in (list(kinds) if pair % 2 == 0 else list(kinds)[::-1]):
            for name, values in measure(kind, arguments.rounds, arguments.hadoop).items():
                kinds[kind].setdefault(name, []).extend(values)
    print(f"{'':16}{'Fairlead p50':>14}{'p99':>9}{'Hadoop p50':>14}{'ratio':>8}{'goal':>9}")
    for name, goal in GOALS_MS.items():
        ours, theirs = kinds["fairlead"][name], kinds["java"][name]
        middle, peer = statistics.median(ours), statistics.median(theirs)
        worst = sorted(ours)[min(len(ours) - 1, int(len(ours) * 0.99))]
        print(f"{name:16}{middle:11.2f} ms{worst:9.1f}{peer:11.2f} ms{peer / middle:7.0f}x{goal:6} ms")
        yield {"name": f"yarn/{name}", "ours": middle, "unit": "ms", "samples": len(ours), "peer": peer, "peer_version": f"Hadoop {arguments.hadoop}",
               "ratio": peer / middle, "goal": goal, "met": middle <= goal, "checks_ok": len(ours) == len(theirs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--hadoop", default=peers.HADOOP_VERSION)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--only", choices=["latency", *LOADS, "pollers"])
    arguments = parser.parse_args()
    peers.fetch(f"hadoop-{arguments.hadoop}", "aux")
    raise_open_files()
    rows = []
    if arguments.only in (None, "latency"):
        rows += latency_rows(arguments)
    for name in LOAD_GOALS:
        if arguments.only in (None, name):
            rows.append(load_row(name, arguments.build, arguments.seconds, arguments.hadoop))
    if arguments.only in (None, "pollers"):
        rows += pollers_rows(arguments.build, arguments.seconds, arguments.hadoop)
    if arguments.only in (None, "why"):
        rows += why_rows(arguments.build, arguments.seconds, arguments.hadoop)
    row_file.write(arguments.build, "yarn", rows)
    return 0 if all(row["checks_ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
