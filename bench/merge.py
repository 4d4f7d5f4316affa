#!/usr/bin/env python3
"""Push-merged shuffle: the same blocks by our separate path, merged by us, and merged by Spark's own service, from a cold cache.

usage: bench/merge.py BUILD_DIR [--spark HOME] [--maps M] [--reduces R] [--block B] [--runs N]
Every service is started anew over files of its own on one disk. Pushing and reading have the same raw client. Before each reading phase the
files are written back and dropped from the page cache (posix_fadvise). Prints medians, the processor time
of merging per GB, and bytes written per byte pushed; writes the rows to BUILD_DIR/bench/merge.json.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import row_file
import shuffle

HERE = pathlib.Path(__file__).resolve().parent
RESOLVER = ("spark.shuffle.push.server.mergedShuffleFileManagerImpl", "org.apache.spark.network.shuffle.RemoteBlockPushResolver")
MERGING_SERVICE = HERE.parent / "tests/interop/java/MergingService.java"


def drop(root):
    """Files that the page cache holds nothing of."""
    for path in (path for path in root.rglob("*") if path.is_file()):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def written_bytes(pid):
    """Handed to the file system by a process."""
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/io") if line.startswith("wchar"))


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

    def client(self, server, phase, root):
        options = self.options
        words = [options.build / "bench/bench_merge_client", phase, "--port", server.port, "--dirs", root / "blockmgr", "--maps", options.maps, "--reduces", options.reduces,
                 "--block", options.block]
        before = shuffle.cpu_seconds(server.process.pid)
        result = json.loads(subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True).stdout)
        result["cpu_s"] = shuffle.cpu_seconds(server.process.pid) - before
        return result

    def run(self, name):
        """One service: what it takes to push, and to read merged; ours, also block by block."""
        options = self.options
        root = self.root / name
        for at in range(64):
            (root / "merge_manager" / f"{at:02x}").mkdir(parents=True)
        port = shuffle.free_port()
        server = shuffle.Server(name, self.command(name, port, root), port)
        try:
            if name == "fairlead":
                shuffle.make_files(root / "blockmgr", options.block, options.maps, options.reduces)
            else:
                (root / "blockmgr").mkdir()
            before = written_bytes(server.process.pid)
            push = self.client(server, "push", root)
            out = {"push_s": push["seconds"], "push_cpu_s_per_gb": push["cpu_s"] / (push["bytes"] / 1e9), "merged_bytes": push["bytes"],
                   "merged_share": push["bytes"] / (options.maps * options.reduces * options.block),
                   "written_per_byte": (written_bytes(server.process.pid) - before) / push["bytes"], "rss_mb": shuffle.resident_mb(server.process.pid)}
            drop(root)
            merged = self.client(server, "merged", root)
            assert merged["bytes"] == push["bytes"], (merged, push)
            out.update(merged_read_s=merged["seconds"], merged_read_gb_per_s=merged["gb_per_s"])
            if name == "fairlead":
                drop(root)
                separate = self.client(server, "separate", root)
                assert separate["bytes"] == options.maps * options.reduces * options.block, separate
                out.update(separate_read_s=separate["seconds"], separate_read_gb_per_s=separate["gb_per_s"])
            return out
        finally:
            server.stop()
            shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--spark", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--maps", type=int, default=1000)
    parser.add_argument("--reduces", type=int, default=1000)
    parser.add_argument("--block", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="merge-bench-", dir=options.build))
    merge = Merge(options, root)
    names = ["fairlead", *(["spark"] if options.spark else [])]
    if not options.spark:
        print("not measured, as it is not here: Spark (--spark)", flush=True)
    runs = {name: [] for name in names}
    try:
        for _ in range(options.runs):
            for name in names:
                runs[name].append(merge.run(name))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    middle = {name: {key: statistics.median(run[key] for run in of) for key in of[0]} for name, of in runs.items()}
    print(f"{options.maps} maps x {options.reduces} reduces, blocks of {options.block} bytes")
    for name, figures in middle.items():
        print(f"  {name:10} " + " ".join(f"{key}={value:.3f}" for key, value in figures.items()))
    ours = middle["fairlead"]
    ratios = [("merged read beside ours block by block", ours["separate_read_s"] / ours["merged_read_s"], ">=", 3)]
    if "spark" in middle:
        theirs = middle["spark"]
        ratios += [("merged read beside Spark's", theirs["merged_read_s"] / ours["merged_read_s"], ">=", 2),
                   ("processor time of merging beside Spark's", ours["push_cpu_s_per_gb"] / theirs["push_cpu_s_per_gb"], "<=", 0.5)]
    rows = []
    for name, ratio, sense, goal in ratios:
        met = ratio >= goal if sense == ">=" else ratio <= goal
        rows.append({"name": name, "ratio": ratio, "goal": f"{sense} {goal}", "met": met, "checks_ok": True, "ours": None, "peer": None})
        print(f"  {name}: {ratio:.2f}, goal {sense} {goal}, met {met}")
    row_file.write(options.build, "merge", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
