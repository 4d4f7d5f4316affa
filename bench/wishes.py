#!/usr/bin/env python3
"""What the switches of profile `fairlead` gain (docs/wishes.md), by the simulator: off beside on, a row each.

usage: bench/wishes.py BUILD [--seeds N] [--first N] [--jobs N] [--default [--swim FILE]]

A row of a wish: the geometric mean over the seeds of a figure with the switch on, and off (times, slowdowns: the smaller the better). The
overload rows are the geometric mean over the seeds of (our mean slowdown / the smallest of fairlead without wishes, yarn-fair and tdw
on that seed). The row of lost work needs no switch: hours of containers that preemption ended, ours / those of yarn-fair, whose queues preempt
after 10 s below their share; it counts only where the fairness is not worse. Rows go to BUILD/bench/wishes.json. Ten simulations a seed, some seconds each.

--default: only what a user gets who sets nothing, beside the best of the other profiles on each seed: geometric means of mean slowdown, p99 and
makespan, under overload and at normal load, and `none` beside the same; and, as geometric means over the seeds beside `none` and each other profile, the
longest time in which some queue had less than half of what it was entitled to, and the longest wait for a first task by size of job. --seeds 8 are the goal's. --swim FILE: on SWIM's day, too (docs/public-results.md
says where it is published); its jobs and times are fixed, a seed draws where their blocks lie.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import row_file

OVERLOAD = {
    "google": "google --scale 0.01 --hours 8 --nodes 60 --node-vcores 16 --node-memory 49152",
    "tdw": "tdw --scale 0.01 --hours 3 --nodes 25",
}
# 60 to 90 % of what the cluster can do.
NORMAL = {
    "google": "google --scale 0.01 --hours 8 --nodes 290 --node-vcores 16 --node-memory 49152",
    "tdw": "tdw --scale 0.01 --hours 3 --nodes 40",
}
SWIM = "--deal-queues 4 --deal-users 5 --node-memory 49152 --node-vcores 16"
SWIM_LOADS = {"overload": "--nodes 12 --faster 8", "normal load": "--nodes 12 --faster 2.5"}
OTHERS = ("yarn-fair", "yarn-capacity", "tdw")
# Ours / `none`, at most: the longest time short of a share, and the longest wait of each size.
STARVED = (1.0, 1.0)
# Ours / the best other, at most: mean slowdown, p99 slowdown, makespan.
GOALS = {"overload": (0.5, 1.0, 1.02), "normal load": (1.02, 1.02, 1.02)}
FIGURES = ("meanSlowdown", "p99Slowdown", "makespanSeconds")
NODES = "--nodes 60 --node-vcores 16 --node-memory 49152"
# Wish, its name, trace, switches, figure, on / off is to be at most.
SWITCHES = (
    ("1", "disks, by measured load", f"google --scale 0.005 --hours 4 {NODES} --real-use 0.8 --io-jobs 0.5 --io-disk 0.3", "measured-load", "makespanSeconds", 0.85),
    ("3", "booked at twice its use, by kinds", "google --scale 0.01 --hours 3 --nodes 30 --node-vcores 16 --node-memory 49152 --real-use 0.5 --use-kinds 20", "overcommit,learned-use", "makespanSeconds", 1 / 1.3),
    ("3", "booked at twice its use", "google --scale 0.01 --hours 3 --nodes 30 --node-vcores 16 --node-memory 49152 --real-use 0.5", "overcommit", "makespanSeconds", 1 / 1.3),
    ("5, 6", "a quarter of the nodes hot", f"google --scale 0.005 --hours 4 {NODES} --real-use 0.5 --busy-nodes 0.25 --busy-cores 2", "measured-load", "meanSlowdown", 0.8),
)
# Wish 4: never more than 2 % behind the better of always and never waiting for a place, 10 % ahead where load is uneven.
LOCALITY = "tdw --scale 0.003 --hours 2 --real-use 0.5 --input-size 2048"
CLUSTERS = (("a fast network", (40000, 20000), "", 1.02), ("a slow network", (800, 400), "", 1.02), ("hot nodes", (4000, 2000), "--busy-nodes 0.25 --busy-cores 2", 0.9))
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
# Masters of any age may be parked: nobody's work is lost in a simulation.
ALL = ("--wishes", "all", "--key", "fairlead.scheduler.park-masters.within-ms=1000000000")


def simulate(binary, trace, seed, profile, *further):
    run = subprocess.run([binary, "sim", "run", *trace.split(), "--seed", str(seed), "--profile", profile, "--scheduler-only", "--json", *further],
                         capture_output=True, text=True)
    if run.returncode != 0 and "did not end" not in run.stderr:
        raise SystemExit(f"{' '.join(map(str, run.args))}: {run.stderr}")
    ended = json.loads(run.stdout)["runs"][0]
    # Masters hold all room, and wait for more.
    return ended if run.returncode == 0 else ended | {figure: math.inf for figure in FIGURES}


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def overload(binary, pool, name, trace, seeds):
    """One row: each seed's run with all wishes beside the best of the others there."""
    on = [pool.submit(simulate, binary, trace, seed, "fairlead", *ALL) for seed in seeds]
    others = [[pool.submit(simulate, binary, trace, seed, peer, *(["--wishes", "none"] if peer == "fairlead" else [])) for peer in PEERS] for seed in seeds]
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
    return {"name": f"2: overload, {name}", "off": geometric(off), "on": ratio, "gain": geometric(off) / ratio, "goal": f"<= {GOAL}", "met": ratio <= GOAL,
            "p99": geometric(p99), "fairness": sum(jain) / len(jain), "makespan": geometric(makespan), "seeds": len(ratios), "worst": max(ratios)}


