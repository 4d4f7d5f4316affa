#!/usr/bin/env python3
"""Small blocks that no memory holds: what the service reads from disk, in order of files and offsets, beside Spark's own.

usage: bench/shuffle_cold.py BUILD_DIR [--spark HOME]... [--directory DIR] [--block BYTES] [--mb MB] [--seconds S] [--rounds N]
Files lie below DIR (default: the current directory; not tmpfs). Each server is started anew and asked for three seconds, then the files are
dropped from the page cache (posix_fadvise), then it is measured, for less time than reading them all takes. Each request of the client asks for one reduce id of 64 maps, so the blocks of a request lie in 64
files. Prints medians: bytes a second, blocks a second, and what the disk was asked for (of the system, /proc/diskstats).
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

from shuffle import Server, free_port, make_files, spark_command

MAPS = 64


def drop(root):
    for path in root.rglob("shuffle_*"):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def disk_reads():
    """(requests, MB) of all whole disks so far."""
    rows = [line.split() for line in open("/proc/diskstats")]
    disks = [row for row in rows if os.path.exists(f"/sys/block/{row[2]}") and not row[2].startswith(("loop", "ram"))]
    return sum(int(row[3]) for row in disks), sum(int(row[5]) for row in disks) * 512 / 1e6


def ask(options, server, root, reduces, seconds):
    out = subprocess.run([str(word) for word in (
        options.build / "bench/bench_shuffle_client", "--port", server.port, "--dirs", root / "b", "--maps", MAPS, "--reduces", reduces,
        "--seconds", seconds, "--register")], capture_output=True, text=True, check=True).stdout
    return json.loads(out.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--spark", action="append", default=[], type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--directory", default=".")
    parser.add_argument("--block", type=int, default=16384)
    parser.add_argument("--mb", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp(prefix="shuffle-cold-", dir=options.directory)).resolve()
    reduces = options.mb * 1_000_000 // options.block // MAPS
    commands = {"fairlead": lambda port: [options.build / "fairlead", "shuffle", "--port", port, "--local-roots", root, "--state", f"{root}/state"]}
    for home in options.spark:
        commands[home.name] = lambda port, home=home: spark_command(home, root, port)
    try:
        make_files(root / "b", options.block, MAPS, reduces)
        results = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                port = free_port()
                server = Server(name, command(port), port)
                try:
                    ask(options, server, root, reduces, 3)
                    drop(root)
                    before = disk_reads()
                    result = ask(options, server, root, reduces, options.seconds)
                    after = disk_reads()
                finally:
                    server.stop()
                if result["bytes"] > options.mb * 900_000:
                    sys.exit("all was read: give more --mb or fewer --seconds")
                results[name].append((result["gb_per_s"] * 1000, result["blocks_per_s"], after[0] - before[0], after[1] - before[1]))
        for name, runs in results.items():
            middle = [statistics.median(column) for column in zip(*runs)]
            print(f"{name:14} {middle[0]:8.1f} MB/s {middle[1]:10.0f} blocks/s {middle[2]:8.0f} disk reads of {middle[3]:8.1f} MB")
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
