#!/usr/bin/env python3
"""Push-merged shuffle: the same blocks by our separate path, merged by us, and merged by Spark's own service, from a cold cache.

usage: bench/merge.py BUILD_DIR [--spark HOME] [--maps M] [--reduces R] [--block B] [--open N] [--runs N]
       bench/merge.py BUILD_DIR --rule [--runs N]
Every service is started anew over files of its own on one disk, which takes M x R x B bytes twice at most. Pushing and reading have the same raw
client. Before each reading phase the files are written back and dropped from the page cache (posix_fadvise). Then N partitions are opened at a
time, each with a few blocks. Prints medians: seconds of each phase, the processor time of merging per GB, bytes written per byte pushed, and what
memory and open files the open partitions take, and how long the disk alone takes for what is read of merged files; writes the rows to
BUILD_DIR/bench/merge.json. With --rule: small shuffles of ours alone on either side of each bound of the engine's rule (src/tasks/merge_rule.h), with
what merging costs and what reducers save.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import row_file
import shuffle

HERE = pathlib.Path(__file__).resolve().parent
RESOLVER = ("spark.shuffle.push.server.mergedShuffleFileManagerImpl", "org.apache.spark.network.shuffle.RemoteBlockPushResolver")
MERGING_SERVICE = HERE.parent / "tests/interop/java/MergingService.java"
OPEN_MAPS, OPEN_BLOCK = 10, 512  # blocks of each open partition, and the bytes of one
# (maps, reducers, bytes of a block) of --rule.
SHAPES = [(50, 2000, 1024), (200, 100, 1024), (200, 500, 1024), (200, 500, 8 << 10), (300, 334, 1024), (300, 334, 8 << 10), (400, 250, 1024), (400, 250, 8 << 10), (400, 250, 32 << 10), (1000, 300, 1024),
          (1000, 100, 32 << 10)]


def drop(root):
    """Files that the page cache holds nothing of."""
    for path in (path for path in root.rglob("*") if path.is_file()):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def seconds_of_the_disk(root, readers=4):
    """To read the merged files from it by as many readers as the client has connections, and by nothing else."""
    names = sorted(str(path) for path in root.rglob("shuffleMerged_*.data"))
    drop(root)
    begin = time.monotonic()
    running = [subprocess.Popen(["cat", *names[number::readers]], stdout=subprocess.DEVNULL) for number in range(readers)]
    assert not any(process.wait() for process in running), "cat failed"
    return time.monotonic() - begin


def written_bytes(pid):
    """Handed to the file system by a process."""
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/io") if line.startswith("wchar"))


def open_files(pid):
    """Of the regular ones."""
    links = (os.path.realpath(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
    return sum("merge_manager" in link for link in links)


class Merge:
    def __init__(self, options, root):
        self.options, self.root = options, root

    def command(self, name, port, root):
        if name == "fairlead":
            state = root / "state"
            return [self.options.build / "fairlead", "shuffle", "--port", port, "--local-roots", root, "--state", state, "--conf", "=".join(RESOLVER)]
        classes = self.root / "classes"
        if not classes.exists():
            subprocess.run(["javac", "-cp", f"{self.options.spark}/jars/*", "-d", classes, MERGING_SERVICE], check=True)
        state = root / "state"
        state.mkdir()
        return ["java", "-Xmx2g", *shuffle.OPENS, "-cp", f"{self.options.spark}/jars/*:{classes}", "MergingService", port, state, "=".join(RESOLVER)]

    def client(self, server, phase, root, maps=None, reduces=None, block=None):
        options = self.options
        words = [options.build / "bench/bench_merge_client", phase, "--port", server.port, "--dirs", root / "blockmgr", "--maps", maps or options.maps,
                 "--reduces", reduces or options.reduces, "--block", block or options.block]
        before = shuffle.cpu_seconds(server.process.pid)
        result = json.loads(subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True).stdout)
        result["cpu_s"] = shuffle.cpu_seconds(server.process.pid) - before
        return result

    def started(self, name):
        """A service over new directories, and their root."""
        root = self.root / name
        for at in range(64):
            (root / "merge_manager" / f"{at:02x}").mkdir(parents=True)
        port = shuffle.free_port()
        return shuffle.Server(name, self.command(name, port, root), port), root

    def run(self, name):
        """One service: what it takes to push, and to read merged; ours, also block by block."""
        options = self.options
        server, root = self.started(name)
        try:
            if name == "fairlead":
                shuffle.make_files(root / "blockmgr", options.block, options.maps, options.reduces)
            else:
                (root / "blockmgr").mkdir()
            before = written_bytes(server.process.pid)
            push = self.client(server, "push", root)
            out = {"push_s": push["seconds"], "push_cpu_s_per_gb": push["cpu_s"] / (push["bytes"] / 1e9),
                   "merged_share": push["bytes"] / (options.maps * options.reduces * options.block),
                   "written_per_byte": (written_bytes(server.process.pid) - before) / push["bytes"], "rss_mb": shuffle.resident_mb(server.process.pid)}
            drop(root)
            merged = self.client(server, "merged", root)
            assert merged["bytes"] == push["bytes"], (merged, push)
            out.update(merged_read_s=merged["seconds"], merged_read_gb_per_s=merged["gb_per_s"], merged_read_cpu_s=merged["cpu_s"], disk_alone_s=seconds_of_the_disk(root))
            if name == "fairlead":
                drop(root)
                separate = self.client(server, "separate", root)
                assert separate["bytes"] == options.maps * options.reduces * options.block, separate
                out.update(separate_read_s=separate["seconds"], separate_read_gb_per_s=separate["gb_per_s"])
        finally:
            server.stop()
            shutil.rmtree(root)
        return {**out, **self.open_partitions(name)}

    def shape(self, maps, reduces, block):
        """One shuffle of ours: the seconds of pushing, and of reading merged and block by block from a cold cache."""
        server, root = self.started("fairlead")
        try:
            shuffle.make_files(root / "blockmgr", block, maps, reduces)
            found = {}
            for phase in ("push", "merged", "separate"):
                drop(root)
                found[phase] = self.client(server, phase, root, maps, reduces, block)
            assert found["merged"]["bytes"] == found["push"]["bytes"] and found["separate"]["bytes"] == maps * reduces * block, found
            return [found[phase][what] for phase, what in (("push", "seconds"), ("push", "cpu_s"), ("merged", "seconds"), ("separate", "seconds"))]
        finally:
            server.stop()
            shutil.rmtree(root)

    def open_partitions(self, name):
        """What so many open partitions take besides an idle service; what is pushed until it refuses."""
        server, root = self.started(name)
        try:
            (root / "blockmgr").mkdir()
            before = shuffle.resident_mb(server.process.pid)
            try:
                self.client(server, "open", root, OPEN_MAPS, self.options.open, OPEN_BLOCK)
            except subprocess.CalledProcessError:
                print(f"{name} does not open {self.options.open} partitions", flush=True)
            return {"open_mb": shuffle.resident_mb(server.process.pid) - before, "open_files": open_files(server.process.pid)}
        finally:
            server.stop()
            shutil.rmtree(root)


def allow_files(count):
    """What is started from now on may hold so many files, as far as we may say so."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in (max(count, most), most):
        try:
            return resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        except (ValueError, OSError):
            continue