def by_default(binary, pool, load, name, trace, seeds):
    """Two rows: nothing set, and `none`, beside the other profile whose mean slowdown is best on that seed."""
    others = [[pool.submit(simulate, binary, trace, seed, peer) for peer in OTHERS] for seed in seeds]
    ours = {"nothing set": [], "none": ["--wishes", "none"]}
    ours = {key: [pool.submit(simulate, binary, trace, seed, "fairlead", *further) for seed in seeds] for key, further in ours.items()}
    best = [min((peer.result() for peer in peers), key=lambda run: run["meanSlowdown"]) for peers in others]
    for key, runs in ours.items():
        ratios = [[run.result()[figure] / peer[figure] for run, peer in zip(runs, best)] for figure in FIGURES]
        found = [geometric(row) for row in ratios]
        goal = GOALS[load]
        yield {"name": f"default: {load}, {name}, {key}", "off": 1.0, "on": found[0], "gain": 1 / found[0],
               "goal": "mean <= {}, p99 <= {}, makespan <= {} of the best other".format(*goal), "met": all(one <= most for one, most in zip(found, goal)),
               "worst": max(ratios[0]), "p99": found[1], "makespan": found[2], "seeds": len(best),
               "fairness": sum(run.result()["jain"] - peer["jain"] for run, peer in zip(runs, best)) / len(best)}
    every = ours | {peer: [row[at] for row in others] for at, peer in enumerate(OTHERS)}
    yield from starved(load, name, {key: [run.result() for run in runs] for key, runs in every.items()})


def starved(load, name, runs):
    """Rows of what a user waits for at worst: the longest time that a queue was short of its share, the longest wait for a first task by size."""
    def figures(row, of):
        return [max(of(run), 1) for run in row]  # seconds; none at all has no geometric mean
    wanted = [("longest time below half of a share", STARVED[0], lambda run: max(queue["longestShortSeconds"] for queue in run["queueResults"]))]
    for at, size in enumerate(runs["none"][0]["sizes"]):
        wanted.append((f"longest wait, {size['tasks']} tasks", STARVED[1], lambda run, at=at: run["sizes"][at]["longestWaitSeconds"]))
    for what, goal, of in wanted:
        found = {key: geometric(figures(row, of)) for key, row in runs.items()}
        off, on = found["none"], found["nothing set"]
        yield {"name": f"default: {load}, {name}, {what} (s)", "off": off, "on": on, "gain": off / on, "goal": f"on / off <= {goal:.2f}", "met": on <= goal * off,
               "worst": max(a / b for a, b in zip(figures(runs["nothing set"], of), figures(runs["none"], of))), "seeds": len(runs["none"]),
               "others": {peer: found[peer] for peer in OTHERS}}


def switch(binary, pool, wish, name, trace, wishes, figure, goal, seeds):
    """One row: a figure with the switches on beside off."""
    off, on = ([run.result()[figure] for run in row] for row in
               [[pool.submit(simulate, binary, trace, seed, "fairlead", "--wishes", one) for seed in seeds] for one in ("none", wishes)])
    ratios = [after / before for before, after in zip(off, on)]
    ratio = geometric(ratios)
    return {"name": f"{wish}: {name} ({wishes})", "off": geometric(off), "on": geometric(on), "gain": 1 / ratio, "goal": f"on / off <= {goal:.2f}",
            "met": ratio <= goal, "worst": max(ratios), "seeds": len(ratios)}


