#!/usr/bin/env python3
"""What the switches of profile `fairlead` gain (docs/wishes.md), by the simulator: off beside on, a row each.

usage: bench/wishes.py BUILD [--seeds N] [--jobs N]

The overload rows are the geometric mean over the seeds of (our mean slowdown / the smallest of fairlead without wishes, yarn-fair and tdw
on that seed). The row of lost work needs no switch: hours of containers that preemption ended, ours / those of yarn-fair, whose queues preempt
after 10 s below their share; it counts only where the fairness is not worse. Rows go to BUILD/bench/wishes.json. Ten simulations a seed, some seconds each.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

OVERLOAD = {
    "google": "google --scale 0.01 --hours 8 --nodes 60 --node-vcores 16 --node-memory 49152",
    "tdw": "tdw --scale 0.01 --hours 3 --nodes 25",
}
PREEMPTION = "google --scale 0.005 --hours 4 --nodes 40 --node-vcores 16 --node-memory 49152"
ALLOCATIONS = """<allocations>
  <defaultFairSharePreemptionTimeout>10</defaultFairSharePreemptionTimeout>
  <defaultFairSharePreemptionThreshold>1.0</defaultFairSharePreemptionThreshold>
  <queue name="free"><weight>1</weight></queue>
  <queue name="batch"><weight>2</weight></queue>
  <queue name="mid"><weight>4</weight></queue>
  <queue name="production"><weight>8</weight></queue>
</allocations>
"""
PEERS = ("fairlead", "yarn-fair", "tdw")
GOAL = 0.5  # of both


def simulate(binary, trace, seed, profile, *further):
    run = subprocess.run([binary, "sim", "run", *trace.split(), "--seed", str(seed), "--profile", profile, "--scheduler-only", "--json", *further],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(run.args)}: {run.stderr}")
    return json.loads(run.stdout)["runs"][0]


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def overload(binary, pool, name, trace, seeds):
    """One row: each seed's run with all wishes beside the best of the others there."""
    on = [pool.submit(simulate, binary, trace, seed, "fairlead", "--wishes", "all") for seed in seeds]
    others = [[pool.submit(simulate, binary, trace, seed, peer) for peer in PEERS] for seed in seeds]
    ratios, p99, jain, makespan, off = [], [], [], [], []
    for ours, peers in zip(on, others):
        ours, peers = ours.result(), [peer.result() for peer in peers]
        best = min(peers, key=lambda run: run["meanSlowdown"])
        ratios.append(ours["meanSlowdown"] / best["meanSlowdown"])
        off.append(peers[0]["meanSlowdown"] / best["meanSlowdown"])
        p99.append(ours["p99Slowdown"] / best["p99Slowdown"])
        jain.append(ours["jain"] - best["jain"])
        makespan.append(ours["makespanSeconds"] / best["makespanSeconds"])
    ratio = geometric(ratios)
    return {"name": f"overload, {name}", "off": geometric(off), "on": ratio, "gain": geometric(off) / ratio, "goal": f"<= {GOAL}", "met": ratio <= GOAL,
            "p99": geometric(p99), "fairness": sum(jain) / len(jain), "makespan": geometric(makespan), "seeds": len(ratios), "worst": max(ratios)}


def lost_work(binary, pool, allocations, seeds):
    """One row: hours of containers that preemption ended, ours / yarn-fair's."""
    queues = ("--preemption", "--queues", allocations)
    peer, ours = ([run.result() for run in row] for row in
                  [[pool.submit(simulate, binary, PREEMPTION, seed, profile, *queues) for seed in seeds] for profile in ("yarn-fair", "fairlead")])
    ratio = geometric([run["lostContainerSeconds"] / other["lostContainerSeconds"] for run, other in zip(ours, peer)])
    fairness = sum(run["jain"] - other["jain"] for run, other in zip(ours, peer)) / len(ours)
    return {"name": "lost work", "off": ratio, "on": ratio, "gain": 1, "goal": f"<= {GOAL}", "met": ratio <= GOAL and fairness >= 0,
            "fairness": fairness, "seeds": len(ours)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=2, help="simulations at the same time")
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    binary = arguments.build / "fairlead"
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, tempfile.TemporaryDirectory() as scratch:
        allocations = pathlib.Path(scratch) / "fair-scheduler.xml"
        allocations.write_text(ALLOCATIONS)
        rows = [overload(binary, pool, name, trace, seeds) for name, trace in OVERLOAD.items()]
        rows.append(lost_work(binary, pool, allocations, seeds))
    for row in rows:
        further = ", ".join(f"{name} {row[name]:.3f}" for name in ("worst", "p99", "fairness", "makespan") if name in row)
        print(f"{row['name']}: off {row['off']:.2f}, on {row['on']:.2f}, gain {row['gain']:.2f}, goal {row['goal']}, "
              f"{'met' if row['met'] else 'not met'} ({further}; {row['seeds']} seeds)")
    target = arguments.build / "bench/wishes.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