def rows_of(middle, opened):
    """A row for each goal: (name, ours, peer, ratio or None, sense, goal)."""
    ours, spark = middle["fairlead"], middle.get("spark")
    found = [("merged read, s, beside ours block by block", ours["merged_read_s"], ours["separate_read_s"], ours["separate_read_s"] / ours["merged_read_s"], ">=", 3),
             (f"MB of memory of {opened} open partitions", ours["open_mb"], spark and spark["open_mb"], None, "<=", 64),
             (f"files held by {opened} open partitions", ours["open_files"], spark and spark["open_files"], None, "<=", 10),
             ("bytes written by merging per byte", ours["written_per_byte"], spark and spark["written_per_byte"], None, "<=", 1.1)]
    if spark:
        found += [("merged read, s, beside Spark's", ours["merged_read_s"], spark["merged_read_s"], spark["merged_read_s"] / ours["merged_read_s"], ">=", 2),
                  ("processor time of merging, s per GB", ours["push_cpu_s_per_gb"], spark["push_cpu_s_per_gb"],
                   ours["push_cpu_s_per_gb"] / spark["push_cpu_s_per_gb"], "<=", 0.5)]
    for name, own, peer, ratio, sense, goal in found:
        compared = own if ratio is None else ratio
        yield {"name": name, "ours": own, "peer": peer, "ratio": ratio, "goal": f"{sense} {goal}", "met": compared >= goal if sense == ">=" else compared <= goal, "checks_ok": True}