def locality(binary, pool, name, speeds, further, goal, seeds):
    """One row: mean slowdown by cost beside the better of never waiting for a place and waiting for it always (an hour)."""
    trace = f"{LOCALITY} --rack-mbit {speeds[0]} --cluster-mbit {speeds[1]} {further}"
    def waiting(node_ms):
        return [value for key in ("node", "rack") for value in ("--key", f"fairlead.scheduler.{key}-locality-wait-ms={node_ms}")]
    cost = ["--wishes", "measured-load", "--key", "fairlead.scheduler.measured-load.input-mib=2048",
            "--key", f"fairlead.scheduler.measured-load.rack-mbit={speeds[0]}", "--key", f"fairlead.scheduler.measured-load.cluster-mbit={speeds[1]}"]
    none = ["--wishes", "none"]
    never, always, on = ([run.result()["meanSlowdown"] for run in row] for row in
                         [[pool.submit(simulate, binary, trace, seed, "fairlead", *one) for seed in seeds]
                          for one in (none + waiting(0), none + waiting(3600000), cost)])
    off = min(geometric(never), geometric(always))
    ratio = geometric(on) / off
    return {"name": f"4: {name} (measured-load)", "off": off, "on": geometric(on), "gain": 1 / ratio, "goal": f"on / off <= {goal:.2f}",
            "met": ratio <= goal, "seeds": len(on)}


def queues_of(directory, name, settings):
    """The bands of the Google-like mix with more settings for some of them."""
    path = pathlib.Path(directory) / name
    weights = {"free": 1, "batch": 2, "mid": 4, "production": 8}
    path.write_text("<allocations>" + "".join(f'<queue name="{queue}"><weight>{weight}</weight>{settings.get(queue, "")}</queue>'
                                              for queue, weight in weights.items()) + "</allocations>\n")
    return str(path)


def standing(binary, pool, scratch, seeds):
    """Wishes 7, 8 and 9: queues."""
    trace = OVERLOAD["google"]
    queues = queues_of(scratch, "priority.xml", {"mid": "<priority>1</priority>"})
    limits = queues_of(scratch, "limits.xml", {"batch": "<maxResources>20%</maxResources>"})
    def runs(profile, *further):
        return [pool.submit(simulate, binary, trace, seed, profile, *further) for seed in seeds]
    none = ("--wishes", "none")
    fair, every = runs("fairlead", *none), runs("fairlead", *ALL)
    off, on = runs("fairlead", "--queues", queues, *none), runs("fairlead", "--queues", queues, "--wishes", "queue-priority")
    kept = runs("fairlead", "--queues", limits, *none)
    bare, jain = (geometric([run.result()["jain"] for run in row]) for row in (fair, every))
    def mid(row):
        return geometric([run.result()["queueResults"][run.result()["queues"].index("root.mid")]["meanSlowdown"] for run in row])
    before, after = mid(off), mid(on)
    most, unlimited = (max(peak(run.result(), "root.batch") for run in row) for row in (kept, fair))
    return [{"name": "7: fairness (Jain) between queues under overload (all)", "off": bare, "on": jain, "gain": jain / bare, "goal": ">= 0.95",
             "met": jain >= 0.95, "seeds": len(every)},
            {"name": "8: slowdown of a queue of higher priority (queue-priority)", "off": before, "on": after, "gain": before / after, "goal": "on / off <= 0.80",
             "met": after <= 0.8 * before, "seeds": len(on)},
            {"name": "9: largest share of a queue that may have a fifth, without a switch; off: no limit", "off": unlimited, "on": most, "gain": unlimited / most,
             "goal": "<= 0.20", "met": most <= 0.2, "seeds": len(kept)}]


def peak(run, queue):
    """The largest share that the queue ever had."""
    at = run["queues"].index(queue)
    return round(max(sample["share"][at] for sample in run["samples"]), 6)  # single precision there


def minutes_beside_days(path, seed):
    """A trace in one queue: four jobs that together take a day on 960 cores, and every minute one of 5 to 19 short tasks."""
    draw = random.Random(seed)

    def job(name, user, start, tasks):
        return {"am.type": "mapreduce", "job.id": name, "job.user": user, "job.queue.name": "root.all", "job.start.ms": start,
                "job.end.ms": start + max(ms for _, ms in tasks), "job.tasks": [{
                    "container.type": "map", "container.host": "", "container.start.ms": start, "container.end.ms": start + ms, "duration.ms": ms,
                    "container.count": count, "container.memory": 1024, "container.vcores": 1} for count, ms in tasks]}

    jobs = [job(f"day-{i}", f"d{i}", 1000 * i, [(24, draw.randrange(300_000, 900_000)) for _ in range(1440)]) for i in range(4)]
    jobs += [job(f"minute-{i}", f"m{i % 20}", 60_000 * (i + 1) + draw.randrange(30_000), [(draw.randrange(5, 20), draw.randrange(20_000, 60_000))])
             for i in range(1300)]
    path.write_text("\n".join(map(json.dumps, sorted(jobs, key=lambda one: one["job.start.ms"]))))


