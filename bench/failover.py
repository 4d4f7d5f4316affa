#!/usr/bin/env python3
"""How long a cluster is without a resource manager: Fairlead's two managers and Hadoop's own two, on the same ZooKeeper, in one run.

usage: failover.py BUILD [--rounds N] [--planned N] [--hadoop-rounds N] [--hadoop VERSION] [--session MS] [--applications N] [--only PART]
killed:  from kill -9 of the leader to the container of an application that is submitted as soon as somebody takes it; to the new leader;
         from then to every node's return. One node agent of the same kind as the managers, at Hadoop's default settings.
planned: how long `rmadmin -transitionToActive` takes, with nothing and with --applications applications to recover.
submit:  submissions a second that are acknowledged (bench/submit_load.cc), through ZooKeeper.
allocate: what 100,000 grants cost the deciding process (bench/yarn_load.cc, CPU time), with ZooKeeper and alone with SQLite by turns.
Sessions are 2 s for ours, Hadoop's 10 s for Hadoop's; ZooKeeper's tick is 500 ms.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import peers  # noqa: E402
import registry  # noqa: E402
import yarn  # noqa: E402
import row_file  # noqa: E402
from ha_cluster import ACTIVE, FORCED, STANDBY, HaCluster  # noqa: E402

DEFAULTS = (("yarn.resourcemanager.connect.retry-interval.ms", "30000"),)
OTHER = {"rm1": "rm2", "rm2": "rm1"}
FOLLOWS_S = 5  # in which a standby has read what is there; nothing tells when


class Pair:
    """Two managers of one kind with one node, ended together."""

    def __init__(self, kind, hadoop, nodes=1, session=None):
        self.directory = tempfile.TemporaryDirectory(prefix="fairlead-failover-", ignore_cleanup_errors=True)
        site = DEFAULTS + ((("hadoop.zk.timeout-ms", str(session)),) if session else ())
        spec = registry.Spec(rm=kind, hadoop=hadoop, nodes=(kind,) * nodes, history=False, yarn_site=site)
        self.cluster = HaCluster(pathlib.Path(self.directory.name) / "cluster", spec)
        pathlib.Path(self.directory.name).chmod(0o755)
        self.cluster.directory.mkdir(parents=True, exist_ok=True)

    def __enter__(self):
        self.cluster.start()
        self.cluster.await_active(seconds=120)
        return self.cluster

    def __exit__(self, *_):
        self.cluster.stop()
        self.directory.cleanup()


def every(seconds, condition):
    """Waits until the condition holds; gives the moment."""
    while True:
        try:
            if condition():
                return time.monotonic()
        except (OSError, KeyError, ValueError, AssertionError):
            pass
        time.sleep(seconds)


def nodes_of(cluster, rm):
    return cluster.get_of(rm, "/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"]


def killed_round(cluster):
    leader = cluster.await_active(seconds=120)
    seen = {}

    def watch():
        seen["active"] = every(0.02, lambda: cluster.state(OTHER[leader]) == ACTIVE)
        seen["nodes"] = every(0.02, lambda: nodes_of(cluster, OTHER[leader]) == len(cluster.spec.nodes))
    begin = time.monotonic()
    cluster.kill(leader)
    watcher = threading.Thread(target=watch)
    watcher.start()
    app_id, grant = cluster.time_to_grant(seconds=240)
    watcher.join(240)
    cluster.end_app(app_id)
    cluster.start_manager(leader)
    cluster.wait(lambda: cluster.state(leader) == STANDBY, "the killed one as standby", 120)
    return {"grant": grant, "active": seen["active"] - begin, "nodes": seen["nodes"] - seen["active"]}


def killed_rounds(kind, rounds, hadoop, session=None):
    out = []
    with Pair(kind, hadoop, session=session) as cluster:
        for number in range(rounds):
            out.append(killed_round(cluster))
            print(f"  {kind} round {number + 1}: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in out[-1].items()), flush=True)
    return {name: sorted(one[name] for one in out) for name in ("grant", "active", "nodes")}


def planned(cluster):
    leader = cluster.await_active(seconds=120)
    begin = time.monotonic()
    answer = cluster.ha_call(OTHER[leader], "transitionToActive", FORCED, 60)
    took = time.monotonic() - begin
    assert answer == (None, b""), answer
    every(0.02, lambda: cluster.state(leader) == STANDBY)
    return took


def submit(cluster, build, applications):
    leader = cluster.await_active(seconds=120)
    run = subprocess.run([build / "bench/bench_submit_load", "--client", str(cluster.ports[leader]["client"]), "--applications", str(applications),
                          "--queue", "root.alpha"], capture_output=True, text=True, timeout=900)
    registry.require_success(run, "the generator")
    return json.loads(run.stdout)


def at(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def row(name, ours, peer, goal, good, samples, version):
    print(f"{name}: ours {ours:.3g}, Hadoop's {f'{peer:.3g}' if peer else 'not measured'}, goal {goal:g}", flush=True)
    return {"name": f"failover/{name}", "ours": ours, "samples": samples, "peer": peer or "not measured",
            "peer_version": f"Hadoop {version}" if peer else None, "ratio": peer / ours if peer else None, "goal": goal, "met": good(ours, goal),
            "checks_ok": True}


def at_most(ours, goal):
    return ours <= goal


def killed_rows(arguments):
    ours = killed_rounds("fairlead", arguments.rounds, arguments.hadoop, arguments.session)
    theirs = killed_rounds("java", arguments.hadoop_rounds, arguments.hadoop) if arguments.hadoop_rounds else None
    for name, part, goal in (("grant", 0.5, 2.5), ("grant", 0.99, 4), ("active", 0.5, 2.5), ("nodes", 0.99, 1)):
        peer = at(theirs[name], part) if theirs else None
        yield row(f"{name}_p{int(part * 100)}_s", at(ours[name], part), peer, goal, at_most, len(ours[name]), arguments.hadoop)


def planned_rows(arguments):
    with Pair("fairlead", arguments.hadoop) as cluster:
        took = sorted(planned(cluster) for _ in range(arguments.planned))
        yield row("planned_p50_s", statistics.median(took), None, 0.3, at_most, len(took), arguments.hadoop)
    with Pair("fairlead", arguments.hadoop, nodes=0) as cluster:
        figures = submit(cluster, arguments.build, arguments.applications)
        took = []
        for _ in range(5):
            time.sleep(FOLLOWS_S)
            took.append(planned(cluster))
        took.sort()
        yield row(f"planned_with_{arguments.applications}_applications_s", statistics.median(took), None, 1, at_most, len(took), arguments.hadoop)
        theirs = None
        if arguments.hadoop_rounds:
            with Pair("java", arguments.hadoop, nodes=0) as hadoop:
                theirs = submit(hadoop, arguments.build, arguments.applications // 10)
        goal = max(2000, 5 * theirs["per_second"]) if theirs else 2000
        yield row("submissions_per_s", figures["per_second"], theirs and theirs["per_second"], goal, lambda ours, least: ours >= least,
                  figures["applications"], arguments.hadoop)


@contextlib.contextmanager
def alone(hadoop):
    """(ports, process) of one resource manager, with its own store."""
    with yarn.resource_manager("fairlead", hadoop) as cluster:
        yield {"tracker": cluster.tracker, "scheduler": cluster.scheduler, "client": cluster.client}, cluster.processes["rm"].pid


@contextlib.contextmanager
def leading(hadoop):
    """The same of a leader."""
    with Pair("fairlead", hadoop, nodes=0) as cluster:
        leader = cluster.await_active(seconds=120)
        yield cluster.ports[leader], cluster.processes[leader].pid


def cpu_seconds(pid):
    user, system = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def allocate(manager, arguments):
    """CPU seconds for 100,000 grants, with those of the set-up; the warm-up is as long as the window, and grants as much."""
    seconds = arguments.allocate_seconds
    with manager(arguments.hadoop) as (ports, pid):
        words = [arguments.build / "bench/bench_yarn_load", *(f"--{name}={ports[name]}" for name in ("tracker", "scheduler", "client")),
                 *yarn.LOADS["load"], "--queue", "root.alpha", "--warm-up", seconds, "--seconds", seconds]
        begin = cpu_seconds(pid)
        run = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900)
        registry.require_success(run, "the generator")
        figures = json.loads(run.stdout)
        cost = (cpu_seconds(pid) - begin) / (2 * seconds * figures["grants_per_second"]) * 1e5
        print(f"  {manager.__name__}: {figures['grants_per_second']:,.0f} grants/s, allocate p50 {figures['allocate_p50_ms']:.2f} ms, "
              f"{cost:.2f} s of CPU time for 100,000 grants", flush=True)
        return cost


def allocate_rows(arguments):
    costs = {manager: [] for manager in (alone, leading)}
    for pair in range(arguments.allocate_pairs):
        for manager in (list(costs) if pair % 2 == 0 else list(costs)[::-1]):
            costs[manager].append(allocate(manager, arguments))
    ratio = statistics.median(ours / theirs for ours, theirs in zip(costs[leading], costs[alone], strict=True))
    yield row("allocate_cpu_of_sqlites", ratio, None, 1.05, at_most, arguments.allocate_pairs, arguments.hadoop)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--planned", type=int, default=20)
    parser.add_argument("--hadoop-rounds", type=int, default=5)
    parser.add_argument("--hadoop", default="3.4.3")
    parser.add_argument("--session", type=int, help="of our managers, in ms")
    parser.add_argument("--applications", type=int, default=10000)
    parser.add_argument("--allocate-pairs", type=int, default=3)
    parser.add_argument("--allocate-seconds", type=int, default=15)
    parser.add_argument("--only", choices=["killed", "planned", "allocate"])
    arguments = parser.parse_args()
    peers.fetch(f"hadoop-{arguments.hadoop}", "aux")
    rows = []
    if arguments.only in (None, "killed"):
        rows += killed_rows(arguments)
    if arguments.only in (None, "planned"):
        rows += planned_rows(arguments)
    if arguments.only in (None, "allocate"):
        rows += allocate_rows(arguments)
    row_file.write(arguments.build, "failover", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
