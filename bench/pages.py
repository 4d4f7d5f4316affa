#!/usr/bin/env python3
"""usage: ./bench/run pages [--nodes N] [--applications N] [--tasks N] [--visits N]
How soon a browser shows the resource manager's pages while it has so many nodes and applications, which call it once in ten seconds. Debian's Chromium and
playwright-core are those of ./test --browser. Manager, load, and browser share the machine. Then the page of a job of the engine that had so many tasks."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import yarn

ROOT = pathlib.Path(__file__).resolve().parent.parent
BROWSER = ROOT / "build/browser"
GOAL_MS = 300
STALL_S = 150  # longer than a call may take
BUSY = 10


def cluster_of(web):
    with urllib.request.urlopen(f"http://127.0.0.1:{web}/fairlead/v1/cluster") as answer:
        return json.load(answer)


def await_load(cluster, load, nodes, applications):
    """However long it takes on a busy machine, while it goes on."""
    best, since = 0, time.monotonic()
    while True:
        now = cluster_of(cluster.web)
        running = now["nodes"].get("RUNNING", 0), now["apps"].get("RUNNING", 0)
        if running[0] >= nodes and running[1] >= applications:
            return
        if sum(running) > best:
            best, since = sum(running), time.monotonic()
        if load.poll() is not None:
            raise SystemExit(f"bench/pages: the load ended at {running[0]} of {nodes} nodes and {running[1]} of {applications} applications; what it says stands above")
        if time.monotonic() > since + STALL_S:
            raise SystemExit(f"bench/pages: for {STALL_S} s nothing came to {running[0]} of {nodes} nodes and {running[1]} of {applications} applications")
        time.sleep(1)


def first_node(cluster):
    with urllib.request.urlopen(f"http://127.0.0.1:{cluster.web}/fairlead/v1/nodes?limit=1") as answer:
        return json.load(answer)["nodes"][0]["id"]


def visit(visits, pages):
    run = subprocess.run(["node", "bench_pages.mjs", str(visits), *(f"{name}={url}" for name, url in pages.items())], cwd=BROWSER, check=True,
                         stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout)


@contextlib.contextmanager
def job_page(build, tasks):
    """The page of a job of one stage, from its event log."""
    with tempfile.TemporaryDirectory() as scratch:
        log = pathlib.Path(scratch, "events.jsonl")
        subprocess.run([build / "tests/engine_faults", "--local", "--event-log", log, "many", str(tasks)], check=True, stdout=subprocess.DEVNULL)
        with subprocess.Popen([build / "fairlead", "history", "--serve", "127.0.0.1:0", log], stdout=subprocess.PIPE, text=True) as server:
            try:
                yield server.stdout.readline().split()[0]
            finally:
                server.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--applications", type=int, default=9860)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--visits", type=int, default=5)
    arguments = parser.parse_args()
    yarn.raise_open_files()
    BROWSER.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tests/browser/package.json", BROWSER)
    shutil.copy(ROOT / "bench/pages.mjs", BROWSER / "bench_pages.mjs")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=BROWSER, check=True)
    with yarn.resource_manager("fairlead", "3.4.3") as cluster:
        # The scheduler's port takes connections of some 9,900 masters where a process may have 20,000 files.
        yarn.LOADS["pages"] = ["--nodes", arguments.nodes, "--idle", arguments.applications - BUSY, "--busy", BUSY, "--batch", 10, "--rate", 500,
                               "--heartbeat-ms", 10000, "--master-heartbeat-ms", 10000, "--warm-up", 0]
        with subprocess.Popen([str(word) for word in yarn.generator(cluster, "pages", arguments.build, 3600)], stdout=subprocess.DEVNULL) as load:
            try:
                await_load(cluster, load, arguments.nodes, arguments.applications)
                base = f"http://127.0.0.1:{cluster.web}/cluster"
                figures = visit(arguments.visits, {"applications": base, "queues": f"{base}/scheduler", "nodes": f"{base}/nodes",
                                                   "node": f"{base}/node/{urllib.parse.quote(first_node(cluster), safe='')}", "events": f"{base}/events"})
            finally:
                load.terminate()
    with job_page(arguments.build, arguments.tasks) as page:
        figures |= visit(arguments.visits, {"job": page})
    rows = []
    for name, ours in figures.items():
        print(f"{name:14}first paint {ours['paint_ms']:5.0f} ms, first row {ours['row_ms']:5.0f} ms, {ours['bytes'] / 1024:6.1f} KiB, "
              f"{ours['heap_bytes'] / (1 << 20):5.1f} MiB kept")
        rows.append({"name": f"page {name}", "ours": ours, "peer": "not measured", "peer_version": None, "ratio": None, "goal": f"first paint {GOAL_MS} ms",
                     "met": ours["paint_ms"] <= GOAL_MS, "checks_ok": True})
    yarn.row_file.write(arguments.build, "pages", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