def small_beside_large(binary, pool, scratch, seeds):
    """Wish 2: p95 of the slowdown of the minute's jobs; the last of the day's must not end more than 5 % later."""
    found = {}
    for wishes in ("none", "small-jobs"):
        runs = []
        for seed in seeds:
            out, trace = pathlib.Path(scratch) / f"{wishes}-{seed}", pathlib.Path(scratch) / f"minutes-{seed}.json"
            minutes_beside_days(trace, seed)
            runs.append((out, pool.submit(simulate, binary, f"{trace} {NODES}", seed, "fairlead", "--wishes", wishes, "--out", str(out))))
        rows = [row for out, run in runs if run.result() for row in csv.DictReader((out / "jobs.csv").open())]
        small = sorted(float(row["slowdown"]) for row in rows if row["job"].startswith("minute"))
        found[wishes] = small[len(small) * 95 // 100], max(float(row["end_s"]) for row in rows if row["job"].startswith("day"))
    (off, ends), (on, then) = found["none"], found["small-jobs"]
    return {"name": "2: p95 slowdown of minutes' jobs beside days' (small-jobs)", "off": off, "on": on, "gain": off / on,
            "goal": "<= 3, the large <= 1.05 of off", "met": on <= 3 and then <= 1.05 * ends, "makespan": then / ends, "seeds": len(seeds)}


def lost_work(binary, pool, allocations, seeds):
    """One row: hours of containers that preemption ended, ours / yarn-fair's."""
    queues = ("--preemption", "--queues", allocations)
    peer, ours = ([pool.submit(simulate, binary, PREEMPTION, seed, *profile, *queues) for seed in seeds]
                  for profile in (("yarn-fair",), ("fairlead", "--wishes", "none")))
    peer, ours = ([run.result() for run in row] for row in (peer, ours))
    ratio = geometric([run["lostContainerSeconds"] / other["lostContainerSeconds"] for run, other in zip(ours, peer)])
    fairness = sum(run["jain"] - other["jain"] for run, other in zip(ours, peer)) / len(ours)
    return {"name": "8: lost work", "off": ratio, "on": ratio, "gain": 1, "goal": f"<= {GOAL}", "met": ratio <= GOAL and fairness >= 0,
            "fairness": fairness, "seeds": len(ours)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--default", action="store_true", help="only what is on when nothing is set")
    parser.add_argument("--swim", type=pathlib.Path, metavar="FILE", help="with --default: on this SWIM workload, too")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at the same time")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    binary = arguments.build / "fairlead"
    rows = []

    def found(*more):
        for row in more:
            further = ", ".join(f"{name} {row[name]:.3f}" for name in ("worst", "p99", "fairness", "makespan") if name in row)
            further += "".join(f", {peer} {value:.0f}" for peer, value in row.get("others", {}).items())
            print(f"{row['name']}: off {row['off']:.2f}, on {row['on']:.2f}, gain {row['gain']:.2f}, goal {row['goal']}, "
                  f"{'met' if row['met'] else 'not met'} ({further}; {row['seeds']} seeds)", flush=True)
        rows.extend(more)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, tempfile.TemporaryDirectory() as scratch:
        if arguments.default:
            for load, traces in (("overload", OVERLOAD), ("normal load", NORMAL)):
                if arguments.swim:
                    traces = traces | {"swim": f"{arguments.swim} {SWIM} {SWIM_LOADS[load]}"}
                for name, trace in traces.items():
                    found(*by_default(binary, pool, load, name, trace, seeds))
            row_file.write(arguments.build, "wishes-default", rows)
            return 0
        allocations = pathlib.Path(scratch) / "fair-scheduler.xml"
        allocations.write_text(ALLOCATIONS)
        for name, trace in OVERLOAD.items():
            found(overload(binary, pool, name, trace, seeds))
        found(lost_work(binary, pool, allocations, seeds))
        few = seeds[:4]
        for one in SWITCHES:
            found(switch(binary, pool, *one, few))
        for one in CLUSTERS:
            found(locality(binary, pool, *one, few))
        found(small_beside_large(binary, pool, scratch, few))
        found(*standing(binary, pool, scratch, few))
    row_file.write(arguments.build, "wishes", sorted(rows, key=lambda row: row["name"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
