#!/usr/bin/env python3
"""The engine's benchmark jobs, and the same work by DuckDB and Polars where Python finds them.

usage: bench/engine.py BUILD_DIR [--mb N] [--rounds N] [--seed N] [--directory DIR] [--cluster] [--jobs a,b]

Inputs are made from the seed in DIR (default /dev/shm; scratch and output are there too). Each round runs ours and the
peers in alternating order; the best of the rounds counts, both are printed. Results are compared outside the clock. With
--cluster the jobs also run as applications of a Fairlead cluster on this machine, start-up included.
"""
import argparse
import glob
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

GOALS = {"word_count": 500, "terasort": 700}  # MB/s

DUCKDB_WORDS = """
import duckdb, sys
c = duckdb.connect(); c.execute("set threads=2")
c.execute(f"copy (select w, count(*) from (select unnest(string_split(l, ' ')) w from read_csv('{sys.argv[1]}', columns={{'l': 'varchar'}}, "
          f"delim='\\x01', header=false, quote='')) group by w) to '{sys.argv[2]}' (delimiter '\\t', header false)")
"""
POLARS_WORDS = """
import os; os.environ["POLARS_MAX_THREADS"] = "2"
import polars as pl, sys
(pl.scan_csv(sys.argv[1], has_header=False, separator="\\x01", quote_char=None, new_columns=["l"]).select(pl.col("l").str.split(" ").explode())
 .group_by("l").len().collect(engine="streaming").write_csv(sys.argv[2], include_header=False, separator="\\t"))
"""


def timed(command):
    begin = time.monotonic()
    before = os.times()
    subprocess.run([str(x) for x in command], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begin, cpu


def counts_of(pattern):
    counts = {}
    for name in glob.glob(str(pattern)):
        with open(name, encoding="ascii") as lines:
            for line in lines:
                word, count = line.rstrip("\n").rsplit("\t", 1)
                counts[word] = int(count)
    return counts


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fairlead-bench-", dir=options.directory))
        self.rows = []

    def generate(self, kind, amount):
        path = self.work / kind
        subprocess.run([self.build / "bench/bench_engine_generate", kind, str(amount), str(self.options.seed), path], check=True)
        return path

    def ours(self, example, *arguments):
        return [self.build / "examples" / example, "--local[2]", "--scratch", self.work, *arguments]

    def on_cluster(self, example, *arguments):
        return [self.build / "fairlead", "submit", "--hadoop-conf", self.conf, "--executors", "2", "--executor-memory", "2048",
                self.build / "examples" / example, *arguments]

    def compete(self, name, size_mb, ways, check):
        """ways: {name: function of the output path -> command}; interleaved, the order turned round each round."""
        best, cpus, outputs = {}, {}, {}
        for turn in range(self.options.rounds):
            for way in list(ways) if turn % 2 == 0 else reversed(list(ways)):
                output = self.work / f"{name}-{way}"
                shutil.rmtree(output, ignore_errors=True)
                output.unlink(missing_ok=True)
                seconds, cpu = timed(ways[way](output))
                if seconds < best.get(way, 1e9):
                    best[way], cpus[way] = seconds, cpu
                outputs[way] = output
        good = check(outputs)
        for peer in [w for w in ways if w != "ours"] or [None]:
            mbs = size_mb / best["ours"]
            row = {"name": name, "ours": {"seconds": round(best["ours"], 3), "mb_per_s": round(mbs), "cpu_seconds": round(cpus["ours"], 2)},
                   "peer": peer or "not measured", "peer_version": None, "ratio": round(best[peer] / best["ours"], 2) if peer else None,
                   "goal": GOALS.get(name), "met": mbs >= GOALS[name] if name in GOALS else None, "checks_ok": good}
            if peer:
                row["peer_seconds"] = round(best[peer], 3)
            self.rows.append(row)
            print(json.dumps(row), flush=True)
        for output in outputs.values():
            shutil.rmtree(output, ignore_errors=True)

    def word_count(self):
        text = self.generate("words", self.options.mb * 1_000_000)
        ways = {"ours": lambda out: self.ours("word_count", text, out)}
        if self.options.cluster:
            ways["ours on a cluster"] = lambda out: self.on_cluster("word_count", text, out)
        for module, script in (("duckdb", DUCKDB_WORDS), ("polars", POLARS_WORDS)):
            if importlib.util.find_spec(module):
                ways[module] = lambda out, script=script: [sys.executable, "-c", script, text, out]

        def check(outputs):
            results = [counts_of(out / "part-*" if out.is_dir() else out) for out in outputs.values()]
            if len(results) == 1:
                with open(text, encoding="ascii") as lines:
                    total = sum(len(line.split()) for line in lines)
                return sum(results[0].values()) == total
            return all(result == results[0] for result in results)

        self.compete("word_count", self.options.mb, ways, check)
        text.unlink()

    def terasort(self):
        records = self.options.mb * 10_000
        data = self.generate("tera", records)
        ways = {"ours": lambda out: self.ours("terasort", data, out)}
        if self.options.cluster:
            ways["ours on a cluster"] = lambda out: self.on_cluster("terasort", data, out)

        def check(outputs):
            summary = lambda path: subprocess.run(self.ours("terasort", "--validate", path, str(records)), stdout=subprocess.PIPE, text=True)
            runs = [summary(out) for out in outputs.values()]
            # The input is in no order, but its records and the sum of their hashes must be those of the output.
            return all(run.returncode == 0 and run.stdout == runs[0].stdout for run in runs)

        self.compete("terasort", self.options.mb, ways, check)
        data.unlink()

    def page_rank(self):
        edges = self.options.mb * 10_000
        data = self.generate("edges", edges)
        self.compete("page_rank", self.options.mb, {"ours": lambda out: self.ours("page_rank", data, out, 5)},
                     lambda outputs: all(list(out.glob("part-*")) for out in outputs.values()))
        data.unlink()

    def run(self):
        cluster = None
        try:
            if self.options.cluster:
                ready = self.work / "ready"
                cluster = subprocess.Popen([self.build / "fairlead", "up", "--nodes", "2", "--memory", "4096", "--directory", self.work / "cluster",
                                            "--port-base", "33200", "--with-parent", "--ready-file", ready], stdout=subprocess.DEVNULL)
                while not (ready.exists() and ready.read_text().strip()):
                    if cluster.poll() is not None:
                        raise SystemExit("the cluster did not start")
                    os.sched_yield()
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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", default="/dev/shm")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--jobs", default="word_count,terasort,page_rank")
    return Bench(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
