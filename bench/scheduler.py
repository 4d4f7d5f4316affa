#!/usr/bin/env python3
"""Our scheduler's rows beside Hadoop's FairScheduler and CapacityScheduler 3.4.3, measured now, alone in their processes, on the same
workloads (bench/java).

usage: bench/scheduler.py ROWS_FILE

Sets peer, ratio and goal in the rows of ROWS_FILE (those of scheduler_bench) that have a counterpart there, or that ran beside profile
`fairlead` without wishes. Needs Hadoop's jars in
build/interop (tests/interop/setup hadoop-3.4.3); without them the rows stay "not measured". About 12 minutes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/interop"))
import peers  # noqa: E402

VERSION = "3.4.3"
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1}
# Ours -> the real one's arguments; yarn-fair and yarn-capacity are to be 30 x as fast on each, fairlead's goals are rates.
YARN_FAIR = {
    "GrantsAny/1000/10/100": "any 1000 10 100",
    "GrantsAny/1000/100/1000": "any 1000 100 1000",
    "GrantsAny/5000/100/1000": "any 5000 100 1000",
    "GrantsAny/5000/100/5000": "any 5000 100 5000",
    "GrantsLocal/5000/100/1000": "local 5000 100 1000",
    "GrantsMultiple/5000/100/1000": "multiple 5000 100 1000",
    "GrantsDrf/5000/100/1000": "drf 5000 100 1000",
    "UpdatePass/1000/10/100/iterations:50": "update 1000 10 100",
    "UpdatePass/5000/100/1000/iterations:50": "update 5000 100 1000",
    "UpdatePass/5000/100/5000/iterations:50": "update 5000 100 5000",
    "ContinuousAttempt/5000/100/1000/iterations:20": "continuous 5000 100 1000",
}
YARN_CAPACITY = {f"CapacityGrants{ours}/{size}": f"capacity{theirs} {size.replace('/', ' ')}"
                 for size in ("1000/10/100", "1000/100/1000", "5000/100/1000", "5000/100/5000")
                 for ours, theirs in (("", ""), ("Multiple", "-multiple"))}
YARN_CAPACITY |= {"CapacityGrantsDominant/5000/100/1000": "capacity-drf 5000 100 1000",
                  "CapacityGrantsMultipleDominant/5000/100/1000": "capacity-multiple-drf 5000 100 1000"}
FAIRLEAD = {
    "BM_Grants/nodes:5000/queues:100/apps:1000/kind:0": ("turnover 5000 100 1000", 1_500_000),
    "BM_Grants/nodes:5000/queues:100/apps:5000/kind:0": ("turnover 5000 100 5000", 1_000_000),
}
RATIO_GOAL = 30
WISHES = "BM_GrantsByWishes/"
WISHES_GOAL = 0.8  # of the rate without wishes: what is on when nothing is set keeps it


def real_one(classes, workload):
    """Its median: grants a second, or milliseconds a pass."""
    command = [peers.java(), "-cp", f"{classes}:{peers.hadoop(VERSION)}/*", "SchedulerGrants", *workload.split()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise SystemExit(f"SchedulerGrants {workload} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])["median"]


def by_wishes(rows):
    """Sets the ratio of the rows that ran beside the profile without wishes; only the default has a goal."""
    for name, row in rows.items():
        if not name.startswith(WISHES) or not row["ours"]:
            continue
        plain = row["ours"].pop("plain grants/s")
        row["peer"], row["peer_version"], row["ratio"] = {"grants/s": plain}, "fairlead without wishes", row["ours"]["grants/s"] / plain
        if name.endswith("wishes:0"):
            row["goal"], row["met"] = f">= {WISHES_GOAL} x", row["ratio"] >= WISHES_GOAL
        verdict = "no goal" if row["goal"] is None else f"goal {row['goal']}: {'met' if row['met'] else 'missed'}"
        print(f"{name:60} {row['ours']['grants/s']:12,.0f} grants/s, without wishes {plain:12,.0f}, ratio {row['ratio']:.2f}, {verdict}", flush=True)


def compare(row, scheduler, theirs, rate_goal):
    ours = row["ours"].get("grants/s")
    if ours is None:  # a pass: less is better
        row["peer"], row["ratio"] = {"ms": theirs}, theirs / (row["ours"]["cpu_time"] * MILLISECONDS[row["ours"]["time_unit"]])
    else:
        row["peer"], row["ratio"] = {"grants/s": theirs}, ours / theirs
    row["peer_version"] = f"{scheduler} {VERSION}"
    row["goal"] = f">= {RATIO_GOAL} x" if rate_goal is None else f">= {rate_goal} grants/s"
    row["met"] = row["ratio"] >= RATIO_GOAL if rate_goal is None else ours >= rate_goal


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    file = pathlib.Path(sys.argv[1])
    rows = {row["name"]: row for row in json.loads(file.read_text())}
    by_wishes(rows)
    file.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    pairs = {name: (workload, None) for name, workload in (YARN_FAIR | YARN_CAPACITY).items()} | FAIRLEAD
    pairs = {name: pair for name, pair in pairs.items() if rows.get(name, {}).get("ours")}
    if not peers.hadoop(VERSION).is_dir():
        print(f"Hadoop's schedulers are not measured: tests/interop/setup hadoop-{VERSION} brings them")
        return 0
    with tempfile.TemporaryDirectory(prefix="fairlead-bench-") as classes:
        pathlib.Path(classes, "log4j.properties").write_text("log4j.rootLogger=OFF\n")
        subprocess.run([peers.java() + "c", "-nowarn", "-proc:none", "-d", classes, "-cp", f"{peers.hadoop(VERSION)}/*",
                        ROOT / "bench/java/SchedulerGrants.java"], check=True)
        for name, (workload, rate_goal) in pairs.items():
            row = rows[name]
            scheduler = "CapacityScheduler" if name in YARN_CAPACITY else "FairScheduler"
            compare(row, scheduler, real_one(classes, workload), rate_goal)
            print(f"{name:50} {scheduler} {VERSION}: {next(iter(row['peer'].values())):12,.2f} {next(iter(row['peer'])):8} "
                  f"ratio {row['ratio']:5.0f}, goal {row['goal']}: {'met' if row['met'] else 'missed'}", flush=True)
    file.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
