#!/usr/bin/env python3
"""Tasks that do nothing, from the driver to executor processes and back, and tables of map outputs, beside Spark where build/interop has it.

usage: bench/tasks.py BUILD_DIR ROWS_FILE [--tasks N] [--lone N] [--spark-tasks N] [--spark-maps N] [--rounds N] [--port-base P]

Appends to the rows in ROWS_FILE (the core's own benchmarks). Tables: the classes that Spark's MapStatusesSerDeserBenchmark calls, with
--spark-maps outputs (default 200,000, as ours) for 1,000 reducers. Tasks: Spark local[2]; ours runs as an application of a Fairlead cluster on this machine with two
one-core executors, over loopback; every task has an id of its own, a decision of the core, a call of its closure and a status.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import engine_peers

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A no-op stage of N tasks, after one that warms the JVM up.
SPARK_TASKS = r"""
sc.range(0, 2000, 1, 2000).count()
val n = a(0).toInt; val t = System.nanoTime; sc.range(0, n, 1, n).count(); println("RATE " + n / ((System.nanoTime - t) / 1e9))"""


# Of the core's benchmark (src/tasks/tasks_bench.cc).
MAPS, REDUCES, EXECUTORS = 200_000, 1_000, 1_000
TABLE_ROWS = {"BM_MapOutputsEncode": "encode_ms", "BM_MapOutputsDecode": "decode_ms", "BM_MapOutputsReducerList": "list_ms"}


def on_cluster(build, work, port_base, *arguments):
    """What the job printed, run on a cluster of its own."""
    ready = work / "ready"
    cluster = subprocess.Popen([str(word) for word in [build / "fairlead", "up", "--nodes", "2", "--memory", "2048", "--directory", work / "cluster",
                                                       "--port-base", port_base, "--with-parent", "--ready-file", ready]], stdout=subprocess.DEVNULL)
    try:
        while not (ready.exists() and ready.read_text().strip()):
            if cluster.poll() is not None:
                raise SystemExit("the cluster did not start")
            time.sleep(0.05)
        conf = ready.read_text().strip()
        submit = subprocess.run([str(word) for word in [build / "fairlead", "submit", "--hadoop-conf", conf, "--json", "--driver-memory", "512",
                                                        "--executors", "2", build / "bench/bench_engine_tasks", *arguments]], capture_output=True, text=True)
        if submit.returncode != 0:
            raise SystemExit(submit.stderr)
        logs = subprocess.run([build / "fairlead", "logs", "--hadoop-conf", conf, json.loads(submit.stdout)["id"], "--file", "stdout"],
                              capture_output=True, text=True, check=True)
        return next(json.loads(line) for line in logs.stdout.splitlines() if line.startswith('{"tasks"'))
    finally:
        cluster.terminate()
        cluster.wait()


def spark_rate(tasks, work):
    """Tasks a second of Spark local[2]; None without Spark."""
    if not (engine_peers.SPARK / "bin/spark-shell").exists():
        return None
    run = subprocess.run([str(word) for word in engine_peers.spark_command(SPARK_TASKS, [tasks], work)], capture_output=True, text=True)
    found = [float(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("RATE ")]
    return found[0] if found else None


def spark_tables(maps, rounds, work):
    """Spark's milliseconds and bytes for a table of map outputs; None without Spark."""
    jars = str(engine_peers.SPARK / "jars/*")
    if not engine_peers.SPARK.exists():
        return None
    subprocess.run(["javac", "-nowarn", "-d", work, "-cp", jars, ROOT / "bench/java/MapOutputs.java"], check=True)
    words = ["java", "-Xmx8g", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{work}:{jars}", "MapOutputs", maps, REDUCES, EXECUTORS, rounds]
    run = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--lone", type=int, default=2000)
    parser.add_argument("--spark-tasks", type=int, default=10_000)
    parser.add_argument("--spark-maps", type=int, default=MAPS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port-base", type=int, default=33400)
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    try:
        ours = on_cluster(options.build, work, options.port_base, options.tasks, options.lone)
        spark = spark_rate(options.spark_tasks, work)
        tables = spark_tables(options.spark_maps, options.rounds, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    rows = json.loads(options.rows.read_text())
    for row in rows:
        if row["name"] in TABLE_ROWS and tables and options.spark_maps == MAPS:
            theirs = tables[TABLE_ROWS[row["name"]]]
            ratio = round(theirs / row["ours"]["real_time"], 1)  # both by the clock
            row.update({"peer": f"Spark: {theirs} ms, {tables['bytes'] / 1e6:.1f} MB", "peer_version": "3.5.5", "ratio": ratio, "goal": 10,
                        "met": ratio >= 10})
            print(json.dumps(row), flush=True)

    def add(name, value, goal, met, peer=None, ratio=None):
        rows.append({"name": name, "ours": value, "peer": peer or "not measured", "peer_version": "3.5.5" if peer else None, "ratio": ratio,
                     "goal": goal, "met": met, "checks_ok": True})
        print(json.dumps(rows[-1]), flush=True)

    for size in [row["ours"]["MB"] for row in rows if row["name"] == "BM_MapOutputsEncode" and row["ours"]]:
        add(f"table of {MAPS} map outputs on the wire, MB", round(size, 1), 200, size <= 200)
    rate = ours["tasks_per_s"]
    add("tasks/s to executor processes", rate, 100_000, rate >= 100_000)
    if spark:
        add("tasks/s beside Spark local[2]", rate, 65, rate >= 65 * spark, peer=f"Spark {spark:.0f}/s", ratio=round(rate / spark, 1))
    add("lone task p50, us", ours["lone_p50_us"], 100, ours["lone_p50_us"] <= 100)
    add(f"action to first running task of {ours['tasks']}, ms", ours["first_task_ms"], 100, ours["first_task_ms"] <= 100)
    options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
