#!/usr/bin/env python3
"""The engine's benchmark jobs, and the same work by Spark local[2], DuckDB and Polars where this machine has them.

usage: bench/engine.py BUILD_DIR [--mb N] [--rounds N] [--executors N] [--seed N] [--directory DIR] [--no-cluster] [--port-base P] [--jobs a,b] [--peers a,b]
                                [--fetch]

Inputs are made from the seed in DIR (default /dev/shm; scratch and output are there too). Each round runs all ways in turn, the order
turned round every time; the best of the rounds counts. Ours: as an application of a Fairlead cluster on this machine with two one-core
executors (start-up included, and by the driver's own event log without it), and as one process. Results are compared outside the clock.
"""
import argparse
import collections
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import engine_peers

GOALS = {"word_count": 500, "terasort": 700}  # MB/s
# How many times faster than Spark.
RATIOS = {"word_count": 18, "join": 5, "page_rank": 20}
TIMEOUT_S = 1800  # of one run


def timed(command):
    """Seconds, seconds of CPU time of the children, and what the command printed."""
    begin = time.monotonic()
    before = os.times()
    run = subprocess.run([str(x) for x in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=TIMEOUT_S)
    if run.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {run.returncode}\n{run.stdout[-1000:]}\n{run.stderr[-3000:]}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begin, cpu, run.stdout


def counts_of(pattern):
    counts = {}
    for name in glob.glob(str(pattern)):
        with open(name, encoding="ascii") as lines:
            for line in lines:
                word, count = line.rstrip("\n").rsplit("\t", 1)
                counts[word] = int(count)
    return counts


def disagreeing(results, alike=lambda a, b: a == b):
    """The ways whose result is empty or not alike the first one's."""
    first = next(iter(results.values()))
    return {way for way, result in results.items() if not result or not alike(result, first)}


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-", dir=options.directory))
        self.conf = None
        self.rows = []

    def generate(self, kind, amount):
        path = self.work / kind
        subprocess.run([self.build / "bench/bench_engine_generate", kind, str(amount), str(self.options.seed), path], check=True)
        return path

    def ours(self, program, *arguments):
        return [self.build / program, f"--local[{self.options.executors}]", "--scratch", self.work, *arguments]

    def on_cluster(self, program, *arguments):
        return [self.build / "fairlead", "submit", "--hadoop-conf", self.conf, "--json", "--executors", str(self.options.executors), "--executor-memory", "2048",
                "--event-log", self.work / "events", self.build / program, *arguments]

    def without_start(self, printed):
        """Seconds from the program's first job to the end of its last, by the driver's event log."""
        logs = sorted((self.work / "events").iterdir(), key=lambda path: path.stat().st_mtime)
        run = subprocess.run([self.build / "fairlead", "history", "--json", logs[-1]], capture_output=True, text=True, check=True)
        jobs = json.loads(run.stdout)["jobs"]
        return (max(job["ended_ms"] for job in jobs) - min(job["started_ms"] for job in jobs)) / 1000

    def ways(self, job, program, inputs, peer_inputs=None):
        """{way: (version, function of the output -> command, function of the printed words -> seconds without start)}."""
        found = {}
        if self.conf:
            found["ours"] = (None, lambda out: self.on_cluster(program, *inputs, out), self.without_start)
        found["ours in one process"] = (None, lambda out: self.ours(program, *inputs, out), lambda printed: None)
        for peer, (version, command) in engine_peers.peers_for(job, self.work).items():
            if peer in self.options.peers.split(","):
                found[peer] = (version, lambda out, command=command: command(*(peer_inputs or inputs), out), engine_peers.inside)
        return found

    def compete(self, name, size_mb, ways, check):
        """Interleaved, the order turned round each round. `check` takes {way: output} and gives the set of ways whose output is wrong."""
        best, outputs = {}, {}
        for turn in range(self.options.rounds):
            for way in list(ways) if turn % 2 == 0 else reversed(list(ways)):
                output = self.work / f"{name}-{way.replace(' ', '-')}"
                shutil.rmtree(output, ignore_errors=True)
                output.unlink(missing_ok=True)
                _, command, inner = ways[way]
                seconds, cpu, printed = timed(command(output))
                if way not in best or seconds < best[way]["seconds"]:
                    best[way] = {"seconds": round(seconds, 3), "without_start": inner(printed), "cpu_seconds": round(cpu, 2)}
                outputs[way] = output
        wrong = check(outputs)
        for way in wrong:
            print(f"{name}: the result of {way} is wrong", file=sys.stderr)
        first = next(iter(ways))
        for way, figures in best.items():
            figures["mb_per_s"] = round(size_mb / (figures["without_start"] or figures["seconds"]))
        for peer in list(ways)[1:] + [p for p in ("spark", "duckdb", "polars") if p not in ways]:
            measured = peer in best
            ours = best[first]
            goal = RATIOS.get(name) if peer == "spark" else None
            ratio = round((best[peer]["without_start"] or best[peer]["seconds"]) / (ours["without_start"] or ours["seconds"]), 2) if measured else None
            row = {"name": name, "ours": ours, "peer": peer if measured else f"{peer}: not measured", "peer_version": ways[peer][0] if measured else None,
                   "peer_figures": best.get(peer), "ratio": ratio, "goal": goal, "met": ratio >= goal if goal and measured else None,
                   "checks_ok": not wrong & {first, peer}}
            self.rows.append(row)
            print(json.dumps(row), flush=True)
        if name in GOALS:
            mbs = best[first]["mb_per_s"]
            self.rows.append({"name": f"{name} MB/s", "ours": mbs, "peer": None, "peer_version": None, "ratio": None, "goal": GOALS[name],
                              "met": mbs >= GOALS[name], "checks_ok": first not in wrong})
            print(json.dumps(self.rows[-1]), flush=True)
        for output in outputs.values():
            shutil.rmtree(output, ignore_errors=True)
            if output.is_file():
                output.unlink()

    def word_count(self):
        text = self.generate("words", self.options.mb * 1_000_000)

        def check(outputs):
            with open(text, encoding="ascii") as lines:
                wanted = collections.Counter(word for line in lines for word in line.split())
            return {way for way, out in outputs.items() if counts_of(out / "part-*" if out.is_dir() else out) != wanted}

        self.compete("word_count", self.options.mb, self.ways("word_count", "examples/word_count", [text]), check)
        text.unlink()

    def terasort(self):
        records = self.options.mb * 10_000
        data = self.generate("tera", records)
        # DuckDB and Polars know no fixed records: theirs are lines of the same keys and sizes.
        lines = self.work / "tera.lines"
        with open(data, "rb") as rows, open(lines, "wb") as out:
            while block := rows.read(100 * 10_000):
                out.write(b"".join(block[at:at + 99] + b"\n" for at in range(0, len(block), 100)))
        ways = self.ways("terasort", "examples/terasort", [data], [data])
        for peer in ("duckdb", "polars"):
            if peer in ways:
                version, _, inner = ways[peer]
                command = engine_peers.peers_for("terasort", self.work)[peer][1]
                ways[peer] = (version, lambda out, command=command: command(lines, out), inner)

        def check(outputs):
            def printed(*words):
                run = subprocess.run([str(x) for x in self.ours("examples/terasort", *words)], stdout=subprocess.PIPE, text=True)
                return run.stdout if run.returncode == 0 else None

            # Not only the order: the sum of the records' hashes must be the input's.
            sums = {of: printed("--checksum", of) for of in (data, lines)}
            return {way for way, out in outputs.items()
                    if printed("--validate", out, records) != sums[lines if way in ("duckdb", "polars") else data]}

        self.compete("terasort", self.options.mb, ways, check)
        data.unlink()
        lines.unlink()

    def join(self):
        facts = self.generate("facts", self.options.mb * 1_000_000)
        rows = self.generate("rows", 2_200_000)

        def groups_of(out):
            found = {}
            for name in glob.glob(str(out / "part-*")) if out.is_dir() else [out]:
                with open(name, encoding="ascii") as lines:
                    found.update((line.split("\t")[0], line.strip().split("\t")[1:]) for line in lines)
            return found

        def check(outputs):
            results = {way: groups_of(out) for way, out in outputs.items()}
            return disagreeing(results)

        self.compete("join", self.options.mb, self.ways("join", "bench/bench_engine_join", [facts, rows]), check)
        facts.unlink()
        rows.unlink()

    def page_rank(self):
        edges = self.options.mb * 10_000
        data = self.generate("edges", edges)

        def ranks_of(out):
            found = {}
            for name in glob.glob(str(out / "part-*")):
                with open(name, encoding="ascii") as lines:
                    found.update((page, float(rank)) for page, rank in (line.split("\t") for line in lines))
            return found

        def check(outputs):
            def alike(a, b):
                return a.keys() == b.keys() and all(abs(rank - b[page]) <= 1e-6 * rank for page, rank in a.items())

            return disagreeing({way: ranks_of(out) for way, out in outputs.items()}, alike)

        self.compete("page_rank", self.options.mb, self.ways("page_rank", "examples/page_rank", [data]), check)
        data.unlink()

    def run(self):
        cluster = None
        try:
            if not self.options.no_cluster:
                (self.work / "events").mkdir()
                ready = self.work / "ready"
                cluster = subprocess.Popen([self.build / "fairlead", "up", "--nodes", "2", "--memory", "4096", "--directory", self.work / "cluster",
                                            "--port-base", str(self.options.port_base), "--with-parent", "--ready-file", ready], stdout=subprocess.DEVNULL)
                while not (ready.exists() and ready.read_text().strip()):
                    if cluster.poll() is not None:
                        raise SystemExit("the cluster did not start")
                    time.sleep(0.05)
                self.conf = ready.read_text().strip()
            for job in self.options.jobs.split(","):
                getattr(self, job)()
        finally:
            if cluster and cluster.poll() is None:
                cluster.terminate()
                cluster.wait()
            shutil.rmtree(self.work, ignore_errors=True)
        output = self.build / "bench" / "engine.json"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(self.rows, indent=1) + "\n")
        return 0 if all(row["checks_ok"] for row in self.rows) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--executors", type=int, default=2, help="of one core each; as one process: threads")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port-base", type=int, default=33200)
    parser.add_argument("--directory", default="/dev/shm")
    parser.add_argument("--no-cluster", action="store_true", help="only as one process")
    parser.add_argument("--jobs", default="word_count,terasort,join,page_rank")
    parser.add_argument("--peers", default="spark,duckdb,polars")
    parser.add_argument("--fetch", action="store_true", help="get DuckDB and Polars from PyPI first")
    options = parser.parse_args()
    if options.fetch:
        engine_peers.fetch()
    return Bench(options).run()


if __name__ == "__main__":
    sys.exit(main())