def rule(merge, runs):
    """Medians for each shape, in turns."""
    found = {shape: [] for shape in SHAPES}
    for _ in range(runs):
        for shape in SHAPES:
            found[shape].append(merge.shape(*shape))
    print(f"{'maps':>5} {'reducers':>8} {'a block':>8} {'blocks':>8} {'pushed in':>10} {'CPU of it':>10} {'read merged':>12} {'by block':>9} {'saved':>7} {'faster':>7}")
    for (maps, reduces, block), runs_of in found.items():
        push, cpu, merged, separate = (statistics.median(column) for column in zip(*runs_of))
        print(f"{maps:5} {reduces:8} {block:8} {maps * reduces:8} {push:8.2f} s {cpu:8.2f} s {merged:10.2f} s {separate:7.2f} s {separate - merged:5.2f} s {separate / merged:6.1f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--spark", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--maps", type=int, default=1000)
    parser.add_argument("--reduces", type=int, default=1000)
    parser.add_argument("--block", type=int, default=2048)
    parser.add_argument("--open", type=int, default=10000, help="partitions that are open at a time")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rule", action="store_true", help="when merging pays, of small shuffles")
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="merge-bench-", dir=options.build))
    allow_files(4 * options.open)  # Spark's service holds three a partition
    merge = Merge(options, root)
    if options.rule:
        try:
            rule(merge, options.runs)
        finally:
            shutil.rmtree(root, ignore_errors=True)
        return 0
    names = ["fairlead", *(["spark"] if options.spark else [])]
    if not options.spark:
        print("not measured, as it is not here: Spark (--spark)", flush=True)
    runs = {name: [] for name in names}
    try:
        for _ in range(options.runs):
            for name in names:
                runs[name].append(merge.run(name))
                print(f"  {name:10} {runs[name][-1]}", flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    middle = {name: {key: statistics.median(run[key] for run in of) for key in of[0]} for name, of in runs.items()}
    print(f"{options.maps} maps x {options.reduces} reduces, blocks of {options.block} bytes")
    for name, figures in middle.items():
        print(f"  {name:10} " + " ".join(f"{key}={value:.3f}" for key, value in figures.items()))
    for name, figures in middle.items():
        print(f"  {name}: reading merged chunks took {figures['merged_read_s']:.2f} s, the disk alone {figures['disk_alone_s']:.2f} s for the same files")
    rows = [{**row, "peer_version": options.spark and options.spark.name} for row in rows_of(middle, options.open)]
    for row in rows:
        ratio = "" if row["ratio"] is None else f" ratio {row['ratio']:.2f}"
        peer = "not measured" if row["peer"] is None else f"{row['peer']:.3f}"
        print(f"  {row['name']}: {row['ours']:.3f}, peer {peer},{ratio} goal {row['goal']}, met {row['met']}")
    row_file.write(options.build, "merge", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
