#!/usr/bin/env python3
"""Fairlead's resource manager and node agents beside Hadoop's own, in one run, with Hadoop's client classes on both sides.

usage: yarn.py BUILD [--rounds N] [--pairs N] [--hadoop VERSION] [--seconds N] [--only latency|load|idle|memory]
latency: each pair starts a cluster of either kind (one resource manager, two nodes), in alternating order, and measures it alone.
load:    grants a second through one resource manager by an open-loop generator (bench/yarn_load.cc), as many containers ending.
idle:    10,000 masters that only call and 5,000 nodes that only beat; what an allocate call takes then, and the memory.
memory:  2,000 such masters and 1,000 nodes, for both resource managers (Hadoop's does not take the load of `idle` on a small machine).
Memory is what the process has of its own (anonymous pages: heap with its gaps, stacks) beside Hadoop's live heap after a full
collection; both leave out the program's code.
"""
import argparse
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import cluster as clusters  # noqa: E402
import peers  # noqa: E402
import registry  # noqa: E402
import row_file  # noqa: E402

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
    "idle": ["--nodes", 5000, "--idle", 10000, "--busy", 10, "--batch", 10, "--rate", 5000],
    "memory": ["--nodes", 1000, "--idle", 2000, "--busy", 10, "--batch", 10, "--rate", 500],
}


def live_heap_mib(pid):
    """What is alive in a JVM after a full collection."""
    subprocess.run([peers.java_home() + "/bin/jcmd", str(pid), "GC.run"], check=True, capture_output=True)
    text = subprocess.run([peers.java_home() + "/bin/jcmd", str(pid), "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return sum(int(kib) for kib in re.findall(r"^ *(?:def new generation|tenured generation|garbage-first heap).* used (\d+)K", text, re.M)) / 1024


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def put_under_load(kind, name, build, seconds, hadoop):
    """Runs one resource manager and the generator; gives the generator's figures, and the memory in MiB."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    cluster = clusters.Cluster(directory, registry.Spec(hadoop=hadoop, rm=kind, nodes=(), yarn_site=(("yarn.scheduler.maximum-allocation-mb", "8192"),)))
    try:
        cluster.write()
        cluster.start_rm(heap=3000)
        for port in (cluster.tracker, cluster.scheduler, cluster.client):  # Hadoop's pages come before its services
            cluster.wait(lambda port=port: listens(port), f"the resource manager's port {port}")
        ports = ["--tracker", cluster.tracker, "--scheduler", cluster.scheduler, "--client", cluster.client, "--queue", "root.alpha"]
        words = [build / "bench/bench_yarn_load", *ports, *LOADS[name], "--seconds", seconds]
        run = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=900)
        registry.require_success(run, f"the generator against {kind}")
        figures = json.loads(run.stdout)
        pid = cluster.processes["rm"].pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        figures["resident_mib"] = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        figures["memory_mib"] = live_heap_mib(pid) if kind == "java" else int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024
        return figures
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)


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
    parser.add_argument("--only", choices=["latency", *LOADS])
    arguments = parser.parse_args()
    peers.fetch(f"hadoop-{arguments.hadoop}", "aux")
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    rows = []
    if arguments.only in (None, "latency"):
        rows += latency_rows(arguments)
    for name in LOADS:
        if arguments.only in (None, name):
            rows.append(load_row(name, arguments.build, arguments.seconds, arguments.hadoop))
    row_file.write(arguments.build, "yarn", rows)
    return 0 if all(row["checks_ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
